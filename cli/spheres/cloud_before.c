/* SPDX-License-Identifier: MIT */
#include "cloud_before.h"
#include "cli/base/parallel.h"
#include "cli/table/csv.h"

#include <stdlib.h>
#include <string.h>

static const table_column columns_of_file[BEFORE_COLUMNS] = {{.name = "a", .kind = TABLE_WHOLE},
                                                             {.name = "b", .kind = TABLE_WHOLE},
                                                             {.name = "sx", .kind = TABLE_SHIFT, .group = 1},
                                                             {.name = "sy", .kind = TABLE_SHIFT, .group = 1},
                                                             {.name = "sz", .kind = TABLE_SHIFT, .group = 1}};

int cloud_before_open(cloud_before *h, const cli_options *options, const char *path)
{
    const table_limits limits = {.rows = CLI_CHUNK, .threads = parallel_threads(options->threads), .part = CSV_PART};
    *h = (cloud_before){.path = path};
    memcpy(h->columns, columns_of_file, sizeof columns_of_file);
    return table_open(&h->file, path, h->columns, BEFORE_COLUMNS, &limits);
}

void cloud_before_close(cloud_before *h)
{
    table_close(&h->file);
    table_free(h->columns, BEFORE_COLUMNS);
    free(h->a);
    free(h->b);
    free(h->shift);
    *h = (cloud_before){0};
}

static int grow(cloud_before *h, uint64_t more)
{
    if (h->count + more <= h->room)
        return 1;
    h->room = 2 * h->room + more;
    int32_t *a = cli_resize(h->a, h->room, sizeof *a);
    h->a = a ? a : h->a;
    int32_t *b = cli_resize(h->b, h->room, sizeof *b);
    h->b = b ? b : h->b;
    int8_t *shift = cli_resize(h->shift, h->room, 3);
    h->shift = shift ? shift : h->shift;
    return a && b && shift;
}

static int refuse_row(const cloud_before *h, const char *what)
{
    char place[512];
    table_place(&h->file, h->path, h->first + h->count, place, sizeof place);
    return cli_refuse(EXIT_USAGE, "%s: %s", place, what);
}

static int take_rows(cloud_before *h, uint64_t rows)
{
    const uint64_t *a = table_wholes(&h->columns[BEFORE_A]), *b = table_wholes(&h->columns[BEFORE_B]);
    for (uint64_t i = 0; i < rows; i++, h->count++) {
        if (a[i] > INT32_MAX || b[i] > INT32_MAX)
            return refuse_row(h, "a and b of a pair are at most 2147483647");
        h->a[h->count] = (int32_t)a[i];
        h->b[h->count] = (int32_t)b[i];
        if (h->count > 0 && h->a[h->count] < h->a[h->count - 1])
            return refuse_row(h, "a is less than in the row before; pairs are in its order");
        for (uint64_t k = 0; k < 3; k++) {
            const table_column *column = &h->columns[BEFORE_SHIFT + k];
            h->shift[3 * h->count + k] = column->present ? (int8_t)column->data[i] : 0;
        }
    }
    return EXIT_DONE;
}

static int read_chunk(cloud_before *h)
{
    uint64_t rows = 0;
    const int status = table_next(&h->file, CLI_CHUNK, &rows);
    h->is_at_end = rows == 0;
    if (status != EXIT_DONE || rows == 0)
        return status;
    return grow(h, rows) ? take_rows(h, rows) : cli_no_memory();
}

/* The last row stays, for the order of the next one. */
static void forget(cloud_before *h, uint64_t begin)
{
    uint64_t gone = 0;
    while (gone + 1 < h->count && (uint64_t)h->a[gone] < begin)
        gone++;
    if (gone == 0)
        return;
    h->count -= gone;
    h->first += gone;
    memmove(h->a, h->a + gone, h->count * sizeof *h->a);
    memmove(h->b, h->b + gone, h->count * sizeof *h->b);
    memmove(h->shift, h->shift + 3 * gone, 3 * h->count);
}

int cloud_before_read(cloud_before *h, uint64_t begin, uint64_t *end, uint64_t most)
{
    int status = EXIT_DONE;
    forget(h, begin);
    while (status == EXIT_DONE && !h->is_at_end) {
        const uint64_t last = h->count > 0 ? (uint64_t)h->a[h->count - 1] : 0; /* more of its pairs may follow */
        if (last >= *end)
            break;
        if (h->count >= most && last > begin) {
            *end = last;
            break;
        }
        status = read_chunk(h);
        forget(h, begin);
    }
    return status;
}

int cloud_before_finish(cloud_before *h)
{
    int status = EXIT_DONE;
    while (status == EXIT_DONE && !h->is_at_end) {
        status = read_chunk(h);
        forget(h, UINT64_MAX);
    }
    return status;
}

carom_cloud_pairs_before cloud_before_pairs(const cloud_before *h)
{
    return (carom_cloud_pairs_before){
        .size = sizeof(carom_cloud_pairs_before), .count = h->count, .a = h->a, .b = h->b, .shift = h->shift};
}
