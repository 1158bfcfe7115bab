/* SPDX-License-Identifier: MIT */
/* The command's own work (text to numbers and back) on several threads, for as long as a call lasts. */
#ifndef CAROM_CLI_BASE_PARALLEL_H
#define CAROM_CLI_BASE_PARALLEL_H

#include <stdint.h>

enum { PARALLEL_MAX = 16 }; /* threads; more wait for the one that reads the file */

typedef void parallel_fn(void *user, unsigned i);

/* run(user, 0) .. run(user, count - 1), count <= PARALLEL_MAX: the caller's thread does the first and, where no thread
 * can be started, the others. */
void parallel_run(unsigned count, parallel_fn *run, void *user);

/* As many as are asked for; 0: the processors that the process may use. At most PARALLEL_MAX. */
unsigned parallel_threads(uint32_t asked);

#endif
