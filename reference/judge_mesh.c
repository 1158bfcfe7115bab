/* SPDX-License-Identifier: MIT */
#include "judge_mesh.h"

#include <math.h>
#include <string.h>

#include "judge.h"

static int same_bits(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static int is_zero(const float v[3])
{
    return same_bits(v[0], 0.0f) && same_bits(v[1], 0.0f) && same_bits(v[2], 0.0f);
}

static double relative_velocity(const ref_sweep_case *c, int k)
{
    return (double)c->velocity[k] - (double)c->w[k];
}

/* ---- normals ----------------------------------------------------------------------------------------------------- */

/* 1 and the triangle's unit normal against the motion, where the corners leave no doubt about it. */
static int clear_face_normal(const ref_sweep_case *c, double n[3])
{
    double e[2][3], length = 0.0, longest = 0.0, along = 0.0, speed = 0.0;
    for (int k = 0; k < 3; k++) {
        e[0][k] = (double)c->p[1][k] - (double)c->p[0][k];
        e[1][k] = (double)c->p[2][k] - (double)c->p[0][k];
        longest = fmax(longest, fmax(fabs(e[0][k]), fabs(e[1][k])));
        speed = fmax(speed, fabs(relative_velocity(c, k)));
    }
    for (int k = 0; k < 3; k++) {
        n[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
        length += n[k] * n[k];
    }
    length = sqrt(length);
    for (int k = 0; k < 3; k++)
        along += n[k] / length * (relative_velocity(c, k) / speed);
    for (int k = 0; k < 3; k++)
        n[k] *= (along > 0.0 ? -1.0 : 1.0) / length;
    return length > 1e-3 * longest * longest && fabs(along) > 1e-6;
}

/* 1 and the true normal, where the reference's points are accurate enough to judge it. */
static int clear_normal(const ref_sweep_case *c, const ref_mesh_hit *truth, double n[3])
{
    double length = 0.0, reach = fabs(c->radius);
    if (!(c->radius > 0.0) && truth->state == REF_APPROACHING)
        return truth->feature == REF_FACE && clear_face_normal(c, n);
    for (int k = 0; k < 3; k++) {
        double way = truth->near * relative_velocity(c, k);
        n[k] = (double)c->center[k] + way - truth->point[k];
        reach = fmax(reach, fmax(fmax(fabs((double)c->center[k]), fabs(way)), fabs(truth->point[k])));
        for (int v = 0; v < 3; v++)
            reach = fmax(reach, fabs((double)c->p[v][k]));
        length += n[k] * n[k];
    }
    length = sqrt(length);
    for (int k = 0; k < 3; k++)
        n[k] /= length;
    return length > 1e-9 * reach && reach > 0x1p-400;
}

static const char *judge_normal(const ref_sweep_case *c, const ref_mesh_hit *truth, const float normal[3])
{
    double n[3], length2 = 0.0, off = 0.0;
    int clear = clear_normal(c, truth, n);
    for (int k = 0; k < 3; k++) {
        double got = (double)normal[k];
        length2 += got * got;
        off = fmax(off, clear ? fabs(got - n[k]) : 0.0);
    }
    if (!(fabs(length2 - 1.0) < 1e-6) && !(length2 <= 0.0 && !clear && truth->state != REF_APPROACHING))
        return "the normal is not a unit vector";
    return off > 1e-6 ? "the normal does not point from the contact point to the centre" : NULL;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

const char *ref_judge_hit(const ref_sweep_case *c, const ref_mesh_hit *truth, const ref_given_hit *given)
{
    const int exists = truth->triangle >= 0 && isfinite(truth->t);
    if (given->triangle != truth->triangle)
        return "another triangle";
    if (given->state != (truth->triangle >= 0 || truth->state == REF_INVALID ? truth->state : REF_MISS))
        return "wrong state";
    if (!same_bits(given->t, truth->t))
        return "wrong time";
    if (given->feature != (exists ? truth->feature : REF_NONE))
        return "wrong feature";
    if (!exists)
        return is_zero(given->point) && is_zero(given->normal) ? NULL : "a point or a normal without a hit";
    if (ref_point_error(c, truth->feature, truth->point, given->point) > 1.0)
        return "the contact point is more than one unit off";
    return judge_normal(c, truth, given->normal);
}

const char *ref_judge_closest(const ref_sweep_case *c, const ref_mesh_closest_answer *truth,
                              const ref_given_closest *given)
{
    ref_sweep_case at_center = *c;
    at_center.radius = 0.0; /* is no coordinate of this question */
    if (truth->triangle < 0)
        return given->triangle == -1 && given->distance >= HUGE_VALF && given->depth <= -HUGE_VALF &&
                       given->feature == REF_NONE && is_zero(given->point)
                   ? NULL
                   : "an answer where there is none";
    if (!same_bits(given->distance, truth->closest.distance))
        return "another distance";
    if (given->triangle != truth->triangle)
        return "another triangle";
    if (given->feature != truth->closest.feature)
        return "another feature";
    if (!same_bits(given->depth, fabsf((float)c->radius) - given->distance))
        return "another depth";
    if (!(ref_point_error(&at_center, truth->closest.feature, truth->closest.point, given->point) <= 1.0))
        return "the point is more than one unit off";
    return NULL;
}
