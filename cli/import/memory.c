/* SPDX-License-Identifier: MIT */
#include "memory.h"
#include "cli/cli.h"

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

uint64_t mesh_memory_mapped(void)
{
    unsigned long long pages = 0;
    long page = sysconf(_SC_PAGESIZE);
    return read_number("/proc/self/statm", "%llu", &pages) && page > 0 ? pages * (uint64_t)page : 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t left_of(uint64_t whole, uint64_t used)
{
    return whole > used ? whole - used : 0;
}

uint64_t mesh_memory_limit(void)
{
    unsigned long long kilobytes, most, used;
    struct rlimit space;
    uint64_t left = UINT64_MAX;
    if (read_number("/proc/meminfo", "MemAvailable: %llu kB", &kilobytes))
        left = smaller(left, kilobytes * 1024);
    /* A container sees its own group here; elsewhere the root group has no such files. */
    if (read_number("/sys/fs/cgroup/memory.max", "%llu", &most) &&
        read_number("/sys/fs/cgroup/memory.current", "%llu", &used))
        left = smaller(left, left_of(most, used));
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        left = smaller(left, left_of(space.rlim_cur, mesh_memory_mapped()));
    return left == UINT64_MAX ? left : left / 2;
}

int mesh_memory_reserve(mesh_data *mesh, uint64_t vertices, uint64_t triangles, uint64_t parts)
{
    mesh->xyz = cli_alloc(vertices + 1, 3 * sizeof(float));
    mesh->indices = cli_alloc(triangles + 1, 3 * sizeof(uint32_t));
    mesh->parts = cli_alloc(parts + 1, sizeof *mesh->parts);
    mesh->vertex_room = mesh->xyz ? vertices + 1 : 0;
    mesh->triangle_room = mesh->indices ? triangles + 1 : 0;
    mesh->part_room = mesh->parts ? parts + 1 : 0;
    return mesh->xyz && mesh->indices && mesh->parts;
}

const char *mesh_memory_text(char *text, size_t size, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 999.5; unit++)
        value /= 1024.0;
    snprintf(text, size, "%.3g %s", value, units[unit]);
    return text;
}
