/* SPDX-License-Identifier: MIT */
#include "several.h"
#include "part.h"

#include "cli/base/unfinished.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int bake_outputs_name(bake_outputs *out, const bake_request *options)
{
    const cli_options *o = &options->common;
    out->count = out->opened = 0;
    if (!o->output)
        return cli_refuse(EXIT_USAGE, "%s: -o OUT is missing", o->command->name);
    if (options->bake.is_part && o->more_output_count > 0)
        return cli_refuse(EXIT_USAGE, "%s: a part has one output, and -o names %d", o->command->name,
                          o->more_output_count + 1);
    for (int i = 0; (out->path[i] = cli_output_of(o, o->command->output, i)) != NULL; i++) {
        out->format[i] = options->bake.is_part ? &bake_format_part : bake_format_of(out->path[i]);
        if (!out->format[i])
            return EXIT_USAGE;
        out->count++;
        if (out->count == BAKE_OUTPUTS)
            break;
    }
    return EXIT_DONE;
}

int bake_outputs_check(const bake_outputs *out, const bake_plan *plan)
{
    int status = EXIT_DONE;
    for (int i = 0; i < out->count && status == EXIT_DONE; i++)
        status = bake_format_check(out->format[i], plan, out->path[i]);
    return status;
}

void bake_outputs_plan(bake_outputs *out, const bake_plan *plan)
{
    for (int i = 0; i < out->count; i++) {
        out->plan[i] = *plan;
        out->plan[i].format = out->format[i];
    }
}

/* ---- what an earlier run has left ---------------------------------------------------------------------------------
 */

static int is_beside(const char *path, const char *end)
{
    char name[PATH_MAX + 16];
    struct stat info;
    snprintf(name, sizeof name, "%s.%s", path, end);
    return lstat(name, &info) == 0;
}

/* A partial file that a user has renamed has the first attribute alone. */
static int is_current(const char *path, const bake_plan *plan)
{
    char wanted[BAKE_TEXT], text[BAKE_TEXT];
    bake_plan there;
    bake_layout layout = {0};
    struct stat info;
    uint64_t sum;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return 0;
    bake_fingerprint(plan, wanted);
    int is_same = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && bake_file_plan(fd, text, &there) &&
                  !strcmp(text, wanted) && (!bake_attribute(fd, text) || bake_sum_attribute(fd, &sum));
    is_same = is_same && bake_lay_out(plan, path, &layout) == EXIT_DONE && layout.bytes == (uint64_t)info.st_size;
    volume_layout_free(&layout);
    close(fd);
    return is_same;
}

int bake_outputs_are_current(const bake_outputs *out)
{
    int all = 1;
    for (int i = 0; i < out->count && all; i++)
        all = !is_beside(out->path[i], "partial") && !is_beside(out->path[i], "journal") &&
              is_current(out->path[i], &out->plan[i]);
    return all;
}

/* ---- slabs that another output has --------------------------------------------------------------------------------
 */

/* The first output that has the slab, -1 if none has; `lacking`: how many have not. Those that have failed do not
 * count. */
static int owner_of(const bake_outputs *out, uint64_t at, int *lacking)
{
    int owner = -1;
    *lacking = 0;
    for (int i = 0; i < out->count; i++) {
        const int is_done = out->at[i].done[at];
        *lacking += !is_done && out->status[i] == EXIT_DONE;
        if (owner < 0 && is_done && out->status[i] == EXIT_DONE)
            owner = i;
    }
    return owner;
}

/* An output that cannot be written, or read, does not keep the others. */
static void copy_slab(bake_outputs *out, int owner, uint64_t slab, const bake_slab *data)
{
    const bake_partial *from = &out->at[owner];
    const uint64_t at = slab - from->plan->begin;
    const int fd = from->file.finished >= 0 ? from->file.finished : from->file.fd;
    if (bake_slab_read(fd, &from->layout, from->plan, slab, data) != 0 ||
        bake_slab_checksum(from->plan, slab, data) != from->sums[at]) {
        out->status[owner] = cli_refuse(EXIT_WORK, "%s: slab %llu does not have its checksum", from->file.shown,
                                        (unsigned long long)slab);
        return;
    }
    for (int i = 0; i < out->count; i++)
        if (!out->at[i].done[at] && out->status[i] == EXIT_DONE)
            out->status[i] = bake_partial_put(&out->at[i], slab, data);
}

static uint64_t count_shared(const bake_outputs *out)
{
    const bake_plan *plan = &out->plan[0];
    uint64_t count = 0;
    int lacking;
    for (uint64_t s = plan->begin; s < plan->end; s++)
        count += owner_of(out, s - plan->begin, &lacking) >= 0 && lacking > 0;
    return count;
}

/* A slab that one output has and another lacks is copied: all outputs have the same numbers in it. */
static int share_slabs(bake_outputs *out)
{
    const bake_plan *plan = &out->plan[0];
    const uint64_t count = count_shared(out);
    bake_slab data;
    progress shown;
    uint64_t done = 0;
    int status = EXIT_DONE, lacking;
    if (count == 0)
        return EXIT_DONE;
    if (!bake_slab_alloc(plan, &data))
        return cli_no_memory();
    progress_begin(&shown, "bake: writing what another output has", "slabs", 0, count);
    for (uint64_t s = plan->begin; s < plan->end && status == EXIT_DONE; s++) {
        const int owner = owner_of(out, s - plan->begin, &lacking);
        if (owner < 0 || lacking == 0)
            continue;
        if (unfinished_asked())
            status = EXIT_STOPPED;
        else
            copy_slab(out, owner, s, &data);
        progress_show(&shown, ++done);
    }
    progress_end(&shown);
    bake_slab_free(&data);
    return status;
}

static int is_whole(const bake_partial *p)
{
    return p->file.is_finished || p->done_count == p->plan->end - p->plan->begin;
}

/* Outputs that an earlier run has left are made whole from others. */
static int share_earlier(bake_outputs *out)
{
    uint64_t before[BAKE_OUTPUTS];
    for (int i = 0; i < out->count; i++)
        before[i] = out->at[i].done_count;
    const int status = share_slabs(out);
    for (int i = 0; i < out->count; i++)
        if (out->at[i].done_count > before[i])
            cli_message("%s: %llu of %llu slabs are copied from another output", out->path[i],
                        (unsigned long long)(out->at[i].done_count - before[i]),
                        (unsigned long long)(out->at[i].plan->end - out->at[i].plan->begin));
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------
 */

static int open_all(bake_outputs *out, int resume)
{
    int status = EXIT_DONE;
    for (int i = 0; i < out->count && status == EXIT_DONE; i++) {
        out->opened = i + 1;
        out->status[i] = EXIT_DONE;
        status = bake_partial_open(&out->at[i], out->path[i], resume, &out->plan[i]);
    }
    return status == EXIT_DONE ? bake_partial_check_space(out->at, out->count) : status;
}

/* Outputs that are whole get their names, whatever becomes of the others; then a message tells what is there. Returns
 * the status of all. is_told: the crew has told of the first one that it does not come to its end, and so of all. */
static int end_all(bake_outputs *out, int status, int is_told)
{
    for (int i = 0; i < out->count; i++) {
        if (out->status[i] == EXIT_DONE && is_whole(&out->at[i])) {
            out->status[i] = bake_growing_end(&out->at[i].file);
        } else {
            if (out->status[i] == EXIT_DONE) /* the one that has the rest has failed */
                out->status[i] = status == EXIT_DONE ? EXIT_WORK : status;
            if (!is_told)
                bake_growing_stopped(&out->at[i].file, out->status[i]);
        }
    }
    for (int i = 0; i < out->count; i++)
        status = status == EXIT_DONE ? out->status[i] : status;
    for (int i = 0; i < out->count && status != EXIT_DONE && !is_told; i++)
        if (out->status[i] == EXIT_DONE && !out->at[i].file.is_finished)
            cli_message("%s: is complete", out->path[i]);
    return status;
}

/* The crew reports how far the first one has come, if it does not come to its end. */
int bake_outputs_bake(bake_outputs *out, const bake_request *options, bake_mesh *mesh)
{
    int status = open_all(out, options->bake.resume), is_told = 0;
    if (status == EXIT_DONE) {
        status = share_earlier(out);
        if (status == EXIT_DONE && out->status[0] == EXIT_DONE && !is_whole(&out->at[0])) {
            status = bake_crew_here->bake(options, mesh, &out->at[0]);
            is_told = status != EXIT_DONE;
        }
        if (status == EXIT_DONE)
            status = share_slabs(out);
        status = end_all(out, status, is_told);
    }
    for (int i = 0; i < out->opened; i++)
        bake_partial_close(&out->at[i]);
    return status;
}
