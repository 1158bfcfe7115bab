/* SPDX-License-Identifier: MIT */
/* Whether a batch goes to the CPU or to a device. */
#ifndef CAROM_HOST_CORE_CHOICE_H
#define CAROM_HOST_CORE_CHOICE_H
#include "batch.h"

/* The device that a batch should use, of several the first: NULL with CAROM_OK means the CPU. If auto found a device
 * that cannot be used, the statistics of every batch meant for it say so. */
carom_status caromi_pick_device(carom_context *context, const caromi_batch *batch, caromi_device **out,
                                carom_stats *stats, carom_error *err);
/* The device whose memory a buffer may have: NULL with CAROM_OK means the host's. Auto looks for its device here. */
carom_status caromi_pick_memory(carom_context *context, caromi_device **out, carom_error *err);
/* Opens the devices of the caller's cl_context. Auto warns if none can be used, as if they were named. */
struct carom_opencl_desc;
carom_status caromi_open_shared(carom_context *context, const struct carom_opencl_desc *cl, carom_error *err);
/* That device, of several the first, or why it was refused or given up. */
carom_status caromi_pick_shared(carom_context *context, caromi_device **out, carom_error *err);
/* Records how long the device, or the CPU, took for a whole batch. */
void caromi_learn_device(const caromi_batch *batch, double seconds);
void caromi_learn_cpu(const carom_context *c, const caromi_batch *batch, double seconds);
/* A device failed with `left` queries to go: OK, logged and counted if the CPU may finish, else `status` itself.
 * device: to be given up; NULL: that is done. */
carom_status caromi_fall_back(carom_context *context, caromi_device *device, carom_status status, uint64_t left,
                              carom_stats *stats, const carom_error *cause, carom_error *err);
#endif
