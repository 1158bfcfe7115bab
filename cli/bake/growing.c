/* SPDX-License-Identifier: MIT */
#include "growing.h"
#include "part.h"
#include "side.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
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

static int find_place(bake_growing *g, const char *path)
{
    char shown[sizeof g->shown + 8];
    const int status = output_place_find(&g->place, path);
    if (status != EXIT_DONE)
        return status;
    snprintf(g->shown, sizeof g->shown, "%s", g->place.shown);
    if (g->place.folder < 0)
        return cli_refuse(EXIT_USAGE, "%s: a bake needs a regular file, because it grows in place", g->place.shown);
    if (strlen(g->place.name) + sizeof ".partial" > NAME_MAX + 1)
        return cli_refuse(EXIT_USAGE, "%s: the name is too long: with .partial it must have at most %d bytes",
                          g->place.shown, (int)NAME_MAX);
    bake_growing_names(g->place.name, g->name, g->journal_name, sizeof g->name);
    snprintf(shown, sizeof shown, "%s.partial", g->shown);
    return side_check(g->place.folder, g->name, shown);
}

static int open_in_folder(const bake_growing *g, const char *name, int flags)
{
    const mode_t mode = g->place.exists ? 0600 : 0666;
    return openat(g->place.folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | flags, mode);
}

static int is_in_place(const bake_growing *g)
{
    return side_is_in_place(g->place.folder, g->name, g->fd);
}

static int is_empty_file(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && info.st_size == 0;
}

/* Open and lock OUT.partial. Its former owner may have renamed or removed it between the two. */
static int lock_partial(bake_growing *g)
{
    for (int i = 0; i < OPEN_TRIES; i++) {
        g->fd = open_in_folder(g, g->name, 0);
        const int is_new = g->fd < 0 && errno == ENOENT;
        if (is_new)
            g->fd = open_in_folder(g, g->name, O_CREAT | O_EXCL);
        if (g->fd < 0 && is_new && errno == EEXIST)
            continue; /* another process was faster */
        if (g->fd < 0)
            return bake_growing_fail(g, "opened", errno);
        if (flock(g->fd, LOCK_EX | LOCK_NB) != 0) {
            if (errno == EWOULDBLOCK)
                return cli_refuse(EXIT_USAGE, "%s.partial: is locked: another process is baking it", g->shown);
            cli_message("warning: %s.partial: cannot be locked here (%s): no other process may bake it", g->shown,
                        strerror(errno));
        }
        if (is_in_place(g)) {
            g->is_mine = is_empty_file(g->fd);
            return EXIT_DONE;
        }
        close(g->fd);
    }
    g->fd = -1;
    return bake_growing_fail(g, "locked", EBUSY);
}

/* The name may be that of a user's own file. */
static int open_journal(bake_growing *g)
{
    char shown[sizeof g->shown + 8];
    snprintf(shown, sizeof shown, "%s.journal", g->shown);
    const int status = side_check(g->place.folder, g->journal_name, shown);
    if (status != EXIT_DONE)
        return status;
    const int fd = open_in_folder(g, g->journal_name, 0);
    if (fd < 0 && errno == ENOENT)
        return EXIT_DONE;
    if (fd < 0)
        return cli_refuse(EXIT_WORK, "%s: cannot be opened: %s", shown, strerror(errno));
    if (!bake_journal_is_caroms(fd)) {
        close(fd);
        return side_refuse(shown);
    }
    bake_journal_read(&g->journal, fd);
    return EXIT_DONE;
}

int bake_growing_open(bake_growing *g, const char *path, const bake_answers *answers, void *self)
{
    *g = (bake_growing){
        .answers = answers, .self = self, .fd = -1, .finished = -1, .place = {.folder = -1}, .journal = {.fd = -1}};
    int status = find_place(g, path);
    if (status == EXIT_DONE)
        status = lock_partial(g);
    if (status == EXIT_DONE) { /* OUT may have come meanwhile */
        g->place.exists = fstatat(g->place.folder, g->place.name, &g->place.old, 0) == 0;
        status = open_journal(g);
    }
    g->synced = g->begun = cli_seconds();
    return status;
}

/* ---- earlier runs -------------------------------------------------------------------------------------------------
 */

static int has_work(const bake_growing *g)
{
    return !g->is_mine && g->journal.is_valid;
}

/* An edited mesh, or another version of carom, of the same command. No bake of today goes on with that work. */
static int has_other_source(const bake_growing *g)
{
    char there[BAKE_NAME], here[BAKE_NAME];
    const char *a = g->journal.text, *b = g->text;
    return bake_text_take(&a, "carom", there) && bake_text_take(&b, "carom", here) &&
           (strcmp(there, here) != 0 ||
            (bake_text_take(&a, "what", there) && bake_text_take(&b, "what", here) && !strcmp(there, here) &&
             bake_text_take(&a, "mesh", there) && bake_text_take(&b, "mesh", here) && strcmp(there, here) != 0));
}

/* Another fingerprint is refused, unless it is to be begun anew. */
static int compare_texts(const bake_growing *g, int resume, int *is_other)
{
    char words[BAKE_TEXT];
    *is_other = bake_fingerprint_compare(g->journal.text, g->text, NULL, words, sizeof words) != 0;
    if (!*is_other)
        return EXIT_DONE;
    if (resume == BAKE_REPEATS && has_other_source(g)) {
        cli_message("%s.partial: is begun anew: it is of another bake, which differs in: %s", g->shown, words);
        return EXIT_DONE;
    }
    return cli_refuse(EXIT_USAGE,
                      "%s.partial: is of another bake, which differs in: %s; to begin anew, remove %s.partial",
                      g->shown, words, g->shown);
}

/* Without work of an earlier run, an OUT.partial that carom did not make is refused. */
static int check_partial(const bake_growing *g, const void *head, size_t size)
{
    char shown[sizeof g->shown + 8];
    if (g->is_mine)
        return EXIT_DONE;
    snprintf(shown, sizeof shown, "%s.partial", g->shown);
    if (!side_is_caroms(g->fd, head, size))
        return side_refuse(shown);
    cli_message("%s: has no valid journal, so the bake starts anew", shown);
    return EXIT_DONE;
}

static int open_old(const bake_growing *g)
{
    return g->place.exists ? openat(g->place.folder, g->place.name, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
}

/* OUT, if journal or attributes say that it is this bake's and complete, with that checksum; -1: it is not. The journal
 * says it until it is removed, and where there are no attributes. */
static int open_complete(const bake_growing *g, uint64_t *sum)
{
    char text[BAKE_TEXT];
    const int fd = open_old(g);
    if (fd < 0 ||
        (g->journal.is_valid && strcmp(g->journal.text, g->text) == 0 && bake_journal_complete(&g->journal, sum)) ||
        (bake_attribute(fd, text) && strcmp(text, g->text) == 0 && bake_sum_attribute(fd, sum)))
        return fd;
    close(fd);
    return -1;
}

/* OUT may be of another bake. */
static void report_old(const bake_growing *g)
{
    bake_plan plan;
    char text[BAKE_TEXT], words[BAKE_TEXT];
    const int fd = open_old(g);
    if (fd >= 0 && (path_text(fd, text) || bake_file_plan(fd, text, &plan)) &&
        bake_fingerprint_compare(text, g->text, NULL, words, sizeof words) > 0)
        cli_message("%s: is complete, of another bake, which differs in: %s; this one replaces it", g->shown, words);
    if (fd >= 0)
        close(fd);
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

/* A new file, so that a process which still holds the old one cannot take it for its own. Returns 0 or an errno. */
static int renew_journal(bake_growing *g)
{
    const int error = side_remove(g->place.folder, g->journal_name, g->journal.fd);
    if (error)
        return error;
    if (g->journal.fd >= 0)
        close(g->journal.fd);
    g->journal = (bake_journal){.fd = open_in_folder(g, g->journal_name, O_CREAT | O_EXCL)};
    if (g->journal.fd < 0)
        return errno;
    g->is_anew = 1;
    bake_set_attribute(g->journal.fd, g->text);
    return 0;
}

static int make_empty(bake_growing *g)
{
    g->is_mine = 1;
    int error = renew_journal(g);
    if (error)
        return cli_refuse(EXIT_WORK, "%s.journal: cannot be made anew: %s", g->shown, strerror(error));
    if (ftruncate(g->fd, 0) != 0)
        error = errno;
    bake_set_attribute(g->fd, g->text);
    if (!error && g->place.exists && !output_place_keep_access(&g->place, g->fd))
        error = errno;
    return error ? bake_growing_fail(g, "begun", error) : EXIT_DONE;
}

/* The journal becomes valid last, so an interruption before leaves nothing to go on with. */
static int begin(bake_growing *g)
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

/* ---- a new one, and one to go on with -------------------------------------------------------------------------- */

static int clear_others(bake_growing *g)
{
    return g->answers->clear ? g->answers->clear(g->self) : EXIT_DONE;
}

static int start(bake_growing *g)
{
    int status = clear_others(g);
    if (status != EXIT_DONE)
        return status;
    report_old(g);
    status = make_empty(g);
    if (status == EXIT_DONE && g->answers->start)
        status = g->answers->start(g->self);
    return status == EXIT_DONE ? begin(g) : status;
}

static int go_on(bake_growing *g, int resume)
{
    int is_other, status = compare_texts(g, resume, &is_other);
    if (status == EXIT_DONE && is_other)
        return start(g);
    if (status == EXIT_DONE)
        status = clear_others(g);
    return status == EXIT_DONE ? g->answers->go_on(g->self) : status;
}

/* With --resume: an earlier run may have done all. */
static int find_complete(bake_growing *g)
{
    uint64_t sum;
    const int fd = open_complete(g, &sum);
    if (fd < 0)
        return EXIT_DONE;
    const int status = g->answers->compare(g->self, fd, sum, &g->is_finished);
    if (status == EXIT_DONE && g->is_finished)
        g->finished = fd;
    else
        close(fd);
    if (status == EXIT_DONE && !g->is_finished)
        cli_message("%s: does not have its checksum, and is made anew", g->shown);
    return status;
}

int bake_growing_take_over(bake_growing *g, int resume, const void *head, size_t size)
{
    char words[BAKE_DONE_WORDS];
    if (has_work(g) && resume)
        return go_on(g, resume);
    if (has_work(g)) {
        g->answers->earlier(g->self, words);
        return cli_refuse(EXIT_USAGE, "%s.partial: holds %s of an earlier bake: go on with --resume, or remove it",
                          g->shown, words);
    }
    int status = check_partial(g, head, size);
    if (status == EXIT_DONE && resume)
        status = find_complete(g);
    return status != EXIT_DONE || g->is_finished ? status : start(g);
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

/* Give OUT its attributes and flush it, then record that all is there. Returns 0 or an errno. */
static int make_durable(bake_growing *g, int fd, uint64_t sum)
{
    if (g->place.exists && !output_place_keep_access(&g->place, fd))
        return errno;
    bake_set_attributes(fd, g->text, sum);
    if (fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP)
        return errno;
    const int error = bake_journal_add(&g->journal, BAKE_JOURNAL_COMPLETE, sum);
    return error ? error : flush(g->journal.fd);
}

/* OUT.partial has become OUT: own the names again, as a new run would. Returns 0 or an errno; EEXIST: another process
 * owns them. */
static int own_names(bake_growing *g)
{
    if (is_in_place(g))
        return 0;
    const int fd = open_in_folder(g, g->name, O_CREAT | O_EXCL);
    if (fd < 0)
        return errno;
    close(g->fd);
    g->fd = fd;
    return (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && is_in_place(g) ? 0 : EEXIST;
}

/* OUT is complete: the other files go, unless another process has begun to bake it meanwhile. OUT.partial goes last,
 * because its lock guards the journal. */
static void settle(bake_growing *g)
{
    int error = own_names(g);
    if (!error)
        error = side_remove(g->place.folder, g->journal_name, g->journal.fd);
    if (error != EEXIST)
        (void)side_remove(g->place.folder, g->name, g->fd);
    if (error && error != EEXIST)
        cli_message("%s: is complete, but %s.journal cannot be removed: %s", g->shown, g->shown, strerror(error));
}

int bake_growing_finish_with(bake_growing *g, int fd, const char *name, uint64_t sum)
{
    const int error = make_durable(g, fd, sum);
    if (error)
        return bake_growing_fail(g, "flushed to disk", error);
    if (!is_in_place(g) || !side_is_in_place(g->place.folder, name, fd)) {
        g->is_over = 1;
        return cli_refuse(EXIT_WORK, "%s: %s beside it was removed or replaced while the bake wrote it", g->shown,
                          name);
    }
    if (renameat(g->place.folder, name, g->place.folder, g->place.name) != 0)
        return bake_growing_fail(g, "renamed", errno);
    g->is_over = 1;
    if (fd != g->fd)
        (void)side_remove(g->place.folder, g->name, g->fd);
    const int status = output_place_settle(&g->place);
    settle(g);
    return status;
}

int bake_growing_finish(bake_growing *g, uint64_t sum)
{
    return bake_growing_finish_with(g, g->fd, g->name, sum);
}

int bake_growing_stopped(const bake_growing *g, int status)
{
    char words[BAKE_DONE_WORDS];
    g->answers->done(g->self, words);
    cli_message("%s: %s are done; the same command with --resume goes on", g->shown, words);
    return status;
}

int bake_growing_end(bake_growing *g)
{
    if (g->is_finished) {
        settle(g);
        cli_message("%s: is complete", g->shown);
        return EXIT_DONE;
    }
    const int status = g->answers->finish(g->self);
    return status == EXIT_DONE || g->is_over ? status : bake_growing_stopped(g, status);
}

void bake_growing_close(bake_growing *g, int is_empty)
{
    if (g->is_mine && is_empty && is_in_place(g)) {
        if (g->is_anew)
            (void)side_remove(g->place.folder, g->journal_name, g->journal.fd);
        (void)side_remove(g->place.folder, g->name, g->fd);
    }
    if (g->fd >= 0)
        close(g->fd);
    if (g->journal.fd >= 0)
        close(g->journal.fd);
    if (g->finished >= 0)
        close(g->finished);
    output_place_free(&g->place);
}
