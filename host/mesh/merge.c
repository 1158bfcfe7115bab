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
#include "host/core/progress.h"

enum { NEAR_EACH = 8, BLOCK = 64 }; /* triangles per point that the first buffer has room for; points of a block */
enum { MANY = 1 << 22 };            /* product of contacts and triangles within reach from which on the grid is used */

/* Computes the reported points of contacts. */
static void find_points(const caromi_chooser *c, const mesh_record *contacts, size_t count, float points[3][BLOCK])
{
    const caromi_isa_table *isa = c->context->isa;
    const int exact = c->batch->exact;
    float in[IN_CLOSEST][BLOCK], normal[3][BLOCK], row[IN_CLOSEST];
    uint8_t feature[BLOCK];
    const float *from[IN_CLOSEST];
    void *to[] = {points[0], points[1], points[2], normal[0], normal[1], normal[2], feature};
    const size_t padded = (count + isa->lanes - 1) / isa->lanes * isa->lanes;
    /* The centre and the corners of each contact's triangle, padded to whole vectors. */
    for (size_t i = 0; i < padded; i++) {
        caromi_chooser_pair(c, c->query->in, contacts[i < count ? i : count - 1].triangle, row);
        for (int k = 0; k < IN_CLOSEST; k++)
            in[k][i] = row[k];
    }
    for (int k = 0; k < IN_CLOSEST; k++)
        from[k] = in[k];
    isa->pairs[exact ? CAROMI_PAIR_touch_exact : CAROMI_PAIR_touch](from, to, padded, 0);
    /* A NaN marks a point that the exact kernel left undecided. */
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
static int64_t find_near(const caromi_chooser *chooser, float points[3][BLOCK], size_t count)
{
    caromi_contact_scratch *scratch = chooser->scratch;
    float reach[BLOCK], margin[BLOCK] = {0};
    int32_t mask[BLOCK];
    uint8_t state[BLOCK];
    for (size_t i = 0; i < count; i++) {
        reach[i] = chooser->contacts->merge;
        mask[i] = chooser->query->mask;
    }
    /* A contact query for each point, with `merge` as the radius. */
    caromi_mesh_queries queries = {.state = state,
                                   .count = count,
                                   .options = chooser->batch->options | MESH_OWN_DISTANCE,
                                   .mask = chooser->batch->mask.base != NULL ? mask : NULL};
    const float *const in[] = {points[0], points[1], points[2], reach, margin};
    memcpy(queries.in, in, sizeof in);
    for (;;) {
        queries.records = scratch->near;
        queries.capacity = scratch->capacity;
        if (queries.capacity > 0)
            caromi_searches_of(chooser->batch->mesh)
                ->search[CAROMI_MESH_CONTACTS][chooser->batch->exact](&chooser->batch->mesh->view, &queries);
        if (queries.capacity > 0 && queries.found <= queries.capacity)
            return queries.found;
        /* The buffer is too small: a larger one, and the search is repeated. */
        const uint32_t capacity = queries.capacity > 0 ? queries.found : NEAR_EACH * BLOCK;
        caromi_free(chooser->context, scratch->near);
        scratch->capacity = 0;
        scratch->near = caromi_alloc(chooser->context, capacity, sizeof *scratch->near);
        if (scratch->near == NULL)
            return -1;
        scratch->capacity = capacity;
    }
}

/* Merges a block of contacts; returns how many are left, -1: no memory. */
static int64_t merge_blocks(const caromi_chooser *chooser, mesh_record *contacts, size_t count)
{
    float points[3][BLOCK];
    uint8_t is_gone[BLOCK] = {0};
    int64_t kept = 0;
    find_points(chooser, contacts, count, points);
    const int64_t found = find_near(chooser, points, count);
    if (found < 0)
        return -1;
    /* A contact is dropped if a triangle near its point precedes it. */
    for (int64_t i = 0; i < found; i++) {
        const mesh_record *near = &chooser->scratch->near[i], *k = &contacts[near->query];
        const float point[3] = {points[0][near->query], points[1][near->query], points[2][near->query]};
        mesh_record j;
        if (is_gone[near->query] || near->triangle == k->triangle ||
            !caromi_chooser_counts(chooser, (uint32_t)near->triangle))
            continue;
        caromi_find_record(chooser, (uint32_t)near->triangle, &j);
        if (!caromi_comes_before(chooser, &j, k))
            continue;
        is_gone[near->query] = !chooser->batch->exact ||
                               caromi_is_within(chooser, point, near->triangle, near->t, chooser->contacts->merge, 0);
    }
    for (size_t i = 0; i < count; i++)
        if (!is_gone[i])
            contacts[kept++] = contacts[i];
    return kept;
}

/* ---- one point after the other ----------------------------------------------------------------------------------- */

/* Whether a triangle is within `merge` of a point. */
static int is_near(const caromi_chooser *chooser, const float *point, int32_t triangle)
{
    const closest_in pair = contact_pair(&chooser->mesh, v3_of(point[0], point[1], point[2]), (uint32_t)triangle);
    const float t = contact_own_distance(chooser->mesh.frame, pair, chooser->batch->exact);
    return chooser->batch->exact ? caromi_is_within(chooser, point, triangle, t, chooser->contacts->merge, 0)
                                 : t <= chooser->contacts->merge;
}

/* The callback's user of a search around one point. */
typedef struct near_search {
    const caromi_chooser *chooser;
    const mesh_record *contact;
    const float *point;
} near_search;

/* The search's callback: whether a triangle near the contact's point precedes the contact. */
static int precedes_near(void *user, int32_t triangle)
{
    const near_search *search = user;
    mesh_record j;
    if (triangle == search->contact->triangle || !caromi_chooser_counts(search->chooser, (uint32_t)triangle) ||
        !is_near(search->chooser, search->point, triangle))
        return 0;
    caromi_find_record(search->chooser, (uint32_t)triangle, &j);
    return caromi_comes_before(search->chooser, &j, search->contact);
}

/* Whether a triangle within `merge` of the point precedes the contact. The search ends at the first such triangle. */
static int is_preceded(const caromi_chooser *chooser, const mesh_record *contact, const float *point)
{
    const caromi_mesh_view *mesh = &chooser->batch->mesh->view;
    near_search search = {chooser, contact, point};
    return caromi_single_searches_of(mesh)->near_two_points(mesh, point, chooser->contacts->merge, chooser->query->in,
                                                            caromi_before_limit(chooser, contact), precedes_near,
                                                            &search);
}

/* Merges contact by contact. */
static uint32_t merge_each(const caromi_chooser *chooser, mesh_record *contacts, uint32_t count,
                           int (*is_merged)(const caromi_chooser *, const mesh_record *, const float *))
{
    float points[3][BLOCK];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count && !caromi_watch_look(chooser->context->watch); i++) {
        if (i % BLOCK == 0)
            find_points(chooser, contacts + i, count - i < BLOCK ? count - i : BLOCK, points);
        const mesh_record own = contacts[i];
        const float point[3] = {points[0][i % BLOCK], points[1][i % BLOCK], points[2][i % BLOCK]};
        if (!is_merged(chooser, &own, point))
            contacts[kept++] = own;
    }
    return kept;
}

/* ---- the first of a cell ----------------------------------------------------------------------------------------- */

/* The cells of all contacts' points. */
typedef struct grid {
    const caromi_chooser *chooser;
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
        cell[k] = floor((double)g->point[contact][k] / (0.5 * (double)g->chooser->contacts->merge)) + 0.0;
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

/* Finds the first contact of each cell. */
static void set_cells(const grid *g, uint32_t count)
{
    float points[3][BLOCK];
    memset(g->slot, 0, (g->mask + 1) * sizeof *g->slot);
    for (uint32_t i = 0; i < count; i++) {
        if (caromi_look_at_times(g->chooser->context, i))
            return;
        if (i % BLOCK == 0)
            find_points(g->chooser, g->contacts + i, count - i < BLOCK ? count - i : BLOCK, points);
        for (int k = 0; k < 3; k++)
            g->point[i][k] = points[k][i % BLOCK];
        uint32_t *first = slot_of(g, i);
        if (*first == 0 || caromi_comes_before(g->chooser, &g->contacts[i], &g->contacts[*first - 1]))
            *first = i + 1;
    }
}

/* Drops contacts that the first contact of their cell precedes. Returns the number left; -1: no memory. */
static int64_t merge_cells(const caromi_chooser *chooser, mesh_record *contacts, uint32_t count, mesh_record *kept)
{
    grid g = {.chooser = chooser, .contacts = contacts, .mask = 15};
    int64_t left = -1;
    while (g.mask < 2 * (uint64_t)count)
        g.mask = 2 * g.mask + 1;
    g.point = caromi_alloc(chooser->context, count, sizeof *g.point);
    g.slot = caromi_alloc(chooser->context, g.mask + 1, sizeof *g.slot);
    if (g.point != NULL && g.slot != NULL) {
        set_cells(&g, count); /* unfinished if the call ends: then the loop, too, ends before it reads a slot */
        left = 0;
        for (uint32_t i = 0; i < count && !caromi_look_at_times(chooser->context, i); i++) {
            const uint32_t first = *slot_of(&g, i) - 1;
            if (first == i || !is_near(chooser, g.point[i], contacts[first].triangle))
                kept[left++] = contacts[i];
        }
    }
    caromi_free(chooser->context, g.point);
    caromi_free(chooser->context, g.slot);
    return left;
}

/* ---- a mesh without a hierarchy ---------------------------------------------------------------------------------- */

/* As is_preceded in a local mesh (contact_scene.c): every triangle that may precede a contact has a record. */
static int is_preceded_by_record(const caromi_chooser *chooser, const mesh_record *contact, const float *point)
{
    const float limit = caromi_before_limit(chooser, contact);
    for (uint32_t i = 0; i < chooser->count; i++) {
        const mesh_record *j = &chooser->records[i];
        if (j->triangle != contact->triangle && !(j->t > limit) && caromi_comes_before(chooser, j, contact) &&
            is_near(chooser, point, j->triangle))
            return 1;
    }
    return 0;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Merges contacts block by block or, if there are very many, one by one. */
static int64_t merge_all(const caromi_chooser *chooser, mesh_record *contacts, uint32_t count)
{
    uint32_t kept = 0;
    if (chooser->batch->mesh->leaf_count == 0)
        return merge_each(chooser, contacts, count, is_preceded_by_record);
    if ((uint64_t)count * chooser->count > MANY)
        return merge_each(chooser, contacts, count, is_preceded);
    for (uint32_t from = 0; from < count && !caromi_watch_look(chooser->context->watch); from += BLOCK) {
        const uint32_t n = count - from < BLOCK ? count - from : BLOCK;
        const int64_t left = merge_blocks(chooser, contacts + from, n);
        if (left < 0)
            return -1;
        memmove(contacts + kept, contacts + from, (size_t)left * sizeof *contacts);
        kept += (uint32_t)left;
    }
    return kept;
}

/* Merges many contacts by cells first, then the rest. */
int64_t caromi_merge_contacts(const caromi_chooser *chooser, mesh_record *contacts, uint32_t count)
{
    if (count <= BLOCK)
        return merge_all(chooser, contacts, count);
    mesh_record *kept = caromi_alloc(chooser->context, count, sizeof *kept);
    if (kept == NULL)
        return -1;
    int64_t left = merge_cells(chooser, contacts, count, kept);
    if (left > 0)
        memcpy(contacts, kept, (size_t)left * sizeof *contacts);
    caromi_free(chooser->context, kept);
    return left > 0 ? merge_all(chooser, contacts, (uint32_t)left) : left;
}
