/* SPDX-License-Identifier: MIT */
/* The height of a ball that comes down on a mesh. */
#include "check.h"

/* clang-format off */
static const cli_option own_options[] = {
    {"ball", "R", "radius of the ball", BAKE_OWN(bake_read_radius)},
    BAKE_PLACES_COLUMNS,
    BAKE_RUNS_LONG,
    CLI_MESH(bake_request),
};
/* clang-format on */

const cli_command bake_drop_command = {
    .name = "bake drop",
    .summary = "how high a ball that comes down stands on a mesh, as a map",
    .synopsis = "carom bake drop --mesh M --ball R --spacing H|--dims NX,NY [options] -o OUT",
    .details =
        "OUT ends in .npy or .nrrd (float32 [ny][nx]), or in .vti, .vtkhdf or .h5 (array height). The ball comes down "
        "along\n"
        "-z over each column until it first touches the mesh. The height of its centre is rounded up to binary32, so "
        "it "
        "never cuts\n"
        "into the mesh; -inf where it meets nothing. The same answer in both modes. Lattice, partial file, --resume "
        "and\n"
        "--part are those of carom bake distance, with x and y alone.\n",
    BAKE_VOLUME_COMMAND(own_options),
};

static carom_status ask(carom_mesh *mesh, const bake_question *q, const bake_slab *to, carom_stats *stats,
                        carom_error *err)
{
    const carom_mesh_drop_desc desc = {
        .batch = bake_batch_of(q, sizeof desc),
        .lattice = q->box,
        .radius = q->plan->parameters.radius,
    };
    const carom_mesh_drop_result result = {.size = sizeof result, .height = to->array[BAKE_height]};
    return carom_mesh_drop(mesh, &desc, &result, stats, err);
}

/* The reference judges a height, and has none of its own. */
static int refer(const bake_place *at, const bake_node *exact, bake_node *truth)
{
    const ref_mesh mesh = bake_reference_of(at);
    const ref_mesh_drop_case column = {at->p[0], at->p[1], at->plan->parameters.radius, exact->height};
    truth->height = exact->height;
    truth->wrong = ref_mesh_drop(&mesh, &column);
    return 1;
}

const bake_kind bake_kind_drop = {.name = "drop",
                                  .command = &bake_drop_command,
                                  .array = BAKE_height,
                                  .radius = "ball",
                                  .items = {BAKE_ITEM_NUMBER("ball", radius)},
                                  BAKE_OF_COLUMNS,
                                  .ask = ask,
                                  .refer = refer};
