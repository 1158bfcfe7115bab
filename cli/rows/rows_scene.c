/* SPDX-License-Identifier: MIT */
/* Rows of a file that are asked of a scene of another file. */
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "cli/probe/probe.h"
#include "scene_merge.h"

/* The meshes of a scene. */
typedef struct scene_meshes {
    scene_data data;
    carom_mesh **mesh; /* [path_count]; NULL where none is made yet */
} scene_meshes;

static int read_meshes(const scene_file *file, scene_meshes *meshes)
{
    meshes->mesh = cli_alloc(file->path_count, sizeof(carom_mesh *));
    if (!meshes->mesh)
        return cli_no_memory();
    for (uint64_t i = 0; i < file->path_count; i++)
        meshes->mesh[i] = NULL;
    return scene_data_read(file, &meshes->data);
}

static void free_meshes(scene_meshes *meshes)
{
    for (uint64_t i = 0; i < meshes->data.count; i++)
        carom_mesh_destroy(meshes->mesh[i]);
    scene_data_free(&meshes->data);
    free(meshes->mesh);
    meshes->mesh = NULL;
}

/* Makes the scene; it keeps the meshes alive. */
static int make_scene(carom_context *context, const char *path, const scene_file *file, scene_meshes *meshes,
                      carom_scene **scene)
{
    carom_error err = {0};
    for (uint64_t i = 0; i < meshes->data.count; i++) {
        const int made = cli_mesh_make(context, file->paths[i], &meshes->data.meshes[i], &meshes->mesh[i]);
        if (made != EXIT_DONE)
            return made;
    }
    const carom_scene_desc desc = {
        .size = sizeof desc,
        .meshes = meshes->mesh,
        .mesh_count = meshes->data.count,
        .mesh = carom_uints_of(file->mesh),
        .instance_count = file->count,
        .pose = {.size = sizeof desc.pose, .map = file->map[0], .masks = carom_uints_of(file->mask)}};
    const carom_status status = carom_scene_create(context, &desc, scene, &err);
    return status == CAROM_OK ? EXIT_DONE : cli_library_error(path, status, &err);
}

/* The query with a column `instance` in front of `triangle`. fields: memory for the query's fields. */
static rows_query with_instance(const rows_query *query, query_field fields[QUERY_FIELDS_MAX])
{
    rows_query with = *query;
    int at = 0;
    while (at < query->field_count && strcmp(query->fields[query->order[at]].name, "triangle") != 0)
        at++;
    if (at == query->field_count)
        return with;
    memcpy(fields, query->fields, (size_t)query->field_count * sizeof *fields);
    fields[query->field_count] = (query_field){"instance", QUERY_TRIANGLE, 0};
    with.fields = fields;
    memmove(with.order + at + 1, with.order + at, (size_t)(query->field_count - at) * sizeof *with.order);
    with.order[at] = with.instance = query->field_count;
    with.field_count++;
    return with;
}

static int run(const rows_query *query, const cli_options *options, const char *path, const scene_file *file,
               scene_meshes *meshes, rows_input *input)
{
    cli_options usable = *options;
    query_field fields[QUERY_FIELDS_MAX];
    const rows_query with = with_instance(query, fields);
    carom_context *context = NULL;
    carom_scene *scene = NULL;
    if (usable.backend == CAROM_BACKEND_AUTO && !usable.device) /* no device searches a scene */
        usable.backend = CAROM_BACKEND_CPU;
    int status = rows_next(input, CLI_CHUNK);
    if (status == EXIT_DONE)
        status = probe_before_rows(&usable, input->columns, input->column_count, input->count);
    if (status == EXIT_DONE)
        status = cli_context_open(&usable, &context);
    if (status == EXIT_DONE)
        status = make_scene(context, path, file, meshes, &scene);
    if (status == EXIT_DONE)
        status = rows_run(&with, carom_scene_mesh(scene), &usable, input);
    carom_scene_destroy(scene);
    free_meshes(meshes);
    carom_context_destroy(context);
    return status;
}

int rows_scene(const rows_query *query, const cli_options *options, const char *scene, const char *path)
{
    rows_input input;
    scene_file file;
    scene_meshes meshes = {{NULL, 0}, NULL};
    int status = scene_file_read(scene, &file);
    if (status == EXIT_DONE)
        status = read_meshes(&file, &meshes);
    if (status == EXIT_DONE) {
        status = rows_open(&input, query->row, options, path);
        if (status == EXIT_DONE) {
            status = run(query, options, scene, &file, &meshes, &input);
            rows_close(&input);
        }
    }
    free_meshes(&meshes);
    scene_file_free(&file);
    return status;
}
