/* SPDX-License-Identifier: MIT */
/* Local memory of the work-items of a group that traverse a mesh together (mesh_team.h). */
#ifndef CAROM_MESH_SHARED_H
#define CAROM_MESH_SHARED_H

#define MESH_TEAMS (MESH_ITEMS / MESH_WIDTH)
#define MESH_SLOTS (MESH_ITEMS / 2)
#define MESH_HELD (MESH_SLOTS + MESH_ITEMS) /* queries in traversal, and those that wait for a slot */
#define MESH_LEAVES (3 * MESH_TEAMS)        /* most leaves of a step */
#define MESH_QUEUE (4 * MESH_ITEMS)         /* pairs: fewer than MESH_ITEMS, and those of the leaves */

/* A query is at a node or a leaf; or must pop, as soon as no pair of it is queued; or the slot has none. */
enum { MESH_TRAVERSES, MESH_POPS, MESH_IS_EMPTY };

/* A query in traversal, or one that waits for it. */
typedef struct mesh_shared_query {
    real precalc[PRECALC_ROWS];
    real sphere[MESH_T_MAX]; /* columns MESH_CX to MESH_VZ */
    int mask, number;
    real best_t; /* the best hit, as in mesh_traversal */
    int best_triangle, state;
    u32 earliest_undecided; /* bits of a time that is not negative */
    int next, top;          /* to visit next; entries of its stack */
    int stops;              /* MESH_TRAVERSES and so on */
    int pending;            /* pairs that are not solved */
    u32 least_t;            /* bits of the least time of a hit: of best_t, or of a better hit in the packet */
    int least_triangle;     /* among the packet's hits at that time, else MESH_NO_TRIANGLE */
    u32 hits;               /* as in mesh_traversal */
} mesh_shared_query;

typedef struct mesh_shared {
    u64 from[MESH_SLOTS][MESH_NEAR];  /* stacks */
    u64 key[MESH_SLOTS][MESH_WIDTH];  /* of a node's children that are entered; entry times of a leaf's triangles */
    int child[MESH_SLOTS][MESH_NEAR]; /* of the stacks */
    mesh_shared_query queries[MESH_HELD];
    int leaf[MESH_QUEUE];   /* pairs, a ring: reference to the leaf */
    real enter[MESH_QUEUE]; /* entry into the triangle's box */
    u8 lane[MESH_QUEUE], slot[MESH_QUEUE];
    u8 query_at[MESH_HELD]; /* of the query of each slot, then of those that wait; behind them unused ones */
    u32 queued, solved;     /* pairs since the beginning */
    u32 at_node, at_leaf;   /* slots whose queries are there */
    u32 marks[MESH_SLOTS];  /* what a team's work-items have found, a bit for each, of two kinds at a leaf */
    int node[MESH_SLOTS], bottom[MESH_SLOTS]; /* the node whose children are tested, and `top` before */
    int waiting;                              /* queries that wait for a slot */
    u32 prepared;                             /* queries of the group that were begun */
    int is_truncated;                         /* the device truncates loops of a work-item that has ended */
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

/* Loads what the steps of a traversal read of a query, less its stack. */
FN void mesh_load_shared(const mesh_run *run, __local const mesh_shared_query *query, int options, mesh_traversal *trav)
{
    for (int k = 0; k < PRECALC_ROWS; k++)
        trav->precalc[k] = query->precalc[k];
    trav->query.cx = query->sphere[MESH_CX];
    trav->query.cy = query->sphere[MESH_CY];
    trav->query.cz = query->sphere[MESH_CZ];
    trav->query.radius = query->sphere[MESH_RADIUS];
    trav->query.vx = query->sphere[MESH_VX];
    trav->query.vy = query->sphere[MESH_VY];
    trav->query.vz = query->sphere[MESH_VZ];
    trav->query.options = options;
    trav->query.mask = query->mask;
    trav->best = mesh_hit_key_of(query->best_t, query->best_triangle);
    trav->state = query->state;
    trav->masks = run->masks;
    trav->number = query->number;
    trav->next = query->next;
}

/* Stores a query that begins its traversal. */
FN void mesh_store_shared(const mesh_traversal *trav, __local mesh_shared_query *query)
{
    for (int k = 0; k < PRECALC_ROWS; k++)
        query->precalc[k] = trav->precalc[k];
    query->sphere[MESH_CX] = trav->query.cx;
    query->sphere[MESH_CY] = trav->query.cy;
    query->sphere[MESH_CZ] = trav->query.cz;
    query->sphere[MESH_RADIUS] = trav->query.radius;
    query->sphere[MESH_VX] = trav->query.vx;
    query->sphere[MESH_VY] = trav->query.vy;
    query->sphere[MESH_VZ] = trav->query.vz;
    query->mask = trav->query.mask;
    query->number = trav->number;
    query->best_t = trav->best.t;
    query->best_triangle = trav->best.triangle;
    query->state = trav->state;
    query->earliest_undecided = real_bits(trav->earliest_undecided);
    query->next = trav->next;
    query->top = trav->stack.top;
    query->stops = MESH_TRAVERSES;
    query->pending = 0;
    query->least_t = real_bits(trav->best.t);
    query->least_triangle = MESH_NO_TRIANGLE;
    query->hits = 0;
}

/* All slots are empty. */
FN void mesh_begin_shared(__local mesh_shared *shared, int item)
{
    for (int k = item; k < MESH_HELD; k += MESH_ITEMS)
        shared->query_at[k] = (u8)k;
    if (item < MESH_SLOTS) {
        shared->marks[item] = 0;
        shared->queries[item].stops = MESH_IS_EMPTY;
    }
    if (item == 0) {
        shared->queued = shared->solved = 0;
        shared->at_node = shared->at_leaf = 0;
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
