/* SPDX-License-Identifier: MIT */
/* NumPy's .npy, version 1.0: one little-endian array in C order, [nz][ny][nx]. */
#include "bake.h"

#include <stdio.h>
#include <string.h>

enum { MAGIC = 10, ALIGNMENT = 64, HEADER_MAX = 256 };

static int lay_out(const bake_plan *plan, const char *shown, bake_layout *out)
{
    char text[HEADER_MAX];
    const bake_array_row *row = &bake_arrays[plan->kind->array];
    if (plan->arrays != 1u << plan->kind->array)
        return cli_refuse(EXIT_USAGE, "%s: a .npy file holds one array, so --with needs another format, such as .vti",
                          shown);
    const size_t length =
        (size_t)snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%llu, %llu, %llu), }",
                         row->type, (unsigned long long)plan->lattice.dims[2],
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
    out->bytes = size + plan->layer * plan->lattice.dims[2] * row->size;
    return EXIT_DONE;
}

const bake_format bake_format_npy = {"npy", lay_out};
