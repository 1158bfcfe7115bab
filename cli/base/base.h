/* SPDX-License-Identifier: MIT */
/* Basics of every room of the command: exit statuses, messages, memory, a clock, files by place. */
#ifndef CAROM_CLI_BASE_BASE_H
#define CAROM_CLI_BASE_BASE_H

#include <stddef.h>
#include <stdint.h>

/* Exit statuses: part of the contract with scripts. */
enum { EXIT_DONE = 0, EXIT_WORK = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

/* One line on standard error, `carom: ` in front and a newline behind; what is not printable in it is escaped
 * (text.h). */
void cli_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* From here on lines begin with `carom: WHO: `, where several processes write them. At most 64 bytes. */
void cli_message_from(const char *who);
/* The same and an exit status: `return cli_refuse(EXIT_USAGE, ...)`. */
int cli_refuse(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Read `size` bytes at a place. Returns 0, or an errno; a file that ends too early is EIO. */
int cli_read_at(int fd, void *data, size_t size, uint64_t at);
int cli_write_at(int fd, const void *data, size_t size, uint64_t at);

/* The part of a file's name behind its last dot; empty if there is none. */
const char *cli_suffix(const char *path);
/* Whether that is `suffix`, in whichever case. */
int cli_has_suffix(const char *path, const char *suffix);
/* `name` as it is seen from the folder of the file `path`. NULL without memory; to be freed. */
char *cli_beside(const char *path, const char *name);
/* .h5 or .hdf5 */
int cli_is_hdf5(const char *path);

/* count * size bytes, or NULL if that overflows or memory is short; never NULL for a count of 0. */
void *cli_alloc(uint64_t count, size_t size);
/* The same for memory that there is already; it stays as it is if NULL is returned. */
void *cli_resize(void *old, uint64_t count, size_t size);
/* Says how much one of these two could not get, and which limit leaves how much. Returns EXIT_WORK. */
int cli_no_memory(void);
/* Seconds of a clock that never steps back. */
double cli_seconds(void);
/* A closed standard stream would hand its number to the next file opened, and results would land there. Each gets a
 * stand-in, opened the wrong way round so that using it still fails. */
void cli_hold_standard_streams(void);

#endif
