/* SPDX-License-Identifier: MIT */
/* Searches for blocks of columns of a drop map: each block has a traversal of the hierarchy, highest boxes first. The
 * corners of a triangle bound the height from below; the tangent plane at the highest corner bounds it from above.
 * Pairs of a column and a triangle that may decide it are queued and bounded tightly, LANES at a time. Pairs that stay
 * undecided are bounded again in binary64. */
#include "kernels/mesh_run.h"
#include "drop.h"
#include "drop_bounds.h"
#include "drop_pairs.h"

/* A traversal for one block of columns. */
typedef struct drop_traversal {
    G const mesh_node *nodes;
    const int *masks;       /* of the leaves' triangles; read with MESH_TRIANGLE_MASKS */
    int mask;               /* of the column of a list; else all bits */
    real radius, scale;     /* scale: factor to the mesh's unit */
    real x0, x1, y0, y1, r; /* extent of the block, and the radius, in the mesh's unit */
    real least;             /* the least of `low` */
    u32 first_x, first_y;   /* indices of the first column */
    u32 count_x, count_y;   /* numbers of columns along x and y */
    int next;               /* to visit next: a node, or a leaf if negative */
    int parent;             /* parent of `next`; -1: `next` is the root */
    LANG_ALIGNED real x[CAROMI_DROP_BLOCK], y[CAROMI_DROP_BLOCK];
    real low[CAROMI_DROP_BLOCK]; /* lower bounds of the heights, in the caller's unit; +inf: unused column */
    u32 slot[CAROMI_DROP_BLOCK];
    mesh_stack stack; /* keys: the rank of an upper bound of the heights, and the parent */
    drop_pairs *pairs;
} drop_traversal;

/* ---- leaves ------------------------------------------------------------------------------------------------------ */

/* Raises a column's lower bound to the highest of LANES triangles' lower bounds. */
FN void drop_raise(drop_traversal *trav, int column, vf lows, vm valid)
{
    const real low = -v_reduce_min(v_sel(valid, -lows, v_infinity()));
    trav->low[column] = low > trav->low[column] ? low : trav->low[column];
}

/* Bounds of triangles whose corners the ball does not touch from above: the triangle's box bounds the height from
 * above, the point straight below the ball's centre from below. */
FN drop_bounds drop_bound_without_corners(const drop_traversal *trav, int column, drop_frame frame,
                                          mesh_corners corners, drop_bounds bounds, vm valid)
{
    const vm unknown = v_and(valid, v_eq(bounds.upper, v_infinity()));
    if (!v_any(unknown))
        return bounds;
    const vf top = drop_box_top(frame, mesh_min3(corners.p0, corners.p1, corners.p2),
                                mesh_max3(corners.p0, corners.p1, corners.p2));
    bounds.upper = v_sel(unknown, top, bounds.upper);
    if (v_any(v_and(unknown, v_ge(top, v_f(trav->low[column])))))
        bounds.low = v_sel(unknown, drop_low_over(frame, corners, trav->radius), bounds.low);
    return bounds;
}

/* Bounds the triangles of a leaf for one column. Triangles that may decide it are queued. */
FN void drop_ball_column(drop_traversal *trav, int number, int column, G const mesh_leaf *leaf, int options)
{
    const drop_frame frame =
        drop_frame_of(trav->x[column], trav->x[column], trav->y[column], trav->y[column], trav->radius);
    const int unindexed = MESH_IS_UNINDEXED(trav->next);
    drop_vertices vertices;
    const int reaches = unindexed || drop_vertices_of(frame, leaf, &vertices);
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const vm valid =
            mesh_unmasked(mesh_load_int(leaf->triangle + lane), trav->masks, trav->next, lane, trav->mask, options);
        const mesh_corners corners = mesh_corners_of(leaf, trav->next, lane);
        drop_bounds bounds = {drop_minus_infinity(), v_infinity()};
        if (reaches) {
            const drop_points contact[3] = {
                unindexed ? drop_points_of(frame, corners.p0) : drop_lookup(&vertices, leaf->corner[0] + lane),
                unindexed ? drop_points_of(frame, corners.p1) : drop_lookup(&vertices, leaf->corner[1] + lane),
                unindexed ? drop_points_of(frame, corners.p2) : drop_lookup(&vertices, leaf->corner[2] + lane)};
            bounds = drop_corner_bounds(frame, corners, contact);
        }
        bounds = drop_bound_without_corners(trav, column, frame, corners, bounds, valid);
        drop_raise(trav, column, bounds.low, valid);
        const vm may_decide = v_and(v_ge(bounds.upper, v_f(trav->low[column])), v_gt(bounds.upper, v_f(-R(0x1p126))));
        drop_queue_add(&trav->pairs->binary32, &corners, mesh_load_int(leaf->triangle + lane), trav->x[column],
                       trav->y[column], number * CAROMI_DROP_BLOCK + column, v_bitmask(v_and(valid, may_decide)));
    }
}

/* Rays leave few triangles, and tight bounds in binary32 would decide no more of them. */
FN void drop_ray_column(drop_traversal *trav, int column, G const mesh_leaf *leaf, int options)
{
    const drop_frame frame = drop_frame_of(trav->x[column], trav->x[column], trav->y[column], trav->y[column], R(0.0));
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const vm valid =
            mesh_unmasked(mesh_load_int(leaf->triangle + lane), trav->masks, trav->next, lane, trav->mask, options);
        const mesh_corners corners = mesh_corners_of(leaf, trav->next, lane);
        const drop_bounds bounds = drop_ray_bounds(frame, corners);
        drop_raise(trav, column, bounds.low, valid);
        const vm may_decide = v_and(v_ge(bounds.upper, v_f(trav->low[column])), v_gt(bounds.upper, v_f(-R(0x1p126))));
        const u32 lanes = v_bitmask(v_and(valid, may_decide));
        if (lanes != 0)
            drop_bound_lanes(trav->pairs->search, &corners, mesh_load_int(leaf->triangle + lane), trav->slot[column],
                             lanes);
    }
}

/* The columns of the block that triangles in the leaf's box may raise. */
FN u32 drop_columns_at(const drop_traversal *trav)
{
    const u32 all = (1u << trav->count_x * trav->count_y) - 1;
    u32 slots = 0, columns = 0;
    if (trav->parent < 0 || all == 1)
        return all;
    /* The leaf's box is in its parent, in the slot that refers to the leaf. */
    const mesh_node *node = trav->nodes + trav->parent;
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES)
        slots |= v_bitmask(vi_eq(mesh_load_int(node->child + lane), v_i(trav->next))) << lane;
    const int slot = bitmask_first(slots);
    const v3 box_low = v3_of(v_f(node->lo_x[slot]), v_f(node->lo_y[slot]), v_f(R(0.0)));
    const v3 box_high = v3_of(v_f(node->hi_x[slot]), v_f(node->hi_y[slot]), v_f(node->hi_z[slot]));
    for (int column = 0; column < CAROMI_DROP_BLOCK; column += LANES) {
        const vf scale = v_f(trav->scale), x = v_load(trav->x + column) * scale, y = v_load(trav->y + column) * scale;
        /* LANES columns: whether the ball may touch the box above their lower bounds. */
        drop_frame frame = drop_frame_of(R(0.0), R(0.0), R(0.0), R(0.0), trav->r);
        frame.x0 = frame.x1 = x;
        frame.y0 = frame.y1 = y;
        columns |= v_bitmask(v_gt(drop_box_top(frame, box_low, box_high), v_load(trav->low + column) * scale))
                   << column;
    }
    return columns & all;
}

/* The least lower bound of the block's columns. */
FN void drop_find_least(drop_traversal *trav)
{
    vf low = v_infinity();
    for (int column = 0; column < CAROMI_DROP_BLOCK; column += LANES)
        low = v_min(low, v_load(trav->low + column));
    trav->least = v_reduce_min(low);
}

/* ---- the traversal ----------------------------------------------------------------------------------------------- */

/* Key of the traversal's stack: a height in the mesh's unit, where higher means a lower key. */
FN u32 drop_rank(real height)
{
    const u32 bits = real_bits(-height);
    return bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
}

/* Pops the next box that may raise a column; 0 ends the traversal. */
FN int drop_pop_next(drop_traversal *trav)
{
    mesh_stack *s = &trav->stack;
    drop_find_least(trav);
    const u32 least = drop_rank(trav->least * trav->scale);
    while (s->top > 0) {
        const u64 from = s->entries->from[--s->top];
        if ((u32)(from >> 32) < least) {
            trav->next = s->entries->child[s->top];
            trav->parent = (int)(u32)from;
            return 1;
        }
    }
    return 0;
}

/* Result of the box tests of a node's children. */
typedef struct drop_tested_children {
    LANG_ALIGNED real top[MESH_WIDTH]; /* upper bounds of the height at which the ball touches */
    u32 higher;                        /* children that may raise a column */
} drop_tested_children;

/* Bounds of all children of a node, for all columns of the block. */
FN void drop_test_children(const drop_traversal *trav, G const mesh_node *node, drop_tested_children *tested)
{
    const drop_frame frame = drop_frame_of(trav->x0, trav->x1, trav->y0, trav->y1, trav->r);
    tested->higher = 0;
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const v3 lo = v3_of(v_load(node->lo_x + lane), v_load(node->lo_y + lane), v_f(R(0.0)));
        const v3 hi = v3_of(v_load(node->hi_x + lane), v_load(node->hi_y + lane), v_load(node->hi_z + lane));
        const vf top = drop_box_top(frame, lo, hi);
        const vm filled = v_not(vi_eq(mesh_load_int(node->child + lane), v_i(0)));
        v_store(tested->top + lane, top);
        tested->higher |= v_bitmask(v_and(filled, v_gt(top, v_f(trav->least * trav->scale)))) << lane;
    }
}

/* Pushes the children that may raise a column, the highest on top. */
FN int drop_push_children(drop_traversal *trav, G const mesh_node *node, const drop_tested_children *tested,
                          int options)
{
    mesh_stack *s = &trav->stack;
    const int bottom = s->top;
    (void)options;
    for (u32 left = tested->higher; left != 0; left &= left - 1) {
        const int child = bitmask_first(left);
        mesh_stack_insert(s, bottom, (u64)drop_rank(tested->top[child]) << 32 | (u32)trav->next, node->child[child]);
    }
    return drop_pop_next(trav);
}

/* Queues no pairs. */
FN void drop_set_sphere(mesh_pairs *p, const drop_traversal *trav, int number)
{
    (void)p, (void)trav, (void)number;
}

/* Computes tight bounds of the oldest packet, raises the columns' lower bounds, and moves undecided pairs to the
 * binary64 queue. */
FN void drop_ball_solve(const mesh_run *run, drop_traversal *traversals, mesh_pairs *counts, int options)
{
    LANG_ALIGNED real low[LANES], upper[LANES];
    int owner[LANES], slot[LANES] = {0};
    drop_pairs *pairs = traversals->pairs;
    u32 lanes = 0;
    (void)run, (void)options;
    const int count = drop_packet_count(&pairs->binary32);
    const drop_packet packet = drop_bound_binary32(pairs);
    v_store(low, packet.bounds.low);
    v_store(upper, packet.bounds.upper);
    vi_store(owner, v_bits(drop_queue_row(&pairs->binary32, DROP_OWNER)));
    for (int pair = 0; pair < count; pair++) {
        real *lowest = &traversals[owner[pair] / CAROMI_DROP_BLOCK].low[owner[pair] % CAROMI_DROP_BLOCK];
        *lowest = low[pair] > *lowest ? low[pair] : *lowest;
    }
    for (int pair = 0; pair < count; pair++) {
        const drop_traversal *trav = traversals + owner[pair] / CAROMI_DROP_BLOCK;
        slot[pair] = (int)trav->slot[owner[pair] % CAROMI_DROP_BLOCK];
        lanes |= (u32)(upper[pair] >= trav->low[owner[pair] % CAROMI_DROP_BLOCK] && upper[pair] > -R(0x1p126)) << pair;
    }
    drop_queue_binary64(pairs, &packet, slot, lanes);
    drop_queue_pop(&pairs->binary32);
    counts->answered += (u32)count;
    counts->end = drop_queue_count(&pairs->binary32);
}

/* The traversal waits for the pairs of the leaf if they do not fill a packet. */
FN int drop_ball_visit_leaf(drop_traversal *trav, int number, mesh_pairs *counts, mesh_frame frame,
                            G const mesh_leaf *leaf, int options)
{
    drop_queue *binary32 = &trav->pairs->binary32;
    const u32 submitted = counts->submitted;
    (void)frame;
    for (u32 left = drop_columns_at(trav); left != 0; left &= left - 1) {
        const int before = drop_queue_count(binary32);
        drop_ball_column(trav, number, bitmask_first(left), leaf, options);
        counts->submitted += (u32)(drop_queue_count(binary32) - before);
        counts->end = drop_queue_count(binary32);
        while (drop_queue_count(binary32) >= (MESH_TRAVERSALS > 1 || (left & (left - 1)) != 0 ? LANES : 1))
            drop_ball_solve(NULL, trav - number, counts, options);
    }
    return counts->submitted != submitted && drop_queue_count(binary32) > 0 ? MESH_WAITS : drop_pop_next(trav);
}

/* Bounds a leaf's triangles for each column at once, so no pair waits. */
FN int drop_ray_visit_leaf(drop_traversal *trav, int number, mesh_pairs *pairs, mesh_frame frame,
                           G const mesh_leaf *leaf, int options)
{
    (void)number, (void)pairs, (void)frame;
    for (u32 left = drop_columns_at(trav); left != 0; left &= left - 1)
        drop_ray_column(trav, bitmask_first(left), leaf, options);
    return drop_pop_next(trav);
}
MESH_NEVER_WAITS(drop_ray, drop_traversal)

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* A run over the blocks of a drop map. */
typedef struct drop_run {
    mesh_run run; /* must be first: callbacks cast a mesh_run to drop_run */
    const caromi_drop_search *search;
    u32 across; /* blocks along x */
    drop_pairs *pairs;
} drop_run;

/* Begins the traversal of block `at`. */
FN int drop_begin_next(const mesh_run *run, drop_traversal *trav, u32 at, const real *rows, int options)
{
    const drop_run *drop = (const drop_run *)(const void *)run;
    const caromi_drop_search *search = drop->search;
    (void)rows, (void)options;
    trav->nodes = run->nodes;
    trav->masks = run->masks;
    trav->pairs = drop->pairs;
    trav->radius = search->radius;
    trav->scale = run->frame.scale;
    trav->mask = search->mask != NULL ? search->mask[at] : -1;
    trav->first_x = at % drop->across * search->side;
    trav->first_y = at / drop->across * search->side; /* of a list 0 */
    trav->count_x = search->nx - trav->first_x < search->side ? search->nx - trav->first_x : search->side;
    trav->count_y = search->ny - trav->first_y < search->side ? search->ny - trav->first_y : search->side;
    /* Rows of the block's columns; the column of a list has its own. */
    const float *y = search->y + (search->is_list ? at : trav->first_y);
    /* Extent of the block. */
    trav->x0 = search->x[trav->first_x] * trav->scale;
    trav->x1 = search->x[trav->first_x + trav->count_x - 1] * trav->scale;
    trav->y0 = y[0] * trav->scale;
    trav->y1 = y[trav->count_y - 1] * trav->scale;
    trav->r = search->radius * trav->scale;
    trav->least = -R(1.0) / R(0.0);
    /* Its columns, row by row; unused ones cannot be raised. */
    for (u32 column = 0, i = 0, j = 0; column < CAROMI_DROP_BLOCK; column++) {
        const int exists = j < trav->count_y;
        trav->x[column] = search->x[trav->first_x + i];
        trav->y[column] = y[exists ? j : 0];
        trav->low[column] = exists ? trav->least : R(1.0) / R(0.0);
        trav->slot[column] = (trav->first_y + j) * search->stride + trav->first_x + i;
        i = i + 1 < trav->count_x ? i + 1 : 0;
        j += i == 0;
    }
    trav->next = run->frame.root;
    trav->parent = -1;
    mesh_stack_begin(&trav->stack, run->frame.root);
    return 1;
}

/* Nothing to store: the bounds of the pairs are the answers. */
FN void drop_answer(const mesh_run *run, const drop_traversal *trav)
{
    (void)run, (void)trav;
}

#define DROP_OPTIONS ((const drop_run *)(const void *)run)->search->options
MESH_RUN(drop_ball_run, drop, drop_ball, drop_begin_next, drop_answer, DROP_OPTIONS)
MESH_RUN(drop_ray_run, drop, drop_ray, drop_begin_next, drop_answer, DROP_OPTIONS)

/* Bounds all columns of a drop map. */
static void drop_columns(const caromi_drop_search *search)
{
    const u32 side = search->side, across = (search->nx - 1) / side + 1, down = (search->ny - 1) / side + 1;
    drop_pairs pairs;
    const drop_run run = {.run = {.frame = search->mesh->frame,
                                  .nodes = search->mesh->nodes,
                                  .leaves = search->mesh->leaves,
                                  .masks = search->mesh->masks,
                                  .end = across * down},
                          .search = search,
                          .across = across,
                          .pairs = &pairs};
    /* All blocks, then the pairs that are left in the queue. */
    drop_pairs_begin(&pairs, search);
    (search->radius > 0 ? drop_ball_run : drop_ray_run)(&run.run);
    while (drop_queue_count(&pairs.binary64) > 0)
        drop_bound_binary64(&pairs);
}
