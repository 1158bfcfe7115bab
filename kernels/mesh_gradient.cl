/* SPDX-License-Identifier: MIT */
/* Gradients of closest points of a mesh in fast mode. */
#include "touch.h"
#include "mesh_gradient.h"
