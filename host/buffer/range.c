/* SPDX-License-Identifier: MIT */
#include "range.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

char *caromi_range_reserve(uint64_t bytes)
{
    void *base = mmap(NULL, (size_t)bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

void caromi_range_release(char *base, uint64_t bytes)
{
    (void)munmap(base, (size_t)bytes);
}

/* Whole pages around [begin, end). The base of a range begins a page, so they are the range's. */
static char *pages_of(const char *begin, const char *end, size_t *bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)begin / page * page;
    *bytes = (((uintptr_t)end + page - 1) / page * page) - first;
    return (char *)first;
}

int caromi_range_open(const char *begin, const char *end)
{
    size_t bytes;
    char *first = pages_of(begin, end, &bytes);
    return mprotect(first, bytes, PROT_READ | PROT_WRITE) == 0;
}

void caromi_range_close(const char *begin, const char *end)
{
    size_t bytes;
    char *first = pages_of(begin, end, &bytes);
    (void)madvise(first, bytes, MADV_DONTNEED);
    (void)mprotect(first, bytes, PROT_NONE);
}
