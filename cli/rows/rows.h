/* SPDX-License-Identifier: MIT */
/* Rows of a table through the library and out again, a chunk at a time: what every query command does, but for the
 * query itself. Memory is that of a chunk, however many rows there are. */
#ifndef CAROM_CLI_ROWS_ROWS_H
#define CAROM_CLI_ROWS_ROWS_H

#include "cli/command/command.h"
#include "cli/table/hdf5.h"
#include "cli/base/output.h"
#include "cli/base/parallel.h"
#include "cli/base/progress.h"
#include "queries/query.h"
#include "cli/table/table.h"

/* Columns of an output, at most: those of a query, or a caller's. */
enum { ROWS_COLUMNS_MAX = 32 };
_Static_assert((int)QUERY_FIELDS_MAX <= (int)ROWS_COLUMNS_MAX, "a query's fields are columns");

/* Rows of a query, a chunk at a time. */
typedef struct rows_input {
    const char *path;
    table_column columns[QUERY_COLUMNS_MAX];
    size_t column_count;
    table_reader file;
    uint64_t chunk;       /* rows that are read at once, at most */
    uint64_t from, count; /* rows from .. from + count are in the columns */
    double begin, end;    /* shares of the file in front of them and behind them; NaN: not known */
    progress progress;    /* of the rows */
} rows_input;

/* Arrays of answers, a chunk long. */
typedef union rows_field {
    void *memory;
    float *floats;
    uint8_t *bytes;
    int32_t *integers;
    uint64_t *longs;
    int64_t *signed_longs;
} rows_field;

/* Whether number i of a field is not there: an empty field in text, NaN in HDF5. */
static inline int rows_is_missing(const query_field *field, const rows_field *fields, const rows_field *numbers,
                                  uint64_t i)
{
    const rows_field *teller = &fields[field->feature];
    return (field->kind == QUERY_COORDINATE && teller->bytes[i] == CAROM_FEATURE_NONE) ||
           (field->kind == QUERY_HEIGHT && teller->integers[i] < 0 && numbers->floats[i] > 0.0f);
}

typedef struct rows_query {
    const query_type *row;
    int counts;                /* of a list: the number of records of each query is asked for, in place of them */
    const query_field *fields; /* [field_count] an array of answers each, and a column of the output */
    int field_count, order[ROWS_COLUMNS_MAX]; /* of the fields in the output */
    int instance;                             /* of a scene: the field of instances; 0: none */
    /* Of meshes: what all rows have in common, as in query_inputs. */
    uint8_t cull_back, prepare;
    carom_start start;
    float margin, merge_within, ball;
    const double *flat;
    carom_sign sign;
    uint8_t allow_open;
    uint32_t bundle; /* rows that have one answer together; 0, 1: one */
    int point;       /* the first of three fields with the place of a row, which the library does not answer; 0: none */
    const float *period; /* [3] of a periodic box; NULL: none */
    int query;           /* of closest points: the field with the row whose answer a bundle has; 0: none */
    const float *limit;  /* in place of a column of limits; NULL: the row of the registry has none */
    /* Fills fields that the library does not know, of all records of the rows of the file before `end` that have not
     * been filled yet; NULL: there are none. Returns an exit status. Of lists alone. */
    int (*fill)(void *user, uint64_t end, const rows_field *fields, uint64_t records);
    /* Behind the last row, before the output is put in place; NULL: nothing to do. Returns an exit status. */
    int (*finish)(void *user);
    void *user;
    struct mesh_columns *mesh_columns; /* what the triangles get from all rows; NULL: nothing */
} rows_query;

rows_query rows_query_of(const query_type *row, int counts);

/* Ask `subject`, the context or the mesh of the query, for count rows of the chunk, from its row `from` on. `list` is
 * that of query_call. Of counts there is room for one row more, because the library answers with count + 1 offsets. */
carom_status rows_ask(const rows_query *query, void *subject, const cli_options *options, rows_input *input,
                      uint64_t from, uint64_t count, const rows_field *fields, carom_hit_list *list, carom_stats *stats,
                      carom_error *err);

/* An array of so many rows for every field; 0, and none, where there is no memory. */
int rows_fields_alloc(const rows_query *query, uint64_t rows, rows_field *fields);
void rows_fields_free(rows_field *fields);

/* Each of these returns an exit status with its message printed. */

/* Open a file of such rows; it has none before the first rows_next. */
int rows_open(rows_input *input, const query_type *row, const cli_options *options, const char *path);
/* The same for a query whose chunks are whole bundles. */
int rows_open_bundles(rows_input *input, const rows_query *query, const cli_options *options, const char *path);
/* The next rows, at most so many and at most a chunk; a count of 0 is the end. */
int rows_next(rows_input *input, uint64_t most);
void rows_close(rows_input *input);
/* So many rows of the chunk are answered. */
void rows_show(rows_input *input, uint64_t done);

struct rows_writer;
/* Write answers of a chunk, and add them to the mesh's columns. */
void rows_emit(const rows_query *query, struct rows_writer *writer, const rows_field *fields, uint64_t count);
/* The query, for a format of points with those of its spheres where it has none of contacts. fields: as above. */
rows_query rows_placed(const rows_query *query, const rows_input *input, const char *path,
                       query_field fields[QUERY_FIELDS_MAX]);
/* Fill the points of the rows of a chunk that answers are of: answer i of row of[i], or of row i if `of` is NULL. */
void rows_fill_points(const rows_query *query, const rows_input *input, const rows_field *fields, const uint64_t *of,
                      uint64_t count);
/* Ask and write all rows, beginning with those that are in the columns. */
int rows_run(const rows_query *query, void *subject, const cli_options *options, rows_input *input);
/* The message for a failure of the library in this chunk. */
int rows_library_error(const rows_input *input, carom_status status, const carom_error *err);
/* The whole of a --pairs command, from its row in the registry; and what it prepares. */
int rows_pairs(const query_type *q, const cli_options *options, const char *path);
int rows_prepare_pairs(const query_type *q, const cli_options *options, uint32_t present);
/* Prepare such a query of rows with these optional columns, of a context or a mesh. */
int rows_prepare(const rows_query *query, void *subject, const cli_options *options, uint32_t present);

/* ---- rows_mesh.c: rows of a file that are asked of a mesh of another file ---------------------------------------- */

/* The whole of such a command; and what it prepares. */
int rows_mesh(const rows_query *query, const cli_options *options, const char *mesh, const char *path);
int rows_prepare_mesh(const rows_query *query, const cli_options *options, uint32_t present);

/* rows_scene.c: the same of a scene (--scene). */
int rows_scene(const rows_query *query, const cli_options *options, const char *scene, const char *path);
/* The query with a column `instance` in front of `triangle`. fields: memory for its fields, which may be theirs. */
rows_query rows_with_instance(const rows_query *query, query_field fields[QUERY_FIELDS_MAX]);

/* ---- rows_write.c: answers to a file, in a format of rows_format.h ------------------------------------------------
 */

struct rows_format;
/* The format that the suffix of an output names; text of any other, and of NULL, standard output. */
const struct rows_format *rows_format_of(const char *path);
/* Refuse a path that cannot be an output of that format. is_regular: it is, or may become, a regular file. Returns an
 * exit status. */
int rows_format_check(const char *path, int is_regular);

typedef struct rows_writer {
    const struct rows_format *format;
    output *out;
    const rows_query *query;
    unsigned threads;
    uint64_t rows; /* that will be written in all; TABLE_UNKNOWN */
    uint64_t done; /* that were written, or left out */
    void *own;     /* the format's */
    /* Of formats with one row behind the other. */
    const rows_field *fields; /* of the rows that are being written */
    uint64_t from, count;
    char *text[PARALLEL_MAX];
    size_t used[PARALLEL_MAX];
} rows_writer;

/* Bytes that a writer of so many fields takes for CSV. */
uint64_t rows_writer_bytes(int fields, unsigned threads);
/* rows: TABLE_UNKNOWN if it is not known how many will be written. Returns an exit status with its message printed, as
 * rows_writer_finish does; rows_writer_close in any case. */
int rows_writer_open(rows_writer *writer, const struct rows_format *format, output *out, const rows_query *query,
                     unsigned threads, uint64_t rows);
void rows_write_header(rows_writer *writer);
/* Rows 0 .. count of a chunk, or records of a list. What is not there is an empty field, or NaN. */
void rows_write(rows_writer *writer, const rows_field *fields, uint64_t count);
/* Behind the last row. */
int rows_writer_finish(rows_writer *writer);
void rows_writer_close(rows_writer *writer);

/* ---- rows_placed.c: rows that have no point of contact, in a format of points -------------------------------------
 */

/* Whether rows of this output are at points. */
int rows_needs_points(const char *path);
/* The query with columns x, y and z. fields: memory for its fields, which may be theirs. */
rows_query rows_with_points(const rows_query *query, query_field fields[QUERY_FIELDS_MAX]);
/* Two spheres. */
typedef struct rows_pair {
    double a[3], b[3], ra, rb;
} rows_pair;
/* The middle between their surfaces, on the line through their centres; a's centre if they have one. */
void rows_put_pair_point(const rows_pair *pair, float point[3]);

/* ---- rows_read.c: answers from an HDF5 file -----------------------------------------------------------------------
 */

typedef struct rows_reader {
    const char *path;
    const query_field *fields;
    int field_count;
    uint64_t rows;
    const char *wrong; /* why the file does not have such rows; NULL: it has */
    hdf5_input *file;
    hdf5_array array[QUERY_FIELDS_MAX];
} rows_reader;

/* rows_reader_close in any case. */
int rows_reader_open(rows_reader *reader, const char *path, const query_field *fields, int count);
/* So many rows into arrays, one for each field; unless the file is wrong. */
int rows_read(rows_reader *reader, uint64_t from, uint64_t count, const rows_field *to);
void rows_reader_close(rows_reader *reader);

/* ---- rows_list.c: queries with any number of records ------------------------------------------------------------- */

typedef struct rows_list {
    const rows_query *query;
    void *subject;
    const cli_options *options;
    rows_writer *writer;
    rows_field fields[QUERY_FIELDS_MAX];
    uint64_t room;     /* records in `fields` */
    uint64_t *offsets; /* of a chunk */
} rows_list;

/* For chunks of so many rows. */
int rows_list_open(rows_list *list, uint64_t rows);
/* The records of a chunk. */
int rows_list_chunk(rows_list *list, rows_input *input);
void rows_list_close(rows_list *list);

#endif
