/* SPDX-License-Identifier: MIT */
/* Classifies nodes by two limits one by one, for blocks to which so many triangles matter that a list would cost more
 * than it saves. A node visits its nearest leaves, until its class is decided. Distances are bounded by corners and
 * edges alone, because triangles are small there. docs/volumes.md, section 4, has the proof. */
#ifndef CAROM_CPU_LATTICE_SCAN_H
#define CAROM_CPU_LATTICE_SCAN_H
#include "limits.h"

enum { LATTICE_LONG_FRONTIER = 1024 / MESH_WIDTH }; /* boxes: a block of 4 x 4 x 4 nodes with more is divided */

/* A node, in the mesh's unit, and squared bounds of its distance to the triangles of visited leaves. */
typedef struct lattice_node {
    real at[3], least2, most2;
    LANG_ALIGNED real gap2[LATTICE_BOXES + 16]; /* squared distance of each leaf; +inf: visited */
    int count;
} lattice_node;

/* Sets a node: its position, the bound point's distance, and the distance of each leaf's box. */
static void lattice_set_node(const caromi_lattice_tile *tile, const uint32_t index[3], const lattice_frontier *leaves,
                             const caromi_bound_point *bound_point, lattice_node *node)
{
    const double scale = (double)tile->mesh->frame.scale;
    double most2 = 0.0;
    for (int k = 0; k < 3; k++) {
        node->at[k] = tile->at[k][index[k]] * tile->mesh->frame.scale;
        const double offset = bound_point != NULL ? bound_point->point[k] * scale - (double)node->at[k] : HUGE_VAL;
        most2 += offset * offset;
    }
    node->least2 = R(1.0) / R(0.0);
    node->most2 = (real)(most2 * (1.0 + 0x1p-20) + 0x1p-100);
    node->count = leaves->count;
    for (int i = 0; i < leaves->count; i += LANES)
        v_store(node->gap2 + i, lattice_box_distance2(node->at, lattice_low(leaves, i), lattice_high(leaves, i)));
    for (int i = leaves->count; i % LANES != 0; i++)
        node->gap2[i] = R(1.0) / R(0.0);
}

/* The nearest leaf that is not visited; -1 if it is farther than the root of `limit2`. */
static int lattice_next_leaf(const lattice_node *node, real limit2)
{
    vf least = v_infinity();
    for (int i = 0; i < node->count; i += LANES)
        least = v_min(v_load(node->gap2 + i), least);
    const real nearest2 = v_reduce_min(least);
    if (!(nearest2 <= limit2))
        return -1;
    for (int i = 0; i < node->count; i += LANES) {
        const u32 lanes = v_bitmask(v_eq(v_load(node->gap2 + i), v_f(nearest2)));
        if (lanes != 0)
            return i + bitmask_first(lanes);
    }
    return -1;
}

/* Visits a leaf. The squared distance of a triangle is at most that of its nearest corner, and at least that less a
 * third of its longest edge's square. */
static void lattice_visit_leaf(const caromi_lattice_tile *tile, int reference, lattice_node *node)
{
    const mesh_leaf *leaf = mesh_leaf_at(tile->mesh, reference);
    const vf scale = v_f(tile->mesh->frame.scale);
    const v3 x = v3_of(v_f(node->at[0]), v_f(node->at[1]), v_f(node->at[2]));
    vf least = v_infinity(), most = v_infinity();
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const mesh_corners corners = mesh_corners_of(leaf, reference, lane);
        const vm counts =
            mesh_unmasked(mesh_load_int(leaf->triangle + lane), tile->mesh->masks, reference, lane, -1, tile->options);
        const v3 a = v3_sub(v3_mul(corners.p0, scale), x), b = v3_sub(v3_mul(corners.p1, scale), x);
        const v3 c = v3_sub(v3_mul(corners.p2, scale), x);
        const vf corner2 = v_min(v_min(v3_dot(a, a), v3_dot(b, b)), v3_dot(c, c));
        const vf edge2 = v_max(v_max(lattice_edge2(a, b), lattice_edge2(b, c)), lattice_edge2(c, a));
        most = v_min(v_sel(counts, corner2, v_infinity()), most);
        least = v_min(v_sel(counts, corner2 - edge2 * v_f(R(0.3335)), v_infinity()), least);
    }
    const real least2 = v_reduce_min(least), most2 = v_reduce_min(most) * (R(1.0) + R(0x1p-20)) + R(0x1p-100);
    node->least2 = least2 < node->least2 ? least2 : node->least2;
    node->most2 = most2 < node->most2 ? most2 : node->most2;
}

/* Classifies a node; returns 0 if its bounds leave it undecided. */
static int lattice_scan_node(const caromi_lattice_tile *tile, const uint32_t index[3], const lattice_frontier *leaves,
                             const caromi_bound_point *bound_point, int is_near, real *answer)
{
    const caromi_lattice_limits *limits = tile->limits;
    const real scale = tile->mesh->frame.scale;
    lattice_node node;
    real needed;
    lattice_set_node(tile, index, leaves, bound_point, &node);
    for (;;) {
        const real most = (real)sqrt((double)node.most2) * (R(1.0) + R(0x1p-20));
        if (most <= limits->inner_low * scale) {
            *answer = limits->inner_low;
            return 1;
        }
        is_near |= most <= limits->outer_low * scale;
        needed = is_near ? limits->inner_high : tile->band;
        const int next = lattice_next_leaf(&node, lattice_band2(tile, needed));
        if (next < 0)
            break;
        node.gap2[next] = R(1.0) / R(0.0);
        lattice_visit_leaf(tile, (int)real_bits(leaves->reference[next]), &node);
    }
    needed *= scale;
    *answer = lattice_beyond(tile, is_near);
    return needed < R(0.0) ||
           node.least2 * (R(1.0) - R(0x1p-18)) > needed * needed * (R(1.0) + R(0x1p-18)) + R(0x1p-100);
}

/* Whether all boxes are leaves. */
static int lattice_has_leaves(const lattice_frontier *frontier)
{
    for (int i = 0; i < frontier->count; i++)
        if ((int)real_bits(frontier->reference[i]) >= 0)
            return 0;
    return 1;
}
#endif
