/* SPDX-License-Identifier: MIT */
/* Nodes that are only classified by two limits (caromi_lattice_limits). A block is answered if its bound point is
 * within the inner limit of all its nodes. If the bound point is within the outer limit, the block is *near*: from then
 * on only triangles within the inner limit matter to it. docs/volumes.md, section 4, has the proof. */
#ifndef CAROM_CPU_LATTICE_LIMITS_H
#define CAROM_CPU_LATTICE_LIMITS_H
#include "lists.h"

/* lattice_reach2() of a limit in the caller's unit. */
FN real lattice_band2(const caromi_lattice_tile *tile, real limit)
{
    return lattice_reach2(limit * tile->mesh->frame.scale);
}

/* The answer of nodes to which no triangle matters. */
FN real lattice_beyond(const caromi_lattice_tile *tile, int is_near)
{
    return is_near ? tile->limits->outer_low : R(1.0) / R(0.0);
}

/* Early out: whether all nodes of a block are within the inner limit of its bound point. If not, the block may become
 * near. */
static int lattice_is_within(const caromi_lattice_tile *tile, lattice_block *block, int *is_near)
{
    const caromi_lattice_limits *limits = tile->limits;
    if (limits == NULL)
        return 0;
    if (block->reach <= limits->inner_low * tile->mesh->frame.scale)
        return 1;
    *is_near |= block->reach <= limits->outer_low * tile->mesh->frame.scale;
    if (*is_near)
        block->band2 = lattice_band2(tile, limits->inner_high);
    return 0;
}

/* How near a triangle must be to matter to a node whose answer is at most `most`; negative: none does. */
FN real lattice_needed(const caromi_lattice_tile *tile, real most)
{
    const caromi_lattice_limits *limits = tile->limits;
    if (limits == NULL || most > limits->outer_low)
        return most < tile->band ? most : tile->band;
    return most <= limits->inner_low ? R(-1.0) : most < limits->inner_high ? most : limits->inner_high;
}

/* Classes of LANES nodes, by the samples of all triangles that matter. */
typedef struct lattice_classes {
    vf most; /* an upper bound of the distance, in the mesh's unit */
    vm is_within, is_between, is_beyond;
} lattice_classes;

/* sample: the greatest term of any sample; covered: the greatest sum of a triangle's term and its cover. */
FN lattice_classes lattice_classify(const caromi_lattice_tile *tile, v3 x, vf sample, vf covered, real radius2,
                                    int is_near)
{
    const caromi_lattice_limits *limits = tile->limits;
    const real scale = tile->mesh->frame.scale, inner = limits->inner_high * scale, outer = tile->band * scale;
    const vf square = v3_dot(x, x), nearest2 = square - sample;
    const vf more = nearest2 * v_f(R(0x1p-14)) + v_f(radius2 * R(0x1p-15) + R(0x1p-120));
    lattice_classes classes;
    classes.most = v_sqrt(v_max(nearest2 + more, v_f(R(0.0)))) * v_f(R(1.0) + R(0x1p-20));
    classes.is_within = v_le(classes.most, v_f(limits->inner_low * scale));
    classes.is_beyond = v_lt(covered, lattice_filter_limit(square, v_f(outer * outer), radius2));
    classes.is_between = v_le(classes.most, v_f(is_near ? R(1.0) / R(0.0) : limits->outer_low * scale));
    if (inner >= R(0.0))
        classes.is_between =
            v_and(classes.is_between, v_lt(covered, lattice_filter_limit(square, v_f(inner * inner), radius2)));
    return classes;
}
#endif
