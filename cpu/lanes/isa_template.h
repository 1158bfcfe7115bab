/* SPDX-License-Identifier: MIT */
/* Every kernel at one lane count; included once per instruction set with LANES, ISA_NAME and ISA_MESH_WIDTH defined.
 * Exact times come from a file of their own, isa_fma_template.h, the second filter from isa_second_template.h, and
 * searches of meshes from mesh_template.h. */
#define PAIR_SOLVERS
#include "kernels/wide.h" /* first: headers have exact bodies where it is */
#include "kernels/overlap_exact.h"
#include "kernels/pairs_exact.h"
#include "kernels/cloud_columns.h"
#include "isa_sweep.h"
#include "cpu/mesh/clear.h"
#include "cpu/cloud/template.h"
#include "cpu/cloud/window.h"
#include "cpu/cloud/cells.h"
#include "cpu/cloud/sort.h"

#define ISA_HERE(name, in_count, radii, out_count, bytes) ISA_RUN(static, run_##name, name, in_count, out_count, bytes)
#if LANES == 1
#define ISA_SWEEP ISA_HERE
#else
#define ISA_SWEEP(name, in_count, radii, out_count, bytes)                                \
    ISA_SWEEP_RUN(run_##name, (out_count) == OUT_SWEEP_FIRST ? SWEEP_FIRST : SWEEP_TIMES, \
                  (in_count) == IN_SWEEP_MOVING, in_count, out_count, bytes)
#endif
#define ISA_ELSEWHERE(name, in_count, radii, out_count, bytes) caromi_pair_fn ISA_NAMED(name);
SWEEP_TIME_KERNELS(ISA_SWEEP, )
SPHERE_TIME_KERNELS(ISA_HERE, )
POINT_KERNELS(ISA_HERE, )
TIME_KERNELS(ISA_ELSEWHERE, _exact)
POINT_KERNELS(ISA_HERE, _exact)

static void run_cloud_columns(const float *const *in, void *const *out, size_t count)
{
    for (size_t i = 0; i < count; i += WIDE)
        cloud_columns(in, out, i);
}

caromi_second_fn ISA_NAMED(second_sweep);

#define ISA_ENTRY(name, in_count, radii, out_count, bytes) [CAROMI_PAIR_##name] = run_##name,
#define ISA_ENTRY_ELSEWHERE(name, in_count, radii, out_count, bytes) [CAROMI_PAIR_##name] = ISA_NAMED(name),
#ifndef ISA_MESH_8
#define ISA_MESH_8 ISA_MESH(8)
#define ISA_SCENE_8 ISA_SCENE(8)
#endif
extern const caromi_mesh_table ISA_MESH_8, ISA_MESH(16), ISA_SCENE_8, ISA_SCENE(16);
extern const caromi_isa_table ISA_CAT(caromi_isa_, ISA_NAME);
const caromi_isa_table ISA_CAT(caromi_isa_, ISA_NAME) = {
    .lanes = LANES,
    .pairs = {TIME_KERNELS(ISA_ENTRY, ) POINT_KERNELS(ISA_ENTRY, ) TIME_KERNELS(ISA_ENTRY_ELSEWHERE, _exact)
                  POINT_KERNELS(ISA_ENTRY, _exact)},
    .second_sweep = ISA_NAMED(second_sweep),
    .mesh_width = ISA_MESH_WIDTH,
    .mesh_8 = &ISA_MESH_8,
    .mesh_16 = &ISA_MESH(16),
    .scene_8 = &ISA_SCENE_8,
    .scene_16 = &ISA_SCENE(16),
    .clear = mesh_clear,
    .cloud_check = cloud_check,
    .cloud_position = cloud_position,
    .cloud_bound = cloud_bound,
    .cloud_cells = cloud_cells_along,
    .cloud_pairs = cloud_pairs,
    .cloud_image_pairs = cloud_image_pairs,
    .cloud_runs = cloud_list_runs,
    .cloud_test = cloud_test_items,
    .cloud_answers = cloud_read_answers,
    .cloud_best = cloud_best,
    .cloud_best_images = cloud_best_images,
    .cloud_best_runs = cloud_list_best_runs,
    .cloud_sort = cloud_sort,
    .cloud_columns = run_cloud_columns,
};
