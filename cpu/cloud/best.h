/* SPDX-License-Identifier: MIT */
/* Searches for the first or any partner of single spheres: through the cells around each sphere or, for a sphere that
 * reaches most of the cloud, through all spheres by index. Included by template.h. */
#include "cloud.h"

/* Undecided pairs of one sphere that are flushed to the narrow phase before the search goes on: one of them may be the
 * partner that ends it. */
enum { CLOUD_FLUSH_UNDECIDED = 48 };

/* Hands all buffered pairs to the narrow phase; moving spheres get the sweep test before. */
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
    caromi_cloud_pairs *buffer = view->motion.given != NULL ? &found->swept : &found->undecided;
    if (begin == end || view->index[begin] > *partner)
        return 0;
    found->long_runs += (end - begin) / CAROMI_CLOUD_RUN;
    if (found->long_runs >= CAROMI_CLOUD_RUNS)
        cloud_flush(view, found);
    for (uint32_t first_slot = begin; first_slot < end; first_slot += LANES) {
        /* Tests LANES spheres of the cell, without the sphere itself. */
        const vm is_own = vi_eq(cloud_load_bits(view->index + first_slot), sphere->index);
        const u32 lanes = cloud_lanes(end - first_slot) & ~v_bitmask(is_own);
        const cloud_lanes_found tested =
            view->reach_is_bound ? cloud_test(&columns, sphere, first_slot, options | CLOUD_MASKED | CLOUD_BOUNDS_ONLY)
                                 : cloud_test(&columns, sphere, first_slot, options | CLOUD_MASKED);
        const u32 certain = tested.certain & lanes, undecided = tested.some & lanes & ~certain;
        if (undecided) {
            buffer->count =
                cloud_append(buffer, buffer->count, v_i((int)sphere->slot), cloud_slots(first_slot), undecided);
            *undecided_count += (uint32_t)bitmask_count(undecided);
        }
        if (buffer->count > CAROMI_CLOUD_FLUSH || *undecided_count > CLOUD_FLUSH_UNDECIDED) {
            cloud_flush(view, found);
            *undecided_count = 0;
            if (best->any && *partner != UINT32_MAX)
                return 1;
        }
        if (certain) {
            const uint32_t index = view->index[first_slot + (uint32_t)bitmask_first(certain)];
            best->partner[sphere->slot] = index < *partner ? index : *partner;
            return best->any;
        }
        if (view->index[first_slot] > *partner)
            return 0;
    }
    return 0;
}

/* The cells of a row that a box meets, counted from the row's first. */
typedef struct cloud_cells_in_row {
    int64_t low, high;
} cloud_cells_in_row;

/* The cells of a row that a box meets, cut to the row's ends. */
FN cloud_cells_in_row cloud_cells_in_row_of(const caromi_cloud_row *row, const cloud_box *box)
{
    cloud_cells_in_row cells = {((int64_t)box->low[0] - row->low) >> row->shift,
                                ((int64_t)box->high[0] - row->low) >> row->shift};
    cells.low = cells.low < 0 ? 0 : cells.low;
    cells.high = cells.high >= row->count ? row->count - 1 : cells.high;
    return cells;
}

/* Searches a row cell by cell, without the cell whose spheres begin at `seen`. */
FN int cloud_best_row(const caromi_cloud_view *view, const cloud_sphere *sphere, const caromi_cloud_row *row,
                      const cloud_box *box, uint32_t seen, int options, const caromi_cloud_best *best,
                      uint32_t *undecided_count, caromi_cloud_found *found)
{
    const uint32_t *starts = view->starts + row->cells;
    const cloud_cells_in_row cells = cloud_cells_in_row_of(row, box);
    for (int64_t cell = cells.low; cell <= cells.high; cell++)
        if (starts[cell] != seen &&
            cloud_best_run(view, sphere, starts[cell], starts[cell + 1], options, best, undecided_count, found))
            return 1;
    return 0;
}

/* Searches a level, without a cell that has been searched before. */
FN int cloud_best_level(const caromi_cloud_view *view, const cloud_sphere *sphere, const cloud_ball *ball,
                        uint32_t level_index, uint32_t seen, int options, const caromi_cloud_best *best,
                        uint32_t *undecided_count, caromi_cloud_found *found)
{
    cloud_rows_in_box rows = cloud_rows_begin(view, level_index, ball);
    for (uint32_t row; (row = cloud_rows_next(view, &rows)) != CAROMI_NO_ROW;)
        if (cloud_best_row(view, sphere, &view->rows[row], &rows.box, seen, options, best, undecided_count, found))
            return 1;
    return 0;
}

/* LANES spheres in the order of their indices: the first certain partner is the best one. */
typedef struct cloud_in_order {
    real x[LANES], y[LANES], z[LANES], reach[LANES];
    uint32_t mask[LANES], group[LANES], slot[LANES];
    u32 lanes; /* lanes that hold another sphere */
} cloud_in_order;

/* Gathers the spheres with indices from `from` on. Lanes without another sphere repeat the sphere itself. */
FN void cloud_gather_in_order(const caromi_cloud_view *view, const caromi_cloud_best *best, uint32_t own, uint32_t from,
                              cloud_in_order *others)
{
    others->lanes = 0;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint32_t slot = lane < best->count - from ? best->slot_of[from + lane] : CAROMI_NO_SLOT;
        const int is_other = slot != CAROMI_NO_SLOT && slot != own;
        const uint32_t source = is_other ? slot : own;
        others->slot[lane] = source;
        others->x[lane] = view->x[source];
        others->y[lane] = view->y[source];
        others->z[lane] = view->z[source];
        others->reach[lane] = view->reach[source];
        others->mask[lane] = view->mask ? view->mask[source] : 0;
        others->group[lane] = view->group ? view->group[source] : 0;
        others->lanes |= (u32)is_other << lane;
    }
}

/* Searches for a partner through all spheres in the order of their indices. */
static void cloud_best_in_order(const caromi_cloud_view *view, const cloud_sphere *sphere,
                                const caromi_cloud_best *best, caromi_cloud_found *found)
{
    uint32_t *partner = &best->partner[sphere->slot], undecided_count = 0;
    caromi_cloud_pairs *buffer = view->motion.given != NULL ? &found->swept : &found->undecided;
    cloud_in_order others;
    const cloud_sorted columns = {.x = others.x,
                                  .y = others.y,
                                  .z = others.z,
                                  .reach = others.reach,
                                  .mask = view->mask ? others.mask : NULL,
                                  .group = view->group ? others.group : NULL,
                                  .margin = view->margin,
                                  .view = view};
    for (uint32_t first_index = best->first; first_index < best->count && first_index <= *partner;
         first_index += LANES) {
        cloud_gather_in_order(view, best, sphere->slot, first_index, &others);
        const cloud_lanes_found tested = view->reach_is_bound
                                             ? cloud_test(&columns, sphere, 0, CLOUD_MASKED | CLOUD_BOUNDS_ONLY)
                                             : cloud_test(&columns, sphere, 0, CLOUD_MASKED);
        const u32 certain = tested.certain & others.lanes;
        /* Undecided pairs go to the narrow phase; a certain partner ends the search. */
        for (u32 left = tested.some & others.lanes & ~certain; left; left &= left - 1, undecided_count++) {
            buffer->a[buffer->count] = sphere->slot;
            buffer->b[buffer->count++] = others.slot[bitmask_first(left)];
        }
        if (buffer->count > CAROMI_CLOUD_FLUSH || undecided_count > CLOUD_FLUSH_UNDECIDED) {
            cloud_flush(view, found);
            undecided_count = 0;
            if (best->any && *partner != UINT32_MAX)
                return;
        }
        if (certain) {
            const uint32_t index = first_index + (uint32_t)bitmask_first(certain);
            *partner = index < *partner ? index : *partner;
            return;
        }
    }
}

/* If a search would go through most spheres, it is shorter in the order of indices: the first certain partner ends
 * it. */
FN int cloud_is_in_order(const caromi_cloud_view *view, const caromi_cloud_best *best, uint32_t own, uint32_t slot)
{
    return best->slot_of != NULL && caromi_cloud_nearby(view, 0, own, slot) * 8 >= (double)(best->count - best->first);
}

/* Searches for the partner of the sphere in a slot of level `own`, whose own cell has the slots [begin, end). The own
 * cell comes first: in a crowded cell it has a partner, which ends the search or culls most of the cells around. */
FN void cloud_best_of(const caromi_cloud_view *view, uint32_t own, uint32_t slot, uint32_t begin, uint32_t end,
                      const caromi_cloud_best *best, caromi_cloud_found *found)
{
    const cloud_sorted columns = cloud_sorted_of(view);
    const cloud_sphere sphere = cloud_load(&columns, slot);
    uint32_t undecided_count = 0;
    if (cloud_is_in_order(view, best, own, slot)) {
        cloud_best_in_order(view, &sphere, best, found);
        return;
    }
    if (!view->is_split && cloud_best_run(view, &sphere, begin, end, 0, best, &undecided_count, found))
        return;
    const cloud_ball ball = cloud_ball_of(view, slot);
    for (uint32_t level = 0; level < view->level_count; level++)
        if (caromi_cloud_levels_meet(view, own, level) &&
            cloud_best_level(view, &sphere, &ball, level, begin, 0, best, &undecided_count, found))
            return;
}

/* Searches for partners of the spheres of rows [begin, end). */
static void cloud_best(const caromi_cloud_view *view, uint32_t begin, uint32_t end, const caromi_cloud_best *best,
                       caromi_cloud_found *found)
{
    for (uint32_t row = begin; row < end; row++) {
        const uint32_t *starts = view->starts + view->rows[row].cells;
        for (int32_t cell = 0; cell < view->rows[row].count; cell++)
            for (uint32_t slot = starts[cell]; slot < starts[cell + 1] && !found->ends; slot++)
                if (!best->is_done[slot])
                    cloud_best_of(view, view->rows[row].level, slot, starts[cell], starts[cell + 1], best, found);
    }
    if (view->motion.given != NULL)
        cloud_sweep(view, found);
}

/* Lists all cells of each search, level by level. */
static void cloud_list_best_runs(const caromi_cloud_view *view, uint32_t begin, uint32_t end,
                                 const caromi_cloud_best *best, caromi_cloud_found *found)
{
    for (uint32_t slot = begin; slot < end; slot++)
        for (uint32_t level = 0; level < view->level_count && !best->is_done[slot]; level++) {
            if (!caromi_cloud_levels_meet(view, 0 /* of two clouds the first one's spheres search */, level))
                continue;
            const cloud_ball ball = cloud_ball_of(view, slot);
            cloud_rows_in_box rows = cloud_rows_begin(view, level, &ball);
            for (uint32_t row; (row = cloud_rows_next(view, &rows)) != CAROMI_NO_ROW;) {
                const cloud_cells_in_row cells = cloud_cells_in_row_of(&view->rows[row], &rows.box);
                const uint32_t *starts = view->starts + view->rows[row].cells;
                for (int64_t cell = cells.low; cell <= cells.high; cell++)
                    cloud_list_run(slot, starts[cell], starts[cell + 1], found);
            }
        }
}
