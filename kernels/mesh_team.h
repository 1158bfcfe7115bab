/* SPDX-License-Identifier: MIT */
/* Traversal by the work-items of a group together, for GPUs. A group of MESH_ITEMS work-items has MESH_SLOTS queries in
 * traversal. At a node or a leaf a *team* of MESH_WIDTH work-items serves a query: each tests one child or one
 * triangle. The pairs of a query and a triangle that are left are collected from all queries. They are solved when
 * there is one for each work-item. So a query that goes its own way keeps a team from other work, not a whole warp.
 *
 * What work-items share lies in local memory, and barriers alone order their accesses: nothing depends on which of them
 * run in lockstep. A group goes through one loop. A step of it has four phases, with a barrier after each:
 *
 *   0  a work-item for each slot pops the next node or leaf, or stores the answer and takes a query that waits
 *   1  all decide what to do, from counts that none of them changes now; then the tests, or the solver
 *   2  children are pushed, pairs queued, or queries prepared, one for each work-item
 *   3  hits that were solved become best hits; a search for closest points pushes children
 *
 * Where a platform has votes, phase 1 could leave its masks in registers instead of `marks`. */
#ifndef CAROM_MESH_TEAM_H
#define CAROM_MESH_TEAM_H
#include "mesh_shared.h"

#define MESH_MEET barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

enum { MESH_STEP_END, MESH_STEP_PREPARE, MESH_STEP_NODE, MESH_STEP_LEAF, MESH_STEP_SOLVE };

/* The part of a work-item in a step. */
typedef struct mesh_step {
    int item, team, lane;
    int action; /* the same for all work-items */
    u32 slots;  /* this team serves every MESH_TEAMS-th of them, from the first on */
    /* The pair to solve; then the hit. */
    int has_pair, has_hit, triangle, state;
    real t;
    __local mesh_shared_query *query;
} mesh_step;

/* The query of a slot goes on at `next`. */
FN void mesh_go_on(__local mesh_shared *shared, int slot, int next)
{
    atomic_or(next >= 0 ? &shared->at_node : &shared->at_leaf, 1u << slot);
}

/* Gives an empty slot a query that waits, if there is one. */
FN void mesh_fill_slot(__local mesh_shared *shared, int slot)
{
    const int last = atomic_dec(&shared->waiting) - 1;
    if (last < 0) {
        atomic_inc(&shared->waiting);
        return;
    }
    const u8 taken = shared->query_at[MESH_SLOTS + last];
    shared->query_at[MESH_SLOTS + last] = shared->query_at[slot];
    shared->query_at[slot] = taken;
    mesh_go_on(shared, slot, shared->queries[taken].next);
}

/* A set of slots without its first n. */
FN u32 mesh_drop(u32 slots, int n)
{
    for (int k = 0; k < n; k++)
        slots &= slots - 1;
    return slots;
}

/* Decides what to do in a step, the same for all work-items. A node or leaf step takes so many queries that
 * no team is idle. */
FN void mesh_decide(const mesh_run *run, mesh_step *step)
{
    __local const mesh_shared *shared = run->shared;
    const u32 nodes = shared->at_node, leaves = shared->at_leaf, pairs = shared->queued - shared->solved;
    const int at_nodes = bitmask_count(nodes), at_leaves = bitmask_count(leaves);
    const int takes_leaves = at_leaves > at_nodes, ready = takes_leaves ? at_leaves : at_nodes;
    const int most = takes_leaves && ready > MESH_LEAVES ? MESH_LEAVES : ready;
    step->action = takes_leaves ? MESH_STEP_LEAF : MESH_STEP_NODE;
    if (pairs >= MESH_ITEMS || at_nodes + at_leaves < MESH_TEAMS)
        step->action = pairs > 0 ? MESH_STEP_SOLVE : ready > 0 ? step->action : MESH_STEP_END;
    if (shared->waiting == 0 && shared->prepared < run->end - run->first)
        step->action = MESH_STEP_PREPARE;
    step->slots = mesh_drop(takes_leaves ? leaves : nodes,
                            ready - (most < MESH_TEAMS ? most : most / MESH_TEAMS * MESH_TEAMS) + step->team);
}

/* Work-item 0 counts what was done. */
FN void mesh_end_step(const mesh_run *run, const mesh_step *step)
{
    __local mesh_shared *shared = run->shared;
    if (step->item == 0 && step->action == MESH_STEP_SOLVE) {
        const u32 pairs = shared->queued - shared->solved;
        shared->solved += pairs < MESH_ITEMS ? pairs : MESH_ITEMS;
    }
    if (step->item == 0 && step->action == MESH_STEP_PREPARE)
        shared->prepared += MESH_ITEMS;
}

/* ---- at a node -------------------------------------------------------------------------------------------------- */

/* Keeps the number of a query's node, and the height of its stack, for the push. */
FN void mesh_keep_node(__local mesh_shared *shared, int slot)
{
    __local const mesh_shared_query *query = mesh_query_of(shared, slot);
    shared->node[slot] = query->next;
    shared->bottom[slot] = query->top;
}

/* Marks a child that is entered. */
FN void mesh_mark_child(__local mesh_shared *shared, int slot, int lane, u64 key)
{
    shared->key[slot][lane] = key;
    atomic_or(&shared->marks[slot], 1u << lane);
}

/* Tests one child of a node. */
FN void mesh_test_child(const mesh_run *run, int slot, int lane, int options)
{
    __local mesh_shared *shared = run->shared;
    mesh_traversal trav;
    real enters[1];
    mesh_load_shared(run, mesh_query_of(shared, slot), options, &trav);
    G const mesh_node *node = run->nodes + trav.next;
    if (lane == 0)
        mesh_keep_node(shared, slot);
    if (mesh_test_some(&trav, node, lane, enters) != 0)
        mesh_mark_child(shared, slot, lane, mesh_key_bits_of(enters[0], node->least[lane]));
}

/* Pushes one child that is entered, or goes on there if it is the first. Its place on the stack is the number of
 * children after it. The query's next node is then another; `node` is the one that was tested. */
FN void mesh_push_child(const mesh_run *run, int slot, int lane)
{
    __local mesh_shared *shared = run->shared;
    __local mesh_shared_query *query = mesh_query_of(shared, slot);
    const u32 entered = shared->marks[slot];
    const int last = bitmask_count(entered) - 1;
    if ((entered >> lane & 1) != 0) {
        const u64 key = shared->key[slot][lane];
        const int child = run->nodes[shared->node[slot]].child[lane];
        int after = 0;
        for (u32 left = entered; left != 0; left &= left - 1)
            after += shared->key[slot][bitmask_first(left)] > key;
        if (after == last) {
            query->next = child;
            query->top += last;
            if (child < 0) {
                atomic_xor(&shared->at_node, 1u << slot);
                atomic_xor(&shared->at_leaf, 1u << slot);
            }
        } else {
            mesh_stack stack = mesh_stack_of(run, slot);
            mesh_stack_set(&stack, shared->bottom[slot] + after, key, child);
        }
    }
    if (lane == 0 && entered == 0) {
        atomic_xor(&shared->at_node, 1u << slot);
        query->stops = MESH_POPS;
    }
}

/* Phases 2 and 3 at a node. */
FN void mesh_node_phase2(const mesh_run *run, int slot, int lane)
{
    mesh_push_child(run, slot, lane);
}
FN void mesh_node_phase3(const mesh_run *run, int slot, int lane)
{
    (void)run, (void)slot, (void)lane;
}

/* ---- at a leaf -------------------------------------------------------------------------------------------------- */

/* Queues one triangle if it is left. The query waits until its pairs are solved. */
FN void mesh_queue_left(const mesh_run *run, int slot, int lane, int is_left)
{
    __local mesh_shared *shared = run->shared;
    __local mesh_shared_query *query = mesh_query_of(shared, slot);
    if (is_left) {
        const u32 at = atomic_inc(&shared->queued) % MESH_QUEUE;
        shared->leaf[at] = query->next;
        for (int k = 0; k < MESH_BOUNDS; k++)
            shared->bound[k][at] = real_of_bits((u32)(shared->key[slot][lane] >> 32 * k));
        shared->lane[at] = (u8)lane;
        shared->slot[at] = (u8)slot;
        atomic_inc(&query->pending);
    }
    if (lane == 0) {
        atomic_xor(&shared->at_leaf, 1u << slot);
        query->stops = MESH_POPS;
    }
}

/* Queues one triangle that is left. The high half of the marks: triangles that are hit at time 0, the first of which
 * becomes the best hit, because indices ascend in a leaf. */
FN void mesh_queue_pair(const mesh_run *run, int slot, int lane)
{
    __local mesh_shared *shared = run->shared;
    __local mesh_shared_query *query = mesh_query_of(shared, slot);
    const u32 marks = shared->marks[slot], accepted = marks >> MESH_WIDTH;
    const real enter = real_of_bits((u32)shared->key[slot][lane]);
    int is_left = (int)(marks >> lane & 1);
    if (accepted != 0) {
        const int first = bitmask_first(accepted);
        G const int *triangle = mesh_leaf_of(run, query->next)->triangle;
        if (lane == first) {
            query->best_t = R(0.0);
            query->best_triangle = triangle[first];
            query->state = STATE_OVERLAPPING;
            query->least_t = 0;
        }
        is_left = is_left &&
                  mesh_not_after(v_max(enter, v_f(R(0.0))), triangle[lane], mesh_hit_key_of(R(0.0), triangle[first]));
    }
    mesh_queue_left(run, slot, lane, is_left);
}

/* The next pair for this work-item, or the first one once more if there are fewer; returns where it is queued. */
FN u32 mesh_next_pair(const mesh_run *run, mesh_step *step)
{
    __local mesh_shared *shared = run->shared;
    const u32 pairs = shared->queued - shared->solved;
    step->has_pair = (u32)step->item < pairs;
    const u32 at = (shared->solved + (step->has_pair ? (u32)step->item : 0)) % MESH_QUEUE;
    step->query = mesh_query_of(shared, shared->slot[at]);
    return at;
}

/* ---- hits ------------------------------------------------------------------------------------------------------- */

/* The first hit. Phase 1: the least time of all hits; 2: the least triangle at that time; 3: the pair that has
 * both may be better than the best hit so far. */
FN void mesh_record_first_phase1(const mesh_run *run, const mesh_packet_result *result, mesh_step *step)
{
    (void)run;
    if (step->has_hit)
        atomic_min(&step->query->least_t, real_bits(step->t));
    if (v_any(result->undecided))
        atomic_min(&step->query->earliest_undecided, real_bits(v_positive_zero(result->from)));
}

FN void mesh_record_first_phase2(mesh_step *step)
{
    step->has_hit = step->has_hit && step->query->least_t == real_bits(step->t);
    if (step->has_hit)
        atomic_min(&step->query->least_triangle, step->triangle);
}

/* Whether the pair has the least triangle, which is then reset. */
FN int mesh_is_least(const mesh_step *step)
{
    return step->has_hit &&
           atomic_cmpxchg(&step->query->least_triangle, step->triangle, MESH_NO_TRIANGLE) == step->triangle;
}

FN void mesh_record_first_phase3(const mesh_run *run, const mesh_step *step)
{
    __local mesh_shared_query *query = step->query;
    (void)run;
    if (!mesh_is_least(step))
        return;
    const mesh_hit_key hit = mesh_hit_key_of(step->t, step->triangle);
    if (!mesh_is_after(mesh_hit_key_of(query->best_t, query->best_triangle), hit))
        return;
    query->best_t = hit.t;
    query->best_triangle = hit.triangle;
    query->state = step->state;
}

/* Counts a hit of a list, and stores its record if there is room. */
FN void mesh_add_record(const mesh_run *run, const mesh_step *step, real t)
{
    const u32 at = atomic_inc(&step->query->hits), from = run->each != 0 ? (u32)run->from[step->query->number] : 0;
    const int number = step->query->number;
    if (at < (run->each < 0 ? run->found - from : (u32)run->each))
        mesh_store_record(run->records + from + at, t, step->triangle, step->state, number, number);
}

/* All hits. Phase 1 counts each hit and undecided pair; in phase 3 one of the query's hits sets its state. */
FN void mesh_record_all_phase1(const mesh_run *run, const mesh_packet_result *result, mesh_step *step)
{
    if (!v_any(v_or(result->hits, result->undecided)))
        return;
    mesh_add_record(run, step, v_any(result->undecided) ? real_of_bits(R_NAN_BITS) : step->t);
    if (step->has_hit)
        atomic_min(&step->query->least_triangle, step->triangle);
}

FN void mesh_record_all_phase2(mesh_step *step)
{
    (void)step;
}

FN void mesh_record_all_phase3(const mesh_run *run, const mesh_step *step)
{
    __local mesh_shared_query *query = step->query;
    if (!mesh_is_least(step))
        return;
    query->state = STATE_APPROACHING;
    if (run->one_is_enough) { /* empties the stack and culls the rest */
        query->top = 0;
        query->best_t = R(-1.0);
        query->best_triangle = 0;
    }
}

/* ---- a search --------------------------------------------------------------------------------------------------- */

/* Defines a search, as in mesh_pairs.h. */
#define MESH_SEARCH(name, cull_leaf, solve, record)                                                                    \
    /* Tests one triangle of a leaf. */                                                                                \
    FN void name##_test_triangle(const mesh_run *run, int slot, int lane, int options)                                 \
    {                                                                                                                  \
        __local mesh_shared *shared = run->shared;                                                                     \
        mesh_traversal trav;                                                                                           \
        mesh_load_shared(run, mesh_query_of(shared, slot), options, &trav);                                            \
        mesh_group group =                                                                                             \
            mesh_group_of(mesh_leaf_of(run, trav.next), trav.next, lane, &trav, run->frame.scale, options);            \
        const int before = trav.best.triangle;                                                                         \
        cull_leaf(&trav, &group, options);                                                                             \
        const u32 marks = (u32)(trav.best.triangle != before) << MESH_WIDTH | v_bitmask(group.active);                 \
        if (marks == 0)                                                                                                \
            return;                                                                                                    \
        shared->key[slot][lane] = real_bits(group.enter);                                                              \
        atomic_or(&shared->marks[slot], marks << lane);                                                                \
    }                                                                                                                  \
    /* Solves one pair. */                                                                                             \
    FN void name##_solve_pair(const mesh_run *run, mesh_step *step, int options)                                       \
    {                                                                                                                  \
        __local mesh_shared *shared = run->shared;                                                                     \
        const u32 at = mesh_next_pair(run, step);                                                                      \
        mesh_traversal trav;                                                                                           \
        mesh_group group;                                                                                              \
        mesh_load_shared(run, step->query, options, &trav);                                                            \
        group.reference = shared->leaf[at];                                                                            \
        group.leaf = mesh_leaf_of(run, group.reference);                                                               \
        group.p = mesh_corners_of(group.leaf, group.reference, shared->lane[at]);                                      \
        group.triangle = group.leaf->triangle[shared->lane[at]];                                                       \
        group.enter = shared->bound[0][at];                                                                            \
        group.active = step->has_pair;                                                                                 \
        mesh_packet packet = mesh_packet_of(&group, &trav, options);                                                   \
        packet.leaves = run->leaves;                                                                                   \
        packet.leaf = shared->leaf + at;                                                                               \
        packet.slot = shared->lane + at;                                                                               \
        const mesh_packet_result result = solve(&packet, options);                                                     \
        step->has_hit = (int)v_bitmask(result.hits);                                                                   \
        step->t = result.t;                                                                                            \
        step->state = result.state;                                                                                    \
        step->triangle = mesh_leaf_of(run, *packet.leaf)->triangle[*packet.slot]; /* kept, it would cost a register */ \
        record##_phase1(run, &result, step);                                                                           \
    }                                                                                                                  \
    MESH_SEARCH_PHASES(name, record)

/* Phases 2 and 3 of the solver, by the rules of `record`. */
#define MESH_SEARCH_PHASES(name, record)                              \
    FN void name##_phase2(mesh_step *step)                            \
    {                                                                 \
        record##_phase2(step);                                        \
    }                                                                 \
    FN void name##_phase3(const mesh_run *run, const mesh_step *step) \
    {                                                                 \
        record##_phase3(run, step);                                   \
        if (step->has_pair)                                           \
            atomic_dec(&step->query->pending);                        \
    }

/* A team serves every MESH_TEAMS-th slot of the step. */
#define MESH_EACH_SLOT(visit)                                                  \
    for (u32 left = step.slots; left != 0; left = mesh_drop(left, MESH_TEAMS)) \
    visit

/* Defines a run, as in mesh_run.h. */
#define MESH_RUN_(name, kind, search, begin, answer, options)                                                          \
    /* Phase 0: the query of this work-item's slot pops, or ends; an empty slot takes a query that waits. */           \
    FN void name##_serve_slot(const mesh_run *run, int slot)                                                           \
    {                                                                                                                  \
        __local mesh_shared *shared = run->shared;                                                                     \
        __local mesh_shared_query *query = mesh_query_of(shared, slot);                                                \
        if (query->stops == MESH_POPS && query->pending == 0) {                                                        \
            kind##_traversal trav;                                                                                     \
            kind##_update_best(query);                                                                                 \
            kind##_load_shared(run, query, options, &trav);                                                            \
            trav.earliest_undecided = real_of_bits(query->earliest_undecided);                                         \
            trav.hits = query->hits;                                                                                   \
            trav.stack = mesh_stack_of(run, slot);                                                                     \
            trav.stack.top = query->top;                                                                               \
            const int goes_on = kind##_pop_next(&trav);                                                                \
            query->stops = goes_on ? MESH_TRAVERSES : MESH_IS_EMPTY;                                                   \
            query->next = trav.next;                                                                                   \
            query->top = trav.stack.top;                                                                               \
            if (goes_on)                                                                                               \
                mesh_go_on(shared, slot, trav.next);                                                                   \
            else                                                                                                       \
                answer(run, &trav);                                                                                    \
        }                                                                                                              \
        if (query->stops == MESH_IS_EMPTY)                                                                             \
            mesh_fill_slot(shared, slot);                                                                              \
    }                                                                                                                  \
    /* Prepares one of the next queries: it waits for a slot, or is answered without traversal. */                     \
    FN void name##_prepare(const mesh_run *run, int item)                                                              \
    {                                                                                                                  \
        __local mesh_shared *shared = run->shared;                                                                     \
        real rows[LANES * MESH_ROWS];                                                                                  \
        kind##_traversal trav;                                                                                         \
        const u32 at = run->first + shared->prepared + (u32)item;                                                      \
        if (at >= run->end)                                                                                            \
            return;                                                                                                    \
        const int begun = begin(run, &trav, mesh_run_row(run, at), rows, options);                                     \
        if (begun > 0)                                                                                                 \
            kind##_store_shared(&trav, shared->queries + shared->query_at[MESH_SLOTS + atomic_inc(&shared->waiting)]); \
        else if (begun == 0)                                                                                           \
            answer(run, &trav);                                                                                        \
    }                                                                                                                  \
    FN void name(const mesh_run *run)                                                                                  \
    {                                                                                                                  \
        __local mesh_shared *shared = run->shared;                                                                     \
        mesh_step step;                                                                                                \
        step.item = (int)get_local_id(0);                                                                              \
        step.team = step.item / MESH_WIDTH;                                                                            \
        step.lane = step.item % MESH_WIDTH;                                                                            \
        mesh_begin_shared(shared, step.item);                                                                          \
        MESH_MEET;                                                                                                     \
        do {                                                                                                           \
            if (step.item < MESH_SLOTS) {                                                                              \
                shared->marks[step.item] = 0;                                                                          \
                name##_serve_slot(run, step.item);                                                                     \
            }                                                                                                          \
            MESH_MEET;                                                                                                 \
            mesh_decide(run, &step);                                                                                   \
            if (step.action == MESH_STEP_NODE)                                                                         \
                MESH_EACH_SLOT(kind##_test_child(run, bitmask_first(left), step.lane, options);)                       \
            else if (step.action == MESH_STEP_LEAF)                                                                    \
                MESH_EACH_SLOT(search##_test_triangle(run, bitmask_first(left), step.lane, options);)                  \
            else if (step.action == MESH_STEP_SOLVE)                                                                   \
                search##_solve_pair(run, &step, options);                                                              \
            MESH_MEET;                                                                                                 \
            if (step.action == MESH_STEP_NODE)                                                                         \
                MESH_EACH_SLOT(kind##_node_phase2(run, bitmask_first(left), step.lane);)                               \
            else if (step.action == MESH_STEP_LEAF)                                                                    \
                MESH_EACH_SLOT(kind##_queue_pair(run, bitmask_first(left), step.lane);)                                \
            else if (step.action == MESH_STEP_SOLVE)                                                                   \
                search##_phase2(&step);                                                                                \
            else if (step.action == MESH_STEP_PREPARE)                                                                 \
                name##_prepare(run, step.item);                                                                        \
            MESH_MEET;                                                                                                 \
            if (step.action == MESH_STEP_NODE)                                                                         \
                MESH_EACH_SLOT(kind##_node_phase3(run, bitmask_first(left), step.lane);)                               \
            else if (step.action == MESH_STEP_SOLVE)                                                                   \
                search##_phase3(run, &step);                                                                           \
            mesh_end_step(run, &step);                                                                                 \
            MESH_MEET;                                                                                                 \
        } while (step.action != MESH_STEP_END);                                                                        \
    }
#endif
