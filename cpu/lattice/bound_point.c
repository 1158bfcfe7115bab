/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "lattice.h"

void caromi_bound_point_of(const float corners[9], const double to[3], caromi_bound_point *out)
{
    *out = bound_point_of(corners, to);
}
