/* SPDX-License-Identifier: MIT */
/* Finds the pairs of an earlier list among the stored pairs of a cloud. Each earlier pair looks for itself in the new
 * row of its sphere: a row is short, or it is sorted. So neither list is sorted for this, but in motion the long rows,
 * once more by partner. The host names the kernel that it builds. */
#include "cloud_rows.h"
#include "sorted_keys.h"

#ifdef KERNEL_grid_check_before
/* Whether the spheres a of an earlier list descend somewhere. */
__kernel void carom_grid_check_before(__global const uchar *a, ulong a_at, volatile __global uint *descends, uint pairs,
                                      uint items)
{
    GRID_FOR_EACH(i, pairs)
    if (i > 0 && (int)resident_load(a, a_at + 4 * (ulong)i) < (int)resident_load(a, a_at + 4 * (ulong)(i - 1)))
        atomic_or(descends, 1u);
    (void)items;
}
#endif

#if defined(KERNEL_grid_by_partner) || defined(KERNEL_grid_find_before)
/* The bits of a key in motion between t and the state: b, and its image if there are images. */
FN ulong grid_partner_bits(ulong key)
{
    return (key & (((ulong)1 << GRID_KEY_T_SHIFT) - 1)) >> GRID_KEY_B_SHIFT;
}
#endif

#ifdef KERNEL_grid_by_partner
/* Keys of pairs [first, first + items) by which a row of a cloud in motion is sorted by partner: b with its image, and
 * the number of the pair's own key. */
__kernel void carom_grid_by_partner(__global const ulong *key, __global ulong *by_partner, ulong first, uint items)
{
    const ulong own = first + get_global_id(0);
    if (get_global_id(0) < items)
        by_partner[own] = grid_partner_bits(key[own]) << 32 | own;
}
#endif

#ifdef KERNEL_grid_find_before
/* The number of the key with this sphere b and image in a long row [begin, end) of a cloud in motion, which has it
 * once; `end` if it has none. `wanted` is the key without t and state, of any b: it may reach into t. */
FN ulong grid_find_partner(__global const ulong *by_partner, ulong begin, ulong end, ulong wanted)
{
    const ulong b = grid_partner_bits(wanted), at = sorted_key_from(by_partner, begin, end, b << 32);
    const int is_found = wanted >> GRID_KEY_T_SHIFT == 0 && at < end && by_partner[at] >> 32 == b;
    return is_found ? max(begin, min(by_partner[at] & 0xffffffffu, end - 1)) : end;
}

/* The number of the key in the row [begin, end) that has this sphere b and image, alone: `wanted` is the key without t
 * and state. `end` if there is none. At rest a row has two times: 0, and infinity of pairs that are within a margin
 * alone. In motion its times may be any. */
FN ulong grid_find(__global const ulong *key, ulong begin, ulong end, ulong wanted, int options)
{
    const ulong near =
        options & GRID_MOVING ? ~(ulong)0 << GRID_KEY_T_SHIFT : grid_key_of_time(real_of_bits(R_INFINITY_BITS));
    const ulong mask = ~(near | GRID_KEY_STATE);
    ulong at = begin;
    if (grid_is_long(begin, end) && !(options & GRID_MOVING)) {
        at = sorted_key_from(key, begin, end, wanted);
        if (at == end || (key[at] & mask) != wanted)
            at = sorted_key_from(key, begin, end, near | wanted);
        return at < end && (key[at] & mask) == wanted ? at : end;
    }
    while (at < end && (key[at] & mask) != wanted)
        at++;
    return at;
}

/* The image of a shift; GRID_IMAGES where no list has it. */
FN uint grid_image_by(__global const char *shift, int options)
{
    const int x = shift[0], y = shift[1], z = shift[2];
    const int is_own = (x | y | z) == 0, in_range = x >= -1 && x <= 1 && y >= -1 && y <= 1 && z >= -1 && z <= 1;
    return is_own                                     ? GRID_IMAGE_OWN
           : (options & GRID_IMAGED) != 0 && in_range ? (uint)(9 * x + 3 * y + z + GRID_IMAGE_OWN)
                                                      : GRID_IMAGES;
}

/* found[i]: the lowest number of an earlier pair that is pair i of the list, as its complement; 0 without one. */
__kernel void carom_grid_find_before(__global const ulong *offset, __global const ulong *key, __global const uint *of,
                                     __global const ulong *by_partner, int options, uint row_begin, uint row_end,
                                     __global const uchar *a, ulong a_at, __global const uchar *b, ulong b_at,
                                     __global const uchar *shift, ulong shift_at, int has_shift, uint first_b,
                                     volatile __global uint *found, uint pairs, uint items)
{
    GRID_FOR_EACH(i, pairs)
    {
        const int row = (int)resident_load(a, a_at + 4 * (ulong)i), b_of = (int)resident_load(b, b_at + 4 * (ulong)i);
        const uint image = has_shift ? grid_image_by((__global const char *)shift + shift_at + 3 * (size_t)i, options)
                                     : GRID_IMAGE_OWN;
        if (row < 0 || (uint)row < row_begin || (uint)row >= row_end || b_of < 0 || image == GRID_IMAGES)
            continue;
        const ulong begin = offset[row], end = offset[row + 1];
        const ulong wanted = grid_key_of((uint)b_of + first_b, image, options);
        const ulong at = grid_is_long(begin, end) && (options & GRID_MOVING)
                             ? grid_find_partner(by_partner, begin, end, wanted)
                             : grid_find(key, begin, end, wanted, options);
        if (at < end)
            atomic_max(found + grid_slot(offset, key, of, at), ~i);
    }
    (void)items;
}
#endif

#ifdef KERNEL_grid_previous
/* Stores elements [first, first + items) of the column `previous`. */
__kernel void carom_grid_previous(__global const uint *found, __global uchar *previous, ulong previous_at, ulong first,
                                  uint items)
{
    const ulong i = first + get_global_id(0);
    if (get_global_id(0) < items)
        resident_store_long(previous, previous_at + 8 * i, found[i] != 0 ? (ulong)(uint)~found[i] : ~(ulong)0);
}
#endif
