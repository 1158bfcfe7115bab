/* SPDX-License-Identifier: MIT */
/* carom-files: the files that the command reads and writes, for the Python package, which starts it once for each file.
 * In a process of its own a damaged file ends no other, a reader can be stopped at any time, and libraries of formats
 * (assimp, HDF5) do not meet those that the caller has loaded.
 *
 * What is read goes to standard output: a JSON object, a NUL, then numbers as they lie in memory. What is written comes
 * from standard input in the same way. Each function returns an exit status with its message printed. */
#ifndef CAROM_CLI_FILES_FILES_H
#define CAROM_CLI_FILES_FILES_H

#include "cli/base/output.h"

#include <stddef.h>
#include <stdint.h>

/* Rows that are handed over together. */
enum { FILES_CHUNK = 1 << 16 };

/* `mesh PATH [SECONDS]`: float[vertices][3], then uint32_t[triangles][3]. With SECONDS, so often while the file is
 * parsed an object of its own, {"share": from 0 to 1}, and a NUL. */
int files_read_mesh(int count, char **arguments);
/* `rows PATH NAME=TYPE...`: the columns of a table, in chunks: their number of rows as a uint64_t, the share of the
 * file that is read as a double, then column by column. A chunk of no rows is the last. TYPE: <f4, <u4 (masks) or <i8
 * (whole numbers). Without columns: all of a CSV, as <f4. */
int files_read_rows(int count, char **arguments);
/* `arrays PATH`: the array of a .npy file, or those of an HDF5 file, each as a whole. */
int files_read_arrays(int count, char **arguments);
/* `write-rows PATH ROWS NAME=TYPE...`: a CSV or HDF5 file; chunks as above, each of FILES_CHUNK rows but the last. */
int files_write_rows(int count, char **arguments);
/* `write-arrays PATH NAME=TYPE=SHAPE...`: a .npy or HDF5 file; SHAPE: 2,3,4. With `--lattice X,Y,Z,H,NX,NY,NZ` in front
 * of them: a volume, of any format that carom bake writes. */
int files_write_arrays(int count, char **arguments);

/* ---- files.c ----------------------------------------------------------------------------------------------------- */

/* HDF5 by the suffix, VTK's too. */
int files_is_hdf5(const char *path);
/* output_open; of HDF5 also a refusal of what it cannot be written to. */
int files_open(output *out, const char *path);
/* The same of a file that is not written from its beginning to its end. */
int files_open_regular(output *out, const char *path);
/* The type of NumPy's name, as <f4: which of `types` it is, or -1. */
int files_type(const char *name, const char *const *types, int count);
/* All of it from standard input. Returns an exit status. */
int files_receive(void *to, size_t size);

#endif
