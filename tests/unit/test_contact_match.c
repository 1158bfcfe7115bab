/* SPDX-License-Identifier: MIT */
/* Contacts of two steps: which go on, which are new, which have ended. */
#include "tests/support/contact_answers.h"
#include "tests/support/walls.h"

#include <math.h>

typedef struct records {
    carom_contact_records view;
    uint64_t query[64];
    uint32_t patch[64];
    float point[64][3];
} records;

static void add(records *r, uint64_t query, uint32_t patch, float x, float y)
{
    const size_t i = (size_t)r->view.count++;
    r->view.size = sizeof r->view;
    r->view.query = r->query;
    r->view.patch = r->patch;
    r->view.point = carom_xyz(r->point[0]);
    r->query[i] = query;
    r->patch[i] = patch;
    r->point[i][0] = x;
    r->point[i][1] = y;
    r->point[i][2] = 0;
}

static carom_status match(const records *a, const records *b, int64_t *previous, uint64_t *ended, uint64_t *count,
                          carom_error *err)
{
    carom_context *context = test_context();
    const carom_contact_match out = {.size = sizeof out, .previous = previous, .ended = ended, .ended_count = count};
    const carom_status status = carom_contacts_match(context, &a->view, &b->view, &out, err);
    carom_context_destroy(context);
    return status;
}

static void test_known(void **state)
{
    static const int64_t expected[] = {2, 0, -1, 4, -1, 3, -1};
    static const uint64_t gone[] = {1, 5};
    records a = {.view = {.count = 0}}, b = {.view = {.count = 0}};
    int64_t previous[7];
    uint64_t ended[6], count;
    carom_error err;
    (void)state;
    add(&a, 3, 7, 0, 0);
    add(&a, 3, 8, 0, 0); /* ends: no new one on its patch */
    add(&a, 3, 7, 1, 0);
    add(&a, 5, 7, 0, 0); /* two at the same place: the lower goes first */
    add(&a, 5, 7, 1, 0);
    add(&a, 9, 1, 0, 0); /* ends with its sphere */
    add(&b, 3, 7, 0.75f, 0);
    add(&b, 3, 7, 0.5f, 0.25f); /* nearer to 1 in the first place, but that is taken */
    add(&b, 3, 9, 0, 0);
    add(&b, 5, 7, 0.75f, 0);
    add(&b, 5, 7, 3, 0);
    add(&b, 5, 7, 0.25f, 0);
    add(&b, 6, 1, 0, 0);
    assert_int_equal(match(&a, &b, previous, ended, &count, &err), CAROM_OK);
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        assert_int_equal(previous[i], expected[i]);
    assert_int_equal(count, COUNT_OF(gone));
    assert_memory_equal(ended, gone, sizeof gone);
    assert_int_equal(match(&a, &b, NULL, NULL, &count, &err), CAROM_OK);
    assert_int_equal(count, COUNT_OF(gone));
    b.view.count = 0;
    assert_int_equal(match(&a, &b, previous, ended, &count, &err), CAROM_OK);
    assert_int_equal(count, 6);
}

/* With a scene, contacts go on in their instance alone, in small lists and in those that trees serve. */
static void test_instances(void **state)
{
    (void)state;
    enum { MOST = 200 };
    static uint64_t query[MOST];
    static uint32_t patch[MOST];
    static float point[MOST][3];
    static int32_t instance[2][MOST];
    int64_t previous[MOST];
    carom_error err;
    carom_context *context = test_context();
    for (size_t i = 0; i < MOST; i++) {
        point[i][0] = (float)(i / 2); /* two contacts at each point */
        instance[0][i] = (int32_t)(i % 2) * INT32_MAX;
        instance[1][i] = (int32_t)((i + 1) % 2) * INT32_MAX;
    }
    for (size_t count = 6; count <= MOST; count += MOST - 6) {
        carom_contact_records lists[2];
        for (int l = 0; l < 2; l++)
            lists[l] = (carom_contact_records){.size = sizeof *lists,
                                               .count = count,
                                               .query = query,
                                               .patch = patch,
                                               .point = carom_xyz(point[0]),
                                               .instance = instance[l]};
        const carom_contact_match out = {.size = sizeof out, .previous = previous};
        test_ok("match", carom_contacts_match(context, &lists[0], &lists[1], &out, &err), &err);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(previous[i], i ^ 1);
        lists[1].instance = NULL;
        test_error(carom_contacts_match(context, &lists[0], &lists[1], &out, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
                   "instance");
        lists[0].count = 0;
        test_ok("nothing before", carom_contacts_match(context, &lists[0], &lists[1], &out, &err), &err);
        assert_int_equal(previous[0], -1);
    }
    carom_context_destroy(context);
}

/* Distances that binary64 cannot tell apart: the true order decides, and of equal ones the index. */
static void test_ties(void **state)
{
    int64_t previous[2];
    carom_error err;
    (void)state;
    for (int t = 0; t < 3; t++) {
        records a = {.view = {.count = 0}}, b = {.view = {.count = 0}};
        add(&a, 0, 0, 0, 0);
        add(&b, 0, 0, 1, t == 1 ? 0x1p-40f : 0);
        add(&b, 0, 0, -1, t == 2 ? 0x1p-40f : 0);
        assert_int_equal(match(&a, &b, previous, NULL, NULL, &err), CAROM_OK);
        assert_int_equal(previous[0], t == 1 ? -1 : 0);
        assert_int_equal(previous[1], t == 1 ? 0 : -1);
    }
}

/* The definition: all pairs sorted, taken one after the other. */
static void judge_greedy(const records *a, const records *b, const int64_t *previous)
{
    int taken_a[64] = {0}, taken_b[64] = {0};
    for (;;) {
        double least = HUGE_VAL;
        size_t i = 64, j = 64;
        for (size_t p = 0; p < a->view.count; p++)
            for (size_t n = 0; n < b->view.count; n++) {
                const double x = (double)a->point[p][0] - (double)b->point[n][0],
                             y = (double)a->point[p][1] - (double)b->point[n][1], d = x * x + y * y;
                if (!taken_a[p] && !taken_b[n] && a->query[p] == b->query[n] && a->patch[p] == b->patch[n] &&
                    d < least) {
                    least = d;
                    i = p;
                    j = n;
                }
            }
        if (i == 64)
            break;
        taken_a[i] = taken_b[j] = 1;
        assert_int_equal(previous[j], i);
    }
    for (size_t n = 0; n < b->view.count; n++)
        assert_true(taken_b[n] || previous[n] == -1);
}

/* On a coarse grid, so that ties are frequent and binary64 is exact. */
static void test_greedy(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        records a = {.view = {.count = 0}}, b = {.view = {.count = 0}};
        int64_t previous[64];
        carom_error err;
        ref_gen g;
        ref_gen_seed(&g, 140, seed, 0);
        for (int list = 0; list < 2; list++) {
            const int count = ref_gen_int(&g, 1, 40);
            for (int i = 0; i < count; i++)
                add(list ? &b : &a, (uint64_t)(i / 15), (uint32_t)ref_gen_int(&g, 0, 1), (float)ref_gen_int(&g, 0, 5),
                    (float)ref_gen_int(&g, 0, 5));
        }
        assert_int_equal(match(&a, &b, previous, NULL, NULL, &err), CAROM_OK);
        judge_greedy(&a, &b, previous);
    }
}

typedef struct pair {
    double square;
    uint32_t previous, now;
} pair;

static int compare_pairs(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->square < y->square || x->square > y->square)
        return x->square < y->square ? -1 : 1;
    return x->previous != y->previous ? (x->previous > y->previous) - (x->previous < y->previous)
                                      : (x->now > y->now) - (x->now < y->now);
}

enum { CROWD = 300 };
typedef struct crowd {
    uint64_t query[CROWD];
    uint32_t patch[CROWD];
    float point[CROWD][3];
} crowd;

static crowd random_crowd(uint64_t seed, uint64_t list)
{
    crowd c;
    ref_gen g;
    ref_gen_seed(&g, 141, seed, list);
    for (size_t i = 0; i < CROWD; i++) {
        c.query[i] = i / 290; /* the last ones are of a small group */
        c.patch[i] = (uint32_t)ref_gen_int(&g, 0, (int)(seed % 3));
        for (int k = 0; k < 3; k++)
            c.point[i][k] = (float)ref_gen_int(&g, 0, 2 + (int)(seed % 5) * 20);
    }
    return c;
}

/* The definition, where there are many contacts of one sphere. Squares are whole numbers, so ties are exact. */
static void test_crowd(void **state)
{
    (void)state;
    carom_context *context = test_context();
    pair *pairs = test_alloc((size_t)CROWD * CROWD, sizeof *pairs);
    for (uint64_t seed = 0; seed < 15; seed++) {
        const crowd a = random_crowd(seed, 0), b = random_crowd(seed, 1);
        int64_t expected[CROWD], previous[CROWD];
        int is_taken[CROWD] = {0};
        size_t count = 0;
        carom_error err;
        for (uint32_t i = 0; i < CROWD; i++)
            for (uint32_t j = 0; j < CROWD; j++) {
                const double x = (double)a.point[i][0] - (double)b.point[j][0],
                             y = (double)a.point[i][1] - (double)b.point[j][1],
                             z = (double)a.point[i][2] - (double)b.point[j][2];
                if (a.query[i] == b.query[j] && a.patch[i] == b.patch[j])
                    pairs[count++] = (pair){x * x + y * y + z * z, i, j};
            }
        qsort(pairs, count, sizeof *pairs, compare_pairs);
        memset(expected, -1, sizeof expected);
        for (size_t k = 0; k < count; k++)
            if (!is_taken[pairs[k].previous] && expected[pairs[k].now] < 0) {
                is_taken[pairs[k].previous] = 1;
                expected[pairs[k].now] = pairs[k].previous;
            }
        const carom_contact_records p = {sizeof p, CROWD, a.query, a.patch, carom_xyz(a.point[0]), NULL};
        const carom_contact_records n = {sizeof n, CROWD, b.query, b.patch, carom_xyz(b.point[0]), NULL};
        const carom_contact_match out = {.size = sizeof out, .previous = previous};
        assert_int_equal(carom_contacts_match(context, &p, &n, &out, &err), CAROM_OK);
        assert_memory_equal(previous, expected, sizeof expected);
    }
    free(pairs);
    carom_context_destroy(context);
}

/* A sphere that has gone far away: all previous contacts have the same nearest new one, and most of its pairs begin
 * with others. Then all of them at one place. In steps of m n it took minutes. */
static void test_far(void **state)
{
    (void)state;
    const size_t count = 200000;
    uint64_t *query = test_alloc(count, sizeof *query);
    uint32_t *patch = test_alloc(count, sizeof *patch);
    float *old = test_alloc(3 * count, sizeof *old), *new = test_alloc(3 * count, sizeof *new);
    int64_t *previous = test_alloc(count, sizeof *previous);
    carom_context *context = test_context();
    carom_error err;
    for (size_t i = 0; i < count; i++) { /* back to back: the i-th of the one with the i-th of the other */
        old[3 * i] = -(float)i;
        new[3 * i] = 1e5f + (float)i;
        query[i] = patch[i] = 0;
    }
    const carom_contact_records p = {sizeof p, count, query, patch, carom_xyz(old), NULL};
    const carom_contact_records n = {sizeof n, count, query, patch, carom_xyz(new), NULL};
    const carom_contact_match out = {.size = sizeof out, .previous = previous};
    assert_int_equal(carom_contacts_match(context, &p, &n, &out, &err), CAROM_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(previous[i], i);
    memset(old, 0, 3 * count * sizeof *old);
    memset(new, 0, 3 * count * sizeof *new);
    assert_int_equal(carom_contacts_match(context, &p, &n, &out, &err), CAROM_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(previous[i], i);
    carom_context_destroy(context);
    free(query);
    free(patch);
    free(old);
    free(new);
    free(previous);
}

/* A ball that rolls over 10^4 edges of a flat patch keeps its one contact: in fast mode if contacts are merged within
 * sqrt(r L) / 1000, L its distance. */
static const struct {
    carom_accuracy accuracy;
    float radius, height, merge_within;
} rolls[] = {{CAROM_ACCURACY_FAST, 0.05f, 0.0495f, 5e-5f},
             {CAROM_ACCURACY_FAST, 0.5f, 0.45f, 4.8e-4f},
             {CAROM_ACCURACY_EXACT, 0.05f, 0.0495f, 0}};

static void test_rolling(void **state)
{
    enum { STEPS = 8000 };
    (void)state;
    carom_context *context = test_context();
    scene s = scene_wall(WALL_IRREGULAR, 1, 100, 0.0f);
    carom_mesh *mesh = scene_mesh(context, &s);
    for (size_t r = 0; r < COUNT_OF(rolls); r++) {
        const contact_call call = {.accuracy = rolls[r].accuracy, .merge_within = rolls[r].merge_within};
        contact_answers before = {.queries = 1};
        for (int step = 0; step < STEPS; step++) {
            swept_spheres b = swept_spheres_alloc(1);
            const double turn = 120.0 * step / STEPS, along = 0.9 * step / STEPS;
            b.column[0][0] = (float)(along * (1.0 - 2.0 * fabs(turn - 2.0 * floor(turn / 2.0) - 1.0)));
            b.column[1][0] = (float)(0.9 - 1.8 * step / STEPS);
            b.column[2][0] = rolls[r].height;
            b.column[SPHERE_RADIUS][0] = rolls[r].radius;
            contact_answers now = ask_contacts(mesh, &b, &call);
            assert_int_equal(now.count, 1);
            if (step > 0) {
                const carom_contact_records p = {.size = sizeof p,
                                                 .count = 1,
                                                 .query = before.query,
                                                 .patch = before.patch,
                                                 .point = carom_xyz(before.point)};
                const carom_contact_records n = {.size = sizeof n,
                                                 .count = 1,
                                                 .query = now.query,
                                                 .patch = now.patch,
                                                 .point = carom_xyz(now.point)};
                int64_t previous = -1;
                uint64_t ended = 1;
                const carom_contact_match out = {.size = sizeof out, .previous = &previous, .ended_count = &ended};
                carom_error err;
                assert_int_equal(carom_contacts_match(context, &p, &n, &out, &err), CAROM_OK);
                assert_int_equal(previous, 0);
                assert_int_equal(ended, 0);
                contact_answers_free(&before);
            }
            before = now;
            swept_spheres_free(&b);
        }
        contact_answers_free(&before);
    }
    scene_free(&s);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

static void test_refused(void **state)
{
    records a = {.view = {.count = 0}}, b = {.view = {.count = 0}};
    int64_t previous[2] = {5, 5};
    carom_error err;
    (void)state;
    add(&a, 3, 0, 0, 0);
    add(&a, 2, 0, 0, 0);
    add(&b, 2, 0, 0, 0);
    assert_int_equal(match(&a, &b, previous, NULL, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_string_equal(err.message, "previous record 1 has query 2, less than the one before it; queries must ascend");
    a.view.count = 1;
    for (int k = 0; k < 3; k++) {
        b.point[0][k] = k ? INFINITY : NAN;
        assert_int_equal(match(&a, &b, previous, NULL, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
        assert_string_equal(err.message, "now record 0 has a point that is not finite");
        b.point[0][k] = 0;
    }
    b.view.size = 3;
    assert_int_equal(match(&a, &b, previous, NULL, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    b.view.size = sizeof b.view;
    b.view.patch = NULL;
    assert_int_equal(match(&a, &b, previous, NULL, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_string_equal(err.message, "patch must not be NULL");
    b.view.patch = b.patch;
    b.view.query = NULL;
    assert_int_equal(match(&a, &b, previous, NULL, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_string_equal(err.message, "query must not be NULL");
    b.view.query = b.query;
    b.view.point.y = NULL;
    assert_int_equal(match(&a, &b, previous, NULL, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_string_equal(err.message, "point: x, y and z must not be NULL");
    b.view.point = carom_xyz(b.point[0]);
    b.view.point.stride = 2;
    assert_int_equal(match(&a, &b, previous, NULL, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_string_equal(err.message, "point: stride is 2 bytes; at least 4, or CAROM_REPEAT if one element serves all");
    assert_int_equal(previous[0], 5);
}

/* No output lies over another array. */
static void test_shared_memory(void **state)
{
    records a = {.view = {.count = 0}}, b = {.view = {.count = 0}};
    uint64_t own[64], count;
    carom_error err;
    (void)state;
    for (int i = 0; i < 8; i++) {
        add(&a, 1, 0, (float)i, 0);
        add(&b, 1, 0, (float)i, 0);
    }
    const struct {
        const char *name;
        void *array;
    } arrays[] = {{"records", &a.view}, {"query", a.query},   {"patch", a.patch},
                  {"point.x", a.point}, {"records", &b.view}, {"query", b.query},
                  {"patch", b.patch},   {"point.x", b.point}, {"point.y", &b.point[7][1]}};
    for (size_t i = 0; i < COUNT_OF(arrays); i++)
        for (int which = 0; which < 3; which++) {
            uint64_t *const array = arrays[i].array;
            char text[96];
            static const char *const outputs[] = {"previous", "ended", "ended_count"};
            snprintf(text, sizeof text, "output %s shares memory with input %s; outputs must have their own",
                     outputs[which], arrays[i].name);
            assert_int_equal(match(&a, &b, which == 0 ? (int64_t *)array : NULL, which == 1 ? array : NULL,
                                   which == 2 ? array : &count, &err),
                             CAROM_ERROR_INVALID_ARGUMENT);
            assert_string_equal(err.message, text);
        }
    assert_int_equal(match(&a, &b, (int64_t *)own, own + 7, &count, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_string_equal(err.message, "output ended shares memory with output previous; outputs must have their own");
    assert_int_equal(match(&a, &b, (int64_t *)own, own + 8, own + 15, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_string_equal(err.message, "output ended_count shares memory with output ended; outputs must have their own");
    assert_int_equal(match(&a, &b, (int64_t *)own, own + 8, own + 16, &err), CAROM_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),   cmocka_unit_test(test_instances), cmocka_unit_test(test_ties),
        cmocka_unit_test(test_greedy),  cmocka_unit_test(test_far),       cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_rolling), cmocka_unit_test(test_refused),   cmocka_unit_test(test_shared_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
