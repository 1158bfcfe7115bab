/* SPDX-License-Identifier: MIT */
/* Common parts of the probes: random inputs, and the comparison. */
#ifndef CAROM_HOST_OPENCL_PROBE_H
#define CAROM_HOST_OPENCL_PROBE_H
#include "device.h"

uint64_t caromi_probe_next(uint64_t *state);
/* A binary32 number from its fields. */
float caromi_probe_float(uint32_t sign, uint32_t exponent, uint32_t mantissa);
/* A number near 0, one of a few small integers, or of a kind that probe.c names. */
enum { CAROMI_PROBE_NEAR, CAROMI_PROBE_LATTICE };
float caromi_probe_number(uint64_t *state, uint32_t kind);
/* Fills the columns of a query, at least seven, with numbers of one kind, then makes some of them special: equal
 * points, no motion, and so on. radii: mask of the columns that are radii. */
void caromi_probe_row(uint64_t *state, float *row, uint32_t columns, uint32_t radii);
/* The same for a sphere: on a lattice, near 0, or arbitrary. Returns a random number. */
uint64_t caromi_probe_sphere(uint64_t *state, float *row, uint32_t columns, uint32_t radii);

/* Makes triangles of all sizes around the origin, nine numbers each: some on a lattice, some degenerate, some twice. */
void caromi_probe_triangles(uint64_t *state, float *vertices, uint32_t count);
/* Makes random masks, in which one bit in four is set. */
void caromi_probe_masks(uint64_t state, uint32_t *masks, uint32_t count);

/* A mesh of triangles that share no vertex. masks NULL: none. */
carom_status caromi_probe_mesh_make(carom_context *context, const float *vertices, uint32_t triangles,
                                    const uint32_t *masks, carom_mesh **out, carom_error *err);

/* Builds the programs from `first` to `last`, but those that need binary64 where the device has none, and runs their
 * probe with so many bytes, which are 0; unless that was done before. */
carom_status caromi_probe_programs(caromi_device *device, uint32_t first, uint32_t last, size_t bytes,
                                   carom_status (*run)(caromi_device *device, void *data, carom_error *err),
                                   carom_error *err);
/* Compares bits; fails with a message that names the first difference. */
carom_status caromi_probe_compare(const caromi_device *d, uint32_t program, uint32_t count, uint32_t column,
                                  const void *got, const void *expected, size_t size, carom_error *err);
#endif
