/* SPDX-License-Identifier: MIT */
/* Clouds whose spheres of one size lie together: against the reference, and so many that none may cost the square of
 * its spheres. */
#include "tests/support/cloud_lists.h"

#include <math.h>
#include <string.h>
#include <threads.h>
#include <time.h>

/* ---- arrangements ------------------------------------------------------------------------------------------------ */

/* Sphere i of `count`, in a box that has eight units of space for each. */
typedef void place_fn(ref_gen *g, size_t i, size_t count, float *center, float *radius);

static void in_cube(ref_gen *g, double low, double side, float *center)
{
    for (int k = 0; k < 3; k++)
        center[k] = between(g, low, low + side);
}

static double side_of(size_t count)
{
    return 2 * cbrt((double)count);
}

/* The side of a cube in which so many spheres take a tenth of the space. */
static double heap_of(double count, double radius)
{
    return radius * cbrt(count * 42);
}

/* Half of them fine, in a corner under the coarse ones. */
static void heap(ref_gen *g, size_t i, size_t count, float *center, float *radius)
{
    const int is_fine = i % 2;
    *radius = is_fine ? 0.02f : 0.4f;
    in_cube(g, 0, is_fine ? heap_of((double)count / 2, 0.02) : side_of(count), center);
}

static void far_heap(ref_gen *g, size_t i, size_t count, float *center, float *radius)
{
    const int is_fine = i % 2;
    *radius = is_fine ? 0.02f : 0.4f;
    in_cube(g, is_fine ? 500 : 0, is_fine ? heap_of((double)count / 2, 0.02) : side_of(count), center);
}

/* Three quarters of them fine, in two heaps among the coarse ones. */
static void heaps(ref_gen *g, size_t i, size_t count, float *center, float *radius)
{
    const size_t kind = i % 4;
    *radius = kind ? 0.01f : 0.4f;
    in_cube(g, (double)(i / 4 % 2) * side_of(count) / 2, kind ? heap_of((double)count / 2, 0.01) : side_of(count),
            center);
}

/* Coarse ones close together among fine ones. */
static void core(ref_gen *g, size_t i, size_t count, float *center, float *radius)
{
    const int is_coarse = i % 10 == 0;
    *radius = is_coarse ? 0.4f : 0.04f;
    in_cube(g, is_coarse ? 2 : 0, is_coarse ? heap_of((double)count / 10, 0.3) : side_of(count) / 4, center);
}

/* Three sizes, each in a heap of its own. */
static void layers(ref_gen *g, size_t i, size_t count, float *center, float *radius)
{
    const double layer = floor(3.0 * (double)i / (double)count);
    *radius = (float)(0.4 * pow(0.1, layer));
    in_cube(g, 0, heap_of((double)count / 3, (double)*radius), center);
    center[0] += (float)(layer * side_of(count));
}

/* Every scale, around one place. */
static void scales(ref_gen *g, size_t i, size_t count, float *center, float *radius)
{
    const double scale = pow(10, (double)between(g, -12, 12));
    (void)i;
    *radius = (float)(scale * (double)between(g, 0, 2) / cbrt((double)count));
    in_cube(g, -scale / 2, scale, center);
}

/* Equal radii, at every scale. */
static void nested(ref_gen *g, size_t i, size_t count, float *center, float *radius)
{
    (void)i, (void)count;
    *radius = 0x1p-30f;
    in_cube(g, 0, pow(2, (double)between(g, -28, 0)), center);
}

/* A few coarse ones in one place, with fine ones around them that they do not touch, or just. */
static void shell(ref_gen *g, size_t i, size_t count, float *center, float *radius)
{
    double length = 0;
    const int is_coarse = i % (count / 20) == 0;
    in_cube(g, -0.5, 1, center);
    for (int k = 0; k < 3; k++)
        length += (double)center[k] * (double)center[k];
    for (int k = 0; k < 3; k++)
        center[k] *= (float)(is_coarse ? 1e-3 : (double)between(g, 1, 1.3) / sqrt(length));
    *radius = is_coarse ? 1 : 1e-3f;
}

/* One sphere of a million times the radius of the others touches their cloud. */
static void million(ref_gen *g, size_t i, size_t count, float *center, float *radius)
{
    *radius = i == count / 2 ? 4e5f : i % 3 ? 0.4f : 4e-3f;
    in_cube(g, 0, i % 3 ? side_of(count) : heap_of((double)count, 4e-3), center);
    center[0] -= i == count / 2 ? 4e5f : 0;
}

static const struct arrangement {
    const char *name;
    place_fn *place;
} arrangements[] = {{"heap", heap},     {"far heap", far_heap}, {"heaps", heaps},
                    {"core", core},     {"layers", layers},     {"scales", scales},
                    {"nested", nested}, {"shell", shell},       {"million", million}};

typedef struct placed {
    size_t count;
    float *center, *radius, *velocity, *t_max;
    uint32_t *mask;
} placed;

static placed place_all(size_t number, size_t count)
{
    placed p = {.count = count};
    p.center = test_alloc(3 * count, sizeof *p.center);
    p.velocity = test_alloc(3 * count, sizeof *p.velocity);
    p.radius = test_alloc(count, sizeof *p.radius);
    p.t_max = test_alloc(count, sizeof *p.t_max);
    p.mask = test_alloc(count, sizeof *p.mask);
    ref_gen g;
    ref_gen_seed(&g, 44, 8, number);
    for (size_t i = 0; i < count; i++) {
        arrangements[number].place(&g, i, count, &p.center[3 * i], &p.radius[i]);
        for (int k = 0; k < 3; k++)
            p.velocity[3 * i + (size_t)k] = p.radius[i] * between(&g, -1, 1);
        p.t_max[i] = 1;
        p.mask[i] = 1u << (int)(2 * ref_gen_range(&g, 0, 1)) | 4u * (i % 5 == 0);
    }
    return p;
}

static void free_placed(placed *p)
{
    free(p->center), free(p->radius), free(p->velocity), free(p->t_max), free(p->mask);
}

/* ---- against the reference --------------------------------------------------------------------------------------- */

enum { SOME = 1500 };

/* Whether the reference is to be asked: not where two spheres are surely apart. */
static int may_meet(const carom_cloud_desc *d, size_t a, size_t b, const int8_t shift[3])
{
    double distance2 = 0, way = 0;
    for (size_t k = 0; k < 3; k++) {
        const double x =
            (double)d->center.x[3 * b + k] - (double)d->center.x[3 * a + k] + shift[k] * (double)d->period[k];
        distance2 += x * x;
        if (d->velocity.x != NULL)
            way += fabs((double)d->velocity.x[3 * a + k]) + fabs((double)d->velocity.x[3 * b + k]);
    }
    const double reach = (double)d->radius.data[a] + (double)d->radius.data[b] + (double)d->margin + way;
    return distance2 <= reach * reach * 1.001;
}

static cloud_records expect(const carom_cloud_desc *d)
{
    cloud_records r = {0};
    ref_cloud_answer answer;
    for (size_t a = 0; a < SOME; a++) {
        const size_t first = r.count;
        for (int image = d->period[0] > 0 ? 0 : 13; image <= (d->period[0] > 0 ? CLOUD_IMAGES - 1 : 13); image++)
            for (size_t b = a + 1; b < SOME; b++) {
                cloud_record one = {.a = (int32_t)a, .b = (int32_t)b};
                cloud_shift_of(image, one.shift);
                if (cloud_may_pair(d, a, b, one.shift) && may_meet(d, a, b, one.shift) &&
                    cloud_record_truth(d, &one, &answer))
                    cloud_append(&r, one);
            }
        if (r.count > first)
            qsort(r.at + first, r.count - first, sizeof *r.at, cloud_compare);
    }
    return r;
}

/* The first of each sphere, and how many. */
static void check_each(carom_context *context, const carom_cloud_desc *d, const cloud_records *expected, size_t number)
{
    int32_t other[SOME], best[SOME];
    uint32_t partners[SOME], count[SOME] = {0};
    float t[SOME];
    uint8_t hit[SOME];
    const carom_cloud_partner_result first = {.size = sizeof first, .other = other, .t = t};
    const carom_cloud_count_result counts = {sizeof counts, partners};
    carom_error err;
    for (size_t i = 0; i < SOME; i++)
        best[i] = -1;
    for (size_t i = 0; i < expected->count; i++) {
        const cloud_record *e = &expected->at[i];
        const int32_t both[] = {e->a, e->b};
        for (int k = 0; k < 2; k++) {
            const int32_t own = both[k], with = both[1 - k];
            count[own]++;
            if (best[own] < 0 || e->t < t[own] || (!(e->t > t[own]) && with < best[own])) {
                best[own] = with;
                t[own] = e->t;
            }
        }
    }
    test_ok("count", carom_cloud_count(context, d, &counts, NULL, &err), &err);
    test_ok("first", carom_cloud_first(context, d, &first, NULL, &err), &err);
    test_ok("any", carom_cloud_any(context, d, TEST_ANY(hit), NULL, &err), &err);
    for (size_t i = 0; i < SOME; i++)
        if (other[i] != best[i] || hit[i] != (best[i] >= 0) || partners[i] != count[i])
            fail_msg("%s, sphere %zu: partner %d, %d, %u partners instead of %d, %u", arrangements[number].name, i,
                     other[i], hit[i], partners[i], best[i], count[i]);
}

enum { AT_REST, MARGIN, MASKED, MOVING, PERIODIC, OPTIONS };

/* The answers of the reference, asked once for all instruction sets. */
static cloud_records known[COUNT_OF(arrangements)][OPTIONS];

static void check_options(carom_context *context, const placed *p, size_t number, int options)
{
    carom_cloud_desc d = {.batch = {.size = sizeof d, .count = SOME, .accuracy = CAROM_ACCURACY_EXACT},
                          .center = carom_xyz(p->center),
                          .radius = carom_scalars_of(p->radius)};
    d.margin = options == MARGIN ? 0x1p-7f : 0;
    if (options == MASKED)
        d.mask = carom_uints_of(p->mask);
    for (int k = 0; options == PERIODIC && k < 3; k++)
        d.period[k] = 64;
    if (options == MOVING) {
        d.velocity = carom_xyz(p->velocity);
        d.t_max = carom_scalars_of(p->t_max);
    }
    cloud_records *expected = &known[number][options], got = {0};
    if (expected->at == NULL)
        *expected = expect(&d);
    cloud_list(context, &d, expected->count, &got);
    cloud_check_records(&got, expected, number, arrangements[number].name);
    if (options != MARGIN && options != PERIODIC)
        check_each(context, &d, expected, number);
    free(got.at);
}

static int forget(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(arrangements) * OPTIONS; k++)
        free(known[k / OPTIONS][k % OPTIONS].at);
    return 0;
}

static void every_arrangement(carom_context *scalar, carom_context *context, const char *label)
{
    (void)scalar, (void)label;
    for (size_t number = 0; number < COUNT_OF(arrangements); number++) {
        placed p = place_all(number, SOME);
        for (int options = 0; options < OPTIONS; options++)
            check_options(context, &p, number, options);
        free_placed(&p);
    }
}

/* ---- very many --------------------------------------------------------------------------------------------------- */

/* The square of these is more than any test has time for. */
#if defined(__SANITIZE_ADDRESS__)
enum { MANY = 50000 }; /* cells and levels are the same, and a sanitizer takes ten times as long */
#else
enum { MANY = 1000000 };
#endif

static void ask_all(carom_context *context, const carom_cloud_desc *d, const char *name)
{
    int32_t *other = test_alloc(MANY, sizeof *other);
    uint32_t *partners = test_alloc(MANY, sizeof *partners);
    uint8_t *hit = test_alloc(MANY, 1);
    carom_list_totals totals;
    const carom_cloud_pair_list list = {.size = sizeof list, .totals = &totals};
    const carom_cloud_partner_result first = {.size = sizeof first, .other = other};
    const carom_cloud_count_result counts = {sizeof counts, partners};
    carom_error err;
    uint64_t ends = 0;
    test_ok(name, carom_cloud_list(context, d, &list, NULL, &err), &err);
    test_ok(name, carom_cloud_count(context, d, &counts, NULL, &err), &err);
    test_ok(name, carom_cloud_first(context, d, &first, NULL, &err), &err);
    test_ok(name, carom_cloud_any(context, d, TEST_ANY(hit), NULL, &err), &err);
    for (size_t i = 0; i < MANY; i++) {
        ends += partners[i];
        if (hit[i] != (partners[i] > 0) || (other[i] >= 0) != (partners[i] > 0))
            fail_msg("%s, sphere %zu: %u partners, first %d, any %d", name, i, partners[i], other[i], hit[i]);
    }
    assert_int_equal(ends, 2 * totals.total);
    free(other), free(partners), free(hit);
}

static void many_of_every_arrangement(void **state)
{
    carom_context *context = test_context();
    (void)state;
    for (size_t number = 0; number < COUNT_OF(arrangements); number++) {
        if (arrangements[number].place == nested || arrangements[number].place == scales)
            continue; /* as many in one place overlap, in numbers */
        placed p = place_all(number, MANY);
        const carom_cloud_desc d = {.batch = {.size = sizeof d, .count = MANY},
                                    .center = carom_xyz(p.center),
                                    .radius = carom_scalars_of(p.radius)};
        ask_all(context, &d, arrangements[number].name);
        free_placed(&p);
    }
    carom_context_destroy(context);
}

/* ---- asked to end ------------------------------------------------------------------------------------------------ */

typedef struct reports {
    uint64_t count, last;
} reports;

static int end_at_third(void *user, uint64_t done, uint64_t count)
{
    reports *r = user;
    assert_true(done >= r->last && done < count);
    r->last = done;
    return ++r->count == 3;
}

/* Two layers of spheres that nearly touch: each pair of the two is decided in integers, which takes minutes. */
static void ends_when_asked(void **state)
{
    enum { COUNT = 60000 };
    static const float limit = 1;
    float *center = test_alloc(3 * COUNT, sizeof *center), *velocity = test_alloc(3 * COUNT, sizeof *velocity);
    int32_t *other = test_alloc(COUNT, sizeof *other);
    uint32_t *partners = test_alloc(COUNT, sizeof *partners);
    const float radius = 0.5f;
    ref_gen g;
    (void)state;
    ref_gen_seed(&g, 44, 9, 0);
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 1; k < 3; k++)
            center[3 * i + k] = between(&g, 0, 1e-4);
        center[3 * i] = i % 2;
        velocity[3 * i] = i % 2 ? 0 : -1;
    }
    carom_context *context = test_context();
    reports seen = {0};
    carom_cloud_desc d = {.batch = {.size = sizeof d,
                                    .count = COUNT,
                                    .accuracy = CAROM_ACCURACY_EXACT,
                                    .progress = {end_at_third, &seen}},
                          .center = carom_xyz(center),
                          .radius = {.data = &radius, .stride = CAROM_REPEAT}};
    carom_list_totals totals;
    const carom_cloud_pair_list list = {.size = sizeof list, .totals = &totals};
    const carom_cloud_partner_result first = {.size = sizeof first, .other = other};
    const carom_cloud_count_result counts = {sizeof counts, partners};
    carom_error err;
    test_error(carom_cloud_list(context, &d, &list, NULL, &err), CAROM_ERROR_CANCELLED, &err, "cancelled");
    seen = (reports){0};
    test_error(carom_cloud_count(context, &d, &counts, NULL, &err), CAROM_ERROR_CANCELLED, &err, "cancelled");
    seen = (reports){0};
    d.velocity = carom_xyz(velocity);
    d.t_max = (carom_scalars){.data = &limit, .stride = CAROM_REPEAT};
    d.start = CAROM_START_SKIP;
    test_error(carom_cloud_first(context, &d, &first, NULL, &err), CAROM_ERROR_CANCELLED, &err, "cancelled");
    free(center), free(velocity), free(other), free(partners);
    carom_context_destroy(context);
}

/* Ends a call in the last of its three passes, which begins at three quarters. Reports are 50 ms apart: the wait makes
 * each task due for one, however fast the machine. */
static int end_in_last_pass(void *user, uint64_t done, uint64_t count)
{
    (void)user;
    (void)thrd_sleep(&(struct timespec){.tv_nsec = 60 * 1000 * 1000}, NULL);
    return done > count - count / 5 && done < count;
}

/* A list that is too short is cancelled while it stores the spheres that fit: it has no complete sphere, and the
 * offsets keep what they had. */
static void cancelled_list_has_nothing(void **state)
{
    enum { COUNT = 3000, CAPACITY = 30000 };
    static const float radius = 0.5f;
    float *center = test_alloc(3 * COUNT, sizeof *center);
    int32_t *a = test_alloc(CAPACITY, sizeof *a), *b = test_alloc(CAPACITY, sizeof *b);
    uint64_t *offsets = test_alloc(COUNT + 1, sizeof *offsets);
    ref_gen g;
    (void)state;
    ref_gen_seed(&g, 44, 10, 0);
    for (size_t i = 0; i < 3 * (size_t)COUNT; i++)
        center[i] = between(&g, 0, 6);
    carom_context *context = NULL;
    const carom_context_desc cpu = {.size = sizeof cpu, .backend = CAROM_BACKEND_CPU, .threads = 1};
    carom_cloud_desc d = {.batch = {.size = sizeof d,
                                    .count = COUNT,
                                    .accuracy = CAROM_ACCURACY_EXACT,
                                    .progress = {end_in_last_pass, NULL}},
                          .center = carom_xyz(center),
                          .radius = {.data = &radius, .stride = CAROM_REPEAT}};
    carom_list_totals totals = {7, 7, 7};
    const carom_cloud_pair_list list = {
        .size = sizeof list, .capacity = CAPACITY, .offsets = offsets, .a = a, .b = b, .totals = &totals};
    carom_error err;
    assert_int_equal(carom_context_create(&cpu, &context, &err), CAROM_OK);
    for (size_t i = 1; i <= COUNT; i++)
        offsets[i] = UINT64_MAX;
    test_error(carom_cloud_list(context, &d, &list, NULL, &err), CAROM_ERROR_CANCELLED, &err, "cancelled");
    assert_true(totals.complete == 0 && totals.stored == 0 && totals.total == 0);
    for (size_t i = 1; i <= COUNT; i++)
        assert_true(offsets[i] == UINT64_MAX);
    free(center), free(a), free(b), free(offsets);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {SAME_BITS_ON_CPU(every_arrangement), cmocka_unit_test(many_of_every_arrangement),
                                       cmocka_unit_test(ends_when_asked), cmocka_unit_test(cancelled_list_has_nothing)};
    return cmocka_run_group_tests(tests, NULL, forget);
}
