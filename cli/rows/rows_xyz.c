/* SPDX-License-Identifier: MIT */
/* Answers to extended XYZ: the number of rows, a line that names the columns, and a line for each row. The number has
 * one length and is written last. */
#include "rows_format.h"
#include "cli/base/decimal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the line with the number. OVITO 3 looks at the first 20 bytes to recognize the format. */
enum { COUNT_LINE = 20 };

typedef struct xyz_rows {
    rows_shape shape;
    uint64_t kept[PARALLEL_MAX]; /* rows with a point, of each thread */
} xyz_rows;

/* Names that are the file's own, or of what ASE makes of these. */
static int check_names(const rows_writer *w, const rows_shape *shape)
{
    static const char *const taken[] = {"species", "pos", "Z", "numbers", "positions", "symbols"};
    for (int p = 0; p < shape->count; p++)
        for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
            if (!strcmp(shape->property[p].name, taken[i]))
                return cli_refuse(EXIT_USAGE, "%s: column '%s': the file has one of that name, of its own",
                                  w->out->place.shown, taken[i]);
    return EXIT_DONE;
}

static int open_rows(rows_writer *w)
{
    xyz_rows *const own = cli_alloc(1, sizeof *own);
    w->own = own;
    if (!own)
        return cli_no_memory();
    *own = (xyz_rows){.shape = {.count = 0}};
    int status = rows_shape_of(w->query, w->out->place.shown, &own->shape);
    if (status == EXIT_DONE)
        status = check_names(w, &own->shape);
    /* species and number, in addition to the fields */
    return status == EXIT_DONE ? rows_slices_open(w, ((size_t)w->query->field_count + 2) * ROWS_FIELD_MAX) : status;
}

/* Readers such as ASE hold an I in 32 bits with a sign, so that wider whole numbers are an R: binary64. */
static char letter_of(const query_field *field)
{
    const int is_word = field->kind == QUERY_STATE || field->kind == QUERY_FEATURE;
    const char *type = rows_type_of(field)->numpy;
    return is_word ? 'S' : !strcmp(type, "<i4") || !strcmp(type, "|u1") ? 'I' : 'R';
}

/* Only a box that is closed along all axes can be named. */
static void write_box(output *out, const float *period)
{
    if (!period || !(period[0] > 0.0f && period[1] > 0.0f && period[2] > 0.0f)) {
        output_text(out, " pbc=\"F F F\"\n");
        return;
    }
    output_text(out, " Lattice=\"");
    for (int i = 0; i < 9; i++) {
        output_text(out, i > 0 ? " " : "");
        output_float(out, i % 4 == 0 ? period[i / 4] : 0.0f);
    }
    output_text(out, "\" pbc=\"T T T\"\n");
}

static void put_count(uint64_t rows, char line[COUNT_LINE + 1])
{
    snprintf(line, COUNT_LINE + 1, "%-*llu\n", COUNT_LINE - 1, (unsigned long long)rows);
}

static void write_header(rows_writer *w)
{
    const rows_shape *shape = &((xyz_rows *)w->own)->shape;
    char line[COUNT_LINE + 1];
    put_count(0, line);
    output_text(w->out, line);
    output_text(w->out, "Properties=species:S:1:pos:R:3:row:R:1");
    for (int p = 0; p < shape->count; p++) {
        const rows_property *property = &shape->property[p];
        output_format(w->out, ":%s:%c:%d", property->name, letter_of(&w->query->fields[property->field[0]]),
                      property->count);
    }
    write_box(w->out, w->query->period);
}

/* What is not there is a word or number of its own, because no field may be empty. */
static char *put_value(const rows_writer *w, char *to, int f, uint64_t i)
{
    const query_field *field = &w->query->fields[f];
    *to++ = ' ';
    char *const end = rows_put_field(to, field, w->fields, &w->fields[f], i);
    if (end > to)
        return end;
    const char *none = field->kind == QUERY_FEATURE ? "none"
                       : field->kind == QUERY_BITS  ? "255"
                       : field->kind == QUERY_COUNT ? "-1"
                                                    : "nan";
    memcpy(to, none, strlen(none));
    return to + strlen(none);
}

static char *put_row(rows_writer *w, char *to, uint64_t i)
{
    xyz_rows *const own = w->own;
    const rows_shape *shape = &own->shape;
    if (!rows_is_placed(w->query, shape, w->fields, i))
        return to;
    *to++ = 'X';
    for (int c = 0; c < 3; c++)
        to = put_value(w, to, shape->point[c], i);
    *to++ = ' ';
    to += decimal_write_integer(to, (int64_t)(w->done + i));
    for (int p = 0; p < shape->count; p++)
        for (int c = 0; c < shape->property[p].count; c++)
            to = put_value(w, to, shape->property[p].field[c], i);
    *to++ = '\n';
    own->kept[(i - w->from) / ROWS_SLICE]++;
    return to;
}

static int finish(rows_writer *w)
{
    const xyz_rows *own = w->own;
    char line[COUNT_LINE + 1];
    uint64_t rows = 0;
    for (unsigned i = 0; i < PARALLEL_MAX; i++)
        rows += own->kept[i];
    put_count(rows, line);
    output_flush(w->out);
    if (!w->out->error)
        w->out->error = cli_write_at(w->out->fd, line, COUNT_LINE, 0);
    rows_report_left_out(w->out, w->done, rows);
    return EXIT_DONE;
}

static void close_rows(rows_writer *w)
{
    rows_slices_close(w);
    free(w->own);
    w->own = NULL;
}

const rows_format rows_xyz = {.suffix = "xyz",
                              .title = "an .xyz",
                              .has_points = 1,
                              .open = open_rows,
                              .header = write_header,
                              .write = rows_slices_write,
                              .finish = finish,
                              .close = close_rows,
                              .put_row = put_row};
