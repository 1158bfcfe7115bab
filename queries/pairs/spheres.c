/* SPDX-License-Identifier: MIT */
/* Two moving spheres over the normalised time u. */
#include "queries/query.h"

#include "reference/judge.h"

#include <math.h>

enum { A0 = 0, A1 = 3, RADIUS_A = 6, B0 = 7, B1 = 10, RADIUS_B = 13 }; /* columns */
enum { STATE, U_FIRST, U_LAST };

static carom_status ask(carom_context *context, const query_call *call, carom_stats *stats, carom_error *err)
{
    const carom_points *p = call->in->points;
    const carom_sphere_sweep_pairs_desc desc = {.batch.size = sizeof desc,
                                                .batch.count = call->count,
                                                .batch.accuracy = call->accuracy,
                                                .batch.progress = call->in->progress,
                                                .batch.prepare = call->in->prepare,
                                                .a0 = p[0],
                                                .a1 = p[1],
                                                .radius_a = call->in->scalars[0],
                                                .b0 = p[2],
                                                .b1 = p[3],
                                                .radius_b = call->in->scalars[1],
                                                .indices = call->in->indices};
    const carom_sphere_sweep_result result = {
        .size = sizeof result, .state = call->out[STATE], .u_first = call->out[U_FIRST], .u_last = call->out[U_LAST]};
    return carom_sphere_sweep_pairs(context, &desc, &result, stats, err);
}

static void put_case(const ref_spheres_case *c, float *row)
{
    query_store_vector(row, A0, c->a0);
    query_store_vector(row, A1, c->a1);
    row[RADIUS_A] = c->radius_a;
    query_store_vector(row, B0, c->b0);
    query_store_vector(row, B1, c->b1);
    row[RADIUS_B] = c->radius_b;
}

static void get_case(const float *row, ref_spheres_case *c)
{
    query_load_vector(row, A0, c->a0);
    query_load_vector(row, A1, c->a1);
    c->radius_a = row[RADIUS_A];
    query_load_vector(row, B0, c->b0);
    query_load_vector(row, B1, c->b1);
    c->radius_b = row[RADIUS_B];
    c->margin = 0.0;
}

static void family_row(size_t family, uint64_t seed, uint64_t index, float *row)
{
    ref_spheres_case c;
    ref_family_spheres(family, seed, index, &c);
    put_case(&c, row);
}

static void random_row(query_random *r, float *row)
{
    const query_spread spread = query_random_spread(r);
    const float scale = query_random_scale(r, spread);
    const uint64_t flags = query_random_bits(r);
    for (int k = 0; k < 3; k++) {
        row[A0 + k] = query_random_number(r, spread, scale);
        row[A1 + k] = (flags & 31) == 0 ? row[A0 + k] : query_random_number(r, spread, scale);
        row[B0 + k] = query_random_number(r, spread, scale);
        row[B1 + k] = (flags & 31) <= 1 ? row[B0 + k] : query_random_number(r, spread, scale);
    }
    row[RADIUS_A] = query_random_radius(r, spread, scale);
    row[RADIUS_B] = query_random_radius(r, spread, scale);
    if (spread == SPREAD_FAR)
        for (int k = 0; k < 3; k++)
            row[A0 + k] *= 1000.0f;
}

static double speed_of(const ref_spheres_case *c)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        const double v = ((double)c->a1[k] - (double)c->a0[k]) - ((double)c->b1[k] - (double)c->b0[k]);
        sum += v * v;
    }
    return sqrt(sum);
}

static void truth(const float *row, double margin, query_truth *out)
{
    ref_spheres_case c;
    ref_spheres_answer a;
    get_case(row, &c);
    c.margin = margin;
    ref_spheres(&c, &a);
    *out = (query_truth){.reference.spheres = a};
    out->value[STATE].byte = (uint8_t)a.state;
    out->value[U_FIRST].number = a.u_first;
    out->value[U_LAST].number = a.u_last;
    out->fields = 1 << STATE | 1 << U_FIRST | 1 << U_LAST;
    out->speed = speed_of(&c);
    if (a.state == REF_MISS || a.state == REF_INVALID)
        return;
    out->near[U_FIRST] = a.u_first_near;
    out->near[U_LAST] = a.u_last_near;
    out->times = 1 << U_FIRST | 1 << U_LAST;
}

static const char *judge(const float *row, const query_truth *truth, const query_value *answer)
{
    (void)row;
    return ref_judge_spheres(&truth->reference.spheres, answer[STATE].byte, answer[U_FIRST].number,
                             answer[U_LAST].number);
}

const query_type query_spheres = {
    .name = "spheres",
    .summary = "moving spheres against moving spheres",
    .inputs = {{.name = "a0", .columns = {"a0x", "a0y", "a0z"}},
               {.name = "a1", .columns = {"a1x", "a1y", "a1z"}},
               {.name = "radius_a", .columns = {"ra"}, .role = QUERY_RADIUS},
               {.name = "b0", .columns = {"b0x", "b0y", "b0z"}, .second = 1},
               {.name = "b1", .columns = {"b1x", "b1y", "b1z"}, .second = 1},
               {.name = "radius_b", .columns = {"rb"}, .role = QUERY_RADIUS, .second = 1}},
    .fields = {{"state", QUERY_STATE, 0}, {"u_first", QUERY_TIME, 0}, {"u_last", QUERY_TIME, 0}},
    .invalid = CAROM_INVALID,
    .selections = {{"spheres", 1 << STATE | 1 << U_FIRST | 1 << U_LAST, 1, 2, 1}},
    .ask = ask,
    .family = family_row,
    .random = random_row,
    .truth = truth,
    .judge = judge};
