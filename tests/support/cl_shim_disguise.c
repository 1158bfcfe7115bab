/* SPDX-License-Identifier: MIT */
/* Devices that the shim shows as others than they are. */
#include "cl_shim_parts.h"

static void say(void *value, uint64_t limit)
{
    cl_ulong *const says = value;
    if (shim_is_beyond(*says, limit))
        *says = limit;
}

static void disguise(cl_device_info what, void *value)
{
    const int discrete = cl_seen_as.discrete || test_as_gpu();
    if ((cl_seen_as.gpu || discrete) && what == CL_DEVICE_TYPE)
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    if (cl_seen_as.scalar && what == CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT)
        *(cl_uint *)value = 1;
    if (discrete && what == CL_DEVICE_HOST_UNIFIED_MEMORY)
        *(cl_bool *)value = CL_FALSE;
    if (cl_seen_as.no_compiler && what == CL_DEVICE_COMPILER_AVAILABLE)
        *(cl_bool *)value = CL_FALSE;
    if (cl_seen_as.no_fp64 && what == CL_DEVICE_DOUBLE_FP_CONFIG)
        *(cl_device_fp_config *)value = 0;
    if (what == CL_DEVICE_GLOBAL_MEM_SIZE)
        say(value, cl_seen_as.memory);
    if (what == CL_DEVICE_MAX_MEM_ALLOC_SIZE)
        say(value, cl_seen_as.largest);
    if (what == CL_DEVICE_LOCAL_MEM_SIZE)
        say(value, cl_seen_as.local);
}

/* Removes an extension from a list of extensions. */
static void lose_extension(char *list, const char *name)
{
    char *at = strstr(list, name);
    if (at != NULL)
        memmove(at, at + strlen(name), strlen(at + strlen(name)) + 1);
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t size, void *value, size_t *used)
{
    NEXT(clGetPlatformInfo);
    if (what != CL_PLATFORM_NAME || cl_seen_as.platform == NULL || test_undisguised)
        return next(platform, what, size, value, used);
    const size_t length = strlen(cl_seen_as.platform) + 1;
    if (used != NULL)
        *used = length;
    if (value != NULL && size < length)
        return CL_INVALID_VALUE;
    if (value != NULL)
        memcpy(value, cl_seen_as.platform, length);
    return CL_SUCCESS;
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t size,
                                void *value, size_t *used)
{
    NEXT(clGetKernelWorkGroupInfo);
    const cl_int code = next(kernel, device, what, size, value, used);
    if (code == CL_SUCCESS && what == CL_KERNEL_WORK_GROUP_SIZE && value != NULL && cl_seen_as.group != 0)
        *(size_t *)value = cl_seen_as.group;
    if (code == CL_SUCCESS && what == CL_KERNEL_WORK_GROUP_SIZE && value != NULL && cl_seen_as.kernel_group != 0) {
        size_t required[3] = {0};
        (void)next(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required, required, NULL);
        if (required[0] > 0)
            *(size_t *)value = cl_seen_as.kernel_group;
    }
    return code;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value, size_t *used)
{
    NEXT(clGetDeviceInfo);
    const cl_int code = next(device, what, size, value, used);
    if (code != CL_SUCCESS || value == NULL)
        return code;
    if (test_undisguised || (cl_seen_as.only != NULL && device != cl_seen_as.only))
        return code;
    disguise(what, value);
    if (what == CL_DEVICE_HOST_UNIFIED_MEMORY)
        cl_shares_memory = *(const cl_bool *)value != CL_FALSE;
    if (cl_seen_as.no_fp64 && what == CL_DEVICE_EXTENSIONS)
        lose_extension(value, "cl_khr_fp64");
    return code;
}
