/* SPDX-License-Identifier: MIT */
#include "mesh_oracle.h"

#include <math.h>

#include "judge.h"
#include "space.h"

/* ---- which triangles may be hit, and when at the earliest ---------------------------------------------------------- */

/* Shares of the numbers in a box test, far beyond the rounding of binary64: inputs are binary32, so nothing in it leaves
 * the range. */
#define ROOM 1e-9
#define TIME_ROOM 1e-6

typedef struct candidate {
    double enter;
    uint32_t triangle;
} candidate;

/* The time at which the centre enters the triangle's box, blown up by the radius and more; infinity: not in [0, t_max]. */
static double earliest(const ref_sweep_case *c, double t_max)
{
    double enter = 0.0, leave = t_max, room = ROOM * queries_scale(c) + c->radius;
    for (int k = 0; k < 3; k++) {
        double lo = (double)fminf(fminf(c->p[0][k], c->p[1][k]), c->p[2][k]) - room - (double)c->center[k];
        double hi = (double)fmaxf(fmaxf(c->p[0][k], c->p[1][k]), c->p[2][k]) + room - (double)c->center[k];
        double v = (double)c->velocity[k];
        if (v < 0.0 || v > 0.0) {
            enter = fmax(enter, (v > 0.0 ? lo : hi) / v * (1.0 - TIME_ROOM));
            leave = fmin(leave, (v > 0.0 ? hi : lo) / v * (1.0 + TIME_ROOM));
        } else if (lo > 0.0 || hi < 0.0) {
            return HUGE_VAL;
        }
    }
    return enter <= leave ? enter : HUGE_VAL;
}

static int by_entry(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->enter < y->enter || x->enter > y->enter)
        return x->enter < y->enter ? -1 : 1;
    return (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

static candidate *candidates_of(const scene *s, const balls *b, size_t i, size_t *count)
{
    candidate *list = test_alloc(s->triangle_count, sizeof *list);
    *count = 0;
    for (size_t k = 0; k < s->triangle_count; k++) {
        ref_sweep_case c;
        balls_case(b, i, s, k, &c);
        double enter = earliest(&c, (double)b->column[BALL_T_MAX][i]);
        if (enter < HUGE_VAL)
            list[(*count)++] = (candidate){enter, (uint32_t)k};
    }
    qsort(list, *count, sizeof *list, by_entry);
    return list;
}

/* ---- one triangle -------------------------------------------------------------------------------------------------- */

/* The sign of distance - radius at `time`, exactly. */
static int side_at(const ref_sweep_case *c, float time)
{
    ref_triangle triangle;
    ref_vec way;
    ref_dyadic t, radius2;
    int feature;
    ref_triangle_set(&triangle, c);
    ref_vec_from_floats(&way, c->velocity);
    ref_dyadic_from_float(&t, time);
    ref_vec_scale(&way, &way, &t);
    for (int v = 0; v < 3; v++)
        ref_vec_sub(&triangle.p[v], &triangle.p[v], &way);
    ref_dyadic_from_double(&radius2, c->radius);
    ref_dyadic_mul(&radius2, &radius2, &radius2);
    return ref_triangle_closest(&triangle, &radius2, &feature);
}

/* T0 <= t_max, of the true T0. Its nearest binary64 decides unless it is t_max. */
static int within(const ref_sweep_case *c, const ref_sweep_answer *a, float t_max)
{
    if (a->t_first_near < (double)t_max || a->t_first_near > (double)t_max)
        return a->t_first_near < (double)t_max;
    if (isinf(t_max) || side_at(c, t_max) <= 0)
        return 1;
    if (!(a->t_last_near > (double)t_max))
        fail_msg("the oracle cannot decide whether a graze is within the window");
    return 0;
}

static oracle_hit hit_of(const ref_sweep_case *c, uint32_t triangle, float t_max)
{
    ref_sweep_answer a;
    ref_sweep_case still = *c;
    oracle_hit hit = {-1, REF_MISS, REF_NONE, HUGE_VALF, HUGE_VAL, {0}};
    ref_sweep(c, &a);
    hit.state = a.state;
    if (a.state == REF_TOUCHING || a.state == REF_OVERLAPPING) {
        memset(still.velocity, 0, sizeof still.velocity);
        ref_sweep(&still, &a);
        hit.t = 0.0f;
        hit.near = 0.0;
    } else if (a.state == REF_APPROACHING && within(c, &a, t_max)) {
        hit.t = a.t_first;
        hit.near = a.t_first_near;
    } else {
        return hit;
    }
    hit.triangle = (int32_t)triangle;
    hit.feature = a.feature_first;
    memcpy(hit.point, a.point_first, sizeof hit.point);
    return hit;
}

oracle_hit oracle_first(const scene *s, const balls *b, size_t i)
{
    oracle_hit best = {-1, REF_MISS, REF_NONE, HUGE_VALF, HUGE_VAL, {0}};
    ref_sweep_case c;
    ref_sweep_answer a;
    size_t count;
    balls_case(b, i, s, 0, &c);
    ref_sweep(&c, &a);
    if (a.state == REF_INVALID) { /* a mesh has no triangle that is */
        best.state = REF_INVALID;
        return best;
    }
    candidate *list = candidates_of(s, b, i, &count);
    for (size_t k = 0; k < count; k++) {
        uint32_t triangle = list[k].triangle;
        if (best.triangle >= 0 && list[k].enter > (double)best.t + 0x1p-149)
            break;
        /* nothing is before time 0 */
        if (best.triangle >= 0 && best.t <= 0.0f && (int32_t)triangle > best.triangle)
            continue;
        balls_case(b, i, s, triangle, &c);
        oracle_hit hit = hit_of(&c, triangle, b->column[BALL_T_MAX][i]);
        if (hit.triangle >= 0 &&
            (best.triangle < 0 || hit.t < best.t || (!(hit.t > best.t) && hit.triangle < best.triangle)))
            best = hit;
    }
    free(list);
    return best;
}

/* ---- answers -------------------------------------------------------------------------------------------------------- */

/* 1 and the triangle's unit normal against the motion, where the corners leave no doubt about it. */
static int clear_face_normal(const ref_sweep_case *c, double n[3])
{
    double e[2][3], length = 0.0, longest = 0.0, along = 0.0, speed = 0.0;
    for (int k = 0; k < 3; k++) {
        e[0][k] = (double)c->p[1][k] - (double)c->p[0][k];
        e[1][k] = (double)c->p[2][k] - (double)c->p[0][k];
        longest = fmax(longest, fmax(fabs(e[0][k]), fabs(e[1][k])));
        speed = fmax(speed, fabs((double)c->velocity[k]));
    }
    for (int k = 0; k < 3; k++) {
        n[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
        length += n[k] * n[k];
    }
    length = sqrt(length);
    for (int k = 0; k < 3; k++)
        along += n[k] / length * ((double)c->velocity[k] / speed);
    for (int k = 0; k < 3; k++)
        n[k] *= (along > 0.0 ? -1.0 : 1.0) / length;
    return length > 1e-3 * longest * longest && fabs(along) > 1e-6;
}

/* 1 and the true normal, where the reference's points are good enough to tell. */
static int clear_normal(const ref_sweep_case *c, const oracle_hit *truth, double n[3])
{
    double length = 0.0, reach = queries_scale(c);
    if (!(c->radius > 0.0) && truth->state == REF_APPROACHING)
        return truth->feature == REF_FACE && clear_face_normal(c, n);
    for (int k = 0; k < 3; k++) {
        double way = truth->near * (double)c->velocity[k];
        n[k] = (double)c->center[k] + way - truth->point[k];
        reach = fmax(reach, fmax(fabs(way), fabs(truth->point[k])));
        length += n[k] * n[k];
    }
    length = sqrt(length);
    for (int k = 0; k < 3; k++)
        n[k] /= length;
    return length > 1e-9 * reach && reach > 0x1p-400;
}

static const char *judge_normal(const ref_sweep_case *c, size_t i, const oracle_hit *truth, const hits *h)
{
    double n[3], length2 = 0.0, off = 0.0;
    int clear = clear_normal(c, truth, n);
    for (int k = 0; k < 3; k++) {
        double got = (double)hit_float(h, HIT_NX + k, i);
        length2 += got * got;
        off = fmax(off, clear ? fabs(got - n[k]) : 0.0);
    }
    if (!(fabs(length2 - 1.0) < 1e-6) && !(length2 <= 0.0 && !clear && truth->state != REF_APPROACHING))
        return "the normal is not a unit vector";
    return off > 1e-6 ? "the normal does not point from the contact point to the centre" : NULL;
}

const char *oracle_judge(const scene *s, const balls *b, size_t i, const oracle_hit *truth, const hits *h)
{
    int exists = truth->triangle >= 0 && isfinite(truth->t);
    ref_sweep_case c;
    if (hit_triangle(h, i) != truth->triangle)
        return "another triangle";
    if (hit_state(h, i) != (truth->triangle >= 0 || truth->state == REF_INVALID ? truth->state : REF_MISS))
        return "wrong state";
    if (bits_of_float(hit_float(h, HIT_T, i)) != bits_of_float(truth->t))
        return "wrong time";
    if (h->field[HIT_FEATURE].data[i] != (exists ? truth->feature : REF_NONE))
        return "wrong feature";
    for (int f = HIT_X; f <= HIT_NZ && !exists; f++)
        if (bits_of_float(hit_float(h, f, i)) != 0)
            return "a point or a normal without a hit";
    if (!exists)
        return NULL;
    balls_case(b, i, s, (size_t)truth->triangle, &c);
    const float point[3] = {hit_float(h, HIT_X, i), hit_float(h, HIT_Y, i), hit_float(h, HIT_Z, i)};
    if (ref_point_error(&c, truth->feature, truth->point, point) > 1.0)
        return "the contact point is more than one unit off";
    return judge_normal(&c, i, truth, h);
}
