/* SPDX-License-Identifier: MIT */
#include "path.h"
#include "part.h"

#include <math.h>
#include <string.h>

enum { ROWS = 1 << 17 };
enum { PATH, SEGMENT, U, TRIANGLE, STATE, POINT, NORMAL = POINT + 3, FEATURE = NORMAL + 3 };
enum { HIT = 1 };

static const query_field hit_fields[] = {
    {"path", QUERY_COUNT, 0},          {"segment", QUERY_NUMBER, 0},      {"u", QUERY_TIME, 0},
    {"triangle", QUERY_TRIANGLE, 0},   {"state", QUERY_STATE, 0},         {"x", QUERY_COORDINATE, FEATURE},
    {"y", QUERY_COORDINATE, FEATURE},  {"z", QUERY_COORDINATE, FEATURE},  {"nx", QUERY_COORDINATE, FEATURE},
    {"ny", QUERY_COORDINATE, FEATURE}, {"nz", QUERY_COORDINATE, FEATURE}, {"feature", QUERY_FEATURE, 0}};
static const query_field any_fields[] = {{"path", QUERY_COUNT, 0}, {"hit", QUERY_BITS, 0}};

enum { HIT_FIELDS = sizeof hit_fields / sizeof hit_fields[0], ANY_FIELDS = sizeof any_fields / sizeof any_fields[0] };

const char *const path_hits_words[PATH_HITS + 1] = {"first", "all", "any", NULL};
const char *const path_start_words[3] = {"report", "skip-parting", "skip"};

const char *path_names(path_hits hits)
{
    return hits == PATH_ANY ? "path,hit\n" : "path,segment,u,triangle,state,x,y,z,nx,ny,nz,feature\n";
}

rows_query path_query(path_hits hits)
{
    rows_query query = {.fields = hits == PATH_ANY ? any_fields : hit_fields,
                        .field_count = hits == PATH_ANY ? ANY_FIELDS : HIT_FIELDS};
    for (int f = 0; f < query.field_count; f++)
        query.order[f] = f;
    return query;
}

int path_is_columns(const char *name)
{
    return rows_format_of(name) != rows_format_of(NULL);
}

uint64_t path_writer_bytes(unsigned threads)
{
    return ROWS * path_row_bytes(PATH_FIRST) + rows_writer_bytes(HIT_FIELDS, threads);
}

static int open_writer(path_writer *w, const struct rows_format *format, unsigned threads, uint64_t rows)
{
    w->query = path_query(w->hits);
    if (!rows_fields_alloc(&w->query, ROWS, w->fields))
        return cli_no_memory();
    return rows_writer_open(&w->rows, format, w->out, &w->query, threads, rows);
}

int path_writer_open(path_writer *w, output *out, path_hits hits, const char *part, unsigned threads)
{
    *w = (path_writer){.out = out, .part = part, .hits = hits};
    return open_writer(w, rows_format_of(NULL), threads, TABLE_UNKNOWN);
}

int path_writer_open_as(path_writer *w, output *out, path_hits hits, uint64_t rows)
{
    *w = (path_writer){.out = out, .hits = hits};
    return open_writer(w, rows_format_of(out->place.shown), 1, rows);
}

void path_writer_header(path_writer *w)
{
    unsigned char header[BAKE_PART_HEADER];
    if (w->part)
        output_bytes(w->out, (const char *)header, bake_part_header(w->part, header));
    else
        rows_write_header(&w->rows);
}

/* One field after another, as in memory. */
static void write_bytes(path_writer *w)
{
    for (uint64_t i = 0; i < w->used; i++)
        for (int f = 0; f < w->query.field_count; f++) {
            const size_t size = query_field_size(&w->query.fields[f]);
            output_bytes(w->out, (const char *)w->fields[f].memory + i * size, size);
        }
}

void path_writer_flush(path_writer *w)
{
    if (w->part)
        write_bytes(w);
    else
        rows_write(&w->rows, w->fields, w->used);
    w->used = 0;
}

int path_writer_finish(path_writer *w)
{
    path_writer_flush(w);
    return w->out->error ? EXIT_DONE : rows_writer_finish(&w->rows);
}

void path_writer_close(path_writer *w)
{
    rows_writer_close(&w->rows);
    rows_fields_free(w->fields);
}

static uint64_t add_row(path_writer *w)
{
    if (w->used == ROWS)
        path_writer_flush(w);
    return w->used++;
}

/* The place of the next row. */
static uint64_t add_row_of(path_writer *w, uint64_t id)
{
    const uint64_t i = add_row(w);
    w->fields[PATH].longs[i] = id;
    return i;
}

size_t path_row_bytes(path_hits hits)
{
    const rows_query query = path_query(hits);
    size_t bytes = 0;
    for (int f = 0; f < query.field_count; f++)
        bytes += query_field_size(&query.fields[f]);
    return bytes;
}

void path_write_row(path_writer *w, const char *bytes)
{
    const uint64_t i = add_row(w);
    for (int f = 0; f < w->query.field_count; f++) {
        const size_t size = query_field_size(&w->query.fields[f]);
        memcpy((char *)w->fields[f].memory + i * size, bytes, size);
        bytes += size;
    }
}

static void put_hit(path_writer *w, uint64_t id, int64_t segment, const path_hit *hit)
{
    const uint64_t i = add_row_of(w, id);
    w->fields[SEGMENT].longs[i] = (uint64_t)segment;
    w->fields[U].floats[i] = hit->t;
    w->fields[TRIANGLE].integers[i] = hit->triangle;
    w->fields[STATE].bytes[i] = hit->state;
    w->fields[FEATURE].bytes[i] = hit->feature;
    for (int k = 0; k < 3; k++) {
        w->fields[POINT + k].floats[i] = hit->point[k];
        w->fields[NORMAL + k].floats[i] = hit->normal[k];
    }
}

static void put_any(path_writer *w, uint64_t id, uint8_t hit)
{
    const uint64_t i = add_row_of(w, id);
    w->fields[HIT].bytes[i] = hit;
}

void path_write_hit(path_writer *w, const path_section *section, const path_hit *hit)
{
    if (w->hits == PATH_ANY)
        put_any(w, section->id, 1);
    else
        put_hit(w, section->id, (int64_t)(section->segment + (hit->element - section->begin)), hit);
}

void path_write_end(path_writer *w, const path_section *section)
{
    const path_hit none = {.t = INFINITY,
                           .triangle = -1,
                           .state = section->is_invalid ? CAROM_INVALID : CAROM_MISS,
                           .feature = CAROM_FEATURE_NONE};
    if (!section->is_last || section->is_hit)
        return;
    if (w->hits == PATH_ANY)
        put_any(w, section->id, section->is_invalid ? CAROM_OVERLAP_INVALID : 0);
    else
        put_hit(w, section->id, -1, &none);
}
