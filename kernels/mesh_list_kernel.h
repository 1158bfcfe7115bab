/* SPDX-License-Identifier: MIT */
/* The OpenCL kernel of a search for any number of triangles: all hits, overlaps, or triangles within reach. The
 * includer defines the search MESH_LISTED through traversals of MESH_KIND, which MESH_BEGIN begins and whose state is
 * MESH_STATE_OF; MESH_RUN_PARAMETERS and _ARGUMENTS, and MESH_OPTIONS. */
#ifndef CAROM_MESH_LIST_KERNEL_H
#define CAROM_MESH_LIST_KERNEL_H
typedef LANG_CAT(MESH_KIND, _traversal) list_traversal;

#ifdef MESH_ITEMS
#define LIST_FILLS(run) ((run)->each < 0) /* the second pass */
#define LIST_START(run, number) ((run)->each > 0 ? (run)->from[number] : 0)

/* Begins query `at`. Where work-items share queries, each query has its own slots in both passes. */
FN int list_begin_own(const mesh_run *run, list_traversal *trav, u32 at, real *rows, int options)
{
    const int is_written = LIST_FILLS(run) && run->from[at] < 0;
    if (is_written)
        run->hits[at] = 0;
    return is_written ? -1 : MESH_BEGIN(run, trav, at, rows, options);
}
#else
#define LIST_FILLS(run) ((run)->sink == 0)
#define LIST_START(run, number) (LIST_FILLS(run) ? -1 : (int)((run)->sink->records - (run)->records))

/* Begins query `at`. In the second pass its records go to its own slots. */
FN int list_begin_own(const mesh_run *run, list_traversal *trav, u32 at, real *rows, int options)
{
    const int begun = MESH_BEGIN(run, trav, at, rows, options);
    if (!LIST_FILLS(run))
        return begun;
    const int from = run->from[at];
    trav->sink = &trav->own;
    trav->own.records = run->records + from;
    trav->own.capacity = run->found - (u32)from;
    trav->own.count = 0;
    trav->own.one_is_enough = 0;
    trav->own.first = trav->number;
    if (from < 0)
        run->hits[at] = 0;
    return from < 0 ? -1 : begun;
}
#endif

/* Stores number and state of the hits, and where the records of this query begin. */
FN void list_answer_count(const mesh_run *run, const list_traversal *trav)
{
    run->hits[trav->number] = (int)trav->hits;
    run->state[trav->number] = (uchar)MESH_STATE_OF(trav);
    run->start[trav->number] = LIST_START(run, trav->number);
}

MESH_RUN(list_search, MESH_KIND, MESH_LISTED, list_begin_own, list_answer_count, MESH_OPTIONS)

/* List of all hits, in one pass or two. The first pass counts the hits of each query. With a capacity of `each` hits
 * per query it also writes records: all queries of a work-item consecutively, from the slot `from` of its first query
 * on. `start` then holds the first slot of each query. There may be more hits than slots. The second pass (`each` < 0)
 * writes the hits of each query from the query's own slot on; -1 marks queries whose hits are already written. */
MESH_KERNEL void LANG_CAT(carom_, KERNEL)(MESH_RUN_PARAMETERS, __global mesh_record *records, uint found, int each,
                                          int one_is_enough, __global const int *from, __global int *hits,
                                          __global uchar *state, __global int *start, uint count)
{
    MESH_SHARED_OF_GROUP;
    if (MESH_IS_EXTRA(count))
        return;
    mesh_run run = MESH_RUN_ARGUMENTS;
    run.records = records;
    run.found = found;
    run.from = from;
    run.hits = hits;
    run.state = state;
    run.start = start;
    if (run.first == run.end)
        return;
#ifdef MESH_ITEMS
    run.shared = &shared;
    run.each = each;
    run.one_is_enough = one_is_enough && each >= 0;
    run.sink = 0;
#else
    mesh_sink pool;
    /* The first pass: one pool of records for all queries of the work-item. */
    pool.records = records + (each > 0 ? from[run.first] : 0);
    pool.capacity = each > 0 ? (u32)each * (run.end - run.first) : 0;
    pool.count = 0;
    pool.one_is_enough = one_is_enough;
    pool.first = (int)run.first;
    run.sink = each < 0 ? 0 : &pool;
#endif
    list_search(&run);
    if (MESH_IS_TRUNCATED(share))
        hits[mesh_run_row(&run, run.first)] = MESH_LOOP_TRUNCATED;
}
#endif
