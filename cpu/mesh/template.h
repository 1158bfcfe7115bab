/* SPDX-License-Identifier: MIT */
/* Searches of a mesh for a block of queries, at one lane count and one width. */
#include "kernels/mesh_closest_exact.h"
#include "kernels/mesh_contacts_exact.h"
#include "kernels/mesh_exact.h"
#include "kernels/mesh_overlap.h"
#include "kernels/mesh_run.h"
#include "nodes.h"

#ifdef MESH_SCENE
#define MESH_INSTANCES_OF(mesh) .instances = (mesh)->instances,
#else
#define MESH_INSTANCES_OF(mesh)
#endif

/* Defines `name`: answers a run of queries by one search, whose run has the same parameters as MESH_RUN. */
#define MESH_ON_CPU(name, kind, search, begin, answer, asked)               \
    MESH_RUN(name##_run, kind, search, begin, answer, asked)                \
    static void name(const caromi_mesh_view *mesh, caromi_mesh_queries *q)  \
    {                                                                       \
        mesh_sink sink = {q->records, q->capacity, 0, q->one_is_enough, 0}; \
        mesh_run run = {.frame = mesh->frame,                               \
                        .nodes = mesh->nodes,                               \
                        .leaves = mesh->leaves,                             \
                        .masks = mesh->masks,                               \
                        MESH_INSTANCES_OF(mesh).mask = q->mask,             \
                        .opposites = mesh->opposites,                       \
                        .cones = mesh->cones,                               \
                        .options = q->options,                              \
                        .end = (u32)q->count,                               \
                        .state = q->state,                                  \
                        .triangle = q->triangle,                            \
                        .t = q->t,                                          \
                        .depth = q->depth,                                  \
                        .sink = &sink};                                     \
        memcpy(run.in, q->in, sizeof run.in);                               \
        name##_run(&run);                                                   \
        q->found = sink.count;                                              \
    }
#define MESH_SWEEPS(name, search, answer, asked) MESH_ON_CPU(name, mesh, search, mesh_begin_next, answer, asked)
#define MESH_CLOSEST(name, search, answer) MESH_ON_CPU(name, closest, search, closest_begin_next, answer, run->options)
/* A branch on options costs this search 2 to 3 % with eight lanes, and the others nothing to speak of. */
MESH_SWEEPS(mesh_first_plain, mesh_first, mesh_answer_first, 0)
MESH_SWEEPS(mesh_first_options, mesh_first, mesh_answer_first, run->options)
static void mesh_first(const caromi_mesh_view *mesh, caromi_mesh_queries *queries)
{
    (queries->options != 0 ? mesh_first_options : mesh_first_plain)(mesh, queries);
}
MESH_SWEEPS(mesh_first_exact, mesh_first_exact, mesh_answer_first_exact, run->options)
MESH_SWEEPS(mesh_list, mesh_list, mesh_answer_state, run->options)
MESH_SWEEPS(mesh_list_exact, mesh_list_exact, mesh_answer_state, run->options)
MESH_ON_CPU(mesh_overlaps, mesh, mesh_overlaps, mesh_begin_fast_overlap, mesh_answer_state, run->options)
MESH_SWEEPS(mesh_overlaps_exact, mesh_overlaps_exact, mesh_answer_state, run->options)
MESH_CLOSEST(mesh_closest, closest, closest_answer)
MESH_CLOSEST(mesh_closest_exact, closest_exact, closest_answer_exact)
MESH_ON_CPU(mesh_contacts, contacts, contacts, contacts_begin_next, contacts_answer, run->options)
MESH_ON_CPU(mesh_contacts_exact, contacts, contacts_exact, contacts_exact_begin_next, contacts_answer, run->options)
