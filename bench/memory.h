/* SPDX-License-Identifier: MIT */
#ifndef CAROM_BENCH_MEMORY_H
#define CAROM_BENCH_MEMORY_H

/* Bytes that this process may still take without pushing others out: what the system calls available, or what is left
 * below a limit of its control group or of its own (ulimit -v) where that is less. -1 where the system reports none. */
double memory_available(void);
/* What a measurement may take of it: half; 10^9 where the system reports none. */
double memory_to_spare(void);

#endif
