/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdlib.h>

#include "context.h"

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
        return aligned_alloc(alignment, bytes);
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
