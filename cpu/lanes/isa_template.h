/* SPDX-License-Identifier: MIT */
/* Every kernel at one lane count; included once per instruction set with LANES and ISA_NAME defined. Exact times come
 * from a file of their own, isa_fma_template.h. */
#define PAIR_SOLVERS
#include "kernels/wide.h" /* first: headers have exact bodies where it is */
#include "kernels/overlap_exact.h"
#include "kernels/pairs_exact.h"
#include "kernels/cloud_columns.h"
#include "isa_run.h"
#include "cpu/mesh/template.h"
#include "cpu/lattice/template.h"
#include "cpu/lattice/rays_template.h"
#include "cpu/lattice/drop_template.h"
#include "cpu/cloud/template.h"
#include "cpu/cloud/window.h"
#include "cpu/cloud/cells.h"
#include "cpu/cloud/sort.h"

#define ISA_HERE(name, in_count, radii, out_count, bytes) ISA_RUN(static, run_##name, name, in_count, out_count, bytes)
#define ISA_ELSEWHERE(name, in_count, radii, out_count, bytes) caromi_pair_fn ISA_NAMED(name);
TIME_KERNELS(ISA_HERE, )
POINT_KERNELS(ISA_HERE, )
TIME_KERNELS(ISA_ELSEWHERE, _exact)
POINT_KERNELS(ISA_HERE, _exact)

static void run_cloud_columns(const float *const *in, void *const *out, size_t count)
{
    for (size_t i = 0; i < count; i += WIDE)
        cloud_columns(in, out, i);
}

#define ISA_ENTRY(name, in_count, radii, out_count, bytes) [CAROMI_PAIR_##name] = run_##name,
#define ISA_ENTRY_ELSEWHERE(name, in_count, radii, out_count, bytes) [CAROMI_PAIR_##name] = ISA_NAMED(name),
extern const caromi_isa_table ISA_CAT(caromi_isa_, ISA_NAME);
const caromi_isa_table ISA_CAT(caromi_isa_, ISA_NAME) = {
    .lanes = LANES,
    .pairs = {TIME_KERNELS(ISA_ENTRY, ) POINT_KERNELS(ISA_ENTRY, ) TIME_KERNELS(ISA_ENTRY_ELSEWHERE, _exact)
                  POINT_KERNELS(ISA_ENTRY, _exact)},
    .mesh = {[CAROMI_MESH_FIRST] = {mesh_first, mesh_first_exact},
             [CAROMI_MESH_LIST] = {mesh_list, mesh_list_exact},
             [CAROMI_MESH_OVERLAPS] = {mesh_overlaps, mesh_overlaps_exact},
             [CAROMI_MESH_CLOSEST] = {mesh_closest, mesh_closest_exact},
             [CAROMI_MESH_CONTACTS] = {mesh_contacts, mesh_contacts_exact}},
    .clear = mesh_clear,
    .lattice = lattice_tile,
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
    .lattice_scratch = sizeof(lattice_scratch),
    .rays = rays_search,
    .drop = drop_columns,
};
