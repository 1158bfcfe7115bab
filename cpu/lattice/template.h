/* SPDX-License-Identifier: MIT */
/* The closest triangle of every node of a tile, by an octree of blocks: a block keeps the boxes that matter to it, and
 * its eight parts filter them further. Blocks of 4 x 4 x 4 nodes list the triangles that matter. If a list overflows,
 * the block is divided further, and single nodes are searched for by the traversal of closest points. */
#include "nodes.h"
#include "scan.h"

typedef struct lattice_scratch {
    lattice_frontier frontier[LATTICE_LEVELS + 1];
    lattice_workspace work;
    closest_traversal search;
    int state; /* of the tile: caromi_lattice_state */
} lattice_scratch;

/* State that a block inherits from the surrounding block: its bound point, and whether it is near (limits.h). */
typedef struct lattice_seed {
    int exists, is_near;
    caromi_bound_point bound_point;
} lattice_seed;

/* Nodes [first, end) along each axis, at most `edge`; with `edge` 2 there are up to 4 along x. */
typedef struct lattice_range {
    uint32_t first[3], end[3], edge;
} lattice_range;

/* ---- searches of the hierarchy ----------------------------------------------------------------------------------- */

FN int lattice_begin(const caromi_lattice_tile *tile, const real at[3], closest_traversal *trav)
{
    const closest_query q = {at[0], at[1], at[2], R(0.0), tile->band, -1};
    trav->masks = tile->mesh->masks;
    trav->number = 0;
    return closest_begin(trav, tile->mesh->frame, q, tile->options);
}

static void lattice_search_fast(const caromi_lattice_tile *tile, const real at[3], closest_traversal *trav)
{
    const caromi_mesh_view *mesh = tile->mesh;
    for (int left = lattice_begin(tile, at, trav); left;)
        left = trav->next >= 0 ? closest_visit_node(trav, mesh->nodes + trav->next, tile->options)
                               : closest_visit_leaf(trav, 0, NULL, mesh->frame, mesh->leaves + MESH_LEAF_AT(trav->next),
                                                    tile->options);
}

static void lattice_search_exact(const caromi_lattice_tile *tile, const real at[3], closest_traversal *trav)
{
    const caromi_mesh_view *mesh = tile->mesh;
    for (int left = lattice_begin(tile, at, trav); left;)
        left = trav->next >= 0 ? closest_visit_node(trav, mesh->nodes + trav->next, tile->options)
                               : closest_exact_visit_leaf(trav, 0, NULL, mesh->frame,
                                                          mesh->leaves + MESH_LEAF_AT(trav->next), tile->options);
}

FN size_t lattice_element(const caromi_lattice_tile *tile, const uint32_t at[3])
{
    return at[2] * tile->slab + at[1] * tile->row + at[0];
}

/* Stores the answer of a node, unless it is beyond the band. */
FN void lattice_store_node(const caromi_lattice_tile *tile, size_t element, real distance, int triangle, int *state)
{
    const int is_undecided = distance != distance,
              own = is_undecided ? CAROMI_LATTICE_UNDECIDED : CAROMI_LATTICE_DECIDED;
    if (distance > tile->band || distance == R(1.0) / R(0.0))
        return;
    tile->distance[element] = distance;
    if (tile->triangle != NULL)
        tile->triangle[element] = triangle;
    *state = *state > own ? *state : own;
}

/* Searches for a single node. */
static void lattice_single(const caromi_lattice_tile *tile, lattice_scratch *scratch, const uint32_t node[3])
{
    const real at[3] = {tile->at[0][node[0]], tile->at[1][node[1]], tile->at[2][node[2]]};
    closest_traversal *trav = &scratch->search;
    mesh_run run;
    real distance, depth;
    int32_t triangle;
    run.triangle = &triangle;
    run.t = &distance;
    run.depth = &depth;
    if (tile->exact) {
        lattice_search_exact(tile, at, trav);
        closest_answer_exact(&run, trav);
    } else {
        lattice_search_fast(tile, at, trav);
        closest_answer(&run, trav);
    }
    lattice_store_node(tile, lattice_element(tile, node), distance, triangle, &scratch->state);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* Loop over every node of a range. */
#define LATTICE_EACH(r, node)                                                        \
    for (uint32_t node[3] = {0, 0, (r)->first[2]}; node[2] < (r)->end[2]; node[2]++) \
        for (node[1] = (r)->first[1]; node[1] < (r)->end[1]; node[1]++)              \
            for (node[0] = (r)->first[0]; node[0] < (r)->end[0]; node[0]++)

static void lattice_bound_range(const caromi_lattice_tile *tile, const lattice_range *range, lattice_block *block)
{
    const real scale = tile->mesh->frame.scale;
    real low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = tile->at[k][range->first[k]] * scale;
        high[k] = tile->at[k][range->end[k] - 1] * scale;
    }
    lattice_bound(low, high, lattice_band2(tile, tile->band), block);
}

/* Running minimum in each lane, and the item that has it. */
typedef struct lattice_least {
    vf number;
    vi which;
} lattice_least;

FN void lattice_keep_least(lattice_least *best, vf number, vi which, vm valid)
{
    const vm less = v_and(valid, v_lt(number, best->number));
    best->number = v_sel(less, number, best->number);
    best->which = vi_sel(less, which, best->which);
}

FN int lattice_which(const lattice_least *best)
{
    const vf least = v_f(v_reduce_min(best->number));
    return vi_reduce_min(vi_sel(v_eq(best->number, least), best->which, v_i(MESH_NO_TRIANGLE)));
}

/* The child of a node that is nearest to a point. */
static int lattice_nearest_child(const mesh_node *node, const real at[3])
{
    lattice_least best = {v_infinity(), v_i(MESH_NO_TRIANGLE)};
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const v3 lo = v3_of(v_load(node->lo_x + lane), v_load(node->lo_y + lane), v_load(node->lo_z + lane));
        const v3 hi = v3_of(v_load(node->hi_x + lane), v_load(node->hi_y + lane), v_load(node->hi_z + lane));
        const vi child = mesh_load_int(node->child + lane);
        lattice_keep_least(&best, lattice_box_distance2(at, lo, hi), child, v_not(vi_eq(child, v_i(0))));
    }
    return lattice_which(&best);
}

/* The triangle of a leaf that is nearest to a point (in the caller's unit); MESH_NO_TRIANGLE if masks leave out all. */
static int lattice_nearest_in_leaf(const caromi_lattice_tile *tile, int reference, const real at[3])
{
    const mesh_leaf *leaf = tile->mesh->leaves + MESH_LEAF_AT(reference);
    lattice_least best = {v_infinity(), v_i(MESH_NO_TRIANGLE)};
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const mesh_corners corners = mesh_corners_of(leaf, reference, lane);
        const vi triangle = mesh_load_int(leaf->triangle + lane);
        closest_in in;
        in.center = v3_of(v_f(at[0]), v_f(at[1]), v_f(at[2]));
        in.p0 = corners.p0;
        in.p1 = corners.p1;
        in.p2 = corners.p2;
        lattice_keep_least(&best, closest_find(in).distance, triangle,
                           mesh_unmasked(triangle, tile->mesh->masks, reference, lane, -1, tile->options));
    }
    return lattice_which(&best);
}

/* A triangle near a point (in the caller's unit), by greedy descent: the nearest triangle of the leaf that the nearest
 * boxes lead to. */
static int lattice_near_triangle(const caromi_lattice_tile *tile, const lattice_frontier *from, const real at[3])
{
    const real scale = tile->mesh->frame.scale, scaled[] = {at[0] * scale, at[1] * scale, at[2] * scale};
    lattice_least best = {v_infinity(), v_i(MESH_NO_TRIANGLE)};
    for (int i = 0; i < from->count; i += LANES) {
        const vf distance2 = lattice_box_distance2(scaled, lattice_low(from, i), lattice_high(from, i));
        lattice_keep_least(&best, distance2, v_bits(v_load(from->reference + i)), v_lt(distance2, v_infinity()));
    }
    int next = lattice_which(&best);
    while (next >= 0)
        next = lattice_nearest_child(tile->mesh->nodes + next, scaled);
    return lattice_nearest_in_leaf(tile, next, at);
}

/* Finds a bound point, a point of the mesh whose distance bounds those of the block's nodes from above: on a triangle
 * near the block's middle, unless the surrounding block's bound point is nearer. There is none if masks
 * leave out all triangles of the nearest leaf. */
static void lattice_find_bound_point(const caromi_lattice_tile *tile, const lattice_range *range,
                                     const lattice_frontier *from, lattice_seed *seed)
{
    caromi_bound_point candidate;
    real at[3];
    double to[3], old2 = 0.0, new2 = 0.0;
    float corners[9];
    for (int k = 0; k < 3; k++) {
        to[k] = 0.5 * ((double)tile->at[k][range->first[k]] + (double)tile->at[k][range->end[k] - 1]);
        at[k] = (real)to[k];
    }
    const int triangle = lattice_near_triangle(tile, from, at);
    if (triangle == MESH_NO_TRIANGLE)
        return;
    for (int k = 0; k < 9; k++)
        corners[k] =
            tile->vertices[3 * (size_t)tile->indices[3 * (size_t)triangle + (size_t)(k / 3)] + (size_t)(k % 3)];
    caromi_bound_point_of(corners, to, &candidate);
    for (int k = 0; k < 3; k++) {
        old2 += (seed->bound_point.point[k] - to[k]) * (seed->bound_point.point[k] - to[k]);
        new2 += (candidate.point[k] - to[k]) * (candidate.point[k] - to[k]);
    }
    if (seed->exists && old2 < new2)
        return;
    seed->exists = 1;
    seed->bound_point = candidate;
}

/* Gives all nodes of a range the same answer, because no triangle matters to them; none if they are beyond the band. */
static void lattice_fill(const caromi_lattice_tile *tile, lattice_scratch *scratch, const lattice_range *range,
                         real answer)
{
    if (answer < R(1.0) / R(0.0))
        LATTICE_EACH(range, node)
    lattice_store_node(tile, lattice_element(tile, node), answer, MESH_NO_TRIANGLE, &scratch->state);
}

/* Gathers the nodes of a group, in the units of the caller and of the mesh. */
static void lattice_gather_group(const caromi_lattice_tile *tile, const lattice_range *range,
                                 const lattice_block *block, int is_near, lattice_group *group)
{
    const real scale = tile->mesh->frame.scale;
    int n = 0;
    LATTICE_EACH(range, node)
    {
        for (int k = 0; k < 3; k++) {
            group->at[k][n] = tile->at[k][node[k]];
            group->offset[k][n] = group->at[k][n] * scale - block->middle[k];
        }
        group->element[n++] = lattice_element(tile, node);
    }
    group->count = n;
    group->is_near = is_near;
    for (; n < LATTICE_GROUP; n++)
        for (int k = 0; k < 3; k++) {
            group->at[k][n] = group->at[k][n - 1];
            group->offset[k][n] = group->offset[k][n - 1];
        }
    for (n = 0; n < LATTICE_GROUP; n++) {
        group->best[n] = mesh_key_bits_of(lattice_beyond(tile, is_near), MESH_NO_TRIANGLE);
        group->most[n] = group->earliest_undecided[n] = R(1.0) / R(0.0);
    }
    for (int k = 0; k < 3; k++) {
        group->low[k] = tile->at[k][range->first[k]] * scale;
        group->high[k] = tile->at[k][range->end[k] - 1] * scale;
    }
}

/* Gathers the groups of 4 x 2 x 2 nodes of a smallest block; returns their number. */
static int lattice_gather(const caromi_lattice_tile *tile, const lattice_range *range, const lattice_block *block,
                          int is_near, lattice_group *groups)
{
    int count = 0;
    for (uint32_t k = range->first[2]; k < range->end[2]; k += 2)
        for (uint32_t j = range->first[1]; j < range->end[1]; j += 2) {
            const lattice_range own = {{range->first[0], j, k},
                                       {range->end[0], j + 2 < range->end[1] ? j + 2 : range->end[1],
                                        k + 2 < range->end[2] ? k + 2 : range->end[2]},
                                       2};
            lattice_gather_group(tile, &own, block, is_near, &groups[count++]);
        }
    return count;
}

static void lattice_store(const caromi_lattice_tile *tile, const lattice_group *group, int *state)
{
    for (int n = 0; n < group->count; n++) {
        const real distance = real_of_bits((u32)(group->best[n] >> 32)), undecided = group->earliest_undecided[n];
        const int is_undecided = undecided < R(1.0) / R(0.0) && undecided <= distance;
        lattice_store_node(tile, group->element[n], is_undecided ? real_of_bits(R_NAN_BITS) : distance,
                           (int)(u32)group->best[n], state);
    }
}

/* Answers a smallest block from its list; 0 if lists overflow. */
static int lattice_answer_block(const caromi_lattice_tile *tile, lattice_scratch *scratch, const lattice_range *range,
                                const lattice_block *block, const lattice_seed *seed, const lattice_frontier *from)
{
    lattice_workspace *work = &scratch->work;
    lattice_collect(block, tile, from, &work->list);
    if (work->list.overflows)
        return 0;
    const int groups = lattice_gather(tile, range, block, seed->is_near, work->group);
    if (work->list.count > 0 && !lattice_answer(tile, block, seed->exists ? &seed->bound_point : NULL, groups, work))
        return 0;
    for (int g = 0; g < groups; g++)
        lattice_store(tile, &work->group[g], &scratch->state);
    return 1;
}

static void lattice_divide(const caromi_lattice_tile *tile, lattice_scratch *s, const lattice_range *r, int level,
                           lattice_frontier *from, const lattice_seed *seed);

/* Answers the nodes of a group one by one. */
static void lattice_each_alone(const caromi_lattice_tile *tile, lattice_scratch *scratch, const lattice_range *range,
                               const lattice_frontier *from, const lattice_seed *seed)
{
    const caromi_bound_point *bound_point = seed->exists ? &seed->bound_point : NULL;
    const int can_scan = tile->limits != NULL && lattice_has_leaves(from);
    real answer;
    LATTICE_EACH(range, node)
    if (can_scan && lattice_scan_node(tile, node, from, bound_point, seed->is_near, &answer))
        lattice_store_node(tile, lattice_element(tile, node), answer, MESH_NO_TRIANGLE, &scratch->state);
    else
        lattice_single(tile, scratch, node);
}

/* Early out: whether the bound point answers all nodes. */
static int lattice_bound_point_answers(const caromi_lattice_tile *tile, lattice_scratch *scratch,
                                       const lattice_range *range, lattice_block *block, lattice_seed *seed)
{
    if (!seed->exists)
        return 0;
    lattice_set_bound_point(&seed->bound_point, (double)tile->mesh->frame.scale, block);
    if (!lattice_is_within(tile, block, &seed->is_near))
        return 0;
    lattice_fill(tile, scratch, range, tile->limits->inner_low);
    return 1;
}

/* Answers a block, recursively. `from` has all boxes that matter to it. */
static void lattice_block_of(const caromi_lattice_tile *tile, lattice_scratch *scratch, const lattice_range *range,
                             int level, lattice_frontier *from, lattice_seed seed)
{
    lattice_block block;
    lattice_frontier *own = &scratch->frontier[level];
    real longest = R(0.0);
    lattice_bound_range(tile, range, &block);
    for (int k = 0; k < 3; k++)
        longest = block.high[k] - block.low[k] > longest ? block.high[k] - block.low[k] : longest;
    if (tile->limits != NULL && lattice_bound_point_answers(tile, scratch, range, &block, &seed))
        return;
    if (tile->band < R(1.0) / R(0.0)) { /* most blocks are beyond a band, which is found without a bound point */
        lattice_filter(&block, tile->mesh->nodes, from, longest, own);
        if (own->count == 0 && !own->overflows) {
            lattice_fill(tile, scratch, range, lattice_beyond(tile, seed.is_near));
            return;
        }
    }
    lattice_find_bound_point(tile, range, from, &seed);
    if (lattice_bound_point_answers(tile, scratch, range, &block, &seed))
        return;
    const int each_alone = tile->limits != NULL && range->edge <= 2;
    lattice_filter(&block, tile->mesh->nodes, from, each_alone ? R(-1.0) : longest * R(0.5), own);
    if (own->overflows)
        own = from;
    if (own->count == 0)
        lattice_fill(tile, scratch, range, lattice_beyond(tile, seed.is_near));
    else if (range->edge > 4 || each_alone || (tile->limits != NULL && own->count > LATTICE_LONG_FRONTIER) ||
             !lattice_answer_block(tile, scratch, range, &block, &seed, own))
        lattice_divide(tile, scratch, range, level + 1, own, &seed);
}

static void lattice_divide(const caromi_lattice_tile *tile, lattice_scratch *scratch, const lattice_range *range,
                           int level, lattice_frontier *from, const lattice_seed *seed)
{
    const uint32_t half = range->edge / 2;
    if (range->edge <= 2) {
        lattice_each_alone(tile, scratch, range, from, seed);
        return;
    }
    for (int part = 0; part < 8; part++) {
        lattice_range own = {.edge = half};
        int is_empty = 0;
        for (int k = 0; k < 3; k++) {
            const uint32_t length = k == 0 && half == 2 ? range->edge : half; /* 4 x 2 x 2 nodes are a group */
            const uint32_t middle = range->first[k] + length < range->end[k] ? range->first[k] + length : range->end[k];
            own.first[k] = part >> k & 1 ? middle : range->first[k];
            own.end[k] = part >> k & 1 ? range->end[k] : middle;
            is_empty |= own.first[k] == own.end[k];
        }
        if (!is_empty)
            lattice_block_of(tile, scratch, &own, level, from, *seed);
    }
}

/* The frontier of a tile is the root of the hierarchy, whose box is taken as unbounded. */
static int lattice_tile(const caromi_lattice_tile *tile)
{
    lattice_scratch *scratch = tile->scratch;
    lattice_frontier *root = &scratch->frontier[0];
    const lattice_seed none = {.exists = 0, .is_near = 0};
    lattice_range all = {.edge = CAROMI_TILE};
    scratch->state = CAROMI_LATTICE_BEYOND;
    root->count = 1;
    for (int k = 0; k < 3; k++) {
        root->lo[k][0] = R(-4.0);
        root->hi[k][0] = R(4.0);
        all.end[k] = tile->count[k];
    }
    root->reference[0] = real_of_bits((u32)tile->mesh->frame.root);
    lattice_pad(root);
    lattice_block_of(tile, scratch, &all, 1, root, none);
    return scratch->state;
}
