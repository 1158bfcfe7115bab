/* SPDX-License-Identifier: MIT */
/* The OpenCL side as the rest of the host sees it. none.c answers in builds without OpenCL. */
#ifndef CAROM_HOST_OPENCL_OPENCL_H
#define CAROM_HOST_OPENCL_OPENCL_H
#include "host/batch.h"
#include "host/mesh_data.h"

/* Open the device that `selector` names (NULL: the best), build and probe its kernels. gpu_only: for auto, which
 * leaves CPU devices to the CPU path. The context must outlive the device. */
carom_status caromi_device_open(const carom_context *context, const char *selector, int gpu_only, caromi_device **out,
                                carom_error *err);
/* In a forked child of the process that opened the device this does not call the driver, so its objects leak. */
void caromi_device_close(caromi_device *device);
/* Whether OpenCL was called before fork() made this process, and the sentence that says so; process.c. */
int caromi_opencl_is_inherited(void);
carom_status caromi_fail_inherited(carom_error *err);
void caromi_device_describe(const caromi_device *device, carom_device_info *out);

/* For a caromi_pair_batch, a caromi_mesh_batch, a caromi_list_batch. After any failure but CAROM_ERROR_OUT_OF_MEMORY
 * the device must not be used again. */
caromi_on_device caromi_device_pairs, caromi_device_mesh, caromi_device_list;
/* Frees the copy of a mesh on the device; NULL is fine. */
void caromi_device_mesh_release(void *copy);
#endif
