/* SPDX-License-Identifier: MIT */
#ifndef CAROM_HOST_BASE_MEMORY_H
#define CAROM_HOST_BASE_MEMORY_H
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "carom/carom.h"

enum { CAROMI_LARGE_PAGE = 1 << 21 }; /* bytes */

/* The cache of large memory blocks of a context. */
enum { CAROMI_CACHED_BLOCKS = 32 };
typedef struct caromi_block_cache {
    atomic_flag is_busy; /* held for some instructions at a time */
    void *block[CAROMI_CACHED_BLOCKS];
    uint64_t bytes; /* of all cached blocks */
    uint32_t next;  /* slot to be replaced next */
} caromi_block_cache;

/* The caller's allocator and log function. They are the first member of a context, so that this folder need not know
 * its other members. */
typedef struct caromi_hooks {
    carom_allocator allocator;
    carom_log_fn log;
    void *log_user;
    carom_log_level log_level;
    pthread_mutex_t lock;       /* held while a thread is in the allocator or the log function */
    const carom_context *owner; /* the context whose lock and log are used; NULL: this one */
    /* Called before the lock is taken: in a fork()ed child it makes the lock anew. NULL: the context has had no job */
    void (*adopt)(carom_context *context);
    caromi_block_cache kept;
} caromi_hooks;

/* The hooks of a descriptor; the lock is not initialized yet. */
caromi_hooks caromi_hooks_of_desc(const carom_context_desc *desc);

/* Allocates by the context's allocator, aligned to 64 bytes; any thread may call it. NULL: no memory, or the size
 * overflows. */
void *caromi_alloc(const carom_context *context, uint64_t count, size_t size);
/* The same with any alignment that is a power of two. */
void *caromi_alloc_aligned(const carom_context *context, uint64_t bytes, size_t alignment);
void caromi_free(const carom_context *context, void *memory);
/* Lock and unlock around a call of the caller's allocator or log function, so that only one thread of a context is in
 * them. */
void caromi_hooks_lock(const carom_context *context);
void caromi_hooks_unlock(const carom_context *context);

/* Allocate and free large blocks that every call of a kind needs: the context caches freed blocks for the next call,
 * within limits. Any thread may call them. */
void *caromi_cached_alloc(const carom_context *context, uint64_t count, size_t size);
void caromi_cached_free(const carom_context *context, void *memory);
/* Frees all cached blocks. */
void caromi_cached_release(const carom_context *context);
#endif
