/* SPDX-License-Identifier: MIT */
/* A pair of a cloud as a list has it, its place among others, and what the reference says of it. For tests and for the
 * fuzz target. */
#ifndef CAROM_TESTS_SUPPORT_CLOUD_RECORDS_H
#define CAROM_TESTS_SUPPORT_CLOUD_RECORDS_H

#include <math.h>

#include "carom/carom.h"
#include "reference/reference.h"

enum { CLOUD_IMAGES = 27 };

typedef struct cloud_record {
    int32_t a, b;
    float t;
    uint8_t state;
    int8_t shift[3];
} cloud_record;

/* By (a, t, b, shift): below 0, 0, above 0. */
static inline int cloud_record_order(const cloud_record *x, const cloud_record *y)
{
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    if (x->t < y->t || x->t > y->t)
        return x->t < y->t ? -1 : 1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    for (int k = 0; k < 3; k++)
        if (x->shift[k] != y->shift[k])
            return x->shift[k] < y->shift[k] ? -1 : 1;
    return 0;
}

/* Of spheres that lie side by side in memory, x y z, as all views here do. */
static inline int cloud_is_finite(carom_points p, size_t i)
{
    return p.x == NULL || (isfinite(p.x[3 * i]) && isfinite(p.x[3 * i + 1]) && isfinite(p.x[3 * i + 2]));
}

static inline int cloud_is_valid(const carom_cloud_desc *d, size_t i)
{
    return cloud_is_finite(d->center, i) && cloud_is_finite(d->velocity, i) && isfinite(d->radius.data[i]) &&
           d->radius.data[i] >= 0;
}

/* The shift of each of the images. */
static inline void cloud_shift_of(int image, int8_t shift[3])
{
    shift[0] = (int8_t)(image / 9 - 1);
    shift[1] = (int8_t)(image / 3 % 3 - 1);
    shift[2] = (int8_t)(image % 3 - 1);
}

/* Whether a is in a group that b meets, by its mask. */
static inline int cloud_is_met(const carom_cloud_desc *d, size_t a, size_t b)
{
    const uint32_t own = d->mask.data ? d->mask.data[a] : UINT32_MAX;
    const uint32_t group = d->group.data ? d->group.data[a] : own;
    return (group & (d->mask.data ? d->mask.data[b] : UINT32_MAX)) != 0;
}

/* Whatever their places: may a and b at that image be a pair? */
static inline int cloud_may_pair(const carom_cloud_desc *d, size_t a, size_t b, const int8_t shift[3])
{
    int may = cloud_is_valid(d, a) && cloud_is_valid(d, b) &&
              ((!d->mask.data && !d->group.data) || (cloud_is_met(d, a, b) && cloud_is_met(d, b, a)));
    for (int k = 0; k < 3; k++)
        may &= shift[k] == 0 || d->period[k] > 0;
    return may;
}

/* What the reference says of spheres r->a and r->b at b's image r->shift: time and state. Returns whether the list has
 * the pair. */
static inline int cloud_record_truth(const carom_cloud_desc *d, cloud_record *r, ref_cloud_answer *answer)
{
    const size_t a = (size_t)r->a, b = (size_t)r->b;
    ref_cloud_case q = {.radius_a = d->radius.data[a], .radius_b = d->radius.data[b], .margin = d->margin};
    for (size_t k = 0; k < 3; k++) {
        q.a[k] = d->center.x[3 * a + k];
        q.b[k] = d->center.x[3 * b + k];
        q.velocity_a[k] = d->velocity.x ? d->velocity.x[3 * a + k] : 0.0f;
        q.velocity_b[k] = d->velocity.x ? d->velocity.x[3 * b + k] : 0.0f;
        q.shift[k] = (float)r->shift[k] * d->period[k];
    }
    q.limit = d->t_max.data ? fminf(d->t_max.data[a], d->t_max.data[b]) : INFINITY;
    ref_cloud(&q, answer);
    const int in_contact = answer->state == REF_TOUCHING || answer->state == REF_OVERLAPPING;
    const int is_skipped = d->start == CAROM_START_SKIP || (d->start == CAROM_START_SKIP_PARTING && answer->is_apart);
    r->t = answer->t;
    r->state = (uint8_t)answer->state;
    return answer->is_pair && !(in_contact && is_skipped);
}

#endif
