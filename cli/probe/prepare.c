/* SPDX-License-Identifier: MIT */
/* The subject of a command's calls in a process that tries a device. They prepare: the library builds and probes the
 * programs that the command's own calls will need, and reads no row. */
#include "probe.h"
#include "cli/import/import.h"

#include <string.h>

/* One triangle, because programs do not depend on the mesh. */
int probe_mesh(const cli_options *options, carom_context **context, carom_mesh **mesh)
{
    float xyz[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    uint32_t indices[3] = {0, 1, 2};
    const mesh_data data = {.xyz = xyz, .vertex_count = 3, .indices = indices, .triangle_count = 1};
    return cli_mesh_open(options, NULL, &data, context, mesh);
}

int probe_columns(table_column *columns, size_t count, uint32_t present)
{
    for (size_t c = 0; c < count; c++) {
        columns[c].present = columns[c].group == 0 || (present >> c & 1);
        columns[c].data = cli_alloc(1, sizeof(float));
        if (!columns[c].data)
            return cli_no_memory();
        *columns[c].data = 0.0f;
    }
    return EXIT_DONE;
}
