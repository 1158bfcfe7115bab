/* SPDX-License-Identifier: MIT */
/* NumPy's .npy, version 1.0: one little-endian array in C order, [nz][ny][nx]; of a map [ny][nx]. */
#include "part.h"

#include <stdio.h>
#include <string.h>

enum { MAGIC = 10, ALIGNMENT = 64, HEADER_MAX = 256 };

static int lay_out(const bake_plan *plan, const char *shown, bake_layout *out)
{
    char text[HEADER_MAX];
    const bake_array_row *row = &bake_arrays[plan->kind->array];
    if (bake_check_one_array(plan, "npy", shown) != EXIT_DONE)
        return EXIT_USAGE;
    char outer[32] = "";
    if (plan->kind->axes == 3)
        snprintf(outer, sizeof outer, "%llu, ", (unsigned long long)plan->lattice.dims[2]);
    const size_t length = (size_t)snprintf(
        text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s%llu, %llu), }", row->type, outer,
        (unsigned long long)plan->lattice.dims[1], (unsigned long long)plan->lattice.dims[0]);
    const size_t size = (MAGIC + length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; /* with a newline */
    unsigned char *header = bake_layout_add(out, 0, size);
    if (!header)
        return cli_no_memory();
    memset(header, ' ', size);
    memcpy(header, "\x93NUMPY\1\0", 8);
    header[8] = (unsigned char)((size - MAGIC) & 255);
    header[9] = (unsigned char)((size - MAGIC) >> 8);
    memcpy(header + MAGIC, text, length);
    header[size - 1] = '\n';
    out->array_at[plan->kind->array] = size;
    out->bytes = size + plan->layer * plan->depth * row->size;
    return EXIT_DONE;
}

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

const bake_format bake_format_npy = {"npy", lay_out, NULL};
