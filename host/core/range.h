/* SPDX-License-Identifier: MIT */
/* Reserved ranges of addresses without memory: they give the bytes of a buffer on a discrete device addresses. By a
 * list of all ranges of the process, arrays in buffers of other contexts are found (docs/devices.md, "Buffers"). */
#ifndef CAROM_HOST_CORE_RANGE_H
#define CAROM_HOST_CORE_RANGE_H
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Reserves a range; an access to it is a fault. NULL: there is no range of that size. */
char *caromi_range_reserve(uint64_t bytes);
void caromi_range_release(char *base, uint64_t bytes);
/* Makes the pages of [begin, end) accessible; their contents are undefined. Returns 0 if there is no memory. */
int caromi_range_open(const char *begin, const char *end);
/* Makes an access to them a fault again. Their memory is kept for the next time; the system may take large pages when
 * it is short of memory. */
void caromi_range_close(const char *begin, const char *end);
/* Gives their memory back. They are not accessible. */
void caromi_range_empty(const char *begin, const char *end);

/* Whether the process has ever had a range. */
extern _Atomic(struct caromi_range_page *) caromi_range_pages;
static inline int caromi_has_ranges(void)
{
    return atomic_load_explicit(&caromi_range_pages, memory_order_acquire) != NULL;
}
/* Whether a range of any context shares a byte with [begin, end). */
int caromi_range_meets(uintptr_t begin, uintptr_t end);
#endif
