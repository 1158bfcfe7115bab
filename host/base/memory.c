/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "cpu/threads/float_mode.h"

/* Allocations of at least LARGE_FROM bytes are aligned to large pages, which are requested from the system: page faults
 * of small pages would take longer than the use of the memory. */
enum { LARGE_PAGE = CAROMI_LARGE_PAGE, LARGE_FROM = LARGE_PAGE };

static void *system_alloc(size_t alignment, size_t bytes)
{
#ifdef __linux__
    if (bytes >= LARGE_FROM && bytes <= SIZE_MAX - LARGE_PAGE) {
        void *memory = aligned_alloc(LARGE_PAGE, bytes + (LARGE_PAGE - bytes % LARGE_PAGE) % LARGE_PAGE);
        if (memory != NULL)
            (void)madvise(memory, bytes, MADV_HUGEPAGE); /* on failure it works too, but slower */
        return memory;
    }
#endif
    return aligned_alloc(alignment, bytes);
}

/* The hooks of a context, its first member; they change in a context that is otherwise constant. */
static caromi_hooks *hooks_in(const carom_context *context)
{
    return (caromi_hooks *)(uintptr_t)context;
}

caromi_hooks caromi_hooks_of_desc(const carom_context_desc *desc)
{
    return (caromi_hooks){
        .allocator = desc->allocator, .log = desc->log, .log_user = desc->log_user, .log_level = desc->log_level};
}

static pthread_mutex_t *lock_of(const carom_context *context)
{
    const carom_context *owner = hooks_in(context)->owner;
    caromi_hooks *hooks = hooks_in(owner != NULL ? owner : context);
    if (hooks->adopt != NULL)
        hooks->adopt((carom_context *)hooks); /* after fork(), a thread of the parent process may have held the lock */
    return &hooks->lock;
}

void caromi_hooks_lock(const carom_context *context)
{
    (void)pthread_mutex_lock(lock_of(context));
}

void caromi_hooks_unlock(const carom_context *context)
{
    (void)pthread_mutex_unlock(lock_of(context));
}

void *caromi_alloc_aligned(const carom_context *context, uint64_t wanted, size_t alignment)
{
    if (wanted > SIZE_MAX - alignment)
        return NULL;
    const size_t bytes = ((size_t)wanted + alignment - 1) / alignment * alignment;
    const carom_allocator *allocator = &hooks_in(context)->allocator;
    if (allocator->alloc == NULL)
        return system_alloc(alignment, bytes);
    caromi_hooks_lock(context);
    void *memory = allocator->alloc(allocator->user, bytes, alignment);
    caromi_hooks_unlock(context);
    (void)caromi_float_mode_set(); /* the callback may have changed it */
    return memory;
}

void *caromi_alloc(const carom_context *context, uint64_t count, size_t size)
{
    const size_t alignment = 64;
    if (count == 0)
        count = 1;
    return count <= (SIZE_MAX - alignment) / size ? caromi_alloc_aligned(context, count * size, alignment) : NULL;
}

void caromi_free(const carom_context *context, void *memory)
{
    const carom_allocator *allocator = &hooks_in(context)->allocator;
    if (memory == NULL)
        return;
    if (allocator->free == NULL) {
        free(memory);
        return;
    }
    caromi_hooks_lock(context);
    allocator->free(allocator->user, memory);
    caromi_hooks_unlock(context);
    (void)caromi_float_mode_set();
}

/* ---- cached blocks ----------------------------------------------------------------------------------------------- */

/* The head of a block that may be cached; blocks of less than CACHED_FROM bytes are not. */
typedef struct cached_head {
    size_t bytes;
} cached_head;
enum { CACHED_HEAD = 64, CACHED_FROM = 1 << 18 };
#define CACHED_BYTES (UINT64_C(1) << 30)

static cached_head *head_of(void *block)
{
    return (cached_head *)(void *)((char *)block - CACHED_HEAD);
}

static caromi_block_cache *begin_cache(const carom_context *context)
{
    caromi_block_cache *kept = &hooks_in(context)->kept;
    while (atomic_flag_test_and_set_explicit(&kept->is_busy, memory_order_acquire))
        ;
    return kept;
}

static void end_cache(caromi_block_cache *kept)
{
    atomic_flag_clear_explicit(&kept->is_busy, memory_order_release);
}

/* Takes a cached block of at least `bytes`, and at most twice as many; NULL: there is none. */
static void *find_cached(caromi_block_cache *kept, size_t bytes)
{
    for (uint32_t i = 0; i < CAROMI_CACHED_BLOCKS; i++) {
        void *block = kept->block[i];
        if (block == NULL || head_of(block)->bytes < bytes || head_of(block)->bytes / 2 > bytes)
            continue;
        kept->block[i] = NULL;
        kept->bytes -= head_of(block)->bytes;
        return block;
    }
    return NULL;
}

void *caromi_cached_alloc(const carom_context *context, uint64_t count, size_t size)
{
    void *block = NULL;
    if (count > (SIZE_MAX - 2 * CACHED_HEAD) / size)
        return NULL;
    const size_t bytes = (size_t)count * size;
    if (bytes >= CACHED_FROM) {
        caromi_block_cache *kept = begin_cache(context);
        block = find_cached(kept, bytes);
        end_cache(kept);
    }
    if (block != NULL)
        return block;
    char *memory = caromi_alloc(context, bytes + CACHED_HEAD, 1);
    if (memory == NULL)
        return NULL;
    block = memory + CACHED_HEAD;
    head_of(block)->bytes = bytes;
    return block;
}

/* Caches a block, in a free slot or in the slot of another block, which is returned; NULL: none was replaced. */
static void *exchange_cached(caromi_block_cache *kept, void *block)
{
    uint32_t at = kept->next;
    for (uint32_t i = 0; i < CAROMI_CACHED_BLOCKS; i++)
        if (kept->block[i] == NULL)
            at = i;
    void *other = kept->block[at];
    if (other != NULL) {
        kept->next = (kept->next + 1) % CAROMI_CACHED_BLOCKS;
        kept->bytes -= head_of(other)->bytes;
    }
    kept->block[at] = block;
    kept->bytes += head_of(block)->bytes;
    return other;
}

void caromi_cached_free(const carom_context *context, void *block)
{
    if (block == NULL)
        return;
    const size_t bytes = head_of(block)->bytes;
    if (bytes >= CACHED_FROM) {
        caromi_block_cache *kept = begin_cache(context);
        if (kept->bytes + bytes <= CACHED_BYTES)
            block = exchange_cached(kept, block);
        end_cache(kept);
    }
    if (block != NULL)
        caromi_free(context, (char *)block - CACHED_HEAD);
}

/* Frees all cached blocks. */
void caromi_cached_release(const carom_context *context)
{
    caromi_block_cache *kept = begin_cache(context);
    for (uint32_t i = 0; i < CAROMI_CACHED_BLOCKS; i++)
        if (kept->block[i] != NULL)
            caromi_free(context, (char *)kept->block[i] - CACHED_HEAD);
    end_cache(kept);
}
