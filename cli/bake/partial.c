/* SPDX-License-Identifier: MIT */
/* See partial.h. What keeps a bake whole, whenever the process ends: a slab's record follows its data; and a resumed
 * bake reads each finished slab again and believes its checksum, not the order in which a disk wrote. */
#include "partial.h"
#include "cli/base/unfinished.h"
#include "part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- room ---------------------------------------------------------------------------------------------------------
 */

/* Where space cannot be reserved. */
static int check_free_space(bake_partial *p)
{
    struct statvfs info;
    const uint64_t bytes = p->layout.bytes;
    if (ftruncate(p->file.fd, (off_t)bytes) != 0)
        return bake_growing_fail(&p->file, "made long enough", errno);
    if (fstatvfs(p->file.fd, &info) != 0)
        return EXIT_DONE;
    const uint64_t room = (uint64_t)info.f_bavail * info.f_frsize;
    struct stat now;
    const uint64_t held = fstat(p->file.fd, &now) == 0 ? (uint64_t)now.st_blocks * 512 : 0;
    p->unreserved = held < bytes ? bytes - held : 0;
    if (room + held < bytes)
        return cli_refuse(EXIT_WORK, "%s.partial: needs %llu bytes, and %llu are free", p->file.shown,
                          (unsigned long long)bytes, (unsigned long long)(room + held));
    cli_message("%s.partial: this file system cannot reserve space; %llu bytes are needed and %llu are free now",
                p->file.shown, (unsigned long long)bytes, (unsigned long long)(room + held));
    return EXIT_DONE;
}

static int reserve(bake_partial *p)
{
    const uint64_t bytes = p->layout.bytes;
    int failed;
    if (bytes > INT64_MAX)
        return bake_growing_fail(&p->file, "made long enough", EFBIG);
    do
        failed = fallocate(p->file.fd, 0, 0, (off_t)bytes);
    while (failed != 0 && errno == EINTR);
    if (failed != 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
        return check_free_space(p);
    if (failed != 0)
        return cli_refuse(EXIT_WORK, "%s.partial: %llu bytes cannot be reserved: %s", p->file.shown,
                          (unsigned long long)bytes, strerror(errno));
    return ftruncate(p->file.fd, (off_t)bytes) == 0 ? EXIT_DONE
                                                    : bake_growing_fail(&p->file, "made long enough", errno);
}

/* The outputs on the file system of that one. */
int bake_partial_check_space(const bake_partial *at, int count)
{
    for (int i = 0; i < count; i++) {
        struct stat one, other;
        struct statvfs info;
        uint64_t bytes = 0;
        int sharing = 0;
        if (at[i].unreserved == 0 || fstat(at[i].file.fd, &one) != 0 || fstatvfs(at[i].file.fd, &info) != 0)
            continue;
        for (int k = 0; k < count; k++)
            if (at[k].unreserved > 0 && fstat(at[k].file.fd, &other) == 0 && other.st_dev == one.st_dev) {
                bytes += at[k].unreserved;
                sharing++;
            }
        const uint64_t room = (uint64_t)info.f_bavail * info.f_frsize;
        if (bytes > room)
            return cli_refuse(EXIT_WORK,
                              "%s.partial: the %d outputs on this file system need %llu bytes more, and "
                              "%llu are free",
                              at[i].file.shown, sharing, (unsigned long long)bytes, (unsigned long long)room);
    }
    return EXIT_DONE;
}

static int write_pieces(const bake_partial *p)
{
    int error = 0;
    for (int i = 0; i < p->layout.piece_count && !error; i++)
        error = cli_write_at(p->file.fd, p->layout.pieces[i].bytes, p->layout.pieces[i].size, p->layout.pieces[i].at);
    return error ? bake_growing_fail(&p->file, "written", error) : EXIT_DONE;
}

/* ---- a new one, and one to go on with -----------------------------------------------------------------------------
 */

static int start(void *self)
{
    bake_partial *p = self;
    const int status = reserve(p);
    return status == EXIT_DONE ? write_pieces(p) : status;
}

/* Read the slabs that are done again. If their checksums are known, forget the slabs that are not what was written;
 * else set the checksums. */
static int read_slabs(bake_partial *p, int fd, int are_known)
{
    bake_slab slab;
    progress shown;
    uint64_t read = 0;
    int status = EXIT_DONE;
    if (!bake_slab_alloc(p->plan, &slab))
        return cli_no_memory();
    progress_begin(&shown, "bake: reading finished slabs", "slabs", 0, p->done_count);
    for (uint64_t s = p->plan->begin; s < p->plan->end; s++) {
        const uint64_t at = s - p->plan->begin;
        if (!p->done[at])
            continue;
        if (unfinished_asked()) {
            status =
                cli_refuse(EXIT_STOPPED, "%s: stopped while finished slabs are read; --resume goes on", p->file.shown);
            break;
        }
        const int is_read = bake_slab_read(fd, &p->layout, p->plan, s, &slab) == 0;
        const uint64_t sum = is_read ? bake_slab_checksum(p->plan, s, &slab) : 0;
        p->done[at] = is_read && (!are_known || sum == p->sums[at]);
        p->sums[at] = sum;
        if (are_known && !p->done[at])
            cli_message("%s.partial: slab %llu does not have its checksum, and is computed again", p->file.shown,
                        (unsigned long long)s);
        progress_show(&shown, ++read);
    }
    progress_end(&shown);
    bake_slab_free(&slab);
    p->done_count = 0;
    for (uint64_t at = 0; at < p->plan->end - p->plan->begin; at++)
        p->done_count += p->done[at];
    return status;
}

static int go_on(void *self)
{
    bake_partial *p = self;
    const uint64_t count = p->plan->end - p->plan->begin;
    p->done_count = bake_journal_records(&p->file.journal, p->done, p->sums);
    const uint64_t recorded = p->done_count;
    if (p->file.journal.size != p->file.journal.end && ftruncate(p->file.journal.fd, (off_t)p->file.journal.end) != 0)
        return bake_growing_fail(&p->file, "continued", errno);
    int status = read_slabs(p, p->file.fd, 1);
    if (status == EXIT_DONE)
        status = reserve(p);
    if (status == EXIT_DONE)
        status = write_pieces(p);
    if (status == EXIT_DONE)
        cli_message("%s.partial: going on, %llu of %llu slabs are done%s", p->file.shown,
                    (unsigned long long)p->done_count, (unsigned long long)count,
                    recorded > p->done_count ? " and have their checksums" : "");
    return status;
}

/* Of the checksums of all slabs. */
static uint64_t sum_of_sums(const bake_partial *p)
{
    uint64_t sum = 0;
    for (uint64_t at = 0; at < p->plan->end - p->plan->begin; at++)
        sum = bake_checksum_add(sum, p->sums[at]);
    return sum;
}

static int has_bytes(int fd, const void *bytes, size_t size, uint64_t at)
{
    unsigned char *there = malloc(size);
    const int is_same = there && cli_read_at(fd, there, size, at) == 0 && memcmp(there, bytes, size) == 0;
    free(there);
    return is_same;
}

/* Has OUT all bytes but those of slabs? */
static int has_frame(const bake_partial *p, int fd)
{
    int is_same = (uint64_t)p->file.place.old.st_size == p->layout.bytes;
    for (int i = 0; i < p->layout.piece_count && is_same; i++)
        is_same = has_bytes(fd, p->layout.pieces[i].bytes, p->layout.pieces[i].size, p->layout.pieces[i].at);
    return is_same;
}

static int has_sums(const bake_partial *p, int fd)
{
    int is_same = 1;
    for (uint64_t at = 0; p->layout.sums_at && at < p->plan->end - p->plan->begin && is_same; at++) {
        unsigned char sum[8];
        bake_put64(sum, p->sums[at]);
        is_same = has_bytes(fd, sum, sizeof sum, p->layout.sums_at + 8 * at);
    }
    return is_same;
}

static int compare(void *self, int fd, uint64_t wanted, int *is_same)
{
    bake_partial *p = self;
    const uint64_t count = p->plan->end - p->plan->begin;
    int status = EXIT_DONE;
    if (has_frame(p, fd)) {
        memset(p->done, 1, (size_t)count);
        p->done_count = count;
        status = read_slabs(p, fd, 0);
        *is_same = status == EXIT_DONE && p->done_count == count && sum_of_sums(p) == wanted && has_sums(p, fd);
    }
    if (!*is_same) {
        memset(p->done, 0, (size_t)count);
        p->done_count = 0;
    }
    return status;
}

/* As the journal has it, whose slabs may be others. */
static void earlier(const void *self, char words[BAKE_DONE_WORDS])
{
    const bake_journal *journal = &((const bake_partial *)self)->file.journal;
    const uint64_t count = journal->is_readable ? journal->plan.end - journal->plan.begin : 0;
    uint8_t *found = calloc((size_t)count + 1, 1);
    const uint64_t done = found && count > 0 ? bake_journal_records(journal, found, NULL) : 0;
    free(found);
    snprintf(words, BAKE_DONE_WORDS, "%llu of %llu slabs", (unsigned long long)done, (unsigned long long)count);
}

static void done(const void *self, char words[BAKE_DONE_WORDS])
{
    const bake_partial *p = self;
    snprintf(words, BAKE_DONE_WORDS, "%llu of %llu slabs", (unsigned long long)p->done_count,
             (unsigned long long)(p->plan->end - p->plan->begin));
}

static int finish(void *self);
static const bake_answers slab_answers = {
    .start = start, .go_on = go_on, .compare = compare, .finish = finish, .done = done, .earlier = earlier};

/* A .npy file has no fingerprint inside. Where the file system keeps none beside it, or a copy has lost it, size and
 * header must be those of this output. */
static int is_baked(const bake_partial *p, int fd)
{
    char text[BAKE_TEXT];
    bake_plan plan;
    return bake_attribute(fd, text) || bake_file_plan(fd, text, &plan) ||
           (p->plan->format == &bake_format_npy && has_frame(p, fd));
}

/* OUT has a name that the user has not typed, and may be the user's own file. */
static int check_old(const bake_partial *p)
{
    if (!p->file.place.exists)
        return EXIT_DONE;
    const int fd = openat(p->file.place.folder, p->file.place.name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be opened, to see whether carom baked it: %s", p->file.shown,
                          strerror(errno));
    const int is_caroms = is_baked(p, fd);
    close(fd);
    if (is_caroms)
        return EXIT_DONE;
    return cli_refuse(EXIT_USAGE,
                      "%s: is there already, and nothing in it says that carom baked it: remove it, or choose another "
                      "folder",
                      p->file.shown);
}

int bake_partial_open(bake_partial *p, const char *path, int resume, const bake_plan *plan)
{
    const uint64_t count = plan->end - plan->begin;
    *p = (bake_partial){.plan = plan,
                        .file = {.fd = -1, .finished = -1, .place = {.folder = -1}, .journal = {.fd = -1}}};
    int status = bake_lay_out(plan, path, &p->layout);
    if (status != EXIT_DONE)
        return status;
    p->done = calloc((size_t)count + 1, 1);
    p->sums = count < SIZE_MAX / 8 - 1 ? calloc((size_t)count + 1, sizeof *p->sums) : NULL;
    if (!p->done || !p->sums)
        return cli_refuse(
            EXIT_WORK, "out of memory: %s would have %llu bytes, and the list of its %llu slabs takes %llu bytes", path,
            (unsigned long long)p->layout.bytes, (unsigned long long)count, 9 * (unsigned long long)count);
    status = bake_growing_open(&p->file, path, &slab_answers, p);
    bake_fingerprint(plan, p->file.text);
    if (status == EXIT_DONE && resume == BAKE_REPEATS)
        status = check_old(p);
    const volume_piece *head = &p->layout.pieces[0];
    return status == EXIT_DONE ? bake_growing_take_over(&p->file, resume, head->bytes, head->size) : status;
}

/* ---- growing ------------------------------------------------------------------------------------------------------
 */

int bake_partial_record(bake_partial *p, uint64_t slab, uint64_t sum)
{
    const uint64_t at = slab - p->plan->begin;
    p->sums[at] = sum;
    int error = bake_journal_add(&p->file.journal, slab, sum);
    if (!error) {
        p->done_count += !p->done[at];
        p->done[at] = 1;
        /* The rows of a slab may be short pieces of the file, which its neighbours along x make whole. */
        if ((slab + 1) % p->plan->along[0] == 0)
            bake_growing_write_back(&p->file);
        error = bake_growing_flush(&p->file);
    }
    return error ? bake_growing_fail(&p->file, "written", error) : EXIT_DONE;
}

int bake_partial_put(bake_partial *p, uint64_t slab, const bake_slab *from)
{
    const int error = bake_slab_write(p->file.fd, &p->layout, p->plan, slab, from);
    return error ? bake_growing_fail(&p->file, "written", error)
                 : bake_partial_record(p, slab, bake_slab_checksum(p->plan, slab, from));
}

void bake_partial_progress(const bake_partial *p, progress *shown, uint64_t *done)
{
    const bake_plan *plan = p->plan;
    *done = 0;
    for (uint64_t s = plan->begin; s < plan->end; s++)
        *done += p->done[s - plan->begin] ? bake_plan_nodes(plan, s) : 0;
    progress_begin(shown, plan->kind->command->name, plan->kind->unit, *done, bake_plan_nodes_before(plan, plan->end));
    progress_is_unit(shown);
}

static int write_sums(const bake_partial *p)
{
    int error = 0;
    for (uint64_t s = 0; p->layout.sums_at && s < p->plan->end - p->plan->begin && !error; s++) {
        unsigned char sum[8];
        bake_put64(sum, p->sums[s]);
        error = cli_write_at(p->file.fd, sum, sizeof sum, p->layout.sums_at + 8 * s);
    }
    return error;
}

static int finish(void *self)
{
    bake_partial *p = self;
    const int error = write_sums(p);
    return error ? bake_growing_fail(&p->file, "flushed to disk", error)
                 : bake_growing_finish(&p->file, sum_of_sums(p));
}

void bake_partial_close(bake_partial *p)
{
    bake_growing_close(&p->file, p->done_count == 0);
    free(p->done);
    free(p->sums);
    volume_layout_free(&p->layout);
}
