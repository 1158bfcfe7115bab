/* SPDX-License-Identifier: MIT */
/* What the first rung of exact mode leaves open is settled here, one query at a time, in integers. */
#ifndef CAROM_SETTLE_H
#define CAROM_SETTLE_H
#include "cpu.h"

/* Pairs [first, first + count) have been through the exact kernel of the batch and lie in its arrays; `marks` is the
 * kernel's first output for them. Returns how many were open. */
uint64_t caromi_settle_pairs(const caromi_pair_batch *batch, const void *marks, uint64_t first, size_t count);
#endif
