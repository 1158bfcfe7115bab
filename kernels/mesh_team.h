/* SPDX-License-Identifier: MIT */
/* Traversal by the work-items of a group together, for GPUs. A group of MESH_ITEMS work-items has MESH_SLOTS queries in
 * traversal. At a node or a leaf a *team* of MESH_WIDTH work-items serves a query: each tests one child or one
 * triangle. The pairs of a query and a triangle that are left are collected from all queries. They are solved when
 * there is one for each work-item. So a query that goes its own way keeps a team from other work, not a whole warp.
 *
 * What work-items share lies in local memory, and barriers alone order their accesses: nothing depends on which of them
 * run in lockstep. A group goes through one loop. A step of it has four phases, with a barrier after each:
 *
 *   0  a work-item for each slot sees what the last step has left of its query; it pops the next node or leaf, or
 *      stores the answer and takes a query that waits
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
    u32 slots;  /* whose queries this team serves */
    /* The pair to solve; then the hit. */
    u32 pair; /* slot * MESH_WIDTH + lane */
    int has_pair, has_hit, triangle, state;
    real t;
} mesh_step;

/* The query of the pair. */
FN __local mesh_shared_query *mesh_query_of_pair(const mesh_run *run, const mesh_step *step)
{
    return mesh_query_of(run->shared, (int)(step->pair / MESH_WIDTH));
}

/* The query of a slot goes on at `next`. */
FN void mesh_go_on(__local mesh_shared *shared, int slot, int next)
{
    atomic_or(next >= 0 ? &shared->at_node : &shared->at_leaf, 1u << slot);
}

/* A slot whose query has been at a node or a leaf. At a node all marked children but the first are on the stack now. */
FN void mesh_leave_step(__local mesh_shared *shared, int slot, mesh_slot *own, int action)
{
    if (action == MESH_STEP_NODE) {
        own->top += bitmask_count(own->marks & (own->marks - 1));
        if (own->marks != 0) {
            own->marks = 0;
            return;
        }
        atomic_xor(&shared->at_node, 1u << slot);
    } else {
        atomic_xor(&shared->at_leaf, 1u << slot);
    }
    own->stops = MESH_POPS;
}

/* Whether a query waits for pairs: a triangle of its leaf is marked that is not decided. */
FN int mesh_is_pending(const mesh_slot *slot)
{
    return (slot->marks & ((1u << MESH_WIDTH) - 1)) != slot->decided;
}

/* Gives an empty slot a query that waits, if there is one. */
FN void mesh_fill_slot(__local mesh_shared *shared, int slot, mesh_slot *own)
{
    const int last = atomic_dec(&shared->waiting) - 1;
    if (last < 0) {
        atomic_inc(&shared->waiting);
        return;
    }
    own->stops = MESH_TRAVERSES;
    own->top = 0;
    const u8 taken = shared->query_at[MESH_SLOTS + last];
    shared->query_at[MESH_SLOTS + last] = shared->query_at[slot];
    shared->query_at[slot] = taken;
    mesh_go_on(shared, slot, shared->queries[taken].next);
}

/* A set without its last member. */
FN u32 mesh_drop_last(u32 slots)
{
    return slots ^ 1u << bitmask_last(slots);
}

#if MESH_TEAMS != 2
#error "mesh_slots_of_team() divides slots among two teams"
#endif
/* The slots of a set that a team serves: every other one. Bit i of `odd` tells whether the first i + 1 slots hold an
 * odd number of the set's. */
FN u32 mesh_slots_of_team(u32 slots, int team)
{
    u32 odd = slots;
    for (int shift = 1; shift < MESH_SLOTS; shift *= 2)
        odd ^= odd << shift;
    return slots & (odd ^ (0 - (u32)team));
}

/* Decides what to do in a step, the same for all work-items. A node or leaf step takes so many queries that
 * no team is idle. */
FN void mesh_decide(const mesh_run *run, mesh_step *step)
{
    __local mesh_shared *shared = run->shared;
    const u32 nodes = shared->at_node, leaves = shared->at_leaf, pairs = shared->queued - shared->solved;
    const int at_nodes = bitmask_count(nodes), at_leaves = bitmask_count(leaves);
    const int takes_leaves = at_leaves > at_nodes, ready = takes_leaves ? at_leaves : at_nodes;
    step->action = takes_leaves ? MESH_STEP_LEAF : MESH_STEP_NODE;
    if (pairs >= MESH_ITEMS || at_nodes + at_leaves < MESH_TEAMS)
        step->action = pairs > 0 ? MESH_STEP_SOLVE : ready > 0 ? step->action : MESH_STEP_END;
    if (shared->waiting == 0 && shared->prepared < run->end - run->first)
        step->action = MESH_STEP_PREPARE;
    u32 slots = takes_leaves ? leaves : nodes;
    if (ready > 1 && (ready & 1) != 0)
        slots = mesh_drop_last(slots);
    for (int more = at_leaves; takes_leaves && more > MESH_LEAVES + (ready & 1); more--)
        slots = mesh_drop_last(slots);
    if (step->item == 0)
        shared->served = step->action == MESH_STEP_NODE || step->action == MESH_STEP_LEAF ? slots : 0;
    step->slots = mesh_slots_of_team(slots, step->team);
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

/* Marks a child that is entered. */
FN void mesh_mark_child(__local mesh_shared *shared, int slot, int lane, u64 key, int child)
{
    shared->key[slot][lane] = key;
    shared->entered[slot][lane] = child;
    atomic_or(&shared->slots[slot].marks, 1u << lane);
}

/* Tests one child of a node. */
FN void mesh_test_child(const mesh_run *run, int slot, int lane, int options)
{
    __local mesh_shared *shared = run->shared;
    mesh_traversal trav;
    real enters[1];
    mesh_load_shared(run, mesh_query_of(shared, slot), options, &trav);
    G const mesh_node *node = run->nodes + trav.next;
    if (mesh_test_some(&trav, node, lane, enters) != 0)
        mesh_mark_child(shared, slot, lane, mesh_key_bits_of(enters[0], node->least[lane]), node->child[lane]);
}

/* Pushes one child that is entered, or goes on there if it is the first. Its place on the stack is the number of
 * children after it. */
FN void mesh_push_child(const mesh_run *run, int slot, int lane)
{
    __local mesh_shared *shared = run->shared;
    const u32 entered = shared->slots[slot].marks;
    if ((entered >> lane & 1) != 0) {
        const u64 key = shared->key[slot][lane];
        const int child = shared->entered[slot][lane];
        int after = 0;
        for (u32 left = entered; left != 0; left = mesh_drop_last(left))
            after += shared->key[slot][bitmask_last(left)] > key;
        if (after == bitmask_count(entered) - 1) {
            mesh_query_of(shared, slot)->next = child;
            if (child < 0) {
                atomic_xor(&shared->at_node, 1u << slot);
                atomic_xor(&shared->at_leaf, 1u << slot);
            }
        } else {
            mesh_stack stack = mesh_stack_of(run, slot);
            mesh_stack_set(&stack, shared->slots[slot].top + after, key, child);
        }
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
FN void mesh_queue_left(const mesh_run *run, int slot, int lane, int is_marked, int is_left)
{
    __local mesh_shared *shared = run->shared;
    if (is_left) {
        shared->pair[atomic_inc(&shared->queued) % MESH_QUEUE] = (u8)(slot * MESH_WIDTH + lane);
    } else if (is_marked) {
        atomic_or(&shared->slots[slot].decided, 1u << lane);
    }
}

/* Queues one triangle that is left. The high half of the marks: triangles that are hit at time 0, the first of which
 * becomes the best hit, because indices ascend in a leaf. */
FN void mesh_queue_pair(const mesh_run *run, int slot, int lane)
{
    __local mesh_shared *shared = run->shared;
    const u32 marks = shared->slots[slot].marks, accepted = marks >> MESH_WIDTH;
    const int is_marked = (int)(marks >> lane & 1);
    int is_left = is_marked;
    if (accepted != 0) {
        __local mesh_shared_query *query = mesh_query_of(shared, slot);
        const real enter = real_of_bits((u32)shared->key[slot][lane]);
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
    mesh_queue_left(run, slot, lane, is_marked, is_left);
}

/* The next pair for this work-item, or the first one once more if there are fewer. */
FN void mesh_next_pair(const mesh_run *run, mesh_step *step)
{
    __local mesh_shared *shared = run->shared;
    const u32 pairs = shared->queued - shared->solved;
    step->has_pair = (u32)step->item < pairs;
    step->pair = shared->pair[(shared->solved + (step->has_pair ? (u32)step->item : 0)) % MESH_QUEUE];
    shared->lane[step->item] = (u8)(step->pair % MESH_WIDTH);
}

/* The triangle of a pair. It is read anew after the solver, because it would take a register meanwhile. */
FN int mesh_triangle_of_pair(const mesh_run *run, const mesh_step *step)
{
    __local const volatile int *leaf = &mesh_query_of_pair(run, step)->next;
    __local const volatile u8 *lane = run->shared->lane + step->item;
    return mesh_leaf_of(run, *leaf)->triangle[*lane];
}

/* The bounds of a pair, that its triangle's box has. */
FN u64 mesh_bounds_of(__local const mesh_shared *shared, const mesh_step *step)
{
    return shared->key[step->pair / MESH_WIDTH][step->pair % MESH_WIDTH];
}

/* ---- hits ------------------------------------------------------------------------------------------------------- */

/* The first hit. Phase 1: the least time of all hits; 2: the least triangle at that time; 3: the pair that has
 * both may be better than the best hit so far. */
FN void mesh_record_first_phase1(const mesh_run *run, const mesh_packet_result *result, mesh_step *step)
{
    __local mesh_shared_query *query = mesh_query_of_pair(run, step);
    if (step->has_hit)
        atomic_min(&query->least_t, real_bits(step->t));
    if (v_any(result->undecided))
        atomic_min(&query->earliest_undecided, real_bits(v_positive_zero(result->from)));
}

FN void mesh_record_first_phase2(const mesh_run *run, mesh_step *step)
{
    __local mesh_shared_query *query = mesh_query_of_pair(run, step);
    step->has_hit = step->has_hit && query->least_t == real_bits(step->t);
    if (step->has_hit)
        atomic_min(&query->least_triangle, step->triangle);
}

/* Whether the pair has the least triangle, which is then reset. */
FN int mesh_is_least(__local mesh_shared_query *query, const mesh_step *step)
{
    return step->has_hit && atomic_cmpxchg(&query->least_triangle, step->triangle, MESH_NO_TRIANGLE) == step->triangle;
}

FN void mesh_record_first_phase3(const mesh_run *run, const mesh_step *step)
{
    __local mesh_shared_query *query = mesh_query_of_pair(run, step);
    if (!mesh_is_least(query, step))
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
    __local mesh_shared_query *query = mesh_query_of_pair(run, step);
    const int number = query->number;
    const u32 at = atomic_inc(&query->hits), from = run->each != 0 ? (u32)run->from[number] : 0;
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
        atomic_min(&mesh_query_of_pair(run, step)->least_triangle, step->triangle);
}

FN void mesh_record_all_phase2(const mesh_run *run, mesh_step *step)
{
    (void)run, (void)step;
}

FN void mesh_record_all_phase3(const mesh_run *run, const mesh_step *step)
{
    __local mesh_shared_query *query = mesh_query_of_pair(run, step);
    if (!mesh_is_least(query, step))
        return;
    query->state = STATE_APPROACHING;
    if (run->one_is_enough) { /* empties the stack and culls the rest */
        run->shared->slots[step->pair / MESH_WIDTH].top = 0;
        query->best_t = R(-1.0);
        query->best_triangle = 0;
    }
}

/* ---- a search --------------------------------------------------------------------------------------------------- */

/* Defines a search, as in mesh_pairs.h. */
#define MESH_SEARCH(name, cull_leaf, solve, record)                                                         \
    /* Tests one triangle of a leaf. */                                                                     \
    FN void name##_test_triangle(const mesh_run *run, int slot, int lane, int options)                      \
    {                                                                                                       \
        __local mesh_shared *shared = run->shared;                                                          \
        mesh_traversal trav;                                                                                \
        mesh_load_shared(run, mesh_query_of(shared, slot), options, &trav);                                 \
        mesh_group group =                                                                                  \
            mesh_group_of(mesh_leaf_of(run, trav.next), trav.next, lane, &trav, run->frame.scale, options); \
        const int before = trav.best.triangle;                                                              \
        cull_leaf(&trav, &group, options);                                                                  \
        const u32 marks = (u32)(trav.best.triangle != before) << MESH_WIDTH | v_bitmask(group.active);      \
        if (marks == 0)                                                                                     \
            return;                                                                                         \
        shared->key[slot][lane] = real_bits(group.enter);                                                   \
        atomic_or(&shared->slots[slot].marks, marks << lane);                                               \
    }                                                                                                       \
    /* Solves one pair. */                                                                                  \
    FN void name##_solve_pair(const mesh_run *run, mesh_step *step, int options)                            \
    {                                                                                                       \
        __local mesh_shared *shared = run->shared;                                                          \
        mesh_traversal trav;                                                                                \
        mesh_group group;                                                                                   \
        mesh_next_pair(run, step);                                                                          \
        mesh_load_shared(run, mesh_query_of_pair(run, step), options, &trav);                               \
        group.reference = trav.next;                                                                        \
        group.leaf = mesh_leaf_of(run, group.reference);                                                    \
        group.p = mesh_corners_of(group.leaf, group.reference, (int)(step->pair % MESH_WIDTH));             \
        group.triangle = group.leaf->triangle[step->pair % MESH_WIDTH];                                     \
        group.enter = real_of_bits((u32)mesh_bounds_of(shared, step));                                      \
        group.active = step->has_pair;                                                                      \
        mesh_packet packet = mesh_packet_of(&group, &trav, options);                                        \
        packet.leaves = run->leaves;                                                                        \
        packet.leaf = &mesh_query_of_pair(run, step)->next;                                                 \
        packet.slot = shared->lane + step->item;                                                            \
        const mesh_packet_result result = solve(&packet, options);                                          \
        step->has_hit = (int)v_bitmask(result.hits);                                                        \
        step->t = result.t;                                                                                 \
        step->state = result.state;                                                                         \
        step->triangle = mesh_triangle_of_pair(run, step);                                                  \
        record##_phase1(run, &result, step);                                                                \
    }                                                                                                       \
    MESH_SEARCH_PHASES(name, record)

/* Phases 2 and 3 of the solver, by the rules of `record`. Work-items without a pair of their own have the first one's.
 */
#define MESH_SEARCH_PHASES(name, record)                                                                \
    FN void name##_phase2(const mesh_run *run, mesh_step *step)                                         \
    {                                                                                                   \
        record##_phase2(run, step);                                                                     \
    }                                                                                                   \
    FN void name##_phase3(const mesh_run *run, const mesh_step *step)                                   \
    {                                                                                                   \
        record##_phase3(run, step);                                                                     \
        atomic_or(&run->shared->slots[step->pair / MESH_WIDTH].decided, 1u << step->pair % MESH_WIDTH); \
    }

/* A team serves its slots of the step. */
#define MESH_EACH_SLOT(visit)                                           \
    for (u32 left = step.slots; left != 0; left = mesh_drop_last(left)) \
    visit

/* Defines a run, as in mesh_run.h. */
#define MESH_RUN_(name, kind, search, begin, answer, options)                                                          \
    /* Phase 0: the query of this work-item's slot pops, or ends; an empty slot takes a query that waits. */           \
    FN void name##_serve_slot(const mesh_run *run, const mesh_step *step)                                              \
    {                                                                                                                  \
        __local mesh_shared *shared = run->shared;                                                                     \
        const int slot = step->item;                                                                                   \
        mesh_slot own = shared->slots[slot];                                                                           \
        if ((shared->served >> slot & 1) != 0)                                                                         \
            mesh_leave_step(shared, slot, &own, step->action);                                                         \
        if (own.stops == MESH_POPS && !mesh_is_pending(&own)) {                                                        \
            __local mesh_shared_query *query = mesh_query_of(shared, slot);                                            \
            kind##_traversal trav;                                                                                     \
            kind##_update_best(query);                                                                                 \
            kind##_load_shared(run, query, options, &trav);                                                            \
            trav.earliest_undecided = real_of_bits(query->earliest_undecided);                                         \
            trav.hits = query->hits;                                                                                   \
            trav.stack = mesh_stack_of(run, slot);                                                                     \
            trav.stack.top = own.top;                                                                                  \
            const int goes_on = kind##_pop_next(&trav);                                                                \
            own.stops = goes_on ? MESH_TRAVERSES : MESH_IS_EMPTY;                                                      \
            own.marks = own.decided = 0;                                                                               \
            own.top = trav.stack.top;                                                                                  \
            query->next = trav.next;                                                                                   \
            if (goes_on)                                                                                               \
                mesh_go_on(shared, slot, trav.next);                                                                   \
            else                                                                                                       \
                answer(run, &trav);                                                                                    \
        }                                                                                                              \
        if (own.stops == MESH_IS_EMPTY)                                                                                \
            mesh_fill_slot(shared, slot, &own);                                                                        \
        shared->slots[slot] = own;                                                                                     \
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
            if (step.item < MESH_SLOTS)                                                                                \
                name##_serve_slot(run, &step);                                                                         \
            MESH_MEET;                                                                                                 \
            mesh_decide(run, &step);                                                                                   \
            if (step.action == MESH_STEP_NODE)                                                                         \
                MESH_EACH_SLOT(kind##_test_child(run, bitmask_last(left), step.lane, options);)                        \
            else if (step.action == MESH_STEP_LEAF)                                                                    \
                MESH_EACH_SLOT(search##_test_triangle(run, bitmask_last(left), step.lane, options);)                   \
            else if (step.action == MESH_STEP_SOLVE)                                                                   \
                search##_solve_pair(run, &step, options);                                                              \
            MESH_MEET;                                                                                                 \
            if (step.action == MESH_STEP_NODE)                                                                         \
                MESH_EACH_SLOT(kind##_node_phase2(run, bitmask_last(left), step.lane);)                                \
            else if (step.action == MESH_STEP_LEAF)                                                                    \
                MESH_EACH_SLOT(kind##_queue_pair(run, bitmask_last(left), step.lane);)                                 \
            else if (step.action == MESH_STEP_SOLVE)                                                                   \
                search##_phase2(run, &step);                                                                           \
            else if (step.action == MESH_STEP_PREPARE)                                                                 \
                name##_prepare(run, step.item);                                                                        \
            MESH_MEET;                                                                                                 \
            if (step.action == MESH_STEP_NODE)                                                                         \
                MESH_EACH_SLOT(kind##_node_phase3(run, bitmask_last(left), step.lane);)                                \
            else if (step.action == MESH_STEP_SOLVE)                                                                   \
                search##_phase3(run, &step);                                                                           \
            mesh_end_step(run, &step);                                                                                 \
            MESH_MEET;                                                                                                 \
        } while (step.action != MESH_STEP_END);                                                                        \
    }
#endif
