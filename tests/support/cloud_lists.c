/* SPDX-License-Identifier: MIT */
#include "cloud_lists.h"

int cloud_compare(const void *one, const void *other)
{
    return cloud_record_order(one, other);
}

void cloud_append(cloud_records *r, cloud_record one)
{
    if (r->count == r->room) {
        r->room = r->room ? 2 * r->room : 256;
        r->at = realloc(r->at, r->room * sizeof *r->at);
        assert_non_null(r->at);
    }
    r->at[r->count++] = one;
}

carom_list_totals cloud_list(carom_context *context, const carom_cloud_desc *d, size_t capacity, cloud_records *out)
{
    int32_t *a = test_alloc(capacity + 1, sizeof *a), *b = test_alloc(capacity + 1, sizeof *b);
    uint8_t *state = test_alloc(capacity + 1, 1);
    float *t = test_alloc(capacity + 1, sizeof *t);
    int8_t *shift = test_alloc(3 * capacity + 1, 1);
    uint64_t *offsets = test_alloc(d->batch.count + 1, sizeof *offsets);
    carom_list_totals totals;
    const carom_cloud_pair_list list = {.size = sizeof list,
                                        .capacity = capacity,
                                        .offsets = offsets,
                                        .a = a,
                                        .b = b,
                                        .state = state,
                                        .t = t,
                                        .shift = shift,
                                        .totals = &totals};
    carom_error err;
    test_ok("pairs of a cloud", carom_cloud_list(context, d, &list, NULL, &err), &err);
    assert_true(totals.stored <= capacity);
    for (uint64_t i = 0; i < totals.stored; i++)
        cloud_append(out,
                     (cloud_record){a[i], b[i], t[i], state[i], {shift[3 * i], shift[3 * i + 1], shift[3 * i + 2]}});
    for (uint64_t i = d->batch.begin; i < totals.complete; i++)
        for (uint64_t k = offsets[i]; k < offsets[i + 1]; k++)
            assert_int_equal(a[k], i);
    assert_int_equal(offsets[d->batch.begin], 0);
    assert_int_equal(offsets[d->end ? d->end : d->batch.count], totals.total);
    free(a), free(b), free(state), free(t), free(shift), free(offsets);
    return totals;
}

void cloud_check_records(const cloud_records *got, const cloud_records *expected, size_t number, const char *what)
{
    const char *family = cloud_family(number);
    for (size_t i = 0; i < got->count && i < expected->count; i++) {
        const cloud_record *g = &got->at[i], *e = &expected->at[i];
        if (cloud_record_order(g, e) != 0 || g->state != e->state)
            fail_msg(
                "cloud %zu (%s), %s, record %zu: %d %d at %a, state %d, shift %d %d %d, instead of %d %d at %a, state "
                "%d, shift %d %d %d",
                number, family, what, i, g->a, g->b, (double)g->t, g->state, g->shift[0], g->shift[1], g->shift[2],
                e->a, e->b, (double)e->t, e->state, e->shift[0], e->shift[1], e->shift[2]);
    }
    if (got->count != expected->count)
        fail_msg("cloud %zu (%s), %s: %zu cloud_records instead of %zu", number, family, what, got->count,
                 expected->count);
}
