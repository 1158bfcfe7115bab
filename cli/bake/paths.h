/* SPDX-License-Identifier: MIT */
/* Polylines from a file: a path is a row of points, and segment s of it runs from point s to point s + 1. The file is
 * read twice. The first reading finds every fault in it, before any other work; the second one gives the points. */
#ifndef CAROM_CLI_BAKE_PATHS_H
#define CAROM_CLI_BAKE_PATHS_H

#include "options.h"
#include "cli/table/csv.h"
#include "cli/table/npy.h"

enum { PATHS_COLUMNS = 5 };

/* Bytes of a chunk for each point: as the file has them, and in the arrays below. */
enum { PATHS_POINT_BYTES = 2 * (sizeof(uint64_t) + 4 * sizeof(float)) };

/* One reading, a chunk at a time. Element 0 of a chunk is the last point of the chunk before, and its points are the
 * elements from 1 on, so that each segment has both its ends in a chunk. */
typedef struct paths_file {
    const char *path;
    table_column columns[PATHS_COLUMNS];
    csv_reader *csv; /* NULL: another format */
    npy_file npy;
    struct paths_hdf5 *hdf5; /* NULL: another format */
    uint64_t points;         /* of the file; 0 of a CSV, where it is not known */
    uint64_t length;         /* points of each path, but of a CSV */
    uint64_t room;           /* points of a chunk */
    uint64_t from, count;    /* points from .. from + count of the file are in the chunk */
    float *xyz;              /* [room + 1][3] */
    float *radius;           /* [room + 1], NULL: --radius is that of all */
    uint64_t *id;            /* [room + 1] of the point's path */
} paths_file;

/* What the first reading has found. */
typedef struct paths_survey {
    uint64_t points, paths;
    uint64_t length;  /* points of the last path */
    uint64_t hash;    /* of all points, whatever the chunks */
    uint8_t *invalid; /* a bit for each path */
    uint64_t room;    /* bytes of it */
} paths_survey;

/* Each of these returns an exit status with its message printed. */

/* Bytes that windows of an HDF5 file take at most, beyond what reading text takes. */
enum { PATHS_HDF5_MORE = 1 << 26 };

int paths_is_hdf5(const char *path);
/* The suffix names the format: .npy, HDF5, else CSV. `room`: points of a chunk, at least 1; more: bytes for windows.
 * paths_close in any case. */
int paths_open(paths_file *f, const bake_request *options, uint64_t room, uint64_t more);
/* The next points, at most so many and at most a chunk; a count of 0 is the end. EXIT_STOPPED has no message. */
int paths_next(paths_file *f, uint64_t most);
void paths_close(paths_file *f);

/* Read all of the file. paths_survey_free in any case. */
int paths_survey_read(paths_survey *survey, const bake_request *options, uint64_t room, uint64_t more);
void paths_survey_free(paths_survey *survey);
int paths_is_invalid(const paths_survey *survey, uint64_t path);
/* The share of a chunk in the hash of all points, which is the sum of these. */
uint64_t paths_hash(const paths_file *f);

/* ---- paths_hdf5.c: H5MD -------------------------------------------------------------------------------------------
 */

/* Open the file and find length and points; the points f->from .. f->from + f->count. */
int paths_hdf5_open(paths_file *f, uint64_t more);
int paths_hdf5_next(paths_file *f);
/* Say so if it is unpacked many times. */
void paths_hdf5_warn(const paths_file *f);
void paths_hdf5_close(paths_file *f);

/* ---- paths_ids.c: which ids have been there -----------------------------------------------------------------------
 */

typedef struct paths_ids {
    uint64_t *block, *bits; /* [room] the number of 64 ids and 1, or 0; which of them have been there */
    uint64_t room, used;
} paths_ids;

/* Add an id below 2^63. Returns 1, 0 if it was there, -1 if memory is short. */
int paths_ids_add(paths_ids *ids, uint64_t id);
void paths_ids_free(paths_ids *ids);

#endif
