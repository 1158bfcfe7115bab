/* SPDX-License-Identifier: MIT */
/* Distance and closest point in integers. */
#include "exact.h"

#include <string.h>

#include "exact_touch.h"

/* The binary32 nearest to sqrt(square / over), as a root of the form of exact_root.h: sqrt(over square) / over. */
static float distance_of(const caromi_motion *m, const caromi_int *square, const caromi_int *over)
{
    caromi_int one, zero;
    if (square->sign == 0)
        return 0;
    caromi_int_of_unsigned(&one, 1, 1);
    caromi_int_zero(&zero);
    const caromi_root root = {.a = over ? over : &one, .b = &zero, .e = over, .y = square, .side = 1};
    const caromi_near square_near = caromi_int_near(square);
    const caromi_near near = over ? caromi_near_div(square_near, caromi_int_near(over)) : square_near;
    return caromi_root_float(&root, caromi_near_sqrt(near), m->unit);
}

void caromi_exact_closest_of(const float *in, caromi_exact_closest *out)
{
    float still[IN_SWEEP_RESTING] = {0}; /* without radius and motion */
    static const float at_rest[3];
    caromi_motion m;
    caromi_nearest nearest;
    caromi_int square;
    memcpy(still + IN_CX, in + IN_NCX, 3 * sizeof *in);
    memcpy(still + IN_P0X, in + IN_NP0X, 9 * sizeof *in);
    memset(out, 0, sizeof *out);
    if (!caromi_motion_of(&m, still, IN_SWEEP_RESTING))
        return;
    caromi_nearest_of(&m, &nearest);
    const caromi_int *over = caromi_nearest_square(&m, nearest.feature, &square);
    out->distance = distance_of(&m, &square, over);
    out->feature = nearest.feature;
    caromi_place(in + IN_NP0X, nearest.weights, at_rest, 0, out->point);
}

void caromi_settle_closest_exact(caromi_settle_row *row)
{
    caromi_exact_closest a;
    caromi_exact_closest_of(row->in, &a);
    memcpy(&row->real[OUT_CLOSEST_X], a.point, sizeof a.point);
    row->byte[OUT_CLOSEST_FEATURE] = (uint8_t)a.feature;
}
