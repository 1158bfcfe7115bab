/* SPDX-License-Identifier: MIT */
/* Where the nodes are, and which of them make a slab. */
#include "bake.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Types of a component, as VTK and NumPy name them. */
#define OF_float "Float32", "<f4"
#define OF_int32_t "Int32", "<i4"
#define OF_uint8_t "UInt8", "|u1"
#define ARRAY_ROW(name, type, components) \
    {#name, sizeof(type components), OF_##type, sizeof(type components) / sizeof(type)},
const volume_array bake_arrays[BAKE_ARRAYS] = {BAKE_EACH_ARRAY(ARRAY_ROW)};

enum { NODES_ENOUGH = 1 << 12 }; /* fewer are not worth a record */

/* ---- lattice ------------------------------------------------------------------------------------------------------
 */

/* The spacing that fits the bounds and the margin into so many nodes. */
static int fit_spacing(bake_plan *plan, const bake_options *o, const float lower[3], const float upper[3])
{
    const int with_margin = (o->given & BAKE_GIVEN_MARGIN) != 0;
    double largest = 0.0;
    for (int k = 0; k < plan->kind->axes; k++) {
        const double extent = (double)upper[k] - (double)lower[k], n = (double)o->dims[k];
        const double spacing = with_margin ? (extent + 2.0 * o->margin) / (n - 1.0) : extent / (n - 5.0);
        if (!isfinite(spacing)) /* one node, or an extent of 0 over 0 */
            return cli_refuse(EXIT_USAGE, "--dims: no finite spacing follows from %llu %s along %c; give --spacing",
                              (unsigned long long)o->dims[k], plan->kind->unit, 'x' + k);
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
            return cli_refuse(EXIT_USAGE, "--spacing %.9g: more than 2^48 %s along %c", plan->lattice.spacing,
                              plan->kind->unit, 'x' + k);
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
                EXIT_USAGE,
                "the lattice of --origin, --spacing, --dims and --margin: node %llu along %c is at %g, which is not "
                "finite in binary32",
                (unsigned long long)(isfinite(first) ? plan->lattice.dims[k] - 1 : 0), 'x' + k,
                plan->lattice.origin[k] +
                    (isfinite(first) ? (double)(plan->lattice.dims[k] - 1) * plan->lattice.spacing : 0.0));
    }
    if (plan->lattice.dims[0] > BAKE_NODES_MAX / plan->lattice.dims[1] ||
        plan->lattice.dims[0] * plan->lattice.dims[1] > BAKE_NODES_MAX / plan->lattice.dims[2])
        return cli_refuse(EXIT_USAGE, "a lattice of %llu,%llu,%llu has more than 2^48 %s",
                          (unsigned long long)plan->lattice.dims[0], (unsigned long long)plan->lattice.dims[1],
                          (unsigned long long)plan->lattice.dims[2], plan->kind->unit);
    return EXIT_DONE;
}

int bake_plan_is_placed(const bake_kind *kind, const bake_options *o)
{
    if (!(o->given & (BAKE_GIVEN_SPACING | BAKE_GIVEN_DIMS)))
        return cli_refuse(EXIT_USAGE, "the lattice is missing: give --spacing H or --dims NX,NY%s, or both",
                          kind->axes == 3 ? ",NZ" : "");
    for (int k = 0; k < kind->axes && !(o->given & (BAKE_GIVEN_SPACING | BAKE_GIVEN_MARGIN)); k++)
        if (o->dims[k] < 6)
            return cli_refuse(EXIT_USAGE,
                              "--dims: each is at least 6 where neither --spacing nor --margin is given, got %llu",
                              (unsigned long long)o->dims[k]);
    return o->bits > 0 ? bake_store_check(o) : EXIT_DONE;
}

int bake_plan_place(bake_plan *plan, const bake_options *o, const float lower[3], const float upper[3])
{
    int status = bake_plan_is_placed(plan->kind, o);
    if (status != EXIT_DONE)
        return status;
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
    if (status == EXIT_DONE && plan->bits > 0)
        status = bake_store_range(plan, lower, upper);
    if (status == EXIT_DONE)
        bake_plan_cut(plan);
    return status;
}

/* ---- slabs --------------------------------------------------------------------------------------------------------
 */

__extension__ typedef unsigned __int128 product; /* of two numbers up to 2^48 */

uint64_t bake_share(uint64_t count, uint64_t part, uint64_t parts)
{
    return (uint64_t)((product)count * part / parts);
}

static uint64_t most_nodes(const bake_plan *plan)
{
    const char *count = strchr(plan->mesh, ':'); /* behind the hash */
    const uint64_t triangles = count ? strtoull(count + 1, NULL, 10) : 0;
    uint64_t most = plan->kind->most;
    if (triangles > plan->kind->visits / most)
        most = plan->kind->visits / triangles;
    return most > plan->kind->least ? most : plan->kind->least;
}

/* As many nodes along an axis as fit; whole edges, if that is not all of them. */
static uint64_t fit_axis(uint64_t nodes, uint64_t fitting, uint64_t edge)
{
    return nodes <= fitting ? nodes : fitting - fitting % edge;
}

/* Lattice and mesh alone decide, so files and journals are the same on every machine. Rows, then layers, are whole if a
 * slab then still has its edge along the slower axes. */
void bake_plan_cut(bake_plan *plan)
{
    const uint64_t *nodes = plan->lattice.dims, edge = plan->kind->edge;
    const int last = plan->kind->axes - 1;
    uint64_t most = most_nodes(plan);
    plan->layer = nodes[0] * (last == 2 ? nodes[1] : 1);
    plan->depth = nodes[last];
    for (int k = 1; k <= last; k++)
        most /= nodes[k] < edge ? nodes[k] : edge;
    for (int k = 0; k <= last; k++) {
        plan->box[k] = fit_axis(nodes[k], most, edge);
        if (k < last) /* what fits along the next axis, whose edge was kept free */
            most = most / plan->box[k] * (nodes[k + 1] < edge ? nodes[k + 1] : edge);
    }
    const uint64_t layer = plan->box[0] * (last == 2 ? plan->box[1] : 1);
    const uint64_t enough = ((NODES_ENOUGH - 1) / (edge * layer) + 1) * edge;
    plan->box[last] = enough < plan->box[last] ? enough : plan->box[last];
    plan->slabs = 1;
    for (int k = 0; k < 3; k++) {
        plan->box[k] = k <= last ? plan->box[k] : 1;
        plan->along[k] = (nodes[k] - 1) / plan->box[k] + 1;
        plan->slabs *= plan->along[k];
    }
    plan->begin = bake_share(plan->slabs, plan->part - 1, plan->parts);
    plan->end = bake_share(plan->slabs, plan->part, plan->parts);
}

uint64_t bake_plan_slab(const bake_plan *plan, uint64_t slab, carom_lattice *box)
{
    uint64_t count = 1;
    *box = plan->lattice;
    for (int k = 0; k < 3; k++) {
        const uint64_t first = slab % plan->along[k] * plan->box[k], left = plan->lattice.dims[k] - first;
        box->first[k] = first;
        box->dims[k] = left < plan->box[k] ? left : plan->box[k];
        count *= box->dims[k];
        slab /= plan->along[k];
    }
    return count;
}

uint64_t bake_plan_nodes(const bake_plan *plan, uint64_t slab)
{
    carom_lattice box;
    return bake_plan_slab(plan, slab, &box);
}

uint64_t bake_plan_most_nodes(const bake_plan *plan)
{
    return bake_plan_nodes(plan, 0);
}

/* Whole layers below the slab; whole rows before it, as high as it is; and its neighbours along x. */
static uint64_t nodes_below(const bake_plan *plan, uint64_t slab)
{
    carom_lattice box;
    const uint64_t *nodes = plan->lattice.dims;
    if (slab == plan->slabs)
        return nodes[0] * nodes[1] * nodes[2];
    (void)bake_plan_slab(plan, slab, &box);
    return nodes[0] * nodes[1] * box.first[2] + box.dims[2] * (nodes[0] * box.first[1] + box.dims[1] * box.first[0]);
}

uint64_t bake_plan_nodes_before(const bake_plan *plan, uint64_t slab)
{
    return nodes_below(plan, slab) - nodes_below(plan, plan->begin);
}

uint64_t bake_plan_find(const bake_plan *plan, uint64_t *at)
{
    uint64_t slab = plan->begin, end = plan->end;
    while (end - slab > 1) {
        const uint64_t middle = slab + (end - slab) / 2;
        if (bake_plan_nodes_before(plan, middle) <= *at)
            slab = middle;
        else
            end = middle;
    }
    *at -= bake_plan_nodes_before(plan, slab);
    return slab;
}

uint64_t bake_plan_node(const bake_plan *plan, const carom_lattice *box, uint64_t at)
{
    const uint64_t *nodes = plan->lattice.dims, row = at / box->dims[0];
    const uint64_t j = box->first[1] + row % box->dims[1], k = box->first[2] + row / box->dims[1];
    return (k * nodes[1] + j) * nodes[0] + box->first[0] + at % box->dims[0];
}

static size_t bytes_of(const bake_plan *plan, const bake_plan *stored_as)
{
    size_t bytes = 0;
    for (int a = 0; a < BAKE_ARRAYS; a++)
        if (plan->arrays & (1u << a))
            bytes += stored_as ? bake_stored(stored_as, a)->size : bake_arrays[a].size;
    return bytes;
}

size_t bake_plan_node_bytes(const bake_plan *plan)
{
    return bytes_of(plan, plan);
}

size_t bake_plan_memory_bytes(const bake_plan *plan)
{
    return bytes_of(plan, NULL);
}
