/* SPDX-License-Identifier: MIT */
/* Answers to HDF5: a contiguous dataset for each column, described before or after, and written without the library.
 *
 * Chunked datasets could grow, but their bytes would be another file for the same rows, could not be mapped into
 * memory, and were written through the library, which ends a process whose disk is full with errors of its own. */
#include "cli/table/hdf5.h"
#include "rows_format.h"

#include <stdlib.h>
#include <string.h>

/* ---- the description ----------------------------------------------------------------------------------------------
 */

enum { STATES = CAROM_INVALID + 1, FEATURES = CAROM_FEATURE_FACE + 1 };

static hdf5_id create_column(hdf5_id file, const query_field *field, uint64_t rows)
{
    const char *words[STATES > FEATURES ? STATES : FEATURES];
    switch (field->kind) {
    case QUERY_STATE:
        for (int i = 0; i < STATES; i++)
            words[i] = carom_state_name((carom_state)i);
        return hdf5_create_words(file, field->name, words, STATES, rows);
    case QUERY_FEATURE:
        for (int i = 0; i < FEATURES; i++)
            words[i] = carom_feature_name((carom_feature)i);
        return hdf5_create_words(file, field->name, words, FEATURES, rows);
    default: return hdf5_create_array(file, field->name, rows_type_of(field)->numpy, 1, &rows);
    }
}

/* Describe so many rows at the beginning of the file, and find the places of the columns. A dataset of no rows has no
 * place. */
static int describe(rows_writer *w, uint64_t rows)
{
    const rows_query *query = w->query;
    rows_columns *columns = w->own;
    hdf5_head head;
    int done = 1;
    hdf5_head_begin(&head);
    for (int k = 0; k < query->field_count; k++) {
        const int f = query->order[k];
        const hdf5_id column = create_column(head.file, &query->fields[f], rows);
        done &= rows == 0 || (hdf5_place(column, &columns->at[f]) && columns->at[f] >= HDF5_HEAD);
        done &= hdf5_close(column);
    }
    done &= hdf5_head_end(&head);
    if (!done)
        return cli_refuse(EXIT_WORK, "%s: HDF5 cannot describe the columns: %s", w->out->place.shown, hdf5_error());
    w->out->error = cli_write_at(w->out->fd, head.bytes, HDF5_HEAD, 0);
    return EXIT_DONE;
}

/* ---- rows ---------------------------------------------------------------------------------------------------------
 */

/* The numbers of a column from row `from` of the fields on. What is not there is NaN. */
static const void *numbers_of(const rows_writer *w, int f, const rows_field *fields, uint64_t from, uint64_t count)
{
    const query_field *field = &w->query->fields[f];
    unsigned char *const buffer = ((rows_columns *)w->own)->buffer;
    const size_t size = query_field_size(field);
    if (field->kind != QUERY_COORDINATE && field->kind != QUERY_HEIGHT)
        return fields[f].bytes + from * size;
    for (uint64_t i = 0; i < count; i++)
        rows_put_number(buffer + i * size, field, fields, &fields[f], from + i);
    return buffer;
}

static void write_columns(rows_writer *w, const rows_field *fields, uint64_t count)
{
    rows_columns *columns = w->own;
    for (uint64_t from = 0, n; from < count && !w->out->error; from += n) {
        n = rows_columns_fit(columns, count - from);
        for (int f = 0; f < columns->count; f++)
            rows_columns_put(columns, f, numbers_of(w, f, fields, from, n), n);
    }
}

static int finish(rows_writer *w)
{
    if (w->rows != TABLE_UNKNOWN || w->out->error)
        return EXIT_DONE;
    const int status = describe(w, w->done);
    if (status == EXIT_DONE)
        rows_columns_move(w->own);
    return status;
}

static int open_columns(rows_writer *w)
{
    size_t size[ROWS_COLUMNS_MAX];
    const int is_known = w->rows != TABLE_UNKNOWN;
    for (int f = 0; f < w->query->field_count; f++)
        size[f] = query_field_size(&w->query->fields[f]);
    w->own = cli_alloc(1, sizeof(rows_columns));
    if (!w->own)
        return cli_no_memory();
    const int status = rows_columns_open(w->own, w->out, w->query->field_count, size, !is_known);
    return status == EXIT_DONE && is_known ? describe(w, w->rows) : status;
}

static void close_columns(rows_writer *w)
{
    if (w->own)
        rows_columns_close(w->own);
    free(w->own);
    w->own = NULL;
}

const rows_format rows_hdf5 = {.suffix = "h5",
                               .title = "an HDF5",
                               .require = hdf5_require,
                               .open = open_columns,
                               .write = write_columns,
                               .finish = finish,
                               .close = close_columns};
