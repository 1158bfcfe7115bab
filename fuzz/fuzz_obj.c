/* SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const words[] = {"",
                                        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n",
                                        "o #1\nv 0 0 0\nv 4 0 0\nv 4 4 0\nv 2 1 0\nv 0 4 0\nv 2 1 0\nf 1 2 3 4 ",
                                        "v 0 0 0 # one\nf 1 1 1\n",
                                        "v",
                                        "f",
                                        "fo",
                                        "o",
                                        "g",
                                        "p",
                                        "l",
                                        "\nv",
                                        "\nf",
                                        "#",
                                        "# comment\n",
                                        "\\",
                                        "\\\n",
                                        "vt",
                                        "vn",
                                        "usemtl",
                                        "mtllib",
                                        "curv",
                                        "surf",
                                        "1/2/3",
                                        "1//3",
                                        "-1/-1",
                                        "1/",
                                        "//",
                                        "s off",
                                        "end",
                                        "\f",
                                        "\v"};
    if (size > 0 && data[0] < 32)
        fuzz_read_bytes(mesh_read_obj, data + 1, size - 1);
    else
        fuzz_read_words(mesh_read_obj, words, sizeof words / sizeof words[0], data, size);
    return 0;
}
