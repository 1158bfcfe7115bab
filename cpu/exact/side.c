/* SPDX-License-Identifier: MIT */
/* Signs that the options of a mesh query need, in integers. */
#include "exact.h"

#include "touch.h"

int caromi_exact_is_back(const float *in)
{
    caromi_motion m;
    return caromi_motion_of(&m, in, IN_SWEEP_MOVING) && !m.resting && caromi_motion_normal_speed(&m)->sign > 0;
}

int caromi_exact_is_parting(const float *in)
{
    caromi_motion m;
    caromi_nearest nearest;
    caromi_int3 gap;
    caromi_int along;
    if (!caromi_motion_of(&m, in, IN_SWEEP_MOVING) || m.resting)
        return 0;
    caromi_nearest_of(&m, &nearest);
    caromi_nearest_gap(&m, nearest.feature, &gap);
    caromi_int3_dot(&along, &gap, &m.v);
    return along.sign > 0;
}
