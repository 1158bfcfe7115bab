/* SPDX-License-Identifier: MIT */
/* The later rungs of exact mode for pairs: pairs that the first floating-point filter left undecided are decided by the
 * second one, in lanes, or in integers, one at a time. */
#ifndef CAROM_CPU_RESOLVE_H
#define CAROM_CPU_RESOLVE_H
#include "cpu.h"

/* Sweeps that the second filter answers together, in whole groups of lanes. */
enum { CAROMI_SECOND_SWEEPS = 64 };
/* Answers `count` sweeps, 1 to CAROMI_SECOND_SWEEPS, by the second filter: `in` and `out` are columns as
 * caromi_second_fn has them. Behind the last sweep its copies fill a group of lanes. */
void caromi_second_filter(const caromi_isa_table *isa, float (*in)[CAROMI_SECOND_SWEEPS], void *const *out,
                          uint32_t count);

/* Pairs [first, first + count) hold the results of the batch's exact kernel; `marks` is its first output for them.
 * Returns how many each rung decided. */
caromi_rungs caromi_resolve_pairs(const caromi_pair_batch *batch, const void *marks, uint64_t first, size_t count);
/* Lists the undecided ones of `count` pairs; returns their number. */
uint32_t caromi_undecided_pairs(const caromi_pair_batch *batch, const void *marks, uint32_t count, uint32_t *pairs);
#endif
