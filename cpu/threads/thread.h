/* SPDX-License-Identifier: MIT */
/* Threads of the library. */
#ifndef CAROM_CPU_THREADS_THREAD_H
#define CAROM_CPU_THREADS_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* Start a thread with so many bytes of stack, 0: the system's usual number. Returns 0 if the system starts none. The
 * thread blocks all signals, which are for the host's threads, except faults that it causes itself and a profiler's
 * signal. */
int caromi_thread_start(pthread_t *id, size_t stack, void *(*run)(void *user), void *user);

#endif
