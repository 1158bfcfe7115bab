/* SPDX-License-Identifier: MIT */
/* The text of each OpenCL program, and its build options. This file does not call OpenCL, so that tests can give the
 * same text to offline compilers for other GPUs (tests/device/program_files.c). */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "programs.h"

/* A program's text as a sequence of strings. */
typedef struct kernel_text {
    const char *const *pieces;
    uint32_t count;
    int binary64; /* wide.h is one of them */
} kernel_text;
/* Defines text_ROOT for each root. */
#include "carom_kernels.h"
static_assert((int)PIECES_MAX <= (int)CAROMI_PIECES_MAX, "a text has more pieces than its readers have room for");

/* The source and the build options of a program. */
typedef struct program_row {
    const char *kernel;
    const kernel_text *text;
    int stack; /* CAROMI_NO_STACK and so on */
    const char *options;
    uint32_t in_count, out_count, out_bytes; /* numbers of a pair program's columns; byte columns among the outputs */
} program_row;

/* Pair programs: one row for each row of PAIR_KERNELS. Exact overlap is proven in binary32, so its root has no
 * binary64. */
#define EXACT_TEXT(name) CAROMI_PAIR_##name == CAROMI_PAIR_overlap_exact ? &text_overlap_exact : &text_pairs_exact
#define PAIR(name, in, radii, out, bytes) [CAROMI_PAIR_##name] = {#name, &text_pairs, 0, "", in, out, bytes},
#define PAIR_EXACT(name, in, radii, out, bytes) [CAROMI_PAIR_##name] = {#name, EXACT_TEXT(name), 0, "", in, out, bytes},
/* Pair programs that may fuse multiplications and additions, as cpu/lanes/isa_fma_template.h does. */
#define PAIR_FMA(name, in, radii, out, bytes) \
    [CAROMI_PAIR_##name] = {#name, EXACT_TEXT(name), 0, " -DLANG_ALLOW_FMA", in, out, bytes},
#define ROW(program, kernel, root, stack, options) \
    [CAROMI_PROGRAM_##program] = {#kernel, &text_##root, stack, options, 0, 0, 0},
/* clang-format off */
static const program_row rows[CAROMI_PROGRAM_COUNT] = {
    PAIR_KERNELS_OF(PAIR, )
    TIME_KERNELS(PAIR_FMA, _exact)
    POINT_KERNELS(PAIR_EXACT, _exact)
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

int caromi_program_has_stack(uint32_t program)
{
    return rows[program].stack != CAROMI_NO_STACK;
}

int caromi_program_has_teams(uint32_t program)
{
    return rows[program].stack == CAROMI_BY_TEAMS;
}

uint32_t caromi_program_text(uint32_t program, const char *pieces[CAROMI_PIECES_MAX])
{
    const kernel_text *text = rows[program].text;
    memcpy(pieces, text->pieces, text->count * sizeof *pieces);
    return text->count;
}

void caromi_program_options(uint32_t program, const caromi_program_shape *shape, char *out, size_t size)
{
    const program_row *row = &rows[program];
    char sizes[64] = "";
    if (row->stack == CAROMI_BY_TEAMS && shape->items > 0)
        (void)snprintf(sizes, sizeof sizes, " -DMESH_ITEMS=%u", shape->items);
    else if (row->stack != CAROMI_NO_STACK)
        (void)snprintf(sizes, sizeof sizes, " -DMESH_STACK=%d", shape->stack);
    if (program < CAROMI_PAIR_KERNEL_COUNT)
        (void)snprintf(sizes, sizeof sizes, " -DIN_COUNT=%u -DOUT_COUNT=%u -DOUT_BYTES=%u", row->in_count,
                       row->out_count, row->out_bytes);
    (void)snprintf(out, size, "-cl-std=CL1.2 -DLANES=%u -DKERNEL=%s -DKERNEL_%s%s%s%s", shape->lanes, row->kernel,
                   row->kernel, sizes, row->options,
                   shape->correctly_rounded ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
}

/* NVIDIA's compiler gives a search 155 to 205 registers, so that a multiprocessor runs 8 to 12 of its 64 warps. Limited
 * to 128 it spills (76 bytes of mesh_first), but 16 warps hide more latency. AMD's compiler packs pairs of operations,
 * which costs some 90 registers; -Wf, passes an option through the driver to clang. docs/performance.md has the
 * measurements. */
const char *caromi_program_vendor_options(uint32_t program, const char *platform)
{
    if (strstr(platform, "NVIDIA") != NULL)
        return caromi_program_has_stack(program) ? " -cl-nv-maxrregcount=128" : "";
    return strstr(platform, CAROMI_AMD_PLATFORM) != NULL ? " -Wf,-fno-slp-vectorize" : "";
}
