/* SPDX-License-Identifier: MIT */
/* Words of the caller's arrays on a device, which begin at any byte and have any stride. A GPU may fault at an access
 * that is not aligned to its size (NVIDIA's do), which CPU devices bear; so words off a multiple of 4 go by bytes, and
 * 64 bits as two words. */
#ifndef CAROM_RESIDENT_H
#define CAROM_RESIDENT_H
#include "lang.h"

/* Whether a limit is below zero, or no number; -0 is neither. */
FN int resident_is_no_limit(uint word)
{
    return word > R_INFINITY_BITS && word != (uint)R_SIGN_MASK;
}

/* Loads a word from any address. */
FN uint resident_load(G const uchar *from, ulong at)
{
    if ((at & 3) == 0)
        return *(G const uint *)(from + at);
    return (uint)from[at] | (uint)from[at + 1] << 8 | (uint)from[at + 2] << 16 | (uint)from[at + 3] << 24;
}

FN ulong resident_load_long(G const uchar *from, ulong at)
{
    return (ulong)resident_load(from, at) | (ulong)resident_load(from, at + 4) << 32;
}

/* Stores a word to any address. */
FN void resident_store(G uchar *to, ulong at, uint word)
{
    if ((at & 3) == 0) {
        *(G uint *)(to + at) = word;
        return;
    }
    for (uint k = 0; k < 4; k++)
        to[at + k] = (uchar)(word >> 8 * k);
}

FN void resident_store_long(G uchar *to, ulong at, ulong words)
{
    resident_store(to, at, (uint)words);
    resident_store(to, at + 4, (uint)(words >> 32));
}
#endif
