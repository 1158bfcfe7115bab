/* SPDX-License-Identifier: MIT */
/* Rows as points in space: which fields are the point, and which are vectors. */
#include "rows_format.h"

#include <math.h>
#include <string.h>

enum { VECTORS = 6, POINTS = 3 };

/* Columns that together are a vector. The first three are points, and of these the first is that of the row. */
static const struct {
    const char *name, *columns[3];
} vectors[VECTORS] = {{"point", {"x", "y", "z"}},
                      {"point_first", {"x_first", "y_first", "z_first"}},
                      {"point_contact", {"x_contact", "y_contact", "z_contact"}},
                      {"point_last", {"x_last", "y_last", "z_last"}},
                      {"normal", {"nx", "ny", "nz"}},
                      {"gradient", {"gx", "gy", "gz"}}};

/* The field of a name; -1: none. */
static int field_named(const rows_query *query, const char *name)
{
    for (int k = 0; k < query->field_count; k++)
        if (!strcmp(query->fields[query->order[k]].name, name))
            return query->order[k];
    return -1;
}

static int is_real(const query_field *field)
{
    return field->kind == QUERY_TIME || field->kind == QUERY_COORDINATE || field->kind == QUERY_HEIGHT;
}

static int find_vector(const rows_query *query, int v, int field[3])
{
    for (int c = 0; c < 3; c++) {
        field[c] = field_named(query, vectors[v].columns[c]);
        if (field[c] < 0 || !is_real(&query->fields[field[c]]))
            return 0;
    }
    return 1;
}

static int find_point(const rows_query *query, int field[3])
{
    for (int v = 0; v < POINTS; v++)
        if (find_vector(query, v, field))
            return 1;
    return 0;
}

int rows_has_points(const rows_query *query)
{
    int field[3];
    return find_point(query, field);
}

/* The property that begins with this field. */
static rows_property property_of(const rows_query *query, int f)
{
    rows_property p = {query->fields[f].name, 1, {f, f, f}};
    for (int v = POINTS; v < VECTORS; v++) {
        int field[3];
        if (!find_vector(query, v, field) || (field[0] != f && field[1] != f && field[2] != f))
            continue;
        p = (rows_property){vectors[v].name, field[0] == f ? 3 : 0, {field[0], field[1], field[2]}};
    }
    return p;
}

/* A vector's name may be that of a column too. */
static int check_names(const rows_shape *shape, const char *shown)
{
    for (int p = 0; p < shape->count; p++)
        for (int q = 0; q < p; q++)
            if (!strcmp(shape->property[p].name, shape->property[q].name))
                return cli_refuse(EXIT_USAGE, "%s: two columns would have the name '%s', which a vector gets", shown,
                                  shape->property[p].name);
    return EXIT_DONE;
}

int rows_shape_of(const rows_query *query, const char *shown, rows_shape *out)
{
    *out = (rows_shape){.count = 0};
    if (!find_point(query, out->point))
        return cli_refuse(EXIT_USAGE, "%s: these rows have no points (x,y,z): expected .csv, .h5 or .npy", shown);
    if (field_named(query, "row") >= 0)
        return cli_refuse(EXIT_USAGE, "%s: column 'row': the file has one of that name, of its own", shown);
    for (int k = 0; k < query->field_count; k++) {
        const int f = query->order[k];
        const rows_property p = property_of(query, f);
        if (f != out->point[0] && f != out->point[1] && f != out->point[2] && p.count > 0)
            out->property[out->count++] = p;
    }
    return check_names(out, shown);
}

int rows_is_placed(const rows_query *query, const rows_shape *shape, const rows_field *fields, uint64_t i)
{
    for (int c = 0; c < 3; c++) {
        const int f = shape->point[c];
        if (rows_is_missing(&query->fields[f], fields, &fields[f], i) || !isfinite(fields[f].floats[i]))
            return 0;
    }
    return 1;
}

void rows_report_left_out(const output *out, uint64_t rows, uint64_t written)
{
    if (written < rows && !out->error)
        cli_message("%s: %llu of %llu rows have no point, and are left out", out->place.shown,
                    (unsigned long long)(rows - written), (unsigned long long)rows);
}
