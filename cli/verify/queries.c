/* SPDX-License-Identifier: MIT */
/* Queries of carom verify: a quarter from the reference's adversarial families, the rest from a quick generator. */
#include "verify.h"

#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
const verify_type verify_types[VERIFY_TYPES] = {
    {"sweep", 19, 11,
     {"cx", "cy", "cz", "radius", "vx", "vy", "vz", "p0x", "p0y", "p0z", "p1x", "p1y", "p1z", "p2x", "p2y", "p2z", "wx",
      "wy", "wz"},
     {{"state", 1}, {"t_first", 4}, {"x_first", 4}, {"y_first", 4}, {"z_first", 4}, {"feature_first", 1},
      {"t_last", 4}, {"x_last", 4}, {"y_last", 4}, {"z_last", 4}, {"feature_last", 1}}},
    {"overlap", 19, 2,
     {"cx", "cy", "cz", "radius", "vx", "vy", "vz", "p0x", "p0y", "p0z", "p1x", "p1y", "p1z", "p2x", "p2y", "p2z", "wx",
      "wy", "wz"},
     {{"overlap", 1}, {"axes", 1}}},
    {"spheres", 14, 3,
     {"a0x", "a0y", "a0z", "a1x", "a1y", "a1z", "ra", "b0x", "b0y", "b0z", "b1x", "b1y", "b1z", "rb"},
     {{"state", 1}, {"u_first", 4}, {"u_last", 4}}},
};
/* clang-format on */

int verify_queries_alloc(verify_queries *queries, uint64_t count)
{
    *queries = (verify_queries){0};
    for (int i = 0; i < VERIFY_COLUMNS; i++)
        if (!(queries->column[i] = cli_alloc(count, sizeof(float))))
            return cli_no_memory();
    return EXIT_DONE;
}

void verify_queries_free(verify_queries *queries)
{
    for (int i = 0; i < VERIFY_COLUMNS; i++)
        free(queries->column[i]);
}

int verify_answers_alloc(verify_answers *answers, uint64_t count)
{
    *answers = (verify_answers){0};
    for (int i = 0; i < VERIFY_FIELDS; i++)
        if (!(answers->field[i] = cli_alloc(count, sizeof(float))))
            return cli_no_memory();
    return EXIT_DONE;
}

void verify_answers_free(verify_answers *answers)
{
    for (int i = 0; i < VERIFY_FIELDS; i++)
        free(answers->field[i]);
}

/* ---- the quick generator -------------------------------------------------------------------------------------- */

typedef struct random_stream {
    uint64_t state;
} random_stream;

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t next_bits(random_stream *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

enum query_kind { KIND_EASY, KIND_FAR, KIND_SCALED, KIND_WIDE, KIND_GRID, KIND_BITS };

/* Sixteenths: easy 6, far 3, scaled 2, wide 2, grid 2, any bit pattern (NaN and infinity too) 1. */
static enum query_kind pick_kind(random_stream *r)
{
    static const unsigned char kinds[16] = {KIND_EASY, KIND_EASY, KIND_EASY, KIND_EASY,   KIND_EASY,   KIND_EASY,
                                            KIND_FAR,  KIND_FAR,  KIND_FAR,  KIND_SCALED, KIND_SCALED, KIND_WIDE,
                                            KIND_WIDE, KIND_GRID, KIND_GRID, KIND_BITS};
    return (enum query_kind)kinds[next_bits(r) >> 60];
}

static float next_value(random_stream *r, enum query_kind kind, float scale)
{
    uint64_t bits = next_bits(r);
    switch (kind) {
    case KIND_WIDE: /* exponents from 2^-60 to 2^60, each value its own */
        return from_bits((uint32_t)(bits & 0x807fffff) | (uint32_t)(127 - 60 + (bits >> 32) % 121) << 23);
    case KIND_GRID: /* small multiples of a quarter: ties, zeros, degenerate triangles */
        return (float)((int)(bits % 17) - 8) * 0.25f;
    case KIND_BITS: return from_bits((uint32_t)bits);
    default: return (float)((int32_t)(uint32_t)bits >> 8) * 0x1p-23f * scale;
    }
}

static float next_radius(random_stream *r, enum query_kind kind, float scale)
{
    float value = next_value(r, kind, scale) * (kind == KIND_BITS ? 1.0f : 0.5f);
    return kind == KIND_BITS ? value : fabsf(value);
}

static float next_scale(random_stream *r, enum query_kind kind)
{
    if (kind != KIND_SCALED)
        return 1.0f;
    return from_bits((uint32_t)(127 - 100 + next_bits(r) % 160) << 23);
}

/* Far: start along -velocity, a power of ten away, so that most still come near. */
static void move_far(random_stream *r, float center[3], float velocity[3])
{
    static const float distances[] = {1e1f, 1e2f, 1e3f, 1e4f, 1e5f};
    float distance = distances[next_bits(r) % 5];
    for (int k = 0; k < 3; k++)
        center[k] = center[k] - velocity[k] * distance;
}

static void quick_sweep(random_stream *r, ref_sweep_case *c)
{
    enum query_kind kind = pick_kind(r);
    float scale = next_scale(r, kind);
    uint64_t flags = next_bits(r);
    for (int k = 0; k < 3; k++) {
        c->center[k] = next_value(r, kind, scale);
        c->velocity[k] = (flags & 63) == 0 ? 0.0f : next_value(r, kind, scale);
        c->w[k] = flags & 192 ? 0.0f : next_value(r, kind, scale);
        for (int v = 0; v < 3; v++)
            c->p[v][k] = next_value(r, kind, scale);
    }
    c->radius = (double)next_radius(r, kind, scale);
    if (kind == KIND_FAR)
        move_far(r, c->center, c->velocity);
}

static void quick_spheres(random_stream *r, ref_spheres_case *c)
{
    enum query_kind kind = pick_kind(r);
    float scale = next_scale(r, kind);
    uint64_t flags = next_bits(r);
    for (int k = 0; k < 3; k++) {
        c->a0[k] = next_value(r, kind, scale);
        c->a1[k] = (flags & 31) == 0 ? c->a0[k] : next_value(r, kind, scale);
        c->b0[k] = next_value(r, kind, scale);
        c->b1[k] = (flags & 31) <= 1 ? c->b0[k] : next_value(r, kind, scale);
    }
    c->radius_a = next_radius(r, kind, scale);
    c->radius_b = next_radius(r, kind, scale);
    if (kind == KIND_FAR)
        for (int k = 0; k < 3; k++)
            c->a0[k] *= 1000.0f;
}

/* ---- columns -------------------------------------------------------------------------------------------------- */

static void store_sweep(const ref_sweep_case *c, verify_queries *out, uint64_t i)
{
    for (int k = 0; k < 3; k++) {
        out->column[k][i] = c->center[k];
        out->column[4 + k][i] = c->velocity[k];
        out->column[7 + k][i] = c->p[0][k];
        out->column[10 + k][i] = c->p[1][k];
        out->column[13 + k][i] = c->p[2][k];
        out->column[16 + k][i] = c->w[k];
    }
    out->column[3][i] = (float)c->radius;
}

static void store_spheres(const ref_spheres_case *c, verify_queries *out, uint64_t i)
{
    for (int k = 0; k < 3; k++) {
        out->column[k][i] = c->a0[k];
        out->column[3 + k][i] = c->a1[k];
        out->column[7 + k][i] = c->b0[k];
        out->column[10 + k][i] = c->b1[k];
    }
    out->column[6][i] = c->radius_a;
    out->column[13][i] = c->radius_b;
}

void verify_generate(int type, uint64_t seed, uint64_t first, uint64_t count, verify_queries *out)
{
    uint64_t families = ref_family_count();
    random_stream key = {seed + (uint64_t)type};
    uint64_t base = next_bits(&key);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t index = first + i;
        random_stream r = {base ^ index * UINT64_C(0xd1342543de82ef95)};
        int adversarial = (index & 3) == 0;
        size_t family = (size_t)(index / 4 % families);
        if (type == VERIFY_SPHERES) {
            ref_spheres_case c = {0};
            if (adversarial)
                ref_family_spheres(family, seed, index / 4 / families, &c);
            else
                quick_spheres(&r, &c);
            store_spheres(&c, out, i);
        } else {
            ref_sweep_case c = {0};
            if (adversarial)
                ref_family_sweep(family, seed, index / 4 / families, &c);
            else
                quick_sweep(&r, &c);
            store_sweep(&c, out, i);
        }
    }
}

void verify_generate_family(int type, size_t family, uint64_t seed, uint64_t count, verify_queries *out)
{
    for (uint64_t i = 0; i < count; i++) {
        if (type == VERIFY_SPHERES) {
            ref_spheres_case c = {0};
            ref_family_spheres(family, seed, i, &c);
            store_spheres(&c, out, i);
        } else {
            ref_sweep_case c = {0};
            ref_family_sweep(family, seed, i, &c);
            store_sweep(&c, out, i);
        }
    }
}

/* ---- running and printing --------------------------------------------------------------------------------------- */

static carom_points points(const verify_queries *q, int x, uint64_t from)
{
    return (carom_points){q->column[x] + from, q->column[x + 1] + from, q->column[x + 2] + from, sizeof(float)};
}

static float *floats(const verify_answers *a, int field, uint64_t from)
{
    return (float *)(void *)a->field[field] + from;
}

static carom_points_out points_out(const verify_answers *a, int x, uint64_t from)
{
    return (carom_points_out){floats(a, x, from), floats(a, x + 1, from), floats(a, x + 2, from), sizeof(float)};
}

enum { WANT_FIRST, WANT_TIMES, WANT_ALL, WANTS };

/* The queries from `from` on, so many as the question says. */
static carom_status run_sweep_part(carom_context *context, uint64_t from, const verify_question *ask, int want,
                                   int moving, const verify_queries *q, const verify_answers *a, carom_stats *stats,
                                   carom_error *err)
{
    carom_sweep_pairs_desc desc = {.size = sizeof desc,
                                   .count = ask->count,
                                   .accuracy = ask->accuracy,
                                   .center = points(q, 0, from),
                                   .velocity = points(q, 4, from),
                                   .radius = {q->column[3] + from, sizeof(float)},
                                   .p0 = points(q, 7, from),
                                   .p1 = points(q, 10, from),
                                   .p2 = points(q, 13, from)};
    carom_sweep_result result = {.t_first = floats(a, 1, from)};
    if (moving)
        desc.triangle_velocity = points(q, 16, from);
    if (want >= WANT_TIMES) {
        result.state = a->field[0] + from;
        result.t_last = floats(a, 6, from);
    }
    if (want == WANT_ALL) {
        result.point_first = points_out(a, 2, from);
        result.point_last = points_out(a, 7, from);
        result.feature_first = a->field[5] + from;
        result.feature_last = a->field[10] + from;
    }
    return carom_sweep_pairs(context, &desc, &result, stats, err);
}

/* A sweep has a kernel for each amount of output, with and without moving triangles: a sixth of the queries for each. */
static carom_status run_sweep_mix(carom_context *context, const verify_question *ask, const verify_queries *q,
                                  const verify_answers *a, carom_stats *stats, carom_error *err)
{
    carom_stats sum = {.size = sizeof sum};
    carom_status status = CAROM_OK;
    for (uint64_t part = 0; part < 2 * WANTS && status == CAROM_OK; part++) {
        uint64_t from = ask->count * part / (2 * WANTS), to = ask->count * (part + 1) / (2 * WANTS);
        verify_question some = *ask;
        some.count = to - from;
        status = run_sweep_part(context, from, &some, (int)(part / 2), (int)(part % 2), q, a, stats, err);
        sum.queries += stats->queries;
        sum.on_device += stats->on_device;
        sum.by_proof += stats->by_proof;
        sum.by_integers += stats->by_integers;
    }
    *stats = sum;
    return status;
}

static carom_status run_overlap(carom_context *context, const verify_question *ask, const verify_queries *q,
                                const verify_answers *a, carom_stats *stats, carom_error *err)
{
    carom_overlap_pairs_desc desc = {.size = sizeof desc,
                                     .count = ask->count,
                                     .accuracy = ask->accuracy,
                                     .center = points(q, 0, 0),
                                     .radius = {q->column[3], sizeof(float)},
                                     .p0 = points(q, 7, 0),
                                     .p1 = points(q, 10, 0),
                                     .p2 = points(q, 13, 0)};
    carom_overlap_result result = {a->field[0], a->field[1]};
    return carom_overlap_pairs(context, &desc, &result, stats, err);
}

static carom_status run_spheres(carom_context *context, const verify_question *ask, const verify_queries *q,
                                const verify_answers *a, carom_stats *stats, carom_error *err)
{
    carom_sphere_pairs_desc desc = {.size = sizeof desc,
                                    .count = ask->count,
                                    .accuracy = ask->accuracy,
                                    .a0 = points(q, 0, 0),
                                    .a1 = points(q, 3, 0),
                                    .radius_a = {q->column[6], sizeof(float)},
                                    .b0 = points(q, 7, 0),
                                    .b1 = points(q, 10, 0),
                                    .radius_b = {q->column[13], sizeof(float)}};
    carom_sphere_result result = {a->field[0], floats(a, 1, 0), floats(a, 2, 0)};
    return carom_sphere_pairs(context, &desc, &result, stats, err);
}

carom_status verify_run(carom_context *context, const verify_question *ask, const verify_queries *q,
                        const verify_answers *a, carom_stats *stats, carom_error *err)
{
    *stats = (carom_stats){.size = sizeof *stats};
    switch (ask->type) {
    case VERIFY_SWEEP:
        return ask->mix ? run_sweep_mix(context, ask, q, a, stats, err)
                        : run_sweep_part(context, 0, ask, WANT_ALL, 1, q, a, stats, err);
    case VERIFY_OVERLAP: return run_overlap(context, ask, q, a, stats, err);
    default: return run_spheres(context, ask, q, a, stats, err);
    }
}

void verify_print_query(output *out, int type, const verify_queries *queries, uint64_t i)
{
    output_text(out, "    query:");
    for (size_t k = 0; k < verify_types[type].column_count; k++)
        output_format(out, " %s=%a", verify_types[type].columns[k], (double)queries->column[k][i]);
    output_char(out, '\n');
}

void verify_print_answer(output *out, int type, const char *who, const verify_answers *answers, uint64_t i)
{
    output_format(out, "    %s:", who);
    for (size_t k = 0; k < verify_types[type].field_count; k++) {
        const verify_field *field = &verify_types[type].fields[k];
        const unsigned char *at = answers->field[k] + i * field->size;
        float value;
        if (field->size == sizeof value) {
            memcpy(&value, at, sizeof value);
            output_format(out, " %s=%a", field->name, (double)value);
        } else if (!strncmp(field->name, "state", 5)) {
            output_format(out, " %s=%s", field->name, carom_state_name((carom_state)*at));
        } else if (!strncmp(field->name, "feature", 7)) {
            output_format(out, " %s=%s", field->name, carom_feature_name((carom_feature)*at));
        } else {
            output_format(out, " %s=%u", field->name, (unsigned)*at);
        }
    }
    output_char(out, '\n');
}
