/* SPDX-License-Identifier: MIT */
/* The verbs of kernels/lang.h as OpenCL C, on the device of this run. The text is read from the source tree and its
 * includes are put in place, as the build does for the library's own programs. */
#include "tests/support/support.h"

#include <CL/cl.h>

#include "lang_test.h"

enum { TEXT_MAX = 1 << 17 };

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void read_text(char *text, const char *folder, const char *file)
{
    char path[1024], line[512], name[128];
    const char *tests = getenv("CAROM_TEST_DATA");
    snprintf(path, sizeof path, "%s/%s/%s", tests && tests[0] ? tests : "tests", folder, file);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        fail_msg("%s cannot be read; CAROM_TEST_DATA names the folder of the tests", path);
    while (fgets(line, sizeof line, f) != NULL) {
        const size_t length = strlen(text);
        if (sscanf(line, "#include \"%127[^\"]\"", name) == 1) {
            if (strcmp(name, "lang_c.h") != 0)
                read_text(text, folder, name);
        } else if (length + strlen(line) < TEXT_MAX) {
            memcpy(text + length, line, strlen(line) + 1);
        } else {
            fail_msg("%s does not fit", path);
        }
    }
    fclose(f);
}

static const char kernel_text[] =
    "__kernel void lang(__global const float *x, __global const int *n, __global const float *table,\n"
    "                   __global const uchar *places, __global uchar *bytes, __global int *out, int rows)\n"
    "{\n"
    "    lang_verbs(x, n, table, places, bytes, out, rows, (int)get_global_id(0) * LANES);\n"
    "#ifdef LANG_HAS_COMPRESS\n"
    "    out[VERBS * rows] = 1;\n"
    "#endif\n"
    "}\n";

/* ---- device ------------------------------------------------------------------------------------------------------ */

static void need(const char *call, cl_int code)
{
    if (code != CL_SUCCESS)
        fail_msg("%s: %d", call, code);
}

/* The loader's device with the platform and name that the library lists. */
static cl_device_id find_device(const carom_device_info *info)
{
    cl_platform_id platforms[16];
    cl_uint platform_count = 0;
    need("clGetPlatformIDs", clGetPlatformIDs(16, platforms, &platform_count));
    for (cl_uint p = 0; p < platform_count && p < 16; p++) {
        cl_device_id devices[64];
        cl_uint count = 0;
        char platform[256] = "";
        (void)clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof platform, platform, NULL);
        if (strncmp(platform, info->platform, sizeof info->platform - 1) != 0 ||
            clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 64, devices, &count) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < count && d < 64; d++) {
            char name[256] = "";
            (void)clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, NULL);
            if (strncmp(name, info->name, sizeof info->name - 1) == 0)
                return devices[d];
        }
    }
    fail_msg("no OpenCL device is called %s", info->name);
    return NULL;
}

static cl_program build(cl_context context, cl_device_id device, int lanes, int portable, int correctly_rounded)
{
    char *text = calloc(TEXT_MAX, 1), options[128], log[4096] = "";
    assert_non_null(text);
    read_text(text, "../kernels", "lang.h");
    read_text(text, "bits", "lang_verbs.h");
    const char *texts[] = {portable ? "#undef __x86_64__\n#undef __aarch64__\n" : "", text, kernel_text};
    cl_int code;
    cl_program program = clCreateProgramWithSource(context, 3, texts, NULL, &code);
    need("clCreateProgramWithSource", code);
    snprintf(options, sizeof options, "-cl-std=CL1.2 -DLANES=%d%s", lanes,
             correctly_rounded ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
    code = clBuildProgram(program, 1, &device, options, NULL, NULL);
    free(text);
    if (code != CL_SUCCESS) {
        (void)clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fail_msg("clBuildProgram: %d: %s", code, log);
    }
    return program;
}

void lang_run_device(int lanes, int portable, int verbs, const lang_columns *in, int32_t *out, int *compresses)
{
    const carom_device_info info = test_need_device();
    cl_device_id device = find_device(&info);
    cl_int code;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    need("clCreateContext", code);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
    need("clCreateCommandQueue", code);
    cl_program program = build(context, device, lanes, portable, info.correctly_rounded);
    cl_kernel kernel = clCreateKernel(program, "lang", &code);
    need("clCreateKernel", code);

    const size_t out_size = ((size_t)verbs * LANG_ROWS + 1) * sizeof *out;
    const struct {
        void *host;
        size_t size;
    } columns[] = {{in->x, 3 * LANG_ROWS * sizeof *in->x},
                   {in->n, 3 * LANG_ROWS * sizeof *in->n},
                   {(void *)(uintptr_t)in->table, LANG_TABLE * sizeof *in->table},
                   {in->places, LANG_ROWS},
                   {in->bytes, LANG_ROWS},
                   {out, out_size}};
    cl_mem memory[COUNT_OF(columns)];
    for (cl_uint i = 0; i < COUNT_OF(columns); i++) {
        memory[i] =
            clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, columns[i].size, columns[i].host, &code);
        need("clCreateBuffer", code);
        need("clSetKernelArg", clSetKernelArg(kernel, i, sizeof memory[i], &memory[i]));
    }
    const cl_int rows = LANG_ROWS;
    const size_t items = LANG_ROWS / (size_t)lanes;
    need("clSetKernelArg", clSetKernelArg(kernel, COUNT_OF(columns), sizeof rows, &rows));
    need("clEnqueueNDRangeKernel", clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
    need("clEnqueueReadBuffer",
         clEnqueueReadBuffer(queue, memory[COUNT_OF(columns) - 1], CL_TRUE, 0, out_size, out, 0, NULL, NULL));
    *compresses = out[(size_t)verbs * LANG_ROWS] == 1;

    for (size_t i = 0; i < COUNT_OF(columns); i++)
        (void)clReleaseMemObject(memory[i]);
    (void)clReleaseKernel(kernel);
    (void)clReleaseProgram(program);
    (void)clReleaseCommandQueue(queue);
    (void)clReleaseContext(context);
}
