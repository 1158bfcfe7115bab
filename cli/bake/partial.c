/* SPDX-License-Identifier: MIT */
/* See partial.h. What keeps a bake whole, whenever the process ends: the lock dies with the process; a slab's record
 * follows its data; and a resumed bake reads each finished slab again and believes its checksum, not the order in which
 * a disk wrote. */
#include "partial.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Data goes to disk so often, in seconds, but never for more than one part in so many of the time. */
enum { SYNC_EVERY = 2, SYNC_SHARE = 64, OPEN_TRIES = 16 };

static int fail(const bake_partial *p, const char *what, int error)
{
    return cli_refuse(EXIT_WORK, "%s.partial: cannot be %s: %s", p->shown, what, strerror(error));
}

void bake_partial_names(const char *out, char *partial, char *journal, size_t size)
{
    snprintf(partial, size, "%s.partial", out);
    snprintf(journal, size, "%s.journal", out);
}

/* ---- opening and locking ------------------------------------------------------------------------------------------
 */

static int find_place(bake_partial *p, const char *output)
{
    struct stat info;
    const int status = output_place_find(&p->place, output);
    if (status != EXIT_DONE)
        return status;
    snprintf(p->shown, sizeof p->shown, "%s", p->place.shown);
    if (p->place.folder < 0)
        return cli_refuse(EXIT_USAGE, "%s: a bake needs a regular file, because it grows in place", p->place.shown);
    if (strlen(p->place.name) + sizeof ".partial" > NAME_MAX + 1)
        return cli_refuse(EXIT_USAGE, "%s: the name is too long: with .partial it must have at most %d bytes",
                          p->place.shown, (int)NAME_MAX);
    bake_partial_names(p->place.name, p->name, p->journal_name, sizeof p->name);
    if (fstatat(p->place.folder, p->name, &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(info.st_mode))
        return cli_refuse(EXIT_USAGE, "%s.partial: is no regular file", p->shown);
    return EXIT_DONE;
}

static int open_in_folder(const bake_partial *p, const char *name, int flags)
{
    const mode_t mode = p->place.exists ? 0600 : 0666;
    return openat(p->place.folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | flags, mode);
}

/* Is the locked file still the one of that name? Its former owner may have renamed it meanwhile. */
static int is_in_place(const bake_partial *p)
{
    struct stat mine, there;
    return fstat(p->fd, &mine) == 0 && fstatat(p->place.folder, p->name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

/* Open and lock OUT.partial; `is_mine` says that it is new. */
static int lock_partial(bake_partial *p)
{
    for (int i = 0; i < OPEN_TRIES; i++) {
        p->fd = open_in_folder(p, p->name, 0);
        p->is_mine = p->fd < 0 && errno == ENOENT;
        if (p->is_mine)
            p->fd = open_in_folder(p, p->name, O_CREAT | O_EXCL);
        if (p->fd < 0 && p->is_mine && errno == EEXIST)
            continue; /* another process was faster */
        if (p->fd < 0)
            return fail(p, "opened", errno);
        if (flock(p->fd, LOCK_EX | LOCK_NB) != 0) {
            p->is_mine = 0;
            if (errno == EWOULDBLOCK)
                return cli_refuse(EXIT_USAGE, "%s.partial: is locked: another process is baking it", p->shown);
            cli_message("warning: %s.partial: cannot be locked here (%s): no other process may bake it", p->shown,
                        strerror(errno));
        }
        if (is_in_place(p))
            return EXIT_DONE;
        close(p->fd);
    }
    p->fd = -1;
    return fail(p, "locked", EBUSY);
}

static int open_journal(bake_partial *p)
{
    const int fd = open_in_folder(p, p->journal_name, O_CREAT);
    if (fd < 0)
        return cli_refuse(EXIT_WORK, "%s.journal: cannot be opened: %s", p->shown, strerror(errno));
    bake_journal_read(&p->journal, fd);
    return EXIT_DONE;
}

/* ---- room ---------------------------------------------------------------------------------------------------------
 */

/* Where space cannot be reserved. */
static int check_free_space(const bake_partial *p)
{
    struct statvfs info;
    const uint64_t bytes = p->layout.bytes;
    if (ftruncate(p->fd, (off_t)bytes) != 0)
        return fail(p, "made long enough", errno);
    if (fstatvfs(p->fd, &info) != 0)
        return EXIT_DONE;
    const uint64_t room = (uint64_t)info.f_bavail * info.f_frsize;
    struct stat now;
    const uint64_t held = fstat(p->fd, &now) == 0 ? (uint64_t)now.st_blocks * 512 : 0;
    if (room + held < bytes)
        return cli_refuse(EXIT_WORK, "%s.partial: needs %llu bytes, and %llu are free", p->shown,
                          (unsigned long long)bytes, (unsigned long long)(room + held));
    cli_message("%s.partial: this file system cannot reserve space; %llu bytes are needed and %llu are free now",
                p->shown, (unsigned long long)bytes, (unsigned long long)(room + held));
    return EXIT_DONE;
}

static int reserve(const bake_partial *p)
{
    const uint64_t bytes = p->layout.bytes;
    int failed;
    if (bytes > INT64_MAX)
        return fail(p, "made long enough", EFBIG);
    do
        failed = fallocate(p->fd, 0, 0, (off_t)bytes);
    while (failed != 0 && errno == EINTR);
    if (failed != 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
        return check_free_space(p);
    if (failed != 0)
        return cli_refuse(EXIT_WORK, "%s.partial: %llu bytes cannot be reserved: %s", p->shown,
                          (unsigned long long)bytes, strerror(errno));
    return ftruncate(p->fd, (off_t)bytes) == 0 ? EXIT_DONE : fail(p, "made long enough", errno);
}

static int write_pieces(const bake_partial *p)
{
    int error = 0;
    for (int i = 0; i < p->layout.piece_count && !error; i++)
        error = bake_write_at(p->fd, p->layout.pieces[i].bytes, p->layout.pieces[i].size, p->layout.pieces[i].at);
    return error ? fail(p, "written", error) : EXIT_DONE;
}

/* ---- a new one, and one to go on with -----------------------------------------------------------------------------
 */

/* What has no disk under it cannot be flushed. */
static int flush(int fd)
{
    int failed;
    do
        failed = fdatasync(fd);
    while (failed != 0 && errno == EINTR);
    return failed == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
}

/* The journal becomes valid last, so whatever is cut off before counts as nothing. */
static int start(bake_partial *p)
{
    p->is_mine = 1;
    int error = bake_journal_clear(&p->journal);
    if (!error && ftruncate(p->fd, 0) != 0)
        error = errno;
    if (!error && p->place.exists && !output_place_keep_access(&p->place, p->fd))
        error = errno;
    if (error)
        return fail(p, "begun", error);
    int status = reserve(p);
    if (status == EXIT_DONE)
        status = write_pieces(p);
    if (status != EXIT_DONE)
        return status;
    error = bake_journal_begin(&p->journal, p->text);
    if (!error)
        error = flush(p->fd);
    if (!error)
        error = flush(p->journal.fd);
    if (!error && p->place.flushable && fsync(p->place.folder) != 0 && errno != EINVAL && errno != ENOTSUP)
        error = errno;
    return error ? fail(p, "written", error) : EXIT_DONE;
}

/* Read the finished slabs again, and forget those that are not what was written. */
static int verify_slabs(bake_partial *p, int fd)
{
    bake_slab slab;
    progress shown;
    uint64_t read = 0;
    if (!bake_slab_alloc(p->plan, &slab))
        return cli_no_memory();
    progress_begin(&shown, "bake: reading finished slabs", "slabs", 0, p->done_count);
    for (uint64_t s = p->plan->begin; s < p->plan->end; s++) {
        const uint64_t at = s - p->plan->begin;
        if (!p->done[at])
            continue;
        if (bake_slab_read(fd, &p->layout, p->plan, s, &slab) != 0 ||
            bake_slab_checksum(p->plan, s, &slab) != p->sums[at]) {
            cli_message("%s.partial: slab %llu does not have its checksum, and is computed again", p->shown,
                        (unsigned long long)s);
            p->done[at] = 0;
        }
        progress_show(&shown, ++read);
    }
    progress_end(&shown);
    bake_slab_free(&slab);
    p->done_count = 0;
    for (uint64_t at = 0; at < p->plan->end - p->plan->begin; at++)
        p->done_count += p->done[at];
    return EXIT_DONE;
}

static int go_on(bake_partial *p)
{
    int complete;
    const uint64_t count = p->plan->end - p->plan->begin;
    p->done_count = bake_journal_records(&p->journal, p->done, p->sums, &complete);
    const uint64_t recorded = p->done_count;
    if (p->journal.size != p->journal.end && ftruncate(p->journal.fd, (off_t)p->journal.end) != 0)
        return fail(p, "continued", errno);
    int status = verify_slabs(p, p->fd);
    if (status == EXIT_DONE)
        status = reserve(p);
    if (status == EXIT_DONE)
        status = write_pieces(p);
    if (status == EXIT_DONE)
        cli_message("%s.partial: going on, %llu of %llu slabs are done%s", p->shown, (unsigned long long)p->done_count,
                    (unsigned long long)count, recorded > p->done_count ? " and have their checksums" : "");
    return status;
}

/* The partial file is gone: an earlier run may have renamed it, and not have come to an end. */
static int find_finished(bake_partial *p)
{
    int complete = 0, status = EXIT_DONE;
    if (!p->place.exists || (uint64_t)p->place.old.st_size != p->layout.bytes || strcmp(p->journal.text, p->text) != 0)
        return EXIT_DONE;
    p->done_count = bake_journal_records(&p->journal, p->done, p->sums, &complete);
    const int fd = complete ? openat(p->place.folder, p->place.name, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
    if (fd >= 0) {
        status = verify_slabs(p, fd);
        p->is_finished = status == EXIT_DONE && p->done_count == p->plan->end - p->plan->begin;
        close(fd);
    }
    if (!p->is_finished && status == EXIT_DONE) {
        memset(p->done, 0, (size_t)(p->plan->end - p->plan->begin));
        p->done_count = 0;
    }
    return status;
}

/* What to do about the files that are there. */
static int take_over(bake_partial *p, int resume)
{
    char words[BAKE_TEXT];
    int complete;
    if (p->is_mine || !p->journal.is_valid) {
        if (!p->is_mine)
            cli_message("%s.partial: has no valid journal, so the bake starts anew", p->shown);
        const int status = p->is_mine && p->journal.is_valid && resume ? find_finished(p) : EXIT_DONE;
        return status != EXIT_DONE || p->is_finished ? status : start(p);
    }
    if (!resume) {
        uint64_t done = 0, count = 0;
        uint8_t *found = NULL;
        if (p->journal.is_readable) {
            count = p->journal.plan.end - p->journal.plan.begin;
            found = calloc((size_t)count + 1, 1);
        }
        if (found)
            done = bake_journal_records(&p->journal, found, NULL, &complete);
        free(found);
        return cli_refuse(EXIT_USAGE,
                          "%s.partial: holds %llu of %llu slabs of an earlier bake: go on with --resume, or remove it",
                          p->shown, (unsigned long long)done, (unsigned long long)count);
    }
    if (bake_fingerprint_compare(p->journal.text, p->text, NULL, words, sizeof words) > 0)
        return cli_refuse(EXIT_USAGE, "%s.partial: is of another bake, which differs in: %s", p->shown, words);
    return go_on(p);
}

int bake_partial_open(bake_partial *p, const cli_options *options, const bake_plan *plan)
{
    const uint64_t count = plan->end - plan->begin;
    *p = (bake_partial){.plan = plan, .fd = -1, .place = {.folder = -1}, .journal = {.fd = -1}};
    bake_fingerprint(plan, p->text);
    int status = bake_lay_out(plan, options->output, &p->layout);
    if (status == EXIT_DONE)
        status = find_place(p, options->output);
    if (status != EXIT_DONE)
        return status;
    p->done = calloc((size_t)count + 1, 1);
    p->sums = count < SIZE_MAX / 8 - 1 ? calloc((size_t)count + 1, sizeof *p->sums) : NULL;
    if (!p->done || !p->sums)
        return cli_no_memory();
    status = lock_partial(p);
    if (status == EXIT_DONE)
        status = open_journal(p);
    if (status == EXIT_DONE)
        status = take_over(p, options->bake.resume);
    p->synced = cli_seconds();
    return status;
}

/* ---- growing ------------------------------------------------------------------------------------------------------
 */

/* A killed process loses nothing that was written; a power cut loses what was written since the last flush. */
static int flush_now_and_then(bake_partial *p)
{
    const double begin = cli_seconds();
    if (begin - p->synced < SYNC_EVERY || begin - p->synced < SYNC_SHARE * p->sync_cost)
        return 0;
    int error = flush(p->fd);
    if (!error)
        error = flush(p->journal.fd);
    p->synced = cli_seconds();
    p->sync_cost = p->synced - begin;
    return error;
}

int bake_partial_put(bake_partial *p, uint64_t slab, const bake_slab *from)
{
    const uint64_t at = slab - p->plan->begin;
    p->sums[at] = bake_slab_checksum(p->plan, slab, from);
    int error = bake_slab_write(p->fd, &p->layout, p->plan, slab, from);
    if (!error)
        error = bake_journal_add(&p->journal, slab, p->sums[at]);
    if (!error) {
        p->done_count += !p->done[at];
        p->done[at] = 1;
        error = flush_now_and_then(p);
    }
    return error ? bake_partial_stopped(p, fail(p, "written", error)) : EXIT_DONE;
}

static int write_sums(const bake_partial *p)
{
    int error = 0;
    for (uint64_t s = 0; p->layout.sums_at && s < p->plan->end - p->plan->begin && !error; s++) {
        unsigned char sum[8];
        bake_put64(sum, p->sums[s]);
        error = bake_write_at(p->fd, sum, sizeof sum, p->layout.sums_at + 8 * s);
    }
    return error;
}

int bake_partial_finish(bake_partial *p)
{
    int error = p->is_finished ? 0 : write_sums(p), status = EXIT_DONE;
    if (!error && !p->is_finished && p->place.exists && !output_place_keep_access(&p->place, p->fd))
        error = errno;
    if (!error && !p->is_finished) {
        /* Where there are no attributes of this kind, carom bake check is given the options. */
        (void)fsetxattr(p->fd, BAKE_ATTRIBUTE, p->text, strlen(p->text), 0);
        error = fsync(p->fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
    }
    if (!error && !p->is_finished)
        error = bake_journal_add(&p->journal, BAKE_JOURNAL_COMPLETE, 0);
    if (!error && !p->is_finished)
        error = flush(p->journal.fd);
    if (error)
        return bake_partial_stopped(p, fail(p, "flushed to disk", error));
    if (!p->is_finished) {
        if (renameat(p->place.folder, p->name, p->place.folder, p->place.name) != 0)
            return bake_partial_stopped(p, fail(p, "renamed", errno));
        status = output_place_settle(&p->place);
    }
    unlinkat(p->place.folder, p->journal_name, 0);
    return status;
}

int bake_partial_stopped(const bake_partial *p, int status)
{
    const uint64_t count = p->plan->end - p->plan->begin;
    cli_message("%s: %llu of %llu slabs are done; the same command with --resume goes on", p->shown,
                (unsigned long long)p->done_count, (unsigned long long)count);
    return status;
}

void bake_partial_close(bake_partial *p)
{
    if (p->is_mine && p->done_count == 0 && p->fd >= 0 && is_in_place(p)) {
        unlinkat(p->place.folder, p->name, 0);
        unlinkat(p->place.folder, p->journal_name, 0);
    }
    if (p->is_finished && p->fd >= 0 && is_in_place(p))
        unlinkat(p->place.folder, p->name, 0); /* made to hold the lock */
    if (p->fd >= 0)
        close(p->fd);
    if (p->journal.fd >= 0)
        close(p->journal.fd);
    free(p->done);
    free(p->sums);
    bake_layout_free(&p->layout);
    output_place_free(&p->place);
}
