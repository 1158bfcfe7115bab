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

#include "contact_records.h"
#include "host/core/progress.h"

enum { AHEAD = 64 }; /* number of records whose data is prefetched together */

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

/* Inline: a call of the C library's maximum costs more than what is around it. */
static double larger(double a, double b)
{
    return a > b ? a : b;
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
        size = larger(size, fabs(offset[a]));
    }
    /* How far each corner of the triangle lies on the sphere's side. */
    for (int i = 0; i < 3; i++) {
        const float *corner = caromi_corner(chooser->batch->mesh, triangle, i);
        for (int a = 0; a < 3; a++) {
            const double u = (double)corner[a] - (double)p[a];
            fall[i] += offset[a] * u;
            length2[i] += u * u;
            size = larger(size, fabs(offset[a] - u));
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
    const contact_mesh *mesh = &chooser->mesh;
    return chooser->batch->exact &&
           !contact_may_be_flat(contact_corner(mesh, triangle, 0), contact_corner(mesh, triangle, 1),
                                contact_corner(mesh, triangle, 2));
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

/* Whether any triangle with the record's feature passes a test. */
static int any_other(caromi_chooser *chooser, const mesh_record *record,
                     int (*test)(caromi_chooser *, uint32_t, const mesh_record *))
{
    contact_others others = contact_others_of(&chooser->mesh, record);
    while (contact_next_other(&chooser->mesh, &others))
        if (test(chooser, others.at, record))
            return 1;
    return 0;
}

/* Whether another triangle makes the same contact and comes first, so that this record is dropped. */
static int is_preceded(caromi_chooser *chooser, const mesh_record *record)
{
    if (feature_of(record) >= FEATURE_E01)
        return any_other(chooser, record, precedes_if_found);
    chooser->is_uncertain = 0;
    return any_other(chooser, record, precedes_at_sight) ||
           (chooser->is_uncertain && any_other(chooser, record, precedes_if_found));
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
    const caromi_edges *edges = chooser->batch->mesh->edges;
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

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Keeps the records that no other triangle precedes. */
static uint32_t choose(caromi_chooser *chooser, mesh_record *contacts)
{
    const int exact = chooser->batch->exact;
    uint32_t count = 0;
    for (uint32_t i = 0; i < chooser->count && !caromi_look_at_times(chooser->context, i); i++) {
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

double caromi_mesh_extent(const carom_mesh *mesh)
{
    double extent = 0;
    for (int k = 0; k < 3; k++)
        extent += (double)mesh->info.upper[k] - (double)mesh->info.lower[k];
    return extent;
}

static contact_mesh mesh_of(const caromi_mesh_batch *batch)
{
    const carom_mesh *mesh = batch->mesh;
    const caromi_edges *edges = mesh->edges;
    return (contact_mesh){.frame = mesh->view.frame,
                          .vertices = mesh->vertices,
                          .indices = mesh->indices,
                          .position = edges->position,
                          .next = edges->next,
                          .twins = edges->twins,
                          .twin = edges->twin,
                          .start = edges->corners->start,
                          .triangle = edges->corners->triangle,
                          .mask = edges->mask,
                          .extent = caromi_mesh_extent(mesh)};
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
    chooser.mesh = mesh_of(batch);
    chooser.sphere = (contact_sphere){
        {query->in[0], query->in[1], query->in[2]}, query->in[MESH_RADIUS], query->in[MESH_MAX_DISTANCE], query->mask};
    /* Records are looked up by triangle. */
    if (!caromi_records_fill(&chooser))
        return -1;
    for (uint32_t i = 0; batch->exact && i < count && !caromi_look_at_times(context, i); i++)
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
