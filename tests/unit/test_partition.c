/* SPDX-License-Identifier: MIT */
/* The elements of `carom explain` on every family of cases. States and times are compared with carom_sweep_pairs in
 * exact mode. Distances, at an end of each element and inside it, are compared with another method of the reference:
 * the least over all features. Some rows are written by hand. Equal means equal as rational numbers. */
#include "tests/support/support.h"

#include "reference/partition.h"

#include <math.h>

enum { PAIRS = 600, SEED = 77 };

typedef struct counted {
    size_t elements, inside, ends, roots;
} counted;

static void wrong(const queries *q, size_t i, size_t family, int element, const char *what)
{
    print_error("family %s\n", ref_family_name(family));
    queries_print(q, i);
    fail_msg("query %zu, element %d: %s", i, element, what);
}

/* ---- distances --------------------------------------------------------------------------------------------------- */

/* The triangle relative to the centre at time top / bottom, multiplied by `bottom`, so that all numbers are integers
 * times powers of two. */
static void triangle_at(ref_triangle *out, const ref_sweep_case *c, const ref_dyadic *top, const ref_dyadic *bottom)
{
    ref_dyadic square;
    ref_vec motion;
    ref_triangle_set(out, c);
    ref_sweep_motion(&motion, c);
    ref_vec_scale(&motion, &motion, top);
    ref_dyadic_mul(&square, bottom, bottom);
    for (int i = 0; i < 3; i++) {
        ref_vec_scale(&out->p[i], &out->p[i], bottom);
        ref_vec_sub(&out->p[i], &out->p[i], &motion);
        ref_vec_scale(&out->edge[i], &out->edge[i], bottom);
        ref_dyadic_mul(&out->length2[i], &out->length2[i], &square);
    }
    ref_vec_scale(&out->normal, &out->normal, &square);
    ref_dyadic_mul(&square, &square, &square);
    ref_dyadic_mul(&out->normal2, &out->normal2, &square);
}

/* 1 if F at time top / bottom equals the squared distance minus r^2. */
static int value_is_true(const ref_quadratic *f, const ref_sweep_case *c, const ref_dyadic *top,
                         const ref_dyadic *bottom, const ref_nearest *nearest)
{
    ref_dyadic value, term, square;
    ref_dyadic_mul(&value, &f->f[2], top); /* f2 top^2 + 2 f1 top bottom + f0 bottom^2 */
    ref_dyadic_mul(&term, &f->f[1], bottom);
    ref_dyadic_add(&term, &term, &term);
    ref_dyadic_add(&value, &value, &term);
    ref_dyadic_mul(&value, &value, top);
    ref_dyadic_mul(&square, bottom, bottom);
    ref_dyadic_mul(&term, &f->f[0], &square);
    ref_dyadic_add(&value, &value, &term);
    ref_dyadic_from_double(&term, c->radius);
    ref_dyadic_mul(&term, &term, &term);
    ref_dyadic_mul(&term, &term, &square);
    ref_dyadic_mul(&term, &term, &f->bottom);
    ref_dyadic_add(&value, &value, &term); /* the squared distance, times the bottom of f and that of time squared */
    ref_dyadic_mul(&value, &value, &nearest->bottom);
    ref_dyadic_mul(&term, &nearest->top, &f->bottom);
    return ref_dyadic_cmp(&value, &term) == 0;
}

/* Finds a time inside the element. Returns 0 if its ends are too close together. The time divides the element in an
 * irregular ratio, because at a regular one another feature may hold the closest point for an instant, as the middle
 * corner of a segment does. */
static int time_inside(const ref_element *element, ref_dyadic *time)
{
    const double share = 0.41421356237309503;
    ref_dyadic step, factor;
    ref_dyadic_from_double(&step, element->has_end ? -share : share);
    if (!element->has_begin && !element->has_end)
        ref_dyadic_zero(time);
    else
        ref_root_estimate(time, element->has_end ? &element->end : &element->begin);
    if (element->has_begin && element->has_end) {
        ref_root_estimate(&factor, &element->begin);
        ref_dyadic_sub(&factor, time, &factor);
        ref_dyadic_mul(&step, &step, &factor);
    }
    ref_dyadic_add(time, time, &step);
    return !(element->has_begin && ref_root_cmp_dyadic(&element->begin, time) >= 0) &&
           !(element->has_end && ref_root_cmp_dyadic(&element->end, time) <= 0);
}

static const char *check_distances(const ref_sweep_case *c, const ref_element *element, const ref_element *before,
                                   counted *count)
{
    ref_triangle triangle;
    ref_nearest nearest;
    ref_dyadic time, one;
    ref_dyadic_from_double(&one, 1.0);
    if (time_inside(element, &time)) {
        triangle_at(&triangle, c, &time, &one);
        ref_triangle_nearest(&triangle, &nearest);
        count->inside++;
        if (nearest.feature != element->feature)
            return "another feature holds the closest point inside";
        if (!value_is_true(&element->f, c, &time, &one, &nearest))
            return "F is not the distance inside";
    }
    if (element->has_begin) {
        triangle_at(&triangle, c, &element->begin.p, &element->begin.w);
        ref_triangle_nearest(&triangle, &nearest);
        count->ends++;
        if (!value_is_true(&element->f, c, &element->begin.p, &element->begin.w, &nearest))
            return "F is not the distance at the beginning";
        if (!value_is_true(&before->f, c, &element->begin.p, &element->begin.w, &nearest))
            return "the element before has another F at its end";
    }
    return NULL;
}

/* ---- structure and roots ----------------------------------------------------------------------------------------- */

static const char *check_order(const ref_partition *partition, int i)
{
    const ref_element *element = &partition->element[i];
    if (element->has_begin != (i > 0) || element->has_end != (i + 1 < partition->count))
        return "an end is missing, or too many";
    if (i > 0 && ref_root_cmp(&element->begin, &partition->element[i - 1].end) != 0)
        return "a gap before it";
    if (i > 0 && element->feature == partition->element[i - 1].feature)
        return "the region of the one before";
    if (element->has_begin && element->has_end && ref_root_cmp(&element->begin, &element->end) >= 0)
        return "it has no length";
    return NULL;
}

/* F is zero at a root: by its definition w t = p + s sqrt(q), in numbers without roots. */
static int is_root(const ref_quadratic *f, const ref_root *root)
{
    ref_dyadic plain, with_root, term;
    ref_dyadic_mul(&plain, &root->p, &root->p); /* f2 (p^2 + q) + 2 f1 p w + f0 w^2 */
    ref_dyadic_add(&plain, &plain, &root->q);
    ref_dyadic_mul(&plain, &plain, &f->f[2]);
    ref_dyadic_mul(&term, &f->f[1], &root->p);
    ref_dyadic_add(&term, &term, &term);
    ref_dyadic_mul(&term, &term, &root->w);
    ref_dyadic_add(&plain, &plain, &term);
    ref_dyadic_mul(&term, &root->w, &root->w);
    ref_dyadic_mul(&term, &term, &f->f[0]);
    ref_dyadic_add(&plain, &plain, &term);
    ref_dyadic_mul(&with_root, &f->f[2], &root->p); /* 2 sqrt(q) (f2 p + f1 w) */
    ref_dyadic_mul(&term, &f->f[1], &root->w);
    ref_dyadic_add(&with_root, &with_root, &term);
    return plain.sign == 0 && (root->s == 0 || with_root.sign == 0);
}

/* The first and the last root of all elements, as the nearest binary32 and binary64. Returns how many roots. */
typedef struct times {
    float first, last;
    double first_near, last_near;
} times;

static size_t find_times(const ref_partition *partition, times *out)
{
    const ref_root *first = NULL, *last = NULL;
    ref_dyadic estimate;
    size_t count = 0;
    *out = (times){HUGE_VALF, -HUGE_VALF, HUGE_VAL, -HUGE_VAL};
    for (int i = 0; i < partition->count; i++) {
        const ref_element *element = &partition->element[i];
        for (int k = 0; k < element->roots; k++) {
            first = first ? first : &element->root[k];
            last = &element->root[k];
            count++;
        }
    }
    if (count == 0)
        return 0;
    ref_root_estimate(&estimate, first);
    out->first = ref_root_to_float(first, &estimate);
    out->first_near = ref_root_to_double(first, &estimate);
    ref_root_estimate(&estimate, last);
    out->last = ref_root_to_float(last, &estimate);
    out->last_near = ref_root_to_double(last, &estimate);
    return count;
}

static int is_motionless(const ref_sweep_case *c)
{
    ref_vec motion;
    ref_sweep_motion(&motion, c);
    return ref_vec_is_zero(&motion);
}

/* Without motion F is a constant, and its sign gives the state. */
static const char *check_motionless(const ref_partition *partition, int state)
{
    const ref_element *only = &partition->element[0];
    const int sign = only->f.f[0].sign;
    if (partition->count != 1 || only->f.f[1].sign || only->f.f[2].sign || only->roots || only->zero != (sign == 0))
        return "not one constant";
    return state == (sign > 0 ? CAROM_MISS : sign == 0 ? CAROM_TOUCHING : CAROM_OVERLAPPING) ? NULL : "sign of F";
}

static const char *check_times(const ref_partition *partition, const answers *a, size_t i, counted *count)
{
    const int state = answers_byte(a, STATE, i);
    times t;
    const size_t roots = find_times(partition, &t);
    count->roots += roots;
    if ((state == CAROM_MISS) != (roots == 0))
        return "roots where the state is miss, or none where it is not";
    if (bits_of_float(t.first) != bits_of_float(answers_float(a, T_FIRST, i)))
        return "the first root is not t_first";
    if (bits_of_float(t.last) != bits_of_float(answers_float(a, T_LAST, i)))
        return "the last root is not t_last";
    return NULL;
}

/* Checks the numbers of the rows: each element begins where the one before ends, and the roots are the reference's
 * times in binary64. */
static const char *check_rows(const ref_sweep_case *c, const ref_partition *partition)
{
    double end = -HUGE_VAL, first = HUGE_VAL, last = -HUGE_VAL;
    ref_sweep_answer truth;
    ref_element_row row;
    for (int i = 0; i < partition->count; i++) {
        ref_element_row_set(&row, &partition->element[i]);
        if (row.begin != end)
            return "a row does not begin where the one before ends";
        end = row.end;
        for (int k = 0; k < row.roots; k++) {
            if (row.root[k] < row.begin || row.root[k] > row.end)
                return "a root outside of its row";
            first = fmin(first, row.root[k]);
            last = fmax(last, row.root[k]);
        }
    }
    ref_sweep(c, &truth);
    const int no_root = is_motionless(c) && truth.state == REF_OVERLAPPING;
    if (end != HUGE_VAL)
        return "the last row ends";
    if (!no_root && (first != truth.t_first_near || last != truth.t_last_near))
        return "the rows' first or last root is another number";
    return NULL;
}

static void check_query(const queries *q, const answers *a, size_t i, size_t family, counted *count)
{
    static ref_partition partition; /* too large for some stacks */
    ref_sweep_case c;
    queries_get_sweep(q, i, &c);
    ref_partition_set(&partition, &c);
    if ((answers_byte(a, STATE, i) == CAROM_INVALID) != (partition.count == 0))
        wrong(q, i, family, 0, "an invalid query has no element, and no other has none");
    if (partition.count == 0)
        return;
    for (int e = 0; e < partition.count; e++) {
        const ref_element *element = &partition.element[e];
        const char *what = check_order(&partition, e);
        if (!what)
            what = check_distances(&c, element, e > 0 ? element - 1 : NULL, count);
        for (int k = 0; k < element->roots && !what; k++)
            what = is_root(&element->f, &element->root[k]) ? NULL : "F is not zero at a root";
        if (what)
            wrong(q, i, family, e, what);
        count->elements++;
    }
    const char *what = is_motionless(&c) ? check_motionless(&partition, answers_byte(a, STATE, i))
                                         : check_times(&partition, a, i, count);
    if (!what)
        what = check_rows(&c, &partition);
    if (what)
        wrong(q, i, family, -1, what);
}

static void test_families(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1);
    const size_t n = test_effort(PAIRS);
    counted count = {0};
    for (size_t family = 0; family < ref_family_count(); family++) {
        queries q = queries_family(SWEEP, family, SEED, n);
        answers a = answers_alloc(SWEEP, n, 0xa5);
        const inputs in = inputs_of(&q);
        carom_error err = {0};
        test_ok("sweep", ask_with(context, SWEEP, CAROM_ACCURACY_EXACT, n, &in, &a, ALL_FIELDS, NULL, &err), &err);
        for (size_t i = 0; i < n; i++)
            check_query(&q, &a, i, family, &count);
        answers_free(&a);
        queries_free(&q);
    }
    carom_context_destroy(context);
    print_message("%zu elements: distances at %zu times inside and %zu ends; %zu roots\n", count.elements, count.inside,
                  count.ends, count.roots);
    assert_true(count.elements > 2 * n * ref_family_count());
    assert_true(count.inside > count.elements - count.elements / 100);
}

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

#define INF HUGE_VAL
enum { ROWS_MAX = 6 };

typedef struct known {
    const char *name;
    ref_sweep_case c;
    int count;
    ref_element_row row[ROWS_MAX];
} known;

/* clang-format off */
#define FLAT {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}
#define SEGMENT {{0, 0, 0}, {4, 0, 0}, {2, 0, 0}}
#define POINT {{2, 0, 0}, {2, 0, 0}, {2, 0, 0}}

static const known cases[] = {
    {"down on the face", {{1, 1, 5}, 1, {0, 0, -1}, FLAT, {0}}, 1,
     {{"R012", -INF, INF, {24, -5, 1}, 2, {4, 6}}}},
    {"the triangle moves instead", {{1, 1, 5}, 1, {0}, FLAT, {0, 0, 1}}, 1,
     {{"R012", -INF, INF, {24, -5, 1}, 2, {4, 6}}}},
    {"sliding on the face at exactly r", {{1, 1, 1}, 1, {1, 0, 0}, FLAT, {0}}, 4,
     {{"R20", -INF, -1, {1, 1, 1}, 1, {-1}}, {"R012", -1, 2, {0, 0, 0}, 2, {-1, 2}},
      {"R12", 2, 4, {2, -1, 0.5}, 1, {2}}, {"R1", 4, INF, {10, -3, 1}, 0, {0}}}},
    {"along an edge's line, through two vertices", {{-3, 0, 0}, 1, {1, 0, 0}, FLAT, {0}}, 3,
     {{"R0", -INF, 3, {8, -3, 1}, 1, {2}}, {"R01", 3, 7, {-1, 0, 0}, 0, {0}}, {"R1", 7, INF, {48, -7, 1}, 1, {8}}}},
    {"a point of radius 0 that crosses an edge and a face", {{1, -2, 0}, 0, {0, 1, 0}, FLAT, {0}}, 4,
     {{"R01", -INF, 2, {4, -2, 1}, 1, {2}}, {"R012", 2, 5, {0, 0, 0}, 2, {2, 5}},
      {"R12", 5, 7, {12.5, -2.5, 0.5}, 1, {5}}, {"R2", 7, INF, {37, -6, 1}, 0, {0}}}},
    {"a miss", {{1, 1, 3}, 1, {1, 0, 0}, FLAT, {0}}, 4,
     {{"R20", -INF, -1, {9, 1, 1}, 0, {0}}, {"R012", -1, 2, {8, 0, 0}, 0, {0}}, {"R12", 2, 4, {10, -1, 0.5}, 0, {0}},
      {"R1", 4, INF, {18, -3, 1}, 0, {0}}}},
    {"thirds, and a root of three", {{0, 1, 0}, 1, {1, 0, 0}, {{0, 0, 0}, {1, 1, 1}, {1, 1, 1}}, {0}}, 3,
     {{"R0", -INF, -1, {0, 0, 1}, 0, {0}},
      {"R01", -1, 2, {-1 / 3.0, -1 / 3.0, 2 / 3.0}, 2, {-0.36602540378443864676, 1.36602540378443864676}},
      {"R1", 2, INF, {1, -1, 1}, 0, {0}}}},
    {"a segment, its middle a corner", {{-2, 1, 0}, 1, {1, 0, 0}, SEGMENT, {0}}, 3,
     {{"R0", -INF, 2, {4, -2, 1}, 1, {2}}, {"R01", 2, 6, {0, 0, 0}, 2, {2, 6}}, {"R1", 6, INF, {36, -6, 1}, 1, {6}}}},
    {"a point", {{0, 0, 0}, 1, {1, 0, 0}, POINT, {0}}, 1, {{"R0", -INF, INF, {3, -2, 1}, 2, {1, 3}}}},
    {"no motion, apart", {{1, 1, 5}, 1, {0}, FLAT, {0}}, 1, {{"R012", -INF, INF, {24, 0, 0}, 0, {0}}}},
    {"no motion, at exactly r", {{1, 1, 1}, 1, {0}, FLAT, {0}}, 1, {{"R012", -INF, INF, {0, 0, 0}, 2, {-INF, INF}}}},
    {"no motion, overlapping", {{1, 1, 0.5f}, 1, {0}, FLAT, {0}}, 1, {{"R012", -INF, INF, {-0.75, 0, 0}, 0, {0}}}},
    {"no motion against the triangle", {{1, 1, 5}, 1, {7, 0, 1}, FLAT, {7, 0, 1}}, 1,
     {{"R012", -INF, INF, {24, 0, 0}, 0, {0}}}},
    {"a negative radius", {{1, 1, 5}, -1, {0, 0, -1}, FLAT, {0}}, 0, {{"", 0, 0, {0}, 0, {0}}}},
    {"an infinite number", {{1, 1, 5}, 1, {0, 0, HUGE_VALF}, FLAT, {0}}, 0, {{"", 0, 0, {0}, 0, {0}}}},
};
/* clang-format on */

static void test_known(void **state)
{
    (void)state;
    static ref_partition partition;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const known *k = &cases[i];
        ref_partition_set(&partition, &k->c);
        for (int e = 0; e < partition.count; e++) {
            const ref_element_row *want = &k->row[e];
            ref_element_row got;
            ref_element_row_set(&got, &partition.element[e]);
            int same = e < k->count && !strcmp(got.region, want->region) && got.begin == want->begin &&
                       got.end == want->end && got.roots == want->roots &&
                       !memcmp(got.f, want->f, sizeof got.f); /* every zero is +0 */
            for (int r = 0; r < got.roots; r++)
                same = same && got.root[r] == want->root[r];
            if (!same)
                fail_msg("%s: row %d is %s %.17g %.17g, F %.17g %.17g %.17g, %d roots %.17g %.17g", k->name, e,
                         got.region, got.begin, got.end, got.f[0], got.f[1], got.f[2], got.roots, got.root[0],
                         got.root[1]);
        }
        if (partition.count != k->count)
            fail_msg("%s: %d elements", k->name, partition.count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
