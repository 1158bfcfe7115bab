/* SPDX-License-Identifier: MIT */
/* Batches of queries against a mesh with one answer each: the first triangle that a moving sphere hits, or the closest
 * triangle to a point.
 *
 * How a batch is answered, in order:
 *
 *   1. sweep.c, closest.c   check the call and describe it as a caromi_mesh_batch: inputs, options, outputs, and the
 * kind of search (caromi_mesh_kind)
 *   2. run.c                runs the batch, on a device (opencl/mesh.c) or on the CPU (batch.c)
 *   3. query_sort.c         sorts the queries along the mesh, and culls queries in empty space
 *   4. batch.c, block.c     answer them on the CPU in blocks of CAROMI_BLOCK queries:
 *                             gather    rows, columns and masks of the queries
 *                             search    the triangle of each query, and its time or distance
 *                             points    a pair kernel of each query and its triangle: points, normals, features
 *                             store     the outputs that the caller wants
 *                             resolve   decide in integers the answers that exact kernels leave undecided
 *
 * A device does the same with chunks instead of blocks. Everything that depends on the kind of search is in a constant
 * table (kinds.c). Lists of hits (list.h) have a search of their own, and share inputs, options, outputs and the
 * points. */
#ifndef CAROM_HOST_MESH_BATCH_H
#define CAROM_HOST_MESH_BATCH_H
#include "calls/mesh.h"
#include "host/core/batch.h"
#include "host/bvh/mesh_data.h"

static inline size_t caromi_answer_size(uint32_t answer)
{
    return answer == CAROMI_ANSWER_STATE || answer == CAROMI_ANSWER_FEATURE ? sizeof(uint8_t) : sizeof(float);
}

/* The answer of one query. */
typedef struct caromi_mesh_answer {
    int32_t triangle;
    float key, depth, point[3], normal[3]; /* normal: of a closest point the gradient */
    uint8_t state, feature;
} caromi_mesh_answer;

/* Indices of point_kernel: how a motion is given (MOTION_BY_VELOCITY and so on); the mode. */
enum { CAROMI_MOTIONS = (MOTION_BY_END | TRIANGLE_CARRIED) + 1 };
enum { CAROMI_FAST, CAROMI_EXACT };

/* The constants and functions of a kind of search. */
typedef struct caromi_mesh_kind {
    enum caromi_mesh_search search;
    const char *name[2]; /* for the log: fast, exact */
    int in;              /* input columns */
    int point_in; /* number of leading input columns that the point kernel reads, before the triangle's corners */
    enum caromi_pair_kernel point_kernel[CAROMI_MOTIONS][2]; /* [motion][CAROMI_FAST or CAROMI_EXACT] */
    /* Output columns (CAROMI_ANSWER_*): first `search_out` columns of the search, then columns of the point kernel;
     * `out` columns in all. */
    uint8_t answer[CAROMI_ANSWERS];
    uint32_t search_out, out;
    /* Decides a query that the search has left undecided; returns the rung that was needed. */
    caromi_rung (*resolve)(const caromi_mesh_view *mesh, const caromi_mesh_query *query, caromi_mesh_answer *answer);
    /* Decides in integers a point that the point kernel has left undecided. in: point_in numbers of the query, then
     * nine of its triangle, and with MESH_CARRIED the velocity of its instance. */
    void (*resolve_point)(const float *in, int options, caromi_mesh_answer *answer);
} caromi_mesh_kind;
/* kinds.c */
extern const caromi_mesh_kind caromi_first_hit, caromi_closest_triangle, caromi_contact_triangles;

/* A checked batch. */
typedef struct caromi_mesh_batch {
    const caromi_mesh_kind *kind;
    carom_mesh *mesh;
    uint64_t begin, count;               /* queries [begin, count) */
    caromi_in_column in[CAROMI_MESH_IN]; /* in the order of caromi_mesh_queries */
    caromi_in_column mask;               /* base NULL: without MESH_QUERY_MASKS */
    int options;                         /* MESH_TRIANGLE_MASKS and so on */
    int exact;
    carom_sign sign; /* of closest points */
    int hits_only;   /* of a query without a hit, the caller reads only the triangle, -1 */
    caromi_out_column out[CAROMI_ANSWERS];
    uint32_t bundle; /* queries in a row that have one answer; 0, 1: one */
    int64_t *query;  /* of closest points: the query that each bundle's answer is of; NULL: not wanted */
    uint8_t *rungs;  /* [count] set to CAROMI_SEARCH_BY_... for rows that later rungs decide; NULL: not wanted */
} caromi_mesh_batch;
/* Bits: which later rungs decided a query's search and its point. */
enum { CAROMI_POINT_BY_INTEGERS = 1, CAROMI_SEARCH_BY_FILTER = 2, CAROMI_SEARCH_BY_INTEGERS = 4 };
/* The last rung that a query has reached, with its point or without. */
static inline caromi_rung caromi_rung_of(uint8_t bits, int with_point)
{
    if ((bits & CAROMI_SEARCH_BY_INTEGERS) != 0 || (with_point && (bits & CAROMI_POINT_BY_INTEGERS) != 0))
        return CAROMI_INTEGERS;
    return (bits & CAROMI_SEARCH_BY_FILTER) != 0 ? CAROMI_SECOND_FILTER : CAROMI_FIRST_FILTER;
}

/* Whether the caller wants any output of the point kernel. */
static inline int caromi_wants_points(const caromi_mesh_batch *batch)
{
    const caromi_out_column *out = batch->out;
    return out[CAROMI_ANSWER_POINT].base != NULL || out[CAROMI_ANSWER_NORMAL].base != NULL ||
           out[CAROMI_ANSWER_FEATURE].base != NULL;
}
/* Whether the caller wants the gradient of closest points. It has a pair kernel of its own, so that point and feature
 * have the same bits with it and without it. */
static inline int caromi_wants_gradient(const caromi_mesh_batch *batch)
{
    return batch->out[CAROMI_ANSWER_GRADIENT].base != NULL;
}
/* Whether the batch is answered by bundle.c. */
static inline int caromi_is_bundled(const caromi_mesh_batch *batch)
{
    return batch->bundle > 1 || batch->query != NULL;
}
/* How the motions of queries with these options are given. */
static inline int caromi_motion_kind(int options)
{
    return ((options & MESH_ENDS) != 0 ? MOTION_BY_END : MOTION_BY_VELOCITY) |
           ((options & MESH_CARRIED) != 0 ? TRIANGLE_CARRIED : 0);
}
static inline enum caromi_pair_kernel caromi_point_kernel(const caromi_mesh_batch *batch, int exact)
{
    return batch->kind->point_kernel[caromi_motion_kind(batch->options)][exact];
}
/* Columns that the point kernel reads: the query's, its triangle's corners, and the velocity of its instance. */
static inline int caromi_point_columns(const caromi_mesh_batch *batch)
{
    return batch->kind->point_in + 9 + ((batch->options & MESH_CARRIED) != 0 ? 3 : 0);
}
/* The output columns of a caller's arrays of hits. */
void caromi_hits_to_columns(const carom_mesh_hit_result *result, caromi_out_column *columns);

/* Answers queries of a caromi_mesh_batch on the CPU. */
caromi_on_cpu caromi_cpu_mesh;
/* The function that answers a batch on the CPU; an empty mesh has one of its own. */
caromi_on_cpu *caromi_mesh_on_cpu(const carom_mesh *mesh);
/* Fails unless the mesh is that of a scene. run.c */
carom_status caromi_check_has_instances(const carom_mesh *mesh, carom_error *err);
/* Runs a batch. asked: the caller's descriptor, for progress and preparing. run.c */
carom_status caromi_run_mesh(const caromi_mesh_batch *batch, const carom_batch *asked, carom_stats *stats,
                             carom_error *err);
/* Decides what the exact kernels have left undecided, among queries [first, first + count) whose other
 * answers are stored: queries with key NaN, points and gradients with x NaN. marks: columns of triangles, keys, the
 * points' x and, if gradients are wanted, theirs.
 * rows: the row of each query; NULL: consecutive. Returns the numbers of queries decided so. */
caromi_rungs caromi_resolve_mesh_batch(const void *batch, const void *const *marks, const uint64_t *rows,
                                       uint64_t first, size_t count);
/* Completes answers of a scene, of which a device has searched queries [first, first + count): points and instances,
 * stored, and what exact kernels have left undecided. found: columns of triangles, keys, and states or depths. rows are
 * not read. */
typedef struct caromi_searched {
    const carom_context *context;
    const caromi_mesh_batch *batch;
} caromi_searched;
caromi_rungs caromi_complete_searched(const void *searched, const void *const *found, const uint64_t *rows,
                                      uint64_t first, size_t count);
/* Compaction: lists the undecided ones among `count` queries; returns their number. */
uint32_t caromi_undecided_mesh_batch(const void *batch, const void *const *marks, uint32_t count, uint32_t *queries);
#endif
