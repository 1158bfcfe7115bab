/* SPDX-License-Identifier: MIT */
/* Bounding balls of moving spheres within a slice of time. Columns are readable up to a multiple of 16. */
#include "cloud.h"

/* `reach` bounds the distance from the position to any point of the sphere at any time of the slice. 2^-15 of the path
 * so far covers the errors of fast mode's times (docs/spheres.md). A ball out of range for binary32 gets an infinite
 * reach. */
static void cloud_position(const float *const *in, const caromi_cloud_window *window, uint32_t count,
                           float *const *position)
{
    const wf zero = w_f(0), first = w_f(window->begin), window_end = w_f(window->end), most = w_f(W(0x1p120));
    for (uint32_t i = 0; i < count; i += WIDE) {
        const wf r = w_load(in[CAROMI_GIVEN_R] + i), t_max = w_load(in[CAROMI_GIVEN_T_MAX] + i);
        const wf end = w_sel(w_lt(t_max, window_end), t_max, window_end), half = (end - first) * W(0.5);
        const wf middle = w_sel(w_lt(half, w_infinity()), first + half, zero);
        wf at[3], speed2 = zero, size = zero;
        for (int k = 0; k < 3; k++) {
            const wf v = w_load(in[CAROMI_GIVEN_VX + k] + i) - w_f(window->velocity[k]);
            const wf x = w_load(in[k] + i);
            at[k] = x - w_f(window->origin[k]) + v * middle;
            speed2 = speed2 + v * v;
            size = size + w_abs(at[k]) + w_abs(x) * W(0x1p-24);
        }
        const wf speed = w_sqrt(speed2);
        const wm moves = w_lt(zero, speed);
        const wf moved = w_sel(moves, speed * end, zero), aside = w_sel(moves, speed * half, zero);
        const wf reach = r + aside + (r + moved) * W(0x1p-15) + size * W(0x1p-22);
        const wm fits = w_and(w_lt(reach, most), w_lt(size, most));
        for (int k = 0; k < 3; k++)
            w_store(position[k] + i, w_sel(fits, at[k], zero));
        w_store(position[3] + i, w_sel(fits, reach * W(0x1.000004p0) + W(0x1p-149), w_infinity())); /* upwards */
    }
}
