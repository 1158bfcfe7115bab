/* SPDX-License-Identifier: MIT */
/* Opens and closes an OpenCL device. */
#include <stdio.h>
#include <string.h>

#include "device.h"

/* Checks for the two floating-point features without which no program can give the CPU's bits. */
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

static carom_status create_context(caromi_device *d, cl_platform_id platform, carom_error *err)
{
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    cl_int code;
    d->cl = clCreateContext(properties, 1, &d->id, NULL, NULL, &code);
    return d->cl != NULL && code == CL_SUCCESS ? CAROM_OK : caromi_cl_fail(d, code, "clCreateContext", err);
}

/* Whether the driver counts references of devices: before OpenCL 1.2 it has no such functions, and the loader would
 * call a null pointer. */
static int counts_devices(const caromi_device *d)
{
    return strncmp(d->info.version, "OpenCL 1.0", 10) != 0 && strncmp(d->info.version, "OpenCL 1.1", 10) != 0;
}

static carom_status retain_context(caromi_device *d, cl_context shared, carom_error *err)
{
    cl_int code = clRetainContext(shared);
    if (code != CL_SUCCESS)
        return caromi_cl_fail(d, code, "clRetainContext", err);
    d->cl = shared;
    if (!counts_devices(d))
        return CAROM_OK;
    code = clRetainDevice(d->id);
    d->retained = code == CL_SUCCESS;
    return d->retained ? CAROM_OK : caromi_cl_fail(d, code, "clRetainDevice", err);
}

static carom_status open_device(caromi_device *d, carom_error *err)
{
    cl_int code;
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
        if (d->slots[s].queue != NULL &&
            d->retained) /* PoCL 3.1 crashes where a busy sub-device's last reference goes */
            (void)caromi_finish(d, d->slots[s].queue, NULL);
        if (d->slots[s].queue != NULL)
            (void)clReleaseCommandQueue(d->slots[s].queue);
    }
    caromi_inline_hits_release(d);
    caromi_release_buffer(&d->empty_histogram);
    caromi_programs_release(d);
    if (d->cl != NULL)
        (void)clReleaseContext(d->cl);
    if (d->retained)
        (void)clReleaseDevice(d->id);
}

static void close_device(caromi_device *d)
{
    if (--d->references > 0)
        return;
    if (!caromi_opencl_is_inherited())
        release_device(d);
    caromi_free(d->context, d);
}

/* Logs the device, with its number in the list of devices; a device of the caller may not be in that list. */
static void log_device(const caromi_device *d, int is_shared)
{
    char number[32] = " of the caller";
    if (!is_shared)
        (void)snprintf(number, sizeof number, " %u", d->info.index);
    caromi_log(d->context, CAROM_LOG_INFO, "OpenCL device%s: %s on %s, %u lane(s)%s", number, d->info.name,
               d->info.platform, d->lanes, d->unified ? ", columns used in place" : "");
}

carom_status caromi_device_start(const carom_context *context, uint32_t place, const caromi_cl_found *found,
                                 cl_context shared, caromi_device **out, carom_error *err)
{
    caromi_device *d = caromi_alloc(context, 1, sizeof *d);
    if (d == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for a device (%zu bytes)", sizeof *d);
    memset(d, 0, sizeof *d);
    d->context = context;
    d->place = place;
    d->references = 1;
    d->id = found->id;
    d->info = found->info;
    read_limits(d);
    carom_status status = check_floats(d, err);
    if (status == CAROM_OK)
        status = shared != NULL ? retain_context(d, shared, err) : create_context(d, found->platform, err);
    if (status == CAROM_OK)
        status = open_device(d, err);
    if (status != CAROM_OK) {
        close_device(d);
        return status;
    }
    log_device(d, shared != NULL);
    *out = d;
    return CAROM_OK;
}

carom_status caromi_device_open(const carom_context *context, uint32_t place, const char *selector, int gpu_only,
                                caromi_device **out, carom_error *err)
{
    caromi_cl_found found;
    *out = NULL;
    CHECK(caromi_select_device(context, selector, gpu_only, &found, err));
    return caromi_device_start(context, place, &found, NULL, out, err);
}

carom_status caromi_device_find(const carom_context *context, const char *selector, uint32_t *index, carom_error *err)
{
    caromi_cl_found found;
    CHECK(caromi_select_device(context, selector, 0, &found, err));
    *index = found.index;
    return CAROM_OK;
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

uint32_t caromi_device_place(const caromi_device *device)
{
    return device->place;
}

uint32_t caromi_device_index(const caromi_device *device)
{
    return device->info.index;
}

const char *caromi_device_name(const caromi_device *device)
{
    return device->info.name;
}

void caromi_device_describe(const caromi_device *device, carom_device_info *out)
{
    *out = device->info;
}
