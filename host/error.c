/* SPDX-License-Identifier: MIT */
/* Errors, log lines, memory and the checks that every call shares. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

carom_status caromi_fail(carom_error *err, carom_status status, int native_code, const char *format, ...)
{
    if (err != NULL) {
        err->status = status;
        err->native_code = native_code;
        va_list args;
        va_start(args, format);
        (void)vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

void caromi_log(const carom_context *context, carom_log_level level, const char *format, ...)
{
    if (context->desc.log == NULL || level > context->desc.log_level)
        return;
    char line[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    context->desc.log(context->desc.log_user, level, line);
    (void)caromi_float_mode_set(); /* whatever a function of the caller's has made of it, as below */
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
        return aligned_alloc(alignment, bytes);
    void *memory = a->alloc(a->user, bytes, alignment);
    (void)caromi_float_mode_set();
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

double caromi_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

carom_status caromi_check_desc(size_t given, size_t expected, const char *name, carom_error *err)
{
    if (given == expected)
        return CAROM_OK;
    return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "%s.size is %zu, this library expects %zu", name, given,
                       expected);
}

carom_status caromi_check_stats(const carom_stats *stats, carom_error *err)
{
    return stats == NULL ? CAROM_OK : caromi_check_desc(stats->size, sizeof *stats, "carom_stats", err);
}

carom_status caromi_check_points(const carom_points *p, const char *name, carom_error *err)
{
    if (p->x != NULL && p->y != NULL && p->z != NULL)
        return CAROM_OK;
    return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "%s: x, y and z must not be NULL", name);
}

carom_status caromi_check_scalars(const carom_scalars *s, const char *name, carom_error *err)
{
    if (s->data != NULL)
        return CAROM_OK;
    return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "%s: data must not be NULL", name);
}

carom_status caromi_check_accuracy(carom_accuracy accuracy, carom_error *err)
{
    if (accuracy == CAROM_ACCURACY_FAST || accuracy == CAROM_ACCURACY_EXACT)
        return CAROM_OK;
    return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "accuracy is %d; it must be fast (0) or exact (1)",
                       (int)accuracy);
}

carom_status caromi_check_points_out(const carom_points_out *p, const char *name, carom_error *err)
{
    if (p->x == NULL && p->y == NULL && p->z == NULL)
        return CAROM_OK;
    if (p->x == NULL || p->y == NULL || p->z == NULL)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "%s: give x, y and z, or none", name);
    if (p->stride < sizeof(float))
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "%s: stride is %zu bytes; at least 4", name,
                           p->stride);
    return CAROM_OK;
}
