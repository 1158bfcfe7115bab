/* SPDX-License-Identifier: MIT */
/* Descriptors of queries against a mesh: checked, and as columns. */
#ifndef CAROM_HOST_MESH_QUERY_H
#define CAROM_HOST_MESH_QUERY_H
#include "calls/mesh.h"
#include "host/core/handler.h"
#include "host/core/values.h"
#include "batch.h"

enum { CAROMI_MESH_PIECE = 1 << 18 }; /* queries between two reports of progress */

/* The options of a sweep, for handlers. */
carom_status caromi_check_sweep_options(const caromi_request *request, uint64_t *extent, carom_error *err);
/* Fails unless the batch is whole bundles; sets the number of answers. */
carom_status caromi_check_bundles(const carom_batch *batch, uint32_t bundle, uint64_t *extent, carom_error *err);
/* For calls that answer each query. */
carom_status caromi_check_no_bundles(uint32_t bundle, carom_error *err);
/* Queries between two reports of progress: whole bundles. */
uint64_t caromi_mesh_piece(uint32_t bundle);
/* Values that must be checked (caromi_check_values). */
caromi_values caromi_select_of(const carom_batch *batch);
caromi_values caromi_t_max_of(const carom_mesh_sweep_desc *desc);
caromi_values caromi_max_distance_of(const carom_mesh_closest_desc *desc);
/* Checks a selection in host memory. None is read to prepare. */
carom_status caromi_check_select(const carom_batch *batch, carom_error *err);
/* Inputs, options and the rest of a checked descriptor, as a batch of first hits without outputs. */
void caromi_mesh_sweep_batch(const carom_mesh_sweep_desc *desc, carom_mesh *mesh, caromi_mesh_batch *batch);
/* Spheres at rest, in the columns of a sweep. */
void caromi_mesh_overlap_batch(const carom_mesh_overlap_desc *desc, carom_mesh *mesh, caromi_mesh_batch *batch);
/* As a batch of closest triangles without outputs. */
void caromi_mesh_closest_batch(const carom_mesh_closest_desc *desc, carom_mesh *mesh, caromi_mesh_batch *batch);
/* As a batch of contacts without outputs. */
void caromi_mesh_contacts_batch(const carom_mesh_contacts_desc *desc, carom_mesh *mesh, caromi_mesh_batch *batch);
/* Whether the numbers of a query are valid: all finite, and the radius not negative. */
int caromi_mesh_query_valid(const caromi_in_column *in, uint64_t query);
#endif
