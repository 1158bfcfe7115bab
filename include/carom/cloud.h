/* SPDX-License-Identifier: MIT */
/// Clouds: spheres among themselves.
#ifndef CAROM_CAROM_CLOUD_H
#define CAROM_CAROM_CLOUD_H

#include "batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The second cloud of a call: carom_cloud_desc.against. Members are as in carom_cloud_desc. Only
/// read, and it must stay as long as its arrays: until the call returns, or its job has ended.
typedef struct carom_cloud_against {
    size_t size;    ///< sizeof(carom_cloud_against)
    uint64_t count; ///< spheres; with those of the first cloud at most 2^31 - 1
    carom_points center;
    carom_points velocity; ///< x == NULL: at rest
    carom_scalars radius;
    carom_uints mask, group;
    carom_scalars t_max;
} carom_cloud_against;

/// A cloud: spheres of centre C, radius r >= 0 and velocity V. Of spheres a < b, with d = Cb - Ca
/// and v = Vb - Va as real numbers, fast mode rounds d, v and ra + rb once each. The pair is a hit
/// if contact begins in [0, t_max], or if it is TOUCHING or OVERLAPPING at 0. No size of cells,
/// bounds or largest radius is asked for, and answers do not depend on them.
typedef struct carom_cloud_desc {
    /// `count` spheres, at most 2^31 - 1. carom_cloud_list answers pairs with a in [begin, a_end);
    /// the others have no `begin`. No `select`
    carom_batch batch;
    /// lists; at most `count`. 0: `count`. (`end`: an earlier name, for one version)
    CAROM_RENAMED
    {
        uint64_t a_end;
        uint64_t end;
    };
    carom_points center;
    carom_points velocity; ///< x == NULL: at rest
    carom_scalars radius;
    /// data == NULL: all bits are set. A pair needs (group a & mask b) != 0 and (group b & mask a)
    /// != 0: each sphere has a bit of its groups among those that the other one meets
    carom_uints mask;
    /// data == NULL: its mask, so that a pair needs (mask a & mask b) != 0. The CPU answers groups
    carom_uints group;
    /// data == NULL: +inf. NaN or negative is CAROM_ERROR_INVALID_ARGUMENT naming the sphere. A
    /// pair has the smaller of its two; exact mode compares the true time
    carom_scalars t_max;
    /// L, finite and >= 0; 0 with `velocity`, and for first and any partners. Pairs with a distance
    /// <= ra + rb + margin are listed and counted, with MISS and t = +inf where only the margin
    /// makes the pair
    float margin;
    /// Lengths of a periodic box, 0: open along that axis. Then Cb is taken at Cb + k L, for k =
    /// -1, 0 and 1, along each axis that has a length; every image makes a pair of its own. No
    /// sphere pairs with its own image. Centres may lie anywhere and are taken as they are given:
    /// nothing is wrapped into a box, so spheres two lengths apart and more have no common image.
    /// A shift counts from the given centres
    float period[3];
    /// carom_start; SKIP_PARTING leaves out a pair in contact at time 0 with d.v > 0
    carom_start start;
    uint8_t full; ///< lists. 1: each pair stands under both spheres, with the shift negated under b
    /// Not NULL: pairs are those of a sphere a of this cloud and a sphere b of that one, and no
    /// others. Indices b are the second cloud's, and equal ones are as all others: a cloud against
    /// itself has (a, b), (b, a) and (a, a). Answers are about the spheres of this cloud. `full`
    /// must be 0, and `margin` if either has velocities. The CPU answers
    const carom_cloud_against *against;
} carom_cloud_desc;

/// Pairs of an earlier list, to find them again. Only read. Where positions were wrapped into the
/// period since (new = old + w L for each sphere), its shifts must be corrected first: the shift of
/// a and b is now shift + w_a - w_b.
typedef struct carom_cloud_pairs_before {
    size_t size;         ///< sizeof(carom_cloud_pairs_before)
    uint64_t count;      ///< records
    const int32_t *a;    ///< [count] ascending; equal ones are allowed
    const int32_t *b;    ///< [count] of the second cloud, if there is one
    const int8_t *shift; ///< [count][3]; NULL: all are 0
} carom_cloud_pairs_before;

/// Pairs, one record each, ordered by (a, t, b, shift). Arrays are the caller's; any may be NULL.
typedef struct carom_cloud_pair_list {
    size_t size;       ///< sizeof(carom_cloud_pair_list)
    uint64_t capacity; ///< records that the arrays below hold; 0: pairs are only counted
    uint64_t *offsets; ///< [count + 1] as in carom_hit_list, by a; set from `begin` to `a_end`
    int32_t *a, *b;    ///< [capacity] indices, b of the second cloud if there is one
    uint8_t *state;    ///< [capacity] APPROACHING, TOUCHING, OVERLAPPING, or MISS: see `margin`
    float *t;          ///< [capacity] T; +inf also beyond binary32
    int8_t *shift;     ///< [capacity][3] b's image, in periods
    /// [capacity] ra + rb - distance at the hit, L: the nearest binary32 to the true number, in
    /// both modes. 0 for APPROACHING and TOUCHING; below 0 where only the margin makes the pair
    float *depth;
    /// [capacity] unit vector from a to b at the hit (of a margin's pair: at time 0), each
    /// component within 2^-24, a zero +0. Where centres coincide: -v / |v|, or zeros without
    /// relative motion
    carom_points_out normal;
    /// [capacity] index of the same a, b and shift in `before`, the lowest of several; -1 if the
    /// pair is new
    int64_t *previous;
    const carom_cloud_pairs_before *before; ///< for `previous`; NULL: no pairs
    carom_list_totals *totals;              ///< out, must not be NULL
} carom_cloud_pair_list;

/// The first partner of each sphere, the smallest (t, index); any pointer may be NULL.
typedef struct carom_cloud_partner_result {
    size_t size;    ///< sizeof(carom_cloud_partner_result)
    int32_t *other; ///< [count] -1 without one; of the second cloud, if there is one
    /// [count] APPROACHING, TOUCHING, OVERLAPPING, MISS or INVALID; of a partner's images that have
    /// this t the lowest state
    uint8_t *state;
    float *t; ///< [count] T; +inf without a partner, or beyond binary32
} carom_cloud_partner_result;

/// Value of `partners` for a sphere with an invalid input.
#define CAROM_COUNT_INVALID UINT32_MAX
typedef struct carom_cloud_count_result {
    size_t size;        ///< sizeof(carom_cloud_count_result)
    uint32_t *partners; ///< [count] images counted one by one; must not be NULL
} carom_cloud_count_result;

/// All pairs of `count` spheres that touch, or that will within t_max. If the list is too short, it
/// holds the pairs of whole spheres a, and all others are counted; `complete` is the sphere to go
/// on from. With the offsets of the first call, [begin, a_end) can cut the next pieces to what
/// fits.
///
/// in, out, stats, err, bits, threads: as carom_sweep_pairs; `stats` count spheres, but by_integers
///         counts pairs, as often as the search decides each, and by_proof is 0. Lists and counts
///         of spheres at rest have the same number everywhere. Searches for partners, and through
///         time, leave out pairs that cannot matter any more: which ones depends on their order, so
///         the number differs between devices and instruction sets. A device answers a cloud as a
///         whole, else the CPU does
/// returns CAROM_OK | INVALID_ARGUMENT (also: more than 2^36 pairs, as of 400,000 spheres in one
///         place; the answers are undefined then) | CANCELLED | OUT_OF_MEMORY
/// cost  Memory: some 80 bytes per sphere (moving: 180) and 16 per record. A
///       list that is too short costs three times as much as one that is not: ask for the number
///       first, with capacity 0. Depth and normal take a third of the list's time more, an earlier
///       list a tenth: docs/spheres.md
CAROM_API carom_status carom_cloud_list(carom_context *context, const carom_cloud_desc *desc,
                                        const carom_cloud_pair_list *list, carom_stats *stats,
                                        carom_error *err);
/// The first partner of each sphere. Cheap also where many spheres are in one place, unless `start`
/// leaves out their contact.
CAROM_API carom_status carom_cloud_first(carom_context *context, const carom_cloud_desc *desc,
                                         const carom_cloud_partner_result *out, carom_stats *stats,
                                         carom_error *err);
/// Whether each sphere has a partner; as cheap.
CAROM_API carom_status carom_cloud_any(carom_context *context, const carom_cloud_desc *desc,
                                       const carom_any_result *out, carom_stats *stats,
                                       carom_error *err);
/// How many partners each sphere has. Returns and costs as carom_cloud_list.
CAROM_API carom_status carom_cloud_count(carom_context *context, const carom_cloud_desc *desc,
                                         const carom_cloud_count_result *out, carom_stats *stats,
                                         carom_error *err);

/// The spheres in the order of cells: near each other in space, near each other in memory. A caller
/// that keeps its spheres so, and renews the order every hundred steps or so, has its pairs sooner.
/// order[k] [count] is the sphere to put at place k; every sphere stands there once. Spheres of one
/// cell, and those that are invalid, behind all others, keep their order. Centers and radii decide;
/// of the rest of `desc` nothing but `batch` matters, but it is checked.
///
/// in, stats, err, bits, threads: as carom_cloud_list. The bits may differ between versions
/// returns CAROM_OK | INVALID_ARGUMENT | OUT_OF_MEMORY
/// cost  a part of a list's: docs/spheres.md
CAROM_API carom_status carom_cloud_order(carom_context *context, const carom_cloud_desc *desc,
                                         uint32_t *order, carom_stats *stats, carom_error *err);

#ifdef __cplusplus
}
#endif
#endif
