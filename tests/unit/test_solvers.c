/* SPDX-License-Identifier: MIT */
/* The pair solvers against the exact reference, on every family of cases.
 *
 * A wrong state is one that the reference does not have for any radius within the margin of the one given. Times and
 * points are judged by what they mean: at the reported time the sphere touches the triangle, at the reported point, on
 * the reported feature, within a few roundings of the largest number involved. That holds in ill-conditioned families
 * too, where the true time may be far off. */
#include "tests/support/support.h"

#include <float.h>
#include <math.h>

/* Share of the largest coordinate or radius within which a decision may go either way. */
#define MARGIN 5e-7
/* Units of 2^-24 of the largest number involved by which a contact may miss. Measured over 80000 pairs a family: 15 for
 * times, 29 for points and features; the rest is room for another order of operations. */
#define RESIDUAL 64.0
enum { PAIRS = 8000, SEED = 7 };

typedef double vec[3];

static double dot(const vec a, const vec b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static void minus(vec out, const vec a, const vec b)
{
    for (int k = 0; k < 3; k++)
        out[k] = a[k] - b[k];
}
static double largest(double so_far, const vec v)
{
    for (int k = 0; k < 3; k++)
        so_far = fmax(so_far, fabs(v[k]));
    return so_far;
}

static double power_of_two_near(double value)
{
    int exponent;
    frexp(value, &exponent);
    return ldexp(1.0, exponent);
}

/* ---- distances in binary64 --------------------------------------------------------------------------------------- */

static double point_segment(const vec x, const vec a, const vec b)
{
    vec e, d, rest;
    minus(e, b, a);
    minus(d, x, a);
    double length2 = dot(e, e), along = length2 > 0.0 ? fmin(fmax(dot(d, e) / length2, 0.0), 1.0) : 0.0;
    for (int k = 0; k < 3; k++)
        rest[k] = d[k] - along * e[k];
    return sqrt(dot(rest, rest));
}

/* Distance to the plane if the foot is inside the triangle, else infinity. */
static double point_face(const vec x, vec p[3])
{
    vec e1, e2, d, n;
    minus(e1, p[1], p[0]);
    minus(e2, p[2], p[0]);
    minus(d, x, p[0]);
    for (int k = 0; k < 3; k++)
        n[k] = e1[(k + 1) % 3] * e2[(k + 2) % 3] - e1[(k + 2) % 3] * e2[(k + 1) % 3];
    double area2 = dot(n, n);
    for (int k = 0; k < 3 && area2 > 0.0; k++) {
        vec e, f, across;
        minus(e, p[(k + 1) % 3], p[k]);
        minus(f, x, p[k]);
        for (int i = 0; i < 3; i++)
            across[i] = e[(i + 1) % 3] * f[(i + 2) % 3] - e[(i + 2) % 3] * f[(i + 1) % 3];
        if (dot(across, n) < 0.0)
            return HUGE_VAL;
    }
    return area2 > 0.0 ? fabs(dot(d, n)) / sqrt(area2) : HUGE_VAL;
}

static double point_triangle(const vec x, vec p[3])
{
    double edges = fmin(point_segment(x, p[0], p[1]), fmin(point_segment(x, p[1], p[2]), point_segment(x, p[2], p[0])));
    return fmin(edges, point_face(x, p));
}

static double point_feature(const vec x, vec p[3], int feature)
{
    switch (feature) {
    case CAROM_FEATURE_V0:
    case CAROM_FEATURE_V1:
    case CAROM_FEATURE_V2: return point_segment(x, p[feature - CAROM_FEATURE_V0], p[feature - CAROM_FEATURE_V0]);
    case CAROM_FEATURE_E01: return point_segment(x, p[0], p[1]);
    case CAROM_FEATURE_E12: return point_segment(x, p[1], p[2]);
    case CAROM_FEATURE_E20: return point_segment(x, p[2], p[0]);
    case CAROM_FEATURE_FACE: return point_triangle(x, p);
    default: return HUGE_VAL;
    }
}

/* ---- judging ----------------------------------------------------------------------------------------------------- */

typedef struct tally {
    uint64_t near, unexplained;
    double residual, point, feature;
    double *errors; /* of times, in units of the last place */
    size_t error_count;
    int exotic; /* numbers of all magnitudes: triangles a million times longer than wide, times beyond binary32 */
} tally;

static void explain(const queries *q, const answers *a, size_t i, const char *what)
{
    queries_print(q, i);
    answers_print(a, i, "answer");
    fail_msg("%s query %zu: %s", query_name(q->type), i, what);
}

/* Is `state` right for a radius within the margin? If two radii there differ, the pair lies at a decision. */
static int near_sweep(ref_sweep_case c, int state)
{
    ref_sweep_answer low = {.state = REF_MISS}, high;
    double radius = c.radius, margin = MARGIN * queries_scale(&c);
    c.radius = radius + margin;
    ref_sweep(&c, &high);
    if (radius >= margin) {
        c.radius = radius - margin;
        ref_sweep(&c, &low);
    }
    return low.state != high.state || state == low.state;
}

static void add_error(tally *t, float got, double exact)
{
    float nearest = fabsf((float)exact);
    int exponent;
    if (!isfinite(nearest) || !isfinite(got) || nearest < FLT_MIN)
        return;
    frexpf(nearest, &exponent);
    t->errors[t->error_count++] = fabs((double)got - exact) / ldexp(1.0, exponent - FLT_MANT_DIG);
}

/* Checks a contact: at `time` the sphere touches the triangle, at the reported point, on the reported feature. */
static void judge_contact(const queries *q, const answers *a, size_t i, int last, tally *t)
{
    int still = 1, base = last ? X_LAST : X_FIRST, feature = answers_byte(a, last ? F_LAST : F_FIRST, i);
    float time = answers_float(a, last ? T_LAST : T_FIRST, i);
    ref_sweep_case c;
    queries_get_sweep(q, i, &c);
    for (int k = 0; k < 3; k++)
        still = still && (float)((double)c.velocity[k] - (double)c.w[k]) == 0.0f;
    if (still || !isfinite(time)) {
        if (!still && feature != CAROM_FEATURE_NONE)
            explain(q, a, i, "a point at a time beyond binary32");
        return;
    }
    vec x, drift, p[3], point, speed;
    double when = (double)time, scale = queries_scale(&c);
    for (int k = 0; k < 3; k++) {
        speed[k] = (double)c.velocity[k] - (double)c.w[k];
        drift[k] = when * (double)c.w[k];
        x[k] = (double)c.center[k] + when * speed[k];
        point[k] = (double)answers_float(a, base + k, i);
        for (int v = 0; v < 3; v++)
            p[v][k] = (double)c.p[v][k];
    }
    /* Rounding the time moves the centre. Below FLT_MIN the rounding error is absolute. */
    scale = fmax(scale, fmax(fabs(when), (double)FLT_MIN) * largest(0.0, speed));
    double unit = power_of_two_near(scale),
           units = scale / unit * 0x1p-24; /* exact: no triangle gets an area from it */
    for (int k = 0; k < 3; k++) {
        x[k] /= unit;
        point[k] = (point[k] - drift[k]) / unit;
        for (int v = 0; v < 3; v++)
            p[v][k] /= unit;
    }
    double residual = fabs(point_triangle(x, p) - c.radius / unit) / units;
    t->residual = fmax(t->residual, residual);
    if (!(residual <= RESIDUAL))
        explain(q, a, i, last ? "no contact at t_last" : "no contact at t_first");
    /* The point carries the triangle's drift: a world coordinate with its own roundings. */
    units *= fmax(1.0, largest(0.0, drift) / scale);
    units = fmax(units, 0x1p-152 / unit); /* RESIDUAL, 64 units, is then eight of the smallest denormals */
    double on = point_feature(point, p, feature) / units;
    double touch = fabs(point_segment(x, point, point) - c.radius / unit) / units;
    t->feature = fmax(t->feature, on);
    if (!(on <= RESIDUAL))
        explain(q, a, i, "the point is not on its feature");
    t->point = fmax(t->point, touch);
    if (!(touch <= RESIDUAL))
        explain(q, a, i, "the point is not at the radius from the centre");
}

/* The state is that of the reported times. Where numbers are of all magnitudes, a time may have been rounded to
 * zero. */
static int state_fits(int state, float first, float last, int exotic)
{
    int expected = first > 0.0f    ? CAROM_APPROACHING
                   : last < 0.0f   ? CAROM_PAST
                   : first == 0.0f ? CAROM_TOUCHING
                   : last == 0.0f  ? CAROM_PARTING
                                   : CAROM_OVERLAPPING;
    if (isinf(first) && first < 0.0f && isinf(last) && last > 0.0f) /* no relative motion */
        return state == CAROM_OVERLAPPING || state == CAROM_TOUCHING;
    return state == expected || (exotic && (first == 0.0f || last == 0.0f));
}

/* Checks that need no reference: no NaN, no -0, times in order and with the signs of the state. */
static void judge_form(const queries *q, const answers *a, size_t i, int exotic)
{
    int state = answers_byte(a, STATE, i), none = state == CAROM_MISS || state == CAROM_INVALID;
    float first = answers_float(a, T_FIRST, i), last = answers_float(a, T_LAST, i);
    if (state > CAROM_INVALID)
        explain(q, a, i, "no such state");
    if (is_nan_or_minus_zero(first) || is_nan_or_minus_zero(last))
        explain(q, a, i, "a time is NaN or -0");
    if (none && !(isinf(first) && first > 0.0f && isinf(last) && last < 0.0f))
        explain(q, a, i, "times without contact are not +inf, -inf");
    if (!none && !(first <= last))
        explain(q, a, i, "t_first > t_last");
    if (!none && !state_fits(state, first, last, exotic))
        explain(q, a, i, "the times belong to another state");
    for (int f = X_FIRST; q->type == SWEEP && f <= F_LAST; f++) {
        if (f == F_FIRST || f == F_LAST) {
            if (answers_byte(a, f, i) > CAROM_FEATURE_FACE || (none && answers_byte(a, f, i) != CAROM_FEATURE_NONE))
                explain(q, a, i, "no such feature here");
        } else if (isnan(answers_float(a, f, i)) || (none && bits_of_float(answers_float(a, f, i)) != 0)) {
            explain(q, a, i, "no such point here");
        }
    }
}

static void judge_sweep(const queries *q, const answers *a, size_t i, tally *t)
{
    ref_sweep_case c;
    ref_sweep_answer exact;
    int state = answers_byte(a, STATE, i);
    judge_form(q, a, i, t->exotic);
    queries_get_sweep(q, i, &c);
    ref_sweep(&c, &exact);
    if (state != exact.state) {
        t->near++;
        if (state == CAROM_INVALID || exact.state == REF_INVALID || !near_sweep(c, state)) {
            print_error("  exact: state=%d t_first=%a t_last=%a\n", exact.state, (double)exact.t_first,
                        (double)exact.t_last);
            explain(q, a, i, "the state is wrong beyond the margin");
        }
    } else if (state != CAROM_MISS && state != CAROM_INVALID) {
        add_error(t, answers_float(a, T_FIRST, i), exact.t_first_near);
        add_error(t, answers_float(a, T_LAST, i), exact.t_last_near);
    }
    if (state != CAROM_MISS && state != CAROM_INVALID) {
        judge_contact(q, a, i, 0, t);
        judge_contact(q, a, i, 1, t);
    }
}

static void judge_overlap(const queries *q, const answers *a, size_t i, tally *t)
{
    ref_sweep_case c;
    ref_overlap_answer exact, low = {0, 127}, high; /* a negative radius: every axis separates */
    int overlap = answers_byte(a, OVERLAPS, i), axes = answers_byte(a, AXES, i);
    queries_get_sweep(q, i, &c);
    ref_overlap(&c, &exact);
    if (exact.overlap < 0) {
        if (overlap != CAROM_OVERLAP_INVALID || axes != CAROM_OVERLAP_INVALID)
            explain(q, a, i, "an invalid pair got an answer");
        return;
    }
    if (overlap > 1 || axes > 127 || (axes == 0) != (overlap == 1))
        explain(q, a, i, "mask and overlap contradict each other");
    if (overlap == exact.overlap && axes == exact.axes)
        return;
    double radius = c.radius, margin = MARGIN * queries_scale(&c);
    c.radius = radius + margin;
    ref_overlap(&c, &high);
    if (radius >= margin) {
        c.radius = radius - margin;
        ref_overlap(&c, &low);
    }
    t->near += overlap != exact.overlap;
    /* The bit of an axis is also uncertain where two directions are nearly at right angles, as in slivers. Another axis
     * then separates. */
    t->unexplained += ((axes ^ exact.axes) & ~(low.axes ^ high.axes)) != 0;
    if (overlap != exact.overlap && low.overlap == high.overlap)
        explain(q, a, i, "overlap is wrong beyond the margin");
}

static double spheres_scale(const queries *q, size_t i)
{
    double scale = 0.0;
    for (int k = 0; k < query_columns(SPHERES); k++)
        scale = fmax(scale, fabs((double)q->column[k][i]));
    return scale;
}

/* a - b, and what its rounding lost: two spheres may drift apart by 2^-66 of their ways. */
static double difference(double a, double b, double *lost)
{
    double d = a - b, rest = a - d;
    *lost = (a - (d + rest)) + (rest - b);
    return d;
}

/* Checks that the distance of the centres at u equals the sum of the radii. */
static void judge_sphere_contact(const queries *q, const answers *a, size_t i, int field, tally *t)
{
    ref_spheres_case c;
    double u = (double)answers_float(a, field, i), scale = spheres_scale(q, i), apart2 = 0.0;
    queries_get_spheres(q, i, &c);
    vec d, move;
    for (int k = 0; k < 3; k++) {
        double lost[3], move_a = difference((double)c.a1[k], (double)c.a0[k], &lost[0]);
        double move_b = difference((double)c.b1[k], (double)c.b0[k], &lost[1]);
        move[k] = difference(move_a, move_b, &lost[2]);
        move[k] += lost[0] - lost[1] + lost[2];
        d[k] = (double)c.a0[k] - (double)c.b0[k] + u * move[k];
    }
    if (!isfinite(u) || largest(0.0, move) <= 0.0)
        return;
    scale = fmax(scale, fmax(fabs(u), (double)FLT_MIN) * largest(0.0, move));
    for (int k = 0; k < 3; k++)
        apart2 += d[k] / scale * (d[k] / scale);
    double residual = fabs(sqrt(apart2) - ((double)c.radius_a + (double)c.radius_b) / scale) * 0x1p24;
    t->residual = fmax(t->residual, residual);
    if (residual > RESIDUAL)
        explain(q, a, i, "the spheres do not touch then");
}

static void judge_spheres(const queries *q, const answers *a, size_t i, tally *t)
{
    ref_spheres_case c;
    ref_spheres_answer exact, low, high;
    int state = answers_byte(a, STATE, i);
    judge_form(q, a, i, t->exotic);
    queries_get_spheres(q, i, &c);
    ref_spheres(&c, &exact);
    if (state != exact.state) {
        t->near++;
        c.margin = MARGIN * spheres_scale(q, i);
        ref_spheres(&c, &high);
        c.margin = -c.margin;
        ref_spheres(&c, &low);
        if (state == CAROM_INVALID || exact.state == REF_INVALID || (low.state == high.state && state != low.state)) {
            print_error("  exact: state=%d u_first=%a u_last=%a\n", exact.state, (double)exact.u_first,
                        (double)exact.u_last);
            explain(q, a, i, "the state is wrong beyond the margin");
        }
    } else if (state != CAROM_MISS && state != CAROM_INVALID) {
        add_error(t, answers_float(a, T_FIRST, i), exact.u_first_near);
        add_error(t, answers_float(a, T_LAST, i), exact.u_last_near);
    }
    if (state != CAROM_MISS && state != CAROM_INVALID) {
        judge_sphere_contact(q, a, i, T_FIRST, t);
        judge_sphere_contact(q, a, i, T_LAST, t);
    }
}

/* Checks an answer against the true one of its row in the registry. */
static void judge_row(const queries *q, const answers *a, size_t i, tally *t)
{
    const query_type *this = query_pairs[q->type];
    float row[QUERY_COLUMNS_MAX];
    query_truth exact, low, high;
    query_value answer[QUERY_FIELDS_MAX];
    queries_load(q, i, row);
    answers_load(a, i, answer);
    this->truth(row, 0.0, &exact);
    if (this->contradiction && this->contradiction(answer))
        explain(q, a, i, this->contradiction(answer));
    if (answer[0].byte == exact.value[0].byte) {
        for (int f = 0; f < query_field_count(this); f++)
            if (exact.times >> f & 1)
                add_error(t, answer[f].number, exact.near[f]);
        return;
    }
    t->near++;
    this->truth(row, MARGIN * query_largest(this, row), &high);
    this->truth(row, -MARGIN * query_largest(this, row), &low);
    if (answer[0].byte == this->invalid || exact.value[0].byte == this->invalid ||
        (low.value[0].byte == high.value[0].byte && answer[0].byte != low.value[0].byte))
        explain(q, a, i, "the decision is wrong beyond the margin");
}

/* ---- families ---------------------------------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static int is_exotic(size_t family)
{
    static const char *const names[] = {"huge", "tiny", "mixed", "non-finite", "slivers", "denormal"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (!strcmp(ref_family_name(family), names[i]))
            return 1;
    return 0;
}

static void check_tally(int type, size_t family, size_t count, const tally *t)
{
    int exotic = t->exotic;
    double most = t->error_count ? t->errors[(t->error_count - 1) * 999 / 1000] : 0.0;
    print_message("%-8s %-16s %5zu pairs, %4llu at a decision", query_name(type), ref_family_name(family), count,
                  (unsigned long long)t->near);
    if (query_pairs[type]->fields[0].kind == QUERY_BITS)
        print_message(", %llu masks with another separating axis\n", (unsigned long long)t->unexplained);
    else
        print_message("; 99.9 %% of times within %.3g ulp; contact within %.3g, point %.3g, feature %.3g x 2^-24\n",
                      most, t->residual, t->point, t->feature);
    /* The family `border` has almost tied axes: 500 masks of 80 000 differ. */
    const double few = !strcmp(ref_family_name(family), "border") ? 0.01 : 0.005;
    test_share("unexplained masks", t->unexplained, count, 0.0, exotic ? 0.25 : few);
    if (ref_family_is_easy(family)) {
        assert_int_equal(t->unexplained, 0);
        if (query_pairs[type]->fields[0].kind != QUERY_BITS)
            test_share("pairs with times", t->error_count, count, 0.25, HUGE_VAL);
        if (most > 64.0)
            fail_msg("%s: 99.9 %% of times within %g ulp, not 64", query_name(type), most);
    }
}

static void check_family(carom_context *context, int type, size_t family)
{
    static void (*const judge[QUERY_TYPES])(const queries *, const answers *, size_t, tally *) = {
        [SWEEP] = judge_sweep, [OVERLAP] = judge_overlap, [SPHERES] = judge_spheres};
    double spare[QUERY_FIELDS_MAX];
    size_t count = test_effort(PAIRS);
    queries q = queries_family(type, family, SEED, count);
    answers a = answers_alloc(type, count, 0xa5);
    tally t = {.errors = test_alloc(2 * count, sizeof(double)), .exotic = is_exotic(family)};
    ask(context, &q, &a, ALL_FIELDS);
    for (size_t i = 0; i < count; i++)
        (judge[type] ? judge[type] : judge_row)(&q, &a, i, &t);
    for (size_t i = 0; i < count; i += 16) /* the row and the judge of its own must agree */
        judge_row(&q, &a, i, &(tally){.errors = spare});
    qsort(t.errors, t.error_count, sizeof *t.errors, compare_doubles);
    check_tally(type, family, count, &t);
    free(t.errors);
    answers_free(&a);
    queries_free(&q);
}

static void check_families(void **state)
{
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (size_t family = 0; family < ref_family_count(); family++)
        check_family(context, *(const int *)*state, family);
    carom_context_destroy(context);
}

int main(void)
{
#define OF_QUERY(name, command) {#name " against the reference", check_families, NULL, NULL, &each_query[QUERY_##name]},
    const struct CMUnitTest tests[] = {QUERY_PAIRS(OF_QUERY)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
