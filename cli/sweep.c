/* SPDX-License-Identifier: MIT */
/* carom sweep: pairs as the registry has them; against a mesh the first triangle that each moving sphere meets, all
 * triangles that it meets, or whether it meets any. */
#include "on_mesh.h"

enum { T_MAX = 7, MASK = 8 };

static const csv_column sphere_columns[] = {
    {.name = "cx"},
    {.name = "cy"},
    {.name = "cz"},
    {.name = "radius"},
    {.name = "vx"},
    {.name = "vy"},
    {.name = "vz"},
    {.name = "t_max", .kind = CSV_TIME, .group = 1},
    {.name = "mask", .kind = CSV_MASK, .group = 2},
};

static carom_mesh_sweep_desc spheres(const cli_options *options, const csv_column *c, uint64_t from, uint64_t count)
{
    carom_mesh_sweep_desc desc = {
        .size = sizeof desc,
        .count = count,
        .accuracy = options->accuracy,
        .center = rows_points(c, from),
        .velocity = rows_points(c + 4, from),
        .radius = {c[3].data + from, sizeof(float)},
        .t_max = {&options->t_max, 0},
        .mask = c[MASK].present ? csv_masks(&c[MASK]) + from : NULL,
        .mask_stride = sizeof(uint32_t),
        .cull_back = (options->given & OPTION_CULL_BACK) != 0,
        .start = options->start,
    };
    if (c[T_MAX].present)
        desc.t_max = (carom_scalars){c[T_MAX].data + from, sizeof(float)};
    return desc;
}

/* ---- first and all: a hit ----------------------------------------------------------------------------------- */

enum { TRIANGLE, STATE, T, POINT, NORMAL = POINT + 3, FEATURE = NORMAL + 3, HIT_FIELDS };

#define HIT_COLUMNS(first)                                                                        \
    {"triangle", QUERY_TRIANGLE, 0}, {"state", QUERY_STATE, 0}, {"t", QUERY_TIME, 0},             \
        {"x", QUERY_COORDINATE, (first) + FEATURE}, {"y", QUERY_COORDINATE, (first) + FEATURE},   \
        {"z", QUERY_COORDINATE, (first) + FEATURE}, {"nx", QUERY_COORDINATE, (first) + FEATURE},  \
        {"ny", QUERY_COORDINATE, (first) + FEATURE}, {"nz", QUERY_COORDINATE, (first) + FEATURE}, \
    {                                                                                             \
        "feature", QUERY_FEATURE, 0                                                               \
    }

/* No point, normal and feature without a hit, or at a time beyond binary32. */
static const query_field hit_fields[] = {HIT_COLUMNS(0)};
static const query_field record_fields[] = {{"query", QUERY_COUNT, 0}, HIT_COLUMNS(1)};
static const query_field any_fields[] = {{"hit", QUERY_BITS, 0}};

static carom_status ask_first(void *mesh, const cli_options *options, const csv_column *c, uint64_t from,
                              uint64_t count, const rows_field *fields, carom_stats *stats, carom_error *err)
{
    carom_mesh_sweep_desc desc = spheres(options, c, from, count);
    carom_mesh_hit_result result = {
        .triangle = fields[TRIANGLE].integers,
        .state = fields[STATE].bytes,
        .t = fields[T].floats,
        .point = rows_points_out(&fields[POINT]),
        .normal = rows_points_out(&fields[NORMAL]),
        .feature = fields[FEATURE].bytes,
    };
    return carom_mesh_sweep_first(mesh, &desc, &result, stats, err);
}

static carom_status list_all(void *mesh, const cli_options *options, const csv_column *c, uint64_t from, uint64_t count,
                             const rows_field *fields, carom_mesh_hit_list *list, carom_stats *stats, carom_error *err)
{
    const rows_field *hit = fields + 1;
    carom_mesh_sweep_desc desc = spheres(options, c, from, count);
    list->query = fields[0].longs;
    list->triangle = hit[TRIANGLE].integers;
    list->state = hit[STATE].bytes;
    list->t = hit[T].floats;
    list->point = rows_points_out(&hit[POINT]);
    list->normal = rows_points_out(&hit[NORMAL]);
    list->feature = hit[FEATURE].bytes;
    return carom_mesh_sweep_list(mesh, &desc, CAROM_HITS_ALL, list, stats, err);
}

/* ---- any ---------------------------------------------------------------------------------------------------- */

static carom_status ask_any(void *mesh, const cli_options *options, const csv_column *c, uint64_t from, uint64_t count,
                            const rows_field *fields, carom_stats *stats, carom_error *err)
{
    carom_mesh_sweep_desc desc = spheres(options, c, from, count);
    return carom_mesh_sweep_any(mesh, &desc, fields[0].bytes, stats, err);
}

/* ---- the command -------------------------------------------------------------------------------------------- */

#define SPHERES .columns = sphere_columns, .column_count = sizeof sphere_columns / sizeof *sphere_columns
#define FIELDS(of) .fields = of, .field_count = sizeof of / sizeof *of

static const mesh_kind kinds[] = {
    {"first", {SPHERES, FIELDS(hit_fields), .ask = ask_first}},
    {"all", {SPHERES, FIELDS(record_fields), .list = list_all}},
    {"any", {SPHERES, FIELDS(any_fields), .ask = ask_any}},
};

int command_sweep(const cli_options *options)
{
    const uint32_t mesh_only = OPTION_SPHERES | OPTION_T_MAX | OPTION_HITS | OPTION_START | OPTION_CULL_BACK;
    const rows_query *query;
    if (options->pairs && options->mesh)
        return cli_refuse(EXIT_USAGE, "sweep: --pairs and --mesh exclude each other");
    if (options->mesh) {
        int status = on_mesh_kind(options, kinds, sizeof kinds / sizeof *kinds, &query);
        return status == EXIT_DONE ? on_mesh_run("sweep", options, query) : status;
    }
    if (!options->pairs)
        return cli_refuse(EXIT_USAGE, "sweep: --pairs FILE or --mesh FILE with --spheres FILE is missing");
    if (options->given & mesh_only)
        return cli_refuse(EXIT_USAGE, "sweep: --spheres, --t-max, --hits, --start and --cull-back belong to --mesh");
    return rows_pairs(&query_sweep, options);
}
