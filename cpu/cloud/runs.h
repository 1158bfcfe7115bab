/* SPDX-License-Identifier: MIT */
/* A sphere against a run of spheres, which are adjacent in the columns, at one lane count. */
#include "cloud.h"
#include "kernels/cloud_test.h"

/* Copy of the columns' pointers, which a compiler can keep in registers. */
typedef struct cloud_sorted {
    const float *x, *y, *z, *reach;
    const uint32_t *mask, *group, *index;
    float margin;
    const caromi_cloud_view *view;
} cloud_sorted;

FN cloud_sorted cloud_sorted_of(const caromi_cloud_view *view)
{
    const cloud_sorted columns = {view->x,     view->y,     view->z,      view->reach, view->mask,
                                  view->group, view->index, view->margin, view};
    return columns;
}

/* A sphere in all lanes. */
typedef struct cloud_sphere {
    v3 at;           /* position */
    vf reach, least; /* least: lower bound of an image's reach; `reach` is then an upper bound */
    vi mask, group, index;
    uint32_t slot;
} cloud_sphere;

/* The sphere of a slot. */
FN cloud_sphere cloud_load(const cloud_sorted *columns, uint32_t slot)
{
    cloud_sphere sphere;
    sphere.at = v3_of(v_f(columns->x[slot]), v_f(columns->y[slot]), v_f(columns->z[slot]));
    sphere.reach = sphere.least = v_f(columns->reach[slot]);
    sphere.mask = v_i(columns->mask ? (int)columns->mask[slot] : 0);
    sphere.group = columns->group ? v_i((int)columns->group[slot]) : sphere.mask;
    sphere.index = v_i((int)columns->index[slot]);
    sphere.slot = slot;
    return sphere;
}

/* Loads LANES words. */
FN vi cloud_load_bits(const uint32_t *from)
{
    vi bits;
    memcpy(&bits, from, sizeof bits);
    return bits;
}

/* Bitmask of the lanes that hold one of `left` spheres. */
FN u32 cloud_lanes(uint32_t left)
{
    const uint32_t lanes = left < LANES ? left : LANES;
    return (u32)(((u64)1 << lanes) - 1);
}

/* Appends (own, number of lane) for each lane of the bitmask. Stores LANES pairs, whatever the mask. */
FN uint32_t cloud_append(caromi_cloud_pairs *pairs, uint32_t count, vi own, vi numbers, u32 lanes)
{
    int32_t *a = (int32_t *)pairs->a + count, *b = (int32_t *)pairs->b + count;
    vi_store(a, own);
#ifdef LANG_HAS_COMPRESS
    const vf row = v_from_bits(numbers);
    v_compress((real *)(void *)b, LANES, &row, 1, lanes);
#else
    vi_store(b, numbers);
#endif
    return count + (uint32_t)bitmask_count(lanes);
}

/* The slots `from` + lane. */
FN vi cloud_slots(uint32_t from)
{
    static const uint32_t steps[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return cloud_load_bits(steps) + v_i((int)from);
}

#include "swept.h"

/* More options: only list comparisons, for a device; spheres move; the single sphere is an image. */
enum { CLOUD_LISTED = 8, CLOUD_SWEPT = 16, CLOUD_IMAGE = 32 };

/* cloud_compare() where the sum of reaches is between `least` and `most`: a pair must be certain with `least`, and may
 * be one with `most`. The sums with the margin are `inner` and `outer`. */
FN cloud_lanes_found cloud_compare_between(v3 d, vf least, vf most, vf margin, int options)
{
    const vf distance2 = v3_dot(d, d), zero = v_f(R(0.0));
    const vf outer = options & CLOUD_MARGIN ? most + margin : most, inner = least + margin;
    const vm some = v_le(distance2, outer * outer * v_f(CLOUD_ABOVE) + v_f(CLOUD_TINY));
    cloud_lanes_found tested;
    tested.some = v_bitmask(some);
    tested.certain = tested.near = 0;
    if (options & CLOUD_BOUNDS_ONLY)
        return tested;
    tested.certain = v_bitmask(v_and(some, v_and(v_lt(zero, least), cloud_is_below(distance2, least * least))));
    if (options & CLOUD_MARGIN) {
        /* Within the margin alone: beyond the largest sum, but within the smallest sum and the margin. */
        const vm is_out = v_gt(distance2, most * most * v_f(CLOUD_ABOVE) + v_f(CLOUD_TINY));
        const vm is_in = v_and(v_lt(zero, inner), cloud_is_below(distance2, inner * inner));
        tested.near = v_bitmask(v_and(some, v_and(is_out, is_in)));
    }
    return tested;
}

/* Tests the sphere s against the spheres in slots `from` + lane. No sphere pairs with its own image. */
FN cloud_lanes_found cloud_test(const cloud_sorted *columns, const cloud_sphere *sphere, uint32_t from, int options)
{
    const v3 at = v3_of(v_load(columns->x + from), v_load(columns->y + from), v_load(columns->z + from));
    const vf reach = v_load(columns->reach + from), margin = v_f(columns->margin);
    cloud_lanes_found tested;
    if (options & CLOUD_IMAGE) {
        tested = cloud_compare_between(v3_sub(at, sphere->at), reach + sphere->least, reach + sphere->reach, margin,
                                       options);
        tested = cloud_keep(tested, v_bitmask(v_not(vi_eq(cloud_load_bits(columns->index + from), sphere->index))));
    } else
        tested = cloud_compare(v3_sub(at, sphere->at), reach + sphere->reach, margin, options);
    if (options & CLOUD_MASKED && columns->mask)
        tested = cloud_keep(tested, cloud_common(sphere->group, cloud_load_bits(columns->mask + from)));
    if (options & CLOUD_MASKED && columns->group)
        tested = cloud_keep(tested, cloud_common(cloud_load_bits(columns->group + from), sphere->mask));
    return tested;
}

/* cloud_short_run() for spheres in motion. */
FN void cloud_short_swept(const cloud_sorted *columns, const cloud_sphere *sphere, uint32_t begin, uint32_t end,
                          int options, caromi_cloud_found *found)
{
    uint32_t count = found->swept.count;
    for (uint32_t slot = begin; slot < end; slot += LANES) {
        const u32 some = cloud_test(columns, sphere, slot, options).some & cloud_lanes(end - slot);
        count = cloud_append(&found->swept, count, v_i((int)sphere->slot), cloud_slots(slot), some);
    }
    found->swept.count = count;
    if (count >= CLOUD_SWEEP)
        cloud_sweep(columns->view, found);
}

/* A sphere against a run of at most CAROMI_CLOUD_RUN spheres. */
FN void cloud_short_run(const cloud_sorted *columns, const cloud_sphere *sphere, uint32_t begin, uint32_t end,
                        int options, caromi_cloud_found *found)
{
    uint32_t certain_count = found->certain.count, near_count = found->near.count;
    if (options & CLOUD_SWEPT) {
        cloud_short_swept(columns, sphere, begin, end, options, found);
        return;
    }
    /* Tests LANES spheres at a time, and appends each class of partners to its buffer. */
    const u32 last = cloud_lanes((end - begin - 1) % LANES + 1); /* shorter than a mask for each step */
    for (uint32_t slot = begin; slot < end; slot += LANES) {
        const cloud_lanes_found tested = cloud_test(columns, sphere, slot, options);
        const u32 lanes = end - slot > LANES ? cloud_lanes(LANES) : last,
                  undecided = tested.some & ~(tested.certain | tested.near) & lanes;
        if (!(options & CLOUD_BOUNDS_ONLY))
            certain_count = cloud_append(&found->certain, certain_count, sphere->index,
                                         cloud_load_bits(columns->index + slot), tested.certain & lanes);
        if (options & CLOUD_MARGIN && !(options & CLOUD_BOUNDS_ONLY))
            near_count = cloud_append(&found->near, near_count, sphere->index, cloud_load_bits(columns->index + slot),
                                      tested.near & lanes);
        if (undecided)
            found->undecided.count = cloud_append(&found->undecided, found->undecided.count, v_i((int)sphere->slot),
                                                  cloud_slots(slot), undecided);
    }
    found->certain.count = certain_count;
    found->near.count = near_count;
    if ((certain_count | near_count | found->undecided.count) >= CAROMI_CLOUD_FLUSH)
        found->flush(found);
}

/* Does the same as the device's program, whose probe compares the bits. */
static void cloud_test_items(const caromi_cloud_view *view, const uint32_t *slot, const uint32_t *begin,
                             const uint32_t *length, uint32_t count, uint32_t *some, uint32_t *certain, uint32_t *near)
{
    const int options = caromi_cloud_options(view);
    const cloud_sorted columns = cloud_sorted_of(view);
    for (uint32_t i = 0; i < count; i++) {
        const cloud_sphere sphere = cloud_load(&columns, slot[i]);
        some[i] = certain[i] = near[i] = 0;
        for (uint32_t offset = 0; offset < length[i]; offset += LANES) {
            const cloud_lanes_found tested =
                cloud_keep(cloud_test(&columns, &sphere, begin[i] + offset, options), cloud_lanes(length[i] - offset));
            some[i] |= tested.some << offset;
            certain[i] |= tested.certain << offset;
            near[i] |= tested.near << offset;
        }
    }
}

/* Bits j to j + LANES - 1 of an item. */
FN cloud_lanes_found cloud_answer_at(uint32_t *const item[CAROMI_ITEM_WORDS], uint64_t i, uint32_t offset)
{
    const cloud_lanes_found tested = {item[CAROMI_ITEM_SOME][i] >> offset, item[CAROMI_ITEM_CERTAIN][i] >> offset,
                                      item[CAROMI_ITEM_NEAR][i] >> offset};
    return cloud_keep(tested, cloud_lanes(LANES));
}

/* The device's answers to items [begin, end), six words each: the slot of a sphere, the first slot that it is compared
 * with and how many, then a bit for each of these that is a partner, a certain one, a near one. Stops when a buffer is
 * half full: as CAROMI_CLOUD_FLUSH / 2 is a power of two, the OR of the counts is below it if all of them are. */
static uint64_t cloud_read_answers(const caromi_cloud_view *view, uint32_t *const item[CAROMI_ITEM_WORDS],
                                   uint64_t begin, uint64_t end, caromi_cloud_found *found)
{
    const cloud_sorted columns = cloud_sorted_of(view);
    const int is_swept = view->motion.given != NULL;
    uint64_t i = begin;
    while (i < end && (found->certain.count | found->near.count | found->undecided.count) < CAROMI_CLOUD_FLUSH / 2) {
        const uint32_t slot = item[CAROMI_ITEM_SLOT][i];
        const vi own = v_i((int)slot), index = v_i((int)columns.index[slot]);
        for (uint32_t offset = 0; offset < CLOUD_ITEM && item[CAROMI_ITEM_SOME][i] >> offset != 0; offset += LANES) {
            const cloud_lanes_found tested = cloud_answer_at(item, i, offset);
            const uint32_t first_slot = item[CAROMI_ITEM_BEGIN][i] + offset;
            const u32 near = tested.near & ~tested.certain, undecided = tested.some & ~(tested.certain | near);
            if (is_swept) {
                found->swept.count =
                    cloud_append(&found->swept, found->swept.count, own, cloud_slots(first_slot), tested.some);
                continue;
            }
            if (tested.certain)
                found->certain.count = cloud_append(&found->certain, found->certain.count, index,
                                                    cloud_load_bits(columns.index + first_slot), tested.certain);
            if (near)
                found->near.count = cloud_append(&found->near, found->near.count, index,
                                                 cloud_load_bits(columns.index + first_slot), near);
            if (undecided)
                found->undecided.count =
                    cloud_append(&found->undecided, found->undecided.count, own, cloud_slots(first_slot), undecided);
        }
        if (++i == end || found->swept.count >= CLOUD_SWEEP)
            cloud_sweep(view, found);
    }
    return i;
}

/* Lists a comparison for the device. */
FN void cloud_list_run(uint32_t slot, uint32_t begin, uint32_t end, caromi_cloud_found *found)
{
    caromi_cloud_runs *runs = found->runs;
    if (begin >= end)
        return;
    if (runs->count == runs->capacity)
        found->flush(found);
    const caromi_cloud_item run = {slot, begin, end};
    runs->item[runs->count++] = run;
}

/* A sphere against a run of spheres of any length. */
FN void cloud_run(const cloud_sorted *columns, const cloud_sphere *sphere, uint32_t begin, uint32_t end, int options,
                  caromi_cloud_found *found)
{
    if (options & CLOUD_LISTED) {
        cloud_list_run(sphere->slot, begin, end, found);
        return;
    }
    for (; end > begin + CAROMI_CLOUD_RUN; begin += CAROMI_CLOUD_RUN) {
        if (found->ends)
            return;
        cloud_short_run(columns, sphere, begin, begin + CAROMI_CLOUD_RUN, options, found);
        if (++found->long_runs >= CAROMI_CLOUD_RUNS)
            found->flush(found);
    }
    cloud_short_run(columns, sphere, begin, end, options, found);
}
