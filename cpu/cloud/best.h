/* SPDX-License-Identifier: MIT */
/* Searches for the first or any partner of single spheres: through the cells around each sphere or, for a sphere that
 * reaches most of the cloud, through all spheres by index. Included by template.h. */
#include "cloud.h"

/* Undecided pairs of one sphere that are flushed to the narrow phase before the search goes on: one of them may be the
 * partner that ends it. */
enum { CLOUD_FLUSH_UNDECIDED = 48 };

FN void cloud_flush(const caromi_cloud_view *view, caromi_cloud_found *found)
{
    if (view->motion.given != NULL)
        cloud_sweep(view, found);
    found->flush(found);
}

/* Searches one cell. Its spheres have ascending indices, so the first certain partner is the cell's best, and no sphere
 * is better than a partner with a lower index. Returns whether the search may end. */
FN int cloud_best_run(const caromi_cloud_view *view, const cloud_sphere *sphere, uint32_t begin, uint32_t end,
                      int options, const caromi_cloud_best *best, uint32_t *undecided_count, caromi_cloud_found *found)
{
    const uint32_t *partner = &best->partner[sphere->slot];
    const cloud_sorted columns = cloud_sorted_of(view);
    caromi_cloud_pairs *to = view->motion.given != NULL ? &found->swept : &found->undecided;
    if (begin == end || view->index[begin] > *partner)
        return 0;
    found->long_runs += (end - begin) / CAROMI_CLOUD_RUN;
    if (found->long_runs >= CAROMI_CLOUD_RUNS)
        cloud_flush(view, found);
    for (uint32_t j = begin; j < end; j += LANES) {
        const vm is_own = vi_eq(cloud_load_bits(view->index + j), sphere->index);
        const u32 lanes = cloud_lanes(end - j) & ~v_bitmask(is_own);
        const cloud_lanes_found tested =
            view->reach_is_bound ? cloud_test(&columns, sphere, j, options | CLOUD_MASKED | CLOUD_BOUNDS_ONLY)
                                 : cloud_test(&columns, sphere, j, options | CLOUD_MASKED);
        const u32 certain = tested.certain & lanes, undecided = tested.some & lanes & ~certain;
        if (undecided) {
            to->count = cloud_append(to, to->count, v_i((int)sphere->slot), cloud_slots(j), undecided);
            *undecided_count += (uint32_t)bitmask_count(undecided);
        }
        if (to->count > CAROMI_CLOUD_FLUSH || *undecided_count > CLOUD_FLUSH_UNDECIDED) {
            cloud_flush(view, found);
            *undecided_count = 0;
            if (best->any && *partner != UINT32_MAX)
                return 1;
        }
        if (certain) {
            const uint32_t index = view->index[j + (uint32_t)bitmask_first(certain)];
            best->partner[sphere->slot] = index < *partner ? index : *partner;
            return best->any;
        }
        if (view->index[j] > *partner)
            return 0;
    }
    return 0;
}

/* The cells of a row that a box meets, counted from the row's first. */
typedef struct cloud_cells_in_row {
    int64_t low, high;
} cloud_cells_in_row;

FN cloud_cells_in_row cloud_cells_in_row_of(const caromi_cloud_row *row, const cloud_box *box)
{
    cloud_cells_in_row in = {((int64_t)box->low[0] - row->low) >> row->shift,
                             ((int64_t)box->high[0] - row->low) >> row->shift};
    in.low = in.low < 0 ? 0 : in.low;
    in.high = in.high >= row->count ? row->count - 1 : in.high;
    return in;
}

/* Searches a row cell by cell, without the cell whose spheres begin at `seen`. */
FN int cloud_best_row(const caromi_cloud_view *view, const cloud_sphere *sphere, const caromi_cloud_row *row,
                      const cloud_box *box, uint32_t seen, int options, const caromi_cloud_best *best,
                      uint32_t *undecided_count, caromi_cloud_found *found)
{
    const uint32_t *starts = view->starts + row->cells;
    const cloud_cells_in_row cells = cloud_cells_in_row_of(row, box);
    for (int64_t c = cells.low; c <= cells.high; c++)
        if (starts[c] != seen &&
            cloud_best_run(view, sphere, starts[c], starts[c + 1], options, best, undecided_count, found))
            return 1;
    return 0;
}

/* Searches a level, without a cell that has been searched before. */
FN int cloud_best_level(const caromi_cloud_view *view, const cloud_sphere *sphere, const cloud_ball *ball,
                        uint32_t number, uint32_t seen, int options, const caromi_cloud_best *best,
                        uint32_t *undecided_count, caromi_cloud_found *found)
{
    cloud_rows_in_box rows = cloud_rows_begin(view, number, ball);
    for (uint32_t at; (at = cloud_rows_next(view, &rows)) != CAROMI_NO_ROW;)
        if (cloud_best_row(view, sphere, &view->rows[at], &rows.box, seen, options, best, undecided_count, found))
            return 1;
    return 0;
}

/* LANES spheres in the order of their indices: the first certain partner is the best one. */
typedef struct cloud_in_order {
    real at[4][LANES];
    uint32_t mask[LANES], slot[LANES];
    u32 lanes; /* lanes that hold another sphere */
} cloud_in_order;

FN void cloud_gather_in_order(const caromi_cloud_view *view, const caromi_cloud_best *best, uint32_t own, uint32_t from,
                              cloud_in_order *others)
{
    others->lanes = 0;
    for (uint32_t k = 0; k < LANES; k++) {
        const uint32_t slot = k < best->count - from ? best->slot_of[from + k] : CAROMI_NO_SLOT;
        const int is_other = slot != CAROMI_NO_SLOT && slot != own;
        const uint32_t p = is_other ? slot : own;
        others->slot[k] = p;
        others->at[0][k] = view->x[p];
        others->at[1][k] = view->y[p];
        others->at[2][k] = view->z[p];
        others->at[3][k] = view->reach[p];
        others->mask[k] = view->mask ? view->mask[p] : 0;
        others->lanes |= (u32)is_other << k;
    }
}

static void cloud_best_in_order(const caromi_cloud_view *view, const cloud_sphere *sphere,
                                const caromi_cloud_best *best, caromi_cloud_found *found)
{
    uint32_t *partner = &best->partner[sphere->slot], undecided_count = 0;
    caromi_cloud_pairs *to = view->motion.given != NULL ? &found->swept : &found->undecided;
    cloud_in_order others;
    const cloud_sorted columns = {
        others.at[0], others.at[1], others.at[2], others.at[3], view->mask ? others.mask : NULL,
        NULL,         view->margin, view};
    for (uint32_t i = 0; i < best->count && i <= *partner; i += LANES) {
        cloud_gather_in_order(view, best, sphere->slot, i, &others);
        const cloud_lanes_found tested = view->reach_is_bound
                                             ? cloud_test(&columns, sphere, 0, CLOUD_MASKED | CLOUD_BOUNDS_ONLY)
                                             : cloud_test(&columns, sphere, 0, CLOUD_MASKED);
        const u32 certain = tested.certain & others.lanes;
        for (u32 left = tested.some & others.lanes & ~certain; left; left &= left - 1, undecided_count++) {
            to->a[to->count] = sphere->slot;
            to->b[to->count++] = others.slot[bitmask_first(left)];
        }
        if (to->count > CAROMI_CLOUD_FLUSH || undecided_count > CLOUD_FLUSH_UNDECIDED) {
            cloud_flush(view, found);
            undecided_count = 0;
            if (best->any && *partner != UINT32_MAX)
                return;
        }
        if (certain) {
            const uint32_t index = i + (uint32_t)bitmask_first(certain);
            *partner = index < *partner ? index : *partner;
            return;
        }
    }
}

/* If a search would go through most spheres, it is shorter in the order of indices: the first certain partner ends
 * it. */
FN int cloud_is_in_order(const caromi_cloud_view *view, const caromi_cloud_best *best, uint32_t slot)
{
    return best->slot_of != NULL && caromi_cloud_nearby(view, 0, slot) * 8 >= (double)best->count;
}

/* Searches for the partner of the sphere in a slot, whose own cell has the slots [begin, end). The own cell comes
 * first: in a crowded cell it has a partner, which ends the search or culls most of the cells around. */
FN void cloud_best_of(const caromi_cloud_view *view, uint32_t slot, uint32_t begin, uint32_t end,
                      const caromi_cloud_best *best, caromi_cloud_found *found)
{
    const cloud_sorted columns = cloud_sorted_of(view);
    const cloud_sphere sphere = cloud_load(&columns, slot);
    uint32_t undecided_count = 0;
    if (cloud_is_in_order(view, best, slot)) {
        cloud_best_in_order(view, &sphere, best, found);
        return;
    }
    if (cloud_best_run(view, &sphere, begin, end, 0, best, &undecided_count, found))
        return;
    const cloud_ball ball = cloud_ball_of(view, slot);
    for (uint32_t level = 0; level < view->level_count; level++)
        if (cloud_best_level(view, &sphere, &ball, level, begin, 0, best, &undecided_count, found))
            return;
}

static void cloud_best(const caromi_cloud_view *view, uint32_t begin, uint32_t end, const caromi_cloud_best *best,
                       caromi_cloud_found *found)
{
    for (uint32_t r = begin; r < end; r++) {
        const uint32_t *starts = view->starts + view->rows[r].cells;
        for (int32_t i = 0; i < view->rows[r].count; i++)
            for (uint32_t p = starts[i]; p < starts[i + 1] && !found->ends; p++)
                if (!best->is_done[p])
                    cloud_best_of(view, p, starts[i], starts[i + 1], best, found);
    }
    if (view->motion.given != NULL)
        cloud_sweep(view, found);
}

/* Lists all cells of each search, level by level. */
static void cloud_list_best_runs(const caromi_cloud_view *view, uint32_t begin, uint32_t end,
                                 const caromi_cloud_best *best, caromi_cloud_found *found)
{
    for (uint32_t p = begin; p < end; p++)
        for (uint32_t level = 0; level < view->level_count && !best->is_done[p]; level++) {
            const cloud_ball ball = cloud_ball_of(view, p);
            cloud_rows_in_box rows = cloud_rows_begin(view, level, &ball);
            for (uint32_t at; (at = cloud_rows_next(view, &rows)) != CAROMI_NO_ROW;) {
                const cloud_cells_in_row cells = cloud_cells_in_row_of(&view->rows[at], &rows.box);
                const uint32_t *starts = view->starts + view->rows[at].cells;
                for (int64_t c = cells.low; c <= cells.high; c++)
                    cloud_list_run(p, starts[c], starts[c + 1], found);
            }
        }
}
