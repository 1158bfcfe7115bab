/* SPDX-License-Identifier: MIT */
/* Reading NumPy's .npy files of little-endian binary32 in C order, or of rows of named numbers (a structured type), and
 * the headers of such files. Everything else is refused in a sentence, before any memory is taken for what the header
 * announces. */
#ifndef CAROM_CLI_TABLE_NPY_H
#define CAROM_CLI_TABLE_NPY_H

#include <stddef.h>
#include <stdint.h>

enum { NPY_DIMENSIONS = 8, NPY_HEADER = 320, NPY_FIELDS_HEADER = 10240 };

/* A number of each row, of a structured type. */
enum { NPY_NAMED = 64, NPY_NAME = 256, NPY_TYPE = 24 };
typedef struct npy_named {
    char name[NPY_NAME]; /* empty: longer, so that no column has it */
    char type[NPY_TYPE]; /* as `<f4`, or `an array of <f4` */
    uint64_t at, size;   /* bytes, from the row's first one on */
} npy_named;

typedef struct npy_file {
    const char *path;
    int fd;
    int major; /* of the format's version */
    int dimensions;
    uint64_t shape[NPY_DIMENSIONS]; /* the last varies fastest */
    uint64_t at;                    /* of the first number, in bytes */
    uint64_t count;                 /* of numbers, or of rows of them; the file ends behind the last */
    int takes_named, named_count;   /* 0: of plain numbers */
    uint64_t size;                  /* bytes of a number or a row */
    npy_named *named;               /* [named_count] */
} npy_file;

/* Each of these returns an exit status; anything but EXIT_DONE has been explained on standard error. */

/* Open a regular file, which `path` must outlive, and read its header. npy_close in any case. */
int npy_open(npy_file *out, const char *path);
/* The same, of plain numbers or of rows of named ones, which are read with npy_read_rows. */
int npy_open_rows(npy_file *out, const char *path);
/* `size` bytes from byte `from` behind the header on, as npy_read_at. */
int npy_read_rows(const npy_file *file, uint64_t from, size_t size, void *to);
/* The numbers from .. from + count; the caller keeps within the file's count. */
int npy_read(const npy_file *file, uint64_t from, uint64_t count, float *to);
/* The same without a message, from any thread: returns 0, or an errno, and npy_refuse_read has its sentence. */
int npy_read_at(const npy_file *file, uint64_t from, uint64_t count, float *to);
int npy_refuse_read(const npy_file *file, int error);
void npy_close(npy_file *file);

/* The header of a file that is written, version 1.0, for numbers of a type such as `<f4`. Returns its length. */
size_t npy_header(char to[NPY_HEADER], const char *type, int dimensions, const uint64_t *shape);
/* The same for rows of named numbers without gaps, NumPy's structured type; its length does not depend on `rows`. A
 * name has at most 255 bytes, none of which is a quote or a backslash; there are at most 32 fields. */
typedef struct npy_field {
    const char *name, *type;
} npy_field;
size_t npy_fields_header(char to[NPY_FIELDS_HEADER], const npy_field *fields, int count, uint64_t rows);

/* The sentence for another shape: expected, such as "[paths][points][3]". */
int npy_refuse_shape(const npy_file *file, const char *expected);

#endif
