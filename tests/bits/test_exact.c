/* SPDX-License-Identifier: MIT */
/* Exact mode against the exact reference, on every family: nothing is near enough, everything is equal. Then the same
 * bits from every backend. */
#include "tests/support/support.h"

#include <float.h>
#include <math.h>

enum { PAIRS = 5000, FAMILY_PAIRS = 600, MANY = 40000, SEED = 31 };

/* Of so many pairs of the family `lattice` several are exact ties: 4 of 1000 pairs of spheres. */
enum { TIES_AMONG = 2000 };

/* Decisions by binary64 alone are wrong for at least this share of the family `doubt`, which is made for it. The share
 * is asserted of so many cases, whatever the effort. */
#define WRONG_AT_LEAST 0.05
enum { DOUBTS = 500 };

/* ---- asking ------------------------------------------------------------------------------------------------------ */

typedef struct counts {
    uint64_t proof, second, integers; /* second: of those by proof */
} counts;

static counts ask_exact(carom_context *context, const queries *q, const inputs *in, const answers *out, int fields)
{
    carom_error err = {0};
    carom_stats stats = {.size = sizeof stats};
    test_ok(query_name(q->type),
            ask_with(context, q->type, CAROM_ACCURACY_EXACT, q->count, in, out, fields, &stats, &err), &err);
    if (stats.by_proof + stats.by_integers != q->count)
        fail_msg("%llu by proof and %llu by integers are not %zu", (unsigned long long)stats.by_proof,
                 (unsigned long long)stats.by_integers, q->count);
    assert_true(stats.by_second_filter <= stats.by_proof);
    return (counts){stats.by_proof, stats.by_second_filter, stats.by_integers};
}

/* ---- against the reference --------------------------------------------------------------------------------------- */

static void wrong(const queries *q, const answers *a, size_t i, size_t family, const char *what)
{
    print_error("family %s\n", ref_family_name(family));
    queries_print(q, i);
    answers_print(a, i, "answer");
    fail_msg("%s query %zu: %s", query_name(q->type), i, what);
}

static int same_bits(float a, float b)
{
    return bits_of_float(a) == bits_of_float(b);
}

/* One unit in the last place of the largest coordinate among inputs and point. */
static double unit_of(const ref_sweep_case *c, const double point[3])
{
    double largest = queries_scale(c);
    int exponent;
    for (int k = 0; k < 3; k++)
        largest = fmax(largest, fabs(point[k]));
    frexp(fmax(largest, (double)FLT_MIN), &exponent);
    return ldexp(1.0, exponent - FLT_MANT_DIG);
}

static double point_error(const answers *a, size_t i, int base, const ref_sweep_case *c, int exists,
                          const double point[3])
{
    double worst = 0.0, none[3] = {0}, unit = unit_of(c, point);
    for (int k = 0; k < 3; k++) {
        float got = answers_float(a, base + k, i);
        double expected = exists ? point[k] : none[k];
        /* beyond binary32 the nearest number is infinite; the reference is good to 2^-50 only */
        if (fabs(expected) >= (double)FLT_MAX) {
            worst = fmax(worst, fabsf(got) >= FLT_MAX && (got > 0.0f) == (expected > 0.0) ? 0.0 : HUGE_VAL);
            continue;
        }
        if (!exists && bits_of_float(got) != 0)
            return HUGE_VAL;
        worst = fmax(worst, fabs((double)got - expected) / unit);
    }
    return isnan(worst) ? HUGE_VAL : worst;
}

typedef struct tally {
    uint64_t decided[7];
    double point;
} tally;

static void judge_sweep(const queries *q, const answers *a, size_t i, size_t family, tally *t)
{
    ref_sweep_case c;
    ref_sweep_answer exact;
    queries_get_sweep(q, i, &c);
    ref_sweep(&c, &exact);
    if (answers_byte(a, STATE, i) != exact.state)
        wrong(q, a, i, family, "wrong state");
    if (!same_bits(answers_float(a, T_FIRST, i), exact.t_first))
        wrong(q, a, i, family, "wrong t_first");
    if (!same_bits(answers_float(a, T_LAST, i), exact.t_last))
        wrong(q, a, i, family, "wrong t_last");
    if (answers_byte(a, F_FIRST, i) != exact.feature_first || answers_byte(a, F_LAST, i) != exact.feature_last)
        wrong(q, a, i, family, "wrong feature");
    double first = point_error(a, i, X_FIRST, &c, exact.feature_first != REF_NONE, exact.point_first);
    double last = point_error(a, i, X_LAST, &c, exact.feature_last != REF_NONE, exact.point_last);
    t->point = fmax(t->point, fmax(first, last));
    if (first > 1.0 || last > 1.0) {
        print_error("reference points: %a %a %a, %a %a %a\n", exact.point_first[0], exact.point_first[1],
                    exact.point_first[2], exact.point_last[0], exact.point_last[1], exact.point_last[2]);
        wrong(q, a, i, family, "a contact point is more than one unit off");
    }
    t->decided[exact.state]++;
}

static void judge_overlap(const queries *q, const answers *a, size_t i, size_t family, tally *t)
{
    ref_sweep_case c;
    ref_overlap_answer exact;
    queries_get_sweep(q, i, &c);
    ref_overlap(&c, &exact);
    if (answers_byte(a, OVERLAPS, i) != (exact.overlap < 0 ? CAROM_OVERLAP_INVALID : exact.overlap))
        wrong(q, a, i, family, "wrong overlap");
    if (answers_byte(a, AXES, i) != (exact.axes < 0 ? CAROM_OVERLAP_INVALID : exact.axes))
        wrong(q, a, i, family, "wrong axes");
    t->decided[exact.overlap < 0 ? REF_INVALID : exact.overlap]++;
}

static void judge_spheres(const queries *q, const answers *a, size_t i, size_t family, tally *t)
{
    ref_spheres_case c;
    ref_spheres_answer exact;
    queries_get_spheres(q, i, &c);
    ref_spheres(&c, &exact);
    if (answers_byte(a, STATE, i) != exact.state)
        wrong(q, a, i, family, "wrong state");
    if (!same_bits(answers_float(a, T_FIRST, i), exact.u_first))
        wrong(q, a, i, family, "wrong u_first");
    if (!same_bits(answers_float(a, T_LAST, i), exact.u_last))
        wrong(q, a, i, family, "wrong u_last");
    t->decided[exact.state]++;
}

/* Whether another coordinate is one that the judge allows: within a unit of the largest number. */
static int is_near(float a, float b, double largest)
{
    return !(fabs((double)a - (double)b) > 0x1p-20 * largest);
}

/* By the judge that the row names. */
static void judge_row(const queries *q, const answers *a, size_t i, size_t family, tally *t)
{
    const query_type *this = query_pairs[q->type];
    float row[QUERY_COLUMNS_MAX];
    query_truth exact;
    query_value answer[QUERY_FIELDS_MAX];
    queries_load(q, i, row);
    answers_load(a, i, answer);
    this->truth(row, 0.0, &exact);
    const char *what = this->judge(row, &exact, answer);
    if (what)
        wrong(q, a, i, family, what);
    double largest = query_largest(this, row); /* a contact of a moving triangle may be far from all of the row */
    for (int f = 0; f < query_fields(q->type); f++)
        if (this->fields[f].kind == QUERY_COORDINATE)
            largest = fmax(largest, fabs((double)answer[f].number));
    for (int f = 0; f < query_fields(q->type); f++) { /* and another number in any field is seen */
        query_value other[QUERY_FIELDS_MAX];
        const int is_byte = query_field_bytes(q->type, f) == 1;
        memcpy(other, answer, sizeof other);
        if (is_byte)
            other[f].byte ^= 1;
        else
            other[f].number = answer[f].number == 1.0f ? 2.0f : 1.0f;
        if (!is_byte && is_near(answer[f].number, other[f].number, largest))
            continue;
        if (!this->judge(row, &exact, other)) {
            print_error("the judge of %s does not see another %s\n", this->name, query_field_name(q->type, f));
            wrong(q, a, i, family, "a judge that sees nothing");
        }
    }
    t->decided[exact.value[0].byte == this->invalid ? REF_INVALID : exact.value[0].byte]++;
}

static void check_family(carom_context *context, int type, size_t family)
{
    static void (*const judge[QUERY_TYPES])(const queries *, const answers *, size_t, size_t, tally *) = {
        [SWEEP] = judge_sweep, [OVERLAP] = judge_overlap, [SPHERES] = judge_spheres};
    const int is_lattice = !strcmp(ref_family_name(family), "lattice");
    const size_t some = test_effort(PAIRS), count = is_lattice && some < TIES_AMONG ? TIES_AMONG : some;
    queries q = queries_family(type, family, SEED, count);
    answers a = answers_alloc(type, count, 0xa5);
    inputs in = inputs_of(&q);
    counts by = ask_exact(context, &q, &in, &a, ALL_FIELDS);
    tally t = {0};
    for (size_t i = 0; i < count; i++)
        (judge[type] ? judge[type] : judge_row)(&q, &a, i, family, &t);
    for (size_t i = 0; i < count; i += 16) /* the row and the judge of its own must agree */
        judge_row(&q, &a, i, family, &(tally){0});
    print_message("%-8s %-16s %5zu pairs, %5.1f %% in integers", query_name(type), ref_family_name(family), count,
                  100.0 * (double)by.integers / (double)count);
    for (int s = 0; s <= REF_INVALID; s++)
        print_message(" %4llu", (unsigned long long)t.decided[s]);
    print_message(type == SWEEP ? "; points within %.3g ulp\n" : "\n", t.point);
    if (ref_family_is_easy(family))
        test_share("random pairs left to integers", by.integers, count, 0.0, 0.02);
    if (is_lattice && by.integers == 0)
        fail_msg("exact ties were settled by rounding");
    answers_free(&a);
    queries_free(&q);
}

static void check_families(void **state)
{
    carom_context *context = test_context();
    for (size_t family = 0; family < ref_family_count(); family++)
        check_family(context, *(const int *)*state, family);
    carom_context_destroy(context);
}

/* Ways of 2^23 past something at 1.5 r: with r at 2^-32 the difference of two coordinates has more digits than
 * binary64, and a proof that takes it for exact sees a hit. */
static void test_long_ways(void **state)
{
    enum { COUNT = 60 };
    carom_context *context = test_context();
    queries sweeps = queries_alloc(SWEEP, COUNT), spheres = queries_alloc(SPHERES, COUNT);
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        float n = 0x1p23f, r = (float)ref_power_of_two(-i - 10), aside = (i % 2 ? 1.5f : 3.0f) * r;
        ref_sweep_case c = {
            {-n, -n, 0}, (double)r, {n, n, 0}, {{0, aside, 0}, {aside, 3 * aside, 0}, {0, 4 * aside, r}}, {0}};
        ref_spheres_case s = {{-n, -n, 0}, {n, n, 0}, r, {0, aside, 0}, {0, aside, 0}, 0, 0};
        queries_put_sweep(&sweeps, (size_t)i, &c);
        queries_put_spheres(&spheres, (size_t)i, &s);
    }
    for (int k = 0; k < 2; k++) {
        const int type = k == 0 ? SWEEP : SPHERES;
        queries *q = type == SWEEP ? &sweeps : &spheres;
        answers a = answers_alloc(type, COUNT, 0xa5);
        inputs in = inputs_of(q);
        tally t = {0};
        ask_exact(context, q, &in, &a, ALL_FIELDS);
        for (size_t i = 0; i < COUNT; i++)
            (type == SWEEP ? judge_sweep : judge_spheres)(q, &a, i, 0, &t);
        answers_free(&a);
        queries_free(q);
    }
    carom_context_destroy(context);
}

/* ---- the same bits from every backend ---------------------------------------------------------------------------- */

typedef struct expectation {
    queries q;
    answers expected;
} expectation;

static expectation expect(queries q)
{
    expectation e = {.q = q, .expected = answers_alloc(q.type, q.count, 0x5a)};
    carom_context *scalar = test_cpu(CAROM_ISA_SCALAR, 1);
    inputs in = inputs_of(&e.q);
    ask_exact(scalar, &e.q, &in, &e.expected, ALL_FIELDS);
    carom_context_destroy(scalar);
    return e;
}

static void expectation_free(expectation *e)
{
    queries_free(&e->q);
    answers_free(&e->expected);
}

static void check_inputs(carom_context *context, const expectation *e, const inputs *in, size_t count, int fields,
                         const char *label)
{
    queries q = e->q;
    answers got = answers_alloc(q.type, count, 0xa5);
    q.count = count;
    ask_exact(context, &q, in, &got, fields);
    answers_compare(&e->q, &e->expected, &got, count, fields, label);
    answers_check_guards(&got, label);
    answers_free(&got);
}

static void check_prefix(carom_context *context, const expectation *e, size_t count, int fields, const char *label)
{
    inputs in = inputs_of(&e->q);
    check_inputs(context, e, &in, count, fields, label);
}

static carom_context *subject(void **state, uint32_t threads)
{
    carom_isa isa = *(const carom_isa *)*state;
    return isa == CAROM_ISA_AUTO ? test_device(0, 0) : test_cpu(isa, threads);
}

static void test_families(void **state)
{
    carom_context *context = subject(state, 1);
    for (int type = 0; type < QUERY_TYPES; type++)
        for (size_t family = 0; family < ref_family_count(); family++) {
            expectation e = expect(queries_family(type, family, SEED + 1, test_effort(FAMILY_PAIRS)));
            check_prefix(context, &e, e.q.count, ALL_FIELDS, ref_family_name(family));
            expectation_free(&e);
        }
    carom_context_destroy(context);
}

static void test_batches(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 7, 8, 15, 17, 33, 511, 513, 1000, 4099};
    static const uint32_t threads[] = {1, 2, 3, 7};
    test_need_subject(*(const carom_isa *)*state);
    for (int type = 0; type < QUERY_TYPES; type++) {
        size_t count = test_effort(MANY) + 4099;
        expectation e = expect(queries_mixed(type, SEED + 2, count));
        for (size_t i = 0; i < COUNT_OF(threads); i++) {
            carom_context *context = subject(state, threads[i]);
            check_prefix(context, &e, count, ALL_FIELDS, "another number of threads");
            for (size_t s = 0; s < COUNT_OF(sizes) && i < 2; s++)
                check_prefix(context, &e, sizes[s], ALL_FIELDS, "another size");
            carom_context_destroy(context);
        }
        expectation_free(&e);
    }
}

/* Which rung decides a pair does not depend on threads and sizes. */
static counts check_rungs(void **state, const queries *q, int fields)
{
    static const uint32_t threads[] = {1, 2, 7};
    enum { PIECE = 517 };
    answers got = answers_alloc(q->type, q->count, 0xa5);
    counts first = {0};
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        carom_context *context = subject(state, threads[i]);
        inputs in = inputs_of(q);
        const counts whole = ask_exact(context, q, &in, &got, fields);
        counts sum = {0};
        for (size_t from = 0; i < 2 && from < q->count; from += PIECE) {
            queries piece = *q;
            piece.count = q->count - from < PIECE ? q->count - from : PIECE;
            for (int c = 0; c < query_columns(q->type); c++)
                piece.column[c] = q->column[c] + from;
            inputs part = inputs_of(&piece);
            const counts by = ask_exact(context, &piece, &part, &got, fields);
            sum = (counts){sum.proof + by.proof, sum.second + by.second, sum.integers + by.integers};
        }
        first = i == 0 ? whole : first;
        assert_memory_equal(&whole, &first, sizeof whole);
        assert_true(i >= 2 || memcmp(&sum, &whole, sizeof whole) == 0);
        carom_context_destroy(context);
    }
    answers_free(&got);
    print_message("%-8s %llu by the first filter, %llu by the second, %llu in integers\n", query_name(q->type),
                  (unsigned long long)(first.proof - first.second), (unsigned long long)first.second,
                  (unsigned long long)first.integers);
    return first;
}

static void test_rungs(void **state)
{
    test_need_subject(*(const carom_isa *)*state);
    for (int type = 0; type < QUERY_TYPES; type++) {
        queries q = queries_mixed(type, SEED + 6, 4136);
        const counts all = check_rungs(state, &q, ALL_FIELDS);
        assert_true(all.integers > 0);
        if (type != SWEEP) {
            assert_int_equal(all.second, 0); /* these have no second filter */
        } else { /* of the undecided sweeps the second filter decides more than integers do */
            const counts times = check_rungs(state, &q, 1 << STATE | 1 << T_FIRST | 1 << T_LAST);
            assert_true(all.second > all.integers && times.second > times.integers);
        }
        queries_free(&q);
    }
}

/* What is asked for decides which kernel answers: times with state and without, each end alone, everything. */
static void test_selections(void **state)
{
#define BITS3(field) (7 << (field))
    static const int selections[] = {1 << STATE,
                                     1 << T_FIRST,
                                     1 << T_LAST,
                                     1 << STATE | 1 << T_FIRST | 1 << T_LAST,
                                     BITS3(X_FIRST),
                                     1 << F_FIRST,
                                     BITS3(X_LAST) | 1 << F_LAST,
                                     1 << T_FIRST | BITS3(X_FIRST) | 1 << F_FIRST};
    carom_context *context = subject(state, 1);
    for (int type = 0; type < QUERY_TYPES; type++) {
        expectation e = expect(queries_mixed(type, SEED + 3, test_effort(4000)));
        int all = (1 << query_fields(type)) - 1;
        for (size_t i = 0; i < COUNT_OF(selections); i++)
            if (selections[i] & all)
                check_prefix(context, &e, e.q.count, selections[i] & all, "a selection of outputs");
        expectation_free(&e);
    }
    carom_context_destroy(context);
}

/* Without a triangle velocity other kernels answer, as for a velocity of zero but for the sign of a zero coordinate. */
static void test_rest(void **state)
{
    static const int selections[] = {1 << T_FIRST, 1 << STATE | 1 << T_FIRST | 1 << T_LAST, ALL_FIELDS};
    static const int same = 1 << STATE | 1 << T_FIRST | 1 << T_LAST | 1 << F_FIRST | 1 << F_LAST;
    carom_context *context = subject(state, 1);
    queries q = queries_mixed(SWEEP, SEED + 4, test_effort(6000));
    for (int c = 16; c < 19; c++)
        memset(q.column[c], 0, q.count * sizeof(float));
    expectation e = expect(q);
    inputs in = inputs_of(&e.q);
    in.points[5] = (carom_points){0};
    for (size_t i = 0; i < COUNT_OF(selections); i++) {
        answers got = answers_alloc(SWEEP, q.count, 0xa5);
        ask_exact(context, &e.q, &in, &got, selections[i]);
        answers_compare(&e.q, &e.expected, &got, q.count, selections[i] & same, "a triangle at rest");
        answers_free(&got);
    }
    expectation_free(&e);
    carom_context_destroy(context);
}

/* Rows of `columns` floats instead of columns; the first of them lies `before` bytes off. */
static void interleave(const queries *q, float *rows, inputs *in)
{
    size_t columns = (size_t)query_columns(q->type), stride = columns * sizeof(float);
    for (size_t i = 0; i < q->count; i++)
        for (size_t c = 0; c < columns; c++)
            rows[i * columns + c] = q->column[c][i];
    for (int p = 0; query_point_column(q->type, p) >= 0; p++) {
        const float *x = rows + query_point_column(q->type, p);
        in->points[p] = (carom_points){x, x + 1, x + 2, stride};
    }
    for (int s = 0; query_scalar_column(q->type, s) >= 0; s++)
        in->scalars[s] = (carom_scalars){rows + query_scalar_column(q->type, s), stride};
}

static void test_layouts(void **state)
{
    carom_context *context = subject(state, 2);
    for (int type = 0; type < QUERY_TYPES; type++) {
        expectation e = expect(queries_mixed(type, SEED + 5, test_effort(3000)));
        float *rows = test_alloc(e.q.count * (size_t)query_columns(type), sizeof(float));
        uint32_t *index = test_alloc(e.q.count, sizeof *index);
        inputs in = {0};
        interleave(&e.q, rows, &in);
        check_inputs(context, &e, &in, e.q.count, ALL_FIELDS, "rows");
        /* Indexed, in reverse: the answers must be those of the reversed queries. */
        queries reversed = queries_alloc(type, e.q.count);
        for (size_t i = 0; i < e.q.count; i++) {
            index[i] = (uint32_t)(e.q.count - 1 - i);
            for (int c = 0; c < query_columns(type); c++)
                reversed.column[c][i] = e.q.column[c][index[i]];
        }
        expectation backwards = expect(reversed);
        in.indices = pair_indices(index, index, e.q.count, e.q.count);
        check_inputs(context, &backwards, &in, e.q.count, ALL_FIELDS, "indices");
        expectation_free(&backwards);
        expectation_free(&e);
        free(index);
        free(rows);
    }
    carom_context_destroy(context);
}

/* ---- the cases themselves ---------------------------------------------------------------------------------------- */

/* That the families of decisions do what they are for: plain formulas in binary64 fail there. */
static void test_textbook_fails(void **state)
{
    (void)state;
    for (size_t family = 0; family < ref_family_count(); family++) {
        const int is_doubt = !strcmp(ref_family_name(family), "doubt");
        size_t sweeps = 0, pairs = 0, count = is_doubt ? DOUBTS : test_effort(DOUBTS);
        for (size_t i = 0; i < count; i++) {
            ref_sweep_case c;
            ref_sweep_answer exact;
            ref_spheres_case s;
            ref_spheres_answer spheres;
            ref_family_sweep(family, SEED, i, &c);
            ref_sweep(&c, &exact);
            sweeps += ref_textbook_sweep(&c) != exact.state;
            ref_family_spheres(family, SEED, i, &s);
            ref_spheres(&s, &spheres);
            pairs += ref_textbook_spheres(&s) != spheres.state;
        }
        print_message("%-16s textbook wrong about %4zu sweeps, %4zu spheres of %zu\n", ref_family_name(family), sweeps,
                      pairs, count);
        if (is_doubt) {
            test_share("wrong sweeps", sweeps, count, WRONG_AT_LEAST, 1.0);
            test_share("wrong pairs of spheres", pairs, count, WRONG_AT_LEAST, 1.0);
        }
    }
}

#define ON(name, value)                                                       \
    {name ": families", test_families, NULL, NULL, value},                    \
        {name ": batches and threads", test_batches, NULL, NULL, value},      \
        {name ": which rung decides", test_rungs, NULL, NULL, value},         \
        {name ": selections of outputs", test_selections, NULL, NULL, value}, \
        {name ": triangles at rest", test_rest, NULL, NULL, value},           \
    {                                                                         \
        name ": layouts", test_layouts, NULL, NULL, value                     \
    }

int main(void)
{
#define OF_QUERY(name, command) {#name " against the reference", check_families, NULL, NULL, &each_query[QUERY_##name]},
    const struct CMUnitTest on_cpu[] = {
        QUERY_PAIRS(OF_QUERY) cmocka_unit_test(test_long_ways),
        cmocka_unit_test(test_textbook_fails),
        TEST_EACH_ISA(ON),
    };
    const struct CMUnitTest on_device[] = {
        ON("device", &each_isa[CAROM_ISA_AUTO]),
    };
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
