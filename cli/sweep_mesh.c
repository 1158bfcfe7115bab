/* SPDX-License-Identifier: MIT */
/* carom sweep --mesh: the first triangle that each moving sphere meets, all of them, or whether there is any. */
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

enum { TRIANGLE, STATE, T, POINT, NORMAL, FEATURE, QUERY };

static carom_status ask_first(void *mesh, const cli_options *options, const csv_column *c, uint64_t from,
                              uint64_t count, const rows_field *fields, carom_stats *stats, carom_error *err)
{
    carom_mesh_sweep_desc desc = spheres(options, c, from, count);
    carom_mesh_hit_result result = {
        .triangle = fields[TRIANGLE].integers,
        .state = fields[STATE].bytes,
        .t = fields[T].floats,
        .point = rows_points_out(fields[POINT].floats),
        .normal = rows_points_out(fields[NORMAL].floats),
        .feature = fields[FEATURE].bytes,
    };
    return carom_mesh_sweep_first(mesh, &desc, &result, stats, err);
}

static carom_status list_all(void *mesh, const cli_options *options, const csv_column *c, uint64_t from, uint64_t count,
                             const rows_field *fields, carom_mesh_hit_list *list, carom_stats *stats, carom_error *err)
{
    carom_mesh_sweep_desc desc = spheres(options, c, from, count);
    list->query = fields[QUERY].longs;
    list->triangle = fields[TRIANGLE].integers;
    list->state = fields[STATE].bytes;
    list->t = fields[T].floats;
    list->point = rows_points_out(fields[POINT].floats);
    list->normal = rows_points_out(fields[NORMAL].floats);
    list->feature = fields[FEATURE].bytes;
    return carom_mesh_sweep_list(mesh, &desc, CAROM_HITS_ALL, list, stats, err);
}

static void write_hit(output *out, const rows_field *fields, uint64_t i)
{
    output_int(out, fields[TRIANGLE].integers[i]);
    output_char(out, ',');
    output_text(out, carom_state_name((carom_state)fields[STATE].bytes[i]));
    output_char(out, ',');
    output_float(out, fields[T].floats[i]);
    if (fields[FEATURE].bytes[i] == CAROM_FEATURE_NONE) { /* no hit, or one at a time beyond binary32 */
        output_text(out, ",,,,,,,\n");
        return;
    }
    rows_write_vector(out, fields[POINT].floats + 3 * i);
    rows_write_vector(out, fields[NORMAL].floats + 3 * i);
    output_char(out, ',');
    output_text(out, carom_feature_name((carom_feature)fields[FEATURE].bytes[i]));
    output_char(out, '\n');
}

static void write_record(output *out, const rows_field *fields, uint64_t i)
{
    output_int(out, (int64_t)fields[QUERY].longs[i]);
    output_char(out, ',');
    write_hit(out, fields, i);
}

/* ---- any ---------------------------------------------------------------------------------------------------- */

static carom_status ask_any(void *mesh, const cli_options *options, const csv_column *c, uint64_t from, uint64_t count,
                            const rows_field *fields, carom_stats *stats, carom_error *err)
{
    carom_mesh_sweep_desc desc = spheres(options, c, from, count);
    return carom_mesh_sweep_any(mesh, &desc, fields[0].bytes, stats, err);
}

static void write_any(output *out, const rows_field *fields, uint64_t i)
{
    rows_write_bit(out, fields[0].bytes[i]);
}

/* ---- the command -------------------------------------------------------------------------------------------- */

#define SPHERES .columns = sphere_columns, .column_count = sizeof sphere_columns / sizeof *sphere_columns
#define HIT_COLUMNS "triangle,state,t,x,y,z,nx,ny,nz,feature\n"
#define HIT_BYTES sizeof(int32_t), 1, sizeof(float), 3 * sizeof(float), 3 * sizeof(float), 1

static const mesh_kind kinds[] = {
    {"first", {SPHERES, .header = HIT_COLUMNS, .bytes = {HIT_BYTES}, .ask = ask_first, .write = write_hit}},
    {"all",
     {SPHERES, .header = "query," HIT_COLUMNS, .bytes = {HIT_BYTES, sizeof(uint64_t)}, .list = list_all,
      .write = write_record}},
    {"any", {SPHERES, .header = "hit\n", .bytes = {1}, .ask = ask_any, .write = write_any}},
};

int command_sweep_mesh(const cli_options *options)
{
    const rows_query *query;
    int status = on_mesh_kind(options, kinds, sizeof kinds / sizeof *kinds, &query);
    return status == EXIT_DONE ? on_mesh_run("sweep", options, query) : status;
}
