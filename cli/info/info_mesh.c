/* SPDX-License-Identifier: MIT */
/* carom info --mesh: what a mesh holds, and what its import changed. */
#include "info.h"
#include "cli/import/import.h"
#include "cli/base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct bounds {
    float low[3], high[3];
    uint64_t not_finite; /* corners */
} bounds;

static bounds bounds_of(const mesh_data *mesh)
{
    bounds b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0};
    for (uint64_t i = 0; i < 3 * mesh->triangle_count; i++) {
        const float *v = mesh->xyz + 3 * (uint64_t)mesh->indices[i];
        b.not_finite += !(isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]));
        for (int k = 0; k < 3; k++) {
            b.low[k] = v[k] < b.low[k] ? v[k] : b.low[k];
            b.high[k] = v[k] > b.high[k] ? v[k] : b.high[k];
        }
    }
    return b;
}

/* ---- text ---------------------------------------------------------------------------------------------------------
 */

static void write_vector(output *out, const char *name, const float v[3])
{
    output_text(out, name);
    for (int k = 0; k < 3; k++) {
        output_char(out, ' ');
        output_float(out, v[k]);
    }
    output_char(out, '\n');
}

static void write_text(output *out, const char *path, const mesh_data *mesh)
{
    const bounds b = bounds_of(mesh);
    output_text(out, "mesh: ");
    output_shown(out, path, strlen(path));
    output_format(out, "\nreader: %s\n", mesh->reader);
    output_format(out, "triangles: %llu\nvertices: %llu\nparts: %llu\n", (unsigned long long)mesh->triangle_count,
                  (unsigned long long)mesh->vertex_count, (unsigned long long)mesh->part_count);
    uint64_t first = 0;
    for (uint64_t i = 0; i < mesh->part_count; i++) {
        const mesh_part *part = &mesh->parts[i];
        output_format(out, "  part %llu: %llu triangles from %llu%s", (unsigned long long)i,
                      (unsigned long long)part->triangle_count, (unsigned long long)first, part->name[0] ? ", " : "");
        output_shown(out, part->name, strlen(part->name));
        output_char(out, '\n');
        first += part->triangle_count;
    }
    write_vector(out, "lower:", b.low);
    write_vector(out, "upper:", b.high);
    for (const char *note = mesh->notes; *note;) {
        size_t length = strcspn(note, "\n");
        output_format(out, "changed: %.*s\n", (int)length, note);
        note += length + (note[length] == '\n');
    }
    if (!mesh->notes[0])
        output_text(out, "changed: nothing\n");
    if (b.not_finite)
        output_format(out, "not usable: %llu corners are not finite\n", (unsigned long long)b.not_finite);
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------
 */

static void write_reals(json_writer *j, const char *key, const float v[3])
{
    json_array(j, key);
    for (int k = 0; k < 3; k++)
        json_real(j, NULL, (double)v[k]);
    json_close(j, ']');
}

static void write_parts(json_writer *j, const mesh_data *mesh)
{
    uint64_t first = 0;
    json_array(j, "parts");
    for (uint64_t i = 0; i < mesh->part_count; i++) {
        json_object(j, NULL);
        json_text(j, "name", mesh->parts[i].name);
        json_count(j, "first_triangle", first);
        json_count(j, "triangles", mesh->parts[i].triangle_count);
        json_close(j, '}');
        first += mesh->parts[i].triangle_count;
    }
    json_close(j, ']');
}

static void write_notes(json_writer *j, const char *notes)
{
    json_array(j, "changed");
    for (const char *note = notes; *note;) {
        char line[MESH_NOTES];
        const size_t length = strcspn(note, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, note);
        json_text(j, NULL, line);
        note += length + (note[length] == '\n');
    }
    json_close(j, ']');
}

static void write_json(output *out, const char *path, const mesh_data *mesh)
{
    const bounds b = bounds_of(mesh);
    json_writer j;
    json_begin(&j, out);
    json_text(&j, "mesh", path);
    json_text(&j, "reader", mesh->reader);
    json_count(&j, "triangles", mesh->triangle_count);
    json_count(&j, "vertices", mesh->vertex_count);
    write_parts(&j, mesh);
    write_reals(&j, "lower", b.low);
    write_reals(&j, "upper", b.high);
    write_notes(&j, mesh->notes);
    json_count(&j, "corners_not_finite", b.not_finite);
    json_end(&j);
}

int info_mesh(const info_options *options)
{
    mesh_data mesh;
    output out;
    int status = mesh_import(options->mesh, &mesh);
    if (status != EXIT_DONE)
        return status;
    status = output_open(&out, options->common.output);
    if (status == EXIT_DONE) {
        (options->json ? write_json : write_text)(&out, options->mesh, &mesh);
        status = output_close(&out, EXIT_DONE);
    }
    mesh_free(&mesh);
    return status;
}
