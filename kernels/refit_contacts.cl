/* SPDX-License-Identifier: MIT */
/* After a refit of a mesh on a GPU: what a search for contacts knows of edges and corners. The host names the kernel
 * that it builds, and runs them in this order: corners tells whether the same vertices coincide as before; if so,
 * faces, cones, join once for each level from the lowest upwards, count, drop, opposites. The arithmetic is that of
 * mesh_cones.h, so all have the CPU's bits. */
#include "mesh_cones.h"
#include "refit.h"

#if defined(KERNEL_refit_cones) || defined(KERNEL_refit_opposites) || defined(KERNEL_refit_faces)
/* The mesh, as kernel arguments. */
#define REFIT_MESH_PARAMETERS                                                                                          \
    __global const real *vertex, __global const uint *index, __global const uint *position, __global const uint *next, \
        __global const ulong *start, __global const uint *triangle, float scale
FN cones_mesh refit_mesh_of(REFIT_MESH_PARAMETERS)
{
    cones_mesh mesh;
    mesh.vertices = vertex;
    mesh.indices = index;
    mesh.position = position;
    mesh.next = next;
    mesh.start = start;
    mesh.triangle = triangle;
    mesh.scale = scale;
    return mesh;
}
#define REFIT_MESH_ARGUMENTS vertex, index, position, next, start, triangle, scale
#endif

#ifdef KERNEL_refit_corners
/* A coordinate's bits; -0 becomes 0. */
FN uint refit_bits(real x)
{
    const uint bits = as_uint(x);
    return (bits & 0x7fffffffu) != 0 ? bits : 0;
}

FN int refit_coincide(__global const real *a, __global const real *b)
{
    return refit_bits(a[0]) == refit_bits(b[0]) && refit_bits(a[1]) == refit_bits(b[1]) &&
           refit_bits(a[2]) == refit_bits(b[2]);
}

FN uint refit_mix(uint x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* Enters a vertex in a hash table of positions. Returns 0 if another one coincides with it, or if the table has too
 * many of one hash: the host then decides. */
FN uint refit_enter(__global const real *vertex, uint own, volatile __global uint *entry, uint mask)
{
    __global const real *p = vertex + 3 * (ulong)own;
    uint at = refit_mix(refit_mix(refit_mix(refit_bits(p[0])) + refit_bits(p[1])) + refit_bits(p[2]));
    for (uint probe = 0; probe < REFIT_PROBES; probe++, at++) {
        const uint other = atomic_cmpxchg(&entry[at & mask], 0u, own + 1);
        if (other == 0)
            return 1;
        if (refit_coincide(p, vertex + 3 * (ulong)(other - 1)))
            return 0;
    }
    return 0;
}

/* Counts the vertices of which the same others coincide as before: each one with the vertex that names its position, or
 * with no other such vertex. position: the lowest vertex of the same position, before the move. */
__kernel void carom_refit_corners(__global const real *vertex, __global const uint *position, uint vertices,
                                  volatile __global uint *counts, uint mask, uint items)
{
    volatile __local uint all;
    uint own = 0;
    if (get_local_id(0) == 0)
        all = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    REFIT_FOR_EACH(v, vertices)
    {
        const uint first = position[v];
        own += first == (uint)v ? refit_enter(vertex, (uint)v, counts + REFIT_COUNTS, mask)
                                : (uint)refit_coincide(vertex + 3 * v, vertex + 3 * (ulong)first);
    }
    atomic_add(&all, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        atomic_add(&counts[REFIT_UNCHANGED], all);
    (void)items;
}
#endif

#ifdef KERNEL_refit_faces
__kernel void carom_refit_faces(REFIT_MESH_PARAMETERS, __global mesh_face *faces, uint triangles, uint items)
{
    const cones_mesh mesh = refit_mesh_of(REFIT_MESH_ARGUMENTS);
    REFIT_FOR_EACH(t, triangles)
    {
        faces[t] = cones_face(&mesh, (uint)t, faces[t].along);
    }
    (void)items;
}
#endif

#ifdef KERNEL_refit_cones
/* The cones of children that are leaves; all other children have none so far. A work-item for each child. */
__kernel void carom_refit_cones(REFIT_MESH_PARAMETERS, __global const mesh_leaf *leaves,
                                __global const mesh_face *faces, __global const mesh_node *nodes,
                                __global const mesh_around *around, __global mesh_cone *cones,
                                __global mesh_cones *rows, uint children, uint items)
{
    cones_mesh mesh = refit_mesh_of(REFIT_MESH_ARGUMENTS);
    mesh.leaves = leaves;
    mesh.faces = faces;
    REFIT_FOR_EACH(k, children)
    {
        __global const mesh_node *node = &nodes[k / MESH_WIDTH];
        const int i = (int)(k % MESH_WIDTH), child = node->child[i];
        cones_clear_row(&rows[k / MESH_WIDTH], i);
        if (child >= 0)
            continue;
        const mesh_cone c = cones_of_leaf(&mesh, child, around[MESH_LEAF_AT(child)].triangle, cones_middle(node, i));
        cones[k] = c;
        cones_set_row(&rows[k / MESH_WIDTH], i, &c, c.radius, scale);
    }
    (void)items;
}
#endif

#ifdef KERNEL_refit_join
/* The cones of children that are nodes, for one level of their parents, as carom_refit_nodes. */
__kernel void carom_refit_join(__global const mesh_node *nodes, float scale, __global const uint *levels, uint first,
                               __global mesh_cone *cones, __global mesh_cones *rows, uint count, uint items)
{
    REFIT_FOR_EACH(k, (ulong)count * MESH_WIDTH)
    {
        const uint number = levels[first + k / MESH_WIDTH];
        const int i = (int)(k % MESH_WIDTH), child = nodes[number].child[i];
        if (child <= 0)
            continue;
        const mesh_cone c = cones_join(cones + (ulong)child * MESH_WIDTH, &nodes[child]);
        cones[(ulong)number * MESH_WIDTH + (uint)i] = c;
        cones_set_row(&rows[number], i, &c, cones_half_diagonal(&nodes[number], i), scale);
    }
    (void)items;
}
#endif

#ifdef KERNEL_refit_count
/* Adds the children, and those with a cone. */
__kernel void carom_refit_count(__global const mesh_node *nodes, __global const mesh_cones *rows,
                                volatile __global uint *counts, uint children, uint items)
{
    volatile __local uint all[2];
    uint own[2] = {0, 0};
    if (get_local_id(0) == 0)
        all[0] = all[1] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    REFIT_FOR_EACH(k, children)
    {
        own[0] += nodes[k / MESH_WIDTH].child[k % MESH_WIDTH] != 0 ? 1 : 0;
        own[1] += rows[k / MESH_WIDTH].slope[k % MESH_WIDTH] < v_infinity() ? 1 : 0;
    }
    atomic_add(&all[0], own[0]);
    atomic_add(&all[1], own[1]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        atomic_add(&counts[REFIT_CHILDREN], all[0]);
        atomic_add(&counts[REFIT_FOUND], all[1]);
    }
    (void)items;
}
#endif

#ifdef KERNEL_refit_drop
/* Drops all cones if too few children have one. */
__kernel void carom_refit_drop(__global const uint *counts, __global mesh_cones *rows, uint children, uint items)
{
    if (cones_suffice(counts[REFIT_CHILDREN], counts[REFIT_FOUND]))
        return;
    REFIT_FOR_EACH(k, children)
    {
        cones_clear_row(&rows[k / MESH_WIDTH], (int)(k % MESH_WIDTH));
    }
    (void)items;
}
#endif

#ifdef KERNEL_refit_opposites
/* The neighbours of leaves. A work-item for each slot of each child; a mesh of one leaf has no node. */
__kernel void carom_refit_opposites(REFIT_MESH_PARAMETERS, __global const mesh_leaf *leaves,
                                    __global const mesh_face *faces, __global const mesh_node *nodes, int root,
                                    __global const mesh_sources *sources, __global mesh_opposites *opposites,
                                    __global mesh_across *across, int have_across, uint children, uint items)
{
    cones_mesh mesh = refit_mesh_of(REFIT_MESH_ARGUMENTS);
    mesh.leaves = leaves;
    mesh.faces = faces;
    REFIT_FOR_EACH(k, (ulong)children * MESH_WIDTH)
    {
        const ulong number = k / MESH_WIDTH;
        const int child = root < 0 ? root : nodes[number / MESH_WIDTH].child[number % MESH_WIDTH];
        const int at = MESH_LEAF_AT(child);
        if (child < 0)
            cones_move_opposites(&mesh, child, (int)(k % MESH_WIDTH), sources[at].vertex, &opposites[at],
                                 have_across ? &across[at] : 0);
    }
    (void)items;
}
#endif
