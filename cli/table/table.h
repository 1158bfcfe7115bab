/* SPDX-License-Identifier: MIT */
/* Tables of numbers in files, a chunk of rows at a time: CSV, NumPy's .npy or HDF5, by the suffix. Memory is bounded by
 * the limits, however many rows there are. */
#ifndef CAROM_CLI_TABLE_TABLE_H
#define CAROM_CLI_TABLE_TABLE_H

#include <stddef.h>
#include <stdint.h>

typedef enum table_kind {
    TABLE_FLOAT, /* in text as strtof reads it */
    TABLE_TIME,  /* a float that is neither NaN nor negative */
    TABLE_MASK,  /* 32 bits, in text decimal or hexadecimal with 0x: a uint32_t in the place of each float */
    TABLE_SHIFT, /* a whole number from -128 to 127, as a float; in HDF5 an integer or a float */
    TABLE_WHOLE  /* a whole number from 0 to 2^63 - 1, in text as decimal_read_whole reads it, in .npy as a float up to
                  * 2^24, in HDF5 an integer; table_wholes has them */
} table_kind;

typedef struct table_column {
    const char *name;
    table_kind kind;
    int group;   /* 0: required; else optional, and columns of one group come all or none */
    int present; /* filled when the file is opened */
    float *data; /* filled by table_next, NULL if absent; table_free releases it */
} table_column;

typedef struct table_limits {
    uint64_t rows;    /* of a chunk, at least 1 */
    unsigned threads; /* that read numbers, 1 .. PARALLEL_MAX */
    size_t part;      /* bytes of text that each takes at a time, at least 1 */
} table_limits;

#define TABLE_UNKNOWN UINT64_MAX

/* Each of these returns an exit status; anything but EXIT_DONE has been explained on standard error. */

/* A format of files. `file` is a reader of its own. */
typedef struct table_source {
    int rows_are_lines; /* row i stands in line i + 2 */
    int (*open)(void **file, const char *path, table_column *columns, size_t count, const table_limits *limits);
    int (*next)(void *file, uint64_t most, uint64_t *rows);
    double (*share)(const void *file);
    uint64_t (*rows)(const void *file); /* NULL: TABLE_UNKNOWN */
    void (*close)(void *file);
} table_source;

extern const table_source table_csv, table_npy, table_hdf5;

typedef struct table_reader {
    const table_source *source; /* NULL: none is open */
    void *file;
} table_reader;

/* Open `path` ("-": standard input, as CSV) and find the columns. `columns` [count] and `path` must outlive the
 * reader. */
int table_open(table_reader *out, const char *path, table_column *columns, size_t count, const table_limits *limits);
/* The next rows, at most `most` and at most limits.rows, into the columns; fewer only at the end of the file. Nothing
 * behind the last row that is asked for is looked at. */
int table_next(table_reader *reader, uint64_t most, uint64_t *rows);
/* How much of the file has been turned into rows, from 0 to 1; NaN of a pipe. */
double table_share(const table_reader *reader);
/* Rows of the whole file; TABLE_UNKNOWN of text. */
uint64_t table_rows(const table_reader *reader);
void table_close(table_reader *reader);
/* Where a row of the file named `shown` stands, for messages: `rows.csv:7` or `rows.npy: row 5`. */
void table_place(const table_reader *reader, const char *shown, uint64_t row, char *text, size_t size);

/* ---- table_columns.c --------------------------------------------------------------------------------------------- */

enum { TABLE_NAMES = 240 };

/* The first column that should be there and is not, and the names of all others such. NULL: none. */
const table_column *table_missing(const table_column *columns, size_t count, char more[TABLE_NAMES]);
/* Append ", name" or, if it does not fit, dots. Returns 0 then. */
int table_add_name(char names[TABLE_NAMES], size_t *used, const char *name);
/* Make *room for so many rows of a chunk in the columns that are present. Returns 0 if memory is short. */
int table_grow(table_column *columns, size_t count, const table_limits *limits, uint64_t *room, uint64_t rows);
/* Where a reader is in a file of known length. */
typedef struct table_window {
    uint64_t rows, from, size; /* of the file; of the chunk: its first and how many */
    uint64_t room;             /* rows that the columns have room for */
} table_window;
/* The chunk behind the present one. Returns 0 if memory is short. */
int table_move(table_window *window, table_column *columns, size_t count, const table_limits *limits, uint64_t most);
double table_window_share(const table_window *window);
/* The numbers of a column of whole numbers, NULL if absent. */
const uint64_t *table_wholes(const table_column *column);
/* Is that a number that such a column has? */
int table_is_shift(float number);
void table_free(table_column *columns, size_t count);

#endif
