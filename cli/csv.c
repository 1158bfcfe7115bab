/* SPDX-License-Identifier: MIT */
/* CSV reading: large blocks in, one growing array per column out, every refusal with file, line and column. */
#include "csv.h"
#include "cli.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1 << 20, SHOWN = 40, HEADER_SHOWN = 240 };

typedef struct csv_reader {
    const char *path; /* as messages show it */
    int fd;
    char *buffer;
    size_t capacity, begin, end; /* unread bytes are buffer[begin..end) */
    int at_end;
    uint64_t line;       /* number of the current line, from 1 */
    uint64_t empty_line; /* first of the empty lines just passed, 0 if none */
    csv_column *columns;
    size_t count;
    size_t *fields; /* [field_count] column of each field, SIZE_MAX: ignored */
    char **names;   /* [field_count] header names, for messages */
    size_t field_count;
    uint64_t rows, room;
    struct {                 /* rows with a number beyond binary32 */
        uint64_t rows, last; /* how many, and one more than the last */
        uint64_t line;       /* of the first */
        const char *column;
        char text[SHOWN + 4];
    } beyond;
} csv_reader;

/* ---- messages ---------------------------------------------------------------------------------------------- */

/* Make file content short; what is not printable in it is the business of messages. */
static void show(const char *text, size_t length, char out[SHOWN + 4])
{
    size_t n = text_cut(text, length, SHOWN);
    memcpy(out, text, n);
    snprintf(out + n, 4, "%s", length > n ? "..." : "");
}

static int refuse(const csv_reader *r, const char *column, const char *expected, const char *got, size_t got_length)
{
    char shown[SHOWN + 4], name[SHOWN + 4];
    show(got, got_length, shown);
    show(column, strlen(column), name);
    return cli_refuse(EXIT_USAGE, "%s:%llu: column %s: expected %s, got %s", r->path, (unsigned long long)r->line, name,
                      expected, shown);
}

static int refuse_text(const csv_reader *r, const char *column, const char *expected, const char *text, size_t length)
{
    char quoted[SHOWN + 8], shown[SHOWN + 4];
    if (length == 0)
        return refuse(r, column, expected, "an empty field", 14);
    if (memchr(text, 0, length))
        return refuse(r, column, expected, "a NUL byte", 10);
    show(text, length > SHOWN - 6 ? text_cut(text, length, SHOWN - 6) : length, shown);
    int n = snprintf(quoted, sizeof quoted, "'%s%s'", shown, length > SHOWN - 6 ? "..." : "");
    return refuse(r, column, expected, quoted, (size_t)n);
}

/* ---- lines ------------------------------------------------------------------------------------------------- */

/* Make room behind the unread bytes and read a block. Returns an exit status. */
static int fill(csv_reader *r)
{
    if (r->begin > 0) {
        memmove(r->buffer, r->buffer + r->begin, r->end - r->begin);
        r->end -= r->begin;
        r->begin = 0;
    }
    if (r->end == r->capacity) { /* one line fills the buffer */
        char *larger = r->capacity > SIZE_MAX / 2 ? NULL : realloc(r->buffer, 2 * r->capacity);
        if (!larger)
            return cli_no_memory();
        r->buffer = larger;
        r->capacity *= 2;
    }
    ssize_t got;
    do
        got = read(r->fd, r->buffer + r->end, r->capacity - r->end);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be read: %s", r->path, strerror(errno));
    r->end += (size_t)got;
    r->at_end = got == 0;
    return EXIT_DONE;
}

/* Next line without its end; *text = NULL behind the last. A CR belongs to the end only in front of an LF. */
static int next_line(csv_reader *r, char **text, size_t *length)
{
    size_t searched = 0;
    for (;;) {
        char *start = r->buffer + r->begin;
        size_t unread = r->end - r->begin;
        char *newline = memchr(start + searched, '\n', unread - searched);
        if (newline || r->at_end) {
            int any = newline || unread > 0;
            size_t n = newline ? (size_t)(newline - start) : unread;
            r->begin += n + (newline != NULL);
            r->line += any ? 1 : 0;
            *text = any ? start : NULL;
            *length = newline && n > 0 && start[n - 1] == '\r' ? n - 1 : n;
            return EXIT_DONE;
        }
        searched = unread;
        int status = fill(r);
        if (status != EXIT_DONE)
            return status;
    }
}

/* ---- header ------------------------------------------------------------------------------------------------ */

static void trim(const char **text, size_t *length)
{
    while (*length > 0 && (**text == ' ' || **text == '\t')) {
        ++*text;
        --*length;
    }
    while (*length > 0 && ((*text)[*length - 1] == ' ' || (*text)[*length - 1] == '\t'))
        --*length;
}

/* Enter one header field: remember its name, and its column if it is ours. */
static int enter_field(csv_reader *r, const char *text, size_t length)
{
    trim(&text, &length);
    if (memchr(text, 0, length))
        return refuse_text(r, "(header)", "a name", text, length);
    char *name = malloc(length + 1);
    if (!name)
        return cli_no_memory();
    memcpy(name, text, length);
    name[length] = '\0';
    size_t field = r->field_count++;
    r->names[field] = name;
    r->fields[field] = SIZE_MAX;
    for (size_t i = 0; i < r->count; i++) {
        csv_column *column = &r->columns[i];
        if (strcmp(column->name, name))
            continue;
        if (column->present)
            return refuse(r, name, "once in the header", "it twice", 8);
        column->present = 1;
        r->fields[field] = i;
    }
    return EXIT_DONE;
}

static int is_missing(const csv_reader *r, size_t i)
{
    int wanted = r->columns[i].group == 0;
    for (size_t k = 0; k < r->count; k++)
        wanted |= r->columns[i].group != 0 && r->columns[k].group == r->columns[i].group && r->columns[k].present;
    return wanted && !r->columns[i].present;
}

/* Append ", name" or, if it does not fit, dots. Returns 0 then. */
static int append_name(char out[HEADER_SHOWN], size_t *used, const char *name)
{
    size_t length = strlen(name), separator = *used > 0 ? 2 : 0;
    if (*used + separator + length + 6 > HEADER_SHOWN) {
        *used += (size_t)snprintf(out + *used, HEADER_SHOWN - *used, "%s...", separator ? ", " : "");
        return 0;
    }
    *used += (size_t)snprintf(out + *used, HEADER_SHOWN - *used, "%s%s", separator ? ", " : "", name);
    return 1;
}

/* Required columns are there, groups are whole; else say what is missing beside what was found. */
static int check_columns(const csv_reader *r)
{
    char found[HEADER_SHOWN] = "", more[HEADER_SHOWN] = "", name[SHOWN + 4];
    size_t first = 0, used = 0;
    while (first < r->count && !is_missing(r, first))
        first++;
    if (first == r->count)
        return EXIT_DONE;
    for (size_t i = first + 1; i < r->count; i++)
        if (is_missing(r, i) && !append_name(more, &used, r->columns[i].name))
            break;
    used = 0;
    for (size_t i = 0; i < r->field_count; i++) {
        show(r->names[i], strlen(r->names[i]), name);
        if (!append_name(found, &used, name))
            break;
    }
    return cli_refuse(EXIT_USAGE, "%s:%llu: column %s: expected in the header%s, got %zu column%s: %s%s%s", r->path,
                      (unsigned long long)r->line, r->columns[first].name,
                      r->columns[first].group ? " together with the others of its kind" : "", r->field_count,
                      r->field_count == 1 ? "" : "s", found, more[0] ? "; also missing: " : "", more);
}

static int read_header(csv_reader *r)
{
    char *text;
    size_t length;
    int status = next_line(r, &text, &length);
    if (status != EXIT_DONE)
        return status;
    if (text && length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
        text += 3;
        length -= 3;
    }
    if (!text || length == 0) {
        r->line = 1;
        return refuse(r, r->columns[0].name, "a header line that names the columns",
                      text ? "an empty line" : "an empty file", 13);
    }
    size_t fields = 1;
    for (size_t i = 0; i < length; i++)
        fields += text[i] == ',';
    r->fields = cli_alloc(fields, sizeof *r->fields);
    r->names = cli_alloc(fields, sizeof *r->names);
    if (!r->fields || !r->names)
        return cli_no_memory();
    for (char *end = text + length;;) {
        char *comma = memchr(text, ',', (size_t)(end - text));
        status = enter_field(r, text, (size_t)((comma ? comma : end) - text));
        if (status != EXIT_DONE || !comma)
            return status != EXIT_DONE ? status : check_columns(r);
        text = comma + 1;
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------- */

static int grow(csv_reader *r)
{
    uint64_t room = r->room ? 2 * r->room : 1024;
    if (room > SIZE_MAX / sizeof(float))
        return cli_no_memory();
    for (size_t i = 0; i < r->count; i++) {
        if (!r->columns[i].present)
            continue;
        float *larger = realloc(r->columns[i].data, (size_t)room * sizeof(float));
        if (!larger)
            return cli_no_memory();
        r->columns[i].data = larger;
    }
    r->room = room;
    return EXIT_DONE;
}

/* Infinity is written in letters; from digits it is a number that is too large. */
static void note_beyond(csv_reader *r, const csv_column *column, const char *text, size_t length)
{
    trim(&text, &length);
    size_t sign = *text == '-' || *text == '+';
    if ((text[sign] | 0x20) == 'i' || r->beyond.last == r->rows + 1)
        return;
    if (r->beyond.rows++ == 0) {
        r->beyond.line = r->line;
        r->beyond.column = column->name;
        show(text, length, r->beyond.text);
    }
    r->beyond.last = r->rows + 1;
}

/* Such rows are answered, as invalid, and without a word that would look like a fault of the query. */
static void report_beyond(const csv_reader *r)
{
    if (r->beyond.rows > 0)
        cli_message("%s:%llu: column %s: %s is beyond binary32 (3.4e38), which makes the row invalid; %llu row%s %s so",
                    r->path, (unsigned long long)r->beyond.line, r->beyond.column, r->beyond.text,
                    (unsigned long long)r->beyond.rows, r->beyond.rows == 1 ? "" : "s",
                    r->beyond.rows == 1 ? "is" : "are");
}

static int read_field(csv_reader *r, size_t field, const char *text, size_t length)
{
    csv_column *column = &r->columns[r->fields[field]];
    const int is_mask = column->kind == CSV_MASK;
    uint32_t mask;
    float value;
    if (!(is_mask ? csv_mask(text, length, &mask) : csv_number(text, length, &value))) {
        trim(&text, &length);
        return refuse_text(r, column->name, is_mask ? "a whole number from 0 to 4294967295 or 0xffffffff" : "a number",
                           text, length);
    }
    if (is_mask) {
        memcpy(&column->data[r->rows], &mask, sizeof mask);
        return EXIT_DONE;
    }
    if (column->kind == CSV_TIME && !(value >= 0.0f))
        return refuse_text(r, column->name, "a number >= 0 or inf", text, length);
    if (isinf(value) && column->kind == CSV_FLOAT)
        note_beyond(r, column, text, length);
    column->data[r->rows] = value;
    return EXIT_DONE;
}

static int refuse_length(csv_reader *r, size_t got)
{
    char expected[64], found[32];
    snprintf(expected, sizeof expected, "a row of %zu fields as in the header", r->field_count);
    int n = snprintf(found, sizeof found, "%zu", got);
    return refuse(r, r->names[got < r->field_count ? got : r->field_count - 1], expected, found, (size_t)n);
}

/* The length is judged first: a missing comma would otherwise be reported as a wrong number. */
static int read_row(csv_reader *r, char *text, size_t length)
{
    const char *end = text + length;
    size_t fields = 1, field = 0;
    for (const char *p = text; (p = memchr(p, ',', (size_t)(end - p))) != NULL; p++)
        fields++;
    if (fields != r->field_count)
        return refuse_length(r, length == 0 ? 0 : fields);
    if (r->rows == r->room && grow(r) != EXIT_DONE)
        return EXIT_WORK;
    for (;; field++) {
        char *comma = memchr(text, ',', (size_t)(end - text));
        size_t size = (size_t)((comma ? comma : end) - text);
        int status = EXIT_DONE;
        if (r->fields[field] != SIZE_MAX)
            status = read_field(r, field, text, size);
        else if (memchr(text, 0, size))
            status = refuse_text(r, r->names[field], "text", text, size);
        if (status != EXIT_DONE)
            return status;
        if (!comma)
            break;
        text = comma + 1;
    }
    r->rows++;
    return EXIT_DONE;
}

/* Empty lines are tolerated only behind the last row; in front of one they are rows that are too short. */
static int read_rows(csv_reader *r)
{
    for (;;) {
        char *text;
        size_t length;
        int status = next_line(r, &text, &length);
        if (status != EXIT_DONE || !text)
            return status;
        if (length == 0) {
            r->empty_line = r->empty_line ? r->empty_line : r->line;
            continue;
        }
        if (r->empty_line) {
            r->line = r->empty_line;
            return refuse_length(r, 0);
        }
        status = read_row(r, text, length);
        if (status != EXIT_DONE)
            return status;
    }
}

int csv_read(const char *path, csv_column *columns, size_t count, uint64_t *rows)
{
    int is_stdin = !strcmp(path, "-");
    csv_reader r = {.path = is_stdin ? "standard input" : path, .columns = columns, .count = count, .capacity = BLOCK};
    for (size_t i = 0; i < count; i++) {
        columns[i].present = 0;
        columns[i].data = NULL;
    }
    r.fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (r.fd < 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    r.buffer = malloc(r.capacity);
    int status = r.buffer ? read_header(&r) : cli_no_memory();
    if (status == EXIT_DONE)
        status = grow(&r);
    if (status == EXIT_DONE)
        status = read_rows(&r);
    if (status == EXIT_DONE)
        report_beyond(&r);
    for (size_t i = 0; i < r.field_count; i++)
        free(r.names[i]);
    free(r.names);
    free(r.fields);
    free(r.buffer);
    if (!is_stdin)
        close(r.fd);
    *rows = r.rows;
    if (status != EXIT_DONE)
        csv_free(columns, count);
    return status;
}

const uint32_t *csv_masks(const csv_column *column)
{
    _Static_assert(sizeof(uint32_t) == sizeof *column->data, "a mask takes the place of a float");
    return column->present ? (const uint32_t *)(const void *)column->data : NULL;
}

void csv_free(csv_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(columns[i].data);
        columns[i].data = NULL;
    }
}
