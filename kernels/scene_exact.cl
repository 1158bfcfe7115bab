/* SPDX-License-Identifier: MIT */
/* Sweeps against a scene in exact mode: first hit, all hits. */
#define MESH_SCENE
#if defined(KERNEL_scene_first_exact)
#define KERNEL_mesh_first_exact
#elif defined(KERNEL_scene_list_exact)
#define KERNEL_mesh_list_exact
#endif
#include "scene_map.h"
#include "scene_own.h"
#include "mesh_exact.h"
#include "mesh_kernels.h"
