/* SPDX-License-Identifier: MIT */
/* carom sweep --mesh: the first triangle that each moving sphere meets. */
#include "cli.h"
#include "csv.h"
#include "mesh_import.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 21 };

enum { T_MAX = 7, COLUMN_COUNT = 9 };

static const csv_column sphere_columns[COLUMN_COUNT] = {
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

typedef struct hit_rows {
    int32_t *triangle;
    uint8_t *state, *feature;
    float *t, *point, *normal;
} hit_rows;

static int alloc_rows(hit_rows *rows, uint64_t count)
{
    rows->triangle = cli_alloc(count, sizeof(int32_t));
    rows->state = cli_alloc(count, 1);
    rows->feature = cli_alloc(count, 1);
    rows->t = cli_alloc(count, sizeof(float));
    rows->point = cli_alloc(count, 3 * sizeof(float));
    rows->normal = cli_alloc(count, 3 * sizeof(float));
    return rows->triangle && rows->state && rows->feature && rows->t && rows->point && rows->normal;
}

static void free_rows(hit_rows *rows)
{
    free(rows->triangle);
    free(rows->state);
    free(rows->feature);
    free(rows->t);
    free(rows->point);
    free(rows->normal);
}

static carom_points points(const csv_column *x, uint64_t from)
{
    return (carom_points){x[0].data + from, x[1].data + from, x[2].data + from, sizeof(float)};
}

static void write_vector(output *out, const float *v)
{
    for (int axis = 0; axis < 3; axis++) {
        output_char(out, ',');
        output_float(out, v[axis]);
    }
}

static void write_rows(output *out, const hit_rows *rows, uint64_t count)
{
    for (uint64_t i = 0; i < count && !out->error; i++) {
        output_int(out, rows->triangle[i]);
        output_char(out, ',');
        output_text(out, carom_state_name((carom_state)rows->state[i]));
        output_char(out, ',');
        output_float(out, rows->t[i]);
        if (rows->feature[i] == CAROM_FEATURE_NONE) { /* no hit, or one at a time beyond binary32 */
            output_text(out, ",,,,,,,\n");
            continue;
        }
        write_vector(out, rows->point + 3 * i);
        write_vector(out, rows->normal + 3 * i);
        output_char(out, ',');
        output_text(out, carom_feature_name((carom_feature)rows->feature[i]));
        output_char(out, '\n');
    }
}

static int sweep_chunk(carom_mesh *mesh, const cli_options *options, const csv_column *c, uint64_t from, uint64_t count,
                       const hit_rows *rows)
{
    carom_mesh_sweep_desc desc = {
        .size = sizeof desc,
        .count = count,
        .accuracy = options->accuracy,
        .center = points(c, from),
        .velocity = points(c + 4, from),
        .radius = {c[3].data + from, sizeof(float)},
        .t_max = {&options->t_max, 0},
    };
    if (c[T_MAX].present)
        desc.t_max = (carom_scalars){c[T_MAX].data + from, sizeof(float)};
    carom_mesh_hit_result result = {
        .triangle = rows->triangle,
        .state = rows->state,
        .t = rows->t,
        .point = {rows->point, rows->point + 1, rows->point + 2, 3 * sizeof(float)},
        .normal = {rows->normal, rows->normal + 1, rows->normal + 2, 3 * sizeof(float)},
        .feature = rows->feature,
    };
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    carom_status status = carom_mesh_sweep_first(mesh, &desc, &result, &stats, &err);
    if (status != CAROM_OK)
        return cli_library_error(NULL, status, &err);
    cli_report_fallback(&stats);
    return EXIT_DONE;
}

static int sweep_all(carom_mesh *mesh, const cli_options *options, const csv_column *columns, uint64_t count)
{
    output out;
    hit_rows rows;
    if (!alloc_rows(&rows, count < CHUNK ? count : CHUNK)) {
        free_rows(&rows);
        return cli_no_memory();
    }
    int status = output_open(&out, options->output);
    if (status == EXIT_DONE) {
        output_text(&out, "triangle,state,t,x,y,z,nx,ny,nz,feature\n");
        for (uint64_t from = 0; from < count && status == EXIT_DONE && !out.error; from += CHUNK) {
            uint64_t n = count - from < CHUNK ? count - from : CHUNK;
            status = sweep_chunk(mesh, options, columns, from, n, &rows);
            if (status == EXIT_DONE)
                write_rows(&out, &rows, n);
        }
        status = output_close(&out, status);
    }
    free_rows(&rows);
    return status;
}

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
    csv_column columns[COLUMN_COUNT];
    uint64_t count;
    mesh_data data;
    int status = refuse_missing(options);
    if (status != EXIT_DONE)
        return status;
    for (int i = 0; i < COLUMN_COUNT; i++)
        columns[i] = sphere_columns[i];
    /* The importer may run in a process of its own, so it goes before anything starts threads. */
    status = mesh_import(options->mesh, &data);
    if (status != EXIT_DONE)
        return status;
    status = csv_read(options->spheres, columns, COLUMN_COUNT, &count);
    if (status == EXIT_DONE) {
        carom_context *context = NULL;
        carom_mesh *mesh = NULL;
        status = make_mesh(options, &data, &context, &mesh);
        if (status == EXIT_DONE)
            status = sweep_all(mesh, options, columns, count);
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
        csv_free(columns, COLUMN_COUNT);
    }
    mesh_free(&data);
    return status;
}
