/* SPDX-License-Identifier: MIT */
/* The error bounds of exact mode's first rung, the floating-point filter. A hill climb searches for the largest error.
 * With the real bounds it must find no error beyond its bound and no wrong decided answer. With smaller bounds the same
 * search must find wrong answers, which shows that it could find an error in the library. */
#include "tests/support/support.h"
#include "reference/judge.h"

#include <math.h>

/* The solver's source, compiled for one pair at a time, with bounds that the test can scale. */
static float proof_scale = 1.0f;
static double wide_scale = 1.0;
#define LANES 1
#define PROOF_BOUND proof_scale
#define W_BOUND wide_scale
#define PAIR_SOLVERS
#include "kernels/wide.h"

#include "kernels/overlap_exact.h"
#include "kernels/pairs_exact.h"
#include "second_filter.h"

enum { STARTS = 60, STEPS = 40, SEED = 77 };

/* ---- one sweep --------------------------------------------------------------------------------------------------- */

typedef struct sweep_look_at {
    sweep_exact x;
    sweep_out answer;
    proof end[PROOF_CONTACTS];
} sweep_look_at;

/* `want` is SWEEP_TIMES or SWEEP_FULL. Their bounds differ. */
static void solve(const sweep_case *s, int want, sweep_look_at *l)
{
    const int full = want == SWEEP_FULL;
    const float *columns[IN_SWEEP_MOVING];
    for (int c = 0; c < IN_SWEEP_MOVING; c++)
        columns[c] = &s->in[c];
    sweep_guess(load_sweep(columns, 0, 1), want, 1, &l->x);
    exact_residuals(columns, 0, &l->x, want, 1);
    sweep_prove_contacts(&l->x, PROOF_FIRST, PROOF_CONTACTS, full, l->end);
    l->answer = sweep_prove(&l->x, want).answer;
}

/* The error of a proven time divided by its bound; 0 if the filter did not decide. */
static double ratio_of(const proof_contact *e, const proof *p, double true_time)
{
    if (!p->certain || p->apart || !isfinite((float)true_time))
        return 0.0;
    double error = fabs((double)e->at.time[0] + (double)p->step - true_time) - 0x1p-53 * fabs(true_time);
    return error > 0.0 ? error / (double)p->step_error : 0.0;
}

/* Returns 1 if the answer is decided and wrong. *ratio becomes the largest error divided by its bound, if that is
 * larger. */
static int judge_look(const sweep_case *s, int want, const ref_sweep_answer *exact, double *ratio)
{
    sweep_look_at l;
    solve(s, want, &l);
    int hit = exact->state != REF_MISS && exact->state != REF_INVALID;
    if (l.x.query.valid && !l.x.pair.at_rest && hit && !isinf(exact->t_first) && !isinf(exact->t_last)) {
        *ratio = fmax(*ratio, ratio_of(&l.x.contact[PROOF_FIRST], &l.end[PROOF_FIRST], exact->t_first_near));
        *ratio = fmax(*ratio, ratio_of(&l.x.contact[PROOF_LAST], &l.end[PROOF_LAST], exact->t_last_near));
    }
    if (isnan(l.answer.t_first))
        return 0;
    int features = want != SWEEP_FULL ||
                   (l.answer.feature_first == exact->feature_first && l.answer.feature_last == exact->feature_last);
    return l.answer.state != exact->state || !same(l.answer.t_first, exact->t_first) ||
           !same(l.answer.t_last, exact->t_last) || !features;
}

static int judge_sweep(const sweep_case *s, double *ratio)
{
    ref_sweep_case c = reference_case_of(s);
    ref_sweep_answer exact;
    ref_sweep(&c, &exact);
    *ratio = 0.0;
    return judge_look(s, SWEEP_TIMES, &exact, ratio) | judge_look(s, SWEEP_FULL, &exact, ratio);
}

/* ---- motions almost along an edge -------------------------------------------------------------------------------- */

/* A motion almost along an edge. The squared distance changes so slowly that its minimum is inaccurate. A contact 2^-30
 * of the radius deep is then easily taken for a miss. */
static void make_along_edge(ref_gen *g, double angle, sweep_case *s)
{
    double u[3], w[3], h[3], along = 0.0, length;
    ref_gen_direction(g, u);
    ref_gen_direction(g, w);
    for (int k = 0; k < 3; k++)
        along += w[k] * u[k];
    for (int k = 0; k < 3; k++)
        w[k] -= along * u[k];
    length = ref_length(w);
    for (int k = 0; k < 3; k++)
        w[k] /= length;
    for (int k = 0; k < 3; k++)
        h[k] = u[(k + 1) % 3] * w[(k + 2) % 3] - u[(k + 2) % 3] * w[(k + 1) % 3];
    double r = ref_gen_range(g, 1.0, 1.9), tilt = angle * ref_gen_range(g, 0.5, 1.5), t = ref_gen_range(g, 1.0, 3.0);
    double edge = ref_gen_range(g, 0.1, 0.9);
    memset(s, 0, sizeof *s);
    s->in[IN_R] = (float)r;
    for (int k = 0; k < 3; k++) {
        double motion = u[k] * cos(tilt) + w[k] * sin(tilt);
        s->in[IN_VX + k] = (float)motion;
        s->in[IN_P1X + k] = (float)(u[k] * edge);
        s->in[IN_P2X + k] = (float)(u[k] * edge * 0.5 - h[k] * edge * 1.5);
        s->in[IN_CX + k] = (float)(u[k] * edge * 0.5 + h[k] * r - motion * t);
    }
}

/* Squared distance between the line of centres and the line P0P1, minus r^2. `normal` is the direction between the two
 * lines. */
static long double gap_of(const sweep_case *s, long double normal[3])
{
    long double e[3], v[3], d[3], n2 = 0, q = 0;
    for (int k = 0; k < 3; k++) {
        e[k] = (long double)s->in[IN_P1X + k] - (long double)s->in[IN_P0X + k];
        d[k] = (long double)s->in[IN_CX + k] - (long double)s->in[IN_P0X + k];
        v[k] = (long double)s->in[IN_VX + k];
    }
    for (int k = 0; k < 3; k++) {
        normal[k] = e[(k + 1) % 3] * v[(k + 2) % 3] - e[(k + 2) % 3] * v[(k + 1) % 3];
        n2 += normal[k] * normal[k];
        q += normal[k] * d[k];
    }
    for (int k = 0; k < 3; k++)
        normal[k] /= sqrtl(n2);
    return q * q / n2 - (long double)s->in[IN_R] * (long double)s->in[IN_R];
}

/* Moves P0 until sphere and edge overlap by about `depth`. P0 is at the origin, where binary32 has very small steps. */
static int meet_by(sweep_case *s, long double depth)
{
    long double normal[3];
    int axis = 0;
    (void)gap_of(s, normal);
    for (int k = 1; k < 3; k++)
        axis = fabsl(normal[k]) > fabsl(normal[axis]) ? k : axis;
    for (int step = 0; step < 6; step++) {
        long double gap = gap_of(s, normal), r = (long double)s->in[IN_R];
        long double side = 0;
        for (int k = 0; k < 3; k++)
            side += normal[k] * ((long double)s->in[IN_CX + k] - (long double)s->in[IN_P0X + k]);
        s->in[IN_P0X + axis] += (float)((gap + depth) / (2 * r * normal[axis] * (side < 0 ? -1 : 1)));
    }
    long double gap = gap_of(s, normal);
    return gap < 0 && gap > -4 * depth;
}

static void test_along_edges(void **state)
{
    static const double angles[] = {0.006, 0.01, 0.02};
    uint64_t tried = 0, settled = 0;
    (void)state;
    proof_scale = 1.0f;
    for (size_t a = 0; a < COUNT_OF(angles); a++)
        for (uint64_t i = 0; i < test_effort(20000); i++) {
            sweep_case s;
            ref_gen g;
            ref_gen_seed(&g, a, SEED + 3, i);
            make_along_edge(&g, angles[a], &s);
            for (int depth = 30; depth < 38; depth++) {
                sweep_look_at l;
                double ratio;
                if (!meet_by(&s, ldexpl(1, -depth)))
                    continue;
                tried++;
                solve(&s, SWEEP_TIMES, &l);
                if (isnan(l.answer.t_first))
                    continue;
                settled++;
                if (judge_sweep(&s, &ratio)) {
                    print_sweep(&s);
                    fail_msg("angle %g, depth 2^-%d: settled, and wrong", angles[a], depth);
                }
            }
        }
    print_message("%llu tried, %llu settled\n", (unsigned long long)tried, (unsigned long long)settled);
    assert_true(tried > test_effort(20000));
}

/* Two hits that an earlier bound decided as misses. */
static void test_along_edges_found(void **state)
{
    static const float found[][16] = {
        {0x1.392818p-1f, 0x1.2b949ap-3f, 0x1.faba02p+0f, 0x1.43d83p+0f, -0x1.97be62p-1f, 0x1.ca6894p-4f,
         -0x1.304fd4p-1f, 0x0p+0f, 0x0p+0f, -0x1.345d28p-23f, -0x1.c2e7f4p-3f, 0x1.261b0ap-5f, -0x1.53db86p-3f,
         0x1.ef5cc4p-4f, -0x1.71b418p-4f, -0x1.a6cd6ep-2f},
        {0x1.163f2ap+0f, -0x1.06b3a6p-2f, 0x1.6f3aap+1f, 0x1.82fe0cp+0f, -0x1.577258p-4f, 0x1.03ba6cp-1f,
         -0x1.b72356p-1f, 0x0p+0f, 0x1.b8f184p-24f, 0x0p+0f, -0x1.7c7e7p-5f, 0x1.41ad4ep-2f, -0x1.142a7p-1f,
         -0x1.1d0c52p-1f, -0x1.0f2ba8p-1f, -0x1.3f538cp-1f}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(found); i++) {
        sweep_case s = {{0}};
        double ratio;
        memcpy(s.in, found[i], sizeof found[i]);
        if (judge_sweep(&s, &ratio)) {
            print_sweep(&s);
            fail_msg("case %zu: settled, and wrong", i);
        }
    }
}

/* ---- two spheres ------------------------------------------------------------------------------------------------- */

typedef struct spheres_case {
    float in[IN_SPHERES];
} spheres_case;

static spheres_case spheres_case_of(const ref_spheres_case *c)
{
    spheres_case s;
    memcpy(&s.in[IN_A0X], c->a0, sizeof c->a0);
    memcpy(&s.in[IN_A1X], c->a1, sizeof c->a1);
    memcpy(&s.in[IN_B0X], c->b0, sizeof c->b0);
    memcpy(&s.in[IN_B1X], c->b1, sizeof c->b1);
    s.in[IN_RA] = c->radius_a;
    s.in[IN_RB] = c->radius_b;
    return s;
}

static ref_spheres_case reference_spheres_of(const spheres_case *s)
{
    ref_spheres_case c = {.radius_a = s->in[IN_RA], .radius_b = s->in[IN_RB]};
    memcpy(c.a0, &s->in[IN_A0X], sizeof c.a0);
    memcpy(c.a1, &s->in[IN_A1X], sizeof c.a1);
    memcpy(c.b0, &s->in[IN_B0X], sizeof c.b0);
    memcpy(c.b1, &s->in[IN_B1X], sizeof c.b1);
    return c;
}

static w3 wide_vector(const float *v)
{
    return w3_of((double)v[0], (double)v[1], (double)v[2]);
}

/* The discriminant (d.v)^2 - v^2 (d^2 - r^2), with eleven bits more than the library uses. The differences of inputs
 * are exact unless the numbers have very different magnitudes. */
static long double left_of(const spheres_case *s, double near)
{
    long double a = 0, b = 0, c = 0, r = (long double)s->in[IN_RA] + (long double)s->in[IN_RB];
    for (int k = 0; k < 3; k++) {
        long double d = (long double)s->in[IN_A0X + k] - (long double)s->in[IN_B0X + k];
        long double v = (long double)s->in[IN_A1X + k] - (long double)s->in[IN_A0X + k] -
                        ((long double)s->in[IN_B1X + k] - (long double)s->in[IN_B0X + k]);
        long double y = d + v * (long double)near;
        a += v * v;
        b += y * v;
        c += y * y;
    }
    return b * b - a * (c - r * r);
}

static int judge_spheres(const spheres_case *s, double *ratio)
{
    ref_spheres_case c = reference_spheres_of(s);
    ref_spheres_answer exact;
    ref_spheres(&c, &exact);
    const spheres_wide x =
        spheres_relate_wide(wide_vector(&s->in[IN_A0X]), wide_vector(&s->in[IN_A1X]), (double)s->in[IN_RA],
                            wide_vector(&s->in[IN_B0X]), wide_vector(&s->in[IN_B1X]), (double)s->in[IN_RB]);
    const spheres_proven p = spheres_prove(&x);
    *ratio = 0.0;
    double a = w3_dot(x.v, x.v), near = -w3_dot(x.d, x.v) / a;
    if (x.valid && a > 0.0 && a < HUGE_VAL) {
        spheres_curve g = spheres_curve_of(&x, a, near);
        long double error = (long double)g.left - left_of(s, near);
        double size = fabs((double)error);
        *ratio = size == 0.0 ? 0.0 : size / g.left_error;
    }
    if (isnan(p.u_first))
        return 0;
    return (int)p.state != exact.state || !same((float)p.u_first, exact.u_first) ||
           !same((float)p.u_last, exact.u_last);
}

static void print_spheres(const spheres_case *s)
{
    ref_spheres_case c = reference_spheres_of(s);
    queries q = queries_alloc(SPHERES, 1);
    queries_put_spheres(&q, 0, &c);
    queries_print(&q, 0);
    queries_free(&q);
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

/* Changes one number: by some units in the last place, or sometimes by a power of two. */
static void change(ref_gen *g, float *in, int count, int radius)
{
    int column = ref_gen_int(g, 0, count - 1), shift = ref_gen_int(g, 0, 20);
    uint32_t bits = bits_of_float(in[column]);
    uint32_t step = (uint32_t)ref_gen_int(g, 1, 3) << (ref_gen_chance(g, 2) ? 0 : shift);
    bits = ref_gen_chance(g, 2) ? bits + step : bits - step;
    float value = float_of_bits(bits);
    if (ref_gen_chance(g, 8))
        value = in[column] * (float)ref_power_of_two(ref_gen_int(g, -30, 10));
    if (isfinite(value) && !(column == radius && value < 0.0f))
        in[column] = value;
}

typedef struct found {
    uint64_t tried, wrong;
    double ratio;
} found;

typedef int sweep_judge(const sweep_case *s, double *ratio);

/* Hill climb from one case to larger ratios. Prints the first wrong answer if `loud`. */
static void climb_judged(sweep_judge *judge, size_t family, uint64_t index, found *f, int loud)
{
    ref_sweep_case c;
    ref_gen g;
    double best = 0.0, ratio;
    ref_gen_seed(&g, family, SEED + 1, index);
    ref_family_sweep(family, SEED, index, &c);
    sweep_case at = sweep_case_of(&c), next = at;
    for (int step = 0; step <= STEPS; step++, next = at) {
        if (step > 0)
            change(&g, next.in, IN_SWEEP_MOVING, IN_R);
        int bad = judge(&next, &ratio);
        f->tried++;
        f->wrong += (uint64_t)bad;
        if (loud && (bad || ratio > 1.0)) {
            print_sweep(&next);
            fail_msg("%s: %s; error %g times its bound", ref_family_name(family), bad ? "settled, and wrong" : "",
                     ratio);
        }
        f->ratio = fmax(f->ratio, ratio);
        if (step == 0 || ratio >= best) {
            best = ratio;
            at = next;
        }
    }
}

static void climb_sweep(size_t family, uint64_t index, found *f, int loud)
{
    climb_judged(judge_sweep, family, index, f, loud);
}

static void climb_second(size_t family, uint64_t index, found *f, int loud)
{
    climb_judged(judge_second, family, index, f, loud);
}

static void climb_spheres(size_t family, uint64_t index, found *f, int loud)
{
    ref_spheres_case c;
    ref_gen g;
    double best = 0.0, ratio;
    ref_gen_seed(&g, family, SEED + 2, index);
    ref_family_spheres(family, SEED, index, &c);
    spheres_case at = spheres_case_of(&c), next = at;
    for (int step = 0; step <= STEPS; step++, next = at) {
        if (step > 0)
            change(&g, next.in, IN_SPHERES, ref_gen_chance(&g, 2) ? IN_RA : IN_RB);
        int bad = judge_spheres(&next, &ratio);
        f->tried++;
        f->wrong += (uint64_t)bad;
        if (loud && (bad || ratio > 1.0)) {
            print_spheres(&next);
            fail_msg("%s: %s; error %g times its bound", ref_family_name(family), bad ? "settled, and wrong" : "",
                     ratio);
        }
        f->ratio = fmax(f->ratio, ratio);
        if (step == 0 || ratio >= best) {
            best = ratio;
            at = next;
        }
    }
}

/* ---- every query ------------------------------------------------------------------------------------------------- */

/* The exact-mode filter of each pair query, from the tables of kernels/pairs.h: its function, and the answer field of
 * each output column. Points are not checked here. */
typedef struct out_field {
    const char *name;
    int column;
} out_field;

typedef struct pair_filter {
    int type;
    void (*body)(in_columns in, out_columns out, size_t i);
    int radii, bytes;
    const out_field *fields;
    size_t field_count;
} pair_filter;

enum {
#define MASKS(name, in_count, radii, out_count, bytes) RADII_OF_##name = radii, BYTES_OF_##name = bytes,
    PAIR_KERNELS_OF(MASKS, )
};
#define FIELD_array(name, column) {#name, column},
#define FIELD_points(name, column)
#define FIELD(kind, name, column) FIELD_##kind(name, column)
#define FIELDS(query, kernel, INPUTS, OUTPUTS) static const out_field fields_##kernel[] = {OUTPUTS(FIELD)};
PAIR_QUERIES(FIELDS)
#define FILTER(query, kernel, INPUTS, OUTPUTS)                     \
    {QUERY_##kernel,    pairs_##kernel##_exact, RADII_OF_##kernel, \
     BYTES_OF_##kernel, fields_##kernel,        COUNT_OF(fields_##kernel)},
static const pair_filter filters[] = {PAIR_QUERIES(FILTER)};

/* Returns 1 if the answer is decided and wrong. */
static int judge_pair(const pair_filter *p, const float *row)
{
    const query_type *q = query_pairs[p->type];
    const float *in[COLUMNS_MAX];
    float number[COLUMNS_MAX];
    uint8_t byte[COLUMNS_MAX];
    void *out[COLUMNS_MAX];
    query_truth truth;
    for (int c = 0; c < COLUMNS_MAX; c++) {
        in[c] = &row[c];
        out[c] = p->bytes >> c & 1 ? (void *)&byte[c] : &number[c];
    }
    p->body(in, out, 0);
    if (p->bytes & 1 ? byte[0] == OVERLAP_UNDECIDED : isnan(number[0]))
        return 0;
    q->truth(row, 0.0, &truth);
    int wrong = 0;
    for (size_t i = 0; i < p->field_count; i++) {
        const int column = p->fields[i].column, f = query_field_named(q, p->fields[i].name, strlen(p->fields[i].name));
        if (truth.fields >> f & 1)
            wrong |= p->bytes >> column & 1 ? byte[column] != truth.value[f].byte
                                            : !same(number[column], truth.value[f].number);
    }
    return wrong;
}

/* Checks cases of a family, each also with one number changed. Walks are short, because a filter without bounds is
 * wrong at ties, and long walks lead away from ties. */
static uint64_t walk(const pair_filter *p, size_t family, uint64_t index, int must_hold)
{
    const query_type *q = query_pairs[p->type];
    float at[QUERY_COLUMNS_MAX] = {0};
    uint64_t wrong = 0;
    ref_gen g;
    ref_gen_seed(&g, family, SEED + 4, index);
    for (int step = 0; step < STEPS; step++) {
        if (step % 2 == 0)
            q->family(family, SEED, index * STEPS + (uint64_t)step, at);
        if (judge_pair(p, at)) {
            for (int c = 0; c < query_column_count(q) && must_hold; c++)
                print_error(" %s=%a", query_column_name(q, c), (double)at[c]);
            if (must_hold)
                fail_msg("%s %s: decided, and wrong", q->name, ref_family_name(family));
            wrong++;
        }
        float next[QUERY_COLUMNS_MAX];
        memcpy(next, at, sizeof next);
        change(&g, next, query_column_count(q), -1);
        int valid = 1;
        for (int c = 0; c < query_column_count(q); c++)
            valid &= !(p->radii >> c & 1) || !(next[c] < 0.0f);
        if (valid)
            memcpy(at, next, sizeof next);
    }
    return wrong;
}

static void test_filters(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(filters); i++) {
        uint64_t wrong = 0;
        for (int shrunk = 0; shrunk < 2; shrunk++) {
            wide_scale = shrunk ? 0.0 : 1.0;
            for (size_t family = 0; family < ref_family_count(); family++)
                for (uint64_t k = 0; k < test_effort(STARTS); k++)
                    wrong += walk(&filters[i], family, k, !shrunk);
        }
        wide_scale = 1.0;
        print_message("%-8s without bounds %6llu wrong\n", query_name(filters[i].type), (unsigned long long)wrong);
        if (wrong == 0 && filters[i].type != OVERLAP) /* its bounds are binary32 constants, not scaled here */
            fail_msg("no bounds at all, and nothing wrong was found: this search shows nothing");
    }
}

typedef void climber(size_t family, uint64_t index, found *f, int loud);

static void climb_families(climber *climb, found *total, int loud)
{
    for (size_t family = 0; family < ref_family_count(); family++) {
        found f = {0};
        for (uint64_t i = 0; i < test_effort(STARTS); i++)
            climb(family, i, &f, loud);
        if (loud)
            print_message("%-16s %6llu tried, largest error %.3g of its bound\n", ref_family_name(family),
                          (unsigned long long)f.tried, f.ratio);
        total->tried += f.tried;
        total->wrong += f.wrong;
        total->ratio = fmax(total->ratio, f.ratio);
    }
}

static void test_bounds_hold(void **state)
{
    static climber *const climbers[] = {climb_sweep, climb_spheres, climb_second};
    found f = {0};
    proof_scale = 1.0f;
    wide_scale = 1.0;
    climb_families(climbers[*(const int *)*state], &f, 1);
    assert_int_equal(f.wrong, 0);
    assert_true(f.ratio <= 1.0);
    print_message("%llu tried; largest error %.3g of its bound\n", (unsigned long long)f.tried, f.ratio);
}

/* Without bounds, and with bounds of 1/64, the search must find wrong answers. Their number is printed. */
static void test_bounds_are_needed(void **state)
{
    static climber *const climbers[] = {climb_sweep, climb_spheres, climb_second};
    static const double scales[] = {0x1p-3, 0x1p-4, 0x1p-6, 0.0};
    found f = {0};
    for (size_t i = 0; i < COUNT_OF(scales); i++) {
        f = (found){0};
        proof_scale = (float)scales[i];
        wide_scale = scales[i];
        climb_families(climbers[*(const int *)*state], &f, 0);
        print_message("bounds times %-9g %6llu wrong of %llu\n", scales[i], (unsigned long long)f.wrong,
                      (unsigned long long)f.tried);
    }
    proof_scale = 1.0f;
    wide_scale = 1.0;
    if (f.wrong == 0)
        fail_msg("no bounds at all, and nothing wrong was found: this search shows nothing");
}

/* The second filter answers nearly all pairs of the families that it is for. */
static void test_second_decides(void **state)
{
    const int with_points = *(const int *)*state;
    static const struct {
        const char *family;
        double least;
    } shares[] = {{"grazing", 0.998}, {"needles", 0.999}, {"caps", 0.999}, {"lattice", 0.97}, {"touching", 0.85}};
    for (size_t i = 0; i < COUNT_OF(shares); i++)
        for (size_t family = 0; family < ref_family_count(); family++) {
            uint64_t decided = 0;
            int order;
            const uint64_t count = test_effort(5000);
            for (uint64_t k = 0; k < count && strcmp(ref_family_name(family), shares[i].family) == 0; k++) {
                ref_sweep_case c;
                ref_given_sweep answer;
                ref_family_sweep(family, SEED, k, &c);
                const sweep_case s = sweep_case_of(&c);
                decided += (uint64_t)solve_second(&s, with_points, &answer, &order);
            }
            if (strcmp(ref_family_name(family), shares[i].family) == 0)
                test_share(shares[i].family, decided, count, shares[i].least, 1.0);
        }
}

int main(void)
{
    static int kind[] = {0, 1, 2};
    const struct CMUnitTest tests[] = {
        {"sweep: bounds hold", test_bounds_hold, NULL, NULL, &kind[0]},
        {"sweep: bounds are needed", test_bounds_are_needed, NULL, NULL, &kind[0]},
        {"sweep: lines all but along an edge", test_along_edges, NULL, NULL, NULL},
        {"sweep: two of them", test_along_edges_found, NULL, NULL, NULL},
        {"spheres: bounds hold", test_bounds_hold, NULL, NULL, &kind[1]},
        {"spheres: bounds are needed", test_bounds_are_needed, NULL, NULL, &kind[1]},
        {"second filter: bounds hold", test_bounds_hold, NULL, NULL, &kind[2]},
        {"second filter: bounds are needed", test_bounds_are_needed, NULL, NULL, &kind[2]},
        {"second filter: it decides", test_second_decides, NULL, NULL, &kind[0]},
        {"second filter: it decides with points", test_second_decides, NULL, NULL, &kind[1]},
        {"every query: bounds hold and are needed", test_filters, NULL, NULL, NULL},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
