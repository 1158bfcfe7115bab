/* SPDX-License-Identifier: MIT */
/* carom sweep --pairs: moving spheres against moving triangles, one row per pair. */
#include "rows.h"

enum { WX = 16 };

static const csv_column columns[] = {
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

enum { STATE, T_FIRST, POINT_FIRST, FEATURE_FIRST, T_LAST, POINT_LAST, FEATURE_LAST };

static carom_status ask(void *context, const cli_options *options, const csv_column *c, uint64_t from, uint64_t count,
                        const rows_field *fields, carom_stats *stats, carom_error *err)
{
    carom_sweep_pairs_desc desc = {
        .size = sizeof desc,
        .count = count,
        .accuracy = options->accuracy,
        .center = rows_points(c, from),
        .velocity = rows_points(c + 4, from),
        .radius = {c[3].data + from, sizeof(float)},
        .p0 = rows_points(c + 7, from),
        .p1 = rows_points(c + 10, from),
        .p2 = rows_points(c + 13, from),
    };
    if (c[WX].present)
        desc.triangle_velocity = rows_points(c + WX, from);
    carom_sweep_result result = {
        .state = fields[STATE].bytes,
        .t_first = fields[T_FIRST].floats,
        .t_last = fields[T_LAST].floats,
        .point_first = rows_points_out(fields[POINT_FIRST].floats),
        .point_last = rows_points_out(fields[POINT_LAST].floats),
        .feature_first = fields[FEATURE_FIRST].bytes,
        .feature_last = fields[FEATURE_LAST].bytes,
    };
    return carom_sweep_pairs(context, &desc, &result, stats, err);
}

/* A point without a feature does not exist: its four fields are empty. */
static void write_contact(output *out, const float *point, uint8_t feature)
{
    if (feature == CAROM_FEATURE_NONE) {
        output_text(out, ",,,,");
        return;
    }
    rows_write_vector(out, point);
    output_char(out, ',');
    output_text(out, carom_feature_name((carom_feature)feature));
}

static void write_row(output *out, const rows_field *fields, uint64_t i)
{
    output_text(out, carom_state_name((carom_state)fields[STATE].bytes[i]));
    output_char(out, ',');
    output_float(out, fields[T_FIRST].floats[i]);
    write_contact(out, fields[POINT_FIRST].floats + 3 * i, fields[FEATURE_FIRST].bytes[i]);
    output_char(out, ',');
    output_float(out, fields[T_LAST].floats[i]);
    write_contact(out, fields[POINT_LAST].floats + 3 * i, fields[FEATURE_LAST].bytes[i]);
    output_char(out, '\n');
}

int command_sweep(const cli_options *options)
{
    static const rows_query query = {
        .columns = columns,
        .column_count = sizeof columns / sizeof *columns,
        .header = "state,t_first,x_first,y_first,z_first,feature_first,"
                  "t_last,x_last,y_last,z_last,feature_last\n",
        .bytes = {1, sizeof(float), 3 * sizeof(float), 1, sizeof(float), 3 * sizeof(float), 1},
        .ask = ask,
        .write = write_row};
    const uint32_t mesh_only = OPTION_SPHERES | OPTION_T_MAX | OPTION_HITS | OPTION_START | OPTION_CULL_BACK;
    if (options->pairs && options->mesh)
        return cli_refuse(EXIT_USAGE, "sweep: --pairs and --mesh exclude each other");
    if (options->mesh)
        return command_sweep_mesh(options);
    if (!options->pairs)
        return cli_refuse(EXIT_USAGE, "sweep: --pairs FILE or --mesh FILE with --spheres FILE is missing");
    if (options->given & mesh_only)
        return cli_refuse(EXIT_USAGE, "sweep: --spheres, --t-max, --hits, --start and --cull-back belong to --mesh");
    return rows_pairs(&query, options);
}
