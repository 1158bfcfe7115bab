/* SPDX-License-Identifier: MIT */
#ifndef CAROM_HOST_BASE_CLOCK_H
#define CAROM_HOST_BASE_CLOCK_H

/* Seconds of a clock that does not jump when the time is set. */
double caromi_now(void);
#endif
