/* SPDX-License-Identifier: MIT */
/* Segmented sort of short groups of numbers: the partners of each sphere of a list. Included by isa_template.h. */
#include "cloud.h"

/* Insertion sort. */
FN void cloud_sort_insertion(const uint32_t *from, uint32_t count, uint32_t *to)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = from[i];
        uint32_t at = i;
        for (; at > 0 && to[at - 1] > number; at--)
            to[at] = to[at - 1];
        to[at] = number;
    }
}

/* Heap sort, because long groups may be in any order: first builds the heap, then takes the greatest number off. */
FN_RARE void cloud_sort_heap(const uint32_t *from, uint32_t count, uint32_t *to)
{
    memcpy(to, from, count * sizeof *to);
    for (uint32_t left = count, root = count / 2; left > 1;) {
        uint32_t number;
        if (root > 0)
            number = to[--root];
        else {
            number = to[--left];
            to[left] = to[0];
        }
        uint32_t hole = root;
        for (uint32_t child; (child = 2 * hole + 1) < left; hole = child) {
            child += child + 1 < left && to[child + 1] > to[child];
            if (to[child] <= number)
                break;
            to[hole] = to[child];
        }
        to[hole] = number;
    }
}

#if LANES >= 8
/* A bitonic sorting network of eight lanes. Stores eight numbers; the ones behind `count` are UINT32_MAX. */
FN void cloud_sort_8(const uint32_t *from, uint32_t count, uint32_t *to)
{
#define EXCHANGE(with, upper)                                                                  \
    do {                                                                                       \
        const __m256i other = with;                                                            \
        x = _mm256_blend_epi32(_mm256_min_epu32(x, other), _mm256_max_epu32(x, other), upper); \
    } while (0)
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i is_behind = _mm256_cmpgt_epi32(lanes, _mm256_set1_epi32((int)count - 1));
    __m256i x = _mm256_or_si256(_mm256_loadu_si256((const __m256i *)(const void *)from), is_behind);
    EXCHANGE(_mm256_shuffle_epi32(x, 0xb1), 0xaa);
    EXCHANGE(_mm256_shuffle_epi32(x, 0x1b), 0xcc);
    EXCHANGE(_mm256_shuffle_epi32(x, 0xb1), 0xaa);
    EXCHANGE(_mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0)), 0xf0);
    EXCHANGE(_mm256_shuffle_epi32(x, 0x4e), 0xcc);
    EXCHANGE(_mm256_shuffle_epi32(x, 0xb1), 0xaa);
    _mm256_storeu_si256((__m256i *)(void *)to, x);
#undef EXCHANGE
}
#endif

/* A network stores numbers behind its group, which the next groups overwrite; so the last groups do not use it. */
static void cloud_sort(const uint32_t *from, const uint32_t *starts, uint32_t rows, uint32_t *to)
{
    enum { INSERTION_MOST = 32 };
    for (uint32_t group = 0; group < rows; group++) {
        const uint32_t begin = starts[group], count = starts[group + 1] - begin;
#if LANES >= 8
        if (count <= 8 && begin + 8 <= starts[rows])
            cloud_sort_8(from + begin, count, to + begin);
        else
#endif
            if (count <= INSERTION_MOST)
            cloud_sort_insertion(from + begin, count, to + begin);
        else
            cloud_sort_heap(from + begin, count, to + begin);
    }
}
