/* SPDX-License-Identifier: MIT */
/* Closest points by teams of work-items (mesh_team.h). `best_t` is a distance, and so is `least_t`. It is also the
 * limit of the search: a box's greatest distance lowers it, and so does that of an undecided triangle. No triangle need
 * have that distance, so `best` follows before the next test that uses it (closest_update_best). */
#ifndef CAROM_MESH_TEAM_CLOSEST_H
#define CAROM_MESH_TEAM_CLOSEST_H
#include "mesh_closest.h"

/* Terms of a query in local memory, `mesh_shared_query`. */
enum { TERM_X, TERM_Y, TERM_Z, TERM_VIEW_X, TERM_VIEW_Y, TERM_VIEW_Z, TERM_SHRINK, TERM_UNIT, TERM_RADIUS };

/* Loads what the steps of a traversal read of a query, less its stack. */
FN void closest_load_shared(const mesh_run *run, __local const mesh_shared_query *query, int options,
                            closest_traversal *trav)
{
    __local const real *terms = query->terms;
    (void)options;
    trav->center = v3_of(terms[TERM_X], terms[TERM_Y], terms[TERM_Z]);
    trav->view.cx = terms[TERM_VIEW_X];
    trav->view.cy = terms[TERM_VIEW_Y];
    trav->view.cz = terms[TERM_VIEW_Z];
    trav->view.shrink = terms[TERM_SHRINK];
    trav->view.unit = terms[TERM_UNIT];
    trav->query.radius = terms[TERM_RADIUS];
    MESH_LOAD_SHARED(trav, run, query);
}

/* Stores a query that begins its traversal. */
FN void closest_store_shared(const closest_traversal *trav, __local mesh_shared_query *query)
{
    __local real *terms = query->terms;
    terms[TERM_X] = trav->center.x;
    terms[TERM_Y] = trav->center.y;
    terms[TERM_Z] = trav->center.z;
    terms[TERM_VIEW_X] = trav->view.cx;
    terms[TERM_VIEW_Y] = trav->view.cy;
    terms[TERM_VIEW_Z] = trav->view.cz;
    terms[TERM_SHRINK] = trav->view.shrink;
    terms[TERM_UNIT] = trav->view.unit;
    terms[TERM_RADIUS] = trav->query.radius;
    MESH_STORE_SHARED(trav, query);
}

/* Lowers the best to the limit, which has no triangle. */
FN void closest_update_best(__local mesh_shared_query *query)
{
    if (query->least_t >= real_bits(query->best_t))
        return;
    query->best_t = real_of_bits(query->least_t);
    query->best_triangle = MESH_NO_TRIANGLE;
}

/* Lowers the limit: some triangle is not farther than `most`. */
FN void closest_limit(__local mesh_shared_query *query, const closest_traversal *trav, real most)
{
    if (most < trav->best.t)
        atomic_min(&query->least_t, real_bits(most));
}

/* Tests one child of a node. With masks a child may hold no triangle that counts. */
FN void closest_test_child(const mesh_run *run, int slot, int lane, int options)
{
    __local mesh_shared *shared = run->shared;
    __local mesh_shared_query *query = mesh_query_of(shared, slot);
    closest_traversal trav;
    mesh_children children[LANG_LOADS]; /* the address of one child ends the compiler of Mesa 22.3 */
    closest_load_shared(run, query, options, &trav);
    mesh_load_children(run->nodes + trav.next, lane, children);
    const mesh_children child = children[0];
    const closest_span bounds = closest_span_of(trav.view, child.lo, child.hi);
    const int is_candidate = child.exist && mesh_not_after(bounds.least, child.least, trav.best);
    if (options == 0 && child.exist)
        closest_limit(query, &trav, bounds.most);
    shared->key[slot][lane] = is_candidate ? mesh_key_bits_of(bounds.least, child.least) : ~(u64)0;
    shared->entered[slot][lane] = run->nodes[trav.next].child[lane];
}

/* Marks one child, unless the limit that all children have set culls it. Few are left, which saves comparisons when
 * they are pushed. */
FN void closest_node_phase2(const mesh_run *run, int slot, int lane)
{
    __local mesh_shared *shared = run->shared;
    __local mesh_shared_query *query = mesh_query_of(shared, slot);
    if (shared->key[slot][lane] <= mesh_key_bits_of(real_of_bits(query->least_t), MESH_NO_TRIANGLE))
        atomic_or(&shared->slots[slot].marks, 1u << lane);
    if (lane == 0)
        closest_update_best(query);
}
FN void closest_node_phase3(const mesh_run *run, int slot, int lane)
{
    mesh_push_child(run, slot, lane);
}

/* Tests one triangle of a leaf. limits: its greatest distance lowers the limit. */
FN void closest_test_leaf(const mesh_run *run, int slot, int lane, int options, int limits)
{
    __local mesh_shared *shared = run->shared;
    __local mesh_shared_query *query = mesh_query_of(shared, slot);
    closest_traversal trav;
    closest_load_shared(run, query, options, &trav);
    const closest_group group = closest_group_of(mesh_leaf_of(run, trav.next), lane, &trav, run->frame.scale, options);
    if (!group.active)
        return;
    if (limits)
        closest_limit(query, &trav, group.span.most);
    shared->key[slot][lane] = (u64)real_bits(group.span.most) << 32 | real_bits(group.span.least);
    atomic_or(&shared->slots[slot].marks, 1u << lane);
}

/* Queues one triangle that may be the closest of its leaf. */
FN void closest_queue_pair(const mesh_run *run, int slot, int lane)
{
    __local const mesh_shared *shared = run->shared;
    const int is_marked = (int)(shared->slots[slot].marks >> lane & 1);
    const int is_left = is_marked && (u32)shared->key[slot][lane] <= mesh_query_of(run->shared, slot)->least_t;
    mesh_queue_left(run, slot, lane, is_marked, is_left);
}

/* Loads the query and the triangle of a queued pair. */
FN closest_group closest_load_pair(const mesh_run *run, mesh_step *step, int options, closest_traversal *trav)
{
    __local const mesh_shared *shared = run->shared;
    closest_group group;
    mesh_next_pair(run, step);
    const int lane = (int)(step->pair % MESH_WIDTH);
    const u64 bounds = mesh_bounds_of(shared, step);
    closest_load_shared(run, mesh_query_of_pair(run, step), options, trav);
    G const mesh_leaf *leaf = mesh_leaf_of(run, trav->next);
    const mesh_corners corners = mesh_corners_of(leaf, trav->next, lane);
    group.in.center = trav->center;
    group.in.p0 = corners.p0;
    group.in.p1 = corners.p1;
    group.in.p2 = corners.p2;
    group.span.least = real_of_bits((u32)bounds);
    group.span.most = real_of_bits((u32)(bounds >> 32));
    group.triangle = step->triangle = leaf->triangle[lane];
    group.active = step->has_pair;
    return group;
}

/* Uses the distance of a pair, as mesh_record_first_phase1 uses a time. */
FN void closest_record_phase1(const mesh_run *run, const closest_group *group, closest_proven proven, mesh_step *step)
{
    __local mesh_shared_query *query = mesh_query_of_pair(run, step);
    const vm is_certain = v_eq(proven.low, proven.high);
    step->has_hit = group->active && is_certain;
    step->t = proven.low;
    step->state = STATE_MISS;
    if (!group->active)
        return;
    atomic_min(&query->least_t, real_bits(proven.high));
    if (!is_certain) /* below infinity, which would mean that nothing is undecided */
        atomic_min(&query->earliest_undecided, real_bits(v_min(proven.low, v_largest())));
}

/* Solves one pair in fast mode. */
FN closest_proven closest_solve(const closest_group *group)
{
    closest_proven proven;
    proven.low = proven.high = closest_measure(group);
    return proven;
}

/* Defines a search by its solver. */
#define CLOSEST_SEARCH(name, solve)                                                    \
    FN void name##_test_triangle(const mesh_run *run, int slot, int lane, int options) \
    {                                                                                  \
        closest_test_leaf(run, slot, lane, options, 1);                                \
    }                                                                                  \
    FN void name##_solve_pair(const mesh_run *run, mesh_step *step, int options)       \
    {                                                                                  \
        closest_traversal trav;                                                        \
        const closest_group group = closest_load_pair(run, step, options, &trav);      \
        closest_record_phase1(run, &group, solve(&group), step);                       \
    }                                                                                  \
    MESH_SEARCH_PHASES(name, mesh_record_first)
#endif
