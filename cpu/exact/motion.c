/* SPDX-License-Identifier: MIT */
/* The quantities of motion.h, each computed at first use, and the roots and regions of the seven features. */
#include "motion.h"

/* A bit of `known` for each quantity that is computed at first use. */
enum {
    PART_NORMAL,
    PART_NORMAL2,
    PART_NORMAL_SPEED,
    PART_V_DOT_V,
    PART_EDGE2,
    PART_V_DOT_E = PART_EDGE2 + 3,
    PART_SWEEP_NORMAL2 = PART_V_DOT_E + 3,
    PART_A_DOT_Q = PART_SWEEP_NORMAL2 + 3,
    PART_PLUCKER = PART_A_DOT_Q + 6,
    PART_A_DOT_N = PART_PLUCKER + 3,
    PART_H_NV = PART_A_DOT_N + 3,
    PART_QUADRATIC = PART_H_NV + 3,
    PART_MOMENT = PART_QUADRATIC + FEATURE_FACE + 1,
    PART_SWEEP_NORMAL = PART_MOMENT + 3,
    PART_ELEMENT = PART_SWEEP_NORMAL + 3,
    PART_END = PART_ELEMENT + FEATURE_FACE + 1
};
_Static_assert(PART_END <= 64, "a bit for each part");

static int is_first_use(caromi_motion *m, int part)
{
    const uint64_t bit = (uint64_t)1 << part;
    const int missing = (m->known & bit) == 0;
    m->known |= bit;
    return missing;
}

/* Loading. */

static void load_difference(caromi_int3 *out, const float *a, const float *b, int unit)
{
    caromi_int subtrahend;
    for (int i = 0; i < 3; i++) {
        caromi_int_of_float(&out->x[i], a[i], unit);
        caromi_int_of_float(&subtrahend, b[i], unit);
        caromi_int_sub(&out->x[i], &out->x[i], &subtrahend);
    }
}

static int unit_of(int lowest)
{
    return lowest == CAROMI_NO_BIT ? 0 : lowest;
}

int caromi_motion_of(caromi_motion *m, const float *in, int count)
{
    static const float at_rest[3];
    const float *w = count == IN_SWEEP_MOVING ? in + IN_WX : at_rest;
    caromi_int r;
    if (!caromi_floats_finite(in, count) || !caromi_radius_valid(in[IN_R]))
        return 0;
    const int center = caromi_lowest_bit(in, IN_R + 1), corners = caromi_lowest_bit(in + IN_P0X, 9);
    const int length = unit_of(center < corners ? center : corners);
    const int own = caromi_lowest_bit(in + IN_VX, 3), other = caromi_lowest_bit(w, 3);
    const int speed = unit_of(own < other ? own : other);
    m->in = in;
    m->unit = length - speed;
    m->known = 0;
    caromi_int_of_float(&r, in[IN_R], length);
    caromi_int_square(&m->r2, &r);
    load_difference(&m->v, in + IN_VX, w, speed);
    m->resting = (m->v.x[0].count | m->v.x[1].count | m->v.x[2].count) == 0;
    for (int k = 0; k < 3; k++)
        load_difference(&m->d[k], in + IN_CX, in + IN_P0X + 3 * k, length);
    for (int k = 0; k < 3; k++)
        caromi_int3_sub(&m->e[k], &m->d[k], &m->d[(k + 1) % 3]);
    return 1;
}

/* Parts. */

const caromi_int3 *caromi_motion_normal(caromi_motion *m)
{
    if (is_first_use(m, PART_NORMAL))
        caromi_int3_cross(&m->n, &m->e[0], &m->e[1]);
    return &m->n;
}

const caromi_int *caromi_motion_normal2(caromi_motion *m)
{
    if (is_first_use(m, PART_NORMAL2))
        caromi_int3_dot(&m->nn, caromi_motion_normal(m), caromi_motion_normal(m));
    return &m->nn;
}

const caromi_int *caromi_motion_normal_speed(caromi_motion *m)
{
    if (is_first_use(m, PART_NORMAL_SPEED))
        caromi_int3_dot(&m->nv, caromi_motion_normal(m), &m->v);
    return &m->nv;
}

const caromi_int *caromi_motion_edge2(caromi_motion *m, int edge)
{
    if (is_first_use(m, PART_EDGE2 + edge))
        caromi_int3_dot(&m->edge2[edge], &m->e[edge], &m->e[edge]);
    return &m->edge2[edge];
}

static const caromi_int *v_dot_v(caromi_motion *m)
{
    if (is_first_use(m, PART_V_DOT_V))
        caromi_int3_dot(&m->vv, &m->v, &m->v);
    return &m->vv;
}

const caromi_int3 *caromi_motion_moment(caromi_motion *m, int corner)
{
    if (is_first_use(m, PART_MOMENT + corner))
        caromi_int3_cross(&m->q[corner], &m->d[corner], &m->v);
    return &m->q[corner];
}

const caromi_int3 *caromi_motion_sweep_normal(caromi_motion *m, int edge)
{
    if (is_first_use(m, PART_SWEEP_NORMAL + edge))
        caromi_int3_sub(&m->a[edge], caromi_motion_moment(m, edge), caromi_motion_moment(m, (edge + 1) % 3));
    return &m->a[edge];
}

static const caromi_int *a_dot_a(caromi_motion *m, int edge)
{
    if (is_first_use(m, PART_SWEEP_NORMAL2 + edge))
        caromi_int3_dot(&m->a_dot_a[edge], caromi_motion_sweep_normal(m, edge), caromi_motion_sweep_normal(m, edge));
    return &m->a_dot_a[edge];
}

/* v.e */
static const caromi_int *v_dot_e(caromi_motion *m, int edge)
{
    if (is_first_use(m, PART_V_DOT_E + edge))
        caromi_int3_dot(&m->v_dot_e[edge], &m->v, &m->e[edge]);
    return &m->v_dot_e[edge];
}

/* a.q at the edge's first or second corner. */
static const caromi_int *a_dot_q(caromi_motion *m, int edge, int end)
{
    if (is_first_use(m, PART_A_DOT_Q + 2 * edge + end))
        caromi_int3_dot(&m->a_dot_q[edge][end], caromi_motion_sweep_normal(m, edge),
                        caromi_motion_moment(m, (edge + end) % 3));
    return &m->a_dot_q[edge][end];
}

const caromi_int *caromi_motion_plucker(caromi_motion *m, int edge)
{
    if (is_first_use(m, PART_PLUCKER + edge))
        caromi_int3_dot(&m->plucker[edge], &m->e[edge], caromi_motion_moment(m, edge));
    return &m->plucker[edge];
}

/* a.n */
static const caromi_int *a_dot_n(caromi_motion *m, int edge)
{
    if (is_first_use(m, PART_A_DOT_N + edge))
        caromi_int3_dot(&m->a_dot_n[edge], caromi_motion_sweep_normal(m, edge), caromi_motion_normal(m));
    return &m->a_dot_n[edge];
}

/* h n.v */
static const caromi_int *h_times_nv(caromi_motion *m, int edge)
{
    if (is_first_use(m, PART_H_NV + edge))
        caromi_int_mul(&m->h_times_nv[edge], caromi_motion_plucker(m, edge), caromi_motion_normal_speed(m));
    return &m->h_times_nv[edge];
}

/* Elements. */

static int is_corner(int feature)
{
    return feature < FEATURE_E01;
}

static int corner_of(caromi_motion *m, int corner, caromi_element *el)
{
    caromi_int square, reach;
    caromi_int3_dot(&square, caromi_motion_moment(m, corner), caromi_motion_moment(m, corner));
    caromi_int_mul(&reach, &m->r2, v_dot_v(m));
    caromi_int_sub(&el->y, &reach, &square);
    el->a = v_dot_v(m);
    el->e = NULL;
    return el->y.sign;
}

static int edge_of(caromi_motion *m, int edge, caromi_element *el)
{
    caromi_int square, reach;
    if (a_dot_a(m, edge)->sign == 0)
        return -1;
    caromi_int_square(&square, caromi_motion_plucker(m, edge));
    caromi_int_mul(&reach, &m->r2, a_dot_a(m, edge));
    caromi_int_sub(&el->y, &reach, &square);
    el->a = a_dot_a(m, edge);
    el->e = caromi_motion_edge2(m, edge);
    return el->y.sign;
}

static int face_of(caromi_motion *m, caromi_element *el)
{
    const caromi_int *normal_speed = caromi_motion_normal_speed(m);
    if (normal_speed->sign == 0)
        return -1;
    caromi_int_copy(&el->y, &m->r2);
    caromi_int_copy(&m->steepness, normal_speed);
    m->steepness.sign = 1;
    el->flip = normal_speed->sign;
    el->a = &m->steepness;
    el->e = caromi_motion_normal2(m);
    return el->y.sign;
}

static void make_element(caromi_motion *m, int feature, caromi_element *el)
{
    el->feature = feature;
    el->flip = 1;
    if (is_corner(feature))
        el->sign = corner_of(m, feature - FEATURE_V0, el);
    else
        el->sign = feature == FEATURE_FACE ? face_of(m, el) : edge_of(m, feature - FEATURE_E01, el);
    if (el->sign < 0)
        return;
    el->root_e = el->e ? caromi_approx_sqrt(caromi_int_approx(el->e)) : (caromi_approx){1.0, 0};
    el->root_y = caromi_approx_sqrt(caromi_int_approx(&el->y));
}

const caromi_element *caromi_motion_element(caromi_motion *m, int feature)
{
    if (is_first_use(m, PART_ELEMENT + feature))
        make_element(m, feature, &m->elements[feature]);
    return &m->elements[feature];
}

/* The inequalities that bound a feature's region, cheapest first, as surds whose sign is constrained. Returns the sign
 * that the surd must not oppose; 0 after the last. */
static int region_condition(caromi_motion *m, const caromi_element *el, int which, caromi_surd *form)
{
    int wanted;
    form->e = el->e;
    form->y = &el->y;
    if (is_corner(el->feature)) {
        const int corner = el->feature - FEATURE_V0, edge = which == 0 ? corner : (corner + 2) % 3;
        if (which > 1)
            return 0;
        form->p = a_dot_q(m, edge, which);
        form->s = v_dot_e(m, edge);
        wanted = which == 0 ? -1 : 1; /* the other edge comes towards the corner */
    } else if (el->feature < FEATURE_FACE) {
        const int edge = el->feature - FEATURE_E01;
        if (which > 2)
            return 0;
        form->p = which < 2 ? a_dot_q(m, edge, which) : h_times_nv(m, edge);
        form->s = which < 2 ? v_dot_e(m, edge) : a_dot_n(m, edge);
        wanted = which == 0 ? 1 : -1;
    } else {
        if (which > 2)
            return 0;
        form->p = caromi_motion_plucker(m, which);
        form->s = a_dot_n(m, which);
        wanted = el->flip;
    }
    caromi_surd_set(form, el->root_e, el->root_y);
    return wanted;
}

int caromi_element_holds(caromi_motion *m, const caromi_element *el, int side)
{
    caromi_surd form;
    int wanted;
    for (int which = 0; (wanted = region_condition(m, el, which, &form)) != 0; which++)
        if (wanted * caromi_surd_sign(&form, side * el->flip) < 0)
            return 0;
    return 1;
}

/* Times. */

/* |x|^2 - r^2 scale */
static caromi_approx beyond_radius(const caromi_motion *m, const caromi_int *square, const caromi_int *scale)
{
    caromi_int reach, left;
    caromi_int_mul(&reach, &m->r2, scale);
    caromi_int_sub(&left, square, &reach);
    return caromi_int_approx(&left);
}

static void make_quadratic(caromi_motion *m, const caromi_element *el, caromi_quadratic *to)
{
    caromi_int square, one;
    if (is_corner(el->feature)) {
        const caromi_int3 *d = &m->d[el->feature - FEATURE_V0];
        caromi_int3_dot(&to->b, &m->v, d);
        caromi_int3_dot(&square, d, d);
        caromi_int_of_unsigned(&one, 1, 1);
        to->k = beyond_radius(m, &square, &one);
    } else if (el->feature < FEATURE_FACE) {
        const int edge = el->feature - FEATURE_E01;
        caromi_int3 c;
        caromi_int3_cross(&c, &m->e[edge], &m->d[edge]);
        caromi_int3_dot(&to->b, &c, caromi_motion_sweep_normal(m, edge));
        caromi_int3_dot(&square, &c, &c);
        to->k = beyond_radius(m, &square, caromi_motion_edge2(m, edge));
    } else {
        caromi_int3_dot(&to->b, caromi_motion_normal(m), &m->d[0]);
        to->b.sign *= el->flip;
        caromi_int_square(&square, &to->b);
        /* The face's quadratic has A^2 for A. */
        to->k = caromi_approx_div(beyond_radius(m, &square, caromi_motion_normal2(m)), caromi_int_approx(el->a));
    }
}

void caromi_element_root(caromi_motion *m, const caromi_element *el, int side, caromi_root *root)
{
    caromi_quadratic *quadratic = &m->quadratics[el->feature];
    if (is_first_use(m, PART_QUADRATIC + el->feature))
        make_quadratic(m, el, quadratic);
    root->a = el->a;
    root->b = &quadratic->b;
    root->k = quadratic->k;
    root->e = el->e;
    root->y = &el->y;
    root->root = caromi_approx_mul(el->root_e, el->root_y);
    root->side = side;
}

/* Points. */

static double clamped(caromi_approx weight)
{
    const double x = caromi_approx_double(weight, 0);
    return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

/* A barycentric weight: the surd of a region's inequality over A sqrt(E). */
static double condition_weight(caromi_motion *m, const caromi_element *el, int side, int which)
{
    const caromi_approx over = caromi_approx_mul(caromi_int_approx(el->a), el->root_e);
    caromi_surd form;
    const int sign = region_condition(m, el, which, &form);
    caromi_approx value = caromi_surd_approx(&form, side * el->flip);
    value.m *= (double)sign;
    return clamped(caromi_approx_div(value, over));
}

void caromi_element_weights(caromi_motion *m, const caromi_element *el, int side, double weights[2])
{
    weights[0] = el->feature == FEATURE_V1 ? 1.0 : 0.0;
    weights[1] = el->feature == FEATURE_V2 ? 1.0 : 0.0;
    if (el->feature == FEATURE_FACE) {
        weights[0] = condition_weight(m, el, side, 2);
        weights[1] = condition_weight(m, el, side, 0);
    } else if (!is_corner(el->feature)) {
        const double share = condition_weight(m, el, side, 0);
        weights[0] = el->feature == FEATURE_E01 ? share : el->feature == FEATURE_E12 ? 1.0 - share : 0.0;
        weights[1] = el->feature == FEATURE_E01 ? 0.0 : el->feature == FEATURE_E12 ? share : 1.0 - share;
    }
}
