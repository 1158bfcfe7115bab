/* SPDX-License-Identifier: MIT */
#include "arrays.h"

carom_status caromi_check_count(uint64_t count, const char *name, carom_error *err)
{
    return count <= CAROMI_ADDRESS_SPACE ? CAROM_OK
                                         : caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "%s is %llu; at most 2^%d",
                                                       name, (unsigned long long)count, (int)CAROMI_ADDRESS_BITS);
}

carom_status caromi_check_index_values(const carom_uints *index, const char *name, uint64_t begin, uint64_t count,
                                       uint64_t limit, const char *limit_name, const char *one, carom_error *err)
{
    const caromi_index values = caromi_index_of(index);
    for (uint64_t i = begin; index->data != NULL && i < count; i++) {
        const uint64_t at = caromi_index_at(&values, i);
        if (at >= limit)
            return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "%s %llu: %s is %llu; it must be below %s, %llu",
                               one, (unsigned long long)i, name, (unsigned long long)at, limit_name,
                               (unsigned long long)limit);
    }
    return CAROM_OK;
}

static int is_meeting(caromi_span a, caromi_span b)
{
    return (a.begin < b.end) & (b.begin < a.end);
}

int caromi_parts_of(const caromi_array *a)
{
    return a->base[1] == NULL ? 1 : 3;
}

/* Negative if the spans overlap. Requires addresses in the lower half of the address space, as in any process. */
static inline intptr_t meeting(caromi_span a, caromi_span b)
{
    return (intptr_t)(a.begin - b.end) & (intptr_t)(b.begin - a.end);
}

/* The fast test for aliasing. Spans nearly always prove that no bytes are shared: inputs lie outside the span of all
 * outputs, or at least outside each output's span. It has no branches on single spans, as they would be mispredicted.
 */
int caromi_may_alias(const caromi_arrays *a)
{
    intptr_t sign = 0, near = 0;
    caromi_span all = {INTPTR_MAX, 0};
    for (uint32_t i = 0; i < a->out_count; i++) {
        const caromi_span own = a->out[i];
        all.begin = own.begin < all.begin ? own.begin : all.begin;
        all.end = own.end > all.end ? own.end : all.end;
        for (uint32_t k = 0; k < i; k++)
            sign |= meeting(own, a->out[k]);
    }
    for (uint32_t k = 0; k < a->in_count; k++)
        near |= meeting(all, a->in[k]);
    for (uint32_t i = 0; near < 0 && i < a->out_count; i++)
        for (uint32_t k = 0; k < a->in_count; k++)
            sign |= meeting(a->out[i], a->in[k]);
    return a->too_large || a->self_alias || sign < 0;
}

int caromi_meets_ranges(const caromi_arrays *a)
{
    int some = 0;
    for (uint32_t i = 0; i < a->in_count; i++)
        some |= caromi_range_meets(a->in[i].begin, a->in[i].end);
    for (uint32_t i = 0; i < a->out_count; i++)
        some |= caromi_range_meets(a->out[i].begin, a->out[i].end);
    return some;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/* The elements of one array, for the exact test: interleaved spans, such as members of structures, share no element. */
typedef struct element_row {
    uintptr_t base;
    uint64_t count, stride, size;
} element_row;

static element_row row_of(const caromi_array *a, int part)
{
    const int is_one = a->stride == 0 || a->count == 1;
    return (element_row){(uintptr_t)a->base[part], is_one ? 1 : a->count, is_one ? 1 : a->stride, a->size};
}

__extension__ typedef __int128 wide;

/* Extended Euclid: the greatest common divisor of a and b, and x with a x = divisor modulo b. */
static uint64_t divisor_of(uint64_t a, uint64_t b, wide *x)
{
    wide before = 1, now = 0;
    while (b != 0) {
        const uint64_t quotient = a / b, rest = a % b;
        const wide next = before - (wide)quotient * now;
        before = now;
        now = next;
        a = b;
        b = rest;
    }
    *x = before;
    return a;
}

/* Whether a.stride i - b.stride j = difference has a solution with element i of a and element j of b. It tests the
 * smallest possible i, with which j is smallest too. */
static int is_difference(const element_row *a, const element_row *b, wide difference)
{
    wide inverse;
    const uint64_t divisor = divisor_of(a->stride, b->stride, &inverse);
    if (difference % (wide)divisor != 0)
        return 0;
    const wide period = (wide)(b->stride / divisor), stride = (wide)a->stride;
    const wide least =
        difference > 0 ? (difference + stride - 1) / stride : 0; /* the least i for which j is not negative */
    wide i = (difference / (wide)divisor % period) * (inverse % period) % period;
    i = i < 0 ? i + period : i;
    if (i < least)
        i += (least - i + period - 1) / period * period;
    return i < (wide)a->count && (i * stride - difference) / (wide)b->stride < (wide)b->count;
}

/* Whether elements overlap, for two arrays of the same stride with overlapping spans. `low` begins first: the elements
 * of `high` must fit into the gaps between the elements of `low`. */
static int same_stride_meets(const element_row *low, const element_row *high)
{
    const uint64_t apart = high->base - low->base, within = apart < low->stride ? apart : apart % low->stride;
    return within < low->size || low->stride - within < high->size;
}

static int rows_meet(const element_row *a, const element_row *b)
{
    const caromi_span of_a = {a->base, a->base + (a->count - 1) * a->stride + a->size};
    const caromi_span of_b = {b->base, b->base + (b->count - 1) * b->stride + b->size};
    if (!is_meeting(of_a, of_b))
        return 0;
    if (a->stride == b->stride)
        return a->base <= b->base ? same_stride_meets(a, b) : same_stride_meets(b, a);
    const wide apart =
        (wide)b->base - (wide)a->base; /* elements i and j overlap if this is close to a.stride i - b.stride j */
    for (wide d = apart - (wide)a->size + 1; d < apart + (wide)b->size; d++)
        if (is_difference(a, b, d))
            return 1;
    return 0;
}

/* ---- the check --------------------------------------------------------------------------------------------------- */

static int is_too_large(const caromi_array *a)
{
    uint64_t last, end = 0;
    int large = __builtin_mul_overflow(a->count - 1, a->stride, &last) || last > CAROMI_ADDRESS_SPACE - a->size;
    for (int k = 0; !large && k < caromi_parts_of(a); k++)
        large = __builtin_add_overflow((uintptr_t)a->base[k], last + a->size, &end);
    return large;
}

static carom_status check_size(const caromi_array *a, carom_error *err)
{
    return !is_too_large(a)
               ? CAROM_OK
               : caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                             "%s: %llu elements, %zu bytes apart, from address %p on; at most 2^%d bytes", a->name,
                             (unsigned long long)a->count, a->stride, a->base[0], (int)CAROMI_ADDRESS_BITS);
}

const char *caromi_letter_of(const caromi_array *a, int part)
{
    static const char *const letters[] = {".x", ".y", ".z"};
    return caromi_parts_of(a) == 1 ? "" : letters[part];
}

static carom_status check_pair(const caromi_array *out, const caromi_array *other, int is_input, carom_error *err)
{
    for (int k = 0; k < caromi_parts_of(out); k++)
        for (int m = out == other ? k + 1 : 0; m < caromi_parts_of(other); m++) {
            const element_row a = row_of(out, k), b = row_of(other, m);
            if (rows_meet(&a, &b))
                return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                                   "output %s%s shares memory with %s %s%s; outputs must have their own", out->name,
                                   caromi_letter_of(out, k), is_input ? "input" : "output", other->name,
                                   caromi_letter_of(other, m));
        }
    return CAROM_OK;
}

carom_status caromi_check_arrays(const caromi_arrays *a, carom_error *err)
{
    for (uint32_t i = 0; a->too_large && i < a->in_count; i++)
        CHECK(check_size(&a->in_array[i], err));
    for (uint32_t i = 0; a->too_large && i < a->out_count; i++)
        CHECK(check_size(&a->out_array[i], err));
    for (uint32_t i = 0; i < a->out_count; i++) {
        for (uint32_t k = 0; k < a->in_count; k++)
            if (is_meeting(a->out[i], a->in[k]))
                CHECK(check_pair(&a->out_array[i], &a->in_array[k], 1, err));
        for (uint32_t k = 0; k <= i; k++)
            if (is_meeting(a->out[i], a->out[k]))
                CHECK(check_pair(&a->out_array[i], &a->out_array[k], 0, err));
    }
    return CAROM_OK;
}

carom_status caromi_check_named_arrays(carom_context *context, const caromi_arrays *a, int may_alias, int can_stay,
                                       carom_error *err)
{
    if (may_alias)
        CHECK(caromi_check_arrays(a, err));
    return caromi_has_buffers(context) || (context != NULL && caromi_has_ranges())
               ? caromi_staging_begin(context, a, can_stay, err)
               : CAROM_OK;
}
