/* SPDX-License-Identifier: MIT */
#include "settle.h"

#include <string.h>

#include "exact.h"

/* One row of a batch: its inputs, and its outputs as every kernel orders them. */
typedef struct settle_row {
    float in[COLUMNS_MAX], real[COLUMNS_MAX];
    uint8_t byte[COLUMNS_MAX];
} settle_row;

static void settle_sweep(settle_row *row, int want, int moving)
{
    caromi_exact_sweep a;
    if (!moving)
        row->in[IN_WX] = row->in[IN_WY] = row->in[IN_WZ] = 0;
    caromi_exact_sweep_of(row->in, want, 0, &a);
    row->real[OUT_T_FIRST] = a.t_first;
    row->real[OUT_T_LAST] = a.t_last;
    row->byte[OUT_STATE] = (uint8_t)a.state;
    memcpy(&row->real[OUT_FIRST_X], a.point_first, sizeof a.point_first);
    memcpy(&row->real[OUT_LAST_X], a.point_last, sizeof a.point_last);
    row->byte[OUT_FIRST_FEATURE] = (uint8_t)a.feature_first;
    row->byte[OUT_LAST_FEATURE] = (uint8_t)a.feature_last;
}

static void settle_overlap(settle_row *row)
{
    int overlap, axes;
    caromi_exact_overlap_of(row->in, &overlap, &axes);
    row->byte[OUT_OVERLAP] = (uint8_t)overlap;
    row->byte[OUT_AXES] = (uint8_t)axes;
}

static void settle_spheres(settle_row *row)
{
    int state;
    caromi_exact_spheres_of(row->in, &row->real[OUT_U_FIRST], &row->real[OUT_U_LAST], &state);
    row->byte[OUT_U_STATE] = (uint8_t)state;
}

static void settle_contact(settle_row *row)
{
    caromi_exact_contact a;
    caromi_exact_contact_of(row->in, &a);
    memcpy(&row->real[OUT_POINT_X], a.point, sizeof a.point);
    memcpy(&row->real[OUT_NORMAL_X], a.normal, sizeof a.normal);
    row->byte[OUT_FEATURE] = (uint8_t)a.feature;
}

static void settle_closest(settle_row *row)
{
    caromi_exact_closest a;
    caromi_exact_closest_of(row->in, &a);
    memcpy(&row->real[OUT_CLOSEST_X], a.point, sizeof a.point);
    row->byte[OUT_CLOSEST_FEATURE] = (uint8_t)a.feature;
}

static void settle_row_of(enum caromi_pair_kernel kernel, settle_row *row)
{
    switch (kernel) {
    case CAROMI_PAIR_sweep_first_exact: settle_sweep(row, CAROMI_EXACT_FIRST, 0); break;
    case CAROMI_PAIR_sweep_times_exact: settle_sweep(row, CAROMI_EXACT_TIMES, 0); break;
    case CAROMI_PAIR_sweep_full_exact: settle_sweep(row, CAROMI_EXACT_FULL, 0); break;
    case CAROMI_PAIR_sweep_first_moving_exact: settle_sweep(row, CAROMI_EXACT_FIRST, 1); break;
    case CAROMI_PAIR_sweep_times_moving_exact: settle_sweep(row, CAROMI_EXACT_TIMES, 1); break;
    case CAROMI_PAIR_sweep_full_moving_exact: settle_sweep(row, CAROMI_EXACT_FULL, 1); break;
    case CAROMI_PAIR_overlap_exact: settle_overlap(row); break;
    case CAROMI_PAIR_spheres_exact: settle_spheres(row); break;
    case CAROMI_PAIR_closest_exact: settle_closest(row); break;
    default: settle_contact(row); break;
    }
}

static int is_undecided(const caromi_pair_shape *shape, const void *marks, size_t i)
{
    if (shape->out_bytes & 1)
        return ((const uint8_t *)marks)[i] == OVERLAP_UNDECIDED;
    uint32_t bits; /* a comparison of values could depend on the float mode */
    memcpy(&bits, (const float *)marks + i, sizeof bits);
    return (bits & 0x7fffffff) > 0x7f800000;
}

/* Whether any of the pairs [from, to) is undecided. Rarely, so the loop has no branch. */
static int any_undecided(const caromi_pair_shape *shape, const void *marks, size_t from, size_t to)
{
    int some = 0;
    for (size_t i = from; i < to; i++)
        some |= is_undecided(shape, marks, i);
    return some;
}

static void settle_pair(const caromi_pair_batch *batch, const caromi_pair_shape *shape, uint64_t at)
{
    settle_row row;
    for (uint32_t c = 0; c < shape->in_count; c++)
        caromi_gather(&row.in[c], &batch->in[c], at, 1);
    settle_row_of(batch->kernel, &row);
    for (uint32_t c = 0; c < shape->out_count; c++) {
        const size_t size = caromi_out_size(shape, c);
        caromi_scatter(&batch->out[c], at, size == 1 ? (const void *)&row.byte[c] : &row.real[c], 1, size);
    }
}

uint64_t caromi_settle_pairs(const caromi_pair_batch *batch, const void *marks, uint64_t first, size_t count)
{
    enum { RUN = 64 };
    const caromi_pair_shape *shape = &caromi_pair_shapes[batch->kernel];
    uint64_t undecided = 0;
    for (size_t from = 0; from < count; from += RUN) {
        const size_t to = count - from < RUN ? count : from + RUN;
        if (!any_undecided(shape, marks, from, to))
            continue;
        for (size_t i = from; i < to; i++)
            if (is_undecided(shape, marks, i)) {
                settle_pair(batch, shape, first + i);
                undecided++;
            }
    }
    return undecided;
}
