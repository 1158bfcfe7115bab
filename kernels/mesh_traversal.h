/* SPDX-License-Identifier: MIT */
/* Traversal of a mesh's hierarchy by one query: the part that all searches share. LANES boxes or triangles are tested
 * at a time.
 *
 * The answer does not depend on the tree or the order of visits. A triangle's answer includes its own box test: the
 * triangle is hit only if that test passes, at max(solver time, box entry). The box arithmetic (subtract, multiply by a
 * constant of the query, min, max) is monotone under inclusion, so a node is never entered later than what it contains.
 * A node also stores the lowest triangle index below it. So culling nodes that come after the best hit by (entry,
 * lowest index) loses no better hit. */
#ifndef CAROM_MESH_TRAVERSAL_H
#define CAROM_MESH_TRAVERSAL_H
#include "mesh_nodes.h"
#include "traversal_precalc.h"

/* Number of interleaved traversals. At most 16, the size of a v_table_lookup. */
#ifdef LANG_HAS_COMPRESS
#define MESH_TRAVERSALS 16
#elif defined(LANG_HAS_PREFETCH)
#define MESH_TRAVERSALS 8
#else
#define MESH_TRAVERSALS 1
#endif

#define MESH_NO_TRIANGLE 0x7fffffff /* above every index */

/* Key by which hits are compared: time, then triangle index. A search begins with the end of its time window and no
 * triangle. */
typedef struct mesh_hit_key {
    real t;
    int triangle;
} mesh_hit_key;

/* Makes a key. */
FN mesh_hit_key mesh_hit_key_of(real t, int triangle)
{
    mesh_hit_key key;
    key.t = t;
    key.triangle = triangle;
    return key;
}

/* Whether (from, least) is not after `best`, by time and then by index. `from` is not negative. A higher index must be
 * strictly earlier: at most the number below the time, and below +0 is NaN, which nothing is at most. */
FN vm mesh_not_after(vf from, vi least, mesh_hit_key best)
{
    return v_le(from, v_below_where(vi_gt(least, v_i(best.triangle)), v_f(best.t)));
}

/* Whether a box with triangle indices from `least` on can hold a better hit: the query enters it, and not after
 * `best`. */
FN vm mesh_can_improve(mesh_slab_interval interval, vi least, mesh_hit_key best)
{
    return v_and(interval.exists, mesh_not_after(v_max(interval.enter, v_f(R(0.0))), least, best));
}

FN v3 mesh_min3(v3 a, v3 b, v3 c)
{
    return v3_of(v_min(v_min(a.x, b.x), c.x), v_min(v_min(a.y, b.y), c.y), v_min(v_min(a.z, b.z), c.z));
}
FN v3 mesh_max3(v3 a, v3 b, v3 c)
{
    return v3_of(v_max(v_max(a.x, b.x), c.x), v_max(v_max(a.y, b.y), c.y), v_max(v_max(a.z, b.z), c.z));
}

/* Gathers one corner of the triangles of LANES queries; the mesh has `triangles` of them. A query without a triangle
 * takes triangle 0. So does an index out of range, which a search leaves if the device ended it too early. */
FN v3 mesh_gather_corner(G const real *vertices, G const u32 *indices, u32 triangles, G const int *triangle, int corner)
{
    real x[LANES], y[LANES], z[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        const u32 index = (u32)triangle[lane] < triangles ? (u32)triangle[lane] : 0;
        G const real *p = vertices + 3 * (size_t)indices[3 * (size_t)index + (size_t)corner];
        x[lane] = p[0];
        y[lane] = p[1];
        z[lane] = p[2];
    }
    return v3_of(v_load(x), v_load(y), v_load(z));
}

FN vi mesh_load_int(G const int *from)
{
    return v_bits(v_load((G const real *)from));
}

/* Integers in the order of time and then index. Times are not negative, so their bits have the same order as the
 * times. */
FN u64 mesh_key_bits_of(real t, int triangle)
{
    return (u64)real_bits(t) << 32 | (u32)triangle;
}

FN u64 mesh_key_bits(mesh_hit_key a)
{
    return mesh_key_bits_of(a.t, a.triangle);
}

FN int mesh_is_after(mesh_hit_key a, mesh_hit_key key)
{
    return mesh_key_bits(a) > mesh_key_bits(key);
}

/* Children to visit, the next one on top, each with a lower bound of the keys of its hits. */
#ifdef MESH_ITEMS
/* The lowest entries are in local memory. Hardly a query has more; those are in global memory. */
typedef struct mesh_stack {
    __local u64 *from;
    __local int *child;
    G mesh_far_entry *far;
    int top;
} mesh_stack;

FN void mesh_stack_begin(mesh_stack *stack, int root)
{
    (void)root;
    stack->top = 0;
}

FN u64 mesh_stack_from(const mesh_stack *stack, int at)
{
    if (at < MESH_NEAR)
        return stack->from[at];
    G const mesh_far_entry *far = stack->far + (at - MESH_NEAR);
    return (u64)far->from[1] << 32 | far->from[0];
}

FN int mesh_stack_child(const mesh_stack *stack, int at)
{
    return at < MESH_NEAR ? stack->child[at] : stack->far[at - MESH_NEAR].child;
}

/* Sets an element of the stack. */
FN void mesh_stack_set(mesh_stack *stack, int at, u64 from, int child)
{
    if (at < MESH_NEAR) {
        stack->from[at] = from;
        stack->child[at] = child;
    } else {
        G mesh_far_entry *far = stack->far + (at - MESH_NEAR);
        far->from[0] = (u32)from;
        far->from[1] = (u32)(from >> 32);
        far->child = child;
    }
}
#else
typedef struct mesh_stack_entries {
    u64 from[MESH_STACK];
    int child[MESH_STACK];
#ifdef MESH_SCENE
    const mesh_instance *at[MESH_STACK]; /* whose child it is */
#endif
} mesh_stack_entries;
typedef struct mesh_stack {
#ifdef LANG_LOCKSTEP /* outside the structure: a GPU's compiler keeps a structure in registers only if no member is \
                        indexed */
    mesh_stack_entries *entries;
#else
    mesh_stack_entries entries[1];
#endif
#ifdef MESH_SCENE
    const mesh_instance *at; /* where the traversal is */
#endif
    int top;
} mesh_stack;

/* Declares the entries of a traversal's stack where they are outside the structure. */
#ifdef LANG_LOCKSTEP
#define MESH_STACK_ENTRIES(trav)    \
    mesh_stack_entries its_entries; \
    (trav).stack.entries = &its_entries
#else
#define MESH_STACK_ENTRIES(trav) (void)0
#endif

/* Slot 0 always holds a child, so mesh_stack_top() is safe on an empty stack. */
FN void mesh_stack_begin(mesh_stack *stack, int root)
{
    stack->entries->child[0] = root;
#ifdef MESH_SCENE
    stack->entries->at[0] = stack->at;
#endif
    stack->top = 0;
}

/* Sets an element of the stack. */
FN void mesh_stack_set(mesh_stack *stack, int at, u64 from, int child)
{
    stack->entries->from[at] = from;
    stack->entries->child[at] = child;
#ifdef MESH_SCENE
    stack->entries->at[at] = stack->at;
#endif
}

FN u64 mesh_stack_from(const mesh_stack *stack, int at)
{
    return stack->entries->from[at];
}

FN int mesh_stack_child(const mesh_stack *stack, int at)
{
    return stack->entries->child[at];
}

/* Inserts a child into the sorted part of the stack above `bottom`. */
FN void mesh_stack_insert(mesh_stack *stack, int bottom, u64 from, int child)
{
    const mesh_stack_entries *e = stack->entries;
    int at = stack->top++;
    for (; at > bottom && from > e->from[at - 1]; at--)
        mesh_stack_set(stack, at, e->from[at - 1], e->child[at - 1]);
    mesh_stack_set(stack, at, from, child);
}
#endif

#ifdef MESH_SCENE
/* Goes to the child that was popped, into an instance if it is one. */
FN void mesh_stack_enter(mesh_stack *stack, int *child)
{
    stack->at = stack->entries->at[stack->top];
    if (*child < MESH_INSTANCE)
        return;
    stack->at += *child - MESH_INSTANCE + 1;
    *child = stack->at->root;
}
#else
#define mesh_stack_enter(stack, child) (void)0
#endif

/* Pops children until one can still improve on `best`; 0 if none is left. */
FN int mesh_stack_pop(mesh_stack *stack, mesh_hit_key best, int *child)
{
    const u64 last = mesh_key_bits(best);
    while (stack->top > 0)
        if (mesh_stack_from(stack, --stack->top) <= last) {
            *child = mesh_stack_child(stack, stack->top);
            mesh_stack_enter(stack, child);
            return 1;
        }
    return 0;
}

/* Output of a search for all hits. */
typedef struct mesh_sink {
    G mesh_record *records;
    u32 capacity, count; /* records that fit; hits found, including those that do not fit */
    int one_is_enough;
    int first; /* records number their queries from this one */
} mesh_sink;

/* The state of one traversal. */
typedef struct mesh_traversal {
    real precalc[PRECALC_ROWS];
    mesh_query query;
    int state; /* state of the best hit; STATE_MISS without one */
    mesh_hit_key best;
    real earliest_undecided; /* exact mode: the earliest time that an undecided triangle may be hit */
    G const int *masks;      /* of the leaves' triangles; read with MESH_TRIANGLE_MASKS */
    mesh_sink *sink;         /* all hits go here: a sink that traversals share, or `own` */
    mesh_sink own;
    u32 hits;   /* of the query, in a search for all hits */
    int number; /* of the query */
    int next;   /* to visit next: a node, or a leaf if negative */
    mesh_stack stack;
} mesh_traversal;

/* Pops the next node or leaf; 0 ends the traversal. */
FN int mesh_pop_next(mesh_traversal *trav)
{
    return mesh_stack_pop(&trav->stack, trav->best, &trav->next);
}

/* Where a traversal `trav` is, so that meshes and scenes (on CPUs: cpu/scene/map.h) have one text. */
#ifdef MESH_SCENE
#define MESH_BEGIN_AT(trav, all) ((trav)->stack.at = (all)->instances)
#define MESH_IS_ABOVE(trav) ((trav)->stack.at->kind == INSTANCE_OF_ALL) /* the instances */
#define MESH_VISIT_INSTANCES(kind, trav, leaf, scale, options) kind##_visit_instances(trav, leaf, scale, options)
#define MESH_NODE(all, trav) ((G const mesh_node *)(trav)->stack.at->nodes + (trav)->next)
#define MESH_LEAF_HERE(all, trav) ((G const mesh_leaf *)(trav)->stack.at->leaves + MESH_LEAF_AT((trav)->next))
#define MESH_MASKS(trav) ((trav)->stack.at->masks)
#define MESH_MASK(trav) ((trav)->query.mask & (trav)->stack.at->mask)
#define MESH_NUMBER(trav, index) scene_number((trav)->stack.at, index) /* of a triangle there */
#define MESH_FIRST(trav) ((trav)->stack.at->base)                      /* the number of its first triangle */
#define MESH_MAP_BOXES(trav, lo, hi) scene_map_boxes((trav)->stack.at, lo, hi)
#define MESH_MAP_CORNERS(trav, leaf, reference, lane, corners) \
    scene_map_corners((trav)->stack.at, leaf, reference, lane, &(corners)->p0, &(corners)->p1, &(corners)->p2)
#define MESH_BALL(trav, ball) ((ball) * (trav)->stack.at->stretch + (trav)->stack.at->slack)
#else
#define MESH_BEGIN_AT(trav, all) (void)0
#define MESH_IS_ABOVE(trav) 0
#define MESH_VISIT_INSTANCES(kind, trav, leaf, scale, options) 0
#define MESH_NODE(all, trav) ((G const mesh_node *)(all)->nodes + (trav)->next)
#define MESH_LEAF_HERE(all, trav) ((G const mesh_leaf *)(all)->leaves + MESH_LEAF_AT((trav)->next))
#define MESH_MASKS(trav) ((trav)->masks)
#define MESH_MASK(trav) ((trav)->query.mask)
#define MESH_NUMBER(trav, index) (index)
#define MESH_FIRST(trav) 0
#define MESH_MAP_BOXES(trav, lo, hi) (void)0
#define MESH_MAP_CORNERS(trav, leaf, reference, lane, corners) (void)0
#define MESH_BALL(trav, ball) (ball)
#endif

/* Result of the box tests of a node's children: entry times, and a bit for each child that can improve on the best
 * hit. */
typedef struct mesh_tested_children {
    LANG_ALIGNED real enters[MESH_WIDTH];
    u32 entered;
} mesh_tested_children;

/* LANES children of a node. */
typedef struct mesh_children {
    v3 lo, hi;
    vi least;
    vm exist;
} mesh_children;

/* LANG_LOADS times LANES children of a node, from `lane` on. */
FN void mesh_load_children(G const mesh_node *node, int lane, mesh_children children[LANG_LOADS])
{
    vf rows[8][LANG_LOADS]; /* lower x y z, upper x y z, child, least index */
    v_loads(node->lo_x + lane, rows[0]);
    v_loads(node->lo_y + lane, rows[1]);
    v_loads(node->lo_z + lane, rows[2]);
    v_loads(node->hi_x + lane, rows[3]);
    v_loads(node->hi_y + lane, rows[4]);
    v_loads(node->hi_z + lane, rows[5]);
    v_loads((G const real *)node->child + lane, rows[6]);
    v_loads((G const real *)node->least + lane, rows[7]);
    for (int load = 0; load < LANG_LOADS; load++) {
        children[load].lo = v3_of(rows[0][load], rows[1][load], rows[2][load]);
        children[load].hi = v3_of(rows[3][load], rows[4][load], rows[5][load]);
        children[load].exist = v_not(vi_eq(v_bits(rows[6][load]), v_i(0))); /* 0 is the root, which is no child */
        children[load].least = v_bits(rows[7][load]);
    }
}

/* Slab tests of LANG_LOADS times LANES children of a node, from `lane` on. Returns a bit for each that can improve on
 * the best hit. enters: their entry times. */
FN u32 mesh_test_some(const mesh_traversal *trav, G const mesh_node *node, int lane, real *enters)
{
    u32 entered = 0;
    mesh_children children[LANG_LOADS];
    mesh_load_children(node, lane, children);
    for (int load = 0; load < LANG_LOADS; load++) {
        MESH_MAP_BOXES(trav, &children[load].lo, &children[load].hi);
        const mesh_slab_interval interval =
            mesh_slab_test(traversal_precalc_of(trav->precalc).slabs, children[load].lo, children[load].hi);
        const vm can_improve = mesh_can_improve(interval, MESH_NUMBER(trav, children[load].least), trav->best);
        v_store(enters + load * LANES, v_max(interval.enter, v_f(R(0.0))));
        entered |= v_bitmask(v_and(can_improve, children[load].exist)) << load * LANES;
    }
    return entered;
}

#ifndef MESH_ITEMS
/* Slab tests of all children of a node. */
FN void mesh_test_children(const mesh_traversal *trav, G const mesh_node *node, mesh_tested_children *tested)
{
    u32 entered = 0;
    LANG_ROLLED
    for (int lane = 0; lane < MESH_WIDTH; lane += LANG_LOADS * LANES)
        entered |= mesh_test_some(trav, node, lane, tested->enters + lane) << lane;
    tested->entered = entered;
}

/* Pushes the entered children, sorted, the first on top. */
#if LANES >= 8
/* Rank sort: the slot of each child is the number of children after it. Insertion sort costs as much work, but its
 * inner loop ends unpredictably. */
FN void mesh_push_sorted(mesh_traversal *trav, G const mesh_node *node, const mesh_tested_children *tested)
{
    const real *enters = tested->enters;
    const u32 entered = tested->entered;
    for (u32 left = entered; left != 0; left &= left - 1) {
        const int child = bitmask_first(left);
        const vf own = v_f(enters[child]);
        const vi least = v_i(node->least[child]);
        u32 after = 0;
        LANG_ROLLED
        for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
            const vf enter = v_load(enters + lane);
            const vm index = vi_gt(mesh_load_int(node->least + lane), least);
            after |= v_bitmask(v_or(v_lt(own, enter), v_and(v_eq(own, enter), index))) << lane;
        }
        mesh_stack_set(&trav->stack, trav->stack.top + bitmask_count(after & entered),
                       mesh_key_bits_of(enters[child], MESH_FIRST(trav) + node->least[child]), node->child[child]);
    }
    trav->stack.top += bitmask_count(entered);
}
#else
/* Insertion sort. */
FN void mesh_push_sorted(mesh_traversal *trav, G const mesh_node *node, const mesh_tested_children *tested)
{
    const int bottom = trav->stack.top;
    for (u32 left = tested->entered; left != 0; left &= left - 1) {
        const int child = bitmask_first(left);
        mesh_stack_insert(&trav->stack, bottom,
                          mesh_key_bits_of(tested->enters[child], MESH_FIRST(trav) + node->least[child]),
                          node->child[child]);
    }
}
#endif

/* Pushes the entered children and pops the first of them; 0 ends the traversal. */
FN int mesh_push_children(mesh_traversal *trav, G const mesh_node *node, const mesh_tested_children *tested,
                          int options)
{
    (void)options;
    if (tested->entered == 0)
        return mesh_pop_next(trav);
    if ((tested->entered & (tested->entered - 1)) == 0) { /* one child, the usual case, does not go through the stack */
        trav->next = node->child[bitmask_first(tested->entered)];
        return 1;
    }
    mesh_push_sorted(trav, node, tested);
    trav->next = trav->stack.entries->child[--trav->stack.top]; /* was just tested against the best hit */
    return 1;
}

/* Tests a node's children and pops what to visit next; 0 ends the traversal. */
FN int mesh_visit_node(mesh_traversal *trav, G const mesh_node *node, int options)
{
    mesh_tested_children tested;
    mesh_test_children(trav, node, &tested);
    return mesh_push_children(trav, node, &tested, options);
}
#endif

/* Begins the traversal of a query whose precalculated terms are in one lane of `rows`; 0 if there is nothing to
 * traverse. */
FN int mesh_begin(mesh_traversal *trav, mesh_frame frame, mesh_query query, const real *rows, int lane)
{
    for (int k = 0; k < PRECALC_ROWS; k++)
        trav->precalc[k] = rows[LANES * k + lane];
    const int valid = trav->precalc[PRECALC_LIMIT] >= R(0.0);
    trav->query = query;
    trav->state = valid ? STATE_MISS : STATE_INVALID;
    trav->earliest_undecided = R(1.0) / R(0.0);
    trav->hits = 0;
    trav->best = mesh_hit_key_of(trav->precalc[PRECALC_LIMIT], MESH_NO_TRIANGLE);
    trav->next = frame.root;
    mesh_stack_begin(&trav->stack, frame.root);
    return valid && (query.options == 0 || query.mask != 0);
}

/* Precalculates and begins one query. */
FN int mesh_begin_single(mesh_traversal *trav, mesh_frame frame, mesh_query query)
{
    real rows[LANES * PRECALC_ROWS];
    traversal_precalculate(rows, v3_of(v_f(query.cx), v_f(query.cy), v_f(query.cz)), v_f(query.radius),
                           v3_of(v_f(query.vx), v_f(query.vy), v_f(query.vz)), v_f(query.t_max), frame, query.options);
    return mesh_begin(trav, frame, query, rows, 0);
}

/* Corners of LANES triangles of a leaf. */
typedef struct mesh_corners {
    v3 p0, p1, p2;
} mesh_corners;

/* One corner of LANES triangles of an unindexed leaf: rows of x, y and z. */
FN v3 mesh_unindexed_corner(G const real *rows)
{
    return v3_of(v_load(rows), v_load(rows + MESH_WIDTH), v_load(rows + 2 * MESH_WIDTH));
}

/* One corner of LANES triangles, looked up among the leaf's vertices. */
FN v3 mesh_indexed_corner(G const mesh_leaf *leaf, G const u8 *corner)
{
    return v3_of(v_table_lookup(leaf->vertex[0], corner), v_table_lookup(leaf->vertex[1], corner),
                 v_table_lookup(leaf->vertex[2], corner));
}

/* Corners of LANES triangles of a leaf, from slot `lane` on. */
FN mesh_corners mesh_corners_of(G const mesh_leaf *leaf, int reference, int lane)
{
    mesh_corners corners;
    if (MESH_IS_UNINDEXED(reference)) {
        G const real *rows = (G const real *)leaf + MESH_WIDTH + lane; /* after the triangle indices */
        corners.p0 = mesh_unindexed_corner(rows);
        corners.p1 = mesh_unindexed_corner(rows + 3 * MESH_WIDTH);
        corners.p2 = mesh_unindexed_corner(rows + 6 * MESH_WIDTH);
    } else {
        corners.p0 = mesh_indexed_corner(leaf, leaf->corner[0] + lane);
        corners.p1 = mesh_indexed_corner(leaf, leaf->corner[1] + lane);
        corners.p2 = mesh_indexed_corner(leaf, leaf->corner[2] + lane);
    }
    return corners;
}

/* Which of LANES slots of a leaf hold a triangle that passes the query's mask. */
FN vm mesh_unmasked(vi triangle, G const int *masks, int reference, int lane, int mask, int options)
{
    const vm filled = vi_gt(triangle, v_i(-1));
    if ((options & MESH_TRIANGLE_MASKS) == 0)
        return filled;
#ifdef MESH_SCENE
    if (masks == NULL)
        return filled;
#endif
    const vi own = mesh_load_int(masks + MESH_WIDTH * (size_t)MESH_LEAF_AT(reference) + lane);
    return v_and(filled, v_not(vi_eq(own & v_i(mask), v_i(0))));
}

/* LANES triangles of a leaf; `active` are those whose box test passes and that can improve on the best hit. */
typedef struct mesh_group {
    mesh_corners p;
    vf enter;
    vi triangle;
    vm active;
    G const mesh_leaf *leaf;
    int reference; /* to it */
} mesh_group;

/* Box tests of LANES triangles of a leaf. */
FN mesh_group mesh_group_of(G const mesh_leaf *leaf, int reference, int lane, const mesh_traversal *trav, real scale,
                            int options)
{
    mesh_group group;
    const vi index = mesh_load_int(leaf->triangle + lane);
    group.p = mesh_corners_of(leaf, reference, lane);
    MESH_MAP_CORNERS(trav, leaf, reference, lane, &group.p);
    const mesh_slab_interval interval = mesh_slab_test(
        traversal_precalc_of(trav->precalc).slabs, v3_mul(mesh_min3(group.p.p0, group.p.p1, group.p.p2), v_f(scale)),
        v3_mul(mesh_max3(group.p.p0, group.p.p1, group.p.p2), v_f(scale)));
    group.enter = interval.enter;
    group.triangle = MESH_NUMBER(trav, index);
    group.active = v_and(mesh_can_improve(interval, group.triangle, trav->best),
                         mesh_unmasked(index, MESH_MASKS(trav), reference, lane, MESH_MASK(trav), options));
    group.leaf = leaf;
    group.reference = reference;
    return group;
}

#ifdef MESH_SCENE
/* Pushes the instances of a leaf whose boxes the query enters, and pops what to visit next; 0 ends the traversal. */
FN int mesh_visit_instances(mesh_traversal *trav, G const mesh_leaf *leaf, real scale, int options)
{
    const int bottom = trav->stack.top;
    LANG_ROLLED
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const mesh_group group = mesh_group_of(leaf, trav->next, lane, trav, scale, options);
        real enters[LANES];
        v_store(enters, v_max(group.enter, v_f(R(0.0))));
        for (u32 left = v_bitmask(group.active); left != 0; left &= left - 1) {
            const int i = bitmask_first(left), instance = leaf->triangle[lane + i];
            mesh_stack_insert(&trav->stack, bottom, mesh_key_bits_of(enters[i], trav->stack.at[1 + instance].base),
                              MESH_INSTANCE + instance);
        }
    }
    return mesh_pop_next(trav);
}
#endif
#endif
