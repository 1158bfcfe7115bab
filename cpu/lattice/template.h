/* SPDX-License-Identifier: MIT */
/* The closest triangle of every node of a tile, by an octree of blocks: a block keeps the boxes that matter to it, and
 * its eight parts filter them further. Blocks of 4 x 4 x 4 nodes list the triangles that matter. If a list overflows,
 * the block is divided further, and single nodes are searched for by the traversal of closest points. */
#include "nodes.h"
#include "scan.h"

/* Working memory of a tile: a frontier for each level of blocks. */
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

/* Begins the search for the triangle that is closest to a node. */
FN int lattice_begin(const caromi_lattice_tile *tile, const real at[3], closest_traversal *trav)
{
    const closest_query q = {at[0], at[1], at[2], R(0.0), tile->band, -1};
    trav->masks = tile->mesh->masks;
    trav->number = 0;
    return closest_begin(trav, tile->mesh->frame, q, tile->options);
}

/* Searches the hierarchy for a single node: in fast mode, and below in exact mode. */
static void lattice_search_fast(const caromi_lattice_tile *tile, const real at[3], closest_traversal *trav)
{
    const caromi_mesh_view *mesh = tile->mesh;
    for (int left = lattice_begin(tile, at, trav); left;)
        left = trav->next >= 0
                   ? closest_visit_node(trav, mesh_node_at(mesh, trav->next), tile->options)
                   : closest_visit_leaf(trav, 0, NULL, mesh->frame, mesh_leaf_at(mesh, trav->next), tile->options);
}

static void lattice_search_exact(const caromi_lattice_tile *tile, const real at[3], closest_traversal *trav)
{
    const caromi_mesh_view *mesh = tile->mesh;
    for (int left = lattice_begin(tile, at, trav); left;)
        left = trav->next >= 0 ? closest_visit_node(trav, mesh_node_at(mesh, trav->next), tile->options)
                               : closest_exact_visit_leaf(trav, 0, NULL, mesh->frame, mesh_leaf_at(mesh, trav->next),
                                                          tile->options);
}

/* Index of a node among the answers. */
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

/* Bounds of the nodes of a range, as a block. */
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

/* Replaces the minimum in lanes where a valid number is less. */
FN void lattice_keep_least(lattice_least *best, vf number, vi which, vm valid)
{
    const vm less = v_and(valid, v_lt(number, best->number));
    best->number = v_sel(less, number, best->number);
    best->which = vi_sel(less, which, best->which);
}

/* The item with the least number of all lanes. */
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
    const mesh_leaf *leaf = mesh_leaf_at(tile->mesh, reference);
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
        next = lattice_nearest_child(mesh_node_at(tile->mesh, next), scaled);
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
    double middle[3], old_distance2 = 0.0, new_distance2 = 0.0;
    float corners[9];
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5 * ((double)tile->at[k][range->first[k]] + (double)tile->at[k][range->end[k] - 1]);
        at[k] = (real)middle[k];
    }
    /* The point of a near triangle that is closest to the block's middle. */
    const int triangle = lattice_near_triangle(tile, from, at);
    if (triangle == MESH_NO_TRIANGLE)
        return;
    for (int k = 0; k < 9; k++)
        corners[k] =
            tile->vertices[3 * (size_t)tile->indices[3 * (size_t)triangle + (size_t)(k / 3)] + (size_t)(k % 3)];
    caromi_bound_point_of(corners, middle, &candidate);
    for (int k = 0; k < 3; k++) {
        old_distance2 += (seed->bound_point.point[k] - middle[k]) * (seed->bound_point.point[k] - middle[k]);
        new_distance2 += (candidate.point[k] - middle[k]) * (candidate.point[k] - middle[k]);
    }
    if (seed->exists && old_distance2 < new_distance2)
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
    int node_count = 0;
    LATTICE_EACH(range, node)
    {
        for (int axis = 0; axis < 3; axis++) {
            group->position[axis][node_count] = tile->at[axis][node[axis]];
            group->offset[axis][node_count] = group->position[axis][node_count] * scale - block->middle[axis];
        }
        group->element[node_count++] = lattice_element(tile, node);
    }
    /* Unused elements repeat the last node. */
    group->count = node_count;
    group->is_near = is_near;
    for (; node_count < LATTICE_GROUP; node_count++)
        for (int axis = 0; axis < 3; axis++) {
            group->position[axis][node_count] = group->position[axis][node_count - 1];
            group->offset[axis][node_count] = group->offset[axis][node_count - 1];
        }
    /* No answer is known yet. */
    for (node_count = 0; node_count < LATTICE_GROUP; node_count++) {
        group->best[node_count] = mesh_key_bits_of(lattice_beyond(tile, is_near), MESH_NO_TRIANGLE);
        group->most[node_count] = group->earliest_undecided[node_count] = R(1.0) / R(0.0);
    }
    for (int axis = 0; axis < 3; axis++) {
        group->low[axis] = tile->at[axis][range->first[axis]] * scale;
        group->high[axis] = tile->at[axis][range->end[axis] - 1] * scale;
    }
}

/* Gathers the groups of 4 x 2 x 2 nodes of a smallest block; returns their number. */
static int lattice_gather(const caromi_lattice_tile *tile, const lattice_range *range, const lattice_block *block,
                          int is_near, lattice_group *groups)
{
    int count = 0;
    for (uint32_t z = range->first[2]; z < range->end[2]; z += 2)
        for (uint32_t y = range->first[1]; y < range->end[1]; y += 2) {
            const lattice_range group_range = {{range->first[0], y, z},
                                               {range->end[0], y + 2 < range->end[1] ? y + 2 : range->end[1],
                                                z + 2 < range->end[2] ? z + 2 : range->end[2]},
                                               2};
            lattice_gather_group(tile, &group_range, block, is_near, &groups[count++]);
        }
    return count;
}

/* Stores the answers of a group; NaN where a triangle that exact mode left undecided may be closer. */
static void lattice_store(const caromi_lattice_tile *tile, const lattice_group *group, int *state)
{
    for (int node = 0; node < group->count; node++) {
        const real distance = real_of_bits((u32)(group->best[node] >> 32)), undecided = group->earliest_undecided[node];
        const int is_undecided = undecided < R(1.0) / R(0.0) && undecided <= distance;
        lattice_store_node(tile, group->element[node], is_undecided ? real_of_bits(R_NAN_BITS) : distance,
                           (int)(u32)group->best[node], state);
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
    for (int group = 0; group < groups; group++)
        lattice_store(tile, &work->group[group], &scratch->state);
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
    lattice_frontier *frontier = &scratch->frontier[level];
    real longest = R(0.0);
    lattice_bound_range(tile, range, &block);
    for (int axis = 0; axis < 3; axis++)
        longest = block.high[axis] - block.low[axis] > longest ? block.high[axis] - block.low[axis] : longest;
    /* Early outs: the inherited bound point answers all nodes, or no box is within the band. */
    if (tile->limits != NULL && lattice_bound_point_answers(tile, scratch, range, &block, &seed))
        return;
    if (tile->band < R(1.0) / R(0.0)) { /* most blocks are beyond a band, which is found without a bound point */
        lattice_filter(&block, tile->mesh->nodes, from, longest, frontier);
        if (frontier->count == 0 && !frontier->overflows) {
            lattice_fill(tile, scratch, range, lattice_beyond(tile, seed.is_near));
            return;
        }
    }
    /* A bound point of the block's own culls more boxes. */
    lattice_find_bound_point(tile, range, from, &seed);
    if (lattice_bound_point_answers(tile, scratch, range, &block, &seed))
        return;
    /* Answers the block if it is small and few boxes are left, else its eight parts. */
    const int each_alone = tile->limits != NULL && range->edge <= 2;
    lattice_filter(&block, tile->mesh->nodes, from, each_alone ? R(-1.0) : longest * R(0.5), frontier);
    if (frontier->overflows)
        frontier = from;
    if (frontier->count == 0)
        lattice_fill(tile, scratch, range, lattice_beyond(tile, seed.is_near));
    else if (range->edge > 4 || each_alone || (tile->limits != NULL && frontier->count > LATTICE_LONG_FRONTIER) ||
             !lattice_answer_block(tile, scratch, range, &block, &seed, frontier))
        lattice_divide(tile, scratch, range, level + 1, frontier, &seed);
}

/* Answers the eight parts of a block, or each node of a group alone. */
static void lattice_divide(const caromi_lattice_tile *tile, lattice_scratch *scratch, const lattice_range *range,
                           int level, lattice_frontier *from, const lattice_seed *seed)
{
    const uint32_t half = range->edge / 2;
    if (range->edge <= 2) {
        lattice_each_alone(tile, scratch, range, from, seed);
        return;
    }
    for (int part = 0; part < 8; part++) {
        lattice_range part_range = {.edge = half};
        int is_empty = 0;
        for (int axis = 0; axis < 3; axis++) {
            const uint32_t length = axis == 0 && half == 2 ? range->edge : half; /* 4 x 2 x 2 nodes are a group */
            const uint32_t middle =
                range->first[axis] + length < range->end[axis] ? range->first[axis] + length : range->end[axis];
            part_range.first[axis] = part >> axis & 1 ? middle : range->first[axis];
            part_range.end[axis] = part >> axis & 1 ? range->end[axis] : middle;
            is_empty |= part_range.first[axis] == part_range.end[axis];
        }
        if (!is_empty)
            lattice_block_of(tile, scratch, &part_range, level, from, *seed);
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
