/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static double read_number(const char *path)
{
    double value = -1.0;
    FILE *from = fopen(path, "r");

    if (from == NULL)
        return value;
    if (fscanf(from, "%lf", &value) != 1) /* `max`: no limit */
        value = -1.0;
    fclose(from);
    return value;
}

static double system_available(void)
{
    char line[128];
    double kib = -1.0;
    FILE *from = fopen("/proc/meminfo", "r");

    while (from != NULL && fgets(line, sizeof line, from) != NULL)
        if (sscanf(line, "MemAvailable: %lf", &kib) == 1)
            break;
    if (from != NULL)
        fclose(from);
    return kib >= 0.0 ? kib * 1024.0 : -1.0;
}

static double smaller(double available, double limit, double used)
{
    const double left = limit > used ? limit - used : 0.0;

    return left < available || available < 0.0 ? left : available;
}

/* What a group keeps of files is given back when it is needed. */
static double files_of(const char *path)
{
    char line[128];
    double sum = 0.0, bytes;
    FILE *from = fopen(path, "r");

    while (from != NULL && fgets(line, sizeof line, from) != NULL)
        if (sscanf(line, "inactive_file %lf", &bytes) == 1 || sscanf(line, "active_file %lf", &bytes) == 1)
            sum += bytes;
    if (from != NULL)
        fclose(from);
    return sum;
}

double memory_available(void)
{
    /* A container sees its own group at the root, in version 2 and in version 1. */
    static const char *const groups[][3] = {
        {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
         "/sys/fs/cgroup/memory/memory.stat"},
    };
    double available = system_available();

    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        const double limit = read_number(groups[i][0]), used = read_number(groups[i][1]);
        if (limit > 0.0 && used >= 0.0)
            available = smaller(available, limit, used - files_of(groups[i][2]));
    }
    struct rlimit own;
    const double pages = read_number("/proc/self/statm"); /* the first is the size of the address space */
    if (getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY && pages > 0.0)
        available = smaller(available, (double)own.rlim_cur, pages * (double)sysconf(_SC_PAGESIZE));
    return available;
}

double memory_to_spare(void)
{
    const double available = memory_available(), untold = 2e9;

    return 0.5 * (available >= 0.0 ? available : untold);
}
