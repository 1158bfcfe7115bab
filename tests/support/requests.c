/* SPDX-License-Identifier: MIT */
#include "requests.h"

#define FAST_PAIRS(name, command) {#name, QUERY_##name, CAROM_ACCURACY_FAST},
#define EXACT_PAIRS(name, command) {#name ", exact", QUERY_##name, CAROM_ACCURACY_EXACT},
#define OF_MESH(accuracy, mode)                                                                     \
    {"first hits" mode, ASK_FIRST, accuracy}, {"all hits" mode, ASK_ALL, accuracy},                 \
        {"first hits as a list" mode, ASK_COMPACT, accuracy}, {"any hit" mode, ASK_ANY, accuracy},  \
        {"overlaps" mode, ASK_OVERLAPS, accuracy}, {"any overlap" mode, ASK_ANY_OVERLAP, accuracy}, \
    {                                                                                               \
        "closest points" mode, ASK_CLOSEST, accuracy                                                \
    }

/* clang-format off */
const request requests[REQUESTS] = {
    QUERY_PAIRS(FAST_PAIRS) OF_MESH(CAROM_ACCURACY_FAST, ""),
    QUERY_PAIRS(EXACT_PAIRS) OF_MESH(CAROM_ACCURACY_EXACT, ", exact")};
/* clang-format on */

/* ---- what is asked about ----------------------------------------------------------------------------------------- */

/* Copies of `some` rows, one in `share` of `count`; the others have radius -1. */
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

static int list_fields(const request *q)
{
    return q->kind == ASK_OVERLAPS ? LIST_OVERLAPS : LIST_HITS;
}

batch_result batch_result_alloc(const request *q, const fixture *m)
{
    batch_result r = {.stats = {.size = sizeof r.stats}};
    switch (q->kind) {
    case ASK_FIRST: r.h = hits_alloc(m->count, FILL); break;
    case ASK_ALL:
    case ASK_COMPACT:
    case ASK_OVERLAPS: r.l = list_alloc(m->count, HITS_EACH * m->some, FILL); break;
    case ASK_ANY:
    case ASK_ANY_OVERLAP: r.any = guarded_alloc(m->count, 0, FILL); break;
    case ASK_CLOSEST: r.n = closest_results_alloc(m->count, FILL); break;
    default: r.a = answers_alloc(q->kind, m->count, FILL); break;
    }
    return r;
}

void batch_result_free(const request *q, batch_result *r)
{
    switch (q->kind) {
    case ASK_FIRST: hits_free(&r->h); break;
    case ASK_ALL:
    case ASK_COMPACT:
    case ASK_OVERLAPS: list_free(&r->l); break;
    case ASK_ANY:
    case ASK_ANY_OVERLAP: guarded_free(&r->any); break;
    case ASK_CLOSEST: closest_results_free(&r->n); break;
    default: answers_free(&r->a); break;
    }
}

static void check_guards(const request *q, const batch_result *r)
{
    switch (q->kind) {
    case ASK_FIRST:
        for (int f = 0; f < HIT_FIELDS; f++)
            guarded_check(&r->h.field[f], q->name);
        break;
    case ASK_ALL:
    case ASK_COMPACT:
    case ASK_OVERLAPS: list_check_guards(&r->l, q->name); break;
    case ASK_ANY:
    case ASK_ANY_OVERLAP: guarded_check(&r->any, q->name); break;
    case ASK_CLOSEST:
        for (int f = 0; f < NEAR_FIELDS; f++)
            guarded_check(&r->n.field[f], q->name);
        break;
    default: answers_check_guards(&r->a, q->name); break;
    }
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

/* The descriptors of both kinds. */
typedef struct ball_descs {
    carom_mesh_sweep_desc sweep;
    carom_mesh_overlap_desc rest;
} ball_descs;

static ball_descs descs_of(const request *q, const fixture *m)
{
    ball_descs d = {swept_spheres_desc(&m->b, 0, m->count), swept_spheres_at_rest(&m->b, 0, m->count)};
    d.sweep.accuracy = d.rest.accuracy = q->accuracy;
    d.sweep.progress = d.rest.progress = m->progress;
    return d;
}

static carom_status ask_list(const request *q, carom_mesh *mesh, const ball_descs *d, batch_result *r, carom_error *err)
{
    carom_mesh_hit_list list = list_desc(&r->l, list_fields(q));
    const carom_hits which = q->kind == ASK_COMPACT ? CAROM_HITS_FIRST : CAROM_HITS_ALL;
    const carom_status status = q->kind == ASK_OVERLAPS
                                    ? carom_mesh_overlap_list(mesh, &d->rest, &list, &r->stats, err)
                                    : carom_mesh_sweep_list(mesh, &d->sweep, which, &list, &r->stats, err);
    r->l.total = list.total;
    r->l.complete = list.complete;
    r->l.stored = list.stored;
    return status;
}

static carom_status ask_mesh(const request *q, carom_mesh *mesh, const fixture *m, batch_result *r, carom_error *err)
{
    const ball_descs d = descs_of(q, m);
    switch (q->kind) {
    case ASK_FIRST: {
        const carom_mesh_hit_result out = hits_result(&r->h, 0);
        return carom_mesh_sweep_first(mesh, &d.sweep, &out, &r->stats, err);
    }
    case ASK_ANY: return carom_mesh_sweep_any(mesh, &d.sweep, r->any.data, &r->stats, err);
    case ASK_ANY_OVERLAP: return carom_mesh_overlap_any(mesh, &d.rest, r->any.data, &r->stats, err);
    case ASK_CLOSEST: {
        const carom_mesh_closest_result out = closest_results_result(&r->n, 0);
        return carom_mesh_overlap_closest(mesh, &d.rest, &out, &r->stats, err);
    }
    default: return ask_list(q, mesh, &d, r, err);
    }
}

carom_status request_ask(const request *q, carom_context *context, carom_mesh *mesh, const fixture *m, batch_result *r,
                         carom_error *err)
{
    carom_status status;
    if (request_needs_mesh(q)) {
        status = ask_mesh(q, mesh, m, r, err);
    } else {
        inputs in = inputs_of(&m->q[q->kind]);
        in.progress = m->progress;
        status = ask_with(context, q->kind, q->accuracy, m->count, &in, &r->a, ALL_FIELDS, &r->stats, err);
    }
    check_guards(q, r);
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

/* Queries that are complete have their hits. */
static void compare_complete(const request *q, const hit_list *expected, const hit_list *got)
{
    const size_t records = (size_t)list_offset(expected, (size_t)got->complete);
    assert_true(got->complete <= expected->complete);
    if (got->complete > 0)
        assert_memory_equal(expected->offsets.data, got->offsets.data, (size_t)got->complete * sizeof(uint64_t));
    assert_memory_equal(expected->query.data, got->query.data, records * sizeof(uint64_t));
    for (int f = 0; f < HIT_FIELDS; f++)
        if (list_fields(q) >> f & 1)
            assert_memory_equal(expected->hits.field[f].data, got->hits.field[f].data, records * hit_field_size(f));
}

void batch_result_compare_first(const request *q, const fixture *m, const batch_result *expected,
                                const batch_result *got, size_t count, const char *who)
{
    switch (q->kind) {
    case ASK_FIRST: hits_compare(&m->b, &expected->h, &got->h, count, -1, who); break;
    case ASK_ALL:
    case ASK_COMPACT:
    case ASK_OVERLAPS:
        assert_int_equal(got->l.complete, count);
        compare_complete(q, &expected->l, &got->l);
        break;
    case ASK_ANY:
    case ASK_ANY_OVERLAP: assert_memory_equal(expected->any.data, got->any.data, count); break;
    case ASK_CLOSEST: closest_results_compare(&m->b, &expected->n, &got->n, count, -1, who); break;
    default: answers_compare(&m->q[q->kind], &expected->a, &got->a, count, ALL_FIELDS, who); break;
    }
}

void batch_result_compare(const request *q, const fixture *m, const batch_result *expected, const batch_result *got,
                          const char *who)
{
    if (!request_is_list(q)) {
        batch_result_compare_first(q, m, expected, got, m->count, who);
        return;
    }
    assert_int_equal(expected->l.total, got->l.total);
    assert_int_equal(expected->l.complete, got->l.complete);
    list_compare(&m->b, &expected->l, &got->l, list_fields(q), who);
}
