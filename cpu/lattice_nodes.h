/* SPDX-License-Identifier: MIT */
/* The answers of the nodes of a smallest block, in groups of up to 16. A group lists the triangles that matter to it.
 * Each node is first solved with the triangle whose corners are nearest in the mean. Its answer is a bound for the
 * filter by samples. What is left are pairs of a node and a triangle, solved LANES at a time, of whatever nodes. */
#ifndef CAROM_CPU_LATTICE_NODES_H
#define CAROM_CPU_LATTICE_NODES_H
#include <math.h>

#include "kernels/mesh_closest_exact.h"
#include "lattice_lists.h"

enum {
    LATTICE_GROUP = 16,        /* nodes: 4 x 2 x 2 */
    LATTICE_GROUPS = 4,        /* of a smallest block */
    LATTICE_FEW = 32,          /* triangles: a list that is not worth a list for each group */
    LATTICE_GROUP_LIST = 4096, /* triangles */
    LATTICE_PAIRS = 1024
};

/* The nodes of a group, and the best of each so far. Unused ones repeat the last. */
typedef struct lattice_group {
    real at[3][LATTICE_GROUP];              /* in the caller's unit */
    real way[3][LATTICE_GROUP];             /* from the block's middle, in the mesh's unit */
    u64 best[LATTICE_GROUP];                /* mesh_key_bits_of */
    real most[LATTICE_GROUP];               /* the best is not greater */
    real earliest_undecided[LATTICE_GROUP]; /* as in closest_traversal */
    int place[LATTICE_GROUP];               /* among the answers of the tile */
    int count;
    real low[3], high[3]; /* bounds, in the mesh's unit */
} lattice_group;

/* Triangles of the block's list that matter to a group. */
typedef struct lattice_group_list {
    short triangle[LATTICE_GROUP_LIST + 16];
    LANG_ALIGNED real term[LATTICE_GROUP_LIST][LATTICE_GROUP]; /* of the nearest sample and the cover */
    int count;
} lattice_group_list;

typedef struct lattice_pairs {
    short triangle[LATTICE_PAIRS + 2 * LATTICE_GROUP];
    u8 node[LATTICE_PAIRS + 2 * LATTICE_GROUP]; /* group * LATTICE_GROUP + node */
    int count;
} lattice_pairs;

/* LANES pairs as the solver takes them. */
typedef struct lattice_packet {
    LANG_ALIGNED real row[12][LANES];
    int triangle[LANES];
} lattice_packet;

/* ---- the solver -------------------------------------------------------------------------------------------------- */

FN void lattice_put(lattice_packet *p, int lane, const lattice_group *group, int node, const real *row)
{
    u32 index;
    memcpy(&index, row + LATTICE_INDEX, sizeof index);
    p->triangle[lane] = (int)index;
    LANG_UNROLL
    for (int k = 0; k < 3; k++)
        p->row[k][lane] = group->at[k][node];
    LANG_UNROLL
    for (int k = 0; k < 9; k++)
        p->row[3 + k][lane] = row[LATTICE_CORNERS + k];
}

FN v3 lattice_row3(const lattice_packet *p, int first)
{
    return v3_of(v_load(p->row[first]), v_load(p->row[first + 1]), v_load(p->row[first + 2]));
}

FN closest_in lattice_in(const lattice_packet *p)
{
    closest_in in;
    in.center = lattice_row3(p, 0);
    in.p0 = lattice_row3(p, 3);
    in.p1 = lattice_row3(p, 6);
    in.p2 = lattice_row3(p, 9);
    return in;
}

FN void lattice_record(lattice_group *group, int node, real distance, int triangle)
{
    const u64 key = mesh_key_bits_of(distance, triangle);
    group->best[node] = key < group->best[node] ? key : group->best[node];
}

/* The answers of closest_leaf_lanes, each for a node of its own. */
FN vf lattice_solve_fast(const lattice_packet *p, mesh_frame frame)
{
    const closest_in in = lattice_in(p);
    const vf scale = v_f(frame.scale);
    const closest_span span =
        closest_span_of(closest_view_of(in.center, frame), v3_mul(mesh_min3(in.p0, in.p1, in.p2), scale),
                        v3_mul(mesh_max3(in.p0, in.p1, in.p2), scale));
    return v_min(v_max(closest_find(in).distance, span.least), span.most);
}

/* Solves a packet, whose nodes are numbered as in lattice_pairs, and keeps what is best. Exact mode: as
 * closest_exact_lanes. */
static void lattice_solve(const lattice_packet *p, const caromi_lattice_tile *tile, const u8 *node,
                          lattice_group *groups)
{
    LANG_ALIGNED real low[LANES], high[LANES];
    if (!tile->exact) {
        v_store(low, lattice_solve_fast(p, tile->mesh->frame));
        for (int lane = 0; lane < LANES; lane++)
            lattice_record(groups + node[lane] / LATTICE_GROUP, node[lane] % LATTICE_GROUP, low[lane],
                           p->triangle[lane]);
        return;
    }
    const closest_proven proven = closest_prove(lattice_in(p), v_eq(v_f(R(0.0)), v_f(R(0.0))));
    v_store(low, proven.low);
    v_store(high, proven.high);
    for (int lane = 0; lane < LANES; lane++) {
        lattice_group *group = groups + node[lane] / LATTICE_GROUP;
        const int n = node[lane] % LATTICE_GROUP;
        if (low[lane] == high[lane])
            lattice_record(group, n, low[lane], p->triangle[lane]);
        else if (low[lane] < group->earliest_undecided[n])
            group->earliest_undecided[n] = low[lane];
        group->most[n] = high[lane] < group->most[n] ? high[lane] : group->most[n];
    }
}

/* Solves all pairs. The last packet is padded with the first pair, which changes no answer. */
static void lattice_solve_pairs(const caromi_lattice_tile *tile, lattice_group *groups, const lattice_triangles *list,
                                lattice_pairs *pairs)
{
    lattice_packet packet;
    for (int end = pairs->count; end % LANES != 0; end++) {
        pairs->triangle[end] = pairs->triangle[0];
        pairs->node[end] = pairs->node[0];
    }
    for (int i = 0; i < pairs->count; i += LANES) {
        for (int lane = 0; lane < LANES; lane++)
            lattice_put(&packet, lane, groups + pairs->node[i + lane] / LATTICE_GROUP,
                        pairs->node[i + lane] % LATTICE_GROUP, list->row[pairs->triangle[i + lane]]);
        lattice_solve(&packet, tile, pairs->node + i, groups);
    }
    pairs->count = 0;
}

/* ---- the list of a group ----------------------------------------------------------------------------------------- */

FN vf lattice_way2(v3 p, v3 to)
{
    const v3 way = v3_sub(p, to);
    return v3_dot(way, way);
}

/* The corner of the list that is nearest to a point, in the mesh's unit; returns its squared distance. */
static real lattice_nearest_corner(const lattice_triangles *list, real scale, const real to[3], real corner[3])
{
    const v3 at = v3_of(v_f(to[0]), v_f(to[1]), v_f(to[2]));
    vf best = v_infinity();
    v3 found = at;
    LANG_ALIGNED real lanes[4][LANES];
    int least = 0;
    for (int i = 0; i < list->count; i += LANES) {
        const mesh_corners c = lattice_corners(list, i, v_f(scale));
        const v3 p[] = {c.p0, c.p1, c.p2};
        LANG_UNROLL
        for (int k = 0; k < 3; k++) {
            const vf square = lattice_way2(p[k], at);
            const vm nearer = v_lt(square, best);
            best = v_sel(nearer, square, best);
            found = v3_sel(nearer, p[k], found);
        }
    }
    v_store(lanes[0], best);
    v_store(lanes[1], found.x);
    v_store(lanes[2], found.y);
    v_store(lanes[3], found.z);
    for (int lane = 1; lane < LANES; lane++)
        least = lanes[0][lane] < lanes[0][least] ? lane : least;
    for (int k = 0; k < 3; k++)
        corner[k] = lanes[1 + k][least];
    return lanes[0][least];
}

/* The group as a block, whose witness is the block's own or a corner of its list, whichever is nearer. */
static void lattice_group_bound(const lattice_block *block, const caromi_witness *witness, real scale,
                                const lattice_triangles *list, const lattice_group *group, lattice_block *b)
{
    caromi_witness corner = {.longest = 0.0};
    real near[3];
    double own2 = 0.0;
    lattice_bound(group->low, group->high, block->band2, b);
    const real corner2 = lattice_nearest_corner(list, scale, b->middle, near);
    for (int k = 0; k < 3; k++) {
        const double way = witness->point[k] * (double)scale - (double)b->middle[k];
        own2 += way * way;
        corner.point[k] = (double)near[k];
    }
    if ((double)corner2 < own2)
        lattice_set_witness(&corner, 1.0, b);
    else
        lattice_set_witness(witness, (double)scale, b);
}

/* 0 if too many triangles matter to the group. */
static int lattice_list_group(const lattice_block *b, real scale, const lattice_triangles *list, lattice_group_list *to)
{
    to->count = 0;
    for (int i = 0; i < list->count; i += LANES) {
        const mesh_corners c = lattice_corners(list, i, v_f(scale));
        u32 left = v_bitmask(lattice_keeps_triangle(b, c.p0, c.p1, c.p2)) & lattice_first_lanes(list->count - i);
        if (to->count + bitmask_count(left) > LATTICE_GROUP_LIST)
            return 0;
        for (; left != 0; left &= left - 1)
            to->triangle[to->count++] = (short)(i + bitmask_first(left));
    }
    return 1;
}

static void lattice_list_all(const lattice_triangles *list, lattice_group_list *to)
{
    for (to->count = 0; to->count < list->count; to->count++)
        to->triangle[to->count] = (short)to->count;
}

/* ---- the filter by samples -------------------------------------------------------------------------------------- */

FN v3 lattice_ways(const lattice_group *group, int first)
{
    return v3_of(v_load(group->way[0] + first), v_load(group->way[1] + first), v_load(group->way[2] + first));
}

/* Terms of all triangles of a group's list, for LANES of its nodes. Each node is then solved with the triangle whose
 * corners are nearest in the mean. */
static void lattice_begin_nodes(const caromi_lattice_tile *tile, int first, lattice_group *groups, int number,
                                const lattice_triangles *list, lattice_group_list *own)
{
    lattice_group *group = groups + number;
    const v3 x = lattice_ways(group, first);
    vf corners = v_f(R(-1e38));
    vi triangle = v_i(0);
    int chosen[LANES];
    u8 node[LANES];
    lattice_packet packet;
    for (int t = 0; t < own->count; t++) {
        const real *row = list->row[own->triangle[t]];
        const lattice_terms terms = lattice_terms_of(x, row);
        const vm better = v_gt(terms.corners, corners);
        corners = v_sel(better, terms.corners, corners);
        triangle = vi_sel(better, v_i(own->triangle[t]), triangle);
        v_store(own->term[t] + first, terms.nearest + v_f(row[LATTICE_COVER]));
    }
    vi_store(chosen, triangle);
    for (int lane = 0; lane < LANES; lane++) {
        node[lane] = (u8)(number * LATTICE_GROUP + first + lane);
        lattice_put(&packet, lane, group, first + lane, list->row[chosen[lane]]);
    }
    lattice_solve(&packet, tile, node, groups);
}

/* The pairs that are left. */
static void lattice_finish_nodes(const caromi_lattice_tile *tile, int first, real radius2, lattice_group *groups,
                                 int number, const lattice_triangles *list, const lattice_group_list *own,
                                 lattice_pairs *pairs)
{
    const lattice_group *group = groups + number;
    const v3 x = lattice_ways(group, first);
    LANG_ALIGNED real most[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        const real best = real_of_bits((u32)(group->best[first + lane] >> 32));
        most[lane] = best < group->most[first + lane] ? best : group->most[first + lane];
    }
    const vf reach = v_load(most) * v_f(tile->mesh->frame.scale);
    const vf limit = lattice_filter_limit(x, reach * reach, radius2);
    const u32 used = first < group->count ? lattice_first_lanes(group->count - first) : 0;
    for (int t = 0; t < own->count; t++) {
        u32 left = used & v_bitmask(v_le(limit, v_load(own->term[t] + first)));
        for (; left != 0; left &= left - 1) {
            pairs->triangle[pairs->count] = own->triangle[t];
            pairs->node[pairs->count++] = (u8)(number * LATTICE_GROUP + first + bitmask_first(left));
        }
        if (pairs->count >= LATTICE_PAIRS)
            lattice_solve_pairs(tile, groups, list, pairs);
    }
}

/* What a block of nodes is answered in. */
typedef struct lattice_room {
    lattice_triangles list;
    lattice_group group[LATTICE_GROUPS];
    lattice_group_list own[LATTICE_GROUPS];
    lattice_pairs pairs;
} lattice_room;

/* Answers the nodes of a block's groups from its list; 0 if too many triangles matter to a group. */
static int lattice_answer(const caromi_lattice_tile *tile, const lattice_block *block, const caromi_witness *witness,
                          int groups, lattice_room *room)
{
    const real scale = tile->mesh->frame.scale;
    real radius2 = R(0.0);
    for (int k = 0; k < 3; k++)
        radius2 += block->spread[k] * block->spread[k];
    lattice_set_rows(block, scale, &room->list);
    for (int g = 0; g < groups; g++) {
        lattice_block b;
        if (room->list.count <= LATTICE_FEW) {
            lattice_list_all(&room->list, &room->own[g]);
            continue;
        }
        lattice_group_bound(block, witness, scale, &room->list, &room->group[g], &b);
        if (!lattice_list_group(&b, scale, &room->list, &room->own[g]))
            return 0;
    }
    for (int g = 0; g < groups; g++)
        for (int first = 0; first < LATTICE_GROUP && room->list.count > 0; first += LANES)
            lattice_begin_nodes(tile, first, room->group, g, &room->list, &room->own[g]);
    room->pairs.count = 0;
    for (int g = 0; g < groups; g++)
        for (int first = 0; first < LATTICE_GROUP; first += LANES)
            lattice_finish_nodes(tile, first, radius2, room->group, g, &room->list, &room->own[g], &room->pairs);
    lattice_solve_pairs(tile, room->group, &room->list, &room->pairs);
    return 1;
}
#endif
