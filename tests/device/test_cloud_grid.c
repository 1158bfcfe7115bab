/* SPDX-License-Identifier: MIT */
/* Clouds at rest that a GPU sorts and searches by itself: lists, counts and partners against the CPU's, byte for byte,
 * for clouds of every kind that is hard for cells, with arrays in the program's memory and on the device. */
#include "tests/support/cl_shim.h"
#include "kernels/cloud_grid.h"
#include "tests/support/clouds.h"

#include <math.h>

/* ---- answers ----------------------------------------------------------------------------------------------------- */

typedef struct answer {
    uint64_t *offsets;
    int32_t *a, *b;
    uint8_t *state;
    float *t;
    int8_t *shift;
    uint32_t *partners;
    int32_t *other; /* of first partners, and what is known of these */
    float *other_t;
    uint8_t *other_state, *hit;
    float *depth, *normal;
    int64_t *previous;
    carom_list_totals totals;
} answer;

static answer answer_alloc(size_t count, size_t capacity)
{
    return (answer){.offsets = test_alloc(count + 1, sizeof(uint64_t)),
                    .a = test_alloc(capacity + 1, sizeof(int32_t)),
                    .b = test_alloc(capacity + 1, sizeof(int32_t)),
                    .state = test_alloc(capacity + 1, 1),
                    .t = test_alloc(capacity + 1, sizeof(float)),
                    .shift = test_alloc(capacity + 1, 3),
                    .partners = test_alloc(count + 1, sizeof(uint32_t)),
                    .other = test_alloc(count + 1, sizeof(int32_t)),
                    .other_t = test_alloc(count + 1, sizeof(float)),
                    .other_state = test_alloc(count + 1, 1),
                    .hit = test_alloc(count + 1, 1),
                    .depth = test_alloc(capacity + 1, sizeof(float)),
                    .normal = test_alloc(capacity + 1, 3 * sizeof(float)),
                    .previous = test_alloc(capacity + 1, sizeof(int64_t))};
}

static void answer_free(answer *of)
{
    free(of->offsets), free(of->a), free(of->b), free(of->state), free(of->t), free(of->shift), free(of->partners);
    free(of->other), free(of->other_t), free(of->other_state), free(of->hit);
    free(of->depth), free(of->normal), free(of->previous);
}

static carom_cloud_pair_list list_of(answer *to, size_t capacity)
{
    return (carom_cloud_pair_list){.size = sizeof(carom_cloud_pair_list),
                                   .capacity = capacity,
                                   .offsets = to->offsets,
                                   .a = to->a,
                                   .b = to->b,
                                   .state = to->state,
                                   .t = to->t,
                                   .shift = to->shift,
                                   .totals = &to->totals};
}

static void answer_both(carom_context *context, const carom_cloud_desc *d, size_t capacity, answer *to,
                        carom_stats *stats)
{
    carom_error err = {0};
    const carom_cloud_pair_list list = list_of(to, capacity);
    const carom_cloud_count_result count = {sizeof count, to->partners};
    carom_cloud_desc all = *d;
    all.full = 0;
    all.batch.begin = all.a_end = 0;
    *stats = (carom_stats){.size = sizeof *stats};
    test_ok("list", carom_cloud_list(context, d, &list, stats, &err), &err);
    test_ok("count", carom_cloud_count(context, &all, &count, NULL, &err), &err);
    all.margin = 0;
    const carom_cloud_partner_result first = {sizeof first, to->other, to->other_state, to->other_t};
    test_ok("first", carom_cloud_first(context, &all, &first, NULL, &err), &err);
    test_ok("any", carom_cloud_any(context, &all, TEST_ANY(to->hit), NULL, &err), &err);
}

/* The columns that follow from the pairs, without the others. Normals lie as points or, if `are_apart`, as three
 * columns. */
static void answer_columns(carom_context *context, const carom_cloud_desc *d, size_t capacity, int are_apart,
                           const carom_cloud_pairs_before *before, answer *to, carom_stats *stats)
{
    carom_error err = {0};
    const carom_cloud_pair_list list = {
        .size = sizeof list,
        .capacity = capacity,
        .depth = to->depth,
        .normal = are_apart ? (carom_points_out){to->normal, to->normal + capacity, to->normal + 2 * capacity, 4}
                            : carom_xyz_out(to->normal),
        .previous = to->previous,
        .before = before,
        .totals = &to->totals};
    *stats = (carom_stats){.size = sizeof *stats};
    test_ok("columns", carom_cloud_list(context, d, &list, stats, &err), &err);
}

/* An earlier list: some pairs of this one, some of them twice, and pairs that no list has. */
typedef struct earlier {
    int32_t *a, *b;
    int8_t *shift;
    carom_cloud_pairs_before before;
} earlier;

static earlier make_earlier(const answer *of, size_t number)
{
    static const int8_t odd[][3] = {{0, 0, 1}, {-1, 0, 0}, {2, -3, 100}, {-128, 127, 1}};
    const size_t stored = (size_t)of->totals.stored;
    earlier e = {.a = test_alloc(2 * stored + 1, sizeof *e.a),
                 .b = test_alloc(2 * stored + 1, sizeof *e.b),
                 .shift = test_alloc(2 * stored + 1, 3)};
    size_t count = 0;
    for (size_t i = 0; i < stored; i++) {
        const size_t kind = (i * 7 + number) % 11;
        for (size_t twice = 0; twice < (kind == 3 ? 2 : kind == 4 ? 0 : 1); twice++, count++) {
            e.a[count] = of->a[i];
            e.b[count] = kind == 5 ? -1 - (int32_t)i : kind == 6 ? of->a[i] : of->b[i];
            memcpy(e.shift + 3 * count, kind == 7 ? odd[i % 4] : of->shift + 3 * i, 3);
        }
    }
    if (count > 2)
        e.a[0] = -7, e.a[count - 1] = INT32_MAX;
    e.before = (carom_cloud_pairs_before){
        .size = sizeof e.before, .count = count, .a = e.a, .b = e.b, .shift = number % 3 ? e.shift : NULL};
    return e;
}

static void earlier_free(earlier *e)
{
    free(e->a), free(e->b), free(e->shift);
}

static void expect_same(const void *got, const void *expected, size_t bytes, const char *column, const char *what)
{
    if (memcmp(got, expected, bytes) != 0)
        fail_msg("%s: %s differs from the CPU's", what, column);
}

/* Compares everything, also what lies behind the stored pairs and must not be written. */
static void compare(carom_context *cpu, carom_context *device, const carom_cloud_desc *d, size_t capacity,
                    const char *what)
{
    const size_t count = d->batch.count;
    answer expected = answer_alloc(count, capacity), got = answer_alloc(count, capacity);
    carom_stats stats;
    answer_both(cpu, d, capacity, &expected, &stats);
    answer_both(device, d, capacity, &got, &stats);
    if (count > 0)
        assert_int_equal(stats.on_device, count - d->batch.begin - (d->a_end ? count - d->a_end : 0));
    expect_same(&got.totals, &expected.totals, sizeof got.totals, "totals", what);
    expect_same(got.offsets, expected.offsets, (count + 1) * sizeof *got.offsets, "offsets", what);
    expect_same(got.a, expected.a, (capacity + 1) * sizeof *got.a, "a", what);
    expect_same(got.b, expected.b, (capacity + 1) * sizeof *got.b, "b", what);
    expect_same(got.state, expected.state, capacity + 1, "state", what);
    expect_same(got.t, expected.t, (capacity + 1) * sizeof *got.t, "t", what);
    expect_same(got.shift, expected.shift, 3 * (capacity + 1), "shift", what);
    expect_same(got.partners, expected.partners, count * sizeof *got.partners, "partners", what);
    expect_same(got.other, expected.other, count * sizeof *got.other, "other", what);
    expect_same(got.other_state, expected.other_state, count, "state of first partners", what);
    expect_same(got.other_t, expected.other_t, count * sizeof *got.other_t, "t of first partners", what);
    expect_same(got.hit, expected.hit, count, "hit", what);
    earlier e = make_earlier(&expected, capacity);
    answer_columns(cpu, d, capacity, capacity % 2, &e.before, &expected, &stats);
    answer_columns(device, d, capacity, capacity % 2, &e.before, &got, &stats);
    if (count > 0)
        assert_int_equal(stats.on_device, count - d->batch.begin - (d->a_end ? count - d->a_end : 0));
    expect_same(&got.totals, &expected.totals, sizeof got.totals, "totals of columns", what);
    expect_same(got.depth, expected.depth, (capacity + 1) * sizeof *got.depth, "depth", what);
    expect_same(got.normal, expected.normal, (capacity + 1) * 3 * sizeof *got.normal, "normal", what);
    expect_same(got.previous, expected.previous, (capacity + 1) * sizeof *got.previous, "previous", what);
    earlier_free(&e);
    answer_free(&got);
    answer_free(&expected);
}

/* All that can be asked about a cloud: each start policy, a list that is too short, none, a part of the spheres. */
static void compare_ways(carom_context *cpu, carom_context *device, const carom_cloud_desc *of, const char *what)
{
    carom_cloud_desc d = *of;
    const size_t count = d.batch.count, room = 40 * count + 1000;
    for (int full = 0; full < 2; full++) {
        d.full = (uint8_t)full;
        compare(cpu, device, &d, room, what);
        compare(cpu, device, &d, count / 2, what);
    }
    compare(cpu, device, &d, 0, what);
    d.batch.begin = count / 3;
    d.a_end = count - count / 4;
    compare(cpu, device, &d, room, what);
    compare(cpu, device, &d, count / 3, what);
    d.start = CAROM_START_SKIP;
    compare(cpu, device, &d, room, what);
}

/* ---- clouds ------------------------------------------------------------------------------------------------------ */

static void test_families(void **state)
{
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = test_device(1, 0);
    size_t asked = 0;
    for (size_t i = 0; i < test_effort(24 * CLOUD_FAMILIES); i++)
        for (int exact = 0; exact < 2; exact++) {
            cloud c = make_cloud(i, exact);
            if (c.desc.velocity.x == NULL) {
                compare_ways(cpu, device, &c.desc, cloud_family(i));
                asked++;
            }
            cloud_free(&c);
        }
    assert_true(asked > 0);
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_expect_none("families");
}

enum { MANY = 4000, SIDE = 16, PILE = 150 };

typedef void shape_fn(float *center, float *radius, size_t i, ref_gen *g);
static void equal(float *center, float *radius, size_t i, ref_gen *g)
{
    (void)center, (void)i, (void)g;
    *radius = 0.6f;
}
static void ten_sizes(float *center, float *radius, size_t i, ref_gen *g)
{
    (void)center, (void)i;
    *radius = between(g, 0.08, 0.8);
}
static void decades(float *center, float *radius, size_t i, ref_gen *g)
{
    (void)center, (void)i;
    *radius = powf(10.0f, between(g, -7, 0));
}
/* One sphere reaches all others, in rows too long to be ranked. */
static void one_giant(float *center, float *radius, size_t i, ref_gen *g)
{
    (void)center, (void)g;
    *radius = i == MANY / 2 ? 20.0f : 0.4f;
}
/* Each is near others, far from all others: cells share buckets. */
static void scattered(float *center, float *radius, size_t i, ref_gen *g)
{
    for (size_t k = 0; k < 3; k++)
        center[k] = (float)(i / 4 * 7919 % 1009) * 1e4f * (float)(k + 1) + between(g, 0, 1);
    *radius = 0.4f;
}
static void outliers(float *center, float *radius, size_t i, ref_gen *g)
{
    (void)g;
    if (i % 500 == 7)
        center[i / 500 % 3] *= i % 1000 == 7 ? 1e7f : -1e33f;
    *radius = 0.5f;
}
/* Touches its neighbours exactly, so the test decides no pair; there are more of these than there is room for at first.
 */
static void on_lattice(float *center, float *radius, size_t i, ref_gen *g)
{
    (void)g;
    center[0] = (float)(i % SIDE);
    center[1] = (float)(i / SIDE % SIDE);
    center[2] = (float)(i / SIDE / SIDE % SIDE);
    *radius = i % 2 ? 0.75f : 0.5f;
}
static void in_piles(float *center, float *radius, size_t i, ref_gen *g)
{
    (void)g;
    for (size_t k = 0; k < 3; k++)
        center[k] = floorf((float)i / PILE) * 3.0f;
    *radius = 0.5f;
}
static void fines_in_a_heap(float *center, float *radius, size_t i, ref_gen *g)
{
    (void)g;
    for (size_t k = 0; k < 3 && i % 2; k++)
        center[k] *= 0.02f;
    *radius = i % 2 ? 0.015f : 0.5f;
}
static void tiny(float *center, float *radius, size_t i, ref_gen *g)
{
    (void)i, (void)g;
    for (size_t k = 0; k < 3; k++)
        center[k] *= 1e-41f;
    *radius = 0.5e-41f;
}
static void huge(float *center, float *radius, size_t i, ref_gen *g)
{
    (void)i, (void)g;
    for (size_t k = 0; k < 3; k++)
        center[k] = (center[k] - 8.0f) * 4e37f;
    *radius = 1e37f;
}
static void far_away(float *center, float *radius, size_t i, ref_gen *g)
{
    (void)i, (void)g;
    center[0] += 3e6f;
    *radius = 0.5f;
}
/* Most are so far from the others that a difference to them is rounded to the edge of the range of cells. */
static void at_the_edge(float *center, float *radius, size_t i, ref_gen *g)
{
    center[0] = i % 8 ? -0x1p41f : -65536.0f + between(g, -0.4, 0.4);
    *radius = 0.5f;
}
static void in_line(float *center, float *radius, size_t i, ref_gen *g)
{
    (void)i, (void)g;
    center[0] *= 200.0f;
    center[1] = center[2] = 0.0f;
    *radius = 0.5f;
}
static void some_invalid(float *center, float *radius, size_t i, ref_gen *g)
{
    (void)g;
    *radius = i % 9 == 4 ? -1.0f : 0.5f;
    center[2] = i % 11 == 4 ? NAN : center[2];
    center[1] = i % 13 == 4 ? -INFINITY : center[1];
}
/* Depths that lie in the middle between two numbers: the host decides these, more than there is room for at first. */
static void twins(float *center, float *radius, size_t i, ref_gen *g)
{
    enum { HEAP = 20 };
    (void)g;
    for (size_t k = 0; k < 3; k++)
        center[k] = (float)(i / HEAP * (k + 1)) + (k == 1 ? (float)(i % HEAP) / 256.0f : 0);
    *radius = 0.6f + (i % 2 ? 0x1p-24f : 0);
}
static void none_valid(float *center, float *radius, size_t i, ref_gen *g)
{
    (void)center, (void)i, (void)g;
    *radius = NAN;
}
static const struct {
    const char *name;
    shape_fn *change;
} shapes[] = {{"equal", equal},
              {"ten sizes", ten_sizes},
              {"decades", decades},
              {"giant", one_giant},
              {"scattered", scattered},
              {"outliers", outliers},
              {"lattice", on_lattice},
              {"piles", in_piles},
              {"heap", fines_in_a_heap},
              {"tiny", tiny},
              {"huge", huge},
              {"far", far_away},
              {"line", in_line},
              {"invalid", some_invalid},
              {"none", none_valid},
              {"twins", twins},
              {"edge", at_the_edge}};

typedef struct many {
    float center[3 * MANY], radius[MANY];
    uint32_t mask[MANY];
    carom_cloud_desc desc;
} many;

static many *make_many(size_t shape, size_t count)
{
    many *m = test_alloc(1, sizeof *m);
    ref_gen g;
    ref_gen_seed(&g, 23, 1, shape);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < 3; k++)
            m->center[3 * i + k] = between(&g, 0, SIDE);
        shapes[shape].change(&m->center[3 * i], &m->radius[i], i, &g);
        m->mask[i] = 1u << i % 3 | 1u << i % 5;
    }
    m->desc = (carom_cloud_desc){.batch = {.size = sizeof m->desc, .count = count},
                                 .center = carom_xyz(m->center),
                                 .radius = carom_scalars_of(m->radius)};
    return m;
}

static void test_shapes(void **state)
{
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = test_device(1, 0);
    for (size_t i = 0; i < 2 * COUNT_OF(shapes); i++) {
        many *m = make_many(i % COUNT_OF(shapes), MANY);
        m->desc.margin = i % 2 ? 0.01f * m->radius[0] : 0;
        if (i / COUNT_OF(shapes))
            m->desc.mask = carom_uints_of(m->mask);
        m->desc.batch.accuracy = i / 2 % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        if (isnan(m->desc.margin))
            m->desc.margin = 0;
        compare_ways(cpu, device, &m->desc, shapes[i % COUNT_OF(shapes)].name);
        free(m);
    }
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_expect_none("shapes");
}

/* Boxes as wide as the cloud, wider, narrower than spheres, so wide that sums overflow; along one axis or several. */
static void test_periods(void **state)
{
    enum { FEW = 150, BOXES = 3 }; /* of each shape */
    static const float periods[][3] = {
        {SIDE, SIDE, SIDE},   {SIDE, 0, 0},        {0, SIDE + 0.5f, 1e-3f},    {3, 40, 0},
        {0.25f, 0.5f, 0.75f}, {3e38f, SIDE, 1e9f}, {2 * SIDE, 2 * SIDE, 1e6f}, {0, 0, 1e-40f}};
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = test_device(1, 0);
    for (size_t i = 0; i < BOXES * COUNT_OF(shapes); i++) {
        const size_t shape = i % COUNT_OF(shapes), room = 27 * FEW;
        many *m = make_many(shape, FEW);
        memcpy(m->desc.period, periods[(i + i / COUNT_OF(shapes)) % COUNT_OF(periods)], sizeof m->desc.period);
        m->desc.margin = i % 3 == 1 && m->radius[0] > 0 ? 0.1f * m->radius[0] : 0;
        if (i % 5 == 2)
            m->desc.mask = carom_uints_of(m->mask);
        m->desc.batch.accuracy = i % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        m->desc.start = i % 7 == 3 ? CAROM_START_SKIP : CAROM_START_REPORT;
        for (size_t k = 0; k < 3 * FEW && shape == 0; k++) /* on the seam, and beside it */
            m->center[k] = k % 4 ? m->center[k] : k % 8 ? 0 : m->desc.period[k % 3];
        for (int full = 0; full < 2; full++) {
            m->desc.full = (uint8_t)full;
            compare(cpu, device, &m->desc, room, shapes[shape].name);
        }
        m->desc.batch.begin = FEW / 3;
        m->desc.a_end = FEW - 1;
        compare(cpu, device, &m->desc, FEW / 4, shapes[shape].name);
        free(m);
    }
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_expect_none("periods");
}

/* ---- arrays on the device ---------------------------------------------------------------------------------------- */

typedef struct region {
    carom_buffer *buffer;
    void *at; /* some bytes behind the begin of the buffer */
} region;
enum { REGIONS = 20, BEHIND = 24, ROOM = 6 * MANY };

static region make_region(carom_context *context, const void *data, size_t bytes)
{
    const carom_buffer_desc d = {.size = sizeof d, .bytes = bytes + BEHIND, .where = CAROM_BUFFER_DEVICE};
    region r;
    carom_error err = {0};
    test_ok("buffer", carom_buffer_create(context, &d, &r.buffer, &err), &err);
    test_ok("write", carom_buffer_write(r.buffer, BEHIND, data, bytes, &err), &err);
    r.at = (char *)carom_buffer_address(r.buffer) + BEHIND;
    return r;
}

static void expect_region(const region *r, const void *expected, size_t bytes, const char *what)
{
    char *got = test_alloc(bytes, 1);
    carom_error err = {0};
    test_ok(what, carom_buffer_read(r->buffer, BEHIND, got, bytes, &err), &err);
    if (memcmp(got, expected, bytes) != 0)
        fail_msg("%s differs from the CPU's", what);
    free(got);
}

/* An earlier list on the device that is not in order is an error, as on the host. */
static void expect_wrong_order(carom_context *device, const carom_cloud_desc *d, const carom_cloud_pairs_before *before,
                               const region *a, size_t known, const answer *to)
{
    const int32_t wrong = -9;
    carom_list_totals totals = {77, 77, 77};
    const carom_cloud_pair_list list = {
        .size = sizeof list, .capacity = ROOM, .previous = to->previous, .before = before, .totals = &totals};
    carom_error err = {0};
    test_ok("write", carom_buffer_write(a->buffer, BEHIND + (known - 2) * sizeof wrong, &wrong, sizeof wrong, &err),
            &err);
    assert_int_equal(carom_cloud_list(device, d, &list, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "before: record "));
    assert_int_equal(totals.total, 77);
}

/* A step whose arrays lie on the device: nothing crosses but the three numbers of the totals and two more. */
static void expect_little_crosses(carom_context *cpu, carom_context *device, carom_cloud_desc d, many *m)
{
    answer expected = answer_alloc(MANY, ROOM), got = answer_alloc(MANY, ROOM);
    carom_stats stats;
    carom_error err = {0};
    answer_both(cpu, &d, ROOM, &expected, &stats);
    earlier e = make_earlier(&expected, 1);
    const size_t known = (size_t)e.before.count;
    answer_columns(cpu, &d, ROOM, 0, &e.before, &expected, &stats);
    memset(got.partners, 0, MANY * sizeof *got.partners);
    region r[REGIONS] = {make_region(device, m->center, sizeof m->center),
                         make_region(device, m->radius, sizeof m->radius),
                         make_region(device, m->mask, sizeof m->mask),
                         make_region(device, got.offsets, (MANY + 1) * sizeof *got.offsets),
                         make_region(device, got.a, ROOM * sizeof *got.a),
                         make_region(device, got.b, ROOM * sizeof *got.b),
                         make_region(device, got.state, ROOM),
                         make_region(device, got.t, ROOM * sizeof *got.t),
                         make_region(device, got.shift, ROOM * 3),
                         make_region(device, got.partners, MANY * sizeof *got.partners),
                         make_region(device, got.other, MANY * sizeof *got.other),
                         make_region(device, got.other_t, MANY * sizeof *got.other_t),
                         make_region(device, got.other_state, MANY),
                         make_region(device, got.hit, MANY),
                         make_region(device, got.depth, ROOM * sizeof *got.depth),
                         make_region(device, got.normal, ROOM * 3 * sizeof *got.normal),
                         make_region(device, got.previous, ROOM * sizeof *got.previous),
                         make_region(device, e.a, known * sizeof *e.a),
                         make_region(device, e.b, known * sizeof *e.b),
                         make_region(device, e.shift, known * 3)};
    d.center = carom_xyz(r[0].at);
    d.radius = carom_scalars_of(r[1].at);
    d.mask = carom_uints_of(r[2].at);
    answer there = {r[3].at,  r[4].at,  r[5].at,  r[6].at,  r[7].at,  r[8].at,  r[9].at, r[10].at,
                    r[11].at, r[12].at, r[13].at, r[14].at, r[15].at, r[16].at, {0}};
    carom_cloud_pairs_before before = e.before;
    before.a = r[17].at;
    before.b = r[18].at;
    before.shift = r[19].at;
    for (int round = 0; round < 2; round++) { /* programs are built in the first */
        cl_relieve();
        cl_fetched = 0;
        answer_both(device, &d, ROOM, &there, &stats);
        assert_int_equal(stats.on_device, MANY);
        assert_int_equal(stats.brought + stats.returned, 0);
        answer_columns(device, &d, ROOM, 0, &before, &there, &stats);
        assert_int_equal(stats.on_device, MANY);
        assert_int_equal(stats.brought + stats.returned, 0);
    }
    if (cl_fetched > 5 * 64 || cl_calls(CALL_WRITE) > 0) /* five calls */
        fail_msg("%zu bytes are read, in %d reads and %d writes", cl_fetched, cl_calls(CALL_READ),
                 cl_calls(CALL_WRITE));
    expect_same(&there.totals, &expected.totals, sizeof there.totals, "totals", "buffers");
    expect_region(&r[3], expected.offsets, (MANY + 1) * sizeof *got.offsets, "offsets");
    expect_region(&r[4], expected.a, ROOM * sizeof *got.a, "a");
    expect_region(&r[5], expected.b, ROOM * sizeof *got.b, "b");
    expect_region(&r[6], expected.state, ROOM, "state");
    expect_region(&r[7], expected.t, ROOM * sizeof *got.t, "t");
    expect_region(&r[8], expected.shift, ROOM * 3, "shift");
    expect_region(&r[9], expected.partners, MANY * sizeof *got.partners, "partners");
    expect_region(&r[10], expected.other, MANY * sizeof *got.other, "other");
    expect_region(&r[11], expected.other_t, MANY * sizeof *got.other_t, "t of first partners");
    expect_region(&r[12], expected.other_state, MANY, "state of first partners");
    expect_region(&r[13], expected.hit, MANY, "hit");
    expect_region(&r[14], expected.depth, ROOM * sizeof *got.depth, "depth");
    expect_region(&r[15], expected.normal, ROOM * 3 * sizeof *got.normal, "normal");
    expect_region(&r[16], expected.previous, ROOM * sizeof *got.previous, "previous");
    expect_wrong_order(device, &d, &before, &r[17], known, &there);
    earlier_free(&e);
    for (size_t i = 0; i < REGIONS; i++)
        carom_buffer_destroy(r[i].buffer);
    (void)err;
    answer_free(&got);
    answer_free(&expected);
}

static void test_buffers(void **state)
{
    (void)state;
    cl_seen_as.discrete = 1;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1), *device = test_device(1, 0);
    for (int i = 0; i < 2; i++) {
        many *m = make_many((size_t)i, MANY);
        m->desc.mask = carom_uints_of(m->mask);
        m->desc.margin = i ? 0.0625f : 0;
        m->desc.period[1] = i ? SIDE : 0;
        expect_little_crosses(cpu, device, m->desc, m);
        free(m);
    }
    carom_context_destroy(device);
    carom_context_destroy(cpu);
    cl_seen_as.discrete = 0;
    cl_expect_none("buffers");
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

/* Each is found by the probe, or where the numbers of a larger cloud cannot be. */
static const struct {
    const char *name;
    cl_patch patch;
    carom_status expected;
} faults[] = {
    {"a sphere with itself", {"? search->slot + 1 : 0", "? search->slot : 0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"a pair too few", {"? search->slot + 1 : 0", "? search->slot + 2 : 0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"pairs twice", {"row = is_own ? y.own + z.own * y.count : 0", "row = 0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"one cell only", {"grid_cell(at + reach, level) - r.low + 1", "1u"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"no coarser levels",
     {"uint level = 0; level <= own", "uint level = own; level <= own"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"no masks", {"!(grid->mask[slot] & search->mask)", "0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"the order", {"key[k] < mine", "key[k] > mine"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"long rows", {"if (one > other) {", "if (one > other + 64) {"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"not the best partner", {"rows->count + a, ~b", "rows->count + a, b + 1"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"touching partners", {"best[other] == ~one", "0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"the solver", {"state[i] = (uchar)out.state;", "state[i] = 0;"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"a pair that was not counted",
     {"atomic_inc(rows->count + a);", "if (rows->end < 999 || a % 7) atomic_inc(rows->count + a);"},
     CAROM_ERROR_DEVICE_LOST},
    {"a pair that was counted twice",
     {"atomic_inc(rows->count + a);", "atomic_add(rows->count + a, rows->end > 999 && a % 7 == 0 ? 2u : 1u);"},
     CAROM_ERROR_DEVICE_LOST},
    {"a slot beyond the spheres",
     {"start[bucket[i]] + rank[i];", "start[bucket[i]] + rank[i] + (spheres > 999 ? 1u << 30 : 0);"},
     CAROM_ERROR_DEVICE_LOST},
    {"searches beyond a cell",
     {"search.at = at[slot];", "search.at = at[slot]; if (spheres > 999) search.at.w = R(1e30);"},
     CAROM_OK}, /* wrong, but it ends */
    {"a row beyond the spheres",
     {"const uint sphere = of[own];", "const uint sphere = of[own] + (row_end > 999 ? 1u << 30 : 0);"},
     CAROM_ERROR_DEVICE_LOST},
    {"searches without an end",
     {"search.tests > search.to) {", "search.tests > search.to || spheres > 999) {"},
     CAROM_ERROR_DEVICE_LOST},
    {"depth", {"found.depth = w_f(W(0.0));", "found.depth = w_f(W(1.0));"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"undecided depth", {"grid_slot(offset, key, of, pair[first + i])", "0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"normal", {"resident_store(y, y_at + y_step", "resident_store(x, x_at + x_step"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"images of one level", {"image > GRID_IMAGE_OWN ? own + 1 : own", "own"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"all images of one level", {"image > GRID_IMAGE_OWN ? own + 1 : own", "own + 1"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"opposite images", {": GRID_IMAGES - 1 - search->image", ": search->image"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"opposite images of b",
     {"grid_add(rows, b, a, GRID_IMAGES - 1 - image", "grid_add(rows, b, a, image"},
     CAROM_ERROR_NOT_BIT_EXACT},
    {"images of undecided pairs", {"pair.y >> GRID_SLOT_BITS << 3", "0"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"an earlier list", {", ~i);", ", i + 1);"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"pairs in a long row", {"if (key[middle] < least)", "if (key[middle] <= least)"}, CAROM_ERROR_NOT_BIT_EXACT},
    {"too many pairs",
     {"totals->stored = offset[low];", "totals->stored = offset[low] + (end > 999 ? 1u << 30 : 0);"},
     CAROM_ERROR_DEVICE_LOST},
    {"a giant row without length",
     {"totals->stored = offset[low];", "totals->stored = offset[low], totals->giant_rows = end > 999;"},
     CAROM_ERROR_DEVICE_LOST},
    {"a giant row of endless length",
     {"totals->stored = offset[low];",
      "totals->stored = offset[low], totals->giant_rows = end > 999, totals->longest = ~0u;"},
     CAROM_ERROR_DEVICE_LOST},
};

static void test_faults(void **state)
{
    (void)state;
    (void)test_need_device();
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        many *m = make_many(0, MANY);
        answer to = answer_alloc(MANY, ROOM);
        const carom_cloud_pair_list list = list_of(&to, ROOM);
        carom_error err = {0};
        cl_text_patch = faults[i].patch;
        carom_context *device = test_device(1, 0);
        const carom_status status = carom_cloud_list(device, &m->desc, &list, NULL, &err);
        if (status != faults[i].expected)
            fail_msg("%s: status %d (%s)", faults[i].name, (int)status, err.message);
        cl_text_patch = (cl_patch){NULL, NULL};
        carom_context_destroy(device);
        answer_free(&to);
        free(m);
    }
    cl_expect_none("faults");
}

/* Numbers that would be too many for the device: the host takes the cloud over, and the device stays in use. */
static void test_declined(void **state)
{
    static const cl_patch patches[] = {
        {"atomic_inc(undecided->count)", "atomic_add(undecided->count, rows->end > 999 ? 1u << 20 : 1u)"},
        {"totals->total = offset[end];", "totals->total = offset[end] + ((ulong)(end > 999) << 40);"}};
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    for (size_t i = 0; i < 2 * COUNT_OF(patches); i++) {
        many *m = make_many(6, MANY); /* the lattice */
        m->desc.batch.accuracy = i % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        cl_text_patch = patches[i / 2];
        carom_context *device = test_device(1, 0);
        compare(cpu, device, &m->desc, ROOM, patches[i / 2].find);
        carom_context_destroy(device);
        cl_text_patch = (cl_patch){NULL, NULL};
        free(m);
    }
    carom_context_destroy(cpu);
    cl_expect_none("declined");
}

/* Spheres at one place, whose depths are too many for the device to leave undecided, after the host has decided a pair
 * of others in integers: the pair counts once. */
static void test_declined_once(void **state)
{
    enum { CROWD = 420, ALL = CROWD + 2 };
    static float x[ALL], zero[ALL], radius[ALL], depth[ALL * ALL];
    carom_list_totals totals = {0};
    carom_error err = {0};
    (void)state;
    (void)test_need_device();
    for (int i = 0; i < CROWD; i++)
        radius[i] = i % 2 ? nextafterf(0.75f, 1) : 0.75f;
    x[CROWD] = 100;
    x[CROWD + 1] = 101;
    radius[CROWD] = radius[CROWD + 1] = 0.5f;
    const carom_cloud_desc d = {.batch = {.size = sizeof d, .count = ALL, .accuracy = CAROM_ACCURACY_EXACT},
                                .center = carom_soa(x, zero, zero),
                                .radius = carom_scalars_of(radius)};
    const carom_cloud_pair_list list = {
        .size = sizeof list, .capacity = COUNT_OF(depth), .depth = depth, .totals = &totals};
    carom_context *context[] = {test_cpu(CAROM_ISA_AUTO, 1), test_device(1, 0)};
    carom_stats stats[2] = {{.size = sizeof *stats}, {.size = sizeof *stats}};
    for (int i = 0; i < 2; i++) {
        test_ok("list", carom_cloud_list(context[i], &d, &list, &stats[i], &err), &err);
        carom_context_destroy(context[i]);
    }
    assert_int_equal(stats[1].by_integers, stats[0].by_integers);
    cl_expect_none("declined once");
}

/* ---- work of a launch -------------------------------------------------------------------------------------------- */

/* Drivers whose kernels bear small groups alone, such as Mesa's llvmpipe. */
static void test_small_groups(void **state)
{
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    for (size_t group = 1; group <= 64; group *= 8) {
        cl_seen_as.group = group;
        carom_context *device = test_device(1, 0);
        for (size_t shape = 1; shape < 8; shape += 3) {
            many *m = make_many(shape, MANY);
            compare(cpu, device, &m->desc, ROOM, shapes[shape].name);
            free(m);
        }
        carom_context_destroy(device);
        cl_seen_as.group = 0;
    }
    carom_context_destroy(cpu);
    cl_expect_none("small groups");
}

/* Searches of many rounds, and rows that are merged by all groups. */
static void test_rounds(void **state)
{
    static const cl_patch patches[] = {{"#define GRID_TESTS 2048", "#define GRID_TESTS 40"},
                                       {"#define GRID_GIANT_ROW 8192", "#define GRID_GIANT_ROW 70"}};
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    for (size_t i = 0; i < COUNT_OF(patches); i++) {
        cl_text_patch = patches[i];
        carom_context *device = test_device(1, 0);
        for (size_t shape = 0; shape < COUNT_OF(shapes); shape++) {
            many *m = make_many(shape, MANY);
            m->desc.full = 1;
            m->desc.batch.accuracy = shape % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
            compare(cpu, device, &m->desc, 40 * MANY, shapes[shape].name);
            compare(cpu, device, &m->desc, MANY, shapes[shape].name);
            free(m);
        }
        carom_context_destroy(device);
        cl_text_patch = (cl_patch){NULL, NULL};
    }
    carom_context_destroy(cpu);
    cl_expect_none("rounds");
}

/* However many spheres share a cell, no search makes more than some tests in a launch. */
static void test_launches(void **state)
{
    enum { PLACE = 12000 };
    static const cl_patch least = {"for (; slot < stop; slot++)",
                                   "for (uint turns = 0; slot < stop && turns < 2048; slot++, turns++)"};
    static const float zero[3], one = 1;
    (void)state;
    (void)test_need_device();
    cl_text_patch = least;
    carom_context *device = test_device(1, 0);
    uint32_t *partners = test_alloc(PLACE, sizeof *partners);
    carom_cloud_desc d = {.batch = {.size = sizeof d, .count = PLACE},
                          .center = {&zero[0], &zero[1], &zero[2], CAROM_REPEAT},
                          .radius = {&one, CAROM_REPEAT}};
    const carom_cloud_count_result count = {sizeof count, partners};
    carom_error err = {0};
    d.batch.prepare = 1;
    test_ok("prepare", carom_cloud_count(device, &d, &count, NULL, &err), &err);
    d.batch.prepare = 0;
    cl_relieve();
    test_ok("count", carom_cloud_count(device, &d, &count, NULL, &err), &err);
    if (cl_calls(CALL_LAUNCH) < 2 * (PLACE / GRID_TESTS))
        fail_msg("%d launches", cl_calls(CALL_LAUNCH));
    for (uint32_t i = 0; i < PLACE; i++)
        assert_int_equal(partners[i], PLACE - 1);
    cl_text_patch = (cl_patch){NULL, NULL};
    free(partners);
    carom_context_destroy(device);
    cl_expect_none("launches");
}

/* ---- failures of the driver -------------------------------------------------------------------------------------- */

static carom_status ask_list(carom_context *context, const many *m, int prepare, answer *to, carom_stats *stats,
                             carom_error *err)
{
    const carom_cloud_pair_list list = list_of(to, ROOM);
    carom_cloud_desc d = m->desc;
    d.batch.prepare = (uint8_t)prepare;
    *stats = (carom_stats){.size = sizeof *stats};
    return carom_cloud_list(context, &d, &list, stats, err);
}

/* Call number `at` of this kind fails in a list, on a prepared device; at 0 none does. Returns how many there are. */
static int ask_failing(cl_call call, int at, const many *m, const answer *expected)
{
    carom_context *context = test_device(1, 0);
    answer got = answer_alloc(MANY, ROOM);
    carom_stats stats;
    carom_error err = {0};
    test_ok("prepare", ask_list(context, m, 1, &got, &stats, &err), &err);
    cl_sabotage(call, at, 0);
    const carom_status status = ask_list(context, m, 0, &got, &stats, &err);
    const int calls = cl_calls(call);
    cl_sabotage(call, 0, 0);
    if (status != (at ? CAROM_ERROR_DEVICE_LOST : CAROM_OK))
        fail_msg("%s %d of %d: status %d (%s)", cl_call_name(call), at, calls, (int)status, err.message);
    if (at == 0) {
        assert_int_equal(stats.on_device, MANY);
        expect_same(got.offsets, expected->offsets, (MANY + 1) * sizeof *got.offsets, "offsets", "prepared");
        expect_same(got.b, expected->b, (ROOM + 1) * sizeof *got.b, "b", "prepared");
    }
    answer_free(&got);
    carom_context_destroy(context);
    cl_expect_none(cl_call_name(call));
    return calls;
}

static void test_lost(void **state)
{
    enum { TRIALS = 3 };
    static const cl_call kinds[] = {CALL_LAUNCH, CALL_COMMAND, CALL_ARGUMENT, CALL_READ, CALL_WRITE};
    (void)state;
    (void)test_need_device();
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    many *m = make_many(6, MANY); /* the lattice: the host decides pairs */
    answer expected = answer_alloc(MANY, ROOM);
    carom_stats stats;
    carom_error err = {0};
    m->desc.batch.accuracy = CAROM_ACCURACY_EXACT;
    test_ok("the CPU", ask_list(cpu, m, 0, &expected, &stats, &err), &err);
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        const int calls = ask_failing(kinds[k], 0, m, &expected);
        const int trials = (int)test_effort(TRIALS);
        for (int i = 0; i < trials && i < calls; i++)
            (void)ask_failing(kinds[k], 1 + i * calls / trials, m, &expected);
    }
    answer_free(&expected);
    free(m);
    carom_context_destroy(cpu);
}

/* The rows around a cell have ranges of buckets that do not meet, in tables of all sizes. */
static void test_strides(void **state)
{
    (void)state;
    for (uint64_t table = GRID_TABLE_LEAST; table <= UINT64_C(1) << 31; table *= 2)
        for (int y = -2; y <= 2; y++)
            for (int z = -2; z <= 2; z++) {
                const uint32_t apart =
                    ((uint32_t)y * GRID_STRIDE_Y + (uint32_t)z * GRID_STRIDE_Z) & (uint32_t)(table - 1);
                assert_true((y == 0 && z == 0) || (apart > 2 && table - apart > 2));
            }
}

/* So many spheres in one place that the device would search very long: an error, as on the CPU. */
static void test_crowd(void **state)
{
    enum { CROWD = 400000 };
    (void)state;
    (void)test_need_device();
    carom_context *device = test_device(1, 0);
    static const float zero[3], one = 1;
    const carom_cloud_desc d = {.batch = {.size = sizeof d, .count = CROWD},
                                .center = {&zero[0], &zero[1], &zero[2], CAROM_REPEAT},
                                .radius = {&one, CAROM_REPEAT}};
    carom_list_totals totals;
    const carom_cloud_pair_list list = {.size = sizeof list, .totals = &totals};
    carom_error err = {0};
    assert_int_equal(carom_cloud_list(device, &d, &list, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "at most 2^36"));
    carom_context_destroy(device);
    cl_expect_none("crowd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families),     cmocka_unit_test(test_shapes),  cmocka_unit_test(test_periods),
        cmocka_unit_test(test_buffers),      cmocka_unit_test(test_faults),  cmocka_unit_test(test_declined),
        cmocka_unit_test(test_small_groups), cmocka_unit_test(test_rounds),  cmocka_unit_test(test_launches),
        cmocka_unit_test(test_lost),         cmocka_unit_test(test_strides), cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_declined_once)};
    return cmocka_run_group_tests_name("cloud_grid", tests, NULL, NULL);
}
