/* SPDX-License-Identifier: MIT */
/* Distances of nodes from a mesh, with sign and band. */
#include "check.h"

#include <math.h>
#include <string.h>

enum { MORE = 1u << BAKE_triangle | 1u << BAKE_feature | 1u << BAKE_point };

/* ---- the command --------------------------------------------------------------------------------------------------
 */

/* Returns BAKE_ARRAYS if --with adds none of that name. */
static int array_named(const char *name, size_t length)
{
    int a = 0;
    while (a < BAKE_ARRAYS && (!(MORE & (1u << a)) || strlen(bake_arrays[a].name) != length ||
                               strncmp(name, bake_arrays[a].name, length) != 0))
        a++;
    return a;
}

static int read_with(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    const char *at = value;
    for (;;) {
        const size_t length = strcspn(at, ",");
        const int a = array_named(at, length);
        if (a == BAKE_ARRAYS)
            return cli_refuse(EXIT_USAGE,
                              "--%s: expected triangle, feature or point, or some of them separated by "
                              "commas, got '%s'",
                              name, value);
        bake->arrays |= 1u << a;
        at += length;
        if (*at++ == '\0')
            return -1;
    }
}

/* clang-format off */
static const cli_option own_options[] = {
    BAKE_PLACES_NODES,
    BAKE_SIGNS_AND_BAND,
    {"allow-open", NULL, "take a sign also from a mesh that is not closed", BAKE_OWN_FLAG(allow_open)},
    {"with", "LIST", "more arrays: some of triangle,feature,point", BAKE_OWN(read_with)},
    BAKE_RUNS_LONG,
    CLI_MESH(bake_request),
};
/* clang-format on */

const cli_command bake_distance_command = {
    .name = "bake distance",
    .summary = "distances from a lattice of nodes to a mesh, as a volume",
    .synopsis = "carom bake distance --mesh M --spacing H|--dims NX,NY,NZ [options] -o OUT",
    .details =
        "OUT ends in .npy or .nrrd (float32 [nz][ny][nx]), or in .vti, .vtkhdf (both for ParaView) or .h5 (arrays "
        "distance,\n"
        "triangle, feature, point).\n"
        "Node (i,j,k) is at origin + index * H, rounded to binary32. With --spacing alone the nodes cover the bounds "
        "of "
        "the\n"
        "mesh and the margin; with --dims alone the spacing is the smallest that does. Distances are those of carom\n"
        "overlap --hits closest, bit for bit. The output grows in OUT.partial, beside the journal OUT.journal. After "
        "an\n"
        "interruption the same command with --resume goes on. SIGINT and SIGTERM finish a slab and end with status "
        "75.\n",
    BAKE_VOLUME_COMMAND(own_options),
};

/* ---- the call -----------------------------------------------------------------------------------------------------
 */

static carom_status ask(carom_mesh *mesh, const bake_question *q, const bake_slab *to, carom_stats *stats,
                        carom_error *err)
{
    const bake_parameters *parameters = &q->plan->parameters;
    float *const point = to->array[BAKE_point];
    const carom_mesh_distance_desc desc = {
        .batch = bake_batch_of(q, sizeof desc),
        .lattice = q->box,
        .sign = parameters->sign,
        .allow_open = q->allow_open != 0,
        .band = &parameters->band,
    };
    const carom_mesh_distance_result result = {.size = sizeof result,
                                               .distance = to->array[BAKE_distance],
                                               .triangle = to->array[BAKE_triangle],
                                               .point = point ? carom_xyz_out(point) : (carom_points_out){0},
                                               .feature = to->array[BAKE_feature]};
    return carom_mesh_distance(mesh, &desc, &result, stats, err);
}

/* ---- a node -------------------------------------------------------------------------------------------------------
 */

/* Fast distances have errors of some hundred units in the last place of the largest coordinate (numerics.md, section
 * 18); their signs have none. */
static int is_near(const bake_place *at, const bake_node *given, const bake_node *exact)
{
    const bake_mesh *mesh = at->mesh;
    double scale = 0.0;
    for (int k = 0; k < 3; k++)
        scale =
            fmax(scale, fmax(fabs((double)at->p[k]), fmax(fabs((double)mesh->lower[k]), fabs((double)mesh->upper[k]))));
    if (given->distance == exact->distance) /* infinities too */
        return 1;
    return fabs((double)given->distance - (double)exact->distance) <= 0x1p-12 * scale;
}

/* The reference's distance, triangle and feature, cut to the band. */
static void cut(const bake_place *at, const ref_mesh *mesh, const ref_mesh_closest_answer *closest, bake_node *out)
{
    const bake_parameters *parameters = &at->plan->parameters;
    ref_mesh_ray_answer ray = {0};
    if (parameters->sign != CAROM_SIGN_NONE)
        ref_mesh_ray(mesh, at->p, &ray);
    const int far = closest->closest.distance > parameters->band;
    const int inside = parameters->sign == CAROM_SIGN_PARITY ? (int)(ray.crossings & 1) : ray.sum != 0;
    out->distance = far ? parameters->band : closest->closest.distance;
    out->triangle = far ? -1 : closest->triangle;
    out->feature = far ? CAROM_FEATURE_NONE : (uint8_t)closest->closest.feature;
    if (parameters->sign != CAROM_SIGN_NONE && inside && out->distance != 0.0f)
        out->distance = -out->distance;
}

static int refer(const bake_place *at, const bake_node *exact, bake_node *truth)
{
    const ref_mesh mesh = bake_reference_of(at);
    const ref_sweep_case ball = {.center = {at->p[0], at->p[1], at->p[2]}};
    ref_mesh_closest_answer closest;
    (void)exact;
    if (ref_mesh_closest(&mesh, &ball, UINT32_MAX, INFINITY, &closest))
        return 0;
    cut(at, &mesh, &closest, truth);
    return 1;
}

const bake_kind bake_kind_distance = {.name = "distance",
                                      .command = &bake_distance_command,
                                      .array = BAKE_distance,
                                      .more = MORE,
                                      .judged = 1u << BAKE_triangle | 1u << BAKE_feature,
                                      .items = {BAKE_ITEM_SIGN, BAKE_ITEM_NUMBER("band", band)},
                                      BAKE_OF_NODES,
                                      .ask = ask,
                                      .is_near = is_near,
                                      .refer = refer};
