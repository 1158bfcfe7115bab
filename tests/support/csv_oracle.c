/* SPDX-License-Identifier: MIT */
#include "csv_oracle.h"
#include "reader_host.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

/* ---- the oracle -------------------------------------------------------------------------------------------------- */

typedef struct span {
    const char *at;
    size_t size;
} span;

/* What stands in front of the next `end`; *rest begins behind it, and is NULL if there was none. */
static span take_until(span *rest, char end)
{
    const char *stop = rest->size > 0 ? memchr(rest->at, end, rest->size) : NULL;
    const span taken = {rest->at, stop ? (size_t)(stop - rest->at) : rest->size};
    *rest = stop ? (span){stop + 1, rest->size - taken.size - 1} : (span){NULL, 0};
    return taken;
}

static span without_blanks(span s)
{
    for (; s.size > 0 && (*s.at == ' ' || *s.at == '\t'); s.at++)
        s.size--;
    while (s.size > 0 && (s.at[s.size - 1] == ' ' || s.at[s.size - 1] == '\t'))
        s.size--;
    return s;
}

static int is_name(span s, const char *name)
{
    return s.size == strlen(name) && !memcmp(s.at, name, s.size);
}

/* Returns 0 for a malformed field. */
static int read_value(span s, table_kind kind, uint32_t *bits)
{
    char text[4096], *stop;
    s = without_blanks(s);
    if (s.size == 0 || s.size >= sizeof text || memchr(s.at, 0, s.size) || strchr("\r\n\v\f", *s.at))
        return 0;
    memcpy(text, s.at, s.size);
    text[s.size] = '\0';
    if (kind == TABLE_MASK) {
        const int hex = s.size > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
        const size_t digits = strspn(text + 2 * hex, hex ? "0123456789abcdefABCDEF" : "0123456789") + 2 * (size_t)hex;
        const char *first = text + 2 * hex + strspn(text + 2 * hex, "0");
        const unsigned long long value = strtoull(first, NULL, hex ? 16 : 10);
        *bits = (uint32_t)value;
        return digits == s.size && strlen(first) <= 16 && value <= UINT32_MAX;
    }
    const float value = strtof(text, &stop);
    memcpy(bits, &value, sizeof value);
    return stop == text + s.size && (kind != TABLE_TIME || value >= 0.0f);
}

/* The next name of a header, without its quotes; *rest begins behind its comma, and is NULL if there was none. `text`
 * has room for all of it. */
static span take_name(span *rest, char *text)
{
    size_t i = 0, n = 0;
    while (i < rest->size && (rest->at[i] == ' ' || rest->at[i] == '\t'))
        i++;
    if (i < rest->size && rest->at[i] == '"') {
        for (i++; i < rest->size && (rest->at[i] != '"' || (i + 1 < rest->size && rest->at[i + 1] == '"')); i++) {
            text[n++] = rest->at[i];
            i += rest->at[i] == '"';
        }
        const int is_closed = i < rest->size;
        for (i++; i < rest->size && (rest->at[i] == ' ' || rest->at[i] == '\t');)
            i++;
        if (is_closed && (i >= rest->size || rest->at[i] == ',')) {
            *rest = i < rest->size ? (span){rest->at + i + 1, rest->size - i - 1} : (span){NULL, 0};
            return (span){text, n};
        }
    }
    return without_blanks(take_until(rest, ','));
}

/* Returns 0 if the header is refused. field[i] is the column of field i, -1 for none. */
static int read_names(span header, const table_column *columns, size_t count, int *field, size_t *fields,
                      csv_table *out)
{
    char text[4096];
    *fields = 0;
    if (header.size > sizeof text)
        abort();
    for (span rest = header; rest.at;) {
        const span name = take_name(&rest, text);
        if (name.size > 0 && memchr(name.at, 0, name.size))
            return 0;
        int column = -1;
        for (size_t i = 0; i < count; i++)
            column = is_name(name, columns[i].name) ? (int)i : column;
        if (column >= 0 && out->present[column]++)
            return 0;
        field[(*fields)++] = column;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            if (!out->present[i] &&
                (columns[i].group == 0 || (columns[k].group == columns[i].group && out->present[k])))
                return 0;
    return header.size > 0;
}

/* Returns 0 for a malformed row. */
static int read_row(span line, const table_column *columns, const int *field, size_t fields, csv_table *out)
{
    size_t i = 0;
    if (line.size == 0)
        return 0;
    for (span rest = line; rest.at; i++) {
        const span text = take_until(&rest, ',');
        uint32_t bits = 0;
        if (i == fields)
            return 0;
        if (field[i] < 0 ? text.size > 0 && memchr(text.at, 0, text.size)
                         : !read_value(text, columns[field[i]].kind, &bits))
            return 0;
        if (field[i] >= 0)
            out->bits[field[i]][out->rows] = bits;
    }
    return i == fields;
}

/* A CR belongs to the end of a line only in front of an LF. */
static span take_line(span *rest)
{
    const span line = take_until(rest, '\n');
    const int cr = rest->at && line.size > 0 && line.at[line.size - 1] == '\r';
    return (span){line.at, line.size - (size_t)cr};
}

void csv_oracle_read(const char *text, size_t size, const table_column *columns, size_t count, csv_table *out)
{
    span rest = {text, size};
    int *field = must(malloc((size + 1) * sizeof *field));
    size_t fields = 0;
    uint64_t line = 1, empty = 0;
    *out = (csv_table){0};
    for (size_t i = 0; i < count; i++)
        out->bits[i] = must(malloc((size + 1) * sizeof(uint32_t)));
    span header = take_line(&rest);
    if (header.size >= 3 && !memcmp(header.at, "\xef\xbb\xbf", 3))
        header = (span){header.at + 3, header.size - 3};
    if (header.size == 0 || !read_names(header, columns, count, field, &fields, out))
        out->refused = 1;
    while (!out->refused && rest.size > 0) {
        const span row = take_line(&rest);
        line++;
        if (row.size == 0)
            empty = empty ? empty : line;
        else if (empty || !read_row(row, columns, field, fields, out))
            out->refused = empty ? empty : line;
        else
            out->rows++;
    }
    free(field);
}

/* ---- the reader -------------------------------------------------------------------------------------------------- */

typedef struct feed {
    int fd;
    const char *text;
    size_t size, piece;
} feed;

/* Until all is written, or the reader has gone. */
static void *write_pieces(void *user)
{
    feed *f = user;
    while (f->size > 0) {
        const ssize_t n = write(f->fd, f->text, f->size < f->piece ? f->size : f->piece);
        if (n <= 0)
            break;
        f->text += n;
        f->size -= (size_t)n;
    }
    close(f->fd);
    return NULL;
}

static int file_of(const char *text, size_t size)
{
    const int fd = memfd_create("csv", 0);
    if (fd < 0 || (size > 0 && write(fd, text, size) != (ssize_t)size))
        abort();
    return fd;
}

static int read_chunks(csv_reader *reader, table_column *columns, size_t count, uint64_t most, csv_table *out)
{
    for (size_t i = 0; i < count; i++)
        out->present[i] = columns[i].present;
    for (uint64_t rows = 1; rows > 0;) {
        const int status = csv_next(reader, most, &rows);
        for (size_t i = 0; i < count && rows > 0; i++)
            if (columns[i].present) {
                out->bits[i] = must(realloc(out->bits[i], (size_t)(out->rows + rows) * sizeof(uint32_t)));
                memcpy(out->bits[i] + out->rows, columns[i].data, (size_t)rows * sizeof(uint32_t));
            }
        out->rows += rows;
        if (status != EXIT_DONE)
            return status;
    }
    return EXIT_DONE;
}

/* The line that a message names: "PATH:LINE: column ...". */
static uint64_t line_of(const char *message, const char *path)
{
    const size_t n = strlen(path);
    return !strncmp(message, path, n) && message[n] == ':' ? strtoull(message + n + 1, NULL, 10) : UINT64_MAX;
}

int csv_table_read(const char *text, size_t size, table_column *columns, size_t count, const csv_way *way,
                   csv_table *out)
{
    char path[32];
    int ends[2] = {-1, -1};
    csv_reader *reader;
    pthread_t thread;
    feed f = {.text = text, .size = size, .piece = way->piece};
    signal(SIGPIPE, SIG_IGN); /* the reader may go before all is written */
    if (way->piece > 0) {
        if (pipe(ends) != 0)
            abort();
        f.fd = ends[1];
        if (pthread_create(&thread, NULL, write_pieces, &f) != 0)
            abort();
    } else {
        ends[0] = file_of(text, size);
    }
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    *out = (csv_table){0};
    reader_host_said[0] = '\0';
    int status = csv_open(&reader, path, columns, count, &way->limits);
    if (status == EXIT_DONE)
        status = read_chunks(reader, columns, count, way->most, out);
    csv_close(reader);
    table_free(columns, count);
    close(ends[0]);
    if (way->piece > 0)
        pthread_join(thread, NULL);
    if (status != EXIT_DONE)
        out->refused = line_of(reader_host_said, path);
    return status;
}

const char *csv_table_differs(const csv_table *a, const csv_table *b)
{
    if (a->refused != b->refused)
        return "the line that is refused";
    if (a->refused == 1)
        return NULL;
    for (size_t i = 0; i < CSV_ORACLE_COLUMNS; i++) {
        if (a->present[i] != b->present[i])
            return "the columns";
        /* Of a chunk with a fault no more than the rows in front of it are known. */
        const uint64_t rows = a->rows < b->rows ? a->rows : b->rows;
        if (a->present[i] && rows > 0 && memcmp(a->bits[i], b->bits[i], (size_t)rows * sizeof(uint32_t)) != 0)
            return "a number";
    }
    return a->rows == b->rows ? NULL : "the number of rows";
}

void csv_table_free(csv_table *table)
{
    for (size_t i = 0; i < CSV_ORACLE_COLUMNS; i++)
        free(table->bits[i]);
}
