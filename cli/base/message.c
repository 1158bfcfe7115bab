/* SPDX-License-Identifier: MIT */
/* Messages: one printable line on standard error each, whatever names and words go into it. */
#include "base.h"
#include "progress.h"
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char beginning[80] = "carom: ";

void cli_message_from(const char *who)
{
    snprintf(beginning, sizeof beginning, "carom: %.64s: ", who);
}

/* One call of fwrite is one write to standard error, so that lines of several processes stay whole. */
static void put_line(char *line, size_t size, const char *text, size_t length)
{
    size_t used = (size_t)snprintf(line, size, "%s", beginning);
    used += text_show(line + used, size - used - 1, text, length);
    line[used++] = '\n';
    progress_clear();
    fwrite(line, 1, used, stderr);
}

static void put(const char *format, va_list args)
{
    char small[1024], small_line[2048], *text = small, *line = small_line;
    va_list again;
    va_copy(again, args);
    int wanted = vsnprintf(small, sizeof small, format, args);
    size_t length = wanted > 0 ? (size_t)wanted : 0, size = 0;
    if (length >= sizeof small && (text = malloc(length + 1)) != NULL)
        vsnprintf(text, length + 1, format, again);
    va_end(again);
    if (!text) { /* the message may be that there is no memory: its beginning will do */
        text = small;
        length = strlen(small);
    }
    size = length * TEXT_SHOWN_MAX + sizeof beginning + 1;
    if (size > sizeof small_line && (line = malloc(size)) == NULL) {
        line = small_line;
        size = sizeof small_line;
    }
    put_line(line, size, text, length);
    if (line != small_line)
        free(line);
    if (text != small)
        free(text);
}

void cli_message(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put(format, args);
    va_end(args);
}

int cli_refuse(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put(format, args);
    va_end(args);
    return status;
}
