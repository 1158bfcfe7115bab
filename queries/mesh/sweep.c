/* SPDX-License-Identifier: MIT */
/* Moving spheres against a mesh: the first triangle that each meets, all triangles, or whether it meets any. */
#include "mesh.h"

#include "reference/judge.h"
#include "reference/judge_mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- the truth --------------------------------------------------------------------------------------------------- */

/* a + b, which is exact if 1 is returned (Knuth's error term). */
static int add_exactly(float a, float b, float *sum)
{
    const double x = (double)a, y = (double)b, both = x + y, part = both - x, lost = (x - (both - part)) + (y - part);
    *sum = (float)both;
    return lost == 0 && (double)*sum == both;
}

/* The sphere as an instance sees it. Returns 0 where the reference cannot have it: its motion is a difference of two
 * binary32 numbers. A velocity that is large beside the sphere's own is taken from the motion or the end position that
 * is near it, so that the reference's times keep their digits. */
static int sphere_seen_from(const query_sphere *s, const query_instance *instance, ref_sweep_case *out)
{
    const float large = 0x1p20f;
    *out = s->sphere;
    for (int k = 0; k < 3; k++) {
        const float u = instance->velocity[k], w = s->sphere.w[k], v = s->sphere.velocity[k];
        float less, more;
        const int is_less = add_exactly(v, -u, &less), is_more = add_exactly(w, u, &more);
        if (is_less && (fabsf(u) >= large || !is_more))
            out->velocity[k] = less;
        else if (is_more || !isfinite(w))
            out->w[k] = more;
        else
            return 0;
    }
    return 1;
}

static ref_mesh mesh_of(const query_sphere *s, const query_instance *instance)
{
    return (ref_mesh){.vertices = s->mesh.vertices,
                      .indices = s->mesh.indices + 3 * (size_t)instance->first,
                      .triangle_count = instance->end - instance->first,
                      .masks = s->mesh.masks != NULL ? s->mesh.masks + instance->first : NULL};
}

int query_find_first(const query_sphere *s, ref_mesh_hit *out)
{
    if (s->instances == NULL)
        return !ref_mesh_first(&s->mesh, &s->sphere, s->t_max, &s->options, out);
    *out = (ref_mesh_hit){.triangle = -1, .t = HUGE_VALF};
    for (size_t i = 0; i < s->instance_count; i++) {
        const ref_mesh mesh = mesh_of(s, &s->instances[i]);
        ref_sweep_case ball;
        ref_mesh_hit hit;
        if (!sphere_seen_from(s, &s->instances[i], &ball) ||
            ref_mesh_first(&mesh, &ball, s->t_max, &s->options, &hit) != NULL)
            return 0;
        const int is_hit = hit.triangle >= 0;
        if (i == 0 || (is_hit && (out->triangle < 0 || hit.t < out->t))) {
            *out = hit;
            out->triangle += is_hit ? (int32_t)s->instances[i].first : 0;
        }
    }
    return 1;
}

static int compare_hits(const void *one, const void *other)
{
    const ref_mesh_hit *a = one, *b = other;
    return a->t != b->t ? (a->t > b->t) - (a->t < b->t) : (a->triangle > b->triangle) - (a->triangle < b->triangle);
}

/* All hits, which the caller frees. Returns whether the reference has them. */
static int find_all(const query_sphere *s, ref_mesh_list *out)
{
    if (s->instances == NULL)
        return !ref_mesh_all(&s->mesh, &s->sphere, s->t_max, &s->options, out);
    *out = (ref_mesh_list){.hits = NULL};
    for (size_t i = 0; i < s->instance_count; i++) {
        const ref_mesh mesh = mesh_of(s, &s->instances[i]);
        ref_mesh_list own = {.hits = NULL};
        ref_sweep_case ball;
        int is_known = sphere_seen_from(s, &s->instances[i], &ball) &&
                       ref_mesh_all(&mesh, &ball, s->t_max, &s->options, &own) == NULL;
        ref_mesh_hit *all = is_known ? realloc(out->hits, (out->count + own.count + 1) * sizeof *all) : NULL;
        out->hits = all != NULL ? all : out->hits;
        is_known = all != NULL;
        for (size_t k = 0; is_known && k < own.count; k++) {
            all[out->count] = own.hits[k];
            all[out->count++].triangle += (int32_t)s->instances[i].first;
        }
        free(own.hits);
        if (!is_known)
            return 0;
        out->is_valid = own.is_valid;
    }
    qsort(out->hits, out->count, sizeof *out->hits, compare_hits);
    return 1;
}

/* ---- judges ------------------------------------------------------------------------------------------------------ */

/* Whether the point of a hit is the true one, carried along with its instance. All else is judged as the instance sees
 * it: the point becomes the true one there. */
static const char *judge_carried(const query_sphere *s, const ref_mesh_hit *truth, ref_sweep_case *c,
                                 ref_given_hit *given)
{
    const query_instance *instance = s->instances;
    const ref_sweep_case at_rest = *c;
    double moved[3];
    while (instance->end <= (uint32_t)truth->triangle)
        instance++;
    (void)sphere_seen_from(s, instance, c);
    memcpy(c->p, at_rest.p, sizeof c->p);
    if (!isfinite(truth->t))
        return NULL;
    for (int k = 0; k < 3; k++)
        moved[k] = truth->point[k] + truth->near * (double)instance->velocity[k];
    const double error = ref_point_error(&at_rest, truth->feature, moved, given->point);
    for (int k = 0; k < 3; k++)
        given->point[k] = (float)truth->point[k];
    return error > 1 ? "the contact point is more than one unit off" : NULL;
}

static const char *judge_hit(const query_sphere *s, void *const *hit, uint64_t at, const ref_mesh_hit *truth,
                             query_verdict *v)
{
    ref_sweep_case c = query_sphere_and(s, truth->triangle);
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
    const char *wrong = s->instances != NULL && truth->triangle >= 0 ? judge_carried(s, truth, &c, &given) : NULL;
    return wrong != NULL ? wrong : ref_judge_hit(&c, truth, &given);
}

static void judge_first(const query_sphere *s, const query_records *answer, query_verdict *v)
{
    ref_mesh_hit truth;
    v->known = query_find_first(s, &truth);
    if (v->known)
        v->wrong = judge_hit(s, answer->out, answer->at, &truth, v);
}

static void judge_all(const query_sphere *s, const query_records *answer, query_verdict *v)
{
    ref_mesh_list truth;
    v->known = find_all(s, &truth);
    for (uint64_t k = 0; answer->stored && v->known && !v->wrong && k < truth.count && k < answer->count; k++)
        v->wrong = judge_hit(s, answer->out + 1, answer->at + k, &truth.hits[k], v);
    query_judge_list(answer, truth.count, v);
    free(truth.hits);
}

static void judge_any(const query_sphere *s, const query_records *answer, query_verdict *v)
{
    ref_mesh_hit truth;
    v->known = query_find_first(s, &truth);
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
