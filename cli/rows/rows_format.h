/* SPDX-License-Identifier: MIT */
/* Formats of rows. A writer gets the columns and their kinds when it is opened, then chunks of rows, then the end. */
#ifndef CAROM_CLI_ROWS_ROWS_FORMAT_H
#define CAROM_CLI_ROWS_ROWS_FORMAT_H

#include "rows.h"

/* Failed writes are in the output's `error`. Functions that return an int return an exit status. */
typedef struct rows_format {
    const char *suffix;               /* NULL: any other */
    const char *title;                /* with its article */
    int is_text;                      /* an output may be a pipe; else the file's beginning is written last */
    int has_points;                   /* each row is at a point in space */
    int (*require)(const char *path); /* NULL, as what follows: nothing to do */
    int (*open)(rows_writer *w);
    void (*header)(rows_writer *w);
    void (*write)(rows_writer *w, const rows_field *fields, uint64_t count);
    int (*finish)(rows_writer *w);
    void (*close)(rows_writer *w);
    /* Of rows_slices_write: row i of the fields to text, or none. Returns its end. */
    char *(*put_row)(rows_writer *w, char *to, uint64_t i);
} rows_format;

extern const rows_format rows_csv, rows_hdf5, rows_npy, rows_vtp, rows_xyz;

/* ---- rows_number.c: numbers as bytes ------------------------------------------------------------------------------
 */

typedef struct rows_type {
    const char *numpy, *vtk;
} rows_type;

const rows_type *rows_type_of(const query_field *field);
/* Number i of a field as its type has it. What is not there is NaN, of one pattern, or -1 or 255. Returns its end. */
unsigned char *rows_put_number(unsigned char *to, const query_field *field, const rows_field *fields,
                               const rows_field *from, uint64_t i);

/* ---- rows_write.c: formats with one row behind the other, which threads put down in slices ------------------------
 */

/* Rows that a thread puts down at a time. */
enum { ROWS_SLICE = 1 << 13 };
/* For rows of at most that many bytes. */
int rows_slices_open(rows_writer *w, size_t row_bytes);
void rows_slices_write(rows_writer *w, const rows_field *fields, uint64_t count);
void rows_slices_close(rows_writer *w);
/* A field, and the byte behind it. */
enum { ROWS_FIELD_MAX = 33 };
/* Returns its end; a field that is not there has no bytes. */
char *rows_put_field(char *to, const query_field *field, const rows_field *fields, const rows_field *from, uint64_t i);

/* ---- rows_columns.c: formats with one column behind the other -----------------------------------------------------
 */

/* Rows of a block of the file without a name, and of what is written at once. */
enum { ROWS_BLOCK = 1 << 20, ROWS_PIECE = 1 << 16 };

/* Where a column begins in the file follows from the number of rows. Text and lists do not tell it before the end:
 * their columns go to a file without a name first, block by block, and to their places at last. */
typedef struct rows_columns {
    output *out;
    int count;
    size_t size[ROWS_COLUMNS_MAX]; /* bytes of a row */
    uint64_t at[ROWS_COLUMNS_MAX]; /* where the columns begin in the file */
    uint64_t done;                 /* rows */
    int spool;                     /* the file without a name; -1: none, the places are known */
    unsigned char *buffer;         /* ROWS_PIECE numbers of any column */
} rows_columns;

/* For `count` columns of these sizes. is_spooled: the places are not known yet. rows_columns_close in any case. */
int rows_columns_open(rows_columns *c, output *out, int count, const size_t *size, int is_spooled);
/* Rows that fit from the last one on, of so many. */
uint64_t rows_columns_fit(const rows_columns *c, uint64_t rows);
/* The numbers of a column of so many rows behind the last; after all columns `done` grows by as many. */
void rows_columns_put(rows_columns *c, int column, const void *numbers, uint64_t rows);
/* The places are known: all rows go there. */
void rows_columns_move(rows_columns *c);
void rows_columns_close(rows_columns *c);

/* ---- rows_points.c: where rows are in space -----------------------------------------------------------------------
 */

/* A field, or three that are a vector. */
typedef struct rows_property {
    const char *name;
    int count, field[3];
} rows_property;

/* A row is at `point`; rows without one are left out, and others have their number among all. */
typedef struct rows_shape {
    int point[3]; /* fields */
    int count;
    rows_property property[ROWS_COLUMNS_MAX]; /* all other fields */
} rows_shape;

/* Whether the query has columns of points. */
int rows_has_points(const rows_query *query);
/* Refuses a query without. Returns an exit status. */
int rows_shape_of(const rows_query *query, const char *shown, rows_shape *out);
/* Whether row i has a point. */
int rows_is_placed(const rows_query *query, const rows_shape *shape, const rows_field *fields, uint64_t i);
/* Says how many rows have been left out. */
void rows_report_left_out(const output *out, uint64_t rows, uint64_t written);

#endif
