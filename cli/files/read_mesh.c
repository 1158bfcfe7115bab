/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "cli/base/base.h"
#include "cli/base/json.h"
#include "cli/import/import.h"

static void describe(json_writer *j, const mesh_data *mesh)
{
    json_text(j, "reader", mesh->reader);
    json_text(j, "notes", mesh->notes);
    json_count(j, "vertices", mesh->vertex_count);
    json_count(j, "triangles", mesh->triangle_count);
    json_array(j, "parts");
    for (uint64_t i = 0; i < mesh->part_count; i++) {
        json_object(j, NULL);
        json_text(j, "name", mesh->parts[i].name);
        json_count(j, "triangles", mesh->parts[i].triangle_count);
        json_close(j, '}');
    }
    json_close(j, ']');
}

int files_read_mesh(int count, char **arguments)
{
    mesh_data mesh;
    output out;
    json_writer j;
    (void)count;
    int status = mesh_import(arguments[0], &mesh);
    if (status != EXIT_DONE)
        return status;
    status = output_open(&out, NULL);
    if (status == EXIT_DONE) {
        json_begin(&j, &out);
        describe(&j, &mesh);
        json_end(&j);
        output_char(&out, '\0');
        output_bytes(&out, (const char *)mesh.xyz, (size_t)mesh.vertex_count * 3 * sizeof(float));
        output_bytes(&out, (const char *)mesh.indices, (size_t)mesh.triangle_count * 3 * sizeof(uint32_t));
        status = output_close(&out, status);
    }
    mesh_free(&mesh);
    return status;
}
