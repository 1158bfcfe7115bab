/* SPDX-License-Identifier: MIT */
/// Meshes, and queries of spheres against a mesh.
#ifndef CAROM_CAROM_MESH_H
#define CAROM_CAROM_MESH_H

#include "batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- mesh ------------------------------------------------------------------------------------ */

typedef struct carom_mesh carom_mesh;

/// Triangles from indexed vertices. The arrays are copied: the caller may free them after creation.
typedef struct carom_mesh_desc {
    size_t size; ///< sizeof(carom_mesh_desc)
    carom_points vertices;
    uint64_t vertex_count;
    carom_uints indices;     ///< [3 * triangle_count]; data == NULL: vertices 3i, 3i+1, 3i+2
    uint64_t triangle_count; ///< at most 2^31 - 1; 0 is an empty mesh
    /// [triangle_count]; data == NULL: all bits are set, and no memory is taken. A triangle counts
    /// for a query if (its mask & the query's) != 0
    carom_uints masks;
    /// [triangle_count] what contacts report as `patch`; data == NULL: patches are found from the
    /// shape, see carom_mesh_contacts_desc
    carom_uints patches;
    /// Counts triangles, as a share of the work, and their number at the end. Reports come at least
    /// every 0.1 s. Another value than 0 ends the call with CAROM_ERROR_CANCELLED within some
    /// milliseconds, without a mesh; at the end it is ignored
    carom_progress progress;
} carom_mesh_desc;

typedef struct carom_mesh_info {
    size_t size; ///< sizeof(carom_mesh_info), set by the caller
    uint64_t triangle_count, node_count;
    uint64_t bytes;           ///< host memory held
    float lower[3], upper[3]; ///< bounds; +inf, -inf if empty
    /// of the hierarchy: boxes that a line through the bounds meets on average; 0 if empty
    float cost;
    uint32_t refits; ///< refits of the hierarchy since it was built
    /// most children of a node and triangles of a leaf, 8 or 16: what the context searches fastest
    /// (docs/architecture.md, "The mesh"); answers do not depend on it
    uint32_t width;
} carom_mesh_info;

/// How carom_mesh_update adapts the hierarchy to the new vertices. The answers do not depend on it.
typedef enum carom_mesh_follow {
    /// refit, then rebuild if the cost is above CAROM_MESH_WORN times that after the last build
    CAROM_MESH_AUTO = 0,
    /// keep the hierarchy, compute new boxes: allocates no memory, whatever the cost becomes
    CAROM_MESH_REFIT = 1,
    /// build as carom_mesh_create does: for shapes that differ much from the one before
    CAROM_MESH_REBUILD = 2
} carom_mesh_follow;
/// CAROM_MESH_AUTO: a hierarchy that has become so many times as costly is built anew.
#define CAROM_MESH_WORN 1.5f

/// Copy triangles and build the hierarchy over them. The mesh holds a reference to its context. One
/// call at a time per context, this one too.
/// returns CAROM_OK | INVALID_ARGUMENT (a used vertex not finite, an index out of range: names
///         triangle and vertex) | OUT_OF_MEMORY | CANCELLED (by `progress`).   cost: O(n log n)
///         time, docs/performance.md gives bytes
CAROM_API carom_status carom_mesh_create(carom_context *context, const carom_mesh_desc *desc,
                                         carom_mesh **out, carom_error *err);
/// NULL is fine.
CAROM_API void carom_mesh_destroy(carom_mesh *mesh);
/// Move the vertices of a mesh; its triangles stay. Answers are those of a mesh that was created
/// from these vertices, bit for bit. One call at a time per context.
/// vertices as many as at creation (without indices: three per triangle), in the same units or
///          others; copied
/// device  a GPU that has all three arrays in a buffer refits its own copy of the mesh, unless a
///         rebuild is asked for, and at most 64 bytes cross. The host's copy follows when something
///         needs it: calls that the CPU answers or completes, exact answers in host memory, lists,
///         contacts, lattices, carom_mesh_get_info and _get_image; auto for a rebuild, of which it
///         judges the cost in binary32. Until then the device alone has the vertices. If it is
///         lost, or in a child of fork(), these calls fail with its error rather than answer with
///         old positions; an update with vertices of the host ends that
/// returns CAROM_OK | INVALID_ARGUMENT (a used vertex not finite: names triangle and vertex) |
///         OUT_OF_MEMORY (rebuild alone: auto then keeps the hierarchy that it has refitted, with a
///         warning in the log). On failure the mesh is as it was
/// cost    refit: O(n), a tenth of a build or less. A rebuild holds both hierarchies for its
///         duration. A device that has not refitted the mesh itself copies it again at its next
///         batch; docs/performance.md
CAROM_API carom_status carom_mesh_update(carom_mesh *mesh, const carom_points *vertices,
                                         carom_mesh_follow how, carom_error *err);
/// Replace the masks of a mesh's triangles, as carom_mesh_desc.masks sets them. Answers are those
/// of a mesh that was created with these masks, bit for bit. One call at a time per context.
/// masks   [triangle_count], copied; NULL or data == NULL: all bits are set, and no memory is taken
/// returns CAROM_OK | INVALID_ARGUMENT (the mesh lies in an image) | OUT_OF_MEMORY; device errors
///         of a mesh that a device has moved. On failure the mesh is as it was
/// cost    O(n), less than a refit; a device copies the mesh again at its next batch, and the next
///         contacts take as long as the first ones after an update
CAROM_API carom_status carom_mesh_set_masks(carom_mesh *mesh, const carom_uints *masks,
                                            carom_error *err);
/// Counts, bytes and bounds of a mesh. returns CAROM_OK | INVALID_ARGUMENT; device errors of a mesh
///         that a device has moved (carom_mesh_update)
CAROM_API carom_status carom_mesh_get_info(const carom_mesh *mesh, carom_mesh_info *out,
                                           carom_error *err);

/// Copy a mesh, hierarchy included, into memory that other processes of the same build of carom can
/// open: one copy in shared memory serves all processes of a machine. The bytes hold no address, so
/// they can also be sent to other machines. They depend on the mesh, on whether its open edges have
/// been counted, for a sign, and on the width of its nodes (carom_mesh_info): a context that may
/// use devices writes 16.
/// image  caller-owned, NULL to ask for the size alone; capacity in bytes
/// bytes  out: size of the image
/// returns CAROM_OK | INVALID_ARGUMENT (capacity is too small); device errors as
///         carom_mesh_get_info; OUT_OF_MEMORY.   cost: a copy; with CAROM_BACKEND_AUTO once a build
CAROM_API carom_status carom_mesh_get_image(const carom_mesh *mesh, void *image, uint64_t capacity,
                                            uint64_t *bytes, carom_error *err);
/// A mesh that reads an image where it lies. Its answers are those of the mesh that was copied, bit
/// for bit, but its vertices cannot be moved. Nothing writes to the image.
/// image  at a multiple of 64 bytes, caller-owned; it must stay as it is until the mesh is
///        destroyed. It is checked: its hierarchy must be one over its triangles, and refit to its
///        vertices, so bytes that came from elsewhere or were damaged do no harm. Masks, patches
///        and the number of open edges are taken as they are
/// returns CAROM_OK | INVALID_ARGUMENT (no image, of another version or build, cut off, or damaged:
///         names node or triangle) | OUT_OF_MEMORY
/// cost    no copy; it is read once, by all threads of the context: some percent of a build. A byte
///         for each triangle meanwhile, and up to 0.4 MB for the empty space of sweeps
CAROM_API carom_status carom_mesh_open_image(carom_context *context, const void *image,
                                             uint64_t size, carom_mesh **out, carom_error *err);

/* ---- queries of a mesh ----------------------------------------------------------------------- */

/// Bundles: with `bundle` K > 1 the queries K i .. K i + K - 1, in the order of `batch.select` if
/// there is one, have one answer together, element i of every output. So a robot of K spheres has
/// one answer for each configuration. `count` is the number of queries, a multiple of K, or the
/// call is CAROM_ERROR_INVALID_ARGUMENT; outputs have count / K elements. `progress` counts
/// queries, in whole bundles.
///   any       1 if one of the queries has a hit, else CAROM_OVERLAP_INVALID if one is invalid,
///             else 0. After the first hit the rest of a bundle is not searched
///   closest   the answer of the valid query with the largest depth as reported, then the lowest
///             index; `query` names it. If all are invalid, that of an invalid query, and -1
/// On a device the bundles of a call whose arrays all lie in its buffers stay there; else the host
/// puts their answers together. In carom_stats all queries are answered, those too that need no
/// search. cost: docs/performance.md ("Bundles")

/// Sphere centre C + tV, radius r >= 0, over the window [0, t_max], against a mesh.
typedef struct carom_mesh_sweep_desc {
    carom_batch batch;
    carom_points center;
    /// One of the two, the other stays zero: V, or where each centre is at time 1. Then the motion
    /// is the real difference end - center, which fast mode rounds once, and ends at time 1
    carom_points velocity, end;
    carom_scalars radius;
    /// data == NULL: +inf, or 1 with `end`. NaN, negative, or with `end` more than 1 is
    /// CAROM_ERROR_INVALID_ARGUMENT naming the query. Exact mode compares the true time, so a time
    /// that rounds to t_max may be no hit
    carom_scalars t_max;
    carom_uints mask; ///< see carom_mesh_desc; data == NULL: all bits are set
    /// 1: triangles with n.V > 0 are no hits, n = (P1-P0)x(P2-P0); degenerate ones have no back
    uint8_t cull_back;
    carom_start start;
    uint32_t bundle; ///< of carom_mesh_sweep_any alone: see "bundles"; 0 and 1: none
} carom_mesh_sweep_desc;

/// First hit per query; any pointer may be NULL.
typedef struct carom_mesh_hit_result {
    size_t size;       ///< sizeof(carom_mesh_hit_result)
    int32_t *triangle; ///< [count] index of the triangle hit; -1 without a hit
    uint8_t *state;    ///< [count] APPROACHING, TOUCHING, OVERLAPPING, MISS or INVALID
    /// [count] time of contact in [0, t_max]; +inf without a hit, and also of a hit beyond
    /// binary32: the triangle tells which
    float *t;
    /// [count] contact point at t, of a hit at time 0 the triangle's closest point; zeros without a
    /// hit or a finite time
    carom_points_out point;
    /// [count] unit vector from contact point to centre. Where they coincide: the triangle's unit
    /// normal against the motion, or the direction against the motion if that is along the plane;
    /// zeros if there is no motion either. Zeros also where the point has none
    carom_points_out normal;
    uint8_t *feature; ///< [count] carom_feature; NONE without a hit
    /// [count] of carom_scene_mesh: the instance that `triangle` is of, -1 without a hit. Of a mesh
    /// it must be NULL
    int32_t *instance;
} carom_mesh_hit_result;

/// Hits of a batch, one record each, ordered by (query, time, triangle). Arrays are the caller's;
/// any may be NULL.
typedef struct carom_hit_list {
    size_t size;       ///< sizeof(carom_hit_list)
    uint64_t capacity; ///< records that the arrays below hold; 0: hits are only counted
    /// [count + 1] hits of query i are the records [offsets[i], offsets[i + 1]) of this call. With
    /// begin = 3 the first written is offsets[3], which is 0, and record 0 is query 3's first hit.
    /// Counted to the end of the batch, whatever the capacity. An invalid query has none. So in a
    /// list that is too short offsets go on where records do not: query i has its records if and
    /// only if offsets[i + 1] <= capacity. A kernel that reads the list on a device tests that for
    /// each query, or reads `totals` in a buffer: carom_opencl.h ("Lists")
    uint64_t *offsets;
    uint64_t *query; ///< [capacity] index of the query
    /// [capacity] of the triangle. (`index`: an earlier name, for one version)
    CAROM_RENAMED
    {
        int32_t *triangle;
        int32_t *index;
    };
    uint8_t *state; ///< [capacity] APPROACHING, TOUCHING or OVERLAPPING
    float *t;       ///< [capacity] as in carom_mesh_hit_result, and so the rest
    carom_points_out point, normal;
    uint8_t *feature;
    int32_t *instance;         ///< [capacity] as in carom_mesh_hit_result
    carom_list_totals *totals; ///< out, must not be NULL
} carom_hit_list;

/// Which side of a mesh is inside: a mesh with a sign is a body. Distances are negative inside. A
/// ray goes from the centre or node along +z, as if that had moved by (e, e^2) in x and y with an
/// infinitely small e. It crosses triangles strictly above its start, and only those that the
/// query's mask selects count. Decided exactly, also in fast mode (CAROM_SIGN_ROBUST up to 2^-20).
/// Distance 0 has no side.
///
/// CAROM_SIGN_PARITY refuses a mesh in which an edge has an odd number of incidences, and
/// CAROM_SIGN_WINDING one whose directed edges do not cancel: INVALID_ARGUMENT with their number,
/// unless the call allows open meshes. Edges are equal if the positions of their ends are; edges
/// without length do not count, nor do triangles with a mask of 0.
typedef enum carom_sign {
    CAROM_SIGN_NONE = 0,   ///< nothing is inside: no distance is negative
    CAROM_SIGN_PARITY = 1, ///< inside if the ray crosses an odd number of triangles
    /// inside if the crossings do not cancel: +1 where the normal (P1-P0)x(P2-P0) points up, -1
    /// where it points down. So normals may point in or out, if all do
    CAROM_SIGN_WINDING = 2,
    /// for meshes with holes, cracks and doubled faces; takes every mesh. Inside if |w| >= 1/2, w
    /// the sum of the solid angles of the triangles / 4 pi, + for each that shows its back. The
    /// side is the true one where |w| is farther than 2^-20 from 1/2, and elsewhere depends on the
    /// place, the mesh and its masks alone. On a closed mesh it is that of CAROM_SIGN_WINDING.
    /// Queries of one call may select triangles by at most 32 different masks; bits that no
    /// triangle has do not count. More is CAROM_ERROR_UNSUPPORTED naming the query
    CAROM_SIGN_ROBUST = 3
} carom_sign;

/// Sphere of centre C, radius r >= 0, at rest, against a mesh.
typedef struct carom_mesh_overlap_desc {
    carom_batch batch;
    carom_points center;
    carom_scalars radius;
    carom_uints mask; ///< as in carom_mesh_sweep_desc
    /// of carom_mesh_overlap_any alone: a sphere whose centre is inside overlaps too
    carom_sign sign;
    uint8_t allow_open; ///< 1: take a mesh that carom_sign would refuse
    uint32_t bundle;    ///< of carom_mesh_overlap_any alone: see "bundles"; 0 and 1: none
} carom_mesh_overlap_desc;

/// Centre C against a mesh: the nearest triangle within a distance.
typedef struct carom_mesh_closest_desc {
    carom_batch batch;
    carom_points center;
    carom_scalars radius; ///< serves `depth` alone; >= 0; data == NULL: 0, so depth is -distance
    /// data == NULL: +inf; NaN or negative is CAROM_ERROR_INVALID_ARGUMENT naming the query. A
    /// triangle counts if its reported, so rounded, distance is no larger in magnitude
    carom_scalars max_distance;
    carom_uints mask;   ///< as in carom_mesh_sweep_desc
    carom_sign sign;    ///< of distances
    uint8_t allow_open; ///< 1: take a mesh that carom_sign would refuse
    uint32_t bundle;    ///< see "bundles"; 0 and 1: none
} carom_mesh_closest_desc;

/// Nearest triangle per query, or of each bundle's query; any pointer may be NULL.
typedef struct carom_mesh_closest_result {
    size_t size; ///< sizeof(carom_mesh_closest_result)
    /// [count] of the smallest (distance, triangle); -1 for an invalid query, or if no triangle
    /// counts for it or is within max_distance
    int32_t *triangle;
    /// [count] from the centre to that triangle, L; +inf without one, or beyond binary32. With a
    /// sign: negative inside, also where it is infinite; a zero is +0
    float *distance;
    /// [count] closest point of that triangle, also at an infinite distance; zeros without one
    carom_points_out point;
    uint8_t *feature; ///< [count] carom_feature that holds it; NONE without one
    /// [count] radius - distance: negative if apart; -inf without a triangle, +inf without one
    /// inside
    float *depth;
    /// [count] unit vector in whose direction the distance grows: from the closest point to the
    /// centre, and the opposite inside. At distance 0 the triangle's normal (P1-P0)x(P2-P0), zeros
    /// if it has none; zeros without a triangle
    carom_points_out gradient;
    int32_t *instance; ///< [count] as in carom_mesh_hit_result
    /// [count / bundle] index of the query whose answer the bundle has; -1 if all its queries are
    /// invalid. Without bundles that of each valid query
    int64_t *query;
} carom_mesh_closest_result;

/// First hit of `count` swept spheres against `mesh`: the smallest (binary32 time, triangle index).
/// So of several triangles that the sphere overlaps at the start, all hit at time 0, it is the one
/// of lowest index, not the nearest; carom_mesh_closest finds that. The mesh rests during the
/// batch; if all of it moves with a velocity W, give velocities V - W and add t W to the points.
///
/// in, out, stats, err, bits, threads: as carom_sweep_pairs
/// device a mesh is copied there at its first batch. If there is no memory for it, with
///        CAROM_BACKEND_AUTO the CPU answers, which `stats` report, and the copy is not tried again
///        before carom_mesh_update; with CAROM_BACKEND_OPENCL each call tries anew, and is
///        OUT_OF_MEMORY. So for all queries of a mesh
/// returns CAROM_OK | INVALID_ARGUMENT | OUT_OF_MEMORY | UNSUPPORTED; with CAROM_BACKEND_OPENCL
///         also device errors
CAROM_API carom_status carom_mesh_sweep_first(carom_mesh *mesh, const carom_mesh_sweep_desc *desc,
                                              const carom_mesh_hit_result *out, carom_stats *stats,
                                              carom_error *err);

/// Which hits a list has.
typedef enum carom_hits {
    CAROM_HITS_ALL = 0, ///< every triangle that is hit within the window
    /// the first hit of every query that has one: carom_mesh_sweep_first, compacted
    CAROM_HITS_FIRST = 1
} carom_hits;

/// Hits of `count` swept spheres as a list. Each triangle that is hit has its record, also where
/// two share the edge that is touched: `feature` lets the caller merge them. If the list is too
/// short, it holds the hits of whole queries, and the hits of all others are counted; `complete` is
/// the query to go on from. Going on searches and counts all remaining queries once more. So if a
/// list has to be cut more than a few times, get the offsets with capacity 0 first, and cut the
/// batch by them.
/// returns as carom_mesh_sweep_first; OUT_OF_MEMORY if the hits of one part of the batch cannot be
///         held; then, too, the queries [0, complete) have theirs. stats: by_integers counts
///         queries of which integers decide whether a triangle is hit, or a point in the list;
///         by_proof the others
/// cost  one search for every query, two on a device with memory of its own. Working memory is
///       bounded, whatever the number of hits: docs/performance.md, section 2, has it
CAROM_API carom_status carom_mesh_sweep_list(carom_mesh *mesh, const carom_mesh_sweep_desc *desc,
                                             carom_hits which, const carom_hit_list *list,
                                             carom_stats *stats, carom_error *err);
/// Any hit (occlusion) of `count` swept spheres. The search of a query ends at the first triangle
/// found.
CAROM_API carom_status carom_mesh_sweep_any(carom_mesh *mesh, const carom_mesh_sweep_desc *desc,
                                            const carom_any_result *out, carom_stats *stats,
                                            carom_error *err);

/// Whether each of `count` spheres overlaps the mesh (distance <= r to a triangle). Exact mode:
/// decided exactly, ties included. A mesh is a shell: without a sign a sphere wholly inside a solid
/// overlaps nothing. With one, a sphere overlaps whose centre is inside, too; a device leaves that
/// to the CPU, as `stats` report. An open mesh with a sign is INVALID_ARGUMENT
CAROM_API carom_status carom_mesh_overlap_any(carom_mesh *mesh, const carom_mesh_overlap_desc *desc,
                                              const carom_any_result *out, carom_stats *stats,
                                              carom_error *err);
/// The triangles that each sphere overlaps, as a list of query and triangle; the list's other
/// columns must be NULL. To count alone, leave the capacity 0 and take differences of the offsets.
CAROM_API carom_status carom_mesh_overlap_list(carom_mesh *mesh,
                                               const carom_mesh_overlap_desc *desc,
                                               const carom_hit_list *list, carom_stats *stats,
                                               carom_error *err);
/// The triangle closest to each of `count` centres, if it is within max_distance: the smallest
/// (distance, triangle index). A radius that is given must be valid. Exact mode: distance, triangle
/// and feature are the true ones, the distance rounded to the nearest binary32 before it decides,
/// so distances that round to one number tie. The point is within one unit in the last place of
/// the largest coordinate, each component of the gradient within 2^-23. An invalid query is no
/// error of the call. A mesh is a shell: distances are those of its surface, and without a sign
/// they are positive inside a solid too, so the depth of a sphere wholly inside is negative. With a
/// sign the mesh is a body: that depth is the radius and the distance to the surface together.
///
/// in, out, stats, err, bits, threads: as carom_sweep_pairs
/// returns CAROM_OK | INVALID_ARGUMENT (also: an open mesh with a sign) | OUT_OF_MEMORY |
///         UNSUPPORTED; with CAROM_BACKEND_OPENCL also device errors
/// cost  a search for every query, the longer the farther it is from the mesh; with max_distance,
///       of what is within it alone; with a sign one more along a vertical line;
///       docs/performance.md. A device leaves signs to the CPU, as `stats` report.
///       The edges are counted at the first call with a sign after the mesh was made or updated;
///       CAROM_SIGN_ROBUST sorts them for each mask in use, and adds what the closing of the holes
///       takes: little for some holes. For a mesh of single triangles it grows with their number:
///       300 times the search for 10,000, 4000 times for 50,000
CAROM_API carom_status carom_mesh_closest(carom_mesh *mesh, const carom_mesh_closest_desc *desc,
                                          const carom_mesh_closest_result *out, carom_stats *stats,
                                          carom_error *err);

/* ---- contacts with a mesh -------------------------------------------------------------------- */

/// Spheres of centre C and radius r >= 0, at rest, against the surface of a mesh. Let d_j be the
/// distance of triangle j and q_j its closest point to C. Triangle k makes a contact if d_k <= r +
/// margin and no triangle j that contains q_k comes before it in the order (d_j, j). So a contact
/// is a local minimum of the distance over the surface: one on a flat wall, however it is cut into
/// triangles, two in a concave corner.
typedef struct carom_mesh_contacts_desc {
    carom_batch batch;
    carom_points center;
    carom_scalars radius;
    carom_uints mask; ///< as in carom_mesh_sweep_desc; other triangles count for nothing
    float margin;     ///< L, finite and >= 0: contacts that are no farther than this
    /// L, finite and >= 0. 0: j contains q_k if it has the corner, edge or face, by positions, that
    /// q_k lies on. > 0: also every j whose distance to the reported point q_k is no more. Then
    /// T-junctions and cracks make no second contact
    float merge_within;
    /// NULL: 1. Else degrees in [0, 180]. Triangles are of one patch if a chain of shared edges
    /// joins them along which normals differ by no more; with merge_within > 0 also a chain of
    /// edges that run along each other for more than 8 times that distance, if nothing else is
    /// joined across them: docs/contacts.md, section 2. Serves `patch` alone
    const double *flat;
} carom_mesh_contacts_desc;

/// Contacts, one record each, ordered by (query, distance, triangle). Arrays are the caller's; any
/// may be NULL.
typedef struct carom_contact_list {
    size_t size;            ///< sizeof(carom_contact_list)
    uint64_t capacity;      ///< records that the arrays below hold; 0: contacts are only counted
    uint64_t *offsets;      ///< [count + 1] as in carom_hit_list
    uint64_t *query;        ///< [capacity] index of the sphere
    int32_t *triangle;      ///< [capacity]
    uint8_t *feature;       ///< [capacity] carom_feature that holds the point
    float *distance;        ///< [capacity] L, of the triangle from the centre
    carom_points_out point; ///< closest point of the triangle
    /// unit vector along C - q; on a face the triangle's normal on the side of C. At distance 0 the
    /// triangle's normal (P1-P0)x(P2-P0), zeros if it has none
    carom_points_out normal;
    float *depth; ///< [capacity] radius - distance: negative within the margin
    /// [capacity] the one given at creation of the mesh, else the lowest triangle of the patch;
    /// does not depend on masks
    uint32_t *patch;
    carom_list_totals *totals; ///< out, must not be NULL
    int32_t *instance;         ///< [capacity] as in carom_mesh_hit_result
} carom_contact_list;

/// The contacts of `count` spheres with a mesh. Exact mode: features and the order of distances are
/// the true ones, distances the nearest binary32, each component of a normal within 2^-23. Fast
/// mode: binary32, in which a foot within some 10^-6 of the size of an edge or a corner counts as
/// on it, so that in a concave corner such a contact is missing; the nearest always appears. If the
/// list is too short, it holds the contacts of whole queries, and all others are counted.
///
/// in, out, stats, err, bits, threads: as carom_sweep_pairs. An invalid sphere has no contacts
/// returns CAROM_OK | INVALID_ARGUMENT | OUT_OF_MEMORY
/// cost  a search for every sphere, and some ns for each triangle within r + margin; on a mesh
///       that is crumpled some 60. A device searches, and chooses among what is found if it has
///       binary64 and the arrays lie in its buffers; else the CPU chooses: docs/contacts.md. The
///       first call finds edges and corners of the mesh, which it keeps until corners meet or part:
///       some 160 bytes per triangle, 90 more if these have masks; up to 270 and 140 more where
///       triangles share no vertices. `patch` takes 4 more for each of up to four pairs of `flat`
///       and merge_within.
///       The first call after an update takes some four refits
/// source docs/contacts.md
CAROM_API carom_status carom_mesh_contacts(carom_mesh *mesh, const carom_mesh_contacts_desc *desc,
                                           const carom_contact_list *list, carom_stats *stats,
                                           carom_error *err);

/// Contacts as carom_mesh_contacts lists them: what a history is kept by. Of a batch with `select`
/// the query must be select[query] in both lists, and so the selection ascending: the next step may
/// select other spheres.
typedef struct carom_contact_records {
    size_t size; ///< sizeof(carom_contact_records)
    uint64_t count;
    const uint64_t *query; ///< [count] sphere, ascending
    const uint32_t *patch; ///< [count]
    carom_points point;    ///< [count] finite
    /// [count] of a scene: contacts go on in the same instance alone; NULL: in both lists
    const int32_t *instance;
} carom_contact_records;

/// Which contacts go on; any pointer may be NULL.
typedef struct carom_contact_match {
    size_t size;       ///< sizeof(carom_contact_match)
    int64_t *previous; ///< [now.count] the same contact in the previous list; -1: a new one
    uint64_t *ended;   ///< [previous.count] previous contacts that are gone, ascending
    uint64_t *ended_count;
} carom_contact_match;

/// Match the contacts of two steps. Those with the same sphere and patch are paired by the distance
/// of their points, the nearest first, each at most once; of equal distances by the lower previous
/// index, then the lower index. Distances of binary32 points are compared as real numbers. So a
/// ball that rolls over the edges of a flat patch keeps its contact, in exact mode; in fast mode if
/// contacts are merged: docs/contacts.md, section 3.
/// returns CAROM_OK | INVALID_ARGUMENT (a query less than the one before it, a point not finite:
///         names the record) | OUT_OF_MEMORY. Nothing is written on failure
/// cost  linear; of m previous and n new contacts with the same sphere, m n
CAROM_API carom_status carom_contacts_match(carom_context *context,
                                            const carom_contact_records *previous,
                                            const carom_contact_records *now,
                                            const carom_contact_match *out, carom_error *err);

#ifdef __cplusplus
}
#endif
#endif
