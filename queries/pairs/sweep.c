/* SPDX-License-Identifier: MIT */
/* A moving sphere against a triangle, at rest or moving. */
#include "queries/query.h"

#include "reference/judge.h"

#include <math.h>

enum { CENTER = 0, RADIUS = 3, VELOCITY = 4, CORNERS = 7, TRIANGLE_VELOCITY = 16 }; /* columns */

enum {
    STATE,
    T_FIRST,
    T_LAST,
    POINT_FIRST,
    FEATURE_FIRST = POINT_FIRST + 3,
    POINT_LAST,
    FEATURE_LAST = POINT_LAST + 3
};

static carom_status ask(carom_context *context, const query_call *call, carom_stats *stats, carom_error *err)
{
    const carom_points *p = call->in->points;
    void *const *out = call->out;
    const carom_sweep_pairs_desc desc = {.batch.size = sizeof desc,
                                         .batch.count = call->count,
                                         .batch.accuracy = call->accuracy,
                                         .batch.progress = call->in->progress,
                                         .batch.prepare = call->in->prepare,
                                         .center = p[0],
                                         .velocity = p[1],
                                         .radius = call->in->scalars[0],
                                         .p0 = p[2],
                                         .p1 = p[3],
                                         .p2 = p[4],
                                         .triangle_velocity = p[5],
                                         .indices = call->in->indices};
    const carom_sweep_result result = {.size = sizeof result,
                                       .state = out[STATE],
                                       .t_first = out[T_FIRST],
                                       .t_last = out[T_LAST],
                                       .point_first = query_points_out(out, POINT_FIRST),
                                       .point_last = query_points_out(out, POINT_LAST),
                                       .feature_first = out[FEATURE_FIRST],
                                       .feature_last = out[FEATURE_LAST]};
    return carom_sweep_pairs(context, &desc, &result, stats, err);
}

static void put_case(const ref_sweep_case *c, float *row)
{
    query_store_vector(row, CENTER, c->center);
    row[RADIUS] = (float)c->radius;
    query_store_vector(row, VELOCITY, c->velocity);
    for (int v = 0; v < 3; v++)
        query_store_vector(row, CORNERS + 3 * v, c->p[v]);
    query_store_vector(row, TRIANGLE_VELOCITY, c->w);
}

void query_sweep_case(const float *row, ref_sweep_case *c)
{
    query_load_vector(row, CENTER, c->center);
    c->radius = (double)row[RADIUS];
    query_load_vector(row, VELOCITY, c->velocity);
    for (int v = 0; v < 3; v++)
        query_load_vector(row, CORNERS + 3 * v, c->p[v]);
    query_load_vector(row, TRIANGLE_VELOCITY, c->w);
}

static void family_row(size_t family, uint64_t seed, uint64_t index, float *row)
{
    ref_sweep_case c;
    ref_family_sweep(family, seed, index, &c);
    put_case(&c, row);
}

static void random_row(query_random *r, float *row)
{
    query_random_sweep(r, row + CENTER, row + RADIUS, row + VELOCITY, row + CORNERS, row + TRIANGLE_VELOCITY);
}

static double speed_of(const ref_sweep_case *c)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        const double v = (double)c->velocity[k] - (double)c->w[k];
        sum += v * v;
    }
    return sqrt(sum);
}

static void truth(const float *row, double margin, query_truth *out)
{
    ref_sweep_case c;
    ref_sweep_answer a = {.state = REF_MISS, .t_first = INFINITY, .t_last = -INFINITY};
    query_sweep_case(row, &c);
    c.radius += margin;
    if (!(margin < 0.0 && c.radius < 0.0))
        ref_sweep(&c, &a);
    *out = (query_truth){.reference.sweep = a};
    out->value[STATE].byte = (uint8_t)a.state;
    out->value[T_FIRST].number = a.t_first;
    out->value[T_LAST].number = a.t_last;
    out->fields = 1 << STATE | 1 << T_FIRST | 1 << T_LAST;
    out->speed = speed_of(&c);
    if (a.state == REF_MISS || a.state == REF_INVALID)
        return;
    out->near[T_FIRST] = a.t_first_near;
    out->near[T_LAST] = a.t_last_near;
    out->times = 1 << T_FIRST | 1 << T_LAST;
}

static const char *judge(const float *row, const query_truth *truth, const query_value *answer)
{
    ref_sweep_case c;
    ref_given_sweep given = {.state = answer[STATE].byte,
                             .t_first = answer[T_FIRST].number,
                             .t_last = answer[T_LAST].number,
                             .feature_first = answer[FEATURE_FIRST].byte,
                             .feature_last = answer[FEATURE_LAST].byte};
    for (int k = 0; k < 3; k++) {
        given.point_first[k] = answer[POINT_FIRST + k].number;
        given.point_last[k] = answer[POINT_LAST + k].number;
    }
    query_sweep_case(row, &c);
    return ref_judge_sweep(&c, &truth->reference.sweep, &given);
}

const query_type query_sweep = {
    .name = "sweep",
    .inputs = {{.name = "center", .columns = {"cx", "cy", "cz"}},
               {.name = "radius", .columns = {"radius"}, .role = QUERY_RADIUS},
               {.name = "velocity", .columns = {"vx", "vy", "vz"}, .role = QUERY_VELOCITY},
               {.name = "p0", .columns = {"p0x", "p0y", "p0z"}, .second = 1},
               {.name = "p1", .columns = {"p1x", "p1y", "p1z"}, .second = 1},
               {.name = "p2", .columns = {"p2x", "p2y", "p2z"}, .second = 1},
               {.name = "triangle_velocity",
                .columns = {"wx", "wy", "wz"},
                .role = QUERY_VELOCITY,
                .second = 1,
                .optional = 1}},
    .fields = {{"state", QUERY_STATE, 0},
               {"t_first", QUERY_TIME, 0},
               {"t_last", QUERY_TIME, 0},
               {"x_first", QUERY_COORDINATE, FEATURE_FIRST},
               {"y_first", QUERY_COORDINATE, FEATURE_FIRST},
               {"z_first", QUERY_COORDINATE, FEATURE_FIRST},
               {"feature_first", QUERY_FEATURE, 0},
               {"x_last", QUERY_COORDINATE, FEATURE_LAST},
               {"y_last", QUERY_COORDINATE, FEATURE_LAST},
               {"z_last", QUERY_COORDINATE, FEATURE_LAST},
               {"feature_last", QUERY_FEATURE, 0}},
    .invalid = CAROM_INVALID,
    .header = "state,t_first,x_first,y_first,z_first,feature_first,t_last,x_last,y_last,z_last,feature_last",
    .selections = {{"sweep, first time", 1 << T_FIRST, 3, 8, 1},
                   {"sweep, both times", 1 << STATE | 1 << T_FIRST | 1 << T_LAST, 3, 8, 1},
                   {"sweep, everything", (2 << FEATURE_LAST) - 1, 6, 8, 1}},
    .ask = ask,
    .family = family_row,
    .random = random_row,
    .truth = truth,
    .judge = judge};
