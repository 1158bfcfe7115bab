/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "cli/base/base.h"
#include "cli/base/json.h"
#include "cli/base/unfinished.h"
#include "cli/import/import.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

static double every, next; /* seconds */

/* Straight to the pipe, once in a while: the numbers have a buffer of their own. */
static void tell(double share)
{
    char text[64];
    const double now = cli_seconds();
    if (now < next)
        return;
    next = now + every;
    const int size = snprintf(text, sizeof text, "{\"share\": %.6f}", share) + 1;
    if (write(STDOUT_FILENO, text, (size_t)size) != size && errno == EPIPE)
        unfinished_end_by(SIGPIPE); /* the reader is gone; any other error is found with the numbers */
}

int files_read_mesh(int count, char **arguments)
{
    mesh_data mesh;
    output out;
    json_writer j;
    if (count > 1) {
        every = strtod(arguments[1], NULL);
        next = cli_seconds() + every;
        mesh_import_tell(tell);
    }
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
