/* SPDX-License-Identifier: MIT */
#include "volume.h"
#include "cli/base/base.h"
#include "cli/table/npy.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const volume_format *const formats[] = {&volume_npy, &volume_nrrd, &volume_vti, &volume_vtkhdf, &volume_h5};

const volume_format *volume_format_of(const char *path)
{
    const char *suffix = cli_is_hdf5(path) ? "h5" : cli_suffix(path);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (!strcasecmp(suffix, formats[i]->name))
            return formats[i];
    return NULL;
}

int volume_lay_out(const volume_format *format, const volume *v, const char *shown, volume_layout *out)
{
    if (format->require && format->require(shown) != EXIT_DONE)
        return EXIT_USAGE;
    return format->lay_out(v, shown, out);
}

void volume_layout_free(volume_layout *layout)
{
    for (int i = 0; i < layout->piece_count; i++)
        free(layout->pieces[i].bytes);
    layout->piece_count = 0;
}

unsigned char *volume_layout_add(volume_layout *layout, uint64_t at, size_t size)
{
    unsigned char *bytes = cli_alloc(size, 1);
    if (bytes)
        layout->pieces[layout->piece_count++] = (volume_piece){at, size, bytes};
    return bytes;
}

int volume_check_int_axes(const volume *v, const char *suffix, const char *shown)
{
    for (int k = 0; k < 3; k++)
        if (v->lattice.dims[k] > INT_MAX)
            return cli_refuse(EXIT_USAGE, "%s: a .%s file has at most 2^31 - 1 nodes along an axis, not %llu", shown,
                              suffix, (unsigned long long)v->lattice.dims[k]);
    return EXIT_DONE;
}

/* ---- .npy: one little-endian array in C order, [nz][ny][nx]; of a map [ny][nx] ------------------------------------
 */

static int lay_out_npy(const volume *v, const char *shown, volume_layout *out)
{
    const volume_array *array = v->array[v->first];
    const uint64_t *n = v->lattice.dims;
    const uint64_t shape[2][4] = {{n[1], n[0], (uint64_t)array->components},
                                  {n[2], n[1], n[0], (uint64_t)array->components}};
    char text[NPY_HEADER];
    (void)shown;
    const size_t size = npy_header(text, array->type, v->axes + (array->components > 1), shape[v->axes - 2]);
    unsigned char *header = volume_layout_add(out, 0, size);
    if (!header)
        return cli_no_memory();
    memcpy(header, text, size);
    out->array_at[v->first] = size;
    out->bytes = size + v->nodes * array->size;
    return EXIT_DONE;
}

const volume_format volume_npy = {"npy", 1, lay_out_npy, NULL};
