/* SPDX-License-Identifier: MIT */
/* Nearest triangles of a run of queries, several on their way at once as in mesh_template.h. */
#include "closest.h"
#include "../kernels/mesh_closest_exact.h"

enum { CLOSEST_WALKS = 8 };

static inline closest_query closest_query_at(const caromi_closest_queries *q, size_t i)
{
    return (closest_query){q->in[0][i], q->in[1][i], q->in[2][i], q->in[3][i]};
}

static inline void closest_answer(const caromi_closest_queries *q, size_t i, closest_hit hit)
{
    q->triangle[i] = hit.triangle;
    q->distance[i] = hit.distance;
    q->depth[i] = hit.depth;
}

#define MESH_CLOSEST(name, visit, end)                                                       \
    static void name(const caromi_mesh_view *mesh, const caromi_closest_queries *q)          \
    {                                                                                        \
        closest_walk walks[CLOSEST_WALKS];                                                   \
        size_t query[CLOSEST_WALKS], next = 0;                                               \
        int under_way[CLOSEST_WALKS] = {0}, count = 0;                                       \
        do {                                                                                 \
            for (int i = 0; i < CLOSEST_WALKS; i++) {                                        \
                closest_walk *w = &walks[i];                                                 \
                if (under_way[i]) {                                                          \
                    visit(w, mesh->frame, mesh->nodes, mesh->leaves);                        \
                    under_way[i] = closest_advance(w);                                       \
                    if (under_way[i]) {                                                      \
                        mesh_fetch(mesh->nodes, mesh->leaves, w->next);                      \
                        continue;                                                            \
                    }                                                                        \
                    closest_answer(q, query[i], end(w));                                     \
                    count--;                                                                 \
                }                                                                            \
                for (; next < q->count && !under_way[i]; next++) {                           \
                    query[i] = next;                                                         \
                    under_way[i] = closest_begin(w, mesh->frame, closest_query_at(q, next)); \
                    count += under_way[i];                                                   \
                    if (!under_way[i])                                                       \
                        closest_answer(q, next, end(w));                                     \
                }                                                                            \
            }                                                                                \
        } while (count > 0);                                                                 \
    }
MESH_CLOSEST(mesh_closest, closest_visit, closest_end)
MESH_CLOSEST(mesh_closest_exact, closest_visit_exact, closest_end_exact)
