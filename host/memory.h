/* SPDX-License-Identifier: MIT */
#ifndef CAROM_HOST_MEMORY_H
#define CAROM_HOST_MEMORY_H
#include <stddef.h>
#include <stdint.h>

#include "carom/carom.h"

/* The context's allocator; NULL when there is no memory or the size overflows. Aligned to 64 bytes. */
void *caromi_alloc(const carom_context *context, uint64_t count, size_t size);
void caromi_free(const carom_context *context, void *memory);
/* The same from a task: the hooks are never called by two threads of a context at once. */
void *caromi_task_alloc(const carom_context *context, uint64_t count, size_t size);
void caromi_task_free(const carom_context *context, void *memory);
#endif
