/* SPDX-License-Identifier: MIT */
/* Rows of paths in a file compared with those that must be there, both read once from begin to end. */
#ifndef CAROM_CLI_BAKE_PATH_COMPARE_H
#define CAROM_CLI_BAKE_PATH_COMPARE_H

#include "path.h"

#include <stdio.h>

/* Beside an id, which is below 2^63: its path is chosen. */
#define PATH_CHOSEN (UINT64_C(1) << 63)

/* The file that is checked, and what has been found. */
typedef struct path_rows {
    const char *shown;
    path_hits hits;
    int is_packed;     /* rows are bytes, as in a part */
    int is_stopped;    /* before the last path: what follows is not compared */
    uint64_t compared; /* chosen paths */
    uint64_t differences;
} path_rows;

/* Count a difference, and print the first one. Returns EXIT_DONE. */
int path_differs(path_rows *c, const char *what);
/* ids: of all paths that `file` must have, in their order, whose rows are in `wanted` if they are chosen. NULL: `file`
 * has exact mode's rows, and `wanted` those of the reference for some of the same paths. Returns an exit status with
 * the message printed. */
int path_compare(path_rows *c, FILE *file, FILE *wanted, FILE *ids);

/* ---- path_columns.c -----------------------------------------------------------------------------------------------
 */

/* The columns of the file in HDF5 as rows like those of a part, in `to`, which is rewound. What are no such columns is
 * a difference, and stops. Returns an exit status with the message printed. */
int path_columns_read(path_rows *c, FILE *to);

#endif
