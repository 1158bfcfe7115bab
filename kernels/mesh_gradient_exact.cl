/* SPDX-License-Identifier: MIT */
/* Gradients of closest points of a mesh in exact mode. */
#include "touch_exact.h"
#include "mesh_gradient.h"
