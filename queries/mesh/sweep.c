/* SPDX-License-Identifier: MIT */
/* Moving spheres against a mesh: the first triangle that each meets, all triangles, or whether it meets any. */
#include "mesh.h"

#include "reference/judge_mesh.h"

#include <stdio.h>
#include <stdlib.h>

/* A hit; in a list the query stands before it. */
enum { TRIANGLE, STATE, T, POINT, NORMAL = POINT + 3, FEATURE = NORMAL + 3 };

/* No point, normal and feature without a hit, or at a time beyond binary32. `at`: fields before the hit. */
#define HIT_FIELDS(at)                                                                      \
    {"triangle", QUERY_TRIANGLE, 0}, {"state", QUERY_STATE, 0}, {"t", QUERY_TIME, 0},       \
        {"x", QUERY_COORDINATE, (at) + FEATURE}, {"y", QUERY_COORDINATE, (at) + FEATURE},   \
        {"z", QUERY_COORDINATE, (at) + FEATURE}, {"nx", QUERY_COORDINATE, (at) + FEATURE},  \
        {"ny", QUERY_COORDINATE, (at) + FEATURE}, {"nz", QUERY_COORDINATE, (at) + FEATURE}, \
    {                                                                                       \
        "feature", QUERY_FEATURE, 0                                                         \
    }

static carom_status ask_first(carom_mesh *mesh, const query_call *call, carom_stats *stats, carom_error *err)
{
    const carom_mesh_sweep_desc desc = query_swept(call);
    void *const *out = call->out;
    const carom_mesh_hit_result result = {.size = sizeof result,
                                          .triangle = out[TRIANGLE],
                                          .state = out[STATE],
                                          .t = out[T],
                                          .point = query_points_out(out, POINT),
                                          .normal = query_points_out(out, NORMAL),
                                          .feature = out[FEATURE],
                                          .instance = call->instance};
    return carom_mesh_sweep_first(mesh, &desc, &result, stats, err);
}

static carom_status ask_list(carom_mesh *mesh, const query_call *call, carom_hits which, carom_stats *stats,
                             carom_error *err)
{
    const carom_mesh_sweep_desc desc = query_swept(call);
    carom_hit_list *list = call->list;
    void *const *hit = call->out + 1;
    list->query = call->out[0];
    list->triangle = hit[TRIANGLE];
    list->state = hit[STATE];
    list->t = hit[T];
    list->point = query_points_out(hit, POINT);
    list->normal = query_points_out(hit, NORMAL);
    list->feature = hit[FEATURE];
    list->instance = call->instance;
    return carom_mesh_sweep_list(mesh, &desc, which, list, stats, err);
}

static carom_status ask_all(carom_mesh *mesh, const query_call *call, carom_stats *stats, carom_error *err)
{
    return ask_list(mesh, call, CAROM_HITS_ALL, stats, err);
}

static carom_status ask_compact(carom_mesh *mesh, const query_call *call, carom_stats *stats, carom_error *err)
{
    return ask_list(mesh, call, CAROM_HITS_FIRST, stats, err);
}

static carom_status ask_any(carom_mesh *mesh, const query_call *call, carom_stats *stats, carom_error *err)
{
    const carom_mesh_sweep_desc desc = query_swept(call);
    return carom_mesh_sweep_any(mesh, &desc, &(carom_any_result){.size = sizeof(carom_any_result), .hit = call->out[0]},
                                stats, err);
}

/* ---- judges ------------------------------------------------------------------------------------------------------ */

static const char *judge_hit(const query_sphere *s, void *const *hit, uint64_t at, const ref_mesh_hit *truth,
                             query_verdict *v)
{
    const ref_sweep_case c = query_sphere_and(s, truth->triangle);
    ref_given_hit given = {.triangle = ((const int32_t *)hit[TRIANGLE])[at],
                           .state = ((const uint8_t *)hit[STATE])[at],
                           .feature = ((const uint8_t *)hit[FEATURE])[at],
                           .t = ((const float *)hit[T])[at]};
    for (int k = 0; k < 3; k++) {
        given.point[k] = ((const float *)hit[POINT + k])[at];
        given.normal[k] = ((const float *)hit[NORMAL + k])[at];
    }
    snprintf(v->truth, sizeof v->truth, "triangle=%d state=%s t=%a feature=%s", truth->triangle,
             carom_state_name((carom_state)truth->state), (double)truth->t,
             carom_feature_name((carom_feature)truth->feature));
    return ref_judge_hit(&c, truth, &given);
}

static void judge_first(const query_sphere *s, const query_records *answer, query_verdict *v)
{
    ref_mesh_hit truth;
    v->known = !ref_mesh_first(&s->mesh, &s->sphere, s->t_max, &s->options, &truth);
    if (v->known)
        v->wrong = judge_hit(s, answer->out, answer->at, &truth, v);
}

static void judge_all(const query_sphere *s, const query_records *answer, query_verdict *v)
{
    ref_mesh_list truth;
    v->known = !ref_mesh_all(&s->mesh, &s->sphere, s->t_max, &s->options, &truth);
    for (uint64_t k = 0; answer->stored && v->known && !v->wrong && k < truth.count && k < answer->count; k++)
        v->wrong = judge_hit(s, answer->out + 1, answer->at + k, &truth.hits[k], v);
    query_judge_list(answer, truth.count, v);
    free(truth.hits);
}

static void judge_any(const query_sphere *s, const query_records *answer, query_verdict *v)
{
    ref_mesh_hit truth;
    v->known = !ref_mesh_first(&s->mesh, &s->sphere, s->t_max, &s->options, &truth);
    query_judge_whether(((const uint8_t *)answer->out[0])[answer->at],
                        truth.state == CAROM_INVALID ? -1 : truth.triangle >= 0, v);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

const query_type query_mesh_first = {
    .name = "mesh-first",
    .inputs = QUERY_SWEPT,
    .fields = {HIT_FIELDS(0)},
    .mesh = {.command = "sweep",
             .hits = {"first", "the smallest time, then the smallest triangle: triangle,state,t,x,y,z,nx,ny,nz,feature "
                               "(default)"},
             .is_default = 1,
             .ask = ask_first,
             .judge = judge_first}};

const query_type query_mesh_all = {
    .name = "mesh-all",
    .inputs = QUERY_SWEPT,
    .fields = {{"query", QUERY_COUNT, 0}, HIT_FIELDS(1)},
    .mesh = {.command = "sweep",
             .hits = {"all",
                      "a row for every triangle hit, ordered by query, time, triangle: query and the columns of first"},
             .is_list = 1,
             .ask = ask_all,
             .judge = judge_all}};

const query_type query_mesh_any = {
    .name = "mesh-any",
    .inputs = QUERY_SWEPT,
    .fields = {{"hit", QUERY_BITS, 0}},
    .mesh = {.command = "sweep",
             .hits = {"any", "whether there is a hit: hit (1 or 0, empty for an invalid row)"},
             .ask = ask_any,
             .judge = judge_any}};

/* The answers of mesh_first without those that have no hit. */
const query_type query_mesh_compact = {.name = "mesh-compact",
                                       .inputs = QUERY_SWEPT,
                                       .fields = {{"query", QUERY_COUNT, 0}, HIT_FIELDS(1)},
                                       .mesh = {.is_list = 1, .ask = ask_compact}};
