/* SPDX-License-Identifier: MIT */
/* The open edges of a mesh form cycles. Each cycle is cut along its shortest chords: a triangle at a time, over the two
 * edges whose ends are nearest to each other. Cracks are zipped up, and round holes become coarser from the rim on. */
#include "closing.h"

#include <string.h>

#include "cpu/exact/integer.h"
#include "mesh.h"

enum { EDGES_MOST = INT32_MAX / 2 }; /* numbers of nodes and of corners have 32 bits */

/* Directed open edges, those that would close the mesh, and the cycles made of them. */
typedef struct cycle_finder {
    const carom_mesh *mesh;
    caromi_closing *closing;
    uint64_t *start;   /* [vertices + 2] first edge that leaves each position (prefix sum); then the next to be used */
    uint32_t *end;     /* [edges] where each leads */
    uint32_t *path;    /* [edges + 1] positions of the walk */
    uint32_t *on_path; /* [vertices] index in the path + 1; 0: not there */
    struct cycle_cutter *cutter;
} cycle_finder;

/* ---- cutting a cycle --------------------------------------------------------------------------------------------- */

/* A corner that can be cut off: the squared length of the chord between its neighbours. */
typedef struct ear {
    double chord;
    uint32_t corner, stamp; /* the stamp is that of the corner, unless the ear has changed meanwhile */
} ear;

/* The scratch of a cut; arrays of one element for each corner of the longest possible cycle. */
typedef struct cycle_cutter {
    uint32_t *before, *after, *stamp;
    ear *heap; /* [3 * corners] the shortest chord first */
    uint64_t count;
} cycle_cutter;

static int is_before(const ear *a, const ear *b)
{
    return a->chord != b->chord ? a->chord < b->chord : a->corner < b->corner;
}

static void push(cycle_cutter *cutter, ear new_ear)
{
    uint64_t at = cutter->count++;
    for (; at > 0 && is_before(&new_ear, &cutter->heap[(at - 1) / 2]); at = (at - 1) / 2)
        cutter->heap[at] = cutter->heap[(at - 1) / 2];
    cutter->heap[at] = new_ear;
}

static ear pop(cycle_cutter *cutter)
{
    const ear first = cutter->heap[0], last = cutter->heap[--cutter->count];
    uint64_t at = 0;
    for (uint64_t child; (child = 2 * at + 1) < cutter->count; at = child) {
        child += child + 1 < cutter->count && is_before(&cutter->heap[child + 1], &cutter->heap[child]);
        if (!is_before(&cutter->heap[child], &last))
            break;
        cutter->heap[at] = cutter->heap[child];
    }
    cutter->heap[at] = last;
    return first;
}

/* Puts a corner's ear on the heap; an older one is then out of date. */
static void push_ear(const cycle_finder *finder, const uint32_t *cycle, uint32_t corner)
{
    cycle_cutter *cutter = finder->cutter;
    const float *a = finder->mesh->vertices + 3 * (size_t)cycle[cutter->before[corner]],
                *b = finder->mesh->vertices + 3 * (size_t)cycle[cutter->after[corner]];
    double chord = 0;
    for (int k = 0; k < 3; k++) {
        const double d = (double)a[k] - (double)b[k];
        chord += d * d;
    }
    push(cutter, (ear){chord, corner, ++cutter->stamp[corner]});
}

/* Whether a triangle has an area; decided exactly. */
static int has_area(const float corners[9])
{
    const int lowest = caromi_lowest_bit(corners, 9), unit = lowest == CAROMI_NO_BIT ? 0 : lowest;
    caromi_int3 e, f, normal;
    caromi_int base, corner;
    for (int k = 0; k < 3; k++) {
        caromi_int_of_float(&base, corners[k], unit);
        caromi_int_of_float(&corner, corners[3 + k], unit);
        caromi_int_sub(&e.x[k], &corner, &base);
        caromi_int_of_float(&corner, corners[6 + k], unit);
        caromi_int_sub(&f.x[k], &corner, &base);
    }
    caromi_int3_cross(&normal, &e, &f);
    return normal.x[0].sign != 0 || normal.x[1].sign != 0 || normal.x[2].sign != 0;
}

/* Adds a triangle, unless it has no area. */
static void add_triangle(const cycle_finder *finder, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t corner[] = {a, b, c};
    float *to = finder->closing->corners[finder->closing->count];
    for (int k = 0; k < 3; k++)
        memcpy(to + 3 * k, finder->mesh->vertices + 3 * (size_t)corner[k], 3 * sizeof *to);
    finder->closing->count += has_area(to) != 0;
}

/* Closes one cycle. */
static void cut_cycle(const cycle_finder *finder, const uint32_t *cycle, uint32_t count)
{
    cycle_cutter *cutter = finder->cutter;
    cutter->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        cutter->before[i] = i > 0 ? i - 1 : count - 1;
        cutter->after[i] = i + 1 < count ? i + 1 : 0;
        cutter->stamp[i] = 0;
    }
    for (uint32_t i = 0; i < count; i++)
        push_ear(finder, cycle, i);
    for (uint32_t left = count; left > 2;) {
        const ear next = pop(cutter);
        if (next.stamp != cutter->stamp[next.corner])
            continue;
        const uint32_t before = cutter->before[next.corner], after = cutter->after[next.corner];
        add_triangle(finder, cycle[before], cycle[next.corner], cycle[after]);
        cutter->stamp[next.corner] = UINT32_MAX; /* it is cut off */
        cutter->after[before] = after;
        cutter->before[after] = before;
        if (--left > 2) {
            push_ear(finder, cycle, before);
            push_ear(finder, cycle, after);
        }
    }
}

/* ---- finding cycles ---------------------------------------------------------------------------------------------- */

static void count_open(void *user, const caromi_edge_group *group)
{
    cycle_finder *finder = user;
    const uint64_t more = group->forward > group->back ? group->forward - group->back : group->back - group->forward;
    finder->closing->open_edges += more;
    finder->start[(group->forward > group->back ? group->high : group->low) + (uint64_t)2] += more;
}

/* Lists an edge that closes the mesh: against the direction that has more triangles. */
static void list_open(void *user, const caromi_edge_group *group)
{
    cycle_finder *finder = user;
    const int is_forward = group->forward > group->back;
    const uint32_t from = is_forward ? group->high : group->low, to = is_forward ? group->low : group->high;
    for (uint64_t i = is_forward ? group->forward - group->back : group->back - group->forward; i > 0; i--)
        finder->end[finder->start[from + (uint64_t)1]++] = to;
}

/* Walks along unused edges from a position. Where the path meets itself, it has a cycle, which is closed and cut out of
 * it. As many edges lead to each position as leave it, so the walk ends where it began. */
static void walk(const cycle_finder *finder, uint64_t *used, uint32_t from)
{
    uint64_t length = 0;
    for (uint32_t at = from;;) {
        if (finder->on_path[at] != 0) {
            const uint64_t first = finder->on_path[at] - 1;
            cut_cycle(finder, finder->path + first, (uint32_t)(length - first));
            for (; length > first; length--)
                finder->on_path[finder->path[length - 1]] = 0;
        }
        if (used[at] == finder->start[at + (uint64_t)1])
            return;
        finder->path[length++] = at;
        finder->on_path[at] = (uint32_t)length;
        at = finder->end[used[at]++];
    }
}

static carom_status alloc_cycles(cycle_finder *finder, uint64_t **used, carom_error *err)
{
    const carom_context *context = finder->mesh->context;
    const uint64_t edges = finder->closing->open_edges, vertices = finder->mesh->vertex_count;
    cycle_cutter *cutter = finder->cutter;
    finder->end = caromi_alloc(context, edges, sizeof *finder->end);
    finder->path = caromi_alloc(context, edges + 1, sizeof *finder->path);
    finder->on_path = caromi_alloc(context, vertices, sizeof *finder->on_path);
    *used = caromi_alloc(context, vertices, sizeof **used);
    cutter->before = caromi_alloc(context, edges, sizeof *cutter->before);
    cutter->after = caromi_alloc(context, edges, sizeof *cutter->after);
    cutter->stamp = caromi_alloc(context, edges, sizeof *cutter->stamp);
    cutter->heap = caromi_alloc(context, 3 * edges, sizeof *cutter->heap);
    finder->closing->corners = caromi_alloc(context, edges, sizeof *finder->closing->corners);
    return finder->end != NULL && finder->path != NULL && finder->on_path != NULL && *used != NULL &&
                   cutter->before != NULL && cutter->after != NULL && cutter->stamp != NULL && cutter->heap != NULL &&
                   finder->closing->corners != NULL
               ? CAROM_OK
               : caromi_fail_memory(err, "no memory for the %llu open edges of a mesh", (unsigned long long)edges);
}

/* Lists the open edges, and closes their cycles. */
static carom_status close_cycles(cycle_finder *finder, const caromi_edge_sort *edges, carom_error *err)
{
    const carom_context *context = finder->mesh->context;
    const uint64_t vertices = finder->mesh->vertex_count;
    cycle_cutter cutter = {0};
    uint64_t *used = NULL;
    finder->cutter = &cutter;
    if (finder->closing->open_edges > EDGES_MOST)
        return caromi_fail_memory(err, "a mesh with %llu open edges; sign robust takes at most %d",
                                  (unsigned long long)finder->closing->open_edges, EDGES_MOST);
    const carom_status status = alloc_cycles(finder, &used, err);
    if (status == CAROM_OK) {
        for (uint64_t v = 2; v < vertices + 2; v++)
            finder->start[v] += finder->start[v - 1];
        memcpy(used, finder->start + 1, vertices * sizeof *used);
        memset(finder->on_path, 0, vertices * sizeof *finder->on_path);
        caromi_edge_sort_visit(edges, list_open, finder);
        for (uint64_t v = 0; v < vertices; v++)
            walk(finder, used, (uint32_t)v);
    }
    caromi_free(context, finder->end);
    caromi_free(context, finder->path);
    caromi_free(context, finder->on_path);
    caromi_free(context, used);
    caromi_free(context, cutter.before);
    caromi_free(context, cutter.after);
    caromi_free(context, cutter.stamp);
    caromi_free(context, cutter.heap);
    return status;
}

static carom_status close_edges(const carom_mesh *mesh, const caromi_edge_sort *edges, caromi_closing *closing,
                                carom_error *err)
{
    cycle_finder finder = {.mesh = mesh, .closing = closing};
    finder.start = caromi_alloc(mesh->context, mesh->vertex_count + 2, sizeof *finder.start);
    if (finder.start == NULL)
        return caromi_fail_memory(err, "no memory for the open edges of %llu vertices",
                                  (unsigned long long)mesh->vertex_count);
    memset(finder.start, 0, (mesh->vertex_count + 2) * sizeof *finder.start);
    caromi_edge_sort_visit(edges, count_open, &finder);
    const carom_status status = closing->open_edges > 0 ? close_cycles(&finder, edges, err) : CAROM_OK;
    caromi_free(mesh->context, finder.start);
    return status == CAROM_OK && closing->count > 0 ? caromi_closing_grow(closing, err) : status;
}

/* ---- a mesh's closing -------------------------------------------------------------------------------------------- */

carom_status caromi_closing_make(const carom_mesh *mesh, caromi_selection selection, caromi_closing **out,
                                 carom_error *err)
{
    caromi_edge_sort edges;
    carom_status status = CAROM_OK;
    *out = caromi_alloc(mesh->context, 1, sizeof **out);
    if (*out == NULL)
        return caromi_fail_memory(err, "no memory for the closing of a mesh");
    **out = (caromi_closing){.context = mesh->context, .mask = selection.mask};
    if (mesh->info.triangle_count > 0)
        status = caromi_edge_sort_make(mesh, selection, &edges, err);
    if (mesh->info.triangle_count > 0 && status == CAROM_OK) {
        status = close_edges(mesh, &edges, *out, err);
        caromi_edge_sort_free(&edges);
    }
    if (status != CAROM_OK) {
        caromi_closing_free(*out);
        *out = NULL;
    }
    return status;
}

void caromi_closing_free(caromi_closing *closing)
{
    if (closing == NULL)
        return;
    caromi_free(closing->context, closing->corners);
    caromi_free(closing->context, closing->nodes);
    caromi_free(closing->context, closing);
}
