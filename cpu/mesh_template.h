/* SPDX-License-Identifier: MIT */
/* First hits of a run of queries. Several are on their way at once, a step of each in turn: what one of them visits next
 * comes from memory while the others take theirs. */
#include "mesh.h"
#include "../kernels/mesh_exact.h"

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
    return (mesh_query){q->in[0][i], q->in[1][i], q->in[2][i], q->in[3][i],
                        q->in[4][i], q->in[5][i], q->in[6][i], q->in[7][i]};
}

static inline void mesh_answer(const caromi_mesh_queries *q, size_t i, mesh_hit hit)
{
    q->triangle[i] = hit.triangle;
    q->state[i] = hit.state;
    q->t[i] = hit.t;
}

static inline mesh_hit mesh_hit_of(const mesh_walk *w)
{
    return w->hit;
}

#define MESH_FIRST(name, visit, end)                                                   \
    static void name(const caromi_mesh_view *mesh, const caromi_mesh_queries *q)       \
    {                                                                                  \
        mesh_walk walks[MESH_WALKS];                                                   \
        size_t query[MESH_WALKS], next = 0;                                            \
        int under_way[MESH_WALKS] = {0}, count = 0;                                    \
        do {                                                                           \
            for (int i = 0; i < MESH_WALKS; i++) {                                     \
                mesh_walk *w = &walks[i];                                              \
                if (under_way[i]) {                                                    \
                    visit(w, mesh->frame, mesh->nodes, mesh->leaves);                  \
                    under_way[i] = mesh_advance(w);                                    \
                    if (under_way[i]) {                                                \
                        mesh_fetch(mesh, w->next);                                     \
                        continue;                                                      \
                    }                                                                  \
                    mesh_answer(q, query[i], end(w));                                  \
                    count--;                                                           \
                }                                                                      \
                for (; next < q->count && !under_way[i]; next++) {                     \
                    query[i] = next;                                                   \
                    under_way[i] = mesh_begin(w, mesh->frame, mesh_query_at(q, next)); \
                    count += under_way[i];                                             \
                    if (!under_way[i])                                                 \
                        mesh_answer(q, next, end(w));                                  \
                }                                                                      \
            }                                                                          \
        } while (count > 0);                                                           \
    }
MESH_FIRST(mesh_first, mesh_visit, mesh_hit_of)
MESH_FIRST(mesh_first_exact, mesh_visit_exact, mesh_end_exact)
