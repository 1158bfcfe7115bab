/* SPDX-License-Identifier: MIT */
/* The build of the hierarchy: build.c (the binary tree), split.c (one split), share.c (indexed vertices of a leaf),
 * wide.c (wide nodes and leaves), refit.c (their boxes and vertices), verify.c (all of it, written by others). */
#ifndef CAROM_HOST_BVH_BVH_H
#define CAROM_HOST_BVH_BVH_H

#include <stdatomic.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "tree.h"

/* Below that depth, splits halve the items, which bounds the depth for any input: 2^31 triangles are in leaves of 8
 * after 28 more splits. */
enum { BVH_HALVING_DEPTH = 40, BVH_DEPTH_MAX = BVH_HALVING_DEPTH + 28 };

/* Lanes x, y, z; the fourth lane is 0 or not read. */
typedef float bvh_vec __attribute__((vector_size(16)));
typedef int32_t bvh_ints __attribute__((vector_size(16)));

/* A box; lower and upper corner. */
typedef struct bvh_box {
    bvh_vec lo, hi;
} bvh_box;

/* A triangle while the tree is built: its box, in mesh units. */
typedef struct bvh_item {
    float lo[3]; /* mesh units */
    uint32_t triangle;
    float hi[3];
    uint32_t zero;
} bvh_item;

/* A node or leaf of the binary tree. */
typedef struct bvh_binary {
    union {
        struct {
            float lo[3], hi[3];
        };
        uint8_t left[MESH_WIDEST + 1]; /* replaces the box when that is no longer needed: see wide.c */
    };
    uint32_t at;                  /* first item of a leaf; or first child of an inner node, followed by the second */
    uint16_t count, is_unindexed; /* count: items of a leaf, 0: an inner node; is_unindexed: the leaf stores three
                                     corners for each triangle */
} bvh_binary;

/* A split of a sequence of items: items in bins below `bin` along `axis` go left. */
typedef struct bvh_split {
    bvh_vec low, per_bin; /* frame of the bins, for twice the centroids of boxes */
    int axis, bin;        /* axis -1: no split was found */
    float cost;
    uint32_t left; /* number of items that go left */
    bvh_box box[2];
} bvh_split;

enum { BVH_BINS = 16 };
/* The histogram of one part: box and number of items of each bin, for each axis. */
typedef struct bvh_bins {
    bvh_box box[3][BVH_BINS];
    uint32_t count[3][BVH_BINS];
} bvh_bins;

/* The results of one task for its slice of a large part. */
typedef struct bvh_slice {
    bvh_box centroids;
    bvh_bins bins;
} bvh_slice;

/* A sequence of items that becomes a subtree. */
typedef struct bvh_part {
    uint32_t node, first, count;
    uint32_t below;  /* first node of the range for its subtree */
    uint32_t leaves; /* places of its leaves; a leaf that stores nine numbers a triangle (unindexed) has two */
    int depth, side; /* side: number of the array that holds the items */
} bvh_part;

/* What a watch of the build sees of it. */
typedef struct bvh_progress {
    atomic_uint_least64_t work; /* items of all parts that were cut */
    uint64_t seen;              /* binary nodes whose shares were found */
} bvh_progress;

/* A build while it runs. */
typedef struct bvh_build {
    const carom_mesh *mesh;
    bvh_item *items[2]; /* ping-pong buffers: a split moves a part from one to the other; leaves end up in the first */
    bvh_binary *binary;
    bvh_slice *slices;
    bvh_part *parts;
    void *nodes, *leaves;
    int width; /* slots of a node and of a leaf */
    uint32_t slice_count, part_count, part_max;
    uint32_t node_count, leaf_count, leaf_total;
    int root;
    int halve_only;
    bvh_progress *progress; /* NULL: nobody watches the build */
} bvh_build;

/* a if a < b, else b: also if one is NaN or both are zero. */
static inline bvh_vec bvh_min(bvh_vec a, bvh_vec b)
{
#if defined(__SSE2__)
    return (bvh_vec)_mm_min_ps((__m128)a, (__m128)b); /* GCC 12 does not generate it */
#else
    const bvh_ints is_a = a < b;
    return (bvh_vec)(((bvh_ints)a & is_a) | ((bvh_ints)b & ~is_a));
#endif
}

/* a if a > b, else b. */
static inline bvh_vec bvh_max(bvh_vec a, bvh_vec b)
{
#if defined(__SSE2__)
    return (bvh_vec)_mm_max_ps((__m128)a, (__m128)b);
#else
    const bvh_ints is_a = a > b;
    return (bvh_vec)(((bvh_ints)a & is_a) | ((bvh_ints)b & ~is_a));
#endif
}

static inline bvh_box bvh_empty(void)
{
    const float inf = __builtin_inff();
    return (bvh_box){{inf, inf, inf, inf}, {-inf, -inf, -inf, -inf}};
}

static inline void bvh_grow(bvh_box *box, bvh_box other)
{
    box->lo = bvh_min(box->lo, other.lo);
    box->hi = bvh_max(box->hi, other.hi);
}

/* The box of an item. The lane with the triangle's index is cleared: as a float it would be a denormal, which is slow.
 */
static inline bvh_box bvh_box_of(const bvh_item *item)
{
    const bvh_ints xyz = {-1, -1, -1, 0};
    bvh_box box;
    memcpy(&box.lo, item, sizeof box.lo);
    memcpy(&box.hi, (const char *)item + sizeof box.lo, sizeof box.hi);
    box.lo = (bvh_vec)((bvh_ints)box.lo & xyz);
    return box;
}

/* Scales an extreme coordinate into mesh units. The kernel also scales after it takes the extreme of single triangles,
 * so both round alike. -0 becomes 0, so that extremes of extremes have the same bits in every order. */
static inline float bvh_scaled(float extreme, float scale)
{
    return extreme * scale + 0.0f;
}

/* Half the surface of a box; 0 if it is empty. */
static inline float bvh_area(bvh_vec lo, bvh_vec hi)
{
    const bvh_vec d = hi - lo;
    return d[0] * d[1] + d[1] * d[2] + d[2] * d[0];
}

/* Of the work of making a mesh so much is done, from 0 to 1; a report may be due. Returns whether the build ends early:
 * what it would make is then left unfinished. */
static inline int bvh_report(const carom_mesh *mesh, double share)
{
    if (mesh->watch == NULL)
        return 0;
    if (caromi_watch_is_own(mesh->watch))
        caromi_watch_move(mesh->watch, (uint64_t)(share * (double)mesh->info.triangle_count));
    return caromi_watch_look(mesh->watch);
}

/* CAROM_ERROR_CANCELLED, without a sentence, if it does. */
static inline carom_status bvh_went_on(const carom_mesh *mesh)
{
    return caromi_watch_ends(mesh->watch) ? CAROM_ERROR_CANCELLED : CAROM_OK;
}

/* Finds the cheapest split by SAH, for leaves of `width`; axis -1 if none leaves items on both sides. This and the next
 * two are in split.c. */
void caromi_bvh_find_split(const bvh_item *items, uint32_t count, int width, bvh_split *split);
/* Partitions the items by a split, stably. */
void caromi_bvh_partition(const bvh_item *from, bvh_item *to, uint32_t count, const bvh_split *split);
/* Both, on all threads of the mesh's context. */
void caromi_bvh_split_large(const bvh_build *b, const bvh_item *from, bvh_item *to, uint32_t count, bvh_split *split);

/* Numbers the distinct vertices of a leaf and sets the number of each corner's vertex. Returns the number of vertices;
 * if that exceeds MESH_VERTICES, `corner` is undefined. share.c */
uint32_t caromi_bvh_index_vertices(const carom_mesh *mesh, const bvh_item *items, uint32_t count,
                                   uint8_t *const corner[3]);

/* Makes nodes and leaves of the build's width from the binary tree; caromi_bvh_refit fills in boxes and vertices.
 * *stack: entries that a traversal may need. wide.c */
carom_status caromi_bvh_collapse(bvh_build *b, int *stack, carom_error *err);

/* The radius of the bounding spheres in a typical leaf. refit.c */
float caromi_bvh_typical_ball(const carom_mesh *mesh);
#endif
