/* SPDX-License-Identifier: MIT */
/* Gathers the columns of a chunk from the caller's arrays on the device, and scatters answers back. Arrays have any
 * address and any stride. Words are copied, so no bit of a number can change. The host names the kernel that it builds:
 * -DKERNEL_resident_gather or _scatter. */
#include "lang.h"
#include "layout.h"

/* Loads a word from any address. */
FN uint resident_load(G const uchar *from, ulong at)
{
    if ((at & 3) == 0)
        return *(G const uint *)(from + at);
    return (uint)from[at] | (uint)from[at + 1] << 8 | (uint)from[at + 2] << 16 | (uint)from[at + 3] << 24;
}

#ifdef KERNEL_resident_gather
#define PARAMETERS(k) __global const uchar *from##k, ulong at##k, ulong stride##k, uint choice##k, __global uint *to##k
#define GATHER(k)    \
    if (k < columns) \
        to##k[row] = choice##k == RESIDENT_SAME ? (uint)at##k : resident_load(from##k, at##k + element * stride##k);
/* Row r gets element i = first + r of each array, or the element that number i of an index selects. Rows that pad the
 * last group of lanes are copies of the last row. For RESIDENT_SAME all rows get `at` itself. */
__kernel void carom_resident_gather(PARAMETERS(0), PARAMETERS(1), PARAMETERS(2), PARAMETERS(3), PARAMETERS(4),
                                    PARAMETERS(5), PARAMETERS(6), PARAMETERS(7), uint columns,
                                    __global const uchar *index, ulong index_at, ulong index_stride, uint choice,
                                    ulong first, uint rows, uint padded)
{
    const uint row = (uint)get_global_id(0);
    if (row >= padded)
        return;
    const ulong i = first + (row < rows ? row : rows - 1);
    const ulong element = choice == RESIDENT_INDEXED ? (ulong)resident_load(index, index_at + i * index_stride) : i;
    GATHER(0)
    GATHER(1)
    GATHER(2)
    GATHER(3)
    GATHER(4)
    GATHER(5)
    GATHER(6)
    GATHER(7)
}
#endif

#ifdef KERNEL_resident_scatter
/* Scatters words, bytes, or states as the answers of any-hit queries. Row r goes to element first + r, or to the
 * element that index r selects. */
__kernel void carom_resident_scatter(__global const uchar *from, uint kind, __global uchar *to, ulong at, ulong stride,
                                     __global const uint *index, uint choice, ulong first, uint rows)
{
    const uint row = (uint)get_global_id(0);
    if (row >= rows)
        return;
    const ulong address = at + (first + (choice == RESIDENT_INDEXED ? index[row] : row)) * stride;
    if (kind != RESIDENT_WORDS) {
        const uchar byte = from[row];
        to[address] = kind == RESIDENT_BYTES ? byte : byte == STATE_INVALID ? OVERLAP_INVALID : byte != STATE_MISS;
        return;
    }
    const uint word = ((G const uint *)from)[row];
    if ((address & 3) == 0)
        *(__global uint *)(to + address) = word;
    else
        for (uint k = 0; k < 4; k++)
            to[address + k] = (uchar)(word >> 8 * k);
}
#endif
