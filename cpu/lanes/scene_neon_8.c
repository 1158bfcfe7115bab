/* SPDX-License-Identifier: MIT */
#define LANES 4
#define ISA_NAME neon
#define MESH_WIDTH 8
#include "scene_template.h"
