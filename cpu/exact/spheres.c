/* SPDX-License-Identifier: MIT */
/* Two moving spheres in integers: a point against a corner, with the letters of motion.h. Pairs are given by the ends
 * of their motions (spheres.h), or by velocities (cloud.h). */
#include "exact.h"

#include "root.h"

/* Motion of A's centre relative to B's, and the quadratic of the times at which they are ra + rb apart. Times need no
 * unit, because all inputs are lengths. */
typedef struct spheres {
    caromi_int3 v, d;
    caromi_int r2, vv, y, b, k; /* the root is (-B +- sqrt(Y)) / v.v, K = d^2 - r^2 */
} spheres;

/* a - b */
static void load(caromi_int3 *out, const float *a, const float *b, int unit)
{
    caromi_int subtrahend;
    for (int i = 0; i < 3; i++) {
        caromi_int_of_float(&out->x[i], a[i], unit);
        caromi_int_of_float(&subtrahend, b[i], unit);
        caromi_int_sub(&out->x[i], &out->x[i], &subtrahend);
    }
}

static void load_radius(caromi_int *out, float a, float b, int unit)
{
    caromi_int other;
    caromi_int_of_float(out, a, unit);
    caromi_int_of_float(&other, b, unit);
    caromi_int_add(out, out, &other);
}

static int unit_of(const float *in, int count)
{
    const int lowest = caromi_lowest_bit(in, count);
    return lowest == CAROMI_NO_BIT ? 0 : lowest;
}

static void set_gap(spheres *s, const caromi_int *r)
{
    caromi_int_square(&s->r2, r);
    caromi_int3_dot(&s->k, &s->d, &s->d);
    caromi_int_sub(&s->k, &s->k, &s->r2);
    caromi_int3_dot(&s->vv, &s->v, &s->v);
}

static void load_spheres(spheres *s, const float *in)
{
    caromi_int3 end;
    caromi_int r;
    const int unit = unit_of(in, IN_SPHERES);
    load_radius(&r, in[IN_RA], in[IN_RB], unit);
    load(&s->d, in + IN_A0X, in + IN_B0X, unit);
    load(&end, in + IN_A1X, in + IN_B1X, unit);
    caromi_int3_sub(&s->v, &end, &s->d);
    set_gap(s, &r);
}

/* Y = r^2 v.v - (d x v)^2 */
static void make_quadratic(spheres *s)
{
    caromi_int3 q;
    caromi_int square;
    caromi_int3_cross(&q, &s->d, &s->v);
    caromi_int3_dot(&square, &q, &q);
    caromi_int_mul(&s->y, &s->r2, &s->vv);
    caromi_int_sub(&s->y, &s->y, &square);
    caromi_int3_dot(&s->b, &s->v, &s->d);
}

static float round_root(const caromi_root *root)
{
    return caromi_root_float(root, caromi_root_approx(root), 0);
}

/* Times and state of contact of two spheres, over all times. */
typedef struct spheres_times {
    float first, last;
    int state;
    int beyond; /* the true first time is greater than the limit */
} spheres_times;

static spheres_times solve(spheres *s, float limit)
{
    spheres_times t = {.first = INFINITY, .last = -INFINITY, .state = STATE_MISS};
    if (s->vv.sign == 0) {
        if (s->k.sign <= 0)
            t = (spheres_times){-INFINITY, INFINITY, s->k.sign == 0 ? STATE_TOUCHING : STATE_OVERLAPPING, 0};
        return t;
    }
    make_quadratic(s);
    if (s->y.sign < 0)
        return t;
    caromi_root root = {.a = &s->vv, .b = &s->b, .y = &s->y, .k = caromi_int_approx(&s->k), .side = -s->y.sign};
    root.root = caromi_approx_sqrt(caromi_int_approx(&s->y));
    const int first = caromi_root_sign(&root);
    t.first = round_root(&root);
    t.beyond = t.first == limit && isfinite(limit) ? caromi_root_compare(&root, (double)limit, 0) > 0 : t.first > limit;
    root.side = s->y.sign;
    t.state = caromi_state_of(first, caromi_root_sign(&root));
    t.last = round_root(&root);
    return t;
}

void caromi_resolve_spheres_exact(caromi_exact_pair *pair)
{
    const float *in = pair->in;
    spheres_times t = {.first = INFINITY, .last = -INFINITY, .state = STATE_INVALID};
    if (caromi_floats_finite(in, IN_SPHERES) && caromi_radius_valid(in[IN_RA]) && caromi_radius_valid(in[IN_RB])) {
        spheres s;
        load_spheres(&s, in);
        t = solve(&s, INFINITY);
    }
    pair->real[OUT_U_FIRST] = t.first;
    pair->real[OUT_U_LAST] = t.last;
    pair->byte[OUT_U_STATE] = (uint8_t)t.state;
}

/* ---- spheres of a cloud ------------------------------------------------------------------------------------------ */

/* Loads a pair of a cloud; r is the sum of the radii, plus the margin if requested. */
static void load_cloud(spheres *s, const float *in, int with_margin)
{
    caromi_int r, margin;
    const int unit = unit_of(in, IN_LIMIT);
    load_radius(&r, in[IN_AR], in[IN_BR], unit);
    if (with_margin) {
        caromi_int_of_float(&margin, in[IN_MARGIN], unit);
        caromi_int_add(&r, &r, &margin);
    }
    load(&s->d, in + IN_BX, in + IN_AX, unit);
    for (int i = 0; i < 3; i++) {
        caromi_int shift;
        caromi_int_of_float(&shift, in[IN_SHIFT_X + i], unit);
        caromi_int_add(&s->d.x[i], &s->d.x[i], &shift);
    }
    load(&s->v, in + IN_BVX, in + IN_AVX, unit);
    set_gap(s, &r);
}

static int is_in_margin(spheres *s, const float *in)
{
    load_cloud(s, in, 1);
    return s->vv.sign == 0 && s->k.sign <= 0;
}

void caromi_resolve_cloud_exact(caromi_exact_pair *pair)
{
    spheres s;
    caromi_int dot;
    load_cloud(&s, pair->in, 0);
    caromi_int3_dot(&dot, &s.d, &s.v);
    const spheres_times t = solve(&s, pair->in[IN_LIMIT]);
    const int is_hit =
        t.state == STATE_TOUCHING || t.state == STATE_OVERLAPPING || (t.state == STATE_APPROACHING && !t.beyond);
    const int state = is_hit ? t.state : is_in_margin(&s, pair->in) ? STATE_NEAR : STATE_MISS;
    pair->real[OUT_CLOUD_T] = !is_hit ? INFINITY : state == STATE_APPROACHING ? t.first : 0;
    pair->byte[OUT_CLOUD_STATE] = (uint8_t)state;
    pair->byte[OUT_CLOUD_PARTS] = dot.sign > 0;
}

/* ---- columns of a cloud's list ----------------------------------------------------------------------------------- */

/* The root of t^2 - 2 r t + r^2 - d^2, the smaller one. */
float caromi_exact_cloud_depth(const float *in)
{
    spheres s;
    caromi_int one, r;
    load_cloud(&s, in, 0);
    load_radius(&r, in[IN_AR], in[IN_BR], unit_of(in, IN_LIMIT));
    caromi_int_of_unsigned(&one, 1, 1);
    caromi_int3_dot(&s.y, &s.d, &s.d);
    r.sign = -r.sign;
    s.k.sign = -s.k.sign;
    const caromi_root root = {.a = &one,
                              .b = &r,
                              .y = &s.y,
                              .k = caromi_int_approx(&s.k),
                              .root = caromi_approx_sqrt(caromi_int_approx(&s.y)),
                              .side = -s.y.sign};
    return caromi_root_float(&root, caromi_root_approx(&root), unit_of(in, IN_LIMIT));
}

/* v.v times the offset at the first contact is v x (d x v) - v sqrt(Y). */
void caromi_exact_cloud_normal(const float *in, float normal[3])
{
    spheres s;
    caromi_int3 moment, aside;
    caromi_int length2;
    load_cloud(&s, in, 0);
    make_quadratic(&s);
    caromi_int3_cross(&moment, &s.d, &s.v);
    caromi_int3_cross(&aside, &s.v, &moment);
    if (s.y.sign > 0)
        caromi_int_mul(&length2, &s.vv, &s.vv);
    else
        caromi_int3_dot(&length2, &aside, &aside);
    const caromi_approx root = s.y.sign > 0 ? caromi_approx_sqrt(caromi_int_approx(&s.y)) : (caromi_approx){0.0, 0};
    caromi_approx length = caromi_approx_sqrt(caromi_int_approx(&length2));
    if (s.y.sign > 0)
        length = caromi_approx_mul(length, caromi_approx_sqrt(caromi_int_approx(&s.r2)));
    for (int i = 0; i < 3; i++) {
        caromi_surd offset = {.p = &aside.x[i], .s = &s.v.x[i], .y = &s.y};
        caromi_surd_set(&offset, (caromi_approx){1.0, 0}, root);
        const caromi_approx x = caromi_surd_approx(&offset, s.y.sign > 0 ? -1 : 0);
        normal[i] = caromi_float_of(caromi_approx_double(caromi_approx_div(x, length), 0));
    }
}
