/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Reads into *out the first number of a file that sscanf finds by `format`. Returns 0 if there is none. */
static int read_number(const char *path, const char *format, unsigned long long *out)
{
    char line[128];
    FILE *file = fopen(path, "re");
    int found = 0;
    while (file && !found && fgets(line, sizeof line, file))
        found = sscanf(line, format, out) == 1;
    if (file)
        fclose(file);
    return found;
}

uint64_t memory_mapped(void)
{
    unsigned long long pages = 0;
    long page = sysconf(_SC_PAGESIZE);
    return read_number("/proc/self/statm", "%llu", &pages) && page > 0 ? pages * (uint64_t)page : 0;
}

typedef struct free_memory {
    uint64_t bytes;
    const char *limit;
} free_memory;

static void lower(free_memory *left, uint64_t bytes, const char *limit)
{
    if (bytes < left->bytes)
        *left = (free_memory){bytes, limit};
}

static uint64_t left_of(uint64_t whole, uint64_t used)
{
    return whole > used ? whole - used : 0;
}

uint64_t memory_left(const char **limit)
{
    unsigned long long kilobytes, most, used;
    struct rlimit space;
    free_memory left = {UINT64_MAX, NULL};
    if (read_number("/proc/meminfo", "MemAvailable: %llu kB", &kilobytes))
        lower(&left, kilobytes * 1024, "the machine");
    /* A container sees its own group here; elsewhere the root group has no such files. */
    if (read_number("/sys/fs/cgroup/memory.max", "%llu", &most) &&
        read_number("/sys/fs/cgroup/memory.current", "%llu", &used))
        lower(&left, left_of(most, used), "the control group");
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        lower(&left, left_of(space.rlim_cur, memory_mapped()), "the limit of address space");
    *limit = left.limit;
    return left.bytes;
}

uint64_t memory_limit(void)
{
    const char *limit;
    const uint64_t left = memory_left(&limit);
    return limit ? left / 2 : left;
}

const char *memory_text(char *text, size_t size, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 999.5; unit++)
        value /= 1024.0;
    snprintf(text, size, "%.3g %s", value, units[unit]);
    return text;
}
