/* SPDX-License-Identifier: MIT */
#include "requests.h"

#define FAST_PAIRS(name, command) {#name, QUERY_##name, CAROM_ACCURACY_FAST},
#define EXACT_PAIRS(name, command) {#name ", exact", QUERY_##name, CAROM_ACCURACY_EXACT},
#define FAST_MESH(name, title) {title, ASK_##name, CAROM_ACCURACY_FAST},
#define EXACT_MESH(name, title) {title ", exact", ASK_##name, CAROM_ACCURACY_EXACT},

/* clang-format off */
const request requests[REQUESTS] = {
    QUERY_PAIRS(FAST_PAIRS) QUERY_MESHES(FAST_MESH) QUERY_MESH_FORMS(FAST_MESH)
    QUERY_PAIRS(EXACT_PAIRS) QUERY_MESHES(EXACT_MESH) QUERY_MESH_FORMS(EXACT_MESH)};
/* clang-format on */

static const query_type *mesh_row(const request *q)
{
    return query_meshes[q->kind - QUERY_TYPES];
}

int request_is_list(const request *q)
{
    return request_needs_mesh(q) && mesh_row(q)->mesh.is_list;
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

/* Spreads `some` rows over `count`: one row in `share` is a copy, the others get the radius -1. */
static void spread(float *const *from, size_t some, float *const *to, size_t count, size_t share, int columns,
                   int radius)
{
    for (int c = 0; c < columns; c++)
        for (size_t i = 0; i < count; i++)
            to[c][i] = c == radius && i % share != 0 ? -1.0f : from[c][i / share % some];
}

fixture fixture_make(uint64_t seed, scene s, size_t count, size_t share)
{
    fixture m = {.count = count, .some = (count + share - 1) / share, .b = swept_spheres_alloc(count), .s = s};
    for (int type = 0; type < QUERY_TYPES; type++) {
        queries some = queries_mixed(type, seed, m.some);
        m.q[type] = queries_alloc(type, count);
        spread(some.column, m.some, m.q[type].column, count, share, query_columns(type), query_scalar_column(type, 0));
        queries_free(&some);
    }
    swept_spheres some = swept_spheres_mixed(seed, m.some);
    spread(some.column, m.some, m.b.column, count, share, SPHERE_COLUMNS, SPHERE_RADIUS);
    swept_spheres_free(&some);
    m.b.max_distance = random_limits(seed, count);
    return m;
}

void fixture_free(fixture *m)
{
    for (int type = 0; type < QUERY_TYPES; type++)
        queries_free(&m->q[type]);
    swept_spheres_free(&m->b);
    scene_free(&m->s);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

enum { FILL = 0xa5, HITS_EACH = 16 /* room of a list, for whole queries only if they have more */ };

static size_t capacity_of(const request *q, const fixture *m)
{
    return request_is_list(q) ? HITS_EACH * m->some : m->count;
}

batch_result batch_result_alloc(const request *q, const fixture *m)
{
    return (batch_result){.a = answers_alloc(q->kind, capacity_of(q, m), FILL),
                          .offsets = guarded_alloc(request_is_list(q) ? (m->count + 1) * sizeof(uint64_t) : 0, 0, FILL),
                          .stats = {.size = sizeof(carom_stats)}};
}

void batch_result_free(batch_result *r)
{
    answers_free(&r->a);
    guarded_free(&r->offsets);
}

uint64_t batch_result_offset(const batch_result *r, size_t i)
{
    return ((const uint64_t *)(const void *)r->offsets.data)[i];
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* The queries of a request: the fixture's pairs, or its spheres. The columns of spheres at rest are the first ones of
 * moving spheres; closest points have a limit behind them. */
static queries queries_of(const request *q, const fixture *m)
{
    if (!request_needs_mesh(q))
        return m->q[q->kind];
    queries of = {.type = q->kind, .count = m->count};
    for (int c = 0; c < query_columns(q->kind) - 1; c++) /* the last column is the mask */
        of.column[c] = m->b.column[c];
    if (q->kind == ASK_mesh_closest)
        of.column[SPHERE_RADIUS + 1] = m->b.max_distance;
    return of;
}

carom_status request_ask(const request *q, carom_context *context, carom_mesh *mesh, const fixture *m, batch_result *r,
                         carom_error *err)
{
    const queries about = queries_of(q, m);
    inputs in = inputs_of(&about);
    carom_status status;
    in.progress = m->progress;
    in.prepare = m->prepare;
    in.mask = m->b.mask;
    in.ends = m->b.ends;
    in.cull_back = (uint8_t)m->b.cull_back;
    in.start = m->b.start;
    in.select = m->select;
    in.elements = m->elements;
    if (request_needs_mesh(q)) {
        carom_list_totals totals = {0};
        carom_hit_list list = {.size = sizeof list,
                               .totals = &totals,
                               .capacity = capacity_of(q, m),
                               .offsets = (uint64_t *)(void *)r->offsets.data};
        void *out[QUERY_FIELDS_MAX];
        for (int f = 0; f < query_fields(q->kind); f++)
            out[f] = r->a.field[f].data;
        const query_call call = {.count = m->count, .accuracy = q->accuracy, .in = &in, .out = out, .list = &list};
        status = mesh_row(q)->mesh.ask(mesh, &call, &r->stats, err);
        r->total = totals.total;
        r->complete = totals.complete;
        r->stored = totals.stored;
    } else {
        status = ask_with(context, q->kind, q->accuracy, m->count, &in, &r->a, ALL_FIELDS, &r->stats, err);
    }
    answers_check_guards(&r->a, q->name);
    guarded_check(&r->offsets, q->name);
    return status;
}

batch_result request_answer(const request *q, const fixture *m)
{
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    carom_mesh *mesh = request_needs_mesh(q) ? scene_mesh(cpu, &m->s) : NULL;
    batch_result r = batch_result_alloc(q, m);
    carom_error err = {0};
    test_ok(q->name, request_ask(q, cpu, mesh, m, &r, &err), &err);
    carom_mesh_destroy(mesh);
    carom_context_destroy(cpu);
    return r;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

/* Compares the first `records` records, and the offsets of the first `queries` queries. */
static void compare_list(const batch_result *expected, const batch_result *got, size_t records, size_t offsets,
                         const char *who)
{
    for (size_t i = 0; i < offsets; i++)
        if (batch_result_offset(expected, i) != batch_result_offset(got, i))
            fail_msg("%s: offset %zu is %llu, not %llu", who, i, (unsigned long long)batch_result_offset(got, i),
                     (unsigned long long)batch_result_offset(expected, i));
    for (int f = 0; f < query_fields(expected->a.type); f++)
        for (size_t k = 0, size = query_field_bytes(expected->a.type, f); k < records; k++)
            if (memcmp(expected->a.field[f].data + k * size, got->a.field[f].data + k * size, size)) {
                answers_print(&expected->a, k, "expected");
                answers_print(&got->a, k, who);
                fail_msg("%s: record %zu differs", who, k);
            }
}

void batch_result_compare_first(const request *q, const fixture *m, const batch_result *expected,
                                const batch_result *got, size_t count, const char *who)
{
    const queries about = queries_of(q, m);
    if (!request_is_list(q)) {
        answers_compare(&about, &expected->a, &got->a, count, ALL_FIELDS, who);
        return;
    }
    assert_int_equal(got->complete, count); /* complete queries have all their hits */
    assert_true(got->complete <= expected->complete);
    compare_list(expected, got, (size_t)batch_result_offset(expected, count), count, who);
}

void batch_result_compare(const request *q, const fixture *m, const batch_result *expected, const batch_result *got,
                          const char *who)
{
    if (!request_is_list(q)) {
        batch_result_compare_first(q, m, expected, got, m->count, who);
        return;
    }
    assert_int_equal(expected->total, got->total);
    assert_int_equal(expected->complete, got->complete);
    assert_int_equal(expected->stored, got->stored);
    compare_list(expected, got, (size_t)expected->stored, m->count + 1, who);
}
