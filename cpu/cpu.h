/* SPDX-License-Identifier: MIT */
/* The CPU path: one table of kernels per instruction set, and the loop that feeds them from all cores. */
#ifndef CAROM_CPU_CPU_H
#define CAROM_CPU_CPU_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/pairs.h"
#include "cpu/cloud/cloud.h"
#include "columns.h"
#include "rungs.h"
#include "cpu/threads/pool.h"

enum caromi_pair_kernel {
#define CAROMI_ENUM(name, in, radii, out, bytes) CAROMI_PAIR_##name,
    PAIR_KERNELS(CAROMI_ENUM)
#undef CAROMI_ENUM
        CAROMI_PAIR_KERNEL_COUNT
};
/* The kernel of exact mode for the same query. */
static inline enum caromi_pair_kernel caromi_exact_twin(enum caromi_pair_kernel kernel)
{
    return (enum caromi_pair_kernel)((int)kernel + CAROMI_PAIR_sweep_first_exact - CAROMI_PAIR_sweep_first);
}
static inline int caromi_is_exact(enum caromi_pair_kernel kernel)
{
    return kernel >= CAROMI_PAIR_sweep_first_exact;
}

/* Shape of a pair kernel, the same for every backend. */
typedef struct caromi_pair_shape {
    const char *name;
    uint32_t in_count, in_radii, out_count, out_bytes; /* columns, masks of columns */
} caromi_pair_shape;
extern const caromi_pair_shape caromi_pair_shapes[CAROMI_PAIR_KERNEL_COUNT];

static inline size_t caromi_out_size(const caromi_pair_shape *shape, uint32_t column)
{
    return shape->out_bytes >> column & 1 ? 1 : 4;
}

/* `count` is a multiple of the lanes; columns need no alignment. from_memory: the columns are not in a cache and
 * continue beyond this run, so the loop prefetches ahead. */
typedef void caromi_pair_fn(const float *const *in, void *const *out, size_t count, int from_memory);

/* Decides sweeps that the first filter of exact mode leaves undecided: columns of a moving triangle to t_first, t_last
 * and state, NaN for t_first of a pair that stays undecided. `count` is a multiple of the lanes. */
typedef void caromi_second_fn(const float *const *in, void *const *out, size_t count);

/* Searches of a mesh: the first hit of a sweep, all of them, all overlaps at rest, the nearest triangle, all triangles
 * within a distance; and their exact twins. */
enum caromi_mesh_search {
    CAROMI_MESH_FIRST,
    CAROMI_MESH_LIST,
    CAROMI_MESH_OVERLAPS,
    CAROMI_MESH_CLOSEST,
    CAROMI_MESH_CONTACTS,
    CAROMI_MESH_SEARCHES,
};
struct caromi_mesh_view;
struct caromi_mesh_queries;
/* Answer a run of queries. */
typedef void caromi_mesh_fn(const struct caromi_mesh_view *mesh, struct caromi_mesh_queries *queries);
/* 1 for each of `count` spheres in columns that is surely clear of a mesh, else 0; `count` is a multiple of the
 * lanes. */
struct mesh_clearance;
typedef void caromi_clear_fn(const struct mesh_clearance *clearance, const float *const *in, size_t count, int options,
                             uint8_t *is_clear);

/* Finds the closest triangle of every node of a tile. Returns a caromi_lattice_state; lattice.h */
struct caromi_lattice_tile;
typedef int caromi_lattice_fn(const struct caromi_lattice_tile *tile);

/* Finds the triangles that may meet the vertical rays of a lattice; lattice/rays.h */
struct caromi_rays;
typedef void caromi_rays_fn(const struct caromi_rays *rays);

/* Sums the directions of the triangles that vertical rays from points cross; mesh/rays.h */
struct caromi_point_rays;
typedef void caromi_point_rays_fn(const struct caromi_point_rays *rays);

/* Finds the triangles that can decide columns of a drop map; drop.h */
struct caromi_drop_search;
typedef void caromi_drop_fn(const struct caromi_drop_search *search);

/* Columns of pairs of spheres, as kernels/cloud_columns.h has them; `count` is a multiple of the lanes. */
typedef void caromi_cloud_columns_fn(const float *const *in, void *const *out, size_t count);

/* Searches of meshes of one width. */
typedef struct caromi_mesh_table {
    caromi_mesh_fn *search[CAROMI_MESH_SEARCHES][2]; /* fast, exact */
    caromi_lattice_fn *lattice;
    size_t lattice_scratch; /* bytes of scratch that `lattice` needs */
    caromi_rays_fn *rays;
    caromi_point_rays_fn *point_rays;
    caromi_drop_fn *drop;
} caromi_mesh_table;

typedef struct caromi_isa_table {
    uint32_t lanes;
    int mesh_width; /* of new meshes, if the CPU alone searches them: what measured best */
    caromi_pair_fn *pairs[CAROMI_PAIR_KERNEL_COUNT];
    caromi_second_fn *second_sweep;
    const caromi_mesh_table *mesh_8, *mesh_16;   /* by the mesh's width */
    const caromi_mesh_table *scene_8, *scene_16; /* first and all hits, overlaps, closest points */
    caromi_clear_fn *clear;
    caromi_cloud_check_fn *cloud_check;
    caromi_cloud_position_fn *cloud_position;
    caromi_cloud_bound_fn *cloud_bound;
    caromi_cloud_cells_fn *cloud_cells;
    caromi_cloud_fn *cloud_pairs, *cloud_image_pairs,
        *cloud_runs; /* runs: lists the comparisons of cloud_pairs for a device */
    caromi_cloud_test_fn *cloud_test;
    caromi_cloud_answers_fn *cloud_answers;
    caromi_cloud_best_fn *cloud_best, *cloud_best_images,
        *cloud_best_runs; /* runs: lists the comparisons of cloud_best for a device */
    caromi_cloud_sort_fn *cloud_sort;
    caromi_cloud_columns_fn *cloud_columns;
} caromi_isa_table;

/* The table for an instruction set of carom.h (CAROM_ISA_AUTO: the best), NULL if this build or machine lacks it. */
const caromi_isa_table *caromi_isa_select(int isa, int *chosen);

typedef struct caromi_pair_batch {
    enum caromi_pair_kernel kernel;
    const caromi_isa_table *isa; /* for pairs that the kernel leaves undecided; NULL: integers decide them at once */
    uint64_t count;
    caromi_in_column in[COLUMNS_MAX];
    caromi_out_column out[COLUMNS_MAX];
} caromi_pair_batch;

/* Bytes of scratch that each thread needs for so many pairs. */
size_t caromi_cpu_scratch_size(uint64_t count);
/* Answer pairs [first, first + count). scratch: so many bytes for each thread of the pool, aligned to 64. Returns how
 * many pairs the later rungs of exact mode decided. If the watch (NULL: none) ends the call, pairs are left out. */
caromi_rungs caromi_cpu_pairs(const caromi_isa_table *isa, caromi_pool *pool, void *scratch,
                              const caromi_pair_batch *batch, uint64_t first, uint64_t count, caromi_watch *watch);

#endif
