/* SPDX-License-Identifier: MIT */
/* carom bake path: paths are cut into sections where chunks of points end; path_ask.c asks for the hits of sections,
 * path_write.c makes rows of them. */
#ifndef CAROM_CLI_BAKE_PATH_H
#define CAROM_CLI_BAKE_PATH_H

#include "mesh.h"
#include "paths.h"

#include "cli/rows/rows.h"

typedef enum path_hits { PATH_FIRST, PATH_ALL, PATH_ANY, PATH_HITS } path_hits;
extern const char *const path_hits_words[PATH_HITS + 1], *const path_start_words[3];

/* The part of a path that is in a chunk: its segments begin at the elements [begin, end) and are numbered from
 * `segment` on. A path of one point is known as such in the section that ends it. */
typedef struct path_section {
    uint64_t id, segment;
    uint64_t number, start; /* places in the file: of the path, and of its first point */
    uint32_t begin, end;
    uint8_t is_invalid; /* the path is */
    uint8_t is_last;    /* the path ends here */
    uint8_t is_point;   /* the path has one point: its segment goes from `begin` to `begin` */
    uint8_t is_hit;     /* the path has a hit, in this section or before it */
} path_section;

/* The path whose end has not been seen. */
typedef struct path_current {
    int is_open, is_hit;
    uint64_t id, segment;   /* its next segment */
    uint64_t number, start; /* as in a section */
} path_current;

typedef struct path_hit {
    float t, point[3], normal[3];
    int32_t triangle;
    uint32_t element; /* with which the segment begins */
    uint8_t state, feature;
} path_hit;

/* Points of a chunk, at first and at most; and bytes that it takes for each of them. */
enum {
    PATH_CHUNK_FIRST = 1 << 8,
    PATH_CHUNK = 1 << 18,
    PATH_POINT_BYTES =
        PATHS_POINT_BYTES + sizeof(path_section) + sizeof(path_hit) + 3 * sizeof(uint64_t) + 13 * sizeof(float) + 2
};

/* The suffix of an output of rows: csv or h5. Returns an exit status with the message printed. */
int path_check_suffix(const char *name);
/* Whether rows of such an output are no text. */
int path_is_columns(const char *name);
/* Of such an output, as its fingerprint says it. */
const char *path_format_of(const char *name);

/* ---- path_cut.c ---------------------------------------------------------------------------------------------------
 */

/* Cut a chunk into sections. Returns how many there are; of the last one more may follow, unless there are no more
 * points. `path` becomes the path of the last one. */
uint64_t path_cut(const paths_file *f, const paths_survey *survey, path_current *path, path_section *sections);
/* Of a part, as options say it: it has the paths whose first points are among its share of all points. */
int path_is_of_part(const bake_options *options, const paths_survey *survey, const path_section *section);
/* Points of the chunk after one of so many points, which took so long. */
uint64_t path_next_chunk(uint64_t points, double seconds);

/* ---- path_write.c -------------------------------------------------------------------------------------------------
 */

typedef struct path_writer {
    output *out;
    const char *part; /* NULL: rows become CSV. Else the fingerprint of a part, whose rows are bytes */
    rows_query query;
    rows_writer rows;
    rows_field fields[QUERY_FIELDS_MAX];
    path_hits hits;
    uint64_t used; /* rows in the fields */
} path_writer;

/* Bytes that it takes. */
uint64_t path_writer_bytes(unsigned threads);
/* Returns an exit status with the message printed; path_writer_close in any case. */
int path_writer_open(path_writer *w, output *out, path_hits hits, const char *part, unsigned threads);
/* Rows in the format that the output's suffix names; as many as are announced. */
int path_writer_open_as(path_writer *w, output *out, path_hits hits, uint64_t rows);
void path_writer_header(path_writer *w);
/* The line of names in front of rows. */
const char *path_names(path_hits hits);
/* The columns of such rows. */
rows_query path_query(path_hits hits);
/* Bytes of a row in a part; and the row of such bytes. */
size_t path_row_bytes(path_hits hits);
void path_write_row(path_writer *w, const char *bytes);
/* A hit of the section. */
void path_write_hit(path_writer *w, const path_section *section, const path_hit *hit);
/* What a path has that ends here without a hit: one row. Other sections have none. */
void path_write_end(path_writer *w, const path_section *section);
/* Rows that are still in memory. */
void path_writer_flush(path_writer *w);
/* Behind the last row. Returns an exit status with the message printed. */
int path_writer_finish(path_writer *w);
void path_writer_close(path_writer *w);

/* ---- path_ask.c ---------------------------------------------------------------------------------------------------
 */

typedef struct path_asker {
    const bake_request *options;
    carom_mesh *mesh;
    path_hits hits;
    uint64_t room; /* queries of a call, and records of a list */
    uint32_t *select;
    uint32_t *active; /* sections that are still asked for, in their order */
    path_hit *first;  /* of each section, if it has one */
    float *end;       /* [points][3] where segments end, if some are points */
    int has_points;   /* this chunk has paths of one point */
    int only_prepares;
    uint64_t *offsets, *query;
    int32_t *triangle;
    float *t, *point, *normal;
    uint8_t *state, *feature;
    carom_stats stats; /* of all calls */
} path_asker;

/* For chunks of so many points. path_asker_close in any case. */
int path_asker_open(path_asker *a, const bake_request *options, carom_mesh *mesh, path_hits hits, uint64_t points);
/* Ask for the sections of a chunk, in their order, and write their rows. Returns an exit status with the message
 * printed. */
int path_ask(path_asker *a, const paths_file *f, path_section *sections, uint64_t count, path_writer *writer);
void path_asker_close(path_asker *a);
/* Prepare such calls of any mesh, in a process that tries a device. Returns an exit status with the message printed. */
int path_prepare(const bake_request *options, path_hits hits);

/* ---- path_check.c -------------------------------------------------------------------------------------------------
 */

/* carom bake check for the rows in a file. Returns an exit status with the message printed. */
int path_check_run(const bake_request *options, int fd);
/* Prepares the calls of such a check, in a process that tries the device. */
int path_check_prepare(const bake_request *options, int fd);

#endif
