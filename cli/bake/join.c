/* SPDX-License-Identifier: MIT */
/* carom bake join: the slabs of all parts at their places in one output. Each slab's checksum is compared on the way.
 */
#include "part.h"
#include "path.h"

#include "cli/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the parts ----------------------------------------------------------------------------------------------------
 */

static int open_part(bake_part_file *part, const char *path)
{
    struct stat info;
    *part = (bake_part_file){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
    if (part->fd < 0 || fstat(part->fd, &info) != 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    part->bytes = (uint64_t)info.st_size;
    if (S_ISREG(info.st_mode) && bake_part_text(part->fd, part->text) && path_part_is(part->text))
        return path_part_open(part);
    if (!S_ISREG(info.st_mode) || !bake_part_read(part->fd, part->text, &part->plan))
        return cli_refuse(EXIT_USAGE, "%s: is no part that this version of carom bake --part made", path);
    part->part = part->plan.part;
    part->parts = part->plan.parts;
    const int status = bake_lay_out(&part->plan, path, &part->layout);
    if (status == EXIT_DONE && part->bytes != part->layout.bytes)
        return cli_refuse(EXIT_USAGE, "%s: has %llu bytes, and part %llu/%llu has %llu", path,
                          (unsigned long long)part->bytes, (unsigned long long)part->part,
                          (unsigned long long)part->parts, (unsigned long long)part->layout.bytes);
    return status;
}

/* Does the part belong to the first one, and is it there once? */
static int check_part(const bake_part_file *parts, int i)
{
    char words[BAKE_TEXT];
    if (bake_fingerprint_compare(parts[0].text, parts[i].text, "part", words, sizeof words) > 0)
        return cli_refuse(EXIT_USAGE, "%s: is not of the bake of %s; what differs: %s", parts[i].path, parts[0].path,
                          words);
    if (parts[i].parts != parts[0].parts)
        return cli_refuse(EXIT_USAGE, "%s: is one of %llu parts, and %s one of %llu", parts[i].path,
                          (unsigned long long)parts[i].parts, parts[0].path, (unsigned long long)parts[0].parts);
    for (int j = 0; j < i; j++)
        if (parts[j].part == parts[i].part)
            return cli_refuse(EXIT_USAGE, "%s: is part %llu/%llu, and so is %s", parts[i].path,
                              (unsigned long long)parts[i].part, (unsigned long long)parts[i].parts, parts[j].path);
    return EXIT_DONE;
}

static int find_missing(const bake_part_file *parts, int count)
{
    for (uint64_t wanted = 1; wanted <= parts[0].parts; wanted++) {
        int found = 0;
        for (int i = 0; i < count; i++)
            found |= parts[i].part == wanted;
        if (!found)
            return cli_refuse(EXIT_USAGE, "part %llu/%llu is missing", (unsigned long long)wanted,
                              (unsigned long long)parts[0].parts);
    }
    return EXIT_DONE;
}

static int open_parts(bake_part_file *parts, int *opened, char **paths, int count)
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
    output out;
    bake_plan plan;
    bake_layout layout;
    bake_slab slab;
    progress shown;
    uint64_t slabs; /* that are written */
    uint64_t sum;   /* of their checksums */
} joined;

static int fail(const joined *to, int error)
{
    return cli_refuse(EXIT_WORK, "%s: cannot be written: %s", to->out.place.shown, strerror(error));
}

static int copy_part(joined *to, const bake_part_file *part)
{
    const bake_plan *plan = &part->plan;
    for (uint64_t s = plan->begin; s < plan->end; s++) {
        unsigned char sum[8];
        int error = bake_slab_read(part->fd, &part->layout, plan, s, &to->slab);
        if (!error)
            error = cli_read_at(part->fd, sum, sizeof sum, part->layout.sums_at + 8 * (s - plan->begin));
        if (error)
            return cli_refuse(EXIT_USAGE, "%s: slab %llu cannot be read: %s", part->path, (unsigned long long)s,
                              strerror(error));
        if (bake_get64(sum) != bake_slab_checksum(plan, s, &to->slab))
            return cli_refuse(EXIT_USAGE, "%s: slab %llu does not have its checksum: the file is damaged", part->path,
                              (unsigned long long)s);
        error = bake_slab_write(to->out.fd, &to->layout, &to->plan, s, &to->slab);
        if (error)
            return fail(to, error);
        to->sum = bake_checksum_add(to->sum, bake_get64(sum));
        progress_show(&to->shown, ++to->slabs);
    }
    return EXIT_DONE;
}

static int write_all(joined *to, const bake_part_file *parts, int count)
{
    char text[BAKE_TEXT];
    int status = EXIT_DONE, error = 0;
    progress_begin(&to->shown, "bake join", "slabs", 0, to->plan.slabs);
    for (int i = 0; i < to->layout.piece_count && !error; i++) {
        const volume_piece *piece = &to->layout.pieces[i];
        error = cli_write_at(to->out.fd, piece->bytes, piece->size, piece->at);
    }
    if (error)
        status = fail(to, error);
    for (uint64_t wanted = 1; wanted <= (uint64_t)count; wanted++)
        for (int i = 0; i < count && status == EXIT_DONE; i++)
            if (parts[i].part == wanted)
                status = copy_part(to, &parts[i]);
    progress_end(&to->shown);
    bake_fingerprint(&to->plan, text);
    if (status == EXIT_DONE)
        bake_set_attributes(to->out.fd, text, to->sum);
    return status;
}

int bake_join_open(output *out, const char *path, const bake_part_file *parts, int count)
{
    const int status = output_open(out, path);
    for (int i = 0; i < count && status == EXIT_DONE; i++) {
        struct stat info;
        if (out->place.exists && fstat(parts[i].fd, &info) == 0 && info.st_dev == out->place.old.st_dev &&
            info.st_ino == out->place.old.st_ino)
            return output_close(
                out, cli_refuse(EXIT_USAGE, "%s: is read as an input, which the output would replace", path));
    }
    return status;
}

/* Slabs have places, which a stream has not. */
static int check_regular(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return cli_refuse(EXIT_USAGE, "%s: a volume needs a regular file", path);
    return EXIT_DONE;
}

static int join(const char *path, const bake_part_file *parts, int count)
{
    joined to = {.plan = parts[0].plan};
    to.plan.part = to.plan.parts = 1;
    to.plan.format = bake_format_of(path);
    if (!to.plan.format)
        return EXIT_USAGE;
    bake_plan_cut(&to.plan);
    int status = bake_lay_out(&to.plan, path, &to.layout);
    if (status == EXIT_DONE)
        status = check_regular(path);
    if (status == EXIT_DONE && !bake_slab_alloc(&to.plan, &to.slab))
        status = cli_no_memory();
    if (status == EXIT_DONE)
        status = bake_join_open(&to.out, path, parts, count);
    if (status == EXIT_DONE)
        status = output_close(&to.out, write_all(&to, parts, count));
    volume_layout_free(&to.layout);
    bake_slab_free(&to.slab);
    return status;
}

int run_bake_join(const void *own)
{
    const bake_request *options = own;
    const char *path = options->common.operands[0];
    const int count = options->common.operand_count - 1;
    int opened = 0;
    const int is_paths = cli_has_suffix(path, "csv") || path_is_columns(path);
    if (!is_paths && !bake_format_named(cli_suffix(path))) /* before anything is read */
        return cli_refuse(EXIT_USAGE,
                          "%s: the suffix names the format: expected .npy, .nrrd, .vti, .vtkhdf or .h5, and of paths "
                          ".csv, .h5, .npy, .vtp or .xyz",
                          path);
    if (!is_paths && !bake_format_of(path))
        return EXIT_USAGE;
    bake_part_file *parts = cli_alloc((uint64_t)count, sizeof *parts);
    if (!parts)
        return cli_no_memory();
    int status = open_parts(parts, &opened, options->common.operands + 1, count);
    if (status == EXIT_DONE)
        status = (path_part_is(parts[0].text) ? path_part_join : join)(path, parts, count);
    for (int i = 0; i < opened; i++) {
        if (parts[i].fd >= 0)
            close(parts[i].fd);
        volume_layout_free(&parts[i].layout);
    }
    free(parts);
    return status;
}
