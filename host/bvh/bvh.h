/* SPDX-License-Identifier: MIT */
/* What the build of the hierarchy shares: build.c (the tree), split.c (one split), share.c (indexed vertices of a
 * leaf), wide.c (nodes and leaves), refit.c (their boxes and vertices). */
#ifndef CAROM_HOST_BVH_BVH_H
#define CAROM_HOST_BVH_BVH_H

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "tree.h"

/* Below that depth halving keeps the tree shallow whatever the input: 2^31 triangles are in leaves of MESH_WIDTH after
 * 27 more splits. */
enum { BVH_HALVING_DEPTH = 40, BVH_DEPTH_MAX = BVH_HALVING_DEPTH + 27 };

/* x y z; the fourth lane is 0 or not read. */
typedef float bvh_vec __attribute__((vector_size(16)));
typedef int32_t bvh_ints __attribute__((vector_size(16)));

typedef struct bvh_box {
    bvh_vec lo, hi;
} bvh_box;

typedef struct bvh_item {
    float lo[3]; /* mesh units */
    uint32_t triangle;
    float hi[3];
    uint32_t zero;
} bvh_item;

typedef struct bvh_binary {
    union {
        struct {
            float lo[3], hi[3];
        };
        uint8_t left[MESH_WIDTH + 1]; /* in place of the box, once that is not needed: see wide.c */
    };
    uint32_t at;                  /* the first item of a leaf, or the first of two children side by side */
    uint16_t count, is_unindexed; /* items of a leaf, 0: no leaf; whether it holds corners, not vertices */
} bvh_binary;

/* A split of a run of items: those of a bin below `bin` along `axis` go left. */
typedef struct bvh_split {
    bvh_vec low, per_bin; /* of twice the centroids of boxes */
    int axis, bin;        /* axis -1: none found */
    float cost;
    uint32_t left; /* items */
    bvh_box box[2];
} bvh_split;

enum { BVH_BINS = 16 };
typedef struct bvh_bins {
    bvh_box box[3][BVH_BINS];
    uint32_t count[3][BVH_BINS];
} bvh_bins;

/* What one task found in its slice of a large run. */
typedef struct bvh_slice {
    bvh_box centroids;
    bvh_bins bins;
} bvh_slice;

/* A run of items that is to become a subtree. */
typedef struct bvh_part {
    uint32_t node, first, count;
    uint32_t below;  /* where its nodes may go */
    uint32_t leaves; /* that it takes; an unindexed one counts twice */
    int depth, side; /* side: which of the two arrays the items are in */
} bvh_part;

typedef struct bvh_build {
    const carom_mesh *mesh;
    bvh_item *items[2]; /* a split moves a run from one to the other; leaves end in the first */
    bvh_binary *binary;
    bvh_slice *slices;
    bvh_part *parts;
    mesh_node *nodes;
    mesh_leaf *leaves;
    uint32_t slice_count, part_count, part_max;
    uint32_t node_count, leaf_count, leaf_total;
    int root;
    int halve_only;
} bvh_build;

/* b unless a is less, so also if one is NaN or both are zero. */
static inline bvh_vec bvh_min(bvh_vec a, bvh_vec b)
{
#if defined(__SSE2__)
    return (bvh_vec)_mm_min_ps((__m128)a, (__m128)b); /* GCC 12 does not find it */
#else
    const bvh_ints is_a = a < b;
    return (bvh_vec)(((bvh_ints)a & is_a) | ((bvh_ints)b & ~is_a));
#endif
}

/* b unless a is more. */
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

/* The lane with the triangle is cleared: as a float it would be a denormal, which is slow. */
static inline bvh_box bvh_box_of(const bvh_item *item)
{
    const bvh_ints xyz = {-1, -1, -1, 0};
    bvh_box box;
    memcpy(&box.lo, item, sizeof box.lo);
    memcpy(&box.hi, (const char *)item + sizeof box.lo, sizeof box.hi);
    box.lo = (bvh_vec)((bvh_ints)box.lo & xyz);
    return box;
}

/* Into mesh units, after taking the extreme, as the kernel does it for single triangles: both round alike. There is no
 * -0, so that the extremes of extremes have the same bits in every order. */
static inline float bvh_scaled(float extreme, float scale)
{
    return extreme * scale + 0.0f;
}

/* Half the surface of what is not empty. */
static inline float bvh_area(bvh_vec lo, bvh_vec hi)
{
    const bvh_vec d = hi - lo;
    return d[0] * d[1] + d[1] * d[2] + d[2] * d[0];
}

/* The split of a run that SAH finds cheapest; axis -1 if none leaves items on both sides. split.c, as what follows. */
void caromi_bvh_find_split(const bvh_item *items, uint32_t count, bvh_split *split);
/* A stable partition of the items by it. */
void caromi_bvh_partition(const bvh_item *from, bvh_item *to, uint32_t count, const bvh_split *split);
/* Both by all threads of the mesh's context. */
void caromi_bvh_split_large(const bvh_build *b, const bvh_item *from, bvh_item *to, uint32_t count, bvh_split *split);

/* Indices of a leaf's corners into its vertices, each of which it stores once. Returns how many vertices; if that is
 * more than MESH_WIDTH, `corner` is undefined. share.c */
uint32_t caromi_bvh_index_vertices(const carom_mesh *mesh, const bvh_item *items, uint32_t count,
                                   uint8_t corner[3][MESH_WIDTH]);

/* Nodes and leaves of MESH_WIDTH from the binary tree, but for what caromi_bvh_refit fills in; *stack: entries a
 * traversal may need. wide.c */
carom_status caromi_bvh_collapse(bvh_build *b, int *stack, carom_error *err);
#endif
