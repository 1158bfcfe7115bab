/* SPDX-License-Identifier: MIT */
/* Options of mesh queries, for first, all and any hits and for overlaps: equal to the exact reference in exact mode; part of
 * what a triangle answers, so that neither tree nor order, nor who computes, changes a bit; and the first of all is the
 * first. */
#include "exact_scenes.h"
#include "list_oracle.h"

#include <math.h>

enum { SEED = 171, TRIANGLES = 96 };

/* What is asked for beside the spheres. */
typedef struct option_set {
    const char *name;
    int triangle_masks, sphere_masks, cull_back;
    carom_start start;
} option_set;

static const option_set sets[] = {
    {"masks of triangles", 1, 0, 0, CAROM_START_REPORT},
    {"masks of spheres", 0, 1, 0, CAROM_START_REPORT},
    {"masks of both", 1, 1, 0, CAROM_START_REPORT},
    {"no back faces", 0, 0, 1, CAROM_START_REPORT},
    {"no start that parts", 0, 0, 0, CAROM_START_SKIP_PARTING},
    {"no start", 0, 0, 0, CAROM_START_SKIP},
    {"all options", 1, 1, 1, CAROM_START_SKIP_PARTING},
};

static const list_question questions[] = {
    {CAROM_ACCURACY_FAST, 0, CAROM_HITS_ALL},    {CAROM_ACCURACY_FAST, 0, CAROM_HITS_FIRST},
    {CAROM_ACCURACY_FAST, 1, CAROM_HITS_ALL},    {CAROM_ACCURACY_EXACT, 0, CAROM_HITS_ALL},
    {CAROM_ACCURACY_EXACT, 0, CAROM_HITS_FIRST}, {CAROM_ACCURACY_EXACT, 1, CAROM_HITS_ALL}};

typedef struct setting {
    scene s;
    balls b;
    char name[64];
} setting;

static setting make_setting(size_t kind, const option_set *o, size_t triangles, size_t count)
{
    setting t = {.s = kinds[kind].make(triangles)};
    balls b = kind % 3 == 1 ? balls_mixed(SEED + kind, test_effort(count))
                            : balls_aimed(SEED + kind, &t.s, 1.0, test_effort(count));
    snprintf(t.name, sizeof t.name, "%s, %s", kinds[kind].name, o->name);
    if (o->triangle_masks)
        t.s.masks = random_masks(SEED + kind, t.s.triangle_count);
    if (o->sphere_masks)
        b.mask = random_masks(SEED + 50 + kind, b.count);
    b.cull_back = o->cull_back;
    b.start = o->start;
    for (size_t i = 0; i < b.count; i += 5)
        b.column[BALL_T_MAX][i] = i % 2 ? 0.0f : 2.0f;
    t.b = b;
    return t;
}

static void free_setting(setting *t)
{
    scene_free(&t->s);
    balls_free(&t->b);
}

/* ---- exact mode against the reference ------------------------------------------------------------------------------- */

static void judge_first(const setting *t, carom_mesh *mesh)
{
    hits h = hits_alloc(t->b.count, 0xa5);
    carom_mesh_sweep_desc desc = balls_desc(&t->b, 0, t->b.count);
    carom_mesh_hit_result result = hits_result(&h, 0);
    carom_error err = {0};
    desc.accuracy = CAROM_ACCURACY_EXACT;
    test_ok("carom_mesh_sweep_first", carom_mesh_sweep_first(mesh, &desc, &result, NULL, &err), &err);
    for (size_t i = 0; i < t->b.count; i++) {
        const oracle_hit truth = oracle_first(&t->s, &t->b, i);
        const char *what = oracle_judge(&t->s, &t->b, i, &truth, &h);
        if (what == NULL)
            continue;
        hits_print(&t->b, &h, i, "answer");
        fail_msg("%s, sphere %zu, triangle %d: %s", t->name, i, truth.triangle, what);
    }
    hits_free(&h);
}

static void test_reference(void **state)
{
    const option_set *o = *state;
    carom_context *context = test_context();
    for (size_t n = 0; n < KINDS; n++) {
        setting t = make_setting(n, o, TRIANGLES, 200);
        carom_mesh *mesh = scene_mesh(context, &t.s);
        unsigned long long found = 0, settled = 0;
        judge_first(&t, mesh);
        for (size_t k = 3; k < COUNT_OF(questions); k += 2) {
            const list_question *q = &questions[k];
            hit_list l = list_whole(mesh, q, &t.b, 0, t.b.count);
            uint8_t *any = any_of(mesh, q, &t.b, 0, t.b.count);
            for (size_t i = 0; i < t.b.count; i++)
                (q->overlaps ? list_judge_overlaps : list_judge_hits)(&t.s, &t.b, i, &l, any, t.name);
            found += q->overlaps ? 0 : l.total;
            settled += q->overlaps ? 0 : l.by_integers;
            free(any);
            list_free(&l);
        }
        print_message("%-40s %6llu hits, %4.1f %% of queries in integers\n", t.name, found,
                      100.0 * (double)settled / (double)t.b.count);
        assert_true(found > t.b.count / 16); /* else the scene shows nothing */
        carom_mesh_destroy(mesh);
        free_setting(&t);
    }
    carom_context_destroy(context);
}

/* Takes scene and spheres. Returns how many hits there are. */
static uint64_t check_exact(carom_context *context, scene s, balls b, const char *name)
{
    const list_question *q = &questions[3];
    setting t = {.s = s, .b = b};
    snprintf(t.name, sizeof t.name, "%s", name);
    carom_mesh *mesh = scene_mesh(context, &s);
    judge_first(&t, mesh);
    hit_list l = list_whole(mesh, q, &b, 0, b.count);
    uint8_t *any = any_of(mesh, q, &b, 0, b.count);
    for (size_t i = 0; i < b.count; i++)
        list_judge_hits(&s, &b, i, &l, any, name);
    const uint64_t total = l.total;
    free(any);
    list_free(&l);
    carom_mesh_destroy(mesh);
    free_setting(&t);
    return total;
}

/* Triangles and spheres of one family of cases together, and each sphere with the triangle that it was made for. */
static void test_families(void **state)
{
    enum { CASES = 24 };
    const option_set *o = *state;
    carom_context *context = test_context();
    uint64_t found = 0;
    for (size_t family = 0; family < ref_family_count(); family++) {
        scene s = {test_alloc(9 * CASES, sizeof(float)), test_alloc(3 * CASES, sizeof(uint32_t)), 3 * CASES, CASES,
                   NULL};
        balls b = balls_alloc(CASES);
        size_t made = 0;
        for (uint64_t index = 0; made < CASES; index++) {
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
                s.indices[3 * made + k] = (uint32_t)(3 * made + k);
            }
            b.column[BALL_RADIUS][made++] = (float)c.radius;
        }
        b.cull_back = o->cull_back;
        b.start = o->start;
        found += check_exact(context, s, b, ref_family_name(family));
    }
    assert_true(found > 1000);
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
    out[BALL_RADIUS] = 0.25f;
}

static void test_ties(void **state)
{
    enum { CASES = 64 };
    const option_set *o = *state;
    carom_context *context = test_context();
    for (uint64_t round = 0; round < 8; round++) {
        scene s = scene_soup(SEED + round, CASES, 0.25);
        for (size_t i = 0; i < 3 * s.vertex_count; i++)
            s.vertices[i] = s.vertices[i] * 0.25f + 1.5f;
        balls b = balls_alloc(4 * CASES);
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
            balls b = balls_aimed(SEED + p, &s, ref_power_of_two(places[p].exponent), test_effort(80));
            for (size_t i = 0; i < b.count; i++)
                for (int c = 4; c < 7; c++) {
                    const double v = (double)b.column[c][i] * ref_power_of_two(places[p].speed);
                    b.column[c][i] = (float)fmin(fmax(v, -0x1p127), 0x1p127);
                }
            b.cull_back = o->cull_back;
            b.start = o->start;
            snprintf(name, sizeof name, "%s, %s, %s", kinds[n].name, places[p].name, o->name);
            check_exact(context, s, b, name);
        }
    carom_context_destroy(context);
}

/* ---- fast mode ------------------------------------------------------------------------------------------------------ */

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Cosines: of the normal, whose factors are edges, and of the way from the closest point, in shares of the lengths around,
 * each against the motion. Where no state says contact at time 0, the second is 0. */
static void cosines_of(const setting *t, size_t i, int32_t triangle, double *back, double *parting)
{
    ref_sweep_case c;
    ref_sweep_answer a;
    double e[2][3], v[3], d[3], gap[3], n[3];
    balls_case(&t->b, i, &t->s, (size_t)triangle, &c);
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
    const list_question *q = &questions[0];
    const double room = 1e-6;
    carom_context *context = test_context();
    uint64_t left = 0, gone = 0;
    for (size_t n = 0; n < KINDS; n++) {
        setting t = make_setting(n, o, 200, 500);
        balls plain = t.b;
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
        free_setting(&t);
    }
    assert_true(left > gone / 16 && gone > left / 64);
    carom_context_destroy(context);
}

/* ---- on paper ------------------------------------------------------------------------------------------------------- */

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
    const carom_mesh_desc shape = {.size = sizeof shape,
                                   .vertices = {vertices, vertices + 1, vertices + 2, 12},
                                   .vertex_count = 3,
                                   .triangle_count = 1};
    carom_mesh *mesh = NULL;
    carom_error err = {0};
    test_ok("carom_mesh_create", carom_mesh_create(context, &shape, &mesh, &err), &err);
    for (size_t i = 0; i < COUNT_OF(paper); i++)
        for (int cull = 0; cull < 2; cull++)
            for (int start = CAROM_START_REPORT; start <= CAROM_START_SKIP; start++) {
                const float *b = paper[i].ball;
                uint8_t hit;
                const carom_mesh_sweep_desc desc = {.size = sizeof desc,
                                                    .count = 1,
                                                    .accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST,
                                                    .center = {b, b + 1, b + 2, 0},
                                                    .velocity = {b + 4, b + 5, b + 6, 0},
                                                    .radius = {b + 3, 0},
                                                    .cull_back = (uint8_t)cull,
                                                    .start = (carom_start)start};
                const int wanted = !(cull && !paper[i].kept) && !(start == CAROM_START_SKIP && paper[i].starts) &&
                                   !(start == CAROM_START_SKIP_PARTING && paper[i].parts);
                test_ok("any", carom_mesh_sweep_any(mesh, &desc, &hit, NULL, &err), &err);
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
    balls b = balls_mixed(SEED, 4);
    static const struct {
        int cull_back, start;
        const char *word;
    } wrong[] = {{2, 0, "cull_back is 2"}, {255, 1, "cull_back is 255"}, {0, 3, "start is 3"}, {1, -1, "start is -1"}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        for (size_t count = 0; count <= b.count; count += b.count) {
            carom_mesh_sweep_desc desc = balls_desc(&b, 0, count);
            const carom_mesh_hit_result out = {0};
            carom_mesh_hit_list list = {.size = sizeof list};
            uint8_t any[4];
            desc.cull_back = (uint8_t)wrong[i].cull_back;
            desc.start = (carom_start)wrong[i].start;
            for (int call = 0; call < 4; call++) {
                carom_error err = {0};
                const carom_status status =
                    call == 0   ? carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err)
                    : call == 1 ? carom_mesh_sweep_any(mesh, &desc, any, NULL, &err)
                                : carom_mesh_sweep_list(mesh, &desc, call == 2 ? CAROM_HITS_ALL : CAROM_HITS_FIRST,
                                                        &list, NULL, &err);
                assert_int_equal(status, CAROM_ERROR_INVALID_ARGUMENT);
                if (strstr(err.message, wrong[i].word) == NULL)
                    fail_msg("'%s' does not say %s", err.message, wrong[i].word);
            }
        }
    balls_free(&b);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- a triangle that does not count is not there ------------------------------------------------------------------- */

static uint32_t mask_at(const uint32_t *masks, size_t i)
{
    return masks != NULL ? masks[i] : UINT32_MAX;
}

/* With masks, the records are those without them but for triangles without a common bit. */
static void compare_masked(const setting *t, const list_question *q, const hit_list *all, const hit_list *l)
{
    size_t k = 0;
    for (size_t i = 0; i < t->b.count; i++)
        for (size_t a = (size_t)list_offset(all, i); a < list_offset(all, i + 1); a++) {
            const int32_t triangle = hit_triangle(&all->hits, a);
            if ((mask_at(t->b.mask, i) & mask_at(t->s.masks, (size_t)triangle)) == 0)
                continue;
            if (k >= l->stored || list_query(l, k) != i || hit_triangle(&l->hits, k) != triangle)
                fail_msg("%s: sphere %zu should have triangle %d in record %zu", t->name, i, triangle, k);
            if (!q->overlaps)
                list_compare_record(&t->b, i, &all->hits, a, l, k, 1, t->name);
            k++;
        }
    assert_int_equal(k, l->total);
}

static void test_masks_filter(void **state)
{
    carom_context *context = test_context();
    uint64_t left = 0, gone = 0;
    (void)state;
    for (size_t n = 0; n < KINDS; n++)
        for (size_t o = 0; o < 3; o++) {
            setting t = make_setting(n, &sets[o], 300, 600);
            carom_mesh *mesh = scene_mesh(context, &t.s);
            scene plain_scene = t.s;
            balls plain = t.b;
            plain_scene.masks = plain.mask = NULL;
            carom_mesh *plain_mesh = scene_mesh(context, &plain_scene);
            for (size_t k = 0; k < COUNT_OF(questions); k++) {
                const list_question *q = &questions[k];
                if (q->which == CAROM_HITS_FIRST)
                    continue;
                hit_list all = list_whole(plain_mesh, q, &plain, 0, plain.count);
                hit_list l = list_whole(mesh, q, &t.b, 0, t.b.count);
                compare_masked(&t, q, &all, &l);
                left += l.total;
                gone += all.total - l.total;
                list_free(&all);
                list_free(&l);
            }
            carom_mesh_destroy(plain_mesh);
            carom_mesh_destroy(mesh);
            free_setting(&t);
        }
    assert_true(left > gone / 16 && gone > left / 16);
    carom_context_destroy(context);
}

/* ---- the first of all is the first ---------------------------------------------------------------------------------- */

static void test_first_of_all(void **state)
{
    const option_set *o = *state;
    carom_context *context = test_context();
    for (size_t n = 0; n < KINDS; n++)
        for (int exact = 0; exact < 2; exact++) {
            const list_question *q = &questions[3 * exact];
            setting t = make_setting(n, o, 300, 800);
            carom_mesh *mesh = scene_mesh(context, &t.s);
            hit_list all = list_whole(mesh, &q[0], &t.b, 0, t.b.count),
                     first = list_whole(mesh, &q[1], &t.b, 0, t.b.count);
            uint8_t *any = any_of(mesh, q, &t.b, 0, t.b.count);
            for (size_t i = 0; i < t.b.count; i++) {
                const size_t from = (size_t)list_offset(&all, i), one = (size_t)list_offset(&first, i);
                const int some = list_offset(&all, i + 1) > from;
                if (list_offset(&first, i + 1) - one != (uint64_t)some || (any[i] == 1) != some)
                    fail_msg("%s, sphere %zu: first, any and all hits disagree", t.name, i);
                if (some)
                    list_compare_record(&t.b, i, &all.hits, from, &first, one, 1, t.name);
            }
            free(any);
            list_free(&all);
            list_free(&first);
            carom_mesh_destroy(mesh);
            free_setting(&t);
        }
    carom_context_destroy(context);
}

/* ---- no tree, no order ---------------------------------------------------------------------------------------------- */

static size_t find_record(const hit_list *l, size_t i, int32_t triangle)
{
    for (size_t k = (size_t)list_offset(l, i); k < list_offset(l, i + 1); k++)
        if (hit_triangle(&l->hits, k) == triangle)
            return k;
    return SIZE_MAX;
}

/* Each triangle answers as in a mesh of two, the other of which gives it the same units. */
static void test_triangle_by_triangle(void **state)
{
    const option_set *o = *state;
    carom_context *context = test_context();
    for (size_t n = 0; n < KINDS; n++)
        for (int exact = 0; exact < 2; exact++) {
            const list_question *q = &questions[3 * exact];
            setting t = make_setting(n, o, 40, 250);
            carom_mesh *mesh = scene_mesh(context, &t.s);
            hit_list whole = list_whole(mesh, q, &t.b, 0, t.b.count);
            const uint32_t anchor = scene_largest(&t.s);
            uint64_t found = 0;
            for (uint32_t k = 0; k < t.s.triangle_count; k++) {
                const uint32_t pair[2] = {k, anchor};
                scene two = scene_reorder(&t.s, pair, 2);
                carom_mesh *alone = scene_mesh(context, &two);
                hit_list l = list_whole(alone, q, &t.b, 0, t.b.count);
                for (size_t i = 0; i < t.b.count; i++) {
                    const size_t x = find_record(&whole, i, (int32_t)k), y = find_record(&l, i, 0);
                    if ((x == SIZE_MAX) != (y == SIZE_MAX))
                        fail_msg("%s, sphere %zu, triangle %u: hit alone or among all, not both", t.name, i, k);
                    if (x != SIZE_MAX)
                        list_compare_record(&t.b, i, &whole.hits, x, &l, y, 0, t.name);
                    found += x != SIZE_MAX;
                }
                list_free(&l);
                carom_mesh_destroy(alone);
                scene_free(&two);
            }
            assert_int_equal(found, whole.total);
            list_free(&whole);
            carom_mesh_destroy(mesh);
            free_setting(&t);
        }
    carom_context_destroy(context);
}

/* ---- the same bits from everyone ------------------------------------------------------------------------------------ */

static void compare_mesh(carom_mesh *reference, carom_mesh *mesh, const setting *t, const char *who)
{
    for (size_t k = 0; k < COUNT_OF(questions); k++) {
        const list_question *q = &questions[k];
        hit_list expected = list_whole(reference, q, &t->b, 0, t->b.count),
                 l = list_whole(mesh, q, &t->b, 0, t->b.count);
        uint8_t *some = any_of(reference, q, &t->b, 0, t->b.count), *any = any_of(mesh, q, &t->b, 0, t->b.count);
        list_compare(&t->b, &expected, &l, q->overlaps ? LIST_OVERLAPS : LIST_HITS, who);
        assert_memory_equal(some, any, t->b.count);
        free(some);
        free(any);
        list_free(&expected);
        list_free(&l);
    }
}

static void check_backend(carom_context *context, const char *who)
{
    carom_context *scalar = test_cpu(CAROM_ISA_SCALAR, 1);
    for (size_t n = 0; n < KINDS; n++)
        for (size_t o = 0; o < COUNT_OF(sets); o++) {
            setting t = make_setting(n, &sets[o], n % 2 ? 400 : 100, 500);
            carom_mesh *mesh = scene_mesh(context, &t.s), *reference = scene_mesh(scalar, &t.s);
            hits expected = hits_alloc(t.b.count, 0xa5), h = hits_alloc(t.b.count, 0x5a);
            sweep_first(reference, &t.b, &expected);
            sweep_first(mesh, &t.b, &h);
            hits_compare(&t.b, &expected, &h, t.b.count, -1, who);
            compare_mesh(reference, mesh, &t, who);
            hits_free(&expected);
            hits_free(&h);
            carom_mesh_destroy(mesh);
            carom_mesh_destroy(reference);
            free_setting(&t);
        }
    carom_context_destroy(scalar);
    carom_context_destroy(context);
}

static void test_isa(void **state)
{
    check_backend(test_cpu(*(const carom_isa *)*state, 1), "this instruction set");
}

static void test_threads(void **state)
{
    (void)state;
    check_backend(test_cpu(CAROM_ISA_AUTO, 3), "three threads");
}

static void test_device_lanes(void **state)
{
    (void)state;
    check_backend(test_device(0, 0), "the device");
    check_backend(test_device(1, 0), "the device with one lane");
    check_backend(test_device(0, 100), "the device in chunks of 100");
}

/* ---- masks as the caller's arrays ----------------------------------------------------------------------------------- */

enum { BITS = 32 };

/* Square i of a stack has triangles 2i and 2i+1 and bit i. */
static scene make_stack(void)
{
    const scene one = scene_floor(1);
    scene s = {test_alloc(12 * BITS, sizeof(float)), test_alloc(6 * BITS, sizeof(uint32_t)), 4 * BITS, 2 * BITS, NULL};
    s.masks = test_alloc(2 * BITS, sizeof *s.masks);
    for (size_t i = 0; i < BITS; i++) {
        memcpy(s.vertices + 12 * i, one.vertices, 12 * sizeof(float));
        for (size_t v = 0; v < 4; v++)
            s.vertices[12 * i + 3 * v + 2] = (float)i;
        for (size_t k = 0; k < 6; k++)
            s.indices[6 * i + k] = one.indices[k] + (uint32_t)(4 * i);
        s.masks[2 * i] = s.masks[2 * i + 1] = UINT32_C(1) << i;
    }
    scene free_me = one;
    scene_free(&free_me);
    return s;
}

/* The triangle first met from below by a sphere with these masks, `stride` bytes apart. */
static void check_stack(carom_mesh *mesh, const char *masks, size_t stride, const uint32_t *values, size_t count)
{
    static const float center[3] = {0.25f, 0.25f, -1}, up[3] = {0, 0, 1}, radius = 0.125f;
    int32_t *triangle = test_alloc(count, sizeof *triangle);
    uint8_t *any = test_alloc(count, 1);
    for (int exact = 0; exact < 2; exact++) {
        carom_mesh_sweep_desc desc = {.size = sizeof desc,
                                      .count = count,
                                      .accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST,
                                      .center = {center, center + 1, center + 2, 0},
                                      .velocity = {up, up + 1, up + 2, 0},
                                      .radius = {&radius, 0},
                                      .mask = (const uint32_t *)(const void *)masks,
                                      .mask_stride = stride};
        const carom_mesh_hit_result out = {.triangle = triangle};
        carom_error err = {0};
        test_ok("first", carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err), &err);
        test_ok("any", carom_mesh_sweep_any(mesh, &desc, any, NULL, &err), &err);
        for (size_t i = 0; i < count; i++) {
            const uint32_t mask = values[stride == 0 ? 0 : i];
            int lowest = 0;
            while (lowest < BITS && !(mask >> lowest & 1))
                lowest++;
            assert_int_equal(any[i], mask != 0);
            assert_int_equal(triangle[i] < 0 ? -1 : triangle[i] / 2, mask == 0 ? -1 : lowest);
        }
    }
    free(triangle);
    free(any);
}

static void test_bits_and_strides(void **state)
{
    enum { COUNT = BITS + 3 };
    carom_context *context = test_context();
    scene s = make_stack();
    carom_mesh *mesh = scene_mesh(context, &s);
    uint32_t values[COUNT] = {0, UINT32_MAX, UINT32_C(0xc0000000)};
    static const size_t strides[] = {0, 4, 5, 12};
    (void)state;
    for (uint32_t i = 0; i < BITS; i++)
        values[3 + i] = UINT32_C(1) << i;
    for (size_t n = 0; n < COUNT_OF(strides); n++) {
        char *bytes = test_alloc(COUNT * 12 + 4, 1);
        for (size_t i = COUNT; i-- > 0;)
            memcpy(bytes + i * strides[n], &values[i], sizeof values[i]);
        check_stack(mesh, bytes, strides[n], values, COUNT);
        free(bytes);
    }
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* More first hits as a list than it takes at a time: the masks go along. */
static void test_long_list(void **state)
{
    enum { COUNT = (1 << 20) + 1000 };
    static const float center[3] = {0.25f, 0.25f, -1}, up[3] = {0, 0, 1}, radius = 0.125f;
    carom_context *context = test_context();
    scene s = make_stack();
    carom_mesh *mesh = scene_mesh(context, &s);
    uint32_t *masks = test_alloc(COUNT, sizeof *masks);
    uint64_t *query = test_alloc(COUNT, sizeof *query);
    int32_t *triangle = test_alloc(COUNT, sizeof *triangle);
    carom_mesh_sweep_desc desc = {.size = sizeof desc,
                                  .count = COUNT,
                                  .center = {center, center + 1, center + 2, 0},
                                  .velocity = {up, up + 1, up + 2, 0},
                                  .radius = {&radius, 0},
                                  .mask = masks,
                                  .mask_stride = sizeof *masks};
    carom_mesh_hit_list list = {.size = sizeof list, .capacity = COUNT, .query = query, .triangle = triangle};
    carom_error err = {0};
    (void)state;
    for (size_t i = COUNT - 1000; i < COUNT; i++)
        masks[i] = UINT32_C(1) << i % 32;
    masks[7] = 1;
    test_ok("list", carom_mesh_sweep_list(mesh, &desc, CAROM_HITS_FIRST, &list, NULL, &err), &err);
    assert_int_equal(list.total, 1001);
    for (uint64_t k = 0; k < list.stored; k++) {
        assert_int_equal(query[k], k == 0 ? 7 : COUNT - 1001 + k);
        assert_int_equal(triangle[k] / 2, k == 0 ? 0 : query[k] % 32);
    }
    free(masks);
    free(query);
    free(triangle);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* Masks cost four bytes for each slot of a leaf, and nothing if there are none. */
static void test_memory(void **state)
{
    carom_context *context = test_context();
    scene s = scene_soup(SEED, 500, 0.2);
    carom_mesh *plain = scene_mesh(context, &s);
    (void)state;
    s.masks = random_masks(SEED, s.triangle_count);
    carom_mesh *masked = scene_mesh(context, &s);
    const uint64_t more = carom_mesh_get_info(masked).bytes - carom_mesh_get_info(plain).bytes;
    assert_true(more >= 4 * 500 && more < 4 * 500 * 8 && more % 64 == 0);
    carom_mesh_destroy(plain);
    carom_mesh_destroy(masked);
    scene_free(&s);
    carom_context_destroy(context);
}

static const int modes[] = {0, 1};
#define ON_SIDES(check) ON_SET(check, 3), ON_SET(check, 4), ON_SET(check, 5)
#define ON_SET(check, i)                                       \
    {                                                          \
#check, check, NULL, NULL, (void *)(uintptr_t)&sets[i] \
    }
#define EACH_SET(check)                                                                                         \
    ON_SET(check, 0), ON_SET(check, 1), ON_SET(check, 2), ON_SET(check, 3), ON_SET(check, 4), ON_SET(check, 5), \
        ON_SET(check, 6)
#define ON_MODE(name, i)                                           \
    {                                                              \
        name, test_paper, NULL, NULL, (void *)(uintptr_t)&modes[i] \
    }
#define ON_ISA(name, value)                                      \
    {                                                            \
        name ": the bits of scalar", test_isa, NULL, NULL, value \
    }

int main(void)
{
    const struct CMUnitTest on_cpu[] = {EACH_SET(test_reference),
                                        EACH_SET(test_first_of_all),
                                        EACH_SET(test_triangle_by_triangle),
                                        ON_SIDES(test_families),
                                        ON_SIDES(test_places),
                                        ON_SET(test_ties, 3),
                                        ON_SET(test_ties, 4),
                                        ON_SIDES(test_fast_signs),
                                        ON_MODE("fast, on paper", 0),
                                        ON_MODE("exact, on paper", 1),
                                        cmocka_unit_test(test_refused),
                                        cmocka_unit_test(test_masks_filter),
                                        cmocka_unit_test(test_bits_and_strides),
                                        cmocka_unit_test(test_long_list),
                                        cmocka_unit_test(test_memory),
                                        cmocka_unit_test(test_threads),
                                        TEST_EACH_ISA(ON_ISA)};
    const struct CMUnitTest on_device[] = {EACH_SET(test_first_of_all), ON_MODE("exact, on paper", 1),
                                           cmocka_unit_test(test_masks_filter), cmocka_unit_test(test_bits_and_strides),
                                           cmocka_unit_test(test_device_lanes)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
