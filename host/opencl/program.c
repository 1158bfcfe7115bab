/* SPDX-License-Identifier: MIT */
/* Programs are built when first needed, so a batch waits for its own only; and their launches. */
#include <stdio.h>
#include <string.h>

#include "device.h"

/* A program's text in pieces, in their order. */
typedef struct kernel_text {
    const char *const *pieces;
    cl_uint count;
    int binary64; /* wide.h is among them */
} kernel_text;
/* text_ROOT for each root. */
#include "carom_kernels.h"

typedef struct program_row {
    const char *kernel;
    const kernel_text *text;
    int has_stack;
    const char *options;
} program_row;

/* Pair programs: a row for each row of PAIR_KERNELS. Exact overlap is proved in binary32, its root has no binary64. */
#define EXACT_TEXT(name) CAROMI_PAIR_##name == CAROMI_PAIR_overlap_exact ? &text_overlap_exact : &text_pairs_exact
#define PAIR(name, in, radii, out, bytes) [CAROMI_PAIR_##name] = {#name, &text_pairs, 0, ""},
#define PAIR_EXACT(name, in, radii, out, bytes) [CAROMI_PAIR_##name] = {#name, EXACT_TEXT(name), 0, ""},
/* Exact times may fuse multiplications and additions: cpu/isa_fma_template.h. */
#define PAIR_FMA(name, in, radii, out, bytes) [CAROMI_PAIR_##name] = {#name, EXACT_TEXT(name), 0, " -DLANG_ALLOW_FMA"},
#define ROW(program, kernel, root, has_stack, options) \
    [CAROMI_PROGRAM_##program] = {#kernel, &text_##root, has_stack, options},
/* clang-format off */
static const program_row rows[CAROMI_PROGRAM_COUNT] = {
    PAIR_KERNELS_OF(PAIR, )
    TIME_KERNELS(PAIR_FMA, _exact)
    PLACE_KERNELS(PAIR_EXACT, _exact)
    CAROMI_PROGRAMS(ROW)
};
/* clang-format on */

const char *caromi_program_name(uint32_t program)
{
    return rows[program].kernel;
}

int caromi_program_needs_fp64(uint32_t program)
{
    return rows[program].text->binary64;
}

static cl_program create_program(caromi_device *d, uint32_t program, cl_int *code)
{
    const kernel_text *text = rows[program].text;
    const char *pieces[PIECES_MAX]; /* the call takes pointers that it might write through */
    memcpy(pieces, text->pieces, text->count * sizeof *pieces);
    return clCreateProgramWithSource(d->cl, text->count, pieces, NULL, code);
}

static void make_options(const caromi_device *d, uint32_t program, char *out, size_t size)
{
    const program_row *row = &rows[program];
    char sizes[64] = "";
    if (row->has_stack)
        (void)snprintf(sizes, sizeof sizes, " -DMESH_STACK=%d", d->stack);
    if (program < CAROMI_PAIR_KERNEL_COUNT) {
        const caromi_pair_shape *shape = &caromi_pair_shapes[program];
        (void)snprintf(sizes, sizeof sizes, " -DIN_COUNT=%u -DOUT_COUNT=%u -DOUT_BYTES=%u", shape->in_count,
                       shape->out_count, shape->out_bytes);
    }
    (void)snprintf(out, size, "-cl-std=CL1.2 -DLANES=%u -DKERNEL=%s -DKERNEL_%s%s%s%s", d->lanes, row->kernel,
                   row->kernel, sizes, row->options,
                   d->info.correctly_rounded ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
}

/* The compiler's output: all of it goes to the log, its beginning into the error message. */
static carom_status report_build(caromi_device *d, uint32_t program, cl_int code, carom_error *err)
{
    size_t size = 0;
    char *text = NULL;
    if (clGetProgramBuildInfo(d->programs[program].program, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) == CL_SUCCESS)
        text = caromi_alloc(d->context, size + 1, 1);
    if (text != NULL) {
        text[size] = '\0';
        if (clGetProgramBuildInfo(d->programs[program].program, d->id, CL_PROGRAM_BUILD_LOG, size, text, NULL) !=
            CL_SUCCESS)
            text[0] = '\0';
        for (const char *line = text; *line;) {
            const size_t length = strcspn(line, "\n");
            if (length > 0)
                caromi_log(d->context, CAROM_LOG_ERROR, "%s: %.*s", caromi_program_name(program), (int)length, line);
            line += length + (line[length] == '\n');
        }
        for (char *c = text; *c; c++)
            *c = *c == '\n' || *c == '\t' ? ' ' : *c;
    }
    const carom_status status =
        caromi_fail(err, CAROM_ERROR_KERNEL_BUILD, code, "%.60s cannot build kernel %s (%d): %.140s", d->info.name,
                    caromi_program_name(program), code, text ? text : "");
    caromi_free(d->context, text);
    return status;
}

carom_status caromi_program_build(caromi_device *d, uint32_t program, carom_error *err)
{
    caromi_program *p = &d->programs[program];
    if (p->kernel != NULL)
        return CAROM_OK;
    cl_int code;
    char options[256], name[64];
    const double start = caromi_now();
    p->program = create_program(d, program, &code);
    if (p->program == NULL || code != CL_SUCCESS)
        return caromi_cl_fail(d, code, "clCreateProgramWithSource", err);
    make_options(d, program, options, sizeof options);
    code = clBuildProgram(p->program, 1, &d->id, options, NULL, NULL);
    if (code != CL_SUCCESS)
        return report_build(d, program, code, err);
    (void)snprintf(name, sizeof name, "carom_%s", caromi_program_name(program));
    p->kernel = clCreateKernel(p->program, name, &code);
    if (p->kernel == NULL || code != CL_SUCCESS) {
        p->kernel = NULL;
        return report_build(d, program, code, err);
    }
    caromi_log(d->context, CAROM_LOG_INFO, "built %s in %.3f s: %s", name, caromi_now() - start, options);
    return CAROM_OK;
}

static void release_program(caromi_program *p)
{
    if (p->kernel != NULL)
        (void)clReleaseKernel(p->kernel);
    if (p->program != NULL)
        (void)clReleaseProgram(p->program);
    memset(p, 0, sizeof *p);
}

void caromi_programs_release(caromi_device *d)
{
    for (uint32_t i = 0; i < CAROMI_PROGRAM_COUNT; i++)
        release_program(&d->programs[i]);
}

void caromi_fit_stack(caromi_device *d, const carom_mesh *mesh)
{
    if (mesh->stack <= d->stack)
        return;
    caromi_log(d->context, CAROM_LOG_INFO,
               "%s: a mesh needs a stack of %d entries; kernels are built with %d from now on", d->info.name,
               mesh->stack, MESH_STACK);
    d->stack = MESH_STACK;
    for (uint32_t i = 0; i < CAROMI_PROGRAM_COUNT; i++)
        if (rows[i].has_stack)
            release_program(&d->programs[i]);
}

/* ---------------------------------------------------------------- launches */

void caromi_set_columns(caromi_arguments *a, const caromi_cl_column *columns, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const cl_mem memory = caromi_column_memory(&columns[i]);
        caromi_set_argument(a, &memory, sizeof memory);
    }
}

static carom_status launch(caromi_device *d, caromi_cl_slot *slot, caromi_arguments *a, uint64_t items, size_t local,
                           carom_error *err)
{
    cl_event event = NULL;
    CHECK(caromi_launch(d, slot->queue, a, items, local, &event, err));
    caromi_add_event(&slot->compute, event);
    return CAROM_OK;
}

carom_status caromi_launch_chunk(caromi_device *d, caromi_cl_slot *slot, caromi_arguments *a, uint64_t items,
                                 carom_error *err)
{
    return launch(d, slot, a, items, CAROMI_GROUP, err);
}

carom_status caromi_launch_search(caromi_device *d, caromi_cl_slot *slot, caromi_arguments *a, uint64_t items,
                                  carom_error *err)
{
    return launch(d, slot, a, items, d->lanes > 1 ? 1 : CAROMI_GROUP, err);
}
