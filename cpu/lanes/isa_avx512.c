/* SPDX-License-Identifier: MIT */
#define LANES 16
#define ISA_NAME avx512
#define ISA_MESH_WIDTH 16
#define ISA_MESH_8 caromi_mesh_avx2_8 /* which every processor with AVX-512 can run */
#define ISA_SCENE_8 caromi_scene_avx2_8
#include "isa_template.h"
