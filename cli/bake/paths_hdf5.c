/* SPDX-License-Identifier: MIT */
/* Paths of an H5MD file (de Buyl, Colberg and Hoefling 2014): particles/GROUP/position/value[frame][particle][3]. Path
 * p is particle p, so a path is a column of the array: all frames of some particles are read into a window and turned
 * round. What is packed frame by frame is unpacked as a whole for each window, so windows are large, and do not depend
 * on the chunks that are asked for. */
#include "bake.h"
#include "paths.h"

#include "cli/table/hdf5.h"
#include "cli/base/unfinished.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { POINT = 3 * sizeof(float), GROUP_MAX = 256 };
/* Points of the least window, which takes what the text of a CSV would; of a read, between two of which a signal is
 * seen; and unpackings of a file that are many. */
enum { LEAST = 1 << 16, SLICE = 1 << 20, MANY = 64 };

struct paths_hdf5 {
    hdf5_input *file;
    hdf5_array value;
    char name[GROUP_MAX + 32];
    char boundary[HDF5_TEXT]; /* of the box, along each axis */
    uint64_t particles, room; /* points of a window */
    uint64_t from[3], count[3];
    float *window; /* [count[0]][count[1]][3] */
};

/* The name of the array in the file, and its box. */
static int find_value(const paths_file *f, char name[GROUP_MAX + 32])
{
    char group[GROUP_MAX], box[GROUP_MAX + 32];
    const int groups = hdf5_only_child(f->hdf5->file, "particles", group, sizeof group);
    if (groups < 0)
        return cli_refuse(EXIT_USAGE, "%s: particles: cannot be read: %s", f->path, hdf5_error());
    if (groups > 1)
        return cli_refuse(EXIT_USAGE, "%s: particles: expected one group, got %d", f->path, groups);
    if (groups < 1)
        return cli_refuse(EXIT_USAGE, "%s: expected an H5MD file, with one group in particles", f->path);
    snprintf(name, GROUP_MAX + 32, "particles/%s/position/value", group);
    snprintf(box, sizeof box, "particles/%s/box", group);
    if (!hdf5_words(f->hdf5->file, box, "boundary", f->hdf5->boundary))
        return cli_refuse(EXIT_USAGE, "%s: %s: boundary cannot be read: %s", f->path, box, hdf5_error());
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
    if (!hdf5_is_of(&f->hdf5->value, "<f4"))
        return cli_refuse(EXIT_USAGE,
                          "%s: %s: expected little-endian float32, got %s; convert the array with "
                          "numpy.asarray(a, '<f4')",
                          f->path, name, form->type);
    if (form->fault[0])
        return cli_refuse(EXIT_USAGE, "%s: %s: announces [%llu][%llu][3], but %s", f->path, name,
                          (unsigned long long)form->dims[0], (unsigned long long)form->dims[1], form->fault);
    return EXIT_DONE;
}

static int open_value(paths_file *f)
{
    char *const name = f->hdf5->name;
    const hdf5_form *const form = &f->hdf5->value.form;
    f->hdf5->file = hdf5_open(f->path);
    if (!f->hdf5->file)
        return cli_refuse(EXIT_USAGE, "%s: cannot be opened as HDF5: %s", f->path, hdf5_error());
    int status = find_value(f, name);
    if (status != EXIT_DONE)
        return status;
    if (!hdf5_open_array(f->hdf5->file, name, &f->hdf5->value))
        return cli_refuse(EXIT_USAGE, "%s: %s: expected a dataset: %s", f->path, name, hdf5_error());
    status = check_value(f, name, form);
    if (status == EXIT_DONE) {
        f->length = form->dims[0];
        f->points = form->dims[0] * form->dims[1];
        f->hdf5->particles = form->dims[1];
    }
    return status;
}

int paths_hdf5_open(paths_file *f, uint64_t more)
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
    *f->hdf5 = (struct paths_hdf5){.file = NULL};
    const int status = open_value(f);
    if (status != EXIT_DONE)
        return status;
    f->hdf5->room = LEAST + (more < PATHS_HDF5_MORE ? more : PATHS_HDF5_MORE) / POINT;
    if (f->hdf5->room > f->points)
        f->hdf5->room = f->points > 0 ? f->points : 1;
    f->hdf5->window = cli_alloc(f->hdf5->room, POINT);
    return f->hdf5->window ? EXIT_DONE : cli_no_memory();
}

void paths_hdf5_close(paths_file *f)
{
    if (!f->hdf5)
        return;
    hdf5_close_input(f->hdf5->file);
    free(f->hdf5->window);
    free(f->hdf5);
    f->hdf5 = NULL;
}

/* ---- windows ------------------------------------------------------------------------------------------------------
 */

/* At most so many, of which whole ones of those that are unpacked together. */
static uint64_t align(uint64_t most, uint64_t packed)
{
    return packed > 0 && most >= packed ? most / packed * packed : most;
}

/* The frames and particles of a window: all frames of some particles, or some frames of one. */
static void size_window(const paths_file *f, uint64_t size[2])
{
    const struct paths_hdf5 *h = f->hdf5;
    const uint64_t wide = h->room / f->length;
    size[0] = wide > 0 ? f->length : align(h->room, h->value.form.packed[0]);
    size[1] = wide > 0 ? align(wide, h->value.form.packed[1]) : 1;
}

static void place_window(const paths_file *f, uint64_t point)
{
    struct paths_hdf5 *h = f->hdf5;
    uint64_t size[2];
    size_window(f, size);
    h->from[0] = point % f->length / size[0] * size[0];
    h->from[1] = point / f->length / size[1] * size[1];
    h->count[0] = f->length - h->from[0] < size[0] ? f->length - h->from[0] : size[0];
    h->count[1] = h->particles - h->from[1] < size[1] ? h->particles - h->from[1] : size[1];
    h->count[2] = 3;
}

static int fill_window(const paths_file *f, uint64_t point)
{
    struct paths_hdf5 *h = f->hdf5;
    place_window(f, point);
    const uint64_t packed = h->value.form.packed[0] > 0 ? h->value.form.packed[0] : 1, most = SLICE / h->count[1];
    const uint64_t step = most > packed ? align(most, packed) : packed;
    for (uint64_t i = 0; i < h->count[0]; i += step) {
        const uint64_t from[3] = {h->from[0] + i, h->from[1], 0};
        const uint64_t count[3] = {h->count[0] - i < step ? h->count[0] - i : step, h->count[1], 3};
        if (unfinished_asked())
            return EXIT_STOPPED;
        if (!hdf5_read(&h->value, 3, from, count, h->window + 3 * i * h->count[1]))
            return cli_refuse(EXIT_USAGE, "%s: cannot be read: %s", f->path, hdf5_error());
    }
    return EXIT_DONE;
}

int paths_hdf5_next(paths_file *f)
{
    const struct paths_hdf5 *h = f->hdf5;
    float *to = f->xyz + 3;
    for (uint64_t point = f->from, end = f->from + f->count; point < end; point++, to += 3) {
        uint64_t frame = point % f->length - h->from[0], particle = point / f->length - h->from[1];
        if (frame >= h->count[0] || particle >= h->count[1]) { /* in front of it, too */
            const int status = fill_window(f, point);
            if (status != EXIT_DONE)
                return status;
            frame = point % f->length - h->from[0];
            particle = point / f->length - h->from[1];
        }
        memcpy(to, h->window + 3 * (frame * h->count[1] + particle), POINT);
    }
    return EXIT_DONE;
}

static void warn_of_box(const paths_file *f)
{
    if (strstr(f->hdf5->boundary, "periodic"))
        cli_message("warning: %s: its box is periodic (boundary: %s), and is not looked at: a particle that is put "
                    "back into the box sweeps all the way across it",
                    f->path, f->hdf5->boundary);
}

void paths_hdf5_warn(const paths_file *f)
{
    const hdf5_form *form = &f->hdf5->value.form;
    uint64_t size[2], times = 1;
    warn_of_box(f);
    if (form->packed[0] == 0 || f->points == 0)
        return;
    size_window(f, size);
    for (int k = 0; k < 2; k++) {
        const uint64_t chunk = form->packed[k] < form->dims[k] ? form->packed[k] : form->dims[k];
        times *= (chunk + size[k] - 1) / size[k];
    }
    if (times > MANY)
        cli_message(
            "warning: %s: is packed in pieces of %llu frames of %llu particles, and unpacked %llu times for each "
            "of two readings; h5repack -f %s:NONE -l %s:CONTI IN OUT makes it quick to read",
            f->path, (unsigned long long)form->packed[0], (unsigned long long)form->packed[1],
            (unsigned long long)times, f->hdf5->name, f->hdf5->name);
}
