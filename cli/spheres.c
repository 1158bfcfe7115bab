/* SPDX-License-Identifier: MIT */
/* carom spheres --pairs: two moving spheres over the normalised time. */
#include "rows.h"

static const csv_column columns[] = {
    {.name = "a0x"}, {.name = "a0y"}, {.name = "a0z"}, {.name = "a1x"}, {.name = "a1y"},
    {.name = "a1z"}, {.name = "ra"},  {.name = "b0x"}, {.name = "b0y"}, {.name = "b0z"},
    {.name = "b1x"}, {.name = "b1y"}, {.name = "b1z"}, {.name = "rb"},
};

enum { STATE, U_FIRST, U_LAST };

static carom_status ask(void *context, const cli_options *options, const csv_column *c, uint64_t from, uint64_t count,
                        const rows_field *fields, carom_stats *stats, carom_error *err)
{
    carom_sphere_pairs_desc desc = {
        .size = sizeof desc,
        .count = count,
        .accuracy = options->accuracy,
        .a0 = rows_points(c, from),
        .a1 = rows_points(c + 3, from),
        .radius_a = {c[6].data + from, sizeof(float)},
        .b0 = rows_points(c + 7, from),
        .b1 = rows_points(c + 10, from),
        .radius_b = {c[13].data + from, sizeof(float)},
    };
    carom_sphere_result result = {
        .state = fields[STATE].bytes, .u_first = fields[U_FIRST].floats, .u_last = fields[U_LAST].floats};
    return carom_sphere_pairs(context, &desc, &result, stats, err);
}

static void write_row(output *out, const rows_field *fields, uint64_t i)
{
    output_text(out, carom_state_name((carom_state)fields[STATE].bytes[i]));
    output_char(out, ',');
    output_float(out, fields[U_FIRST].floats[i]);
    output_char(out, ',');
    output_float(out, fields[U_LAST].floats[i]);
    output_char(out, '\n');
}

int command_spheres(const cli_options *options)
{
    static const rows_query query = {.columns = columns,
                                     .column_count = sizeof columns / sizeof *columns,
                                     .header = "state,u_first,u_last\n",
                                     .bytes = {1, sizeof(float), sizeof(float)},
                                     .ask = ask,
                                     .write = write_row};
    if (!options->pairs)
        return cli_refuse(EXIT_USAGE, "spheres: --pairs FILE is missing");
    return rows_pairs(&query, options);
}
