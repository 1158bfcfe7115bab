/* SPDX-License-Identifier: MIT */
/* The rule: triangle k makes a contact if no triangle j that contains its closest point comes before it in the order
 * (distance, index). j contains it if it has k's closest feature: the same corner, edge or face, by positions; or if it
 * is within `merge` of the reported point.
 *
 * All such j are among the triangles within reach, because they are not farther than k. In exact mode a j with the
 * feature that is closest elsewhere is strictly closer, if it has an area: its closest point is unique. So features
 * decide, and distances are compared only for triangles without area, and where contacts are merged. */
#include "contacts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "block.h"
#include "cpu/exact.h"

enum { NEAR_EACH = 8, FEW = 64 }; /* triangles near to a point, at first; points at a time */
enum { TABLE_FROM = 9 };          /* so many records have a hash table */
enum { FAN_FEW = 16 };            /* triangles at a corner that are looked at in their order */
enum { AHEAD = 64 };              /* records whose choice is prefetched together */

typedef struct chooser {
    const carom_context *context;
    const caromi_mesh_batch *batch;
    const caromi_contacts *contacts;
    caromi_contact_scratch *scratch;
    const caromi_mesh_query *query;
    mesh_record *records; /* of all triangles within reach */
    uint32_t count;
    uint64_t mask; /* of the hash table */
    uint8_t *by_integers;
} chooser;

void caromi_contact_scratch_free(const carom_context *context, caromi_contact_scratch *scratch)
{
    caromi_free(context, scratch->slot);
    caromi_free(context, scratch->near);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static uint64_t slot_of(const chooser *c, int32_t triangle)
{
    return ((uint64_t)(uint32_t)triangle * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & c->mask;
}

static int fill_table(chooser *c)
{
    caromi_contact_scratch *s = c->scratch;
    uint64_t size = 16;
    if (c->count < TABLE_FROM)
        return 1;
    while (size < 2 * (uint64_t)c->count)
        size *= 2;
    if (size > s->slots) {
        caromi_free(c->context, s->slot);
        s->slots = 0;
        s->slot = caromi_alloc(c->context, size, sizeof *s->slot);
        if (s->slot == NULL)
            return 0;
        s->slots = size;
    }
    c->mask = size - 1;
    memset(s->slot, 0, size * sizeof *s->slot);
    for (uint32_t i = 0; i < c->count; i++) {
        uint64_t at = slot_of(c, c->records[i].triangle);
        while (s->slot[at] != 0)
            at = (at + 1) & c->mask;
        s->slot[at] = i + 1;
    }
    return 1;
}

static void pair_of(const chooser *c, const float *center, int32_t triangle, float in[IN_CLOSEST])
{
    memcpy(in + IN_NCX, center, 3 * sizeof *in);
    for (int k = 0; k < 3; k++)
        memcpy(in + IN_NP0X + 3 * k, caromi_corner(c->batch->mesh, (uint32_t)triangle, k), 3 * sizeof *in);
}

/* Decides feature and distance in integers. */
static void settle(const chooser *c, mesh_record *r)
{
    float in[IN_CLOSEST];
    caromi_exact_closest a;
    pair_of(c, c->query->in, r->triangle, in);
    caromi_exact_closest_of(in, &a);
    r->t = a.distance;
    r->state = a.feature;
    *c->by_integers = 1;
}

/* NULL: it has none. */
static const mesh_record *known_record(const chooser *c, uint32_t triangle)
{
    const uint32_t *slot = c->scratch->slot;
    for (uint32_t i = 0; c->count < TABLE_FROM && i < c->count; i++)
        if (c->records[i].triangle == (int32_t)triangle)
            return &c->records[i];
    for (uint64_t at = slot_of(c, (int32_t)triangle); c->count >= TABLE_FROM && slot[at] != 0; at = (at + 1) & c->mask)
        if (c->records[slot[at] - 1].triangle == (int32_t)triangle)
            return &c->records[slot[at] - 1];
    return NULL;
}

/* The record of a triangle. 0: it does not count for the query. The search leaves out triangles that it knows to be no
 * contacts, so these are computed here. */
static int find(const chooser *c, uint32_t triangle, mesh_record *out)
{
    const int32_t *mask = c->contacts->edges->mask;
    float in[IN_CLOSEST];
    if (mask != NULL && (mask[triangle] & c->query->mask) == 0)
        return 0;
    const mesh_record *known = known_record(c, triangle);
    if (known != NULL) {
        *out = *known;
        return 1;
    }
    out->triangle = (int32_t)triangle;
    pair_of(c, c->query->in, out->triangle, in);
    caromi_contact_record(&c->batch->mesh->view, in, c->batch->exact, out);
    if (c->batch->exact && out->state == FEATURE_NONE)
        settle(c, out);
    return 1;
}

/* ---- the order --------------------------------------------------------------------------------------------------- */

/* A feature by positions: its ends, equal for a corner; not for faces. */
typedef struct place {
    uint32_t low, high;
} place;

static place place_of(const caromi_edges *e, const mesh_record *r)
{
    assert(r->state >= FEATURE_V0 && r->state < FEATURE_FACE);
    const int is_corner = r->state < FEATURE_E01, k = is_corner ? r->state - FEATURE_V0 : r->state - FEATURE_E01;
    const uint32_t a = caromi_edge_position(e, (uint32_t)r->triangle, k);
    const uint32_t b = is_corner ? a : caromi_edge_position(e, (uint32_t)r->triangle, (k + 1) % 3);
    return (place){a < b ? a : b, a < b ? b : a};
}

static int same_feature(const caromi_edges *e, const mesh_record *a, const mesh_record *b)
{
    if (a->state == FEATURE_FACE || b->state == FEATURE_FACE)
        return a->state == b->state && caromi_edges_same_corners(e, (uint32_t)a->triangle, (uint32_t)b->triangle);
    const place p = place_of(e, a), q = place_of(e, b);
    return p.low == q.low && p.high == q.high;
}

/* The sign of the difference of the true distances. */
static int order_of(const chooser *c, const mesh_record *a, const mesh_record *b)
{
    float in[IN_CLOSEST], other[IN_CLOSEST];
    if (a->t < b->t || a->t > b->t)
        return a->t < b->t ? -1 : 1;
    if (same_feature(c->contacts->edges, a, b))
        return 0;
    pair_of(c, c->query->in, a->triangle, in);
    pair_of(c, c->query->in, b->triangle, other);
    return caromi_settle_order(in, other, c->by_integers);
}

/* Whether j comes before k in the order (distance, index). */
static int comes_before(const chooser *c, const mesh_record *j, const mesh_record *k)
{
    const int order = c->batch->exact ? order_of(c, j, k) : (j->t > k->t) - (j->t < k->t);
    return order != 0 ? order < 0 : j->triangle < k->triangle;
}

/* The same for a j that has k's closest feature. */
static int precedes(const chooser *c, const mesh_record *j, const mesh_record *k)
{
    float in[IN_CLOSEST];
    if (!c->batch->exact)
        return comes_before(c, j, k);
    if (same_feature(c->contacts->edges, j, k))
        return j->triangle < k->triangle;
    pair_of(c, c->query->in, j->triangle, in);
    return !caromi_may_be_flat(in + IN_NP0X) || comes_before(c, j, k);
}

/* ---- triangles with the same feature ----------------------------------------------------------------------------- */

/* Where the triangles at the corner of the record begin, and behind it where they end. */
static const uint64_t *fan_of(const caromi_edges *e, const mesh_record *k)
{
    return &e->corners->start[caromi_edge_position(e, (uint32_t)k->triangle, k->state - FEATURE_V0)];
}

static int precedes_if_found(const chooser *c, uint32_t triangle, const mesh_record *k)
{
    mesh_record j;
    return (int32_t)triangle != k->triangle && find(c, triangle, &j) && precedes(c, &j, k);
}

/* The place of a triangle among those at one of its corners, which ascend. */
static uint64_t place_in_fan(const caromi_corners *corners, const uint64_t *fan, uint32_t triangle)
{
    uint64_t low = fan[0], high = fan[1];
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (corners->triangle[middle] <= triangle)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* In a large fan the nearest lower ones come first: one that counts precedes nearly always. From the lowest on, each
 * record of a fan whose lowest triangles are masked would meet all of these. */
static int is_preceded_at(const chooser *c, const mesh_record *k)
{
    const caromi_corners *corners = c->contacts->edges->corners;
    const uint64_t *fan = fan_of(c->contacts->edges, k);
    const uint64_t from = fan[1] - fan[0] > FAN_FEW ? place_in_fan(corners, fan, (uint32_t)k->triangle) : fan[0];
    for (uint64_t i = from; i-- > fan[0];)
        if (precedes_if_found(c, corners->triangle[i], k))
            return 1;
    for (uint64_t i = from; i < fan[1]; i++)
        if (precedes_if_found(c, corners->triangle[i], k))
            return 1;
    return 0;
}

/* By triangles on the record's edge; face: by those of them with the same three corners. */
static int is_preceded_along(const chooser *c, const mesh_record *k, int edge, int face)
{
    const caromi_edges *e = c->contacts->edges;
    const uint32_t own = (uint32_t)k->triangle;
    const uint32_t a = caromi_edge_position(e, own, edge), b = caromi_edge_position(e, own, (edge + 1) % 3);
    uint32_t at = own;
    for (;;) {
        at = e->next[3 * (size_t)at + (size_t)caromi_edge_between(e, at, a, b)];
        if (at == own)
            return 0;
        if ((!face || caromi_edges_same_corners(e, at, own)) && precedes_if_found(c, at, k))
            return 1;
    }
}

static int is_preceded(const chooser *c, const mesh_record *k)
{
    if (k->state < FEATURE_E01)
        return is_preceded_at(c, k);
    if (k->state == FEATURE_FACE && !caromi_edges_may_have_twin(c->contacts->edges, (uint32_t)k->triangle))
        return 0;
    return k->state < FEATURE_FACE ? is_preceded_along(c, k, k->state - FEATURE_E01, 0) : is_preceded_along(c, k, 0, 1);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* The first other triangle on the record's corner or edge; its own: there is none. */
static uint32_t first_other(const caromi_edges *e, const mesh_record *k)
{
    const uint32_t own = (uint32_t)k->triangle;
    if (k->state >= FEATURE_E01)
        return e->next[3 * (size_t)own + (size_t)(k->state - FEATURE_E01)];
    const uint64_t *fan = fan_of(e, k);
    const uint32_t first = e->corners->triangle[fan[0]];
    return first == own && fan[0] + 1 < fan[1] ? e->corners->triangle[fan[0] + 1] : first;
}

/* Those of the next records for which other triangles matter. */
static uint32_t list_ahead(caromi_contact_scratch *s, const mesh_record *list[AHEAD])
{
    const uint32_t count = s->end - s->ahead < AHEAD ? (uint32_t)(s->end - s->ahead) : AHEAD;
    uint32_t listed = 0;
    for (uint32_t i = 0; i < count; i++) {
        list[listed] = &s->ahead[i];
        listed += s->ahead[i].state >= FEATURE_V0 && s->ahead[i].state < FEATURE_FACE;
    }
    s->ahead += count;
    return listed;
}

/* Each choice reads half a dozen arrays, one after the other, as each says where to look in the next. They are in no
 * near cache, so the choices for some records wait for them together. */
static void look_ahead(const chooser *c)
{
    const caromi_edges *e = c->contacts->edges;
    const carom_mesh *mesh = c->batch->mesh;
    const mesh_record *list[AHEAD];
    uint32_t other[AHEAD];
    const uint32_t count = list_ahead(c->scratch, list);
    for (uint32_t i = 0; i < count; i++) {
        __builtin_prefetch(&e->position[3 * (size_t)list[i]->triangle]);
        __builtin_prefetch(&e->next[3 * (size_t)list[i]->triangle]);
    }
    for (uint32_t i = 0; i < count; i++)
        if (list[i]->state < FEATURE_E01)
            __builtin_prefetch(fan_of(e, list[i]));
    for (uint32_t i = 0; i < count; i++)
        if (list[i]->state < FEATURE_E01)
            __builtin_prefetch(&e->corners->triangle[*fan_of(e, list[i])]);
    for (uint32_t i = 0; i < count; i++) {
        other[i] = first_other(e, list[i]);
        __builtin_prefetch(&e->position[3 * (size_t)other[i]]);
        __builtin_prefetch(&mesh->indices[3 * (size_t)other[i]]);
    }
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            __builtin_prefetch(caromi_corner(mesh, other[i], k));
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* Exact mode: whether the true distance of the triangle from the centre, t to the nearest binary32, is <= radius +
 * more. */
static int is_within(const chooser *c, const float *center, int32_t triangle, float t, float radius, float more)
{
    const caromi_cube cube = {.radius = fabsf(radius), .half = fabs((double)more)};
    const caromi_bounds limit = caromi_cube_bounds(&cube, CAROMI_CUBE_FREE), distance = caromi_distance_bounds(t);
    float in[IN_CLOSEST];
    if (!isnan(t) && (distance.high <= limit.low || distance.low > limit.high))
        return distance.high <= limit.low;
    pair_of(c, center, triangle, in);
    *c->by_integers = 1;
    return caromi_cube_reaches(in, &cube, CAROMI_CUBE_FREE);
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

/* The reported points of contacts. */
static void find_points(const chooser *c, const mesh_record *contacts, size_t count, float points[3][FEW])
{
    const caromi_isa_table *isa = c->context->isa;
    const int exact = c->batch->exact;
    float in[IN_CLOSEST][FEW], normal[3][FEW], row[IN_CLOSEST];
    uint8_t feature[FEW];
    const float *from[IN_CLOSEST];
    void *to[] = {points[0], points[1], points[2], normal[0], normal[1], normal[2], feature};
    const size_t padded = (count + isa->lanes - 1) / isa->lanes * isa->lanes;
    for (size_t i = 0; i < padded; i++) {
        pair_of(c, c->query->in, contacts[i < count ? i : count - 1].triangle, row);
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
        pair_of(c, c->query->in, contacts[i].triangle, row);
        caromi_exact_touch_of(row, &a);
        *c->by_integers = 1;
        for (int k = 0; k < 3; k++)
            points[k][i] = a.point[k];
    }
}

/* The triangles within `merge` of each point, at scratch->near. Returns how many, -1 without memory. */
static int64_t find_near(const chooser *c, float points[3][FEW], size_t count)
{
    caromi_contact_scratch *s = c->scratch;
    float reach[FEW], margin[FEW] = {0};
    int32_t mask[FEW];
    uint8_t state[FEW];
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
        q.room = s->room;
        if (q.room > 0)
            c->context->isa->mesh[CAROMI_MESH_CONTACTS][c->batch->exact](&c->batch->mesh->view, &q);
        if (q.room > 0 && q.found <= q.room)
            return q.found;
        const uint32_t room = q.room > 0 ? q.found : NEAR_EACH * FEW;
        caromi_free(c->context, s->near);
        s->room = 0;
        s->near = caromi_alloc(c->context, room, sizeof *s->near);
        if (s->near == NULL)
            return -1;
        s->room = room;
    }
}

/* Removes the contacts that a triangle near to their point precedes. */
static int64_t merge_few(const chooser *c, mesh_record *contacts, size_t count)
{
    float points[3][FEW];
    uint8_t is_gone[FEW] = {0};
    int64_t kept = 0;
    find_points(c, contacts, count, points);
    const int64_t found = find_near(c, points, count);
    if (found < 0)
        return -1;
    for (int64_t i = 0; i < found; i++) {
        const mesh_record *near = &c->scratch->near[i], *k = &contacts[near->query];
        const float point[3] = {points[0][near->query], points[1][near->query], points[2][near->query]};
        mesh_record j;
        if (is_gone[near->query] || near->triangle == k->triangle)
            continue;
        if (!find(c, (uint32_t)near->triangle, &j) || !comes_before(c, &j, k))
            continue;
        is_gone[near->query] = !c->batch->exact || is_within(c, point, near->triangle, near->t, c->contacts->merge, 0);
    }
    for (size_t i = 0; i < count; i++)
        if (!is_gone[i])
            contacts[kept++] = contacts[i];
    return kept;
}

static int64_t merge(const chooser *c, mesh_record *contacts, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t from = 0; from < count; from += FEW) {
        const uint32_t n = count - from < FEW ? count - from : FEW;
        const int64_t left = merge_few(c, contacts + from, n);
        if (left < 0)
            return -1;
        memmove(contacts + kept, contacts + from, (size_t)left * sizeof *contacts);
        kept += (uint32_t)left;
    }
    return kept;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static uint32_t choose(chooser *c, mesh_record *contacts)
{
    const int exact = c->batch->exact;
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        mesh_record *k = &c->records[i];
        if (k == c->scratch->ahead)
            look_ahead(c);
        if (is_preceded(c, k))
            continue;
        if (exact && isnan(k->t))
            settle(c, k);
        if (!exact ||
            is_within(c, c->query->in, k->triangle, k->t, c->query->in[MESH_RADIUS], c->query->in[MESH_MAX_DISTANCE]))
            contacts[count++] = *k;
    }
    return count;
}

int64_t caromi_choose_contacts(const carom_context *context, const caromi_mesh_batch *batch,
                               const caromi_contacts *contacts, caromi_contact_scratch *scratch,
                               const caromi_mesh_query *query, mesh_record *records, uint32_t count, mesh_record *spare,
                               uint8_t *by_integers)
{
    chooser c = {.context = context,
                 .batch = batch,
                 .contacts = contacts,
                 .scratch = scratch,
                 .query = query,
                 .records = records,
                 .count = count,
                 .by_integers = by_integers};
    if (count == 0)
        return 0;
    if (!fill_table(&c))
        return -1;
    for (uint32_t i = 0; batch->exact && i < count; i++)
        if (records[i].state == FEATURE_NONE)
            settle(&c, &records[i]);
    int64_t found = choose(&c, spare);
    if (contacts->merge > 0)
        found = merge(&c, spare, (uint32_t)found);
    if (found > 0)
        memcpy(records, spare, (size_t)found * sizeof *records);
    return found;
}
