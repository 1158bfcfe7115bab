/* SPDX-License-Identifier: MIT */
/* Descriptors of queries against a mesh: checked, and as columns. */
#ifndef CAROM_HOST_MESH_QUERY_H
#define CAROM_HOST_MESH_QUERY_H
#include "host/arrays.h"
#include "batch.h"

enum { CAROMI_MESH_PIECE = 1 << 18 }; /* queries between two words on how far a batch has come */

carom_status caromi_check_mesh_sweep(const carom_mesh_sweep_desc *desc, carom_error *err);
carom_status caromi_check_mesh_overlap(const carom_mesh_overlap_desc *desc, carom_error *err);
/* Values in arrays that have been checked. */
carom_status caromi_check_t_max(const carom_mesh_sweep_desc *desc, carom_error *err);
/* Inputs, options and the rest of a checked descriptor, as a batch of first hits without outputs. */
void caromi_mesh_sweep_batch(const carom_mesh_sweep_desc *desc, carom_mesh *mesh, caromi_mesh_batch *batch);
/* carom_mesh_sweep_first of checked arguments; hits_only: as in caromi_mesh_batch. */
carom_status caromi_sweep_first(carom_mesh *mesh, const carom_mesh_sweep_desc *desc, const carom_mesh_hit_result *out,
                                int hits_only, carom_stats *stats, carom_error *err);
/* Spheres at rest, in the columns of a sweep. */
void caromi_mesh_overlap_batch(const carom_mesh_overlap_desc *desc, carom_mesh *mesh, caromi_mesh_batch *batch);
/* Numbers that a query may have: finite, and a radius that is not negative. */
int caromi_mesh_query_valid(const caromi_in_column *in, uint64_t query);

CAROMI_LIST caromi_list_sweep(caromi_arrays *a, const carom_mesh_sweep_desc *d)
{
    caromi_reads(a, "desc", d, 1, 0, sizeof *d);
    caromi_reads_points(a, "center", &d->center, d->count);
    caromi_reads_scalars(a, "radius", &d->radius, d->count);
    caromi_reads_points(a, "velocity", &d->velocity, d->count);
    caromi_reads_scalars(a, "t_max", &d->t_max, d->count);
    caromi_reads(a, "mask", d->mask, d->count, d->mask_stride, sizeof *d->mask);
}
CAROMI_LIST caromi_list_overlap(caromi_arrays *a, const carom_mesh_overlap_desc *d)
{
    caromi_reads(a, "desc", d, 1, 0, sizeof *d);
    caromi_reads_points(a, "center", &d->center, d->count);
    caromi_reads_scalars(a, "radius", &d->radius, d->count);
    caromi_reads(a, "mask", d->mask, d->count, d->mask_stride, sizeof *d->mask);
}
#endif
