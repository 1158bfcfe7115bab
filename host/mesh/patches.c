/* SPDX-License-Identifier: MIT */
/* Sets of triangles (union-find) whose root is their lowest triangle. */
#include "patches.h"

#include <string.h>

#include "cpu/exact.h"
#include "mesh.h"

typedef struct patch_search {
    const carom_mesh *mesh;
    const caromi_edges *edges;
    uint32_t *parent; /* at most the triangle itself */
    double least;     /* cosine */
} patch_search;

static uint32_t root_of(uint32_t *parent, uint32_t triangle)
{
    while (parent[triangle] != triangle)
        triangle = parent[triangle] = parent[parent[triangle]];
    return triangle;
}

static void load_corners(const carom_mesh *mesh, uint32_t triangle, float corners[9])
{
    for (int k = 0; k < 3; k++)
        memcpy(corners + 3 * k, caromi_corner(mesh, triangle, k), 3 * sizeof *corners);
}

/* Whether the normals agree once both triangles run along their edge in opposite directions. */
static int is_flat(const patch_search *s, uint32_t a, int edge_of_a, uint32_t b, int edge_of_b)
{
    float one[9], other[9];
    load_corners(s->mesh, a, one);
    load_corners(s->mesh, b, other);
    const int alike = caromi_edge_position(s->edges, a, edge_of_a) == caromi_edge_position(s->edges, b, edge_of_b);
    return caromi_exact_is_flat(one, other, alike ? -1 : 1, s->least);
}

static void unite_along(const patch_search *s, uint32_t triangle, int edge)
{
    const caromi_edges *e = s->edges;
    const uint32_t a = caromi_edge_position(e, triangle, edge), b = caromi_edge_position(e, triangle, (edge + 1) % 3);
    for (uint32_t other = triangle;;) {
        const int k = caromi_edge_between(e, other, a, b);
        /* Copies of a triangle, however many, are opposite to each other. */
        if (other > triangle && (s->least <= -1 || !caromi_edges_same_corners(e, triangle, other))) {
            const uint32_t p = root_of(s->parent, triangle), q = root_of(s->parent, other);
            if (p != q && is_flat(s, triangle, edge, other, k))
                s->parent[p > q ? p : q] = p > q ? q : p;
        }
        other = e->next[3 * (size_t)other + (size_t)k];
        if (other == triangle)
            return;
    }
}

static void find_patches(const patch_search *s)
{
    const uint32_t triangles = (uint32_t)s->mesh->info.triangle_count;
    for (uint32_t t = 0; t < triangles; t++)
        s->parent[t] = t;
    for (uint32_t t = 0; t < triangles; t++)
        for (int k = 0; k < 3; k++)
            if (s->edges->next[3 * (size_t)t + (size_t)k] != t)
                unite_along(s, t, k);
    for (uint32_t t = 0; t < triangles; t++)
        s->parent[t] = root_of(s->parent, t);
}

carom_status caromi_patches_of(carom_mesh *mesh, const caromi_edges *edges, double flat, const uint32_t **patch,
                               carom_error *err)
{
    caromi_patches *p = &mesh->patches;
    const int is_known = p->found != NULL && !(p->flat < flat || p->flat > flat);
    *patch = p->given != NULL ? p->given : p->found;
    if (p->given != NULL || is_known)
        return CAROM_OK;
    if (p->found == NULL) {
        p->found = caromi_alloc(mesh->context, mesh->info.triangle_count, sizeof *p->found);
        if (p->found == NULL)
            return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the patches of %llu triangles",
                               (unsigned long long)mesh->info.triangle_count);
        mesh->info.bytes += caromi_patches_bytes(mesh);
    }
    const patch_search s = {mesh, edges, p->found, caromi_cosine_of_degrees(flat)};
    find_patches(&s);
    p->flat = flat;
    *patch = p->found;
    return CAROM_OK;
}

uint64_t caromi_patches_bytes(const carom_mesh *mesh)
{
    return mesh->patches.found == NULL ? 0 : mesh->info.triangle_count * sizeof *mesh->patches.found;
}

void caromi_patches_forget(carom_mesh *mesh)
{
    mesh->info.bytes -= caromi_patches_bytes(mesh);
    caromi_free(mesh->context, mesh->patches.found);
    mesh->patches.found = NULL;
}
