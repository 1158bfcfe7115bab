/* SPDX-License-Identifier: MIT */
/* Opens and closes an OpenCL device. */
#include <stdio.h>
#include <string.h>

#include "device.h"
#include "driver.h"

#ifndef CAROM_MESH_TEAMS /* 0: each work-item searches for a query of its own, to compare speeds */
#define CAROM_MESH_TEAMS 1
#endif

/* Checks for the two floating-point features without which no program can give the CPU's bits. */
static carom_status check_floats(const caromi_device *device, carom_error *err)
{
    cl_device_fp_config config = 0;
    cl_bool little = CL_FALSE;
    if (clGetDeviceInfo(device->id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL) != CL_SUCCESS)
        config = 0;
    if (clGetDeviceInfo(device->id, CL_DEVICE_ENDIAN_LITTLE, sizeof little, &little, NULL) != CL_SUCCESS || !little)
        return caromi_fail(err, CAROM_ERROR_UNSUPPORTED, CAROMI_NO_NATIVE_CODE, "%s is not little-endian",
                           device->info.name);
    if (!(config & CL_FP_ROUND_TO_NEAREST) || !(config & CL_FP_INF_NAN))
        return caromi_fail(err, CAROM_ERROR_NOT_BIT_EXACT, CAROMI_NO_NATIVE_CODE,
                           "%s does not claim rounding to nearest with infinities", device->info.name);
    return CAROM_OK;
}

static void read_limits(caromi_device *device)
{
    cl_bool unified = CL_FALSE;
    size_t group = 0;
    if (clGetDeviceInfo(device->id, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL) != CL_SUCCESS)
        unified = CL_FALSE;
    const int cpu = strcmp(device->info.kind, "cpu") == 0;
    device->gpu = strcmp(device->info.kind, "gpu") == 0;
    device->unified = cpu || unified;
    device->lanes = device->context->desc.device_lanes ? device->context->desc.device_lanes : device->info.lanes;
    device->info.lanes = device->lanes;
    device->stack = device->lanes == 1 ? CAROMI_STACK_SHORT : MESH_STACK;
    /* Enough to fill a device, short enough for watchdogs. PoCL compiles a kernel once more for launches of 2^16
     * work-items: staying below runs the code that was probed. */
    device->max_items = device->gpu ? 1u << 20 : (1u << 16) - 64;
    if (clGetDeviceInfo(device->id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group, &group, NULL) == CL_SUCCESS)
        device->max_group = group;
}

static carom_status create_context(caromi_device *device, cl_platform_id platform, carom_error *err)
{
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    cl_int code;
    device->cl = clCreateContext(properties, 1, &device->id, NULL, NULL, &code);
    return device->cl != NULL && code == CL_SUCCESS ? CAROM_OK : caromi_cl_fail(device, code, "clCreateContext", err);
}

/* Whether the driver counts references of devices: before OpenCL 1.2 it has no such functions, and the loader would
 * call a null pointer. */
static int counts_devices(const caromi_device *device)
{
    return strncmp(device->info.version, "OpenCL 1.0", 10) != 0 && strncmp(device->info.version, "OpenCL 1.1", 10) != 0;
}

static carom_status retain_context(caromi_device *device, cl_context shared, carom_error *err)
{
    cl_int code = clRetainContext(shared);
    if (code != CL_SUCCESS)
        return caromi_cl_fail(device, code, "clRetainContext", err);
    device->cl = shared;
    if (!counts_devices(device))
        return CAROM_OK;
    code = clRetainDevice(device->id);
    device->retained = code == CL_SUCCESS;
    return device->retained ? CAROM_OK : caromi_cl_fail(device, code, "clRetainDevice", err);
}

/* The number of work-items that share queries (kernels/mesh_team.h), if the device answers one query in a work-item and
 * runs so many together. One that runs 64 together, as AMD's do, has too little local memory for it. Needs a built
 * program. */
static void find_team_items(caromi_device *device)
{
    enum { WARP = 32, LOCAL_MEMORY = 14 << 10 };
    const cl_kernel built = device->programs[CAROMI_PAIR_sweep_times].kernel;
    size_t together = 0;
    cl_ulong local = 0;
    if (!CAROM_MESH_TEAMS || !caromi_serves_alone(device))
        return;
    if (clGetKernelWorkGroupInfo(built, device->id, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof together,
                                 &together, NULL) != CL_SUCCESS ||
        clGetDeviceInfo(device->id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL) != CL_SUCCESS)
        return;
    if (together <= WARP && device->max_group >= WARP && local >= LOCAL_MEMORY)
        device->items = WARP;
}

static carom_status open_device(caromi_device *device, carom_error *err)
{
    cl_int code;
    for (int s = 0; s < CAROMI_SLOTS; s++) {
        device->slots[s].queue = clCreateCommandQueue(device->cl, device->id, CL_QUEUE_PROFILING_ENABLE, &code);
        if (device->slots[s].queue == NULL || code != CL_SUCCESS)
            return caromi_cl_fail(device, code, "clCreateCommandQueue", err);
    }
    if (!device->info.correctly_rounded || !device->info.denormals) {
        const carom_status status = caromi_probe_rounding(device, err);
        if (status != CAROM_OK)
            return status;
    }
    const carom_status status = caromi_probe_pairs(device, CAROMI_PAIR_sweep_times, err);
    if (status == CAROM_OK)
        find_team_items(device);
    return status;
}

void caromi_release_idle(caromi_device *device)
{
    caromi_columns_release(device);
    caromi_inline_hits_release(device);
    caromi_grid_release(device);
    caromi_bundles_release(device);
}

static void release_device(caromi_device *device)
{
    for (int s = 0; s < CAROMI_SLOTS; s++) {
        caromi_slot_release(device, &device->slots[s]);
        /* PoCL 3.1 crashes where a busy sub-device's last reference goes. */
        if (device->slots[s].queue != NULL && device->retained)
            (void)caromi_finish(device, device->slots[s].queue, NULL);
        if (device->slots[s].queue != NULL)
            (void)clReleaseCommandQueue(device->slots[s].queue);
    }
    caromi_inline_hits_release(device);
    caromi_grid_release(device);
    caromi_bundles_release(device);
    caromi_release_buffer(&device->checked);
    caromi_release_buffer(&device->empty_histogram);
    caromi_programs_release(device);
    if (device->cl != NULL)
        (void)clReleaseContext(device->cl);
    if (device->retained)
        (void)clReleaseDevice(device->id);
}

static void close_device(caromi_device *device)
{
    if (--device->references > 0)
        return;
    if (!caromi_opencl_is_inherited())
        release_device(device);
    caromi_free(device->context, device);
}

/* Logs the device, with its number in the list of devices; a device of the caller may not be in that list. */
static void log_device(const caromi_device *device, int is_shared)
{
    char number[32] = " of the caller";
    if (!is_shared)
        (void)snprintf(number, sizeof number, " %u", device->info.index);
    caromi_log(device->context, CAROM_LOG_INFO, "OpenCL device%s: %s on %s, %u lane(s)%s", number, device->info.name,
               device->info.platform, device->lanes, device->unified ? ", columns used in place" : "");
}

/* Opens a device in the caller's cl_context or, if that is NULL, in a new one. */
carom_status caromi_device_start(const carom_context *context, uint32_t place, const caromi_cl_found *found,
                                 cl_context shared, caromi_device **out, carom_error *err)
{
    caromi_device *device = caromi_alloc(context, 1, sizeof *device);
    if (device == NULL)
        return caromi_fail_memory(err, "no memory for a device (%zu bytes)", sizeof *device);
    memset(device, 0, sizeof *device);
    device->context = context;
    device->place = place;
    device->references = 1;
    device->id = found->id;
    device->info = found->info;
    read_limits(device);
    carom_status status = check_floats(device, err);
    if (status == CAROM_OK)
        status = shared != NULL ? retain_context(device, shared, err) : create_context(device, found->platform, err);
    if (status == CAROM_OK)
        status = open_device(device, err);
    if (status != CAROM_OK) {
        close_device(device);
        return status;
    }
    log_device(device, shared != NULL);
    *out = device;
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
