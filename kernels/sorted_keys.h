/* SPDX-License-Identifier: MIT */
/* Search among keys that ascend, for kernels that exist only in OpenCL C. */
#ifndef CAROM_SORTED_KEYS_H
#define CAROM_SORTED_KEYS_H
#include "lang.h"

/* The first of the sorted keys [begin, end) that is at least `least`; `end` if there is none. */
FN ulong sorted_key_from(__global const ulong *key, ulong begin, ulong end, ulong least)
{
    while (begin < end) {
        const ulong middle = begin + (end - begin) / 2;
        if (key[middle] < least)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}
#endif
