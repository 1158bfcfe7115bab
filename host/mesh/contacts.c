/* SPDX-License-Identifier: MIT */
/* Chooses contacts. The rule: triangle k makes a contact unless some triangle j that contains k's closest point comes
 * before k in the order (distance, index). Triangle j contains that point if k's closest feature (corner, edge or face,
 * by positions) is one of its own, or if j is within `merge` of the reported point.
 *
 * Each such j is within reach, as it is not farther away than k. In exact mode, let j have an area and its closest
 * point elsewhere than on that feature. Then j is strictly closer, as its closest point is unique. So features decide,
 * and distances are compared only for triangles without area, and where contacts are merged. */
#include "contacts.h"

#include <math.h>
#include <string.h>

#include "block.h"
#include "contact_records.h"

enum { FAN_SMALL = 16 }; /* up to so many triangles at a corner are tested in the order of their indices */
enum { AHEAD = 64 };     /* number of records whose data is prefetched together */

/* A record of contacts holds the closest feature of its triangle in `state`. */
static int feature_of(const mesh_record *record)
{
    return record->state;
}

/* ---- triangles with the same feature ----------------------------------------------------------------------------- */

/* The triangles at the corner that is the record's feature: begin and, in the next element, end. */
static const uint64_t *fan_of(const caromi_edges *edges, const mesh_record *record)
{
    return &edges->corners
                ->start[caromi_edge_position(edges, (uint32_t)record->triangle, feature_of(record) - FEATURE_V0)];
}

/* Fast mode: whether a triangle certainly precedes, as one of its corners is far enough on the sphere's side of the
 * record's corner. The rule is that of contacts_rises_to(), with a size above the ones of both distances. */
static int rises_from(const caromi_chooser *chooser, uint32_t triangle, const mesh_record *record)
{
    const float *p = caromi_corner(chooser->batch->mesh, (uint32_t)record->triangle, feature_of(record) - FEATURE_V0);
    double offset[3], d2 = 0, size = 0, fall[3] = {0}, length2[3] = {0};
    for (int a = 0; a < 3; a++) {
        offset[a] = (double)chooser->query->in[a] - (double)p[a];
        d2 += offset[a] * offset[a];
        size = fmax(size, fabs(offset[a]));
    }
    /* How far each corner of the triangle lies on the sphere's side. */
    for (int i = 0; i < 3; i++) {
        const float *corner = caromi_corner(chooser->batch->mesh, triangle, i);
        for (int a = 0; a < 3; a++) {
            const double u = (double)corner[a] - (double)p[a];
            fall[i] += offset[a] * u;
            length2[i] += u * u;
            size = fmax(size, fabs(offset[a] - u));
        }
    }
    /* More than the errors of both distances can hide. */
    const double least = 4 * size * (sqrt(d2) * 0x1p-15 + 4 * size * 0x1p-19);
    int rises = 0;
    for (int i = 0; i < 3; i++)
        rises |= fall[i] > least && fall[i] * fall[i] > least * length2[i];
    return rises && size > 0x1p-100 && size < 0x1p120;
}

/* Whether a triangle that shares the record's feature, and that the search of exact mode has culled, has an area. If so
 * the record is no contact: that triangle, or another one, is closer (docs/contacts.md, section 5). */
static int culled_has_area(const caromi_chooser *chooser, uint32_t triangle)
{
    float in[IN_CLOSEST];
    if (!chooser->batch->exact)
        return 0;
    caromi_chooser_pair(chooser, chooser->query->in, (int32_t)triangle, in);
    return !caromi_may_be_flat(in + IN_NP0X);
}

/* Whether a triangle with the record's feature precedes it: makes the same contact, and comes first in the order. */
static int precedes_if_found(caromi_chooser *chooser, uint32_t triangle, const mesh_record *record)
{
    mesh_record j;
    if ((int32_t)triangle == record->triangle || !caromi_chooser_counts(chooser, triangle))
        return 0;
    const mesh_record *known = caromi_known_record(chooser, triangle);
    if (known != NULL)
        return caromi_precedes(chooser, known, record);
    if (culled_has_area(chooser, triangle))
        return 1;
    caromi_compute_record(chooser, triangle, &j);
    return caromi_precedes(chooser, &j, record);
}

/* precedes_if_found() for a triangle at the record's corner, without computing a record. If only a computed record can
 * decide, returns 0 and sets chooser->is_uncertain. */
static int precedes_at_sight(caromi_chooser *chooser, uint32_t triangle, const mesh_record *record)
{
    if ((int32_t)triangle == record->triangle || !caromi_chooser_counts(chooser, triangle))
        return 0;
    const mesh_record *known = caromi_known_record(chooser, triangle);
    if (known != NULL)
        return caromi_precedes(chooser, known, record);
    if (chooser->batch->exact ? culled_has_area(chooser, triangle) : rises_from(chooser, triangle, record))
        return 1;
    chooser->is_uncertain = 1;
    return 0;
}

/* Binary search: the position of a triangle in the ascending list of a corner. */
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

/* Whether any triangle at the record's corner passes a test. At a corner of many triangles, the next lower indices are
 * tested first, as one that is not masked out nearly always precedes. A loop from the lowest index would test all of
 * the masked triangles for each record, if these have the lowest indices. */
static int any_in_fan(caromi_chooser *chooser, const mesh_record *record,
                      int (*test)(caromi_chooser *, uint32_t, const mesh_record *))
{
    const caromi_corners *corners = chooser->contacts->edges->corners;
    const uint64_t *fan = fan_of(chooser->contacts->edges, record);
    const uint64_t from = fan[1] - fan[0] > FAN_SMALL ? place_in_fan(corners, fan, (uint32_t)record->triangle) : fan[0];
    for (uint64_t i = from; i-- > fan[0];)
        if (test(chooser, corners->triangle[i], record))
            return 1;
    for (uint64_t i = from; i < fan[1]; i++)
        if (test(chooser, corners->triangle[i], record))
            return 1;
    return 0;
}

/* Whether another triangle at the record's corner makes the same contact and comes first. */
static int is_preceded_at(caromi_chooser *chooser, const mesh_record *record)
{
    chooser->is_uncertain = 0;
    return any_in_fan(chooser, record, precedes_at_sight) ||
           (chooser->is_uncertain && any_in_fan(chooser, record, precedes_if_found));
}

/* Whether another triangle at the record's edge makes the same contact and comes first. */
static int is_preceded_along(caromi_chooser *chooser, const mesh_record *record, int edge)
{
    const caromi_edges *edges = chooser->contacts->edges;
    const uint32_t own = (uint32_t)record->triangle;
    const uint32_t a = caromi_edge_position(edges, own, edge), b = caromi_edge_position(edges, own, (edge + 1) % 3);
    uint32_t at = own;
    for (;;) {
        at = edges->next[3 * (size_t)at + (size_t)caromi_edge_between(edges, at, a, b)];
        if (at == own)
            return 0;
        if (precedes_if_found(chooser, at, record))
            return 1;
    }
}

/* Whether a twin, a triangle with the same three corners, makes the same contact and comes first. */
static int is_preceded_by_twin(caromi_chooser *chooser, const mesh_record *record)
{
    const caromi_edges *edges = chooser->contacts->edges;
    const uint32_t own = (uint32_t)record->triangle;
    if (!caromi_edges_has_twin(edges, own))
        return 0;
    for (uint32_t at = edges->twin[own]; at != own; at = edges->twin[at])
        if (precedes_if_found(chooser, at, record))
            return 1;
    return 0;
}

/* Whether another triangle makes the same contact and comes first, so that this record is dropped. */
static int is_preceded(caromi_chooser *chooser, const mesh_record *record)
{
    if (feature_of(record) < FEATURE_E01)
        return is_preceded_at(chooser, record);
    return feature_of(record) < FEATURE_FACE ? is_preceded_along(chooser, record, feature_of(record) - FEATURE_E01)
                                             : is_preceded_by_twin(chooser, record);
}

/* ---- prefetching ------------------------------------------------------------------------------------------------- */

/* The first other triangle at the record's corner or edge; the record's own triangle: there is none. */
static uint32_t first_other(const caromi_edges *edges, const mesh_record *record)
{
    const uint32_t own = (uint32_t)record->triangle;
    if (feature_of(record) >= FEATURE_E01)
        return edges->next[3 * (size_t)own + (size_t)(feature_of(record) - FEATURE_E01)];
    const uint64_t *fan = fan_of(edges, record);
    const uint32_t first = edges->corners->triangle[fan[0]];
    return first == own && fan[0] + 1 < fan[1] ? edges->corners->triangle[fan[0] + 1] : first;
}

/* Lists, of the next AHEAD records, the ones whose feature is a corner or an edge. */
static uint32_t list_ahead(caromi_contact_scratch *scratch, const mesh_record *list[AHEAD])
{
    const uint32_t count = scratch->end - scratch->ahead < AHEAD ? (uint32_t)(scratch->end - scratch->ahead) : AHEAD;
    uint32_t listed = 0;
    for (uint32_t i = 0; i < count; i++) {
        list[listed] = &scratch->ahead[i];
        listed += feature_of(&scratch->ahead[i]) >= FEATURE_V0 && feature_of(&scratch->ahead[i]) < FEATURE_FACE;
    }
    scratch->ahead += count;
    return listed;
}

/* Prefetches the arrays for the next records. A decision follows indices through half a dozen arrays that are in no
 * close cache; here the cache misses of many records overlap. */
static void prefetch_ahead(const caromi_chooser *chooser)
{
    const caromi_edges *edges = chooser->contacts->edges;
    const carom_mesh *mesh = chooser->batch->mesh;
    const mesh_record *list[AHEAD];
    uint32_t other[AHEAD];
    const uint32_t count = list_ahead(chooser->scratch, list);
    /* Each loop prefetches what the next one reads. */
    for (uint32_t i = 0; i < count; i++) {
        __builtin_prefetch(&edges->position[3 * (size_t)list[i]->triangle]);
        __builtin_prefetch(&edges->next[3 * (size_t)list[i]->triangle]);
    }
    for (uint32_t i = 0; i < count; i++)
        if (list[i]->state < FEATURE_E01)
            __builtin_prefetch(fan_of(edges, list[i]));
    for (uint32_t i = 0; i < count; i++)
        if (list[i]->state < FEATURE_E01)
            __builtin_prefetch(&edges->corners->triangle[*fan_of(edges, list[i])]);
    for (uint32_t i = 0; i < count; i++) {
        other[i] = first_other(edges, list[i]);
        __builtin_prefetch(&edges->position[3 * (size_t)other[i]]);
        __builtin_prefetch(&mesh->indices[3 * (size_t)other[i]]);
    }
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            __builtin_prefetch(caromi_corner(mesh, other[i], k));
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* Whether a distance is at most radius + more, by its bounds or else exactly. */
int caromi_is_within(const caromi_chooser *c, const float *center, int32_t triangle, float t, float radius, float more)
{
    const caromi_cube cube = {.radius = fabsf(radius), .half = fabs((double)more)};
    const caromi_bounds limit = caromi_cube_bounds(&cube, CAROMI_CUBE_FREE), distance = caromi_distance_bounds(t);
    float in[IN_CLOSEST];
    if (!isnan(t) && (distance.high <= limit.low || distance.low > limit.high))
        return distance.high <= limit.low;
    caromi_chooser_pair(c, center, triangle, in);
    *c->by_integers = 1;
    return caromi_cube_reaches(in, &cube, CAROMI_CUBE_FREE);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Keeps the records that no other triangle precedes. */
static uint32_t choose(caromi_chooser *chooser, mesh_record *contacts)
{
    const int exact = chooser->batch->exact;
    uint32_t count = 0;
    for (uint32_t i = 0; i < chooser->count; i++) {
        mesh_record *record = &chooser->records[i];
        if (record == chooser->scratch->ahead)
            prefetch_ahead(chooser);
        if (is_preceded(chooser, record))
            continue;
        if (exact && isnan(record->t))
            caromi_chooser_resolve(chooser, record);
        if (!exact || caromi_is_within(chooser, chooser->query->in, record->triangle, record->t,
                                       chooser->query->in[MESH_RADIUS], chooser->query->in[MESH_MAX_DISTANCE]))
            contacts[count++] = *record;
    }
    return count;
}

/* Chooses the contacts of one sphere among its records; returns their number, -1: no memory. */
int64_t caromi_choose_contacts(const carom_context *context, const caromi_mesh_batch *batch,
                               const caromi_contacts *contacts, caromi_contact_scratch *scratch,
                               const caromi_mesh_query *query, mesh_record *records, uint32_t count, mesh_record *spare,
                               uint8_t *by_integers)
{
    caromi_chooser chooser = {.context = context,
                              .batch = batch,
                              .contacts = contacts,
                              .scratch = scratch,
                              .query = query,
                              .records = records,
                              .count = count,
                              .by_integers = by_integers};
    if (count == 0)
        return 0;
    for (int k = 0; k < 3; k++)
        chooser.extent += (double)batch->mesh->info.upper[k] - (double)batch->mesh->info.lower[k];
    /* Records are looked up by triangle. */
    if (!caromi_records_fill(&chooser))
        return -1;
    for (uint32_t i = 0; batch->exact && i < count; i++)
        if (feature_of(&records[i]) == FEATURE_NONE)
            caromi_chooser_resolve(&chooser, &records[i]);
    /* Chooses by features, then merges by distance. */
    int64_t found = choose(&chooser, spare);
    if (contacts->merge > 0)
        found = caromi_merge_contacts(&chooser, spare, (uint32_t)found);
    if (found > 0)
        memcpy(records, spare, (size_t)found * sizeof *records);
    return found;
}
