/* SPDX-License-Identifier: MIT */
/* Lists of hits whose arrays stay on the device. mesh_rows.c has the path of a chunk, mesh_rows_decide.c what exact
 * mode leaves to the host, mesh_rows_points.c the points of hits, mesh_rows_contacts.c how contacts are chosen. */
#ifndef CAROM_HOST_OPENCL_MESH_ROWS_H
#define CAROM_HOST_OPENCL_MESH_ROWS_H
#include "grid.h"
#include "kernels/mesh_rows.h"
#include "mesh_list.h"

/* Memory of lists, which is that of clouds (grid.h) under other names. */
enum {
    CAROMI_ROWS_HITS = CAROMI_GRID_COUNTS,    /* candidates of each row; hits, when all are decided */
    CAROMI_ROWS_SLOTS = CAROMI_GRID_OFFSETS,  /* candidates before each row */
    CAROMI_ROWS_PLACES = CAROMI_GRID_SPHERES, /* hits before each row, where some candidates are misses */
    CAROMI_ROWS_FROM = CAROMI_GRID_STARTS,    /* the first slot of each row that is filled */
    CAROMI_ROWS_AGAIN = CAROMI_GRID_BUCKETS,  /* candidates by the second pass */
    CAROMI_ROWS_LONG = CAROMI_GRID_LONG,      /* list of long rows */
    CAROMI_ROWS_STATE = CAROMI_GRID_STATES,   /* the search's results; of a list all but the hits are ignored */
    CAROMI_ROWS_TRIANGLE = CAROMI_GRID_INDICES,
    CAROMI_ROWS_T = CAROMI_GRID_T,
    CAROMI_ROWS_TOTALS = CAROMI_GRID_TOTALS,
    CAROMI_ROWS_REPORT = CAROMI_GRID_RANKS,
    CAROMI_ROWS_RECORDS = CAROMI_GRID_SORTED,
    CAROMI_ROWS_KEYS = CAROMI_GRID_KEYS,
    CAROMI_ROWS_OF = CAROMI_GRID_OF,
    CAROMI_ROWS_UNDECIDED = CAROMI_GRID_UNDECIDED, /* undecided candidates, and the row of each */
    CAROMI_ROWS_UNDECIDED_OF = CAROMI_GRID_GATHERED,
    CAROMI_ROWS_DECIDED = CAROMI_GRID_PLAN, /* the host's answers */
    CAROMI_ROWS_DECIDED_T = CAROMI_GRID_MEASURE,
    CAROMI_ROWS_DECIDED_STATE = CAROMI_GRID_FILTERS,
    CAROMI_ROWS_MARKS = CAROMI_ROWS_TRIANGLE,            /* of rows whose contacts the host chooses */
    CAROMI_ROWS_DECIDED_START = CAROMI_ROWS_DECIDED_T,   /* the first of the host's contacts of each of these rows */
    CAROMI_ROWS_SORTED_ROW = CAROMI_GRID_SORTED_FILTERS, /* of each hit in the order of the list, and its triangle */
    CAROMI_ROWS_SORTED_TRIANGLE = CAROMI_GRID_SUMS
};

/* A list while its chunks are answered. */
typedef struct caromi_rows {
    grid_job job; /* device, slot and statistics, for grid_commands.c; totals of the chunk */
    const caromi_list_batch *batch;
    cl_uint rows;        /* of the chunk */
    uint64_t first;      /* query of the chunk's first row */
    uint64_t candidates; /* of the chunk's rows that are filled */
    uint32_t places;     /* CAROMI_ROWS_PLACES or, without misses among the candidates, CAROMI_ROWS_SLOTS */
    rows_report report;
    uint8_t *rung; /* [rows] exact mode: last rung that a hit of the row has reached; NULL: all the first so far */
} caromi_rows;

/* Waits for the report of the kernels since its last reading, checks it, and clears it. */
carom_status caromi_rows_report(caromi_rows *rows, carom_error *err);
/* Decides candidates on the host, and stores the answers on the device. */
carom_status caromi_rows_decide(caromi_rows *rows, carom_error *err);
carom_status caromi_rows_decide_first(caromi_rows *rows, carom_error *err);
/* Makes the keys of contacts from the candidates, and lists the rows that are left to the host. */
carom_status caromi_rows_choose(const caromi_rows *rows, carom_error *err);
/* Chooses the contacts of these rows on the host, and stores their keys on the device. */
carom_status caromi_rows_decide_contacts(caromi_rows *rows, carom_error *err);
/* Sets the patches of triangles as an argument; any memory if they are not wanted. */
void caromi_rows_set_patches(const caromi_rows *rows, caromi_arguments *arguments);
/* Copies `count` columns of the hits whose points are undecided to the host, and marks their rows. scratch: a word for
 * each of the hits. */
carom_status caromi_rows_fetch_points(caromi_rows *rows, const cl_mem *columns, uint32_t count, float *const *to,
                                      uint32_t *scratch, carom_error *err);
/* Writes points, normals and features of the chunk's hits to the list. */
carom_status caromi_rows_points(caromi_rows *rows, carom_error *err);
#endif
