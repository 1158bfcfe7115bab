/* SPDX-License-Identifier: MIT */
#include "cloud_truth.h"

#include <math.h>

/* ---- oracles ----------------------------------------------------------------------------------------------------- */

static int by_reference(carom_context *context, const cloud *c, cloud_record *out)
{
    ref_cloud_answer answer;
    (void)context;
    return cloud_record_truth(&c->desc, out, &answer);
}

/* A cloud of the two alone: nothing can be lost there. */
static int by_itself(carom_context *context, const cloud *c, cloud_record *out)
{
    const size_t a = (size_t)out->a, b = (size_t)out->b;
    float center[6], velocity[6], radius[2] = {c->radius[a], c->radius[b]}, t_max[2] = {c->t_max[a], c->t_max[b]};
    for (size_t k = 0; k < 3; k++) {
        center[k] = c->center[3 * a + k];
        center[3 + k] = c->center[3 * b + k];
        velocity[k] = c->velocity[3 * a + k];
        velocity[3 + k] = c->velocity[3 * b + k];
    }
    carom_cloud_desc d = c->desc;
    cloud_records found = {0};
    d.batch.count = 2;
    d.center = carom_xyz(center);
    d.radius = carom_scalars_of(radius);
    if (d.velocity.x)
        d.velocity = carom_xyz(velocity);
    if (d.t_max.data)
        d.t_max = carom_scalars_of(t_max);
    d.mask = d.group = (carom_uints){0};
    d.full = 0;
    cloud_list(context, &d, CLOUD_IMAGES, &found);
    int is_pair = 0;
    for (size_t i = 0; i < found.count; i++) {
        const cloud_record *r = &found.at[i];
        if (memcmp(r->shift, out->shift, sizeof r->shift) != 0)
            continue;
        out->t = r->t;
        out->state = r->state;
        is_pair = 1;
    }
    free(found.at);
    return is_pair;
}

/* All pairs of a cloud, one by one. */
static cloud_records expect(carom_context *context, const cloud *c)
{
    cloud_records r = {0};
    const int exact = c->desc.batch.accuracy == CAROM_ACCURACY_EXACT;
    for (size_t a = 0; a < c->count; a++)
        for (size_t b = a + 1; b < c->count; b++)
            for (int image = 0; image < CLOUD_IMAGES; image++) {
                cloud_record pair = {.a = (int32_t)a, .b = (int32_t)b};
                cloud_shift_of(image, pair.shift);
                if (cloud_may_pair(&c->desc, a, b, pair.shift) && (exact ? by_reference : by_itself)(context, c, &pair))
                    cloud_append(&r, pair);
            }
    return r;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* With too little room, again and again from where the list ends. */
void cloud_check_cut(carom_context *context, const cloud *c, const cloud_records *expected, size_t number)
{
    carom_cloud_desc d = c->desc;
    cloud_records got = {0};
    size_t capacity = expected->count / 3 + 1;
    while (d.batch.begin < c->count) {
        const carom_list_totals totals = cloud_list(context, &d, capacity, &got);
        if (totals.complete == d.batch.begin)
            capacity *= 2;
        d.batch.begin = totals.complete;
    }
    cloud_check_records(&got, expected, number, "in pieces");
    got.count = 0;
    for (d.batch.begin = 0; d.batch.begin < c->count; d.batch.begin = d.end) {
        d.end = d.batch.begin + (c->count + 2) / 3 < c->count ? d.batch.begin + (c->count + 2) / 3 : c->count;
        assert_int_equal(cloud_list(context, &d, expected->count, &got).complete, d.end);
    }
    cloud_check_records(&got, expected, number, "by thirds");
    free(got.at);
}

static void check_partners(carom_context *context, const cloud *c, const cloud_records *pairs, size_t number)
{
    uint32_t *count = test_alloc(c->count, sizeof *count), *partners = test_alloc(c->count, sizeof *partners);
    int32_t *best = test_alloc(c->count, sizeof *best), *other = test_alloc(c->count, sizeof *other);
    float *least = test_alloc(c->count, sizeof *least), *t = test_alloc(c->count, sizeof *t);
    uint8_t *state = test_alloc(c->count, 1), *hit = test_alloc(c->count, 1), *states = test_alloc(c->count, 1);
    for (size_t i = 0; i < c->count; i++) {
        best[i] = -1;
        least[i] = INFINITY;
        states[i] = cloud_is_valid(&c->desc, i) ? CAROM_MISS : CAROM_INVALID;
    }
    for (size_t k = 0; k < 2 * pairs->count; k++) {
        const cloud_record *r = &pairs->at[k / 2];
        const int32_t own = k % 2 ? r->b : r->a, with = k % 2 ? r->a : r->b;
        count[own]++;
        const int is_as_soon = best[own] >= 0 && r->t >= least[own];
        if (is_as_soon && (r->t > least[own] || with > best[own] || (with == best[own] && r->state >= states[own])))
            continue; /* of a partner's images that have one t the lowest state counts */
        best[own] = with;
        least[own] = r->t;
        states[own] = r->state;
    }
    carom_cloud_desc d = c->desc;
    carom_error err;
    d.full = 0;
    const carom_cloud_count_result counts = {sizeof counts, partners};
    test_ok("partners of a cloud", carom_cloud_count(context, &d, &counts, NULL, &err), &err);
    d.margin = 0;
    const carom_cloud_partner_result first = {sizeof first, other, state, t};
    test_ok("first partners of a cloud", carom_cloud_first(context, &d, &first, NULL, &err), &err);
    test_ok("any partner of a cloud", carom_cloud_any(context, &d, TEST_ANY(hit), NULL, &err), &err);
    for (size_t i = 0; i < c->count; i++) {
        const int valid = cloud_is_valid(&c->desc, i);
        if (partners[i] != (valid ? count[i] : CAROM_COUNT_INVALID))
            fail_msg("cloud %zu, sphere %zu: %u partners instead of %u", number, i, partners[i], count[i]);
        if (c->desc.margin > 0)
            continue;
        if (other[i] != best[i] || state[i] != states[i] || memcmp(&t[i], &least[i], sizeof *t) != 0)
            fail_msg("cloud %zu, sphere %zu: partner %d at %a, state %d, instead of %d at %a, state %d", number, i,
                     other[i], (double)t[i], state[i], best[i], (double)least[i], states[i]);
        assert_int_equal(hit[i], valid ? best[i] >= 0 : CAROM_OVERLAP_INVALID);
    }
    free(count), free(partners), free(best), free(other), free(least), free(t), free(state), free(hit), free(states);
}

/* The pairs as a list has them: `full` ones under both. */
static cloud_records in_order(const cloud *c, const cloud_records *pairs)
{
    cloud_records r = {0};
    for (size_t i = 0; i < pairs->count; i++) {
        cloud_record pair = pairs->at[i];
        cloud_append(&r, pair);
        if (!c->desc.full)
            continue;
        pair.a = pairs->at[i].b;
        pair.b = pairs->at[i].a;
        for (int k = 0; k < 3; k++)
            pair.shift[k] = (int8_t)-pair.shift[k];
        cloud_append(&r, pair);
    }
    if (r.count)
        qsort(r.at, r.count, sizeof *r.at, cloud_compare);
    return r;
}

void cloud_check_made(carom_context *context, cloud *c, size_t number, int exact)
{
    cloud_records pairs = expect(context, c), expected = in_order(c, &pairs), got = {0};
    const carom_list_totals totals = cloud_list(context, &c->desc, expected.count + 5, &got);
    cloud_check_records(&got, &expected, number, exact ? "exact" : "fast");
    assert_int_equal(totals.total, expected.count);
    assert_int_equal(totals.complete, c->count);
    cloud_check_cut(context, c, &expected, number);
    check_partners(context, c, &pairs, number);
    free(pairs.at);
    free(expected.at);
    free(got.at);
    cloud_free(c);
}
