/* SPDX-License-Identifier: MIT */
/* The table of device functions for builds without OpenCL: it opens no device, so most functions are never called. */
#include "device.h"

static carom_status refuse(carom_status status, carom_error *err)
{
    return caromi_fail(err, status, CAROMI_NO_NATIVE_CODE, "this build has no OpenCL");
}

int carom_has_opencl(void)
{
    return 0;
}

carom_status carom_device_list(carom_device_info *out, uint32_t capacity, uint32_t *count, carom_error *err)
{
    (void)out, (void)capacity;
    if (count != NULL)
        *count = 0;
    return refuse(CAROM_ERROR_UNSUPPORTED, err);
}

/* The functions of carom_opencl.h, declared without OpenCL's headers: a program with OpenCL may link a library that was
 * built without it. */
struct _cl_mem;
struct _cl_event;
CAROM_API carom_status carom_context_create_opencl(const carom_context_desc *desc, const struct carom_opencl_desc *cl,
                                                   carom_context **out, carom_error *err);
CAROM_API carom_status carom_buffer_wrap_opencl(carom_context *context, struct _cl_mem *memory, uint64_t offset,
                                                uint64_t bytes, carom_buffer **out, carom_error *err);
CAROM_API carom_status carom_job_wrap_event(carom_context *context, struct _cl_event *event, carom_job **out,
                                            carom_error *err);
CAROM_API carom_status carom_job_get_event(carom_job *job, struct _cl_event **out, carom_error *err);

carom_status carom_context_create_opencl(const carom_context_desc *desc, const struct carom_opencl_desc *cl,
                                         carom_context **out, carom_error *err)
{
    (void)desc, (void)cl, (void)out;
    return refuse(CAROM_ERROR_UNSUPPORTED, err);
}

carom_status carom_buffer_wrap_opencl(carom_context *context, struct _cl_mem *memory, uint64_t offset, uint64_t bytes,
                                      carom_buffer **out, carom_error *err)
{
    (void)context, (void)memory, (void)offset, (void)bytes, (void)out;
    return refuse(CAROM_ERROR_UNSUPPORTED, err);
}

carom_status carom_job_wrap_event(carom_context *context, struct _cl_event *event, carom_job **out, carom_error *err)
{
    (void)context, (void)event, (void)out;
    return refuse(CAROM_ERROR_UNSUPPORTED, err);
}

carom_status carom_job_get_event(carom_job *job, struct _cl_event **out, carom_error *err)
{
    (void)job, (void)out;
    return refuse(CAROM_ERROR_UNSUPPORTED, err);
}

/* ---- functions that are called without a device ------------------------------------------------------------------ */

static int is_inherited(void)
{
    return 0;
}

static carom_status find(const carom_context *context, const char *selector, uint32_t *index, carom_error *err)
{
    (void)context, (void)selector, (void)index;
    return refuse(CAROM_ERROR_NO_DEVICE, err);
}

static carom_status open_device(const carom_context *context, uint32_t place, const char *selector, int gpu_only,
                                caromi_device **out, carom_error *err)
{
    (void)context, (void)place, (void)selector, (void)gpu_only;
    *out = NULL;
    return refuse(CAROM_ERROR_NO_DEVICE, err);
}

static void close_device(caromi_device *device)
{
    (void)device; /* NULL */
}

static carom_status answer(caromi_device *device, const void *batch, uint64_t end, uint64_t *done, carom_stats *stats,
                           carom_error *err)
{
    (void)device, (void)batch, (void)end, (void)done, (void)stats;
    return refuse(CAROM_ERROR_UNSUPPORTED, err);
}

static void release_mesh(carom_mesh *mesh)
{
    (void)mesh;
}

static void release_shared(carom_context *context)
{
    (void)context;
}

static void release_event(const carom_context *context, void *event)
{
    (void)context, (void)event; /* NULL */
}

const caromi_device_driver caromi_driver = {
    .is_inherited = is_inherited,
    .find = find,
    .open = open_device,
    .close = close_device,
    .pairs = answer,
    .mesh = answer,
    .list = answer,
    .mesh_release = release_mesh,
    .edges_release = release_mesh,
    .shared_release = release_shared,
    .event_release = release_event,
};
