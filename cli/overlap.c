/* SPDX-License-Identifier: MIT */
/* carom overlap --pairs: which axes separate a sphere from a triangle. */
#include "cli.h"
#include "csv.h"
#include "output.h"

#include <stdlib.h>

enum { CHUNK = 1 << 21, COLUMN_COUNT = 13 };

static const csv_column pair_columns[COLUMN_COUNT] = {
    {.name = "cx"},  {.name = "cy"},  {.name = "cz"},  {.name = "radius"}, {.name = "p0x"},
    {.name = "p0y"}, {.name = "p0z"}, {.name = "p1x"}, {.name = "p1y"},    {.name = "p1z"},
    {.name = "p2x"}, {.name = "p2y"}, {.name = "p2z"},
};

static carom_points points(const csv_column *x, uint64_t from)
{
    return (carom_points){x[0].data + from, x[1].data + from, x[2].data + from, sizeof(float)};
}

static int overlap_chunk(carom_context *context, const cli_options *options, const csv_column *c, uint64_t from,
                         uint64_t count, const carom_overlap_result *result)
{
    carom_overlap_pairs_desc desc = {
        .size = sizeof desc,
        .count = count,
        .accuracy = options->accuracy,
        .center = points(c, from),
        .radius = {c[3].data + from, sizeof(float)},
        .p0 = points(c + 4, from),
        .p1 = points(c + 7, from),
        .p2 = points(c + 10, from),
    };
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    carom_status status = carom_overlap_pairs(context, &desc, result, &stats, &err);
    if (status != CAROM_OK)
        return cli_library_error(NULL, status, &err);
    cli_report_fallback(&stats);
    return EXIT_DONE;
}

static void write_rows(output *out, const carom_overlap_result *result, uint64_t count)
{
    for (uint64_t i = 0; i < count && !out->error; i++) {
        if (result->overlap[i] == CAROM_OVERLAP_INVALID) {
            output_text(out, ",\n");
            continue;
        }
        output_text(out, result->overlap[i] ? "1," : "0,");
        output_int(out, result->axes[i]);
        output_char(out, '\n');
    }
}

static int overlap_all(carom_context *context, const cli_options *options, const csv_column *columns, uint64_t count)
{
    output out;
    uint64_t room = count < CHUNK ? count : CHUNK;
    carom_overlap_result result = {cli_alloc(room, 1), cli_alloc(room, 1)};
    int status = result.overlap && result.axes ? output_open(&out, options->output) : cli_no_memory();
    if (status == EXIT_DONE) {
        output_text(&out, "overlap,axes\n");
        for (uint64_t from = 0; from < count && status == EXIT_DONE && !out.error; from += CHUNK) {
            uint64_t n = count - from < CHUNK ? count - from : CHUNK;
            status = overlap_chunk(context, options, columns, from, n, &result);
            if (status == EXIT_DONE)
                write_rows(&out, &result, n);
        }
        status = output_close(&out, status);
    }
    free(result.overlap);
    free(result.axes);
    return status;
}

int command_overlap(const cli_options *options)
{
    if (options->mesh || options->spheres || options->hits)
        return cli_refuse(EXIT_USAGE, "overlap: --mesh (with --spheres, --hits) is not in this version, only --pairs");
    if (!options->pairs)
        return cli_refuse(EXIT_USAGE, "overlap: --pairs FILE is missing");
    csv_column columns[COLUMN_COUNT];
    uint64_t count;
    for (int i = 0; i < COLUMN_COUNT; i++)
        columns[i] = pair_columns[i];
    int status = csv_read(options->pairs, columns, COLUMN_COUNT, &count);
    if (status != EXIT_DONE)
        return status;
    carom_context *context = NULL;
    status = cli_context_open(options, &context);
    if (status == EXIT_DONE)
        status = overlap_all(context, options, columns, count);
    carom_context_destroy(context);
    csv_free(columns, COLUMN_COUNT);
    return status;
}
