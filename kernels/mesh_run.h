/* SPDX-License-Identifier: MIT */
/* Interleaved traversal of the hierarchy by a run of queries. On a CPU all traversals that are at a node take a step,
 * then all that are at a leaf. The next node or leaf of each traversal is prefetched while the others take their step.
 * Without prefetching, one traversal follows the other. */
#ifndef CAROM_MESH_RUN_H
#define CAROM_MESH_RUN_H
#include "clearance.h"
#include "mesh_pairs.h"

#define MESH_CACHE_LINE 64
#define MESH_PREFETCH_AHEAD 3
#define MESH_ROWS (PRECALC_ROWS + 1) /* a query's precalculated terms, and whether it is clear of the mesh */

/* Columns of queries and answers. The run answers queries [first, end). */
typedef struct mesh_run {
    mesh_frame frame;
    G const mesh_node *nodes;
    G const mesh_leaf *leaves;
    G const mesh_clearance *clearance; /* for mesh_begin_clear */
    G const int *masks;                /* of the triangles, with MESH_TRIANGLE_MASKS */
#ifdef MESH_SCENE
    G const mesh_instance *instances; /* the hierarchy over the instances first, then these */
#endif
    G const real *in[MESH_IN_COLUMNS];
    G const int *mask;                 /* of the queries, with MESH_QUERY_MASKS */
    G const mesh_opposites *opposites; /* of the leaves, for contacts; or NULL */
    G const mesh_cones *cones;         /* of the nodes, likewise */
    int options;
    u32 first, end;
    G u8 *state;
    G int *triangle; /* with t: output of a search for one hit */
    G real *t, *depth;
    mesh_sink *sink; /* output of a search for all hits; NULL: each query has its own */
    G mesh_record *records;
    G const int *from; /* each query's first slot in `records` */
    G int *hits, *start;
    u32 found; /* capacity of `records` */
#ifdef MESH_ITEMS
    __local struct mesh_shared *shared;
    G mesh_far_entry *far; /* entries of the group's stacks that have no room in local memory: so many for each */
    u32 far_entries;
    G const u32 *row; /* of the first `rows` queries, in a sorted order */
    u32 rows;
    int each, one_is_enough; /* arguments of mesh_list_kernel.h */
#endif
} mesh_run;

/* A row number of a chunk, known to be below 2^30. AMD's compiler adds such a number to a column's address in one
 * instruction. For other numbers it keeps half of each column's address in a register of every work-item. */
#ifdef __AMDGCN__
#define MESH_ROW(row) ((row)&0x3fffffff)
#else
#define MESH_ROW(row) (row)
#endif

/* The queries of a work-item are `share` consecutive ones. The first `rows` work-items begin at row[item], in a sorted
 * order. */
FN void mesh_run_share(mesh_run *run, u32 item, u32 share, u32 queries, G const u32 *row, u32 rows)
{
    const u32 at = item < rows ? row[item] : item * share;
    run->first = at < queries ? at : queries;
    run->end = queries - run->first > share ? run->first + share : queries;
}

/* The row of query `at` of a run. Where work-items share queries, a group takes the first `rows` of a chunk in their
 * sorted order. */
FN u32 mesh_run_row(const mesh_run *run, u32 at)
{
#ifdef MESH_ITEMS
    return MESH_ROW(at < run->rows ? run->row[at] : at);
#else
    (void)run;
    return at;
#endif
}

/* Whether the device truncates loops of this work-item. Mesa's llvmpipe allows 65535 iterations per kernel, over all
 * its loops; from then on it silently ends every loop after one iteration, this one too. For `number` from 1 to 256 the
 * loop takes at least two iterations. Compilers do not know that range, so they cannot fold the result. */
FN int mesh_run_is_truncated(u32 number)
{
    u32 iterations = 0;
    for (u32 x = number; x < 0x10000; x <<= 4)
        iterations++;
    return iterations < 2;
}

/* A column of LANES queries, padded with copies of the last query. */
FN vf mesh_run_column(const mesh_run *run, int column, u32 at)
{
    real padded[LANES];
    if (LANES == 1 || at + LANES <= run->end)
        return v_load(run->in[column] + at);
    for (u32 lane = 0; lane < LANES; lane++)
        padded[lane] = run->in[column][at + lane < run->end ? at + lane : run->end - 1];
    return v_load(padded);
}

/* Precalculates the traversal's terms of LANES queries. */
FN void mesh_run_precalculate(const mesh_run *run, u32 at, real *rows, int options)
{
    const v3 center =
        v3_of(mesh_run_column(run, MESH_CX, at), mesh_run_column(run, MESH_CY, at), mesh_run_column(run, MESH_CZ, at));
    const v3 velocity =
        v3_of(mesh_run_column(run, MESH_VX, at), mesh_run_column(run, MESH_VY, at), mesh_run_column(run, MESH_VZ, at));
    traversal_precalculate(rows, center, mesh_run_column(run, MESH_RADIUS, at), velocity,
                           mesh_run_column(run, MESH_T_MAX, at), run->frame, options);
}

/* 1 for queries that are clear of the mesh, else 0. */
FN void mesh_run_clear(const mesh_run *run, u32 at, real *clear, int options)
{
    const v3 center =
        v3_of(mesh_run_column(run, MESH_CX, at), mesh_run_column(run, MESH_CY, at), mesh_run_column(run, MESH_CZ, at));
    const v3 velocity =
        v3_of(mesh_run_column(run, MESH_VX, at), mesh_run_column(run, MESH_VY, at), mesh_run_column(run, MESH_VZ, at));
    const vm holds = clearance_is_free(run->clearance, center, mesh_run_column(run, MESH_RADIUS, at), velocity,
                                       mesh_run_column(run, MESH_T_MAX, at), options);
    v_store(clear, v_sel(holds, v_f(R(1.0)), v_f(R(0.0))));
}

/* Loads one query. */
FN mesh_query mesh_run_query(const mesh_run *run, u32 row, int options)
{
    mesh_query query;
    query.cx = run->in[MESH_CX][row];
    query.cy = run->in[MESH_CY][row];
    query.cz = run->in[MESH_CZ][row];
    query.radius = run->in[MESH_RADIUS][row];
    query.vx = run->in[MESH_VX][row];
    query.vy = run->in[MESH_VY][row];
    query.vz = run->in[MESH_VZ][row];
    query.t_max = run->in[MESH_T_MAX][row];
    query.options = options;
    query.mask = (options & MESH_QUERY_MASKS) != 0 ? run->mask[row] : -1;
    return query;
}

/* The leaf that a reference names. */
FN G const mesh_leaf *mesh_leaf_of(const mesh_run *run, int reference)
{
    return run->leaves + MESH_LEAF_AT(reference);
}

#if MESH_TRAVERSALS > 1
/* Address of what a reference leads to, [0] a node or [1] a leaf: from + step * reference. */
typedef struct mesh_addresses {
    size_t from[2], step[2];
} mesh_addresses;

/* References to leaves count half leaves, downwards from -1. */
FN mesh_addresses mesh_addresses_of(const mesh_run *run)
{
    mesh_addresses addresses;
    addresses.step[0] = sizeof(mesh_node);
    addresses.from[0] = (size_t)run->nodes;
    addresses.step[1] = 0 - sizeof(mesh_leaf) / 2;
    addresses.from[1] = (size_t)run->leaves + addresses.step[1];
    return addresses;
}

/* Prefetches a node or a leaf. Without a branch, because it would be mispredicted: as many cache lines as a node has. A
 * leaf has fewer. An unindexed leaf has more: the bit that marks it shifts the address, so the part from its third line
 * to its end is prefetched. */
FN void mesh_prefetch(const mesh_addresses *addresses, int next)
{
    const int is_leaf = next < 0;
    const size_t at = addresses->from[is_leaf] + addresses->step[is_leaf] * (size_t)next;
    LANG_UNROLL
    for (size_t line = 0; line < sizeof(mesh_node); line += MESH_CACHE_LINE)
        v_prefetch(at, line);
}

/* The next child of a traversal that waits for its pairs, unless their results cull it. */
FN int mesh_stack_top(const mesh_stack *stack)
{
    return stack->entries->child[stack->top > 0 ? stack->top - 1 : 0];
}

#ifdef MESH_SCENE
/* Prefetches a node or a leaf of an instance. */
FN void scene_prefetch(const mesh_run *run, G const mesh_instance *at, int next)
{
    mesh_run arrays;
    (void)run;
    arrays.nodes = MESH_NODES(run, at);
    arrays.leaves = MESH_LEAVES(run, at);
    const mesh_addresses addresses = mesh_addresses_of(&arrays);
    if (next < MESH_INSTANCE)
        mesh_prefetch(&addresses, next);
}
#define MESH_PREFETCH(run, addresses, stack, next) ((void)(addresses), scene_prefetch(run, (stack)->at, next))
#define MESH_PREFETCH_TOP(run, addresses, stack) \
    scene_prefetch(run, (stack)->entries->at[(stack)->top > 0 ? (stack)->top - 1 : 0], mesh_stack_top(stack))
#else
#define MESH_PREFETCH(run, addresses, stack, next) mesh_prefetch(addresses, next)
#define MESH_PREFETCH_TOP(run, addresses, stack) mesh_prefetch(addresses, mesh_stack_top(stack))
#endif

/* Prefetches the top of the stack: for a lone query, which has no other traversals to hide latency behind. */
FN void mesh_prefetch_stack(const mesh_addresses *addresses, const mesh_stack *stack)
{
    for (int i = stack->top; i > 0 && i > stack->top - MESH_PREFETCH_AHEAD; i--)
        mesh_prefetch(addresses, stack->entries->child[i - 1]);
}

#ifdef MESH_SCENE
#define MESH_PREFETCH_STACK(run, addresses, stack) MESH_PREFETCH_TOP(run, addresses, stack)
#else
#define MESH_PREFETCH_STACK(run, addresses, stack) mesh_prefetch_stack(addresses, stack)
#endif

/* Interleaves traversals. Bit sets of those to take the same kind of step: a loop over bits needs no branch on the
 * kind, which would be mispredicted. */
typedef struct traversal_scheduler {
    u32 node, leaf, ended;
    u32 busy;                            /* have a query */
    int waiting[MESH_TRAVERSALS], waits; /* a queue, oldest first */
    u32 first_wait;                      /* modulo MESH_TRAVERSALS */
    u32 resume_at[MESH_TRAVERSALS];      /* resumes when so many pairs are solved */
} traversal_scheduler;

/* All traversals have ended, so each takes a query next. */
FN traversal_scheduler scheduler_of_idle(void)
{
    const traversal_scheduler scheduler = {.ended = (1u << MESH_TRAVERSALS) - 1};
    return scheduler;
}

/* Returns a set and clears it: the caller adds members while it iterates over the copy. */
FN u32 scheduler_drain(u32 *traversals)
{
    const u32 all = *traversals;
    *traversals = 0;
    return all;
}

/* Traversal i goes on at `next`. */
FN void scheduler_enqueue(traversal_scheduler *scheduler, int i, int next)
{
    scheduler->node |= (u32)(next >= 0) << i;
    scheduler->leaf |= (u32)(next < 0) << i;
}

/* Whether some traversal can take a step. */
FN int scheduler_has_ready(const traversal_scheduler *scheduler)
{
    return (scheduler->node | scheduler->leaf | scheduler->ended) != 0;
}

/* Traversal i waits until so many pairs are solved. */
FN void scheduler_suspend(traversal_scheduler *scheduler, int i, u32 resume_at)
{
    scheduler->resume_at[i] = resume_at;
    scheduler->waiting[(scheduler->first_wait + (u32)scheduler->waits++) % MESH_TRAVERSALS] = i;
}

/* The traversal that has waited longest, if its pairs are solved; else -1. */
FN int scheduler_resume(traversal_scheduler *scheduler, u32 answered)
{
    const int i = scheduler->waiting[scheduler->first_wait % MESH_TRAVERSALS];
    if (scheduler->waits == 0 || (int)(scheduler->resume_at[i] - answered) > 0)
        return -1;
    scheduler->waits--;
    scheduler->first_wait++;
    return i;
}
#endif

/* Defines a run: a function that answers queries. `begin` begins a query; its result, `begun`, is 1: the query
 * traverses the hierarchy, 0: it is answered without traversal, or -1: it gets no answer. `answer` stores the result.
 * `kind` begins the names of a traversal's type and of its steps at a node, `search` those of its step at a leaf.
 * Traversals that wait for pairs resume when these are solved: as soon as LANES pairs are queued, or if every traversal
 * waits. `options` are those of the run, or a constant 0.
 *
 * Pairs of all leaves are queued before any are solved. Otherwise the solver's loads would wait for stores of a moment
 * ago; and one packet can begin while the previous one ends. What a waiting traversal visits next is prefetched
 * meanwhile.
 *
 * The children of all nodes are tested before any are pushed. Pushing branches unpredictably, and a misprediction
 * discards the work begun after it; it costs little if its inputs are ready. */
/* In two steps, so that macro arguments are expanded before they become parts of names. */
#define MESH_RUN(name, kind, search, begin, answer, options) MESH_RUN_(name, kind, search, begin, answer, options)
#ifdef MESH_ITEMS
#include "mesh_team.h"
#elif MESH_TRAVERSALS > 1
#define MESH_RUN_(name, kind, search, begin, answer, options)                                                         \
    FN void name(const mesh_run *run)                                                                                 \
    {                                                                                                                 \
        kind##_traversal traversals[MESH_TRAVERSALS];                                                                 \
        mesh_pairs pairs;                                                                                             \
        kind##_tested_children tested[MESH_TRAVERSALS];                                                               \
        traversal_scheduler scheduler = scheduler_of_idle();                                                          \
        const mesh_addresses addresses = mesh_addresses_of(run);                                                      \
        LANG_ALIGNED real rows[LANES * MESH_ROWS]; /* of the next queries */                                          \
        const int is_alone = run->end - run->first == 1;                                                              \
        u32 next = run->first;                                                                                        \
        mesh_pairs_begin(&pairs);                                                                                     \
        do {                                                                                                          \
            /* Narrow phase: solves full packets, and a partial one if all traversals wait. */                        \
            while (pairs.end - pairs.first >= LANES || (pairs.end > pairs.first && !scheduler_has_ready(&scheduler))) \
                search##_solve(run, traversals, &pairs, options);                                                     \
            /* Traversals whose pairs are solved go on. */                                                            \
            for (int i; (i = scheduler_resume(&scheduler, pairs.answered)) >= 0;)                                     \
                if (kind##_pop_next(&traversals[i]))                                                                  \
                    scheduler_enqueue(&scheduler, i, traversals[i].next);                                             \
                else                                                                                                  \
                    scheduler.ended |= 1u << i;                                                                       \
            /* Traversals that have ended store their answers and begin the next queries. */                          \
            for (u32 left = scheduler_drain(&scheduler.ended); left != 0; left &= left - 1) {                         \
                const int i = bitmask_first(left);                                                                    \
                int begun = -1;                                                                                       \
                if ((scheduler.busy >> i & 1) != 0)                                                                   \
                    answer(run, &traversals[i]);                                                                      \
                while (next < run->end && begun <= 0) {                                                               \
                    begun = begin(run, &traversals[i], next++, rows, options);                                        \
                    if (begun == 0)                                                                                   \
                        answer(run, &traversals[i]);                                                                  \
                }                                                                                                     \
                scheduler.busy &= ~(1u << i);                                                                         \
                if (begun > 0) {                                                                                      \
                    scheduler.busy |= 1u << i;                                                                        \
                    kind##_set_sphere(&pairs, &traversals[i], i);                                                     \
                    scheduler_enqueue(&scheduler, i, traversals[i].next);                                             \
                }                                                                                                     \
            }                                                                                                         \
            /* At nodes: first all box tests, then all pushes. */                                                     \
            for (u32 left = scheduler.node; left != 0; left &= left - 1) {                                            \
                const int i = bitmask_first(left);                                                                    \
                kind##_test_children(&traversals[i], MESH_NODE(run, &traversals[i]), &tested[i]);                     \
            }                                                                                                         \
            for (u32 left = scheduler_drain(&scheduler.node); left != 0; left &= left - 1) {                          \
                const int i = bitmask_first(left);                                                                    \
                if (!kind##_push_children(&traversals[i], MESH_NODE(run, &traversals[i]), &tested[i], options)) {     \
                    scheduler.ended |= 1u << i;                                                                       \
                    continue;                                                                                         \
                }                                                                                                     \
                MESH_PREFETCH(run, &addresses, &traversals[i].stack, traversals[i].next);                             \
                scheduler_enqueue(&scheduler, i, traversals[i].next);                                                 \
            }                                                                                                         \
            if (is_alone)                                                                                             \
                MESH_PREFETCH_STACK(run, &addresses, &traversals[0].stack);                                           \
            /* At leaves: triangles are tested, and their pairs submitted. */                                         \
            for (u32 left = scheduler_drain(&scheduler.leaf); left != 0; left &= left - 1) {                          \
                const int i = bitmask_first(left);                                                                    \
                const int step = search##_visit_leaf(&traversals[i], i, &pairs, run->frame,                           \
                                                     MESH_LEAF_HERE(run, &traversals[i]), options);                   \
                if (step == MESH_WAITS) {                                                                             \
                    MESH_PREFETCH_TOP(run, &addresses, &traversals[i].stack);                                         \
                    scheduler_suspend(&scheduler, i, pairs.submitted);                                                \
                } else if (step) {                                                                                    \
                    MESH_PREFETCH(run, &addresses, &traversals[i].stack, traversals[i].next);                         \
                    scheduler_enqueue(&scheduler, i, traversals[i].next);                                             \
                } else {                                                                                              \
                    scheduler.ended |= 1u << i;                                                                       \
                }                                                                                                     \
            }                                                                                                         \
        } while (scheduler_has_ready(&scheduler) || scheduler.waits > 0);                                             \
    }
#else
#define MESH_RUN_(name, kind, search, begin, answer, options)                                                          \
    FN void name(const mesh_run *run)                                                                                  \
    {                                                                                                                  \
        kind##_traversal traversal;                                                                                    \
        mesh_pairs pairs;                                                                                              \
        real rows[LANES * MESH_ROWS]; /* of the next queries */                                                        \
        MESH_STACK_ENTRIES(traversal);                                                                                 \
        mesh_pairs_begin(&pairs);                                                                                      \
        for (u32 next = run->first; next < run->end; next++) {                                                         \
            const int begun = begin(run, &traversal, MESH_ROW(next), rows, options);                                   \
            int goes_on = begun > 0;                                                                                   \
            /* Steps until enough pairs are deferred or the traversal ends, then the narrow phase. */                  \
            while (goes_on || pairs.end > 0) {                                                                         \
                while (goes_on && pairs.end < MESH_DEFERRED)                                                           \
                    goes_on = traversal.next >= 0 ? kind##_visit_node(&traversal, MESH_NODE(run, &traversal), options) \
                                                  : search##_visit_leaf(&traversal, 0, &pairs, run->frame,             \
                                                                        MESH_LEAF_HERE(run, &traversal), options);     \
                search##_solve(run, &traversal, &pairs, options);                                                      \
            }                                                                                                          \
            if (begun >= 0)                                                                                            \
                answer(run, &traversal);                                                                               \
        }                                                                                                              \
    }
#endif

/* ---- begin and answer, for sweeps and overlaps ------------------------------------------------------------------ */

/* Begins query `at`: 1 if it traverses, 0 if it is answered without traversal. */
FN int mesh_begin_at(const mesh_run *run, mesh_traversal *trav, u32 at, real *rows, int options, int is_fast_overlap)
{
    const int lane = (int)((at - run->first) % LANES);
    if (lane == 0)
        mesh_run_precalculate(run, at, rows, options);
    trav->number = (int)at;
    trav->masks = run->masks;
    MESH_BEGIN_AT(trav, run);
    MESH_SET_FAST_OVERLAP(trav, is_fast_overlap);
    trav->sink = run->sink;
    (void)is_fast_overlap;
    return mesh_begin(trav, run->frame, mesh_run_query(run, at, options), rows, lane);
}

FN int mesh_begin_next(const mesh_run *run, mesh_traversal *trav, u32 at, real *rows, int options)
{
    return mesh_begin_at(run, trav, at, rows, options, 0);
}

FN int mesh_begin_fast_overlap(const mesh_run *run, mesh_traversal *trav, u32 at, real *rows, int options)
{
    return mesh_begin_at(run, trav, at, rows, options, 1);
}

/* For runs whose queries were not tested for clearance before. */
FN int mesh_begin_clear_at(const mesh_run *run, mesh_traversal *trav, u32 at, real *rows, int options,
                           int is_fast_overlap)
{
    const int lane = (int)((at - run->first) % LANES);
    real *clear = rows + LANES * PRECALC_ROWS;
    if (lane == 0)
        mesh_run_clear(run, at, clear, options);
    return mesh_begin_at(run, trav, at, rows, options, is_fast_overlap) && clear[lane] == R(0.0);
}

FN int mesh_begin_clear(const mesh_run *run, mesh_traversal *trav, u32 at, real *rows, int options)
{
    return mesh_begin_clear_at(run, trav, at, rows, options, 0);
}

FN int mesh_begin_clear_fast_overlap(const mesh_run *run, mesh_traversal *trav, u32 at, real *rows, int options)
{
    return mesh_begin_clear_at(run, trav, at, rows, options, 1);
}

/* Stores state, triangle and time of a query. */
FN void mesh_answer_hit(const mesh_run *run, const mesh_traversal *trav, real t)
{
    const int triangle = trav->best.triangle | -(trav->best.triangle == MESH_NO_TRIANGLE); /* -1 if there is none */
    run->state[trav->number] = (u8)trav->state;
    run->triangle[trav->number] = triangle;
    run->t[trav->number] = t;
}
FN void mesh_answer_state(const mesh_run *run, const mesh_traversal *trav)
{
    run->state[trav->number] = (u8)trav->state;
}
#endif
