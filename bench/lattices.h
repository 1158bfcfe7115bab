/* SPDX-License-Identifier: MIT */
/* Scenes of lattices: all nodes in one call, beside some of them one by one. */
#ifndef CAROM_BENCH_LATTICES_H
#define CAROM_BENCH_LATTICES_H

#include "suite.h"

void lattices_run(suite *u, const suite_scene *scene);
/* The call that a task from MESH_VOLUME on asks for, with the statistics of the call. */
carom_status lattice_ask(mesh_call *a, carom_error *err);
/* Times of a node in times of a random sweep, for a mesh of one triangle; they grow with the root of their number. */
double lattices_weight(mesh_work work);

#endif
