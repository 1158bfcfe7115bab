/* SPDX-License-Identifier: MIT */
/* Use of a piece of work beside time, where the system tells: instructions of this process in user mode, by perf
 * events; energy of processors by RAPL and of NVIDIA GPUs by NVML, of all that ran on them meanwhile. */
#ifndef CAROM_BENCH_COUNTERS_H
#define CAROM_BENCH_COUNTERS_H

enum { COUNTERS_REASON = 192 };

/* NaN: cannot be read. */
typedef struct counters_values {
    double instructions;
    double package_joules, device_joules;
} counters_values;

/* Why each cannot be read; empty if it can. */
typedef struct counters_reasons {
    char instructions[COUNTERS_REASON], package[COUNTERS_REASON], device[COUNTERS_REASON];
} counters_reasons;

/* Counts this thread and the threads that it starts from here on. */
void counters_open(counters_reasons *out);
/* Was the counter of instructions taken away for a while (multiplexed)? From then on it has no values. */
int counters_were_shared(void);
counters_values counters_read(void);
/* The use since `before`, times `scale`. */
counters_values counters_between(const counters_values *before, double scale);
void counters_close(void);

#endif
