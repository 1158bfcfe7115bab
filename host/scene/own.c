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

static int is_minus_zero(float x)
{
    return x == 0 && signbit(x);
}

void caromi_scene_measure(caromi_scene_mesh *of)
{
    double most = 0;
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
    }
    of->triangle = sqrt(most) * (1 + 0x1p-40);
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
}
