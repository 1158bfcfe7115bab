/* SPDX-License-Identifier: MIT */
/* What the writers of arrays have in common. */
#ifndef CAROM_CLI_FILES_WRITE_H
#define CAROM_CLI_FILES_WRITE_H

#include "cli/table/npy.h"
#include "files.h"

/* A type of numbers, as NumPy and VTK name it. */
typedef struct files_number {
    const char *numpy, *vtk;
    size_t size;
} files_number;

extern const files_number files_numbers[];

typedef struct files_array {
    const char *name;
    int type, axes; /* type: of files_numbers */
    uint64_t shape[NPY_DIMENSIONS], bytes;
    uint64_t at; /* in the file; 0: behind what is written */
} files_array;

typedef struct files_output {
    const char *path;
    files_array *array; /* [count] */
    int count;
} files_output;

/* Copy the arrays from standard input to their places. */
int files_copy_arrays(const files_output *f, output *out);
/* Arrays of the nodes of a lattice, `X,Y,Z,H,NX,NY,NZ`. */
int files_write_volume(files_output *f, const char *lattice);

#endif
