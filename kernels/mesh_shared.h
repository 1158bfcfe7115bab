/* SPDX-License-Identifier: MIT */
/* Local memory of the work-items of a group that traverse a mesh together (mesh_team.h). */
#ifndef CAROM_MESH_SHARED_H
#define CAROM_MESH_SHARED_H

#define MESH_TEAMS (MESH_ITEMS / MESH_WIDTH)
#define MESH_SLOTS (MESH_ITEMS / 2)
#define MESH_HELD (MESH_SLOTS + MESH_ITEMS)    /* queries in traversal, and those that wait for a slot */
#define MESH_LEAVES (7 * MESH_TEAMS)           /* most leaves of a step */
#define MESH_QUEUE (8 * MESH_ITEMS)            /* pairs: fewer than MESH_ITEMS, and those of the leaves */
#ifndef MESH_TERMS                             /* mesh_closest.h has others */
#define MESH_TERMS (PRECALC_ROWS + MESH_T_MAX) /* of a query: precalculated ones, and columns MESH_CX to MESH_VZ */
#define MESH_UNUSED 5
#endif

/* A query is at a node or a leaf; or must pop, as soon as no pair of it is queued; or the slot has none. */
enum { MESH_TRAVERSES, MESH_POPS, MESH_IS_EMPTY };

/* A query in traversal, or one that waits for it. What tests read comes first; aligned, it is loaded by fours. */
typedef struct __attribute__((aligned(16))) mesh_shared_query {
    real best_t; /* the best hit, as in mesh_traversal */
    int best_triangle;
    int next; /* to visit next; the leaf of its pairs */
    int state;
    real terms[MESH_TERMS]; /* what the tests and the solver read */
    int mask, number;
    u32 earliest_undecided;  /* bits of a time, or a distance, that is not negative */
    u32 least_t;             /* bits of the least time of a hit: of best_t, or of a better hit in the packet */
    int least_triangle;      /* among the packet's hits at that time, else MESH_NO_TRIANGLE */
    u32 hits;                /* as in mesh_traversal */
    int unused[MESH_UNUSED]; /* so that queries are in different banks */
} mesh_shared_query;

/* A place for a query in traversal. */
typedef struct __attribute__((aligned(16))) mesh_slot {
    int stops;   /* MESH_TRAVERSES and so on */
    int top;     /* entries of the stack, less the children that are marked */
    u32 marks;   /* what a team's work-items have found, a bit for each, of two kinds at a leaf */
    u32 decided; /* of the triangles that are marked: a bit for each that is solved or culled */
} mesh_slot;

typedef struct __attribute__((aligned(16))) mesh_shared {
    u32 at_node, at_leaf; /* slots whose queries are there */
    u32 queued, solved;   /* pairs since the beginning */
    u32 prepared;         /* queries of the group that were begun */
    int waiting;          /* queries that wait for a slot */
    int is_truncated;     /* the device truncates loops of a work-item that has ended */
    u32 served;           /* slots whose queries the last step has served at a node or a leaf */
    mesh_slot slots[MESH_SLOTS];
    u64 from[MESH_SLOTS][MESH_NEAR];     /* stacks */
    u64 key[MESH_SLOTS][MESH_WIDTH];     /* of a node's children that are entered; bounds of a leaf's triangles */
    int child[MESH_SLOTS][MESH_NEAR];    /* of the stacks */
    int entered[MESH_SLOTS][MESH_WIDTH]; /* children of a node */
    mesh_shared_query queries[MESH_HELD];
    u8 pair[MESH_QUEUE];    /* a ring: slot * MESH_WIDTH + lane, a triangle of the leaf where the slot's query is */
    u8 lane[MESH_ITEMS];    /* of the pair that each work-item solves */
    u8 query_at[MESH_HELD]; /* of the query of each slot, then of those that wait; behind them unused ones */
} mesh_shared;

/* The query of a slot. */
FN __local mesh_shared_query *mesh_query_of(__local mesh_shared *shared, int slot)
{
    return shared->queries + shared->query_at[slot];
}

/* The stack of a slot, without the number of its entries. */
FN mesh_stack mesh_stack_of(const mesh_run *run, int slot)
{
    mesh_stack stack;
    stack.from = run->shared->from[slot];
    stack.child = run->shared->child[slot];
    stack.far = run->far + (get_group_id(0) * MESH_SLOTS + (size_t)slot) * run->far_entries;
    return stack;
}

/* Loads where a query is in its traversal, less its stack; of any type of traversal. */
#define MESH_LOAD_SHARED(trav, run, shared)                                        \
    do {                                                                           \
        (trav)->query.mask = (shared)->mask;                                       \
        (trav)->best = mesh_hit_key_of((shared)->best_t, (shared)->best_triangle); \
        (trav)->masks = (run)->masks;                                              \
        (trav)->number = (shared)->number;                                         \
        (trav)->next = (shared)->next;                                             \
    } while (0)

/* Stores a query that begins its traversal, less its terms; of any type of traversal. */
#define MESH_STORE_SHARED(trav, shared)                  \
    do {                                                 \
        (shared)->mask = (trav)->query.mask;             \
        (shared)->number = (trav)->number;               \
        (shared)->best_t = (trav)->best.t;               \
        (shared)->best_triangle = (trav)->best.triangle; \
        (shared)->state = STATE_MISS;                    \
        (shared)->earliest_undecided = R_INFINITY_BITS;  \
        (shared)->next = (trav)->next;                   \
        (shared)->least_t = real_bits((trav)->best.t);   \
        (shared)->least_triangle = MESH_NO_TRIANGLE;     \
        (shared)->hits = 0;                              \
    } while (0)

/* Loads what the steps of a traversal read of a query, less its stack. */
FN void mesh_load_shared(const mesh_run *run, __local const mesh_shared_query *query, int options, mesh_traversal *trav)
{
    __local const real *sphere = query->terms + PRECALC_ROWS;
    for (int k = 0; k < PRECALC_ROWS; k++)
        trav->precalc[k] = query->terms[k];
    trav->query.cx = sphere[MESH_CX];
    trav->query.cy = sphere[MESH_CY];
    trav->query.cz = sphere[MESH_CZ];
    trav->query.radius = sphere[MESH_RADIUS];
    trav->query.vx = sphere[MESH_VX];
    trav->query.vy = sphere[MESH_VY];
    trav->query.vz = sphere[MESH_VZ];
    trav->query.options = options;
    trav->state = query->state;
    MESH_LOAD_SHARED(trav, run, query);
}

/* Stores a query that begins its traversal. */
FN void mesh_store_shared(const mesh_traversal *trav, __local mesh_shared_query *query)
{
    __local real *sphere = query->terms + PRECALC_ROWS;
    for (int k = 0; k < PRECALC_ROWS; k++)
        query->terms[k] = trav->precalc[k];
    sphere[MESH_CX] = trav->query.cx;
    sphere[MESH_CY] = trav->query.cy;
    sphere[MESH_CZ] = trav->query.cz;
    sphere[MESH_RADIUS] = trav->query.radius;
    sphere[MESH_VX] = trav->query.vx;
    sphere[MESH_VY] = trav->query.vy;
    sphere[MESH_VZ] = trav->query.vz;
    MESH_STORE_SHARED(trav, query);
}

/* The best hit is in `best_t` when the query pops. */
FN void mesh_update_best(__local mesh_shared_query *query)
{
    (void)query;
}

/* All slots are empty. */
FN void mesh_begin_shared(__local mesh_shared *shared, int item)
{
    for (int k = item; k < MESH_HELD; k += MESH_ITEMS)
        shared->query_at[k] = (u8)k;
    if (item < MESH_SLOTS) {
        shared->slots[item].stops = MESH_IS_EMPTY;
        shared->slots[item].marks = shared->slots[item].decided = 0;
        shared->slots[item].top = 0;
    }
    if (item == 0) {
        shared->queued = shared->solved = 0;
        shared->at_node = shared->at_leaf = shared->served = 0;
        shared->waiting = 0;
        shared->prepared = 0;
        shared->is_truncated = 0;
    }
}

/* Whether the device truncates loops of this work-item or of one that ended before (mesh_run_is_truncated). Work-items
 * that go on longer store answers, and one of them may replace a mark. So they mark too when they end. */
FN int mesh_group_is_truncated(__local mesh_shared *shared, u32 number)
{
    if (mesh_run_is_truncated(number))
        shared->is_truncated = 1;
    return shared->is_truncated;
}
#endif
