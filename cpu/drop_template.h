/* SPDX-License-Identifier: MIT */
/* Columns of a drop map in blocks: a traversal of the hierarchy for each block that meets higher boxes first. Corners,
 * which are points of the mesh, bound the height from below; the plane that touches the height of a triangle's best
 * corner bounds the triangle from above. */
#include "kernels/mesh_run.h"
#include "drop.h"
#include "drop_bounds.h"

/* A triangle that may lead highest over a column. */
typedef struct drop_entry {
    G const mesh_leaf *leaf;
    real upper; /* bound of the height to which it leads */
    int slot;   /* of the leaf; negative: the complement of that of an unindexed one */
} drop_entry;

enum { DROP_ROOM = 64 }; /* entries of a column */

typedef struct drop_traversal {
    G const mesh_node *nodes;
    const int *masks;       /* of the leaves' triangles; read with MESH_TRIANGLE_MASKS */
    real radius, scale;     /* scale: to the mesh's unit */
    real x0, x1, y0, y1, r; /* of the block, in the mesh's unit */
    real least;             /* of `low` */
    u32 i, j, nx, ny;       /* the first column; numbers of columns */
    int next;               /* to visit next: a node, or a leaf if negative */
    int parent;             /* of `next`; -1: it is the root */
    LANG_ALIGNED real x[CAROMI_DROP_BLOCK], y[CAROMI_DROP_BLOCK];
    real low[CAROMI_DROP_BLOCK]; /* no height is lower, in the caller's unit; +inf: the column is not searched for */
    int count[CAROMI_DROP_BLOCK];
    mesh_stack stack; /* keys: the rank of an upper bound of the heights, and the parent */
    drop_entry entry[CAROMI_DROP_BLOCK][DROP_ROOM];
} drop_traversal;

/* ---- leaves ------------------------------------------------------------------------------------------------------ */

/* Leaves out entries below the height that is sure; returns how many are left. */
FN int drop_prune(drop_entry *entry, int count, real low)
{
    int left = 0;
    for (int i = 0; i < count; i++)
        if (entry[i].upper >= low)
            entry[left++] = entry[i];
    return left;
}

/* Makes room for an entry; 0: there is none. */
FN_RARE int drop_make_room(drop_traversal *trav, int column)
{
    const int left = drop_prune(trav->entry[column], DROP_ROOM, trav->low[column]);
    trav->count[column] = left < DROP_ROOM ? left : -1;
    return left < DROP_ROOM;
}

FN void drop_raise(drop_traversal *trav, int column, vf lows, vm valid)
{
    const real low = -v_reduce_min(v_sel(valid, -lows, v_infinity()));
    trav->low[column] = low > trav->low[column] ? low : trav->low[column];
}

/* LANES triangles of a leaf, from slot `lane` on. */
FN void drop_add(drop_traversal *trav, int column, G const mesh_leaf *leaf, int lane, vf uppers, vm valid)
{
    LANG_ALIGNED real upper[LANES];
    v_store(upper, uppers);
    for (u32 left = v_bitmask(v_and(valid, v_ge(uppers, v_f(trav->low[column])))); left != 0; left &= left - 1) {
        const int i = bitmask_first(left);
        if (!(upper[i] > -R(0x1p126)))
            continue;
        if (trav->count[column] == DROP_ROOM && !drop_make_room(trav, column)) {
            trav->low[column] = R(1.0) / R(0.0);
            return;
        }
        drop_entry *to = &trav->entry[column][trav->count[column]++];
        to->leaf = leaf;
        to->upper = upper[i];
        to->slot = MESH_IS_UNINDEXED(trav->next) ? ~(lane + i) : lane + i;
    }
}

/* Corners that the ball does not reach from above bound nothing. Then the triangle's box does, if the triangle is not
 * surely too far away for that; from below, the point of a triangle straight below the ball. */
FN vf drop_bound_without_corners(drop_traversal *trav, int column, drop_frame f, mesh_corners p, vf upper, vm valid)
{
    const vm unknown = v_and(valid, v_eq(upper, v_infinity()));
    if (!v_any(unknown))
        return upper;
    const vf top = drop_box_top(f, mesh_min3(p.p0, p.p1, p.p2), mesh_max3(p.p0, p.p1, p.p2));
    if (!v_any(v_and(unknown, v_ge(top, v_f(trav->low[column])))))
        return v_sel(unknown, drop_minus_infinity(), upper);
    drop_raise(trav, column, drop_low_over(f, p, trav->radius), unknown);
    return v_sel(unknown, v_sel(drop_is_far(f, p), drop_minus_infinity(), top), upper);
}

FN void drop_ball_column(drop_traversal *trav, int column, G const mesh_leaf *leaf, int options)
{
    const drop_frame f =
        drop_frame_of(trav->x[column], trav->x[column], trav->y[column], trav->y[column], trav->radius);
    const int unindexed = MESH_IS_UNINDEXED(trav->next);
    drop_vertices vertices;
    const int reaches = unindexed || drop_vertices_of(f, leaf, &vertices);
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const vm valid =
            mesh_unmasked(mesh_load_int(leaf->triangle + lane), trav->masks, trav->next, lane, -1, options);
        const mesh_corners p = mesh_corners_of(leaf, trav->next, lane);
        drop_bounds b = {drop_minus_infinity(), v_infinity()};
        if (reaches) {
            const drop_points c[3] = {
                unindexed ? drop_points_of(f, p.p0) : drop_lookup(&vertices, leaf->corner[0] + lane),
                unindexed ? drop_points_of(f, p.p1) : drop_lookup(&vertices, leaf->corner[1] + lane),
                unindexed ? drop_points_of(f, p.p2) : drop_lookup(&vertices, leaf->corner[2] + lane)};
            b = drop_corner_bounds(f, p, c);
            drop_raise(trav, column, b.low, valid);
        }
        b.upper = drop_bound_without_corners(trav, column, f, p, b.upper, valid);
        drop_add(trav, column, leaf, lane, b.upper, valid);
    }
}

FN void drop_plumb_column(drop_traversal *trav, int column, G const mesh_leaf *leaf, int options)
{
    const drop_frame f = drop_frame_of(trav->x[column], trav->x[column], trav->y[column], trav->y[column], R(0.0));
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const vm valid =
            mesh_unmasked(mesh_load_int(leaf->triangle + lane), trav->masks, trav->next, lane, -1, options);
        const drop_bounds b = drop_plumb_bounds(f, mesh_corners_of(leaf, trav->next, lane));
        drop_raise(trav, column, b.low, valid);
        drop_add(trav, column, leaf, lane, b.upper, valid);
    }
}

/* Which columns of the block the leaf's box may raise. */
FN u32 drop_columns_at(const drop_traversal *trav)
{
    const u32 all = (1u << trav->nx * trav->ny) - 1;
    u32 slots = 0, columns = 0;
    if (trav->parent < 0 || all == 1)
        return all;
    const mesh_node *node = trav->nodes + trav->parent;
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES)
        slots |= v_bitmask(vi_eq(mesh_load_int(node->child + lane), v_i(trav->next))) << lane;
    const int s = bitmask_first(slots);
    const v3 lo = v3_of(v_f(node->lo_x[s]), v_f(node->lo_y[s]), v_f(R(0.0)));
    const v3 hi = v3_of(v_f(node->hi_x[s]), v_f(node->hi_y[s]), v_f(node->hi_z[s]));
    for (int c = 0; c < CAROMI_DROP_BLOCK; c += LANES) {
        const vf scale = v_f(trav->scale), x = v_load(trav->x + c) * scale, y = v_load(trav->y + c) * scale;
        drop_frame f = drop_frame_of(R(0.0), R(0.0), R(0.0), R(0.0), trav->r);
        f.x0 = f.x1 = x;
        f.y0 = f.y1 = y;
        columns |= v_bitmask(v_gt(drop_box_top(f, lo, hi), v_load(trav->low + c) * scale)) << c;
    }
    return columns & all;
}

FN void drop_find_least(drop_traversal *trav)
{
    vf low = v_infinity();
    for (int c = 0; c < CAROMI_DROP_BLOCK; c += LANES)
        low = v_min(low, v_load(trav->low + c));
    trav->least = v_reduce_min(low);
}

/* ---- the traversal ----------------------------------------------------------------------------------------------- */

/* Higher ones, of the mesh's unit, have lower ranks. */
FN u32 drop_rank(real height)
{
    const u32 bits = real_bits(-height);
    return bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
}

FN int drop_pop_next(drop_traversal *trav)
{
    mesh_stack *s = &trav->stack;
    const u32 least = drop_rank(trav->least * trav->scale);
    while (s->top > 0) {
        const u64 from = s->from[--s->top];
        if ((u32)(from >> 32) < least) {
            trav->next = s->child[s->top];
            trav->parent = (int)(u32)from;
            return 1;
        }
    }
    return 0;
}

typedef struct drop_tested_children {
    LANG_ALIGNED real top[MESH_WIDTH];
    u32 higher; /* they may raise a column */
} drop_tested_children;

FN void drop_test_children(const drop_traversal *trav, G const mesh_node *node, drop_tested_children *tested)
{
    const drop_frame f = drop_frame_of(trav->x0, trav->x1, trav->y0, trav->y1, trav->r);
    tested->higher = 0;
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const v3 lo = v3_of(v_load(node->lo_x + lane), v_load(node->lo_y + lane), v_f(R(0.0)));
        const v3 hi = v3_of(v_load(node->hi_x + lane), v_load(node->hi_y + lane), v_load(node->hi_z + lane));
        const vf top = drop_box_top(f, lo, hi);
        const vm filled = v_not(vi_eq(mesh_load_int(node->child + lane), v_i(0)));
        v_store(tested->top + lane, top);
        tested->higher |= v_bitmask(v_and(filled, v_gt(top, v_f(trav->least * trav->scale)))) << lane;
    }
}

/* Children that may lead higher go to the stack, the highest on top. */
FN int drop_push_children(drop_traversal *trav, G const mesh_node *node, const drop_tested_children *tested,
                          int options)
{
    mesh_stack *s = &trav->stack;
    const int bottom = s->top;
    (void)options;
    for (u32 left = tested->higher; left != 0; left &= left - 1) {
        const int i = bitmask_first(left);
        mesh_stack_insert(s, bottom, (u64)drop_rank(tested->top[i]) << 32 | (u32)trav->next, node->child[i]);
    }
    return drop_pop_next(trav);
}

/* Queues no pairs. */
FN void drop_set_sphere(mesh_pairs *p, const drop_traversal *trav, int number)
{
    (void)p, (void)trav, (void)number;
}

#define DROP_SEARCH(name)                                                                           \
    FN int name##_visit_leaf(drop_traversal *trav, int number, mesh_pairs *pairs, mesh_frame frame, \
                             G const mesh_leaf *leaf, int options)                                  \
    {                                                                                               \
        (void)number, (void)pairs, (void)frame;                                                     \
        for (u32 left = drop_columns_at(trav); left != 0; left &= left - 1)                         \
            name##_column(trav, bitmask_first(left), leaf, options);                                \
        drop_find_least(trav);                                                                      \
        return drop_pop_next(trav);                                                                 \
    }                                                                                               \
    MESH_NEVER_WAITS(name, drop_traversal)
DROP_SEARCH(drop_ball)
DROP_SEARCH(drop_plumb)

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

typedef struct drop_run {
    mesh_run run; /* the first member: a mesh_run of this kind is a drop_run */
    const caromi_drop_search *search;
    u32 across; /* blocks along x */
} drop_run;

FN int drop_begin_next(const mesh_run *run, drop_traversal *trav, u32 at, const real *rows, int options)
{
    const drop_run *all = (const drop_run *)(const void *)run;
    const caromi_drop_search *s = all->search;
    (void)rows, (void)options;
    trav->nodes = run->nodes;
    trav->masks = run->masks;
    trav->radius = s->radius;
    trav->scale = run->frame.scale;
    trav->i = at % all->across * s->side;
    trav->j = at / all->across * s->side;
    trav->nx = s->nx - trav->i < s->side ? s->nx - trav->i : s->side;
    trav->ny = s->ny - trav->j < s->side ? s->ny - trav->j : s->side;
    trav->x0 = s->x[trav->i] * trav->scale;
    trav->x1 = s->x[trav->i + trav->nx - 1] * trav->scale;
    trav->y0 = s->y[trav->j] * trav->scale;
    trav->y1 = s->y[trav->j + trav->ny - 1] * trav->scale;
    trav->r = s->radius * trav->scale;
    trav->least = -R(1.0) / R(0.0);
    for (u32 c = 0; c < CAROMI_DROP_BLOCK; c++) {
        const int exists = c < trav->nx * trav->ny;
        trav->x[c] = s->x[trav->i + (exists ? c % trav->nx : 0)];
        trav->y[c] = s->y[trav->j + (exists ? c / trav->nx : 0)];
        trav->low[c] = exists ? trav->least : R(1.0) / R(0.0);
        trav->count[c] = 0;
    }
    trav->next = run->frame.root;
    trav->parent = -1;
    mesh_stack_begin(&trav->stack, run->frame.root);
    return 1;
}

/* ---- candidates -------------------------------------------------------------------------------------------------- */

FN void drop_corners_of(const drop_entry *entry, real corner[9])
{
    const int unindexed = entry->slot < 0, slot = unindexed ? ~entry->slot : entry->slot;
    for (int k = 0; k < 9; k++)
        corner[k] = unindexed ? ((G const real *)entry->leaf)[(k + 1) * MESH_WIDTH + slot]
                              : entry->leaf->vertex[k % 3][entry->leaf->corner[k / 3][slot]];
}

/* LANES entries of several columns. */
typedef struct drop_packet {
    LANG_ALIGNED real corner[9][LANES], x[LANES], y[LANES];
    drop_entry *entry[LANES];
    int column[LANES], count;
} drop_packet;

FN void drop_pack(drop_packet *p, const drop_traversal *trav, int column, drop_entry *entry)
{
    real corner[9];
    const int i = p->count++;
    drop_corners_of(entry, corner);
    for (int k = 0; k < 9; k++)
        p->corner[k][i] = corner[k];
    p->x[i] = trav->x[column];
    p->y[i] = trav->y[column];
    p->entry[i] = entry;
    p->column[i] = column;
}

FN v3 drop_packed_corner(const drop_packet *p, int k)
{
    return v3_of(v_load(p->corner[3 * k]), v_load(p->corner[3 * k + 1]), v_load(p->corner[3 * k + 2]));
}

/* Bounds them anew. */
FN_RARE void drop_tighten(drop_traversal *trav, drop_packet *p)
{
    LANG_ALIGNED real upper[LANES], low[LANES];
    drop_frame f = drop_frame_of(R(0.0), R(0.0), R(0.0), R(0.0), trav->radius);
    f.x0 = f.x1 = v_load(p->x);
    f.y0 = f.y1 = v_load(p->y);
    mesh_corners at;
    at.p0 = drop_packed_corner(p, 0);
    at.p1 = drop_packed_corner(p, 1);
    at.p2 = drop_packed_corner(p, 2);
    const drop_bounds b = drop_tight_bounds(f, at);
    v_store(upper, b.upper);
    v_store(low, b.low);
    for (int i = 0; i < p->count; i++) {
        real *lowest = &trav->low[p->column[i]];
        *lowest = low[i] > *lowest ? low[i] : *lowest;
        p->entry[i]->upper = upper[i] < p->entry[i]->upper ? upper[i] : p->entry[i]->upper;
    }
    p->count = 0;
}

/* Those of columns with more than one. */
FN void drop_tighten_all(drop_traversal *trav)
{
    drop_packet packet;
    packet.count = 0;
    memset(packet.corner, 0, sizeof packet.corner); /* spare lanes are computed too */
    memset(packet.x, 0, sizeof packet.x);
    memset(packet.y, 0, sizeof packet.y);
    for (u32 c = 0; c < trav->nx * trav->ny; c++)
        for (int i = 0; i < trav->count[c] && trav->count[c] > 1; i++) {
            drop_pack(&packet, trav, (int)c, &trav->entry[c][i]);
            if (packet.count == LANES)
                drop_tighten(trav, &packet);
        }
    if (packet.count > 0)
        drop_tighten(trav, &packet);
}

FN void drop_prune_all(drop_traversal *trav)
{
    for (u32 c = 0; c < trav->nx * trav->ny; c++)
        if (trav->count[c] > 1)
            trav->count[c] = drop_prune(trav->entry[c], trav->count[c], trav->low[c]);
}

/* Gives those of a column. */
FN void drop_give(const caromi_drop_search *s, const drop_traversal *trav, u32 column)
{
    caromi_drop_candidate candidates[DROP_ROOM];
    for (int i = 0; i < trav->count[column]; i++) {
        candidates[i].upper = trav->entry[column][i].upper;
        drop_corners_of(&trav->entry[column][i], candidates[i].corner);
    }
    s->take(s->user, trav->i + column % trav->nx, trav->j + column / trav->nx, candidates, trav->count[column]);
}

FN void drop_answer(const mesh_run *run, drop_traversal *trav)
{
    drop_prune_all(trav);
    if (trav->radius > 0) {
        drop_tighten_all(trav);
        drop_prune_all(trav);
    }
    for (u32 c = 0; c < trav->nx * trav->ny; c++)
        drop_give(((const drop_run *)(const void *)run)->search, trav, c);
}

#define DROP_OPTIONS ((const drop_run *)(const void *)run)->search->options
MESH_RUN(drop_ball_run, drop, drop_ball, drop_begin_next, drop_answer, DROP_OPTIONS)
MESH_RUN(drop_plumb_run, drop, drop_plumb, drop_begin_next, drop_answer, DROP_OPTIONS)

static void drop_columns(const caromi_drop_search *search)
{
    const u32 side = search->side, across = (search->nx - 1) / side + 1, down = (search->ny - 1) / side + 1;
    const drop_run all = {.run = {.frame = search->mesh->frame,
                                  .nodes = search->mesh->nodes,
                                  .leaves = search->mesh->leaves,
                                  .masks = search->mesh->masks,
                                  .end = across * down},
                          .search = search,
                          .across = across};
    (search->radius > 0 ? drop_ball_run : drop_plumb_run)(&all.run);
}
