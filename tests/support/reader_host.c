/* SPDX-License-Identifier: MIT */
#include "reader_host.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int reader_host_prints = 1;
char reader_host_said[512];

int cli_refuse(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reader_host_said, sizeof reader_host_said, format, args);
    va_end(args);
    if (reader_host_prints)
        fprintf(stderr, "%s\n", reader_host_said);
    return status;
}

void cli_message(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reader_host_said, sizeof reader_host_said, format, args);
    va_end(args);
    if (reader_host_prints)
        fprintf(stderr, "%s\n", reader_host_said);
}
