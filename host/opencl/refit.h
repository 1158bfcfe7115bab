/* SPDX-License-Identifier: MIT */
/* Refits of a mesh on a device. refit.c runs them, refit_contacts.c what contacts need afterwards, refit_probe.c has
 * the probes. */
#ifndef CAROM_HOST_OPENCL_REFIT_H
#define CAROM_HOST_OPENCL_REFIT_H
#include "device.h"

#include "kernels/refit.h"

typedef struct refit_job {
    caromi_device *device;
    carom_mesh *mesh;
    struct mesh_copy *copy;  /* set by caromi_refit_run */
    caromi_resident from[3]; /* the caller's x, y and z */
    uint64_t stride;
    cl_mem to; /* receives the vertices, three numbers each */
} refit_job;

/* Launches a kernel whose work-items share `count` things, in at most so many groups. */
carom_status caromi_refit_launch(caromi_device *device, caromi_arguments *arguments, uint64_t count, uint64_t groups,
                                 carom_error *err);
/* Copies an array to memory of the device that kernels may write, in place of *array. */
carom_status caromi_refit_own(caromi_device *device, const char *what, const void *data, uint64_t bytes, cl_mem *array,
                              carom_error *err);
/* Refits the device's copy of a mesh, which is uploaded first if necessary, without a probe. */
carom_status caromi_refit_run(refit_job *job, refit_result *result, carom_error *err);
/* Builds the programs at their first use, and compares the refit of a small mesh with the CPU's. */
carom_status caromi_refit_probe(caromi_device *device, carom_context *context, carom_error *err);
/* After a refit: updates culling data of contacts, without a probe. *follows is 0 if other corners coincide now. */
carom_status caromi_refit_contacts_run(caromi_device *device, carom_mesh *mesh, int have_masks, int *follows,
                                       carom_error *err);
carom_status caromi_refit_contacts_probe(caromi_device *device, carom_context *context, carom_error *err);
#endif
