/* SPDX-License-Identifier: MIT */
#include "judge.h"

#include <float.h>
#include <math.h>
#include <string.h>

static int same_bits(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

double ref_point_unit(const ref_sweep_case *c, const double point[3])
{
    double largest = fmax(c->radius, (double)FLT_MIN);
    int exponent;

    for (int k = 0; k < 3; k++) {
        largest = fmax(largest, fmax(fabs((double)c->center[k]), fabs(point[k])));
        for (int v = 0; v < 3; v++)
            largest = fmax(largest, fabs((double)c->p[v][k]));
    }
    frexp(largest, &exponent);
    return ldexp(1.0, exponent - FLT_MANT_DIG);
}

double ref_point_error(const ref_sweep_case *c, int feature, const double point[3], const float given[3])
{
    double worst = 0.0, unit = ref_point_unit(c, point);

    for (int k = 0; k < 3; k++) {
        int fits = fabs(point[k]) < (double)FLT_MAX;
        int right = fits || (fabsf(given[k]) >= FLT_MAX && (given[k] > 0.0f) == (point[k] > 0.0));
        if (feature == REF_NONE)
            right = same_bits(given[k], 0.0f);
        if (!right || isnan(given[k]))
            return (double)INFINITY;
        if (feature != REF_NONE && fits)
            worst = fmax(worst, fabs((double)given[k] - point[k]) / unit);
    }
    return worst;
}

const char *ref_judge_sweep(const ref_sweep_case *c, const ref_sweep_answer *truth, const ref_given_sweep *given)
{
    if (given->state != truth->state)
        return "state";
    if (!same_bits(given->t_first, truth->t_first))
        return "t_first";
    if (!same_bits(given->t_last, truth->t_last))
        return "t_last";
    if (given->feature_first != truth->feature_first)
        return "feature_first";
    if (given->feature_last != truth->feature_last)
        return "feature_last";
    if (ref_point_error(c, truth->feature_first, truth->point_first, given->point_first) > 1.0)
        return "point_first";
    if (ref_point_error(c, truth->feature_last, truth->point_last, given->point_last) > 1.0)
        return "point_last";
    return NULL;
}

const char *ref_judge_overlap(const ref_overlap_answer *truth, int overlap, int axes)
{
    return overlap != truth->overlap ? "overlap" : axes != truth->axes ? "axes" : NULL;
}

const char *ref_judge_spheres(const ref_spheres_answer *truth, int state, float u_first, float u_last)
{
    return state != truth->state                 ? "state"
           : !same_bits(u_first, truth->u_first) ? "u_first"
           : !same_bits(u_last, truth->u_last)   ? "u_last"
                                                 : NULL;
}
