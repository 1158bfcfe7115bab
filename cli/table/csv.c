/* SPDX-License-Identifier: MIT */
/* The file, its header and its chunks; every refusal with file, line and column. Lines that are rows are read by
 * csv_lines.c. What it leaves is read here, line by line: the malformed row that is then refused, empty lines, and a
 * last line without an end. */
#include "csv_reader.h"
#include "cli/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- messages ---------------------------------------------------------------------------------------------- */

void csv_show(const char *text, size_t length, char out[CSV_SHOWN])
{
    const size_t n = text_cut(text, length, CSV_SHOWN - 4);
    memcpy(out, text, n);
    snprintf(out + n, 4, "%s", length > n ? "..." : "");
}

static int refuse(const csv_reader *r, const char *column, const char *expected, const char *got, size_t got_length)
{
    char shown[CSV_SHOWN], name[CSV_SHOWN];
    csv_show(got, got_length, shown);
    csv_show(column, strlen(column), name);
    return cli_refuse(EXIT_USAGE, "%s:%llu: column %s: expected %s, got %s", r->path, (unsigned long long)r->line, name,
                      expected, shown);
}

static int refuse_text(const csv_reader *r, const char *column, const char *expected, const char *text, size_t length)
{
    enum { LONG = CSV_SHOWN - 10 };
    char quoted[CSV_SHOWN + 4], shown[CSV_SHOWN];
    if (length == 0)
        return refuse(r, column, expected, "an empty field", 14);
    if (memchr(text, 0, length))
        return refuse(r, column, expected, "a NUL byte", 10);
    csv_show(text, length > LONG ? text_cut(text, length, LONG) : length, shown);
    int n = snprintf(quoted, sizeof quoted, "'%s%s'", shown, length > LONG ? "..." : "");
    return refuse(r, column, expected, quoted, (size_t)n);
}

/* ---- lines ------------------------------------------------------------------------------------------------- */

/* Make room behind the unread bytes, which are the beginning of a line. */
static int make_room(csv_reader *r)
{
    memmove(r->buffer, r->buffer + r->begin, r->end - r->begin);
    r->end -= r->begin;
    r->begin = 0;
    if (r->end < r->capacity)
        return EXIT_DONE;
    if (r->capacity >= CSV_LINE_MAX) {
        char expected[64];
        snprintf(expected, sizeof expected, "a line of at most %d bytes", CSV_LINE_MAX);
        return refuse(r, r->field_count ? r->names[0] : r->columns[0].name, expected, "a longer one", 12);
    }
    const size_t capacity = r->capacity < CSV_LINE_MAX / 2 ? 2 * r->capacity : CSV_LINE_MAX;
    char *larger = cli_resize(r->buffer, capacity, 1);
    if (!larger)
        return cli_no_memory();
    r->buffer = larger;
    r->capacity = capacity;
    return EXIT_DONE;
}

/* What there is to be read, without waiting for more of it. */
static int read_once(csv_reader *r)
{
    ssize_t got;
    do
        got = read(r->fd, r->buffer + r->end, r->capacity - r->end);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be read: %s", r->path, strerror(errno));
    r->end += (size_t)got;
    r->taken += (uint64_t)got;
    r->at_end = got == 0;
    return EXIT_DONE;
}

/* Read until the buffer is full or has the last of the file: of a pipe a read gives little. */
static int fill(csv_reader *r)
{
    int status = make_room(r);
    while (status == EXIT_DONE && r->end < r->capacity && !r->at_end)
        status = read_once(r);
    return status;
}

/* The line that `newline`, or without one the file, ends; without its end. A CR belongs to the end only in front of an
 * LF. */
static char *take_line(csv_reader *r, const char *newline, size_t *length)
{
    char *const line = r->buffer + r->begin;
    const size_t n = newline ? (size_t)(newline - line) : r->end - r->begin;
    r->begin += n + (newline != NULL);
    *length = newline && n > 0 && line[n - 1] == '\r' ? n - 1 : n;
    return line;
}

/* ---- header ------------------------------------------------------------------------------------------------ */

void csv_trim(const char **text, size_t *length)
{
    while (*length > 0 && (**text == ' ' || **text == '\t')) {
        ++*text;
        --*length;
    }
    while (*length > 0 && ((*text)[*length - 1] == ' ' || (*text)[*length - 1] == '\t'))
        --*length;
}

/* The quote that ends a name in quotes; NULL: it is none. Two quotes within it are one of the name. */
static const char *closing_quote(const char *text, const char *end)
{
    if (text == end || *text != '"')
        return NULL;
    for (const char *at = text + 1; at < end && (at = memchr(at, '"', (size_t)(end - at))) != NULL; at += 2)
        if (at + 1 == end || at[1] != '"')
            return at;
    return NULL;
}

/* The comma, or the end of the line, behind the name at `text`. R and others write names in quotes, in which a comma
 * may stand. */
static const char *end_of_name(const char *text, const char *end)
{
    size_t length = (size_t)(end - text);
    const char *name = text, *quote, *comma = memchr(text, ',', length);
    csv_trim(&name, &length);
    quote = closing_quote(name, end);
    if (quote) {
        const char *behind = quote + 1;
        while (behind < end && (*behind == ' ' || *behind == '\t'))
            behind++;
        if (behind == end || *behind == ',')
            return behind;
    }
    return comma ? comma : end;
}

/* Enter one header field: remember its name, and its column if it is ours. */
static int enter_field(csv_reader *r, const char *text, size_t length)
{
    csv_trim(&text, &length);
    if (memchr(text, 0, length))
        return refuse_text(r, "(header)", "a name", text, length);
    char *name = malloc(length + 1);
    if (!name)
        return cli_no_memory();
    const int is_quoted = length > 1 && closing_quote(text, text + length) == text + length - 1;
    size_t used = 0;
    for (size_t i = (size_t)is_quoted; i < length - (size_t)is_quoted; i++) {
        name[used++] = text[i];
        i += is_quoted && text[i] == '"';
    }
    name[used] = '\0';
    size_t field = r->field_count++;
    r->names[field] = name;
    r->fields[field] = NULL;
    for (size_t i = 0; i < r->count; i++) {
        table_column *column = &r->columns[i];
        if (strcmp(column->name, name))
            continue;
        if (column->present)
            return refuse(r, name, "once in the header", "it twice", 8);
        column->present = 1;
        r->fields[field] = column;
    }
    return EXIT_DONE;
}

/* Required columns are there, groups are whole; else say what is missing beside what was found. */
static int check_columns(const csv_reader *r)
{
    char found[TABLE_NAMES] = "", more[TABLE_NAMES], name[CSV_SHOWN];
    size_t used = 0;
    const table_column *first = table_missing(r->columns, r->count, more);
    if (!first)
        return EXIT_DONE;
    for (size_t i = 0; i < r->field_count; i++) {
        csv_show(r->names[i], strlen(r->names[i]), name);
        if (!table_add_name(found, &used, name))
            break;
    }
    return cli_refuse(EXIT_USAGE, "%s:%llu: column %s: expected in the header%s, got %zu column%s: %s%s%s", r->path,
                      (unsigned long long)r->line, first->name,
                      first->group ? " together with the others of its kind" : "", r->field_count,
                      r->field_count == 1 ? "" : "s", found, more[0] ? "; also missing: " : "", more);
}

static int read_header(csv_reader *r)
{
    const char *newline;
    size_t length;
    int status = EXIT_DONE;
    r->line = 1;
    while (status == EXIT_DONE && !(newline = memchr(r->buffer, '\n', r->end)) && !r->at_end) {
        status = make_room(r);
        if (status == EXIT_DONE)
            status = read_once(r);
    }
    if (status != EXIT_DONE)
        return status;
    const int is_empty = r->end == 0;
    const char *text = take_line(r, newline, &length);
    if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
        text += 3;
        length -= 3;
    }
    if (length == 0)
        return refuse(r, r->columns[0].name, "a header line that names the columns",
                      is_empty ? "an empty file" : "an empty line", 13);
    size_t fields = 1;
    for (size_t i = 0; i < length; i++)
        fields += text[i] == ',';
    r->fields = cli_alloc(fields, sizeof *r->fields);
    r->names = cli_alloc(fields, sizeof *r->names);
    if (!r->fields || !r->names)
        return cli_no_memory();
    for (const char *end = text + length;;) {
        const char *behind = end_of_name(text, end);
        status = enter_field(r, text, (size_t)(behind - text));
        if (status != EXIT_DONE || behind == end)
            return status != EXIT_DONE ? status : check_columns(r);
        text = behind + 1;
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------- */

/* Such rows are answered, as invalid, and without a word that would look like a fault of the query. */
static void report_beyond(const csv_reader *r)
{
    const csv_beyond *b = &r->beyond;
    if (b->rows > 0 && !r->again)
        cli_message("%s:%llu: column %s: %s is beyond binary32 (3.4e38), which makes the row invalid; %llu row%s %s so",
                    r->path, (unsigned long long)b->first + 2, b->column, b->text, (unsigned long long)b->rows,
                    b->rows == 1 ? "" : "s", b->rows == 1 ? "is" : "are");
}

static int refuse_field(const csv_reader *r, size_t field, const char *expected, const char *text, size_t length)
{
    if (r->fields[field])
        csv_trim(&text, &length);
    return refuse_text(r, r->names[field], expected, text, length);
}

static int refuse_length(const csv_reader *r, size_t got)
{
    char expected[64], found[32];
    snprintf(expected, sizeof expected, "a row of %zu fields as in the header", r->field_count);
    int n = snprintf(found, sizeof found, "%zu", got);
    return refuse(r, r->names[got < r->field_count ? got : r->field_count - 1], expected, found, (size_t)n);
}

/* The length is judged first: a missing comma would otherwise be reported as a wrong number. */
static int read_row(csv_reader *r, const char *text, size_t length)
{
    const char *const end = text + length;
    size_t fields = 1;
    for (const char *p = text; (p = memchr(p, ',', (size_t)(end - p))) != NULL; p++)
        fields++;
    if (fields != r->field_count || length == 0)
        return refuse_length(r, length == 0 ? 0 : fields);
    if (!table_grow(r->columns, r->count, &r->limits, &r->room, r->rows + 1))
        return cli_no_memory();
    for (size_t field = 0; field < fields; field++) {
        const table_column *column = r->fields[field];
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const size_t size = (size_t)((comma ? comma : end) - text);
        const char *expected = column                  ? csv_take_field(r, &r->beyond, column, r->rows, text, size)
                               : memchr(text, 0, size) ? "text"
                                                       : NULL;
        if (expected)
            return refuse_field(r, field, expected, text, size);
        text += size + 1;
    }
    r->rows++;
    return EXIT_DONE;
}

/* Empty lines are tolerated only behind the last row; in front of one they are rows that are too short, and the first
 * of them is where the next row was to be. */
static int read_odd_line(csv_reader *r, const char *newline)
{
    size_t length;
    const char *text = take_line(r, newline, &length);
    r->line = r->first + r->rows + 2;
    if (length == 0)
        r->empty = 1;
    else
        return r->empty ? refuse_length(r, 0) : read_row(r, text, length);
    return EXIT_DONE;
}

static int read_more(csv_reader *r, uint64_t most)
{
    const char *unread = r->buffer + r->begin;
    const char *last = r->empty ? NULL : memrchr(unread, '\n', r->end - r->begin);
    if (last) {
        if (!csv_take_lines(r, (size_t)(last + 1 - unread), most))
            return cli_no_memory();
        if (r->rows == most)
            return EXIT_DONE;
    }
    const char *newline = memchr(r->buffer + r->begin, '\n', r->end - r->begin);
    if (newline || (r->at_end && r->begin < r->end))
        return read_odd_line(r, newline);
    if (!r->at_end) {
        r->line = r->first + r->rows + 2;
        return fill(r);
    }
    r->ended = 1;
    report_beyond(r);
    return EXIT_DONE;
}

int csv_next(csv_reader *r, uint64_t most, uint64_t *rows)
{
    int status = EXIT_DONE;
    r->first += r->rows;
    r->rows = 0;
    if (most > r->limits.rows)
        most = r->limits.rows;
    while (status == EXIT_DONE && r->rows < most && !r->ended)
        status = read_more(r, most);
    *rows = r->rows;
    return status;
}

/* ---- the file ---------------------------------------------------------------------------------------------- */

/* From here to the end of a regular file. */
static uint64_t size_of(int fd)
{
    struct stat info;
    const off_t at = lseek(fd, 0, SEEK_CUR);
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && at >= 0 && info.st_size > at
               ? (uint64_t)(info.st_size - at)
               : 0;
}

double csv_share(const csv_reader *r)
{
    return r->size > 0 ? (double)(r->taken - (r->end - r->begin)) / (double)r->size : (double)NAN;
}

static int begin_reading(csv_reader *r)
{
    const int is_stdin = !strcmp(r->path, "-");
    r->path = is_stdin ? "standard input" : r->path;
    r->fd = is_stdin ? STDIN_FILENO : open(r->path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be opened: %s", r->path, strerror(errno));
    r->size = size_of(r->fd);
    r->capacity = r->limits.threads * r->limits.part;
    r->buffer = cli_alloc(r->capacity, 1);
    if (!r->buffer)
        return cli_no_memory();
    const int status = read_header(r);
    if (status == EXIT_DONE && !table_grow(r->columns, r->count, &r->limits, &r->room, 1))
        return cli_no_memory();
    return status;
}

int csv_open(csv_reader **out, const char *path, table_column *columns, size_t count, const table_limits *limits)
{
    csv_reader *r = cli_alloc(1, sizeof *r);
    *out = NULL;
    for (size_t i = 0; i < count; i++) {
        columns[i].present = 0;
        columns[i].data = NULL;
    }
    if (!r)
        return cli_no_memory();
    *r = (csv_reader){.path = path, .fd = -1, .columns = columns, .count = count, .limits = *limits};
    const int status = begin_reading(r);
    if (status == EXIT_DONE) {
        *out = r;
    } else {
        csv_close(r);
        table_free(columns, count);
    }
    return status;
}

void csv_read_again(csv_reader *r)
{
    r->again = 1;
}

void csv_close(csv_reader *r)
{
    if (!r)
        return;
    csv_free_names(r->names, r->field_count);
    free(r->fields);
    free(r->buffer);
    if (r->fd > STDERR_FILENO)
        close(r->fd);
    free(r);
}

int csv_names(const char *path, char ***names, size_t *count)
{
    const table_limits limits = {.rows = 1, .threads = 1, .part = 1 << 16};
    table_column none = {.name = "(header)", .group = 1};
    csv_reader *r;
    const int status = csv_open(&r, path, &none, 1, &limits);
    if (status != EXIT_DONE)
        return status;
    *names = r->names;
    *count = r->field_count;
    r->names = NULL;
    r->field_count = 0;
    csv_close(r);
    table_free(&none, 1);
    return EXIT_DONE;
}

void csv_free_names(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* ---- as a table --------------------------------------------------------------------------------------------- */

static int open_table(void **file, const char *path, table_column *columns, size_t count, const table_limits *limits)
{
    csv_reader *reader;
    const int status = csv_open(&reader, path, columns, count, limits);
    *file = reader;
    return status;
}

static int next_rows(void *file, uint64_t most, uint64_t *rows)
{
    return csv_next(file, most, rows);
}

static double share_of(const void *file)
{
    return csv_share(file);
}

static void close_table(void *file)
{
    csv_close(file);
}

const table_source table_csv = {
    .rows_are_lines = 1, .open = open_table, .next = next_rows, .share = share_of, .close = close_table};
