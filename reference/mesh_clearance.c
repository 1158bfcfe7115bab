/* SPDX-License-Identifier: MIT */
/* Where a sphere is clear of a mesh, from the definition: the square of every triangle's distance, a fraction, against
 * the squares of R + h and R - h. */
#include <math.h>

#include "mesh.h"
#include "space.h"

/* h >= spacing sqrt(3) / 2 (1 + 2^-16), squared and without fractions. */
static int is_half_diagonal(double h, double spacing)
{
    ref_dyadic left, right, factor;
    ref_dyadic_from_double(&left, h);
    ref_dyadic_from_double(&factor, 131072.0); /* 2^17 */
    ref_dyadic_mul(&left, &left, &factor);
    ref_dyadic_mul(&left, &left, &left);
    ref_dyadic_from_double(&right, spacing);
    ref_dyadic_from_double(&factor, 65537.0);
    ref_dyadic_mul(&right, &right, &factor);
    ref_dyadic_mul(&right, &right, &right);
    ref_dyadic_from_double(&factor, 3.0);
    ref_dyadic_mul(&right, &right, &factor);
    return ref_dyadic_cmp(&left, &right) >= 0;
}

double ref_half_diagonal(double spacing)
{
    double h = sqrt(0.75) * spacing;
    while (is_half_diagonal(h, spacing))
        h *= 0.75;
    double above = spacing;
    while (nextafter(h, above) < above) { /* the least is in (h, above] */
        double middle = h + (above - h) / 2;
        if (is_half_diagonal(middle, spacing))
            above = middle;
        else
            h = middle;
    }
    return above;
}

/* Compares the triangle's distance with a + b: -1 if it is less, 0 if it is equal, 1 if it is greater. */
static int compare_distance(const ref_sweep_case *c, double a, double b)
{
    ref_triangle triangle;
    ref_nearest nearest;
    ref_dyadic limit, more;
    double about = a + b, slack = (fabs(a) + fabs(b)) * 1e-12;
    if (ref_corner_distance(c) < about - slack)
        return -1;
    if (ref_box_distance(c) > about + slack)
        return 1;
    ref_dyadic_from_double(&limit, a);
    ref_dyadic_from_double(&more, b);
    ref_dyadic_add(&limit, &limit, &more);
    if (limit.sign < 0)
        return 1;
    ref_triangle_set(&triangle, c);
    ref_triangle_nearest(&triangle, &nearest);
    ref_dyadic_mul(&limit, &limit, &limit);
    ref_dyadic_mul(&limit, &limit, &nearest.bottom);
    return ref_dyadic_cmp(&nearest.top, &limit);
}

int ref_mesh_clearance(const ref_mesh *mesh, const float point[3], float radius, double half)
{
    ref_sweep_case c = {.center = {point[0], point[1], point[2]}};
    int answer = 0;
    for (size_t k = 0; k < mesh->triangle_count && answer != 1; k++) {
        if (mesh->masks != NULL && mesh->masks[k] == 0)
            continue;
        ref_mesh_triangle(mesh, k, c.p);
        if (compare_distance(&c, (double)radius, -half) <= 0)
            answer = 1;
        else if (answer == 0 && compare_distance(&c, (double)radius, half) <= 0)
            answer = 2;
    }
    return answer;
}

int ref_mesh_clearance_inside(const ref_mesh *mesh, const float point[3], float radius, double half)
{
    ref_sweep_case c = {.center = {point[0], point[1], point[2]}};
    for (size_t k = 0; k < mesh->triangle_count; k++) {
        if (mesh->masks != NULL && mesh->masks[k] == 0)
            continue;
        ref_mesh_triangle(mesh, k, c.p);
        if (compare_distance(&c, half, -(double)radius) < 0)
            return 2;
    }
    return 1;
}
