/* SPDX-License-Identifier: MIT */
#include "mesh_columns.h"
#include "cli/table/vtk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int field_named(const rows_query *query, const char *name)
{
    int f = query->field_count - 1;
    while (f >= 0 && strcmp(query->fields[f].name, name) != 0)
        f--;
    return f;
}

int mesh_columns_check(const char *path, const rows_query *query)
{
    if (!cli_has_suffix(path, "vtp"))
        return cli_refuse(EXIT_USAGE, "--mesh-columns: expected a file that ends in .vtp, got '%s'", path);
    if (field_named(query, "triangle") < 0)
        return cli_refuse(EXIT_USAGE, "--mesh-columns: needs rows that name triangles: --hits first or --hits all");
    return EXIT_DONE;
}

int mesh_columns_open(mesh_columns *c, const rows_query *query)
{
    const uint64_t triangles = c->data->triangle_count;
    c->is_contacts = query->row == &query_mesh_contacts;
    c->triangle = field_named(query, "triangle");
    c->instance = query->instance;
    c->value = field_named(query, c->is_contacts ? "depth" : "t");
    c->count = cli_alloc(triangles, sizeof *c->count);
    c->least = cli_alloc(c->is_contacts ? 0 : triangles, sizeof *c->least);
    c->sum = cli_alloc(c->is_contacts ? triangles : 0, sizeof *c->sum);
    if (!c->count || !c->least || !c->sum)
        return cli_no_memory();
    for (uint64_t i = 0; i < triangles; i++) {
        c->count[i] = 0;
        if (c->is_contacts)
            c->sum[i] = 0.0;
        else
            c->least[i] = NAN;
    }
    return EXIT_DONE;
}

void mesh_columns_add(mesh_columns *c, const rows_field *fields, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const int32_t triangle = fields[c->triangle].integers[i];
        const float value = fields[c->value].floats[i];
        if (triangle < 0)
            continue;
        const uint64_t at = (uint64_t)triangle + (c->first ? c->first[fields[c->instance].integers[i]] : 0);
        c->count[at]++;
        if (c->is_contacts)
            c->sum[at] += value > 0.0f ? (double)value : 0.0;
        else if (!(c->least[at] <= value))
            c->least[at] = value;
    }
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* Numbers `each` of every triangle. */
static void add_numbers(vtk_text *t, const mesh_columns *c, const char *type, const char *name, uint64_t each)
{
    vtk_add_array(t, type, name, 1, NULL, c->data->triangle_count * each);
}

static void write_header(mesh_columns *c)
{
    const mesh_data *data = c->data;
    vtk_text t;
    vtk_begin(&t, "PolyData", NULL);
    vtk_add(&t, "  <PolyData>\n    <Piece NumberOfPoints=\"%llu\" NumberOfVerts=\"0\" NumberOfLines=\"0\" ",
            (unsigned long long)data->vertex_count);
    vtk_add(&t, "NumberOfStrips=\"0\" NumberOfPolys=\"%llu\">\n      <PointData/>\n",
            (unsigned long long)data->triangle_count);
    vtk_add(&t, "      <CellData Scalars=\"%s\">\n", c->is_contacts ? "contacts" : "hits");
    add_numbers(&t, c, "Int64", c->is_contacts ? "contacts" : "hits", sizeof *c->count);
    if (c->is_contacts)
        add_numbers(&t, c, "Float64", "summed_depth", sizeof *c->sum);
    else
        add_numbers(&t, c, "Float32", "least_time", sizeof *c->least);
    vtk_add(&t, "      </CellData>\n      <Points>\n");
    vtk_add_array(&t, "Float32", "Points", 3, NULL, data->vertex_count * 3 * sizeof(float));
    vtk_add(&t, "      </Points>\n      <Polys>\n");
    vtk_add_array(&t, "Int64", "connectivity", 1, NULL, data->triangle_count * 3 * sizeof(int64_t));
    add_numbers(&t, c, "Int64", "offsets", sizeof(int64_t));
    vtk_add(&t, "      </Polys>\n    </Piece>\n");
    vtk_end(&t, "PolyData");
    output_bytes(&c->out, t.at, t.used);
}

static void write_number(output *out, uint64_t number)
{
    char bytes[sizeof number];
    memcpy(bytes, &number, sizeof number);
    output_bytes(out, bytes, sizeof bytes);
}

static void write_array(output *out, const void *numbers, uint64_t count, size_t size)
{
    write_number(out, count * size);
    output_bytes(out, numbers, count * size);
}

static void write_corners(output *out, const mesh_data *data)
{
    write_number(out, data->triangle_count * 3 * sizeof(int64_t));
    for (uint64_t i = 0; i < 3 * data->triangle_count && !out->error; i++)
        write_number(out, data->indices[i]);
    write_number(out, data->triangle_count * sizeof(int64_t));
    for (uint64_t i = 1; i <= data->triangle_count && !out->error; i++)
        write_number(out, 3 * i);
}

int mesh_columns_write(mesh_columns *c)
{
    const mesh_data *data = c->data;
    const int status = output_open(&c->out, c->path);
    if (status != EXIT_DONE)
        return status;
    c->is_open = 1;
    write_header(c);
    write_array(&c->out, c->count, data->triangle_count, sizeof *c->count);
    if (c->is_contacts)
        write_array(&c->out, c->sum, data->triangle_count, sizeof *c->sum);
    else
        write_array(&c->out, c->least, data->triangle_count, sizeof *c->least);
    write_array(&c->out, data->xyz, data->vertex_count, 3 * sizeof *data->xyz);
    write_corners(&c->out, data);
    output_text(&c->out, vtk_trailer);
    return output_sync(&c->out);
}

int mesh_columns_close(mesh_columns *c, int status)
{
    free(c->count);
    free(c->least);
    free(c->sum);
    c->count = NULL;
    c->least = NULL;
    c->sum = NULL;
    if (c->is_open)
        status = output_close(&c->out, status);
    c->is_open = 0;
    return status;
}

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

int mesh_columns_scene_make(mesh_columns *c, mesh_columns_scene *scene, const scene_source *source)
{
    const scene_file *file = &source->file;
    uint64_t triangles = 0;
    scene->first = cli_alloc(file->count, sizeof *scene->first);
    if (!scene->first)
        return cli_no_memory();
    for (uint64_t i = 0; i < file->count; i++) {
        scene->first[i] = triangles;
        triangles += source->data.meshes[file->mesh[i]].triangle_count;
    }
    c->first = scene->first;
    c->data = &scene->data;
    return scene_merge_data(source->path, file, &source->data, UINT64_MAX, &scene->data);
}

void mesh_columns_scene_free(mesh_columns_scene *scene)
{
    mesh_free(&scene->data);
    free(scene->first);
    scene->first = NULL;
}
