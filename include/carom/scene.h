/* SPDX-License-Identifier: MIT */
/// Scenes: many instances of meshes, each with a map of its own, that queries see as one mesh.
#ifndef CAROM_CAROM_SCENE_H
#define CAROM_CAROM_SCENE_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- scene ----------------------------------------------------------------------------------- */

/// A mesh is held once, however many instances it has, and a scene keeps its meshes alive, so the
/// image of a mesh must stay until its scenes are destroyed, too.
typedef struct carom_scene carom_scene;

/// Most instances of a scene.
#define CAROM_SCENE_INSTANCES 1048576

/// Where the instances are, and how they move.
typedef struct carom_scene_pose {
    size_t size; ///< sizeof(carom_scene_pose)
    /// [instance_count] maps, 12 numbers each: three rows m0 m1 m2 m3, all finite. Any affine map
    /// is possible. A vertex x y z is in the world at ((m0 x + m1 y) + m2 z) + m3 per row, each
    /// step rounded to binary64, then once to binary32; if the map mirrors (its exact determinant
    /// is negative), corners 1 and 2 of each triangle change places. NULL: all identity
    const float *map;
    size_t map_stride; ///< bytes between maps; 0: 48
    /// [instance_count] a triangle counts for a query if (the query's mask & this & its own) != 0;
    /// data == NULL: all bits are set
    carom_uints masks;
    /// [instance_count] velocities during a sweep, all finite; x == NULL: 0. A sweep meets an
    /// instance with velocity U as a sphere with velocity V - U does that is at rest, and the
    /// contact point has moved by t U. With `end` positions V is end - centre. Exact mode rounds
    /// neither difference, fast mode each once. Overlaps, closest points and contacts are those of
    /// time 0
    carom_points velocity;
} carom_scene_pose;

typedef struct carom_scene_desc {
    size_t size;               ///< sizeof(carom_scene_desc)
    carom_mesh *const *meshes; ///< [mesh_count] of the scene's context; the array is copied
    uint64_t mesh_count;
    /// [instance_count] which of `meshes` an instance is of; data == NULL: instance i is of mesh i
    carom_uints mesh;
    uint64_t instance_count; ///< at most CAROM_SCENE_INSTANCES; 0 is an empty scene
    carom_scene_pose pose;
} carom_scene_desc;

/// Make a scene. One call at a time per context, this one too.
/// returns CAROM_OK | INVALID_ARGUMENT (a number, a velocity or a used world corner not finite:
///         names instance and vertex; more than 2^31 - 1 triangles in all instances together;
///         images of different widths) | UNSUPPORTED (hierarchies too deep for a search) |
///         OUT_OF_MEMORY
/// cost    as carom_mesh_create with a triangle for each instance, and no copy of a mesh
CAROM_API carom_status carom_scene_create(carom_context *context, const carom_scene_desc *desc,
                                          carom_scene **out, carom_error *err);

/// NULL is fine. carom_scene_mesh of this scene is destroyed with it.
CAROM_API void carom_scene_destroy(carom_scene *scene);

/// Give the instances other maps, masks and velocities; all of them, and of the same meshes. After
/// carom_mesh_update or carom_mesh_set_masks of one of these, a query of the scene is
/// INVALID_ARGUMENT, naming an instance, until this call has been made.
/// returns as carom_scene_create; on failure the scene is as it was
/// cost    some 1 us for each instance that differs from before; docs/scenes.md, section 4
CAROM_API carom_status carom_scene_update(carom_scene *scene, const carom_scene_pose *pose,
                                          carom_error *err);

/// The scene as a mesh: its answers are those of the mesh that has all world triangles, instance
/// after instance, bit for bit, in both modes. `triangle` and `instance` of a result say which it
/// is; by these, in this order, ties are decided. For carom_mesh_sweep_first, _list and _any,
/// carom_mesh_overlap_list and _any, carom_mesh_closest, carom_mesh_contacts and
/// carom_mesh_get_info; other calls are UNSUPPORTED, and so is the destruction of this mesh.
/// device a device with binary64 searches; points and instances come from the host, so arrays in
///        buffers cross. It declines, which `stats` say: contacts, signs, sweeps where an instance
///        has a velocity. Its copy holds nodes and leaves of the meshes; an update sends the
///        instances
/// Contacts: a triangle contains a point by a corner, edge or face only of its own instance, by
/// positions in the mesh itself; with merge_within > 0 triangles of all instances count, by their
/// distance in the world. `patch` is that of the triangle in its mesh, so it belongs to `instance`.
/// owner the scene's. NULL for NULL
CAROM_API carom_mesh *carom_scene_mesh(carom_scene *scene);

#ifdef __cplusplus
}
#endif
#endif
