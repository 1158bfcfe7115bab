/* SPDX-License-Identifier: MIT */
/* Patches across T-junctions and cracks: against the definition, pair by pair; where lengths and distances are exactly
 * at their limits; with many edges round one corner; and what a mesh caches of them. */
#include "tests/support/contact_answers.h"

#include <math.h>

enum { SEED = 41, TRIANGLES = 32 };

/* ---- by definition ----------------------------------------------------------------------------------------------- */

typedef long double vec[3];
typedef struct part {
    vec from, to, normal;
} part;

static long double dot(const vec a, const vec b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static part part_of(const scene *s, size_t triangle, int edge)
{
    float p[3][3];
    part e;
    vec a, b;
    scene_triangle(s, triangle, p);
    for (int k = 0; k < 3; k++) {
        e.from[k] = (long double)p[edge][k];
        e.to[k] = (long double)p[(edge + 1) % 3][k];
        a[k] = (long double)p[1][k] - (long double)p[0][k];
        b[k] = (long double)p[2][k] - (long double)p[0][k];
    }
    for (int k = 0; k < 3; k++)
        e.normal[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    return e;
}

/* The distance of a point of e, as a share of its length, from f. */
static long double distance_at(const part *e, const part *f, long double share)
{
    vec way, along, left;
    for (int k = 0; k < 3; k++) {
        way[k] = e->from[k] + share * (e->to[k] - e->from[k]) - f->from[k];
        along[k] = f->to[k] - f->from[k];
    }
    const long double at = fminl(1, fmaxl(0, dot(way, along) / dot(along, along)));
    for (int k = 0; k < 3; k++)
        left[k] = way[k] - at * along[k];
    return sqrtl(dot(left, left));
}

/* The end of the part within the distance, between a share that is inside and one that is not. */
static long double end_of(const part *e, const part *f, long double distance, long double inside, long double outside)
{
    if (distance_at(e, f, outside) <= distance)
        return outside;
    for (int i = 0; i < 60; i++) {
        const long double middle = (inside + outside) / 2;
        *(distance_at(e, f, middle) <= distance ? &inside : &outside) = middle;
    }
    return inside;
}

/* The length of e's part within the distance of f, by ternary search and bisection. *is_close: a rounding decides. */
static long double length_within(const part *e, const part *f, long double distance, int *is_close)
{
    long double low = 0, high = 1;
    vec along;
    for (int k = 0; k < 3; k++)
        if (fminl(e->from[k], e->to[k]) - fmaxl(f->from[k], f->to[k]) > 2 * distance ||
            fminl(f->from[k], f->to[k]) - fmaxl(e->from[k], e->to[k]) > 2 * distance)
            return 0;
    for (int i = 0; i < 80; i++) {
        const long double third = (high - low) / 3;
        if (distance_at(e, f, low + third) <= distance_at(e, f, high - third))
            high -= third;
        else
            low += third;
    }
    const long double nearest = (low + high) / 2, least = distance_at(e, f, nearest);
    for (int k = 0; k < 3; k++)
        along[k] = e->to[k] - e->from[k];
    *is_close |= fabsl(least - distance) < 1e-9L;
    if (least > distance)
        return 0;
    const long double length =
        sqrtl(dot(along, along)) * (end_of(e, f, distance, nearest, 1) - end_of(e, f, distance, nearest, 0));
    *is_close |= fabsl(length - 8 * distance) < 1e-9L;
    return length;
}

/* Section 7's test: the coordinates are small whole numbers, so all but the cosine is exact. */
static int are_flat(const part *e, const part *f, long double cosine)
{
    vec one, other;
    for (int k = 0; k < 3; k++) {
        one[k] = e->to[k] - e->from[k];
        other[k] = f->to[k] - f->from[k];
    }
    const long double product = dot(one, other) > 0 ? -dot(e->normal, f->normal) : dot(e->normal, f->normal),
                      squares = dot(e->normal, e->normal) * dot(f->normal, f->normal);
    if (!(squares > 0))
        return 0;
    return cosine >= 0 ? product >= 0 && product * product >= cosine * cosine * squares
                       : product >= 0 || product * product <= cosine * cosine * squares;
}

static int are_one_edge(const part *e, const part *f)
{
    int same = 1, turned = 1;
    for (int k = 0; k < 3; k++) {
        same &= !(e->from[k] < f->from[k] || e->from[k] > f->from[k] || e->to[k] < f->to[k] || e->to[k] > f->to[k]);
        turned &= !(e->from[k] < f->to[k] || e->from[k] > f->to[k] || e->to[k] < f->from[k] || e->to[k] > f->from[k]);
    }
    return same || turned;
}

static void join(uint32_t *patch, size_t triangles, uint32_t a, uint32_t b)
{
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    for (size_t t = 0; t < triangles; t++)
        patch[t] = patch[t] == high ? low : patch[t];
}

/* Joins what is on whole edges, and marks these edges. */
static void join_whole(const part *e, size_t edges, long double cosine, uint32_t *patch, uint8_t *is_joined)
{
    for (size_t i = 0; i < edges; i++)
        for (size_t j = 0; j < i; j++)
            if (i / 3 != j / 3 && are_one_edge(&e[i], &e[j]) && are_flat(&e[i], &e[j], cosine)) {
                is_joined[i] = is_joined[j] = 1;
                join(patch, edges / 3, patch[i / 3], patch[j / 3]);
            }
}

/* The patches by definition; returns the number of pairs of loose edges that are joined, -1: a rounding decides. */
static int true_patches(const scene *s, long double cosine, float within, uint32_t *patch)
{
    const size_t edges = 3 * s->triangle_count;
    uint8_t *is_joined = test_alloc(edges, 1);
    part *e = test_alloc(edges, sizeof *e);
    int is_close = 0, pairs = 0;
    for (size_t i = 0; i < edges; i++) {
        e[i] = part_of(s, i / 3, (int)(i % 3));
        patch[i / 3] = (uint32_t)(i / 3);
    }
    join_whole(e, edges, cosine, patch, is_joined);
    for (size_t i = 0; within > 0 && i < edges; i++)
        for (size_t j = 0; j < i; j++) {
            const long double reach = (long double)within;
            if (is_joined[i] || is_joined[j] || i / 3 == j / 3 || !are_flat(&e[i], &e[j], cosine) ||
                (length_within(&e[i], &e[j], reach, &is_close) <= 8 * reach &&
                 length_within(&e[j], &e[i], reach, &is_close) <= 8 * reach))
                continue;
            pairs += patch[i / 3] != patch[j / 3];
            join(patch, s->triangle_count, patch[i / 3], patch[j / 3]);
        }
    free(e);
    free(is_joined);
    return is_close ? -1 : pairs;
}

/* The patch of each triangle, by spheres that see one triangle each; at most 32 of them. */
static void patches_of(carom_mesh *mesh, size_t triangles, const double *flat, float within, uint32_t *patch)
{
    swept_spheres b = swept_spheres_alloc(triangles);
    const contact_call call = {
        .accuracy = CAROM_ACCURACY_EXACT, .margin = 1000.0f, .flat = flat, .merge_within = within};
    b.mask = test_alloc(triangles, sizeof *b.mask);
    for (size_t t = 0; t < triangles; t++)
        b.mask[t] = UINT32_C(1) << t;
    contact_answers a = ask_contacts(mesh, &b, &call);
    assert_int_equal(a.count, triangles);
    for (size_t k = 0; k < a.count; k++)
        patch[a.triangle[k]] = a.patch[k];
    contact_answers_free(&a);
    swept_spheres_free(&b);
}

static carom_mesh *masked_mesh(carom_context *context, scene *s)
{
    if (s->masks == NULL)
        s->masks = test_alloc(s->triangle_count, sizeof *s->masks);
    for (size_t t = 0; t < s->triangle_count; t++)
        s->masks[t] = UINT32_C(1) << t % 32;
    return scene_mesh(context, s);
}

/* Triangles with corners among few places: most in one plane, so that many edges overlap, or in two close ones. Some
 * have no area, some are twins. */
static scene random_scene(uint64_t seed)
{
    scene s = scene_alloc_apart(TRIANGLES);
    ref_gen g;
    ref_gen_seed(&g, SEED, seed, 0);
    const int width = ref_gen_int(&g, 1, 12), skew = ref_gen_int(&g, 0, 2), steps = ref_gen_int(&g, 0, 3);
    for (size_t i = 0; i < 3 * s.vertex_count; i += 3) {
        const int x = ref_gen_int(&g, 0, width), y = ref_gen_int(&g, 0, ref_gen_chance(&g, 2) ? 2 : width);
        s.vertices[i] = (float)(4 * x + skew * y);
        s.vertices[i + 1] = (float)(4 * y - skew * x);
        s.vertices[i + 2] = (float)(ref_gen_chance(&g, 3) ? ref_gen_int(&g, 0, steps) : 0);
    }
    return s;
}

static void test_definition(void **state)
{
    static const struct {
        double degrees;
        long double cosine;
    } angles[] = {{1, 0.99984769515639123916L}, {0, 1}, {90, 0}, {31.2, 0.85536426016050L}, {180, -1}};
    (void)state;
    carom_context *context = test_context();
    int joined = 0, asked = 0;
    for (uint64_t seed = 0; seed < test_effort(10); seed++) {
        scene s = random_scene(seed);
        carom_mesh *mesh = masked_mesh(context, &s);
        for (size_t i = 0; i < COUNT_OF(angles); i++)
            for (int d = 0; d < 6; d++) {
                static const float distances[] = {0, 1e-6f, 0.013f, 0.26f, 1.03f, 3.1f};
                uint32_t expected[TRIANGLES], got[TRIANGLES];
                const int pairs = true_patches(&s, angles[i].cosine, distances[d], expected);
                if (pairs < 0)
                    continue;
                patches_of(mesh, TRIANGLES, &angles[i].degrees, distances[d], got);
                for (int t = 0; t < TRIANGLES; t++)
                    if (got[t] != expected[t])
                        fail_msg("scene %d, flat %g, within %g: triangle %d is of patch %u, not %u", (int)seed,
                                 angles[i].degrees, (double)distances[d], t, got[t], expected[t]);
                joined += pairs;
                asked++;
            }
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    print_message("%d partitions, %d joined pairs of loose edges\n", asked, joined);
    assert_true(joined > asked);
    carom_context_destroy(context);
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* Two triangles in a plane that turn their backs on a crack along x, which is `gap` wide; the second one's edge begins
 * at `from`. The first one's ends at 16. */
static scene scene_crack(float gap, float from, int swap)
{
    const float corners[18] = {0, 0, 0, 8, -8, 0, 16, 0, 0, from, gap, 0, 32, gap, 0, 20, 16, 0};
    scene s = scene_alloc_apart(2);
    for (int i = 0; i < 18; i += 3)
        for (int k = 0; k < 3; k++)
            s.vertices[i + k] = corners[i + (k + swap) % 3];
    return s;
}

static void check_crack(carom_context *context, float gap, float from, float within, int is_joined)
{
    for (int swap = 0; swap < 3; swap++) {
        scene s = scene_crack(gap, from, swap);
        carom_mesh *mesh = masked_mesh(context, &s);
        uint32_t patch[2];
        patches_of(mesh, 2, NULL, within, patch);
        assert_int_equal(patch[0], 0);
        if (patch[1] != (is_joined ? 0 : 1))
            fail_msg("gap %g, from %a, within %a: patch %u", (double)gap, (double)from, (double)within, patch[1]);
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
}

static void test_limits(void **state)
{
    (void)state;
    carom_context *context = test_context();
    /* A crack as wide as the distance is within it. */
    check_crack(context, 0.25f, 4, 0.25f, 1);
    check_crack(context, 0.25f, 4, nextafterf(0.25f, 0), 0);
    check_crack(context, 0.25f, 4, 0, 0);
    check_crack(context, 0, 4, 0x1p-149f, 1);
    check_crack(context, 0, 4, 0, 0);
    /* Without a gap the part is longer than the common one by the distance. */
    check_crack(context, 0, 9, 1, 0);
    check_crack(context, 0, nextafterf(9, 0), 1, 1);
    check_crack(context, 0, 16, 1, 0);
    /* No longer edge than the distance. */
    check_crack(context, 0, 4, 3, 0);
    check_crack(context, 0, 4, 1e30f, 0);
    carom_context_destroy(context);
}

/* ---- a ball that rolls ------------------------------------------------------------------------------------------- */

enum { STRIPS = 3, STEPS = 600, RECORDS = 4 };

/* A floor in strips along x, each in so many triangles, which share no corner lines but y = const. */
static scene scene_strips(void)
{
    static const int counts[STRIPS] = {5, 8, 13};
    scene s = scene_alloc_apart(5 + 8 + 13);
    float *at = s.vertices;
    for (int strip = 0; strip < STRIPS; strip++) {
        const int low = counts[strip] / 2, high = counts[strip] - low;
        for (int i = 0; i < counts[strip]; i++) {
            /* Triangles stand on the upper and on the lower side by turns. */
            const int is_high = i % 2 == 0, parts = is_high ? high : low, others = is_high ? low : high, k = i / 2;
            const float y = (float)(strip + is_high), z = (float)(strip + !is_high);
            const float corners[9] = {
                4.0f * (float)k / (float)parts,       y, 0, 4.0f * (float)(k + !is_high) / (float)others, z, 0,
                4.0f * (float)(k + 1) / (float)parts, y, 0};
            memcpy(at, corners, sizeof corners);
            at += 9;
        }
    }
    return s;
}

static scene scene_two(void)
{
    static const float corners[18] = {0, 0, 0, 4, 0, 0, 4, 3, 0, 0, 0, 0, 4, 3, 0, 0, 3, 0};
    scene s = scene_alloc_apart(2);
    memcpy(s.vertices, corners, sizeof corners);
    return s;
}

/* Contacts of one step, and what the match with the step before says. */
typedef struct step {
    contact_answers a;
    int64_t previous[RECORDS];
    uint64_t ended;
} step;

static step roll(carom_context *context, carom_mesh *mesh, int number, const contact_answers *before)
{
    const contact_call call = {.accuracy = CAROM_ACCURACY_EXACT, .merge_within = 1e-5f};
    swept_spheres b = swept_spheres_alloc(1);
    step own = {.ended = 0};
    const double share = (double)number / (double)(int)STEPS;
    b.column[0][0] = (float)(2.0 + 1.9 * (1.0 - 2.0 * fabs(3.0 * share - floor(3.0 * share) - 0.5) * 2.0));
    b.column[1][0] = number % 7 == 0 ? (float)(number % 2 + 1) : (float)(0.1 + 2.8 * share); /* some on the lines */
    b.column[2][0] = 0.45f;
    b.column[SPHERE_RADIUS][0] = 0.5f;
    own.a = ask_contacts(mesh, &b, &call);
    assert_true(own.a.count <= RECORDS);
    if (before != NULL) {
        const carom_contact_records p = {sizeof p,
                                         before->count,
                                         before->query,
                                         before->patch,
                                         carom_xyz(before->point),
                                         NULL},
                                    n = {sizeof n, own.a.count, own.a.query, own.a.patch, carom_xyz(own.a.point), NULL};
        uint64_t ended[RECORDS];
        const carom_contact_match out = {sizeof out, own.previous, ended, &own.ended};
        carom_error err;
        assert_int_equal(carom_contacts_match(context, &p, &n, &out, &err), CAROM_OK);
    }
    swept_spheres_free(&b);
    return own;
}

static void test_strips(void **state)
{
    (void)state;
    carom_context *context = test_context();
    scene scenes[2] = {scene_two(), scene_strips()};
    carom_mesh *mesh[2] = {scene_mesh(context, &scenes[0]), scene_mesh(context, &scenes[1])};
    step before[2] = {{.ended = 0}, {.ended = 0}};
    for (int i = 0; i < STEPS; i++) {
        step now[2];
        for (int m = 0; m < 2; m++)
            now[m] = roll(context, mesh[m], i, i > 0 ? &before[m].a : NULL);
        const size_t count = now[0].a.count;
        assert_int_equal(count, 1);
        assert_int_equal(now[1].a.count, count);
        assert_int_equal(now[1].ended, now[0].ended);
        assert_memory_equal(now[1].previous, now[0].previous, count * sizeof now[0].previous[0]);
        assert_memory_equal(now[1].a.patch, now[0].a.patch, count * sizeof(uint32_t));
        assert_memory_equal(now[1].a.distance, now[0].a.distance, count * sizeof(float));
        assert_memory_equal(now[1].a.depth, now[0].a.depth, count * sizeof(float));
        assert_memory_equal(now[1].a.normal, now[0].a.normal, 3 * count * sizeof(float));
        for (size_t k = 0; k < 3 * count; k++) /* the last bit of a point depends on the feature */
            assert_true(fabsf(now[1].a.point[k] - now[0].a.point[k]) <= 0x1p-22f);
        for (int m = 0; m < 2; m++) {
            if (i > 0)
                contact_answers_free(&before[m].a);
            before[m] = now[m];
        }
    }
    for (int m = 0; m < 2; m++) {
        contact_answers_free(&before[m].a);
        carom_mesh_destroy(mesh[m]);
        scene_free(&scenes[m]);
    }
    carom_context_destroy(context);
}

/* ---- many -------------------------------------------------------------------------------------------------------- */

enum { MANY = 100000 };

/* Triangles round a corner, each creased to its neighbours; the shape of the crease says how. */
static scene scene_corner(int shape)
{
    scene s = scene_alloc(MANY + 1, MANY);
    ref_gen g;
    ref_gen_seed(&g, SEED, (uint64_t)shape, 1);
    for (uint32_t i = 0; i < MANY; i++) {
        const double t = 2.0 * ((double)i + 0.5) / (double)(int)MANY - 1.0, side = i % 2 ? 1.0 : -1.0,
                     length = 1.0 / (1.0 + t * t); /* a circle by its rational form, half of it */
        float *p = s.vertices + 3 * (i + 1);
        p[0] = (float)((1.0 - t * t) * length);
        p[1] = (float)(2.0 * t * length);
        p[2] = (float)(shape == 0   ? side * 1e-6
                       : shape == 1 ? side * ref_gen_range(&g, 0, 0.5)
                                    : ref_gen_range(&g, -1e-4, 1e-4));
        const uint32_t corners[3] = {0, i + 1, i + 1 < MANY ? i + 2 : 1};
        memcpy(s.indices + 3 * i, corners, sizeof corners);
    }
    return s;
}

/* A call that went through all pairs would not end within the time of a test. */
static void test_many(void **state)
{
    (void)state;
    carom_context *context = test_context();
    for (int shape = 0; shape < 3; shape++) {
        scene s = scene_corner(shape);
        carom_mesh *mesh = scene_mesh(context, &s);
        swept_spheres b = swept_spheres_alloc(1);
        const contact_call call = {.accuracy = CAROM_ACCURACY_EXACT, .merge_within = 1e-5f};
        b.column[0][0] = 0.5f;
        b.column[2][0] = 0.01f;
        b.column[SPHERE_RADIUS][0] = 0.02f;
        contact_answers a = ask_contacts(mesh, &b, &call);
        assert_true(a.count > 0);
        contact_answers_free(&a);
        swept_spheres_free(&b);
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* ---- what a mesh caches ------------------------------------------------------------------------------------------ */

typedef struct counter {
    uint64_t calls, fail_at, live;
} counter;

static void *count_alloc(void *user, size_t size, size_t alignment)
{
    counter *c = user;
    if (++c->calls == c->fail_at)
        return NULL;
    c->live++;
    return aligned_alloc(alignment < 64 ? 64 : alignment, (size + 63) / 64 * 64);
}

static void count_free(void *user, void *memory)
{
    counter *c = user;
    c->live -= memory != NULL;
    free(memory);
}

static uint64_t bytes_of(const carom_mesh *mesh)
{
    carom_mesh_info info = {.size = sizeof info};
    carom_error err;
    assert_int_equal(carom_mesh_get_info(mesh, &info, &err), CAROM_OK);
    return info.bytes;
}

/* Partitions for several distances are cached, counted, and forgotten when vertices move. */
static void test_cached(void **state)
{
    static const float distances[] = {0, 0.25f, 0.125f, 0.5f, 0.0625f, 0.25f};
    (void)state;
    carom_context *context = test_context();
    scene s = scene_crack(0.25f, 4, 0);
    carom_mesh *mesh = masked_mesh(context, &s);
    uint32_t patch[2];
    patches_of(mesh, 2, NULL, distances[0], patch);
    const uint64_t bytes = bytes_of(mesh), each = 2 * sizeof(uint32_t);
    for (size_t i = 0; i < COUNT_OF(distances); i++) {
        patches_of(mesh, 2, NULL, distances[i], patch);
        assert_int_equal(patch[1], distances[i] >= 0.25f ? 0 : 1);
        assert_int_equal(bytes_of(mesh), bytes + each * (i < 4 ? i : 3));
    }
    const carom_points vertices = carom_xyz(s.vertices);
    carom_error err;
    s.vertices[10] = s.vertices[13] = 0.125f; /* the crack becomes narrower */
    assert_int_equal(carom_mesh_update(mesh, &vertices, CAROM_MESH_REFIT, &err), CAROM_OK);
    assert_int_equal(bytes_of(mesh), bytes - each);
    for (size_t i = 0; i < COUNT_OF(distances); i++) {
        patches_of(mesh, 2, NULL, distances[i], patch);
        assert_int_equal(patch[1], distances[i] >= 0.125f ? 0 : 1);
    }
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* Each allocation of the first call fails once. The next call has the same answer. */
static void test_scarce(void **state)
{
    counter count = {0, 0, 0};
    (void)state;
    carom_context *context;
    carom_error err;
    carom_context_desc desc = carom_context_desc_default();
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = 1;
    desc.allocator.alloc = count_alloc;
    desc.allocator.free = count_free;
    desc.allocator.user = &count;
    assert_int_equal(carom_context_create(&desc, &context, &err), CAROM_OK);
    scene s = scene_strips();
    const uint64_t before = count.live;
    for (uint64_t at = 1;; at++) {
        carom_mesh *mesh = scene_mesh(context, &s);
        swept_spheres b = swept_spheres_alloc(1);
        const contact_call call = {.margin = 1.0f, .merge_within = 1e-3f};
        const carom_mesh_contacts_desc asked = swept_spheres_contacts(&b, &call);
        contact_answers a = contact_answers_alloc(1, 16);
        carom_list_totals totals;
        const carom_contact_list list = contact_answers_list(&a, 16, &totals);
        count.fail_at = count.calls + at;
        const carom_status status = carom_mesh_contacts(mesh, &asked, &list, NULL, &err);
        const int has_failed = count.calls >= count.fail_at;
        count.fail_at = 0;
        assert_true(status == CAROM_OK || status == CAROM_ERROR_OUT_OF_MEMORY);
        contact_answers again = ask_contacts(mesh, &b, &call);
        assert_int_equal(again.count, 1);
        assert_int_equal(again.patch[0], 0);
        if (status == CAROM_OK)
            assert_int_equal(a.patch[0], 0);
        contact_answers_free(&a);
        contact_answers_free(&again);
        swept_spheres_free(&b);
        carom_mesh_destroy(mesh);
        assert_int_equal(count.live, before);
        if (!has_failed)
            break;
        assert_true(at < 200);
    }
    scene_free(&s);
    carom_context_destroy(context);
    assert_int_equal(count.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition), cmocka_unit_test(test_limits), cmocka_unit_test(test_strips),
        cmocka_unit_test(test_many),       cmocka_unit_test(test_cached), cmocka_unit_test(test_scarce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
