/* SPDX-License-Identifier: MIT */
/* System services for the commands: memory, a clock, the standard streams. */
#include "base.h"
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

const char *cli_suffix(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot + 1 : "";
}

int cli_has_suffix(const char *path, const char *suffix)
{
    return !strcasecmp(cli_suffix(path), suffix);
}

int cli_is_hdf5(const char *path)
{
    return cli_has_suffix(path, "h5") || cli_has_suffix(path, "hdf5");
}

static _Atomic uint64_t refused; /* bytes of the last allocation that failed; 0: none since the last message */

void *cli_resize(void *old, uint64_t count, size_t size)
{
    const int is_possible = count <= SIZE_MAX / size;
    void *memory = is_possible ? realloc(old, count > 0 ? (size_t)count * size : 1) : NULL;
    if (!memory)
        atomic_store(&refused, is_possible ? count * size : UINT64_MAX);
    return memory;
}

void *cli_alloc(uint64_t count, size_t size)
{
    return cli_resize(NULL, count, size);
}

char *cli_beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    const size_t folder = slash && name[0] != '/' ? (size_t)(slash - path) + 1 : 0;
    char *whole = cli_alloc(folder + strlen(name) + 1, 1);
    if (whole) {
        memcpy(whole, path, folder);
        strcpy(whole + folder, name);
    }
    return whole;
}

int cli_no_memory(void)
{
    char wanted[48] = "", bytes[16], left[16];
    const char *limit;
    const uint64_t most = memory_left(&limit), asked = atomic_exchange(&refused, 0);
    if (asked > 0)
        snprintf(wanted, sizeof wanted, " for %s", memory_text(bytes, sizeof bytes, asked));
    if (!limit)
        return cli_refuse(EXIT_WORK, "out of memory%s", wanted);
    return cli_refuse(EXIT_WORK, "out of memory%s; %s leaves %s", wanted, limit, memory_text(left, sizeof left, most));
}

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void cli_hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) == -1)
            return;
}

int cli_read_at(int fd, void *data, size_t size, uint64_t at)
{
    char *to = data;
    while (size > 0) {
        const ssize_t n = pread(fd, to, size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        to += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

int cli_write_at(int fd, const void *data, size_t size, uint64_t at)
{
    const char *from = data;
    while (size > 0) {
        const ssize_t n = pwrite(fd, from, size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        from += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}
