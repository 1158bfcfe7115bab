/* SPDX-License-Identifier: MIT */
/* carom sweep --mesh: the first triangle that each moving sphere meets. */
#include "mesh_import.h"
#include "rows.h"

#include <string.h>

enum { T_MAX = 7 };

static const csv_column sphere_columns[] = {
    {.name = "cx"},
    {.name = "cy"},
    {.name = "cz"},
    {.name = "radius"},
    {.name = "vx"},
    {.name = "vy"},
    {.name = "vz"},
    {.name = "t_max", .kind = CSV_TIME, .group = 1},
    {.name = "mask", .kind = CSV_REFUSED, .group = 2},
};

enum { TRIANGLE, STATE, T, POINT, NORMAL, FEATURE };

static carom_status ask(void *mesh, const cli_options *options, const csv_column *c, uint64_t from, uint64_t count,
                        const rows_field *fields, carom_stats *stats, carom_error *err)
{
    carom_mesh_sweep_desc desc = {
        .size = sizeof desc,
        .count = count,
        .accuracy = options->accuracy,
        .center = rows_points(c, from),
        .velocity = rows_points(c + 4, from),
        .radius = {c[3].data + from, sizeof(float)},
        .t_max = {&options->t_max, 0},
    };
    if (c[T_MAX].present)
        desc.t_max = (carom_scalars){c[T_MAX].data + from, sizeof(float)};
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

static void write_row(output *out, const rows_field *fields, uint64_t i)
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

static const rows_query query = {
    .columns = sphere_columns,
    .column_count = sizeof sphere_columns / sizeof *sphere_columns,
    .header = "triangle,state,t,x,y,z,nx,ny,nz,feature\n",
    .bytes = {sizeof(int32_t), 1, sizeof(float), 3 * sizeof(float), 3 * sizeof(float), 1},
    .ask = ask,
    .write = write_row,
};

/* Context and mesh from the imported triangles; what the library refuses in them is a fault of the file. */
static int make_mesh(const cli_options *options, const mesh_data *data, carom_context **context, carom_mesh **mesh)
{
    int status = cli_context_open(options, context);
    if (status != EXIT_DONE)
        return status;
    carom_mesh_desc desc = {
        .size = sizeof desc,
        .vertices = {data->xyz, data->xyz + 1, data->xyz + 2, 3 * sizeof(float)},
        .vertex_count = data->vertex_count,
        .indices = data->indices,
        .triangle_count = data->triangle_count,
    };
    carom_error err = {0};
    carom_status made = carom_mesh_create(*context, &desc, mesh, &err);
    return made == CAROM_OK ? EXIT_DONE : cli_library_error(options->mesh, made, &err);
}

static int refuse_missing(const cli_options *options)
{
    static const char lacks[] = "is not in this version";
    if (!options->spheres)
        return cli_refuse(EXIT_USAGE, "sweep: --mesh needs --spheres FILE");
    if (options->hits && strcmp(options->hits, "first"))
        return cli_refuse(EXIT_USAGE, "--hits %s %s: it reports the first hit only", options->hits, lacks);
    if (options->start && strcmp(options->start, "report"))
        return cli_refuse(EXIT_USAGE, "--start %s %s: contact at time 0 is always reported", options->start, lacks);
    if (options->given & OPTION_CULL_BACK)
        return cli_refuse(EXIT_USAGE, "--cull-back %s: back faces are kept", lacks);
    return EXIT_DONE;
}

int command_sweep_mesh(const cli_options *options)
{
    csv_column columns[ROWS_COLUMNS_MAX];
    uint64_t count;
    mesh_data data;
    int status = refuse_missing(options);
    if (status != EXIT_DONE)
        return status;
    /* The importer may run in a process of its own, so it goes before anything starts threads. */
    status = mesh_import(options->mesh, &data);
    if (status != EXIT_DONE)
        return status;
    status = rows_read(&query, options->spheres, columns, &count);
    if (status == EXIT_DONE) {
        carom_context *context = NULL;
        carom_mesh *mesh = NULL;
        status = make_mesh(options, &data, &context, &mesh);
        if (status == EXIT_DONE)
            status = rows_run(&query, mesh, options, columns, count);
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
        csv_free(columns, query.column_count);
    }
    mesh_free(&data);
    return status;
}
