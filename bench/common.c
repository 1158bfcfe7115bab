/* SPDX-License-Identifier: MIT */
#include "common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t bench_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double bench_range(uint64_t *state, double low, double high)
{
    return low + (high - low) * ((double)(bench_bits(state) >> 11) * 0x1p-53);
}

_Noreturn void bench_die(const char *format, ...)
{
    va_list list;

    fflush(stdout);
    fprintf(stderr, "carom: bench: ");
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fprintf(stderr, "\n");
    exit(1);
}

uint64_t bench_hash(uint64_t hash, const void *memory, size_t size)
{
    const unsigned char *from = memory;

    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, from + i, size - i < sizeof word ? size - i : sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}
