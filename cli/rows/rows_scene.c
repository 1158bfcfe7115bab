/* SPDX-License-Identifier: MIT */
/* Rows of a file that are asked of a scene of another file. */
#include <string.h>

#include "mesh_columns.h"
#include "rows.h"
#include "cli/probe/probe.h"
#include "scene_source.h"

rows_query rows_with_instance(const rows_query *query, query_field fields[QUERY_FIELDS_MAX])
{
    rows_query with = *query;
    int at = 0;
    while (at < query->field_count && strcmp(query->fields[query->order[at]].name, "triangle") != 0)
        at++;
    if (at == query->field_count)
        return with;
    memmove(fields, query->fields, (size_t)query->field_count * sizeof *fields);
    fields[query->field_count] = (query_field){"instance", QUERY_TRIANGLE, 0};
    with.fields = fields;
    memmove(with.order + at + 1, with.order + at, (size_t)(query->field_count - at) * sizeof *with.order);
    with.order[at] = with.instance = query->field_count;
    with.field_count++;
    return with;
}

static int run(const rows_query *query, const cli_options *options, scene_source *source, rows_input *input)
{
    cli_options usable = *options;
    query_field fields[QUERY_FIELDS_MAX];
    const rows_query with = rows_with_instance(query, fields);
    carom_context *context = NULL;
    if (usable.backend == CAROM_BACKEND_AUTO && !usable.device) /* no device searches a scene */
        usable.backend = CAROM_BACKEND_CPU;
    int status = rows_next(input, input->chunk);
    if (status == EXIT_DONE)
        status = probe_before_rows(&usable, input->columns, input->column_count, input->count);
    if (status == EXIT_DONE)
        status = cli_context_open(&usable, &context);
    if (status == EXIT_DONE)
        status = scene_source_make(source, context);
    if (status == EXIT_DONE)
        status = rows_run(&with, carom_scene_mesh(source->scene), &usable, input);
    scene_source_free(source);
    carom_context_destroy(context);
    return status;
}

int rows_scene(const rows_query *query, const cli_options *options, const char *scene, const char *path)
{
    rows_input input;
    scene_source source;
    mesh_columns_scene whole = {.first = NULL};
    int status = scene_source_read(options, scene, &source);
    if (status == EXIT_DONE && query->mesh_columns)
        status = mesh_columns_scene_make(query->mesh_columns, &whole, &source);
    if (status == EXIT_DONE)
        status = rows_open_bundles(&input, query, options, path);
    if (status == EXIT_DONE) {
        status = run(query, options, &source, &input);
        rows_close(&input);
    }
    scene_source_free(&source);
    mesh_columns_scene_free(&whole);
    return status;
}
