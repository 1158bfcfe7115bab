/* SPDX-License-Identifier: MIT */
/* carom sweep --pairs: moving spheres against moving triangles, one row per pair. */
#include "cli.h"
#include "csv.h"
#include "output.h"

#include <stdlib.h>

/* Rows per library call: enough to fill any device, few enough that results need no memory worth mentioning. */
enum { CHUNK = 1 << 21 };

enum { WX = 16, COLUMN_COUNT = 19 };

static const csv_column pair_columns[COLUMN_COUNT] = {
    {.name = "cx"},
    {.name = "cy"},
    {.name = "cz"},
    {.name = "radius"},
    {.name = "vx"},
    {.name = "vy"},
    {.name = "vz"},
    {.name = "p0x"},
    {.name = "p0y"},
    {.name = "p0z"},
    {.name = "p1x"},
    {.name = "p1y"},
    {.name = "p1z"},
    {.name = "p2x"},
    {.name = "p2y"},
    {.name = "p2z"},
    {.name = "wx", .group = 1},
    {.name = "wy", .group = 1},
    {.name = "wz", .group = 1},
};

typedef struct sweep_rows {
    uint8_t *state, *feature_first, *feature_last;
    float *t_first, *t_last;
    float *first, *last; /* x, y, z of each row */
} sweep_rows;

static int alloc_rows(sweep_rows *rows, uint64_t count)
{
    rows->state = cli_alloc(count, 1);
    rows->feature_first = cli_alloc(count, 1);
    rows->feature_last = cli_alloc(count, 1);
    rows->t_first = cli_alloc(count, sizeof(float));
    rows->t_last = cli_alloc(count, sizeof(float));
    rows->first = cli_alloc(count, 3 * sizeof(float));
    rows->last = cli_alloc(count, 3 * sizeof(float));
    return rows->state && rows->feature_first && rows->feature_last && rows->t_first && rows->t_last && rows->first &&
           rows->last;
}

static void free_rows(sweep_rows *rows)
{
    free(rows->state);
    free(rows->feature_first);
    free(rows->feature_last);
    free(rows->t_first);
    free(rows->t_last);
    free(rows->first);
    free(rows->last);
}

static carom_points points(const csv_column *x, uint64_t from)
{
    return (carom_points){x[0].data + from, x[1].data + from, x[2].data + from, sizeof(float)};
}

/* A point without a feature does not exist: its four fields are empty. */
static void write_contact(output *out, const float *point, uint8_t feature)
{
    if (feature == CAROM_FEATURE_NONE) {
        output_text(out, ",,,,");
        return;
    }
    for (int axis = 0; axis < 3; axis++) {
        output_char(out, ',');
        output_float(out, point[axis]);
    }
    output_char(out, ',');
    output_text(out, carom_feature_name((carom_feature)feature));
}

static void write_rows(output *out, const sweep_rows *rows, uint64_t count)
{
    for (uint64_t i = 0; i < count && !out->error; i++) {
        output_text(out, carom_state_name((carom_state)rows->state[i]));
        output_char(out, ',');
        output_float(out, rows->t_first[i]);
        write_contact(out, rows->first + 3 * i, rows->feature_first[i]);
        output_char(out, ',');
        output_float(out, rows->t_last[i]);
        write_contact(out, rows->last + 3 * i, rows->feature_last[i]);
        output_char(out, '\n');
    }
}

static int sweep_chunk(carom_context *context, const cli_options *options, const csv_column *c, uint64_t from,
                       uint64_t count, const sweep_rows *rows)
{
    carom_sweep_pairs_desc desc = {
        .size = sizeof desc,
        .count = count,
        .accuracy = options->accuracy,
        .center = points(c, from),
        .velocity = points(c + 4, from),
        .radius = {c[3].data + from, sizeof(float)},
        .p0 = points(c + 7, from),
        .p1 = points(c + 10, from),
        .p2 = points(c + 13, from),
    };
    if (c[WX].present)
        desc.triangle_velocity = points(c + WX, from);
    carom_sweep_result result = {
        .state = rows->state,
        .t_first = rows->t_first,
        .t_last = rows->t_last,
        .point_first = {rows->first, rows->first + 1, rows->first + 2, 3 * sizeof(float)},
        .point_last = {rows->last, rows->last + 1, rows->last + 2, 3 * sizeof(float)},
        .feature_first = rows->feature_first,
        .feature_last = rows->feature_last,
    };
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    carom_status status = carom_sweep_pairs(context, &desc, &result, &stats, &err);
    if (status != CAROM_OK)
        return cli_library_error(NULL, status, &err);
    cli_report_fallback(&stats);
    return EXIT_DONE;
}

static int sweep_all(carom_context *context, const cli_options *options, const csv_column *columns, uint64_t count)
{
    output out;
    sweep_rows rows;
    if (!alloc_rows(&rows, count < CHUNK ? count : CHUNK)) {
        free_rows(&rows);
        return cli_no_memory();
    }
    int status = output_open(&out, options->output);
    if (status == EXIT_DONE) {
        output_text(&out, "state,t_first,x_first,y_first,z_first,feature_first,"
                          "t_last,x_last,y_last,z_last,feature_last\n");
        for (uint64_t from = 0; from < count && status == EXIT_DONE && !out.error; from += CHUNK) {
            uint64_t n = count - from < CHUNK ? count - from : CHUNK;
            status = sweep_chunk(context, options, columns, from, n, &rows);
            if (status == EXIT_DONE)
                write_rows(&out, &rows, n);
        }
        status = output_close(&out, status);
    }
    free_rows(&rows);
    return status;
}

static int sweep_pairs(const cli_options *options)
{
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
        status = sweep_all(context, options, columns, count);
    carom_context_destroy(context);
    csv_free(columns, COLUMN_COUNT);
    return status;
}

int command_sweep(const cli_options *options)
{
    const uint32_t mesh_only = OPTION_SPHERES | OPTION_T_MAX | OPTION_HITS | OPTION_START | OPTION_CULL_BACK;
    if (options->pairs && options->mesh)
        return cli_refuse(EXIT_USAGE, "sweep: --pairs and --mesh exclude each other");
    if (options->mesh)
        return command_sweep_mesh(options);
    if (!options->pairs)
        return cli_refuse(EXIT_USAGE, "sweep: --pairs FILE or --mesh FILE with --spheres FILE is missing");
    if (options->given & mesh_only)
        return cli_refuse(EXIT_USAGE, "sweep: --spheres, --t-max, --hits, --start and --cull-back belong to --mesh");
    return sweep_pairs(options);
}
