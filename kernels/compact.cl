/* SPDX-License-Identifier: MIT */
/* Compaction of the rows of a chunk that have a hit or that exact mode has left undecided. One kernel counts them for
 * each run of rows; the other copies them, in order, to the positions that the prefix sums of the counts give. A
 * work-group takes a run, and its work-items adjacent rows. No slot is claimed by an atomic, so slots depend on the
 * rows alone. Words are copied, so no bit of a number can change. The host names the kernel that it builds:
 * -DKERNEL_compact_count or _fill. */
#include "lang.h"
#include "layout.h"
#include "scan.h"

/* Whether a row has a hit, or a time that is NaN. */
FN int compact_selects(G const uint *triangle, G const uint *t, uint row)
{
    return triangle[row] != (uint)-1 || (t[row] & R_MAGNITUDE_MASK) > R_INFINITY_BITS;
}

/* End of the run of rows that begins at `first`. */
FN uint compact_end(uint first, uint rows)
{
    return rows - first < COMPACT_RUN ? rows : first + COMPACT_RUN;
}

#ifdef KERNEL_compact_count
/* Counts the selected rows of a run. */
__kernel void carom_compact_count(__global const uint *triangle, __global const uint *t, __global uint *count,
                                  uint rows, uint items)
{
    __local uint scratch[COMPACT_ITEMS];
    const uint run = (uint)get_group_id(0), first = run * COMPACT_RUN, item = (uint)get_local_id(0);
    uint own = 0, selected;
    if (run >= items / COMPACT_ITEMS)
        return;
    for (uint row = first + item; row < compact_end(first, rows); row += (uint)get_local_size(0))
        own += compact_selects(triangle, t, row);
    (void)scan_group(own, scratch, &selected);
    if (item == 0)
        count[run] = selected;
}
#endif

#ifdef KERNEL_compact_fill
/* `records` has capacity for as many records as rows. */
__kernel void carom_compact_fill(__global const uint *triangle, __global const uchar *state, __global const uint *t,
                                 __global const uint *px, __global const uint *py, __global const uint *pz,
                                 __global const uint *nx, __global const uint *ny, __global const uint *nz,
                                 __global const uchar *feature, int contact, __global const uint *start,
                                 __global uint *records, uint rows, uint items)
{
    __local uint scratch[COMPACT_ITEMS];
    const uint run = (uint)get_group_id(0), first = run * COMPACT_RUN;
    if (run >= items / COMPACT_ITEMS)
        return;
    /* Each step compacts one row per work-item: a prefix sum gives the slots of the selected rows. */
    uint at = start[run];
    for (uint next = first; next < compact_end(first, rows); next += (uint)get_local_size(0)) {
        const uint row = next + (uint)get_local_id(0);
        const int selected = row < compact_end(first, rows) && compact_selects(triangle, t, row);
        uint all;
        const uint slot = at + scan_group(selected, scratch, &all);
        at += all;
        if (selected && slot < rows) {
            __global uint *to = records + (size_t)slot * (contact ? COMPACT_WORDS : COMPACT_CONTACT);
            to[COMPACT_ROW] = row;
            to[COMPACT_TRIANGLE] = triangle[row];
            to[COMPACT_T] = t[row];
            to[COMPACT_BYTES] = state[row] | (contact ? (uint)feature[row] << 8 : 0);
            if (contact) {
                to[COMPACT_CONTACT + OUT_POINT_X] = px[row];
                to[COMPACT_CONTACT + OUT_POINT_Y] = py[row];
                to[COMPACT_CONTACT + OUT_POINT_Z] = pz[row];
                to[COMPACT_CONTACT + OUT_NORMAL_X] = nx[row];
                to[COMPACT_CONTACT + OUT_NORMAL_Y] = ny[row];
                to[COMPACT_CONTACT + OUT_NORMAL_Z] = nz[row];
            }
        }
    }
}
#endif
