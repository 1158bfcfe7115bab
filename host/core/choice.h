/* SPDX-License-Identifier: MIT */
/* Chooses between the CPU and a device. */
#ifndef CAROM_HOST_CORE_CHOICE_H
#define CAROM_HOST_CORE_CHOICE_H
#include "batch.h"

/* The device for a batch (the first of several); NULL with CAROM_OK: the CPU. If `auto` found a device that cannot be
 * used, the statistics of each batch meant for it report that. */
carom_status caromi_pick_device(carom_context *context, const caromi_batch *batch, caromi_device **out,
                                carom_stats *stats, carom_error *err);
/* The device whose memory a buffer may use; NULL with CAROM_OK: the host's memory. `auto` looks for its device here. */
carom_status caromi_pick_memory(carom_context *context, caromi_device **out, carom_error *err);
/* Opens the devices of the caller's cl_context. If none can be used, `auto` warns, as for devices that the caller
 * named. */
struct carom_opencl_desc;
carom_status caromi_open_shared(carom_context *context, const struct carom_opencl_desc *cl, carom_error *err);
/* The first of these devices; or the error for which it was refused or closed. */
carom_status caromi_pick_shared(carom_context *context, caromi_device **out, carom_error *err);
/* Records the time of the device, or of the CPU, for a whole batch. */
void caromi_learn_device(const caromi_batch *batch, double seconds);
void caromi_learn_cpu(const carom_context *c, const caromi_batch *batch, double seconds);
/* Handles a device's failure with `left` queries unanswered. If the CPU may finish, logs and counts it and returns
 * CAROM_OK; else returns `status`. device: closed here; NULL: it is closed already. */
carom_status caromi_fall_back(carom_context *context, caromi_device *device, carom_status status, uint64_t left,
                              carom_stats *stats, const carom_error *cause, carom_error *err);
#endif
