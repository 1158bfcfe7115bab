/* SPDX-License-Identifier: MIT */
/* Sweeps against a scene in fast mode: first hit, all hits. */
#define MESH_SCENE
#if defined(KERNEL_scene_first)
#define KERNEL_mesh_first
#elif defined(KERNEL_scene_list)
#define KERNEL_mesh_list
#endif
#include "scene_map.h"
#include "scene_own.h"
#include "mesh.h"
#include "mesh_kernels.h"
