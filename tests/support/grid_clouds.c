/* SPDX-License-Identifier: MIT */
#include "grid_clouds.h"

#include <math.h>

/* ---- answers ----------------------------------------------------------------------------------------------------- */

grid_answer grid_answer_alloc(size_t count, size_t capacity)
{
    return (grid_answer){.offsets = test_alloc(count + 1, sizeof(uint64_t)),
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

void grid_answer_free(grid_answer *of)
{
    free(of->offsets), free(of->a), free(of->b), free(of->state), free(of->t), free(of->shift), free(of->partners);
    free(of->other), free(of->other_t), free(of->other_state), free(of->hit);
    free(of->depth), free(of->normal), free(of->previous);
}

carom_cloud_pair_list grid_list_of(grid_answer *to, size_t capacity)
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

void grid_answer_both(carom_context *context, const carom_cloud_desc *d, size_t capacity, grid_answer *to,
                      carom_stats *stats)
{
    carom_error err = {0};
    const carom_cloud_pair_list list = grid_list_of(to, capacity);
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
void grid_answer_columns(carom_context *context, const carom_cloud_desc *d, size_t capacity, int are_apart,
                         const carom_cloud_pairs_before *before, grid_answer *to, carom_stats *stats)
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

grid_earlier grid_earlier_make(const grid_answer *of, size_t number)
{
    static const int8_t odd[][3] = {{0, 0, 1}, {-1, 0, 0}, {2, -3, 100}, {-128, 127, 1}};
    const size_t stored = (size_t)of->totals.stored;
    grid_earlier e = {.a = test_alloc(2 * stored + 1, sizeof *e.a),
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

void grid_earlier_free(grid_earlier *e)
{
    free(e->a), free(e->b), free(e->shift);
}

void grid_expect_same(const void *got, const void *expected, size_t bytes, const char *column, const char *what)
{
    if (memcmp(got, expected, bytes) != 0)
        fail_msg("%s: %s differs from the CPU's", what, column);
}

/* Compares everything, also what lies behind the stored pairs and must not be written. */
void grid_compare(carom_context *cpu, carom_context *device, const carom_cloud_desc *d, size_t capacity,
                  const char *what)
{
    const size_t count = d->batch.count;
    grid_answer expected = grid_answer_alloc(count, capacity), got = grid_answer_alloc(count, capacity);
    carom_stats stats;
    grid_answer_both(cpu, d, capacity, &expected, &stats);
    grid_answer_both(device, d, capacity, &got, &stats);
    if (count > 0)
        assert_int_equal(stats.on_device, count - d->batch.begin - (d->a_end ? count - d->a_end : 0));
    grid_expect_same(&got.totals, &expected.totals, sizeof got.totals, "totals", what);
    grid_expect_same(got.offsets, expected.offsets, (count + 1) * sizeof *got.offsets, "offsets", what);
    grid_expect_same(got.a, expected.a, (capacity + 1) * sizeof *got.a, "a", what);
    grid_expect_same(got.b, expected.b, (capacity + 1) * sizeof *got.b, "b", what);
    grid_expect_same(got.state, expected.state, capacity + 1, "state", what);
    grid_expect_same(got.t, expected.t, (capacity + 1) * sizeof *got.t, "t", what);
    grid_expect_same(got.shift, expected.shift, 3 * (capacity + 1), "shift", what);
    grid_expect_same(got.partners, expected.partners, count * sizeof *got.partners, "partners", what);
    grid_expect_same(got.other, expected.other, count * sizeof *got.other, "other", what);
    grid_expect_same(got.other_state, expected.other_state, count, "state of first partners", what);
    grid_expect_same(got.other_t, expected.other_t, count * sizeof *got.other_t, "t of first partners", what);
    grid_expect_same(got.hit, expected.hit, count, "hit", what);
    grid_earlier e = grid_earlier_make(&expected, capacity);
    grid_answer_columns(cpu, d, capacity, capacity % 2, &e.before, &expected, &stats);
    grid_answer_columns(device, d, capacity, capacity % 2, &e.before, &got, &stats);
    if (count > 0)
        assert_int_equal(stats.on_device, count - d->batch.begin - (d->a_end ? count - d->a_end : 0));
    grid_expect_same(&got.totals, &expected.totals, sizeof got.totals, "totals of columns", what);
    grid_expect_same(got.depth, expected.depth, (capacity + 1) * sizeof *got.depth, "depth", what);
    grid_expect_same(got.normal, expected.normal, (capacity + 1) * 3 * sizeof *got.normal, "normal", what);
    grid_expect_same(got.previous, expected.previous, (capacity + 1) * sizeof *got.previous, "previous", what);
    grid_earlier_free(&e);
    grid_answer_free(&got);
    grid_answer_free(&expected);
}

/* All that can be asked about a cloud: each start policy, a list that is too short, none, a part of the spheres. */
void grid_compare_ways(carom_context *cpu, carom_context *device, const carom_cloud_desc *of, const char *what)
{
    carom_cloud_desc d = *of;
    const size_t count = d.batch.count, room = 40 * count + 1000;
    for (int full = 0; full < 2; full++) {
        d.full = (uint8_t)full;
        grid_compare(cpu, device, &d, room, what);
        grid_compare(cpu, device, &d, count / 2, what);
    }
    grid_compare(cpu, device, &d, 0, what);
    d.batch.begin = count / 3;
    d.a_end = count - count / 4;
    grid_compare(cpu, device, &d, room, what);
    grid_compare(cpu, device, &d, count / 3, what);
    d.start = CAROM_START_SKIP;
    grid_compare(cpu, device, &d, room, what);
}

/* ---- clouds ------------------------------------------------------------------------------------------------------ */

enum { PILE = 150 };

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
    *radius = i == GRID_MANY / 2 ? 20.0f : 0.4f;
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
    center[0] = (float)(i % GRID_SIDE);
    center[1] = (float)(i / GRID_SIDE % GRID_SIDE);
    center[2] = (float)(i / GRID_SIDE / GRID_SIDE % GRID_SIDE);
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
const grid_shape grid_shapes[GRID_SHAPES] = {{"equal", equal},
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

grid_many *grid_many_make(size_t shape, size_t count)
{
    grid_many *m = test_alloc(1, sizeof *m);
    ref_gen g;
    ref_gen_seed(&g, 23, 1, shape);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < 3; k++)
            m->center[3 * i + k] = between(&g, 0, GRID_SIDE);
        grid_shapes[shape].change(&m->center[3 * i], &m->radius[i], i, &g);
        m->mask[i] = 1u << i % 3 | 1u << i % 5;
        m->group[i] = 1u << i % 7 | 1u << i % 2;
    }
    m->desc = (carom_cloud_desc){.batch = {.size = sizeof m->desc, .count = count},
                                 .center = carom_xyz(m->center),
                                 .radius = carom_scalars_of(m->radius)};
    return m;
}
