/* SPDX-License-Identifier: MIT */
/* An OpenCL device from opening to closing. */
#include <string.h>

#include "device.h"

/* Without these two no text of ours can give the CPU's bits. */
static carom_status check_floats(const caromi_device *d, carom_error *err)
{
    cl_device_fp_config config = 0;
    cl_bool little = CL_FALSE;
    if (clGetDeviceInfo(d->id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL) != CL_SUCCESS)
        config = 0;
    if (clGetDeviceInfo(d->id, CL_DEVICE_ENDIAN_LITTLE, sizeof little, &little, NULL) != CL_SUCCESS || !little)
        return caromi_fail(err, CAROM_ERROR_UNSUPPORTED, 0, "%s is not little-endian", d->info.name);
    if (!(config & CL_FP_ROUND_TO_NEAREST) || !(config & CL_FP_INF_NAN))
        return caromi_fail(err, CAROM_ERROR_NOT_BIT_EXACT, 0, "%s does not claim rounding to nearest with infinities",
                           d->info.name);
    return CAROM_OK;
}

static void read_limits(caromi_device *d)
{
    cl_bool unified = CL_FALSE;
    if (clGetDeviceInfo(d->id, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL) != CL_SUCCESS)
        unified = CL_FALSE;
    const int cpu = strcmp(d->info.kind, "cpu") == 0;
    d->gpu = strcmp(d->info.kind, "gpu") == 0;
    d->unified = cpu || unified;
    d->lanes = d->context->desc.device_lanes ? d->context->desc.device_lanes : d->info.lanes;
    d->info.lanes = d->lanes;
    d->stack = d->lanes == 1 ? CAROMI_STACK_SHORT : MESH_STACK;
    /* Enough to fill a device, short enough for watchdogs. PoCL compiles a kernel once more for launches of 2^16
     * work-items: staying below runs the code that was probed. */
    d->max_items = d->gpu ? 1u << 20 : (1u << 16) - 64;
}

static carom_status open_device(caromi_device *d, cl_platform_id platform, carom_error *err)
{
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    cl_int code;
    d->cl = clCreateContext(properties, 1, &d->id, NULL, NULL, &code);
    if (d->cl == NULL || code != CL_SUCCESS)
        return caromi_cl_fail(d, code, "clCreateContext", err);
    for (int s = 0; s < CAROMI_SLOTS; s++) {
        d->slots[s].queue = clCreateCommandQueue(d->cl, d->id, CL_QUEUE_PROFILING_ENABLE, &code);
        if (d->slots[s].queue == NULL || code != CL_SUCCESS)
            return caromi_cl_fail(d, code, "clCreateCommandQueue", err);
    }
    if (!d->info.correctly_rounded || !d->info.denormals) {
        const carom_status status = caromi_probe_rounding(d, err);
        if (status != CAROM_OK)
            return status;
    }
    return caromi_probe_pairs(d, CAROMI_PAIR_sweep_times, err);
}

static void release_device(caromi_device *d)
{
    for (int s = 0; s < CAROMI_SLOTS; s++) {
        caromi_slot_release(d, &d->slots[s]);
        if (d->slots[s].queue != NULL)
            (void)clReleaseCommandQueue(d->slots[s].queue);
    }
    caromi_inline_hits_release(d);
    caromi_release_buffer(&d->empty_histogram);
    caromi_programs_release(d);
    if (d->cl != NULL)
        (void)clReleaseContext(d->cl);
}

static void close_device(caromi_device *d)
{
    if (--d->references > 0)
        return;
    if (!caromi_opencl_is_inherited())
        release_device(d);
    caromi_free(d->context, d);
}

carom_status caromi_device_open(const carom_context *context, const char *selector, int gpu_only, caromi_device **out,
                                carom_error *err)
{
    caromi_cl_found found;
    *out = NULL;
    caromi_device *d = caromi_alloc(context, 1, sizeof *d);
    if (d == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for a device (%zu bytes)", sizeof *d);
    memset(d, 0, sizeof *d);
    d->context = context;
    d->references = 1;
    carom_status status = caromi_select_device(context, selector, gpu_only, &found, err);
    if (status == CAROM_OK) {
        d->id = found.id;
        d->info = found.info;
        read_limits(d);
        status = check_floats(d, err);
    }
    if (status == CAROM_OK)
        status = open_device(d, found.platform, err);
    if (status == CAROM_OK) {
        caromi_log(context, CAROM_LOG_INFO, "OpenCL device %u: %s on %s, %u lane(s)%s", d->info.index, d->info.name,
                   d->info.platform, d->lanes, d->unified ? ", columns used in place" : "");
        *out = d;
    } else {
        close_device(d);
    }
    return status;
}

void caromi_device_close(caromi_device *device)
{
    if (device != NULL)
        close_device(device);
}

void caromi_device_time(caromi_device *device, int timed)
{
    device->timed = timed;
}

void caromi_device_describe(const caromi_device *device, carom_device_info *out)
{
    *out = device->info;
}
