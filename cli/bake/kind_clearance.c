/* SPDX-License-Identifier: MIT */
/* Where a sphere is clear of a mesh. */
#include "check.h"

/* clang-format off */
static const cli_option own_options[] = {
    BAKE_PLACES_NODES,
    {"radius", "R", "of the sphere", BAKE_OWN(bake_read_radius)},
    CLI_SIGN(offsetof(bake_request, bake.parameters.sign), 0),
    CLI_ALLOW_OPEN(0, offsetof(bake_request, bake.allow_open)),
    BAKE_RUNS_LONG,
    BAKE_MESHES,
    CLI_SCENE(bake_request),
};
/* clang-format on */

const cli_command bake_clearance_command = {
    .name = "bake clearance",
    .summary = "in which cubes of a lattice a sphere is clear of a mesh, as a volume",
    .synopsis = "carom bake clearance --mesh M|--scene F --radius R --spacing H|--dims NX,NY,NZ [options] -o OUT\n"
                "carom bake clearance --mesh M...|--meshes LIST --radius R --spacing H|--dims NX,NY,NZ --format F "
                "[options] -o DIR/",
    .details =
        "OUT ends in .npy or .nrrd (uint8 [nz][ny][nx]), or in .vti, .vtkhdf or .h5 (array clearance). A node stands "
        "for the\n"
        "cube of edge H around it: 0 if a sphere of radius R with its centre anywhere in the cube is clear of the "
        "mesh, 1 "
        "if it "
        "touches\n"
        "the mesh wherever its centre is, 2 if the node's distance does not tell. Decided exactly in both modes. With "
        "a\n"
        "sign the mesh is a body, and no node inside is 0. Lattice, partial file, --resume and --part are those of "
        "carom\n"
        "bake distance.\n",
    BAKE_VOLUME_COMMAND(own_options),
};

static carom_status ask(carom_mesh *mesh, const bake_question *q, const bake_slab *to, carom_stats *stats,
                        carom_error *err)
{
    const carom_mesh_clearance_desc desc = {
        .batch = bake_batch_of(q, sizeof desc),
        .lattice = q->box,
        .radius = q->plan->parameters.radius,
        .sign = q->plan->parameters.sign,
        .allow_open = q->allow_open != 0,
    };
    const carom_mesh_clearance_result result = {.size = sizeof result, .clearance = to->array[BAKE_clearance]};
    return carom_mesh_clearance(mesh, &desc, &result, stats, err);
}

static int refer(const bake_place *at, const bake_node *exact, bake_node *truth)
{
    const bake_plan *plan = at->plan;
    const ref_mesh mesh = bake_reference_of(at);
    const float radius = plan->parameters.radius;
    const double half = ref_half_diagonal(plan->lattice.spacing);
    const int outside = ref_mesh_clearance(&mesh, at->p, radius, half);
    const int is_inside = bake_is_inside(at, &mesh, exact->clearance != outside);
    truth->clearance = (uint8_t)(is_inside ? ref_mesh_clearance_inside(&mesh, at->p, radius, half) : outside);
    return 1;
}

const bake_kind bake_kind_clearance = {.name = "clearance",
                                       .command = &bake_clearance_command,
                                       .array = BAKE_clearance,
                                       .radius = "radius",
                                       .items = {BAKE_ITEM_SIGN, BAKE_ITEM_NUMBER("radius", radius)},
                                       BAKE_OF_NODES,
                                       .ask = ask,
                                       .refer = refer};
