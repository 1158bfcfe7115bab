/* SPDX-License-Identifier: MIT */
/* carom overlap --pairs: which axes separate a sphere from a triangle. */
#include "rows.h"

static const csv_column columns[] = {
    {.name = "cx"},  {.name = "cy"},  {.name = "cz"},  {.name = "radius"}, {.name = "p0x"},
    {.name = "p0y"}, {.name = "p0z"}, {.name = "p1x"}, {.name = "p1y"},    {.name = "p1z"},
    {.name = "p2x"}, {.name = "p2y"}, {.name = "p2z"},
};

enum { OVERLAP, AXES };

static carom_status ask(void *context, const cli_options *options, const csv_column *c, uint64_t from, uint64_t count,
                        const rows_field *fields, carom_stats *stats, carom_error *err)
{
    carom_overlap_pairs_desc desc = {
        .size = sizeof desc,
        .count = count,
        .accuracy = options->accuracy,
        .center = rows_points(c, from),
        .radius = {c[3].data + from, sizeof(float)},
        .p0 = rows_points(c + 4, from),
        .p1 = rows_points(c + 7, from),
        .p2 = rows_points(c + 10, from),
    };
    carom_overlap_result result = {.overlap = fields[OVERLAP].bytes, .axes = fields[AXES].bytes};
    return carom_overlap_pairs(context, &desc, &result, stats, err);
}

static void write_row(output *out, const rows_field *fields, uint64_t i)
{
    if (fields[OVERLAP].bytes[i] != CAROM_OVERLAP_INVALID)
        output_text(out, fields[OVERLAP].bytes[i] ? "1" : "0");
    output_char(out, ',');
    if (fields[OVERLAP].bytes[i] != CAROM_OVERLAP_INVALID)
        output_int(out, fields[AXES].bytes[i]);
    output_char(out, '\n');
}

int command_overlap(const cli_options *options)
{
    static const rows_query query = {.columns = columns,
                                     .column_count = sizeof columns / sizeof *columns,
                                     .header = "overlap,axes\n",
                                     .bytes = {1, 1},
                                     .ask = ask,
                                     .write = write_row};
    if (options->pairs && options->mesh)
        return cli_refuse(EXIT_USAGE, "overlap: --pairs and --mesh exclude each other");
    if (options->mesh)
        return command_overlap_mesh(options);
    if (!options->pairs)
        return cli_refuse(EXIT_USAGE, "overlap: --pairs FILE or --mesh FILE with --spheres FILE is missing");
    if (options->given & (OPTION_SPHERES | OPTION_HITS))
        return cli_refuse(EXIT_USAGE, "overlap: --spheres and --hits belong to --mesh");
    return rows_pairs(&query, options);
}
