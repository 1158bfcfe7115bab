/* SPDX-License-Identifier: MIT */
#include "output.h"
#include "base.h"
#include "progress.h"
#include "decimal.h"
#include "text.h"
#include "unfinished.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fail(const output *out, int error)
{
    return cli_refuse(EXIT_WORK, "%s: cannot be written: %s", out->place.shown, strerror(error));
}

int output_open(output *out, const char *path)
{
    *out = (output){.fd = -1};
    out->buffer = cli_alloc(OUTPUT_BUFFER, 1);
    if (!out->buffer)
        return cli_no_memory();
    int status = output_place_find(&out->place, path);
    if (status == EXIT_DONE) {
        out->fd = output_place_open(&out->place);
        if (out->fd < 0)
            status = fail(out, errno);
    }
    if (status != EXIT_DONE) {
        output_place_free(&out->place);
        free(out->buffer);
    }
    unfinished_handle_faults();
    return status;
}

int output_on(output *out, int fd, const char *shown)
{
    *out = (output){.fd = fd, .place = {.shown = shown, .folder = -1}, .buffer = cli_alloc(OUTPUT_BUFFER, 1)};
    return out->buffer ? EXIT_DONE : cli_no_memory();
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

/* A pipe or terminal that another program has made non-blocking. */
static int wait_for_room(int fd)
{
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    return poll(&room, 1, -1) >= 0 || errno == EINTR;
}

static void put(output *out, const char *bytes, size_t count)
{
    size_t done = 0;
    if (isatty(out->fd))
        progress_clear(); /* it may be the terminal of the bar */
    while (done < count && !out->error) {
        ssize_t n = write(out->fd, bytes + done, count - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0)
            out->error = EIO;
        else if (errno != EINTR && !(errno == EAGAIN && wait_for_room(out->fd)))
            out->error = errno;
    }
    unfinished_handle_faults(); /* the device may have been opened meanwhile */
    if (out->error == EPIPE)
        unfinished_end_by(SIGPIPE); /* as other filters do, without a word */
}

void output_flush(output *out)
{
    put(out, out->buffer, out->used);
    out->used = 0;
}

int output_sync(output *out)
{
    output_flush(out);
    return out->error ? fail(out, out->error) : output_place_flush(&out->place, out->fd);
}

int output_close(output *out, int status)
{
    if (status == EXIT_DONE)
        status = output_sync(out);
    else
        output_flush(out);
    if (close(out->fd) != 0 && status == EXIT_DONE)
        status = fail(out, errno);
    if (status == EXIT_DONE)
        status = output_place_finish(&out->place);
    output_place_drop(&out->place);
    output_place_free(&out->place);
    free(out->buffer);
    return status;
}

void output_bytes(output *out, const char *bytes, size_t count)
{
    if (count > OUTPUT_BUFFER - out->used)
        output_flush(out);
    if (count > OUTPUT_BUFFER) {
        put(out, bytes, count);
        return;
    }
    memcpy(out->buffer + out->used, bytes, count);
    out->used += count;
}

void output_text(output *out, const char *text)
{
    output_bytes(out, text, strlen(text));
}

void output_char(output *out, char c)
{
    if (out->used == OUTPUT_BUFFER)
        output_flush(out);
    out->buffer[out->used++] = c;
}

static char *room_for_number(output *out)
{
    if (OUTPUT_BUFFER - out->used < DECIMAL_MAX)
        output_flush(out);
    return out->buffer + out->used;
}

void output_int(output *out, int64_t value)
{
    out->used += decimal_write_integer(room_for_number(out), value);
}

void output_shown(output *out, const char *text, size_t length)
{
    char shown[TEXT_SHOWN_MAX * 16 + 1];
    for (size_t n; length > 0; text += n, length -= n) {
        n = text_cut(text, length, 16);
        text_show(shown, sizeof shown, text, n);
        output_text(out, shown);
    }
}

void output_format(output *out, const char *format, ...)
{
    char small[512], *text = small;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (n >= (int)sizeof small) {
        text = malloc((size_t)n + 1);
        if (!text) {
            out->error = ENOMEM;
            return;
        }
        va_start(args, format);
        vsnprintf(text, (size_t)n + 1, format, args);
        va_end(args);
    }
    output_text(out, text);
    if (text != small)
        free(text);
}

void output_float(output *out, float value)
{
    out->used += decimal_write(room_for_number(out), value);
}

int cli_print(const char *text)
{
    output out;
    int status = output_open(&out, NULL);
    if (status != EXIT_DONE)
        return status;
    output_text(&out, text);
    return output_close(&out, EXIT_DONE);
}
