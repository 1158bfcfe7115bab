/* SPDX-License-Identifier: MIT */
/* Builds and launches programs. A program is built at its first use, so a batch waits only for its own programs. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "device.h"
#include "enqueue.h"

static cl_program create_program(caromi_device *device, uint32_t program, cl_int *code)
{
    const char *pieces[CAROMI_PIECES_MAX];
    const cl_uint count = caromi_program_text(program, pieces);
    return clCreateProgramWithSource(device->cl, count, pieces, NULL, code);
}

/* Reports a failed build: the compiler's whole output goes to the log, its beginning into the error message. */
static carom_status report_build(caromi_device *device, uint32_t program, cl_int code, carom_error *err)
{
    size_t size = 0;
    char *text = NULL;
    if (clGetProgramBuildInfo(device->programs[program].program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) ==
        CL_SUCCESS)
        text = caromi_alloc(device->context, size + 1, 1);
    if (text != NULL) {
        text[size] = '\0';
        if (clGetProgramBuildInfo(device->programs[program].program, device->id, CL_PROGRAM_BUILD_LOG, size, text,
                                  NULL) != CL_SUCCESS)
            text[0] = '\0';
        for (const char *line = text; *line;) {
            const size_t length = strcspn(line, "\n");
            if (length > 0)
                caromi_log(device->context, CAROM_LOG_ERROR, "%s: %.*s", caromi_program_name(program), (int)length,
                           line);
            line += length + (line[length] == '\n');
        }
        for (char *c = text; *c; c++)
            *c = *c == '\n' || *c == '\t' ? ' ' : *c;
    }
    const carom_status status =
        caromi_fail(err, CAROM_ERROR_KERNEL_BUILD, code, "%.60s cannot build kernel %s (%d): %.140s", device->info.name,
                    caromi_program_name(program), code, text ? text : "");
    caromi_free(device->context, text);
    return status;
}

/* Builds a program. Vendor options only change its speed: if the driver refuses them, all programs are built without
 * them from then on. */
static cl_int build(caromi_device *device, uint32_t program, char *options, size_t size)
{
    const cl_program made = device->programs[program].program;
    const char *vendor = device->gpu && !device->vendor_options_refused
                             ? caromi_program_vendor_options(program, device->info.platform)
                             : "";
    const caromi_program_shape shape = {device->lanes, device->programs[program].items, device->stack,
                                        device->info.correctly_rounded};
    caromi_program_options(program, &shape, options, size);
    const size_t used = strlen(options);
    (void)snprintf(options + used, size - used, "%s", vendor);
    const cl_int code = clBuildProgram(made, 1, &device->id, options, NULL, NULL);
    if (code == CL_SUCCESS || vendor[0] == '\0')
        return code;
    options[used] = '\0';
    const cl_int without = clBuildProgram(made, 1, &device->id, options, NULL, NULL);
    if (without == CL_SUCCESS) {
        device->vendor_options_refused = 1;
        caromi_log(device->context, CAROM_LOG_WARNING, "%s does not take build option%s (%d); kernels may be slower",
                   device->info.name, vendor, code);
    }
    return without;
}

/* Fails if the device cannot run a built program in whole groups: those whose work-items share queries, or those that
 * the kernel requires. Some drivers say so only when it is launched, and some crash. */
static carom_status check_group(caromi_device *device, uint32_t program, carom_error *err)
{
    const caromi_program *p = &device->programs[program];
    size_t most = SIZE_MAX, required[3] = {0};
    cl_ulong needed = 0, local = 0;
    (void)clGetKernelWorkGroupInfo(p->kernel, device->id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required, required,
                                   NULL);
    const size_t group = p->items > 0 ? p->items : required[0];
    if (group == 0)
        return CAROM_OK;
    (void)clGetKernelWorkGroupInfo(p->kernel, device->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    if (most < group)
        return caromi_fail(err, CAROM_ERROR_KERNEL_BUILD, CAROMI_NO_NATIVE_CODE,
                           "%.80s runs kernel %s in groups of at most %zu work-items, not %zu", device->info.name,
                           caromi_program_name(program), most, group);
    if (clGetKernelWorkGroupInfo(p->kernel, device->id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof needed, &needed, NULL) ==
            CL_SUCCESS &&
        clGetDeviceInfo(device->id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL) == CL_SUCCESS &&
        needed > local)
        return caromi_fail(err, CAROM_ERROR_KERNEL_BUILD, CAROMI_NO_NATIVE_CODE,
                           "%.80s has %llu bytes of local memory; kernel %s needs %llu", device->info.name,
                           (unsigned long long)local, caromi_program_name(program), (unsigned long long)needed);
    return CAROM_OK;
}

carom_status caromi_program_build(caromi_device *device, uint32_t program, carom_error *err)
{
    caromi_program *p = &device->programs[program];
    if (p->kernel != NULL)
        return CAROM_OK;
    CHECK(caromi_enqueue_refuse(device->context, err));
    cl_int code;
    char options[256], name[64];
    const double start = caromi_now();
    p->items = !p->is_alone && caromi_program_has_teams(program) ? device->items : 0;
    p->program = create_program(device, program, &code);
    if (p->program == NULL || code != CL_SUCCESS)
        return caromi_cl_fail(device, code, "clCreateProgramWithSource", err);
    code = build(device, program, options, sizeof options);
    if (code != CL_SUCCESS)
        return report_build(device, program, code, err);
    (void)snprintf(name, sizeof name, "carom_%s", caromi_program_name(program));
    p->kernel = clCreateKernel(p->program, name, &code);
    if (p->kernel == NULL || code != CL_SUCCESS) {
        p->kernel = NULL;
        return report_build(device, program, code, err);
    }
    const carom_status status = check_group(device, program, err);
    if (status != CAROM_OK) { /* a later call builds it again, and finds the same */
        (void)clReleaseKernel(p->kernel);
        (void)clReleaseProgram(p->program);
        p->kernel = NULL;
        p->program = NULL;
        return status;
    }
    caromi_log(device->context, CAROM_LOG_INFO, "built %s in %.3f s: %s", name, caromi_now() - start, options);
    return CAROM_OK;
}

static void release_program(caromi_program *p)
{
    const int is_alone = p->is_alone;
    if (p->kernel != NULL)
        (void)clReleaseKernel(p->kernel);
    if (p->program != NULL)
        (void)clReleaseProgram(p->program);
    memset(p, 0, sizeof *p);
    p->is_alone = is_alone;
}

int caromi_program_goes_alone(caromi_device *device, uint32_t program, const carom_error *why)
{
    caromi_program *p = &device->programs[program];
    /* An impossible answer, or one that a truncated loop has marked, is no error of the driver: the device goes on. */
    const int is_found_wrong = why->status == CAROM_ERROR_NOT_BIT_EXACT ||
                               (why->status == CAROM_ERROR_DEVICE_LOST && why->native_code == CAROMI_NO_NATIVE_CODE);
    /* Codes of a launch for which the device has too few registers, too little local memory or too small groups. If the
     * device is lost, the probe of the other program finds it so. */
    const int is_refused = why->status == CAROM_ERROR_DEVICE_LOST &&
                           (why->native_code == CL_OUT_OF_RESOURCES || why->native_code == CL_INVALID_WORK_GROUP_SIZE ||
                            why->native_code == CL_INVALID_WORK_ITEM_SIZE);
    if (p->items == 0 || (why->status != CAROM_ERROR_KERNEL_BUILD && !is_found_wrong && !is_refused))
        return 0;
    p->is_alone = 1;
    release_program(p);
    return 1;
}

void caromi_programs_release(caromi_device *device)
{
    for (uint32_t i = 0; i < CAROMI_PROGRAM_COUNT; i++)
        release_program(&device->programs[i]);
}

/* Ensures that the programs' traversal stack fits the mesh. */
void caromi_fit_stack(caromi_device *device, const carom_mesh *mesh)
{
    if (mesh->stack <= device->stack)
        return;
    caromi_log(device->context, CAROM_LOG_INFO,
               "%s: a mesh needs a stack of %d entries; kernels are built with %d from now on", device->info.name,
               mesh->stack, MESH_STACK);
    device->stack = MESH_STACK;
    for (uint32_t i = 0; i < CAROMI_PROGRAM_COUNT; i++)
        if (caromi_program_has_stack(i) && device->programs[i].items == 0)
            release_program(&device->programs[i]);
}

/* ---------------------------------------------------------------- launches */

/* Sets columns as a kernel's next arguments. */
void caromi_set_columns(caromi_arguments *arguments, const caromi_cl_column *columns, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const cl_mem memory = caromi_column_memory(&columns[i]);
        caromi_set_argument(arguments, &memory, sizeof memory);
    }
}

static carom_status launch(caromi_device *device, caromi_cl_slot *slot, caromi_arguments *arguments, uint64_t items,
                           size_t local, carom_error *err)
{
    cl_event event = NULL;
    CHECK(caromi_launch(device, slot->queue, arguments, items, local, &event, err));
    caromi_add_event(&slot->compute, event);
    return CAROM_OK;
}

carom_status caromi_launch_chunk(caromi_device *device, caromi_cl_slot *slot, caromi_arguments *arguments,
                                 uint64_t items, carom_error *err)
{
    return launch(device, slot, arguments, items, CAROMI_GROUP, err);
}

carom_status caromi_launch_group(caromi_device *device, caromi_cl_slot *slot, caromi_arguments *arguments,
                                 uint64_t items, carom_error *err)
{
    return launch(device, slot, arguments, items, (size_t)items, err);
}

carom_status caromi_launch_groups(caromi_device *device, caromi_cl_slot *slot, caromi_arguments *arguments,
                                  uint64_t groups, size_t items, carom_error *err)
{
    return launch(device, slot, arguments, groups * items, items, err);
}

carom_status caromi_launch_search(caromi_device *device, caromi_cl_slot *slot, caromi_arguments *arguments,
                                  uint32_t program, uint64_t items, carom_error *err)
{
    const uint32_t shared = device->programs[program].items;
    if (shared > 0)
        return caromi_launch_groups(device, slot, arguments, items, shared, err);
    return launch(device, slot, arguments, items, device->lanes > 1 ? 1 : CAROMI_GROUP, err);
}
