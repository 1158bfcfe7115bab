/* SPDX-License-Identifier: MIT */
/* Lists of hits that stay on the device. A row is a query of the chunk, with all of its hits. Candidates of a row lie
 * side by side in any order; `slot` holds the number of candidates before each row, `hit_start` the number of hits
 * before it. Both are the same where the search decides every candidate. The host names the kernel that it builds. */
#include "cloud_grid.h"
#include "lang.h"
#include "layout.h"
#include "mesh_rows_keys.h"
#include "resident.h"

/* Whether a device may return such a hit, whose time is decided. */
FN int rows_is_possible(uint t, uint triangle, uint state, uint triangles)
{
    return t <= R_INFINITY_BITS && triangle < triangles && state >= STATE_APPROACHING && state <= STATE_OVERLAPPING;
}

/* Adds an undecided candidate to the list that the host decides. */
FN void rows_add_undecided(__global rows_report *report, __global uint *undecided, __global uint *undecided_row,
                           uint candidate, uint row)
{
    const uint at = atomic_inc(&report->undecided);
    undecided[at] = candidate;
    undecided_row[at] = row;
}

#ifdef KERNEL_rows_check
/* Looks for impossible numbers of candidates. */
__kernel void carom_rows_check(__global const int *hits, uint triangles, __global rows_report *report, uint rows,
                               uint items)
{
    GRID_FOR_EACH(i, rows)
    if ((uint)hits[i] > triangles)
        atomic_or(&report->faults, hits[i] == MESH_LOOP_TRUNCATED ? ROWS_TRUNCATED : ROWS_CORRUPT);
    (void)items;
}
#endif

#ifdef KERNEL_rows_first
/* First hits as rows of one hit or none; lists the rows that the search leaves undecided. */
__kernel void carom_rows_first(__global const int *triangle, __global const uint *t, uint triangles,
                               __global uint *hits, __global rows_report *report, __global uint *undecided,
                               __global uint *undecided_row, uint rows, uint items)
{
    GRID_FOR_EACH(i, rows)
    {
        hits[i] = triangle[i] >= 0;
        if ((uint)(triangle[i] + 1) > triangles)
            atomic_or(&report->faults, triangle[i] == MESH_LOOP_TRUNCATED ? ROWS_TRUNCATED : ROWS_CORRUPT);
        else if (rows_is_undecided(t[i]))
            rows_add_undecided(report, undecided, undecided_row, i, i);
    }
    (void)items;
}
#endif

#ifdef KERNEL_rows_decide_first
/* Stores first hits that the host has decided. */
__kernel void carom_rows_decide_first(__global const uint *undecided, __global const int *decided_triangle,
                                      __global const uint *decided_t, __global const uchar *decided_state,
                                      __global int *triangle, __global uint *t, __global uchar *state,
                                      __global uint *hits, uint count, uint items)
{
    GRID_FOR_EACH(k, count)
    {
        const uint i = undecided[k];
        triangle[i] = decided_triangle[k];
        t[i] = decided_t[k];
        state[i] = decided_state[k];
        hits[i] = decided_triangle[k] >= 0;
    }
    (void)items;
}
#endif

#ifdef KERNEL_rows_offsets
/* Offsets of the list: `before` counts the hits of earlier chunks. Number `first` is that of the chunk's first row; it
 * is written only at the begin of a batch, as the chunk before has written it otherwise. */
__kernel void carom_rows_offsets(__global const ulong *hit_start, ulong before, __global uchar *to, ulong to_at,
                                 ulong first, uint is_begin, uint rows, uint items)
{
    GRID_FOR_EACH(i, rows)
    {
        resident_store_long(to, to_at + 8 * (first + i + 1), before + hit_start[i + 1]);
        if (is_begin && i == 0)
            resident_store_long(to, to_at + 8 * first, 0);
    }
    (void)items;
}
#endif

#ifdef KERNEL_rows_slots
/* The first slot of each row before `end`, for the search's second pass; -1: the row is not filled. */
__kernel void carom_rows_slots(__global const ulong *slot, uint end, __global int *from, uint rows, uint items)
{
    GRID_FOR_EACH(i, rows)
    from[i] = i < end && slot[i + 1] > slot[i] ? (int)slot[i] : -1;
    (void)items;
}
#endif

#ifdef KERNEL_rows_again
/* Compares the numbers of candidates that both passes have found. */
__kernel void carom_rows_again(__global const int *hits, __global const int *from, __global const int *again,
                               __global rows_report *report, uint rows, uint items)
{
    GRID_FOR_EACH(i, rows)
    if (again[i] != (from[i] < 0 ? 0 : hits[i]))
        atomic_or(&report->faults, again[i] == MESH_LOOP_TRUNCATED ? ROWS_TRUNCATED : ROWS_CORRUPT);
    (void)items;
}
#endif

#ifdef KERNEL_rows_keys
/* Keys and rows of candidates. An undecided candidate has the key of a miss until the host has decided it; fast mode
 * has none, and no room to list one. */
__kernel void carom_rows_keys(__global const mesh_record *record, __global const ulong *slot, uint end, uint triangles,
                              int is_exact, __global ulong *key, __global uint *of, __global rows_report *report,
                              __global uint *undecided, __global uint *undecided_row, uint candidates, uint items)
{
    GRID_FOR_EACH(i, candidates)
    {
        const uint row = rows_row_of(slot, end, i), t = real_bits(record[i].t), triangle = (uint)record[i].triangle;
        of[i] = row;
        key[i] = ROWS_MISS;
        if (is_exact && rows_is_undecided(t) && triangle < triangles)
            rows_add_undecided(report, undecided, undecided_row, i, row);
        else if (rows_is_possible(t, triangle, (uint)record[i].state, triangles))
            key[i] = rows_key(t, triangle, (uint)record[i].state);
        else
            atomic_or(&report->faults, ROWS_CORRUPT);
    }
    (void)items;
}
#endif

#ifdef KERNEL_rows_decide
/* Stores candidates that the host has decided. */
__kernel void carom_rows_decide(__global const uint *undecided, __global const uint *undecided_row,
                                __global const ulong *decided, __global ulong *key, __global int *hits, uint count,
                                uint items)
{
    GRID_FOR_EACH(k, count)
    {
        key[undecided[k]] = decided[k];
        if (decided[k] == ROWS_MISS)
            atomic_dec(&hits[undecided_row[k]]);
    }
    (void)items;
}
#endif

#ifdef KERNEL_rows_marked
/* Lists the rows that are marked, with their marks. */
__kernel void carom_rows_marked(__global const uint *mark, __global rows_report *report, __global uint *marks,
                                __global uint *row, uint rows, uint items)
{
    GRID_FOR_EACH(i, rows)
    if (mark[i] != 0)
        rows_add_undecided(report, marks, row, mark[i], i);
    (void)items;
}
#endif

#ifdef KERNEL_rows_adopt
/* Marked row number k becomes the one that has the host's keys from number decided_start[k] on. */
__kernel void carom_rows_adopt(__global const uint *row, __global const uint *decided_start, __global uint *mark,
                               __global int *hits, uint count, uint items)
{
    GRID_FOR_EACH(k, count)
    {
        mark[row[k]] = k + 1;
        hits[row[k]] = (int)(decided_start[k + 1] - decided_start[k]);
    }
    (void)items;
}
#endif

#ifdef KERNEL_rows_give
/* Replaces the keys of all candidates of these rows. A row has at least as many candidates as contacts. */
__kernel void carom_rows_give(__global const ulong *slot, __global const uint *of, __global const uint *mark,
                              __global const uint *decided_start, __global const ulong *decided, __global ulong *key,
                              __global rows_report *report, uint candidates, uint items)
{
    GRID_FOR_EACH(i, candidates)
    {
        const uint row = of[i], k = mark[row];
        if (k == 0)
            continue;
        const uint at = i - (uint)slot[row], hits = decided_start[k] - decided_start[k - 1];
        key[i] = at < hits ? decided[decided_start[k - 1] + at] : ROWS_MISS;
        if (hits > slot[row + 1] - slot[row])
            atomic_or(&report->faults, ROWS_CORRUPT);
    }
    (void)items;
}
#endif

#ifdef KERNEL_rows_first_keys
/* Keys of first hits, in the order of the rows. */
__kernel void carom_rows_first_keys(__global const int *from, __global const int *triangle, __global const uint *t,
                                    __global const uchar *state, uint triangles, __global ulong *key, __global uint *of,
                                    __global rows_report *report, uint rows, uint items)
{
    GRID_FOR_EACH(i, rows)
    {
        if (from[i] < 0)
            continue;
        of[from[i]] = i;
        key[from[i]] = rows_key(t[i], (uint)triangle[i], state[i]);
        if (!rows_is_possible(t[i], (uint)triangle[i], state[i], triangles))
            atomic_or(&report->faults, ROWS_CORRUPT);
    }
    (void)items;
}
#endif

#ifdef KERNEL_rows_order
/* The rank of a hit in its row, among candidates [begin, end). */
FN ulong rows_rank(__global const ulong *key, ulong begin, ulong end, ulong own)
{
    const ulong mine = key[own];
    ulong rank = 0;
    if (end - begin > GRID_LONG_ROW)
        return own - begin; /* the row is sorted, with misses behind the hits */
    LANG_ROLLED
    for (ulong k = begin; k < end; k++)
        rank += key[k] < mine ? 1 : 0;
    return rank;
}

/* Stores hits of rows before `row_end`, in order, into the columns of the mask `wanted`, each of which begins `at`
 * bytes behind the begin of its memory. query_first: the query of row 0. For the points of the hits their rows and
 * triangles are stored too. */
__kernel void carom_rows_order(__global const ulong *slot, __global const ulong *hit_start, __global const ulong *key,
                               __global const uint *of, uint row_end, ulong query_first, uint wanted,
                               __global uchar *query, ulong query_at, __global uchar *triangle, ulong triangle_at,
                               __global uchar *state, ulong state_at, __global uchar *t, ulong t_at,
                               __global uchar *depth, ulong depth_at, __global uchar *patch, ulong patch_at,
                               __global const float *radius, __global const uint *patch_of, __global uint *sorted_row,
                               __global int *sorted_triangle, uint candidates, uint items)
{
    GRID_FOR_EACH(i, candidates)
    {
        const uint row = of[i];
        const ulong mine = key[i];
        if (row >= row_end || mine == ROWS_MISS)
            continue;
        const ulong at = hit_start[row] + rows_rank(key, slot[row], slot[row + 1], i);
        const int own_triangle = (int)(mine >> GRID_KEY_B_SHIFT & 0x7fffffff);
        if (wanted >> ROWS_QUERY & 1)
            resident_store_long(query, query_at + 8 * at, query_first + row);
        if (wanted >> ROWS_TRIANGLE & 1)
            resident_store(triangle, triangle_at + 4 * at, (uint)own_triangle);
        if (wanted >> ROWS_STATE & 1)
            state[state_at + at] = (uchar)(mine & GRID_KEY_STATE);
        if (wanted >> ROWS_T & 1)
            resident_store(t, t_at + 4 * at, (uint)(mine >> GRID_KEY_T_SHIFT));
        if (wanted >> ROWS_DEPTH & 1)
            resident_store(depth, depth_at + 4 * at,
                           real_bits(v_positive_zero(radius[row] - as_float((uint)(mine >> GRID_KEY_T_SHIFT)))));
        if (wanted >> ROWS_PATCH & 1)
            resident_store(patch, patch_at + 4 * at, patch_of[own_triangle]);
        if (wanted >> ROWS_POINTS & 1) {
            sorted_row[at] = row;
            sorted_triangle[at] = own_triangle;
        }
    }
    (void)items;
}
#endif

#ifdef KERNEL_rows_points
/* Lists the hits whose point the kernel leaves undecided. */
__kernel void carom_rows_points(__global const uint *x, __global const uint *sorted_row, uint first,
                                __global rows_report *report, __global uint *undecided, __global uint *undecided_row,
                                uint count, uint items)
{
    GRID_FOR_EACH(k, count)
    if (rows_is_undecided(x[k]))
        rows_add_undecided(report, undecided, undecided_row, k, sorted_row[first + k]);
    (void)items;
}
#endif
