/* SPDX-License-Identifier: MIT */
/* Pairs of a row's spheres with spheres of coarser levels, in chunks of neighbours. Included by template.h. */

/* Indices of a chunk's bounds: three coordinates of the centre, then the reach, which includes the radius. */
enum { CHUNK_X, CHUNK_Y, CHUNK_Z, CHUNK_REACH, CHUNK_BOUNDS };

/* Adjacent spheres of a row, and the lowest and highest of their coordinates and reaches. */
typedef struct cloud_chunk {
    uint32_t begin, end;
    float low[CHUNK_BOUNDS], high[CHUNK_BOUNDS];
} cloud_chunk;

/* Computes the bounds of a chunk. */
FN void cloud_bound_chunk(const caromi_cloud_view *view, cloud_chunk *chunk)
{
    const float *const column[] = {view->x, view->y, view->z, view->reach};
    for (int bound = 0; bound < CHUNK_BOUNDS; bound++) {
        const vf first = v_f(column[bound][chunk->begin]);
        vf low = first, high = first;
        for (uint32_t slot = chunk->begin; slot < chunk->end; slot += LANES) {
            const vm is_in = vi_gt(v_i((int)(chunk->end - slot)), cloud_slots(0));
            const vf x = v_sel(is_in, v_load(column[bound] + slot), first);
            low = v_min(x, low);
            high = v_max(x, high);
        }
        chunk->low[bound] = v_reduce_min(low);
        chunk->high[bound] = -v_reduce_min(-high);
    }
}

/* The cells of a level whose spheres may touch a sphere of the chunk. */
FN cloud_box cloud_box_of_chunk(const caromi_cloud_view *view, const caromi_cloud_level *level,
                                const cloud_chunk *chunk)
{
    const double reach = ((double)chunk->high[CHUNK_REACH] + level->reach + (double)view->margin) * (1 + 0x1p-16);
    double low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = (double)chunk->low[k] - reach - fabs((double)chunk->low[k]) * 0x1p-48;
        high[k] = (double)chunk->high[k] + reach + fabs((double)chunk->high[k]) * 0x1p-48;
    }
    return cloud_cells_within(level, low, high);
}

/* Which of the spheres in slots `from` + lane may touch a sphere of the chunk, by their distance from its bounds. */
FN u32 cloud_near_chunk(const cloud_sorted *columns, const cloud_chunk *chunk, uint32_t from)
{
    const float *const column[] = {columns->x, columns->y, columns->z};
    vf distance2 = v_f(0);
    for (int axis = 0; axis < 3; axis++) {
        const vf x = v_load(column[axis] + from);
        const vf gap = v_max(v_max(v_f(chunk->low[axis]) - x, x - v_f(chunk->high[axis])), v_f(0));
        distance2 = distance2 + gap * gap;
    }
    const vf reach = v_load(columns->reach + from) + v_f(chunk->high[CHUNK_REACH]) + v_f(columns->margin);
    /* CLOUD_ABOVE: more than the squares can err by rounding. */
    return v_bitmask(v_le(distance2, reach * reach * v_f(CLOUD_ABOVE) + v_f(CLOUD_TINY)));
}

/* The pairs of a chunk with the spheres of a coarser level. */
FN void cloud_chunk_pairs(const caromi_cloud_view *view, const cloud_chunk *chunk, uint32_t level_index, int options,
                          caromi_cloud_found *found)
{
    const cloud_sorted columns = cloud_sorted_of(view);
    const cloud_box box = cloud_box_of_chunk(view, &view->levels[level_index], chunk);
    cloud_rows_in_box rows = cloud_rows_of(view, level_index, &box);
    for (uint32_t row; (row = cloud_rows_next(view, &rows)) != CAROMI_NO_ROW;) {
        uint32_t begin, end;
        cloud_box_run(view, &view->rows[row], &box, &begin, &end);
        for (uint32_t first_slot = begin; first_slot < end; first_slot += LANES)
            for (u32 near = cloud_near_chunk(&columns, chunk, first_slot) & cloud_lanes(end - first_slot); near;
                 near &= near - 1) {
                const cloud_sphere sphere = cloud_load(&columns, first_slot + (uint32_t)bitmask_first(near));
                cloud_run(&columns, &sphere, chunk->begin, chunk->end, options, found);
            }
    }
}

/* The pairs of a row's spheres with coarser levels, chunk by chunk. */
FN void cloud_coarser_pairs(const caromi_cloud_view *view, const caromi_cloud_row *row, int options,
                            caromi_cloud_found *found)
{
    const uint32_t *starts = view->starts + row->cells;
    const uint64_t coarser = view->levels[row->level].coarser;
    int32_t cell = 0;
    cloud_chunk chunk;
    for (chunk.begin = row->begin; chunk.begin < row->end && !found->ends; chunk.begin = chunk.end) {
        for (; starts[cell + 1] <= chunk.begin; cell++)
            ;
        const int32_t last = cell + CAROMI_CLOUD_CHUNK_CELLS;
        const uint32_t end_of_cells = starts[last < row->count ? last : row->count];
        chunk.end = end_of_cells - chunk.begin < CAROMI_CLOUD_CHUNK ? end_of_cells : chunk.begin + CAROMI_CLOUD_CHUNK;
        cloud_bound_chunk(view, &chunk);
        for (uint32_t level = 0; level < row->level; level++)
            if (coarser >> level & 1)
                cloud_chunk_pairs(view, &chunk, level, options, found);
    }
}
