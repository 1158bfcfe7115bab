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

/* The sum of two radii. */
static void load_radius(caromi_int *out, float a, float b, int unit)
{
    caromi_int other;
    caromi_int_of_float(out, a, unit);
    caromi_int_of_float(&other, b, unit);
    caromi_int_add(out, out, &other);
}

/* The exponent of the lowest bit; 0 if all numbers are 0. */
static int unit_of(const float *in, int count)
{
    const int lowest = caromi_lowest_bit(in, count);
    return lowest == CAROMI_NO_BIT ? 0 : lowest;
}

/* r^2, K and v.v, from the offset and the velocity. */
static void set_gap(spheres *pair, const caromi_int *r)
{
    caromi_int_square(&pair->r2, r);
    caromi_int3_dot(&pair->k, &pair->d, &pair->d);
    caromi_int_sub(&pair->k, &pair->k, &pair->r2);
    caromi_int3_dot(&pair->vv, &pair->v, &pair->v);
}

/* Loads a pair given by the ends of its motions. */
static void load_spheres(spheres *pair, const float *in)
{
    caromi_int3 end;
    caromi_int radius;
    const int unit = unit_of(in, IN_SPHERES);
    load_radius(&radius, in[IN_RA], in[IN_RB], unit);
    load(&pair->d, in + IN_A0X, in + IN_B0X, unit);
    load(&end, in + IN_A1X, in + IN_B1X, unit);
    caromi_int3_sub(&pair->v, &end, &pair->d);
    set_gap(pair, &radius);
}

/* Y = r^2 v.v - (d x v)^2 */
static void make_quadratic(spheres *pair)
{
    caromi_int3 d_cross_v;
    caromi_int square;
    caromi_int3_cross(&d_cross_v, &pair->d, &pair->v);
    caromi_int3_dot(&square, &d_cross_v, &d_cross_v);
    caromi_int_mul(&pair->y, &pair->r2, &pair->vv);
    caromi_int_sub(&pair->y, &pair->y, &square);
    caromi_int3_dot(&pair->b, &pair->v, &pair->d);
}

/* The binary32 nearest to a time. */
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

/* Times and state; `beyond` if the true first time is after the limit. */
static spheres_times solve(spheres *pair, float limit)
{
    spheres_times times = {.first = INFINITY, .last = -INFINITY, .state = STATE_MISS};
    /* Without relative motion K, the gap at time 0, decides. */
    if (pair->vv.sign == 0) {
        if (pair->k.sign <= 0)
            times = (spheres_times){-INFINITY, INFINITY, pair->k.sign == 0 ? STATE_TOUCHING : STATE_OVERLAPPING, 0};
        return times;
    }
    make_quadratic(pair);
    if (pair->y.sign < 0)
        return times;
    caromi_root root = {
        .a = &pair->vv, .b = &pair->b, .y = &pair->y, .k = caromi_int_approx(&pair->k), .side = -pair->y.sign};
    root.root = caromi_approx_sqrt(caromi_int_approx(&pair->y));
    const int first = caromi_root_sign(&root);
    times.first = round_root(&root);
    times.beyond = times.first == limit && isfinite(limit) ? caromi_root_compare(&root, (double)limit, 0) > 0
                                                           : times.first > limit;
    root.side = pair->y.sign;
    times.state = caromi_state_of(first, caromi_root_sign(&root));
    times.last = round_root(&root);
    return times;
}

/* Resolves an undecided pair of a batch. */
void caromi_resolve_spheres_exact(caromi_exact_pair *pair)
{
    const float *in = pair->in;
    spheres_times times = {.first = INFINITY, .last = -INFINITY, .state = STATE_INVALID};
    if (caromi_floats_finite(in, IN_SPHERES) && caromi_radius_valid(in[IN_RA]) && caromi_radius_valid(in[IN_RB])) {
        spheres s;
        load_spheres(&s, in);
        times = solve(&s, INFINITY);
    }
    pair->real[OUT_U_FIRST] = times.first;
    pair->real[OUT_U_LAST] = times.last;
    pair->byte[OUT_U_STATE] = (uint8_t)times.state;
}

/* ---- spheres of a cloud ------------------------------------------------------------------------------------------ */

/* Loads a pair of a cloud; r is the sum of the radii, plus the margin if requested. */
static void load_cloud(spheres *pair, const float *in, int with_margin)
{
    caromi_int radius, margin;
    const int unit = unit_of(in, IN_LIMIT);
    load_radius(&radius, in[IN_AR], in[IN_BR], unit);
    if (with_margin) {
        caromi_int_of_float(&margin, in[IN_MARGIN], unit);
        caromi_int_add(&radius, &radius, &margin);
    }
    load(&pair->d, in + IN_BX, in + IN_AX, unit);
    for (int i = 0; i < 3; i++) {
        caromi_int shift;
        caromi_int_of_float(&shift, in[IN_SHIFT_X + i], unit);
        caromi_int_add(&pair->d.x[i], &pair->d.x[i], &shift);
    }
    load(&pair->v, in + IN_BVX, in + IN_AVX, unit);
    set_gap(pair, &radius);
}

/* Whether a pair at rest is within the margin. */
static int is_in_margin(spheres *pair, const float *in)
{
    load_cloud(pair, in, 1);
    return pair->vv.sign == 0 && pair->k.sign <= 0;
}

/* Resolves an undecided pair of a cloud. */
void caromi_resolve_cloud_exact(caromi_exact_pair *pair)
{
    spheres s;
    caromi_int dot;
    load_cloud(&s, pair->in, 0);
    caromi_int3_dot(&dot, &s.d, &s.v);
    const spheres_times times = solve(&s, pair->in[IN_LIMIT]);
    const int is_hit = times.state == STATE_TOUCHING || times.state == STATE_OVERLAPPING ||
                       (times.state == STATE_APPROACHING && !times.beyond);
    const int state = is_hit ? times.state : is_in_margin(&s, pair->in) ? STATE_NEAR : STATE_MISS;
    pair->real[OUT_CLOUD_T] = !is_hit ? INFINITY : state == STATE_APPROACHING ? times.first : 0;
    pair->byte[OUT_CLOUD_STATE] = (uint8_t)state;
    pair->byte[OUT_CLOUD_PARTS] = dot.sign > 0;
}

/* ---- columns of a cloud's list ----------------------------------------------------------------------------------- */

/* The root of t^2 - 2 r t + r^2 - d^2, the smaller one. */
float caromi_exact_cloud_depth(const float *in)
{
    spheres pair;
    caromi_int one, minus_radius;
    load_cloud(&pair, in, 0);
    load_radius(&minus_radius, in[IN_AR], in[IN_BR], unit_of(in, IN_LIMIT));
    caromi_int_of_unsigned(&one, 1, 1);
    caromi_int3_dot(&pair.y, &pair.d, &pair.d);
    minus_radius.sign = -minus_radius.sign;
    pair.k.sign = -pair.k.sign;
    const caromi_root root = {.a = &one,
                              .b = &minus_radius,
                              .y = &pair.y,
                              .k = caromi_int_approx(&pair.k),
                              .root = caromi_approx_sqrt(caromi_int_approx(&pair.y)),
                              .side = -pair.y.sign};
    return caromi_root_float(&root, caromi_root_approx(&root), unit_of(in, IN_LIMIT));
}

/* v.v times the offset at the first contact is v x (d x v) - v sqrt(Y). */
void caromi_exact_cloud_normal(const float *in, float normal[3])
{
    spheres pair;
    caromi_int3 moment, aside;
    caromi_int length2;
    load_cloud(&pair, in, 0);
    make_quadratic(&pair);
    caromi_int3_cross(&moment, &pair.d, &pair.v);
    caromi_int3_cross(&aside, &pair.v, &moment);
    if (pair.y.sign > 0)
        caromi_int_mul(&length2, &pair.vv, &pair.vv);
    else
        caromi_int3_dot(&length2, &aside, &aside);
    const caromi_approx root =
        pair.y.sign > 0 ? caromi_approx_sqrt(caromi_int_approx(&pair.y)) : (caromi_approx){0.0, 0};
    caromi_approx length = caromi_approx_sqrt(caromi_int_approx(&length2));
    if (pair.y.sign > 0)
        length = caromi_approx_mul(length, caromi_approx_sqrt(caromi_int_approx(&pair.r2)));
    for (int i = 0; i < 3; i++) {
        caromi_surd offset = {.p = &aside.x[i], .s = &pair.v.x[i], .y = &pair.y};
        caromi_surd_set(&offset, (caromi_approx){1.0, 0}, root);
        const caromi_approx x = caromi_surd_approx(&offset, pair.y.sign > 0 ? -1 : 0);
        normal[i] = caromi_float_of(caromi_approx_double(caromi_approx_div(x, length), 0));
    }
}
