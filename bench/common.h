/* SPDX-License-Identifier: MIT */
/* What the files of bench/ share: random numbers, a hash, and the end where there is no memory. */
#ifndef CAROM_BENCH_COMMON_H
#define CAROM_BENCH_COMMON_H

#include <stddef.h>
#include <stdint.h>

/* splitmix64, and a number in [low, high) from it. */
uint64_t bench_bits(uint64_t *state);
double bench_range(uint64_t *state, double low, double high);
/* A hash of memory, to be chained: start with 0. */
uint64_t bench_hash(uint64_t hash, const void *memory, size_t size);
/* Prints the message on standard error and ends the process with status 1. */
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
