/* SPDX-License-Identifier: MIT */
/* Finds patches, sets of neighbouring triangles that are nearly coplanar, by union-find. The root of a set is its
 * lowest triangle. */
#include "patches.h"

#include <math.h>
#include <string.h>

#include "cpu/exact/exact.h"
#include "host/core/progress.h"
#include "mesh.h"
#include "patch_search.h"

#define NORMAL_ERROR 0x1p-20 /* error of the cosine of two normals in binary32 */
enum {
    PAIRWISE_MOST = 8, /* up to so many triangles at an edge are compared pair by pair */
    NO_PAGE = -1
};

void caromi_patch_corners(const carom_mesh *mesh, uint32_t triangle, float corners[9])
{
    for (int k = 0; k < 3; k++)
        memcpy(corners + 3 * k, caromi_corner(mesh, triangle, k), 3 * sizeof *corners);
}

/* The cosine of two triangles' normals if it is certain on which side of `least` it is; else NAN. */
static double certain_cosine(const caromi_patch_search *search, uint32_t a, uint32_t b, int alike, double least)
{
    const mesh_face *face_a = &search->faces[a], *face_b = &search->faces[b];
    const float product = face_a->normal[0] * face_b->normal[0] + face_a->normal[1] * face_b->normal[1] +
                          face_a->normal[2] * face_b->normal[2];
    const double cosine = (double)(alike ? -product : product);
    const int is_certain = face_a->length > 0 && face_b->length > 0 && fabs(cosine - least) > NORMAL_ERROR;
    return is_certain ? cosine : (double)NAN;
}

int caromi_patch_is_flat(const caromi_patch_search *search, uint32_t a, uint32_t b, int alike, double least)
{
    float corners_a[9], corners_b[9];
    const double cosine = certain_cosine(search, a, b, alike, least);
    if (!isnan(cosine))
        return cosine > least;
    caromi_patch_corners(search->mesh, a, corners_a);
    caromi_patch_corners(search->mesh, b, corners_b);
    return caromi_exact_is_flat(corners_a, corners_b, alike ? -1 : 1, least);
}

/* A triangle's edge. */
typedef struct side {
    uint32_t triangle;
    int edge;
} side;

/* Whether two triangles run along their common edge in the same direction, so that one normal is turned. */
static int are_alike(const caromi_edges *edges, side a, side b)
{
    return caromi_edge_position(edges, a.triangle, a.edge) == caromi_edge_position(edges, b.triangle, b.edge);
}

/* Whether two triangles on one edge are nearly coplanar across it. */
static int is_flat(const caromi_patch_search *search, side a, side b, double least)
{
    const int alike = are_alike(search->edges, a, b);
    const double cosine = certain_cosine(search, a.triangle, b.triangle, alike, least);
    if (!isnan(cosine))
        return cosine > least;
    /* Two triangles with the same corners count as folded by 180 degrees. */
    if (least > -1 && caromi_edges_same_corners(search->edges, a.triangle, b.triangle))
        return 0;
    return caromi_patch_is_flat(search, a.triangle, b.triangle, alike, least);
}

static int is_joined(const caromi_patch_search *search, side a)
{
    return search->joined == NULL || (search->joined[a.triangle] >> a.edge & 1);
}

/* Joins the sets of two triangles at an edge if the triangles are nearly coplanar. */
static void unite(const caromi_patch_search *search, side a, side b)
{
    const uint32_t root = caromi_patch_root(search->parent, a.triangle),
                   other_root = caromi_patch_root(search->parent, b.triangle);
    if ((root == other_root && is_joined(search, a) && is_joined(search, b)) || !is_flat(search, a, b, search->least))
        return;
    if (root != other_root)
        caromi_patch_unite(search->parent, root, other_root);
    if (search->joined != NULL) {
        search->joined[a.triangle] |= (uint8_t)(1u << a.edge);
        search->joined[b.triangle] |= (uint8_t)(1u << b.edge);
    }
}

/* Unites the triangles at an edge pair by pair; `triangle` is the lowest. */
static void unite_pairwise(const caromi_patch_search *search, uint32_t triangle, int edge)
{
    const caromi_edges *edges = search->edges;
    const uint32_t a = caromi_edge_position(edges, triangle, edge),
                   b = caromi_edge_position(edges, triangle, (edge + 1) % 3);
    for (uint32_t one = triangle;;) {
        const int edge_of_one = caromi_edge_between(edges, one, a, b);
        const uint32_t next = edges->next[3 * (size_t)one + (size_t)edge_of_one];
        for (uint32_t other = next; other != triangle;) {
            const int edge_of_other = caromi_edge_between(edges, other, a, b);
            unite(search, (side){one, edge_of_one}, (side){other, edge_of_other});
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
static int order_of(const float *a, const float *b, const caromi_page *first, const caromi_page *second)
{
    return caromi_exact_orientation(a, b, first->third, second->third) * first->side * second->side;
}

static void swap(caromi_page *a, caromi_page *b)
{
    const caromi_page was = *a;
    *a = *b;
    *b = was;
}

/* Three-way partition around a pivot; [*equal_begin, *equal_end) are the pages in the pivot's plane. */
static void partition(const float *a, const float *b, caromi_page *pages, uint64_t count, uint64_t *equal_begin,
                      uint64_t *equal_end)
{
    /* A pseudorandom pivot, so that no order of the input is slow. */
    const caromi_page pivot = pages[(count * UINT64_C(0x9e3779b97f4a7c15) >> 32) % count];
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
static void sort_pages(const float *a, const float *b, caromi_page *pages, uint64_t count)
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

/* Lists the edge's pages, its triangles that have an area; returns their number. The angular order begins at the
 * first page. The half-plane of a page less than half a turn before it is replaced by the opposite one. */
static uint64_t list_pages(const caromi_patch_search *search, uint32_t triangle, int edge, const float *a,
                           const float *b)
{
    const caromi_edges *edges = search->edges;
    const uint32_t low = caromi_edge_position(edges, triangle, edge),
                   high = caromi_edge_position(edges, triangle, (edge + 1) % 3);
    uint64_t count = 0;
    for (uint32_t current = triangle;;) {
        float corners[9];
        const int own_edge = caromi_edge_between(edges, current, low, high);
        caromi_page own = {.triangle = current, .edge = (int8_t)own_edge, .side = 1};
        caromi_patch_corners(search->mesh, current, corners);
        memcpy(own.third, corners + 3 * ((own_edge + 2) % 3), sizeof own.third);
        if (caromi_exact_has_area(corners)) {
            const caromi_page *first = count > 0 ? search->pages : &own;
            const int orientation = caromi_exact_orientation(a, b, first->third, own.third);
            /* 0: in the first page's plane, across the edge if the two are flat to each other, else folded back.
             */
            if (orientation < 0 || (orientation == 0 && is_flat(search, (side){first->triangle, first->edge},
                                                                (side){current, own_edge}, 0)))
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
static void unite_next(const caromi_patch_search *search, uint64_t count, int direction)
{
    int64_t last_page[2] = {NO_PAGE, NO_PAGE};
    for (uint64_t i = 0; i < 2 * count; i++) {
        const int64_t index = (int64_t)(direction == BACKWARDS ? count - 1 - i % count : i % count);
        const caromi_page *own = &search->pages[index];
        const int is_opposite = (own->side < 0) != (i >= count);
        if (last_page[!is_opposite] != NO_PAGE) {
            const caromi_page *other = &search->pages[last_page[!is_opposite]];
            unite(search, (side){own->triangle, own->edge}, (side){other->triangle, other->edge});
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
static int unite_around(caromi_patch_search *search, uint32_t triangle, int edge)
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

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* The edge of the next triangle that is edge k of this one. */
static side across(const caromi_edges *edges, uint32_t triangle, int k, uint32_t next)
{
    return (side){next, caromi_edge_between(edges, next, caromi_edge_position(edges, triangle, k),
                                            caromi_edge_position(edges, triangle, (k + 1) % 3))};
}

/* Returns 0 if there is no memory. */
static int find_patches(caromi_patch_search *search)
{
    const uint32_t triangles = (uint32_t)search->mesh->info.triangle_count;
    int complete = 1;
    for (uint32_t t = 0; t < triangles; t++)
        search->parent[t] = t;
    if (search->joined != NULL)
        memset(search->joined, 0, triangles * sizeof *search->joined);
    for (uint32_t t = 0; complete && t < triangles && !caromi_look_at_times(search->mesh->context, t); t++)
        for (int k = 0; complete && k < 3; k++) {
            const uint32_t next = search->edges->next[3 * (size_t)t + (size_t)k];
            if (next > t && (search->faces[t].along & MESH_FACE_WHOLE) != 0)
                unite(search, (side){t, k}, across(search->edges, t, k, next));
            else if (next > t)
                complete = unite_around(search, t, k);
        }
    if (complete && search->joined != NULL && !caromi_watch_ends(search->mesh->context->watch))
        complete = caromi_patch_join_loose(search);
    for (uint32_t t = 0; t < triangles; t++)
        search->parent[t] = caromi_patch_root(search->parent, t);
    caromi_free(search->mesh->context, search->pages);
    return complete;
}

static carom_status no_memory(const carom_mesh *mesh, carom_error *err)
{
    return caromi_fail_memory(err, "no memory for the patches of %llu triangles",
                              (unsigned long long)mesh->info.triangle_count);
}

static int are_of(const caromi_patches *p, double flat, float within)
{
    return p->of != NULL && !(p->flat < flat || p->flat > flat) && !(p->within < within || p->within > within);
}

/* The cached patches for this angle and distance; else the place for them: a free one, or that of the least recently
 * used ones. */
static caromi_patches *find_cached(carom_mesh *mesh, double flat, float within)
{
    caromi_patches *oldest = &mesh->patches.found[0];
    for (int i = 0; i < CAROMI_PATCHES_CACHED; i++) {
        caromi_patches *p = &mesh->patches.found[i];
        if (are_of(p, flat, within))
            return p;
        if (p->used < oldest->used)
            oldest = p;
    }
    return oldest;
}

static void forget(carom_mesh *mesh, caromi_patches *patches)
{
    if (patches->of != NULL)
        mesh->info.bytes -= mesh->info.triangle_count * sizeof *patches->of;
    caromi_free(mesh->context, patches->of);
    *patches = (caromi_patches){.of = NULL};
}

/* Computes patches into a place of the cache, whose array is used again. */
static carom_status find_anew(carom_mesh *mesh, const caromi_edges *edges, caromi_patches *patches, double flat,
                              float within, carom_error *err)
{
    const uint64_t triangles = mesh->info.triangle_count;
    if (patches->of == NULL) {
        patches->of = caromi_alloc(mesh->context, triangles, sizeof *patches->of);
        if (patches->of == NULL)
            return no_memory(mesh, err);
        mesh->info.bytes += triangles * sizeof *patches->of;
    }
    caromi_patch_search search = {.mesh = mesh,
                                  .edges = edges,
                                  .faces = edges->culling->faces,
                                  .parent = patches->of,
                                  .within = within,
                                  .least = caromi_cosine_of_degrees(flat)};
    if (within > 0)
        search.joined = caromi_alloc(mesh->context, triangles, sizeof *search.joined);
    const int complete = (search.joined != NULL || !(within > 0)) && find_patches(&search);
    caromi_free(mesh->context, search.joined);
    const carom_status status = complete ? caromi_went_on(mesh->context) : no_memory(mesh, err);
    if (status != CAROM_OK) {
        forget(mesh, patches);
        return status;
    }
    patches->flat = flat;
    patches->within = within;
    patches->serial = ++mesh->patches.serial;
    return CAROM_OK;
}

carom_status caromi_patches_of(carom_mesh *mesh, const caromi_edges *edges, double flat, float within,
                               caromi_patches *out, carom_error *err)
{
    *out = (caromi_patches){.of = mesh->patches.given};
    if (out->of != NULL)
        return CAROM_OK;
    caromi_patches *patches = find_cached(mesh, flat, within);
    if (!are_of(patches, flat, within))
        CHECK(find_anew(mesh, edges, patches, flat, within, err));
    patches->used = ++mesh->patches.uses;
    *out = *patches;
    return CAROM_OK;
}

uint64_t caromi_patches_bytes(const carom_mesh *mesh)
{
    uint64_t arrays = 0;
    for (int i = 0; i < CAROMI_PATCHES_CACHED; i++)
        arrays += mesh->patches.found[i].of != NULL;
    return arrays * mesh->info.triangle_count * sizeof *mesh->patches.found[0].of;
}

void caromi_patches_forget(carom_mesh *mesh)
{
    for (int i = 0; i < CAROMI_PATCHES_CACHED; i++)
        forget(mesh, &mesh->patches.found[i]);
}
