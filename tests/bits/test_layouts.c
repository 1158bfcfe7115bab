/* SPDX-License-Identifier: MIT */
/* Where inputs lie and outputs go does not matter: strides, alignments, one value for all, indices. Inputs stay as they
 * are; between strided outputs nothing is written. */
#include "tests/support/support.h"

enum { MAX_BLOCKS = QUERY_VECTORS_MAX + QUERY_RADII_MAX, UNTOUCHED = 0xa5, SEED = 31 };

/* Component k of element i is at misalign + i * stride + k * (step + count * per_count). */
typedef struct layout {
    const char *name;
    size_t stride, step, per_count, misalign;
} layout;

static const layout layouts[] = {
    {"float3", 12, 4, 0, 0},         {"float4", 16, 4, 0, 0},      {"arrays", 4, 0, 4, 0},
    {"odd arrays", 4, 1, 4, 1},      {"odd records", 13, 4, 0, 3}, {"wide records", 97, 9, 0, 2},
    {"sparse arrays", 20, 0, 20, 0},
};
static const layout one_for_all = {"one for all", 0, 4, 0, 1};

/* As the library wants it. */
static size_t stride_of(const layout *l)
{
    return l->stride != 0 ? l->stride : CAROM_REPEAT;
}

static size_t position(const layout *l, size_t count, size_t i, size_t component)
{
    return i * l->stride + component * (l->step + count * l->per_count);
}

static size_t layout_size(const layout *l, size_t count, size_t components)
{
    return position(l, count, count - 1, components - 1) + sizeof(float);
}

static float *at(const guarded *memory, size_t offset)
{
    return (float *)(void *)(memory->data + offset);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

/* Inputs in memory of their own, and a copy of it to see that it stays. */
typedef struct placed {
    inputs in;
    guarded memory[MAX_BLOCKS], copy[MAX_BLOCKS];
    size_t blocks;
} placed;

static guarded *place(placed *p, const queries *q, int column, size_t components, const layout *l)
{
    size_t size = layout_size(l, q->count, components);
    guarded *memory = &p->memory[p->blocks], *copy = &p->copy[p->blocks];
    *memory = guarded_alloc(size, l->misalign, 0xff); /* gaps hold NaN */
    *copy = guarded_alloc(size, 0, 0);
    p->blocks++;
    for (size_t k = 0; k < components; k++)
        for (size_t i = 0; i < q->count; i++)
            memcpy(memory->data + position(l, q->count, i, k), &q->column[(size_t)column + k][i], sizeof(float));
    memcpy(copy->data, memory->data, size);
    return memory;
}

/* Vector and number i lie as layouts[(first + i * step) % all] says; those in `all_one` as one value. */
static placed place_all(const queries *q, size_t first, size_t step, unsigned all_one)
{
    placed p;
    memset(&p, 0, sizeof p);
    for (int i = 0; query_point_column(q->type, i) >= 0; i++) {
        const layout *l =
            all_one >> p.blocks & 1 ? &one_for_all : &layouts[(first + p.blocks * step) % COUNT_OF(layouts)];
        size_t next = position(l, q->count, 0, 1);
        const guarded *memory = place(&p, q, query_point_column(q->type, i), 3, l);
        p.in.points[i] = (carom_points){at(memory, 0), at(memory, next), at(memory, 2 * next), stride_of(l)};
    }
    for (int i = 0; query_scalar_column(q->type, i) >= 0; i++) {
        const layout *l =
            all_one >> p.blocks & 1 ? &one_for_all : &layouts[(first + p.blocks * step) % COUNT_OF(layouts)];
        const guarded *memory = place(&p, q, query_scalar_column(q->type, i), 1, l);
        p.in.scalars[i] = (carom_scalars){at(memory, 0), stride_of(l)};
    }
    return p;
}

static void placed_check(const placed *p)
{
    for (size_t b = 0; b < p->blocks; b++) {
        assert_memory_equal(p->memory[b].data, p->copy[b].data, p->copy[b].size);
        guarded_check(&p->memory[b], "an input");
    }
}

static void placed_free(placed *p)
{
    for (size_t b = 0; b < p->blocks; b++) {
        guarded_free(&p->memory[b]);
        guarded_free(&p->copy[b]);
    }
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

static carom_context *subject(void **state)
{
    carom_isa isa = *(const carom_isa *)*state;
    return isa == CAROM_ISA_AUTO ? test_device(0, 0) : test_cpu(isa, 2);
}

static answers expected_answers(const queries *q)
{
    carom_context *scalar = test_cpu(CAROM_ISA_SCALAR, 1);
    answers a = answers_alloc(q->type, q->count, 0x5a);
    ask(scalar, q, &a, ALL_FIELDS);
    carom_context_destroy(scalar);
    return a;
}

static void check_placed(carom_context *context, const queries *q, const answers *expected, const placed *p,
                         const char *label)
{
    carom_error err = {0};
    answers got = answers_alloc(q->type, q->count, UNTOUCHED);
    test_ok(label, ask_as(context, q->type, q->count, &p->in, &got, ALL_FIELDS, NULL, &err), &err);
    answers_compare(q, expected, &got, q->count, ALL_FIELDS, label);
    answers_check_guards(&got, label);
    placed_check(p);
    answers_free(&got);
}

static void test_inputs(void **state)
{
    static const size_t counts[] = {1, 17, 515, 2000};
    carom_context *context = subject(state);
    for (int type = 0; type < QUERY_TYPES; type++)
        for (size_t c = 0; c < COUNT_OF(counts); c++) {
            queries q = queries_mixed(type, SEED, counts[c]);
            answers expected = expected_answers(&q);
            for (size_t first = 0; first < COUNT_OF(layouts); first++)
                for (size_t step = 0; step < 2; step++) { /* all alike, then all different */
                    placed p = place_all(&q, first, step, 0);
                    check_placed(context, &q, &expected, &p, step ? "mixed layouts" : layouts[first].name);
                    placed_free(&p);
                }
            answers_free(&expected);
            queries_free(&q);
        }
    carom_context_destroy(context);
}

/* Stride 0: the first value of a vector or number serves every pair. */
static void test_one_for_all(void **state)
{
    carom_context *context = subject(state);
    for (int type = 0; type < QUERY_TYPES; type++)
        for (unsigned all_one = 0; all_one < 1u << query_input_count(query_pairs[type]); all_one += 3) {
            queries q = queries_family(type, 1, SEED + 1, 67);
            for (unsigned b = 0, points = 0; b < MAX_BLOCKS; b++) {
                int column = query_point_column(type, (int)points), components = 3;
                if (column < 0) {
                    column = query_scalar_column(type, (int)(b - points));
                    components = 1;
                } else {
                    points++;
                }
                for (int k = 0; column >= 0 && k < components && all_one >> b & 1; k++)
                    for (size_t i = 1; i < q.count; i++)
                        q.column[column + k][i] = q.column[column + k][0];
                if (column < 0)
                    break;
            }
            answers expected = expected_answers(&q);
            placed p = place_all(&q, all_one, 1, all_one);
            check_placed(context, &q, &expected, &p, "one value for all");
            placed_free(&p);
            answers_free(&expected);
            queries_free(&q);
        }
    carom_context_destroy(context);
}

/* ---- indices ----------------------------------------------------------------------------------------------------- */

/* Of the triangle or the second sphere. */
static int is_triangle_column(int type, int column)
{
    int component;
    return query_input_of(query_pairs[type], column, &component)->second;
}

/* pairs[i] = (from[sphere[i]], from[triangle[i]]) */
static queries zip(const queries *from, const uint32_t *sphere, const uint32_t *triangle, size_t count)
{
    queries q = queries_alloc(from->type, count);
    for (int c = 0; c < query_columns(from->type); c++)
        for (size_t i = 0; i < count; i++)
            q.column[c][i] = from->column[c][is_triangle_column(q.type, c) ? triangle[i] : sphere[i]];
    return q;
}

static void check_indices(carom_context *context, int type, size_t elements, size_t count)
{
    queries from = queries_family(type, 1, SEED + 2, elements);
    uint32_t *sphere = test_alloc(count, sizeof *sphere), *triangle = test_alloc(count, sizeof *triangle);
    ref_gen g;
    ref_gen_seed(&g, 0, SEED, count);
    for (size_t i = 0; i < count; i++) {
        sphere[i] = (uint32_t)ref_gen_int(&g, 0, (int)elements - 1);
        triangle[i] = (uint32_t)ref_gen_int(&g, 0, (int)elements - 1);
    }
    queries zipped = zip(&from, sphere, triangle, count);
    answers expected = expected_answers(&zipped);
    for (size_t first = 0; first < COUNT_OF(layouts); first++) {
        placed p = place_all(&from, first, 1, 0);
        p.in.indices = pair_indices(sphere, triangle, elements, elements);
        check_placed(context, &zipped, &expected, &p, "indexed pairs");
        placed_free(&p);
    }
    answers_free(&expected);
    queries_free(&zipped);
    queries_free(&from);
    free(sphere);
    free(triangle);
}

static void test_indices(void **state)
{
    carom_context *context = subject(state);
    for (int type = 0; type < QUERY_TYPES; type++) {
        check_indices(context, type, 300, 3000);
        check_indices(context, type, 3000, 300);
        check_indices(context, type, 1, 33);
    }
    carom_context_destroy(context);
}

/* ---- outputs ----------------------------------------------------------------------------------------------------- */

static carom_points_out points_at(const guarded *memory, const layout *l, size_t count)
{
    size_t next = position(l, count, 0, 1);
    return (carom_points_out){at(memory, 0), at(memory, next), at(memory, 2 * next), l->stride};
}

/* The block as it must be: expected values at their places, the fill everywhere else. */
static void check_image(const guarded *got, const answers *expected, int field, const layout *l, const char *label)
{
    size_t count = expected->count;
    guarded image = guarded_alloc(got->size, 0, UNTOUCHED);
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < count; i++)
            memcpy(image.data + position(l, count, i, k), expected->field[field + (int)k].data + i * sizeof(float),
                   sizeof(float));
    for (size_t i = 0; i < got->size; i++)
        if (got->data[i] != image.data[i])
            fail_msg("%s points as %s: byte %zu of %zu is %02x, expected %02x", label, l->name, i, got->size,
                     got->data[i], image.data[i]);
    guarded_check(got, label);
    guarded_free(&image);
}

static void check_outputs(carom_context *context, const queries *q, const answers *expected, const layout *first,
                          const layout *last)
{
    carom_error err = {0};
    inputs in = inputs_of(q);
    guarded a = guarded_alloc(layout_size(first, q->count, 3), first->misalign, UNTOUCHED);
    guarded b = guarded_alloc(layout_size(last, q->count, 3), last->misalign, UNTOUCHED);
    carom_sweep_pairs_desc desc = {.batch.size = sizeof desc,
                                   .batch.count = q->count,
                                   .center = in.points[0],
                                   .velocity = in.points[1],
                                   .radius = in.scalars[0],
                                   .p0 = in.points[2],
                                   .p1 = in.points[3],
                                   .p2 = in.points[4],
                                   .triangle_velocity = in.points[5]};
    carom_sweep_result result = {.size = sizeof result,
                                 .point_first = points_at(&a, first, q->count),
                                 .point_last = points_at(&b, last, q->count)};
    test_ok("sweep", carom_sweep_pairs(context, &desc, &result, NULL, &err), &err);
    check_image(&a, expected, X_FIRST, first, "first");
    check_image(&b, expected, X_LAST, last, "last");
    guarded_free(&a);
    guarded_free(&b);
}

static void test_outputs(void **state)
{
    static const size_t counts[] = {1, 15, 16, 513, 2000};
    carom_context *context = subject(state);
    for (size_t c = 0; c < COUNT_OF(counts); c++) {
        queries q = queries_mixed(SWEEP, SEED + 3, counts[c]);
        answers expected = expected_answers(&q);
        for (size_t l = 0; l < COUNT_OF(layouts); l++)
            check_outputs(context, &q, &expected, &layouts[l], &layouts[(l + 3) % COUNT_OF(layouts)]);
        answers_free(&expected);
        queries_free(&q);
    }
    carom_context_destroy(context);
}

#define ON(name, value)                                                    \
    {name ": strides and alignments", test_inputs, NULL, NULL, value},     \
        {name ": one value for all", test_one_for_all, NULL, NULL, value}, \
        {name ": indices", test_indices, NULL, NULL, value},               \
    {                                                                      \
        name ": strided outputs", test_outputs, NULL, NULL, value          \
    }

int main(void)
{
    const struct CMUnitTest on_cpu[] = {
        TEST_EACH_ISA(ON),
    };
    const struct CMUnitTest on_device[] = {ON("device", &each_isa[CAROM_ISA_AUTO])};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
