/* SPDX-License-Identifier: MIT */
/* Made-up input for a command that tries a device in a process of its own: enough rows and triangles that every kernel
 * runs which the command may need. */
#include "cli/command/command.h"
#include "cli/import/reader.h"
#include "probe.h"

#include <string.h>

/* From so many queries and leaves on, a device of one lane puts queries in order first, by kernels of its own. */
enum { ROWS = 1 << 13, SIDE = 32 };

static float made_up(const table_column *column, size_t c, uint64_t i)
{
    const uint32_t hash = (uint32_t)((i + 1) * 32 + c) * 2654435761u; /* Knuth's multiplicative hash */
    if (column->name[0] == 'r') /* a radius: half a triangle of the mesh, so that lists stay short */
        return 0x1p-6f;
    return (float)(hash >> 16) * 0x1p-16f;
}

int rehearsal_rows(const cli_options *options, table_column *columns, size_t count, uint64_t *rows)
{
    *rows = ROWS;
    for (size_t c = 0; c < count; c++) {
        columns[c].present = columns[c].group == 0 || (options->present >> c & 1);
        if (!columns[c].present)
            continue;
        columns[c].data = cli_alloc(ROWS, sizeof(float));
        if (!columns[c].data)
            return cli_no_memory();
        for (uint64_t i = 0; i < ROWS; i++)
            if (columns[c].kind == TABLE_MASK)
                memcpy(columns[c].data + i, &(uint32_t){1}, sizeof(uint32_t));
            else
                columns[c].data[i] = columns[c].kind == TABLE_TIME ? REHEARSAL_TIME : made_up(&columns[c], c, i);
    }
    return EXIT_DONE;
}

/* A square at z = 1, above the centres, which move towards it. */
int rehearsal_mesh(mesh_data *mesh)
{
    *mesh = (mesh_data){0};
    int status = mesh_add_part(mesh, "", 0);
    for (int i = 0; i < (SIDE + 1) * (SIDE + 1); i++)
        status |= mesh_add_vertex(mesh, (float[3]){(float)(i % (SIDE + 1)) / SIDE, (float)(i / (SIDE + 1)) / SIDE, 1});
    for (uint32_t i = 0; i < SIDE * (SIDE + 1); i++)
        if (i % (SIDE + 1) != SIDE) {
            status |= mesh_add_triangle(mesh, i, i + 1, i + SIDE + 2);
            status |= mesh_add_triangle(mesh, i, i + SIDE + 2, i + SIDE + 1);
        }
    return status; /* EXIT_DONE is 0 */
}
