/* SPDX-License-Identifier: MIT */
/* Finds the pairs of a cloud at rest on a GPU, in two passes over its cells: the first counts the pairs of each sphere
 * and lists those that the test of cloud_test.h does not decide; the second stores the others. A work-item goes
 * through the cells around one sphere, in its level and in all coarser ones. So each pair is found once: from its
 * smaller sphere, and within a level from the sphere whose row of cells, or slot, comes first. Images are in no cell: a
 * further pass, -DGRID_OF_IMAGES, searches from the images of the spheres near the bounds. A pass has rounds: a search
 * that has made its tests of one goes on in the next. The host names the kernel that it builds: -DKERNEL_grid_count,
 * _grid_store, or one for the undecided pairs. First and any partners have a pass of their own, in which each sphere
 * keeps its partner of the lowest index: at rest all pairs have one time. No index that comes from memory leads outside
 * an array, whatever a device does wrong: the host is told by totals->faults. */
#define PAIR_SOLVERS
#include "cloud_cell.h"
#include "cloud.h"
#include "cloud_rows.h"
#include "cloud_test.h"

/* The rows of the list, one for each sphere a, and where their pairs go. */
typedef struct grid_rows {
    uint begin, end;               /* spheres a that are asked for */
    volatile __global uint *count; /* pairs of each, which the second pass counts down; or its best partner */
    __global const ulong *offset;  /* of each row */
    __global ulong *key;
    __global uint *of; /* sphere a of each stored pair */
    ulong stored;      /* pairs that there is room for */
    volatile __global grid_totals *totals;
    int options;
} grid_rows;

#if defined(KERNEL_grid_count) || defined(KERNEL_grid_count_undecided)
FN void grid_add(const grid_rows *rows, uint a, uint b, uint image, uint state, real t)
{
    (void)b, (void)image, (void)state, (void)t;
    if (a >= rows->begin && a < rows->end)
        atomic_inc(rows->count + a);
}
#elif defined(KERNEL_grid_best) || defined(KERNEL_grid_best_undecided)
/* Keeps the lowest b, as its complement: 0 is no partner. */
FN void grid_add(const grid_rows *rows, uint a, uint b, uint image, uint state, real t)
{
    (void)image, (void)state, (void)t;
    if (a >= rows->begin && a < rows->end)
        atomic_max(rows->count + a, ~b);
}
#else
/* A pair that the first pass has not counted has no slot in its row. */
FN void grid_add(const grid_rows *rows, uint a, uint b, uint image, uint state, real t)
{
    if (a < rows->begin || a >= rows->end)
        return;
    const ulong at = rows->offset[a] + (atomic_dec(rows->count + a) - 1u);
    if (at >= rows->offset[a + 1] || at >= rows->stored) {
        atomic_or(&rows->totals->faults, 1u);
        return;
    }
    rows->key[at] = grid_key_of_time(t) | grid_key_of(b, image, rows->options) | state;
    rows->of[at] = a;
}
#endif

/* A pair of spheres a < b, with the image of b. For b it is a's opposite image. */
FN void grid_add_pair(const grid_rows *rows, uint a, uint b, uint image, uint state, real t)
{
    grid_add(rows, a, b, image, state, t);
    if (rows->options & GRID_FULL)
        grid_add(rows, b, a, GRID_IMAGES - 1 - image, state, t);
}

#if defined(KERNEL_grid_count) || defined(KERNEL_grid_best) || defined(KERNEL_grid_store)
typedef struct grid_cloud {
    __global const grid_plan *plan;
    __global const float4 *at;
    __global const uint *index, *start;
    __global const uint2 *filter; /* mask and group */
    real margin;
    int options;
    uint slots; /* that have spheres */
} grid_cloud;

/* Pairs that the test leaves undecided, by slots; those beyond the capacity are only counted. */
typedef struct grid_undecided {
    __global uint2 *pair;
    volatile __global uint *count;
    uint capacity;
} grid_undecided;

/* The sphere whose partners are searched, and the level that is searched. Of its tests, in the order of the search,
 * this round makes [from, to). */
typedef struct grid_search {
    uint image; /* of the sphere that is searched from */
#ifdef GRID_OF_IMAGES
    v3 shift;
#endif
    float4 at;
    uint slot, index;
    uint2 filter;
    uint from, to, tests; /* tests: before those of the next cells */
    __global const grid_level *level;
    grid_range x;
} grid_search;

/* The offset of two spheres, of which one may be an image: then the errors of both sums are put back. */
FN v3 grid_offset(const grid_search *search, float4 other)
{
    const v3 at = v3_of(search->at.x, search->at.y, search->at.z), from = v3_of(other.x, other.y, other.z);
#ifdef GRID_OF_IMAGES
    cloud_in in;
    in.a = from;
    in.b = at;
    in.shift = search->shift;
    return cloud_offset(in);
#else
    return v3_sub(from, at);
#endif
}

FN void grid_compare(const grid_cloud *grid, const grid_search *search, const grid_rows *rows,
                     const grid_undecided *undecided, uint slot)
{
    const float4 other = grid->at[slot];
    const v3 d = grid_offset(search, other);
    const real sum = other.w + search->at.w;
#ifdef GRID_OF_IMAGES
    const int has_overflowed = !v3_finite(d); /* a sum has overflowed, which the shift may bring back */
    if (slot == search->slot)
        return;
#else
    const int has_overflowed = 0;
#endif
    if (!has_overflowed && !cloud_compare(d, sum, grid->margin, grid->options | CLOUD_BOUNDS_ONLY).some)
        return; /* nearly always */
    const cloud_lanes_found tested = cloud_compare(d, sum, grid->margin, grid->options);
    const int is_certain = tested.certain && !has_overflowed, is_near = tested.near && !has_overflowed;
    const uint index = grid->index[slot],
               image = search->index > index ? search->image : GRID_IMAGES - 1 - search->image;
    if ((grid->options & CLOUD_MASKED) && !grid_passes(grid->filter[slot], search->filter))
        return;
    if (is_certain && (grid->options & GRID_SKIPS_CONTACT))
        return;
    if (is_certain || is_near) {
        const real inf = v_infinity();
        grid_add_pair(rows, min(search->index, index), max(search->index, index), image,
                      is_certain ? STATE_OVERLAPPING : STATE_MISS, is_certain ? R(0.0) : inf);
        return;
    }
#ifndef KERNEL_grid_store
    const uint at = atomic_inc(undecided->count);
    if (at < undecided->capacity)
        undecided->pair[at] = search->index < index ? grid_undecided_of(search->slot, slot, image)
                                                    : grid_undecided_of(slot, search->slot, image);
#endif
}

/* Goes through the cells of a row, from slot `first` on. Buckets that reach over the end of the table go on at its
 * begin.
 */
FN void grid_search_row(const grid_cloud *grid, grid_search *search, const grid_rows *rows,
                        const grid_undecided *undecided, uint y, uint z, uint first)
{
    uint bucket = grid_bucket(search->x.low, y, z, search->level);
    for (uint left = search->x.count; left > 0 && search->tests <= search->to;) {
        const uint here = min(left, search->level->mask + 1 - bucket);
        const uint end = min(grid->start[search->level->base + bucket + here], grid->slots),
                   begin = min(max(grid->start[search->level->base + bucket], first), end), count = end - begin;
        const uint stop = begin + min(count, search->to - search->tests);
        uint slot = begin;
        if (search->tests < search->from)
            slot += min(count, search->from - search->tests);
        LANG_ROLLED
        for (; slot < stop; slot++)
            grid_compare(grid, search, rows, undecided, slot);
        search->tests += count;
        left -= here;
        bucket = 0;
    }
}

/* The levels in which a sphere of level `own` searches: its own one and all that are coarser. Of two clouds, the other
 * one's: those that are coarser, and from the first cloud's spheres the one with the same cells. */
typedef struct grid_levels {
    uint first, end, step;
} grid_levels;
FN grid_levels grid_levels_of(__global const grid_plan *plan, uint own)
{
    grid_levels levels = {0, own + 1, 1};
    if (plan->split != GRID_ONE_CLOUD) {
        levels.first = 1 - (own & 1);
        levels.end = own & 1 ? own - 1 : own + 2;
        levels.step = 2;
    }
    levels.end = min(levels.end, plan->level_count);
    return levels;
}

#ifdef GRID_OF_IMAGES
/* All cells around the image. */
FN void grid_search_level(const grid_cloud *grid, grid_search *search, const grid_rows *rows,
                          const grid_undecided *undecided)
{
    __global const grid_plan *plan = grid->plan;
    __global const grid_level *level = search->level;
    const long reach = grid_reach(search->at.w, grid->margin, level);
    search->x = grid_range_of(grid_shifted_units(search->at.x, search->shift.x, plan->anchor[0], level), reach, level);
    const grid_range y =
        grid_range_of(grid_shifted_units(search->at.y, search->shift.y, plan->anchor[1], level), reach, level);
    const grid_range z =
        grid_range_of(grid_shifted_units(search->at.z, search->shift.z, plan->anchor[2], level), reach, level);
    LANG_ROLLED
    for (uint row = 0; row < y.count * z.count; row++)
        grid_search_row(grid, search, rows, undecided, y.low + row % y.count, z.low + row / y.count, 0);
}

/* Whether an image of a sphere may touch another one, shifted by -1, 0 or 1 periods along an axis. In eighths. */
FN int grid_has_image(__global const grid_plan *plan, real at, real reach, int axis, int step)
{
    const real from = at * R(0.125), by = reach * R(0.125) * R(1.000244140625); /* 1 + 2^-12 */
    if (step == 0)
        return 1;
    return plan->period[axis] > R(0.0) && (step > 0 ? from - by <= plan->below[axis] : plan->above[axis] <= from + by);
}

/* Searches from the images of a sphere. Within its own level half of them suffice: a sphere meets an image of another
 * one where its own opposite image meets that sphere. */
FN void grid_search_all(const grid_cloud *grid, grid_search *search, const grid_rows *rows,
                        const grid_undecided *undecided, uint own)
{
    __global const grid_plan *plan = grid->plan;
    const grid_levels levels = grid_levels_of(plan, own);
    LANG_ROLLED
    for (uint image = 0; image < GRID_IMAGES && search->tests <= search->to; image++) {
        if (image == GRID_IMAGE_OWN || !grid_has_image(plan, search->at.x, search->at.w, 0, grid_step_of(image, 0)) ||
            !grid_has_image(plan, search->at.y, search->at.w, 1, grid_step_of(image, 1)) ||
            !grid_has_image(plan, search->at.z, search->at.w, 2, grid_step_of(image, 2)))
            continue;
        search->image = image;
        search->shift = grid_shift(image, plan->period[0], plan->period[1], plan->period[2]);
        LANG_ROLLED
        for (uint level = levels.first; level < levels.end && search->tests <= search->to; level += levels.step) {
            search->level = &plan->level[level];
            if (search->level->spheres > 0 && (level != own || image > GRID_IMAGE_OWN))
                grid_search_level(grid, search, rows, undecided);
        }
    }
}
#else
/* Within its own level a sphere searches half of the cells around it: its row behind itself, and the rows behind that
 * one. The other half is searched from the other spheres. */
FN void grid_search_level(const grid_cloud *grid, grid_search *search, const grid_rows *rows,
                          const grid_undecided *undecided, int is_own)
{
    const long reach = grid_reach(search->at.w, grid->margin, search->level);
    const long at_x = grid_units(search->at.x, grid->plan->anchor[0], search->level);
    const long at_y = grid_units(search->at.y, grid->plan->anchor[1], search->level);
    const long at_z = grid_units(search->at.z, grid->plan->anchor[2], search->level);
    search->x = grid_range_of(at_x, reach, search->level);
    const grid_range y = grid_range_of(at_y, reach, search->level), z = grid_range_of(at_z, reach, search->level);
    LANG_ROLLED
    for (uint row = is_own ? y.own + z.own * y.count : 0; row < y.count * z.count; row++) {
        const int is_first = is_own && row == y.own + z.own * y.count;
        grid_search_row(grid, search, rows, undecided, y.low + row % y.count, z.low + row / y.count,
                        is_first ? search->slot + 1 : 0);
    }
}

FN void grid_search_all(const grid_cloud *grid, grid_search *search, const grid_rows *rows,
                        const grid_undecided *undecided, uint own)
{
    const grid_levels levels = grid_levels_of(grid->plan, own);
    search->image = GRID_IMAGE_OWN;
    LANG_ROLLED
    for (uint level = levels.first; level < levels.end && search->tests <= search->to; level += levels.step) {
        search->level = &grid->plan->level[level];
        if (search->level->spheres > 0)
            grid_search_level(grid, search, rows, undecided, level == own);
    }
}
#endif

/* Searches from the spheres in slots [first, first + items), in later rounds from those of the list `unfinished`.
 * Searches that have tests left go to the list `next`. */
__kernel void LANG_CAT(carom_, KERNEL)(__global const grid_plan *plan, __global const float4 *at,
                                       __global const uint *index, __global const uint2 *filter,
                                       __global const uint *start, real margin, int options, uint row_begin,
                                       uint row_end, volatile __global uint *count, __global const ulong *offset,
                                       __global ulong *key, __global uint *of, ulong stored,
                                       volatile __global grid_totals *totals, __global uint2 *undecided_pair,
                                       uint undecided_capacity, uint spheres, __global const uint *unfinished,
                                       __global uint *next, uint round, uint first, uint items)
{
    const grid_cloud grid = {plan, at, index, start, filter, margin, options, min(start[plan->buckets], spheres)};
    const uint item = first + (uint)get_global_id(0);
    if (get_global_id(0) >= items)
        return;
#ifndef KERNEL_grid_store
    if (atomic_or(&totals->undecided, 0u) > GRID_UNDECIDED_OF(spheres))
        return;
#endif
    const uint slot = round == 0 ? item : unfinished[item];
    if (slot >= grid.slots)
        return;
    const grid_rows rows = {row_begin, row_end, count, offset, key, of, stored, totals, options};
    const grid_undecided undecided = {undecided_pair, &totals->undecided, undecided_capacity};
    grid_search search;
    search.from = round * GRID_TESTS;
    search.to = search.from + GRID_TESTS;
    search.tests = 0;
    search.at = at[slot];
    search.slot = slot;
    search.index = index[slot];
    search.filter = options & CLOUD_MASKED ? filter[slot] : (uint2)(0, 0);
    const uint own = grid_level_of(plan, search.at.w, margin, search.index);
    grid_search_all(&grid, &search, &rows, &undecided, own);
    if (search.tests > search.to) {
        const uint own_item = atomic_inc(&totals->unfinished);
        if (own_item < spheres)
            next[own_item] = slot;
    }
}
#endif

#ifdef KERNEL_grid_solve
FN void grid_load(__global const float4 *at, uint slot, uint spheres, v3 *center, vf *radius)
{
    const float4 sphere = at[min(slot, spheres - 1)];
    *center = v3_of(sphere.x, sphere.y, sphere.z);
    *radius = sphere.w;
}

/* The solver's answers about the undecided pairs. */
__kernel void carom_grid_solve(__global const float4 *at, __global const uint2 *pair, real margin, real period_x,
                               real period_y, real period_z, __global real *t, __global uchar *state, uint spheres,
                               uint pairs, uint items)
{
    GRID_FOR_EACH(i, pairs)
    {
        const v3 zero = v3_of(R(0.0), R(0.0), R(0.0));
        cloud_in in;
        grid_load(at, grid_slot_of(pair[i].x), spheres, &in.a, &in.radius_a);
        grid_load(at, grid_slot_of(pair[i].y), spheres, &in.b, &in.radius_b);
        in.a_velocity = in.b_velocity = zero;
        in.shift = grid_shift(grid_image_of_undecided(pair[i]), period_x, period_y, period_z);
        in.margin = margin;
        in.limit = v_infinity();
        const cloud_out out = cloud(in);
        t[i] = out.t;
        state[i] = (uchar)out.state;
    }
    (void)items;
}
#endif

#ifdef KERNEL_grid_gather
/* The inputs of undecided pairs, for the host: two spheres each and, if there are `each` = 3, the shift. */
__kernel void carom_grid_gather(__global const float4 *at, __global const uint2 *pair, real period_x, real period_y,
                                real period_z, uint each, __global float4 *to, uint spheres, uint pairs, uint items)
{
    GRID_FOR_EACH(i, pairs)
    {
        const v3 shift = grid_shift(grid_image_of_undecided(pair[i]), period_x, period_y, period_z);
        __global float4 *own = to + each * (size_t)i;
        own[0] = at[min(grid_slot_of(pair[i].x), spheres - 1)];
        own[1] = at[min(grid_slot_of(pair[i].y), spheres - 1)];
        if (each > 2)
            own[2] = (float4)(shift.x, shift.y, shift.z, R(0.0));
    }
    (void)items;
}
#endif

#if defined(KERNEL_grid_count_undecided) || defined(KERNEL_grid_best_undecided) || defined(KERNEL_grid_store_undecided)
/* Adds the hits among the undecided pairs to the rows. */
__kernel void LANG_CAT(carom_, KERNEL)(__global const uint *index, __global const uint2 *pair, __global const real *t,
                                       __global const uchar *state, int options, uint row_begin, uint row_end,
                                       volatile __global uint *count, __global const ulong *offset, __global ulong *key,
                                       __global uint *of, ulong stored, volatile __global grid_totals *totals,
                                       uint spheres, uint pairs, uint items)
{
    const grid_rows rows = {row_begin, row_end, count, offset, key, of, stored, totals, options};
    GRID_FOR_EACH(i, pairs)
    {
        const uint one = min(grid_slot_of(pair[i].x), spheres - 1);
        const uint other = min(grid_slot_of(pair[i].y), spheres - 1);
        const int is_near = state[i] == STATE_NEAR;
        if (state[i] != STATE_MISS && (is_near || !(options & GRID_SKIPS_CONTACT)))
            grid_add_pair(&rows, index[one], index[other], grid_image_of_undecided(pair[i]),
                          is_near ? STATE_MISS : state[i], t[i]);
    }
    (void)items;
}
#endif
