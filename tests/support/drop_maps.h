/* SPDX-License-Identifier: MIT */
/* Drop maps of scenes, and the exact reference that judges them. */
#ifndef CAROM_TESTS_SUPPORT_DROP_MAPS_H
#define CAROM_TESTS_SUPPORT_DROP_MAPS_H
#include "mesh_oracle.h"
#include "volumes.h"

typedef struct drop_map {
    size_t count;
    guarded height;
} drop_map;

/* All rows of the lattice. */
carom_mesh_drop_desc drop_map_desc(const carom_lattice *lattice, float radius, carom_accuracy accuracy);
/* The caller frees the height. */
drop_map drop_map_ask(carom_mesh *mesh, const carom_mesh_drop_desc *desc, carom_stats *stats);
float drop_map_height(const drop_map *m, size_t i);
/* Fail at a column of `got` that differs from column `first` + it of `expected`. */
void drop_map_compare(const drop_map *expected, size_t first, const drop_map *got, const char *label);
/* Fail unless the reference agrees to every column whose number is a multiple of `step`. */
void drop_map_check(const scene *s, const carom_mesh_drop_desc *desc, const drop_map *m, size_t step, const char *name);
#endif
