/* SPDX-License-Identifier: MIT */
/* The scan of a cloud at one lane count: which runs of spheres each sphere is compared with. */
#include <math.h>

#include "runs.h"

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

/* The ball of a sphere. */
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
    for (int axis = 0; axis < 3; axis++)
        box.misses |= high[axis] < level->from[axis] || low[axis] > level->to[axis];
    for (int axis = 0; axis < 3 && !box.misses; axis++) {
        box.low[axis] = caromi_cloud_cell(level, axis, low[axis]);
        box.high[axis] = caromi_cloud_cell(level, axis, high[axis]);
    }
    return box;
}

/* The cells of a level whose spheres may touch the ball. */
static cloud_box cloud_box_of(const caromi_cloud_view *view, const caromi_cloud_level *level, const cloud_ball *ball)
{
    const double reach = (ball->reach + level->reach + (double)view->margin) * (1 + 0x1p-16);
    double low[3], high[3];
    for (int k = 0; k < 3; k++) {
        const double half_side = reach + fabs(ball->at[k]) * 0x1p-48;
        low[k] = ball->at[k] - half_side;
        high[k] = ball->at[k] + half_side;
    }
    return cloud_cells_within(level, low, high);
}

/* The spheres of a row in cells of the box. */
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

/* Begins the iteration over the rows that a box meets. */
static cloud_rows_in_box cloud_rows_of(const caromi_cloud_view *view, uint32_t level_index, const cloud_box *box)
{
    const caromi_cloud_level *level = &view->levels[level_index];
    cloud_rows_in_box rows = {.level = level, .box = *box, .number = level_index, .next = level->begin_row};
    const int64_t count_y = (int64_t)rows.box.high[1] - rows.box.low[1] + 1,
                  count_z = (int64_t)rows.box.high[2] - rows.box.low[2] + 1;
    rows.is_by_hash = count_y * count_z <= 8 + (level->end_row - level->begin_row) / 4;
    rows.is_by_hash |= rows.box.misses;
    rows.y = rows.box.low[1];
    rows.z = rows.box.misses ? rows.box.high[2] + 1 : rows.box.low[2];
    return rows;
}

/* Begins the iteration over the rows of a level whose spheres may touch the ball. */
static cloud_rows_in_box cloud_rows_begin(const caromi_cloud_view *view, uint32_t level_index, const cloud_ball *ball)
{
    const cloud_box box = cloud_box_of(view, &view->levels[level_index], ball);
    return cloud_rows_of(view, level_index, &box);
}

/* The next row that the box meets; CAROMI_NO_ROW after the last. */
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

/* A row to compare with, and the coordinates from which a sphere is near enough to it. */
typedef struct cloud_neighbour {
    const caromi_cloud_row *row; /* NULL: there is none */
    float from[2], to[2];        /* along y and z */
} cloud_neighbour;

/* The greatest float that is at most x. */
static float cloud_round_down(double x)
{
    const float rounded = (float)x;
    return (double)rounded <= x ? rounded : nextafterf(rounded, -INFINITY);
}

/* How near to the lower and the upper bound of its row along y or z a sphere must be to touch one in the next row of
 * these cells. */
static void cloud_borders(const caromi_cloud_view *view, const caromi_cloud_row *row, int axis, float *low, float *high)
{
    const caromi_cloud_level *level = &view->levels[row->level];
    const int32_t number = axis == AXIS_Y ? row->y : row->z;
    const double reach = (2 * level->reach + (double)view->margin) * (1 + 0x1p-16), first = level->low[axis];
    const double begin = first + number / level->per[axis], end = first + (number + 1.0) / level->per[axis];
    *low = -cloud_round_down(-(begin + reach + (fabs(first) + fabs(begin)) * 0x1p-45));
    *high = cloud_round_down(end - reach - (fabs(first) + fabs(end)) * 0x1p-45);
}

/* The row at (y + dy, z + dz) in a level with the same cells. low, high: as cloud_borders() has them. */
FN cloud_neighbour cloud_neighbour_of(const caromi_cloud_view *view, const caromi_cloud_row *row, uint32_t level,
                                      const int step[2], const float low[2], const float high[2])
{
    const uint32_t at = caromi_cloud_row_at(view, level, row->y + step[0], row->z + step[1]);
    cloud_neighbour neighbour = {.row = at == CAROMI_NO_ROW ? NULL : &view->rows[at]};
    for (int k = 0; k < 2; k++) {
        neighbour.from[k] = step[k] > 0 ? high[k] : -INFINITY;
        neighbour.to[k] = step[k] < 0 ? low[k] : INFINITY;
    }
    return neighbour;
}

/* Selects the spheres of [begin, end), at most CLOUD_BORDER, that are near enough to a row. Returns their number. */
FN uint32_t cloud_near_border(const caromi_cloud_view *view, const cloud_neighbour *neighbour, uint32_t begin,
                              uint32_t end, int32_t slots[CLOUD_BORDER + LANES])
{
    uint32_t count = 0;
    for (uint32_t slot = begin; slot < end; slot += LANES) {
        const vf y = v_load(view->y + slot), z = v_load(view->z + slot);
        const vm is_near = v_and(v_within(v_f(neighbour->from[0]), y, v_f(neighbour->to[0])),
                                 v_within(v_f(neighbour->from[1]), z, v_f(neighbour->to[1])));
        const u32 lanes = v_bitmask(is_near) & cloud_lanes(end - slot);
#ifdef LANG_HAS_COMPRESS
        const vf numbers = v_from_bits(cloud_slots(slot));
        v_compress((real *)(void *)(slots + count), LANES, &numbers, 1, lanes);
#else
        vi_store(slots + count, cloud_slots(slot));
#endif
        count += (uint32_t)bitmask_count(lanes);
    }
    return count;
}

/* Spheres of a row against another row of the same cells: three cells of the level for each sphere. All runs are found
 * before any is compared, because a mispredicted end of a run would discard work begun on the next one. */
FN void cloud_neighbour_pairs(const caromi_cloud_view *view, const caromi_cloud_row *row, const cloud_neighbour *other,
                              int options, caromi_cloud_found *found)
{
    const cloud_sorted columns = cloud_sorted_of(view);
    const caromi_cloud_level *level = &view->levels[row->level];
    const caromi_cloud_row *neighbour = other->row;
    int32_t slots[CLOUD_BORDER + LANES];
    uint32_t begin[CLOUD_BORDER], end[CLOUD_BORDER];
    for (uint32_t from = row->begin; from < row->end && !found->ends; from += CLOUD_BORDER) {
        const uint32_t to = row->end - from < CLOUD_BORDER ? row->end : from + CLOUD_BORDER;
        const uint32_t count = cloud_near_border(view, other, from, to, slots);
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

/* The spheres of a row among themselves. */
FN void cloud_own_pairs(const caromi_cloud_view *view, const caromi_cloud_row *row, int options,
                        caromi_cloud_found *found)
{
    const uint32_t *starts = view->starts + row->cells;
    const cloud_sorted columns = cloud_sorted_of(view);
    for (int32_t cell = 0; cell < row->count && !found->ends; cell++) {
        const uint32_t end = starts[cell + 1], run_end = starts[cell + 2 < row->count ? cell + 2 : row->count];
        for (uint32_t slot = starts[cell]; slot < end; slot++) {
            const cloud_sphere sphere = cloud_load(&columns, slot);
            cloud_run(&columns, &sphere, slot + 1, run_end, options, found);
        }
    }
}

/* The spheres of a row among themselves, and against later rows. Of two clouds, against the other one's in the same
 * cells: in that row and in all around it. */
FN void cloud_row_pairs(const caromi_cloud_view *view, const caromi_cloud_row *row, int options,
                        caromi_cloud_found *found)
{
    enum { LATER = 4, ALL = 9 };
    static const int steps[ALL][2] = {{1, 0},  {-1, 1}, {0, 1},  {1, 1}, /* (y, z) of the later rows */
                                      {-1, 0}, {1, -1}, {0, -1}, {-1, -1}, {0, 0}};
    const int count = view->is_split ? ALL : LATER;
    float low[2], high[2];
    if (!view->is_split)
        cloud_own_pairs(view, row, options, found);
    cloud_borders(view, row, AXIS_Y, &low[0], &high[0]);
    cloud_borders(view, row, AXIS_Z, &low[1], &high[1]);
    for (int k = 0; k < count; k++) {
        const cloud_neighbour neighbour =
            cloud_neighbour_of(view, row, view->is_split ? row->level ^ 1 : row->level, steps[k], low, high);
        if (neighbour.row != NULL)
            cloud_neighbour_pairs(view, row, &neighbour, options, found);
    }
}

/* Lower bound of the distance of x from a row along an axis. The first and the last row also hold all spheres
 * beyond. */
FN double cloud_off_row(const caromi_cloud_level *level, int axis, double row_width, int32_t row, double x)
{
    const double low = level->low[axis] + row * row_width, high = level->low[axis] + (row + 1.0) * row_width;
    const double under = row == 0 ? 0 : low - x, over = row == level->most[axis] ? 0 : x - high;
    const double outside = (under > over ? under : over) - (fabs(level->low[axis]) + fabs(low) + fabs(high)) * 0x1p-45;
    return outside > 0 ? outside : 0;
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
    const double y_width = 1 / level->per[1], z_width = 1 / level->per[2];
    const double x = ball->at[0], y = ball->at[1], z = ball->at[2];
    runs->count = 0;
    for (uint32_t row; runs->count < CLOUD_RUNS && (row = cloud_rows_next(view, rows)) != CAROMI_NO_ROW;) {
        const caromi_cloud_row *neighbour = &view->rows[row];
        const double gap_y = cloud_off_row(level, AXIS_Y, y_width, neighbour->y, y),
                     gap_z = cloud_off_row(level, AXIS_Z, z_width, neighbour->z, z);
        const double chord2 = reach * reach - gap_y * gap_y - gap_z * gap_z;
        if (chord2 < 0)
            continue;
        const double half_chord = sqrt(chord2) + fabs(x) * 0x1p-48;
        uint32_t *begin = &runs->begin[runs->count], *end = &runs->end[runs->count];
        rows->box.low[0] = caromi_cloud_cell(level, AXIS_X, x - half_chord);
        rows->box.high[0] = caromi_cloud_cell(level, AXIS_X, x + half_chord);
        cloud_box_run(view, neighbour, &rows->box, begin, end);
        runs->count += *begin < *end;
    }
}

/* A sphere against the spheres of a level. */
FN void cloud_level_pairs(const caromi_cloud_view *view, const cloud_sphere *sphere, const cloud_ball *ball,
                          uint32_t level_index, int options, caromi_cloud_found *found)
{
    const cloud_sorted columns = cloud_sorted_of(view);
    const double reach = (ball->reach + view->levels[level_index].reach + (double)columns.margin) * (1 + 0x1p-16);
    cloud_rows_in_box rows = cloud_rows_begin(view, level_index, ball);
    cloud_runs runs;
    do {
        cloud_finer_runs(view, ball, reach, &rows, &runs);
        for (uint32_t i = 0; i < runs.count; i++)
            cloud_run(&columns, sphere, runs.begin[i], runs.end[i], options, found);
    } while (runs.count == CLOUD_RUNS);
}

/* The spheres of a row against a finer level. */
FN void cloud_finer_pairs(const caromi_cloud_view *view, const caromi_cloud_row *row, uint32_t level_index, int options,
                          caromi_cloud_found *found)
{
    const cloud_sorted columns = cloud_sorted_of(view);
    for (uint32_t slot = row->begin; slot < row->end && !found->ends; slot++) {
        const cloud_ball ball = cloud_ball_of(view, slot);
        const cloud_sphere sphere = cloud_load(&columns, slot);
        cloud_level_pairs(view, &sphere, &ball, level_index, options, found);
    }
}

#include "coarser.h"

/* The pairs of rows [begin, end): in each row's own level, and with other levels. */
FN void cloud_all_pairs(const caromi_cloud_view *view, uint32_t begin, uint32_t end, int options,
                        caromi_cloud_found *found)
{
    for (uint32_t row = begin; row < end && !found->ends; row++) {
        const uint32_t own_level = view->rows[row].level;
        if (!view->is_split || view->levels[own_level].searches_twin)
            cloud_row_pairs(view, &view->rows[row], options, found);
        for (uint32_t level = own_level + 1; level < view->level_count; level++)
            if (caromi_cloud_may_search(view, own_level, level) && !(view->levels[level].coarser >> own_level & 1))
                cloud_finer_pairs(view, &view->rows[row], level, options, found);
        if (view->levels[own_level].coarser != 0)
            cloud_coarser_pairs(view, &view->rows[row], options, found);
    }
}

/* Scans rows [begin, end). Options become constants, so that each scan compiles without the others' code. */
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

/* Lists the comparisons of a scan, for a device. */
static void cloud_list_runs(const caromi_cloud_view *view, uint32_t begin, uint32_t end, caromi_cloud_found *found)
{
    cloud_all_pairs(view, begin, end, CLOUD_LISTED, found);
}

#include "best.h"
#include "images.h"
