/* SPDX-License-Identifier: MIT */
#include "path_file.h"
#include "part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 20, SLAB_POINTS = 1 << 8, SUM = 8 }; /* SUM: bytes of a part's checksum */
/* The first number of the record behind those of the chunks, when OUT.columns is about to be made. */
#define COLUMNS (UINT64_MAX - 1)

/* ---- checksums ----------------------------------------------------------------------------------------------------
 */

/* Of the bytes from .. to of the file, as it is read again. Returns 0 or an errno. */
static int sum_bytes(int fd, uint64_t from, uint64_t to, uint64_t *sum)
{
    int error = 0;
    unsigned char *piece = malloc(PIECE);
    if (!piece)
        return ENOMEM;
    while (from < to && !error) {
        const size_t size = to - from < PIECE ? (size_t)(to - from) : PIECE;
        error = cli_read_at(fd, piece, size, from);
        *sum = bake_checksum(piece, size, *sum);
        from += size;
    }
    free(piece);
    return error;
}

int path_file_sum(int fd, uint64_t bytes, uint64_t *sum)
{
    *sum = 0;
    return sum_bytes(fd, 0, bytes, sum);
}

/* The chunks whose records and bytes are whole, up to the first that is not. */
static path_done find_done(const bake_journal *j, int fd)
{
    path_done done = {0};
    uint64_t size[2], rest[2];
    while (bake_journal_record(j, 2 * done.chunks, size) && bake_journal_record(j, 2 * done.chunks + 1, rest) &&
           size[1] >= done.bytes) {
        uint64_t sum = size[0];
        if (sum_bytes(fd, done.bytes, size[1], &sum) != 0 || sum != rest[1])
            break;
        done = (path_done){done.chunks + 1, size[0], size[1], rest[0] != 0};
    }
    return done;
}

/* ---- a new one, and one to go on with ------------------------------------------------------------------------------
 */

/* Record 2 * chunks says that OUT.columns is this bake's; any other file of that name is the user's. */
static int check_columns(const path_file *p, const char *name)
{
    struct stat info;
    if (fstatat(p->file.place.folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return EXIT_DONE;
    return cli_refuse(EXIT_USAGE, "%s.columns: is there already, and the bake needs that name: remove it, or rename it",
                      p->file.shown);
}

static void columns_name(const path_file *p, char *name, size_t size)
{
    snprintf(name, size, "%s.columns", p->file.place.name); /* as long as .partial */
}

static int start(path_file *p)
{
    char name[sizeof p->file.name];
    columns_name(p, name, sizeof name);
    int status = p->is_hdf5 ? check_columns(p, name) : EXIT_DONE;
    if (status == EXIT_DONE)
        status = bake_growing_clear(&p->file);
    return status == EXIT_DONE ? bake_growing_begin(&p->file) : status;
}

static int go_on(path_file *p)
{
    bake_growing *g = &p->file;
    char name[sizeof g->name];
    uint64_t mark[2];
    p->done = find_done(&g->journal, g->fd);
    columns_name(p, name, sizeof name);
    if (bake_journal_record(&g->journal, 2 * p->done.chunks, mark) && mark[0] == COLUMNS)
        unlinkat(g->place.folder, name, 0);
    const int status = p->is_hdf5 ? check_columns(p, name) : EXIT_DONE;
    if (status != EXIT_DONE)
        return status;
    if (bake_journal_cut(&g->journal, 2 * p->done.chunks) != 0 || ftruncate(g->fd, (off_t)p->done.bytes) != 0 ||
        lseek(g->fd, (off_t)p->done.bytes, SEEK_SET) < 0)
        return bake_growing_fail(g, "continued", errno);
    cli_message("%s.partial: going on, %llu points are done", g->shown, (unsigned long long)p->done.points);
    return EXIT_DONE;
}

/* The partial file is gone: an earlier run may have renamed it, and not have come to an end. */
static void find_finished(path_file *p)
{
    bake_growing *g = &p->file;
    uint64_t last[2];
    if (!g->place.exists || strcmp(g->journal.text, g->text) != 0)
        return;
    const int fd = openat(g->place.folder, g->place.name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (p->is_hdf5) { /* which got its attribute when it was complete */
        char there[BAKE_TEXT];
        p->is_finished = fd >= 0 && bake_attribute(fd, there) && strcmp(there, g->text) == 0;
        close(fd);
        return;
    }
    const path_done done = fd >= 0 ? find_done(&g->journal, fd) : (path_done){0};
    p->is_finished = fd >= 0 && bake_journal_record(&g->journal, 2 * done.chunks, last) &&
                     last[0] == BAKE_JOURNAL_COMPLETE &&
                     done.bytes + (p->is_part ? SUM : 0) == (uint64_t)g->place.old.st_size;
    if (fd >= 0)
        close(fd);
}

static int take_over(path_file *p, int resume)
{
    bake_growing *g = &p->file;
    if (g->is_mine || !g->journal.is_valid) {
        if (!g->is_mine)
            cli_message("%s.partial: has no valid journal, so the bake starts anew", g->shown);
        if (g->is_mine && g->journal.is_valid && resume)
            find_finished(p);
        return p->is_finished ? EXIT_DONE : start(p);
    }
    if (!resume)
        return cli_refuse(EXIT_USAGE,
                          "%s.partial: holds %llu points of an earlier bake: go on with --resume, or remove it",
                          g->shown, (unsigned long long)find_done(&g->journal, g->fd).points);
    const int status = bake_growing_compare(g);
    return status == EXIT_DONE ? go_on(p) : status;
}

int path_file_open(path_file *p, const cli_options *options, const char *text)
{
    *p = (path_file){.output = options->output,
                     .is_part = options->bake.is_part,
                     .is_hdf5 = !options->bake.is_part && cli_is_hdf5(options->output)};
    int status = bake_growing_open(&p->file, options->output);
    snprintf(p->file.text, sizeof p->file.text, "%s", text);
    if (status == EXIT_DONE)
        status = take_over(p, options->bake.resume);
    return status == EXIT_DONE ? output_on(&p->out, p->file.fd, p->file.shown) : status;
}

/* ---- growing ------------------------------------------------------------------------------------------------------
 */

int path_file_put(path_file *p, uint64_t points, int is_hit)
{
    bake_growing *g = &p->file;
    uint64_t sum = points;
    output_flush(&p->out);
    const off_t end = p->out.error ? -1 : lseek(g->fd, 0, SEEK_CUR);
    int error = p->out.error ? p->out.error : end < 0 ? errno : 0;
    if (!error)
        error = sum_bytes(g->fd, p->done.bytes, (uint64_t)end, &sum);
    if (!error)
        error = bake_journal_add(&g->journal, points, (uint64_t)end);
    if (!error)
        error = bake_journal_add(&g->journal, is_hit != 0, sum);
    if (error)
        return path_file_stopped(p, bake_growing_fail(g, "written", error));
    p->done = (path_done){p->done.chunks + 1, points, (uint64_t)end, is_hit};
    bake_growing_write_back(g);
    error = bake_growing_flush(g);
    return error ? path_file_stopped(p, bake_growing_fail(g, "written", error)) : EXIT_DONE;
}

/* Behind all rows. */
static int write_sum(const path_file *p)
{
    uint64_t sum;
    unsigned char bytes[8];
    const int error = path_file_sum(p->file.fd, p->done.bytes, &sum);
    bake_put64(bytes, sum);
    return error ? error : cli_write_at(p->file.fd, bytes, sizeof bytes, p->done.bytes);
}

int path_file_is_packed(const path_file *p)
{
    return p->is_part || p->is_hdf5;
}

/* The rows of OUT.partial, which is as a part that has all of them, as columns of another file. */
static int write_columns(const path_file *p, int fd)
{
    bake_part_file part = {.path = p->output, .fd = p->file.fd, .part = 1, .parts = 1, .bytes = p->done.bytes + SUM};
    output out;
    snprintf(part.text, sizeof part.text, "%s", p->file.text);
    int status = output_on(&out, fd, p->output);
    if (status == EXIT_DONE)
        status = path_part_write(&out, &part, 1);
    if (status == EXIT_DONE && out.error)
        status = cli_refuse(EXIT_WORK, "%s: cannot be written: %s", p->output, strerror(out.error));
    free(out.buffer);
    return status;
}

/* An interruption leaves OUT.partial as it is, and a piece of OUT.columns that the next run writes anew. */
static int finish_hdf5(path_file *p)
{
    bake_growing *g = &p->file;
    char name[sizeof g->name];
    columns_name(p, name, sizeof name);
    int status = check_columns(p, name);
    if (status != EXIT_DONE)
        return status;
    int error = bake_journal_add(&g->journal, COLUMNS, 0);
    if (!error && fdatasync(g->journal.fd) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
        error = errno;
    const int fd = error ? -1
                         : openat(g->place.folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY,
                                  g->place.exists ? 0600 : 0666);
    if (fd < 0) {
        error = error ? error : errno;
        (void)bake_journal_cut(&g->journal, 2 * p->done.chunks);
        return cli_refuse(EXIT_WORK, "%s.columns: cannot be made: %s", g->shown, strerror(error));
    }
    status = write_columns(p, fd);
    if (status == EXIT_DONE)
        status = bake_growing_finish_with(g, fd, name);
    if (!g->is_renamed) {
        unlinkat(g->place.folder, name, 0);
        (void)bake_journal_cut(&g->journal, 2 * p->done.chunks);
    }
    close(fd);
    return status;
}

int path_file_finish(path_file *p)
{
    if (p->is_finished) {
        bake_growing_settle(&p->file);
        return EXIT_DONE;
    }
    const int error = p->is_part ? write_sum(p) : 0;
    const int status = error        ? bake_growing_fail(&p->file, "flushed to disk", error)
                       : p->is_hdf5 ? finish_hdf5(p)
                                    : bake_growing_finish(&p->file);
    return status == EXIT_DONE || p->file.is_renamed ? status : path_file_stopped(p, status);
}

int path_file_stopped(const path_file *p, int status)
{
    cli_message("%s: %llu points are done; the same command with --resume goes on", p->file.shown,
                (unsigned long long)p->done.points);
    return status;
}

void path_file_close(path_file *p)
{
    if (p->is_finished)
        bake_growing_drop(&p->file);
    bake_growing_close(&p->file, p->done.chunks == 0);
    free(p->out.buffer);
}

/* ---- status -------------------------------------------------------------------------------------------------------
 */

/* The fingerprint's items but the first two, which are carom's version and `what path`. */
static void put_items(output *out, const char *text)
{
    for (const char *line = strstr(text, "\nwhat path") + strlen("\nwhat path"); line[0] == '\n' && line[1] != '\0';) {
        const size_t length = strcspn(line + 1, "\n");
        output_format(out, " --%.*s", (int)length, line + 1);
        line += 1 + length;
    }
}

static uint64_t slabs_of(uint64_t points)
{
    return (points + SLAB_POINTS - 1) / SLAB_POINTS;
}

/* Of the points of a part: a path that goes on behind them, and the hash, need those that follow, too. */
static uint64_t slabs_done(uint64_t points, uint64_t begin, uint64_t end)
{
    const uint64_t slabs = (points <= begin ? 0 : points < end ? points - begin : end - begin) / SLAB_POINTS;
    const uint64_t all = slabs_of(end - begin);
    return slabs < all ? slabs : all > 0 ? all - 1 : 0;
}

int path_status(const char *text, const path_done *done)
{
    unsigned long long total = 0, part = 0, parts = 0;
    const char *points = strstr(text, "\npoints "), *share = strstr(text, "\npart ");
    output out;
    if (!strstr(text, "\nwhat path\n") || !points || sscanf(points, "\npoints %llu", &total) != 1 || !share ||
        sscanf(share, "\npart %llu/%llu", &part, &parts) != 2 || part < 1 || part > parts)
        return -1;
    const int status = output_open(&out, NULL);
    if (status != EXIT_DONE)
        return status;
    const uint64_t begin = bake_share(total, part - 1, parts), end = bake_share(total, part, parts);
    const uint64_t all = slabs_of(end - begin);
    const uint64_t finished = done->points >= total ? all : slabs_done(done->points, begin, end);
    const uint64_t percent = all > 0 ? (uint64_t)(100.0 * (double)finished / (double)all) : 100;
    output_format(&out, "%llu/%llu slabs %llu%% %llu bytes path", (unsigned long long)finished, (unsigned long long)all,
                  (unsigned long long)percent, (unsigned long long)done->bytes);
    put_items(&out, text);
    output_char(&out, '\n');
    return output_close(&out, EXIT_DONE);
}

int path_file_status(const bake_journal *j, int fd)
{
    const path_done done = find_done(j, fd);
    return path_status(j->text, &done);
}
