/* SPDX-License-Identifier: MIT */
/* Sweeps past a mesh in fast mode: first hit, all hits, contact of the first. */
#include "mesh.h"
#include "contact.h"
#include "mesh_kernels.h"
