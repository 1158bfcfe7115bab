/* SPDX-License-Identifier: MIT */
/* The devices of a context: one, or a list. Their indices are fixed as long as the context lives: a mesh has a copy for
 * each index, the statistics an entry. */
#ifndef CAROM_HOST_CORE_DEVICES_H
#define CAROM_HOST_CORE_DEVICES_H
#include "context.h"

/* Opens what the context's selector names: one device, or several separated by commas (docs/devices.md,
 * "Several devices"). Fails if one of them cannot be used; for auto, if none can. gpu_only: as caromi_device_open. */
carom_status caromi_devices_open(carom_context *context, int gpu_only, carom_error *err);
/* The same for the devices of the caller's cl_context. */
struct carom_opencl_desc;
carom_status caromi_devices_open_shared(carom_context *context, const struct carom_opencl_desc *cl, carom_error *err);
/* Closes all devices; their indices stay. */
void caromi_devices_close(carom_context *context);
/* The first device in use; NULL: none. */
caromi_device *caromi_first_device(const carom_context *context);
/* Whether the context has several devices, among which batches are divided. */
static inline int caromi_has_several(const carom_context *context)
{
    return context->device_count > 1;
}
/* Closes a device that has failed. */
void caromi_give_up(carom_context *context, caromi_device *device, carom_status status, const carom_error *cause);
#endif
