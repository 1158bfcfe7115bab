/* SPDX-License-Identifier: MIT */
/* Exact times of sweeps in passes over a block of pairs, as isa_sweep.h has fast ones: headings, views, contacts,
 * guesses, residuals, parabolas, first contacts, last contacts. In one piece a packet has more live values than AVX2
 * has registers. A packet with a pair that needs rare steps (almost a point, at rest, out of range or invalid) goes
 * through the filter in one piece. */
#include "isa_sweep.h"

#define EXACT_BLOCK 24 /* pairs: their terms and the prefetched inputs fit into a first-level cache */
#define EXACT_PACKETS (EXACT_BLOCK / LANES)
#define EXACT_RARE_BLOCKS 20 /* blocks in one piece after one with mostly rare packets: exact calls have 512 pairs */

/* Second pass. Returns whether the packet goes on to the others. */
FN int exact_pass_view(sweep_in in, const sweep_heading *heading, int moving, sweep_exact *filter)
{
    const sweep_relative relative = sweep_relate(in, moving);
    const sweep_view view = sweep_view_of(relative, in.radius, *heading);
    sweep_guess_view(&view, &relative, v_i(0), filter);
    proof_pair_view(&view, relative.length, &filter->pair);
    /* The proof calls a sphere a point beside edges of a size that is below 8 in the view. */
    const vm is_rare = v_or(sweep_is_rare(&relative, in.radius), proof_is_point(view.radius, v_f(R(8.0))));
    return !v_any(v_or(is_rare, proof_is_slow(relative.speed)));
}

/* Third pass. */
FN void exact_pass_contacts(sweep_exact *filter, int want)
{
    const sweep_view view = sweep_sight_view(&filter->sight);
    const sweep_span span = sweep_solve_spheres(view, want);
    sweep_guess_span(&view, &span, want, filter);
}

/* Fourth pass. */
FN void exact_pass_guesses(sweep_exact *filter, int want)
{
    proof_pair_terms(&filter->pair);
    const proof_inverses inverses = proof_inverses_of(&filter->pair);
    sweep_guess_contacts(filter, &inverses, PROOF_FIRST, sweep_contacts_end(want), 0);
}

/* Fifth pass. A half of the lanes is stored before the other one begins, so that fewer values live at once. */
FN void exact_pass_residuals(in_columns in, size_t i, sweep_exact *filter, int want, int moving)
{
    for (int lane = 0; lane < LANES; lane += WIDE) {
        const residual_pair pair = exact_wide_pair(in, i + (size_t)lane, filter->scale + lane, moving);
        for (int k = PROOF_FIRST; k < sweep_contacts_end(want); k++) {
            const residual_part part = residual_part_of(&pair, &filter->contact[k].at, lane, 0);
            residual *to = &filter->residuals[k];
            w_store((real *)&to->y.x + lane, part.y.x);
            w_store((real *)&to->y.y + lane, part.y.y);
            w_store((real *)&to->y.z + lane, part.y.z);
            w_store((real *)&to->c + lane, part.c);
        }
    }
}

/* The part of the first contact's proof that the proof of the last one needs. */
typedef struct exact_first {
    vf low, high;
    vm certain;
} exact_first;

/* Proves one of the contacts. */
FN proof exact_prove(const sweep_exact *filter, const proof_parabola *parabolas, int contact)
{
    proof proofs[PROOF_CONTACTS];
    prove(&filter->pair, filter->contact, filter->residuals, parabolas, filter->unit, contact, contact + 1, 0, proofs);
    return proofs[contact];
}

/* Seventh pass; the sixth is proof_parabolas(). */
FN void exact_pass_first(const sweep_exact *filter, const proof_parabola *parabolas, exact_first *to)
{
    const proof first = exact_prove(filter, parabolas, PROOF_FIRST);
    to->low = first.low;
    to->high = first.high;
    to->certain = first.certain;
}

/* Eighth pass. */
FN sweep_out exact_pass_last(const sweep_exact *filter, const proof_parabola *parabolas, const exact_first *proven,
                             int want)
{
    proof first;
    sweep_out answer;
    vm certain;
    first.low = proven->low;
    first.high = proven->high;
    first.certain = proven->certain;
    first.apart = filter->contact[PROOF_FIRST].apart;
    answer.t_first = sweep_proven_first(&first, &certain);
    if (want != SWEEP_FIRST) {
        const proof last = exact_prove(filter, parabolas, PROOF_LAST);
        sweep_proven_last(&first, &last, &answer, &certain);
    }
    answer.t_first = sweep_unless_undecided(certain, answer.t_first);
    return answer;
}

/* Packets on their way through the passes. */
typedef struct exact_packets {
    sweep_heading headings[EXACT_PACKETS];
    sweep_exact filters[EXACT_PACKETS];
    proof_parabola parabolas[EXACT_PACKETS][PROOF_CONTACTS];
    exact_first firsts[EXACT_PACKETS];
    u32 usual; /* bitmask of packets that go through the passes */
} exact_packets;

/* All passes but the last one. A block with mostly rare packets goes in one piece as a whole. */
FN void exact_passes(in_columns in, size_t first, int count, exact_packets *packets, int want, int moving)
{
    packets->usual = 0;
    for (int k = 0; k < count; k++)
        packets->headings[k] = sweep_heading_of(load_relative_velocity(in, first + (size_t)k * LANES, moving));
    for (int k = 0; k < count; k++)
        packets->usual |= (u32)exact_pass_view(load_sweep(in, first + (size_t)k * LANES, moving), packets->headings + k,
                                               moving, packets->filters + k)
                          << k;
    if (2 * bitmask_count(packets->usual) < count) {
        packets->usual = 0;
        return;
    }
    for (int k = 0; k < count; k++)
        exact_pass_contacts(packets->filters + k, want);
    for (int k = 0; k < count; k++)
        exact_pass_guesses(packets->filters + k, want);
    for (int k = 0; k < count; k++)
        exact_pass_residuals(in, first + (size_t)k * LANES, packets->filters + k, want, moving);
    for (int k = 0; k < count; k++)
        proof_parabolas(&packets->filters[k].pair, packets->filters[k].contact, packets->filters[k].residuals,
                        PROOF_FIRST, sweep_contacts_end(want), 0, packets->parabolas[k]);
    for (int k = 0; k < count; k++)
        exact_pass_first(packets->filters + k, packets->parabolas[k], packets->firsts + k);
}

/* Defines `function`, which answers a run of pairs as ISA_RUN's does, and `whole`, which answers a packet in one
 * piece. */
#define ISA_SWEEP_EXACT_RUN(function, whole, want, moving, in_count, out_count, bytes)                                \
    _Static_assert(EXACT_BLOCK % LANES == 0, "a block holds whole packets");                                          \
    static __attribute__((noinline)) void whole(const float *const *in, void *const *out, size_t i)                   \
    {                                                                                                                 \
        exact_sweep(in, out, i, want, moving);                                                                        \
    }                                                                                                                 \
    void function(const float *const *in, void *const *out, size_t count, int from_memory)                            \
    {                                                                                                                 \
        exact_packets packets;                                                                                        \
        int rare_blocks = 0; /* blocks to go in one piece */                                                          \
        for (size_t first = 0; first < count; first += EXACT_BLOCK) {                                                 \
            const size_t end = count - first < EXACT_BLOCK ? count : first + EXACT_BLOCK;                             \
            const int block_packets = (int)((end - first + LANES - 1) / LANES);                                       \
            packets.usual = 0;                                                                                        \
            if (rare_blocks == 0)                                                                                     \
                exact_passes(in, first, block_packets, &packets, want, moving);                                       \
            for (int k = 0; k < block_packets; k++) {                                                                 \
                const size_t i = first + (size_t)k * LANES;                                                           \
                if (from_memory && i % PREFETCH_LINE == 0)                                                            \
                    pairs_prefetch(in, in_count, out, out_count, bytes, i);                                           \
                if ((packets.usual >> k & 1) != 0)                                                                    \
                    store_sweep(out, i,                                                                               \
                                exact_pass_last(packets.filters + k, packets.parabolas[k], packets.firsts + k, want), \
                                want);                                                                                \
                else                                                                                                  \
                    whole(in, out, i);                                                                                \
            }                                                                                                         \
            if (rare_blocks > 0)                                                                                      \
                rare_blocks--;                                                                                        \
            else if (packets.usual == 0)                                                                              \
                rare_blocks = EXACT_RARE_BLOCKS;                                                                      \
        }                                                                                                             \
    }
