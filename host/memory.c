/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "context.h"

/* From so many bytes on memory is aligned to large pages, and the system is asked for them: a fault for each small page
 * would take longer than what is done with it. */
enum { LARGE_PAGE = 1 << 21, LARGE_FROM = 1 << 22 };

static void *system_alloc(size_t alignment, size_t bytes)
{
#ifdef __linux__
    if (bytes >= LARGE_FROM && bytes <= SIZE_MAX - LARGE_PAGE) {
        void *memory = aligned_alloc(LARGE_PAGE, bytes + (LARGE_PAGE - bytes % LARGE_PAGE) % LARGE_PAGE);
        if (memory != NULL)
            (void)madvise(memory, bytes, MADV_HUGEPAGE); /* without them it is as good, but slower */
        return memory;
    }
#endif
    return aligned_alloc(alignment, bytes);
}

void *caromi_alloc(const carom_context *context, uint64_t count, size_t size)
{
    const size_t alignment = 64;
    if (count == 0)
        count = 1;
    if (count > (SIZE_MAX - alignment) / size)
        return NULL;
    const size_t bytes = ((size_t)count * size + alignment - 1) / alignment * alignment;
    const carom_allocator *a = &context->desc.allocator;
    if (a->alloc == NULL)
        return system_alloc(alignment, bytes);
    void *memory = a->alloc(a->user, bytes, alignment);
    (void)caromi_float_mode_set(); /* the callback may have changed it */
    return memory;
}

void *caromi_task_alloc(const carom_context *context, uint64_t count, size_t size)
{
    caromi_pool_lock(context->pool);
    void *memory = caromi_alloc(context, count, size);
    caromi_pool_unlock(context->pool);
    return memory;
}

void caromi_task_free(const carom_context *context, void *memory)
{
    caromi_pool_lock(context->pool);
    caromi_free(context, memory);
    caromi_pool_unlock(context->pool);
}

void caromi_free(const carom_context *context, void *memory)
{
    const carom_allocator *a = &context->desc.allocator;
    if (memory == NULL)
        return;
    if (a->free == NULL) {
        free(memory);
        return;
    }
    a->free(a->user, memory);
    (void)caromi_float_mode_set();
}
