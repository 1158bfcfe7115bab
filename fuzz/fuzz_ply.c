/* SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "reader.h"

#define XYZ "property float x\nproperty float y\nproperty float z\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const words[] = {
        "ply\nformat ascii 1.0\nelement vertex 3\n" XYZ
        "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n",
        "ply\nformat binary_little_endian 1.0\nelement vertex 2\n" XYZ
        "element face 2\nproperty list uchar ushort vertex_index\nend_header\n",
        "ply\nformat binary_big_endian 1.0\nelement vertex 1\nproperty double x\nproperty short y\nproperty uchar z\n"
        "element tristrips 1\nproperty list int int vertex_indices\nend_header\n",
        "ply\nformat ascii 1.0\n",
        "element vertex",
        "element face",
        "element tristrips",
        "element other",
        "element vertex 3\n" XYZ,
        "element face 1\nproperty list uchar int vertex_indices\n",
        "property",
        "property list",
        "uchar",
        "char",
        "ushort",
        "int",
        "uint",
        "int16",
        "float",
        "double",
        "x",
        "y",
        "z",
        "vertex_indices\n",
        "vertex_index\n",
        "comment #\n",
        "obj_info\n",
        "end_header\n",
        "format ascii 1.0\n",
        "property float nx\n",
        "0 0 0\n1 0 0\n0 1 0\n",
        "3 0 1 2\n",
        "4 0 1 2 1\n",
        "\f",
        "\v"};
    if (size > 0 && data[0] < 32)
        fuzz_read_bytes(mesh_read_ply, data + 1, size - 1);
    else
        fuzz_read_words(mesh_read_ply, words, sizeof words / sizeof words[0], data, size);
    return 0;
}
