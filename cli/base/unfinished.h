/* SPDX-License-Identifier: MIT */
/* Files that must not stay behind if the process ends early, and the signals that end it. One thread uses them.
 *
 * A driver may put its own handlers over those that it finds, at any time (LLVM inside PoCL does). So the signals from
 * outside are blocked in every thread, and one thread waits for them, so handlers are never called. */
#ifndef CAROM_CLI_BASE_UNFINISHED_H
#define CAROM_CLI_BASE_UNFINISHED_H

#include <sys/types.h>

/* At the start of main, before a driver is loaded or a thread is started. A signal that is ignored or has a handler
 * already is left as it is. */
void unfinished_begin(void);
/* Handlers of faults cannot be replaced by waiting: put them back where a driver has replaced them. */
void unfinished_handle_faults(void);
/* Remove the files and end as the signal would have ended the process; returns if it was ignored from the start. */
void unfinished_end_by(int number);
/* From here on the first SIGINT or SIGTERM only asks the command to end in order; a second one ends the process. */
void unfinished_hold(void);
/* SIGUSR1 and SIGUSR2 count as these then. */
void unfinished_hold_users_too(void);
/* The signal that has asked, 0 if none has. */
int unfinished_asked(void);

/* Create a file that is removed unless it is renamed or dropped before the end; or, where `nameless` is not -1, give
 * the file behind this descriptor, which has no name yet (O_TMPFILE), its name. Returns the descriptor, -1 with errno.
 */
int unfinished_create(int folder, const char *name, mode_t mode, int nameless);
/* Where a file without a name is named from: of no use without /proc. */
enum { UNFINISHED_PATH = 32 };
void unfinished_path(char path[UNFINISHED_PATH], int fd);
/* Rename it within its folder, after which it stays; -1 with errno, and it is still there. */
int unfinished_rename(int folder, const char *name, const char *to);
/* Remove it. */
void unfinished_drop(int folder, const char *name);

#endif
