/* SPDX-License-Identifier: MIT */
/// Lattices of nodes near a mesh: volumes of distances, of clearance; drop maps. And the drop at
/// places that form no lattice.
#ifndef CAROM_CAROM_LATTICE_H
#define CAROM_CAROM_LATTICE_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Nodes of a regular grid. Node (i, j, k) has the coordinates (float)(origin + (double)(first +
/// index) * spacing): a product and a sum in binary64, not fused, then one rounding to binary32. A
/// *slab* is all nodes of one k. carom_lattice_coordinate computes them.
typedef struct carom_lattice {
    double origin[3]; ///< of the grid's node (0, 0, 0), L; finite
    double spacing;   ///< H, L; finite and > 0
    /// nodes along x, y and z; each at least 1, at most 2^48 in all. Every node must be finite
    uint64_t dims[3];
    /// the grid's number of node 0 along x, y and z; at most 2^48. Zeros: the lattice is a grid of
    /// its own. Else it is a box of one, whose nodes have the same coordinates, and so the same
    /// answers, as in the whole: a large grid is answered box by box
    uint64_t first[3];
} carom_lattice;

/// The coordinate of nodes number `index` along `axis` (0, 1 or 2; another counts as 2). Never
/// falls from one index to the next; may stay the same where binary32 is coarser than the spacing.
CAROM_API float carom_lattice_coordinate(const carom_lattice *lattice, int axis, uint64_t index);

/// A part of a lattice, slab by slab.
typedef struct carom_mesh_distance_desc {
    /// Slabs [begin, count) of the lattice are answered, and results hold these alone. Progress
    /// counts slabs, `stats` count nodes. No `select`
    carom_batch batch;
    carom_lattice lattice;
    carom_sign sign;
    uint8_t allow_open; ///< 1: take a mesh that carom_sign would refuse
    /// NULL: none. Else a number >= 0, L: nodes with a distance > *band have the distance *band
    /// with their sign, triangle -1, feature NONE and a point of zeros
    const float *band;
} carom_mesh_distance_desc;

/// Dense arrays of the nodes of slabs [begin, count), x fastest: [count - begin][dims y][dims x].
/// Any pointer may be NULL.
typedef struct carom_mesh_distance_result {
    size_t size;     ///< sizeof(carom_mesh_distance_result)
    float *distance; ///< as in carom_mesh_closest_result, with the sign; a zero is +0
    int32_t *triangle;
    carom_points_out point;
    uint8_t *feature;
    /// as in carom_mesh_closest_result; zeros beyond the band. Needs distance and triangle, which
    /// must not be NULL then
    carom_points_out gradient;
} carom_mesh_distance_result;

/// Distances from the nodes of a lattice to a mesh: a distance volume. Magnitude, triangle, point
/// and feature are those of carom_mesh_closest for the node's coordinates, bit for bit, in the same
/// accuracy. The nodes exist only as numbers: no array of them is read. in, out, stats, err, bits,
/// threads: as carom_sweep_pairs.
/// returns CAROM_OK | INVALID_ARGUMENT (also: a lattice beyond its limits, an open mesh with a
///         sign) | OUT_OF_MEMORY | UNSUPPORTED; with CAROM_BACKEND_OPENCL also device errors. A
///         call with a count of 0 checks all of that and answers nothing
/// cost  docs/performance.md. Working memory is bounded, whatever the lattice; signs take 8 bytes
///       more for each of dims[0] and thread, and 4 for each of dims[1]
CAROM_API carom_status carom_mesh_distance(carom_mesh *mesh, const carom_mesh_distance_desc *desc,
                                           const carom_mesh_distance_result *out,
                                           carom_stats *stats, carom_error *err);

/// What a sphere may do whose centre is anywhere in the cube around a node.
typedef enum carom_clearance {
    CAROM_CLEARANCE_FREE = 0,     ///< it touches the mesh nowhere in the cube
    CAROM_CLEARANCE_BLOCKED = 1,  ///< it touches the mesh everywhere in the cube
    CAROM_CLEARANCE_UNDECIDED = 2 ///< neither is certain from the distance of the node
} carom_clearance;

/// A part of a lattice, slab by slab, and the radius of a sphere.
typedef struct carom_mesh_clearance_desc {
    carom_batch batch; ///< as in carom_mesh_distance_desc
    carom_lattice lattice;
    float radius;       ///< R, L; finite and >= 0
    carom_sign sign;    ///< of the distances that decide
    uint8_t allow_open; ///< 1: take a mesh that carom_sign would refuse
} carom_mesh_clearance_desc;

typedef struct carom_mesh_clearance_result {
    size_t size; ///< sizeof(carom_mesh_clearance_result)
    /// [count - begin][dims y][dims x] a carom_clearance for each node of slabs [begin, count)
    uint8_t *clearance;
} carom_mesh_clearance_result;

/// Where in a lattice a sphere of one radius is clear of a mesh. Let d be the distance of a node
/// from the mesh, and h the least binary64 >= H sqrt(3) / 2 (1 + 2^-16): no point of the cube of
/// edge H around origin + index * H is farther than h from the node. The node is FREE if d > R + h,
/// BLOCKED if d <= R - h, else UNDECIDED. Both are decided exactly for the true d, in either
/// accuracy. Without a sign a place wholly inside a solid is FREE too. With one, d is negative
/// inside, as in carom_mesh_distance: no node inside is FREE, and one deep inside is BLOCKED. That
/// holds for the whole cube if the sign (of CAROM_SIGN_ROBUST: CAROM_SIGN_WINDING) takes the mesh
/// without allow_open, else for the node itself. A lattice with a node that is more than H 2^-17
/// away from origin + index * H along an axis would leave gaps between its cubes, and is refused.
/// `stats` count nodes. A device searches for each node's closest triangle in exact mode, and
/// leaves a sign to the CPU, which answers blocks of nodes together. in, out, stats, err, bits,
/// threads: as carom_sweep_pairs.
/// returns CAROM_OK | INVALID_ARGUMENT (also: a lattice beyond its limits, or with gaps, an open
///         mesh with a sign) | OUT_OF_MEMORY; with CAROM_BACKEND_OPENCL also device errors. A call
///         with a count of 0 checks all of that and answers nothing
/// cost  blocks of nodes are answered as a whole; single nodes are looked at only near the
///       distances R - h and R + h. Working memory is bounded, whatever the lattice;
///       docs/performance.md
CAROM_API carom_status carom_mesh_clearance(carom_mesh *mesh, const carom_mesh_clearance_desc *desc,
                                            const carom_mesh_clearance_result *out,
                                            carom_stats *stats, carom_error *err);

/// A ball over the columns of a lattice, row by row. A *row* is all columns of one j.
typedef struct carom_mesh_drop_desc {
    /// Rows [begin, count) of the lattice are answered, and results hold these alone. Progress
    /// counts rows, `stats` count columns. No `select`. Both accuracies give the exact answer
    carom_batch batch;
    /// Columns (i, j) at the x and y of nodes (i, j, 0). dims[2] must be 1; origin[2] must be
    /// finite and counts for nothing
    carom_lattice lattice;
    float radius; ///< of the ball, R, L; finite and >= 0
} carom_mesh_drop_desc;

typedef struct carom_mesh_drop_result {
    size_t size; ///< sizeof(carom_mesh_drop_result)
    /// [count - begin][dims x] height of the ball's centre, L; -inf where it meets nothing. May be
    /// NULL
    float *height;
} carom_mesh_drop_result;

/// Drop map: a ball comes down along -z over each column until it first touches the mesh (at a
/// distance of exactly R it does). Its centre is then at the height: the largest z at which a point
/// of the mesh is within R of the centre. The answer is the least binary32 that is not lower, so a
/// cutter at this height never cuts into the mesh; +inf beyond binary32; a zero is +0. Triangles
/// with a mask of 0 do not count. in, out, stats, err, bits, threads: as carom_sweep_pairs.
/// returns CAROM_OK | INVALID_ARGUMENT (also: a lattice beyond its limits or with dims[2] != 1) |
///         OUT_OF_MEMORY | UNSUPPORTED. A call with a count of 0 checks all of that and answers
///         nothing
/// cost  the CPU answers, on every backend. Each feature of the mesh near the rows once, and about
///       one evaluation per column; searches where these are cheaper. docs/drop.md. The first call
///       without a search for all finds the triangles at each corner, which the mesh keeps until
///       corners meet or part: 12 bytes per vertex and triangle, 16 per vertex more while they
///       are found. Working memory: some MiB and a bit per vertex for each thread, 4 bytes per
///       triangle with masks. How many columns `stats.by_integers` counts varies with rows and
///       threads, the heights do not
/// source docs/drop.md
CAROM_API carom_status carom_mesh_drop(carom_mesh *mesh, const carom_mesh_drop_desc *desc,
                                       const carom_mesh_drop_result *out, carom_stats *stats,
                                       carom_error *err);

/// Places (x, y) over which a ball comes down, in any order.
typedef struct carom_mesh_drop_at_desc {
    carom_batch batch; ///< both accuracies give the exact answer
    carom_scalars x, y;
    carom_uints mask; ///< as in carom_mesh_sweep_desc
    float radius;     ///< of the ball, R, L; finite and >= 0
} carom_mesh_drop_at_desc;

/// Height and contact per place; any pointer may be NULL.
typedef struct carom_mesh_drop_at_result {
    size_t size; ///< sizeof(carom_mesh_drop_at_result)
    /// [count] height of the ball's centre, L, as in carom_mesh_drop_result: never below the true
    /// height. -inf where the ball meets nothing; +inf beyond binary32, and of a place that is not
    /// finite, which has triangle -1
    float *height;
    /// [count] that the ball touches, the lowest index of several: with the centre at the true
    /// height, not the rounded one, it is at a distance of exactly R. -1 where nothing is met
    int32_t *triangle;
    carom_points_out point; ///< [count] closest point of that triangle; zeros without one
    uint8_t *feature; ///< [count] carom_feature that holds it, exactly; NONE without a triangle
} carom_mesh_drop_at_result;

/// Drop at given places: a ball comes down along -z over each place until it first touches the
/// mesh. Its height is carom_mesh_drop's over a column there, bit for bit. The point is within 1
/// unit in the last place of the largest coordinate among place, radius, triangle and height. Both
/// accuracies give this one answer. A place that is not finite is no error of the call. in, out,
/// stats, err, bits, threads: as carom_sweep_pairs.
/// returns CAROM_OK | INVALID_ARGUMENT | OUT_OF_MEMORY | UNSUPPORTED
/// cost  the CPU answers, on every backend: a search for every place, about that of a sphere from
///       above in carom_mesh_sweep_first, exact; docs/drop.md. Places that fill a lattice densely
///       cost less in carom_mesh_drop. `stats.by_integers` counts places whose height, triangle or
///       point integers decide
/// source docs/drop.md
CAROM_API carom_status carom_mesh_drop_at(carom_mesh *mesh, const carom_mesh_drop_at_desc *desc,
                                          const carom_mesh_drop_at_result *out, carom_stats *stats,
                                          carom_error *err);

#ifdef __cplusplus
}
#endif
#endif
