/* SPDX-License-Identifier: MIT */
/* Kernel text into programs, one per kernel, built when first needed, so that nobody waits for one that is not used; and
 * their launches. */
#include <stdio.h>
#include <string.h>

#include "device.h"

/* Texts in the order that their includes ask for. */
#define FAST_TEXTS                                                                              \
    caromi_kernel_lang_h, caromi_kernel_layout_h, caromi_kernel_vec_h, caromi_kernel_nearest_h, \
        caromi_kernel_sweep_view_h, caromi_kernel_twofloat_h, caromi_kernel_sweep_line_h,       \
        caromi_kernel_sweep_pieces_h, caromi_kernel_sweep_h, caromi_kernel_contact_h, caromi_kernel_closest_h
#define PAIR_TEXTS \
    FAST_TEXTS, caromi_kernel_overlap_h, caromi_kernel_spheres_h, caromi_kernel_columns_h, caromi_kernel_pairs_h
#define PROOF_TEXTS                                                                                     \
    caromi_kernel_wide_h, caromi_kernel_residual_h, caromi_kernel_proof_h, caromi_kernel_sweep_exact_h, \
        caromi_kernel_contact_exact_h, caromi_kernel_closest_exact_h
#define WALK_TEXTS                                                                                                 \
    caromi_kernel_mesh_course_h, caromi_kernel_mesh_walk_h, caromi_kernel_clearance_h, caromi_kernel_mesh_pairs_h, \
        caromi_kernel_mesh_run_h
static const char *const pair_texts[] = {PAIR_TEXTS, caromi_kernel_pairs_cl, NULL};
static const char *const overlap_texts[] = {PAIR_TEXTS, caromi_kernel_overlap_exact_h, caromi_kernel_pairs_cl, NULL};
static const char *const exact_texts[] = {
    PAIR_TEXTS, PROOF_TEXTS, caromi_kernel_spheres_exact_h, caromi_kernel_pairs_exact_h, caromi_kernel_pairs_cl, NULL};
static const char *const mesh_texts[] = {
    FAST_TEXTS, WALK_TEXTS, caromi_kernel_mesh_options_h, caromi_kernel_mesh_h, caromi_kernel_mesh_cl, NULL};
static const char *const mesh_overlap_texts[] = {
    PAIR_TEXTS, caromi_kernel_overlap_exact_h, WALK_TEXTS, caromi_kernel_mesh_overlap_h, caromi_kernel_mesh_cl, NULL};
static const char *const mesh_exact_texts[] = {FAST_TEXTS,
                                               PROOF_TEXTS,
                                               WALK_TEXTS,
                                               caromi_kernel_mesh_options_h,
                                               caromi_kernel_mesh_h,
                                               caromi_kernel_mesh_options_exact_h,
                                               caromi_kernel_mesh_exact_h,
                                               caromi_kernel_mesh_cl,
                                               NULL};
static const char *const closest_texts[] = {FAST_TEXTS, WALK_TEXTS, caromi_kernel_mesh_closest_h,
                                            caromi_kernel_mesh_closest_cl, NULL};
static const char *const closest_exact_texts[] = {FAST_TEXTS,
                                                  caromi_kernel_wide_h,
                                                  caromi_kernel_closest_exact_h,
                                                  WALK_TEXTS,
                                                  caromi_kernel_mesh_closest_h,
                                                  caromi_kernel_mesh_closest_exact_h,
                                                  caromi_kernel_mesh_closest_cl,
                                                  NULL};
static const char *const order_texts[] = {caromi_kernel_lang_h,  caromi_kernel_vec_h,    caromi_kernel_clearance_h,
                                          caromi_kernel_cells_h, caromi_kernel_order_cl, NULL};
static const char *const compact_texts[] = {caromi_kernel_lang_h, caromi_kernel_layout_h, caromi_kernel_compact_cl,
                                            NULL};
static const char *const rounding_texts[] = {caromi_kernel_lang_h, caromi_kernel_rounding_cl, NULL};

enum { TEXTS_MAX = 30 };
_Static_assert(sizeof exact_texts / sizeof exact_texts[0] <= TEXTS_MAX, "room for the longest");
_Static_assert(sizeof mesh_exact_texts / sizeof mesh_exact_texts[0] <= TEXTS_MAX, "room for the longest");

const char *caromi_program_name(uint32_t program)
{
    switch (caromi_program_base(program)) {
    case CAROMI_PROGRAM_MESH_FIRST: return "mesh_first";
    case CAROMI_PROGRAM_MESH_CONTACT: return "mesh_contact";
    case CAROMI_PROGRAM_MESH_FIRST_EXACT: return "mesh_first_exact";
    case CAROMI_PROGRAM_MESH_CONTACT_EXACT: return "mesh_contact_exact";
    case CAROMI_PROGRAM_MESH_LIST: return "mesh_list";
    case CAROMI_PROGRAM_MESH_LIST_EXACT: return "mesh_list_exact";
    case CAROMI_PROGRAM_MESH_OVERLAPS: return "mesh_overlaps";
    case CAROMI_PROGRAM_MESH_OVERLAPS_EXACT: return "mesh_overlaps_exact";
    case CAROMI_PROGRAM_MESH_CLOSEST: return "mesh_closest";
    case CAROMI_PROGRAM_MESH_CLOSEST_POINT: return "mesh_closest_point";
    case CAROMI_PROGRAM_MESH_CLOSEST_EXACT: return "mesh_closest_exact";
    case CAROMI_PROGRAM_MESH_CLOSEST_POINT_EXACT: return "mesh_closest_point_exact";
    case CAROMI_PROGRAM_ROUNDING: return "rounding";
    case CAROMI_PROGRAM_ORDER_COUNT: return "order_count";
    case CAROMI_PROGRAM_ORDER_STARTS: return "order_starts";
    case CAROMI_PROGRAM_ORDER_ROWS: return "order_rows";
    case CAROMI_PROGRAM_COMPACT_COUNT: return "compact_count";
    case CAROMI_PROGRAM_COMPACT_FILL: return "compact_fill";
    default: return caromi_pair_shapes[program].name;
    }
}

int caromi_program_needs_fp64(uint32_t program)
{
    program = caromi_program_base(program);
    if (program == CAROMI_PAIR_overlap_exact || program == CAROMI_PROGRAM_MESH_OVERLAPS_EXACT)
        return 0; /* its proof is in binary32 */
    return program == CAROMI_PROGRAM_MESH_FIRST_EXACT || program == CAROMI_PROGRAM_MESH_CONTACT_EXACT ||
           program == CAROMI_PROGRAM_MESH_LIST_EXACT || program == CAROMI_PROGRAM_MESH_CLOSEST_EXACT ||
           program == CAROMI_PROGRAM_MESH_CLOSEST_POINT_EXACT ||
           (program < CAROMI_PAIR_KERNEL_COUNT && caromi_is_exact((enum caromi_pair_kernel)program));
}

static int has_stack(uint32_t program)
{
    switch (caromi_program_base(program)) {
    case CAROMI_PROGRAM_MESH_FIRST:
    case CAROMI_PROGRAM_MESH_FIRST_EXACT:
    case CAROMI_PROGRAM_MESH_LIST:
    case CAROMI_PROGRAM_MESH_LIST_EXACT:
    case CAROMI_PROGRAM_MESH_OVERLAPS:
    case CAROMI_PROGRAM_MESH_OVERLAPS_EXACT:
    case CAROMI_PROGRAM_MESH_CLOSEST:
    case CAROMI_PROGRAM_MESH_CLOSEST_EXACT: return 1;
    default: return 0;
    }
}

/* Exact times: as cpu/isa_free_template.h. */
static int is_free(uint32_t program)
{
#define IS_FREE(name, in, radii, out, bytes) || program == CAROMI_PAIR_##name
    return 0 TIME_KERNELS(IS_FREE, _exact);
}

static const char *const *program_texts(uint32_t program)
{
    switch (caromi_program_base(program)) {
    case CAROMI_PROGRAM_MESH_FIRST:
    case CAROMI_PROGRAM_MESH_LIST:
    case CAROMI_PROGRAM_MESH_CONTACT: return mesh_texts;
    case CAROMI_PROGRAM_MESH_OVERLAPS:
    case CAROMI_PROGRAM_MESH_OVERLAPS_EXACT: return mesh_overlap_texts;
    case CAROMI_PROGRAM_MESH_FIRST_EXACT:
    case CAROMI_PROGRAM_MESH_LIST_EXACT:
    case CAROMI_PROGRAM_MESH_CONTACT_EXACT: return mesh_exact_texts;
    case CAROMI_PROGRAM_MESH_CLOSEST:
    case CAROMI_PROGRAM_MESH_CLOSEST_POINT: return closest_texts;
    case CAROMI_PROGRAM_MESH_CLOSEST_EXACT:
    case CAROMI_PROGRAM_MESH_CLOSEST_POINT_EXACT: return closest_exact_texts;
    case CAROMI_PROGRAM_ROUNDING: return rounding_texts;
    case CAROMI_PROGRAM_ORDER_COUNT:
    case CAROMI_PROGRAM_ORDER_STARTS:
    case CAROMI_PROGRAM_ORDER_ROWS: return order_texts;
    case CAROMI_PROGRAM_COMPACT_COUNT:
    case CAROMI_PROGRAM_COMPACT_FILL: return compact_texts;
    case CAROMI_PAIR_overlap_exact: return overlap_texts;
    default: return caromi_program_needs_fp64(program) ? exact_texts : pair_texts;
    }
}

static cl_program create_program(caromi_device *d, uint32_t program, cl_int *code)
{
    const char *const *texts = program_texts(program);
    const char *copy[TEXTS_MAX]; /* the call takes pointers that it might write through */
    cl_uint count = 0;
    for (; texts[count] != NULL; count++)
        copy[count] = texts[count];
    return clCreateProgramWithSource(d->cl, count, copy, NULL, code);
}

static void make_options(const caromi_device *d, uint32_t program, char *out, size_t size)
{
    const char *name = caromi_program_name(program);
    char sizes[64] = "";
    if (has_stack(program))
        (void)snprintf(sizes, sizeof sizes, " -DMESH_STACK=%d", d->stack);
    if (program < CAROMI_PAIR_KERNEL_COUNT) {
        const caromi_pair_shape *shape = &caromi_pair_shapes[program];
        (void)snprintf(sizes, sizeof sizes, " -DIN_COUNT=%u -DOUT_COUNT=%u -DOUT_BYTES=%u", shape->in_count,
                       shape->out_count, shape->out_bytes);
    }
    (void)snprintf(out, size, "-cl-std=CL1.2 -DLANES=%u -DKERNEL=%s -DKERNEL_%s%s%s%s%s", d->lanes, name, name, sizes,
                   program >= CAROMI_PROGRAM_MESH_FIRST && program < CAROMI_PROGRAM_ROUNDING ? " -DMESH_PLAIN" : "",
                   is_free(program) ? " -DLANG_FREE" : "",
                   d->info.correctly_rounded ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
}

/* The compiler's words: all to the log, the first of them into the sentence. */
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
        if (has_stack(i))
            release_program(&d->programs[i]);
}

/* ---------------------------------------------------------------- launches */

cl_int caromi_set_columns(cl_kernel kernel, cl_uint *next, const caromi_cl_column *columns, uint32_t count)
{
    cl_int code = CL_SUCCESS;
    for (uint32_t i = 0; i < count && code == CL_SUCCESS; i++) {
        const cl_mem memory = caromi_column_memory(&columns[i]);
        code = clSetKernelArg(kernel, (*next)++, sizeof memory, &memory);
    }
    return code;
}

/* In groups of `local` or less; always the same for a kernel, which some compilers build anew for each. */
static carom_status enqueue(caromi_device *d, caromi_cl_slot *slot, cl_kernel kernel, cl_uint argument, uint64_t items,
                            size_t local, carom_error *err)
{
    size_t most = 0;
    const cl_uint live = (cl_uint)items;
    cl_event event = NULL;
    cl_int code = clSetKernelArg(kernel, argument, sizeof live, &live);
    if (code != CL_SUCCESS)
        return caromi_cl_fail(d, code, "clSetKernelArg", err);
    if (clGetKernelWorkGroupInfo(kernel, d->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL) == CL_SUCCESS &&
        most > 0)
        while (local > most)
            local /= 2;
    const size_t global = ((size_t)items + local - 1) / local * local;
    code = clEnqueueNDRangeKernel(slot->queue, kernel, 1, NULL, &global, &local, 0, NULL, &event);
    if (code != CL_SUCCESS)
        return caromi_cl_fail(d, code, "clEnqueueNDRangeKernel", err);
    caromi_add_event(&slot->compute, event);
    return CAROM_OK;
}

carom_status caromi_enqueue(caromi_device *d, caromi_cl_slot *slot, cl_kernel kernel, cl_uint argument, uint64_t items,
                            carom_error *err)
{
    return enqueue(d, slot, kernel, argument, items, CAROMI_GROUP, err);
}

carom_status caromi_enqueue_search(caromi_device *d, caromi_cl_slot *slot, cl_kernel kernel, cl_uint argument,
                                   uint64_t items, carom_error *err)
{
    return enqueue(d, slot, kernel, argument, items, d->lanes > 1 ? 1 : CAROMI_GROUP, err);
}
