/* SPDX-License-Identifier: MIT */
/* device_programs FOLDER [NUMBER [MOST]]: what a device's driver says of itself and makes of the OpenCL programs, for
 * scripts/device-report. FOLDER/device.txt has its extensions and limits, NAME.log the compiler's output, NAME.bin the
 * binary (on NVIDIA PTX, which is text), programs.txt a line for each program. NAME_alone is a search whose work-items
 * could share queries, and do not. NUMBER is that of `carom info`. Files are complete as soon as they are there, so a
 * run that is cut has what it made. MOST: stop after so many programs. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/opencl/programs.h"

enum {
    DEVICES_MAX = 64,
    TEAM_ITEMS = 32 /* work-items that share queries */
};

static const char *const names[CAROMI_PROGRAM_COUNT] = {
#define PAIR(name, in, radii, out, bytes) [CAROMI_PAIR_##name] = #name,
    PAIR_KERNELS(PAIR)
#define ROW(program, kernel, root, has_stack, options) [CAROMI_PROGRAM_##program] = #program,
        CAROMI_PROGRAMS(ROW)};

/* The device, and what decides its build options. */
typedef struct target {
    cl_device_id device;
    cl_context context;
    char platform[256];
    int is_nvidia, is_gpu, correctly_rounded, fp64;
} target;

static void fail(const char *what)
{
    (void)fprintf(stderr, "device_programs: %s\n", what);
    exit(1);
}

static FILE *create(const char *folder, const char *name, const char *suffix)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

static void finish(FILE *file)
{
    if (ferror(file) | fclose(file)) {
        perror("device_programs");
        exit(1);
    }
}

/* ---- the device -------------------------------------------------------------------------------------------------- */

static target find(unsigned long number)
{
    cl_platform_id platforms[DEVICES_MAX];
    cl_uint platform_count = 0;
    target t = {.device = NULL};
    if (clGetPlatformIDs(DEVICES_MAX, platforms, &platform_count) != CL_SUCCESS)
        fail("no OpenCL platform");
    platform_count = platform_count < DEVICES_MAX ? platform_count : DEVICES_MAX;
    for (cl_uint p = 0; p < platform_count; p++) {
        cl_device_id devices[DEVICES_MAX];
        cl_uint count = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, DEVICES_MAX, devices, &count) != CL_SUCCESS)
            continue;
        if (number < count && number < DEVICES_MAX) {
            t.device = devices[number];
            (void)clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof t.platform - 1, t.platform, NULL);
            break;
        }
        number -= count;
    }
    if (t.device == NULL)
        fail("no device has that number");
    return t;
}

static cl_ulong number_of(const target *t, cl_device_info what)
{
    cl_ulong value = 0; /* a shorter number fills the lower half */
    return clGetDeviceInfo(t->device, what, sizeof value, &value, NULL) == CL_SUCCESS ? value : 0;
}

static void write_text(FILE *file, const target *t, cl_device_info what, const char *name)
{
    size_t size = 0;
    if (clGetDeviceInfo(t->device, what, 0, NULL, &size) != CL_SUCCESS || size == 0)
        return;
    char *text = calloc(size + 1, 1);
    if (text != NULL && clGetDeviceInfo(t->device, what, size, text, NULL) == CL_SUCCESS)
        (void)fprintf(file, "%s: %s\n", name, text);
    free(text);
}

/* Of vendors' queries the numbers stand here, because the headers of other vendors lack them. */
static void describe(const char *folder, const target *t)
{
    static const struct {
        cl_device_info what;
        const char *name;
    } texts[] = {{CL_DEVICE_NAME, "device"},
                 {CL_DEVICE_VENDOR, "vendor"},
                 {CL_DRIVER_VERSION, "driver"},
                 {CL_DEVICE_VERSION, "version"},
                 {CL_DEVICE_OPENCL_C_VERSION, "language"},
                 {CL_DEVICE_PROFILE, "profile"},
                 {CL_DEVICE_BUILT_IN_KERNELS, "built-in kernels"},
                 {CL_DEVICE_EXTENSIONS, "extensions"}},
      numbers[] = {{CL_DEVICE_TYPE, "type"},
                   {CL_DEVICE_VENDOR_ID, "vendor id"},
                   {CL_DEVICE_MAX_COMPUTE_UNITS, "compute units"},
                   {CL_DEVICE_MAX_CLOCK_FREQUENCY, "MHz"},
                   {CL_DEVICE_ADDRESS_BITS, "address bits"},
                   {CL_DEVICE_GLOBAL_MEM_SIZE, "memory, bytes"},
                   {CL_DEVICE_MAX_MEM_ALLOC_SIZE, "largest buffer, bytes"},
                   {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, "cache, bytes"},
                   {CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, "cache line, bytes"},
                   {CL_DEVICE_LOCAL_MEM_SIZE, "local memory, bytes"},
                   {CL_DEVICE_LOCAL_MEM_TYPE, "local memory type"},
                   {CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, "largest constant buffer, bytes"},
                   {CL_DEVICE_MAX_PARAMETER_SIZE, "arguments, bytes"},
                   {CL_DEVICE_MAX_WORK_GROUP_SIZE, "work-items of a group"},
                   {CL_DEVICE_MEM_BASE_ADDR_ALIGN, "alignment of sub-buffers, bits"},
                   {CL_DEVICE_HOST_UNIFIED_MEMORY, "shares the host's memory"},
                   {CL_DEVICE_SINGLE_FP_CONFIG, "binary32"},
                   {CL_DEVICE_DOUBLE_FP_CONFIG, "binary64"},
                   {CL_DEVICE_EXECUTION_CAPABILITIES, "executes"},
                   {CL_DEVICE_QUEUE_PROPERTIES, "queues"},
                   {CL_DEVICE_PROFILING_TIMER_RESOLUTION, "timer, ns"},
                   {CL_DEVICE_PARTITION_MAX_SUB_DEVICES, "parts"},
                   {CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, "preferred vector width"},
                   {0x1053, "shared virtual memory"},
                   {0x4000, "NVIDIA compute capability, major"},
                   {0x4001, "NVIDIA compute capability, minor"},
                   {0x4002, "NVIDIA registers of a block"},
                   {0x4003, "NVIDIA warp"},
                   {0x4005, "NVIDIA kernel time limit"},
                   {0x4006, "NVIDIA integrated memory"},
                   {0x4007, "NVIDIA copy engines"},
                   {0x4040, "AMD SIMDs of a compute unit"},
                   {0x4043, "AMD wavefront"}};
    FILE *file = create(folder, "device", ".txt");
    (void)fprintf(file, "platform: %s\n", t->platform);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        write_text(file, t, texts[i].what, texts[i].name);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        cl_ulong value = 0;
        size_t size = 0;
        if (clGetDeviceInfo(t->device, numbers[i].what, sizeof value, &value, &size) == CL_SUCCESS && size > 0)
            (void)fprintf(file, "%s: %llu\n", numbers[i].name, (unsigned long long)value);
    }
    finish(file);
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

static void write_log(const char *folder, const char *name, const target *t, cl_program program, const char *options)
{
    size_t size = 0;
    FILE *file = create(folder, name, ".log");
    (void)fprintf(file, "options:%s%s\n", options[0] == ' ' ? "" : " ", options);
    if (clGetProgramBuildInfo(program, t->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) == CL_SUCCESS && size > 0) {
        char *text = calloc(size + 1, 1);
        if (text != NULL &&
            clGetProgramBuildInfo(program, t->device, CL_PROGRAM_BUILD_LOG, size, text, NULL) == CL_SUCCESS)
            (void)fprintf(file, "%s\n", text);
        free(text);
    }
    finish(file);
}

static size_t write_binary(const char *folder, const char *name, cl_program program)
{
    size_t size = 0;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) != CL_SUCCESS || size == 0)
        return 0;
    unsigned char *bytes = calloc(size, 1);
    if (bytes != NULL &&
        clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, (void *)&bytes, NULL) == CL_SUCCESS) {
        FILE *file = create(folder, name, ".bin");
        (void)fwrite(bytes, 1, size, file);
        finish(file);
    }
    free(bytes);
    return size;
}

/* Registers, stack and spills of a kernel, as the driver's work-group query and private memory. */
static void write_line(FILE *lines, const target *t, uint32_t number, const char *name, cl_program program,
                       size_t bytes)
{
    char kernel_name[96];
    cl_int code = CL_SUCCESS;
    size_t most = 0, multiple = 0;
    cl_ulong stack = 0, local = 0;
    (void)snprintf(kernel_name, sizeof kernel_name, "carom_%s", caromi_program_name(number));
    const cl_kernel kernel = clCreateKernel(program, kernel_name, &code);
    if (code == CL_SUCCESS) {
        (void)clGetKernelWorkGroupInfo(kernel, t->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
        (void)clGetKernelWorkGroupInfo(kernel, t->device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof multiple,
                                       &multiple, NULL);
        (void)clGetKernelWorkGroupInfo(kernel, t->device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof stack, &stack, NULL);
        (void)clGetKernelWorkGroupInfo(kernel, t->device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
        (void)clReleaseKernel(kernel);
    }
    (void)fprintf(lines, "%s: group %zu of %zu, private %llu, local %llu, binary %zu bytes\n", name, most, multiple,
                  (unsigned long long)stack, (unsigned long long)local, bytes);
    (void)fflush(lines);
}

/* Builds a program for so many work-items that share queries; `suffix` is added to its name. Returns 0 if it does not
 * build. */
static int build(const char *folder, FILE *lines, const target *t, uint32_t number, uint32_t items, const char *suffix)
{
    const char *pieces[CAROMI_PIECES_MAX];
    char options[512], name[64];
    cl_int code = CL_SUCCESS;
    size_t used = 0;
    for (const char *c = names[number]; *c && used < sizeof name - 1; c++)
        name[used++] = (char)tolower((unsigned char)*c);
    (void)snprintf(name + used, sizeof name - used, "%s", suffix);
    const caromi_program_shape shape = {1, items, CAROMI_STACK_SHORT, t->correctly_rounded};
    caromi_program_options(number, &shape, options, sizeof options);
    used = strlen(options);
    (void)snprintf(options + used, sizeof options - used, "%s%s",
                   t->is_gpu ? caromi_program_vendor_options(number, t->platform) : "",
                   t->is_nvidia ? " -cl-nv-verbose" : "");
    const cl_program program =
        clCreateProgramWithSource(t->context, caromi_program_text(number, pieces), pieces, NULL, &code);
    if (code != CL_SUCCESS)
        fail("clCreateProgramWithSource");
    code = clBuildProgram(program, 1, &t->device, options, NULL, NULL);
    write_log(folder, name, t, program, options);
    if (code == CL_SUCCESS)
        write_line(lines, t, number, name, program, write_binary(folder, name, program));
    else
        (void)fprintf(lines, "%s: does not build (%d)\n", name, code);
    (void)clReleaseProgram(program);
    return code == CL_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 4) {
        (void)fprintf(stderr, "usage: device_programs FOLDER [NUMBER [MOST]]\n");
        return 2;
    }
    target t = find(argc > 2 ? strtoul(argv[2], NULL, 10) : 0);
    const unsigned long most = argc > 3 ? strtoul(argv[3], NULL, 10) : CAROMI_PROGRAM_COUNT;
    cl_int code = CL_SUCCESS;
    int built = 1;
    t.is_nvidia = strstr(t.platform, "NVIDIA") != NULL;
    t.is_gpu = (number_of(&t, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU) != 0;
    t.correctly_rounded = (number_of(&t, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    t.fp64 = number_of(&t, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    describe(argv[1], &t);
    if (most == 0)
        return 0;
    t.context = clCreateContext(NULL, 1, &t.device, NULL, NULL, &code);
    if (code != CL_SUCCESS)
        fail("clCreateContext");
    FILE *lines = create(argv[1], "programs", ".txt");
    for (uint32_t number = 0; number < CAROMI_PROGRAM_COUNT && number < most; number++)
        if (t.fp64 || !caromi_program_needs_fp64(number)) {
            const int has_teams = caromi_program_has_teams(number);
            built &= build(argv[1], lines, &t, number, has_teams ? TEAM_ITEMS : 0, "");
            if (has_teams)
                built &= build(argv[1], lines, &t, number, 0, "_alone");
        }
    finish(lines);
    (void)clReleaseContext(t.context);
    return built ? 0 : 1;
}
