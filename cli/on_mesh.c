/* SPDX-License-Identifier: MIT */
/* From a mesh file and a file of spheres to answers; see on_mesh.h. */
#include "on_mesh.h"
#include "cli/import/import.h"
#include "cli/probe/probe.h"

#include <stdio.h>
#include <string.h>

int on_mesh_kind(const cli_options *options, const mesh_kind *kinds, size_t count, const rows_query **out)
{
    char words[128] = "";
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (!options->hits || !strcmp(options->hits, kinds[i].hits)) {
            *out = &kinds[i].query;
            return EXIT_DONE;
        }
        if (used < sizeof words)
            used += (size_t)snprintf(words + used, sizeof words - used, "%s%s",
                                     i == 0           ? ""
                                     : i + 1 == count ? " or "
                                                      : ", ",
                                     kinds[i].hits);
    }
    return cli_refuse(EXIT_USAGE, "--hits: expected %s, got '%s'", words, options->hits);
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

int on_mesh_run(const char *command, const cli_options *options, const rows_query *query)
{
    csv_column columns[ROWS_COLUMNS_MAX];
    uint64_t count;
    mesh_data data;
    if (!options->spheres)
        return cli_refuse(EXIT_USAGE, "%s: --mesh needs --spheres FILE", command);
    /* The importer may run in a process of its own, so it goes before anything starts threads. */
    int status = options->rehearsal ? rehearsal_mesh(&data) : mesh_import(options->mesh, &data);
    if (status != EXIT_DONE)
        return status;
    status = rows_read(query, options, options->spheres, columns, &count);
    if (status == EXIT_DONE) {
        carom_context *context = NULL;
        carom_mesh *mesh = NULL;
        cli_options usable = *options;
        status = probe_before_rows(&usable, columns, query->column_count, count);
        if (status == EXIT_DONE)
            status = make_mesh(&usable, &data, &context, &mesh);
        if (status == EXIT_DONE)
            status = rows_run(query, mesh, &usable, columns, count);
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
        csv_free(columns, query->column_count);
    }
    mesh_free(&data);
    return status;
}
