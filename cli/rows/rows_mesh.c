/* SPDX-License-Identifier: MIT */
/* Rows of a file that are asked of a mesh of another file. */
#include "mesh_columns.h"
#include "rows.h"
#include "cli/import/import.h"
#include "cli/probe/probe.h"

/* Whether the library takes the mesh as a body, if the query asks for that: before anything is written. */
static int check_body(const rows_query *query, const cli_options *options, carom_mesh *mesh, rows_input *input)
{
    rows_field fields[QUERY_FIELDS_MAX];
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    if (query->sign == CAROM_SIGN_NONE)
        return EXIT_DONE;
    if (!rows_fields_alloc(query, 1, fields))
        return cli_no_memory();
    const carom_status status = rows_ask(query, mesh, options, input, 0, 0, fields, NULL, &stats, &err);
    rows_fields_free(fields);
    return status == CAROM_OK ? EXIT_DONE : cli_library_error(NULL, status, &err);
}

static int run(const rows_query *query, const cli_options *options, const char *path, const mesh_data *data,
               rows_input *input)
{
    cli_options usable = *options;
    carom_context *context = NULL;
    carom_mesh *mesh = NULL;
    int status = rows_next(input, input->chunk);
    if (status == EXIT_DONE)
        status = probe_before_rows(&usable, input->columns, input->column_count, input->count);
    if (status == EXIT_DONE)
        status = cli_mesh_open(&usable, path, data, &context, &mesh);
    if (status == EXIT_DONE)
        status = check_body(query, &usable, mesh, input);
    if (status == EXIT_DONE)
        status = rows_run(query, mesh, &usable, input);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return status;
}

int rows_mesh(const rows_query *query, const cli_options *options, const char *mesh, const char *path)
{
    rows_input input;
    mesh_data data;
    /* The importer may run in a process of its own, so it goes before anything starts threads. */
    int status = mesh_import(mesh, &data);
    if (status != EXIT_DONE)
        return status;
    if (query->mesh_columns)
        query->mesh_columns->data = &data;
    status = rows_open_bundles(&input, query, options, path);
    if (status == EXIT_DONE) {
        status = run(query, options, mesh, &data, &input);
        rows_close(&input);
    }
    mesh_free(&data);
    return status;
}

int rows_prepare_mesh(const rows_query *query, const cli_options *options, uint32_t present)
{
    carom_context *context = NULL;
    carom_mesh *mesh = NULL;
    int status = probe_mesh(options, &context, &mesh);
    if (status == EXIT_DONE)
        status = rows_prepare(query, mesh, options, present);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return status;
}
