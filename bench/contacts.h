/* SPDX-License-Identifier: MIT */
/* Scenes of contacts: what a simulation asks about each sphere that rests on a mesh, beside the closest points and the
 * overlap lists that it would ask for instead. */
#ifndef CAROM_BENCH_CONTACTS_H
#define CAROM_BENCH_CONTACTS_H

#include "suite.h"

/* The task's `band` is a radius in mean edges. */
void contacts_run(suite *u, const suite_scene *scene);
/* How a mesh is changed, after the spheres have been put on it: half of its triangles, at random, run the other way;
 * each coordinate is moved by up to half of a mean edge. */
#define CONTACTS_TURNED "turned"
#define CONTACTS_CRUMPLED "crumpled"
/* Times of a sphere in times of a random sweep, for a mesh of one triangle; they grow with the fourth root of their
 * number. */
double contacts_weight(float edges);

#endif
