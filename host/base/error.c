/* SPDX-License-Identifier: MIT */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

#include "memory.h"

/* Fills *err, if it is not NULL, and returns `status`. */
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
    const caromi_hooks *hooks = (const caromi_hooks *)context; /* its first member */
    if (hooks->log == NULL || level > hooks->log_level)
        return;
    char line[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    caromi_hooks_lock(context);
    hooks->log(hooks->log_user, level, line);
    caromi_hooks_unlock(context);
    (void)caromi_float_mode_set(); /* the callback may have changed it */
}
