/* SPDX-License-Identifier: MIT */
/* Finds patches, sets of neighbouring triangles that are nearly coplanar, by union-find. The root of a set is its
 * lowest triangle. */
#include "patches.h"

#include <math.h>
#include <string.h>

#include "cpu/exact/exact.h"
#include "mesh.h"

#define NORMAL_ERROR 0x1p-20 /* error of the cosine of two normals in binary32 */
enum {
    PAIRWISE_MOST = 8, /* up to so many triangles at an edge are compared pair by pair */
    NO_PAGE = -1
};

/* A triangle with an area at an edge of many triangles; the triangles are like a book'search pages around the edge. */
typedef struct page {
    uint32_t triangle;
    int8_t edge;
    int8_t side; /* -1: the order has its opposite half-plane instead, half a turn around the edge */
    float third[3];
} page;

/* The search of patches while it runs. */
typedef struct patch_search {
    const carom_mesh *mesh;
    const caromi_edges *edges;
    const caromi_face *faces;
    uint32_t *parent; /* union-find: a triangle of the same set, the triangle itself at the root */
    double least;     /* least cosine of two normals in one patch */
    page *pages;      /* buffer for an edge'search triangles, as large as needed so far */
    uint64_t capacity;
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
static int is_flat(const patch_search *search, uint32_t a, uint32_t b, int alike, double least)
{
    float corners_a[9], corners_b[9];
    const caromi_face *face_a = &search->faces[a], *face_b = &search->faces[b];
    const float product = face_a->normal[0] * face_b->normal[0] + face_a->normal[1] * face_b->normal[1] +
                          face_a->normal[2] * face_b->normal[2];
    const double cosine = (double)(alike ? -product : product);
    if (face_a->length > 0 && face_b->length > 0 && fabs(cosine - least) > NORMAL_ERROR)
        return cosine > least;
    /* Two triangles with the same corners count as folded by 180 degrees. */
    if (least > -1 && caromi_edges_same_corners(search->edges, a, b))
        return 0;
    load_corners(search->mesh, a, corners_a);
    load_corners(search->mesh, b, corners_b);
    return caromi_exact_is_flat(corners_a, corners_b, alike ? -1 : 1, least);
}

/* Joins the sets of two triangles at an edge if the triangles are nearly coplanar. */
static void unite(const patch_search *search, uint32_t a, uint32_t b, int alike)
{
    const uint32_t root = root_of(search->parent, a), other_root = root_of(search->parent, b);
    if (root != other_root && is_flat(search, a, b, alike, search->least))
        search->parent[root > other_root ? root : other_root] = root > other_root ? other_root : root;
}

/* Whether two triangles run along their common edge in the same direction. */
static int are_alike(const caromi_edges *edges, uint32_t a, int edge_of_a, uint32_t b, int edge_of_b)
{
    return caromi_edge_position(edges, a, edge_of_a) == caromi_edge_position(edges, b, edge_of_b);
}

/* Unites the triangles at an edge pair by pair; `triangle` is the lowest. */
static void unite_pairwise(const patch_search *search, uint32_t triangle, int edge)
{
    const caromi_edges *edges = search->edges;
    const uint32_t a = caromi_edge_position(edges, triangle, edge),
                   b = caromi_edge_position(edges, triangle, (edge + 1) % 3);
    for (uint32_t one = triangle;;) {
        const int edge_of_one = caromi_edge_between(edges, one, a, b);
        const uint32_t next = edges->next[3 * (size_t)one + (size_t)edge_of_one];
        for (uint32_t other = next; other != triangle;) {
            const int edge_of_other = caromi_edge_between(edges, other, a, b);
            unite(search, one, other, are_alike(edges, one, edge_of_one, other, edge_of_other));
            other = edges->next[3 * (size_t)other + (size_t)edge_of_other];
        }
        if (next == triangle)
            return;
        one = next;
    }
}

/* ---- many triangles on one edge ---------------------------------------------------------------------------------- */

/* The angular order of two pages around the edge from a to b, within half a turn. 1: the first comes before; 0: same
 * plane.
 */
static int order_of(const float *a, const float *b, const page *first, const page *second)
{
    return caromi_exact_orientation(a, b, first->third, second->third) * first->side * second->side;
}

static void swap(page *a, page *b)
{
    const page was = *a;
    *a = *b;
    *b = was;
}

/* Three-way partition around a pivot; [*equal_begin, *equal_end) are the pages in the pivot'search plane. */
static void partition(const float *a, const float *b, page *pages, uint64_t count, uint64_t *equal_begin,
                      uint64_t *equal_end)
{
    /* A pseudorandom pivot, so that no order of the input is slow. */
    const page pivot = pages[(count * UINT64_C(0x9e3779b97f4a7c15) >> 32) % count];
    *equal_begin = 0;
    *equal_end = count;
    for (uint64_t i = 0; i < *equal_end;) {
        const int order = order_of(a, b, &pages[i], &pivot);
        if (order > 0)
            swap(&pages[(*equal_begin)++], &pages[i++]);
        else if (order < 0)
            swap(&pages[--*equal_end], &pages[i]);
        else
            i++;
    }
}

/* Three-way quicksort: any number of coplanar triangles take one step. */
static void sort_pages(const float *a, const float *b, page *pages, uint64_t count)
{
    uint64_t equal_begin, equal_end;
    while (count > 1) {
        partition(a, b, pages, count, &equal_begin, &equal_end);
        const int is_front_small = equal_begin < count - equal_end;
        sort_pages(a, b, is_front_small ? pages : pages + equal_end, is_front_small ? equal_begin : count - equal_end);
        pages += is_front_small ? equal_end : 0;
        count = is_front_small ? count - equal_end : equal_begin;
    }
}

/* Lists the edge'search pages, its triangles that have an area; returns their number. The angular order begins at the
 * first page. The half-plane of a page less than half a turn before it is replaced by the opposite one. */
static uint64_t list_pages(const patch_search *search, uint32_t triangle, int edge, const float *a, const float *b)
{
    const caromi_edges *edges = search->edges;
    const uint32_t low = caromi_edge_position(edges, triangle, edge),
                   high = caromi_edge_position(edges, triangle, (edge + 1) % 3);
    uint64_t count = 0;
    for (uint32_t current = triangle;;) {
        float corners[9];
        const int own_edge = caromi_edge_between(edges, current, low, high);
        page own = {.triangle = current, .edge = (int8_t)own_edge, .side = 1};
        load_corners(search->mesh, current, corners);
        memcpy(own.third, corners + 3 * ((own_edge + 2) % 3), sizeof own.third);
        if (caromi_exact_has_area(corners)) {
            const page *first = count > 0 ? search->pages : &own;
            const int orientation = caromi_exact_orientation(a, b, first->third, own.third);
            /* 0: in the first page'search plane, across the edge if the two are flat to each other, else folded back.
             */
            if (orientation < 0 ||
                (orientation == 0 && is_flat(search, first->triangle, current,
                                             are_alike(edges, first->triangle, first->edge, current, own_edge), 0)))
                own.side = -1;
            search->pages[count++] = own;
        }
        current = edges->next[3 * (size_t)current + (size_t)own_edge];
        if (current == triangle)
            return count;
    }
}

enum { FORWARDS, BACKWARDS }; /* around the edge */
/* Unites angular neighbours. Walks once around the edge: half a turn of the sorted pages, then half a turn of their
 * opposite half-planes. The flattest neighbour of a triangle is the one closest to its opposite half-plane. So each
 * triangle is compared with the last opposite half-plane before it, and each half-plane with the last triangle.
 * docs/contacts.md, section 2. */
static void unite_next(const patch_search *search, uint64_t count, int direction)
{
    int64_t last_page[2] = {NO_PAGE, NO_PAGE};
    for (uint64_t i = 0; i < 2 * count; i++) {
        const int64_t index = (int64_t)(direction == BACKWARDS ? count - 1 - i % count : i % count);
        const page *own = &search->pages[index];
        const int is_opposite = (own->side < 0) != (i >= count);
        if (last_page[!is_opposite] != NO_PAGE) {
            const page *other = &search->pages[last_page[!is_opposite]];
            unite(search, own->triangle, other->triangle,
                  are_alike(search->edges, own->triangle, own->edge, other->triangle, other->edge));
        }
        last_page[is_opposite] = index;
    }
}

/* The number of triangles at an edge; counts to `most`. */
static uint64_t count_around(const caromi_edges *edges, uint32_t triangle, int edge, uint64_t most)
{
    const uint32_t a = caromi_edge_position(edges, triangle, edge),
                   b = caromi_edge_position(edges, triangle, (edge + 1) % 3);
    uint64_t count = 0;
    uint32_t at = triangle;
    do {
        at = edges->next[3 * (size_t)at + (size_t)caromi_edge_between(edges, at, a, b)];
        count++;
    } while (at != triangle && count < most);
    return count;
}

/* Unites the triangles at an edge; `triangle` is the lowest. Returns 0 if there is no memory. */
static int unite_around(patch_search *search, uint32_t triangle, int edge)
{
    const caromi_edges *edges = search->edges;
    const float *a = search->mesh->vertices + 3 * (size_t)caromi_edge_position(edges, triangle, edge);
    const float *b = search->mesh->vertices + 3 * (size_t)caromi_edge_position(edges, triangle, (edge + 1) % 3);
    if (count_around(edges, triangle, edge, PAIRWISE_MOST + 1) <= PAIRWISE_MOST) {
        unite_pairwise(search, triangle, edge);
        return 1;
    }
    /* Many triangles: sorted by angle around the edge, each is compared with its neighbours alone. */
    const uint64_t around = count_around(edges, triangle, edge, UINT64_MAX);
    if (around > search->capacity) {
        caromi_free(search->mesh->context, search->pages);
        search->pages = caromi_alloc(search->mesh->context, around, sizeof *search->pages);
        search->capacity = search->pages != NULL ? around : 0;
        if (search->pages == NULL)
            return 0;
    }
    const uint64_t count = list_pages(search, triangle, edge, a, b);
    sort_pages(a, b, search->pages, count);
    unite_next(search, count, FORWARDS);
    unite_next(search, count, BACKWARDS);
    return 1;
}

/* ---- the complete ---------------------------------------------------------------------------------------------------
 */

/* Returns 0 if there is no memory. */
static int find_patches(patch_search *search)
{
    const uint32_t triangles = (uint32_t)search->mesh->info.triangle_count;
    int complete = 1;
    for (uint32_t t = 0; t < triangles; t++)
        search->parent[t] = t;
    for (uint32_t t = 0; complete && t < triangles; t++)
        for (int k = 0; complete && k < 3; k++) {
            const uint32_t next = search->edges->next[3 * (size_t)t + (size_t)k];
            if (next > t && (search->faces[t].along & CAROMI_FACE_WHOLE) != 0)
                unite(search, t, next, search->faces[t].along >> k & 1);
            else if (next > t)
                complete = unite_around(search, t, k);
        }
    for (uint32_t t = 0; t < triangles; t++)
        search->parent[t] = root_of(search->parent, t);
    caromi_free(search->mesh->context, search->pages);
    return complete;
}

static carom_status no_memory(const carom_mesh *mesh, carom_error *err)
{
    return caromi_fail_memory(err, "no memory for the patches of %llu triangles",
                              (unsigned long long)mesh->info.triangle_count);
}

/* The patches of a mesh: the caller's, the ones found before for the same angle, or new ones. */
carom_status caromi_patches_of(carom_mesh *mesh, const caromi_edges *edges, double flat, const uint32_t **patch,
                               carom_error *err)
{
    caromi_patches *patches = &mesh->patches;
    const int is_known = patches->found != NULL && !(patches->flat < flat || patches->flat > flat);
    *patch = patches->given != NULL ? patches->given : patches->found;
    if (patches->given != NULL || is_known)
        return CAROM_OK;
    /* The array is reused for another angle. */
    if (patches->found == NULL) {
        patches->found = caromi_alloc(mesh->context, mesh->info.triangle_count, sizeof *patches->found);
        if (patches->found == NULL)
            return no_memory(mesh, err);
        mesh->info.bytes += caromi_patches_bytes(mesh);
    }
    patch_search search = {.mesh = mesh,
                           .edges = edges,
                           .faces = edges->culling->faces,
                           .parent = patches->found,
                           .least = caromi_cosine_of_degrees(flat)};
    if (!find_patches(&search)) {
        caromi_patches_forget(mesh);
        return no_memory(mesh, err);
    }
    patches->flat = flat;
    *patch = patches->found;
    return CAROM_OK;
}

uint64_t caromi_patches_bytes(const carom_mesh *mesh)
{
    return mesh->patches.found == NULL ? 0 : mesh->info.triangle_count * sizeof *mesh->patches.found;
}

/* Discards the cached patches. */
void caromi_patches_forget(carom_mesh *mesh)
{
    mesh->info.bytes -= caromi_patches_bytes(mesh);
    caromi_free(mesh->context, mesh->patches.found);
    mesh->patches.found = NULL;
}
