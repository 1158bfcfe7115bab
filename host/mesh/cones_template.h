/* SPDX-License-Identifier: MIT */
/* Computes the normal cones of a mesh (kernels/mesh_cones.h) with the pool, and what they need of neighbours; for one
 * width. */
#include <math.h>

#include "culling_view.h"

enum {
    FAN_MOST = 48 /* triangles around a corner; with more there is no cone */,
    FACES_PER_TASK = 4096,
    NODES_PER_TASK = 64
};
enum { WHOLE = MESH_FACE_WHOLE }; /* the flag of a triangle that meets exactly one other at each of its edges */

/* The computation of all cones. */
typedef struct cone_job {
    const carom_mesh *mesh;
    const caromi_edges *edges;
    cones_mesh view; /* of the mesh and its edges */
    mesh_face *faces;
    mesh_cone *cones; /* [nodes][MESH_WIDTH] */
    mesh_cones *rows; /* [nodes] the result, in the search's format */
    int queries;      /* CAROMI_ANY_QUERY or CAROMI_UNMASKED_QUERY */
    int moves;        /* only vertices have changed: the faces' `along` stays */
} cone_job;

/* ---- triangles --------------------------------------------------------------------------------------------------- */

/* Whether the edge belongs to exactly one other triangle, which counts for the same queries. Sets the edge's bit in
 * *along if both triangles run along it in the same direction. */
static int has_one_neighbour(const cone_job *job, uint32_t triangle, int edge, uint32_t *along)
{
    const caromi_edges *edges = job->edges;
    const uint32_t other = edges->next[3 * (size_t)triangle + (size_t)edge];
    const uint32_t edge_begin = caromi_edge_position(edges, triangle, edge),
                   edge_end = caromi_edge_position(edges, triangle, (edge + 1) % 3);
    const int edge_of_other = other != triangle ? caromi_edge_between(edges, other, edge_begin, edge_end) : -1;
    if (!caromi_edges_counts_with(edges, other, triangle, job->queries) ||
        !caromi_edges_counts_with(edges, triangle, other, job->queries))
        return 0;
    if (edge_of_other < 0 || edges->next[3 * (size_t)other + (size_t)edge_of_other] != triangle)
        return 0;
    *along |= (uint32_t)(caromi_edge_position(edges, other, edge_of_other) == edge_begin) << edge;
    return 1;
}

/* The bits of edges along which the neighbour runs in the same direction, with the flag WHOLE. 0: an edge has not
 * exactly one neighbour. */
static uint32_t along_of(const cone_job *job, uint32_t triangle)
{
    uint32_t along = 0;
    for (int edge = 0; edge < 3; edge++)
        if (!has_one_neighbour(job, triangle, edge, &along))
            return 0;
    return along | WHOLE;
}

/* Task: computes normals and neighbours of a range of triangles. */
static void find_faces(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const cone_job *job = user;
    (void)thread;
    if (caromi_watch_look(job->mesh->context->watch))
        return;
    for (uint64_t t = begin; t < end; t++) {
        const uint32_t along = job->moves ? job->faces[t].along : along_of(job, (uint32_t)t);
        job->faces[t] = cones_face(&job->view, (uint32_t)t, along);
    }
}

/* ---- the triangles around a leaf --------------------------------------------------------------------------------- */

enum { LEAF_CORNERS = 3 * MESH_WIDTH };

/* A list of triangles, each once. */
typedef struct listed {
    uint64_t may_have[2]; /* filter: a bit for each triangle listed, by the triangle's lowest bits */
    uint32_t count, capacity, *triangle;
} listed;

/* Adds a triangle once. Returns 0 if there is no room. */
static int list_triangle(listed *list, uint32_t triangle)
{
    const uint64_t bit = UINT64_C(1) << (triangle & 63);
    uint64_t *may_have = &list->may_have[triangle >> 6 & 1];
    for (uint32_t i = 0; (*may_have & bit) != 0 && i < list->count; i++)
        if (list->triangle[i] == triangle)
            return 1;
    *may_have |= bit;
    if (list->count + 1 == list->capacity)
        return 0;
    list->triangle[list->count++] = triangle;
    return 1;
}

/* Lists the triangles around a leaf's corners. Returns the mark for the list: behind its last triangle, or in place of
 * the first. */
static uint32_t list_fans(const cone_job *job, const mesh_leaf *leaf, int is_unindexed, listed *list)
{
    int has_capacity = 1, count = 0;
    const caromi_corners *corners = job->edges->corners;
    cones_corners next = cones_corners_of(leaf, is_unindexed);
    uint32_t positions[LEAF_CORNERS];
    while (cones_next_corner(&job->view, &next, &positions[count]))
        count++;
    /* Each corner's fan: the triangles that share its position. */
    for (int i = 0; i < count; i++)
        __builtin_prefetch(&corners->start[positions[i]]);
    for (int i = 0; i < count; i++) {
        const uint64_t fan_begin = corners->start[positions[i]], fan_end = corners->start[positions[i] + 1];
        if (fan_end - fan_begin > FAN_MOST)
            return CONES_NO_CONE;
        for (uint64_t fan = fan_begin; has_capacity && fan < fan_end; fan++)
            has_capacity = list_triangle(list, corners->triangle[fan]);
    }
    return has_capacity ? MESH_NONE : CONES_NO_CAPACITY;
}

/* Writes the list of triangles around a leaf, which ends or begins with a mark. */
static void list_around(const cone_job *job, const mesh_leaf *leaf, int is_unindexed, mesh_around *to)
{
    const uint32_t capacity = sizeof to->triangle / sizeof *to->triangle;
    listed list = {.capacity = is_unindexed ? 2 * capacity : capacity, .triangle = to->triangle};
    const uint32_t mark = list_fans(job, leaf, is_unindexed, &list);
    list.triangle[mark == MESH_NONE ? list.count : 0] = mark;
}

/* The cone of a leaf. The table of triangles around leaves is filled for any queries first, then reused for those of
 * one side. */
static mesh_cone cone_of_leaf(const cone_job *job, int reference, const mesh_node *node, int i)
{
    mesh_around *around = (mesh_around *)job->edges->around + MESH_LEAF_AT(reference);
    if (!job->moves && job->queries == CAROMI_ANY_QUERY)
        list_around(job, &((const mesh_leaf *)job->mesh->view.leaves)[MESH_LEAF_AT(reference)],
                    MESH_IS_UNINDEXED(reference), around);
    return cones_of_leaf(&job->view, reference, around->triangle, cones_middle(node, i));
}

/* Task: the cones of those children of a range of nodes that are leaves. */
static void find_leaves(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const cone_job *job = user;
    (void)thread;
    if (caromi_watch_look(job->mesh->context->watch))
        return;
    for (uint64_t number = begin; number < end; number++) {
        const mesh_node *node = &((const mesh_node *)job->mesh->view.nodes)[number];
        for (int i = 0; i < MESH_WIDTH; i++) {
            cones_clear_row(&job->rows[number], i);
            if (node->child[i] >= 0)
                continue;
            const mesh_cone c = cone_of_leaf(job, node->child[i], node, i);
            job->cones[MESH_WIDTH * number + (uint64_t)i] = c;
            cones_set_row(&job->rows[number], i, &c, c.radius, job->view.scale);
        }
    }
}

/* Computes the cones of inner nodes, from the last to the first: children have higher numbers than their node. */
static void find_nodes(const cone_job *job)
{
    for (uint64_t number = job->mesh->info.node_count; number-- > 0;) {
        const mesh_node *node = &((const mesh_node *)job->mesh->view.nodes)[number];
        for (int i = 0; i < MESH_WIDTH; i++) {
            const int child = node->child[i];
            mesh_cone *to = &job->cones[MESH_WIDTH * number + (uint64_t)i];
            if (child <= 0)
                continue;
            *to = cones_join(job->cones + MESH_WIDTH * (uint64_t)child,
                             &((const mesh_node *)job->mesh->view.nodes)[child]);
            cones_set_row(&job->rows[number], i, to, cones_half_diagonal(node, i), job->view.scale);
        }
    }
}

/* Drops all cones if too few children have one, as the search would test them in vain. The decision is made here so
 * that each backend culls the same triangles. Returns whether cones are kept. */
static int keep_if_many(const cone_job *job)
{
    const uint64_t nodes = job->mesh->info.node_count;
    uint32_t children = 0, found = 0;
    for (uint64_t number = 0; number < nodes; number++)
        for (int i = 0; i < MESH_WIDTH; i++) {
            children += ((const mesh_node *)job->mesh->view.nodes)[number].child[i] != 0;
            found += isfinite(job->rows[number].slope[i]) != 0;
        }
    if (cones_suffice(children, found))
        return 1;
    for (uint64_t number = 0; number < nodes; number++)
        for (int i = 0; i < MESH_WIDTH; i++)
            cones_clear_row(&job->rows[number], i);
    return 0;
}

/* Computes faces, then cones of leaves, then cones of inner nodes. Returns 0 if there is no memory. Unfinished if the
 * call ends early. */
static int cones_fill(const carom_mesh *mesh, caromi_edges *edges, int queries, int moves)
{
    const uint64_t nodes = mesh->info.node_count, triangles = mesh->info.triangle_count;
    caromi_culling *to = &edges->culling[queries];
    cone_job job = {.mesh = mesh,
                    .edges = edges,
                    .view = culling_view(edges, queries),
                    .faces = to->faces,
                    .rows = to->cones,
                    .queries = queries,
                    .moves = moves};
    caromi_parallel_runs(mesh->context->pool, triangles, FACES_PER_TASK, find_faces, &job);
    if (nodes == 0)
        return 1;
    job.cones = caromi_alloc(mesh->context, MESH_WIDTH * nodes, sizeof *job.cones);
    if (job.cones == NULL)
        return 0;
    caromi_parallel_runs(mesh->context->pool, nodes, NODES_PER_TASK, find_leaves, &job);
    if (!caromi_watch_ends(mesh->context->watch)) { /* else the leaves are unfinished */
        find_nodes(&job);
        to->has_cones = keep_if_many(&job);
    }
    caromi_free(mesh->context, job.cones);
    return 1;
}
