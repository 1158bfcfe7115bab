/* SPDX-License-Identifier: MIT */
/* Words of the caller's arrays on a device. */
#ifndef CAROM_RESIDENT_H
#define CAROM_RESIDENT_H
#include "lang.h"

/* Loads a word from any address. */
FN uint resident_load(G const uchar *from, ulong at)
{
    if ((at & 3) == 0)
        return *(G const uint *)(from + at);
    return (uint)from[at] | (uint)from[at + 1] << 8 | (uint)from[at + 2] << 16 | (uint)from[at + 3] << 24;
}
#endif
