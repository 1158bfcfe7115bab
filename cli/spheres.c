/* SPDX-License-Identifier: MIT */
/* carom spheres --pairs: two moving spheres over the normalised time. */
#include "cli.h"
#include "csv.h"
#include "output.h"

#include <stdlib.h>

enum { CHUNK = 1 << 21, COLUMN_COUNT = 14 };

static const csv_column pair_columns[COLUMN_COUNT] = {
    {.name = "a0x"}, {.name = "a0y"}, {.name = "a0z"}, {.name = "a1x"}, {.name = "a1y"},
    {.name = "a1z"}, {.name = "ra"},  {.name = "b0x"}, {.name = "b0y"}, {.name = "b0z"},
    {.name = "b1x"}, {.name = "b1y"}, {.name = "b1z"}, {.name = "rb"},
};

static carom_points points(const csv_column *x, uint64_t from)
{
    return (carom_points){x[0].data + from, x[1].data + from, x[2].data + from, sizeof(float)};
}

static int spheres_chunk(carom_context *context, const cli_options *options, const csv_column *c, uint64_t from,
                         uint64_t count, const carom_sphere_result *result)
{
    carom_sphere_pairs_desc desc = {
        .size = sizeof desc,
        .count = count,
        .accuracy = options->accuracy,
        .a0 = points(c, from),
        .a1 = points(c + 3, from),
        .radius_a = {c[6].data + from, sizeof(float)},
        .b0 = points(c + 7, from),
        .b1 = points(c + 10, from),
        .radius_b = {c[13].data + from, sizeof(float)},
    };
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    carom_status status = carom_sphere_pairs(context, &desc, result, &stats, &err);
    if (status != CAROM_OK)
        return cli_library_error(NULL, status, &err);
    cli_report_fallback(&stats);
    return EXIT_DONE;
}

static void write_rows(output *out, const carom_sphere_result *result, uint64_t count)
{
    for (uint64_t i = 0; i < count && !out->error; i++) {
        output_text(out, carom_state_name((carom_state)result->state[i]));
        output_char(out, ',');
        output_float(out, result->u_first[i]);
        output_char(out, ',');
        output_float(out, result->u_last[i]);
        output_char(out, '\n');
    }
}

static int spheres_all(carom_context *context, const cli_options *options, const csv_column *columns, uint64_t count)
{
    output out;
    uint64_t room = count < CHUNK ? count : CHUNK;
    carom_sphere_result result = {cli_alloc(room, 1), cli_alloc(room, sizeof(float)), cli_alloc(room, sizeof(float))};
    int status = result.state && result.u_first && result.u_last ? output_open(&out, options->output) : cli_no_memory();
    if (status == EXIT_DONE) {
        output_text(&out, "state,u_first,u_last\n");
        for (uint64_t from = 0; from < count && status == EXIT_DONE && !out.error; from += CHUNK) {
            uint64_t n = count - from < CHUNK ? count - from : CHUNK;
            status = spheres_chunk(context, options, columns, from, n, &result);
            if (status == EXIT_DONE)
                write_rows(&out, &result, n);
        }
        status = output_close(&out, status);
    }
    free(result.state);
    free(result.u_first);
    free(result.u_last);
    return status;
}

int command_spheres(const cli_options *options)
{
    if (!options->pairs)
        return cli_refuse(EXIT_USAGE, "spheres: --pairs FILE is missing");
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
        status = spheres_all(context, options, columns, count);
    carom_context_destroy(context);
    csv_free(columns, COLUMN_COUNT);
    return status;
}
