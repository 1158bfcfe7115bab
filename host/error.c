/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "context.h"

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
    (void)caromi_float_mode_set(); /* whatever a function of the caller's has made of it */
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
