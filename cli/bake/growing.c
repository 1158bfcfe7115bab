/* SPDX-License-Identifier: MIT */
/* See growing.h. The lock dies with the process, so a killed one leaves nothing that has to be removed by hand. */
#include "growing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Data goes to disk so often, in seconds, but never for more than one part in so many of the time. */
enum { SYNC_EVERY = 2, SYNC_SHARE = 128, OPEN_TRIES = 16 };
#define BEGIN_EVERY 0.1 /* seconds */

int bake_growing_fail(const bake_growing *g, const char *what, int error)
{
    return cli_refuse(EXIT_WORK, "%s.partial: cannot be %s: %s", g->shown, what, strerror(error));
}

void bake_growing_names(const char *out, char *partial, char *journal, size_t size)
{
    snprintf(partial, size, "%s.partial", out);
    snprintf(journal, size, "%s.journal", out);
}

/* ---- opening and locking ------------------------------------------------------------------------------------------
 */

static int find_place(bake_growing *g, const char *output)
{
    struct stat info;
    const int status = output_place_find(&g->place, output);
    if (status != EXIT_DONE)
        return status;
    snprintf(g->shown, sizeof g->shown, "%s", g->place.shown);
    if (g->place.folder < 0)
        return cli_refuse(EXIT_USAGE, "%s: a bake needs a regular file, because it grows in place", g->place.shown);
    if (strlen(g->place.name) + sizeof ".partial" > NAME_MAX + 1)
        return cli_refuse(EXIT_USAGE, "%s: the name is too long: with .partial it must have at most %d bytes",
                          g->place.shown, (int)NAME_MAX);
    bake_growing_names(g->place.name, g->name, g->journal_name, sizeof g->name);
    if (fstatat(g->place.folder, g->name, &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(info.st_mode))
        return cli_refuse(EXIT_USAGE, "%s.partial: is no regular file", g->shown);
    return EXIT_DONE;
}

static int open_in_folder(const bake_growing *g, const char *name, int flags)
{
    const mode_t mode = g->place.exists ? 0600 : 0666;
    return openat(g->place.folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | flags, mode);
}

/* Is the locked file still the one of that name? Its former owner may have renamed it meanwhile. */
static int is_in_place(const bake_growing *g)
{
    struct stat mine, there;
    return fstat(g->fd, &mine) == 0 && fstatat(g->place.folder, g->name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

/* Open and lock OUT.partial; `is_mine` says that it is new. */
static int lock_partial(bake_growing *g)
{
    for (int i = 0; i < OPEN_TRIES; i++) {
        g->fd = open_in_folder(g, g->name, 0);
        g->is_mine = g->fd < 0 && errno == ENOENT;
        if (g->is_mine)
            g->fd = open_in_folder(g, g->name, O_CREAT | O_EXCL);
        if (g->fd < 0 && g->is_mine && errno == EEXIST)
            continue; /* another process was faster */
        if (g->fd < 0)
            return bake_growing_fail(g, "opened", errno);
        if (flock(g->fd, LOCK_EX | LOCK_NB) != 0) {
            g->is_mine = 0;
            if (errno == EWOULDBLOCK)
                return cli_refuse(EXIT_USAGE, "%s.partial: is locked: another process is baking it", g->shown);
            cli_message("warning: %s.partial: cannot be locked here (%s): no other process may bake it", g->shown,
                        strerror(errno));
        }
        if (is_in_place(g))
            return EXIT_DONE;
        close(g->fd);
    }
    g->fd = -1;
    return bake_growing_fail(g, "locked", EBUSY);
}

static int open_journal(bake_growing *g)
{
    const int fd = open_in_folder(g, g->journal_name, O_CREAT);
    if (fd < 0)
        return cli_refuse(EXIT_WORK, "%s.journal: cannot be opened: %s", g->shown, strerror(errno));
    bake_journal_read(&g->journal, fd);
    return EXIT_DONE;
}

int bake_growing_open(bake_growing *g, const char *output)
{
    *g = (bake_growing){.fd = -1, .place = {.folder = -1}, .journal = {.fd = -1}};
    int status = find_place(g, output);
    if (status == EXIT_DONE)
        status = lock_partial(g);
    if (status == EXIT_DONE)
        status = open_journal(g);
    g->synced = g->begun = cli_seconds();
    return status;
}

/* ---- beginnings ---------------------------------------------------------------------------------------------------
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

int bake_growing_clear(bake_growing *g)
{
    g->is_mine = 1;
    int error = bake_journal_clear(&g->journal);
    if (!error && ftruncate(g->fd, 0) != 0)
        error = errno;
    if (!error && g->place.exists && !output_place_keep_access(&g->place, g->fd))
        error = errno;
    return error ? bake_growing_fail(g, "begun", error) : EXIT_DONE;
}

int bake_growing_begin(bake_growing *g)
{
    int error = bake_journal_begin(&g->journal, g->text);
    if (!error)
        error = flush(g->fd);
    if (!error)
        error = flush(g->journal.fd);
    if (!error && g->place.flushable && fsync(g->place.folder) != 0 && errno != EINVAL && errno != ENOTSUP)
        error = errno;
    return error ? bake_growing_fail(g, "written", error) : EXIT_DONE;
}

/* ---- growing and finishing ----------------------------------------------------------------------------------------
 */

void bake_growing_write_back(bake_growing *g)
{
    const double now = cli_seconds();
    if (now - g->begun < BEGIN_EVERY)
        return;
    (void)sync_file_range(g->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    g->begun = now;
}

int bake_growing_flush(bake_growing *g)
{
    const double begin = cli_seconds();
    if (begin - g->synced < SYNC_EVERY || begin - g->synced < SYNC_SHARE * g->sync_cost)
        return 0;
    int error = flush(g->fd);
    if (!error)
        error = flush(g->journal.fd);
    g->synced = cli_seconds();
    g->sync_cost = g->synced - begin;
    return error;
}

int bake_growing_compare(const bake_growing *g)
{
    char words[BAKE_TEXT];
    if (bake_fingerprint_compare(g->journal.text, g->text, NULL, words, sizeof words) == 0)
        return EXIT_DONE;
    return cli_refuse(EXIT_USAGE, "%s.partial: is of another bake, which differs in: %s", g->shown, words);
}

int bake_growing_finish_with(bake_growing *g, int fd, const char *name)
{
    int error = 0, status;
    if (g->place.exists && !output_place_keep_access(&g->place, fd))
        error = errno;
    if (!error) {
        /* Where there are no attributes of this kind, carom bake check is given the options. */
        (void)fsetxattr(fd, BAKE_ATTRIBUTE, g->text, strlen(g->text), 0);
        error = fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
    }
    if (!error)
        error = bake_journal_add(&g->journal, BAKE_JOURNAL_COMPLETE, 0);
    if (!error)
        error = flush(g->journal.fd);
    if (error)
        return bake_growing_fail(g, "flushed to disk", error);
    if (renameat(g->place.folder, name, g->place.folder, g->place.name) != 0)
        return bake_growing_fail(g, "renamed", errno);
    g->is_renamed = 1;
    if (fd != g->fd)
        bake_growing_drop(g);
    status = output_place_settle(&g->place);
    bake_growing_settle(g);
    return status;
}

int bake_growing_finish(bake_growing *g)
{
    return bake_growing_finish_with(g, g->fd, g->name);
}

void bake_growing_settle(const bake_growing *g)
{
    if (unlinkat(g->place.folder, g->journal_name, 0) != 0 && errno != ENOENT)
        cli_message("%s: is complete, but %s.journal cannot be removed: %s", g->shown, g->shown, strerror(errno));
}

void bake_growing_close(bake_growing *g, int is_empty)
{
    if (g->is_mine && is_empty && g->fd >= 0 && is_in_place(g)) {
        unlinkat(g->place.folder, g->name, 0);
        unlinkat(g->place.folder, g->journal_name, 0);
    }
    if (g->fd >= 0)
        close(g->fd);
    if (g->journal.fd >= 0)
        close(g->journal.fd);
    output_place_free(&g->place);
}

void bake_growing_drop(const bake_growing *g)
{
    if (g->fd >= 0 && is_in_place(g))
        unlinkat(g->place.folder, g->name, 0);
}
