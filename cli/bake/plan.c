/* SPDX-License-Identifier: MIT */
/* Where the nodes are, and which of them make a slab. */
#include "bake.h"

#include <math.h>
#include <stdio.h>

const bake_array_row bake_arrays[BAKE_ARRAYS] = {
    [BAKE_DISTANCE] = {"distance", 4, "Float32", "<f4", 1}, [BAKE_TRIANGLE] = {"triangle", 4, "Int32", "<i4", 1},
    [BAKE_FEATURE] = {"feature", 1, "UInt8", "|u1", 1},     [BAKE_POINT] = {"point", 12, "Float32", "<f4", 3},
    [BAKE_CLEARANCE] = {"clearance", 1, "UInt8", "|u1", 1}, [BAKE_HEIGHT] = {"height", 4, "Float32", "<f4", 1}};
const char *const bake_sign_words[BAKE_SIGNS] = {"none", "parity", "winding"};

/* Nodes of a slab. A search takes up to 7 us, so the most take 4 s; a layer may have more. Fewer than the least are not
 * worth a record. Between these bounds the kind says how many layers are one piece of work for the library. */
enum { SLAB_NODES_MAX = 1 << 19, SLAB_NODES_MIN = 1 << 12 };

/* ---- lattice ------------------------------------------------------------------------------------------------------
 */

/* The spacing that fits the bounds and the margin into so many nodes. */
static int fit_spacing(bake_plan *plan, const bake_options *o, const float lower[3], const float upper[3])
{
    const int with_margin = (o->given & BAKE_GIVEN_MARGIN) != 0;
    double largest = 0.0;
    for (int k = 0; k < plan->kind->axes; k++) {
        const double extent = (double)upper[k] - (double)lower[k], n = (double)o->dims[k];
        if (!with_margin && o->dims[k] < 6)
            return cli_refuse(EXIT_USAGE,
                              "--dims: each is at least 6 where neither --spacing nor --margin is given, got %llu",
                              (unsigned long long)o->dims[k]);
        const double spacing = with_margin ? (extent + 2.0 * o->margin) / (n - 1.0) : extent / (n - 5.0);
        if (!isfinite(spacing)) /* one node, or an extent of 0 over 0 */
            return cli_refuse(EXIT_USAGE, "--dims: no finite spacing follows from %llu nodes along %c; give --spacing",
                              (unsigned long long)o->dims[k], 'x' + k);
        largest = spacing > largest ? spacing : largest;
    }
    plan->lattice.spacing = largest;
    if (!(largest > 0.0))
        return cli_refuse(EXIT_USAGE, "--dims: the mesh has no extent, so no spacing > 0 follows; give --spacing");
    return EXIT_DONE;
}

static int count_nodes(bake_plan *plan, const float upper[3], double margin)
{
    for (int k = 0; k < plan->kind->axes; k++) {
        const double n = ceil(((double)upper[k] + margin - plan->lattice.origin[k]) / plan->lattice.spacing) + 1.0;
        if (!(n <= (double)BAKE_NODES_MAX))
            return cli_refuse(EXIT_USAGE, "--spacing %.9g: more than 2^48 nodes along %c", plan->lattice.spacing,
                              'x' + k);
        plan->lattice.dims[k] = n > 1.0 ? (uint64_t)n : 1;
    }
    return EXIT_DONE;
}

/* Coordinates rise with the index, so the ends decide. */
static int check_nodes(const bake_plan *plan)
{
    for (int k = 0; k < 3; k++) {
        const float first = carom_lattice_coordinate(&plan->lattice, k, 0);
        const float last = carom_lattice_coordinate(&plan->lattice, k, plan->lattice.dims[k] - 1);
        if (!isfinite(first) || !isfinite(last))
            return cli_refuse(
                EXIT_USAGE, "node %llu along %c is at %g, which is not finite in binary32",
                (unsigned long long)(isfinite(first) ? plan->lattice.dims[k] - 1 : 0), 'x' + k,
                plan->lattice.origin[k] +
                    (isfinite(first) ? (double)(plan->lattice.dims[k] - 1) * plan->lattice.spacing : 0.0));
    }
    if (plan->lattice.dims[0] > BAKE_NODES_MAX / plan->lattice.dims[1] ||
        plan->lattice.dims[0] * plan->lattice.dims[1] > BAKE_NODES_MAX / plan->lattice.dims[2])
        return cli_refuse(EXIT_USAGE, "a lattice of %llu,%llu,%llu has more than 2^48 nodes",
                          (unsigned long long)plan->lattice.dims[0], (unsigned long long)plan->lattice.dims[1],
                          (unsigned long long)plan->lattice.dims[2]);
    return EXIT_DONE;
}

int bake_plan_place(bake_plan *plan, const bake_options *o, const float lower[3], const float upper[3])
{
    const uint32_t all = BAKE_GIVEN_SPACING | BAKE_GIVEN_DIMS | BAKE_GIVEN_ORIGIN;
    int status = EXIT_DONE;
    if (!(o->given & (BAKE_GIVEN_SPACING | BAKE_GIVEN_DIMS)))
        return cli_refuse(EXIT_USAGE, "the lattice is missing: give --spacing H or --dims NX,NY%s, or both",
                          plan->kind->axes == 3 ? ",NZ" : "");
    if (lower[0] > upper[0] && (o->given & all) != all)
        return cli_refuse(EXIT_USAGE, "the mesh has no triangles, so --origin, --spacing and --dims must be given");
    snprintf(plan->version, sizeof plan->version, "%s", carom_version());
    plan->lattice.spacing = o->spacing;
    if (!(o->given & BAKE_GIVEN_SPACING))
        status = fit_spacing(plan, o, lower, upper);
    const double margin = o->given & BAKE_GIVEN_MARGIN ? o->margin : 2.0 * plan->lattice.spacing;
    plan->lattice.origin[2] = 0.0; /* of a map, which has one layer */
    plan->lattice.dims[2] = 1;
    for (int k = 0; k < plan->kind->axes; k++) {
        plan->lattice.origin[k] = o->given & BAKE_GIVEN_ORIGIN ? o->origin[k] : (double)lower[k] - margin;
        plan->lattice.dims[k] = o->dims[k];
    }
    if (status == EXIT_DONE && !(o->given & BAKE_GIVEN_DIMS))
        status = count_nodes(plan, upper, margin);
    if (status == EXIT_DONE)
        status = check_nodes(plan);
    if (status == EXIT_DONE)
        bake_plan_cut(plan);
    return status;
}

/* ---- slabs --------------------------------------------------------------------------------------------------------
 */

__extension__ typedef unsigned __int128 product; /* of two numbers up to 2^48 */

static uint64_t share(uint64_t count, uint64_t part, uint64_t parts)
{
    return (uint64_t)((product)count * part / parts);
}

/* The lattice alone decides, so files and journals are the same on every machine. */
void bake_plan_cut(bake_plan *plan)
{
    const uint64_t step = plan->kind->layers;
    plan->layer = plan->lattice.dims[0] * (plan->kind->axes == 3 ? plan->lattice.dims[1] : 1);
    plan->depth = plan->lattice.dims[plan->kind->axes - 1];
    plan->layers = ((SLAB_NODES_MIN - 1) / (step * plan->layer) + 1) * step;
    if (plan->layers * plan->layer > SLAB_NODES_MAX)
        plan->layers = plan->layer < SLAB_NODES_MAX ? SLAB_NODES_MAX / plan->layer : 1;
    plan->slabs = (plan->depth - 1) / plan->layers + 1;
    plan->begin = share(plan->slabs, plan->part - 1, plan->parts);
    plan->end = share(plan->slabs, plan->part, plan->parts);
}

uint64_t bake_plan_slab(const bake_plan *plan, uint64_t slab, uint64_t *begin, uint64_t *end)
{
    const uint64_t left = plan->depth - slab * plan->layers;
    *begin = slab * plan->layers;
    *end = *begin + (left < plan->layers ? left : plan->layers);
    return (*end - *begin) * plan->layer;
}

uint64_t bake_plan_nodes(const bake_plan *plan, uint64_t slab)
{
    uint64_t begin, end;
    return bake_plan_slab(plan, slab, &begin, &end);
}

uint64_t bake_plan_most_nodes(const bake_plan *plan)
{
    return bake_plan_nodes(plan, 0);
}

size_t bake_plan_node_bytes(const bake_plan *plan)
{
    size_t bytes = 0;
    for (int a = 0; a < BAKE_ARRAYS; a++)
        if (plan->arrays & (1u << a))
            bytes += bake_arrays[a].size;
    return bytes;
}
