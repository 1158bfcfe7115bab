/* SPDX-License-Identifier: MIT */
/* The order of the triangles around a sphere (kernels/contact_order.h), with integers where that leaves it open. */
#include "contact_records.h"

#include <math.h>

/* Whether j comes before k, which is within reach, in the order (distance, index). */
int caromi_comes_before(const caromi_chooser *chooser, const mesh_record *j, const mesh_record *record)
{
    const int known = contact_comes_before(&chooser->mesh, &chooser->sphere, j, record, chooser->batch->exact);
    float in[IN_CLOSEST], other[IN_CLOSEST];
    if (known != CONTACT_UNDECIDED)
        return known;
    caromi_chooser_pair(chooser, chooser->query->in, j->triangle, in);
    caromi_chooser_pair(chooser, chooser->query->in, record->triangle, other);
    *chooser->by_integers = 1;
    const int order = caromi_exact_closest_order(in, other);
    return order != 0 ? order < 0 : j->triangle < record->triangle;
}

/* The largest binary32 distance at which a triangle may come before k. */
float caromi_before_limit(const caromi_chooser *chooser, const mesh_record *record)
{
    return chooser->batch->exact ? record->t
                                 : (float)((double)record->t + 0x1p-17 * ((double)record->t + chooser->mesh.extent));
}

int caromi_precedes(const caromi_chooser *chooser, const mesh_record *j, const mesh_record *record)
{
    const int known = contact_precedes(&chooser->mesh, &chooser->sphere, j, record, chooser->batch->exact);
    return known != CONTACT_UNDECIDED ? known : caromi_comes_before(chooser, j, record);
}

/* Whether a distance is at most radius + more, by its bounds or else exactly. */
int caromi_is_within(const caromi_chooser *c, const float *center, int32_t triangle, float t, float radius, float more)
{
    const caromi_cube cube = {.radius = fabsf(radius), .half = fabs((double)more)};
    const int known = contact_is_within(t, cube.radius, more);
    float in[IN_CLOSEST];
    if (known != CONTACT_UNDECIDED)
        return known;
    caromi_chooser_pair(c, center, triangle, in);
    *c->by_integers = 1;
    return caromi_cube_reaches(in, &cube, CAROMI_CUBE_FREE);
}
