/* SPDX-License-Identifier: MIT */
/* Finds patches, sets of neighbouring triangles that are nearly coplanar, by union-find. The root of a set is its
 * lowest triangle. */
#include "patches.h"

#include <math.h>
#include <string.h>

#include "cpu/exact/exact.h"
#include "mesh.h"

#define NORMAL_ERROR 0x1p-20    /* error of the cosine of two normals in binary32 */
enum { FEW = 8, NO_PAGE = -1 }; /* FEW: up to so many triangles at an edge are compared pair by pair */

/* A triangle with an area at an edge of many triangles; the triangles are like a book's pages around the edge. */
typedef struct page {
    uint32_t triangle;
    int8_t edge;
    int8_t side; /* -1: the order has its opposite half-plane instead, half a turn around the edge */
    float third[3];
} page;

typedef struct patch_search {
    const carom_mesh *mesh;
    const caromi_edges *edges;
    const caromi_face *faces;
    uint32_t *parent; /* union-find: at most the triangle itself */
    double least;     /* least cosine of two normals in one patch */
    page *pages;      /* buffer for an edge's triangles, as large as needed so far */
    uint64_t room;
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

/* Whether the cosine of two triangles' normals is at least `least`. alike: both run along their common edge in the same
 * direction, so that one normal is flipped. */
static int is_flat(const patch_search *s, uint32_t a, uint32_t b, int alike, double least)
{
    float one[9], other[9];
    const caromi_face *f = &s->faces[a], *g = &s->faces[b];
    const float product = f->normal[0] * g->normal[0] + f->normal[1] * g->normal[1] + f->normal[2] * g->normal[2];
    const double cosine = (double)(alike ? -product : product);
    if (f->length > 0 && g->length > 0 && fabs(cosine - least) > NORMAL_ERROR)
        return cosine > least;
    /* Two triangles with the same corners count as folded by 180 degrees. */
    if (least > -1 && caromi_edges_same_corners(s->edges, a, b))
        return 0;
    load_corners(s->mesh, a, one);
    load_corners(s->mesh, b, other);
    return caromi_exact_is_flat(one, other, alike ? -1 : 1, least);
}

static void unite(const patch_search *s, uint32_t a, uint32_t b, int alike)
{
    const uint32_t p = root_of(s->parent, a), q = root_of(s->parent, b);
    if (p != q && is_flat(s, a, b, alike, s->least))
        s->parent[p > q ? p : q] = p > q ? q : p;
}

static int are_alike(const caromi_edges *e, uint32_t a, int edge_of_a, uint32_t b, int edge_of_b)
{
    return caromi_edge_position(e, a, edge_of_a) == caromi_edge_position(e, b, edge_of_b);
}

/* Unites the triangles at an edge pair by pair; `triangle` is the lowest. */
static void unite_pairwise(const patch_search *s, uint32_t triangle, int edge)
{
    const caromi_edges *e = s->edges;
    const uint32_t a = caromi_edge_position(e, triangle, edge), b = caromi_edge_position(e, triangle, (edge + 1) % 3);
    for (uint32_t one = triangle;;) {
        const int k = caromi_edge_between(e, one, a, b);
        const uint32_t next = e->next[3 * (size_t)one + (size_t)k];
        for (uint32_t other = next; other != triangle;) {
            const int j = caromi_edge_between(e, other, a, b);
            unite(s, one, other, are_alike(e, one, k, other, j));
            other = e->next[3 * (size_t)other + (size_t)j];
        }
        if (next == triangle)
            return;
        one = next;
    }
}

/* ---- many triangles on one edge ---------------------------------------------------------------------------------- */

/* The angular order of two pages around the edge from a to b, within half a turn. 1: x comes before y; 0: same plane.
 */
static int order_of(const float *a, const float *b, const page *x, const page *y)
{
    return caromi_exact_orientation(a, b, x->third, y->third) * x->side * y->side;
}

static void swap(page *a, page *b)
{
    const page was = *a;
    *a = *b;
    *b = was;
}

/* Three-way partition around a pivot; [*from, *to) are the pages in the pivot's plane. */
static void part(const float *a, const float *b, page *p, uint64_t count, uint64_t *from, uint64_t *to)
{
    const page pivot = p[(count * UINT64_C(0x9e3779b97f4a7c15) >> 32) % count];
    *from = 0;
    *to = count;
    for (uint64_t i = 0; i < *to;) {
        const int order = order_of(a, b, &p[i], &pivot);
        if (order > 0)
            swap(&p[(*from)++], &p[i++]);
        else if (order < 0)
            swap(&p[--*to], &p[i]);
        else
            i++;
    }
}

/* Three-way quicksort: any number of coplanar triangles take one step. */
static void sort_pages(const float *a, const float *b, page *p, uint64_t count)
{
    uint64_t from, to;
    while (count > 1) {
        part(a, b, p, count, &from, &to);
        const int is_front_small = from < count - to;
        sort_pages(a, b, is_front_small ? p : p + to, is_front_small ? from : count - to);
        p += is_front_small ? to : 0;
        count = is_front_small ? count - to : from;
    }
}

/* Lists the edge's pages, its triangles that have an area; returns their number. The angular order begins at the first
 * page. The half-plane of a page less than half a turn before it is replaced by the opposite one. */
static uint64_t list_pages(const patch_search *s, uint32_t triangle, int edge, const float *a, const float *b)
{
    const caromi_edges *e = s->edges;
    const uint32_t low = caromi_edge_position(e, triangle, edge),
                   high = caromi_edge_position(e, triangle, (edge + 1) % 3);
    uint64_t count = 0;
    for (uint32_t at = triangle;;) {
        float corners[9];
        const int k = caromi_edge_between(e, at, low, high);
        page own = {.triangle = at, .edge = (int8_t)k, .side = 1};
        load_corners(s->mesh, at, corners);
        memcpy(own.third, corners + 3 * ((k + 2) % 3), sizeof own.third);
        if (caromi_exact_has_area(corners)) {
            const page *first = count > 0 ? s->pages : &own;
            const int turn = caromi_exact_orientation(a, b, first->third, own.third);
            /* 0: in the first page's plane, across the edge if the two are flat to each other, else folded back. */
            if (turn < 0 ||
                (turn == 0 && is_flat(s, first->triangle, at, are_alike(e, first->triangle, first->edge, at, k), 0)))
                own.side = -1;
            s->pages[count++] = own;
        }
        at = e->next[3 * (size_t)at + (size_t)k];
        if (at == triangle)
            return count;
    }
}

/* Unites angular neighbours. Walks once around the edge: half a turn of the sorted pages, then half a turn of their
 * opposite half-planes. The flattest neighbour of a triangle is the one closest to its opposite half-plane. So each
 * triangle is compared with the last opposite half-plane before it, and each half-plane with the last triangle.
 * docs/contacts.md, section 2. */
static void unite_next(const patch_search *s, uint64_t count, int backwards)
{
    int64_t last[2] = {NO_PAGE, NO_PAGE};
    for (uint64_t i = 0; i < 2 * count; i++) {
        const int64_t at = (int64_t)(backwards ? count - 1 - i % count : i % count);
        const page *own = &s->pages[at];
        const int is_opposite = (own->side < 0) != (i >= count);
        if (last[!is_opposite] != NO_PAGE) {
            const page *other = &s->pages[last[!is_opposite]];
            unite(s, own->triangle, other->triangle,
                  are_alike(s->edges, own->triangle, own->edge, other->triangle, other->edge));
        }
        last[is_opposite] = at;
    }
}

static uint64_t count_around(const caromi_edges *e, uint32_t triangle, int edge, uint64_t most)
{
    const uint32_t a = caromi_edge_position(e, triangle, edge), b = caromi_edge_position(e, triangle, (edge + 1) % 3);
    uint64_t count = 0;
    uint32_t at = triangle;
    do {
        at = e->next[3 * (size_t)at + (size_t)caromi_edge_between(e, at, a, b)];
        count++;
    } while (at != triangle && count < most);
    return count;
}

/* Unites the triangles at an edge; `triangle` is the lowest. Returns 0 if there is no memory. */
static int unite_around(patch_search *s, uint32_t triangle, int edge)
{
    const caromi_edges *e = s->edges;
    const float *a = s->mesh->vertices + 3 * (size_t)caromi_edge_position(e, triangle, edge);
    const float *b = s->mesh->vertices + 3 * (size_t)caromi_edge_position(e, triangle, (edge + 1) % 3);
    if (count_around(e, triangle, edge, FEW + 1) <= FEW) {
        unite_pairwise(s, triangle, edge);
        return 1;
    }
    const uint64_t around = count_around(e, triangle, edge, UINT64_MAX);
    if (around > s->room) {
        caromi_free(s->mesh->context, s->pages);
        s->pages = caromi_alloc(s->mesh->context, around, sizeof *s->pages);
        s->room = s->pages != NULL ? around : 0;
        if (s->pages == NULL)
            return 0;
    }
    const uint64_t count = list_pages(s, triangle, edge, a, b);
    sort_pages(a, b, s->pages, count);
    unite_next(s, count, 0);
    unite_next(s, count, 1);
    return 1;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Returns 0 if there is no memory. */
static int find_patches(patch_search *s)
{
    const uint32_t triangles = (uint32_t)s->mesh->info.triangle_count;
    int whole = 1;
    for (uint32_t t = 0; t < triangles; t++)
        s->parent[t] = t;
    for (uint32_t t = 0; whole && t < triangles; t++)
        for (int k = 0; whole && k < 3; k++) {
            const uint32_t next = s->edges->next[3 * (size_t)t + (size_t)k];
            if (next > t && (s->faces[t].along & CAROMI_FACE_WHOLE) != 0)
                unite(s, t, next, s->faces[t].along >> k & 1);
            else if (next > t)
                whole = unite_around(s, t, k);
        }
    for (uint32_t t = 0; t < triangles; t++)
        s->parent[t] = root_of(s->parent, t);
    caromi_free(s->mesh->context, s->pages);
    return whole;
}

static carom_status no_memory(const carom_mesh *mesh, carom_error *err)
{
    return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the patches of %llu triangles",
                       (unsigned long long)mesh->info.triangle_count);
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
            return no_memory(mesh, err);
        mesh->info.bytes += caromi_patches_bytes(mesh);
    }
    patch_search s = {.mesh = mesh,
                      .edges = edges,
                      .faces = edges->culling->faces,
                      .parent = p->found,
                      .least = caromi_cosine_of_degrees(flat)};
    if (!find_patches(&s)) {
        caromi_patches_forget(mesh);
        return no_memory(mesh, err);
    }
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
