/* SPDX-License-Identifier: MIT */
/* carom overlap: pairs as the registry has them; against a mesh whether each sphere at rest overlaps it, how many and
 * which triangles it overlaps, or the closest triangle. */
#include "on_mesh.h"

#include <math.h>

static const csv_column sphere_columns[] = {
    {.name = "cx"}, {.name = "cy"}, {.name = "cz"}, {.name = "radius"}, {.name = "mask", .kind = CSV_MASK, .group = 1},
};
enum { MASK = 4 };

static carom_mesh_overlap_desc spheres(const cli_options *options, const csv_column *c, uint64_t from, uint64_t count)
{
    return (carom_mesh_overlap_desc){
        .size = sizeof(carom_mesh_overlap_desc),
        .count = count,
        .accuracy = options->accuracy,
        .center = rows_points(c, from),
        .radius = {c[3].data + from, sizeof(float)},
        .mask = c[MASK].present ? csv_masks(&c[MASK]) + from : NULL,
        .mask_stride = sizeof(uint32_t),
    };
}

/* ---- any ---------------------------------------------------------------------------------------------------- */

static carom_status ask_any(void *mesh, const cli_options *options, const csv_column *c, uint64_t from, uint64_t count,
                            const rows_field *fields, carom_stats *stats, carom_error *err)
{
    carom_mesh_overlap_desc desc = spheres(options, c, from, count);
    return carom_mesh_overlap_any(mesh, &desc, fields[0].bytes, stats, err);
}

static const query_field any_fields[] = {{"hit", QUERY_BITS, 0}};

/* ---- count -------------------------------------------------------------------------------------------------- */

/* An invalid row overlaps nothing; only here would that read like an answer. */
static int row_is_valid(const csv_column *c, uint64_t row)
{
    return isfinite(c[0].data[row]) && isfinite(c[1].data[row]) && isfinite(c[2].data[row]) &&
           isfinite(c[3].data[row]) && c[3].data[row] >= 0.0f;
}

static carom_status ask_count(void *mesh, const cli_options *options, const csv_column *c, uint64_t from,
                              uint64_t count, const rows_field *fields, carom_stats *stats, carom_error *err)
{
    carom_mesh_overlap_desc desc = spheres(options, c, from, count);
    carom_mesh_hit_list list = {.size = sizeof list, .offsets = fields[0].longs};
    const carom_status status = carom_mesh_overlap_list(mesh, &desc, &list, stats, err);
    for (uint64_t i = 0; i < count && status == CAROM_OK; i++) /* offsets become counts in place */
        fields[0].longs[i] = row_is_valid(c, from + i) ? fields[0].longs[i + 1] - fields[0].longs[i] : QUERY_NO_COUNT;
    return status;
}

static const query_field count_fields[] = {{"count", QUERY_COUNT, 0}};

/* ---- all ---------------------------------------------------------------------------------------------------- */

enum { LIST_QUERY, LIST_TRIANGLE };

static carom_status list_all(void *mesh, const cli_options *options, const csv_column *c, uint64_t from, uint64_t count,
                             const rows_field *fields, carom_mesh_hit_list *list, carom_stats *stats, carom_error *err)
{
    carom_mesh_overlap_desc desc = spheres(options, c, from, count);
    list->query = fields[LIST_QUERY].longs;
    list->triangle = fields[LIST_TRIANGLE].integers;
    return carom_mesh_overlap_list(mesh, &desc, list, stats, err);
}

static const query_field list_fields[] = {{"query", QUERY_COUNT, 0}, {"triangle", QUERY_TRIANGLE, 0}};

/* ---- closest ------------------------------------------------------------------------------------------------ */

enum { TRIANGLE, DISTANCE, POINT, FEATURE = POINT + 3, DEPTH };

static const query_field closest_fields[] = {
    {"triangle", QUERY_TRIANGLE, 0},      {"distance", QUERY_TIME, 0},      {"x", QUERY_COORDINATE, FEATURE},
    {"y", QUERY_COORDINATE, FEATURE},     {"z", QUERY_COORDINATE, FEATURE}, {"feature", QUERY_FEATURE, 0},
    {"depth", QUERY_COORDINATE, FEATURE},
};

static carom_status ask_closest(void *mesh, const cli_options *options, const csv_column *c, uint64_t from,
                                uint64_t count, const rows_field *fields, carom_stats *stats, carom_error *err)
{
    carom_mesh_overlap_desc desc = spheres(options, c, from, count);
    carom_mesh_closest_result result = {
        .triangle = fields[TRIANGLE].integers,
        .distance = fields[DISTANCE].floats,
        .point = rows_points_out(&fields[POINT]),
        .feature = fields[FEATURE].bytes,
        .depth = fields[DEPTH].floats,
    };
    return carom_mesh_overlap_closest(mesh, &desc, &result, stats, err);
}

/* ---- the command -------------------------------------------------------------------------------------------- */

#define SPHERES .columns = sphere_columns, .column_count = sizeof sphere_columns / sizeof *sphere_columns

#define FIELDS(of) .fields = of, .field_count = sizeof of / sizeof *of

static const mesh_kind kinds[] = {
    {"any", {SPHERES, FIELDS(any_fields), .ask = ask_any}},
    {"count", {SPHERES, FIELDS(count_fields), .ask = ask_count}},
    {"all", {SPHERES, FIELDS(list_fields), .list = list_all}},
    {"closest", {SPHERES, FIELDS(closest_fields), .ask = ask_closest}},
};

int command_overlap(const cli_options *options)
{
    const rows_query *query;
    if (options->pairs && options->mesh)
        return cli_refuse(EXIT_USAGE, "overlap: --pairs and --mesh exclude each other");
    if (options->mesh) {
        int status = on_mesh_kind(options, kinds, sizeof kinds / sizeof *kinds, &query);
        return status == EXIT_DONE ? on_mesh_run("overlap", options, query) : status;
    }
    if (!options->pairs)
        return cli_refuse(EXIT_USAGE, "overlap: --pairs FILE or --mesh FILE with --spheres FILE is missing");
    if (options->given & (OPTION_SPHERES | OPTION_HITS))
        return cli_refuse(EXIT_USAGE, "overlap: --spheres and --hits belong to --mesh");
    return rows_pairs(&query_overlap, options);
}
