/* SPDX-License-Identifier: MIT */
/* Columns of spheres before they are sorted into cells: which spheres are valid, their bounds, and their cell numbers.
 * Columns are readable up to a multiple of the lanes. */
#include "cloud.h"
#include "kernels/cloud_level.h"

/* Finds the valid spheres; caromi_cloud_check_fn. */
static uint32_t cloud_check(const float *const *in, uint32_t columns, uint32_t radius, uint32_t count, float *magnitude,
                            uint8_t *is_valid)
{
    uint32_t valid = 0;
    for (uint32_t i = 0; i < count; i += LANES) {
        const vf radii = v_load(in[radius] + i);
        vm valid_lanes = v_le(v_f(R(0.0)), radii);
        for (uint32_t column = 0; column < columns; column++)
            valid_lanes = v_and(valid_lanes, v_finite(v_load(in[column] + i)));
        v_store(magnitude + i, v_abs(radii));
        v_store_u8(is_valid + i, vi_sel(valid_lanes, v_i(1), v_i(0)));
        valid += (uint32_t)bitmask_count(v_bitmask(valid_lanes) & cloud_lanes(count - i));
    }
    return valid;
}

/* The bounds of positions and reaches. Elements behind the last repeat it. */
static void cloud_bound(const float *const *position, uint32_t count, caromi_cloud_bounds *bounds)
{
    for (int column = 0; column < 4; column++) {
        vf low = v_load(position[column]), high = low;
        for (uint32_t i = LANES; i < count; i += LANES) {
            const vf x = v_load(position[column] + i);
            low = v_min(x, low);
            high = v_max(x, high);
        }
        bounds->low[column] = v_reduce_min(low);
        bounds->high[column] = -v_reduce_min(-high);
    }
}

#if LANES > 1
/* At most so many levels are computed in lanes, with a pass over all spheres for each. */
enum { CLOUD_LEVEL_PASSES = 16 };
typedef int32_t cloud_ints __attribute__((vector_size(4 * WIDE)));

/* Rounds WIDE cell numbers towards 0. */
FN cloud_ints cloud_to_ints(wf c)
{
#if WIDE == 8
    return (cloud_ints)_mm512_cvttpd_epi32((__m512d)c);
#elif WIDE == 4
    return (cloud_ints)_mm256_cvttpd_epi32((__m256d)c);
#else
    return __builtin_convertvector(c, cloud_ints);
#endif
}

/* Cell numbers of the spheres of one level; other elements of `cell` stay unchanged. */
FN void cloud_cells_of(const caromi_cloud_level *levels, uint32_t level_index, const int32_t *level, int axis,
                       const float *x, uint32_t count, int32_t *cell)
{
    const caromi_cloud_level *l = &levels[level_index];
    const wf low = w_f(l->low[axis]), per = w_f(l->per[axis]), most = w_f((double)l->most[axis]);
    for (uint32_t i = 0; i < count; i += WIDE) {
        cloud_ints number_of_cell = cloud_to_ints(cloud_level_cell(w_load(x + i), low, per, most));
        if (level_index > 0) {
            cloud_ints before, of;
            memcpy(&before, cell + i, sizeof before);
            memcpy(&of, level + i, sizeof of);
            const cloud_ints is = of == (int32_t)level_index;
            number_of_cell = (number_of_cell & is) | (before & ~is);
        }
        memcpy(cell + i, &number_of_cell, sizeof number_of_cell);
    }
}
#endif

/* Cell numbers of all spheres along an axis, each in its own level. */
static void cloud_cells_along(const caromi_cloud_level *levels, uint32_t level_count, const int32_t *level, int axis,
                              const float *x, uint32_t count, int32_t *cell)
{
#if LANES > 1
    if (level_count <= CLOUD_LEVEL_PASSES) {
        cloud_cells_of(levels, 0, level, axis, x, count, cell);
        for (uint32_t l = 1; l < level_count; l++)
            cloud_cells_of(levels, l, level, axis, x, count, cell);
        return;
    }
#endif
    (void)level_count;
    for (uint32_t i = 0; i < count; i++)
        cell[i] = caromi_cloud_cell(&levels[level[i]], axis, (double)x[i]);
}
