/* SPDX-License-Identifier: MIT */
/* Rounds of bundles whose arrays lie on the device (host/opencl/bundle.c). A round is a batch of single queries: these
 * kernels list its queries, limit their distances, and put its answers together. A bundle has a rank, which is the
 * highest of its queries so far, and the lowest number of a query with that rank. Both are maxima and minima of
 * integers, so no answer depends on the order of work-items. Round query r is query number[r] of the bundles that are
 * answered together, and reads element[r] of the caller's arrays. The host names the kernel that it builds:
 * -DKERNEL_bundle_begin, _list, _limit, _hits, _left, _raise, _lower, _store or _answer. */
#include "lang.h"
#include "layout.h"
#include "bundle.h"
#include "resident.h"
#include "scan.h"

#define BUNDLE_SIGN ((uint)R_SIGN_MASK)

/* `items` work-items share `count` elements. */
#define EACH(i, count) for (uint i = (uint)get_global_id(0); i < (count) && get_global_id(0) < items; i += items)

/* A caller's array, or one word for all queries. */
#define COLUMN(name) __global const uchar *name, ulong name##_at, ulong name##_stride, uint name##_choice
#define WORD(name, element) \
    (name##_choice == RESIDENT_SAME ? (uint)name##_at : resident_load(name, name##_at + (ulong)(element)*name##_stride))

FN int bundle_is_finite(uint word)
{
    return (word & R_MAGNITUDE_MASK) < R_INFINITY_BITS;
}

/* The rank of a valid query's depth, and back. */
FN uint bundle_rank(uint depth)
{
    depth = depth == BUNDLE_SIGN ? 0 : depth;
    return (depth & BUNDLE_SIGN) != 0 ? ~depth : depth | BUNDLE_SIGN;
}

FN uint bundle_depth(uint rank)
{
    return (rank & BUNDLE_SIGN) != 0 ? rank & R_MAGNITUDE_MASK : ~rank;
}

#ifdef KERNEL_bundle_begin
__kernel void carom_bundle_begin(__global uint *bundle, __global uint *counter, __global uint *rank,
                                 __global uint *best, uint bundles, uint items)
{
    if (get_global_id(0) == 0)
        counter[0] = bundles;
    EACH(i, bundles)
    {
        bundle[i] = i;
        rank[i] = BUNDLE_NOTHING;
        best[i] = BUNDLE_NO_QUERY;
    }
}
#endif

#ifdef KERNEL_bundle_list
/* (a + b) % size, of numbers up to `size`, without more than 32 bits. */
FN uint bundle_sum(uint a, uint b, uint size)
{
    return a >= size - b ? a - (size - b) : a + b;
}

/* (at + j * step) % size, bit by bit of j: of a remainder of 64 bits AMD's compiler makes fused operations. */
FN uint bundle_number(uint at, uint j, uint step, uint size)
{
    for (; j != 0; j >>= 1) {
        at = (j & 1) != 0 ? bundle_sum(at, step, size) : at;
        step = bundle_sum(step, step, size);
    }
    return at;
}

/* Lists the queries of a round: `members` of each bundle that is left, from number `at` on, at a stride of `step`, one
 * of each bundle after the other. The round has room for as many of more bundles: what is left of it has no queries.
 * Makes the counter of `left` ready. An index beyond `last`, which a check has found too, counts as `last`. */
__kernel void carom_bundle_list(__global const uint *bundle, __global uint *counter, uint side, uint members, uint size,
                                uint at, uint step, __global const uchar *index, ulong index_at, ulong index_stride,
                                uint choice, uint last, __global uint *number, __global uint *element, uint queries,
                                uint items)
{
    const uint left = min(counter[side], queries / members);
    if (get_global_id(0) == 0)
        counter[side ^ 1] = 0;
    EACH(r, queries)
    {
        uint own = BUNDLE_NO_QUERY, from = RESIDENT_NONE;
        if (r < left * members) {
            own = bundle[r % left] * size + bundle_number(at, r / left, step, size);
            from = choice == RESIDENT_INDEXED ? min(resident_load(index, index_at + own * index_stride), last) : own;
        }
        number[r] = own;
        element[r] = from;
    }
}
#endif

#ifdef KERNEL_bundle_limit
/* Limits the distances of a round. fl(radius - d) >= depth only if d <= radius - depth + e, where e is half a place of
 * the depth. The sum has an error of some places of |radius| + |depth|; both are covered, and what underflows. */
__kernel void carom_bundle_limit(__global const uint *number, __global const uint *element, uint size, COLUMN(radius),
                                 COLUMN(limit), __global const uint *rank, __global float *to, uint queries, uint items)
{
    EACH(r, queries)
    {
        const uint best = rank[number[r] / size], word = WORD(radius, element[r]), given = WORD(limit, element[r]);
        float most = as_float(resident_is_no_limit(given) ? 0 : given);
        if (best > BUNDLE_INVALID && bundle_is_finite(word)) {
            const float own = as_float(word), depth = as_float(bundle_depth(best));
            const float distance = own - depth + ((own + fabs(depth)) * 0x1p-21f + 0x1p-125f);
            most = distance < most ? (distance > 0 ? distance : 0) : most;
        }
        to[r] = most;
    }
}
#endif

#ifdef KERNEL_bundle_hits
/* Adds the answers of a round of any hits. */
__kernel void carom_bundle_hits(__global const uint *number, uint size, __global const uchar *hit,
                                __global volatile uint *rank, uint queries, uint items)
{
    EACH(r, queries)
    {
        const uint own = hit[r] == 0 || number[r] == BUNDLE_NO_QUERY ? BUNDLE_NOTHING
                         : hit[r] == OVERLAP_INVALID                 ? BUNDLE_INVALID
                                                                     : BUNDLE_HIT;
        if (own != BUNDLE_NOTHING)
            atomic_max(&rank[number[r] / size], own);
    }
}
#endif

#ifdef KERNEL_bundle_left
/* Lists the bundles without a hit, of `most` at most, and counts them. Their order depends on that of the groups. */
__kernel void carom_bundle_left(__global const uint *bundle, __global volatile uint *counter, uint side, uint most,
                                __global const uint *rank, __global uint *remaining, uint items)
{
    const uint left = min(counter[side], most);
    __local uint scratch[BUNDLE_GROUP];
    __local uint slots;
    for (uint from = (uint)(get_group_id(0) * get_local_size(0)); from < left; from += (uint)get_global_size(0)) {
        const uint i = from + (uint)get_local_id(0), own = i < left ? bundle[i] : 0;
        const int is_left = i < left && rank[own] != BUNDLE_HIT;
        uint all;
        const uint slot = scan_group(is_left, scratch, &all);
        if (get_local_id(0) == 0)
            slots = all > 0 ? atomic_add(&counter[side ^ 1], all) : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (is_left)
            remaining[slots + slot] = own;
    }
    (void)items;
}
#endif

#ifdef KERNEL_bundle_raise
/* Ranks the answers of a round of closest points, and raises the ranks of their bundles. */
__kernel void carom_bundle_raise(__global const uint *number, __global const uint *element, uint size, COLUMN(x),
                                 COLUMN(y), COLUMN(z), COLUMN(radius), __global const uint *depth, __global uint *own,
                                 __global volatile uint *rank, __global volatile uint *best, uint queries, uint items)
{
    EACH(r, queries)
    {
        const uint bundle = number[r] / size;
        uint mine = bundle_rank(depth[r]);
        if (depth[r] == (R_INFINITY_BITS | BUNDLE_SIGN)) { /* the depth of invalid queries, and of others */
            const uint e = element[r], word = WORD(radius, e);
            if (!bundle_is_finite(WORD(x, e)) || !bundle_is_finite(WORD(y, e)) || !bundle_is_finite(WORD(z, e)) ||
                !bundle_is_finite(word) || as_float(word) < 0)
                mine = BUNDLE_INVALID;
        }
        own[r] = mine;
        if (atomic_max(&rank[bundle], mine) < mine)
            atomic_xchg(&best[bundle], BUNDLE_NO_QUERY); /* the one before has a lower rank */
    }
}
#endif

#ifdef KERNEL_bundle_lower
/* Finds the lowest number with the rank of each bundle. */
__kernel void carom_bundle_lower(__global const uint *number, uint size, __global const uint *own,
                                 __global const uint *rank, __global volatile uint *best, uint queries, uint items)
{
    EACH(r, queries)
    {
        const uint bundle = number[r] / size;
        if (own[r] == rank[bundle])
            atomic_min(&best[bundle], number[r] % size);
    }
}
#endif

#ifdef KERNEL_bundle_store
/* Stores a column of the queries whose answers their bundles have now. */
__kernel void carom_bundle_store(__global const uint *number, uint size, __global const uint *own,
                                 __global const uint *rank, __global const uint *best, __global const uchar *from,
                                 uint kind, __global uchar *to, ulong at, ulong stride, uint queries, uint items)
{
    EACH(r, queries)
    {
        const uint bundle = number[r] / size;
        if (own[r] != rank[bundle] || number[r] % size != best[bundle])
            continue;
        if (kind == RESIDENT_WORDS)
            resident_store(to, at + bundle * stride, ((G const uint *)from)[r]);
        else
            to[at + bundle * stride] = from[r];
    }
}
#endif

#ifdef KERNEL_bundle_answer
/* Stores the bytes of any hits or, as pairs of words, numbers of queries, of which the first bundle's begin at `first`.
 */
__kernel void carom_bundle_answer(__global const uint *rank, __global const uint *best, uint kind, uint size,
                                  ulong first, __global uchar *to, ulong at, uint bundles, uint items)
{
    EACH(i, bundles)
    {
        const uint own = rank[i];
        if (kind == RESIDENT_WORDS)
            resident_store_long(to, at + (ulong)i * 8,
                                own <= BUNDLE_INVALID ? (ulong)-1 : first + (ulong)i * size + best[i]);
        else
            to[at + i] = own == BUNDLE_HIT ? 1 : own == BUNDLE_INVALID ? OVERLAP_INVALID : 0;
    }
}
#endif
