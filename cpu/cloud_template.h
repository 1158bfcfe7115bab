/* SPDX-License-Identifier: MIT */
/* The scan of a cloud at one lane count: a sphere against a run of spheres that lie together in the columns. */
#include "cloud.h"

/* Squares in binary32 are off by some units in the last place, and by 2^-147 where they underflow: docs/spheres.md,
 * section 3. Pairs between these bounds are open. */
#define CLOUD_ABOVE R(1.00000381) /* 1 + 2^-18 */
#define CLOUD_BELOW R(0.99999619)
#define CLOUD_TINY R(0x1p-140) /* where squares underflow */

/* A sphere in all lanes. */
typedef struct cloud_sphere {
    v3 at;
    vf reach;
    vi mask, index;
    uint32_t place;
} cloud_sphere;

FN cloud_sphere cloud_load(const caromi_cloud_view *view, uint32_t place)
{
    cloud_sphere s;
    s.at = v3_of(v_f(view->x[place]), v_f(view->y[place]), v_f(view->z[place]));
    s.reach = v_f(view->reach[place]);
    s.mask = v_i(view->mask ? (int)view->mask[place] : 0);
    s.index = v_i((int)view->index[place]);
    s.place = place;
    return s;
}

FN vi cloud_load_bits(const uint32_t *from)
{
    vi bits;
    memcpy(&bits, from, sizeof bits);
    return bits;
}

FN u32 cloud_lanes(uint32_t left)
{
    return left >= LANES ? (u32)((1ull << LANES) - 1) : (1u << left) - 1;
}

/* Appends the spheres at `from` + lane, for each lane of the bitmask, as partners of `place`. */
FN void cloud_append(caromi_cloud_pairs *pairs, uint32_t place, uint32_t from, u32 lanes)
{
    uint32_t *a = pairs->a + pairs->count, *b = pairs->b + pairs->count;
#ifdef LANG_HAS_COMPRESS
    static const uint32_t steps[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const vf numbers = v_from_bits(cloud_load_bits(steps) + v_i((int)from));
    v_store((real *)(void *)a, v_from_bits(v_i((int)place)));
    v_compress((real *)(void *)b, LANES, &numbers, 1, lanes);
    pairs->count += (uint32_t)bitmask_count(lanes);
#else
    (void)lanes; /* one lane, and it is set */
    *a = place;
    *b = from;
    pairs->count++;
#endif
}

/* The lanes of spheres `from` + lane that may touch it, and those that surely do. */
FN u32 cloud_test(const caromi_cloud_view *view, const cloud_sphere *s, uint32_t from, u32 *sure)
{
    const v3 at = v3_of(v_load(view->x + from), v_load(view->y + from), v_load(view->z + from));
    const v3 d = v3_sub(at, s->at);
    const vf distance2 = v3_dot(d, d), sum = v_load(view->reach + from) + s->reach, most = sum + v_f(view->margin);
    const vf below = sum * v_f(CLOUD_BELOW);
    vm some = v_le(distance2, most * most * v_f(CLOUD_ABOVE) + v_f(CLOUD_TINY));
    if (view->mask)
        some = v_and(some, v_not(vi_eq(cloud_load_bits(view->mask + from) & s->mask, v_i(0))));
    *sure = view->reach_is_bound ? 0 : v_bitmask(v_lt(distance2 + v_f(CLOUD_TINY), below * below));
    return v_bitmask(some);
}

FN void cloud_run(const caromi_cloud_view *view, const cloud_sphere *s, uint32_t begin, uint32_t end,
                  caromi_cloud_found *found)
{
    for (uint32_t j = begin; j < end; j += LANES) {
        u32 sure;
        const u32 some = cloud_test(view, s, j, &sure) & cloud_lanes(end - j), open = some & ~sure;
        sure &= some;
        if (sure)
            cloud_append(&found->sure, s->place, j, sure);
        if (open)
            cloud_append(&found->open, s->place, j, open);
        if (found->sure.count > CAROMI_CLOUD_ROOM || found->open.count > CAROMI_CLOUD_ROOM)
            found->take(found);
    }
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

/* A box of cells around a sphere, in a level. */
typedef struct cloud_box {
    int32_t low[3], high[3];
} cloud_box;

static cloud_box cloud_box_of(const caromi_cloud_view *view, const caromi_cloud_level *level, uint32_t place)
{
    const double at[3] = {(double)view->x[place], (double)view->y[place], (double)view->z[place]};
    const double reach = ((double)view->reach[place] + level->reach + (double)view->margin) * (1 + 0x1p-16);
    cloud_box box;
    for (int k = 0; k < 3; k++) {
        const double off = reach + fabs(at[k]) * 0x1p-48;
        box.low[k] = caromi_cloud_cell(level, k, at[k] - off);
        box.high[k] = caromi_cloud_cell(level, k, at[k] + off);
    }
    return box;
}

FN void cloud_box_run(const caromi_cloud_view *view, const caromi_cloud_row *row, const cloud_box *box, uint32_t *begin,
                      uint32_t *end)
{
    cloud_cells(view, row, ((int64_t)box->low[0] - row->low) >> row->shift,
                ((int64_t)box->high[0] - row->low) >> row->shift, begin, end);
}

/* The rows of a level that a box meets, one after the other: by hash, or, if there are fewer rows than places, by
 * looking at all of them. Begin with row = CAROMI_NO_ROW; ends with that. */
typedef struct cloud_rows_in_box {
    const caromi_cloud_level *level;
    cloud_box box;
    int is_by_hash;
    int32_t y, z;
    uint32_t next, number; /* row; of the level */
} cloud_rows_in_box;

static cloud_rows_in_box cloud_rows_begin(const caromi_cloud_view *view, uint32_t number, uint32_t place)
{
    const caromi_cloud_level *level = &view->levels[number];
    cloud_rows_in_box in = {.level = level, .number = number, .next = level->begin_row};
    in.box = cloud_box_of(view, level, place);
    const int64_t across = (int64_t)in.box.high[1] - in.box.low[1] + 1,
                  up = (int64_t)in.box.high[2] - in.box.low[2] + 1;
    in.is_by_hash = across * up <= 8 + (level->end_row - level->begin_row) / 4;
    in.y = in.box.low[1];
    in.z = in.box.low[2];
    return in;
}

static uint32_t cloud_rows_next(const caromi_cloud_view *view, cloud_rows_in_box *in)
{
    if (!in->is_by_hash) {
        while (in->next < in->level->end_row) {
            const caromi_cloud_row *row = &view->rows[in->next++];
            if (row->y >= in->box.low[1] && row->y <= in->box.high[1] && row->z >= in->box.low[2] &&
                row->z <= in->box.high[2])
                return in->next - 1;
        }
        return CAROMI_NO_ROW;
    }
    while (in->z <= in->box.high[2]) {
        const uint32_t row = caromi_cloud_row_at(view, in->number, in->y, in->z);
        if (++in->y > in->box.high[1]) {
            in->y = in->box.low[1];
            in->z++;
        }
        if (row != CAROMI_NO_ROW)
            return row;
    }
    return CAROMI_NO_ROW;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* The rows behind a row, and how near a sphere must be to its ends for them to matter. */
typedef struct cloud_behind {
    const caromi_cloud_row *row[4]; /* (y + 1, z), (y - 1, z + 1), (y, z + 1), (y + 1, z + 1); NULL: none */
    double y_low, y_high, z_high;
} cloud_behind;

static cloud_behind cloud_behind_of(const caromi_cloud_view *view, const caromi_cloud_row *row)
{
    static const int dy[4] = {1, -1, 0, 1}, dz[4] = {0, 1, 1, 1};
    const caromi_cloud_level *level = &view->levels[row->level];
    cloud_behind b;
    for (int k = 0; k < 4; k++) {
        const uint32_t at = caromi_cloud_row_at(view, row->level, row->y + dy[k], row->z + dz[k]);
        b.row[k] = at == CAROMI_NO_ROW ? NULL : &view->rows[at];
    }
    const double reach = (2 * level->reach + (double)view->margin) * (1 + 0x1p-16);
    const double y = level->low[1] + row->y / level->per[1], y_end = level->low[1] + (row->y + 1.0) / level->per[1];
    const double z_end = level->low[2] + (row->z + 1.0) / level->per[2];
    b.y_low = y + reach + (fabs(level->low[1]) + fabs(y)) * 0x1p-45;
    b.y_high = y_end - reach - (fabs(level->low[1]) + fabs(y_end)) * 0x1p-45;
    b.z_high = z_end - reach - (fabs(level->low[2]) + fabs(z_end)) * 0x1p-45;
    return b;
}

/* A row of spheres among themselves and against the rows behind it, cell by cell. */
static void cloud_row_pairs(const caromi_cloud_view *view, const caromi_cloud_row *row, caromi_cloud_found *found)
{
    const cloud_behind behind = cloud_behind_of(view, row);
    for (int32_t c = 0; c < row->count; c++) {
        uint32_t begin, end, last, from[4] = {0}, to[4] = {0};
        cloud_cells(view, row, c, c, &begin, &end);
        if (begin == end)
            continue;
        cloud_cells(view, row, c, c + 1, &begin, &last);
        const int64_t cell = row->low + ((int64_t)c << row->shift), next = cell + (INT64_C(1) << row->shift);
        for (int k = 0; k < 4; k++) {
            const caromi_cloud_row *r = behind.row[k];
            if (r)
                cloud_cells(view, r, (cell - 1 - r->low) >> r->shift, (next - r->low) >> r->shift, &from[k], &to[k]);
        }
        for (uint32_t p = begin; p < end; p++) {
            const cloud_sphere s = cloud_load(view, p);
            const double y = (double)view->y[p], z = (double)view->z[p];
            const int up = z >= behind.z_high;
            cloud_run(view, &s, p + 1, last, found);
            if (y >= behind.y_high)
                cloud_run(view, &s, from[0], to[0], found);
            if (up && y <= behind.y_low)
                cloud_run(view, &s, from[1], to[1], found);
            if (up)
                cloud_run(view, &s, from[2], to[2], found);
            if (up && y >= behind.y_high)
                cloud_run(view, &s, from[3], to[3], found);
        }
    }
}

static void cloud_pairs(const caromi_cloud_view *view, uint32_t begin, uint32_t end, caromi_cloud_found *found)
{
    for (uint32_t r = begin; r < end; r++) {
        const caromi_cloud_row *row = &view->rows[r];
        cloud_row_pairs(view, row, found);
        for (uint32_t level = row->level + 1; level < view->level_count; level++)
            for (uint32_t p = row->begin; p < row->end; p++) {
                const cloud_sphere s = cloud_load(view, p);
                cloud_rows_in_box in = cloud_rows_begin(view, level, p);
                for (uint32_t at; (at = cloud_rows_next(view, &in)) != CAROMI_NO_ROW;) {
                    uint32_t from, to;
                    cloud_box_run(view, &view->rows[at], &in.box, &from, &to);
                    cloud_run(view, &s, from, to, found);
                }
            }
    }
}

/* ---- the best partner -------------------------------------------------------------------------------------------- */

/* Open pairs of one sphere that are asked before its search goes on: one of them may end it. */
enum { CLOUD_ASK = 48 };

/* A cell's spheres have ascending indices: the first sure one is the best of them. Returns whether the search may end.
 */
FN int cloud_best_run(const caromi_cloud_view *view, const cloud_sphere *s, uint32_t begin, uint32_t end,
                      const caromi_cloud_best *best, uint32_t *opened, caromi_cloud_found *found)
{
    const uint32_t *partner = &best->partner[s->place];
    for (uint32_t j = begin; j < end; j += LANES) {
        u32 sure;
        const vm is_own = vi_eq(cloud_load_bits(view->index + j), s->index);
        const u32 some = cloud_test(view, s, j, &sure) & cloud_lanes(end - j) & ~v_bitmask(is_own);
        sure &= some;
        const u32 open = some & ~sure;
        if (open) {
            cloud_append(&found->open, s->place, j, open);
            *opened += (uint32_t)bitmask_count(open);
        }
        if (found->open.count > CAROMI_CLOUD_ROOM || *opened > CLOUD_ASK) {
            found->take(found);
            *opened = 0;
            if (best->any && *partner != UINT32_MAX)
                return 1;
        }
        if (sure) {
            const uint32_t index = view->index[j + (uint32_t)bitmask_first(sure)];
            best->partner[s->place] = index < *partner ? index : *partner;
            return best->any;
        }
        if (view->index[j] > *partner)
            return 0;
    }
    return 0;
}

/* All partners of the sphere at `place` in a row, cell by cell. */
static int cloud_best_row(const caromi_cloud_view *view, const cloud_sphere *s, const caromi_cloud_row *row,
                          const cloud_box *box, const caromi_cloud_best *best, uint32_t *opened,
                          caromi_cloud_found *found)
{
    const uint32_t *starts = view->starts + row->cells;
    int64_t low = ((int64_t)box->low[0] - row->low) >> row->shift,
            high = ((int64_t)box->high[0] - row->low) >> row->shift;
    low = low < 0 ? 0 : low;
    high = high >= row->count ? row->count - 1 : high;
    for (int64_t c = low; c <= high; c++)
        if (cloud_best_run(view, s, starts[c], starts[c + 1], best, opened, found))
            return 1;
    return 0;
}

static void cloud_best(const caromi_cloud_view *view, uint32_t begin, uint32_t end, const caromi_cloud_best *best,
                       caromi_cloud_found *found)
{
    for (uint32_t r = begin; r < end; r++)
        for (uint32_t p = view->rows[r].begin; p < view->rows[r].end; p++) {
            if (best->is_done[p])
                continue;
            const cloud_sphere s = cloud_load(view, p);
            uint32_t opened = 0;
            int is_done = 0;
            for (uint32_t level = 0; level < view->level_count && !is_done; level++) {
                cloud_rows_in_box in = cloud_rows_begin(view, level, p);
                for (uint32_t at; !is_done && (at = cloud_rows_next(view, &in)) != CAROMI_NO_ROW;)
                    is_done = cloud_best_row(view, &s, &view->rows[at], &in.box, best, &opened, found);
            }
        }
}
