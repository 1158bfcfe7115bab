/* SPDX-License-Identifier: MIT */
/* The rungs of exact mode, and how many queries each has decided. */
#ifndef CAROM_CPU_RUNGS_H
#define CAROM_CPU_RUNGS_H
#include <stdatomic.h>
#include <stdint.h>

/* The last rung that a query has reached. */
typedef enum caromi_rung { CAROMI_FIRST_FILTER, CAROMI_SECOND_FILTER, CAROMI_INTEGERS } caromi_rung;

/* Numbers of queries that the later rungs have decided. */
typedef struct caromi_rungs {
    uint64_t second_filter, integers;
} caromi_rungs;

/* The same numbers, to which several threads add. */
typedef struct caromi_rung_sums {
    atomic_uint_fast64_t second_filter, integers;
} caromi_rung_sums;

static inline void caromi_rungs_count(caromi_rungs *rungs, caromi_rung rung)
{
    rungs->second_filter += rung == CAROMI_SECOND_FILTER;
    rungs->integers += rung == CAROMI_INTEGERS;
}

static inline void caromi_rungs_add(caromi_rung_sums *sums, caromi_rungs rungs)
{
    atomic_fetch_add(&sums->second_filter, rungs.second_filter);
    atomic_fetch_add(&sums->integers, rungs.integers);
}

static inline caromi_rungs caromi_rungs_of(caromi_rung_sums *sums)
{
    return (caromi_rungs){atomic_load(&sums->second_filter), atomic_load(&sums->integers)};
}
#endif
