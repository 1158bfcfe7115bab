/* SPDX-License-Identifier: MIT */
/* Closest triangle of a scene in fast mode. */
#define MESH_SCENE
#define KERNEL_mesh_closest
#include "scene_map.h"
#include "scene_own.h"
#include "mesh_closest.h"
#include "mesh_closest_kernels.h"
