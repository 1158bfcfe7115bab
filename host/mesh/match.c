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
#include "host/core/context.h"
#include "point_tree.h"

enum { NONE = CAROMI_NO_POINT, PAIRED = -2 };
enum { MANY = 4096 }; /* number of pairs of one sphere's contacts from which on trees find the closest contact */

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

static void load_point(const carom_contact_records *r, uint64_t i, float to[3])
{
    caromi_in_column column[3];
    caromi_points_to_columns(&r->point, (caromi_index){NULL, 0}, column);
    for (int k = 0; k < 3; k++)
        memcpy(&to[k], caromi_element(&column[k], i), sizeof to[k]);
}

/* Whether one pair comes before another in the order (distance, previous, new). */
static int comes_before(const match_search *s, uint64_t previous, int64_t now, uint64_t other, int64_t other_now)
{
    float a[3], b[3], c[3], d[3];
    load_point(s->previous, previous, a);
    load_point(s->now, (uint64_t)now, b);
    load_point(s->previous, other, c);
    load_point(s->now, (uint64_t)other_now, d);
    const int order = caromi_exact_distance_order(a, b, c, d);
    if (order != 0)
        return order < 0;
    return previous != other ? previous < other : now < other_now;
}

/* A previous contact's closest choice among the free new contacts of its patch. */
static int64_t choose_new(const match_search *s, const match_group *g, int64_t previous)
{
    const uint64_t i = (uint64_t)previous;
    float own[3], point[3];
    double least = (double)INFINITY;
    int64_t best = NONE;
    load_point(s->previous, i, own);
    if (g->new != NULL)
        return caromi_point_tree_find(g->new, own);
    for (uint64_t j = g->from; j < g->end; j++) {
        if (s->previous_of[j] != NONE || s->now->patch[j] != s->previous->patch[i])
            continue;
        load_point(s->now, j, point);
        const double square = caromi_square_between(own, point);
        if (best == NONE ||
            (caromi_squares_apart(square, least) ? square < least : comes_before(s, i, (int64_t)j, i, best))) {
            best = (int64_t)j;
            least = square;
        }
    }
    return best;
}

/* A new contact's closest choice among the free previous contacts; there is at least one. */
static int64_t choose_previous(const match_search *s, const match_group *g, int64_t now)
{
    float own[3], point[3];
    double least = (double)INFINITY;
    int64_t best = NONE;
    load_point(s->now, (uint64_t)now, own);
    if (g->old != NULL)
        return caromi_point_tree_find(g->old, own);
    for (uint64_t i = g->first; i < g->last; i++) {
        if (s->below[i] == PAIRED || s->previous->patch[i] != s->now->patch[now])
            continue;
        load_point(s->previous, i, point);
        const double square = caromi_square_between(own, point);
        if (best == NONE ||
            (caromi_squares_apart(square, least) ? square < least : comes_before(s, i, now, (uint64_t)best, now))) {
            best = (int64_t)i;
            least = square;
        }
    }
    return best;
}

static void pair_up(match_search *s, const match_group *g, int64_t previous, int64_t now)
{
    s->previous_of[now] = previous;
    s->below[previous] = PAIRED;
    if (g->old != NULL) {
        caromi_point_tree_remove(g->old, previous);
        caromi_point_tree_remove(g->new, now);
    }
}

/* Follows the chain from a previous contact until it is empty. Each link ends in a pair, so matching m with n contacts
 * takes about m + n choices. Only the first contact of a chain can be without a choice; it stays unmatched. */
static void follow_chain(match_search *s, const match_group *g, uint64_t first)
{
    int64_t at = s->below[first] != PAIRED ? (int64_t)first : NONE;
    while (at != NONE) {
        const int64_t now = choose_new(s, g, at);
        const int64_t previous = now != NONE ? choose_previous(s, g, now) : NONE;
        if (now != NONE && previous != at) {
            s->below[previous] = at;
            at = previous;
            continue;
        }
        const int64_t below = s->below[at];
        if (now != NONE)
            pair_up(s, g, at, now);
        at = below;
    }
}

/* ---- many contacts of one sphere --------------------------------------------------------------------------------- */

static int compare_patches(const void *a, const void *b)
{
    const caromi_tree_point *x = a, *y = b;
    return x->patch != y->patch ? (x->patch > y->patch) - (x->patch < y->patch)
                                : (x->number > y->number) - (x->number < y->number);
}

/* Lists the points of records, sorted by patch. Returns 0 if there is no memory. */
static int list_points(const match_search *s, const carom_contact_records *r, uint64_t from, uint64_t end,
                       caromi_point_tree *tree)
{
    tree->count = end - from;
    tree->points = caromi_alloc(s->context, tree->count, sizeof *tree->points);
    tree->boxes = caromi_alloc(s->context, caromi_point_tree_boxes(tree->count), sizeof *tree->boxes);
    tree->slot = caromi_alloc(s->context, tree->count, sizeof *tree->slot);
    tree->first = (int64_t)from;
    if (tree->points == NULL || tree->boxes == NULL || tree->slot == NULL)
        return 0;
    for (uint64_t i = from; i < end; i++) {
        caromi_tree_point *to = &tree->points[i - from];
        *to = (caromi_tree_point){.patch = r->patch[i], .number = (int64_t)i};
        load_point(r, i, to->at);
    }
    qsort(tree->points, tree->count, sizeof *tree->points, compare_patches);
    return 1;
}

static void free_points(const match_search *s, const caromi_point_tree *tree)
{
    caromi_free(s->context, tree->points);
    caromi_free(s->context, tree->boxes);
    caromi_free(s->context, tree->slot);
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

static void match_patches(match_search *s, match_group *g, const caromi_point_tree *old, const caromi_point_tree *new)
{
    uint64_t i = 0, j = 0;
    while (i < old->count && j < new->count) {
        const uint32_t patch = old->points[i].patch, other = new->points[j].patch;
        const uint64_t m = patch <= other ? count_patch(old, i) : 0, n = other <= patch ? count_patch(new, j) : 0;
        if (m > 0 && n > 0) {
            caromi_point_tree before = part_of(old, i, m), after = part_of(new, j, n);
            g->old = &before;
            g->new = &after;
            for (uint64_t k = 0; k < m; k++)
                follow_chain(s, g, (uint64_t)before.points[k].number);
        }
        i += m;
        j += n;
    }
}

/* Matches with trees of the contacts of each patch. Returns 0 if there is no memory. */
static int match_with_trees(match_search *s, match_group *g)
{
    caromi_point_tree old = {.count = 0}, new = {.count = 0};
    const int whole =
        list_points(s, s->previous, g->first, g->last, &old) && list_points(s, s->now, g->from, g->end, &new);
    if (whole)
        match_patches(s, g, &old, &new);
    free_points(s, &old);
    free_points(s, &new);
    return whole;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int match_sphere(match_search *s, match_group *g)
{
    for (uint64_t i = g->first; i < g->last; i++)
        s->below[i] = NONE;
    if (g->last > g->first && g->end - g->from > MANY / (g->last - g->first))
        return match_with_trees(s, g);
    for (uint64_t i = g->first; i < g->last; i++)
        follow_chain(s, g, i);
    return 1;
}

/* Returns 0 if there is no memory. */
static int match_all(match_search *s)
{
    const carom_contact_records *p = s->previous, *n = s->now;
    uint64_t i = 0, j = 0;
    int whole = 1;
    for (uint64_t k = 0; k < n->count; k++)
        s->previous_of[k] = NONE;
    while (whole && i < p->count && j < n->count) {
        const uint64_t sphere = p->query[i] < n->query[j] ? p->query[i] : n->query[j];
        match_group g = {.first = i, .from = j};
        while (i < p->count && p->query[i] == sphere)
            i++;
        while (j < n->count && n->query[j] == sphere)
            j++;
        g.last = i;
        g.end = j;
        whole = match_sphere(s, &g);
    }
    return whole;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static carom_status check_records(const carom_contact_records *r, carom_error *err)
{
    CHECK(caromi_check_desc(r->size, sizeof *r, "carom_contact_records", err));
    CHECK(caromi_check_count(r->count, "count", err));
    if (r->count == 0)
        return CAROM_OK;
    CHECK_NOT_NULL(r->query, "query", err);
    CHECK_NOT_NULL(r->patch, "patch", err);
    return caromi_check_points(&r->point, "point", err);
}

static carom_status check_values(const carom_contact_records *r, const char *name, carom_error *err)
{
    for (uint64_t i = 0; i < r->count; i++) {
        float p[3];
        load_point(r, i, p);
        if (i > 0 && r->query[i] < r->query[i - 1])
            return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                               "%s record %llu has query %llu, less than the one before it; queries must ascend", name,
                               (unsigned long long)i, (unsigned long long)r->query[i]);
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
            return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "%s record %llu has a point that is not finite",
                               name, (unsigned long long)i);
    }
    return CAROM_OK;
}

CAROMI_LIST list_records(caromi_arrays *a, const carom_contact_records *r)
{
    caromi_reads(a, "records", r, 1, 0, sizeof *r);
    caromi_reads(a, "query", r->query, r->count, sizeof *r->query, sizeof *r->query);
    caromi_reads(a, "patch", r->patch, r->count, sizeof *r->patch, sizeof *r->patch);
    caromi_reads_points(a, "point", &r->point, r->count);
}
CAROMI_LIST list_match(caromi_arrays *a, const carom_contact_records *previous, const carom_contact_records *now,
                       const carom_contact_match *out)
{
    list_records(a, previous);
    list_records(a, now);
    caromi_reads(a, "out", out, 1, 0, sizeof *out);
    caromi_writes(a, "previous", out->previous, now->count, sizeof *out->previous);
    caromi_writes(a, "ended", out->ended, previous->count, sizeof *out->ended);
    caromi_writes(a, "ended_count", out->ended_count, 1, sizeof *out->ended_count);
}

/* Lists the previous contacts without a new one. */
static void list_ended(const match_search *s, const carom_contact_match *out)
{
    uint64_t ended = 0;
    for (uint64_t i = 0; i < s->previous->count; i++)
        s->below[i] = NONE;
    for (uint64_t j = 0; j < s->now->count; j++)
        if (s->previous_of[j] != NONE)
            s->below[s->previous_of[j]] = PAIRED;
    for (uint64_t i = 0; i < s->previous->count; i++)
        if (s->below[i] != PAIRED) {
            if (out->ended != NULL)
                out->ended[ended] = i;
            ended++;
        }
    if (out->ended_count != NULL)
        *out->ended_count = ended;
}

static carom_status match(carom_context *context, const carom_contact_records *previous,
                          const carom_contact_records *now, const carom_contact_match *out, carom_error *err)
{
    CHECK(check_records(previous, err));
    CHECK(check_records(now, err));
    CHECK(caromi_check_desc(out->size, sizeof *out, "carom_contact_match", err));
    CAROMI_CHECK_ARRAYS(context, err, list_match, previous, now, out);
    CHECK(check_values(previous, "previous", err));
    CHECK(check_values(now, "now", err));
    match_search s = {.previous = previous, .now = now, .context = context};
    s.below = caromi_alloc(context, previous->count + 1, sizeof *s.below);
    s.previous_of =
        out->previous != NULL ? out->previous : caromi_alloc(context, now->count + 1, sizeof *s.previous_of);
    const int whole = s.below != NULL && s.previous_of != NULL && match_all(&s);
    if (whole)
        list_ended(&s, out);
    caromi_free(context, s.below);
    if (out->previous == NULL)
        caromi_free(context, s.previous_of);
    return whole ? CAROM_OK
                 : caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to match %llu and %llu contacts",
                               (unsigned long long)previous->count, (unsigned long long)now->count);
}

carom_status carom_contacts_match(carom_context *context, const carom_contact_records *previous,
                                  const carom_contact_records *now, const carom_contact_match *out, carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    CHECK_NOT_NULL(previous, "previous", err);
    CHECK_NOT_NULL(now, "now", err);
    CHECK_NOT_NULL(out, "out", err);
    IN_CALL(context, err, match(context, previous, now, out, err));
}
