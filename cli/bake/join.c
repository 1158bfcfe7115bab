/* SPDX-License-Identifier: MIT */
/* carom bake join: the slabs of all parts at their places in one output. Each slab's checksum is compared on the way.
 */
#include "bake.h"
#include "part.h"

#include "cli/output_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

typedef struct part_file {
    const char *path;
    int fd;
    bake_plan plan;
    bake_layout layout;
    char text[BAKE_TEXT];
} part_file;

/* ---- the parts ----------------------------------------------------------------------------------------------------
 */

static int open_part(part_file *part, const char *path)
{
    struct stat info;
    *part = (part_file){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
    if (part->fd < 0 || fstat(part->fd, &info) != 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode) || !bake_part_read(part->fd, part->text, &part->plan))
        return cli_refuse(EXIT_USAGE, "%s: is no part that this version of carom bake --part made", path);
    const int status = bake_lay_out(&part->plan, path, &part->layout);
    if (status == EXIT_DONE && (uint64_t)info.st_size != part->layout.bytes)
        return cli_refuse(EXIT_USAGE, "%s: has %lld bytes, and part %llu/%llu has %llu", path, (long long)info.st_size,
                          (unsigned long long)part->plan.part, (unsigned long long)part->plan.parts,
                          (unsigned long long)part->layout.bytes);
    return status;
}

/* Does the part belong to the first one, and is it there once? */
static int check_part(const part_file *parts, int i)
{
    char words[BAKE_TEXT];
    if (bake_fingerprint_compare(parts[0].text, parts[i].text, "part", words, sizeof words) > 0)
        return cli_refuse(EXIT_USAGE, "%s: is not of the bake of %s; what differs: %s", parts[i].path, parts[0].path,
                          words);
    if (parts[i].plan.parts != parts[0].plan.parts)
        return cli_refuse(EXIT_USAGE, "%s: is one of %llu parts, and %s one of %llu", parts[i].path,
                          (unsigned long long)parts[i].plan.parts, parts[0].path,
                          (unsigned long long)parts[0].plan.parts);
    for (int j = 0; j < i; j++)
        if (parts[j].plan.part == parts[i].plan.part)
            return cli_refuse(EXIT_USAGE, "%s: is part %llu/%llu, and so is %s", parts[i].path,
                              (unsigned long long)parts[i].plan.part, (unsigned long long)parts[i].plan.parts,
                              parts[j].path);
    return EXIT_DONE;
}

static int find_missing(const part_file *parts, int count)
{
    for (uint64_t wanted = 1; wanted <= parts[0].plan.parts; wanted++) {
        int found = 0;
        for (int i = 0; i < count; i++)
            found |= parts[i].plan.part == wanted;
        if (!found)
            return cli_refuse(EXIT_USAGE, "part %llu/%llu is missing", (unsigned long long)wanted,
                              (unsigned long long)parts[0].plan.parts);
    }
    return EXIT_DONE;
}

static int open_parts(part_file *parts, int *opened, char **paths, int count)
{
    int status = EXIT_DONE;
    for (int i = 0; i < count && status == EXIT_DONE; i++) {
        status = open_part(&parts[i], paths[i]);
        *opened = i + 1;
        if (status == EXIT_DONE)
            status = check_part(parts, i);
    }
    return status == EXIT_DONE ? find_missing(parts, count) : status;
}

/* ---- the output ---------------------------------------------------------------------------------------------------
 */

typedef struct joined {
    output_place place;
    bake_plan plan;
    bake_layout layout;
    bake_slab slab;
    int fd;
    progress shown;
    uint64_t slabs; /* that are written */
} joined;

static int fail(const joined *out, int error)
{
    return cli_refuse(EXIT_WORK, "%s: cannot be written: %s", out->place.shown, strerror(error));
}

static int copy_part(joined *out, const part_file *part)
{
    const bake_plan *plan = &part->plan;
    for (uint64_t s = plan->begin; s < plan->end; s++) {
        unsigned char sum[8];
        int error = bake_slab_read(part->fd, &part->layout, plan, s, &out->slab);
        if (!error)
            error = cli_read_at(part->fd, sum, sizeof sum, part->layout.sums_at + 8 * (s - plan->begin));
        if (error)
            return cli_refuse(EXIT_USAGE, "%s: slab %llu cannot be read: %s", part->path, (unsigned long long)s,
                              strerror(error));
        if (bake_get64(sum) != bake_slab_checksum(plan, s, &out->slab))
            return cli_refuse(EXIT_USAGE, "%s: slab %llu does not have its checksum: the file is damaged", part->path,
                              (unsigned long long)s);
        error = bake_slab_write(out->fd, &out->layout, &out->plan, s, &out->slab);
        if (error)
            return fail(out, error);
        progress_show(&out->shown, ++out->slabs);
    }
    return EXIT_DONE;
}

static int write_all(joined *out, const part_file *parts, int count)
{
    char text[BAKE_TEXT];
    int status = EXIT_DONE, error = 0;
    progress_begin(&out->shown, "bake join", "slabs", 0, out->plan.slabs);
    for (int i = 0; i < out->layout.piece_count && !error; i++)
        error =
            bake_write_at(out->fd, out->layout.pieces[i].bytes, out->layout.pieces[i].size, out->layout.pieces[i].at);
    if (error)
        status = fail(out, error);
    for (int i = 0; i < count && status == EXIT_DONE; i++)
        status = copy_part(out, &parts[i]);
    progress_end(&out->shown);
    bake_fingerprint(&out->plan, text);
    if (status == EXIT_DONE) /* as bake_partial_finish does */
        (void)fsetxattr(out->fd, BAKE_ATTRIBUTE, text, strlen(text), 0);
    return status;
}

/* As output_close does. */
static int put_in_place(joined *out, int status)
{
    if (status == EXIT_DONE)
        status = output_place_flush(&out->place, out->fd);
    if (close(out->fd) != 0 && status == EXIT_DONE)
        status = fail(out, errno);
    if (status == EXIT_DONE)
        status = output_place_finish(&out->place);
    output_place_drop(&out->place);
    return status;
}

static int write_output(joined *out, const part_file *parts, int count)
{
    for (int i = 0; i < count; i++) {
        struct stat info;
        if (out->place.exists && fstat(parts[i].fd, &info) == 0 && info.st_dev == out->place.old.st_dev &&
            info.st_ino == out->place.old.st_ino)
            return cli_refuse(EXIT_USAGE, "%s: is read as an input, which the output would replace", out->place.shown);
    }
    if (out->place.folder < 0)
        return cli_refuse(EXIT_USAGE, "%s: a volume needs a regular file", out->place.shown);
    if (!bake_slab_alloc(&out->plan, &out->slab))
        return cli_no_memory();
    out->fd = output_place_open(&out->place);
    if (out->fd < 0)
        return fail(out, errno);
    return put_in_place(out, write_all(out, parts, count));
}

static int join(const char *path, const bake_format *format, const part_file *parts, int count)
{
    joined out = {.plan = parts[0].plan, .place = {.folder = -1}};
    out.plan.format = format;
    out.plan.part = out.plan.parts = 1;
    bake_plan_cut(&out.plan);
    int status = bake_lay_out(&out.plan, path, &out.layout);
    if (status == EXIT_DONE)
        status = output_place_find(&out.place, path);
    if (status == EXIT_DONE)
        status = write_output(&out, parts, count);
    output_place_free(&out.place);
    bake_layout_free(&out.layout);
    bake_slab_free(&out.slab);
    return status;
}

int command_bake_join(const cli_options *options)
{
    const int count = options->operand_count - 1;
    int opened = 0;
    const bake_format *format = bake_format_of(options->operands[0]);
    if (!format)
        return EXIT_USAGE;
    part_file *parts = cli_alloc((uint64_t)count, sizeof *parts);
    if (!parts)
        return cli_no_memory();
    int status = open_parts(parts, &opened, options->operands + 1, count);
    if (status == EXIT_DONE)
        status = join(options->operands[0], format, parts, count);
    for (int i = 0; i < opened; i++) {
        if (parts[i].fd >= 0)
            close(parts[i].fd);
        bake_layout_free(&parts[i].layout);
    }
    free(parts);
    return status;
}
