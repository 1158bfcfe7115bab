/* SPDX-License-Identifier: MIT */
/* Results to a file that appears whole or not at all, or straight to a device, pipe or standard output. */
#ifndef CAROM_CLI_BASE_OUTPUT_H
#define CAROM_CLI_BASE_OUTPUT_H

#include "output_place.h"

#include <stddef.h>
#include <stdint.h>

enum { OUTPUT_BUFFER = 1 << 18 };

typedef struct output {
    output_place place;
    int fd;
    int error; /* first errno of a failed write */
    size_t used;
    char *buffer;
} output;

/* path  NULL or "-": standard output. Returns an exit status with the message printed. */
int output_open(output *out, const char *path);
/* Over a descriptor of the caller's, which stays open; shown: as messages name it. output_flush hands on the rest, and
 * the caller looks at `error` and frees `buffer`. */
int output_on(output *out, int fd, const char *shown);
/* Flush it to the disk, so that output_close can hardly fail. Returns an exit status with the message printed. */
int output_sync(output *out);
/* Flush, close and put the file in place; if `status` is not EXIT_DONE, throw it away instead.
 * Returns the exit status of the command. */
int output_close(output *out, int status);

/* Hand on what is written so far, for a reader who waits. */
void output_flush(output *out);
void output_text(output *out, const char *text);
void output_bytes(output *out, const char *bytes, size_t count);
void output_char(output *out, char c);
void output_int(output *out, int64_t value);
/* A string from outside: text_show. */
void output_shown(output *out, const char *text, size_t length);
/* As %.9g prints it. */
void output_float(output *out, float value);
void output_format(output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Print text to standard output and say whether it got there. Returns an exit status. */
int cli_print(const char *text);

#endif
