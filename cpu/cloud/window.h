/* SPDX-License-Identifier: MIT */
/* Bounding balls of moving spheres within a slice of time. Columns are readable up to a multiple of 16. */
#include "cloud.h"

/* `reach` bounds the distance from the position to any point of the sphere at any time of the slice. 2^-15 of the path
 * so far covers the errors of fast mode's times, and the way in the least binary32 that of times near 0
 * (docs/spheres.md). A ball out of range for binary32 gets an infinite
 * reach. */
static void cloud_position(const float *const *in, const caromi_cloud_window *window, uint32_t count,
                           float *const *position)
{
    const wf zero = w_f(0), first = w_f(window->begin), window_end = w_f(window->end), most = w_f(W(0x1p120)),
             least = w_f(W(0x1p-149));
    for (uint32_t i = 0; i < count; i += WIDE) {
        const wf radius = w_load(in[CAROMI_GIVEN_R] + i), t_max = w_load(in[CAROMI_GIVEN_T_MAX] + i);
        const wf end = w_sel(w_lt(t_max, window_end), t_max, window_end), half = (end - first) * W(0.5);
        const wf middle = w_sel(w_lt(half, w_infinity()), first + half, zero);
        /* The position at the middle of the slice. */
        wf middle_position[3], speed2 = zero, size = zero;
        for (int axis = 0; axis < 3; axis++) {
            const wf velocity = w_load(in[CAROMI_GIVEN_VX + axis] + i) - w_f(window->velocity[axis]);
            const wf start = w_load(in[axis] + i);
            middle_position[axis] = start - w_f(window->origin[axis]) + velocity * middle;
            speed2 = speed2 + velocity * velocity;
            size = size + w_abs(middle_position[axis]) + w_abs(start) * W(0x1p-24);
        }
        /* The reach: radius, half the path, and rounding errors. */
        const wf speed = w_sqrt(speed2);
        const wm moves = w_lt(zero, speed);
        const wf moved = w_sel(moves, speed * end, zero), half_path = w_sel(moves, speed * (half + least), zero);
        const wf reach = radius + half_path + (radius + moved) * W(0x1p-15) + size * W(0x1p-22);
        const wm fits = w_and(w_lt(reach, most), w_lt(size, most));
        for (int axis = 0; axis < 3; axis++)
            w_store(position[axis] + i, w_sel(fits, middle_position[axis], zero));
        w_store(position[3] + i, w_sel(fits, reach * W(0x1.000004p0) + W(0x1p-149), w_infinity())); /* upwards */
    }
}
