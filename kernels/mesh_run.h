/* SPDX-License-Identifier: MIT */
/* A run of queries through the hierarchy. On a CPU several are on their way at once, all that are at a node and then all that
 * are at a leaf: what one of them visits next comes from memory while the others take their step. Where there is nothing to
 * fetch ahead with, one follows the other. */
#ifndef CAROM_MESH_RUN_H
#define CAROM_MESH_RUN_H
#include "clearance.h"
#include "mesh_pairs.h"

#define MESH_LINE 64
#define MESH_AHEAD 3
#define MESH_ROWS (MESH_COURSE + 1) /* the numbers of a query's course, and whether it meets nothing */

/* Columns of queries and answers; those from `first` to before `end` are answered. */
typedef struct mesh_run {
    mesh_frame frame;
    G const mesh_node *nodes;
    G const mesh_leaf *leaves;
    G const mesh_clearance *clearance; /* of a search that looks at it: mesh_begin_clear */
    G const int *masks;                /* of the triangles, with MESH_TRIANGLE_MASKS */
    G const real *in[8];               /* cx cy cz radius vx vy vz t_max */
    G const int *mask;                 /* of the queries, with MESH_QUERY_MASKS */
    int options;
    u32 first, end;
    G u8 *state;
    G int *triangle; /* of a search for one answer, as t */
    G real *t, *depth;
    mesh_sink *sink; /* of one for all hits; NULL: each query has its own */
    G mesh_record *records;
    G const int *from; /* where those of each query go */
    G int *hits, *start;
    u32 found; /* records that there is room for */
} mesh_run;

/* What a work-item follows of all queries: `share` of them, or, where `rows` of them are put in order, the one in its place. */
FN void mesh_run_share(mesh_run *run, u32 item, u32 share, u32 queries, G const u32 *row, u32 rows)
{
    const u32 at = item < rows ? row[item] : item * share;
    run->first = at < queries ? at : queries;
    run->end = queries - run->first > share ? run->first + share : queries;
}

/* Whether the loops of this work-item have been ended before they were done. Mesa's llvmpipe lets a kernel go round 65535 times,
 * all its loops taken together, and from then on ends each after one turn, without a word: this one too. `number`, from 1 to
 * 256, asks for two turns or more; as no compiler knows that it is so small, none knows the answer. */
FN int mesh_run_is_cut(u32 number)
{
    u32 turns = 0;
    for (u32 x = number; x < 0x10000; x <<= 4)
        turns++;
    return turns < 2;
}

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
    mesh_chart(rows, center, mesh_run_column(run, 3, at), velocity, mesh_run_column(run, 7, at), run->frame);
}

/* Which of them meet nothing: 1, else 0. */
FN void mesh_run_clear(const mesh_run *run, u32 at, real *clear)
{
    const v3 center = v3_of(mesh_run_column(run, 0, at), mesh_run_column(run, 1, at), mesh_run_column(run, 2, at));
    const v3 velocity = v3_of(mesh_run_column(run, 4, at), mesh_run_column(run, 5, at), mesh_run_column(run, 6, at));
    const vm holds =
        clearance_holds(run->clearance, center, mesh_run_column(run, 3, at), velocity, mesh_run_column(run, 7, at));
    v_store(clear, v_sel(holds, v_f(R(1.0)), v_f(R(0.0))));
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

FN G const mesh_leaf *mesh_leaf_of(const mesh_run *run, int reference)
{
    return run->leaves + MESH_LEAF_AT(reference);
}

#if MESH_WALKS > 1
/* Where a reference leads: to a node, or below 0 to a leaf, at from + step * reference. */
typedef struct mesh_places {
    size_t from[2], step[2];
} mesh_places;

/* A reference to a leaf counts halves of leaves from -1 down. */
FN mesh_places mesh_places_of(const mesh_run *run)
{
    mesh_places p;
    p.step[0] = sizeof(mesh_node);
    p.from[0] = (size_t)run->nodes;
    p.step[1] = 0 - sizeof(mesh_leaf) / 2;
    p.from[1] = (size_t)run->leaves + p.step[1];
    return p;
}

/* Without a branch for what it is, because that cannot be foreseen: as many lines as a node has, which are more than a leaf has
 * and less than a loose one. The bit that tells a loose one counts too: that is fetched from its third line on, to its end. */
FN void mesh_fetch(const mesh_places *p, int next)
{
    const int is_leaf = next < 0;
    const size_t at = p->from[is_leaf] + p->step[is_leaf] * (size_t)next;
    LANG_UNROLL
    for (size_t line = 0; line < sizeof(mesh_node); line += MESH_LINE)
        v_prefetch(at, line);
}

/* What a query goes on with that waits for its pairs, unless they answer that it is too late. */
FN int mesh_top(const mesh_stack *s)
{
    return s->child[s->top > 0 ? s->top - 1 : 0];
}

/* What waits on top of a stack, for a query without others that could compute while it waits. */
FN void mesh_fetch_ahead(const mesh_places *p, const mesh_stack *s)
{
    for (int i = s->top; i > 0 && i > s->top - MESH_AHEAD; i--)
        mesh_fetch(p, s->child[i - 1]);
}

/* Walks that are to do the same, a bit for each: which of them are at a node and which at a leaf no processor can foresee, and
 * from bit to bit it goes without asking. */
typedef struct mesh_team {
    u32 node, leaf, ended;
    u32 asked;                      /* those that have a query */
    int waiting[MESH_WALKS], waits; /* in the order in which they began to */
    u32 first_wait;                 /* modulo MESH_WALKS */
    u32 until[MESH_WALKS];          /* a walk waits until so many pairs are answered */
} mesh_team;

FN mesh_team mesh_team_of_all(void)
{
    const mesh_team t = {0, 0, (1u << MESH_WALKS) - 1, 0, {0}, 0, 0, {0}};
    return t;
}

/* A set is gone through and filled anew meanwhile. */
FN u32 mesh_team_turn(u32 *walks)
{
    const u32 all = *walks;
    *walks = 0;
    return all;
}

/* Walk i goes on at `next`. */
FN void mesh_team_place(mesh_team *t, int i, int next)
{
    t->node |= (u32)(next >= 0) << i;
    t->leaf |= (u32)(next < 0) << i;
}

FN int mesh_team_moves(const mesh_team *t)
{
    return (t->node | t->leaf | t->ended) != 0;
}

FN void mesh_team_wait(mesh_team *t, int i, u32 until)
{
    t->until[i] = until;
    t->waiting[(t->first_wait + (u32)t->waits++) % MESH_WALKS] = i;
}

/* The walk that has waited longest, if its pairs are answered; else -1. */
FN int mesh_team_resume(mesh_team *t, u32 answered)
{
    const int i = t->waiting[t->first_wait % MESH_WALKS];
    if (t->waits == 0 || (int)(t->until[i] - answered) > 0)
        return -1;
    t->waits--;
    t->first_wait++;
    return i;
}
#endif

/* A run of searches: `begin` a query (1: on its way, 0: answered already, -1: not asked for), visit nodes and leaves,
 * `answer`. `kind` begins the names of a walk's type and of what is done at a node, `search` of what is done at a leaf. Queries that wait for
 * their pairs go on when these are answered: as soon as LANES pairs wait, or if nobody can go on without. `options` are
 * those of the run, or a constant 0.
 *
 * Pairs of all leaves are put side by side before any are asked about: the solver's loads would wait for stores of a moment
 * ago, and one call of it begins while the last one ends. What a waiting query goes on with is fetched meanwhile.
 *
 * All nodes are seen before anyone chooses among children: a branch that was foreseen wrongly throws away what was begun
 * behind it, and costs little only if what it asks is there already. */
/* Twice, so that arguments which are macros are put in before they become parts of names. */
#define MESH_RUN(name, kind, search, begin, answer, options) MESH_RUN_(name, kind, search, begin, answer, options)
#if MESH_WALKS > 1
#define MESH_RUN_(name, kind, search, begin, answer, options)                                                    \
    FN void name(const mesh_run *run)                                                                            \
    {                                                                                                            \
        kind##_walk walks[MESH_WALKS];                                                                           \
        mesh_pairs pairs;                                                                                        \
        kind##_seen seen[MESH_WALKS];                                                                            \
        mesh_team team = mesh_team_of_all();                                                                     \
        const mesh_places places = mesh_places_of(run);                                                          \
        LANG_ALIGNED real rows[LANES * MESH_ROWS]; /* of the next queries */                                     \
        const int is_alone = run->end - run->first == 1;                                                         \
        u32 next = run->first;                                                                                   \
        mesh_pairs_begin(&pairs);                                                                                \
        do {                                                                                                     \
            while (pairs.end - pairs.first >= LANES || (pairs.end > pairs.first && !mesh_team_moves(&team)))     \
                search##_ask(run, walks, &pairs, options);                                                       \
            for (int i; (i = mesh_team_resume(&team, pairs.answered)) >= 0;)                                     \
                if (kind##_advance(&walks[i]))                                                                   \
                    mesh_team_place(&team, i, walks[i].next);                                                    \
                else                                                                                             \
                    team.ended |= 1u << i;                                                                       \
            for (u32 left = mesh_team_turn(&team.ended); left != 0; left &= left - 1) {                          \
                const int i = bitmask_first(left);                                                               \
                int begun = -1;                                                                                  \
                if ((team.asked >> i & 1) != 0)                                                                  \
                    answer(run, &walks[i]);                                                                      \
                while (next < run->end && begun <= 0) {                                                          \
                    begun = begin(run, &walks[i], next++, rows, options);                                        \
                    if (begun == 0)                                                                              \
                        answer(run, &walks[i]);                                                                  \
                }                                                                                                \
                team.asked &= ~(1u << i);                                                                        \
                if (begun > 0) {                                                                                 \
                    team.asked |= 1u << i;                                                                       \
                    kind##_enter(&pairs, &walks[i], i);                                                          \
                    mesh_team_place(&team, i, walks[i].next);                                                    \
                }                                                                                                \
            }                                                                                                    \
            for (u32 left = team.node; left != 0; left &= left - 1) {                                            \
                const int i = bitmask_first(left);                                                               \
                kind##_see(&walks[i], run->nodes + walks[i].next, &seen[i]);                                     \
            }                                                                                                    \
            for (u32 left = mesh_team_turn(&team.node); left != 0; left &= left - 1) {                           \
                const int i = bitmask_first(left);                                                               \
                if (!kind##_choose(&walks[i], run->nodes + walks[i].next, &seen[i], options)) {                  \
                    team.ended |= 1u << i;                                                                       \
                    continue;                                                                                    \
                }                                                                                                \
                mesh_fetch(&places, walks[i].next);                                                              \
                mesh_team_place(&team, i, walks[i].next);                                                        \
            }                                                                                                    \
            if (is_alone)                                                                                        \
                mesh_fetch_ahead(&places, &walks[0].stack);                                                      \
            for (u32 left = mesh_team_turn(&team.leaf); left != 0; left &= left - 1) {                           \
                const int i = bitmask_first(left);                                                               \
                const int step =                                                                                 \
                    search##_visit(&walks[i], i, &pairs, run->frame, mesh_leaf_of(run, walks[i].next), options); \
                if (step == MESH_WAITS) {                                                                        \
                    mesh_fetch(&places, mesh_top(&walks[i].stack));                                              \
                    mesh_team_wait(&team, i, pairs.offered);                                                     \
                } else if (step) {                                                                               \
                    mesh_fetch(&places, walks[i].next);                                                          \
                    mesh_team_place(&team, i, walks[i].next);                                                    \
                } else {                                                                                         \
                    team.ended |= 1u << i;                                                                       \
                }                                                                                                \
            }                                                                                                    \
        } while (mesh_team_moves(&team) || team.waits > 0);                                                      \
    }
#else
#define MESH_RUN_(name, kind, search, begin, answer, options)                                                       \
    FN void name(const mesh_run *run)                                                                               \
    {                                                                                                               \
        kind##_walk walk;                                                                                           \
        mesh_pairs pairs;                                                                                           \
        real rows[LANES * MESH_ROWS]; /* of the next queries */                                                     \
        mesh_pairs_begin(&pairs);                                                                                   \
        for (u32 next = run->first; next < run->end; next++) {                                                      \
            const int begun = begin(run, &walk, next, rows, options);                                               \
            int on = begun > 0;                                                                                     \
            while (on || pairs.end > 0) {                                                                           \
                while (on && pairs.end < MESH_PUT_OFF)                                                              \
                    on = walk.next >= 0                                                                             \
                             ? kind##_descend(&walk, run->nodes + walk.next, options)                               \
                             : search##_visit(&walk, 0, &pairs, run->frame, mesh_leaf_of(run, walk.next), options); \
                search##_ask(run, &walk, &pairs, options);                                                          \
            }                                                                                                       \
            if (begun >= 0)                                                                                         \
                answer(run, &walk);                                                                                 \
        }                                                                                                           \
    }
#endif

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

/* Where nobody has sorted out those that meet nothing. */
FN int mesh_begin_clear(const mesh_run *run, mesh_walk *w, u32 at, real *rows, int options)
{
    const int lane = (int)((at - run->first) % LANES);
    real *clear = rows + LANES * MESH_COURSE;
    if (lane == 0)
        mesh_run_clear(run, at, clear);
    return mesh_begin_next(run, w, at, rows, options) && clear[lane] == R(0.0);
}

FN void mesh_answer_hit(const mesh_run *run, const mesh_walk *w, real t)
{
    const int triangle = w->until.triangle | -(w->until.triangle == MESH_NO_TRIANGLE); /* -1 if there is none */
    run->state[w->number] = (u8)w->state;
    run->triangle[w->number] = triangle;
    run->t[w->number] = t;
}
FN void mesh_answer_state(const mesh_run *run, const mesh_walk *w)
{
    run->state[w->number] = (u8)w->state;
}
#endif
