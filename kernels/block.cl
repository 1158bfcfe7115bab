/* SPDX-License-Identifier: MIT */
/* Packs the columns of a chunk into one block of memory for a single transfer to the host, or unpacks such a block.
 * Words and bytes are copied, so no bit of a number can change. The host names the kernel that it builds:
 * -DKERNEL_block_split or _join. */
#include "column_arguments.h"
#include "lang.h"

#ifdef KERNEL_block_split
#define BLOCK_COPY(type, block, column) ((__global type *)(column))[row] = ((__global const type *)(block))[row]
#else
#define BLOCK_COPY(type, block, column) ((__global type *)(block))[row] = ((__global const type *)(column))[row]
#endif

#define BLOCK_ARGUMENT(n) __global uchar *column##n,
#define BLOCK_COLUMN(n)                         \
    if (n < columns && (bytes >> n & 1) != 0) { \
        BLOCK_COPY(uchar, block, column##n);    \
        block += pitch;                         \
    } else if (n < columns) {                   \
        BLOCK_COPY(uint, block, column##n);     \
        block += pitch * 4;                     \
    }

/* The first `columns` arguments lie in the block one behind the other, each with the room of `pitch` rows. Bit n of
 * `bytes` is set if column n has bytes; else the column has words. */
__kernel void LANG_CAT(carom_, KERNEL)(__global uchar *block, ulong pitch, uint columns, uint bytes,
                                       COLUMNS_ALL(BLOCK_ARGUMENT) uint rows)
{
    const size_t row = get_global_id(0);
    if (row >= rows)
        return;
    COLUMNS_ALL(BLOCK_COLUMN)
}
