/* SPDX-License-Identifier: MIT */
/* The scan of a cloud at one lane count: a sphere against a run of spheres that are adjacent in the columns. */
#include "cloud.h"
#include "kernels/cloud_test.h"

/* Copy of the columns' pointers, which a compiler can keep in registers. */
typedef struct cloud_sorted {
    const float *x, *y, *z, *reach;
    const uint32_t *mask, *index;
    float margin;
    const caromi_cloud_view *view;
} cloud_sorted;

FN cloud_sorted cloud_sorted_of(const caromi_cloud_view *view)
{
    const cloud_sorted columns = {view->x, view->y, view->z, view->reach, view->mask, view->index, view->margin, view};
    return columns;
}

/* A sphere in all lanes. */
typedef struct cloud_sphere {
    v3 at;
    vf reach, least; /* least: lower bound of an image's reach; `reach` is then an upper bound */
    vi mask, index;
    uint32_t slot;
} cloud_sphere;

FN cloud_sphere cloud_load(const cloud_sorted *columns, uint32_t slot)
{
    cloud_sphere sphere;
    sphere.at = v3_of(v_f(columns->x[slot]), v_f(columns->y[slot]), v_f(columns->z[slot]));
    sphere.reach = sphere.least = v_f(columns->reach[slot]);
    sphere.mask = v_i(columns->mask ? (int)columns->mask[slot] : 0);
    sphere.index = v_i((int)columns->index[slot]);
    sphere.slot = slot;
    return sphere;
}

FN vi cloud_load_bits(const uint32_t *from)
{
    vi bits;
    memcpy(&bits, from, sizeof bits);
    return bits;
}

FN u32 cloud_lanes(uint32_t left)
{
    const uint32_t lanes = left < LANES ? left : LANES;
    return (u32)(((u64)1 << lanes) - 1);
}

/* Appends (own, number of lane) for each lane of the bitmask. Stores LANES pairs, whatever the mask. */
FN uint32_t cloud_append(caromi_cloud_pairs *pairs, uint32_t count, vi own, vi numbers, u32 lanes)
{
    int32_t *a = (int32_t *)pairs->a + count, *b = (int32_t *)pairs->b + count;
    vi_store(a, own);
#ifdef LANG_HAS_COMPRESS
    const vf row = v_from_bits(numbers);
    v_compress((real *)(void *)b, LANES, &row, 1, lanes);
#else
    vi_store(b, numbers);
#endif
    return count + (uint32_t)bitmask_count(lanes);
}

FN vi cloud_slots(uint32_t from)
{
    static const uint32_t steps[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return cloud_load_bits(steps) + v_i((int)from);
}

#include "swept.h"

/* More options: only list comparisons, for a device; spheres move; the sphere `s` is an image. */
enum { CLOUD_LISTED = 8, CLOUD_SWEPT = 16, CLOUD_IMAGE = 32 };

/* cloud_compare() where the sum of reaches is known to be between two numbers. */
FN cloud_lanes_found cloud_compare_between(v3 d, vf least, vf most, vf margin, int options)
{
    const vf distance2 = v3_dot(d, d), zero = v_f(R(0.0));
    const vf outer = options & CLOUD_MARGIN ? most + margin : most, inner = least + margin;
    const vm some = v_le(distance2, outer * outer * v_f(CLOUD_ABOVE) + v_f(CLOUD_TINY));
    cloud_lanes_found tested;
    tested.some = v_bitmask(some);
    tested.certain = tested.near = 0;
    if (options & CLOUD_BOUNDS_ONLY)
        return tested;
    tested.certain = v_bitmask(v_and(some, v_and(v_lt(zero, least), cloud_is_below(distance2, least * least))));
    if (options & CLOUD_MARGIN) {
        const vm is_out = v_gt(distance2, most * most * v_f(CLOUD_ABOVE) + v_f(CLOUD_TINY));
        const vm is_in = v_and(v_lt(zero, inner), cloud_is_below(distance2, inner * inner));
        tested.near = v_bitmask(v_and(some, v_and(is_out, is_in)));
    }
    return tested;
}

/* Tests the sphere s against the spheres in slots `from` + lane. No sphere pairs with its own image. */
FN cloud_lanes_found cloud_test(const cloud_sorted *columns, const cloud_sphere *sphere, uint32_t from, int options)
{
    const v3 at = v3_of(v_load(columns->x + from), v_load(columns->y + from), v_load(columns->z + from));
    const vf reach = v_load(columns->reach + from), margin = v_f(columns->margin);
    cloud_lanes_found tested;
    if (options & CLOUD_IMAGE) {
        tested = cloud_compare_between(v3_sub(at, sphere->at), reach + sphere->least, reach + sphere->reach, margin,
                                       options);
        tested = cloud_keep(tested, v_bitmask(v_not(vi_eq(cloud_load_bits(columns->index + from), sphere->index))));
    } else
        tested = cloud_compare(v3_sub(at, sphere->at), reach + sphere->reach, margin, options);
    if (options & CLOUD_MASKED && columns->mask)
        return cloud_keep(tested,
                          v_bitmask(v_not(vi_eq(cloud_load_bits(columns->mask + from) & sphere->mask, v_i(0)))));
    return tested;
}

/* cloud_short_run() for spheres in motion. */
FN void cloud_short_swept(const cloud_sorted *columns, const cloud_sphere *sphere, uint32_t begin, uint32_t end,
                          int options, caromi_cloud_found *found)
{
    uint32_t count = found->swept.count;
    for (uint32_t j = begin; j < end; j += LANES) {
        const u32 some = cloud_test(columns, sphere, j, options).some & cloud_lanes(end - j);
        count = cloud_append(&found->swept, count, v_i((int)sphere->slot), cloud_slots(j), some);
    }
    found->swept.count = count;
    if (count >= CLOUD_SWEEP)
        cloud_sweep(columns->view, found);
}

/* A sphere against a run of at most CAROMI_CLOUD_RUN spheres. */
FN void cloud_short_run(const cloud_sorted *columns, const cloud_sphere *sphere, uint32_t begin, uint32_t end,
                        int options, caromi_cloud_found *found)
{
    uint32_t certain = found->certain.count, near = found->near.count;
    if (options & CLOUD_SWEPT) {
        cloud_short_swept(columns, sphere, begin, end, options, found);
        return;
    }
    const u32 last = cloud_lanes((end - begin - 1) % LANES + 1); /* shorter than a mask for each step */
    for (uint32_t j = begin; j < end; j += LANES) {
        const cloud_lanes_found tested = cloud_test(columns, sphere, j, options);
        const u32 lanes = end - j > LANES ? cloud_lanes(LANES) : last,
                  undecided = tested.some & ~(tested.certain | tested.near) & lanes;
        if (!(options & CLOUD_BOUNDS_ONLY))
            certain = cloud_append(&found->certain, certain, sphere->index, cloud_load_bits(columns->index + j),
                                   tested.certain & lanes);
        if (options & CLOUD_MARGIN && !(options & CLOUD_BOUNDS_ONLY))
            near = cloud_append(&found->near, near, sphere->index, cloud_load_bits(columns->index + j),
                                tested.near & lanes);
        if (undecided)
            found->undecided.count = cloud_append(&found->undecided, found->undecided.count, v_i((int)sphere->slot),
                                                  cloud_slots(j), undecided);
    }
    found->certain.count = certain;
    found->near.count = near;
    if ((certain | near | found->undecided.count) >= CAROMI_CLOUD_FLUSH)
        found->flush(found);
}

/* Does the same as the device's program, whose probe compares the bits. */
static void cloud_test_items(const caromi_cloud_view *view, const uint32_t *slot, const uint32_t *begin,
                             const uint32_t *length, uint32_t count, uint32_t *some, uint32_t *certain, uint32_t *near)
{
    const int options = caromi_cloud_options(view);
    const cloud_sorted columns = cloud_sorted_of(view);
    for (uint32_t i = 0; i < count; i++) {
        const cloud_sphere sphere = cloud_load(&columns, slot[i]);
        some[i] = certain[i] = near[i] = 0;
        for (uint32_t j = 0; j < length[i]; j += LANES) {
            const cloud_lanes_found tested =
                cloud_keep(cloud_test(&columns, &sphere, begin[i] + j, options), cloud_lanes(length[i] - j));
            some[i] |= tested.some << j;
            certain[i] |= tested.certain << j;
            near[i] |= tested.near << j;
        }
    }
}

/* Bits j to j + LANES - 1 of an item. */
FN cloud_lanes_found cloud_answer_at(uint32_t *const item[6], uint64_t i, uint32_t j)
{
    const cloud_lanes_found tested = {item[3][i] >> j, item[4][i] >> j, item[5][i] >> j};
    return cloud_keep(tested, cloud_lanes(LANES));
}

/* The device's answers to items [begin, end), six words each: the slot of a sphere, the first slot that it is compared
 * with and how many, then a bit for each of these that is a partner, a certain one, a near one. Stops when a buffer is
 * half full: as CAROMI_CLOUD_FLUSH / 2 is a power of two, the OR of the counts is below it if all of them are. */
static uint64_t cloud_read_answers(const caromi_cloud_view *view, uint32_t *const item[6], uint64_t begin, uint64_t end,
                                   caromi_cloud_found *found)
{
    const cloud_sorted columns = cloud_sorted_of(view);
    const int is_swept = view->motion.given != NULL;
    uint64_t i = begin;
    while (i < end && (found->certain.count | found->near.count | found->undecided.count) < CAROMI_CLOUD_FLUSH / 2) {
        const vi own = v_i((int)item[0][i]), index = v_i((int)columns.index[item[0][i]]);
        for (uint32_t j = 0; j < CLOUD_ITEM && item[3][i] >> j != 0; j += LANES) {
            const cloud_lanes_found tested = cloud_answer_at(item, i, j);
            const uint32_t at = item[1][i] + j;
            const u32 near = tested.near & ~tested.certain, undecided = tested.some & ~(tested.certain | near);
            if (is_swept) {
                found->swept.count = cloud_append(&found->swept, found->swept.count, own, cloud_slots(at), tested.some);
                continue;
            }
            if (tested.certain)
                found->certain.count = cloud_append(&found->certain, found->certain.count, index,
                                                    cloud_load_bits(columns.index + at), tested.certain);
            if (near)
                found->near.count =
                    cloud_append(&found->near, found->near.count, index, cloud_load_bits(columns.index + at), near);
            if (undecided)
                found->undecided.count =
                    cloud_append(&found->undecided, found->undecided.count, own, cloud_slots(at), undecided);
        }
        if (++i == end || found->swept.count >= CLOUD_SWEEP)
            cloud_sweep(view, found);
    }
    return i;
}

FN void cloud_list_run(uint32_t slot, uint32_t begin, uint32_t end, caromi_cloud_found *found)
{
    caromi_cloud_runs *runs = found->runs;
    if (begin >= end)
        return;
    if (runs->count == runs->capacity)
        found->flush(found);
    const caromi_cloud_item run = {slot, begin, end};
    runs->item[runs->count++] = run;
}

FN void cloud_run(const cloud_sorted *columns, const cloud_sphere *sphere, uint32_t begin, uint32_t end, int options,
                  caromi_cloud_found *found)
{
    if (options & CLOUD_LISTED) {
        cloud_list_run(sphere->slot, begin, end, found);
        return;
    }
    for (; end > begin + CAROMI_CLOUD_RUN; begin += CAROMI_CLOUD_RUN) {
        if (found->ends)
            return;
        cloud_short_run(columns, sphere, begin, begin + CAROMI_CLOUD_RUN, options, found);
        if (++found->long_runs >= CAROMI_CLOUD_RUNS)
            found->flush(found);
    }
    cloud_short_run(columns, sphere, begin, end, options, found);
}

/* ---- which runs -------------------------------------------------------------------------------------------------- */

/* The spheres of the row's cells [low, high], counted from the row's first, which may lie beyond its ends. */
FN void cloud_cells(const caromi_cloud_view *view, const caromi_cloud_row *row, int64_t low, int64_t high,
                    uint32_t *begin, uint32_t *end)
{
    const uint32_t *starts = view->starts + row->cells;
    low = low < 0 ? 0 : low > row->count ? row->count : low;
    high = high < -1 ? -1 : high >= row->count ? row->count - 1 : high;
    *begin = starts[low];
    *end = high < low ? *begin : starts[high + 1];
}

/* Position and reach of a sphere or an image. */
typedef struct cloud_ball {
    double at[3], reach;
} cloud_ball;

FN cloud_ball cloud_ball_of(const caromi_cloud_view *view, uint32_t slot)
{
    const cloud_ball ball = {{(double)view->x[slot], (double)view->y[slot], (double)view->z[slot]},
                             (double)view->reach[slot]};
    return ball;
}

/* A box of cells of a level. */
typedef struct cloud_box {
    int32_t low[3], high[3];
    int misses; /* the box misses all spheres of the level: cells cannot tell, because coordinates are clamped to the
                   last cell */
} cloud_box;

/* The cells that the box from `low` to `high` meets. */
FN cloud_box cloud_cells_within(const caromi_cloud_level *level, const double low[3], const double high[3])
{
    cloud_box box = {.misses = 0};
    for (int k = 0; k < 3; k++)
        box.misses |= high[k] < level->from[k] || low[k] > level->to[k];
    for (int k = 0; k < 3 && !box.misses; k++) {
        box.low[k] = caromi_cloud_cell(level, k, low[k]);
        box.high[k] = caromi_cloud_cell(level, k, high[k]);
    }
    return box;
}

static cloud_box cloud_box_of(const caromi_cloud_view *view, const caromi_cloud_level *level, const cloud_ball *ball)
{
    const double reach = (ball->reach + level->reach + (double)view->margin) * (1 + 0x1p-16);
    double low[3], high[3];
    for (int k = 0; k < 3; k++) {
        const double off = reach + fabs(ball->at[k]) * 0x1p-48;
        low[k] = ball->at[k] - off;
        high[k] = ball->at[k] + off;
    }
    return cloud_cells_within(level, low, high);
}

FN void cloud_box_run(const caromi_cloud_view *view, const caromi_cloud_row *row, const cloud_box *box, uint32_t *begin,
                      uint32_t *end)
{
    cloud_cells(view, row, ((int64_t)box->low[0] - row->low) >> row->shift,
                ((int64_t)box->high[0] - row->low) >> row->shift, begin, end);
}

/* Iterator over the rows of a level that a box meets: by table lookup or, if the level has fewer rows than the box, by
 * a test of all its rows. It ends with CAROMI_NO_ROW. */
typedef struct cloud_rows_in_box {
    const caromi_cloud_level *level;
    cloud_box box;
    int is_by_hash;
    int32_t y, z;
    uint32_t next, number; /* the next row to test; number of the level */
} cloud_rows_in_box;

static cloud_rows_in_box cloud_rows_of(const caromi_cloud_view *view, uint32_t number, const cloud_box *box)
{
    const caromi_cloud_level *level = &view->levels[number];
    cloud_rows_in_box rows = {.level = level, .box = *box, .number = number, .next = level->begin_row};
    const int64_t across = (int64_t)rows.box.high[1] - rows.box.low[1] + 1,
                  up = (int64_t)rows.box.high[2] - rows.box.low[2] + 1;
    rows.is_by_hash = across * up <= 8 + (level->end_row - level->begin_row) / 4;
    rows.is_by_hash |= rows.box.misses;
    rows.y = rows.box.low[1];
    rows.z = rows.box.misses ? rows.box.high[2] + 1 : rows.box.low[2];
    return rows;
}

static cloud_rows_in_box cloud_rows_begin(const caromi_cloud_view *view, uint32_t number, const cloud_ball *ball)
{
    const cloud_box box = cloud_box_of(view, &view->levels[number], ball);
    return cloud_rows_of(view, number, &box);
}

static uint32_t cloud_rows_next(const caromi_cloud_view *view, cloud_rows_in_box *rows)
{
    if (!rows->is_by_hash) {
        while (rows->next < rows->level->end_row) {
            const caromi_cloud_row *row = &view->rows[rows->next++];
            if (row->y >= rows->box.low[1] && row->y <= rows->box.high[1] && row->z >= rows->box.low[2] &&
                row->z <= rows->box.high[2])
                return rows->next - 1;
        }
        return CAROMI_NO_ROW;
    }
    while (rows->z <= rows->box.high[2]) {
        const uint32_t row = caromi_cloud_row_at(view, rows->number, rows->y, rows->z);
        if (++rows->y > rows->box.high[1]) {
            rows->y = rows->box.low[1];
            rows->z++;
        }
        if (row != CAROMI_NO_ROW)
            return row;
    }
    return CAROMI_NO_ROW;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* Spheres of a row that are compared with the next row at a time. */
enum { CLOUD_BORDER = 512 };

/* A neighbour row that comes later in the order, and the coordinates from which a sphere is near enough to it. */
typedef struct cloud_behind {
    const caromi_cloud_row *row; /* NULL: there is none */
    float y_from, y_to, z_from;
} cloud_behind;

/* The greatest float that is at most x. */
static float cloud_round_down(double x)
{
    const float rounded = (float)x;
    return (double)rounded <= x ? rounded : nextafterf(rounded, -INFINITY);
}

/* (y + 1, z), (y - 1, z + 1), (y, z + 1), (y + 1, z + 1) */
static void cloud_behind_of(const caromi_cloud_view *view, const caromi_cloud_row *row, cloud_behind behind[4])
{
    static const int dy[4] = {1, -1, 0, 1}, dz[4] = {0, 1, 1, 1};
    const caromi_cloud_level *level = &view->levels[row->level];
    const double reach = (2 * level->reach + (double)view->margin) * (1 + 0x1p-16);
    const double y = level->low[1] + row->y / level->per[1], y_end = level->low[1] + (row->y + 1.0) / level->per[1];
    const double z_end = level->low[2] + (row->z + 1.0) / level->per[2];
    const float y_low = -cloud_round_down(-(y + reach + (fabs(level->low[1]) + fabs(y)) * 0x1p-45));
    const float y_high = cloud_round_down(y_end - reach - (fabs(level->low[1]) + fabs(y_end)) * 0x1p-45);
    const float z_high = cloud_round_down(z_end - reach - (fabs(level->low[2]) + fabs(z_end)) * 0x1p-45);
    for (int k = 0; k < 4; k++) {
        const uint32_t at = caromi_cloud_row_at(view, row->level, row->y + dy[k], row->z + dz[k]);
        behind[k].row = at == CAROMI_NO_ROW ? NULL : &view->rows[at];
        behind[k].y_from = dy[k] > 0 ? y_high : -INFINITY;
        behind[k].y_to = dy[k] < 0 ? y_low : INFINITY;
        behind[k].z_from = dz[k] ? z_high : -INFINITY;
    }
}

/* Selects the spheres of [begin, end), at most CLOUD_BORDER, that are near enough to a later row. Returns their
 * number. */
FN uint32_t cloud_near_border(const caromi_cloud_view *view, const cloud_behind *behind, uint32_t begin, uint32_t end,
                              int32_t slots[CLOUD_BORDER + LANES])
{
    uint32_t count = 0;
    for (uint32_t p = begin; p < end; p += LANES) {
        const vf y = v_load(view->y + p), z = v_load(view->z + p);
        const vm is_near = v_and(v_within(v_f(behind->y_from), y, v_f(behind->y_to)), v_le(v_f(behind->z_from), z));
        const u32 lanes = v_bitmask(is_near) & cloud_lanes(end - p);
#ifdef LANG_HAS_COMPRESS
        const vf numbers = v_from_bits(cloud_slots(p));
        v_compress((real *)(void *)(slots + count), LANES, &numbers, 1, lanes);
#else
        vi_store(slots + count, cloud_slots(p));
#endif
        count += (uint32_t)bitmask_count(lanes);
    }
    return count;
}

/* Spheres of a row against a later row: three cells of the level for each sphere. All runs are found before any is
 * compared, because a mispredicted end of a run would discard work begun on the next one. */
FN void cloud_behind_pairs(const caromi_cloud_view *view, const caromi_cloud_row *row, const cloud_behind *behind,
                           int options, caromi_cloud_found *found)
{
    const cloud_sorted columns = cloud_sorted_of(view);
    const caromi_cloud_level *level = &view->levels[row->level];
    const caromi_cloud_row *neighbour = behind->row;
    int32_t slots[CLOUD_BORDER + LANES];
    uint32_t begin[CLOUD_BORDER], end[CLOUD_BORDER];
    for (uint32_t from = row->begin; from < row->end && !found->ends; from += CLOUD_BORDER) {
        const uint32_t to = row->end - from < CLOUD_BORDER ? row->end : from + CLOUD_BORDER;
        const uint32_t count = cloud_near_border(view, behind, from, to, slots);
        for (uint32_t i = 0; i < count; i++) {
            const int64_t cell =
                caromi_cloud_cell(level, AXIS_X, (double)columns.x[slots[i]]) - (int64_t)neighbour->low;
            cloud_cells(view, neighbour, (cell - 1) >> neighbour->shift, (cell + 1) >> neighbour->shift, &begin[i],
                        &end[i]);
        }
        for (uint32_t i = 0; i < count; i++) {
            const cloud_sphere sphere = cloud_load(&columns, (uint32_t)slots[i]);
            cloud_run(&columns, &sphere, begin[i], end[i], options, found);
        }
    }
}

/* The spheres of a row among themselves, and against later rows. */
FN void cloud_row_pairs(const caromi_cloud_view *view, const caromi_cloud_row *row, int options,
                        caromi_cloud_found *found)
{
    const uint32_t *starts = view->starts + row->cells;
    const cloud_sorted columns = cloud_sorted_of(view);
    for (int32_t i = 0; i < row->count && !found->ends; i++) {
        const uint32_t end = starts[i + 1], last = starts[i + 2 < row->count ? i + 2 : row->count];
        for (uint32_t p = starts[i]; p < end; p++) {
            const cloud_sphere sphere = cloud_load(&columns, p);
            cloud_run(&columns, &sphere, p + 1, last, options, found);
        }
    }
    cloud_behind behind[4];
    cloud_behind_of(view, row, behind);
    for (int k = 0; k < 4; k++)
        if (behind[k].row != NULL)
            cloud_behind_pairs(view, row, &behind[k], options, found);
}

/* Lower bound of the distance of x from a row along an axis. The first and the last row also hold all spheres
 * beyond. */
FN double cloud_off_row(const caromi_cloud_level *level, int axis, double wide, int32_t row, double x)
{
    const double low = level->low[axis] + row * wide, high = level->low[axis] + (row + 1.0) * wide;
    const double below = row == 0 ? 0 : low - x, above = row == level->most[axis] ? 0 : x - high;
    const double off = (below > above ? below : above) - (fabs(level->low[axis]) + fabs(low) + fabs(high)) * 0x1p-45;
    return off > 0 ? off : 0;
}

/* Runs of spheres. */
enum { CLOUD_RUNS = 64 };
typedef struct cloud_runs {
    uint32_t count, begin[CLOUD_RUNS], end[CLOUD_RUNS];
} cloud_runs;

/* The next runs of a level that a coarser sphere or an image may touch, up to CLOUD_RUNS at a time. The distance in y
 * and z to a row leaves a chord along x, whose cells are the run. */
static void cloud_finer_runs(const caromi_cloud_view *view, const cloud_ball *ball, double reach,
                             cloud_rows_in_box *rows, cloud_runs *runs)
{
    const caromi_cloud_level *level = rows->level;
    const double y_wide = 1 / level->per[1], z_wide = 1 / level->per[2];
    const double x = ball->at[0], y = ball->at[1], z = ball->at[2];
    runs->count = 0;
    for (uint32_t at; runs->count < CLOUD_RUNS && (at = cloud_rows_next(view, rows)) != CAROMI_NO_ROW;) {
        const caromi_cloud_row *neighbour = &view->rows[at];
        const double dy = cloud_off_row(level, AXIS_Y, y_wide, neighbour->y, y),
                     dz = cloud_off_row(level, AXIS_Z, z_wide, neighbour->z, z);
        const double left2 = reach * reach - dy * dy - dz * dz;
        if (left2 < 0)
            continue;
        const double left = sqrt(left2) + fabs(x) * 0x1p-48;
        uint32_t *begin = &runs->begin[runs->count], *end = &runs->end[runs->count];
        rows->box.low[0] = caromi_cloud_cell(level, AXIS_X, x - left);
        rows->box.high[0] = caromi_cloud_cell(level, AXIS_X, x + left);
        cloud_box_run(view, neighbour, &rows->box, begin, end);
        runs->count += *begin < *end;
    }
}

/* A sphere against the spheres of a level. */
FN void cloud_level_pairs(const caromi_cloud_view *view, const cloud_sphere *sphere, const cloud_ball *ball,
                          uint32_t number, int options, caromi_cloud_found *found)
{
    const cloud_sorted columns = cloud_sorted_of(view);
    const double reach = (ball->reach + view->levels[number].reach + (double)columns.margin) * (1 + 0x1p-16);
    cloud_rows_in_box rows = cloud_rows_begin(view, number, ball);
    cloud_runs runs;
    do {
        cloud_finer_runs(view, ball, reach, &rows, &runs);
        for (uint32_t i = 0; i < runs.count; i++)
            cloud_run(&columns, sphere, runs.begin[i], runs.end[i], options, found);
    } while (runs.count == CLOUD_RUNS);
}

/* The spheres of a row against a finer level. */
FN void cloud_finer_pairs(const caromi_cloud_view *view, const caromi_cloud_row *row, uint32_t number, int options,
                          caromi_cloud_found *found)
{
    const cloud_sorted columns = cloud_sorted_of(view);
    for (uint32_t p = row->begin; p < row->end && !found->ends; p++) {
        const cloud_ball ball = cloud_ball_of(view, p);
        const cloud_sphere sphere = cloud_load(&columns, p);
        cloud_level_pairs(view, &sphere, &ball, number, options, found);
    }
}

#include "coarser.h"

FN void cloud_all_pairs(const caromi_cloud_view *view, uint32_t begin, uint32_t end, int options,
                        caromi_cloud_found *found)
{
    for (uint32_t r = begin; r < end && !found->ends; r++) {
        const uint32_t own = view->rows[r].level;
        cloud_row_pairs(view, &view->rows[r], options, found);
        for (uint32_t level = own + 1; level < view->level_count; level++)
            if (!(view->levels[level].coarser >> own & 1))
                cloud_finer_pairs(view, &view->rows[r], level, options, found);
        if (view->levels[own].coarser != 0)
            cloud_coarser_pairs(view, &view->rows[r], options, found);
    }
}

static void cloud_pairs(const caromi_cloud_view *view, uint32_t begin, uint32_t end, caromi_cloud_found *found)
{
    const int options = caromi_cloud_options(view);
    if (options == 0)
        cloud_all_pairs(view, begin, end, 0, found);
    else if (options == CLOUD_MARGIN)
        cloud_all_pairs(view, begin, end, CLOUD_MARGIN, found);
    else if (view->motion.given != NULL) {
        cloud_all_pairs(view, begin, end, CLOUD_BOUNDS_ONLY | CLOUD_MASKED | CLOUD_SWEPT, found);
        cloud_sweep(view, found);
    } else if (options & CLOUD_BOUNDS_ONLY)
        cloud_all_pairs(view, begin, end, CLOUD_BOUNDS_ONLY | CLOUD_MASKED | CLOUD_MARGIN, found);
    else
        cloud_all_pairs(view, begin, end, CLOUD_MASKED | CLOUD_MARGIN, found);
}

static void cloud_list_runs(const caromi_cloud_view *view, uint32_t begin, uint32_t end, caromi_cloud_found *found)
{
    cloud_all_pairs(view, begin, end, CLOUD_LISTED, found);
}

#include "best.h"
#include "images.h"
