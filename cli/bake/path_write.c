/* SPDX-License-Identifier: MIT */
#include "path.h"

#include <math.h>

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

uint64_t path_writer_bytes(unsigned threads)
{
    uint64_t row = 0;
    for (int f = 0; f < HIT_FIELDS; f++)
        row += query_field_size(&hit_fields[f]);
    return ROWS * row + rows_writer_bytes(HIT_FIELDS, threads);
}

int path_writer_open(path_writer *w, output *out, path_hits hits, unsigned threads)
{
    *w = (path_writer){.hits = hits};
    w->query = (rows_query){.fields = hits == PATH_ANY ? any_fields : hit_fields,
                            .field_count = hits == PATH_ANY ? ANY_FIELDS : HIT_FIELDS};
    for (int f = 0; f < w->query.field_count; f++)
        w->query.order[f] = f;
    if (!rows_fields_alloc(&w->query, ROWS, w->fields))
        return cli_no_memory();
    return rows_writer_open(&w->rows, out, &w->query, threads);
}

void path_writer_header(path_writer *w)
{
    rows_write_header(&w->rows);
}

void path_writer_flush(path_writer *w)
{
    rows_write(&w->rows, w->fields, w->used);
    w->used = 0;
}

void path_writer_close(path_writer *w)
{
    rows_writer_close(&w->rows);
    rows_fields_free(w->fields);
}

/* The place of the next row. */
static uint64_t add_row(path_writer *w, uint64_t id)
{
    if (w->used == ROWS)
        path_writer_flush(w);
    w->fields[PATH].longs[w->used] = id;
    return w->used++;
}

static void put_hit(path_writer *w, uint64_t id, int64_t segment, const path_hit *hit)
{
    const uint64_t i = add_row(w, id);
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
    const uint64_t i = add_row(w, id);
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
