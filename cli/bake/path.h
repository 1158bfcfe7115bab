/* SPDX-License-Identifier: MIT */
/* carom bake path: paths are cut into sections where chunks of points end; path_ask.c asks for the hits of sections,
 * path_write.c makes rows of them. */
#ifndef CAROM_CLI_BAKE_PATH_H
#define CAROM_CLI_BAKE_PATH_H

#include "mesh.h"
#include "paths.h"

#include "cli/rows.h"

typedef enum path_hits { PATH_FIRST, PATH_ALL, PATH_ANY, PATH_HITS } path_hits;

/* The part of a path that is in a chunk: its segments begin at the elements [begin, end) and are numbered from
 * `segment` on. */
typedef struct path_section {
    uint64_t id, segment;
    uint32_t begin, end;
    uint8_t is_invalid; /* the path is */
    uint8_t is_last;    /* the path ends here */
    uint8_t is_hit;     /* the path has a hit, in this section or before it */
} path_section;

typedef struct path_hit {
    float t, point[3], normal[3];
    int32_t triangle;
    uint32_t element; /* with which the segment begins */
    uint8_t state, feature;
} path_hit;

/* Bytes that a chunk takes for each of its points. */
enum {
    PATH_POINT_BYTES =
        PATHS_POINT_BYTES + sizeof(path_section) + sizeof(path_hit) + 3 * sizeof(uint64_t) + 10 * sizeof(float) + 2
};

/* ---- path_write.c -------------------------------------------------------------------------------------------------
 */

typedef struct path_writer {
    rows_query query;
    rows_writer rows;
    rows_field fields[QUERY_FIELDS_MAX];
    path_hits hits;
    uint64_t used; /* rows in the fields */
} path_writer;

/* Bytes that it takes. */
uint64_t path_writer_bytes(unsigned threads);
/* Returns an exit status with the message printed; path_writer_close in any case. */
int path_writer_open(path_writer *w, output *out, path_hits hits, unsigned threads);
void path_writer_header(path_writer *w);
/* A hit of the section. */
void path_write_hit(path_writer *w, const path_section *section, const path_hit *hit);
/* What a path has that ends here without a hit: one row. Other sections have none. */
void path_write_end(path_writer *w, const path_section *section);
/* Rows that are still in memory. */
void path_writer_flush(path_writer *w);
void path_writer_close(path_writer *w);

/* ---- path_ask.c ---------------------------------------------------------------------------------------------------
 */

typedef struct path_asker {
    const cli_options *options;
    carom_mesh *mesh;
    path_hits hits;
    uint64_t room; /* queries of a call, and records of a list */
    uint32_t *select;
    uint32_t *active; /* sections that are still asked for, in their order */
    path_hit *first;  /* of each section, if it has one */
    uint64_t *offsets, *query;
    int32_t *triangle;
    float *t, *point, *normal;
    uint8_t *state, *feature;
    carom_stats stats; /* of all calls */
} path_asker;

/* For chunks of so many points. path_asker_close in any case. */
int path_asker_open(path_asker *a, const cli_options *options, carom_mesh *mesh, path_hits hits, uint64_t points);
/* Ask for the sections of a chunk, in their order, and write their rows. Returns an exit status with the message
 * printed. */
int path_ask(path_asker *a, const paths_file *f, path_section *sections, uint64_t count, path_writer *writer);
void path_asker_close(path_asker *a);

#endif
