/* SPDX-License-Identifier: MIT */
/* Contacts of two steps, matched sphere by sphere. Two that are each other's first choice, in the order (distance,
 * previous, new), are a pair of the greedy order whatever else there is: all pairs that come before theirs are of
 * others. A chain finds them: from a contact to its choice, from there to that one's, and so on. Its pairs come ever
 * earlier in the order, so it ends; what is below the two that it has found is still a chain. */
#include <math.h>
#include <string.h>

#include "cpu/exact.h"
#include "host/arrays.h"
#include "host/context.h"

enum { NONE = -1, PAIRED = -2 };

typedef struct match_search {
    const carom_contact_records *previous, *now;
    int64_t *previous_of; /* [now->count] */
    int64_t *below;       /* [previous->count] in the chain, NONE: it is the first; or PAIRED */
} match_search;

static void load_point(const carom_contact_records *r, uint64_t i, float to[3])
{
    caromi_in_column column[3];
    caromi_points_to_columns(&r->point, (caromi_index){NULL, 0}, column);
    for (int k = 0; k < 3; k++)
        memcpy(&to[k], caromi_element(&column[k], i), sizeof to[k]);
}

/* Whether (distance, previous, new) of one pair comes before that of another. */
static int comes_before(const match_search *s, uint64_t previous, int64_t now, uint64_t other, int64_t other_now)
{
    float a[3], b[3], c[3], d[3];
    load_point(s->previous, previous, a);
    load_point(s->now, (uint64_t)now, b);
    load_point(s->previous, other, c);
    load_point(s->now, (uint64_t)other_now, d);
    const int order = caromi_exact_way_order(a, b, c, d);
    if (order != 0)
        return order < 0;
    return previous != other ? previous < other : now < other_now;
}

static double square_of(const float a[3], const float b[3])
{
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        const double way = (double)a[k] - (double)b[k];
        square += way * way;
    }
    return square;
}

/* Whether squares in binary64 decide: each is off by less than 2^-50 of itself. */
static int are_apart(double a, double b)
{
    return fabs(a - b) > 0x1p-48 * (a + b);
}

/* The choice of a previous contact among the new ones [from, end) that are free and of its patch. */
static int64_t choose_new(const match_search *s, int64_t previous, uint64_t from, uint64_t end)
{
    const uint64_t i = (uint64_t)previous;
    float own[3], point[3];
    double least = (double)INFINITY;
    int64_t best = NONE;
    load_point(s->previous, i, own);
    for (uint64_t j = from; j < end; j++) {
        if (s->previous_of[j] != NONE || s->now->patch[j] != s->previous->patch[i])
            continue;
        load_point(s->now, j, point);
        const double square = square_of(own, point);
        if (best == NONE || (are_apart(square, least) ? square < least : comes_before(s, i, (int64_t)j, i, best))) {
            best = (int64_t)j;
            least = square;
        }
    }
    return best;
}

/* The choice of a new contact among the previous ones [first, last); it has one. */
static int64_t choose_previous(const match_search *s, int64_t now, uint64_t first, uint64_t last)
{
    float own[3], point[3];
    double least = (double)INFINITY;
    int64_t best = NONE;
    load_point(s->now, (uint64_t)now, own);
    for (uint64_t i = first; i < last; i++) {
        if (s->below[i] == PAIRED || s->previous->patch[i] != s->now->patch[now])
            continue;
        load_point(s->previous, i, point);
        const double square = square_of(own, point);
        if (best == NONE ||
            (are_apart(square, least) ? square < least : comes_before(s, i, now, (uint64_t)best, now))) {
            best = (int64_t)i;
            least = square;
        }
    }
    return best;
}

/* The contacts [first, last) and [from, end) of one sphere. Each link of a chain ends in a pair, so m and n contacts
 * take some m n steps. Only the first contact of a chain can be without a choice: it has ended. */
static void match_sphere(match_search *s, uint64_t first, uint64_t last, uint64_t from, uint64_t end)
{
    for (uint64_t i = first; i < last; i++)
        s->below[i] = NONE;
    for (uint64_t i = first; i < last; i++) {
        int64_t at = s->below[i] != PAIRED ? (int64_t)i : NONE;
        while (at != NONE) {
            const int64_t now = choose_new(s, at, from, end);
            const int64_t previous = now != NONE ? choose_previous(s, now, first, last) : NONE;
            if (now != NONE && previous != at) {
                s->below[previous] = at;
                at = previous;
                continue;
            }
            const int64_t below = s->below[at];
            if (now != NONE) {
                s->previous_of[now] = at;
                s->below[at] = PAIRED;
            }
            at = below;
        }
    }
}

static void match_all(match_search *s)
{
    const carom_contact_records *p = s->previous, *n = s->now;
    uint64_t i = 0, j = 0;
    for (uint64_t k = 0; k < n->count; k++)
        s->previous_of[k] = NONE;
    while (i < p->count && j < n->count) {
        const uint64_t sphere = p->query[i] < n->query[j] ? p->query[i] : n->query[j], first = i, from = j;
        while (i < p->count && p->query[i] == sphere)
            i++;
        while (j < n->count && n->query[j] == sphere)
            j++;
        match_sphere(s, first, i, from, j);
    }
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

/* previous_of: the caller's, or memory of its own. */
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
    match_search s = {.previous = previous, .now = now};
    s.below = caromi_alloc(context, previous->count + 1, sizeof *s.below);
    s.previous_of =
        out->previous != NULL ? out->previous : caromi_alloc(context, now->count + 1, sizeof *s.previous_of);
    const int whole = s.below != NULL && s.previous_of != NULL;
    if (whole) {
        match_all(&s);
        list_ended(&s, out);
    }
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
