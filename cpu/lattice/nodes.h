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
    real position[3][LATTICE_GROUP];        /* in the caller's unit */
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
    LATTICE_PAIR_POSITION,                           /* three coordinates of the node */
    LATTICE_PAIR_CORNER = LATTICE_PAIR_POSITION + 3, /* nine coordinates of the triangle's corners */
    LATTICE_PAIR_TRIANGLE = LATTICE_PAIR_CORNER + 9, /* the triangle's index, bits of an int */
    LATTICE_PAIR_NODE,                               /* group * LATTICE_GROUP + node, bits of an int */
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
    const vf coordinates[] = {v_load(group->position[0] + first), v_load(group->position[1] + first),
                              v_load(group->position[2] + first)};
    const vf nodes = v_from_bits(node);
    lattice_append(to, LATTICE_PAIR_STRIDE, coordinates, 3, lanes);
    LANG_UNROLL
    for (int column = 0; column < LATTICE_TRIANGLE_COLUMNS; column++)
        v_store(to + (LATTICE_PAIR_CORNER + column) * LATTICE_PAIR_STRIDE, v_f(list->corner[column][triangle]));
    lattice_append(to + LATTICE_PAIR_NODE * LATTICE_PAIR_STRIDE, LATTICE_PAIR_STRIDE, &nodes, 1, lanes);
    pairs->count += bitmask_count(lanes);
}

/* A vector from three rows. */
FN v3 lattice_pair_row3(const lattice_pairs *pairs, int row, int at)
{
    return v3_of(v_load(pairs->row[row] + at), v_load(pairs->row[row + 1] + at), v_load(pairs->row[row + 2] + at));
}

/* Input of the solver for LANES pairs from column `at` on. */
FN closest_in lattice_in(const lattice_pairs *pairs, int at)
{
    closest_in in;
    in.center = lattice_pair_row3(pairs, LATTICE_PAIR_POSITION, at);
    in.p0 = lattice_pair_row3(pairs, LATTICE_PAIR_CORNER, at);
    in.p1 = lattice_pair_row3(pairs, LATTICE_PAIR_CORNER + 3, at);
    in.p2 = lattice_pair_row3(pairs, LATTICE_PAIR_CORNER + 6, at);
    return in;
}

/* Keeps the better of a node's best answer and a new one. */
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

/* Node numbers and triangles of LANES pairs from column `at` on. */
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
    /* Exact mode: all lanes are active. */
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
        for (int row = 0; row < LATTICE_PAIR_ROWS; row++)
            pairs->row[row][end] = pairs->row[row][0];
    for (int first = 0; first < pairs->count; first += LANES)
        lattice_solve(pairs, first, tile, groups);
    pairs->count = 0;
}

/* ---- the list of a group ----------------------------------------------------------------------------------------- */

/* The corner of the list that is nearest to a point. Both are relative to the block's middle. */
static void lattice_nearest_corner(const lattice_triangles *list, const real to[3], real corner[3])
{
    const vf to_x = v_f(to[0]), to_y = v_f(to[1]), to_z = v_f(to[2]);
    const real *rows = list->sample[0];
    vf best = v_f(R(-1e38));
    vi found = v_i(0);
    LANG_ALIGNED real terms[LANES];
    int element[LANES], least = 0;
    for (int corner_number = 0; corner_number < 3; corner_number++)
        for (int first = 0; first < list->count; first += LANES) {
            const real *row = rows + LATTICE_CORNER * corner_number * LATTICE_STRIDE + first;
            const vf term = to_x * v_load(row) + to_y * v_load(row + LATTICE_STRIDE) +
                            to_z * v_load(row + 2 * LATTICE_STRIDE) + v_load(row + 3 * LATTICE_STRIDE);
            const vm better = v_gt(term, best);
            best = v_sel(better, term, best);
            found = vi_sel(better, v_i(LATTICE_CORNER * corner_number * LATTICE_STRIDE + first), found);
        }
    v_store(terms, best);
    vi_store(element, found);
    for (int lane = 1; lane < LANES; lane++)
        least = terms[lane] > terms[least] ? lane : least;
    for (int corner_number = 0; corner_number < 3; corner_number++)
        corner[corner_number] = R(0.5) * rows[element[least] + least + corner_number * LATTICE_STRIDE];
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
    lattice_block bounds;
    double corner_distance2 = 0.0, bound_point_distance2 = 0.0;
    lattice_bound(group->low, group->high, block->band2, &bounds);
    for (int axis = 0; axis < 3; axis++) {
        bisector->middle[axis] = bounds.middle[axis] - block->middle[axis];
        bisector->half[axis] = R(0.5) * bounds.spread[axis];
    }
    /* The nearer of the block's bound point and the nearest corner of the list. */
    lattice_nearest_corner(list, bisector->middle, to->corner);
    to->has_corner = 1;
    for (int axis = 0; axis < 3; axis++) {
        const double bound_point_offset =
            bound_point ? bound_point->point[axis] * (double)scale - (double)bounds.middle[axis] : HUGE_VAL;
        const double offset = (double)to->corner[axis] - (double)bisector->middle[axis];
        bound_point_distance2 += bound_point_offset * bound_point_offset;
        corner_distance2 += offset * offset;
    }
    /* The bisector of the chosen point. */
    const int is_corner = bound_point == NULL || corner_distance2 < bound_point_distance2;
    bisector->square = R(0.0);
    for (int axis = 0; axis < 3; axis++) {
        const double middle = (double)block->middle[axis];
        const double coordinate =
            is_corner ? (double)to->corner[axis] : bound_point->point[axis] * (double)scale - middle;
        chosen.point[axis] = coordinate + middle;
        bisector->twice[axis] = R(2.0) * (real)coordinate;
        bisector->square += (real)coordinate * (real)coordinate;
    }
    chosen.longest = is_corner ? 0.0 : bound_point->longest * (double)scale;
    lattice_set_bound_point(&chosen, 1.0, &bounds);
    bisector->slack = bounds.slack;
    return lattice_is_within(tile, &bounds, &group->is_near);
}

/* Lists the triangles that matter to a group; returns 0 if there are too many. radius2: square of the block's
 * diameter. */
static int lattice_list_group(const lattice_bisector *bisector, real radius2, const lattice_triangles *list,
                              lattice_group_list *to)
{
    const vf least = v_f(-(bisector->slack + radius2 * R(0x1p-16) + R(0x1p-120)) - bisector->square);
    to->count = 0;
    for (int first = 0; first < list->count; first += LANES) {
        const real *rows = &list->sample[0][first];
        vf greatest_excess =
            lattice_corner_excess(bisector->middle, bisector->half, bisector->twice, rows, LATTICE_STRIDE);
        for (int corner = 1; corner < 3; corner++)
            greatest_excess =
                v_max(greatest_excess,
                      lattice_corner_excess(bisector->middle, bisector->half, bisector->twice,
                                            rows + corner * LATTICE_CORNER * LATTICE_STRIDE, LATTICE_STRIDE));
        const vf cover = v_load(rows + LATTICE_CORNER_COVER * LATTICE_STRIDE);
        u32 left = v_bitmask(v_le(least, greatest_excess + cover)) & lattice_first_lanes(list->count - first);
        if (to->count + bitmask_count(left) > LATTICE_GROUP_LIST)
            return 0;
        for (; left != 0; left &= left - 1)
            to->triangle[to->count++] = (short)(first + bitmask_first(left));
    }
    return 1;
}

/* A list of all triangles of the block. */
static void lattice_list_all(const lattice_triangles *list, lattice_group_list *to)
{
    to->has_corner = 0;
    for (to->count = 0; to->count < list->count; to->count++)
        to->triangle[to->count] = (short)to->count;
}

/* ---- the filter by samples -------------------------------------------------------------------------------------- */

/* Offsets of LANES nodes from the block's middle. */
FN v3 lattice_offsets(const lattice_group *group, int first)
{
    return v3_of(v_load(group->offset[0] + first), v_load(group->offset[1] + first), v_load(group->offset[2] + first));
}

/* Lower bound of the nearest answer's term, unless that answer is beyond the band: the term of the list's corner.
 * band2: square of the band. */
FN vf lattice_first_bound(v3 node, vf square, real band2, const lattice_group_list *own)
{
    const real *p = own->corner,
               rows[] = {p[0] + p[0], p[1] + p[1], p[2] + p[2], -(p[0] * p[0] + p[1] * p[1] + p[2] * p[2])};
    const vf band = v_max(square - v_f(band2), v_f(R(-1e38)));
    return own->has_corner ? v_max(band, lattice_corner_term(node, rows, 1)) : band;
}

/* The triangles of a group's list that may be nearest to some of LANES nodes x, and within the band. Returns for each
 * node a triangle that has the nearest sample. */
static vi lattice_find_candidates(v3 nodes, real radius2, real band2, const lattice_triangles *list,
                                  const lattice_group_list *own_list, lattice_candidates *to)
{
    const int stride = LATTICE_STRIDE;
    const vf square = v3_dot(nodes, nodes);
    vf bound = lattice_first_bound(nodes, square, band2, own_list), best = v_f(R(-1e38)), certain = best;
    vf limit = lattice_filter_limit(square, square - bound, radius2);
    vi chosen = v_i(0);
    to->count = 0;
    for (int number = 0; number < own_list->count; number++) {
        /* A triangle is no candidate if even its cover cannot bring it within the limit. */
        const real *rows = &list->sample[0][own_list->triangle[number]];
        const lattice_terms terms = lattice_terms_of(nodes, rows, stride);
        const vf corner = v_max(v_max(terms.a, terms.b), terms.c);
        if (!v_any(v_le(limit, corner + rows[LATTICE_CORNER_COVER * stride])))
            continue;
        const vf sample = v_max(corner, lattice_middle_term(terms, rows, stride));
        /* The error of an edge's middle grows with the edge, so an upper bound of the distance uses a smaller term. */
        certain = v_max(certain, v_max(corner, sample - v_f(rows[LATTICE_COVER * stride] * R(0x1p-14))));
        /* A candidate may lower the bound for the next ones. */
        const vm better = v_gt(sample, best);
        bound = v_max(bound, corner);
        limit = lattice_filter_limit(square, square - bound, radius2);
        best = v_sel(better, sample, best);
        chosen = vi_sel(better, v_i(own_list->triangle[number]), chosen);
        v_store(to->term[to->count], sample + rows[LATTICE_COVER * stride]);
        to->triangle[to->count++] = own_list->triangle[number];
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
    const int column = pairs->count;
    vi_store(chosen, triangle);
    for (int row = 0; row < 3; row++)
        v_store(pairs->row[row] + column, v_load(groups[number].position[row] + first));
    v_store(pairs->row[LATTICE_PAIR_NODE] + column, v_from_bits(lattice_node_numbers(number, first)));
    for (int row = 0; row < 10; row++)
        for (int lane = 0; lane < LANES; lane++)
            pairs->row[LATTICE_PAIR_CORNER + row][column + lane] = list->corner[row][chosen[lane]];
    lattice_solve(pairs, column, tile, groups);
}

/* Gives all nodes of a group the same answer. */
static void lattice_set_answers(lattice_group *group, real answer)
{
    for (int node = 0; node < LATTICE_GROUP; node++) {
        group->best[node] = mesh_key_bits_of(answer, MESH_NO_TRIANGLE);
        group->most[node] = R(-1.0);
    }
}

/* Replaces lattice_begin_nodes() if there are limits: the terms of the candidates classify most nodes. */
static void lattice_classify_nodes(const caromi_lattice_tile *tile, int first, real radius2, lattice_group *group,
                                   const lattice_candidates *candidates)
{
    vf covered = v_f(R(-1e38));
    LANG_ALIGNED real most[LANES];
    for (int candidate = 0; candidate < candidates->count; candidate++)
        covered = v_max(v_load(candidates->term[candidate]), covered);
    /* Classes of LANES nodes; the solver is needed for the others alone. */
    const lattice_classes classes = lattice_classify(tile, lattice_offsets(group, first), v_load(candidates->nearest),
                                                     covered, radius2, group->is_near);
    const u32 within = v_bitmask(classes.is_within),
              classified = within | v_bitmask(v_or(classes.is_between, classes.is_beyond));
    v_store(most, classes.most * v_f(R(1.0) / tile->mesh->frame.scale));
    for (int lane = 0; lane < LANES; lane++) {
        const u32 bit = 1u << lane;
        const int is_near = group->is_near || most[lane] <= tile->limits->outer_low;
        const real answer = (within & bit) != 0 ? tile->limits->inner_low : lattice_beyond(tile, is_near);
        group->best[first + lane] = mesh_key_bits_of(answer, MESH_NO_TRIANGLE);
        group->most[first + lane] = (classified & bit) != 0 ? R(-1.0) : most[lane];
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
    const v3 nodes = lattice_offsets(group, first);
    LANG_ALIGNED real most[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        const real best = real_of_bits((u32)(group->best[first + lane] >> 32));
        most[lane] = best < group->most[first + lane] ? best : group->most[first + lane];
        most[lane] = lattice_needed(tile, most[lane]);
    }
    const vf reach = v_load(most) * v_f(tile->mesh->frame.scale);
    const vf limit = v_sel(v_lt(reach, v_f(R(0.0))), v_infinity(),
                           lattice_filter_limit(v3_dot(nodes, nodes), reach * reach, radius2));
    /* Queues each pair of a candidate and a node that is within the node's limit. */
    const u32 used = lattice_first_lanes(group->count - first);
    const vi node = lattice_node_numbers(number, first);
    for (int candidate = 0; candidate < candidates->count; candidate++) {
        const int triangle = candidates->triangle[candidate];
        const vm is_solved = vi_eq(solved, v_i(triangle));
        const u32 lanes = used & v_bitmask(v_and(v_le(limit, v_load(candidates->term[candidate])), v_not(is_solved)));
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
    /* A short list serves all groups; else the group has a list of its own. */
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
        /* LANES nodes: candidates first, then a first answer or a class, then the pairs that are left. */
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
    for (int axis = 0; axis < 3; axis++)
        radius2 += block->spread[axis] * block->spread[axis];
    lattice_set_samples(block, tile->mesh->frame.scale, &work->list);
    work->pairs.count = 0;
    for (int group = 0; group < groups; group++)
        if (!lattice_answer_group(tile, block, bound_point, radius2, group, work))
            return 0;
    lattice_solve_pairs(tile, work->group, &work->pairs);
    return 1;
}
#endif
