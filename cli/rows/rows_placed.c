/* SPDX-License-Identifier: MIT */
/* Where rows are in space that have no point of contact: two spheres between their surfaces, one at its centre. */
#include "rows_format.h"

#include <math.h>
#include <string.h>

int rows_needs_points(const char *path)
{
    return rows_format_of(path)->has_points;
}

rows_query rows_with_points(const rows_query *query, query_field fields[QUERY_FIELDS_MAX])
{
    static const char *const names[] = {"x", "y", "z"};
    rows_query with = *query;
    memmove(fields, query->fields, (size_t)query->field_count * sizeof *fields);
    with.fields = fields;
    with.point = with.field_count;
    for (int c = 0; c < 3; c++) {
        with.order[with.field_count] = with.field_count;
        fields[with.field_count++] = (query_field){names[c], QUERY_TIME, 0};
    }
    return with;
}

void rows_put_pair_point(const rows_pair *p, float point[3])
{
    double d[3], square = 0.0;
    for (int c = 0; c < 3; c++) {
        d[c] = p->b[c] - p->a[c];
        square += d[c] * d[c];
    }
    const double length = sqrt(square), from_a = 0.5 * (p->ra - p->rb + length);
    for (int c = 0; c < 3; c++)
        point[c] = (float)(length > 0.0 ? p->a[c] + from_a * (d[c] / length) : p->a[c]);
}

/* Columns of pairs of spheres. */
enum { A0 = 0, A1 = 3, RA = 6, B0 = 7, B1 = 10, RB = 13 };
enum { STATE, U_FIRST }; /* and fields */

/* Their first columns are a centre. */
static int has_centers(const rows_input *input)
{
    return input->column_count >= 3 && !strcmp(input->columns[0].name, "cx");
}

rows_query rows_placed(const rows_query *query, const rows_input *input, const char *path,
                       query_field fields[QUERY_FIELDS_MAX])
{
    const int has_spheres = query->row == &query_spheres || has_centers(input);
    const int is_placed = !rows_needs_points(path) || rows_has_points(query) || query->bundle > 1 || !has_spheres ||
                          query->field_count + 3 > QUERY_FIELDS_MAX;
    return is_placed ? *query : rows_with_points(query, fields);
}

/* Two moving spheres where contact begins, at whatever time; at time 0 if no contact begins, as within a margin.
 * A miss has no point. */
static void put_contact(const rows_input *input, const rows_field *fields, uint64_t i, float point[3])
{
    const table_column *c = input->columns;
    const float first = fields[U_FIRST].floats[i];
    const double u = isfinite(first) ? (double)first : 0.0;
    rows_pair pair = {.ra = (double)c[RA].data[i], .rb = (double)c[RB].data[i]};
    for (int k = 0; k < 3; k++) {
        const double a = (double)c[A0 + k].data[i], b = (double)c[B0 + k].data[i];
        pair.a[k] = a + u * ((double)c[A1 + k].data[i] - a);
        pair.b[k] = b + u * ((double)c[B1 + k].data[i] - b);
        point[k] = NAN;
    }
    const uint8_t state = fields[STATE].bytes[i];
    if (state != CAROM_MISS && state != CAROM_INVALID)
        rows_put_pair_point(&pair, point);
}

void rows_fill_points(const rows_query *query, const rows_input *input, const rows_field *fields, const uint64_t *of,
                      uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t row = of ? of[i] : i;
        float point[3];
        for (int c = 0; c < 3; c++)
            point[c] = input->columns[c].data[row];
        if (query->row == &query_spheres)
            put_contact(input, fields, i, point);
        for (int c = 0; c < 3; c++)
            fields[query->point + c].floats[i] = point[c];
    }
}
