/* SPDX-License-Identifier: MIT */
/* Volumes in the formats of carom bake, without what a bake tells of itself. */
#include "cli/base/base.h"
#include "cli/volume/volume.h"
#include "write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `X,Y,Z,H,NX,NY,NZ`: where node 0 is, how far nodes are apart, how many there are; of a map NZ is 0. */
static int read_lattice(const char *text, volume *v)
{
    carom_lattice *const l = &v->lattice;
    unsigned long long n[3];
    if (sscanf(text, "%lf,%lf,%lf,%lf,%llu,%llu,%llu", &l->origin[0], &l->origin[1], &l->origin[2], &l->spacing, &n[0],
               &n[1], &n[2]) != 7)
        return 0;
    v->axes = n[2] > 0 ? 3 : 2;
    for (int k = 0; k < 3; k++)
        l->dims[k] = n[k] > 0 ? n[k] : 1;
    return !__builtin_mul_overflow(l->dims[0], l->dims[1], &v->nodes) &&
           !__builtin_mul_overflow(v->nodes, l->dims[2], &v->nodes) && v->nodes > 0;
}

/* Names stand in XML too. */
static int check_name(const files_output *f, const char *name)
{
    if (strlen(name) < VOLUME_NAME && !strpbrk(name, "<>&\"\r\n"))
        return EXIT_DONE;
    return cli_refuse(EXIT_USAGE, "%s: '%s': a name has at most %d bytes here, and none of <>&\"", f->path, name,
                      VOLUME_NAME - 1);
}

static int describe(const files_output *f, const volume_format *format, volume *v, volume_array *arrays)
{
    if (format->one_array && f->count > 1)
        return cli_refuse(EXIT_USAGE, "%s: a .%s file holds one array, not %d", f->path, format->name, f->count);
    if (f->count > VOLUME_ARRAYS)
        return cli_refuse(EXIT_USAGE, "%s: cannot have %d arrays: %d at most", f->path, f->count, VOLUME_ARRAYS);
    for (int i = 0; i < f->count; i++) {
        const files_array *from = &f->array[i];
        const files_number *number = &files_numbers[from->type];
        const uint64_t components = from->bytes / number->size / v->nodes;
        if (components * number->size * v->nodes != from->bytes || (components != 1 && components != 3))
            return cli_refuse(EXIT_USAGE, "%s: '%s': expected one number, or three, for each node", f->path,
                              from->name);
        if (components > 1 && format->one_array && format != &volume_npy)
            return cli_refuse(EXIT_USAGE, "%s: a .%s file holds one number for each node, not 3", f->path,
                              format->name);
        if (check_name(f, from->name) != EXIT_DONE)
            return EXIT_USAGE;
        arrays[i] =
            (volume_array){from->name, (size_t)components * number->size, number->vtk, number->numpy, (int)components};
        v->array[i] = &arrays[i];
    }
    return EXIT_DONE;
}

static int put_pieces(const volume_layout *layout, output *out)
{
    for (int i = 0; i < layout->piece_count && !out->error; i++)
        out->error = cli_write_at(out->fd, layout->pieces[i].bytes, layout->pieces[i].size, layout->pieces[i].at);
    return EXIT_DONE;
}

int files_write_volume(files_output *f, const char *lattice)
{
    const volume_format *format = volume_format_of(f->path);
    volume v = {.first = 0};
    volume_array arrays[VOLUME_ARRAYS];
    volume_layout layout = {.piece_count = 0};
    output out;
    if (!format)
        return cli_refuse(EXIT_USAGE, "%s: the suffix names the format: expected .npy, .nrrd, .vti, .vtkhdf or .h5",
                          f->path);
    int status = read_lattice(lattice, &v)
                     ? describe(f, format, &v, arrays)
                     : cli_refuse(EXIT_USAGE, "expected a lattice as X,Y,Z,H,NX,NY,NZ, got '%s'", lattice);
    if (status == EXIT_DONE)
        status = volume_lay_out(format, &v, f->path, &layout);
    if (status == EXIT_DONE)
        status = files_open_regular(&out, f->path);
    if (status == EXIT_DONE) {
        status = put_pieces(&layout, &out);
        for (int i = 0; i < f->count; i++)
            f->array[i].at = layout.array_at[i];
        status = output_close(&out, status == EXIT_DONE ? files_copy_arrays(f, &out) : status);
    }
    volume_layout_free(&layout);
    return status;
}
