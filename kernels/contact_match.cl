/* SPDX-License-Identifier: MIT */
/* Matches the contacts of two steps: a work-item for each sphere of the previous list. The algorithm is that of
 * host/mesh/match.c, a nearest-neighbour chain. Distances are compared in binary64 and, where these are too close to
 * each other, exactly: as sums of numbers without rounding errors (J. R. Shewchuk's expansions). So the answer is the
 * host's. The host names the kernel that it builds. */
#include "wide.h"
#include "cloud_grid.h"
#include "contact_match.h"
#include "resident.h"

typedef wf w_one; /* a single number: a device with one lane alone has these programs */

/* A list of contacts; each array begins `at` bytes behind the begin of its memory. */
#define MATCH_RECORDS(of)                                                                                     \
    __global const uchar *query##of, ulong query_at##of, __global const uchar *patch##of, ulong patch_at##of, \
        __global const uchar *x##of, ulong x_at##of, __global const uchar *y##of, ulong y_at##of,             \
        __global const uchar *z##of, ulong z_at##of, ulong stride##of, uint count##of
#define MATCH_RECORDS_OF(of)                                                                                    \
    match_records_of(query##of, query_at##of, patch##of, patch_at##of, x##of, x_at##of, y##of, y_at##of, z##of, \
                     z_at##of, stride##of, count##of)
typedef struct match_records {
    __global const uchar *query, *patch, *x, *y, *z;
    ulong query_at, patch_at, x_at, y_at, z_at, stride; /* stride: of the points */
    uint count;
} match_records;

FN match_records match_records_of(MATCH_RECORDS())
{
    match_records records;
    records.query = query;
    records.patch = patch;
    records.x = x;
    records.y = y;
    records.z = z;
    records.query_at = query_at;
    records.patch_at = patch_at;
    records.x_at = x_at;
    records.y_at = y_at;
    records.z_at = z_at;
    records.stride = stride;
    records.count = count;
    return records;
}

FN ulong match_query(const match_records *records, uint i)
{
    return resident_load_long(records->query, records->query_at + 8 * (ulong)i);
}

FN uint match_patch(const match_records *records, uint i)
{
    return resident_load(records->patch, records->patch_at + 4 * (ulong)i);
}

typedef struct match_point {
    float at[3];
} match_point;

FN match_point match_point_of(const match_records *records, uint i)
{
    match_point point;
    point.at[0] = as_float(resident_load(records->x, records->x_at + i * records->stride));
    point.at[1] = as_float(resident_load(records->y, records->y_at + i * records->stride));
    point.at[2] = as_float(resident_load(records->z, records->z_at + i * records->stride));
    return point;
}

/* The first record whose query is at least, or above, `query`. */
FN uint match_bound(const match_records *records, ulong query, int above)
{
    uint low = 0, high = records->count;
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        const ulong found = match_query(records, middle);
        if (found < query || (above && found == query))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The contacts of one sphere: previous records [first, last), new records [from, end). */
typedef struct match_group {
    uint first, last, from, end;
} match_group;

/* The group that begins with previous record i, if one does; else it is empty. */
FN match_group match_group_at(const match_records *previous, const match_records *now, uint i)
{
    match_group group;
    const ulong query = match_query(previous, i);
    group.first = group.last = i;
    group.from = group.end = 0;
    if (i > 0 && match_query(previous, i - 1) == query)
        return group;
    group.last = match_bound(previous, query, 1);
    group.from = match_bound(now, query, 0);
    group.end = match_bound(now, query, 1);
    return group;
}

#ifdef KERNEL_match_check
/* Checks the records of a list; the previous contacts are free. other: the list of the other step. */
__kernel void carom_match_check(MATCH_RECORDS(_own), MATCH_RECORDS(_other), uint is_previous, __global int *below,
                                __global uint *report, uint items)
{
    const match_records own = MATCH_RECORDS_OF(_own), other = MATCH_RECORDS_OF(_other);
    GRID_FOR_EACH(i, own.count)
    {
        const match_point point = match_point_of(&own, i);
        int is_valid = i == 0 || match_query(&own, i - 1) <= match_query(&own, i);
        for (int k = 0; k < 3; k++)
            is_valid = is_valid && (real_bits(point.at[k]) & R_MAGNITUDE_MASK) < R_INFINITY_BITS;
        if (!is_valid)
            atomic_or(report, MATCH_INVALID);
        if (!is_previous)
            continue;
        const match_group group = match_group_at(&own, &other, i);
        if (group.last > group.first && group.end > group.from &&
            (ulong)(group.last - group.first) * (group.end - group.from) > MATCH_MOST)
            atomic_or(report, MATCH_CROWDED);
        below[i] = MATCH_FREE;
    }
    (void)items;
}
#endif

#ifdef KERNEL_match_begin
/* No new contact has a previous one. */
__kernel void carom_match_begin(__global long *answer, uint count, uint items)
{
    GRID_FOR_EACH(i, count)
    answer[i] = MATCH_FREE;
    (void)items;
}
#endif

#ifdef KERNEL_match_pair
/* ---- exact distances --------------------------------------------------------------------------------------------- */

/* A sum of numbers without rounding errors, in ascending order of magnitude: the last one that is not 0 has its sign.
 */
#define MATCH_TERMS 36
typedef struct match_sum {
    w_one term[MATCH_TERMS];
    int count;
} match_sum;

FN w_one match_two_sum(w_one a, w_one b, w_one *error)
{
    const w_one sum = a + b, part = sum - a;
    *error = (a - (sum - part)) + (b - part);
    return sum;
}

FN void match_add(match_sum *sum, w_one x)
{
    if (x == 0)
        return;
    for (int i = 0; i < sum->count; i++) {
        w_one error;
        x = match_two_sum(x, sum->term[i], &error);
        sum->term[i] = error;
    }
    sum->term[sum->count++] = x;
}

/* Adds a * b, exactly. */
FN void match_add_product(match_sum *sum, w_one a, w_one b)
{
    const w_one split = W(134217729.0); /* 2^27 + 1 */
    const w_one ca = split * a, cb = split * b, ah = ca - (ca - a), bh = cb - (cb - b), al = a - ah, bl = b - bh;
    const w_one product = a * b;
    match_add(sum, ((ah * bh - product) + ah * bl + al * bh) + al * bl);
    match_add(sum, product);
}

/* Adds the squared distance of two points, times `sign`. */
FN void match_add_square(match_sum *sum, match_point a, match_point b, w_one sign)
{
    for (int k = 0; k < 3; k++) {
        w_one low;
        const w_one high = match_two_sum((w_one)a.at[k], -(w_one)b.at[k], &low);
        match_add_product(sum, low * sign, low);
        match_add_product(sum, high * (sign + sign), low);
        match_add_product(sum, high * sign, high);
    }
}

/* Whether a is closer to `own` than b. */
FN int match_is_closer(match_point own, match_point a, match_point b)
{
    match_sum sum;
    w_one last = 0;
    sum.count = 0;
    match_add_square(&sum, own, a, W(1.0));
    match_add_square(&sum, own, b, W(-1.0));
    for (int i = 0; i < sum.count; i++)
        last = sum.term[i] != 0 ? sum.term[i] : last;
    return last < 0;
}

/* ---- choices ----------------------------------------------------------------------------------------------------- */

/* The best of the records that a choice has gone through, in ascending order: so a tie goes to the first. */
typedef struct match_best {
    match_point own, at;
    w_one square;
    int record;
} match_best;

FN match_best match_best_of(match_point own)
{
    match_best best;
    best.own = best.at = own;
    best.square = 0;
    best.record = MATCH_FREE;
    return best;
}

FN void match_consider(match_best *best, match_point point, uint record)
{
    w_one square = 0;
    for (int k = 0; k < 3; k++) {
        const w_one offset = (w_one)best->own.at[k] - (w_one)point.at[k];
        square += offset * offset;
    }
    /* Squares with a difference above their errors decide: as caromi_squares_apart. */
    const w_one difference = square - best->square, sum = square + best->square;
    const int is_apart = (difference < 0 ? -difference : difference) > W(0x1p-48) * sum;
    if (best->record >= 0 && !(is_apart ? difference < 0 : match_is_closer(best->own, point, best->at)))
        return;
    best->at = point;
    best->square = square;
    best->record = (int)record;
}

/* A previous contact's closest choice among the free new contacts of its patch. */
FN int match_choose_new(const match_records *previous, const match_records *now, match_group group,
                        __global const long *answer, uint i)
{
    match_best best = match_best_of(match_point_of(previous, i));
    for (uint j = group.from; j < group.end; j++)
        if (answer[j] == MATCH_FREE && match_patch(now, j) == match_patch(previous, i))
            match_consider(&best, match_point_of(now, j), j);
    return best.record;
}

/* A new contact's closest choice among the free previous contacts. */
FN int match_choose_previous(const match_records *previous, const match_records *now, match_group group,
                             __global const int *below, uint j)
{
    match_best best = match_best_of(match_point_of(now, j));
    for (uint i = group.first; i < group.last; i++)
        if (below[i] != MATCH_PAIRED && match_patch(previous, i) == match_patch(now, j))
            match_consider(&best, match_point_of(previous, i), i);
    return best.record;
}

/* Follows the chain from a previous contact until it is empty. */
FN void match_chain(const match_records *previous, const match_records *now, match_group group, __global long *answer,
                    __global int *below, uint first)
{
    int at = below[first] != MATCH_PAIRED ? (int)first : MATCH_FREE;
    while (at >= 0) {
        const int choice = match_choose_new(previous, now, group, answer, (uint)at);
        const int back = choice >= 0 ? match_choose_previous(previous, now, group, below, (uint)choice) : MATCH_FREE;
        if (choice >= 0 && back != at) { /* the choice prefers another contact: the chain goes on there */
            below[back] = at;
            at = back;
            continue;
        }
        const int next = below[at];
        if (choice >= 0) { /* each is the other's closest choice */
            answer[choice] = at;
            below[at] = MATCH_PAIRED;
        }
        at = next;
    }
}

/* Pairs the contacts of the spheres that begin among previous records [first, first + records). */
__kernel void carom_match_pair(MATCH_RECORDS(_previous), MATCH_RECORDS(_now), __global int *below,
                               __global long *answer, uint first, uint records, uint items)
{
    const match_records previous = MATCH_RECORDS_OF(_previous), now = MATCH_RECORDS_OF(_now);
    GRID_FOR_EACH(i, records)
    {
        const match_group group = match_group_at(&previous, &now, first + i);
        for (uint k = group.first; group.end > group.from && k < group.last; k++)
            match_chain(&previous, &now, group, answer, below, k);
    }
    (void)items;
}
#endif

#ifdef KERNEL_match_gone
/* Counts the previous contacts that have ended. */
__kernel void carom_match_gone(__global const int *below, __global uint *gone, uint count, uint items)
{
    GRID_FOR_EACH(i, count)
    gone[i] = below[i] != MATCH_PAIRED;
    (void)items;
}
#endif

#ifdef KERNEL_match_end
/* Lists them. */
__kernel void carom_match_end(__global const uint *gone, __global const ulong *slot, __global uchar *ended,
                              ulong ended_at, uint count, uint items)
{
    GRID_FOR_EACH(i, count)
    if (gone[i])
        resident_store_long(ended, ended_at + 8 * slot[i], i);
    (void)items;
}
#endif
