/* SPDX-License-Identifier: MIT */
/* particles_opencl [PARTICLES [STEPS]]: a box full of particles that is pressed together, on an OpenCL device of the
 * program. Its kernels (kernels.h) and carom's calls (step.c) take turns in the program's queue, and every array lies
 * in memory of the program. At the end it prints what crossed between host and device in a step. */
#define CL_TARGET_OPENCL_VERSION 120
#include "step.h"

#include <carom/carom_opencl.h>

#include <stdio.h>
#include <stdlib.h>

#define KERNEL(name, ...) static const char text_of_##name[] = #__VA_ARGS__;
#include "kernels.h"

static const char *const texts[] = {"#pragma OPENCL FP_CONTRACT OFF\n",
                                    text_of_constants,
                                    text_of_press,
                                    text_of_integrate,
                                    text_of_bounce,
                                    text_of_collide,
                                    text_of_touch};
static const char *const names[KERNELS] = {"press", "integrate", "bounce", "collide", "touch"};

static struct {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel[KERNELS];
    cl_mem memory[ARRAYS];
    carom_buffer *buffer[ARRAYS];
} cl;

/* ---- the program's OpenCL ---------------------------------------------------------------------------------------- */

static int is_ok(cl_int code, const char *what, carom_error *err)
{
    if (code != CL_SUCCESS)
        snprintf(err->message, sizeof err->message, "%s: OpenCL error %d", what, (int)code);
    return code == CL_SUCCESS;
}

/* The first GPU, or else the first device. */
static int find_device(void)
{
    cl_platform_id platforms[16];
    cl_uint count = 0;

    if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS)
        return 0;
    for (int any = 0; any < 2; any++)
        for (cl_uint i = 0; i < count && i < 16; i++)
            if (clGetDeviceIDs(platforms[i], any ? CL_DEVICE_TYPE_ALL : CL_DEVICE_TYPE_GPU, 1, &cl.device, NULL) ==
                CL_SUCCESS)
                return 1;
    return 0;
}

/* Quotients and roots are rounded correctly where the device can do that. */
static int build(carom_error *err)
{
    cl_device_fp_config config = 0;
    cl_int code;

    cl.program =
        clCreateProgramWithSource(cl.context, sizeof texts / sizeof texts[0], (const char **)texts, NULL, &code);
    if (!is_ok(code, "clCreateProgramWithSource", err) ||
        !is_ok(clGetDeviceInfo(cl.device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL), "clGetDeviceInfo",
               err))
        return 0;
    const char *const options = (config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0
                                    ? "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"
                                    : "-cl-std=CL1.2";
    if (!is_ok(clBuildProgram(cl.program, 1, &cl.device, options, NULL, NULL), "clBuildProgram", err))
        return 0;
    for (int i = 0; i < KERNELS; i++) {
        cl.kernel[i] = clCreateKernel(cl.program, names[i], &code);
        if (!is_ok(code, names[i], err))
            return 0;
    }
    return 1;
}

static int open_device(carom_error *err)
{
    cl_int code;

    cl.context = clCreateContext(NULL, 1, &cl.device, NULL, NULL, &code);
    if (!is_ok(code, "clCreateContext", err))
        return 0;
    cl.queue = clCreateCommandQueue(cl.context, cl.device, 0, &code);
    return is_ok(code, "clCreateCommandQueue", err) && build(err);
}

static void close_device(void)
{
    for (int i = 0; i < ARRAYS; i++)
        if (cl.memory[i] != NULL)
            clReleaseMemObject(cl.memory[i]);
    for (int i = 0; i < KERNELS; i++)
        if (cl.kernel[i] != NULL)
            clReleaseKernel(cl.kernel[i]);
    if (cl.program != NULL)
        clReleaseProgram(cl.program);
    if (cl.queue != NULL)
        clReleaseCommandQueue(cl.queue);
    if (cl.context != NULL)
        clReleaseContext(cl.context);
}

static int launch(simulation *s, enum kernel kernel, uint64_t items, const enum array *arrays, int array_count,
                  carom_error *err)
{
    const size_t size = items;

    for (int i = 0; i < array_count; i++) {
        const cl_mem memory = s->handle[arrays[i]];
        if (!is_ok(clSetKernelArg(cl.kernel[kernel], (cl_uint)i, sizeof memory, &memory), names[kernel], err))
            return 0;
    }
    return is_ok(clEnqueueNDRangeKernel(cl.queue, cl.kernel[kernel], 1, NULL, &size, NULL, 0, NULL, NULL),
                 names[kernel], err);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* Memory of the program for each array, and an address of it for carom. */
static int make_arrays(simulation *s, carom_error *err)
{
    for (int i = 0; i < ARRAYS; i++) {
        const uint64_t bytes = step_bytes(i, s->count);
        cl_int code;
        cl.memory[i] = clCreateBuffer(cl.context, CL_MEM_READ_WRITE, bytes, NULL, &code);
        if (!is_ok(code, "clCreateBuffer", err) ||
            carom_buffer_wrap_opencl(s->context, cl.memory[i], 0, bytes, &cl.buffer[i], err) != CAROM_OK)
            return 0;
        s->handle[i] = cl.memory[i];
        s->at[i] = carom_buffer_address(cl.buffer[i]);
    }
    return 1;
}

/* The first arrays to the device, or back. */
static int copy_arrays(const simulation *s, int is_write, float *const host[HOST_ARRAYS], carom_error *err)
{
    for (int i = 0; i < HOST_ARRAYS; i++) {
        const size_t bytes = step_bytes(i, s->count);
        const cl_int code =
            is_write ? clEnqueueWriteBuffer(cl.queue, cl.memory[i], CL_TRUE, 0, bytes, host[i], 0, NULL, NULL)
                     : clEnqueueReadBuffer(cl.queue, cl.memory[i], CL_TRUE, 0, bytes, host[i], 0, NULL, NULL);
        if (!is_ok(code, is_write ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer", err))
            return 0;
    }
    return 1;
}

/* ---- the simulation ---------------------------------------------------------------------------------------------- */

static int simulate(simulation *s, int steps, float *const host[HOST_ARRAYS], carom_error *err)
{
    const carom_opencl_desc mine = {.size = sizeof mine, .context = cl.context, .device = cl.device, .queue = cl.queue};

    step_begin(s->count, host);
    int ok = carom_context_create_opencl(NULL, &mine, &s->context, err) == CAROM_OK && make_arrays(s, err) &&
             copy_arrays(s, 1, host, err) && step_make_wall(s, err);
    for (int i = 0; ok && i < steps; i++)
        ok = step_run(s, err);
    ok = ok && copy_arrays(s, 0, host, err);
    carom_mesh_destroy(s->wall);
    for (int i = 0; i < ARRAYS; i++)
        carom_buffer_destroy(cl.buffer[i]);
    carom_context_destroy(s->context);
    return ok;
}

int main(int argc, char **argv)
{
    simulation s = {.count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000, .launch = launch};
    const int steps = argc > 2 ? atoi(argv[2]) : 100;
    float *host[HOST_ARRAYS] = {NULL};
    carom_error err = {CAROM_OK, 0, ""};

    if (s.count == 0 || steps < 1 || !find_device()) {
        fprintf(stderr, "no OpenCL device for %d steps of %llu particles\n", steps, (unsigned long long)s.count);
        return 1;
    }
    int ok = open_device(&err);
    for (int i = 0; ok && i < HOST_ARRAYS; i++) {
        host[i] = calloc(1, step_bytes(i, s.count));
        if (host[i] == NULL)
            ok = is_ok(CL_OUT_OF_HOST_MEMORY, "calloc", &err);
    }
    ok = ok && simulate(&s, steps, host, &err);
    if (!ok)
        fprintf(stderr, "%s\n", err.message);
    ok = ok && step_report(&s, steps, host) == 0;
    close_device();
    for (int i = 0; i < HOST_ARRAYS; i++)
        free(host[i]);
    return ok ? 0 : 1;
}
