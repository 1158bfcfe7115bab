/* SPDX-License-Identifier: MIT */
#include "range.h"

#include <sys/mman.h>
#include <unistd.h>

#include "host/base/memory.h"

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

/* ---- the ranges of the process ----------------------------------------------------------------------------------- */

/* The list of all ranges is lock-free, as contexts are independent of each other and fork() may come at any time. Its
 * pages are never freed. An entry with end 0 is no range. A buffer sets begin first and end last, and clears them in
 * reverse order. So a reader that reads the same end before and after begin has a consistent pair. */
enum { PAGE_BYTES = 4096, PAGE_ENTRIES = 254 };
typedef struct range_entry {
    atomic_uintptr_t begin, end; /* begin 0: free */
} range_entry;
struct caromi_range_page {
    struct caromi_range_page *next;
    atomic_int used; /* entries from here on were never claimed */
    range_entry entry[PAGE_ENTRIES];
};
_Static_assert(sizeof(struct caromi_range_page) <= PAGE_BYTES, "a page of the list is a page of memory");

_Atomic(struct caromi_range_page *) caromi_range_pages;

static range_entry *claim_in(struct caromi_range_page *page, uintptr_t begin)
{
    for (int i = 0; i < PAGE_ENTRIES; i++) {
        uintptr_t none = 0;
        if (!atomic_compare_exchange_strong(&page->entry[i].begin, &none, begin))
            continue;
        for (int used = atomic_load(&page->used); used <= i;)
            if (atomic_compare_exchange_weak(&page->used, &used, i + 1))
                break;
        return &page->entry[i];
    }
    return NULL;
}

static range_entry *claim(uintptr_t begin)
{
    struct caromi_range_page *first = atomic_load(&caromi_range_pages);
    for (struct caromi_range_page *page = first; page != NULL; page = page->next) {
        range_entry *entry = claim_in(page, begin);
        if (entry != NULL)
            return entry;
    }
    struct caromi_range_page *page =
        mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* zeros */
    if (page == MAP_FAILED)
        return NULL;
    range_entry *entry = claim_in(page, begin);
    page->next = first;
    while (!atomic_compare_exchange_weak(&caromi_range_pages, &page->next, page))
        continue;
    return entry;
}

static void forget(uintptr_t begin)
{
    for (struct caromi_range_page *page = atomic_load(&caromi_range_pages); page != NULL; page = page->next)
        for (int i = 0; i < PAGE_ENTRIES; i++)
            if (atomic_load(&page->entry[i].begin) == begin) {
                atomic_store(&page->entry[i].end, 0);
                atomic_store(&page->entry[i].begin, 0);
                return;
            }
}

int caromi_range_meets(uintptr_t begin, uintptr_t end)
{
    for (struct caromi_range_page *page = atomic_load(&caromi_range_pages); page != NULL; page = page->next)
        for (int i = 0, used = atomic_load(&page->used); i < used; i++) {
            const uintptr_t to = atomic_load(&page->entry[i].end), from = atomic_load(&page->entry[i].begin);
            if (to > begin && from < end && atomic_load(&page->entry[i].end) == to)
                return 1;
        }
    return 0;
}

static size_t rounded(uint64_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return ((size_t)bytes + page - 1) / page * page;
}

/* Reserves addresses, aligned to a large page if the range has that size, because a fault of a small page costs 2 us.
 */
static char *map_addresses(uint64_t bytes)
{
    const size_t spare = bytes >= CAROMI_LARGE_PAGE ? CAROMI_LARGE_PAGE : 0, all = rounded(bytes) + spare;
    char *base = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED || spare == 0)
        return base;
    const size_t before = (spare - (uintptr_t)base % spare) % spare;
    if (before > 0)
        (void)munmap(base, before);
    if (before < spare)
        (void)munmap(base + all - (spare - before), spare - before);
#ifdef MADV_HUGEPAGE
    (void)madvise(base + before, all - spare, MADV_HUGEPAGE); /* on failure it works too, but slower */
#endif
    return base + before;
}

char *caromi_range_reserve(uint64_t bytes)
{
    char *base = map_addresses(bytes);
    if (base == MAP_FAILED)
        return NULL;
    range_entry *entry = claim((uintptr_t)base);
    if (entry != NULL) {
        atomic_store(&entry->end, (uintptr_t)base + (uintptr_t)bytes);
        return base;
    }
    (void)munmap(base, (size_t)bytes);
    return NULL;
}

/* Removes the entry first: the addresses may be reused as soon as they are free. */
void caromi_range_release(char *base, uint64_t bytes)
{
    forget((uintptr_t)base);
    (void)munmap(base, (size_t)bytes);
}

/* ---- pages of a range -------------------------------------------------------------------------------------------- */

/* The whole pages around [begin, end). They belong to the range, as its base begins a page. */
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

/* Tells the system that it may take whole large pages without saving them. It would split a large page of which it may
 * take a part, and a small one costs as much as half a fault. */
static void offer(const char *first, const char *end)
{
#ifdef MADV_FREE
    const uintptr_t page = CAROMI_LARGE_PAGE, from = ((uintptr_t)first + page - 1) / page * page;
    const uintptr_t to = (uintptr_t)end / page * page;
    if (from < to)
        (void)madvise((char *)from, to - from, MADV_FREE); /* on failure they are kept in any case */
#else
    (void)first, (void)end;
#endif
}

void caromi_range_close(const char *begin, const char *end)
{
    size_t bytes;
    char *first = pages_of(begin, end, &bytes);
    offer(begin, end);
    (void)mprotect(first, bytes, PROT_NONE);
}

void caromi_range_empty(const char *begin, const char *end)
{
    size_t bytes;
    char *first = pages_of(begin, end, &bytes);
    (void)madvise(first, bytes, MADV_DONTNEED);
}
