/* SPDX-License-Identifier: MIT */
/* Columns of a file that each stand in one piece; see rows_format.h. */
#include "rows_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rows_columns_open(rows_columns *c, output *out, int count, const size_t *size, int is_spooled)
{
    size_t most = 1;
    *c = (rows_columns){.out = out, .count = count, .spool = -1};
    memcpy(c->size, size, (size_t)count * sizeof *size);
    for (int i = 0; i < count; i++)
        most = size[i] > most ? size[i] : most;
    c->buffer = cli_alloc(ROWS_PIECE, most);
    if (!c->buffer)
        return cli_no_memory();
    if (!is_spooled)
        return EXIT_DONE;
    c->spool = output_place_nameless(&out->place);
    return c->spool >= 0
               ? EXIT_DONE
               : cli_refuse(EXIT_WORK, "%s: no file can be made beside it: %s", out->place.shown, strerror(errno));
}

uint64_t rows_columns_fit(const rows_columns *c, uint64_t rows)
{
    const uint64_t room = ROWS_BLOCK - c->done % ROWS_BLOCK;
    rows = rows < ROWS_PIECE ? rows : ROWS_PIECE;
    return rows < room ? rows : room;
}

/* Of the block of the file without a name in which a row is. */
static uint64_t spool_place(const rows_columns *c, int column, uint64_t row)
{
    uint64_t before = 0, bytes = 0;
    for (int i = 0; i < c->count; i++) {
        before += i < column ? c->size[i] : 0;
        bytes += c->size[i];
    }
    return row / ROWS_BLOCK * ROWS_BLOCK * bytes + ROWS_BLOCK * before + row % ROWS_BLOCK * c->size[column];
}

static uint64_t place_of(const rows_columns *c, int column, uint64_t row)
{
    return c->at[column] + row * c->size[column];
}

void rows_columns_put(rows_columns *c, int column, const void *numbers, uint64_t rows)
{
    const uint64_t at = c->spool >= 0 ? spool_place(c, column, c->done) : place_of(c, column, c->done);
    if (!c->out->error)
        c->out->error = cli_write_at(c->spool >= 0 ? c->spool : c->out->fd, numbers, rows * c->size[column], at);
    c->done += column == c->count - 1 ? rows : 0;
}

/* A piece of all columns goes to its place. Space that is read is given back, where the file system can, so that the
 * disk has the rows little more than once. */
static int move_piece(rows_columns *c, uint64_t row, uint64_t count)
{
    int error = 0;
    for (int i = 0; i < c->count && !error; i++) {
        const size_t size = (size_t)count * c->size[i];
        const uint64_t at = spool_place(c, i, row);
        error = cli_read_at(c->spool, c->buffer, size, at);
        if (!error)
            error = cli_write_at(c->out->fd, c->buffer, size, place_of(c, i, row));
        (void)fallocate(c->spool, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)size);
    }
    return error;
}

void rows_columns_move(rows_columns *c)
{
    for (uint64_t row = 0; c->spool >= 0 && row < c->done && !c->out->error; row += ROWS_PIECE)
        c->out->error = move_piece(c, row, c->done - row < ROWS_PIECE ? c->done - row : ROWS_PIECE);
}

void rows_columns_close(rows_columns *c)
{
    if (c->spool >= 0)
        close(c->spool);
    free(c->buffer);
    *c = (rows_columns){.spool = -1};
}
