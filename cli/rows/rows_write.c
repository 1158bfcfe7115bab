/* SPDX-License-Identifier: MIT */
/* Answers to a file, and to text. Each thread writes a slice of rows into memory of its own; the slices go out in their
 * order. */
#include "rows.h"
#include "cli/base/decimal.h"

#include <stdlib.h>
#include <string.h>

enum { SLICE = 1 << 13 };

/* A field, and the comma or newline behind it. */
enum { FIELD_MAX = DECIMAL_MAX + 1 };

static char *put_word(char *to, const char *word)
{
    const size_t length = strlen(word); /* of states and features: below DECIMAL_MAX */
    memcpy(to, word, length);
    return to + length;
}

static char *put_field(char *to, const query_field *field, const rows_field *fields, const rows_field *from, uint64_t i)
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

static void write_slice(void *user, unsigned thread)
{
    rows_writer *w = user;
    const rows_query *query = w->query;
    const uint64_t begin = w->from + (uint64_t)thread * SLICE;
    const uint64_t end = w->count - begin < SLICE ? w->count : begin + SLICE;
    char *to = w->text[thread];
    for (uint64_t i = begin; i < end; i++)
        for (int k = 0; k < query->field_count; k++) {
            const int f = query->order[k];
            to = put_field(to, &query->fields[f], w->fields, &w->fields[f], i);
            *to++ = k + 1 < query->field_count ? ',' : '\n';
        }
    w->used[thread] = (size_t)(to - w->text[thread]);
}

uint64_t rows_writer_bytes(int fields, unsigned threads)
{
    return (uint64_t)threads * SLICE * (uint64_t)fields * FIELD_MAX;
}

static void close_text(rows_writer *w)
{
    for (unsigned i = 0; i < w->threads; i++) {
        free(w->text[i]);
        w->text[i] = NULL;
    }
}

static int open_text(rows_writer *w)
{
    for (unsigned i = 0; i < w->threads; i++) {
        w->text[i] = cli_alloc((uint64_t)SLICE * (uint64_t)w->query->field_count, FIELD_MAX);
        if (!w->text[i])
            return cli_no_memory();
    }
    return EXIT_DONE;
}

static void write_header(rows_writer *w)
{
    const rows_query *query = w->query;
    for (int k = 0; k < query->field_count; k++) {
        output_text(w->out, k > 0 ? "," : "");
        output_text(w->out, query->fields[query->order[k]].name);
    }
    output_char(w->out, '\n');
}

static void write_text(rows_writer *w, const rows_field *fields, uint64_t count)
{
    w->fields = fields;
    w->count = count;
    for (w->from = 0; w->from < count && !w->out->error; w->from += (uint64_t)w->threads * SLICE) {
        const uint64_t slices = (count - w->from + SLICE - 1) / SLICE;
        const unsigned threads = slices < w->threads ? (unsigned)slices : w->threads;
        parallel_run(threads, write_slice, w);
        for (unsigned i = 0; i < threads; i++)
            output_bytes(w->out, w->text[i], w->used[i]);
    }
}

const rows_format rows_csv = {.open = open_text, .header = write_header, .write = write_text, .close = close_text};

/* ---- any format ---------------------------------------------------------------------------------------------------
 */

const rows_format *rows_format_of(const char *path)
{
    return path && cli_is_hdf5(path) ? &rows_hdf5 : &rows_csv;
}

int rows_writer_open(rows_writer *w, const rows_format *format, output *out, const rows_query *query, unsigned threads,
                     uint64_t rows)
{
    *w = (rows_writer){.format = format, .out = out, .query = query, .threads = threads, .rows = rows, .spool = -1};
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
}

int rows_writer_finish(rows_writer *w)
{
    return w->format->finish ? w->format->finish(w) : EXIT_DONE;
}

void rows_writer_close(rows_writer *w)
{
    if (w->format)
        w->format->close(w);
}
