/* SPDX-License-Identifier: MIT */
/* A sphere at rest against a triangle at rest: whether they overlap, and the axes that separate them. */
#include "queries/query.h"

#include "reference/judge.h"

#include <string.h>

enum { CENTER = 0, RADIUS = 3, CORNERS = 4 }; /* columns */
enum { OVERLAP, AXES };

static carom_status ask(carom_context *context, const query_call *call, carom_stats *stats, carom_error *err)
{
    const carom_points *p = call->in->points;
    const carom_overlap_pairs_desc desc = {.batch.size = sizeof desc,
                                           .batch.count = call->count,
                                           .batch.accuracy = call->accuracy,
                                           .batch.progress = call->in->progress,
                                           .batch.prepare = call->in->prepare,
                                           .center = p[0],
                                           .radius = call->in->scalars[0],
                                           .p0 = p[1],
                                           .p1 = p[2],
                                           .p2 = p[3],
                                           .indices = call->in->indices};
    const carom_overlap_result result = {.size = sizeof result, .overlap = call->out[OVERLAP], .axes = call->out[AXES]};
    return carom_overlap_pairs(context, &desc, &result, stats, err);
}

static void get_case(const float *row, ref_sweep_case *c)
{
    memset(c, 0, sizeof *c);
    query_load_vector(row, CENTER, c->center);
    c->radius = (double)row[RADIUS];
    for (int v = 0; v < 3; v++)
        query_load_vector(row, CORNERS + 3 * v, c->p[v]);
}

/* The cases of a sweep without their motion. */
static void family_row(size_t family, uint64_t seed, uint64_t index, float *row)
{
    ref_sweep_case c;
    ref_family_sweep(family, seed, index, &c);
    query_store_vector(row, CENTER, c.center);
    row[RADIUS] = (float)c.radius;
    for (int v = 0; v < 3; v++)
        query_store_vector(row, CORNERS + 3 * v, c.p[v]);
}

static void random_row(query_random *r, float *row)
{
    float velocity[3], triangle_velocity[3];
    query_random_sweep(r, row + CENTER, row + RADIUS, velocity, row + CORNERS, triangle_velocity);
}

static uint8_t byte_of(int truth)
{
    return truth < 0 ? CAROM_OVERLAP_INVALID : (uint8_t)truth;
}

static void truth(const float *row, double margin, query_truth *out)
{
    ref_sweep_case c;
    ref_overlap_answer a = {.overlap = 0, .axes = 127};
    get_case(row, &c);
    c.radius += margin;
    if (!(margin < 0.0 && c.radius < 0.0))
        ref_overlap(&c, &a);
    *out = (query_truth){.reference.overlap = a};
    out->value[OVERLAP].byte = byte_of(a.overlap);
    out->value[AXES].byte = byte_of(a.axes);
    out->fields = 1 << OVERLAP | 1 << AXES;
}

static int or_invalid(uint8_t byte)
{
    return byte == CAROM_OVERLAP_INVALID ? -1 : byte;
}

static const char *judge(const float *row, const query_truth *truth, const query_value *answer)
{
    (void)row;
    return ref_judge_overlap(&truth->reference.overlap, or_invalid(answer[OVERLAP].byte),
                             or_invalid(answer[AXES].byte));
}

static const char *contradiction(const query_value *answer)
{
    const int overlap = or_invalid(answer[OVERLAP].byte), axes = or_invalid(answer[AXES].byte);
    const int agree = overlap < 0 ? axes < 0 : overlap == (axes == 0);
    return agree ? NULL : "overlap and axes contradict each other";
}

const query_type query_overlap = {
    .name = "overlap",
    .inputs = {{.name = "center", .columns = {"cx", "cy", "cz"}},
               {.name = "radius", .columns = {"radius"}, .role = QUERY_RADIUS},
               {.name = "p0", .columns = {"p0x", "p0y", "p0z"}, .second = 1},
               {.name = "p1", .columns = {"p1x", "p1y", "p1z"}, .second = 1},
               {.name = "p2", .columns = {"p2x", "p2y", "p2z"}, .second = 1}},
    .fields = {{"overlap", QUERY_BITS, 0}, {"axes", QUERY_BITS, 0}},
    .invalid = CAROM_OVERLAP_INVALID,
    .selections = {{"overlap", 1 << OVERLAP, 1, 0, 0}, {"overlap and mask", 1 << OVERLAP | 1 << AXES, 1, 0, 1}},
    .ask = ask,
    .family = family_row,
    .random = random_row,
    .truth = truth,
    .judge = judge,
    .contradiction = contradiction};
