/* SPDX-License-Identifier: MIT */
/* Clouds in motion on a GPU, slice by slice of the time window: bounding spheres in the slice, which cloud_sort.cl
 * sorts and cloud_pairs.cl searches as spheres at rest; the pairs among these that may meet in the slice; their times;
 * and a list of all hits, from which lists, counts and partners are made. The host names the kernel that it builds.
 * docs/spheres.md, section 11, has the bounds. */
#define PAIR_SOLVERS
#include "cloud_cell.h"
#include "cloud.h"
#include "cloud_rows.h"
#include "cloud_test.h"

#ifdef KERNEL_grid_read_moving
/* Stores spheres [first, first + spheres): centre and reach, -1 if an input is invalid; velocity and limit of time. */
__kernel void carom_grid_read_moving(__global const real *x, __global const real *y, __global const real *z,
                                     __global const real *radius, __global const real *vx, __global const real *vy,
                                     __global const real *vz, __global const real *limit, __global const uint *mask,
                                     __global const uint *group, int options, int is_filtered, uint first,
                                     __global float4 *sphere, __global float4 *motion, __global uint2 *filter,
                                     uint spheres, uint items)
{
    GRID_FOR_EACH(i, spheres)
    {
        const v3 at = v3_of(x[i], y[i], z[i]), v = v3_of(vx[i], vy[i], vz[i]);
        const real r = radius[i];
        const int is_valid = v3_finite(at) && v3_finite(v) && v_finite(r) && r >= R(0.0);
        sphere[first + i] = (float4)(at.x, at.y, at.z, is_valid ? v_abs(r) : R(-1.0));
        motion[first + i] = (float4)(v.x, v.y, v.z, limit[i]);
        if (is_filtered)
            filter[first + i] = grid_filter(mask, group, i, options);
    }
    (void)items;
}
#endif

#ifdef KERNEL_grid_limits
/* The limits of all spheres. Of two numbers that meet in a maximum, the smaller may still be the second largest of all.
 */
__kernel void carom_grid_limits(__global const float4 *motion, uint split, volatile __global grid_limits *limits,
                                uint spheres, uint items)
{
    uint largest = 0, second = 0, other = 0, finite = 0;
    GRID_FOR_EACH(i, spheres)
    {
        const uint limit = real_bits(motion[i].w) & R_MAGNITUDE_MASK;
        finite = limit < R_INFINITY_BITS ? max(finite, limit) : finite;
        if (i >= split) {
            other = max(other, limit);
        } else {
            second = max(second, min(largest, limit));
            largest = max(largest, limit);
        }
    }
    const uint before = atomic_max(&limits->largest, largest);
    atomic_max(&limits->second, max(second, min(before, largest)));
    atomic_max(&limits->other, other);
    atomic_max(&limits->finite, finite);
    (void)items;
}
#endif

#ifdef KERNEL_grid_draw
/* The first sphere of an equal share of all. */
FN uint grid_share_begin(uint spheres, uint shares, uint share)
{
    return spheres / shares * share + min(share, spheres % shares);
}

/* Draws a pseudorandom sphere of each of `samples` shares, the same as the host does, to memory behind the limits. */
__kernel void carom_grid_draw(__global const float4 *sphere, __global const float4 *motion, __global float4 *to,
                              uint spheres, uint samples, uint items)
{
    GRID_FOR_EACH(i, samples)
    {
        const uint begin = grid_share_begin(spheres, samples, i), end = grid_share_begin(spheres, samples, i + 1);
        const uint own = min(begin + (uint)((i * 0x9e3779b97f4a7c15UL >> 33) % (end - begin)), spheres - 1);
        to[2 * i + 1] = sphere[own];
        to[2 * i + 2] = motion[own];
    }
    (void)items;
}
#endif

/* The least binary32 number: by less than it a time near 0 is beside the true one. */
#define GRID_TIME_LEAST R(0x1p-149)

#ifdef KERNEL_grid_bound
/* The length of v, or more. */
FN real grid_speed(v3 v)
{
    const real square = v3_dot(v, v), sum = v_abs(v.x) + v_abs(v.y) + v_abs(v.z);
    return square > CLOUD_SQUARE_LEAST && square < CLOUD_SQUARE_MOST ? v_sqrt(square) : sum;
}

/* A ball around a sphere in the slice [begin, end], relative to an origin that moves. Reach -1: it is not in the slice;
 * infinite: it may be everywhere. */
FN float4 grid_ball(float4 sphere, float4 motion, v3 origin, v3 drift, real begin, real end)
{
    const real last = motion.w < end ? motion.w : end, middle = begin + (last - begin) * R(0.5);
    const real half_time = v_max(middle - begin, last - middle);
    const v3 v = v3_sub(v3_of(motion.x, motion.y, motion.z), drift);
    const v3 at = v3_add(v3_sub(v3_of(sphere.x, sphere.y, sphere.z), origin), v3_mul(v, middle));
    const real size = v_abs(at.x) + v_abs(at.y) + v_abs(at.z), speed = grid_speed(v);
    const real path = (v_abs(v.x) + v_abs(v.y) + v_abs(v.z)) * last;
    const real reach = sphere.w + speed * (half_time + GRID_TIME_LEAST) + (sphere.w + speed * last) * R(0x1p-15) +
                       (size + path) * R(0x1p-22) + CLOUD_TINY;
    const real most = CLOUD_SQUARE_MOST;
    if (sphere.w < R(0.0) || motion.w < begin)
        return (float4)(R(0.0), R(0.0), R(0.0), R(-1.0));
    if (!(reach < most && size < most))
        return (float4)(R(0.0), R(0.0), R(0.0), real_of_bits(R_INFINITY_BITS));
    return (float4)(at.x, at.y, at.z, reach + reach * R(0x1p-20));
}

__kernel void carom_grid_bound(__global const float4 *sphere, __global const float4 *motion, real x, real y, real z,
                               real vx, real vy, real vz, real begin, real end, __global float4 *ball,
                               volatile __global grid_totals *totals, uint spheres, uint items)
{
    if (get_global_id(0) == 0)
        totals->meeting = 0;
    GRID_FOR_EACH(i, spheres)
    ball[i] = grid_ball(sphere[i], motion[i], v3_of(x, y, z), v3_of(vx, vy, vz), begin, end);
    (void)items;
}
#endif

/* The limit of a pair: the smaller one of two. */
FN real grid_limit(float4 motion_a, float4 motion_b)
{
    return motion_a.w < motion_b.w ? motion_a.w : motion_b.w;
}

#if defined(KERNEL_grid_meet) || defined(KERNEL_grid_meet_all) || defined(KERNEL_grid_solve_moving)
/* A pair of spheres, or of A and an image of B that is shifted. */
FN cloud_in grid_pair_of(float4 a, float4 a_motion, float4 b, float4 b_motion, v3 shift)
{
    cloud_in in;
    in.a = v3_of(a.x, a.y, a.z);
    in.b = v3_of(b.x, b.y, b.z);
    in.a_velocity = v3_of(a_motion.x, a_motion.y, a_motion.z);
    in.b_velocity = v3_of(b_motion.x, b_motion.y, b_motion.z);
    in.radius_a = a.w;
    in.radius_b = b.w;
    in.shift = shift;
    in.margin = R(0.0);
    in.limit = grid_limit(a_motion, b_motion);
    return in;
}
#endif

#if defined(KERNEL_grid_meet) || defined(KERNEL_grid_meet_all)
/* Whether a pair may have its hit between two times. A pair that overlaps when a later slice begins has none in it.
 * Spheres of one velocity are as far apart at all times, also without an end. */
FN int grid_may_meet(cloud_in in, real begin, real end)
{
    const v3 v = v3_sub(in.b_velocity, in.a_velocity);
    const real first = v_max(begin - GRID_TIME_LEAST, R(0.0));
    const int at_rest = v.x == R(0.0) && v.y == R(0.0) && v.z == R(0.0);
    const cloud_lanes_found found = cloud_meet(cloud_offset(in), v, in.radius_a + in.radius_b, first,
                                               at_rest ? first : end + GRID_TIME_LEAST, R(0.0));
    return found.some && !(found.certain && begin > R(0.0));
}
#endif

#ifdef KERNEL_grid_meet
/* Lists the pairs that may meet in the slice, among pairs of slots whose balls touch. They are listed by indices, the
 * lower one first, with the image. */
__kernel void carom_grid_meet(__global const float4 *sphere, __global const float4 *motion, __global const uint *index,
                              __global const uint2 *pair, real period_x, real period_y, real period_z, real begin,
                              real end, __global uint2 *meeting, volatile __global grid_totals *totals, uint spheres,
                              uint pairs, uint items)
{
    GRID_FOR_EACH(i, pairs)
    {
        const uint one = index[min(grid_slot_of(pair[i].x), spheres - 1)];
        const uint other = index[min(grid_slot_of(pair[i].y), spheres - 1)];
        if (max(one, other) >= spheres) {
            atomic_or(&totals->faults, 1u);
            continue;
        }
        const uint image = grid_image_of_undecided(pair[i]);
        const cloud_in in = grid_pair_of(sphere[one], motion[one], sphere[other], motion[other],
                                         grid_shift(image, period_x, period_y, period_z));
        if (!grid_may_meet(in, begin, end))
            continue;
        const uint at = atomic_inc(&totals->meeting);
        if (at < pairs)
            meeting[at] = grid_undecided_of(one, other, image);
    }
    (void)items;
}
#endif

#ifdef KERNEL_grid_list_endless
/* Lists the spheres that are in the slice from `begin` on, which has no end. No pair may meet in it yet. */
__kernel void carom_grid_list_endless(__global const float4 *sphere, __global const float4 *motion, real begin,
                                      __global uint *list, volatile __global grid_totals *totals, uint spheres,
                                      uint items)
{
    if (get_global_id(0) == 0)
        totals->meeting = 0;
    GRID_FOR_EACH(i, spheres)
    {
        if (sphere[i].w < R(0.0) || motion[i].w < begin)
            continue;
        const uint at = atomic_inc(&totals->unfinished);
        if (at < spheres)
            list[at] = i;
    }
    (void)items;
}
#endif

#ifdef KERNEL_grid_meet_all
/* Whether the images of a number exist, in a box with these periods. */
FN int grid_exists(uint image, real x, real y, real z)
{
    return (grid_step_of(image, 0) == 0 || x > R(0.0)) && (grid_step_of(image, 1) == 0 || y > R(0.0)) &&
           (grid_step_of(image, 2) == 0 || z > R(0.0));
}

/* Lists the pairs of listed spheres that may meet from `begin` on. A work-item has a sphere of the list, from number
 * `first` on, and those behind it in one of `tiles` tiles, of `each` spheres. */
__kernel void carom_grid_meet_all(__global const float4 *sphere, __global const float4 *motion,
                                  __global const uint2 *filter, __global const uint *list, int options, uint split,
                                  real period_x, real period_y, real period_z, real begin, __global uint2 *meeting,
                                  uint capacity, volatile __global grid_totals *totals, uint spheres, uint count,
                                  uint each, uint tiles, uint first, uint items)
{
    if (get_global_id(0) >= items || atomic_or(&totals->meeting, 0u) > GRID_UNDECIDED_OF(spheres))
        return;
    const uint row = first + (uint)get_global_id(0) / tiles, tile = (uint)get_global_id(0) % tiles;
    const uint end = min(tile * each + each, count), own = min(list[min(row, count - 1)], spheres - 1);
    const uint first_image = options & GRID_IMAGED ? 0 : GRID_IMAGE_OWN, end_image = GRID_IMAGES - first_image;
    LANG_ROLLED
    for (uint k = max(tile * each, row + 1); k < end; k++) {
        const uint one = min(own, min(list[k], spheres - 1)), other = max(own, min(list[k], spheres - 1));
        if ((split != GRID_ONE_CLOUD && (one < split) == (other < split)) || one == other ||
            ((options & CLOUD_MASKED) && !grid_passes(filter[one], filter[other])))
            continue;
        LANG_ROLLED
        for (uint image = first_image; image < end_image; image++) {
            if (!grid_exists(image, period_x, period_y, period_z))
                continue;
            const cloud_in in = grid_pair_of(sphere[one], motion[one], sphere[other], motion[other],
                                             grid_shift(image, period_x, period_y, period_z));
            if (!grid_may_meet(in, begin, v_infinity()))
                continue;
            const uint at = atomic_inc(&totals->meeting);
            if (at < capacity)
                meeting[at] = grid_undecided_of(one, other, image);
        }
    }
}
#endif

#ifdef KERNEL_grid_solve_moving
/* The solver's answers about the pairs that may meet. */
__kernel void carom_grid_solve_moving(__global const float4 *sphere, __global const float4 *motion,
                                      __global const uint2 *pair, real period_x, real period_y, real period_z,
                                      __global real *t, __global uchar *state, __global uchar *parts, uint spheres,
                                      uint pairs, uint items)
{
    GRID_FOR_EACH(i, pairs)
    {
        const uint one = min(grid_slot_of(pair[i].x), spheres - 1);
        const uint other = min(grid_slot_of(pair[i].y), spheres - 1);
        const cloud_out out =
            cloud(grid_pair_of(sphere[one], motion[one], sphere[other], motion[other],
                               grid_shift(grid_image_of_undecided(pair[i]), period_x, period_y, period_z)));
        t[i] = out.t;
        state[i] = (uchar)out.state;
        parts[i] = (uchar)out.parts;
    }
    (void)items;
}
#endif

#ifdef KERNEL_grid_gather_moving
/* The inputs of pairs [first, first + pairs) for the host: of A centre and radius, velocity and the pair's limit; of B
 * the same with the number of its image in place of the limit. */
__kernel void carom_grid_gather_moving(__global const float4 *sphere, __global const float4 *motion,
                                       __global const uint2 *pair, __global float4 *to, uint spheres, uint first,
                                       uint pairs, uint items)
{
    GRID_FOR_EACH(i, pairs)
    {
        const uint2 of = pair[(size_t)first + i];
        const uint one = min(grid_slot_of(of.x), spheres - 1), other = min(grid_slot_of(of.y), spheres - 1);
        const float4 va = motion[one], vb = motion[other];
        to[4 * (size_t)i] = sphere[one];
        to[4 * (size_t)i + 1] = (float4)(va.x, va.y, va.z, grid_limit(va, vb));
        to[4 * (size_t)i + 2] = sphere[other];
        to[4 * (size_t)i + 3] = (float4)(vb.x, vb.y, vb.z, (real)grid_image_of_undecided(of));
    }
    (void)items;
}
#endif

#ifdef KERNEL_grid_hits
/* Appends the hits among solved pairs to the list of all hits, which holds `capacity`. A pair is a hit of the slice
 * that its time lies in, [begin, end) or, in the last slice, [begin, end]: pairs in contact have t = 0. */
__kernel void carom_grid_hits(__global const uint2 *pair, __global const real *t, __global const uchar *state,
                              __global const uchar *parts, real begin, real end, int is_last, int skips,
                              int skips_parting, __global uint2 *hit, __global real *hit_t, __global uchar *hit_state,
                              uint capacity, volatile __global grid_totals *totals, uint pairs, uint items)
{
    GRID_FOR_EACH(i, pairs)
    {
        const int is_contact = state[i] == STATE_TOUCHING || state[i] == STATE_OVERLAPPING;
        const int is_skipped = is_contact && (skips || (skips_parting && parts[i]));
        const int is_in = t[i] >= begin && (t[i] < end || (is_last && t[i] <= end));
        if (state[i] == STATE_MISS || is_skipped || !is_in)
            continue;
        const uint at = atomic_inc(&totals->hits);
        if (at < capacity) {
            hit[at] = pair[i];
            hit_t[at] = t[i];
            hit_state[at] = state[i];
        }
    }
    (void)items;
}
#endif

#ifdef KERNEL_grid_offer
/* Offers the list of hits as undecided pairs that are solved: these are by slots, so each sphere gets its own. */
__kernel void carom_grid_offer(__global uint *index, volatile __global grid_totals *totals, uint spheres, uint items)
{
    GRID_FOR_EACH(i, spheres)
    index[i] = i;
    if (get_global_id(0) == 0)
        totals->undecided = totals->hits;
    (void)items;
}
#endif

#if defined(KERNEL_grid_soonest) || defined(KERNEL_grid_lowest) || defined(KERNEL_grid_state_of)
/* A hit, as one of its spheres sees it. The soonest time, the lowest partner and the lowest state, as images of one
 * partner may have several, are kept as complements: 0 is none. */
FN void grid_see(volatile __global uint *soonest, volatile __global uint *lowest, volatile __global uint *state_of,
                 uint own, uint other, uint time, uint state)
{
#ifdef KERNEL_grid_soonest
    atomic_max(soonest + own, ~time);
#else
    if (soonest[own] != ~time)
        return;
#ifdef KERNEL_grid_lowest
    atomic_max(lowest + own, ~other);
#else
    if (lowest[own] == ~other)
        atomic_max(state_of + own, ~state);
#endif
#endif
    (void)lowest, (void)state_of, (void)other, (void)state;
}

/* First partners, by three kernels: the soonest time of each sphere, the lowest partner at that time, and its state. */
__kernel void LANG_CAT(carom_, KERNEL)(__global const uint2 *hit, __global const real *t, __global const uchar *state,
                                       volatile __global uint *soonest, volatile __global uint *lowest,
                                       volatile __global uint *state_of, uint spheres, uint hits, uint items)
{
    GRID_FOR_EACH(i, hits)
    {
        const uint a = min(grid_slot_of(hit[i].x), spheres - 1), b = min(grid_slot_of(hit[i].y), spheres - 1);
        const uint time = as_uint(t[i]) & R_MAGNITUDE_MASK;
        grid_see(soonest, lowest, state_of, a, b, time, state[i]);
        grid_see(soonest, lowest, state_of, b, a, time, state[i]);
    }
    (void)items;
}
#endif

#ifdef KERNEL_grid_partner_moving
/* The first partner of each sphere, -1 without one, and what is known of the pair; `hit` says whether there is one.
 * Columns of the mask `wanted`. */
__kernel void carom_grid_partner_moving(__global const float4 *sphere, __global const uint *soonest,
                                        __global const uint *lowest, __global const uint *state_of, uint first_b,
                                        uint wanted, __global uchar *other, ulong other_at, __global uchar *state,
                                        ulong state_at, __global uchar *t, ulong t_at, __global uchar *hit,
                                        ulong hit_at, uint spheres, uint items)
{
    GRID_FOR_EACH(i, spheres)
    {
        const int is_valid = sphere[i].w >= R(0.0), has_one = lowest[i] != 0;
        if (wanted >> GRID_OTHER & 1)
            resident_store(other, other_at + 4 * (ulong)i, has_one ? ~lowest[i] - first_b : ~0u);
        if (wanted >> GRID_OTHER_STATE & 1)
            state[state_at + i] = !is_valid ? STATE_INVALID : has_one ? (uchar)~state_of[i] : STATE_MISS;
        if (wanted >> GRID_OTHER_T & 1)
            resident_store(t, t_at + 4 * (ulong)i, has_one ? ~soonest[i] : R_INFINITY_BITS);
        if (wanted >> GRID_HIT & 1)
            hit[hit_at + i] = !is_valid ? OVERLAP_INVALID : has_one;
    }
    (void)items;
}
#endif
