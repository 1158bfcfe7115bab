/* SPDX-License-Identifier: MIT */
/* The answers of the nodes of a smallest block, in groups of up to 16. A group lists the triangles that matter to it.
 * The filter by samples tests that list for LANES nodes at a time: the nearest corner so far bounds each node's answer,
 * and few candidates remain. Each node is solved with the candidate that has the nearest sample. With this answer as
 * the bound, the remaining pairs of a node and a triangle are queued and solved LANES at a time. */
#ifndef CAROM_CPU_LATTICE_NODES_H
#define CAROM_CPU_LATTICE_NODES_H
#include <math.h>

#include "kernels/mesh_closest_exact.h"
#include "limits.h"

enum {
    LATTICE_GROUP = 16,        /* nodes of a group: 4 x 2 x 2 */
    LATTICE_GROUPS = 4,        /* groups of a smallest block */
    LATTICE_SHORT_LIST = 96,   /* triangles: with a shorter list, a list for each group does not pay */
    LATTICE_GROUP_LIST = 8192, /* most triangles of a group's list */
    LATTICE_PAIRS = 256        /* pairs that wait for the solver: their columns stay in the first-level cache */
};

/* The nodes of a group, and the best answer of each so far. Unused elements repeat the last node. */
typedef struct lattice_group {
    real at[3][LATTICE_GROUP];              /* in the caller's unit */
    real offset[3][LATTICE_GROUP];          /* from the block's middle, in the mesh's unit */
    u64 best[LATTICE_GROUP];                /* mesh_key_bits_of */
    real most[LATTICE_GROUP];               /* upper bound of the answer */
    real earliest_undecided[LATTICE_GROUP]; /* as in closest_traversal */
    size_t element[LATTICE_GROUP];          /* index among the answers of the tile */
    int count;
    int is_near;          /* limits.h */
    real low[3], high[3]; /* bounds, in the mesh's unit */
} lattice_group;

/* Triangles of the block's list that matter to a group. */
typedef struct lattice_group_list {
    short triangle[LATTICE_GROUP_LIST + 16];
    int count;
    int has_corner;
    real corner[3]; /* a corner of one of them, from the block's middle */
} lattice_group_list;

/* Triangles of a group's list that may matter to some of LANES nodes. */
typedef struct lattice_candidates {
    short triangle[LATTICE_GROUP_LIST];
    LANG_ALIGNED real term[LATTICE_GROUP_LIST][LANES]; /* term of the nearest sample plus the cover */
    LANG_ALIGNED real nearest[LANES];                  /* the greatest term of any sample */
    int count;
} lattice_candidates;

/* Pairs of a node and a triangle, in columns as the solver takes them. A column has capacity for LANES pairs beyond the
 * waiting ones, and for LANES more that an append may store. */
enum {
    LATTICE_PAIR_CORNER = 3,    /* rows: the node's coordinates, nine of corners, ... */
    LATTICE_PAIR_TRIANGLE = 12, /* the triangle's index and ... */
    LATTICE_PAIR_NODE,          /* group * LATTICE_GROUP + node, bits of ints */
    LATTICE_PAIR_ROWS,
    LATTICE_PAIR_STRIDE = LATTICE_PAIRS + 2 * LATTICE_GROUP
};

typedef struct lattice_pairs {
    LANG_ALIGNED real row[LATTICE_PAIR_ROWS][LATTICE_PAIR_STRIDE];
    int count;
} lattice_pairs;

/* ---- the solver -------------------------------------------------------------------------------------------------- */

/* Appends pairs of a triangle of the list with the nodes in the bitmask `lanes`, of LANES nodes from `first` on. */
FN void lattice_add_pairs(const lattice_triangles *list, int triangle, const lattice_group *group, vi node, int first,
                          u32 lanes, lattice_pairs *pairs)
{
    real *to = &pairs->row[0][pairs->count];
    const vf rows[] = {v_load(group->at[0] + first), v_load(group->at[1] + first), v_load(group->at[2] + first)};
    const vf nodes = v_from_bits(node);
    lattice_append(to, LATTICE_PAIR_STRIDE, rows, 3, lanes);
    LANG_UNROLL
    for (int k = 0; k < 10; k++)
        v_store(to + (LATTICE_PAIR_CORNER + k) * LATTICE_PAIR_STRIDE, v_f(list->corner[k][triangle]));
    lattice_append(to + LATTICE_PAIR_NODE * LATTICE_PAIR_STRIDE, LATTICE_PAIR_STRIDE, &nodes, 1, lanes);
    pairs->count += bitmask_count(lanes);
}

FN v3 lattice_pair_row3(const lattice_pairs *pairs, int row, int at)
{
    return v3_of(v_load(pairs->row[row] + at), v_load(pairs->row[row + 1] + at), v_load(pairs->row[row + 2] + at));
}

FN closest_in lattice_in(const lattice_pairs *pairs, int at)
{
    closest_in in;
    in.center = lattice_pair_row3(pairs, 0, at);
    in.p0 = lattice_pair_row3(pairs, LATTICE_PAIR_CORNER, at);
    in.p1 = lattice_pair_row3(pairs, LATTICE_PAIR_CORNER + 3, at);
    in.p2 = lattice_pair_row3(pairs, LATTICE_PAIR_CORNER + 6, at);
    return in;
}

FN void lattice_record(lattice_group *group, int node, real distance, int triangle)
{
    const u64 key = mesh_key_bits_of(distance, triangle);
    group->best[node] = key < group->best[node] ? key : group->best[node];
}

/* Distances of LANES pairs in fast mode. Each lane has a node of its own; the answers equal closest_leaf_lanes(). */
FN vf lattice_solve_fast(closest_in in, mesh_frame frame)
{
    const vf scale = v_f(frame.scale);
    const closest_span span =
        closest_span_of(closest_view_of(in.center, frame), v3_mul(mesh_min3(in.p0, in.p1, in.p2), scale),
                        v3_mul(mesh_max3(in.p0, in.p1, in.p2), scale));
    return v_min(v_max(closest_find(in).distance, span.least), span.most);
}

/* The node numbers and triangles of LANES pairs. */
typedef struct lattice_numbers {
    int node[LANES], triangle[LANES];
} lattice_numbers;

FN lattice_numbers lattice_numbers_of(const lattice_pairs *pairs, int at)
{
    lattice_numbers numbers;
    memcpy(numbers.node, pairs->row[LATTICE_PAIR_NODE] + at, sizeof numbers.node);
    memcpy(numbers.triangle, pairs->row[LATTICE_PAIR_TRIANGLE] + at, sizeof numbers.triangle);
    return numbers;
}

/* Computes the distances of LANES pairs of a lattice node and a triangle, and updates the nodes' best answers. Exact
 * mode: a distance that the filter does not prove leaves its node undecided, as in closest_exact_lanes(). */
static void lattice_solve(const lattice_pairs *pairs, int at, const caromi_lattice_tile *tile, lattice_group *groups)
{
    LANG_ALIGNED real low[LANES], high[LANES];
    const closest_in in = lattice_in(pairs, at);
    const lattice_numbers numbers = lattice_numbers_of(pairs, at);
    if (!tile->exact) {
        v_store(low, lattice_solve_fast(in, tile->mesh->frame));
        for (int lane = 0; lane < LANES; lane++)
            lattice_record(groups + numbers.node[lane] / LATTICE_GROUP, numbers.node[lane] % LATTICE_GROUP, low[lane],
                           numbers.triangle[lane]);
        return;
    }
    const closest_proven proven = closest_prove(in, v_eq(v_f(R(0.0)), v_f(R(0.0))));
    v_store(low, proven.low);
    v_store(high, proven.high);
    for (int lane = 0; lane < LANES; lane++) {
        lattice_group *group = groups + numbers.node[lane] / LATTICE_GROUP;
        const int node = numbers.node[lane] % LATTICE_GROUP;
        if (low[lane] == high[lane])
            lattice_record(group, node, low[lane], numbers.triangle[lane]);
        else if (low[lane] < group->earliest_undecided[node])
            group->earliest_undecided[node] = low[lane];
        group->most[node] = high[lane] < group->most[node] ? high[lane] : group->most[node];
    }
}

/* Solves all pairs. The last LANES are padded with the first pair, which changes no answer. */
static void lattice_solve_pairs(const caromi_lattice_tile *tile, lattice_group *groups, lattice_pairs *pairs)
{
    for (int end = pairs->count; end % LANES != 0; end++)
        for (int k = 0; k < LATTICE_PAIR_ROWS; k++)
            pairs->row[k][end] = pairs->row[k][0];
    for (int i = 0; i < pairs->count; i += LANES)
        lattice_solve(pairs, i, tile, groups);
    pairs->count = 0;
}

/* ---- the list of a group ----------------------------------------------------------------------------------------- */

/* The corner of the list that is nearest to a point. Both are relative to the block's middle. */
static void lattice_nearest_corner(const lattice_triangles *list, const real to[3], real corner[3])
{
    const vf x = v_f(to[0]), y = v_f(to[1]), z = v_f(to[2]);
    const real *rows = list->sample[0];
    vf best = v_f(R(-1e38));
    vi found = v_i(0);
    LANG_ALIGNED real terms[LANES];
    int element[LANES], least = 0;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < list->count; i += LANES) {
            const real *at = rows + LATTICE_CORNER * k * LATTICE_STRIDE + i;
            const vf term = x * v_load(at) + y * v_load(at + LATTICE_STRIDE) + z * v_load(at + 2 * LATTICE_STRIDE) +
                            v_load(at + 3 * LATTICE_STRIDE);
            const vm better = v_gt(term, best);
            best = v_sel(better, term, best);
            found = vi_sel(better, v_i(LATTICE_CORNER * k * LATTICE_STRIDE + i), found);
        }
    v_store(terms, best);
    vi_store(element, found);
    for (int lane = 1; lane < LANES; lane++)
        least = terms[lane] > terms[least] ? lane : least;
    for (int k = 0; k < 3; k++)
        corner[k] = R(0.5) * rows[element[least] + least + k * LATTICE_STRIDE];
}

/* A group's bounds and its bound point p, relative to the block's middle. p is the block's bound point or a corner of
 * its list, whichever is nearer. */
typedef struct lattice_bisector {
    real middle[3], half[3]; /* of the group's bounds */
    real twice[3], square;   /* 2 p and p.p */
    real slack;
} lattice_bisector;

/* Returns whether all nodes of the group are within the inner limit of the bound point. */
static int lattice_set_bisector(const caromi_lattice_tile *tile, const lattice_block *block,
                                const caromi_bound_point *bound_point, const lattice_triangles *list,
                                lattice_group *group, lattice_bisector *bisector, lattice_group_list *to)
{
    const real scale = tile->mesh->frame.scale;
    caromi_bound_point chosen = {.longest = 0.0};
    lattice_block b;
    double corner2 = 0.0, own2 = 0.0;
    lattice_bound(group->low, group->high, block->band2, &b);
    for (int k = 0; k < 3; k++) {
        bisector->middle[k] = b.middle[k] - block->middle[k];
        bisector->half[k] = R(0.5) * b.spread[k];
    }
    lattice_nearest_corner(list, bisector->middle, to->corner);
    to->has_corner = 1;
    for (int k = 0; k < 3; k++) {
        const double own = bound_point ? bound_point->point[k] * (double)scale - (double)b.middle[k] : HUGE_VAL;
        const double offset = (double)to->corner[k] - (double)bisector->middle[k];
        own2 += own * own;
        corner2 += offset * offset;
    }
    const int is_corner = bound_point == NULL || corner2 < own2;
    bisector->square = R(0.0);
    for (int k = 0; k < 3; k++) {
        const double middle = (double)block->middle[k];
        const double p = is_corner ? (double)to->corner[k] : bound_point->point[k] * (double)scale - middle;
        chosen.point[k] = p + middle;
        bisector->twice[k] = R(2.0) * (real)p;
        bisector->square += (real)p * (real)p;
    }
    chosen.longest = is_corner ? 0.0 : bound_point->longest * (double)scale;
    lattice_set_bound_point(&chosen, 1.0, &b);
    bisector->slack = b.slack;
    return lattice_is_within(tile, &b, &group->is_near);
}

/* Lists the triangles that matter to a group; returns 0 if there are too many. radius2: square of the block's
 * diameter. */
static int lattice_list_group(const lattice_bisector *bisector, real radius2, const lattice_triangles *list,
                              lattice_group_list *to)
{
    const vf least = v_f(-(bisector->slack + radius2 * R(0x1p-16) + R(0x1p-120)) - bisector->square);
    to->count = 0;
    for (int i = 0; i < list->count; i += LANES) {
        const real *rows = &list->sample[0][i];
        vf most = lattice_corner_excess(bisector->middle, bisector->half, bisector->twice, rows, LATTICE_STRIDE);
        for (int k = 1; k < 3; k++)
            most = v_max(most, lattice_corner_excess(bisector->middle, bisector->half, bisector->twice,
                                                     rows + k * LATTICE_CORNER * LATTICE_STRIDE, LATTICE_STRIDE));
        const vf cover = v_load(rows + LATTICE_CORNER_COVER * LATTICE_STRIDE);
        u32 left = v_bitmask(v_le(least, most + cover)) & lattice_first_lanes(list->count - i);
        if (to->count + bitmask_count(left) > LATTICE_GROUP_LIST)
            return 0;
        for (; left != 0; left &= left - 1)
            to->triangle[to->count++] = (short)(i + bitmask_first(left));
    }
    return 1;
}

static void lattice_list_all(const lattice_triangles *list, lattice_group_list *to)
{
    to->has_corner = 0;
    for (to->count = 0; to->count < list->count; to->count++)
        to->triangle[to->count] = (short)to->count;
}

/* ---- the filter by samples -------------------------------------------------------------------------------------- */

FN v3 lattice_offsets(const lattice_group *group, int first)
{
    return v3_of(v_load(group->offset[0] + first), v_load(group->offset[1] + first), v_load(group->offset[2] + first));
}

/* Lower bound of the nearest answer's term, unless that answer is beyond the band: the term of the list's corner.
 * band2: square of the band. */
FN vf lattice_first_bound(v3 x, vf square, real band2, const lattice_group_list *own)
{
    const real *p = own->corner,
               rows[] = {p[0] + p[0], p[1] + p[1], p[2] + p[2], -(p[0] * p[0] + p[1] * p[1] + p[2] * p[2])};
    const vf band = v_max(square - v_f(band2), v_f(R(-1e38)));
    return own->has_corner ? v_max(band, lattice_corner_term(x, rows, 1)) : band;
}

/* The triangles of a group's list that may be nearest to some of LANES nodes x, and within the band. Returns for each
 * node a triangle that has the nearest sample. */
static vi lattice_find_candidates(v3 x, real radius2, real band2, const lattice_triangles *list,
                                  const lattice_group_list *own, lattice_candidates *to)
{
    const int stride = LATTICE_STRIDE;
    const vf square = v3_dot(x, x);
    vf bound = lattice_first_bound(x, square, band2, own), best = v_f(R(-1e38)), certain = best;
    vf limit = lattice_filter_limit(square, square - bound, radius2);
    vi chosen = v_i(0);
    to->count = 0;
    for (int i = 0; i < own->count; i++) {
        const real *rows = &list->sample[0][own->triangle[i]];
        const lattice_terms terms = lattice_terms_of(x, rows, stride);
        const vf corner = v_max(v_max(terms.a, terms.b), terms.c);
        if (!v_any(v_le(limit, corner + rows[LATTICE_CORNER_COVER * stride])))
            continue;
        const vf sample = v_max(corner, lattice_middle_term(terms, rows, stride));
        /* The error of an edge's middle grows with the edge, so an upper bound of the distance uses a smaller term. */
        certain = v_max(certain, v_max(corner, sample - v_f(rows[LATTICE_COVER * stride] * R(0x1p-14))));
        const vm better = v_gt(sample, best);
        bound = v_max(bound, corner);
        limit = lattice_filter_limit(square, square - bound, radius2);
        best = v_sel(better, sample, best);
        chosen = vi_sel(better, v_i(own->triangle[i]), chosen);
        v_store(to->term[to->count], sample + rows[LATTICE_COVER * stride]);
        to->triangle[to->count++] = own->triangle[i];
    }
    v_store(to->nearest, certain);
    return chosen;
}

/* The numbers of LANES nodes of a group. */
FN vi lattice_node_numbers(int number, int first)
{
    int node[LANES];
    vi numbers;
    for (int lane = 0; lane < LANES; lane++)
        node[lane] = number * LATTICE_GROUP + first + lane;
    memcpy(&numbers, node, sizeof numbers);
    return numbers;
}

/* Solves each of LANES nodes with one triangle, in the columns behind the waiting pairs. */
static void lattice_begin_nodes(const caromi_lattice_tile *tile, int first, lattice_group *groups, int number,
                                const lattice_triangles *list, vi triangle, lattice_pairs *pairs)
{
    int chosen[LANES];
    const int at = pairs->count;
    vi_store(chosen, triangle);
    for (int k = 0; k < 3; k++)
        v_store(pairs->row[k] + at, v_load(groups[number].at[k] + first));
    v_store(pairs->row[LATTICE_PAIR_NODE] + at, v_from_bits(lattice_node_numbers(number, first)));
    for (int k = 0; k < 10; k++)
        for (int lane = 0; lane < LANES; lane++)
            pairs->row[LATTICE_PAIR_CORNER + k][at + lane] = list->corner[k][chosen[lane]];
    lattice_solve(pairs, at, tile, groups);
}

/* Gives all nodes of a group the same answer. */
static void lattice_set_answers(lattice_group *group, real answer)
{
    for (int n = 0; n < LATTICE_GROUP; n++) {
        group->best[n] = mesh_key_bits_of(answer, MESH_NO_TRIANGLE);
        group->most[n] = R(-1.0);
    }
}

/* Replaces lattice_begin_nodes() if there are limits: the terms of the candidates classify most nodes. */
static void lattice_classify_nodes(const caromi_lattice_tile *tile, int first, real radius2, lattice_group *group,
                                   const lattice_candidates *candidates)
{
    vf covered = v_f(R(-1e38));
    LANG_ALIGNED real most[LANES];
    for (int t = 0; t < candidates->count; t++)
        covered = v_max(v_load(candidates->term[t]), covered);
    const lattice_classes classes = lattice_classify(tile, lattice_offsets(group, first), v_load(candidates->nearest),
                                                     covered, radius2, group->is_near);
    const u32 within = v_bitmask(classes.is_within),
              done = within | v_bitmask(v_or(classes.is_between, classes.is_beyond));
    v_store(most, classes.most * v_f(R(1.0) / tile->mesh->frame.scale));
    for (int lane = 0; lane < LANES; lane++) {
        const u32 bit = 1u << lane;
        const int is_near = group->is_near || most[lane] <= tile->limits->outer_low;
        const real answer = (within & bit) != 0 ? tile->limits->inner_low : lattice_beyond(tile, is_near);
        group->best[first + lane] = mesh_key_bits_of(answer, MESH_NO_TRIANGLE);
        group->most[first + lane] = (done & bit) != 0 ? R(-1.0) : most[lane];
    }
}

/* Working memory for the answers of a block. */
typedef struct lattice_workspace {
    lattice_triangles list;
    lattice_group group[LATTICE_GROUPS];
    lattice_group_list own;
    lattice_candidates candidates;
    lattice_pairs pairs;
} lattice_workspace;

/* Queues the remaining pairs. solved: the triangle that each node was solved with; -1: none. */
static void lattice_finish_nodes(const caromi_lattice_tile *tile, int first, real radius2, lattice_group *groups,
                                 int number, vi solved, lattice_workspace *work)
{
    const lattice_group *group = groups + number;
    const lattice_candidates *candidates = &work->candidates;
    const v3 x = lattice_offsets(group, first);
    LANG_ALIGNED real most[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        const real best = real_of_bits((u32)(group->best[first + lane] >> 32));
        most[lane] = best < group->most[first + lane] ? best : group->most[first + lane];
        most[lane] = lattice_needed(tile, most[lane]);
    }
    const vf reach = v_load(most) * v_f(tile->mesh->frame.scale);
    const vf limit =
        v_sel(v_lt(reach, v_f(R(0.0))), v_infinity(), lattice_filter_limit(v3_dot(x, x), reach * reach, radius2));
    const u32 used = lattice_first_lanes(group->count - first);
    const vi node = lattice_node_numbers(number, first);
    for (int t = 0; t < candidates->count; t++) {
        const int triangle = candidates->triangle[t];
        const vm is_solved = vi_eq(solved, v_i(triangle));
        const u32 lanes = used & v_bitmask(v_and(v_le(limit, v_load(candidates->term[t])), v_not(is_solved)));
        if (lanes != 0)
            lattice_add_pairs(&work->list, triangle, group, node, first, lanes, &work->pairs);
        if (work->pairs.count >= LATTICE_PAIRS)
            lattice_solve_pairs(tile, groups, &work->pairs);
    }
}

/* Answers a group, except for queued pairs; returns 0 if too many triangles matter to it. */
static int lattice_answer_group(const caromi_lattice_tile *tile, const lattice_block *block,
                                const caromi_bound_point *bound_point, real radius2, int number,
                                lattice_workspace *work)
{
    lattice_group *group = &work->group[number];
    const real band = tile->band * tile->mesh->frame.scale;
    lattice_bisector bisector;
    if (work->list.count <= LATTICE_SHORT_LIST) {
        lattice_list_all(&work->list, &work->own);
    } else {
        if (lattice_set_bisector(tile, block, bound_point, &work->list, group, &bisector, &work->own)) {
            lattice_set_answers(group, tile->limits->inner_low);
            return 1;
        }
        if (!lattice_list_group(&bisector, radius2, &work->list, &work->own))
            return 0;
    }
    for (int first = 0; first < group->count; first += LANES) {
        const vi chosen = lattice_find_candidates(lattice_offsets(group, first), radius2, band * band, &work->list,
                                                  &work->own, &work->candidates);
        const int begins = tile->limits == NULL && work->candidates.count > 0;
        if (tile->limits != NULL)
            lattice_classify_nodes(tile, first, radius2, group, &work->candidates);
        if (begins)
            lattice_begin_nodes(tile, first, work->group, number, &work->list, chosen, &work->pairs);
        lattice_finish_nodes(tile, first, radius2, work->group, number, begins ? chosen : v_i(-1), work);
    }
    return 1;
}

/* Answers the nodes of a block's groups from its list; 0 if too many triangles matter to a group. */
static int lattice_answer(const caromi_lattice_tile *tile, const lattice_block *block,
                          const caromi_bound_point *bound_point, int groups, lattice_workspace *work)
{
    real radius2 = R(0.0);
    for (int k = 0; k < 3; k++)
        radius2 += block->spread[k] * block->spread[k];
    lattice_set_samples(block, tile->mesh->frame.scale, &work->list);
    work->pairs.count = 0;
    for (int g = 0; g < groups; g++)
        if (!lattice_answer_group(tile, block, bound_point, radius2, g, work))
            return 0;
    lattice_solve_pairs(tile, work->group, &work->pairs);
    return 1;
}
#endif
