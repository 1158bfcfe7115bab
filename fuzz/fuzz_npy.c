/* SPDX-License-Identifier: MIT */
/* The reader of .npy files on any bytes, and on headers made of words: a file that is not refused has just the numbers
 * that its shape announces, or rows of named ones, and all of them can be read. */
#include "fuzz.h"
#include "cli/table/npy.h"
#include "tests/support/reader_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TEXT = 1 << 12, HEAD = 10 };

static const char *const words[] = {"{'descr': '<f4', 'fortran_order': False, 'shape': (",
                                    "{'shape': (",
                                    "{'descr': [('x', '<f4'), ('n', '|u1')], 'fortran_order': False, 'shape': (",
                                    "{",
                                    "[",
                                    "]",
                                    "('a', '<i8')",
                                    "'|u1'",
                                    "}",
                                    "(",
                                    ")",
                                    "), }",
                                    ",",
                                    ", ",
                                    ": ",
                                    " ",
                                    "\n",
                                    "'descr'",
                                    "\"fortran_order\"",
                                    "'shape'",
                                    "'<f4'",
                                    "'>f4'",
                                    "'<f8'",
                                    "False",
                                    "True",
                                    "0",
                                    "1",
                                    "2",
                                    "3",
                                    "13",
                                    "4294967296",
                                    "1000000000000",
                                    "18446744073709551615",
                                    "18446744073709551616",
                                    "'"};

/* A word for each byte; the first says how many bytes of numbers follow the header. */
static size_t make_file(const uint8_t *data, size_t size, char *text)
{
    size_t used = HEAD;
    for (size_t i = 1; i < size && used < TEXT - 600; i++)
        used += strlen(strcpy(text + used, words[i == 1 ? data[1] % 5 : data[i] % (sizeof words / sizeof words[0])]));
    memcpy(text, "\x93NUMPY\1\0", 8);
    text[8] = (char)((used - HEAD) & 255);
    text[9] = (char)((used - HEAD) >> 8);
    memset(text + used, 1, 4 * (size_t)(data[0] % 128));
    return used + 4 * (size_t)(data[0] % 128);
}

static void check(const npy_file *f, size_t size)
{
    uint64_t count = 1;
    for (int i = 0; i < f->dimensions; i++)
        count *= f->shape[i];
    uint64_t bytes = f->named_count > 0 ? 0 : sizeof(float);
    for (int i = 0; i < f->named_count; i++)
        bytes += f->named[i].size;
    if (count != f->count || f->size != bytes || f->at + bytes * f->count != size)
        fuzz_fail("a shape that is not that of the numbers", "npy", NULL, 0);
    float *numbers = malloc((size_t)(bytes * f->count) + 1);
    if (!numbers || npy_read_rows(f, 0, (size_t)(bytes * f->count), numbers) != 0)
        fuzz_fail("numbers that cannot be read", reader_host_said, NULL, 0);
    free(numbers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char made[TEXT];
    char path[32];
    npy_file f;
    if (size < 2)
        return 0;
    const int as_bytes = data[0] % 8 == 0;
    const size_t length = as_bytes ? size - 1 : make_file(data, size, made);
    const int fd = memfd_create("npy", 0);
    if (fd < 0 || write(fd, as_bytes ? (const char *)data + 1 : made, length) != (ssize_t)length)
        fuzz_fail("no file", "npy", NULL, 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    reader_host_prints = 0;
    reader_host_said[0] = '\0';
    const int status = npy_open_rows(&f, path);
    if (status == EXIT_DONE)
        check(&f, length);
    else if (status != EXIT_USAGE || !reader_host_said[0])
        fuzz_fail(reader_host_said, "a refusal without a word, or for want of memory", NULL, 0);
    npy_close(&f);
    close(fd);
    return 0;
}
