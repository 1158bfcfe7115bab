/* SPDX-License-Identifier: MIT */
/* Where spheres at rest touch the surface of a mesh. */
#include "mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUERY, TRIANGLE, FEATURE, DISTANCE, POINT, NORMAL = POINT + 3, DEPTH = NORMAL + 3, PATCH };

static carom_status ask(carom_mesh *mesh, const query_call *call, carom_stats *stats, carom_error *err)
{
    const carom_mesh_overlap_desc at_rest = query_at_rest(call);
    const carom_mesh_contacts_desc desc = {.batch = query_batch(call, sizeof desc),
                                           .center = at_rest.center,
                                           .radius = at_rest.radius,
                                           .mask = at_rest.mask,
                                           .margin = call->in->margin,
                                           .merge_within = call->in->merge_within,
                                           .flat = call->in->flat};
    void *const *out = call->out;
    const carom_contact_list list = {.size = sizeof list,
                                     .capacity = call->list->capacity,
                                     .offsets = call->list->offsets,
                                     .query = out[QUERY],
                                     .triangle = out[TRIANGLE],
                                     .feature = out[FEATURE],
                                     .distance = out[DISTANCE],
                                     .point = query_points_out(out, POINT),
                                     .normal = query_points_out(out, NORMAL),
                                     .depth = out[DEPTH],
                                     .patch = out[PATCH],
                                     .instance = call->instance,
                                     .totals = call->list->totals};
    call->list->query = out[QUERY];
    return carom_mesh_contacts(mesh, &desc, &list, stats, err);
}

static float number_at(const query_records *answer, int field, uint64_t at)
{
    return ((const float *)answer->out[field])[at];
}

static const char *judge_contact(const query_sphere *s, const query_records *answer, uint64_t at,
                                 const ref_mesh_contact *truth)
{
    const ref_sweep_case c = query_sphere_and(s, truth->triangle);
    const float distance = number_at(answer, DISTANCE, at), depth = (float)s->sphere.radius - truth->closest.distance;
    double largest = 0.0;
    if (((const int32_t *)answer->out[TRIANGLE])[at] != truth->triangle)
        return "triangle";
    if (((const uint8_t *)answer->out[FEATURE])[at] != truth->closest.feature)
        return "feature";
    if (distance < truth->closest.distance || distance > truth->closest.distance)
        return "distance";
    if (number_at(answer, DEPTH, at) < depth || number_at(answer, DEPTH, at) > depth)
        return "depth";
    for (int k = 0; k < 12; k++)
        largest = fmax(largest, fabs((double)(k < 9 ? c.p[k / 3][k % 3] : c.center[k - 9])));
    for (int k = 0; k < 3; k++) {
        if (!(fabs((double)number_at(answer, POINT + k, at) - truth->closest.point[k]) <= largest * 0x1p-23 + 0x1p-149))
            return "point";
        if (!(fabs((double)number_at(answer, NORMAL + k, at) - truth->normal[k]) <= 0x1p-23))
            return "normal";
    }
    return NULL;
}

static void judge(const query_sphere *s, const query_records *answer, query_verdict *v)
{
    const ref_contact_options options = {.mask = s->options.mask};
    ref_mesh_contact_list truth;
    v->known = !ref_mesh_contacts(&s->mesh, &s->sphere, &options, &truth);
    for (uint64_t k = 0; answer->stored && v->known && !v->wrong && k < truth.count && k < answer->count; k++) {
        const ref_mesh_contact *t = &truth.contacts[k];
        v->wrong = judge_contact(s, answer, answer->at + k, t);
        snprintf(v->truth, sizeof v->truth, "triangle=%d feature=%s distance=%a", t->triangle,
                 carom_feature_name((carom_feature)t->closest.feature), (double)t->closest.distance);
    }
    query_judge_list(answer, truth.count, v);
    free(truth.contacts);
}

const query_type query_mesh_contacts = {.name = "mesh-contacts",
                                        .inputs = QUERY_AT_REST,
                                        .fields = {{"query", QUERY_COUNT, 0},
                                                   {"triangle", QUERY_TRIANGLE, 0},
                                                   {"feature", QUERY_FEATURE, 0},
                                                   {"distance", QUERY_TIME, 0},
                                                   {"x", QUERY_COORDINATE, FEATURE},
                                                   {"y", QUERY_COORDINATE, FEATURE},
                                                   {"z", QUERY_COORDINATE, FEATURE},
                                                   {"nx", QUERY_COORDINATE, FEATURE},
                                                   {"ny", QUERY_COORDINATE, FEATURE},
                                                   {"nz", QUERY_COORDINATE, FEATURE},
                                                   {"depth", QUERY_COORDINATE, FEATURE},
                                                   {"patch", QUERY_PATCH, 0}},
                                        .mesh = {.is_list = 1, .ask = ask, .judge = judge}};
