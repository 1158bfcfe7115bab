/* SPDX-License-Identifier: MIT */
/* Ranges of addresses without memory: a buffer on a discrete device has one, so that its bytes have addresses. A list
 * of all ranges of the process finds arrays that lie in buffers of other contexts (docs/devices.md, "Buffers"). */
#ifndef CAROM_HOST_CORE_RANGE_H
#define CAROM_HOST_CORE_RANGE_H
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Reserves a range that nothing else in the process gets; touching it is a fault. NULL: there is none so large. */
char *caromi_range_reserve(uint64_t bytes);
void caromi_range_release(char *base, uint64_t bytes);
/* Puts memory behind the pages of [begin, end), which holds zeros where it is new; 0: no memory. */
int caromi_range_open(const char *begin, const char *end);
/* Takes it away again. */
void caromi_range_close(const char *begin, const char *end);

/* Whether the process has had a range as yet. */
extern _Atomic(struct caromi_range_page *) caromi_range_pages;
static inline int caromi_has_ranges(void)
{
    return atomic_load_explicit(&caromi_range_pages, memory_order_acquire) != NULL;
}
/* Whether a range of any context shares a byte with [begin, end). */
int caromi_range_meets(uintptr_t begin, uintptr_t end);
#endif
