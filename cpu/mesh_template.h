/* SPDX-License-Identifier: MIT */
/* First hits of a run of queries, one after the other. */
#include "mesh.h"
#include "../kernels/mesh_exact.h"

#define MESH_FIRST(name, solve)                                                            \
    static void name(const caromi_mesh_view *mesh, const caromi_mesh_queries *q)           \
    {                                                                                      \
        for (size_t i = 0; i < q->count; i++) {                                            \
            const mesh_query query = {q->in[0][i], q->in[1][i], q->in[2][i], q->in[3][i],  \
                                      q->in[4][i], q->in[5][i], q->in[6][i], q->in[7][i]}; \
            const mesh_hit hit = solve(mesh->frame, mesh->nodes, mesh->leaves, query);     \
            q->triangle[i] = hit.triangle;                                                 \
            q->state[i] = hit.state;                                                       \
            q->t[i] = hit.t;                                                               \
        }                                                                                  \
    }
MESH_FIRST(mesh_first, mesh_first_hit)
MESH_FIRST(mesh_first_exact, mesh_first_hit_exact)
