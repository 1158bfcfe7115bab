/* SPDX-License-Identifier: MIT */
/* Formats and their layouts: which byte of an output is where. Then a partial file is the final one with gaps. */
#include "bake.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const bake_format bake_format_npy = {"npy", &volume_npy, NULL}, bake_format_nrrd = {"nrrd", &volume_nrrd, NULL},
                  bake_format_vti = {"vti", &volume_vti, NULL}, bake_format_vtkhdf = {"vtkhdf", &volume_vtkhdf, NULL},
                  bake_format_h5 = {"h5", &volume_h5, NULL};
static const bake_format *const formats[] = {&bake_format_npy,    &bake_format_nrrd, &bake_format_vti,
                                             &bake_format_vtkhdf, &bake_format_h5,   &bake_format_part};

enum { BAKE_SUFFIXES = sizeof formats / sizeof formats[0] - 1 }; /* no suffix names the last one */

const bake_format *bake_format_named(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (!strcasecmp(name, formats[i]->name))
            return formats[i];
    return NULL;
}

const bake_format *bake_format_at(int i)
{
    return i < BAKE_SUFFIXES ? formats[i] : NULL;
}

const bake_format *bake_format_of(const char *path)
{
    const bake_format *format = cli_is_hdf5(path) ? &bake_format_h5 : bake_format_named(cli_suffix(path));
    if (format && format != &bake_format_part)
        return !format->volume->require || format->volume->require(path) == EXIT_DONE ? format : NULL;
    cli_message("%s: the suffix names the format: expected .npy, .nrrd, .vti, .vtkhdf or .h5", path);
    return NULL;
}

/* ---- layouts ------------------------------------------------------------------------------------------------------
 */

static volume volume_of(const bake_plan *plan, const char *fingerprint, const char *command)
{
    volume v = {.axes = plan->kind->axes,
                .lattice = plan->lattice,
                .nodes = plan->layer * plan->depth,
                .first = plan->kind->array,
                .scale = bake_store_scale(plan),
                .fingerprint = fingerprint,
                .command = command};
    for (int a = 0; a < BAKE_ARRAYS; a++)
        v.array[a] = plan->arrays & (1u << a) ? bake_stored(plan, a) : NULL;
    return v;
}

int bake_format_check(const bake_format *format, const bake_plan *plan, const char *shown)
{
    if (format->volume && format->volume->one_array && plan->arrays != 1u << plan->kind->array)
        return cli_refuse(EXIT_USAGE, "%s: a .%s file holds one array, so --with needs another format, such as .vti",
                          shown, format->name);
    if (format == &bake_format_npy && plan->bits > 0)
        return cli_refuse(
            EXIT_USAGE,
            "%s: a .npy file has no place for the scale of --bits %d, so it needs another format, such as "
            ".nrrd",
            shown, plan->bits);
    return EXIT_DONE;
}

int bake_lay_out(const bake_plan *plan, const char *shown, bake_layout *out)
{
    const bake_format *format = plan->format;
    char fingerprint[BAKE_TEXT], options[BAKE_TEXT], command[BAKE_TEXT + 16] = "carom bake ";
    *out = (bake_layout){0};
    if (!format->volume)
        return format->lay_out(plan, shown, out);
    if (bake_format_check(format, plan, shown) != EXIT_DONE)
        return EXIT_USAGE;
    bake_fingerprint(plan, fingerprint);
    bake_describe(plan, options);
    strcat(command, options);
    const volume v = volume_of(plan, fingerprint, command);
    return volume_lay_out(format->volume, &v, shown, out);
}

uint64_t bake_layout_place(const bake_layout *layout, const bake_plan *plan, int a, uint64_t slab, uint64_t at)
{
    carom_lattice box;
    const uint64_t nodes = bake_plan_slab(plan, slab, &box);
    if (!layout->by_slab)
        return layout->array_at[a] + bake_plan_node(plan, &box, at) * bake_stored(plan, a)->size;
    uint64_t place = layout->array_at[0] + bake_plan_nodes_before(plan, slab) * bake_plan_node_bytes(plan);
    for (int b = 0; b < a; b++)
        place += plan->arrays & (1u << b) ? nodes * bake_stored(plan, b)->size : 0;
    return place + at * bake_stored(plan, a)->size;
}

/* ---- slabs --------------------------------------------------------------------------------------------------------
 */

int bake_slab_alloc(const bake_plan *plan, bake_slab *out)
{
    int complete = 1;
    *out = (bake_slab){0};
    for (int a = 0; a < BAKE_ARRAYS; a++)
        if (plan->arrays & (1u << a)) {
            out->array[a] = cli_alloc(bake_plan_most_nodes(plan), bake_arrays[a].size);
            complete &= out->array[a] != NULL;
        }
    if (!complete)
        bake_slab_free(out);
    return complete;
}

void bake_slab_free(bake_slab *slab)
{
    for (int a = 0; a < BAKE_ARRAYS; a++)
        free(slab->array[a]);
    *slab = (bake_slab){0};
}

uint64_t bake_nodes_checksum(const bake_plan *plan, uint64_t end, const bake_slab *from, uint64_t seed)
{
    uint64_t sum = seed;
    for (int a = 0; a < BAKE_ARRAYS; a++)
        if (plan->arrays & (1u << a))
            sum = bake_checksum(from->array[a], (size_t)end * bake_stored(plan, a)->size, sum);
    return sum;
}

uint64_t bake_slab_checksum(const bake_plan *plan, uint64_t slab, const bake_slab *from)
{
    return bake_nodes_checksum(plan, bake_plan_nodes(plan, slab), from, slab); /* slabs in each other's places differ */
}

/* Nodes of a slab that stand together in every array of the file. */
static uint64_t run_of(const bake_layout *layout, const bake_plan *plan, uint64_t slab)
{
    carom_lattice box;
    const uint64_t nodes = bake_plan_slab(plan, slab, &box);
    if (box.dims[0] < plan->lattice.dims[0] && !layout->by_slab)
        return box.dims[0];
    return box.dims[1] < plan->lattice.dims[1] && !layout->by_slab ? box.dims[0] * box.dims[1] : nodes;
}

/* Nodes [first, end). */
static int move_array(int fd, const bake_layout *layout, const bake_plan *plan, uint64_t slab, int a, uint64_t first,
                      uint64_t end, const bake_slab *data, int is_read)
{
    const uint64_t run = run_of(layout, plan, slab);
    const size_t size = bake_stored(plan, a)->size;
    int error = 0;
    for (uint64_t at = first; at < end && !error;) {
        const uint64_t left = run - at % run, count = left < end - at ? left : end - at;
        char *const here = (char *)data->array[a] + at * size;
        const uint64_t place = bake_layout_place(layout, plan, a, slab, at);
        error = is_read ? cli_read_at(fd, here, (size_t)count * size, place)
                        : cli_write_at(fd, here, (size_t)count * size, place);
        at += count;
    }
    return error;
}

static int move_slab(int fd, const bake_layout *layout, const bake_plan *plan, uint64_t slab, uint64_t first,
                     uint64_t end, const bake_slab *data, int is_read)
{
    int error = 0;
    for (int a = 0; a < BAKE_ARRAYS && !error; a++)
        if (plan->arrays & (1u << a))
            error = move_array(fd, layout, plan, slab, a, first, end, data, is_read);
    return error;
}

int bake_slab_write(int fd, const bake_layout *layout, const bake_plan *plan, uint64_t slab, const bake_slab *from)
{
    return move_slab(fd, layout, plan, slab, 0, bake_plan_nodes(plan, slab), from, 0);
}

int bake_slab_read(int fd, const bake_layout *layout, const bake_plan *plan, uint64_t slab, const bake_slab *to)
{
    return move_slab(fd, layout, plan, slab, 0, bake_plan_nodes(plan, slab), to, 1);
}

int bake_nodes_write(int fd, const bake_layout *layout, const bake_plan *plan, uint64_t slab, uint64_t first,
                     uint64_t end, const bake_slab *from)
{
    return move_slab(fd, layout, plan, slab, first, end, from, 0);
}

int bake_nodes_read(int fd, const bake_layout *layout, const bake_plan *plan, uint64_t slab, uint64_t end,
                    const bake_slab *to)
{
    return move_slab(fd, layout, plan, slab, 0, end, to, 1);
}
