/* SPDX-License-Identifier: MIT */
/* Two moving spheres in integers: a point against a corner, with the letters of exact_motion.h. */
#include "exact.h"

#include "exact_root.h"

/* How A's centre moves from B's, and when they are ra + rb apart. Times need no unit: all are lengths. */
typedef struct spheres {
    caromi_int3 v, d;
    caromi_int r2, vv, y, b, k; /* the root is (-B +- sqrt(Y)) / v.v, K = d^2 - r^2 */
} spheres;

static void load(caromi_int3 *out, const float *a, const float *b, int unit)
{
    caromi_int subtrahend;
    for (int i = 0; i < 3; i++) {
        caromi_int_of_float(&out->x[i], a[i], unit);
        caromi_int_of_float(&subtrahend, b[i], unit);
        caromi_int_sub(&out->x[i], &out->x[i], &subtrahend);
    }
}

static void load_spheres(spheres *s, const float *in)
{
    caromi_int3 end;
    caromi_int r, rb;
    const int lowest = caromi_lowest_bit(in, IN_SPHERES), unit = lowest == CAROMI_NO_BIT ? 0 : lowest;
    caromi_int_of_float(&r, in[IN_RA], unit);
    caromi_int_of_float(&rb, in[IN_RB], unit);
    caromi_int_add(&r, &r, &rb);
    caromi_int_square(&s->r2, &r);
    load(&s->d, in + IN_A0X, in + IN_B0X, unit);
    load(&end, in + IN_A1X, in + IN_B1X, unit);
    caromi_int3_sub(&s->v, &end, &s->d);
    caromi_int3_dot(&s->k, &s->d, &s->d);
    caromi_int_sub(&s->k, &s->k, &s->r2);
    caromi_int3_dot(&s->vv, &s->v, &s->v);
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
    return caromi_root_float(root, caromi_root_near(root), 0);
}

static void solve(const float *in, float *u_first, float *u_last, int *state)
{
    spheres s;
    *u_first = INFINITY;
    *u_last = -INFINITY;
    *state = STATE_INVALID;
    if (!caromi_floats_finite(in, IN_SPHERES) || !caromi_radius_valid(in[IN_RA]) || !caromi_radius_valid(in[IN_RB]))
        return;
    *state = STATE_MISS;
    load_spheres(&s, in);
    if (s.vv.sign == 0) {
        if (s.k.sign > 0)
            return;
        *state = s.k.sign == 0 ? STATE_TOUCHING : STATE_OVERLAPPING;
        *u_first = -INFINITY;
        *u_last = INFINITY;
        return;
    }
    make_quadratic(&s);
    if (s.y.sign < 0)
        return;
    caromi_root root = {.a = &s.vv, .b = &s.b, .y = &s.y, .k = caromi_int_near(&s.k), .side = -s.y.sign};
    root.root = caromi_near_sqrt(caromi_int_near(&s.y));
    const int first = caromi_root_sign(&root);
    *u_first = round_root(&root);
    root.side = s.y.sign;
    *state = caromi_state_of(first, caromi_root_sign(&root));
    *u_last = round_root(&root);
}

void caromi_settle_spheres_exact(caromi_settle_row *row)
{
    int state;
    solve(row->in, &row->real[OUT_U_FIRST], &row->real[OUT_U_LAST], &state);
    row->byte[OUT_U_STATE] = (uint8_t)state;
}
