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
#include "mesh_leaf.h"
#include "mesh_stack.h"
#include "traversal_precalc.h"

/* Number of interleaved traversals. At most 16, the size of a v_table_lookup. */
#ifdef LANG_HAS_COMPRESS
#define MESH_TRAVERSALS 16
#elif defined(LANG_HAS_PREFETCH)
#define MESH_TRAVERSALS 8
#else
#define MESH_TRAVERSALS 1
#endif

/* Whether a box with triangle indices from `least` on can hold a better hit: the query enters it, and not after
 * `best`. */
FN vm mesh_can_improve(mesh_slab_interval interval, vi least, mesh_hit_key best)
{
    return v_and(interval.exists, mesh_not_after(v_max(interval.enter, v_f(R(0.0))), least, best));
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
#ifdef MESH_SCENE
    scene_sweep here;
#endif
#ifdef MESH_SCENE_MOVES
    /* With MESH_CARRIED: `precalc` is for the velocity of `motion_of`; NULL: for none. */
    const mesh_instance *motion_of;
    mesh_frame frame;
#endif
} mesh_traversal;

#ifdef MESH_SCENE_MOVES
/* Sets the query's terms for the velocity of the instance where the traversal is. */
FN_RARE void mesh_change_motion(mesh_traversal *trav)
{
    const int is_same = trav->motion_of == NULL ? !scene_has_velocity(trav->stack.at)
                                                : scene_same_velocity(trav->stack.at, trav->motion_of);
    if (!is_same)
        scene_precalculate(trav->precalc, trav->here.velocity, &trav->query, trav->frame, trav->stack.at);
    trav->motion_of = trav->stack.at;
}
#endif

#ifdef MESH_SCENE
/* The traversal has entered another instance: the query's terms follow. They do not when it comes back to the hierarchy
 * over the instances. Nodes over instances that move are tested with velocities of their own. Nodes over those at rest
 * need the terms without a velocity, and find them: mesh_stack_begin() puts the root over moving instances at the
 * bottom, so all at rest is visited before the first instance that moves. */
FN void mesh_enter_sweep(mesh_traversal *trav)
{
#ifdef MESH_SCENE_MOVES
    if ((trav->query.options & MESH_CARRIED) != 0 && trav->stack.at != trav->motion_of &&
        trav->stack.at->kind != INSTANCE_OF_ALL)
        mesh_change_motion(trav);
#endif
    scene_enter_sweep(&trav->here, trav->stack.at, &trav->query, trav->precalc);
}

/* Goes into the instance that is to be visited next. */
FN_RARE void mesh_enter_instance(mesh_traversal *trav)
{
    mesh_stack_enter_instance(&trav->stack, &trav->next);
    mesh_enter_sweep(trav);
}
#endif

/* Where a traversal `trav` is, so that meshes and scenes (scene_map.h, scene_own.h; on CPUs cpu/scene/motion.h) have
 * one text. MESH_SCENE_MOVES: instances may have velocities. */
#ifdef MESH_SCENE
#ifdef SCENE_ON_DEVICE
#define MESH_NODES(all, instance) ((all)->nodes + (instance)->first_node)
#define MESH_LEAVES(all, instance) ((all)->leaves + (instance)->first_leaf)
#define MESH_MASKS(trav) ((trav)->masks + (trav)->stack.at->first_mask)
#else
#define MESH_NODES(all, instance) ((const mesh_node *)(instance)->nodes)
#define MESH_LEAVES(all, instance) ((const mesh_leaf *)(instance)->leaves)
#define MESH_MASKS(trav) ((trav)->stack.at->masks)
#endif
#define MESH_BEGIN_AT(trav, all) ((trav)->stack.at = (all)->instances)
#define MESH_UNMASKED(trav, node, entered, options) \
    mesh_stack_unmasked(&(trav)->stack, node, entered, (trav)->query.mask, options)
#define MESH_ENTER_NEXT(trav) ((trav)->next < MESH_INSTANCE ? (void)0 : mesh_enter_instance(trav))
#define MESH_NODE(all, trav) (MESH_NODES(all, (trav)->stack.at) + (trav)->next)
#define MESH_LEAF_HERE(all, trav) (MESH_LEAVES(all, (trav)->stack.at) + MESH_LEAF_AT((trav)->next))
#define MESH_MASK(trav) ((trav)->query.mask & (trav)->stack.at->mask)
#define MESH_NUMBER(trav, index) scene_number((trav)->stack.at, index) /* of a triangle there */
#define MESH_FIRST(trav) ((trav)->stack.at->base)                      /* the number of its first triangle */
/* Set before MESH_ENTER_SWEEP. */
#define MESH_SET_FAST_OVERLAP(trav, is) ((trav)->here.is_fast_overlap = (is))
#define MESH_ENTER_SWEEP(trav) mesh_enter_sweep(trav)
/* Around a pop: in another instance the query's terms are others. A device has no register to spare for here.at. */
#ifdef SCENE_ON_DEVICE
#define MESH_LEAVE(trav) G const mesh_instance *before = (trav)->stack.at
#define MESH_FOLLOW(trav, enter) (before == (trav)->stack.at ? (void)0 : enter(trav))
#else
#define MESH_LEAVE(trav) (void)0
#define MESH_FOLLOW(trav, enter) ((trav)->here.at == (trav)->stack.at ? (void)0 : enter(trav))
#endif
#define MESH_SLABS(trav) traversal_precalc_of((trav)->here.is_own ? (trav)->here.precalc : (trav)->precalc).slabs
#define MESH_MAP_BOXES(trav, lo, hi) ((trav)->here.is_own ? (void)0 : scene_map_boxes((trav)->stack.at, lo, hi))
#define MESH_MAP_CORNERS(trav, leaf, reference, lane, corners) \
    scene_map_corners((trav)->stack.at, leaf, reference, lane, &(corners)->p0, &(corners)->p1, &(corners)->p2)
#define MESH_BALL(trav, ball) ((ball) * (trav)->stack.at->stretch + (trav)->stack.at->slack)
#else
#define MESH_BEGIN_AT(trav, all) (void)0
#define MESH_UNMASKED(trav, node, entered, options) (entered)
#define MESH_ENTER_NEXT(trav) (void)0
#define MESH_NODE(all, trav) ((G const mesh_node *)(all)->nodes + (trav)->next)
#define MESH_LEAF_HERE(all, trav) ((G const mesh_leaf *)(all)->leaves + MESH_LEAF_AT((trav)->next))
#define MESH_MASKS(trav) ((trav)->masks)
#define MESH_MASK(trav) ((trav)->query.mask)
#define MESH_NUMBER(trav, index) (index)
#define MESH_FIRST(trav) 0
#define MESH_SET_FAST_OVERLAP(trav, is) (void)0
#define MESH_ENTER_SWEEP(trav) (void)0
#define MESH_LEAVE(trav) (void)0
#define MESH_FOLLOW(trav, enter) (void)0
#define MESH_SLABS(trav) traversal_precalc_of((trav)->precalc).slabs
#define MESH_MAP_BOXES(trav, lo, hi) (void)0
#define MESH_MAP_CORNERS(trav, leaf, reference, lane, corners) (void)0
#define MESH_BALL(trav, ball) (ball)
#endif
#ifdef MESH_SCENE_MOVES
#define MESH_CARRY_SPHERE(in, trav, options) \
    (void)(((options)&MESH_CARRIED) != 0 ? ((in)->u = scene_velocity((trav)->stack.at), 0) : 0)
#else
#define MESH_CARRY_SPHERE(in, trav, options) (void)0
#endif

/* Pops the next node or leaf; 0 ends the traversal. */
FN int mesh_pop_next(mesh_traversal *trav)
{
    MESH_LEAVE(trav);
    const int left = mesh_stack_pop(&trav->stack, trav->best, &trav->next);
    MESH_FOLLOW(trav, MESH_ENTER_SWEEP);
    return left;
}

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
        const mesh_slab_interval interval = mesh_slab_test(MESH_SLABS(trav), children[load].lo, children[load].hi);
        const vm can_improve = mesh_can_improve(interval, MESH_NUMBER(trav, children[load].least), trav->best);
        v_store(enters + load * LANES, v_max(interval.enter, v_f(R(0.0))));
        entered |= v_bitmask(v_and(can_improve, children[load].exist)) << load * LANES;
    }
    return entered;
}

#ifdef MESH_SCENE_MOVES
/* Whether the traversal is at a node over instances that move during the query. */
FN int mesh_is_above_moving(const mesh_traversal *trav)
{
    return trav->next >= trav->stack.at->first_moving && (trav->query.options & MESH_CARRIED) != 0;
}

/* The children of a node of that hierarchy that can improve on the best hit. */
FN void mesh_test_moving(const mesh_traversal *trav, const mesh_node *node, mesh_tested_children *tested)
{
    const mesh_instance *all = trav->stack.at;
    const scene_velocities *own = (const scene_velocities *)all->velocities + (trav->next - all->first_moving);
    const scene_moving_boxes boxes = {.lower = {node->lo_x, node->lo_y, node->lo_z},
                                      .upper = {node->hi_x, node->hi_y, node->hi_z},
                                      .least = {own->least[0], own->least[1], own->least[2]},
                                      .most = {own->most[0], own->most[1], own->most[2]}};
    scene_test_moving(&trav->query, trav->precalc, all->scale, trav->best.t, &boxes, tested->enters);
    tested->entered = 0;
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const vf enter = v_load(tested->enters + lane);
        const vm exist = v_and(v_not(vi_eq(mesh_load_int(node->child + lane), v_i(0))), v_le(v_f(R(0.0)), enter));
        tested->entered |= v_bitmask(v_and(exist, mesh_not_after(enter, mesh_load_int(node->least + lane), trav->best)))
                           << lane;
    }
}
#endif

#ifndef MESH_ITEMS
/* Slab tests of all children of a node. */
FN void mesh_test_children(const mesh_traversal *trav, G const mesh_node *node, mesh_tested_children *tested)
{
    u32 entered = 0;
#ifdef MESH_SCENE_MOVES
    if (mesh_is_above_moving(trav)) {
        mesh_test_moving(trav, node, tested);
        return;
    }
#endif
    LANG_ROLLED
    for (int lane = 0; lane < MESH_WIDTH; lane += LANG_LOADS * LANES)
        entered |= mesh_test_some(trav, node, lane, tested->enters + lane) << lane;
    tested->entered = entered;
}

/* Pushes the entered children, sorted, the first on top. */
#if LANES >= 8
/* Rank sort: the slot of each child is the number of children after it. Insertion sort costs as much work, but its
 * inner loop ends unpredictably. */
FN void mesh_push_sorted(mesh_traversal *trav, G const mesh_node *node, const real *enters, u32 entered)
{
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
FN void mesh_push_sorted(mesh_traversal *trav, G const mesh_node *node, const real *enters, u32 entered)
{
    const int bottom = trav->stack.top;
    for (u32 left = entered; left != 0; left &= left - 1) {
        const int child = bitmask_first(left);
        mesh_stack_insert(&trav->stack, bottom, mesh_key_bits_of(enters[child], MESH_FIRST(trav) + node->least[child]),
                          node->child[child]);
    }
}
#endif

/* Pushes the entered children and pops the first of them; 0 ends the traversal. */
FN int mesh_push_children(mesh_traversal *trav, G const mesh_node *node, const mesh_tested_children *tested,
                          int options)
{
    const u32 entered = MESH_UNMASKED(trav, node, tested->entered, options);
    (void)options;
    if (entered == 0)
        return mesh_pop_next(trav);
    if ((entered & (entered - 1)) == 0) { /* one child, the usual case, does not go through the stack */
        trav->next = node->child[bitmask_first(entered)];
    } else {
        mesh_push_sorted(trav, node, tested->enters, entered);
        trav->next = trav->stack.entries->child[--trav->stack.top]; /* was just tested against the best hit */
    }
    MESH_ENTER_NEXT(trav);
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
#ifdef MESH_SCENE_MOVES
    scene_query_velocity(&query, trav->here.velocity);
    trav->frame = frame;
    trav->motion_of = NULL;
    if ((query.options & MESH_CARRIED) != 0 && valid) /* a sphere at rest may be hit later */
        trav->best.t = query.t_max > R(0.0) ? query.t_max : R(0.0);
#endif
    MESH_ENTER_SWEEP(trav);
    return valid && (query.options == 0 || query.mask != 0);
}

/* Precalculates and begins one query. */
FN int mesh_begin_single(mesh_traversal *trav, mesh_frame frame, mesh_query query)
{
    real rows[LANES * PRECALC_ROWS];
    MESH_SET_FAST_OVERLAP(trav, 0);
    traversal_precalculate(rows, v3_of(v_f(query.cx), v_f(query.cy), v_f(query.cz)), v_f(query.radius),
                           v3_of(v_f(query.vx), v_f(query.vy), v_f(query.vz)), v_f(query.t_max), frame, query.options);
    return mesh_begin(trav, frame, query, rows, 0);
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
#endif
