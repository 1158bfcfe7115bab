/* SPDX-License-Identifier: MIT */
#define LANES 4
#define ISA_NAME neon
#define MESH_WIDTH 16
#include "scene_template.h"
