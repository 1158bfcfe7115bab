/* SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "reader.h"

#include <stdlib.h>
#include <string.h>

/* A binary file whose count is what its bytes are enough for, or nearly. */
static void read_binary(const uint8_t *data, size_t size)
{
    const size_t file_size = 84 + size;
    uint8_t *file = calloc(1, file_size);
    uint32_t count = (uint32_t)(size / 50) + (size > 0 && data[0] < 8 ? data[0] : 0);
    if (!file)
        abort();
    if (size > 0 && data[0] % 2)
        memcpy(file, "solid x", 7);
    for (int i = 0; i < 4; i++)
        file[80 + i] = (uint8_t)(count >> 8 * i);
    memcpy(file + 84, data, size);
    fuzz_read_bytes(mesh_read_stl, file, file_size);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const words[] = {
        "solid\n",
        "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n",
        "solid a\nfacet normal 0 0 1\nouter loop\nvertex ",
        "",
        "solid",
        "facet normal",
        "outer loop\n",
        "vertex",
        "vertex 0 0 0\n",
        "endloop\n",
        "end loop\n",
        "endfacet\n",
        "end facet\n",
        "endsolid",
        "end",
        "loop",
        "#1",
        "facet\nouter\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nend loop\nend facet\n",
        "\f",
        "\v"};
    if (size > 0 && data[0] < 32)
        fuzz_read_bytes(mesh_read_stl, data + 1, size - 1);
    else if (size > 0 && data[0] < 64)
        read_binary(data + 1, size - 1);
    else
        fuzz_read_words(mesh_read_stl, words, sizeof words / sizeof words[0], data, size);
    return 0;
}
