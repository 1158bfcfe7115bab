/* SPDX-License-Identifier: MIT */
#ifndef CAROM_CPU_THREADS_FLOAT_MODE_H
#define CAROM_CPU_THREADS_FLOAT_MODE_H
#include <stdint.h>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <fenv.h>
#endif

/* A thread's floating-point environment: modes, masks and sticky flags. */
#if defined(__x86_64__)
typedef struct caromi_float_mode {
    uint32_t sse;
    uint16_t x87_control, x87_status;
} caromi_float_mode;
#elif defined(__aarch64__)
typedef struct caromi_float_mode {
    uint64_t control, status;
} caromi_float_mode;
#else
typedef fenv_t caromi_float_mode;
#endif
/* Rounding to nearest, no flushing to zero, every exception masked; returns the environment before, for
 * caromi_float_mode_restore. */
caromi_float_mode caromi_float_mode_set(void);
void caromi_float_mode_restore(caromi_float_mode mode);
#endif
