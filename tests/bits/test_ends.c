/* SPDX-License-Identifier: MIT */
/* End positions in place of velocities: the motion is the real difference. Fast mode rounds it once, so its answers are
 * those of that velocity, bit by bit; exact mode's are those of the reference. */
#include "tests/support/exact_scenes.h"
#include "tests/support/mesh_oracle.h"
#include "tests/support/option_sets.h"
#include "tests/support/requests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 71 };

/* ---- spheres with end positions ---------------------------------------------------------------------------------- */

/* The same with velocities again, which are rounded. */
static swept_spheres rounded(const swept_spheres *b)
{
    swept_spheres to = swept_spheres_alloc(b->count);
    to.cull_back = b->cull_back;
    to.start = b->start;
    to.mask = b->mask;
    for (size_t i = 0; i < b->count; i++) {
        for (int c = 0; c < SPHERE_COLUMNS; c++)
            to.column[c][i] = b->column[c][i];
        for (int k = 0; k < 3; k++)
            to.column[SPHERE_VELOCITY + k][i] = b->column[SPHERE_VELOCITY + k][i] - b->column[k][i];
    }
    return to;
}

static void rounded_free(swept_spheres *b)
{
    b->mask = NULL; /* which it shares */
    swept_spheres_free(b);
}

/* ---- every query, every backend ---------------------------------------------------------------------------------- */

/* Queries of a mesh that move. */
static int is_swept(const request *q)
{
    return q->kind == ASK_mesh_first || q->kind == ASK_mesh_all || q->kind == ASK_mesh_any ||
           q->kind == ASK_mesh_compact;
}

/* Fast answers are those of the rounded velocities, exact ones those of one scalar thread. */
static void check_backend(carom_context *context, const option_setting *t, const char *label)
{
    swept_spheres as_velocity = rounded(&t->b);
    const fixture ends = {.count = t->b.count, .some = t->b.count, .b = t->b, .s = t->s};
    fixture velocity = ends;
    carom_mesh *mesh = scene_mesh(context, &t->s);
    velocity.b = as_velocity;
    for (size_t k = 0; k < REQUESTS; k++) {
        const request *q = &requests[k];
        if (!is_swept(q))
            continue;
        batch_result expected = request_answer(q, q->accuracy == CAROM_ACCURACY_FAST ? &velocity : &ends);
        batch_result got = batch_result_alloc(q, &ends);
        carom_error err = {0};
        test_ok(q->name, request_ask(q, context, mesh, &ends, &got, &err), &err);
        batch_result_compare(q, &ends, &expected, &got, label);
        batch_result_free(&expected);
        batch_result_free(&got);
    }
    carom_mesh_destroy(mesh);
    rounded_free(&as_velocity);
}

/* On a mesh of each kind; option sets in turn. */
static void check_backends(carom_context *context, const char *label)
{
    for (size_t kind = 0; kind < KINDS; kind++)
        for (size_t o = kind % 2; o < OPTION_SETS; o += 2) {
            option_setting t = option_setting_make(SEED, kind, &option_sets[o], 400, 600);
            swept_spheres_end(&t.b);
            check_backend(context, &t, label);
            option_setting_free(&t);
        }
}

/* Spheres far from the mesh that end in it: as many as it takes for those that are clear of it to be left out. */
static void check_clearance(carom_context *context, const char *label)
{
    enum { COUNT = 4096 };
    option_setting t = {.s = scene_sphere(20), .b = swept_spheres_alloc(COUNT)};
    for (size_t i = 0; i < COUNT; i++) {
        const float way[] = {(float)(i % 16) - 7.5f, (float)(i / 16 % 16) - 7.5f, (float)(i / 256) - 7.5f};
        for (int k = 0; k < 3; k++) {
            t.b.column[k][i] = way[k];
            t.b.column[SPHERE_VELOCITY + k][i] = i % 2 ? way[k] * 0.0625f : way[k] * 2.0f;
        }
        t.b.column[SPHERE_RADIUS][i] = 0.125f;
        t.b.column[SPHERE_T_MAX][i] = 1.0f;
    }
    t.b.ends = 1;
    check_backend(context, &t, label);
    option_setting_free(&t);
}

static void test_backends(void **state)
{
    (void)state;
    for (int isa = CAROM_ISA_SCALAR; isa <= CAROM_ISA_NEON; isa++)
        for (uint32_t threads = 1; carom_isa_available((carom_isa)isa) && threads <= 2; threads++) {
            carom_context *context = test_cpu((carom_isa)isa, threads);
            check_backends(context, carom_isa_name((carom_isa)isa));
            check_clearance(context, carom_isa_name((carom_isa)isa));
            carom_context_destroy(context);
        }
}

static void test_device_backend(void **state)
{
    static const uint32_t lanes[] = {0, 1};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lanes); i++) {
        carom_context *context = test_device(lanes[i], i == 0 ? 0 : 100);
        check_backends(context, "device");
        check_clearance(context, "device");
        carom_context_destroy(context);
    }
}

/* ---- exact answers are the reference's --------------------------------------------------------------------------- */

static hits sweep_exact(carom_context *context, const scene *s, const swept_spheres *b)
{
    carom_mesh *mesh = scene_mesh(context, s);
    hits h = sweep_as(mesh, b, CAROM_ACCURACY_EXACT);
    carom_mesh_destroy(mesh);
    return h;
}

static size_t unknown; /* to the reference */

/* Returns how many are hit. The reference does not know of a graze that begins at the end of the window. */
static size_t judge(const scene *s, const swept_spheres *b, const hits *h, const char *name)
{
    const ref_mesh mesh = oracle_mesh(s);
    size_t some = 0;
    for (size_t i = 0; i < b->count; i++) {
        const ref_mesh_options options = oracle_options(b, i);
        oracle_hit truth;
        ref_sweep_case c;
        swept_spheres_case(b, i, s, 0, &c);
        if (ref_mesh_first(&mesh, &c, b->column[SPHERE_T_MAX][i], &options, &truth) != NULL) {
            unknown++;
            continue;
        }
        const char *wrong = oracle_judge(s, b, i, &truth, h);
        some += truth.triangle >= 0;
        if (wrong == NULL)
            continue;
        hits_print(b, h, i, "answer");
        print_error("  reference: triangle=%d state=%d feature=%d t=%a\n", truth.triangle, truth.state, truth.feature,
                    (double)truth.t);
        fail_msg("%s, sphere %zu: %s", name, i, wrong);
    }
    return some;
}

static void test_scenes(void **state)
{
    carom_context *context = test_context();
    size_t some = 0, all = 0;
    (void)state;
    for (size_t kind = 0; kind < KINDS; kind++)
        for (size_t o = 0; o < OPTION_SETS; o++) {
            option_setting t = option_setting_make(SEED + 1, kind, &option_sets[o], 100, 200);
            swept_spheres_end(&t.b);
            hits h = sweep_exact(context, &t.s, &t.b);
            some += judge(&t.s, &t.b, &h, t.name);
            all += t.b.count;
            hits_free(&h);
            option_setting_free(&t);
        }
    test_share("hits", some, all, 0.05, 1.0);
    carom_context_destroy(context);
}

/* A case of the reference as one sphere and one triangle. The motion is stretched by a power of two, so that the first
 * contact is within it. Where the end position is a rounded sum, touches of the family become near misses. */
typedef struct one_case {
    scene s;
    swept_spheres b;
    float vertices[9];
    uint32_t indices[3];
} one_case;

static int make_case(size_t family, uint64_t index, one_case *t)
{
    ref_sweep_case c;
    ref_sweep_answer a;
    int exponent = 0;
    ref_family_sweep(family, SEED, index, &c);
    ref_sweep(&c, &a);
    if (a.state == REF_INVALID)
        return 0;
    if (isfinite(a.t_first) && a.t_first > 0.0f)
        frexpf(a.t_first, &exponent);
    memcpy(t->vertices, c.p, sizeof t->vertices);
    for (uint32_t v = 0; v < 3; v++)
        t->indices[v] = v;
    t->s = (scene){.vertices = t->vertices, .indices = t->indices, .vertex_count = 3, .triangle_count = 1};
    for (int k = 0; k < 3; k++) {
        t->b.column[k][0] = c.center[k];
        t->b.column[SPHERE_VELOCITY + k][0] = c.center[k] + ldexpf(c.velocity[k] - c.w[k], exponent);
    }
    t->b.column[SPHERE_RADIUS][0] = (float)c.radius;
    t->b.column[SPHERE_T_MAX][0] = 1.0f;
    return 1;
}

/* The window ends at the contact, one number before it, or at 1. */
static size_t check_case(carom_context *context, one_case *t, const char *name)
{
    hits open = sweep_exact(context, &t->s, &t->b);
    const size_t some = judge(&t->s, &t->b, &open, name);
    for (int by = -1; by <= 0 && some > 0; by++) {
        const float time = hit_float(&open, HIT_T, 0);
        t->b.column[SPHERE_T_MAX][0] = by < 0 ? nextafterf(time, 0.0f) : time;
        hits h = sweep_exact(context, &t->s, &t->b);
        judge(&t->s, &t->b, &h, name);
        hits_free(&h);
    }
    hits_free(&open);
    return some;
}

static void test_families(void **state)
{
    carom_context *context = test_context();
    const size_t count = test_effort(400);
    one_case t = {.b = swept_spheres_alloc(1)};
    size_t some = 0;
    (void)state;
    t.b.ends = 1;
    for (size_t family = 0; family < ref_family_count(); family++)
        for (uint64_t i = 0; i < count; i++)
            if (make_case(family, i, &t))
                some += check_case(context, &t, ref_family_name(family));
    print_message("%zu cases, %zu hits, %zu unknown to the reference\n", ref_family_count() * count, some, unknown);
    test_share("hits", some, ref_family_count() * count, 0.1, 1.0);
    test_share("hits unknown to the reference", unknown, some, 0.0, 0.01);
    swept_spheres_free(&t.b);
    carom_context_destroy(context);
}

/* ---- differences beyond binary32 --------------------------------------------------------------------------------- */

/* A narrow floor at the height 0, and a ball that falls onto it from 2^127 to -2^127, slightly sideways: its motion has
 * no binary32. */
static void test_overflow(void **state)
{
    const float big = 0x1p127f;
    float vertices[] = {-0x1p121f, -big, 0, 0x1p121f, -big, 0, 0, big, 0};
    uint32_t indices[] = {0, 1, 2};
    scene s = {.vertices = vertices, .indices = indices, .vertex_count = 3, .triangle_count = 1};
    swept_spheres b = swept_spheres_alloc(1);
    carom_context *context = test_context();
    const float way[] = {0x1p122f, -0.5f * big, big, 0x1p110f, -0x1p122f, -0.5f * big, -big, 1};
    (void)state;
    b.ends = 1;
    for (int c = 0; c < SPHERE_COLUMNS; c++)
        b.column[c][0] = way[c];
    hits exact = sweep_exact(context, &s, &b), fast = hits_alloc(1, 0xa5);
    assert_int_equal(judge(&s, &b, &exact, "a fall of 2^128"), 1);
    assert_true(hit_float(&exact, HIT_T, 0) == 0.5f - 0x1p-18f);
    carom_mesh *mesh = scene_mesh(context, &s);
    sweep_first(mesh, &b, &fast);
    hits_compare(&b, &exact, &fast, 1, 1 << HIT_TRIANGLE | 1 << HIT_STATE | 1 << HIT_T | 1 << HIT_FEATURE, "fast");
    carom_mesh_destroy(mesh);
    hits_free(&exact);
    hits_free(&fast);
    swept_spheres_free(&b);
    carom_context_destroy(context);
}

/* ---- windows and errors ------------------------------------------------------------------------------------------ */

/* A ball of radius 1 falls from 3 onto the floor: contact at a height of 1. */
static void test_window(void **state)
{
    static const struct {
        float end, t_max, t;
    } rows[] = {{1, NAN, 1}, {1.5f, NAN, HUGE_VALF}, {-1, NAN, 0.5f}, {-1, 0.25f, HUGE_VALF}, {-1, 0.5f, 0.5f}};
    scene s = scene_floor(2);
    carom_context *context = test_context();
    carom_mesh *mesh = scene_mesh(context, &s);
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (int exact = 0; exact < 2; exact++) {
            const float center[] = {0.25f, 0.125f, 3}, end[] = {0.25f, 0.125f, rows[i].end}, radius = 1;
            float t = -1;
            carom_error err = {0};
            const carom_mesh_sweep_desc desc = {
                .batch = {.size = sizeof desc, .count = 1, .accuracy = exact},
                .center = carom_xyz(center),
                .end = carom_xyz(end),
                .radius = {.data = &radius, .stride = CAROM_REPEAT},
                .t_max = {.data = isnan(rows[i].t_max) ? NULL : &rows[i].t_max, .stride = CAROM_REPEAT}};
            const carom_mesh_hit_result out = {.size = sizeof out, .t = &t};
            test_ok("a fall", carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err), &err);
            if (!(t >= rows[i].t && t <= rows[i].t))
                fail_msg("row %zu: t is %g", i, (double)t);
        }
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    scene_free(&s);
}

static void test_refused(void **state)
{
    scene s = scene_floor(1);
    carom_context *context = test_context();
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = swept_spheres_alloc(3);
    float t[3];
    const carom_mesh_hit_result out = {.size = sizeof out, .t = t};
    const float one = 1, origin[] = {0, 0, 0};
    carom_error err = {0};
    (void)state;
    b.ends = 1;
    for (size_t i = 0; i < 3; i++)
        b.column[SPHERE_T_MAX][i] = one;
    b.column[SPHERE_T_MAX][1] = nextafterf(one, 2);
    carom_mesh_sweep_desc d = swept_spheres_desc(&b, 0, 3);
    test_error(carom_mesh_sweep_first(mesh, &d, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "query 1: t_max is 1");
    d.t_max.data = NULL;
    d.velocity = d.end;
    test_error(carom_mesh_sweep_first(mesh, &d, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "velocity and end are both given");
    d.velocity = d.end = (carom_points){0};
    test_error(carom_mesh_sweep_first(mesh, &d, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "velocity is NULL, and so is end");
    d.end = carom_xyz(origin);
    d.end.stride = 2;
    test_error(carom_mesh_sweep_first(mesh, &d, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "end");
    d.end = (carom_points){t, t, t, sizeof *t}; /* which is an output */
    test_error(carom_mesh_sweep_first(mesh, &d, &out, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "end");
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    swept_spheres_free(&b);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {cmocka_unit_test(test_window),   cmocka_unit_test(test_refused),
                                        cmocka_unit_test(test_overflow), cmocka_unit_test(test_families),
                                        cmocka_unit_test(test_scenes),   cmocka_unit_test(test_backends)};
    const struct CMUnitTest on_device[] = {cmocka_unit_test(test_overflow), cmocka_unit_test(test_device_backend)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
