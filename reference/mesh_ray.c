/* SPDX-License-Identifier: MIT */
/* A ray along +z against every triangle of a mesh, exactly. Ties are not decided by a rule: the ray's start is moved
 * by numbers so small that they cannot change what is not a tie.
 *
 * Coordinates are multiples of 2^-149 below 2^128, so a product of three differences that is not 0 is at least 2^-447,
 * and one of two at least 2^-298. A move by e = 2^-1000 changes the former by at most 2^(2 * 129 + 2 - 1000). Where the
 * unmoved product is 0, e times two differences is at least 2^(-298 - 1000) or 0, which is more than e^2 times
 * 2^260. */
#include "mesh.h"
#include "space.h"

typedef struct moved_start {
    ref_vec at;
} moved_start;

static void move(moved_start *start, const float point[3])
{
    ref_dyadic e, e2;
    ref_vec_from_floats(&start->at, point);
    ref_dyadic_from_double(&e, 0x1p-1000);
    ref_dyadic_mul(&e2, &e, &e);
    ref_dyadic_add(&start->at.c[0], &start->at.c[0], &e);
    ref_dyadic_add(&start->at.c[1], &start->at.c[1], &e2);
}

/* The sign of (a - start) x (b - start), seen from above. */
static int turn(const ref_vec *a, const ref_vec *b, const moved_start *start)
{
    ref_vec u, v;
    ref_dyadic left, right;
    ref_vec_sub(&u, a, &start->at);
    ref_vec_sub(&v, b, &start->at);
    ref_dyadic_mul(&left, &u.c[0], &v.c[1]);
    ref_dyadic_mul(&right, &u.c[1], &v.c[0]);
    return ref_dyadic_cmp(&left, &right);
}

/* Where the start is to the plane, along the normal. */
static int height(const ref_vec p[3], const moved_start *start)
{
    ref_vec e, f, way, normal;
    ref_dyadic product;
    ref_vec_sub(&e, &p[1], &p[0]);
    ref_vec_sub(&f, &p[2], &p[0]);
    ref_vec_sub(&way, &start->at, &p[0]);
    ref_vec_cross(&normal, &e, &f);
    ref_vec_dot(&product, &normal, &way);
    return product.sign;
}

/* Above, below or beside the triangle's box there is nothing to compute. */
static int may_cross(float p[3][3], const float point[3])
{
    int low[3] = {0}, high[3] = {0};
    for (int v = 0; v < 3; v++)
        for (int k = 0; k < 3; k++) {
            low[k] |= p[v][k] <= point[k];
            high[k] |= p[v][k] >= point[k];
        }
    return low[0] && high[0] && low[1] && high[1] && high[2];
}

void ref_mesh_ray(const ref_mesh *mesh, const float point[3], ref_mesh_ray_answer *out)
{
    moved_start start;
    move(&start, point);
    *out = (ref_mesh_ray_answer){0, 0};
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        float corner[3][3];
        ref_vec p[3];
        ref_mesh_triangle(mesh, t, corner);
        if ((mesh->masks != NULL && mesh->masks[t] == 0) || !may_cross(corner, point))
            continue;
        for (int v = 0; v < 3; v++)
            ref_vec_from_floats(&p[v], corner[v]);
        const int side = turn(&p[0], &p[1], &start);
        if (side == 0 || turn(&p[1], &p[2], &start) != side || turn(&p[2], &p[0], &start) != side)
            continue;
        if (height(p, &start) * side < 0) {
            out->crossings++;
            out->sum += side;
        }
    }
}
