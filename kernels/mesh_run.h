/* SPDX-License-Identifier: MIT */
/* A run of queries through the hierarchy. On a CPU several are on their way at once, a step of each in turn: what one of
 * them visits next comes from memory while the others take theirs. Where there is nothing to fetch ahead with, one
 * follows the other. */
#ifndef CAROM_MESH_RUN_H
#define CAROM_MESH_RUN_H
#include "mesh_walk.h"

#ifdef LANG_FETCHES
#define MESH_WALKS 8
#else
#define MESH_WALKS 1
#endif
#define MESH_LINE 64

/* Columns of queries and answers; those from `first` to before `end` are answered. */
typedef struct mesh_run {
    mesh_frame frame;
    G const mesh_node *nodes;
    G const mesh_leaf *leaves;
    G const int *masks;  /* of the triangles, with MESH_TRIANGLE_MASKS */
    G const real *in[8]; /* cx cy cz radius vx vy vz t_max */
    G const int *mask;   /* of the queries, with MESH_QUERY_MASKS */
    int options;
    u32 first, end;
    G u8 *state;
    G int *triangle; /* of a search for one answer, as t */
    G real *t, *depth;
    mesh_sink *sink; /* of one for all hits; or, a query at a time: */
    G mesh_record *records;
    G const int *from; /* where those of each query go */
    G int *hits;
    u32 found; /* records that there is room for; 0: hits are only counted */
    int one_is_enough;
} mesh_run;

/* A column of LANES queries; the last one fills up what is beyond the end. */
FN vf mesh_run_column(const mesh_run *run, int column, u32 at)
{
    real x[LANES];
    if (at + LANES <= run->end)
        return v_load(run->in[column] + at);
    for (u32 lane = 0; lane < LANES; lane++)
        x[lane] = run->in[column][at + lane < run->end ? at + lane : run->end - 1];
    return v_load(x);
}

FN void mesh_run_chart(const mesh_run *run, u32 at, real *rows)
{
    const v3 center = v3_of(mesh_run_column(run, 0, at), mesh_run_column(run, 1, at), mesh_run_column(run, 2, at));
    const v3 velocity = v3_of(mesh_run_column(run, 4, at), mesh_run_column(run, 5, at), mesh_run_column(run, 6, at));
    mesh_chart(rows, center, mesh_run_column(run, 3, at), velocity, run->frame);
}

FN mesh_query mesh_run_query(const mesh_run *run, u32 row, int options)
{
    mesh_query q;
    q.cx = run->in[0][row];
    q.cy = run->in[1][row];
    q.cz = run->in[2][row];
    q.radius = run->in[3][row];
    q.vx = run->in[4][row];
    q.vy = run->in[5][row];
    q.vz = run->in[6][row];
    q.t_max = run->in[7][row];
    q.options = options;
    q.mask = (options & MESH_QUERY_MASKS) != 0 ? run->mask[row] : -1;
    return q;
}

FN void mesh_fetch(G const mesh_node *nodes, G const mesh_leaf *leaves, int next)
{
    const size_t size = next < 0 ? sizeof(mesh_leaf) : sizeof(mesh_node);
    for (size_t line = 0; line < size; line += MESH_LINE)
        if (next < 0)
            v_prefetch(leaves + ~next, line);
        else
            v_prefetch(nodes + next, line);
}

/* A run of searches: `begin` a query (1: on its way, 0: answered already, -1: not asked for), `visit` the next node or leaf
 * (0: that was the last), `answer` it. `options` are those of the run, or a constant 0. */
#define MESH_RUN(name, mesh_walk_type, begin, visit, answer, options)                      \
    FN void name(const mesh_run *run)                                                      \
    {                                                                                      \
        mesh_walk_type walks[MESH_WALKS];                                                  \
        real rows[LANES * MESH_COURSE]; /* courses of the next queries */                  \
        int under_way[MESH_WALKS], count = 0;                                              \
        u32 next = run->first;                                                             \
        for (int i = 0; i < MESH_WALKS; i++)                                               \
            under_way[i] = 0;                                                              \
        do {                                                                               \
            for (int i = 0; i < MESH_WALKS; i++) {                                         \
                mesh_walk_type *w = &walks[i];                                             \
                if (under_way[i]) {                                                        \
                    under_way[i] = visit(w, run->frame, run->nodes, run->leaves, options); \
                    if (under_way[i]) {                                                    \
                        mesh_fetch(run->nodes, run->leaves, w->next);                      \
                        continue;                                                          \
                    }                                                                      \
                    answer(run, w);                                                        \
                    count--;                                                               \
                }                                                                          \
                for (; next < run->end && !under_way[i]; next++) {                         \
                    const int begun = begin(run, w, next, rows, options);                  \
                    under_way[i] = begun > 0;                                              \
                    count += begun > 0;                                                    \
                    if (begun == 0)                                                        \
                        answer(run, w);                                                    \
                }                                                                          \
            }                                                                              \
        } while (count > 0);                                                               \
    }

/* ---- what sweeps and overlaps begin and end with -------------------------------------------------------------------- */

FN int mesh_begin_next(const mesh_run *run, mesh_walk *w, u32 at, real *rows, int options)
{
    const int lane = (int)((at - run->first) % LANES);
    if (lane == 0)
        mesh_run_chart(run, at, rows);
    w->number = (int)at;
    w->masks = run->masks;
    w->sink = run->sink;
    return mesh_begin(w, run->frame, mesh_run_query(run, at, options), rows, lane);
}

FN void mesh_answer_hit(const mesh_run *run, const mesh_walk *w, mesh_hit hit)
{
    run->state[w->number] = (u8)hit.state;
    run->triangle[w->number] = hit.triangle;
    run->t[w->number] = hit.t;
}
FN void mesh_answer_state(const mesh_run *run, const mesh_walk *w)
{
    run->state[w->number] = (u8)w->hit.state;
}
#endif
