/* SPDX-License-Identifier: MIT */
/* carom overlap --mesh: whether each sphere at rest overlaps the mesh, how many and which triangles, or the nearest. */
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

static void write_any(output *out, const rows_field *fields, uint64_t i)
{
    rows_write_bit(out, fields[0].bytes[i]);
}

/* ---- count -------------------------------------------------------------------------------------------------- */

enum { OFFSET, IS_VALID };

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
    carom_mesh_hit_list list = {.size = sizeof list, .offsets = fields[OFFSET].longs};
    for (uint64_t i = 0; i < count; i++)
        fields[IS_VALID].bytes[i] = (uint8_t)row_is_valid(c, from + i);
    return carom_mesh_overlap_list(mesh, &desc, &list, stats, err);
}

static void write_count(output *out, const rows_field *fields, uint64_t i)
{
    if (fields[IS_VALID].bytes[i])
        output_int(out, (int64_t)(fields[OFFSET].longs[i + 1] - fields[OFFSET].longs[i]));
    output_char(out, '\n');
}

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

static void write_record(output *out, const rows_field *fields, uint64_t i)
{
    output_int(out, (int64_t)fields[LIST_QUERY].longs[i]);
    output_char(out, ',');
    output_int(out, fields[LIST_TRIANGLE].integers[i]);
    output_char(out, '\n');
}

/* ---- closest ------------------------------------------------------------------------------------------------ */

enum { TRIANGLE, DISTANCE, POINT, FEATURE, DEPTH };

static carom_status ask_closest(void *mesh, const cli_options *options, const csv_column *c, uint64_t from,
                                uint64_t count, const rows_field *fields, carom_stats *stats, carom_error *err)
{
    carom_mesh_overlap_desc desc = spheres(options, c, from, count);
    carom_mesh_closest_result result = {
        .triangle = fields[TRIANGLE].integers,
        .distance = fields[DISTANCE].floats,
        .point = rows_points_out(fields[POINT].floats),
        .feature = fields[FEATURE].bytes,
        .depth = fields[DEPTH].floats,
    };
    return carom_mesh_overlap_closest(mesh, &desc, &result, stats, err);
}

static void write_closest(output *out, const rows_field *fields, uint64_t i)
{
    output_int(out, fields[TRIANGLE].integers[i]);
    output_char(out, ',');
    output_float(out, fields[DISTANCE].floats[i]);
    if (fields[TRIANGLE].integers[i] < 0) {
        output_text(out, ",,,,,\n");
        return;
    }
    rows_write_vector(out, fields[POINT].floats + 3 * i);
    output_char(out, ',');
    output_text(out, carom_feature_name((carom_feature)fields[FEATURE].bytes[i]));
    output_char(out, ',');
    output_float(out, fields[DEPTH].floats[i]);
    output_char(out, '\n');
}

/* ---- the command -------------------------------------------------------------------------------------------- */

#define SPHERES .columns = sphere_columns, .column_count = sizeof sphere_columns / sizeof *sphere_columns

static const mesh_kind kinds[] = {
    {"any", {SPHERES, .header = "hit\n", .bytes = {1}, .ask = ask_any, .write = write_any}},
    {"count", {SPHERES, .header = "count\n", .bytes = {sizeof(uint64_t), 1}, .ask = ask_count, .write = write_count}},
    {"all",
     {SPHERES, .header = "query,triangle\n", .bytes = {sizeof(uint64_t), sizeof(int32_t)}, .list = list_all,
      .write = write_record}},
    {"closest",
     {SPHERES, .header = "triangle,distance,x,y,z,feature,depth\n",
      .bytes = {sizeof(int32_t), sizeof(float), 3 * sizeof(float), 1, sizeof(float)}, .ask = ask_closest,
      .write = write_closest}},
};

int command_overlap_mesh(const cli_options *options)
{
    const rows_query *query;
    int status = on_mesh_kind(options, kinds, sizeof kinds / sizeof *kinds, &query);
    return status == EXIT_DONE ? on_mesh_run("overlap", options, query) : status;
}
