/* SPDX-License-Identifier: MIT */
/// carom: batches of moving-sphere/triangle queries with the same bits from every backend.
///
/// A call takes a descriptor with the caller's arrays as they lie, and a result with the arrays to
/// fill. The first hit of two spheres that fall onto a mesh (`shape` is a carom_mesh_desc):
///
///     const float center[] = {1, 1, 2, 3, 1, 2}, velocity[] = {0, 0, -1}, radius = 0.5f;
///     carom_context *context = NULL;
///     carom_mesh *mesh = NULL;
///     carom_error err;
///     if (carom_context_create(NULL, &context, &err) != CAROM_OK ||
///         carom_mesh_create(context, &shape, &mesh, &err) != CAROM_OK)
///         fprintf(stderr, "%s\n", err.message);
///     float t[2];
///     int32_t triangle[2];
///     const carom_mesh_sweep_desc desc = {.batch = {.size = sizeof desc, .count = 2},
///                                         .center = carom_xyz(center),
///                                         .velocity = carom_repeat(velocity),
///                                         .radius = {.data = &radius, .stride = CAROM_REPEAT}};
///     const carom_mesh_hit_result out = {.size = sizeof out, .triangle = triangle, .t = t};
///     if (carom_mesh_sweep_first(mesh, &desc, &out, NULL, &err) != CAROM_OK)
///         fprintf(stderr, "%s\n", err.message);
///
/// I want                                                                  call
/// first hit of a moving sphere: time of impact, shape cast, CCD           carom_mesh_sweep_first
/// every triangle that a moving sphere hits                                carom_mesh_sweep_list
/// whether anything is in the way: occlusion, line of sight                carom_mesh_sweep_any
/// whether a sphere overlaps a mesh                                        carom_mesh_overlap_any
/// the triangles within a radius: range query                              carom_mesh_overlap_list
/// closest point, distance, penetration depth                              carom_mesh_closest
/// contact points of a grain on walls (DEM), contact manifold              carom_mesh_contacts
/// the same contact in the next step: history, friction                    carom_contacts_match
/// signed distance field (SDF), voxels inside a mesh                       carom_mesh_distance
/// where a robot or probe is free: clearance map                           carom_mesh_clearance
/// height of a ball on a mesh: drop cutter, height map                     carom_mesh_drop
/// the same at given places, with the point of contact                     carom_mesh_drop_at
/// neighbour list, cut-off list with a skin (Verlet list)                  carom_cloud_list
/// collisions among moving spheres: broad and narrow phase in one          carom_cloud_list
/// the next collision of each sphere: event-driven simulation              carom_cloud_first
/// number of neighbours, coordination number                               carom_cloud_count
/// spheres reordered for the cache                                         carom_cloud_order
/// narrow phase of my own pairs: sphere and triangle in motion             carom_sweep_pairs
/// the same at rest: separating axes                                       carom_overlap_pairs
/// the same for two spheres in motion                                      carom_sphere_sweep_pairs
/// a mesh that moves or deforms                                            carom_mesh_update
/// a mesh of which other triangles count from now on                       carom_mesh_set_masks
/// one mesh for many processes                                             carom_mesh_get_image
/// arrays that stay on the GPU                                             carom_buffer_create
/// a call that goes on in the background                                   batch.job
///
/// Lengths, times and velocities are the caller's units L, T and L/T. All inputs are IEEE binary32
/// taken as exact real numbers. docs/design.md defines what each answer means, docs/performance.md
/// what it costs.
#ifndef CAROM_CAROM_H
#define CAROM_CAROM_H

#include "batch.h"
#include "cloud.h"
#include "context.h"
#include "lattice.h"
#include "mesh.h"
#include "pairs.h"
#include "scene.h"

/* ---- rules of all calls ---------------------------------------------------------------------- */

/// Every call that can fail returns a carom_status. If `err` is not NULL, it receives a sentence
/// that names the argument, the value and the limit. The library never aborts and reads no
/// environment variable. It has two globals: the number of the process that first called OpenCL,
/// and a list of the addresses of buffers on devices, which finds arrays of another context.
///
/// Floating point: every function computes and calls drivers in a mode of its own (rounding to
/// nearest, denormals kept, no exception traps). On return the caller's environment is restored:
/// modes, masks and sticky flags. So exceptions raised inside a call stay invisible. Functions of
/// the caller (log, progress, allocator) run in carom's mode, and their changes to it end with
/// them. Threads that a driver started before carom keep the mode they have.
///
/// fork(): a child may use, update and destroy the contexts, meshes and buffers that no call was
/// using, and make new ones. Of a buffer on a discrete device it can only destroy. In the child a
/// context from before has only the caller's thread. If OpenCL was called before fork(), by any
/// context or carom_device_list, the child cannot use it. CAROM_BACKEND_OPENCL is then
/// CAROM_ERROR_NO_DEVICE, for batches and for new contexts; with CAROM_BACKEND_AUTO the CPU
/// answers, and `stats` give the reason. Destroying a context or mesh in the child does not call
/// the driver, so its memory on the device stays until the process ends. carom does not see OpenCL
/// calls of the host. A program that is started anew (exec, posix_spawn) has none of these limits.
///
/// Counts and arrays: a count is at most 2^47, and so are the bytes from an array's first element
/// to its last. A call beyond that limit, or with an address that would wrap, is
/// CAROM_ERROR_INVALID_ARGUMENT. So is an output that shares a byte with an input, another output,
/// `stats`, the descriptor or the result structure. Members of one array of structures may be
/// inputs and outputs, as they share no byte. The check reads no element, and takes as long for any
/// count. Arrays without elements (a count or a capacity of 0) are not checked.
///
/// Arrays may lie in buffers (carom_buffer) of the context. Such an array begins and ends in one
/// buffer, which is not mapped; else the call is CAROM_ERROR_INVALID_ARGUMENT. The same holds for
/// an array in another context's buffer that has `reachable` = 0 in its info. Totals of lists may
/// lie there as arrays do. Descriptors, result structures, statistics, single numbers by pointer
/// and images of meshes are the program's memory.
///
/// Structures grow: descriptors, results, lists, statistics and infos begin with `size`, which the
/// caller sets to the sizeof; of a query that is batch.size, the size of the whole descriptor.
/// Another value is CAROM_ERROR_INVALID_ARGUMENT. Of fixed shape are carom_error, carom_batch, the
/// views, carom_progress, carom_pair_indices, carom_allocator and carom_list_totals. Views must be
/// given unless their comment says what NULL means.

#endif
