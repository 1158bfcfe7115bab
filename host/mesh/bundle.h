/* SPDX-License-Identifier: MIT */
/* Bundles: queries in a row that have one answer together. */
#ifndef CAROM_HOST_MESH_BUNDLE_H
#define CAROM_HOST_MESH_BUNDLE_H
#include "host/core/batch.h"

/* Answer the bundles of queries [first, end) on the CPU: of a caromi_list_batch with `any`, and of a caromi_mesh_batch
 * of closest points. Both ends are multiples of the bundle. */
caromi_on_cpu caromi_cpu_any_bundles, caromi_cpu_closest_bundles;
/* The same, of which a device answers the rounds. All arrays are brought to the host. */
caromi_on_device caromi_device_any_bundles, caromi_device_closest_bundles;
#endif
