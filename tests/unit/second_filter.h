/* SPDX-License-Identifier: MIT */
/* The second filter of sweeps, one pair at a time, judged by the reference. The includer defines LANES as 1, and
 * PROOF_BOUND and W_BOUND if it scales bounds, and has included kernels/wide.h. */
#ifndef CAROM_TEST_SECOND_FILTER_H
#define CAROM_TEST_SECOND_FILTER_H
#include "reference/judge.h"
#include "kernels/sweep_second.h"

#include <math.h>

typedef struct sweep_case {
    float in[IN_SWEEP_MOVING];
} sweep_case;

static inline sweep_case sweep_case_of(const ref_sweep_case *c)
{
    sweep_case s;
    memcpy(&s.in[IN_CX], c->center, sizeof c->center);
    s.in[IN_R] = (float)c->radius;
    memcpy(&s.in[IN_VX], c->velocity, sizeof c->velocity);
    memcpy(&s.in[IN_P0X], c->p, sizeof c->p);
    memcpy(&s.in[IN_WX], c->w, sizeof c->w);
    return s;
}

static inline ref_sweep_case reference_case_of(const sweep_case *s)
{
    ref_sweep_case c;
    memcpy(c.center, &s->in[IN_CX], sizeof c.center);
    c.radius = (double)s->in[IN_R];
    memcpy(c.velocity, &s->in[IN_VX], sizeof c.velocity);
    memcpy(c.p, &s->in[IN_P0X], sizeof c.p);
    memcpy(c.w, &s->in[IN_WX], sizeof c.w);
    return c;
}

static inline int same(float a, float b)
{
    return bits_of_float(a) == bits_of_float(b);
}

/* Answers by the second filter, with points or without; order: the bits of second_state.h. Returns whether it decided
 * the pair. */
static inline int solve_second(const sweep_case *s, int wants_points, ref_given_sweep *answer, int *order)
{
    const float *columns[IN_SWEEP_MOVING];
    uint8_t state = STATE_INVALID, feature_first = 0, feature_last = 0;
    float *first = answer->point_first, *last = answer->point_last;
    void *out[OUT_SWEEP_FULL] = {[OUT_T_FIRST] = &answer->t_first,
                                 [OUT_T_LAST] = &answer->t_last,
                                 [OUT_STATE] = &state,
                                 [OUT_FIRST_X] = &first[0],
                                 [OUT_FIRST_Y] = &first[1],
                                 [OUT_FIRST_Z] = &first[2],
                                 [OUT_LAST_X] = &last[0],
                                 [OUT_LAST_Y] = &last[1],
                                 [OUT_LAST_Z] = &last[2],
                                 [OUT_LAST_FEATURE] = &feature_last,
                                 [OUT_FIRST_FEATURE] = &feature_first};
    for (int c = 0; c < IN_SWEEP_MOVING; c++)
        columns[c] = &s->in[c];
    second_sweep(columns, out, 0, wants_points);
    answer->state = state & SECOND_STATE;
    *order = state & ~SECOND_STATE;
    answer->feature_first = feature_first;
    answer->feature_last = feature_last;
    return !isnan(answer->t_first);
}

/* Whether these bits are wrong. The true time is known to binary64: if that is the rounded one, it is not greater by
 * anything that the filter could see. */
static inline int order_is_wrong(const ref_sweep_answer *exact, int order)
{
    const int has_time = exact->state != REF_MISS;
    const double time = exact->t_first_near, rounded = (double)exact->t_first;
    return ((order & SECOND_AFTER) != 0 && !(has_time && time > rounded)) ||
           ((order & SECOND_NOT_AFTER) != 0 && !(has_time && time <= rounded));
}

/* Whether the second filter is wrong. The ratio is the error of a point in units of the last place: only answers test
 * the bounds of the second filter. */
static inline int judge_second(const sweep_case *s, double *ratio)
{
    ref_sweep_case c = reference_case_of(s);
    ref_sweep_answer exact;
    ref_given_sweep times, full;
    int order[2], wrong = 0;
    const int has_times = solve_second(s, 0, &times, &order[0]), is_full = solve_second(s, 1, &full, &order[1]);
    *ratio = 0.0;
    if (has_times || is_full)
        ref_sweep(&c, &exact);
    if (has_times)
        wrong = times.state != exact.state || !same(times.t_first, exact.t_first) ||
                !same(times.t_last, exact.t_last) || order_is_wrong(&exact, order[0]);
    if (is_full) {
        wrong |= ref_judge_sweep(&c, &exact, &full) != NULL || order_is_wrong(&exact, order[1]);
        *ratio = fmax(ref_point_error(&c, exact.feature_first, exact.point_first, full.point_first),
                      ref_point_error(&c, exact.feature_last, exact.point_last, full.point_last));
    }
    return wrong;
}

static inline void print_sweep(const sweep_case *s)
{
    ref_sweep_case c = reference_case_of(s);
    queries q = queries_alloc(SWEEP, 1);
    queries_put_sweep(&q, 0, &c);
    queries_print(&q, 0);
    queries_free(&q);
}
#endif
