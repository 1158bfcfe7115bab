/* SPDX-License-Identifier: MIT */
/* Scenes of a whole step of a simulation: a mesh that follows its vertices, first hits, neighbours, contacts and which
 * of the step before they go on with. On the CPU path, or on devices with all arrays in their buffers. */
#ifndef CAROM_BENCH_STEPS_H
#define CAROM_BENCH_STEPS_H

#include "suite.h"

void steps_run(suite *u, const suite_scene *scene);
/* Times of a sphere in times of a random sweep. */
double steps_weight(void);

#endif
