/* SPDX-License-Identifier: MIT */
/* The head of a volume's .npy file: its nodes and the type of its numbers. */
#include "part.h"

#include <stdio.h>
#include <string.h>

enum { MAGIC = 10, ALIGNMENT = 64, HEADER_MAX = 256 };

const bake_kind *bake_npy_read(int fd, uint64_t dims[3])
{
    char head[2 * ALIGNMENT + 1] = {0}, before[HEADER_MAX]; /* the shortest header has so many */
    unsigned long long n[3];
    if (cli_read_at(fd, head, 2 * ALIGNMENT, 0) != 0 || memcmp(head, "\x93NUMPY\1\0", 8) != 0)
        return NULL;
    for (int i = 0; i < BAKE_KINDS; i++) {
        const bake_kind *kind = bake_kinds[i];
        const int length = snprintf(before, sizeof before, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                                    bake_arrays[kind->array].type);
        if (strncmp(head + MAGIC, before, (size_t)length) != 0 ||
            sscanf(head + MAGIC + length, "%llu, %llu, %llu)", &n[0], &n[1], &n[2]) != kind->axes)
            continue;
        dims[2] = 1;
        for (int k = 0; k < kind->axes; k++)
            dims[k] = n[kind->axes - 1 - k];
        return kind;
    }
    return NULL;
}
