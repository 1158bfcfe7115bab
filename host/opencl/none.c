/* SPDX-License-Identifier: MIT */
/* Stands in for the OpenCL side in builds without it. */
#include "opencl.h"

int carom_has_opencl(void)
{
    return 0;
}

carom_status carom_device_list(carom_device_info *out, uint32_t capacity, uint32_t *count, carom_error *err)
{
    (void)out, (void)capacity;
    if (count != NULL)
        *count = 0;
    return caromi_fail(err, CAROM_ERROR_UNSUPPORTED, 0, "this build has no OpenCL");
}

carom_status caromi_device_open(const carom_context *context, uint32_t place, const char *selector, int gpu_only,
                                caromi_device **out, carom_error *err)
{
    (void)context, (void)place, (void)selector, (void)gpu_only;
    *out = NULL;
    return caromi_fail(err, CAROM_ERROR_NO_DEVICE, 0, "this build has no OpenCL");
}

carom_status caromi_device_find(const carom_context *context, const char *selector, uint32_t *index, carom_error *err)
{
    (void)context, (void)selector, (void)index;
    return caromi_fail(err, CAROM_ERROR_NO_DEVICE, 0, "this build has no OpenCL");
}

uint32_t caromi_shared_devices(const struct carom_opencl_desc *cl)
{
    (void)cl;
    return 1;
}

carom_status caromi_device_open_shared(carom_context *context, const struct carom_opencl_desc *cl, uint32_t place,
                                       caromi_device **out, carom_error *err)
{
    (void)cl;
    return caromi_device_open(context, place, NULL, 0, out, err);
}

/* carom_opencl.h, without the headers of OpenCL: a program that has them may meet a library that was built without. */
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
    return caromi_fail(err, CAROM_ERROR_UNSUPPORTED, 0, "this build has no OpenCL");
}

carom_status carom_buffer_wrap_opencl(carom_context *context, struct _cl_mem *memory, uint64_t offset, uint64_t bytes,
                                      carom_buffer **out, carom_error *err)
{
    (void)context, (void)memory, (void)offset, (void)bytes, (void)out;
    return caromi_fail(err, CAROM_ERROR_UNSUPPORTED, 0, "this build has no OpenCL");
}

carom_status carom_job_wrap_event(carom_context *context, struct _cl_event *event, carom_job **out, carom_error *err)
{
    (void)context, (void)event, (void)out;
    return caromi_fail(err, CAROM_ERROR_UNSUPPORTED, 0, "this build has no OpenCL");
}

carom_status carom_job_get_event(carom_job *job, struct _cl_event **out, carom_error *err)
{
    (void)job, (void)out;
    return caromi_fail(err, CAROM_ERROR_UNSUPPORTED, 0, "this build has no OpenCL");
}

int caromi_opencl_is_inherited(void)
{
    return 0;
}

carom_status caromi_fail_inherited(carom_error *err)
{
    return caromi_fail(err, CAROM_ERROR_NO_DEVICE, 0, "this build has no OpenCL");
}

void caromi_device_close(caromi_device *device)
{
    (void)device;
}
void caromi_device_time(caromi_device *device, int timed)
{
    (void)device, (void)timed;
}
void caromi_device_describe(const caromi_device *device, carom_device_info *out)
{
    (void)device, (void)out;
}
void caromi_device_mesh_release(carom_mesh *mesh)
{
    (void)mesh;
}

uint32_t caromi_device_place(const caromi_device *device)
{
    (void)device;
    return 0;
}

uint32_t caromi_device_index(const caromi_device *device)
{
    (void)device;
    return 0;
}

const char *caromi_device_name(const caromi_device *device)
{
    (void)device;
    return "";
}

int caromi_device_is_unified(const caromi_device *device)
{
    (void)device;
    return 1;
}

/* Without devices nothing calls these. */
carom_status caromi_device_memory_create(caromi_device *device, uint64_t bytes, caromi_device_memory **out,
                                         carom_error *err)
{
    (void)device, (void)bytes, (void)out;
    return caromi_fail(err, CAROM_ERROR_UNSUPPORTED, 0, "this build has no OpenCL");
}

void caromi_device_memory_destroy(caromi_device_memory *memory)
{
    (void)memory;
}

carom_status caromi_device_memory_read(const caromi_device_memory *memory, uint64_t offset, void *data, uint64_t bytes,
                                       carom_error *err)
{
    (void)memory, (void)offset, (void)data, (void)bytes;
    return caromi_fail(err, CAROM_ERROR_UNSUPPORTED, 0, "this build has no OpenCL");
}

carom_status caromi_device_memory_write(const caromi_device_memory *memory, uint64_t offset, const void *data,
                                        uint64_t bytes, carom_error *err)
{
    (void)memory, (void)offset, (void)data, (void)bytes;
    return caromi_fail(err, CAROM_ERROR_UNSUPPORTED, 0, "this build has no OpenCL");
}

carom_status caromi_device_pairs(caromi_device *device, const void *batch, uint64_t end, uint64_t *done,
                                 carom_stats *stats, carom_error *err)
{
    (void)device, (void)batch, (void)end, (void)done, (void)stats;
    return caromi_fail(err, CAROM_ERROR_UNSUPPORTED, 0, "this build has no OpenCL");
}

carom_status caromi_device_mesh(caromi_device *device, const void *batch, uint64_t end, uint64_t *done,
                                carom_stats *stats, carom_error *err)
{
    return caromi_device_pairs(device, batch, end, done, stats, err);
}

carom_status caromi_device_list(caromi_device *device, const void *batch, uint64_t end, uint64_t *done,
                                carom_stats *stats, carom_error *err)
{
    return caromi_device_pairs(device, batch, end, done, stats, err);
}

carom_status caromi_cloud_copy_open(caromi_device *device, const struct caromi_cloud *cloud,
                                    const struct caromi_cloud_cells *cells, caromi_cloud_copy **out, carom_stats *stats,
                                    carom_error *err)
{
    (void)cloud, (void)cells, (void)out;
    return caromi_device_pairs(device, NULL, 0, NULL, stats, err);
}

carom_status caromi_cloud_prepare(caromi_device *device, int exact, carom_error *err)
{
    (void)exact;
    return caromi_device_pairs(device, NULL, 0, NULL, NULL, err);
}

void caromi_cloud_copy_close(caromi_cloud_copy *copy)
{
    (void)copy;
}

carom_status caromi_cloud_copy_test(caromi_cloud_copy *copy, const caromi_cloud_items *items, uint64_t count,
                                    carom_stats *stats, carom_error *err)
{
    (void)copy, (void)items;
    return caromi_device_pairs(NULL, NULL, count, NULL, stats, err);
}

carom_status caromi_cloud_copy_solve(caromi_cloud_copy *copy, const caromi_cloud_open *open, uint64_t count, int exact,
                                     carom_stats *stats, carom_error *err)
{
    (void)copy, (void)open, (void)exact;
    return caromi_device_pairs(NULL, NULL, count, NULL, stats, err);
}

int caromi_device_has_fp64(const caromi_device *device)
{
    (void)device;
    return 0;
}

carom_status caromi_shared_await(const carom_context *context, carom_error *err)
{
    (void)context, (void)err;
    return CAROM_OK;
}

carom_status caromi_shared_enter(carom_context *context, carom_job *job, carom_error *err)
{
    (void)job;
    return caromi_shared_await(context, err);
}

carom_status caromi_shared_keep(carom_context *context, const struct carom_opencl_desc *cl, carom_error *err)
{
    (void)cl;
    return caromi_shared_await(context, err);
}

void caromi_shared_release(carom_context *context)
{
    (void)context;
}

carom_status caromi_event_wait(void *event, double seconds, carom_error *err)
{
    (void)event, (void)seconds;
    return caromi_shared_await(NULL, err);
}

void caromi_event_release(const carom_context *context, void *event)
{
    (void)context;
    (void)event;
}
