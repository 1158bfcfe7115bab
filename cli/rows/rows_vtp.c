/* SPDX-License-Identifier: MIT */
/* Answers to VTK's PolyData (cli/table/vtk.h): a vertex at the point of each row, and the other columns as its data. */
#include "cli/table/vtk.h"
#include "rows_format.h"

#include <stdlib.h>
#include <string.h>

/* Columns of the file without a name: the points, the rows' numbers, and the properties. */
enum { POINTS, NUMBERS, PROPERTIES };

typedef struct vtp_rows {
    rows_shape shape;
    rows_columns columns;
    uint32_t *pick; /* rows of a piece that have points */
    vtk_text text;
} vtp_rows;

static int open_rows(rows_writer *w)
{
    size_t size[ROWS_COLUMNS_MAX] = {3 * sizeof(float), sizeof(uint64_t)};
    vtp_rows *const own = cli_alloc(1, sizeof *own);
    w->own = own;
    if (!own)
        return cli_no_memory();
    own->columns = (rows_columns){.spool = -1};
    own->pick = cli_alloc(ROWS_PIECE, sizeof *own->pick);
    if (!own->pick)
        return cli_no_memory();
    const int status = rows_shape_of(w->query, w->out->place.shown, &own->shape);
    if (status != EXIT_DONE)
        return status;
    for (int p = 0; p < own->shape.count; p++) {
        const rows_property *property = &own->shape.property[p];
        size[PROPERTIES + p] = (size_t)property->count * query_field_size(&w->query->fields[property->field[0]]);
    }
    return rows_columns_open(&own->columns, w->out, PROPERTIES + own->shape.count, size, 1);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void put_fields(rows_writer *w, const rows_field *fields, int column, const int *field, int count, uint64_t rows)
{
    vtp_rows *const own = w->own;
    unsigned char *to = own->columns.buffer;
    for (uint64_t i = 0; i < rows; i++)
        for (int c = 0; c < count; c++)
            to = rows_put_number(to, &w->query->fields[field[c]], fields, &fields[field[c]], own->pick[i]);
    rows_columns_put(&own->columns, column, own->columns.buffer, rows);
}

static void put_numbers(vtp_rows *own, uint64_t first, uint64_t rows)
{
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t number = first + own->pick[i];
        memcpy(own->columns.buffer + i * sizeof number, &number, sizeof number);
    }
    rows_columns_put(&own->columns, NUMBERS, own->columns.buffer, rows);
}

static void write_piece(rows_writer *w, const rows_field *fields, uint64_t rows)
{
    vtp_rows *const own = w->own;
    put_fields(w, fields, POINTS, own->shape.point, 3, rows);
    put_numbers(own, w->done, rows);
    for (int p = 0; p < own->shape.count; p++)
        put_fields(w, fields, PROPERTIES + p, own->shape.property[p].field, own->shape.property[p].count, rows);
}

/* Chunks have fewer than 2^32 rows. */
static void write_rows(rows_writer *w, const rows_field *fields, uint64_t count)
{
    vtp_rows *const own = w->own;
    for (uint64_t i = 0; i < count && !w->out->error;) {
        const uint64_t fit = rows_columns_fit(&own->columns, ROWS_PIECE);
        uint64_t rows = 0;
        for (; i < count && rows < fit; i++)
            if (rows_is_placed(w->query, &own->shape, fields, i))
                own->pick[rows++] = (uint32_t)i;
        if (rows > 0)
            write_piece(w, fields, rows);
    }
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void describe_property(vtp_rows *own, const rows_query *query, int p)
{
    const rows_property *property = &own->shape.property[p];
    const int column = PROPERTIES + p;
    const char *names[3];
    for (int c = 0; c < 3; c++)
        names[c] = query->fields[property->field[c]].name;
    own->columns.at[column] = vtk_add_array(&own->text, rows_type_of(&query->fields[property->field[0]])->vtk,
                                            property->name, property->count, property->count > 1 ? names : NULL,
                                            own->columns.done * own->columns.size[column]);
}

/* Finds the places of all arrays. Returns that of the two that make vertices of points. */
static uint64_t describe(vtp_rows *own, const rows_query *query)
{
    vtk_text *const t = &own->text;
    const uint64_t rows = own->columns.done, bytes = rows * sizeof(uint64_t);
    vtk_begin(t, "PolyData", NULL);
    vtk_add(t, "  <PolyData>\n    <Piece NumberOfPoints=\"%llu\" NumberOfVerts=\"%llu\" NumberOfLines=\"0\" ",
            (unsigned long long)rows, (unsigned long long)rows);
    vtk_add(t, "NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n      <PointData>\n");
    own->columns.at[NUMBERS] = vtk_add_array(t, "Int64", "row", 1, NULL, bytes);
    for (int p = 0; p < own->shape.count; p++)
        describe_property(own, query, p);
    vtk_add(t, "      </PointData>\n      <CellData/>\n      <Points>\n");
    own->columns.at[POINTS] = vtk_add_array(t, "Float32", "Points", 3, NULL, rows * 3 * sizeof(float));
    vtk_add(t, "      </Points>\n      <Verts>\n");
    const uint64_t vertices = vtk_add_array(t, "Int64", "connectivity", 1, NULL, bytes);
    vtk_add_array(t, "Int64", "offsets", 1, NULL, bytes);
    vtk_add(t, "      </Verts>\n    </Piece>\n");
    vtk_end(t, "PolyData");
    for (int i = 0; i < own->columns.count; i++)
        own->columns.at[i] += t->used;
    return vertices + t->used;
}

/* The numbers from `first` on, one for each row. */
static void write_range(vtp_rows *own, output *out, uint64_t at, uint64_t first)
{
    const uint64_t rows = own->columns.done;
    for (uint64_t row = 0, n; row < rows && !out->error; row += n) {
        n = rows - row < ROWS_PIECE ? rows - row : ROWS_PIECE;
        for (uint64_t i = 0; i < n; i++)
            memcpy(own->columns.buffer + i * sizeof i, &(uint64_t){first + row + i}, sizeof i);
        out->error = cli_write_at(out->fd, own->columns.buffer, n * sizeof n, at + row * sizeof row);
    }
}

static void write_length(output *out, uint64_t at, uint64_t bytes)
{
    if (!out->error)
        out->error = cli_write_at(out->fd, &bytes, VTK_LENGTH, at - VTK_LENGTH);
}

static int finish(rows_writer *w)
{
    vtp_rows *const own = w->own;
    output *const out = w->out;
    const rows_columns *columns = &own->columns;
    const uint64_t vertices = describe(own, w->query), bytes = columns->done * sizeof(uint64_t),
                   offsets = vertices + bytes + VTK_LENGTH;
    if (own->text.used >= VTK_TEXT)
        return cli_refuse(EXIT_USAGE, "%s: the names of the columns are too long for a .vtp file", out->place.shown);
    if (!out->error)
        out->error = cli_write_at(out->fd, own->text.at, own->text.used, 0);
    for (int i = 0; i < columns->count; i++)
        write_length(out, columns->at[i], columns->done * columns->size[i]);
    rows_columns_move(&own->columns);
    write_length(out, vertices, bytes);
    write_range(own, out, vertices, 0);
    write_length(out, offsets, bytes);
    write_range(own, out, offsets, 1);
    if (!out->error)
        out->error = cli_write_at(out->fd, vtk_trailer, strlen(vtk_trailer), offsets + bytes);
    rows_report_left_out(out, w->done, columns->done);
    return EXIT_DONE;
}

static void close_rows(rows_writer *w)
{
    vtp_rows *const own = w->own;
    if (own) {
        rows_columns_close(&own->columns);
        free(own->pick);
    }
    free(own);
    w->own = NULL;
}

const rows_format rows_vtp = {.suffix = "vtp",
                              .title = "a .vtp",
                              .has_points = 1,
                              .open = open_rows,
                              .write = write_rows,
                              .finish = finish,
                              .close = close_rows};
