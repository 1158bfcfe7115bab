/* SPDX-License-Identifier: MIT */
/* Sweeps against a mesh in exact mode: first hit, all hits, contact of the first hit. */
#include "mesh_exact.h"
#include "contact_exact.h"
#include "mesh_kernels.h"
