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

/* Whether a quantity is needed for the first time; then the caller computes it. */
static int is_first_use(caromi_motion *motion, int part)
{
    const uint64_t bit = (uint64_t)1 << part;
    const int missing = (motion->known & bit) == 0;
    motion->known |= bit;
    return missing;
}

/* ---- loading ------------------------------------------------------------------------------------------------------
 */

/* Subtracts b, in units of 2^unit. */
static void subtract_floats(caromi_int3 *from, const float *b, int unit)
{
    caromi_int subtrahend;
    for (int i = 0; i < 3; i++) {
        caromi_int_of_float(&subtrahend, b[i], unit);
        caromi_int_sub(&from->x[i], &from->x[i], &subtrahend);
    }
}

/* The vector a - b, in units of 2^unit. */
static void load_difference(caromi_int3 *out, const float *a, const float *b, int unit)
{
    for (int i = 0; i < 3; i++)
        caromi_int_of_float(&out->x[i], a[i], unit);
    subtract_floats(out, b, unit);
}

/* The exponent of the lowest bit; 0 if all numbers are 0. */
static int unit_of(int lowest)
{
    return lowest == CAROMI_NO_BIT ? 0 : lowest;
}

/* Loads a pair; 0 if it is invalid. count: IN_SWEEP_CARRIED or IN_SWEEP_MOVING with the triangle's velocity, else
 * IN_SWEEP_RESTING. */
int caromi_motion_of(caromi_motion *motion, const float *in, int count)
{
    static const float at_rest[3];
    const float *triangle_velocity = count >= IN_SWEEP_MOVING ? in + IN_WX : at_rest;
    const float *instance_velocity = count == IN_SWEEP_CARRIED ? in + IN_UX : at_rest;
    caromi_int radius;
    if (!caromi_floats_finite(in, count) || !caromi_radius_valid(in[IN_R]))
        return 0;
    /* Units in which all lengths, and all velocities, are integers. */
    const int center = caromi_lowest_bit(in, IN_R + 1), corners = caromi_lowest_bit(in + IN_P0X, 9);
    const int length = unit_of(center < corners ? center : corners);
    const int sphere_speed = caromi_lowest_bit(in + IN_VX, 3), triangle_speed = caromi_lowest_bit(triangle_velocity, 3);
    const int instance_speed = caromi_lowest_bit(instance_velocity, 3),
              slowest = sphere_speed < triangle_speed ? sphere_speed : triangle_speed;
    const int speed = unit_of(slowest < instance_speed ? slowest : instance_speed);
    motion->in = in;
    motion->unit = length - speed;
    motion->known = 0;
    /* Differences of the inputs. */
    caromi_int_of_float(&radius, in[IN_R], length);
    caromi_int_square(&motion->r2, &radius);
    load_difference(&motion->v, in + IN_VX, triangle_velocity, speed);
    if (count == IN_SWEEP_CARRIED)
        subtract_floats(&motion->v, instance_velocity, speed);
    motion->resting = (motion->v.x[0].count | motion->v.x[1].count | motion->v.x[2].count) == 0;
    for (int corner = 0; corner < 3; corner++)
        load_difference(&motion->d[corner], in + IN_CX, in + IN_P0X + 3 * corner, length);
    for (int corner = 0; corner < 3; corner++)
        caromi_int3_sub(&motion->e[corner], &motion->d[corner], &motion->d[(corner + 1) % 3]);
    return 1;
}

/* Parts. */

/* n = e_0 x e_1 */
const caromi_int3 *caromi_motion_normal(caromi_motion *motion)
{
    if (is_first_use(motion, PART_NORMAL))
        caromi_int3_cross(&motion->n, &motion->e[0], &motion->e[1]);
    return &motion->n;
}

/* n.n */
const caromi_int *caromi_motion_normal2(caromi_motion *motion)
{
    if (is_first_use(motion, PART_NORMAL2))
        caromi_int3_dot(&motion->nn, caromi_motion_normal(motion), caromi_motion_normal(motion));
    return &motion->nn;
}

/* n.v */
const caromi_int *caromi_motion_normal_speed(caromi_motion *motion)
{
    if (is_first_use(motion, PART_NORMAL_SPEED))
        caromi_int3_dot(&motion->nv, caromi_motion_normal(motion), &motion->v);
    return &motion->nv;
}

/* e.e */
const caromi_int *caromi_motion_edge2(caromi_motion *motion, int edge)
{
    if (is_first_use(motion, PART_EDGE2 + edge))
        caromi_int3_dot(&motion->edge2[edge], &motion->e[edge], &motion->e[edge]);
    return &motion->edge2[edge];
}

/* v.v */
static const caromi_int *v_dot_v(caromi_motion *motion)
{
    if (is_first_use(motion, PART_V_DOT_V))
        caromi_int3_dot(&motion->vv, &motion->v, &motion->v);
    return &motion->vv;
}

/* q = d x v */
const caromi_int3 *caromi_motion_moment(caromi_motion *motion, int corner)
{
    if (is_first_use(motion, PART_MOMENT + corner))
        caromi_int3_cross(&motion->q[corner], &motion->d[corner], &motion->v);
    return &motion->q[corner];
}

/* a = e x v, as a difference of moments */
const caromi_int3 *caromi_motion_sweep_normal(caromi_motion *motion, int edge)
{
    if (is_first_use(motion, PART_SWEEP_NORMAL + edge))
        caromi_int3_sub(&motion->a[edge], caromi_motion_moment(motion, edge),
                        caromi_motion_moment(motion, (edge + 1) % 3));
    return &motion->a[edge];
}

/* a.a */
static const caromi_int *a_dot_a(caromi_motion *motion, int edge)
{
    if (is_first_use(motion, PART_SWEEP_NORMAL2 + edge))
        caromi_int3_dot(&motion->a_dot_a[edge], caromi_motion_sweep_normal(motion, edge),
                        caromi_motion_sweep_normal(motion, edge));
    return &motion->a_dot_a[edge];
}

/* v.e */
static const caromi_int *v_dot_e(caromi_motion *motion, int edge)
{
    if (is_first_use(motion, PART_V_DOT_E + edge))
        caromi_int3_dot(&motion->v_dot_e[edge], &motion->v, &motion->e[edge]);
    return &motion->v_dot_e[edge];
}

/* a.q at the edge's first or second corner. */
static const caromi_int *a_dot_q(caromi_motion *motion, int edge, int end)
{
    if (is_first_use(motion, PART_A_DOT_Q + 2 * edge + end))
        caromi_int3_dot(&motion->a_dot_q[edge][end], caromi_motion_sweep_normal(motion, edge),
                        caromi_motion_moment(motion, (edge + end) % 3));
    return &motion->a_dot_q[edge][end];
}

/* h = e.q */
const caromi_int *caromi_motion_plucker(caromi_motion *motion, int edge)
{
    if (is_first_use(motion, PART_PLUCKER + edge))
        caromi_int3_dot(&motion->plucker[edge], &motion->e[edge], caromi_motion_moment(motion, edge));
    return &motion->plucker[edge];
}

/* a.n */
static const caromi_int *a_dot_n(caromi_motion *motion, int edge)
{
    if (is_first_use(motion, PART_A_DOT_N + edge))
        caromi_int3_dot(&motion->a_dot_n[edge], caromi_motion_sweep_normal(motion, edge), caromi_motion_normal(motion));
    return &motion->a_dot_n[edge];
}

/* h n.v */
static const caromi_int *h_times_nv(caromi_motion *motion, int edge)
{
    if (is_first_use(motion, PART_H_NV + edge))
        caromi_int_mul(&motion->h_times_nv[edge], caromi_motion_plucker(motion, edge),
                       caromi_motion_normal_speed(motion));
    return &motion->h_times_nv[edge];
}

/* ---- roots of the features ----------------------------------------------------------------------------------------
 */

static int is_corner(int feature)
{
    return feature < FEATURE_E01;
}

/* A and Y of a corner. Returns the sign of Y. */
static int corner_of(caromi_motion *motion, int corner, caromi_element *element)
{
    caromi_int square, reach;
    caromi_int3_dot(&square, caromi_motion_moment(motion, corner), caromi_motion_moment(motion, corner));
    caromi_int_mul(&reach, &motion->r2, v_dot_v(motion));
    caromi_int_sub(&element->y, &reach, &square);
    element->a = v_dot_v(motion);
    element->e = NULL;
    return element->y.sign;
}

/* A, E and Y of an edge. Returns the sign of Y; -1 for an edge along the motion. */
static int edge_of(caromi_motion *motion, int edge, caromi_element *element)
{
    caromi_int square, reach;
    if (a_dot_a(motion, edge)->sign == 0)
        return -1;
    caromi_int_square(&square, caromi_motion_plucker(motion, edge));
    caromi_int_mul(&reach, &motion->r2, a_dot_a(motion, edge));
    caromi_int_sub(&element->y, &reach, &square);
    element->a = a_dot_a(motion, edge);
    element->e = caromi_motion_edge2(motion, edge);
    return element->y.sign;
}

/* A, E and Y of the face. Returns the sign of Y; -1 if the motion is along the plane. */
static int face_of(caromi_motion *motion, caromi_element *element)
{
    const caromi_int *normal_speed = caromi_motion_normal_speed(motion);
    if (normal_speed->sign == 0)
        return -1;
    caromi_int_copy(&element->y, &motion->r2);
    caromi_int_copy(&motion->steepness, normal_speed);
    motion->steepness.sign = 1;
    element->flip = normal_speed->sign;
    element->a = &motion->steepness;
    element->e = caromi_motion_normal2(motion);
    return element->y.sign;
}

/* Computes a feature's roots. */
static void make_element(caromi_motion *motion, int feature, caromi_element *element)
{
    element->feature = feature;
    element->flip = 1;
    if (is_corner(feature))
        element->sign = corner_of(motion, feature - FEATURE_V0, element);
    else
        element->sign =
            feature == FEATURE_FACE ? face_of(motion, element) : edge_of(motion, feature - FEATURE_E01, element);
    if (element->sign < 0)
        return;
    element->root_e = element->e ? caromi_approx_sqrt(caromi_int_approx(element->e)) : (caromi_approx){1.0, 0};
    element->root_y = caromi_approx_sqrt(caromi_int_approx(&element->y));
}

/* The root of a feature, computed at first use. */
const caromi_element *caromi_motion_element(caromi_motion *motion, int feature)
{
    if (is_first_use(motion, PART_ELEMENT + feature))
        make_element(motion, feature, &motion->elements[feature]);
    return &motion->elements[feature];
}

/* The inequalities that bound a feature's region, cheapest first, as surds whose sign is constrained. Returns the sign
 * that the surd must not oppose; 0 after the last. */
static int region_condition(caromi_motion *motion, const caromi_element *element, int which, caromi_surd *form)
{
    int wanted;
    form->e = element->e;
    form->y = &element->y;
    if (is_corner(element->feature)) {
        const int corner = element->feature - FEATURE_V0, edge = which == 0 ? corner : (corner + 2) % 3;
        if (which > 1)
            return 0;
        form->p = a_dot_q(motion, edge, which);
        form->s = v_dot_e(motion, edge);
        wanted = which == 0 ? -1 : 1; /* the other edge comes towards the corner */
    } else if (element->feature < FEATURE_FACE) {
        const int edge = element->feature - FEATURE_E01;
        if (which > 2)
            return 0;
        form->p = which < 2 ? a_dot_q(motion, edge, which) : h_times_nv(motion, edge);
        form->s = which < 2 ? v_dot_e(motion, edge) : a_dot_n(motion, edge);
        wanted = which == 0 ? 1 : -1;
    } else {
        if (which > 2)
            return 0;
        form->p = caromi_motion_plucker(motion, which);
        form->s = a_dot_n(motion, which);
        wanted = element->flip;
    }
    caromi_surd_set(form, element->root_e, element->root_y);
    return wanted;
}

/* Whether a root lies in its feature's region. */
int caromi_element_holds(caromi_motion *motion, const caromi_element *element, int side)
{
    caromi_surd form;
    int wanted;
    for (int which = 0; (wanted = region_condition(motion, element, which, &form)) != 0; which++)
        if (wanted * caromi_surd_sign(&form, side * element->flip) < 0)
            return 0;
    return 1;
}

/* ---- times --------------------------------------------------------------------------------------------------------
 */

/* |x|^2 - r^2 scale */
static caromi_approx beyond_radius(const caromi_motion *motion, const caromi_int *square, const caromi_int *scale)
{
    caromi_int reach, left;
    caromi_int_mul(&reach, &motion->r2, scale);
    caromi_int_sub(&left, square, &reach);
    return caromi_int_approx(&left);
}

/* B and K of a feature. */
static void make_quadratic(caromi_motion *motion, const caromi_element *element, caromi_quadratic *to)
{
    caromi_int square, one;
    if (is_corner(element->feature)) {
        const caromi_int3 *from_corner = &motion->d[element->feature - FEATURE_V0];
        caromi_int3_dot(&to->b, &motion->v, from_corner);
        caromi_int3_dot(&square, from_corner, from_corner);
        caromi_int_of_unsigned(&one, 1, 1);
        to->k = beyond_radius(motion, &square, &one);
    } else if (element->feature < FEATURE_FACE) {
        const int edge = element->feature - FEATURE_E01;
        caromi_int3 e_cross_d;
        caromi_int3_cross(&e_cross_d, &motion->e[edge], &motion->d[edge]);
        caromi_int3_dot(&to->b, &e_cross_d, caromi_motion_sweep_normal(motion, edge));
        caromi_int3_dot(&square, &e_cross_d, &e_cross_d);
        to->k = beyond_radius(motion, &square, caromi_motion_edge2(motion, edge));
    } else {
        caromi_int3_dot(&to->b, caromi_motion_normal(motion), &motion->d[0]);
        to->b.sign *= element->flip;
        caromi_int_square(&square, &to->b);
        /* The face's quadratic has A^2 for A. */
        to->k = caromi_approx_div(beyond_radius(motion, &square, caromi_motion_normal2(motion)),
                                  caromi_int_approx(element->a));
    }
}

/* The root of a feature on one side: contact begins at -1 and ends at 1. */
void caromi_element_root(caromi_motion *motion, const caromi_element *element, int side, caromi_root *root)
{
    caromi_quadratic *quadratic = &motion->quadratics[element->feature];
    if (is_first_use(motion, PART_QUADRATIC + element->feature))
        make_quadratic(motion, element, quadratic);
    root->a = element->a;
    root->b = &quadratic->b;
    root->k = quadratic->k;
    root->e = element->e;
    root->y = &element->y;
    root->root = caromi_approx_mul(element->root_e, element->root_y);
    root->side = side;
}

/* ---- points -------------------------------------------------------------------------------------------------------
 */

/* A weight in [0, 1]. */
static double clamped(caromi_approx weight)
{
    const double value = caromi_approx_double(weight, 0);
    return value < 0.0 ? 0.0 : value > 1.0 ? 1.0 : value;
}

/* A barycentric weight: the left side of a region's inequality, a surd, over its scale A sqrt(E), both members of the
 * element. */
static double condition_weight(caromi_motion *motion, const caromi_element *element, int side, int which)
{
    const caromi_approx over = caromi_approx_mul(caromi_int_approx(element->a), element->root_e);
    caromi_surd form;
    const int sign = region_condition(motion, element, which, &form);
    caromi_approx value = caromi_surd_approx(&form, side * element->flip);
    value.m *= (double)sign;
    return clamped(caromi_approx_div(value, over));
}

/* Barycentric weights of P1 and P2 at a root. */
void caromi_element_weights(caromi_motion *motion, const caromi_element *element, int side, double weights[2])
{
    weights[0] = element->feature == FEATURE_V1 ? 1.0 : 0.0;
    weights[1] = element->feature == FEATURE_V2 ? 1.0 : 0.0;
    if (element->feature == FEATURE_FACE) {
        weights[0] = condition_weight(motion, element, side, 2);
        weights[1] = condition_weight(motion, element, side, 0);
    } else if (!is_corner(element->feature)) {
        const double share = condition_weight(motion, element, side, 0);
        weights[0] = element->feature == FEATURE_E01 ? share : element->feature == FEATURE_E12 ? 1.0 - share : 0.0;
        weights[1] = element->feature == FEATURE_E01 ? 0.0 : element->feature == FEATURE_E12 ? share : 1.0 - share;
    }
}
