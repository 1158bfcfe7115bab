/* SPDX-License-Identifier: MIT */
/* The later rungs of exact mode for pairs: pairs that the first floating-point filter left undecided are decided by the
 * second one, in lanes, or in integers, one at a time. */
#ifndef CAROM_CPU_RESOLVE_H
#define CAROM_CPU_RESOLVE_H
#include "cpu.h"

/* Pairs [first, first + count) hold the results of the batch's exact kernel; `marks` is its first output for them.
 * Returns how many each rung decided. */
caromi_rungs caromi_resolve_pairs(const caromi_pair_batch *batch, const void *marks, uint64_t first, size_t count);
/* Lists the undecided ones of `count` pairs; returns their number. */
uint32_t caromi_undecided_pairs(const caromi_pair_batch *batch, const void *marks, uint32_t count, uint32_t *pairs);
#endif
