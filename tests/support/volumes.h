/* SPDX-License-Identifier: MIT */
/* Lattices over scenes, their distance volumes with the closest points that are their oracle, and clearance volumes. */
#ifndef CAROM_TESTS_SUPPORT_VOLUMES_H
#define CAROM_TESTS_SUPPORT_VOLUMES_H

#include "exact_scenes.h"

enum { VOLUME_DISTANCE, VOLUME_TRIANGLE, VOLUME_X, VOLUME_Y, VOLUME_Z, VOLUME_FEATURE, VOLUME_FIELDS };

/* Answers of `count` nodes between guard bands. */
typedef struct volume {
    size_t count;
    guarded field[VOLUME_FIELDS];
} volume;

volume volume_alloc(size_t count, unsigned char fill);
void volume_free(volume *v);
carom_mesh_distance_result volume_result(const volume *v);
float volume_distance(const volume *v, size_t node);

size_t lattice_nodes(const carom_lattice *lattice);
/* Coordinates of a node, by its number in an array. */
void lattice_node(const carom_lattice *lattice, size_t node, float p[3]);
/* n nodes along the longest side of the scene's bounds and two spacings around it, fewer along the others. */
carom_lattice lattice_around(const scene *s, uint64_t n);

carom_mesh_distance_desc volume_desc(const carom_lattice *lattice, carom_accuracy accuracy);
/* Slabs [desc->batch.begin, desc->batch.count). */
volume volume_ask(carom_mesh *mesh, const carom_mesh_distance_desc *desc, carom_stats *stats);
/* carom_mesh_closest for every node, cut to a band (+inf: none). */
volume volume_by_closest(carom_mesh *mesh, const carom_lattice *lattice, carom_accuracy accuracy, float band);
/* Fail at the first node of `got` that differs in a byte of a field in the mask (-1: all) from node `first` + it of
 * `expected`. */
void volume_compare(const carom_lattice *lattice, const volume *expected, size_t first, const volume *got, int mask,
                    const char *label);

carom_mesh_clearance_desc clearance_desc(const carom_lattice *lattice, float radius, carom_accuracy accuracy);
/* Clearance of the slabs [desc->batch.begin, desc->batch.count); the caller frees it. */
guarded clearance_ask(carom_mesh *mesh, const carom_mesh_clearance_desc *desc, carom_stats *stats);

#endif
