/* SPDX-License-Identifier: MIT */
/* Sweeps and contacts in integers: states, rounded times, points and normals. */
#include "exact.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/second_state.h"
#include "touch.h"

/* A miss, without points. */
static void clear(caromi_exact_sweep *out)
{
    memset(out, 0, sizeof *out);
    out->t_first = INFINITY;
    out->t_last = -INFINITY;
    out->state = STATE_MISS;
}

/* Without relative motion the distance at time 0 decides for all times. */
static void answer_resting(caromi_motion *motion, int want, caromi_exact_sweep *out)
{
    static const float at_rest[3];
    caromi_nearest nearest;
    caromi_nearest_of(motion, &nearest);
    if (nearest.order > 0)
        return;
    out->state = nearest.order == 0 ? STATE_TOUCHING : STATE_OVERLAPPING;
    out->t_first = -INFINITY;
    out->t_last = INFINITY;
    if (want < CAROMI_EXACT_FULL)
        return;
    caromi_point_of(motion->in + IN_P0X, nearest.weights, at_rest, 0.0, out->point_first);
    memcpy(out->point_last, out->point_first, sizeof out->point_last);
    out->feature_first = out->feature_last = nearest.feature;
}

/* Point and feature of a contact; none if its time rounds to infinity. */
static void touch_point(caromi_motion *motion, const caromi_touch *touch, float t, float point[3], int *feature)
{
    double weights[2];
    if (t > 0x1.fffffep127f || t < -0x1.fffffep127f)
        return;
    *feature = touch->element->feature;
    caromi_element_weights(motion, touch->element, touch->side, weights);
    caromi_point_of(motion->in + IN_P0X, weights, motion->in + IN_WX, caromi_approx_double(touch->time, motion->unit),
                    point);
}

/* Whether a contact is after the limit. t: its time, rounded. */
static int is_beyond(const caromi_motion *motion, const caromi_touch *touch, float t, float limit)
{
    /* Rounding is monotone, so the exact time is needed only if it rounds to the limit. */
    return t > limit || (t == limit && t <= 0x1.fffffep127f && t >= -0x1.fffffep127f &&
                         caromi_root_compare(&touch->root, (double)limit, motion->unit) > 0);
}

/* Whether time 0 tells whether a moving pair makes a mesh hit. The distance is convex in time: if it does not fall at
 * time 0, it never will. */
static int answer_start(caromi_motion *motion, caromi_exact_sweep *out)
{
    caromi_nearest nearest;
    caromi_int3 gap;
    caromi_int rise;
    caromi_nearest_of(motion, &nearest);
    caromi_nearest_gap(motion, nearest.feature, &gap);
    caromi_int3_dot(&rise, &gap, &motion->v);
    if (nearest.order < 0)
        out->state = STATE_OVERLAPPING;
    else if (nearest.order == 0 && rise.sign != 0)
        out->state = rise.sign < 0 ? STATE_TOUCHING : STATE_PARTING;
    else
        return nearest.order > 0 && rise.sign >= 0;
    out->t_first = 0.0f;
    return 1;
}

/* The answer of a moving pair, as far as `want` needs it. */
static void answer_moving(caromi_motion *motion, int want, float limit, caromi_exact_sweep *out)
{
    caromi_touch first, last;
    if (want == CAROMI_EXACT_HIT && answer_start(motion, out))
        return;
    if (!caromi_touch_find(motion, CAROMI_TOUCH_FIRST, &first))
        return;
    const int sign = caromi_root_sign(&first.root);
    out->t_first = caromi_root_float(&first.root, first.time, motion->unit);
    out->beyond = is_beyond(motion, &first, out->t_first, limit);
    out->t_last = 0.0f;
    if (want <= CAROMI_EXACT_FIRST && sign >= 0) {
        out->state = caromi_state_of(sign, 1);
        return;
    }
    caromi_touch_find(motion, CAROMI_TOUCH_LAST, &last);
    out->state = caromi_state_of(sign, caromi_root_sign(&last.root));
    if (want <= CAROMI_EXACT_FIRST)
        return;
    out->t_last = caromi_root_float(&last.root, last.time, motion->unit);
    if (want == CAROMI_EXACT_TIMES)
        return;
    touch_point(motion, &first, out->t_first, out->point_first, &out->feature_first);
    touch_point(motion, &last, out->t_last, out->point_last, &out->feature_last);
}

/* Answers one pair in integers. count: IN_SWEEP_MOVING or IN_SWEEP_CARRIED; the latter without points. */
static void answer_in_integers(const float *in, int count, int want, float limit, caromi_exact_sweep *out)
{
    caromi_motion motion;
    clear(out);
    out->by_integers = 1;
    if (!caromi_motion_of(&motion, in, count))
        out->state = STATE_INVALID;
    else if (motion.resting)
        answer_resting(&motion, want, out);
    else
        answer_moving(&motion, want, limit, out);
}

/* Whether the second filter has decided a pair. If its time rounds to the limit, it may exceed it, and the filter does
 * not always know. Nothing exceeds infinity. */
static int is_decided_by_second(const caromi_second_answer *second, int want, float limit, caromi_exact_sweep *out)
{
    const int state = second->state & SECOND_STATE,
              is_at_limit = state != STATE_MISS && second->t_first == limit && limit <= FLT_MAX;
    uint32_t bits; /* a comparison of values could depend on the float mode */
    memcpy(&bits, &second->t_first, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000 || (is_at_limit && (second->state & (SECOND_AFTER | SECOND_NOT_AFTER)) == 0))
        return 0;
    clear(out);
    out->state = state;
    if (state == STATE_MISS)
        return 1;
    out->t_first = second->t_first;
    out->t_last = want <= CAROMI_EXACT_FIRST ? 0.0f : second->t_last;
    out->beyond = second->t_first > limit || (is_at_limit && (second->state & SECOND_AFTER) != 0);
    return 1;
}

void caromi_exact_sweep_after(const float *in, const caromi_second_answer *second, int want, float limit,
                              caromi_exact_sweep *out)
{
    if (!is_decided_by_second(second, want, limit, out))
        answer_in_integers(in, IN_SWEEP_MOVING, want, limit, out);
}

void caromi_exact_sweep_of(const float *in, int want, float limit, caromi_exact_sweep *out)
{
    const float *columns[IN_SWEEP_MOVING];
    caromi_second_answer second = {.t_first = NAN};
    void *answers[OUT_SWEEP_FULL] = {&second.t_first, &second.t_last, &second.state};
    for (int column = 0; column < IN_SWEEP_MOVING; column++)
        columns[column] = in + column;
    if (want != CAROMI_EXACT_FULL)
        caromi_scalar_second_sweep(columns, answers, 1);
    caromi_exact_sweep_after(in, &second, want, limit, out);
}

void caromi_exact_carried_of(const float *in, float limit, caromi_exact_sweep *out)
{
    answer_in_integers(in, IN_SWEEP_CARRIED, CAROMI_EXACT_HIT, limit, out);
}

/* A triangle at rest. */
static void motion_at(caromi_motion *motion, const float *in, float *moving)
{
    memset(moving, 0, IN_SWEEP_MOVING * sizeof *moving);
    memcpy(moving, in, IN_SWEEP_RESTING * sizeof *in);
    caromi_motion_of(motion, moving, IN_SWEEP_MOVING);
}

/* Compares two first times in integers. */
int caromi_exact_first_order(const float *in, const float *other)
{
    float moving[2][IN_SWEEP_MOVING];
    caromi_motion motion[2];
    caromi_touch first[2];
    motion_at(&motion[0], in, moving[0]);
    motion_at(&motion[1], other, moving[1]);
    if (!caromi_touch_find(&motion[0], CAROMI_TOUCH_FIRST, &first[0]) ||
        !caromi_touch_find(&motion[1], CAROMI_TOUCH_FIRST, &first[1]))
        return 0;
    return caromi_root_order(&first[0].root, motion[0].unit, &first[1].root, motion[1].unit);
}

/* Normals. */

/* Normal of a contact whose point coincides with the centre: the triangle's normal, on the side that faces the motion.
 * For a triangle without area, or motion along the plane, it is the direction of -v; without motion, zero. */
static void normal_against(caromi_motion *motion, float out[3])
{
    const int normal_speed = caromi_motion_normal_speed(motion)->sign;
    if (normal_speed != 0)
        caromi_store_unit_of(caromi_motion_normal(motion), -normal_speed, out);
    else
        caromi_store_unit_of(&motion->v, -1, out);
}

/* Contact of a sphere that touches or overlaps at time 0. */
static void start_contact(caromi_motion *motion, caromi_exact_contact *out)
{
    static const float at_rest[3];
    caromi_nearest nearest;
    caromi_int3 gap;
    caromi_nearest_of(motion, &nearest);
    out->feature = nearest.feature;
    caromi_point_of(motion->in + IN_P0X, nearest.weights, at_rest, 0.0, out->point);
    caromi_nearest_gap(motion, nearest.feature, &gap);
    if (gap.x[0].sign | gap.x[1].sign | gap.x[2].sign)
        caromi_store_unit_of(&gap, 1, out->normal);
    else
        normal_against(motion, out->normal);
}

/* Unit vector of `by` a + `and_by` b for perpendicular a and b, so no cancellation affects the direction. */
static void store_unit_sum(const caromi_int3 *a, caromi_approx by, const caromi_int3 *b, caromi_approx and_by,
                           float out[3])
{
    caromi_approx sum[3];
    for (int i = 0; i < 3; i++) {
        caromi_approx scaled_a = caromi_approx_mul(caromi_int_approx(&a->x[i]), by);
        caromi_approx scaled_b = caromi_approx_mul(caromi_int_approx(&b->x[i]), and_by);
        const int exponent = caromi_approx_align(&scaled_a, &scaled_b);
        sum[i] = (caromi_approx){scaled_a.m + scaled_b.m, exponent};
    }
    caromi_store_unit(sum, out);
}

static caromi_approx negative(caromi_approx a)
{
    return (caromi_approx){-a.m, a.e};
}

/* From contact point to centre, r > 0, with side sign s: at a corner v x q + s sqrt(Y) v, at an edge -h sqrt(E) a + s
 * sqrt(Y) a x e, on the face the normal against the motion. */
static void touch_normal(caromi_motion *motion, const caromi_touch *touch, float out[3])
{
    const caromi_element *element = touch->element;
    const caromi_approx root = {element->root_y.m * (double)touch->side, element->root_y.e};
    const caromi_approx one = {1.0, 0};
    caromi_int3 other;
    if (element->feature < FEATURE_E01) {
        caromi_int3_cross(&other, &motion->v, caromi_motion_moment(motion, element->feature - FEATURE_V0));
        store_unit_sum(&other, one, &motion->v, root, out);
    } else if (element->feature < FEATURE_FACE) {
        const int edge = element->feature - FEATURE_E01;
        const caromi_int3 *a = caromi_motion_sweep_normal(motion, edge);
        const caromi_approx h = caromi_int_approx(caromi_motion_plucker(motion, edge));
        caromi_int3_cross(&other, a, &motion->e[edge]);
        store_unit_sum(a, negative(caromi_approx_mul(h, element->root_e)), &other, root, out);
    } else {
        normal_against(motion, out);
    }
}

/* Contact of a sphere that touches later. velocity: of the triangle's instance. */
static void first_contact(caromi_motion *motion, const caromi_touch *first, const float *velocity,
                          caromi_exact_contact *out)
{
    double weights[2];
    const float t = caromi_root_float(&first->root, first->time, motion->unit);
    if (t > 0x1.fffffep127f)
        return;
    out->feature = first->element->feature;
    caromi_element_weights(motion, first->element, first->side, weights);
    caromi_point_of(motion->in + IN_P0X, weights, velocity, caromi_approx_double(first->time, motion->unit),
                    out->point);
    if (motion->r2.sign == 0)
        normal_against(motion, out->normal);
    else
        touch_normal(motion, first, out->normal);
}

/* Contact of a mesh hit. */
void caromi_exact_contact_of(const float *in, int motion_kind, caromi_exact_contact *out)
{
    caromi_motion motion;
    caromi_touch first, last;
    float relative[IN_SWEEP_CARRIED] = {0};
    memset(out, 0, sizeof *out);
    memcpy(relative, in, IN_SWEEP_RESTING * sizeof *in);
    if ((motion_kind & MOTION_BY_END) != 0)
        memcpy(relative + IN_WX, in + IN_CX, 3 * sizeof *in);
    if ((motion_kind & TRIANGLE_CARRIED) != 0)
        memcpy(relative + IN_UX, in + IN_SWEEP_RESTING, 3 * sizeof *in);
    if (!caromi_motion_of(&motion, relative, IN_SWEEP_CARRIED))
        return;
    /* A pair at rest has contact at time 0 or never. */
    if (motion.resting) {
        caromi_nearest nearest;
        caromi_nearest_of(&motion, &nearest);
        if (nearest.order <= 0)
            start_contact(&motion, out);
        return;
    }
    if (!caromi_touch_find(&motion, CAROMI_TOUCH_FIRST, &first))
        return;
    const int sign = caromi_root_sign(&first.root);
    if (sign > 0) {
        first_contact(&motion, &first, relative + IN_UX, out);
        return;
    }
    if (sign < 0) {
        caromi_touch_find(&motion, CAROMI_TOUCH_LAST, &last);
        if (caromi_root_sign(&last.root) <= 0)
            return;
    }
    start_contact(&motion, out);
}

/* ---- rows of a batch ---- */

/* Resolves an undecided sweep of a batch. */
static void resolve_sweep(caromi_exact_pair *pair, int want, int moving)
{
    caromi_exact_sweep answer;
    if (!moving)
        pair->in[IN_WX] = pair->in[IN_WY] = pair->in[IN_WZ] = 0;
    answer_in_integers(pair->in, IN_SWEEP_MOVING, want, 0, &answer);
    pair->real[OUT_T_FIRST] = answer.t_first;
    pair->real[OUT_T_LAST] = answer.t_last;
    pair->byte[OUT_STATE] = (uint8_t)answer.state;
    memcpy(&pair->real[OUT_FIRST_X], answer.point_first, sizeof answer.point_first);
    memcpy(&pair->real[OUT_LAST_X], answer.point_last, sizeof answer.point_last);
    pair->byte[OUT_FIRST_FEATURE] = (uint8_t)answer.feature_first;
    pair->byte[OUT_LAST_FEATURE] = (uint8_t)answer.feature_last;
}

void caromi_resolve_sweep_first_exact(caromi_exact_pair *pair)
{
    resolve_sweep(pair, CAROMI_EXACT_FIRST, 0);
}
void caromi_resolve_sweep_times_exact(caromi_exact_pair *pair)
{
    resolve_sweep(pair, CAROMI_EXACT_TIMES, 0);
}
void caromi_resolve_sweep_full_exact(caromi_exact_pair *pair)
{
    resolve_sweep(pair, CAROMI_EXACT_FULL, 0);
}
void caromi_resolve_sweep_first_moving_exact(caromi_exact_pair *pair)
{
    resolve_sweep(pair, CAROMI_EXACT_FIRST, 1);
}
void caromi_resolve_sweep_times_moving_exact(caromi_exact_pair *pair)
{
    resolve_sweep(pair, CAROMI_EXACT_TIMES, 1);
}
void caromi_resolve_sweep_full_moving_exact(caromi_exact_pair *pair)
{
    resolve_sweep(pair, CAROMI_EXACT_FULL, 1);
}

/* Resolves an undecided contact of a batch. */
static void resolve_contact(caromi_exact_pair *pair, int motion)
{
    caromi_exact_contact answer;
    caromi_exact_contact_of(pair->in, motion, &answer);
    memcpy(&pair->real[OUT_POINT_X], answer.point, sizeof answer.point);
    memcpy(&pair->real[OUT_NORMAL_X], answer.normal, sizeof answer.normal);
    pair->byte[OUT_FEATURE] = (uint8_t)answer.feature;
}

void caromi_resolve_contact_exact(caromi_exact_pair *pair)
{
    resolve_contact(pair, MOTION_BY_VELOCITY);
}
void caromi_resolve_contact_ends_exact(caromi_exact_pair *pair)
{
    resolve_contact(pair, MOTION_BY_END);
}
void caromi_resolve_contact_carried_exact(caromi_exact_pair *pair)
{
    resolve_contact(pair, MOTION_BY_VELOCITY | TRIANGLE_CARRIED);
}
void caromi_resolve_contact_carried_ends_exact(caromi_exact_pair *pair)
{
    resolve_contact(pair, MOTION_BY_END | TRIANGLE_CARRIED);
}
