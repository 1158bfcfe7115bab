/* SPDX-License-Identifier: MIT */
/* Sweeps against a mesh in fast mode: first hit, all hits, contact of the first hit. */
#include "mesh.h"
#include "contact.h"
#include "mesh_kernels.h"
