/* SPDX-License-Identifier: MIT */
/* Paths of an H5MD file (de Buyl, Colberg and Hoefling 2014): particles/GROUP/position/value[frame][particle][3]. Path
 * p is particle p, so a path is a column of the array: blocks of all frames of some particles are read and turned
 * round.
 */
#include "paths.h"

#include "cli/hdf5.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK = 1 << 16, GROUP_MAX = 256 }; /* points of a block: what the text of a CSV would take */

struct paths_hdf5 {
    hdf5_id file, value;
    float *block; /* [BLOCK][3] */
};

/* The name of the array in the file. */
static int find_value(const paths_file *f, char name[GROUP_MAX + 32])
{
    char group[GROUP_MAX];
    const int groups = hdf5_only_child(f->hdf5->file, "particles", group, sizeof group);
    if (groups > 1)
        return cli_refuse(EXIT_USAGE, "%s: particles: expected one group, got %d", f->path, groups);
    if (groups < 1)
        return cli_refuse(EXIT_USAGE, "%s: expected an H5MD file, with one group in particles", f->path);
    snprintf(name, GROUP_MAX + 32, "particles/%s/position/value", group);
    return EXIT_DONE;
}

static int check_value(const paths_file *f, const char *name, const hdf5_form *form)
{
    if (form->axes != 3 || form->dims[2] != 3 || (form->dims[0] == 0 && form->dims[1] > 0)) {
        char got[3 * 24 + 24] = "";
        for (int k = 0; k < form->axes && k < 3; k++)
            snprintf(got + strlen(got), 24, "[%llu]", (unsigned long long)form->dims[k]);
        return cli_refuse(EXIT_USAGE, "%s: %s: expected [frames][particles][3] with at least one frame, got %s%s",
                          f->path, name, form->axes > 0 ? got : "a single number", form->axes > 3 ? "..." : "");
    }
    if (!hdf5_is_of(f->hdf5->value, "<f4"))
        return cli_refuse(EXIT_USAGE,
                          "%s: %s: expected little-endian float32, got %s; convert the array with "
                          "numpy.asarray(a, '<f4')",
                          f->path, name, form->type);
    if (form->fault)
        return cli_refuse(EXIT_USAGE, "%s: %s: announces [%llu][%llu][3], but %s", f->path, name,
                          (unsigned long long)form->dims[0], (unsigned long long)form->dims[1], form->fault);
    return EXIT_DONE;
}

static int open_value(paths_file *f)
{
    char name[GROUP_MAX + 32];
    hdf5_form form;
    f->hdf5->file = hdf5_open(f->path);
    if (f->hdf5->file < 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be opened as HDF5: %s", f->path, hdf5_error());
    int status = find_value(f, name);
    if (status != EXIT_DONE)
        return status;
    f->hdf5->value = hdf5_open_array(f->hdf5->file, name, &form);
    if (f->hdf5->value < 0)
        return cli_refuse(EXIT_USAGE, "%s: %s: expected a dataset: %s", f->path, name, hdf5_error());
    status = check_value(f, name, &form);
    if (status == EXIT_DONE) {
        f->length = form.dims[0];
        f->points = form.dims[0] * form.dims[1];
    }
    return status;
}

int paths_hdf5_open(paths_file *f)
{
    struct stat info;
    if (hdf5_require(f->path) != EXIT_DONE)
        return EXIT_USAGE;
    if (stat(f->path, &info) != 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be opened: %s", f->path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return cli_refuse(EXIT_USAGE, "%s: is no regular file, which an HDF5 file must be", f->path);
    f->hdf5 = malloc(sizeof *f->hdf5);
    if (!f->hdf5)
        return cli_no_memory();
    *f->hdf5 = (struct paths_hdf5){.file = -1, .value = -1, .block = cli_alloc(3 * BLOCK, sizeof(float))};
    return f->hdf5->block ? open_value(f) : cli_no_memory();
}

void paths_hdf5_close(paths_file *f)
{
    if (!f->hdf5)
        return;
    if (f->hdf5->value >= 0)
        hdf5_close(f->hdf5->value);
    if (f->hdf5->file >= 0)
        hdf5_close(f->hdf5->file);
    free(f->hdf5->block);
    free(f->hdf5);
    f->hdf5 = NULL;
}

/* The next block in front of point `end`: frames of one particle, or all frames of several. */
static uint64_t block_at(const paths_file *f, uint64_t point, uint64_t end, uint64_t from[3], uint64_t count[3])
{
    const uint64_t most = end - point < BLOCK ? end - point : BLOCK, frame = point % f->length;
    from[0] = frame;
    from[1] = point / f->length;
    from[2] = 0;
    count[0] = f->length - frame < most ? f->length - frame : most;
    count[1] = frame == 0 && most >= f->length ? most / f->length : 1;
    count[2] = 3;
    return count[0] * count[1];
}

int paths_hdf5_next(paths_file *f)
{
    const uint64_t end = f->from + f->count;
    for (uint64_t point = f->from, size; point < end; point += size) {
        uint64_t from[3], count[3];
        float *to = f->xyz + 3 * (point - f->from + 1);
        size = block_at(f, point, end, from, count);
        if (!hdf5_read(f->hdf5->value, 3, from, count, f->hdf5->block))
            return cli_refuse(EXIT_USAGE, "%s: cannot be read: %s", f->path, hdf5_error());
        for (uint64_t p = 0; p < count[1]; p++)
            for (uint64_t i = 0; i < count[0]; i++, to += 3)
                memcpy(to, f->hdf5->block + 3 * (i * count[1] + p), 3 * sizeof *to);
    }
    return EXIT_DONE;
}
