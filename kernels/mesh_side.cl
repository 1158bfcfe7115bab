/* SPDX-License-Identifier: MIT */
/* Signs at the centres of queries. The host names the kernel that it builds. A ray is followed by one lane, whatever
 * the lanes of the search that found the distances. */
#undef LANES
#define LANES 1
#include "mesh_side.h"
#include "mesh_arguments.h"

#ifdef KERNEL_mesh_side
/* Turns the signs of the answers inside: distance, depth, and the gradient if there is one. Distances that are NaN, for
 * undecided, stay as they are. A word of a triangle tells of truncated loops. */
MESH_KERNEL void carom_mesh_side(MESH_PARAMETERS, MESH_SPHERE_PARAMETERS, MESH_SHARE_PARAMETERS, int is_parity,
                                 int has_gradient, __global int *triangle, __global real *distance,
                                 __global real *depth, __global real *gx, __global real *gy, __global real *gz,
                                 uint count)
{
    if (MESH_IS_EXTRA(count))
        return;
    mesh_run run = mesh_run_of_spheres(MESH_ARGUMENTS, MESH_SPHERE_ARGUMENTS);
    mesh_run_set_queries(&run, MESH_SHARE_ARGUMENTS);
    for (u32 at = run.first; at < run.end; at++)
        if (distance[at] > R(0.0) && side_is_valid(&run, at) && side_is_inside(&run, at, is_parity)) {
            distance[at] = -distance[at];
            depth[at] = radius[at] - distance[at];
            if (has_gradient) {
                gx[at] = R(0.0) - gx[at];
                gy[at] = R(0.0) - gy[at];
                gz[at] = R(0.0) - gz[at];
            }
        }
    if (mesh_run_is_truncated(share) && run.first < run.end)
        triangle[run.first] = MESH_LOOP_TRUNCATED;
}
#endif

#ifdef KERNEL_mesh_inside
/* Whether each centre is inside: 1, else 0; of an invalid query 0. */
MESH_KERNEL void carom_mesh_inside(MESH_PARAMETERS, MESH_SPHERE_PARAMETERS, MESH_SHARE_PARAMETERS, int is_parity,
                                   __global uchar *inside, uint count)
{
    if (MESH_IS_EXTRA(count))
        return;
    mesh_run run = mesh_run_of_spheres(MESH_ARGUMENTS, MESH_SPHERE_ARGUMENTS);
    mesh_run_set_queries(&run, MESH_SHARE_ARGUMENTS);
    for (u32 at = run.first; at < run.end; at++)
        inside[at] = (uchar)(side_is_valid(&run, at) && side_is_inside(&run, at, is_parity));
    if (mesh_run_is_truncated(share) && run.first < run.end)
        inside[run.first] = (uchar)MESH_LOOP_TRUNCATED;
}
#endif
