/* SPDX-License-Identifier: MIT */
/* The C part of the extension module: what costs less here than in Python. */
#include <stddef.h>
#include <string.h>

#include "calls/calls.h"

typedef struct carom_py_watch {
    void *handle;
    int to_end;
} carom_py_watch;

typedef struct carom_py_column {
    uint16_t offset;
    uint8_t size, is_points;
} carom_py_column;

typedef struct carom_py_shared {
    carom_py_watch watch;
    carom_list_totals totals;
    carom_error err;
} carom_py_shared;

enum { RESULT_MOST = 256 }; /* bytes of a result; checked by carom_py_ask() */

static int carom_py_report(void *user, uint64_t done, uint64_t count);

/* Most calls are small and report their end alone. Python is not asked then, unless it wants the end too. */
static int carom_py_progress(void *user, uint64_t done, uint64_t count)
{
    const carom_py_watch *watch = user;
    return done == count && !watch->to_end ? 0 : carom_py_report(watch->handle, done, count);
}

static void set_pointer(char *result, size_t offset, const char *to)
{
    memcpy(result + offset, &to, sizeof to);
}

/* Lets a result point to its columns, which lie one after the other in a block of memory. */
static void place_columns(char *result, const carom_py_column *column, uint32_t columns, char *block, uint64_t rows)
{
    for (; columns > 0; columns--, block += rows * column->size, column++) {
        if (column->is_points) {
            float *x = (float *)block;
            const carom_points_out view = {x, x + 1, x + 2, column->size};
            memcpy(result + column->offset, &view, sizeof view);
        } else
            set_pointer(result, column->offset, block);
    }
}

/* Makes call `number` with a descriptor that is filled but for its size and progress. Its answers go to a block of
 * memory: of a list the offsets, then columns of `rows` elements each. */
static int carom_py_ask(int number, void *subject, void *desc, int which, const carom_py_column *column,
                        uint32_t columns, char *block, uint64_t rows, carom_stats *stats, carom_py_shared *shared)
{
    const caromi_call_type *type = call_type(number);
    carom_batch *batch = desc;
    _Alignas(carom_points_out) char result[RESULT_MOST];
    if (type->out_size > sizeof result) {
        shared->err =
            (carom_error){CAROM_ERROR_UNSUPPORTED, 0, "a result with more columns than this package was made for"};
        return CAROM_ERROR_UNSUPPORTED;
    }
    memset(result, 0, type->out_size);
    memcpy(result, &type->out_size, sizeof type->out_size);
    if (type->totals != 0) {
        memcpy(result + sizeof type->out_size, &rows, sizeof rows); /* the capacity */
        set_pointer(result, type->totals, (const char *)&shared->totals);
        set_pointer(result, type->out.at[0].offset, block);
        block += (batch->count + 1) * sizeof(uint64_t);
    }
    place_columns(result, column, columns, block, rows);
    batch->size = type->desc_size;
    batch->progress = (carom_progress){carom_py_progress, &shared->watch};
    return type->call(subject, desc, result, which, stats, &shared->err);
}
