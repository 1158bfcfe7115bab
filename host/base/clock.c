/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include "cpu/threads/clock.h"

double caromi_now(void)
{
    return 1e-9 * (double)caromi_nanoseconds();
}
