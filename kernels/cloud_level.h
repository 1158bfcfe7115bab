/* SPDX-License-Identifier: MIT */
/* The cell of a coordinate along an axis of a level, in binary64. */
#ifndef CAROM_CLOUD_LEVEL_H
#define CAROM_CLOUD_LEVEL_H
#include "wide.h"

/* The number of the cell, from 0 to `most`, before it is rounded towards 0. */
FN wf cloud_level_cell(wf x, wf low, wf per, wf most)
{
    const wf cell = (x - low) * per, at_least_0 = w_sel(w_lt(w_f(0), cell), cell, w_f(0));
    return w_sel(w_lt(at_least_0, most), at_least_0, most);
}
#endif
