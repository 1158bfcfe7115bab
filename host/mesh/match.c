/* SPDX-License-Identifier: MIT */
/* Matches the contacts of two steps, sphere by sphere, as a greedy matching in the order (distance, previous, new). Two
 * contacts that are each other's closest choice are a pair of the greedy matching: no earlier pair contains either. A
 * nearest-neighbour chain finds such pairs: it goes from a contact to its choice, from there to that contact's choice,
 * and so on. Its links come ever earlier in the order, so it ends in a pair. The rest of the chain below that pair is
 * reused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/exact/exact.h"
#include "host/core/arrays.h"
#include "host/core/device.h"
#include "host/core/devices.h"
#include "host/core/staging.h"
#include "match.h"
#include "point_tree.h"

enum { NONE = CAROMI_NO_POINT, PAIRED = -2 };
enum { TREES_FROM = 4096 }; /* pairs of one sphere's contacts; with more, trees find the closest contact */

/* A matching while it is found. */
typedef struct match_search {
    const carom_contact_records *previous, *now;
    int64_t *previous_of; /* [now->count] the result: the previous contact of each new one */
    int64_t *below; /* [previous->count] the contact below it in the chain; NONE: it is the first; PAIRED: not free */
    const carom_context *context;
} match_search;

/* The contacts of one sphere, or of one patch of it if they are in trees: previous records [first, last) and new
 * records [from, end). */
typedef struct match_group {
    uint64_t first, last, from, end;
    caromi_point_tree *old, *new;
} match_group;

static void load_point(const carom_contact_records *records, uint64_t i, float to[3])
{
    caromi_in_column column[3];
    caromi_points_to_columns(&records->point, (caromi_index){NULL, 0}, column);
    for (int k = 0; k < 3; k++)
        memcpy(&to[k], caromi_element(&column[k], i), sizeof to[k]);
}

/* A contact's patch, of a scene with its instance: contacts go on within these alone. */
static uint64_t patch_of(const carom_contact_records *records, uint64_t i)
{
    return (uint64_t)(uint32_t)(records->instance != NULL ? records->instance[i] : 0) << 32 | records->patch[i];
}

/* Whether one pair comes before another in the order (distance, previous, new). */
static int comes_before(const match_search *search, uint64_t previous, int64_t now, uint64_t other, int64_t other_now)
{
    float from[3], to[3], other_from[3], other_to[3];
    load_point(search->previous, previous, from);
    load_point(search->now, (uint64_t)now, to);
    load_point(search->previous, other, other_from);
    load_point(search->now, (uint64_t)other_now, other_to);
    const int order = caromi_exact_distance_order(from, to, other_from, other_to);
    if (order != 0)
        return order < 0;
    return previous != other ? previous < other : now < other_now;
}

/* A previous contact's closest choice among the free new contacts of its patch. */
static int64_t choose_new(const match_search *search, const match_group *group, int64_t previous)
{
    const uint64_t i = (uint64_t)previous;
    float own[3], point[3];
    double least = (double)INFINITY;
    int64_t best = NONE;
    load_point(search->previous, i, own);
    if (group->new != NULL)
        return caromi_point_tree_find(group->new, own);
    for (uint64_t j = group->from; j < group->end; j++) {
        if (search->previous_of[j] != NONE || patch_of(search->now, j) != patch_of(search->previous, i))
            continue;
        load_point(search->now, j, point);
        const double square_distance = caromi_square_between(own, point);
        /* Squares that are too close to each other are compared exactly. */
        if (best == NONE ||
            (caromi_squares_apart(square_distance, least) ? square_distance < least
                                                          : comes_before(search, i, (int64_t)j, i, best))) {
            best = (int64_t)j;
            least = square_distance;
        }
    }
    return best;
}

/* A new contact's closest choice among the free previous contacts; there is at least one. */
static int64_t choose_previous(const match_search *search, const match_group *group, int64_t now)
{
    float own[3], point[3];
    double least = (double)INFINITY;
    int64_t best = NONE;
    load_point(search->now, (uint64_t)now, own);
    if (group->old != NULL)
        return caromi_point_tree_find(group->old, own);
    for (uint64_t i = group->first; i < group->last; i++) {
        if (search->below[i] == PAIRED || patch_of(search->previous, i) != patch_of(search->now, (uint64_t)now))
            continue;
        load_point(search->previous, i, point);
        const double square_distance = caromi_square_between(own, point);
        /* Squares that are too close to each other are compared exactly. */
        if (best == NONE ||
            (caromi_squares_apart(square_distance, least) ? square_distance < least
                                                          : comes_before(search, i, now, (uint64_t)best, now))) {
            best = (int64_t)i;
            least = square_distance;
        }
    }
    return best;
}

/* Makes a pair: neither contact is free from now on. */
static void pair_up(match_search *search, const match_group *group, int64_t previous, int64_t now)
{
    search->previous_of[now] = previous;
    search->below[previous] = PAIRED;
    if (group->old != NULL) {
        caromi_point_tree_remove(group->old, previous);
        caromi_point_tree_remove(group->new, now);
    }
}

/* Follows the chain from a previous contact until it is empty. Each link ends in a pair, so matching m with n contacts
 * takes about m + n choices. Only the first contact of a chain can be without a choice; it stays unmatched. */
static void follow_chain(match_search *search, const match_group *group, uint64_t first)
{
    /* `at`: the previous contact at the top of the chain, the last one without a pair. */
    int64_t at = search->below[first] != PAIRED ? (int64_t)first : NONE;
    while (at != NONE) {
        const int64_t now = choose_new(search, group, at);
        const int64_t previous = now != NONE ? choose_previous(search, group, now) : NONE;
        if (now != NONE && previous != at) { /* the choice prefers another contact: the chain goes on there */
            search->below[previous] = at;
            at = previous;
            continue;
        }
        const int64_t below = search->below[at];
        if (now != NONE) /* each is the other's closest choice */
            pair_up(search, group, at, now);
        at = below;
    }
}

/* ---- many contacts of one sphere --------------------------------------------------------------------------------- */

/* Order of points by patch, then by number, for qsort. */
static int compare_patches(const void *a, const void *b)
{
    const caromi_tree_point *x = a, *y = b;
    return x->patch != y->patch ? (x->patch > y->patch) - (x->patch < y->patch)
                                : (x->number > y->number) - (x->number < y->number);
}

/* Lists the points of records, sorted by patch. Returns 0 if there is no memory. */
static int list_points(const match_search *search, const carom_contact_records *records, uint64_t from, uint64_t end,
                       caromi_point_tree *tree)
{
    tree->count = end - from;
    tree->points = caromi_alloc(search->context, tree->count, sizeof *tree->points);
    tree->boxes = caromi_alloc(search->context, caromi_point_tree_boxes(tree->count), sizeof *tree->boxes);
    tree->slot = caromi_alloc(search->context, tree->count, sizeof *tree->slot);
    tree->first = (int64_t)from;
    if (tree->points == NULL || tree->boxes == NULL || tree->slot == NULL)
        return 0;
    for (uint64_t i = from; i < end; i++) {
        caromi_tree_point *to = &tree->points[i - from];
        *to = (caromi_tree_point){.patch = patch_of(records, i), .number = (int64_t)i};
        load_point(records, i, to->at);
    }
    qsort(tree->points, tree->count, sizeof *tree->points, compare_patches);
    return 1;
}

static void free_points(const match_search *search, const caromi_point_tree *tree)
{
    caromi_free(search->context, tree->points);
    caromi_free(search->context, tree->boxes);
    caromi_free(search->context, tree->slot);
}

/* The number of points, from `from` on, in the first one's patch. */
static uint64_t count_patch(const caromi_point_tree *all, uint64_t from)
{
    uint64_t at = from;
    while (at < all->count && all->points[at].patch == all->points[from].patch)
        at++;
    return at - from;
}

/* The tree of points [at, at + count). */
static caromi_point_tree part_of(const caromi_point_tree *all, uint64_t at, uint64_t count)
{
    caromi_point_tree part = *all;
    part.points += at;
    part.count = count;
    caromi_point_tree_build(&part);
    return part;
}

/* Walks both lists in the order of their patches; contacts match only within a patch. */
static void match_patches(match_search *search, match_group *group, const caromi_point_tree *old,
                          const caromi_point_tree *new)
{
    uint64_t old_at = 0, new_at = 0;
    while (old_at < old->count && new_at < new->count) {
        const uint64_t patch = old->points[old_at].patch, other = new->points[new_at].patch;
        const uint64_t old_count = patch <= other ? count_patch(old, old_at) : 0,
                       new_count = other <= patch ? count_patch(new, new_at) : 0;
        if (old_count > 0 && new_count > 0) {
            caromi_point_tree before = part_of(old, old_at, old_count), after = part_of(new, new_at, new_count);
            group->old = &before;
            group->new = &after;
            for (uint64_t i = 0; i < old_count; i++)
                follow_chain(search, group, (uint64_t)before.points[i].number);
        }
        old_at += old_count;
        new_at += new_count;
    }
}

/* Matches with trees of the contacts of each patch. Returns 0 if there is no memory. */
static int match_with_trees(match_search *search, match_group *group)
{
    caromi_point_tree old = {.count = 0}, new = {.count = 0};
    const int complete = list_points(search, search->previous, group->first, group->last, &old) &&
                         list_points(search, search->now, group->from, group->end, &new);
    if (complete)
        match_patches(search, group, &old, &new);
    free_points(search, &old);
    free_points(search, &new);
    return complete;
}

/* ---- all spheres ------------------------------------------------------------------------------------------------- */

/* Matches the contacts of one sphere. Returns 0 if there is no memory. */
static int match_sphere(match_search *search, match_group *group)
{
    for (uint64_t i = group->first; i < group->last; i++)
        search->below[i] = NONE;
    if (group->last > group->first && group->end - group->from > TREES_FROM / (group->last - group->first))
        return match_with_trees(search, group);
    for (uint64_t i = group->first; i < group->last; i++)
        follow_chain(search, group, i);
    return 1;
}

/* Walks both lists in the order of their spheres, as a merge does. Returns 0 if there is no memory. */
static int match_all(match_search *search)
{
    const carom_contact_records *before = search->previous, *after = search->now;
    uint64_t next_before = 0, next_after = 0;
    int complete = 1;
    for (uint64_t record = 0; record < after->count; record++)
        search->previous_of[record] = NONE;
    while (complete && next_before < before->count && next_after < after->count) {
        const uint64_t sphere = before->query[next_before] < after->query[next_after] ? before->query[next_before]
                                                                                      : after->query[next_after];
        match_group group = {.first = next_before, .from = next_after};
        while (next_before < before->count && before->query[next_before] == sphere)
            next_before++;
        while (next_after < after->count && after->query[next_after] == sphere)
            next_after++;
        group.last = next_before;
        group.end = next_after;
        complete = match_sphere(search, &group);
    }
    return complete;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* Checks the structure of contact records. */
static carom_status check_records(const carom_contact_records *records, carom_error *err)
{
    CHECK(caromi_check_desc(records->size, sizeof *records, "carom_contact_records", err));
    CHECK(caromi_check_count(records->count, "count", err));
    if (records->count == 0)
        return CAROM_OK;
    CHECK_NOT_NULL(records->query, "query", err);
    CHECK_NOT_NULL(records->patch, "patch", err);
    return caromi_check_points(&records->point, "point", err);
}

/* Checks that the records are sorted by query, and that their points are finite. */
static carom_status check_values(const carom_contact_records *records, const char *name, carom_error *err)
{
    for (uint64_t i = 0; i < records->count; i++) {
        float point[3];
        load_point(records, i, point);
        if (i > 0 && records->query[i] < records->query[i - 1])
            return caromi_fail_argument(
                err, "%s record %llu has query %llu, less than the one before it; queries must ascend", name,
                (unsigned long long)i, (unsigned long long)records->query[i]);
        if (!isfinite(point[0]) || !isfinite(point[1]) || !isfinite(point[2]))
            return caromi_fail_argument(err, "%s record %llu has a point that is not finite", name,
                                        (unsigned long long)i);
    }
    return CAROM_OK;
}

CAROMI_LIST list_records(caromi_arrays *arrays, const carom_contact_records *records)
{
    caromi_reads_one(arrays, "records", records, sizeof *records);
    caromi_reads(arrays, "query", records->query, records->count, sizeof *records->query, sizeof *records->query);
    caromi_reads(arrays, "patch", records->patch, records->count, sizeof *records->patch, sizeof *records->patch);
    caromi_reads_points(arrays, "point", &records->point, records->count);
    caromi_reads(arrays, "instance", records->instance, records->count, sizeof *records->instance,
                 sizeof *records->instance);
}
/* How much a match has written. */
typedef struct match_written {
    uint64_t previous, ended;
} match_written;

CAROMI_LIST list_match(caromi_arrays *arrays, const carom_contact_records *previous, const carom_contact_records *now,
                       const carom_contact_match *out, const match_written *written)
{
    list_records(arrays, previous);
    list_records(arrays, now);
    caromi_reads_one(arrays, "out", out, sizeof *out);
    arrays->written = (caromi_written){CAROMI_PER_RECORD, 0, &written->previous};
    caromi_writes(arrays, "previous", out->previous, now->count, sizeof *out->previous);
    arrays->written.end = &written->ended;
    caromi_writes(arrays, "ended", out->ended, previous->count, sizeof *out->ended);
    arrays->written.extent = CAROMI_SINGLE;
    caromi_writes(arrays, "ended_count", out->ended_count, 1, sizeof *out->ended_count);
}

/* Lists the contacts that have ended: previous contacts without a new one. Returns their number. `below` serves as
 * marks. */
static uint64_t list_ended(const match_search *search, const carom_contact_match *out)
{
    uint64_t ended = 0;
    for (uint64_t i = 0; i < search->previous->count; i++)
        search->below[i] = NONE;
    for (uint64_t j = 0; j < search->now->count; j++)
        if (search->previous_of[j] != NONE)
            search->below[search->previous_of[j]] = PAIRED;
    for (uint64_t i = 0; i < search->previous->count; i++)
        if (search->below[i] != PAIRED) {
            if (out->ended != NULL)
                out->ended[ended] = i;
            ended++;
        }
    if (out->ended_count != NULL)
        *out->ended_count = ended;
    return ended;
}

/* Matches the contacts, and lists the ended ones. */
static carom_status match_lists(const carom_context *context, const carom_contact_records *previous,
                                const carom_contact_records *now, const carom_contact_match *out,
                                match_written *written, carom_error *err)
{
    /* The result, or scratch for it if the caller wants only the ended contacts. */
    match_search search = {.previous = previous, .now = now, .context = context};
    search.below = caromi_alloc(context, previous->count + 1, sizeof *search.below);
    search.previous_of =
        out->previous != NULL ? out->previous : caromi_alloc(context, now->count + 1, sizeof *search.previous_of);
    const int complete = search.below != NULL && search.previous_of != NULL && match_all(&search);
    if (complete)
        *written = (match_written){now->count, list_ended(&search, out)};
    caromi_free(context, search.below);
    if (out->previous == NULL)
        caromi_free(context, search.previous_of);
    return complete ? CAROM_OK
                    : caromi_fail_memory(err, "no memory to match %llu and %llu contacts",
                                         (unsigned long long)previous->count, (unsigned long long)now->count);
}

carom_status caromi_match_on_host(const carom_context *context, const carom_contact_records *previous,
                                  const carom_contact_records *now, const carom_contact_match *out, carom_error *err)
{
    match_written written = {0, 0};
    return match_lists(context, previous, now, out, &written, err);
}

/* Matches lists in a device's memory there. A device that fails is given up, and `auto` goes on without it. */
static carom_status match_on_device(carom_context *context, const carom_contact_records *previous,
                                    const carom_contact_records *now, const carom_contact_match *out, int *answered,
                                    carom_error *err)
{
    caromi_device *device = caromi_has_residents(context) ? caromi_first_device(context) : NULL;
    carom_error why = {CAROM_OK, 0, ""};
    if (device == NULL || now->instance != NULL) /* devices know no scenes */
        return CAROM_OK;
    const carom_status status = caromi_driver.match(device, previous, now, out, answered, &why);
    if (status == CAROM_OK || status == CAROM_ERROR_OUT_OF_MEMORY) /* the host needs none of the device's memory */
        return CAROM_OK;
    caromi_log(context, CAROM_LOG_WARNING, "OpenCL failed, the CPU matches %llu contacts: %s",
               (unsigned long long)now->count, why.message);
    caromi_give_up(context, device, status, &why);
    return context->desc.backend != CAROM_BACKEND_OPENCL ? CAROM_OK
                                                         : caromi_fail(err, status, why.native_code, "%s", why.message);
}

/* Checks the arguments, and matches the contacts where their arrays lie. */
static carom_status match(carom_context *context, const carom_contact_records *previous,
                          const carom_contact_records *now, const carom_contact_match *out, match_written *written,
                          carom_error *err)
{
    int answered = 0;
    CHECK(check_records(previous, err));
    CHECK(check_records(now, err));
    if (previous->count > 0 && now->count > 0 && (previous->instance == NULL) != (now->instance == NULL))
        return caromi_fail_argument(err, "%s->instance must be NULL, as the other list's",
                                    previous->instance != NULL ? "previous" : "now");
    CHECK(caromi_check_desc(out->size, sizeof *out, "carom_contact_match", err));
    CAROMI_CHECK_STAYING_ARRAYS(CAROMI_STAYS, context, err, list_match, previous, now, out, written);
    CHECK(match_on_device(context, previous, now, out, &answered, err));
    if (answered)
        return CAROM_OK;
    CHECK(caromi_staging_show(context, err));
    CHECK(check_values(previous, "previous", err));
    CHECK(check_values(now, "now", err));
    return match_lists(context, previous, now, out, written, err);
}

carom_status carom_contacts_match(carom_context *context, const carom_contact_records *previous,
                                  const carom_contact_records *now, const carom_contact_match *out, carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    CHECK_NOT_NULL(previous, "previous", err);
    CHECK_NOT_NULL(now, "now", err);
    CHECK_NOT_NULL(out, "out", err);
    match_written written = {0, 0};
    IN_CALL(context, err, match(context, previous, now, out, &written, err));
}
