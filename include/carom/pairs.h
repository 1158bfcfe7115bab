/* SPDX-License-Identifier: MIT */
/// Pairs that the caller has chosen: sphere and triangle, or two spheres.
#ifndef CAROM_CAROM_PAIRS_H
#define CAROM_CAROM_PAIRS_H

#include "batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Indices of the pairs: pair i is (a[i], b[i]), sphere and triangle, or two spheres, each with its
/// velocity and radius; data == NULL: element i, and its count is not read. An index >= its count
/// is CAROM_ERROR_INVALID_ARGUMENT naming the pair, before any work. In random order, beyond the
/// caches, the gather dominates: docs/performance.md.
typedef struct carom_pair_indices {
    carom_uints a, b;
    uint64_t a_count, b_count; ///< elements of the inputs that `a` and `b` select from
} carom_pair_indices;

/// Sphere centre C + tV, radius r >= 0, against triangle P + tW.
typedef struct carom_sweep_pairs_desc {
    carom_batch batch;
    carom_points center, velocity;
    carom_scalars radius;
    carom_points p0, p1, p2;
    carom_points triangle_velocity; ///< x == NULL: triangles at rest
    carom_pair_indices indices;
} carom_sweep_pairs_desc;

/// Results of a sweep; any pointer may be NULL. Asking for t_first alone costs least.
typedef struct carom_sweep_result {
    size_t size;    ///< sizeof(carom_sweep_result)
    uint8_t *state; ///< [count] carom_state
    /// [count] T, over the whole real line: negative before 0; +inf, -inf without contact; infinite
    /// also beyond binary32, so test the state
    float *t_first, *t_last;
    /// [count] contact point in the world at that time: it has moved with the triangle. Without
    /// relative motion that of time 0. L; zeros without contact or finite time
    carom_points_out point_first, point_last;
    uint8_t *feature_first, *feature_last; ///< [count] carom_feature
} carom_sweep_result;

/// Sphere of centre C, radius r >= 0, against triangle P, at rest.
typedef struct carom_overlap_pairs_desc {
    carom_batch batch;
    carom_points center;
    carom_scalars radius;
    carom_points p0, p1, p2;
    carom_pair_indices indices;
} carom_overlap_pairs_desc;

typedef struct carom_overlap_result {
    size_t size;      ///< sizeof(carom_overlap_result)
    uint8_t *overlap; ///< [count] 1 overlapping or touching, 0 apart, CAROM_OVERLAP_INVALID
    /// [count] bit set: that axis separates. 0 plane, 1..3 AB BC CA, 4..6 A B C; or
    /// CAROM_OVERLAP_INVALID
    uint8_t *axes;
} carom_overlap_result;

/// Sphere A from a0 to a1 against sphere B from b0 to b1, over the normalised time u: 0 at start, 1
/// at end.
typedef struct carom_sphere_sweep_pairs_desc {
    carom_batch batch;
    carom_points a0, a1;
    carom_scalars radius_a;
    carom_points b0, b1;
    carom_scalars radius_b;
    carom_pair_indices indices;
} carom_sphere_sweep_pairs_desc;

typedef struct carom_sphere_sweep_result {
    size_t size;             ///< sizeof(carom_sphere_sweep_result)
    uint8_t *state;          ///< [count] carom_state, with u for t
    float *u_first, *u_last; ///< [count] over the whole real line; +inf, -inf without contact
} carom_sphere_sweep_result;

/// Sweep `count` sphere/triangle pairs.
/// in    arrays described above; not finite or radius < 0 means CAROM_INVALID for that pair
/// out   every requested array fully written; shares no byte with an input or another (see carom.h)
/// stats optional. err optional, caller-owned. Nothing is retained after return.
/// returns CAROM_OK | INVALID_ARGUMENT (which, why) | OUT_OF_MEMORY | UNSUPPORTED; with
///         CAROM_BACKEND_OPENCL also KERNEL_BUILD | NOT_BIT_EXACT (each kernel is probed when first
///         used) | DEVICE_LOST (outputs undefined). After these three the device is given up, and
///         every later batch of this context fails alike
/// bits  identical on every backend, ISA, thread count and chunk size. threads: one call at a time
///       per context.
/// source: Eberly, docs/numerics.md
CAROM_API carom_status carom_sweep_pairs(carom_context *context, const carom_sweep_pairs_desc *desc,
                                         const carom_sweep_result *out, carom_stats *stats,
                                         carom_error *err);

/// Separating-axis test of `count` sphere/triangle pairs. As carom_sweep_pairs; source: Ericson,
/// docs/numerics.md
CAROM_API carom_status carom_overlap_pairs(carom_context *context,
                                           const carom_overlap_pairs_desc *desc,
                                           const carom_overlap_result *out, carom_stats *stats,
                                           carom_error *err);

/// Sweep `count` sphere/sphere pairs. As carom_sweep_pairs; source: Gomez, docs/numerics.md
CAROM_API carom_status carom_sphere_sweep_pairs(carom_context *context,
                                                const carom_sphere_sweep_pairs_desc *desc,
                                                const carom_sphere_sweep_result *out,
                                                carom_stats *stats, carom_error *err);

#ifdef __cplusplus
}
#endif
#endif
