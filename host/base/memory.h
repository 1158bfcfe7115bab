/* SPDX-License-Identifier: MIT */
#ifndef CAROM_HOST_BASE_MEMORY_H
#define CAROM_HOST_BASE_MEMORY_H
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "carom/carom.h"

enum { CAROMI_LARGE_PAGE = 1 << 21 }; /* bytes */

/* What a context keeps, blocks of many bytes each. */
enum { CAROMI_KEPT = 32 };
typedef struct caromi_kept {
    atomic_flag is_busy; /* held for some instructions at a time */
    void *block[CAROMI_KEPT];
    uint64_t bytes; /* of all of them */
    uint32_t next;  /* to make room */
} caromi_kept;

/* The caller's allocator and log. A context begins with them, so this folder need not know the rest of it. */
typedef struct caromi_hooks {
    carom_allocator allocator;
    carom_log_fn log;
    void *log_user;
    carom_log_level log_level;
    pthread_mutex_t lock;       /* held by the thread that is in the allocator or the log */
    const carom_context *owner; /* whose lock and log are meant; NULL: this context's */
    /* Called before the lock is taken: in a child process it makes the lock anew. NULL: no job has been made */
    void (*adopt)(carom_context *context);
    caromi_kept kept;
} caromi_hooks;

/* The hooks of a descriptor, whose lock is not made yet. */
caromi_hooks caromi_hooks_of_desc(const carom_context_desc *desc);

/* The context's allocator, from any thread; NULL when there is no memory or the size overflows. Aligned to 64 bytes. */
void *caromi_alloc(const carom_context *context, uint64_t count, size_t size);
/* Of any such alignment, a power of two. */
void *caromi_alloc_aligned(const carom_context *context, uint64_t bytes, size_t alignment);
void caromi_free(const carom_context *context, void *memory);
/* Around a call of the caller's allocator or log: no two threads of a context are there at once. */
void caromi_hooks_lock(const carom_context *context);
void caromi_hooks_unlock(const carom_context *context);

/* For what is large and that each call of a kind needs: given back, the context keeps it for the next call, within
 * limits. From any thread. */
void *caromi_kept_alloc(const carom_context *context, uint64_t count, size_t size);
void caromi_kept_free(const carom_context *context, void *memory);
/* Frees all that is kept. */
void caromi_kept_release(const carom_context *context);
#endif
