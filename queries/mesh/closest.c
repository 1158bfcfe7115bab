/* SPDX-License-Identifier: MIT */
/* The closest point of a mesh to the centre of each sphere, within a distance. */
#include "mesh.h"

#include "reference/judge_mesh.h"

#include <stdio.h>

enum { TRIANGLE, DISTANCE, POINT, FEATURE = POINT + 3, DEPTH, GRADIENT };

static carom_status ask_for(carom_mesh *mesh, const query_call *call, carom_points_out gradient, carom_stats *stats,
                            carom_error *err)
{
    const query_inputs *in = call->in;
    const carom_mesh_closest_desc desc = {.batch = query_batch(call, sizeof desc),
                                          .center = in->points[0],
                                          .radius = in->scalars[0],
                                          .max_distance = in->scalars[1],
                                          .mask = carom_uints_of(in->mask),
                                          .sign = in->sign,
                                          .allow_open = in->allow_open,
                                          .bundle = in->bundle};
    void *const *out = call->out;
    const carom_mesh_closest_result result = {.size = sizeof result,
                                              .triangle = out[TRIANGLE],
                                              .distance = out[DISTANCE],
                                              .point = query_points_out(out, POINT),
                                              .feature = out[FEATURE],
                                              .depth = out[DEPTH],
                                              .gradient = gradient,
                                              .instance = call->instance,
                                              .query = call->query};
    return carom_mesh_closest(mesh, &desc, &result, stats, err);
}

static carom_status ask(carom_mesh *mesh, const query_call *call, carom_stats *stats, carom_error *err)
{
    return ask_for(mesh, call, (carom_points_out){0}, stats, err);
}

static carom_status ask_with_gradient(carom_mesh *mesh, const query_call *call, carom_stats *stats, carom_error *err)
{
    return ask_for(mesh, call, query_points_out(call->out, GRADIENT), stats, err);
}

static void judge(const query_sphere *s, const query_records *answer, query_verdict *v)
{
    const uint64_t at = answer->at;
    ref_mesh_closest_answer truth;
    ref_given_closest given = {.triangle = ((const int32_t *)answer->out[TRIANGLE])[at],
                               .feature = ((const uint8_t *)answer->out[FEATURE])[at],
                               .distance = ((const float *)answer->out[DISTANCE])[at],
                               .depth = ((const float *)answer->out[DEPTH])[at]};
    for (int k = 0; k < 3; k++)
        given.point[k] = ((const float *)answer->out[POINT + k])[at];
    v->known = !ref_mesh_closest(&s->mesh, &s->sphere, s->options.mask, s->max_distance, &truth);
    if (!v->known)
        return;
    const ref_sweep_case c = query_sphere_and(s, truth.triangle);
    v->wrong = ref_judge_closest(&c, &truth, &given);
    snprintf(v->truth, sizeof v->truth, "triangle=%d distance=%a feature=%s", truth.triangle,
             (double)truth.closest.distance, carom_feature_name((carom_feature)truth.closest.feature));
}

#define INPUTS                                                                                                   \
    {                                                                                                            \
        QUERY_SPHERE, {.name = "max_distance", .columns = {"max_distance"}, .role = QUERY_REACH, .optional = 1}, \
            QUERY_MASKS                                                                                          \
    }
#define FIELDS                                                                                             \
    {"triangle", QUERY_TRIANGLE, 0}, {"distance", QUERY_TIME, 0}, {"x", QUERY_COORDINATE, FEATURE},        \
        {"y", QUERY_COORDINATE, FEATURE}, {"z", QUERY_COORDINATE, FEATURE}, {"feature", QUERY_FEATURE, 0}, \
    {                                                                                                      \
        "depth", QUERY_COORDINATE, FEATURE                                                                 \
    }

const query_type query_mesh_closest = {
    .name = "mesh-closest",
    .inputs = INPUTS,
    .fields = {FIELDS},
    .mesh = {.command = "overlap",
             .hits = {"closest", "the nearest triangle, within max_distance: triangle,distance,x,y,z,feature,depth; "
                                 "depth is the radius\n           less the distance"},
             .ask = ask,
             .judge = judge}};

const query_type query_mesh_closest_gradient = {.name = "mesh-closest-gradient",
                                                .inputs = INPUTS,
                                                .fields = {FIELDS,
                                                           {"gx", QUERY_COORDINATE, FEATURE},
                                                           {"gy", QUERY_COORDINATE, FEATURE},
                                                           {"gz", QUERY_COORDINATE, FEATURE}},
                                                .mesh = {.ask = ask_with_gradient, .judge = judge}};
