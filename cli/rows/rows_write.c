/* SPDX-License-Identifier: MIT */
/* Answers to a file, and to text. Each thread writes a slice of rows into memory of its own; the slices go out in their
 * order. */
#include "rows_format.h"
#include "cli/base/decimal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

_Static_assert(ROWS_FIELD_MAX == DECIMAL_MAX + 1, "a number, and the comma or newline behind it");

static char *put_word(char *to, const char *word)
{
    const size_t length = strlen(word); /* of states and features: below DECIMAL_MAX */
    memcpy(to, word, length);
    return to + length;
}

char *rows_put_field(char *to, const query_field *field, const rows_field *fields, const rows_field *from, uint64_t i)
{
    switch (field->kind) {
    case QUERY_STATE: return put_word(to, carom_state_name((carom_state)from->bytes[i]));
    case QUERY_FEATURE:
        return from->bytes[i] != CAROM_FEATURE_NONE ? put_word(to, carom_feature_name((carom_feature)from->bytes[i]))
                                                    : to;
    case QUERY_BITS:
        return from->bytes[i] != CAROM_OVERLAP_INVALID ? to + decimal_write_integer(to, from->bytes[i]) : to;
    case QUERY_TIME: return to + decimal_write(to, from->floats[i]);
    case QUERY_COORDINATE:
    case QUERY_HEIGHT: return rows_is_missing(field, fields, from, i) ? to : to + decimal_write(to, from->floats[i]);
    case QUERY_TRIANGLE: return to + decimal_write_integer(to, from->integers[i]);
    case QUERY_PATCH: return to + decimal_write_integer(to, (uint32_t)from->integers[i]);
    case QUERY_COUNT:
        return from->longs[i] != QUERY_NO_COUNT ? to + decimal_write_integer(to, (int64_t)from->longs[i]) : to;
    case QUERY_NUMBER: return to + decimal_write_integer(to, (int64_t)from->longs[i]);
    }
    return to;
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

static void write_slice(void *user, unsigned thread)
{
    rows_writer *w = user;
    const uint64_t begin = w->from + (uint64_t)thread * ROWS_SLICE;
    const uint64_t end = w->count - begin < ROWS_SLICE ? w->count : begin + ROWS_SLICE;
    char *to = w->text[thread];
    for (uint64_t i = begin; i < end; i++)
        to = w->format->put_row(w, to, i);
    w->used[thread] = (size_t)(to - w->text[thread]);
}

int rows_slices_open(rows_writer *w, size_t row_bytes)
{
    for (unsigned i = 0; i < w->threads; i++) {
        w->text[i] = cli_alloc(ROWS_SLICE, row_bytes);
        if (!w->text[i])
            return cli_no_memory();
    }
    return EXIT_DONE;
}

void rows_slices_write(rows_writer *w, const rows_field *fields, uint64_t count)
{
    w->fields = fields;
    w->count = count;
    for (w->from = 0; w->from < count && !w->out->error; w->from += (uint64_t)w->threads * ROWS_SLICE) {
        const uint64_t slices = (count - w->from + ROWS_SLICE - 1) / ROWS_SLICE;
        const unsigned threads = slices < w->threads ? (unsigned)slices : w->threads;
        parallel_run(threads, write_slice, w);
        for (unsigned i = 0; i < threads; i++)
            output_bytes(w->out, w->text[i], w->used[i]);
    }
}

void rows_slices_close(rows_writer *w)
{
    for (unsigned i = 0; i < w->threads; i++) {
        free(w->text[i]);
        w->text[i] = NULL;
    }
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

uint64_t rows_writer_bytes(int fields, unsigned threads)
{
    return (uint64_t)threads * ROWS_SLICE * (uint64_t)fields * ROWS_FIELD_MAX;
}

static int open_csv(rows_writer *w)
{
    return rows_slices_open(w, (size_t)w->query->field_count * ROWS_FIELD_MAX);
}

static void write_names(rows_writer *w)
{
    const rows_query *query = w->query;
    for (int k = 0; k < query->field_count; k++) {
        output_text(w->out, k > 0 ? "," : "");
        output_text(w->out, query->fields[query->order[k]].name);
    }
    output_char(w->out, '\n');
}

static char *put_csv(rows_writer *w, char *to, uint64_t i)
{
    const rows_query *query = w->query;
    for (int k = 0; k < query->field_count; k++) {
        const int f = query->order[k];
        to = rows_put_field(to, &query->fields[f], w->fields, &w->fields[f], i);
        *to++ = k + 1 < query->field_count ? ',' : '\n';
    }
    return to;
}

const rows_format rows_csv = {.is_text = 1,
                              .open = open_csv,
                              .header = write_names,
                              .write = rows_slices_write,
                              .close = rows_slices_close,
                              .put_row = put_csv};

/* ---- any format ---------------------------------------------------------------------------------------------------
 */

static const rows_format *const formats[] = {&rows_hdf5, &rows_npy, &rows_vtp, &rows_xyz};
enum { FORMATS = sizeof formats / sizeof formats[0] };

const rows_format *rows_format_of(const char *path)
{
    const char *suffix = !path ? "" : cli_is_hdf5(path) ? "h5" : cli_suffix(path);
    for (int i = 0; i < FORMATS; i++)
        if (!strcasecmp(suffix, formats[i]->suffix))
            return formats[i];
    return &rows_csv;
}

int rows_format_check(const char *path, int is_regular)
{
    const rows_format *format = rows_format_of(path);
    if (!format->is_text && !is_regular)
        return cli_refuse(EXIT_USAGE, "%s: is no regular file, which %s file must be", path, format->title);
    return format->require ? format->require(path) : EXIT_DONE;
}

/* A name that needs no quotes in any format. */
static int is_plain(const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    return name[strspn(name, plain)] == '\0';
}

int rows_writer_open(rows_writer *w, const rows_format *format, output *out, const rows_query *query, unsigned threads,
                     uint64_t rows)
{
    *w = (rows_writer){.format = format, .out = out, .query = query, .threads = threads, .rows = rows};
    for (int f = 0; f < query->field_count; f++)
        if (format != &rows_csv && format != &rows_hdf5 && !is_plain(query->fields[f].name))
            return cli_refuse(EXIT_USAGE, "%s: column '%s': names in %s file have letters, digits and _ - . alone",
                              out->place.shown, query->fields[f].name, format->title);
    return format->open(w);
}

void rows_write_header(rows_writer *w)
{
    if (w->format->header)
        w->format->header(w);
}

void rows_write(rows_writer *w, const rows_field *fields, uint64_t count)
{
    w->format->write(w, fields, count);
    w->done += count;
}

int rows_writer_finish(rows_writer *w)
{
    if (w->rows != TABLE_UNKNOWN && w->done != w->rows && !w->out->error)
        return cli_refuse(EXIT_WORK, "%llu rows were announced, and %llu were read", (unsigned long long)w->rows,
                          (unsigned long long)w->done);
    return w->format->finish ? w->format->finish(w) : EXIT_DONE;
}

void rows_writer_close(rows_writer *w)
{
    if (w->format)
        w->format->close(w);
}
