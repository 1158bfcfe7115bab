/* SPDX-License-Identifier: MIT */
/* What the options of mesh queries mean, for first, all and any hits: exact mode equals the exact reference, fast mode
 * leaves out what it should but for what is within its error, and cases solved on paper come out as on paper. */
#include "tests/support/list_oracle.h"
#include "tests/support/option_sets.h"

#include <math.h>

enum { SEED = 171, TRIANGLES = 96 };

/* ---- exact mode against the reference ---------------------------------------------------------------------------- */

/* First hits are the first records of a list that is judged; `any` has been judged too. */
static void compare_first(const option_setting *t, carom_mesh *mesh, const hit_list *all, const uint8_t *any)
{
    hits h = hits_alloc(t->b.count, 0xa5);
    carom_mesh_sweep_desc desc = swept_spheres_desc(&t->b, 0, t->b.count);
    carom_mesh_hit_result result = hits_result(&h, 0);
    carom_error err = {0};
    desc.batch.accuracy = CAROM_ACCURACY_EXACT;
    test_ok("carom_mesh_sweep_first", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
    for (size_t i = 0; i < t->b.count; i++) {
        const size_t from = (size_t)list_offset(all, i);
        const int some = list_offset(all, i + 1) > from;
        const oracle_hit none = {
            .triangle = -1, .state = any[i] == CAROM_OVERLAP_INVALID ? REF_INVALID : REF_MISS, .t = INFINITY};
        const char *what = some ? NULL : oracle_judge(&t->s, &t->b, i, &none, &h);
        if (some)
            list_compare_record(&t->b, i, &h, i, all, from, 1, t->name);
        else if (what != NULL)
            fail_msg("%s, sphere %zu hits nothing: %s", t->name, i, what);
    }
    hits_free(&h);
}

static void test_reference(void **state)
{
    const option_set *o = *state;
    carom_context *context = test_context();
    for (size_t n = 0; n < KINDS; n++) {
        option_setting t = option_setting_make(SEED, n, o, TRIANGLES, 200);
        carom_mesh *mesh = scene_mesh(context, &t.s);
        unsigned long long found = 0, settled = 0;
        for (size_t k = 3; k < LIST_REQUESTS; k += 2) {
            const list_request *q = &list_requests[k];
            hit_list l = list_whole(mesh, q, &t.b, 0, t.b.count);
            uint8_t *any = any_of(mesh, q, &t.b, 0, t.b.count);
            for (size_t i = 0; i < t.b.count; i++)
                (q->overlaps ? list_judge_overlaps : list_judge_hits)(&t.s, &t.b, i, &l, any, t.name);
            found += q->overlaps ? 0 : l.total;
            settled += q->overlaps ? 0 : l.by_integers;
            if (!q->overlaps)
                compare_first(&t, mesh, &l, any);
            free(any);
            list_free(&l);
        }
        print_message("%-40s %6llu hits, %4.1f %% of queries in integers\n", t.name, found,
                      100.0 * (double)settled / (double)t.b.count);
        test_share("hits of a scene", found, t.b.count, 1.0 / 16, HUGE_VAL);
        carom_mesh_destroy(mesh);
        option_setting_free(&t);
    }
    carom_context_destroy(context);
}

/* Takes scene and spheres. Returns how many hits there are. */
static uint64_t check_exact(carom_context *context, scene s, swept_spheres b, const char *name)
{
    const list_request *q = &list_requests[3];
    option_setting t = {.s = s, .b = b};
    snprintf(t.name, sizeof t.name, "%s", name);
    carom_mesh *mesh = scene_mesh(context, &s);
    hit_list l = list_whole(mesh, q, &b, 0, b.count);
    uint8_t *any = any_of(mesh, q, &b, 0, b.count);
    for (size_t i = 0; i < b.count; i++)
        list_judge_hits(&s, &b, i, &l, any, name);
    compare_first(&t, mesh, &l, any);
    const uint64_t total = l.total;
    free(any);
    list_free(&l);
    carom_mesh_destroy(mesh);
    option_setting_free(&t);
    return total;
}

/* Triangles and spheres of one family of cases together, and each sphere with the triangle that it was made for. */
static void test_families(void **state)
{
    const size_t cases = 4 + test_effort(20);
    const option_set *o = *state;
    carom_context *context = test_context();
    uint64_t found = 0;
    for (size_t family = 0; family < ref_family_count(); family++) {
        scene s = scene_alloc_apart(cases);
        swept_spheres b = swept_spheres_alloc(cases);
        size_t made = 0;
        for (uint64_t index = 0; made < cases; index++) {
            ref_sweep_case c;
            ref_family_sweep(family, SEED, index, &c);
            float *p = s.vertices + 9 * made;
            memcpy(p, c.p, sizeof c.p);
            if (!isfinite(fabsf(p[0]) + fabsf(p[1]) + fabsf(p[2]) + fabsf(p[3]) + fabsf(p[4]) + fabsf(p[5]) +
                          fabsf(p[6]) + fabsf(p[7]) + fabsf(p[8])))
                continue;
            for (size_t k = 0; k < 3; k++) {
                b.column[k][made] = c.center[k];
                b.column[4 + k][made] = c.velocity[k];
            }
            b.column[SPHERE_RADIUS][made++] = (float)c.radius;
        }
        b.cull_back = o->cull_back;
        b.start = o->start;
        found += check_exact(context, s, b, ref_family_name(family));
    }
    assert_true(found > 2 * cases * cases);
    carom_context_destroy(context);
}

/* A sphere near a triangle that moves along one of its edges, or at right angles to the way from its first corner: as
 * exactly as it can be, or off by the last bit. Coordinates in [1, 2), so that differences are exact. */
static void make_tie(ref_gen *g, const float *p, float out[7])
{
    const int edge = ref_gen_int(g, 0, 3), from = 3 * edge, to = 3 * ((edge + 1) % 3), off = ref_gen_int(g, 0, 2);
    float gap[3];
    for (int k = 0; k < 3; k++) {
        gap[k] = (float)ref_gen_int(g, -(1 << 20), 1 << 20) * 0x1p-23f;
        out[k] = p[k] + gap[k];
        gap[k] = out[k] - p[k];
        out[4 + k] = edge < 3 ? p[to + k] - p[from + k] : 0.0f;
    }
    if (edge == 3) {
        out[4] = gap[1];
        out[5] = -gap[0];
    }
    if (ref_gen_chance(g, 2))
        out[4 + off] = nextafterf(out[4 + off], ref_gen_chance(g, 2) ? 4.0f : -4.0f);
    if (ref_gen_chance(g, 3)) /* comes from afar */
        for (int k = 0; k < 3; k++)
            out[k] -= out[4 + k] * 4.0f;
    out[SPHERE_RADIUS] = 0.25f;
}

static void test_ties(void **state)
{
    enum { CASES = 64 };
    const option_set *o = *state;
    carom_context *context = test_context();
    for (uint64_t round = 0; round < test_effort(8); round++) {
        scene s = scene_soup(SEED + round, CASES, 0.25);
        for (size_t i = 0; i < 3 * s.vertex_count; i++)
            s.vertices[i] = s.vertices[i] * 0.25f + 1.5f;
        swept_spheres b = swept_spheres_alloc(4 * CASES);
        for (size_t i = 0; i < b.count; i++) {
            ref_gen g;
            float one[7];
            ref_gen_seed(&g, 104, SEED + round, i);
            make_tie(&g, s.vertices + 9 * (i % CASES), one);
            for (int c = 0; c < 7; c++)
                b.column[c][i] = one[c];
        }
        b.cull_back = o->cull_back;
        b.start = o->start;
        assert_true(check_exact(context, s, b, o->name) > CASES);
    }
    carom_context_destroy(context);
}

/* Sizes, offsets and speeds at both ends of binary32. */
static void test_places(void **state)
{
    static const struct {
        const char *name;
        int exponent, speed;
        float offset;
    } places[] = {{"far", 0, 0, 1e4f},
                  {"large", 120, 0, 0.0f},
                  {"small", -125, 0, 0.0f},
                  {"denormal", -146, 0, 0.0f},
                  {"slow", 0, -140, 0.0f},
                  {"fast", 0, 120, 0.0f},
                  {"small, fast", -120, 200, 0.0f},
                  {"large, slow", 120, -200, 0.0f}};
    const option_set *o = *state;
    carom_context *context = test_context();
    for (size_t p = 0; p < COUNT_OF(places); p++)
        for (size_t n = 0; n < KINDS; n++) {
            scene s = kinds[n].make(40);
            char name[64];
            scene_place(&s, places[p].exponent, places[p].offset);
            swept_spheres b = swept_spheres_aimed(SEED + p, &s, ref_power_of_two(places[p].exponent), test_effort(80));
            swept_spheres_speed_up(&b, places[p].speed);
            b.cull_back = o->cull_back;
            b.start = o->start;
            snprintf(name, sizeof name, "%s, %s, %s", kinds[n].name, places[p].name, o->name);
            check_exact(context, s, b, name);
        }
    carom_context_destroy(context);
}

/* ---- fast mode --------------------------------------------------------------------------------------------------- */

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Cosines: of the normal, whose factors are edges, and of the way from the closest point, in shares of the lengths
 * around, each against the motion. Where no state says contact at time 0, the second is 0. */
static void cosines_of(const option_setting *t, size_t i, int32_t triangle, double *back, double *parting)
{
    ref_sweep_case c;
    ref_sweep_answer a;
    double e[2][3], v[3], d[3], gap[3], n[3];
    swept_spheres_case(&t->b, i, &t->s, (size_t)triangle, &c);
    for (int k = 0; k < 3; k++) {
        e[0][k] = (double)c.p[1][k] - (double)c.p[0][k];
        e[1][k] = (double)c.p[2][k] - (double)c.p[0][k];
        d[k] = (double)c.center[k] - (double)c.p[0][k];
        v[k] = (double)c.velocity[k];
    }
    memset(c.velocity, 0, sizeof c.velocity);
    ref_sweep(&c, &a);
    for (int k = 0; k < 3; k++) {
        n[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
        gap[k] = (double)c.center[k] - a.point_first[k];
    }
    const double speed = sqrt(dot(v, v)), size = sqrt(dot(e[0], e[0])) + sqrt(dot(e[1], e[1])) + sqrt(dot(d, d));
    *back = speed > 0.0 && dot(n, n) > 0.0 ? dot(n, v) / speed / sqrt(dot(e[0], e[0]) * dot(e[1], e[1])) : 0.0;
    *parting = speed > 0.0 && a.feature_first != REF_NONE ? dot(gap, v) / speed / size : 0.0;
}

/* Every hit of the plain list is there or left out with cause, with the same bits; nothing else is there. */
static void test_fast_signs(void **state)
{
    const option_set *o = *state;
    const list_request *q = &list_requests[0];
    const double room = 1e-6;
    carom_context *context = test_context();
    uint64_t left = 0, gone = 0;
    for (size_t n = 0; n < KINDS; n++) {
        option_setting t = option_setting_make(SEED, n, o, 200, 500);
        swept_spheres plain = t.b;
        carom_mesh *mesh = scene_mesh(context, &t.s);
        plain.cull_back = 0;
        plain.start = CAROM_START_REPORT;
        hit_list all = list_whole(mesh, q, &plain, 0, plain.count), l = list_whole(mesh, q, &t.b, 0, t.b.count);
        size_t k = 0;
        for (size_t a = 0; a < all.stored; a++) {
            const size_t i = (size_t)list_query(&all, a);
            const int32_t triangle = hit_triangle(&all.hits, a);
            const int is = k < l.stored && list_query(&l, k) == i && hit_triangle(&l.hits, k) == triangle;
            const int begins = hit_state(&all.hits, a) != CAROM_APPROACHING;
            double back, parting;
            cosines_of(&t, i, triangle, &back, &parting);
            const int surely_out = (o->cull_back && back > room) || (begins && o->start == CAROM_START_SKIP) ||
                                   (begins && o->start == CAROM_START_SKIP_PARTING && parting > room);
            const int surely_in =
                (!o->cull_back || back < -room) && (!begins || o->start == CAROM_START_REPORT ||
                                                    (o->start == CAROM_START_SKIP_PARTING && parting < -room));
            if (is ? surely_out : surely_in)
                fail_msg("%s, sphere %zu, triangle %d %s: cosines %g and %g", t.name, i, triangle,
                         is ? "is hit" : "is left out", back, parting);
            if (is)
                list_compare_record(&t.b, i, &all.hits, a, &l, k++, 1, t.name);
            gone += !is;
        }
        assert_int_equal(k, l.stored);
        left += k;
        list_free(&all);
        list_free(&l);
        carom_mesh_destroy(mesh);
        option_setting_free(&t);
    }
    test_share("hits that a policy leaves", left, left + gone, 1.0 / 17, 64.0 / 65);
    carom_context_destroy(context);
}

/* ---- on paper ---------------------------------------------------------------------------------------------------- */

/* A triangle in z = 0 whose normal is +z, and the answer for each option. */
static const struct {
    const char *name;
    float ball[7];
    int kept, parts; /* front or edge-on; C moves away from q */
    int starts;
    int tie; /* of the sweep itself, which fast mode may decide otherwise */
} paper[] = {
    {"from above", {0.25f, 0.25f, 2, 0.5f, 0, 0, -1}, 1, 0, 0, 0},
    {"from below", {0.25f, 0.25f, -2, 0.5f, 0, 0, 1}, 0, 0, 0, 0},
    {"along the plane", {-2, 0.25f, 0, 0.5f, 1, 0, 0}, 1, 0, 0, 0},
    {"overlaps, sinks in", {0.25f, 0.25f, 0.25f, 0.5f, 0, 0, -1}, 1, 0, 1, 0},
    {"overlaps, rises", {0.25f, 0.25f, 0.25f, 0.5f, 0, 0, 1}, 0, 1, 1, 0},
    {"overlaps, slides", {0.25f, 0.25f, 0.25f, 0.5f, 1, 0, 0}, 1, 0, 1, 0},
    {"touches, slides at the radius", {0.25f, 0.25f, 0.5f, 0.5f, 1, 1, 0}, 1, 0, 1, 1},
    {"overlaps a corner, at right angles", {-0.25f, -0.25f, 0, 0.5f, 1, -1, 0}, 1, 0, 1, 0},
    {"overlaps a corner, leaves", {-0.25f, -0.25f, 0, 0.5f, -1, -0x1p-20f, 0}, 1, 1, 1, 0},
    {"overlaps an edge, along it", {0.5f, -0.25f, 0, 0.5f, 1, 0, 0}, 1, 0, 1, 0},
    {"overlaps an edge, leaves a little", {0.5f, -0.25f, 0, 0.5f, 1, -0x1p-100f, 0}, 1, 1, 1, 0},
    {"overlaps an edge, comes a little", {0.5f, -0.25f, 0, 0.5f, 1, 0x1p-100f, 0}, 1, 0, 1, 0},
    {"centre in the triangle", {0.25f, 0.25f, 0, 0.5f, 0, 0, 1}, 0, 0, 1, 0},
    {"at rest", {0.25f, 0.25f, 0.25f, 0.5f, 0, 0, 0}, 1, 0, 1, 0},
};

static void test_paper(void **state)
{
    static const float vertices[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    const int exact = *(const int *)*state;
    carom_context *context = test_context();
    const carom_mesh_desc shape = {
        .size = sizeof shape, .vertices = carom_xyz(vertices), .vertex_count = 3, .triangle_count = 1};
    carom_mesh *mesh = NULL;
    carom_error err = {0};
    test_ok("carom_mesh_create", carom_mesh_create(context, &shape, &mesh, &err), &err);
    for (size_t i = 0; i < COUNT_OF(paper); i++)
        for (int cull = 0; cull < 2; cull++)
            for (int start = CAROM_START_REPORT; start <= CAROM_START_SKIP; start++) {
                const float *b = paper[i].ball;
                uint8_t hit;
                const carom_mesh_sweep_desc desc = {.batch.size = sizeof desc,
                                                    .batch.count = 1,
                                                    .batch.accuracy =
                                                        exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST,
                                                    .center = carom_repeat(b),
                                                    .velocity = carom_repeat(b + 4),
                                                    .radius = {b + 3, CAROM_REPEAT},
                                                    .cull_back = (uint8_t)cull,
                                                    .start = (carom_start)start};
                const int wanted = !(cull && !paper[i].kept) && !(start == CAROM_START_SKIP && paper[i].starts) &&
                                   !(start == CAROM_START_SKIP_PARTING && paper[i].parts);
                test_ok("any", carom_mesh_sweep_any(mesh, &desc, TEST_ANY(&hit), NULL, &err), &err);
                if (hit != wanted && (exact || !paper[i].tie))
                    fail_msg("%s, cull_back %d, start %d: hit is %d", paper[i].name, cull, start, hit);
            }
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

static void test_refused(void **state)
{
    carom_context *context = test_context();
    scene s = scene_floor(1);
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = swept_spheres_mixed(SEED, 4);
    static const struct {
        int cull_back, start;
        const char *word;
    } wrong[] = {{2, 0, "cull_back is 2"}, {255, 1, "cull_back is 255"}, {0, 3, "start is 3"}, {1, -1, "start is -1"}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        for (size_t count = 0; count <= b.count; count += b.count) {
            carom_mesh_sweep_desc desc = swept_spheres_desc(&b, 0, count);
            const carom_mesh_hit_result out = {.size = sizeof out};
            carom_list_totals totals = {0};
            carom_hit_list list = {.size = sizeof list, .totals = &totals};
            uint8_t any[4];
            desc.cull_back = (uint8_t)wrong[i].cull_back;
            desc.start = (carom_start)wrong[i].start;
            for (int call = 0; call < 4; call++) {
                carom_error err = {0};
                const carom_status status =
                    call == 0   ? carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err)
                    : call == 1 ? carom_mesh_sweep_any(mesh, &desc, TEST_ANY(any), NULL, &err)
                                : carom_mesh_sweep_list(mesh, &desc, call == 2 ? CAROM_HITS_ALL : CAROM_HITS_FIRST,
                                                        &list, NULL, &err);
                assert_int_equal(status, CAROM_ERROR_INVALID_ARGUMENT);
                if (strstr(err.message, wrong[i].word) == NULL)
                    fail_msg("'%s' does not say %s", err.message, wrong[i].word);
            }
        }
    swept_spheres_free(&b);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

static const int modes[] = {0, 1};
#define ON_SIDES(check) ON_OPTION_SET(check, 3), ON_OPTION_SET(check, 4), ON_OPTION_SET(check, 5)
#define ON_MODE(name, i)                                           \
    {                                                              \
        name, test_paper, NULL, NULL, (void *)(uintptr_t)&modes[i] \
    }

int main(void)
{
    const struct CMUnitTest on_cpu[] = {
        ON_EACH_OPTION_SET(test_reference), ON_SIDES(test_families),       ON_SIDES(test_places),
        ON_OPTION_SET(test_ties, 3),        ON_OPTION_SET(test_ties, 4),   ON_SIDES(test_fast_signs),
        ON_MODE("fast, on paper", 0),       ON_MODE("exact, on paper", 1), cmocka_unit_test(test_refused)};
    const struct CMUnitTest on_device[] = {ON_MODE("exact, on paper", 1)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
