/* SPDX-License-Identifier: MIT */
/* Reading NumPy's .npy files of little-endian binary32 in C order. Everything else is refused in a sentence, before any
 * memory is taken for what the header announces. */
#ifndef CAROM_CLI_TABLE_NPY_H
#define CAROM_CLI_TABLE_NPY_H

#include <stdint.h>

enum { NPY_DIMENSIONS = 8 };

typedef struct npy_file {
    const char *path;
    int fd;
    int major; /* of the format's version */
    int dimensions;
    uint64_t shape[NPY_DIMENSIONS]; /* the last varies fastest */
    uint64_t at;                    /* of the first number, in bytes */
    uint64_t count;                 /* of numbers; the file ends behind the last */
} npy_file;

/* Each of these returns an exit status; anything but EXIT_DONE has been explained on standard error. */

/* Open a regular file, which `path` must outlive, and read its header. npy_close in any case. */
int npy_open(npy_file *out, const char *path);
/* The numbers from .. from + count; the caller keeps within the file's count. */
int npy_read(const npy_file *file, uint64_t from, uint64_t count, float *to);
/* The same without a message, from any thread: returns 0, or an errno, and npy_refuse_read has its sentence. */
int npy_read_at(const npy_file *file, uint64_t from, uint64_t count, float *to);
int npy_refuse_read(const npy_file *file, int error);
void npy_close(npy_file *file);

/* The sentence for another shape: expected, such as "[paths][points][3]". */
int npy_refuse_shape(const npy_file *file, const char *expected);

#endif
