/* SPDX-License-Identifier: MIT */
/* Merging of contacts: a contact is dropped if a triangle within `merge` of its reported point precedes it.
 *
 * Normally, blocks of points are searched for all triangles within `merge`. The points of very many contacts may all be
 * close together, which would make that quadratic. So a grid first keeps one contact of each cell, the first in the
 * order, and drops nearly all others. If there are still many, a search around each point ends at the first triangle
 * that precedes (early out). */
#include <math.h>
#include <string.h>

#include "contact_records.h"

#include "cpu/mesh/contact_triangles.h"

enum { NEAR_EACH = 8, BLOCK = 64 }; /* triangles per point that the first buffer has room for; points of a block */
enum { MANY = 1 << 22 };            /* product of contacts and triangles within reach from which on the grid is used */

typedef caromi_chooser chooser;

/* Computes the reported points of contacts. */
static void find_points(const chooser *c, const mesh_record *contacts, size_t count, float points[3][BLOCK])
{
    const caromi_isa_table *isa = c->context->isa;
    const int exact = c->batch->exact;
    float in[IN_CLOSEST][BLOCK], normal[3][BLOCK], row[IN_CLOSEST];
    uint8_t feature[BLOCK];
    const float *from[IN_CLOSEST];
    void *to[] = {points[0], points[1], points[2], normal[0], normal[1], normal[2], feature};
    const size_t padded = (count + isa->lanes - 1) / isa->lanes * isa->lanes;
    for (size_t i = 0; i < padded; i++) {
        caromi_chooser_pair(c, c->query->in, contacts[i < count ? i : count - 1].triangle, row);
        for (int k = 0; k < IN_CLOSEST; k++)
            in[k][i] = row[k];
    }
    for (int k = 0; k < IN_CLOSEST; k++)
        from[k] = in[k];
    isa->pairs[exact ? CAROMI_PAIR_touch_exact : CAROMI_PAIR_touch](from, to, padded, 0);
    for (size_t i = 0; exact && i < count; i++) {
        caromi_exact_contact a;
        if (!isnan(points[0][i]))
            continue;
        caromi_chooser_pair(c, c->query->in, contacts[i].triangle, row);
        caromi_exact_touch_of(row, &a);
        *c->by_integers = 1;
        for (int k = 0; k < 3; k++)
            points[k][i] = a.point[k];
    }
}

/* ---- blocks of points -------------------------------------------------------------------------------------------- */

/* Finds the triangles within `merge` of each point, in scratch->near. Returns their number; -1: no memory. */
static int64_t find_near(const chooser *c, float points[3][BLOCK], size_t count)
{
    caromi_contact_scratch *s = c->scratch;
    float reach[BLOCK], margin[BLOCK] = {0};
    int32_t mask[BLOCK];
    uint8_t state[BLOCK];
    for (size_t i = 0; i < count; i++) {
        reach[i] = c->contacts->merge;
        mask[i] = c->query->mask;
    }
    caromi_mesh_queries q = {.state = state,
                             .count = count,
                             .options = c->batch->options | MESH_OWN_DISTANCE,
                             .mask = c->batch->mask.base != NULL ? mask : NULL};
    const float *const in[] = {points[0], points[1], points[2], reach, margin};
    memcpy(q.in, in, sizeof in);
    for (;;) {
        q.records = s->near;
        q.capacity = s->capacity;
        if (q.capacity > 0)
            c->context->isa->mesh[CAROMI_MESH_CONTACTS][c->batch->exact](&c->batch->mesh->view, &q);
        if (q.capacity > 0 && q.found <= q.capacity)
            return q.found;
        const uint32_t capacity = q.capacity > 0 ? q.found : NEAR_EACH * BLOCK;
        caromi_free(c->context, s->near);
        s->capacity = 0;
        s->near = caromi_alloc(c->context, capacity, sizeof *s->near);
        if (s->near == NULL)
            return -1;
        s->capacity = capacity;
    }
}

static int64_t merge_blocks(const chooser *c, mesh_record *contacts, size_t count)
{
    float points[3][BLOCK];
    uint8_t is_gone[BLOCK] = {0};
    int64_t kept = 0;
    find_points(c, contacts, count, points);
    const int64_t found = find_near(c, points, count);
    if (found < 0)
        return -1;
    for (int64_t i = 0; i < found; i++) {
        const mesh_record *near = &c->scratch->near[i], *k = &contacts[near->query];
        const float point[3] = {points[0][near->query], points[1][near->query], points[2][near->query]};
        mesh_record j;
        if (is_gone[near->query] || near->triangle == k->triangle ||
            !caromi_chooser_counts(c, (uint32_t)near->triangle))
            continue;
        caromi_find_record(c, (uint32_t)near->triangle, &j);
        if (!caromi_comes_before(c, &j, k))
            continue;
        is_gone[near->query] =
            !c->batch->exact || caromi_is_within(c, point, near->triangle, near->t, c->contacts->merge, 0);
    }
    for (size_t i = 0; i < count; i++)
        if (!is_gone[i])
            contacts[kept++] = contacts[i];
    return kept;
}

/* ---- one point after the other ----------------------------------------------------------------------------------- */

static int is_near(const chooser *c, const float *point, int32_t triangle)
{
    float in[IN_CLOSEST];
    caromi_chooser_pair(c, point, triangle, in);
    const float t = caromi_own_distance(&c->batch->mesh->view, in, c->batch->exact);
    return c->batch->exact ? caromi_is_within(c, point, triangle, t, c->contacts->merge, 0) : t <= c->contacts->merge;
}

typedef struct near_search {
    const chooser *c;
    const mesh_record *contact;
    const float *point;
} near_search;

static int precedes_near(void *user, int32_t triangle)
{
    const near_search *s = user;
    mesh_record j;
    if (triangle == s->contact->triangle || !caromi_chooser_counts(s->c, (uint32_t)triangle) ||
        !is_near(s->c, s->point, triangle))
        return 0;
    caromi_find_record(s->c, (uint32_t)triangle, &j);
    return caromi_comes_before(s->c, &j, s->contact);
}

/* Merges contact by contact: each search ends at the first triangle that precedes. */
static uint32_t merge_each(const chooser *c, mesh_record *contacts, uint32_t count)
{
    const caromi_mesh_view *mesh = &c->batch->mesh->view;
    float points[3][BLOCK];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i % BLOCK == 0)
            find_points(c, contacts + i, count - i < BLOCK ? count - i : BLOCK, points);
        const mesh_record own = contacts[i];
        const float point[3] = {points[0][i % BLOCK], points[1][i % BLOCK], points[2][i % BLOCK]};
        near_search s = {c, &own, point};
        if (!caromi_find_triangle(mesh, point, c->contacts->merge, c->query->in, caromi_before_limit(c, &own),
                                  precedes_near, &s))
            contacts[kept++] = own;
    }
    return kept;
}

/* ---- the first of a cell ----------------------------------------------------------------------------------------- */

typedef struct grid {
    const chooser *c;
    const mesh_record *contacts;
    float (*point)[3]; /* [contacts] */
    uint32_t *slot;    /* hash table of cells: number of the cell's first contact in the order + 1; 0: free */
    uint64_t mask;
} grid;

/* The cell of a contact's point. Cells are half as wide as `merge`, so that two points of one cell are within `merge`.
 */
static void cell_of(const grid *g, uint32_t contact, double cell[3])
{
    for (int k = 0; k < 3; k++)
        cell[k] = floor((double)g->point[contact][k] / (0.5 * (double)g->c->contacts->merge)) + 0.0;
}

/* The hash table's slot for the contact's cell. */
static uint32_t *slot_of(const grid *g, uint32_t contact)
{
    double own[3], other[3];
    uint64_t bits[3], at;
    cell_of(g, contact, own);
    memcpy(bits, own, sizeof bits);
    at = (bits[0] * UINT64_C(0x9e3779b97f4a7c15) ^ bits[1]) * UINT64_C(0xd6e8feb86659fd93);
    at = ((at ^ at >> 32) + bits[2]) * UINT64_C(0x9e3779b97f4a7c15);
    for (at = (at ^ at >> 32) & g->mask; g->slot[at] != 0; at = (at + 1) & g->mask) {
        cell_of(g, g->slot[at] - 1, other);
        if (memcmp(own, other, sizeof own) == 0)
            break;
    }
    return &g->slot[at];
}

static void set_cells(const grid *g, uint32_t count)
{
    float points[3][BLOCK];
    memset(g->slot, 0, (g->mask + 1) * sizeof *g->slot);
    for (uint32_t i = 0; i < count; i++) {
        if (i % BLOCK == 0)
            find_points(g->c, g->contacts + i, count - i < BLOCK ? count - i : BLOCK, points);
        for (int k = 0; k < 3; k++)
            g->point[i][k] = points[k][i % BLOCK];
        uint32_t *first = slot_of(g, i);
        if (*first == 0 || caromi_comes_before(g->c, &g->contacts[i], &g->contacts[*first - 1]))
            *first = i + 1;
    }
}

/* Drops contacts that the first contact of their cell precedes. Returns the number left; -1: no memory. */
static int64_t merge_cells(const chooser *c, mesh_record *contacts, uint32_t count, mesh_record *kept)
{
    grid g = {.c = c, .contacts = contacts, .mask = 15};
    int64_t left = -1;
    while (g.mask < 2 * (uint64_t)count)
        g.mask = 2 * g.mask + 1;
    g.point = caromi_alloc(c->context, count, sizeof *g.point);
    g.slot = caromi_alloc(c->context, g.mask + 1, sizeof *g.slot);
    if (g.point != NULL && g.slot != NULL) {
        set_cells(&g, count);
        left = 0;
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t first = *slot_of(&g, i) - 1;
            if (first == i || !is_near(c, g.point[i], contacts[first].triangle))
                kept[left++] = contacts[i];
        }
    }
    caromi_free(c->context, g.point);
    caromi_free(c->context, g.slot);
    return left;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static int64_t merge_all(const chooser *c, mesh_record *contacts, uint32_t count)
{
    uint32_t kept = 0;
    if ((uint64_t)count * c->count > MANY)
        return merge_each(c, contacts, count);
    for (uint32_t from = 0; from < count; from += BLOCK) {
        const uint32_t n = count - from < BLOCK ? count - from : BLOCK;
        const int64_t left = merge_blocks(c, contacts + from, n);
        if (left < 0)
            return -1;
        memmove(contacts + kept, contacts + from, (size_t)left * sizeof *contacts);
        kept += (uint32_t)left;
    }
    return kept;
}

int64_t caromi_merge_contacts(const chooser *c, mesh_record *contacts, uint32_t count)
{
    if (count <= BLOCK)
        return merge_all(c, contacts, count);
    mesh_record *kept = caromi_alloc(c->context, count, sizeof *kept);
    if (kept == NULL)
        return -1;
    int64_t left = merge_cells(c, contacts, count, kept);
    if (left > 0)
        memcpy(contacts, kept, (size_t)left * sizeof *contacts);
    caromi_free(c->context, kept);
    return left > 0 ? merge_all(c, contacts, (uint32_t)left) : left;
}
