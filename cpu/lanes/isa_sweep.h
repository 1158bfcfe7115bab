/* SPDX-License-Identifier: MIT */
/* Times of sweeps in three passes over a block of pairs: the headings, the views, the contacts. One pass is a chain of
 * dependent operations that is longer than what a core looks ahead, so it waits; in a short loop the core works on
 * several packets at once. What a pass leaves to the next stays in the first-level cache. A packet with a pair that
 * needs more than that (a point, a pair at rest, out of range or invalid) goes through the solver in one piece. */
#include "isa_run.h"

#define SWEEP_BLOCK PREFETCH_AHEAD /* so that the last pass over a block prefetches the next one */
#define SWEEP_RARE_BLOCKS 31       /* blocks in one piece after one with a quarter of rare packets */

/* Second pass. Returns whether the packet goes on to the third one. */
FN int sweep_pass_view(sweep_in in, const sweep_heading *heading, int moving, sweep_sight *sight)
{
    const sweep_relative relative = sweep_relate(in, moving);
    const sweep_view view = sweep_view_of(relative, in.radius, *heading);
    *sight = sweep_sight_of(&view, sweep_time_unit(&relative, v_i(0)));
    return !v_any(sweep_is_rare(&relative, in.radius));
}

/* Third pass. */
FN sweep_out sweep_pass_times(const sweep_sight *sight, int want)
{
    const sweep_span span = sweep_solve_spheres(sweep_sight_view(sight), want);
    return sweep_times_of(&span, sight->start, sight->time_per_height, sight->unit, want);
}

/* The relative velocity, as sweep_relate() computes it. */
FN v3 load_relative_velocity(in_columns in, size_t i, int moving)
{
    const v3 velocity = load3(in, IN_VX, i);
    return moving ? v3_sub(velocity, load3(in, IN_WX, i)) : velocity;
}

/* Defines `function`, which answers a run of pairs as ISA_RUN's does. */
#define ISA_SWEEP_RUN(function, want, moving, in_count, out_count, bytes)                                        \
    /* The pairs [i, end) in one piece. */                                                                       \
    static __attribute__((noinline)) void function##_whole(const float *const *in, void *const *out, size_t i,   \
                                                           size_t end, int from_memory)                          \
    {                                                                                                            \
        for (; i < end; i += LANES) {                                                                            \
            if (from_memory && i % PREFETCH_LINE == 0)                                                           \
                pairs_prefetch(in, in_count, out, out_count, bytes, i);                                          \
            pairs_sweep(in, out, i, want, moving);                                                               \
        }                                                                                                        \
    }                                                                                                            \
    static void function(const float *const *in, void *const *out, size_t count, int from_memory)                \
    {                                                                                                            \
        sweep_heading headings[SWEEP_BLOCK / LANES];                                                             \
        sweep_sight sights[SWEEP_BLOCK / LANES];                                                                 \
        int rare_blocks = 0; /* blocks to go in one piece */                                                     \
        for (size_t first = 0; first < count; first += SWEEP_BLOCK) {                                            \
            const size_t end = count - first < SWEEP_BLOCK ? count : first + SWEEP_BLOCK;                        \
            const int packets = (int)((end - first + LANES - 1) / LANES);                                        \
            u32 goes_on = 0; /* packets for the third pass */                                                    \
            if (rare_blocks > 0) {                                                                               \
                rare_blocks--;                                                                                   \
                function##_whole(in, out, first, end, from_memory);                                              \
                continue;                                                                                        \
            }                                                                                                    \
            for (int k = 0; k < packets; k++)                                                                    \
                headings[k] = sweep_heading_of(load_relative_velocity(in, first + (size_t)k * LANES, moving));   \
            for (int k = 0; k < packets; k++)                                                                    \
                goes_on |= (u32)sweep_pass_view(load_sweep(in, first + (size_t)k * LANES, moving), headings + k, \
                                                moving, sights + k)                                              \
                           << k;                                                                                 \
            for (int k = 0; k < packets; k++) {                                                                  \
                const size_t i = first + (size_t)k * LANES;                                                      \
                if (from_memory && i % PREFETCH_LINE == 0)                                                       \
                    pairs_prefetch(in, in_count, out, out_count, bytes, i);                                      \
                if ((goes_on >> k & 1) != 0)                                                                     \
                    store_sweep(out, i, sweep_pass_times(sights + k, want), want);                               \
                else                                                                                             \
                    function##_whole(in, out, i, i + LANES, 0);                                                  \
            }                                                                                                    \
            if (4 * bitmask_count(goes_on) < 3 * packets)                                                        \
                rare_blocks = SWEEP_RARE_BLOCKS;                                                                 \
        }                                                                                                        \
    }
