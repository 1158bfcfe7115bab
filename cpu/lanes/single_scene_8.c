/* SPDX-License-Identifier: MIT */
#define MESH_WIDTH 8
#include "single_scene_template.h"
