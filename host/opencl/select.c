/* SPDX-License-Identifier: MIT */
/* Lists the OpenCL devices, and selects one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/core/arrays.h"
#include "device.h"

enum { MAX_PLATFORMS = 64, MAX_DEVICES = 256 };

int carom_has_opencl(void)
{
    return 1;
}

/* The result of enumerating the platforms. */
typedef struct survey {
    uint32_t platforms, devices;
    int empty_pocl, empty_rusticl; /* whether a PoCL or rusticl platform has no device */
    cl_int code;                   /* OpenCL's code if there are no platforms */
} survey;

/* Called for each device; returns 0 to stop. */
typedef int survey_fn(void *user, const caromi_cl_found *found);

static void device_string(cl_device_id id, cl_device_info what, char *out, size_t size)
{
    char text[1024] = "";
    if (clGetDeviceInfo(id, what, sizeof text - 1, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    (void)snprintf(out, size, "%.*s", (int)size - 1, text);
}

static void platform_string(cl_platform_id id, char *out, size_t size)
{
    char text[1024] = "";
    if (clGetPlatformInfo(id, CL_PLATFORM_NAME, sizeof text - 1, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    (void)snprintf(out, size, "%.*s", (int)size - 1, text);
}

static uint64_t device_number(cl_device_id id, cl_device_info what, size_t size)
{
    cl_ulong wide = 0;
    cl_uint narrow = 0;
    const cl_int code = size == sizeof wide ? clGetDeviceInfo(id, what, size, &wide, NULL)
                                            : clGetDeviceInfo(id, what, size, &narrow, NULL);
    return code != CL_SUCCESS ? 0 : size == sizeof wide ? wide : narrow;
}

/* The number of lanes. A GPU hides the latency of one query behind other work-items, so it gets one query per
 * work-item; a CPU needs several to fill its vectors. */
static uint32_t default_lanes(cl_device_id id, cl_device_type type)
{
    if (!(type & CL_DEVICE_TYPE_CPU))
        return 1;
    const uint64_t width = device_number(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof(cl_uint));
    return width >= 16 ? 16 : width >= 8 ? 8 : width >= 4 ? 4 : 1;
}

static void describe(caromi_cl_found *f, const char *platform)
{
    carom_device_info *info = &f->info;
    memset(info, 0, sizeof *info);
    info->size = sizeof *info;
    info->index = f->index;
    (void)snprintf(info->platform, sizeof info->platform, "%.*s", (int)sizeof info->platform - 1, platform);
    device_string(f->id, CL_DEVICE_NAME, info->name, sizeof info->name);
    device_string(f->id, CL_DRIVER_VERSION, info->driver, sizeof info->driver);
    device_string(f->id, CL_DEVICE_VERSION, info->version, sizeof info->version);
    cl_device_type type = device_number(f->id, CL_DEVICE_TYPE, sizeof(cl_ulong));
    type &= CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR;
    /* A simulator claims all types at once. */
    (void)snprintf(info->kind, sizeof info->kind, "%s",
                   type == CL_DEVICE_TYPE_GPU           ? "gpu"
                   : type == CL_DEVICE_TYPE_CPU         ? "cpu"
                   : type == CL_DEVICE_TYPE_ACCELERATOR ? "accelerator"
                                                        : "other");
    info->compute_units = (uint32_t)device_number(f->id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint));
    info->lanes = default_lanes(f->id, type);
    info->memory = device_number(f->id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
    info->max_allocation = device_number(f->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
    const cl_device_fp_config single = device_number(f->id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_ulong));
    info->fp64 = device_number(f->id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_ulong)) != 0;
    info->correctly_rounded = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    info->denormals = (single & CL_FP_DENORM) != 0;
    info->available = device_number(f->id, CL_DEVICE_AVAILABLE, sizeof(cl_uint)) != 0 &&
                      device_number(f->id, CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_uint)) != 0;
}

void caromi_describe_device(cl_device_id id, caromi_cl_found *out)
{
    char name[128] = "";
    *out = (caromi_cl_found){.id = id, .index = UINT32_MAX};
    if (clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof out->platform, &out->platform, NULL) == CL_SUCCESS)
        platform_string(out->platform, name, sizeof name);
    describe(out, name);
}

static survey visit_devices(survey_fn *visit, void *user)
{
    survey s = {0, 0, 0, 0, CL_SUCCESS};
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint platform_count = 0;
    s.code = clGetPlatformIDs(MAX_PLATFORMS, platforms, &platform_count);
    if (s.code != CL_SUCCESS)
        return s;
    s.platforms = platform_count < MAX_PLATFORMS ? platform_count : MAX_PLATFORMS;
    for (uint32_t p = 0; p < s.platforms; p++) {
        char name[128];
        cl_device_id devices[MAX_DEVICES];
        cl_uint count = 0;
        platform_string(platforms[p], name, sizeof name);
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES, devices, &count) != CL_SUCCESS)
            count = 0;
        s.empty_pocl |= count == 0 && strstr(name, "Portable Computing Language") != NULL;
        s.empty_rusticl |= count == 0 && strstr(name, "rusticl") != NULL;
        for (cl_uint d = 0; d < count && d < MAX_DEVICES; d++) {
            caromi_cl_found found = {platforms[p], devices[d], s.devices++, {0}};
            describe(&found, name);
            if (!visit(user, &found))
                return s;
        }
    }
    return s;
}

/* The caller's array of a listing. */
typedef struct device_listing {
    carom_device_info *out;
    uint32_t capacity;
} device_listing;

static int list_one(void *user, const caromi_cl_found *found)
{
    const device_listing *listing = user;
    if (found->index < listing->capacity)
        listing->out[found->index] = found->info;
    return 1;
}

CAROMI_LIST list_listing(caromi_arrays *arrays, const carom_device_info *out, uint32_t capacity, const uint32_t *count)
{
    caromi_writes(arrays, "out", out, capacity, sizeof *out);
    caromi_writes(arrays, "count", count, 1, sizeof *count);
}

static carom_status list_devices(carom_device_info *out, uint32_t capacity, uint32_t *count, carom_error *err)
{
    if (count == NULL)
        return caromi_fail_argument(err, "count must not be NULL");
    if (out == NULL && capacity != 0)
        return caromi_fail_argument(err, "out is NULL, but capacity is %u", capacity);
    if (capacity != 0)
        CHECK(caromi_check_desc(out->size, sizeof *out, "carom_device_info", err));
    CAROMI_CHECK_ARRAYS((carom_context *)NULL, err, list_listing, out, capacity, count);
    device_listing listing = {out, capacity};
    CHECK(caromi_claim_opencl(err));
    *count = visit_devices(list_one, &listing).devices;
    return CAROM_OK;
}

carom_status carom_device_list(carom_device_info *out, uint32_t capacity, uint32_t *count, carom_error *err)
{
    IN_FLOAT_MODE(list_devices(out, capacity, count, err)); /* threads that the driver starts here inherit the mode */
}

/* State of the selection. */
typedef struct choice {
    const char *selector;
    int gpu_only;
    uint64_t index; /* when `by_index` */
    int by_index;
    int rank;         /* of the best device so far; 0: none */
    uint32_t matches; /* number of devices whose names contain the selector */
    caromi_cl_found best;
} choice;

static int contains(const char *text, const char *part)
{
    const size_t length = strlen(part);
    for (; *text; text++)
        if (strncasecmp(text, part, length) == 0)
            return 1;
    return 0;
}

static int consider(void *user, const caromi_cl_found *found)
{
    choice *wanted = user;
    const int gpu = strcmp(found->info.kind, "gpu") == 0;
    int rank = 0;
    if (wanted->by_index)
        rank = found->index == wanted->index;
    else if (wanted->selector != NULL)
        rank = contains(found->info.platform, wanted->selector) || contains(found->info.name, wanted->selector);
    else if (found->info.available && (gpu || !wanted->gpu_only))
        rank = gpu ? 2 : 1;
    wanted->matches += rank > 0;
    if (rank > wanted->rank) {
        wanted->rank = rank;
        wanted->best = *found;
    }
    return 1;
}

/* The error if no device was found, with a hint. */
static carom_status explain(const choice *wanted, const survey *seen, carom_error *err)
{
    const carom_status status = CAROM_ERROR_NO_DEVICE;
    if (seen->platforms == 0)
        return caromi_fail(err, status, seen->code,
                           "no OpenCL platform (clGetPlatformIDs: %d): no driver is installed, or "
                           "OCL_ICD_VENDORS points elsewhere",
                           seen->code);
    if (seen->devices == 0)
        return caromi_fail(err, status, CL_DEVICE_NOT_FOUND, "no OpenCL device on %u platform(s)%s%s", seen->platforms,
                           seen->empty_pocl ? "; PoCL has none if it cannot write its cache: set POCL_CACHE_DIR" : "",
                           seen->empty_rusticl ? "; rusticl has none unless RUSTICL_ENABLE names a driver" : "");
    if (wanted->by_index)
        return caromi_fail(err, status, CAROMI_NO_NATIVE_CODE, "there is no OpenCL device %s: devices are 0..%u",
                           wanted->selector, seen->devices - 1);
    if (wanted->selector != NULL)
        return caromi_fail(err, status, CAROMI_NO_NATIVE_CODE, "no OpenCL device is called '%.100s': %u present",
                           wanted->selector, seen->devices);
    return caromi_fail(err, status, CAROMI_NO_NATIVE_CODE, "no usable OpenCL %s among %u device(s)",
                       wanted->gpu_only ? "GPU" : "device", seen->devices);
}

/* The device that `selector` names (NULL: the best). */
carom_status caromi_select_device(const carom_context *context, const char *selector, int gpu_only,
                                  caromi_cl_found *found, carom_error *err)
{
    choice c;
    CHECK(caromi_claim_opencl(err));
    memset(&c, 0, sizeof c);
    c.selector = selector;
    c.gpu_only = gpu_only;
    if (selector != NULL && selector[0] != '\0' && strspn(selector, "0123456789") == strlen(selector)) {
        c.by_index = 1;
        c.index = strtoull(selector, NULL, 10);
    }
    const survey s = visit_devices(consider, &c);
    if (c.rank == 0)
        return explain(&c, &s, err);
    if (selector != NULL && c.matches > 1)
        caromi_log(context, CAROM_LOG_WARNING, "%u OpenCL devices are called '%s'; taking %u: %s", c.matches, selector,
                   c.best.index, c.best.info.name);
    if (!c.best.info.available)
        return caromi_fail(err, CAROM_ERROR_NO_DEVICE, CL_DEVICE_NOT_AVAILABLE,
                           "OpenCL device %u, %s, is not available or has no compiler", c.best.index, c.best.info.name);
    *found = c.best;
    return CAROM_OK;
}
