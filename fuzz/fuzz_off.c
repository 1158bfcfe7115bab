/* SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const words[] = {"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n",
                                        "OFF5 2 0\n0 0 0\n4 0 0\n4 4 0\n2 1 0\n0 4 0\n5 0 1 2 3 4\n",
                                        "nOFF\n3\n",
                                        "",
                                        "OFF",
                                        "COFF",
                                        "NOFF",
                                        "CNOFF",
                                        "STOFF",
                                        "4OFF",
                                        "nOFF",
                                        "BINARY",
                                        "#",
                                        "# comment\n",
                                        "3 0 1 2\n",
                                        "3 1 0\n",
                                        "\n3",
                                        "\n0 0 0\n",
                                        "\f",
                                        "\v",
                                        "\\"};
    if (size > 0 && data[0] < 32)
        fuzz_read_bytes(mesh_read_off, data + 1, size - 1);
    else
        fuzz_read_words(mesh_read_off, words, sizeof words / sizeof words[0], data, size);
    return 0;
}
