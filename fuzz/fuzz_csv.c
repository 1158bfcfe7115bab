/* SPDX-License-Identifier: MIT */
/* The CSV reader on any text, as bytes or made of words, in pieces of any size: its rows or the line of its refusal are
 * the oracle's. */
#include "fuzz.h"
#include "tests/support/csv_oracle.h"
#include "tests/support/reader_host.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 6, TEXT = 1 << 14 };

static const char *const words[] = {"x,radius\n",
                                    "radius,x\r\n",
                                    "x,note,radius,mask,t_max\n",
                                    "wy,x,wx,radius\n",
                                    "\xef\xbb\xbfx,radius\n",
                                    "",
                                    "x,radius,x\n",
                                    "mask,x\n",
                                    "1,2\n",
                                    "1,2,3\n",
                                    "1,2,3,4\n",
                                    "1,2,3,4,5\n",
                                    "1,2\r\n",
                                    "\n",
                                    "\r\n",
                                    "\r",
                                    ",",
                                    " ",
                                    "\t",
                                    "0",
                                    "-0.5",
                                    "1e39",
                                    "1e-46",
                                    "0x1p3",
                                    "inf",
                                    "nan",
                                    "4294967295",
                                    "4294967296",
                                    "0xffffffff",
                                    "123456789012345678901234567890",
                                    "16777217",
                                    "0.30000001192092896",
                                    "e5",
                                    "\"",
                                    "word",
                                    "\v"};

/* The first byte chooses a header, and every other one a word or a byte. */
static size_t make_text(const uint8_t *data, size_t size, char *text)
{
    size_t used = 0;
    for (size_t i = 0; i < size && used < TEXT - 64; i++) {
        const char *word = words[i == 0 ? data[0] % 8 : data[i] % (sizeof words / sizeof words[0])];
        if (i > 0 && data[i] >= 216)
            text[used++] = (char)(data[i] - 216);
        else
            used += strlen(strcpy(text + used, word));
    }
    return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    table_column columns[COLUMNS] = {{.name = "x"},
                                     {.name = "radius"},
                                     {.name = "wx", .group = 1},
                                     {.name = "wy", .group = 1},
                                     {.name = "t_max", .kind = TABLE_TIME, .group = 2},
                                     {.name = "mask", .kind = TABLE_MASK, .group = 3}};
    static char made[TEXT];
    csv_table expected, got;
    if (size < 5)
        return 0;
    const csv_way way = {{1 + data[0] % 20, 1 + data[1] % PARALLEL_MAX, 1 + data[2]}, 1 + data[3] % 32, 0};
    const int as_bytes = data[4] % 8 == 0;
    const char *text = (const char *)data + 5;
    size_t length = size - 5;
    if (!as_bytes) {
        length = make_text(data + 5, size - 5, made);
        text = made;
    }
    reader_host_prints = 0;
    csv_oracle_read(text, length, columns, COLUMNS, &expected);
    const int status = csv_table_read(text, length, columns, COLUMNS, &way, &got);
    if (status != EXIT_DONE && (status != EXIT_USAGE || !reader_host_said[0]))
        fuzz_fail(reader_host_said, "a refusal without a word, or for want of memory", NULL, 0);
    const char *what = csv_table_differs(&expected, &got);
    if (what)
        fuzz_fail(what, reader_host_said, NULL, 0);
    csv_table_free(&expected);
    csv_table_free(&got);
    return 0;
}
