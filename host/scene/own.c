/* SPDX-License-Identifier: MIT */
/* The bounds with which queries are taken into an instance's own space (kernels/scene_own.h), and whether they are good
 * enough for its map. docs/scenes.md, section 3, derives them. */
#include <math.h>

#include "scene.h"

/* Limits of a map whose instance has a space of its own. */
#define MOST_CONDITION 0x1p8  /* of magnitudes of the map times those of its inverse */
#define MOST_RESIDUAL 0x1p-40 /* of the inverse times the map, from the identity */
#define MOST_ROUNDING 0x1p-6  /* of corners, in the mesh's scale, in which the mesh has a size of about 1 */
#define LEAST_RATIO 0.75      /* of the smallest to the largest factor of lengths, for distances */
#define LEAST_SCALE 0x1p-60   /* of the mesh and the scene */
#define MOST_SCALE 0x1p60
/* A triangle is thin if its height is less than this share of its longest edge in the mesh, or so many roundings of its
 * corners in the world. The normals of all others are good to 2^-10 there. */
#define LEAST_HEIGHT 0x1p-9
#define LEAST_ROUNDINGS 32.0

static int is_minus_zero(float x)
{
    return x == 0 && signbit(x);
}

/* The first k for which a triangle does not count in caromi_scene_mesh::thin. */
static int end_of_thin(const float *corner[3], double scale)
{
    double edge[3][3], longest = 0, square = 0;
    for (int i = 0; i < 3; i++) {
        double length = 0;
        for (int k = 0; k < 3; k++) {
            edge[i][k] = (double)corner[(i + 1) % 3][k] - (double)corner[i][k];
            length += edge[i][k] * edge[i][k];
        }
        longest = length > longest ? length : longest;
    }
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        const double normal = edge[0][a] * edge[1][b] - edge[0][b] * edge[1][a];
        square += normal * normal;
    }
    const double height = longest > 0 ? sqrt(square / longest) : 0;
    int exponent;
    if (height * height < LEAST_HEIGHT * LEAST_HEIGHT * longest || height == 0)
        return CAROMI_THIN;
    (void)frexp(height * scale, &exponent); /* which is below 2^exponent */
    return exponent > 0 ? 0 : exponent <= -CAROMI_THIN ? CAROMI_THIN : 1 - exponent;
}

void caromi_scene_measure(caromi_scene_mesh *of)
{
    const double scale = (double)of->mesh->view.frame.scale;
    double most = 0, thin[CAROMI_THIN + 1] = {0}; /* by end_of_thin() */
    of->has_minus_zero = 0;
    for (uint64_t t = 0; t < of->mesh->info.triangle_count; t++) {
        const float *p = caromi_corner(of->mesh, (uint32_t)t, 0), *q = caromi_corner(of->mesh, (uint32_t)t, 1),
                    *r = caromi_corner(of->mesh, (uint32_t)t, 2);
        double square = 0;
        for (int k = 0; k < 3; k++) {
            const double size = (double)fmaxf(p[k], fmaxf(q[k], r[k])) - (double)fminf(p[k], fminf(q[k], r[k]));
            square += size * size;
            of->has_minus_zero |= is_minus_zero(p[k]) || is_minus_zero(q[k]) || is_minus_zero(r[k]);
        }
        most = square > most ? square : most;
        double *end = &thin[end_of_thin((const float *[]){p, q, r}, scale)];
        *end = square > *end ? square : *end;
    }
    of->triangle = sqrt(most) * (1 + 0x1p-40);
    for (int k = CAROMI_THIN - 1; k >= 0; k--) {
        thin[k] = fmax(thin[k], thin[k + 1]);
        of->thin[k] = sqrt(thin[k + 1]) * (1 + 0x1p-40);
    }
}

caromi_stretch caromi_stretch_of(const double map[3][4])
{
    double least = (double)INFINITY, most = 0, sum = 0;
    for (int a = 0; a < 3; a++) {
        double others = 0, own = 0;
        for (int b = 0; b < 3; b++) {
            double product = 0;
            for (int k = 0; k < 3; k++)
                product += map[k][a] * map[k][b];
            own = b == a ? product : own;
            others += b == a ? 0 : fabs(product);
        }
        least = fmin(least, own - others);
        most = fmax(most, own + others);
        sum += own;
    }
    const double rounding = sum * 0x1p-48;
    return (caromi_stretch){.least = least > rounding ? sqrt(least - rounding) : 0, .most = sqrt(most + rounding)};
}

/* The inverse of the linear map, from cofactors. Returns 0 if it is not precise enough. */
static int invert(const double map[3][4], double inverse[3][3])
{
    double determinant = 0;
    int is_good = 1;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double *p = map[(j + 1) % 3], *q = map[(j + 2) % 3];
            inverse[i][j] = p[(i + 1) % 3] * q[(i + 2) % 3] - p[(i + 2) % 3] * q[(i + 1) % 3];
        }
    for (int k = 0; k < 3; k++)
        determinant += map[0][k] * inverse[k][0];
    for (int i = 0; i < 3; i++) {
        double condition = 0;
        for (int j = 0; j < 3; j++)
            inverse[i][j] /= determinant;
        for (int j = 0; j < 3; j++) {
            double product = 0;
            for (int k = 0; k < 3; k++) {
                product += inverse[i][k] * map[k][j];
                condition += fabs(inverse[i][k] * map[k][j]);
            }
            is_good &= fabs(product - (i == j)) <= MOST_RESIDUAL;
        }
        is_good &= condition <= MOST_CONDITION;
    }
    return is_good;
}

static int is_within(double least, double x, double most)
{
    return least <= x && x <= most;
}

/* Sets the bounds for overlaps of fast mode. stretch: of the instance's map. */
static void set_overlaps(const caromi_scene_mesh *of, const caromi_stretch *stretch, double scale, instance_space *own)
{
    int exponent;
    (void)frexp(LEAST_ROUNDINGS * own->rounding * scale / stretch->least, &exponent);
    const int k = exponent < 1 - CAROMI_THIN ? CAROMI_THIN - 1 : -exponent;
    own->takes_overlaps = own->takes_distances && k >= 0;
    if (own->takes_overlaps && of->thin[k] > 0)
        own->thin = of->thin[k] * stretch->most + 2 * own->rounding;
}

void caromi_scene_set_own(const caromi_scene_mesh *of, double size, mesh_instance *instance)
{
    instance_space *own = &instance->own;
    const double scale = (double)of->mesh->view.frame.scale, root = 1.7320509;
    *own = (instance_space){.takes_sweeps = 0};
    if (instance->kind != INSTANCE_MOVED || !is_within(LEAST_SCALE, scale, MOST_SCALE) ||
        !is_within(LEAST_SCALE, (double)instance->scale, MOST_SCALE) || !invert(instance->map, own->inverse))
        return;
    const caromi_stretch stretch = caromi_stretch_of(instance->map);
    int is_good = 1;
    own->rounding = root * ((double)instance->largest * 0x1p-23 + size * 0x1p-50);
    own->triangle = of->triangle * stretch.most + 2 * own->rounding;
    for (int i = 0; i < 3; i++) {
        double square = 0;
        for (int j = 0; j < 3; j++) {
            own->inverse[i][j] *= scale; /* a power of two */
            square += own->inverse[i][j] * own->inverse[i][j];
        }
        own->extent[i] = sqrt(square) * (1 + 0x1p-40);
        is_good &= own->extent[i] * own->rounding <= MOST_ROUNDING;
    }
    own->shrinks = stretch.least / scale * (1 - 0x1p-17);
    own->grows = stretch.most / scale * (1 + 0x1p-17);
    own->takes_sweeps = is_good;
    own->takes_distances = is_good && stretch.least >= LEAST_RATIO * stretch.most;
    set_overlaps(of, &stretch, scale, own);
}
