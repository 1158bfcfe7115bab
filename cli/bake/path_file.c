/* SPDX-License-Identifier: MIT */
#include "path_file.h"
#include "part.h"
#include "path.h"
#include "side.h"

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

/* The sum goes on over the bytes up to `end`; for as many as are whole pieces, unless the file ends there. */
static int sum_more(int fd, uint64_t end, int is_end, path_sum *s)
{
    const uint64_t whole = is_end ? end : end - (end - s->at) % PIECE;
    const int error = sum_bytes(fd, s->at, whole, &s->sum);
    s->at = whole;
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

static void columns_name(const path_file *p, char *name, size_t size)
{
    snprintf(name, size, "%s.columns", p->file.place.name); /* as long as .partial */
}

/* Does the journal say that OUT.columns is this bake's? Records behind one that was lost count too. */
static int has_columns_record(const bake_journal *j)
{
    uint64_t record[2];
    const uint64_t records = j->is_valid ? bake_journal_record_count(j) : 0;
    for (uint64_t i = 0; i < records; i++)
        if (bake_journal_record(j, i, record) && record[0] == COLUMNS)
            return 1;
    return 0;
}

/* A piece of OUT.columns that an interruption left is made anew; a user's file of that name is refused. */
static int clear_columns(void *self)
{
    const path_file *p = self;
    char name[sizeof p->file.name], shown[sizeof p->file.shown + 8];
    columns_name(p, name, sizeof name);
    snprintf(shown, sizeof shown, "%s.columns", p->file.shown);
    int status = p->is_columns ? side_check(p->file.place.folder, name, shown) : EXIT_DONE;
    const int fd = p->is_columns && status == EXIT_DONE
                       ? openat(p->file.place.folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY)
                       : -1;
    if (fd < 0)
        return status != EXIT_DONE || !p->is_columns || errno == ENOENT ? status : side_refuse(shown);
    if (!side_is_caroms(fd, NULL, 0) && !has_columns_record(&p->file.journal))
        status = side_refuse(shown);
    const int error = status == EXIT_DONE ? side_remove(p->file.place.folder, name, fd) : 0;
    close(fd);
    return error ? cli_refuse(EXIT_WORK, "%s: cannot be removed: %s", shown, strerror(error)) : status;
}

static int go_on(void *self)
{
    path_file *p = self;
    bake_growing *g = &p->file;
    p->done = find_done(&g->journal, g->fd);
    if (bake_journal_cut(&g->journal, 2 * p->done.chunks) != 0 || ftruncate(g->fd, (off_t)p->done.bytes) != 0 ||
        lseek(g->fd, (off_t)p->done.bytes, SEEK_SET) < 0)
        return bake_growing_fail(g, "continued", errno);
    cli_message("%s.partial: going on, %llu points are done", g->shown, (unsigned long long)p->done.points);
    return EXIT_DONE;
}

static int compare(void *self, int fd, uint64_t wanted, int *is_same)
{
    const path_file *p = self;
    uint64_t sum;
    *is_same = path_file_sum(fd, (uint64_t)p->file.place.old.st_size, &sum) == 0 && sum == wanted;
    return EXIT_DONE;
}

static void put_points(uint64_t points, char words[BAKE_DONE_WORDS])
{
    snprintf(words, BAKE_DONE_WORDS, "%llu points", (unsigned long long)points);
}

static void earlier(const void *self, char words[BAKE_DONE_WORDS])
{
    const bake_growing *g = &((const path_file *)self)->file;
    put_points(find_done(&g->journal, g->fd).points, words);
}

static void done(const void *self, char words[BAKE_DONE_WORDS])
{
    put_points(((const path_file *)self)->done.points, words);
}

static int finish(void *self);
static const bake_answers row_answers = {
    .clear = clear_columns, .go_on = go_on, .compare = compare, .finish = finish, .done = done, .earlier = earlier};

static int take_over(path_file *p, int resume)
{
    bake_growing *g = &p->file;
    const char *names = path_names(strstr(g->text, "\nhits any\n") ? PATH_ANY : PATH_FIRST);
    unsigned char header[BAKE_PART_HEADER];
    return path_file_is_packed(p) ? bake_growing_take_over(g, resume, header, bake_part_header(g->text, header))
                                  : bake_growing_take_over(g, resume, names, strlen(names));
}

int path_file_open(path_file *p, const bake_request *options, const char *text)
{
    *p = (path_file){.output = options->common.output,
                     .is_part = options->bake.is_part,
                     .is_columns = !options->bake.is_part && path_is_columns(options->common.output)};
    int status = bake_growing_open(&p->file, options->common.output, &row_answers, p);
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
        return bake_growing_stopped(g, bake_growing_fail(g, "written", error));
    p->done = (path_done){p->done.chunks + 1, points, (uint64_t)end, is_hit};
    bake_growing_write_back(g);
    error = sum_more(g->fd, p->done.bytes, 0, &p->sum);
    if (!error)
        error = bake_growing_flush(g);
    return error ? bake_growing_stopped(g, bake_growing_fail(g, "written", error)) : EXIT_DONE;
}

/* Behind all rows of a part. Returns 0 or an errno. */
static int write_sum(const path_file *p)
{
    path_sum rows = p->sum;
    unsigned char bytes[SUM];
    const int error = sum_more(p->file.fd, p->done.bytes, 1, &rows);
    bake_put64(bytes, rows.sum);
    return error ? error : cli_write_at(p->file.fd, bytes, SUM, p->done.bytes);
}

int path_file_is_packed(const path_file *p)
{
    return p->is_part || p->is_columns;
}

/* The rows of OUT.partial, which is as a part that has all of them, as columns of another file. */
static int write_columns(const path_file *p, int fd)
{
    bake_part_file part = {.path = p->output, .fd = p->file.fd, .part = 1, .parts = 1, .bytes = p->done.bytes + SUM};
    output out;
    snprintf(part.text, sizeof part.text, "%s", p->file.text);
    int status = output_on(&out, fd, p->output);
    out.place.folder = p->file.place.folder; /* for a file without a name */
    if (status == EXIT_DONE)
        status = path_part_write(&out, &part, 1);
    if (status == EXIT_DONE && out.error)
        status = cli_refuse(EXIT_WORK, "%s: cannot be written: %s", p->output, strerror(out.error));
    free(out.buffer);
    return status;
}

/* OUT.columns, of which the journal knows first. Returns a descriptor, or -1 with the message printed. */
static int make_columns(path_file *p, const char *name)
{
    bake_growing *g = &p->file;
    int error = bake_journal_add(&g->journal, COLUMNS, 0);
    if (!error && fdatasync(g->journal.fd) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
        error = errno;
    const int fd = error ? -1
                         : openat(g->place.folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY,
                                  g->place.exists ? 0600 : 0666);
    if (fd < 0)
        cli_message("%s.columns: cannot be made: %s", g->shown, strerror(error ? error : errno));
    else
        bake_set_attribute(fd, g->text);
    return fd;
}

static int finish_columns(path_file *p, int fd, const char *name)
{
    struct stat info;
    uint64_t sum = 0;
    const int status = write_columns(p, fd);
    if (status != EXIT_DONE)
        return status;
    const int error = fstat(fd, &info) != 0 ? errno : path_file_sum(fd, (uint64_t)info.st_size, &sum);
    return error ? cli_refuse(EXIT_WORK, "%s.columns: cannot be read: %s", p->file.shown, strerror(error))
                 : bake_growing_finish_with(&p->file, fd, name, sum);
}

/* An interruption leaves OUT.partial as it is, and a piece of OUT.columns that the next run writes anew. */
static int finish_as_columns(path_file *p)
{
    bake_growing *g = &p->file;
    char name[sizeof g->name];
    columns_name(p, name, sizeof name);
    int status = clear_columns(p);
    if (status != EXIT_DONE)
        return status;
    const int fd = make_columns(p, name);
    status = fd < 0 ? EXIT_WORK : finish_columns(p, fd, name);
    if (!g->is_over) {
        (void)side_remove(g->place.folder, name, fd);
        (void)bake_journal_cut(&g->journal, 2 * p->done.chunks);
    }
    if (fd >= 0)
        close(fd);
    return status;
}

static int finish_rows(path_file *p)
{
    const uint64_t bytes = p->done.bytes + (p->is_part ? SUM : 0);
    int error = p->is_part ? write_sum(p) : 0;
    if (!error)
        error = sum_more(p->file.fd, bytes, 1, &p->sum);
    return error ? bake_growing_fail(&p->file, "flushed to disk", error) : bake_growing_finish(&p->file, p->sum.sum);
}

static int finish(void *self)
{
    path_file *p = self;
    return p->is_columns ? finish_as_columns(p) : finish_rows(p);
}

void path_file_close(path_file *p)
{
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
