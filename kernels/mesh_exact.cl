/* SPDX-License-Identifier: MIT */
/* Sweeps past a mesh in exact mode: first hit, all hits, contact of the first. */
#include "mesh_exact.h"
#include "contact_exact.h"
#include "mesh_kernels.h"
