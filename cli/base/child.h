/* SPDX-License-Identifier: MIT */
/* Processes of the command's own, for code that is not ours: importers of meshes, HDF5 and OpenCL drivers may crash on
 * a file or a device, fill the memory, or never end. */
#ifndef CAROM_CLI_BASE_CHILD_H
#define CAROM_CLI_BASE_CHILD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Start this program again with these arguments, of which the first is a hidden command. files[i] becomes its standard
 * input, output and error; -1: /dev/null. It is in a process group of its own: what it starts can be ended with it, and
 * a terminal's signals pass it by. Returns 0 or an errno. */
int child_start(char *const argv[], const int files[3], pid_t *process);

/* ---- in the process ---- */

/* No core file, and no longer there than `parent`. Returns 0 if that has ended already. */
int child_begin(pid_t parent);
/* At most so many bytes of address space beyond what it has now. */
void child_limit_memory(uint64_t bytes);
/* Seconds of processor time since its start. SIGXCPU at the soft limit, which may be raised again, says why it ends;
 * SIGKILL comes at the hard one. */
void child_limit_seconds(uint64_t soft, uint64_t hard);

/* ---- on both sides ---- */

/* All of it through a socket. Returns 0 if the other side has ended. */
int child_send(int fd, const void *data, uint64_t size);
int child_receive(int fd, void *data, uint64_t size);
/* Waits for its end. Returns the status of waitpid. */
int child_wait(pid_t process);

#endif
