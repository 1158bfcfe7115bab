/* SPDX-License-Identifier: MIT */
/* Answers to HDF5: a contiguous dataset for each column, described before or after, and written without the library.
 *
 * Where a column begins follows from the number of rows. Text and lists do not tell it before the end: their columns go
 * to a file without a name first, block by block, and to their places at last. Chunked datasets could grow, but their
 * bytes would be another file for the same rows, could not be mapped into memory, and were written through the library,
 * which ends a process whose disk is full with errors of its own. */
#include "cli/table/hdf5.h"
#include "rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows of a block of the file without a name, and of what is written at once. */
enum { BLOCK = 1 << 20, PIECE = 1 << 16 };

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
    case QUERY_BITS: return hdf5_create_array(file, field->name, "|u1", 1, &rows);
    case QUERY_TIME:
    case QUERY_COORDINATE:
    case QUERY_HEIGHT: return hdf5_create_array(file, field->name, "<f4", 1, &rows);
    case QUERY_TRIANGLE: return hdf5_create_array(file, field->name, "<i4", 1, &rows);
    case QUERY_PATCH: return hdf5_create_array(file, field->name, "<u4", 1, &rows);
    case QUERY_COUNT: /* below 2^63; what is not there, QUERY_NO_COUNT, becomes -1 */
    case QUERY_NUMBER: return hdf5_create_array(file, field->name, "<i8", 1, &rows);
    }
    return -1;
}

/* Describe so many rows at the beginning of the file, and find the places of the columns. A dataset of no rows has no
 * place. */
static int describe(rows_writer *w, uint64_t rows)
{
    const rows_query *query = w->query;
    hdf5_head head;
    int done = 1;
    hdf5_head_begin(&head);
    for (int k = 0; k < query->field_count; k++) {
        const int f = query->order[k];
        const hdf5_id column = create_column(head.file, &query->fields[f], rows);
        done &= rows == 0 || (hdf5_place(column, &w->at[f]) && w->at[f] >= HDF5_HEAD);
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

/* Of the block of the file without a name in which a row is. */
static uint64_t spool_place(const rows_writer *w, int f, uint64_t row)
{
    uint64_t before = 0, bytes = 0;
    for (int g = 0; g < w->query->field_count; g++) {
        const uint64_t size = query_field_size(&w->query->fields[g]);
        before += g < f ? size : 0;
        bytes += size;
    }
    return row / BLOCK * BLOCK * bytes + BLOCK * before + row % BLOCK * query_field_size(&w->query->fields[f]);
}

static uint64_t place_of(const rows_writer *w, int f, uint64_t row)
{
    return w->at[f] + row * query_field_size(&w->query->fields[f]);
}

/* The numbers of a column from row `from` of the fields on. What is not there is NaN. */
static const void *numbers_of(const rows_writer *w, int f, const rows_field *fields, uint64_t from, uint64_t count)
{
    const query_field *field = &w->query->fields[f];
    const uint32_t nan = 0x7fc00000; /* of one pattern on every machine */
    if (field->kind != QUERY_COORDINATE && field->kind != QUERY_HEIGHT)
        return fields[f].bytes + from * query_field_size(field);
    memcpy(w->buffer, fields[f].floats + from, (size_t)count * sizeof(float));
    for (uint64_t i = 0; i < count; i++)
        if (rows_is_missing(field, fields, &fields[f], from + i))
            memcpy(w->buffer + i * sizeof nan, &nan, sizeof nan);
    return w->buffer;
}

static void write_columns(rows_writer *w, const rows_field *fields, uint64_t count)
{
    for (uint64_t from = 0, n; from < count && !w->out->error; from += n) {
        const uint64_t row = w->done, left = count - from, room = BLOCK - row % BLOCK;
        n = left < PIECE ? left : PIECE;
        n = n < room ? n : room;
        for (int f = 0; f < w->query->field_count && !w->out->error; f++) {
            const uint64_t at = w->spool >= 0 ? spool_place(w, f, row) : place_of(w, f, row);
            w->out->error = cli_write_at(w->spool >= 0 ? w->spool : w->out->fd, numbers_of(w, f, fields, from, n),
                                         (size_t)n * query_field_size(&w->query->fields[f]), at);
        }
        w->done += n;
    }
}

/* A piece of all columns goes to its place. Space that is read is given back, where the file system can, so that the
 * disk has the rows little more than once. */
static int move_piece(rows_writer *w, uint64_t row, uint64_t count)
{
    int error = 0;
    for (int f = 0; f < w->query->field_count && !error; f++) {
        const size_t size = (size_t)count * query_field_size(&w->query->fields[f]);
        const uint64_t at = spool_place(w, f, row);
        error = cli_read_at(w->spool, w->buffer, size, at);
        if (!error)
            error = cli_write_at(w->out->fd, w->buffer, size, place_of(w, f, row));
        (void)fallocate(w->spool, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)size);
    }
    return error;
}

static int finish(rows_writer *w)
{
    if (w->spool < 0)
        return w->done == w->rows || w->out->error
                   ? EXIT_DONE
                   : cli_refuse(EXIT_WORK, "%llu rows were announced, and %llu were read", (unsigned long long)w->rows,
                                (unsigned long long)w->done);
    const int status = describe(w, w->done);
    for (uint64_t row = 0; row < w->done && status == EXIT_DONE && !w->out->error; row += PIECE)
        w->out->error = move_piece(w, row, w->done - row < PIECE ? w->done - row : PIECE);
    return status;
}

static int open_columns(rows_writer *w)
{
    w->spool = -1;
    w->buffer = cli_alloc(PIECE, sizeof(uint64_t));
    if (!w->buffer)
        return cli_no_memory();
    if (w->rows != TABLE_UNKNOWN)
        return describe(w, w->rows);
    w->spool = output_place_nameless(&w->out->place);
    return w->spool >= 0
               ? EXIT_DONE
               : cli_refuse(EXIT_WORK, "%s: no file can be made beside it: %s", w->out->place.shown, strerror(errno));
}

static void close_columns(rows_writer *w)
{
    if (w->spool >= 0)
        close(w->spool);
    free(w->buffer);
    w->buffer = NULL;
    w->spool = -1;
}

const rows_format rows_hdf5 = {.open = open_columns, .write = write_columns, .finish = finish, .close = close_columns};
