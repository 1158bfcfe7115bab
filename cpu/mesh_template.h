/* SPDX-License-Identifier: MIT */
/* Searches for a run of queries. Several are on their way at once, a step of each in turn: what one of them visits next
 * comes from memory while the others take theirs. */
#include "mesh.h"
#include "../kernels/mesh_exact.h"
#include "../kernels/mesh_overlap.h"

enum { MESH_WALKS = 8, MESH_LINE = 64 };

static inline void mesh_fetch(const caromi_mesh_view *mesh, int next)
{
    const char *at = next < 0 ? (const char *)(mesh->leaves + ~next) : (const char *)(mesh->nodes + next);
    const size_t size = next < 0 ? sizeof(mesh_leaf) : sizeof(mesh_node);
    for (size_t line = 0; line < size; line += MESH_LINE)
        v_prefetch(at, line);
}

static inline mesh_query mesh_query_at(const caromi_mesh_queries *q, size_t i)
{
    return (mesh_query){q->in[0][i], q->in[1][i], q->in[2][i], q->in[3][i], q->in[4][i],
                        q->in[5][i], q->in[6][i], q->in[7][i], q->options,  q->mask != NULL ? q->mask[i] : -1};
}

static inline void mesh_answer(const caromi_mesh_queries *q, size_t i, mesh_hit hit)
{
    q->state[i] = hit.state;
    if (q->triangle == NULL)
        return;
    q->triangle[i] = hit.triangle;
    q->t[i] = hit.t;
}

#define MESH_RUN(name, visit, end, options)                                            \
    static void name(const caromi_mesh_view *mesh, caromi_mesh_queries *q)             \
    {                                                                                  \
        mesh_walk walks[MESH_WALKS];                                                   \
        mesh_sink sink = {q->records, q->room, 0, q->one_is_enough};                   \
        size_t next = 0;                                                               \
        int under_way[MESH_WALKS] = {0}, count = 0;                                    \
        do {                                                                           \
            for (int i = 0; i < MESH_WALKS; i++) {                                     \
                mesh_walk *w = &walks[i];                                              \
                if (under_way[i]) {                                                    \
                    visit(w, mesh->frame, mesh->nodes, mesh->leaves, options);         \
                    under_way[i] = mesh_advance(w);                                    \
                    if (under_way[i]) {                                                \
                        mesh_fetch(mesh, w->next);                                     \
                        continue;                                                      \
                    }                                                                  \
                    mesh_answer(q, (size_t)w->number, end(w));                         \
                    count--;                                                           \
                }                                                                      \
                for (; next < q->count && !under_way[i]; next++) {                     \
                    w->number = (int)next;                                             \
                    w->sink = &sink;                                                   \
                    w->masks = mesh->masks;                                            \
                    under_way[i] = mesh_begin(w, mesh->frame, mesh_query_at(q, next)); \
                    count += under_way[i];                                             \
                    if (!under_way[i])                                                 \
                        mesh_answer(q, next, end(w));                                  \
                }                                                                      \
            }                                                                          \
        } while (count > 0);                                                           \
        q->found = sink.count;                                                         \
    }
/* A branch on options costs this search 2 to 3 % with eight lanes, and the others nothing to speak of. */
MESH_RUN(mesh_first_plain, mesh_visit_first, mesh_end, 0)
MESH_RUN(mesh_first_options, mesh_visit_first, mesh_end, q->options)
static void mesh_first(const caromi_mesh_view *mesh, caromi_mesh_queries *q)
{
    (q->options != 0 ? mesh_first_options : mesh_first_plain)(mesh, q);
}
MESH_RUN(mesh_first_exact, mesh_visit_first_exact, mesh_end_exact, q->options)
MESH_RUN(mesh_list, mesh_visit_list, mesh_end, q->options)
MESH_RUN(mesh_list_exact, mesh_visit_list_exact, mesh_end, q->options)
MESH_RUN(mesh_overlaps, mesh_visit_overlap, mesh_end, q->options)
MESH_RUN(mesh_overlaps_exact, mesh_visit_overlap_exact, mesh_end, q->options)
