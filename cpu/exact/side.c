/* SPDX-License-Identifier: MIT */
/* Signs that the options of a mesh query need, in integers. */
#include "exact.h"

#include "touch.h"

/* The sign of n.v. */
int caromi_exact_is_back(const float *in, int count)
{
    caromi_motion motion;
    return caromi_motion_of(&motion, in, count) && !motion.resting && caromi_motion_normal_speed(&motion)->sign > 0;
}

/* The sign of gap.v at the closest point of time 0. */
int caromi_exact_is_parting(const float *in, int count)
{
    caromi_motion motion;
    caromi_nearest nearest;
    caromi_int3 gap;
    caromi_int along;
    if (!caromi_motion_of(&motion, in, count) || motion.resting)
        return 0;
    caromi_nearest_of(&motion, &nearest);
    caromi_nearest_gap(&motion, nearest.feature, &gap);
    caromi_int3_dot(&along, &gap, &motion.v);
    return along.sign > 0;
}
