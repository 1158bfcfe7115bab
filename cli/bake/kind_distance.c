/* SPDX-License-Identifier: MIT */
/* Distances of nodes from a mesh, with sign and band. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
static const cli_option own_options[] = {
    BAKE_PLACES_NODES,
    BAKE_SIGNS_AND_BAND,
    CLI_ALLOW_OPEN(0, offsetof(bake_request, bake.allow_open)),
    BAKE_WITH_GRADIENT,
    {"bits", "8|16", "distances as whole numbers of so many bits, their scale in the file", BAKE_OWN(bake_read_bits)},
    BAKE_RUNS_LONG,
    BAKE_MESHES,
    CLI_SCENE(bake_request),
};
/* clang-format on */

const cli_command bake_distance_command = {
    .name = "bake distance",
    .summary = "distances from a lattice of nodes to a mesh, as a volume",
    .synopsis =
        "carom bake distance --mesh M|--scene F --spacing H|--dims NX,NY,NZ [options] -o OUT\n"
        "carom bake distance --mesh M...|--meshes LIST --spacing H|--dims NX,NY,NZ --format F [options] -o DIR/",
    .details =
        "OUT ends in .npy or .nrrd (float32 [nz][ny][nx]), or in .vti, .vtkhdf (both for ParaView) or .h5 (arrays "
        "distance,\n"
        "triangle, feature, point, gradient).\n"
        "Node (i,j,k) is at origin + index * H, rounded to binary32. With --spacing alone the nodes cover the bounds "
        "of "
        "the\n"
        "mesh and the margin; with --dims alone the spacing is the smallest that does. Distances are those of carom\n"
        "overlap --hits closest, bit for bit. The output grows in OUT.partial, beside the journal OUT.journal. After "
        "an\n"
        "interruption the same command with --resume goes on. SIGINT and SIGTERM finish a slab and end with status "
        "75.\n"
        "-o may be given several times: one bake, a file of each suffix. Several meshes, or those of a LIST, go to a\n"
        "folder, each under its own name with the suffix F: what is up to date stays, what was begun goes on, and if "
        "one\n"
        "fails the others are baked all the same.\n"
        "With --bits a distance is a whole number times the scale_factor in the file; the largest is --band, or what "
        "no\n"
        "distance of the lattice exceeds.\n",
    BAKE_VOLUME_COMMAND(own_options),
};

/* ---- the call -----------------------------------------------------------------------------------------------------
 */

static carom_status ask_for(carom_mesh *mesh, const bake_question *q, const bake_slab *to, int32_t *triangle,
                            carom_stats *stats, carom_error *err)
{
    const bake_parameters *parameters = &q->plan->parameters;
    float *const point = to->array[BAKE_point], *const gradient = to->array[BAKE_gradient];
    const carom_mesh_distance_desc desc = {
        .batch = bake_batch_of(q, sizeof desc),
        .lattice = q->box,
        .sign = parameters->sign,
        .allow_open = q->allow_open != 0,
        .band = &parameters->band,
    };
    const carom_mesh_distance_result result = {.size = sizeof result,
                                               .distance = to->array[BAKE_distance],
                                               .triangle = triangle,
                                               .point = point ? carom_xyz_out(point) : (carom_points_out){0},
                                               .feature = to->array[BAKE_feature],
                                               .gradient = gradient ? carom_xyz_out(gradient) : (carom_points_out){0}};
    return carom_mesh_distance(mesh, &desc, &result, stats, err);
}

/* Gradients need triangles, also where the file has none. */
static carom_status ask(carom_mesh *mesh, const bake_question *q, const bake_slab *to, carom_stats *stats,
                        carom_error *err)
{
    const carom_batch batch = bake_batch_of(q, 0);
    if (!to->array[BAKE_gradient] || to->array[BAKE_triangle])
        return ask_for(mesh, q, to, to->array[BAKE_triangle], stats, err);
    int32_t *triangle = cli_alloc((batch.count - batch.begin) * q->box.dims[0] * q->box.dims[1] + 1, sizeof *triangle);
    if (!triangle) {
        *err = (carom_error){.status = CAROM_ERROR_OUT_OF_MEMORY};
        snprintf(err->message, sizeof err->message, "no memory for the triangles of a slab");
        return err->status;
    }
    const carom_status status = ask_for(mesh, q, to, triangle, stats, err);
    free(triangle);
    return status;
}

/* ---- a node -------------------------------------------------------------------------------------------------------
 */

/* Fast distances have errors of some hundred units in the last place of the largest coordinate (numerics.md, section
 * 18); their signs have none. A number of few bits is off by half a step more. */
static int is_near(const bake_place *at, const bake_node *given, const bake_node *exact)
{
    const bake_mesh *mesh = at->mesh;
    double scale = 0.0;
    for (int k = 0; k < 3; k++)
        scale =
            fmax(scale, fmax(fabs((double)at->p[k]), fmax(fabs((double)mesh->lower[k]), fabs((double)mesh->upper[k]))));
    if (given->distance == exact->distance) /* infinities too */
        return 1;
    const double step = bake_store_scale(at->plan);
    return fabs((double)given->distance - (double)exact->distance) <= 0x1p-12 * scale + (0.5 + 0x1p-6) * step;
}

/* The reference's distance, triangle and feature, cut to the band. */
static void cut(const bake_place *at, const ref_mesh *mesh, const ref_mesh_closest_answer *closest,
                const bake_node *exact, bake_node *out)
{
    const bake_parameters *parameters = &at->plan->parameters;
    const int far = closest->closest.distance > parameters->band;
    const int inside = bake_is_inside(at, mesh, exact->distance < 0);
    out->distance = far ? parameters->band : closest->closest.distance;
    out->triangle = far ? -1 : closest->triangle;
    out->feature = far ? CAROM_FEATURE_NONE : (uint8_t)closest->closest.feature;
    if (inside && out->distance != 0.0f)
        out->distance = -out->distance;
}

static int refer(const bake_place *at, const bake_node *exact, bake_node *truth)
{
    const ref_mesh mesh = bake_reference_of(at);
    const ref_sweep_case ball = {.center = {at->p[0], at->p[1], at->p[2]}};
    ref_mesh_closest_answer closest;
    if (ref_mesh_closest(&mesh, &ball, UINT32_MAX, INFINITY, &closest))
        return 0;
    cut(at, &mesh, &closest, exact, truth);
    return 1;
}

const bake_kind bake_kind_distance = {.name = "distance",
                                      .command = &bake_distance_command,
                                      .array = BAKE_distance,
                                      .more = BAKE_MORE_AND_GRADIENT,
                                      .judged = 1u << BAKE_triangle | 1u << BAKE_feature,
                                      .items = {BAKE_ITEM_SIGN, BAKE_ITEM_NUMBER("band", band)},
                                      BAKE_OF_NODES,
                                      .ask = ask,
                                      .is_near = is_near,
                                      .refer = refer};
