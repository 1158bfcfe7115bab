/* SPDX-License-Identifier: MIT */
/* Triangles of a mesh within reach of a sphere, in fast mode. */
#include "mesh_contacts.h"
#include "mesh_contacts_kernels.h"
