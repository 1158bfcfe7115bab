/* SPDX-License-Identifier: MIT */
/* Gathers the columns of a chunk from the caller's arrays on the device, scatters answers back, and checks limits and
 * indices. Arrays have any address and any stride. Words are copied, so no bit of a number can change. The host names
 * the kernel that it builds: -DKERNEL_resident_gather, _scatter, _check or _note. */
#include "lang.h"
#include "layout.h"
#include "resident.h"

#ifdef KERNEL_resident_gather
#define PARAMETERS(k) __global const uchar *from##k, ulong at##k, ulong stride##k, uint choice##k, __global uint *to##k
#define GATHER(k)                                                                          \
    if (k < columns) {                                                                     \
        const ulong from_byte = at##k + element * stride##k;                               \
        const uint word = choice##k == RESIDENT_SAME ? (uint)at##k                         \
                          : is_none                  ? R_NAN_BITS                          \
                                                     : resident_load(from##k, from_byte);                   \
        to##k[row] = choice##k == RESIDENT_LIMIT && resident_is_no_limit(word) ? 0 : word; \
    }
/* Row r gets element i = first + r of each array, or the element that number i of an index selects. Rows that pad the
 * last group of lanes are copies of the last row. For RESIDENT_SAME all rows get `at` itself. A row whose index is
 * beyond `last` gets NaN: a check has refused it too, or a list of the library's has no element there. */
__kernel void carom_resident_gather(PARAMETERS(0), PARAMETERS(1), PARAMETERS(2), PARAMETERS(3), PARAMETERS(4),
                                    PARAMETERS(5), PARAMETERS(6), PARAMETERS(7), uint columns,
                                    __global const uchar *index, ulong index_at, ulong index_stride, uint choice,
                                    uint last, ulong first, uint rows, uint padded)
{
    const uint row = (uint)get_global_id(0);
    if (row >= padded)
        return;
    const ulong i = first + (row < rows ? row : rows - 1);
    const ulong element = choice == RESIDENT_INDEXED ? (ulong)resident_load(index, index_at + i * index_stride) : i;
    const int is_none = choice == RESIDENT_INDEXED && element > last;
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
    resident_store(to, address, ((G const uint *)from)[row]);
}
#endif

#if defined(KERNEL_resident_check) || defined(KERNEL_resident_note)
/* An array whose values are checked: of row i element i, or the element that an index selects, at most `last`. */
#define CHECKED                                                                                      \
    __global const uchar *from, ulong at, ulong stride, __global const uchar *index, ulong index_at, \
        ulong index_stride, uint choice, uint last, ulong first
FN uint checked_word(CHECKED, uint row)
{
    const ulong i = first + row;
    const ulong element =
        choice == RESIDENT_INDEXED ? (ulong)min(resident_load(index, index_at + i * index_stride), last) : i;
    return resident_load(from, at + element * stride);
}
#endif

#ifdef KERNEL_resident_check
/* Finds the lowest row whose value is refused: an index above `most`, or a limit outside of 0 to the number with the
 * bits `most`. The result does not depend on the order of the rows. Rows begin at `before`. */
__kernel void carom_resident_check(CHECKED, uint kind, uint most, uint before, __global volatile uint *found,
                                   uint check, uint rows)
{
    const uint row = before + (uint)get_global_id(0);
    if (row >= before + rows)
        return;
    const uint word = checked_word(from, at, stride, index, index_at, index_stride, choice, last, first, row);
    if (word > most && (kind == RESIDENT_INDICES || word != (uint)R_SIGN_MASK))
        atomic_min(&found[check], row);
}
#endif

#ifdef KERNEL_resident_note
/* Notes what a check has found, and the value there, and makes the check ready for the next call. One work-item. */
__kernel void carom_resident_note(CHECKED, __global uint *found, uint check, uint items)
{
    if (get_global_id(0) != 0 || items == 0)
        return;
    const uint row = found[check];
    __global uint *to = found + RESIDENT_CHECKS + 2 * check;
    to[0] = row;
    to[1] = row != RESIDENT_NONE
                ? checked_word(from, at, stride, index, index_at, index_stride, choice, last, first, row)
                : 0;
    found[check] = RESIDENT_NONE;
}
#endif
