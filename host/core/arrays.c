/* SPDX-License-Identifier: MIT */
#include "arrays.h"

/* Fails if `count` exceeds the elements of any possible array. */
carom_status caromi_check_count(uint64_t count, const char *name, carom_error *err)
{
    return count <= CAROMI_ADDRESS_SPACE ? CAROM_OK
                                         : caromi_fail_argument(err, "%s is %llu; at most 2^%d", name,
                                                                (unsigned long long)count, (int)CAROMI_ADDRESS_BITS);
}

static int is_meeting(caromi_span a, caromi_span b)
{
    return (a.begin < b.end) & (b.begin < a.end);
}

int caromi_parts_of(const caromi_array *array)
{
    return array->base[1] == NULL ? 1 : 3;
}

/* Negative if the spans overlap. Requires addresses in the lower half of the address space, as in any process. */
static inline intptr_t meeting(caromi_span a, caromi_span b)
{
    return (intptr_t)(a.begin - b.end) & (intptr_t)(b.begin - a.end);
}

/* The fast test for aliasing. Spans nearly always prove that no bytes are shared: inputs lie outside the span of all
 * outputs, or at least outside each output's span. It has no branches on single spans, as they would be mispredicted.
 */
int caromi_may_alias(const caromi_arrays *arrays)
{
    intptr_t sign = 0, near = 0;
    caromi_span all = {INTPTR_MAX, 0};
    for (uint32_t i = 0; i < arrays->out_count; i++) {
        const caromi_span own = arrays->out[i];
        all.begin = own.begin < all.begin ? own.begin : all.begin;
        all.end = own.end > all.end ? own.end : all.end;
        for (uint32_t k = 0; k < i; k++)
            sign |= meeting(own, arrays->out[k]);
    }
    for (uint32_t k = 0; k < arrays->in_count; k++)
        near |= meeting(all, arrays->in[k]);
    for (uint32_t i = 0; near < 0 && i < arrays->out_count; i++)
        for (uint32_t k = 0; k < arrays->in_count; k++)
            sign |= meeting(arrays->out[i], arrays->in[k]);
    return arrays->too_large || arrays->self_alias || sign < 0;
}

int caromi_meets_ranges(const caromi_arrays *arrays)
{
    int some = 0;
    for (uint32_t i = 0; i < arrays->in_count; i++)
        some |= caromi_range_meets(arrays->in[i].begin, arrays->in[i].end);
    for (uint32_t i = 0; i < arrays->out_count; i++)
        some |= caromi_range_meets(arrays->out[i].begin, arrays->out[i].end);
    return some;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/* The elements of one array, for the exact test: interleaved spans, such as members of structures, share no element. */
typedef struct element_row {
    uintptr_t base;
    uint64_t count, stride, size;
} element_row;

static element_row row_of(const caromi_array *array, int part)
{
    const int is_one = array->stride == 0 || array->count == 1;
    return (element_row){(uintptr_t)array->base[part], is_one ? 1 : array->count, is_one ? 1 : array->stride,
                         array->size};
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
    /* The least i for which j is not negative. */
    const wide least = difference > 0 ? (difference + stride - 1) / stride : 0;
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
    /* Elements i and j overlap if this is close to a.stride i - b.stride j. */
    const wide apart = (wide)b->base - (wide)a->base;
    for (wide d = apart - (wide)a->size + 1; d < apart + (wide)b->size; d++)
        if (is_difference(a, b, d))
            return 1;
    return 0;
}

/* ---- the check --------------------------------------------------------------------------------------------------- */

static int is_too_large(const caromi_array *array)
{
    uint64_t last, end = 0;
    int large =
        __builtin_mul_overflow(array->count - 1, array->stride, &last) || last > CAROMI_ADDRESS_SPACE - array->size;
    for (int k = 0; !large && k < caromi_parts_of(array); k++)
        large = __builtin_add_overflow((uintptr_t)array->base[k], last + array->size, &end);
    return large;
}

static carom_status check_size(const caromi_array *array, carom_error *err)
{
    return !is_too_large(array)
               ? CAROM_OK
               : caromi_fail_argument(err, "%s: %llu elements, %zu bytes apart, from address %p on; at most 2^%d bytes",
                                      array->name, (unsigned long long)array->count, array->stride, array->base[0],
                                      (int)CAROMI_ADDRESS_BITS);
}

const char *caromi_letter_of(const caromi_array *array, int part)
{
    static const char *const letters[] = {".x", ".y", ".z"};
    return caromi_parts_of(array) == 1 ? "" : letters[part];
}

enum { TWO_OUTPUTS, INPUT_AND_OUTPUT };
static carom_status check_pair(const caromi_array *out, const caromi_array *other, int is_input, carom_error *err)
{
    for (int k = 0; k < caromi_parts_of(out); k++)
        for (int m = out == other ? k + 1 : 0; m < caromi_parts_of(other); m++) {
            const element_row a = row_of(out, k), b = row_of(other, m);
            if (rows_meet(&a, &b))
                return caromi_fail_argument(err, "output %s%s shares memory with %s %s%s; outputs must have their own",
                                            out->name, caromi_letter_of(out, k), is_input ? "input" : "output",
                                            other->name, caromi_letter_of(other, m));
        }
    return CAROM_OK;
}

/* Compares the arrays of a call element by element, in the second step of the check. */
carom_status caromi_check_arrays(const caromi_arrays *arrays, carom_error *err)
{
    for (uint32_t i = 0; arrays->too_large && i < arrays->in_count; i++)
        CHECK(check_size(&arrays->in_array[i], err));
    for (uint32_t i = 0; arrays->too_large && i < arrays->out_count; i++)
        CHECK(check_size(&arrays->out_array[i], err));
    for (uint32_t i = 0; i < arrays->out_count; i++) {
        for (uint32_t k = 0; k < arrays->in_count; k++)
            if (is_meeting(arrays->out[i], arrays->in[k]))
                CHECK(check_pair(&arrays->out_array[i], &arrays->in_array[k], INPUT_AND_OUTPUT, err));
        for (uint32_t k = 0; k <= i; k++)
            if (is_meeting(arrays->out[i], arrays->out[k]))
                CHECK(check_pair(&arrays->out_array[i], &arrays->out_array[k], TWO_OUTPUTS, err));
    }
    return CAROM_OK;
}

/* The second step of the check of arrays; begins the staging copies of arrays in buffers. */
carom_status caromi_check_named_arrays(carom_context *context, const caromi_arrays *arrays, int may_alias, int can_stay,
                                       carom_error *err)
{
    if (may_alias)
        CHECK(caromi_check_arrays(arrays, err));
    return caromi_has_buffers(context) || (context != NULL && caromi_has_ranges())
               ? caromi_staging_begin(context, arrays, can_stay, err)
               : CAROM_OK;
}
