/* SPDX-License-Identifier: MIT */
/* Triangles of a mesh within reach of a sphere, in exact mode. */
#include "mesh_contacts_exact.h"
#include "mesh_contacts_kernels.h"
