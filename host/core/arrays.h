/* SPDX-License-Identifier: MIT */
/* Checks the caller's arrays as bytes: whether they fit into an address space, and whether an output overlaps another
 * array. The check must be cheap for a call of one query, so it has two steps. First, a function of the call lists the
 * arrays as spans. Only if spans overlap, it lists them once more with names and strides, and elements are compared. */
#ifndef CAROM_HOST_CORE_ARRAYS_H
#define CAROM_HOST_CORE_ARRAYS_H
#include "call.h"
#include "calls/type.h"

/* The address space of a process: the limit of an array's bytes and of counts. */
enum { CAROMI_ADDRESS_BITS = 47 };
#define CAROMI_ADDRESS_SPACE ((uint64_t)1 << CAROMI_ADDRESS_BITS)

/* An array of `count` elements of `size` bytes, `stride` bytes apart (0: one element for all). The arrays x, y and z of
 * points have one name. */
typedef struct caromi_array {
    const char *name;
    const void *base[3]; /* x, y, z; or one array and NULLs */
    uint64_t count;
    size_t stride, size;
    caromi_written written; /* of an output */
} caromi_array;

/* The range from the first byte of an array (or of x, y and z) to behind the last one. */
typedef struct caromi_span {
    uintptr_t begin, end;
} caromi_span;

/* Bytes from one element of a checked view to the next; a stride of 0 stands for packed. */
static inline size_t caromi_stride(size_t stride)
{
    return stride == CAROM_REPEAT ? 0 : stride;
}

/* Columns of a batch from the caller's arrays. */
static inline caromi_index caromi_index_of(const carom_uints *uints)
{
    return (caromi_index){uints->data, caromi_stride(uints->stride)};
}
static inline void caromi_points_to_columns(const carom_points *points, caromi_index index, caromi_in_column *columns)
{
    columns[0] = (caromi_in_column){points->x, caromi_stride(points->stride), index};
    columns[1] = (caromi_in_column){points->y, caromi_stride(points->stride), index};
    columns[2] = (caromi_in_column){points->z, caromi_stride(points->stride), index};
}
static inline void caromi_scalars_to_column(const carom_scalars *scalars, caromi_index index, caromi_in_column *column)
{
    *column = (caromi_in_column){scalars->data, caromi_stride(scalars->stride), index};
}
static inline void caromi_uints_to_column(const carom_uints *uints, caromi_index index, caromi_in_column *column)
{
    *column = (caromi_in_column){uints->data, caromi_stride(uints->stride), index};
}
static inline void caromi_points_out_to_columns(const carom_points_out *points, caromi_out_column *columns)
{
    columns[0] = (caromi_out_column){points->x, points->stride};
    columns[1] = (caromi_out_column){points->y, points->stride};
    columns[2] = (caromi_out_column){points->z, points->stride};
}

/* The members of a type of calls, and the arrays that a call has beside them. */
enum { CAROMI_ARRAYS_MAX = CAROMI_MEMBERS_MAX + 8 };
/* The arrays of a call. The fields before the spans start as zero. */
typedef struct caromi_arrays {
    int named;                    /* the second step: names and strides are stored too */
    int too_large;                /* an array may not fit into the address space */
    int self_alias;               /* x, y and z of one output may overlap */
    caromi_written written;       /* of the outputs that are listed now */
    uint32_t in_count, out_count; /* numbers of arrays that are not empty */
    caromi_span in[CAROMI_ARRAYS_MAX], out[CAROMI_ARRAYS_MAX];
    caromi_array in_array[CAROMI_ARRAYS_MAX], out_array[CAROMI_ARRAYS_MAX]; /* if named */
} caromi_arrays;

/* Fails if `count` exceeds the elements of any possible array. */
carom_status caromi_check_count(uint64_t count, const char *name, carom_error *err);
/* The first step: whether arrays may alias or be too large, so that the second step must follow. */
int caromi_may_alias(const caromi_arrays *a);
/* Whether an array may lie in a buffer of another context, if `context` is not NULL. */
int caromi_meets_ranges(const caromi_arrays *a);
static inline int caromi_may_be_foreign(const carom_context *context, const caromi_arrays *arrays)
{
    return caromi_has_ranges() && context != NULL && caromi_meets_ranges(arrays);
}
/* The second step. Its time does not depend on the count, as no element is read. */
carom_status caromi_check_arrays(const caromi_arrays *a, carom_error *err);
/* The number of arrays of a caromi_array, and the suffix by which messages name one of them. */
int caromi_parts_of(const caromi_array *a);
const char *caromi_letter_of(const caromi_array *a, int part);

/* The second step, for named arrays and, if there is a context, the staging copies of arrays in buffers. */
carom_status caromi_check_named_arrays(carom_context *context, const caromi_arrays *a, int may_alias, int can_stay,
                                       carom_error *err);

/* Checks the arrays of a call in the two steps above, and begins their staging copies. `list` is a function that adds
 * each array of the call to a caromi_arrays, its first argument; the other macro arguments are passed on to it. */
#define CAROMI_CHECK_ARRAYS(context, err, list, ...) CAROMI_CHECK_STAYING_ARRAYS(0, context, err, list, __VA_ARGS__)
/* can_stay: a device can use the arrays in place; the call brings them to the host before it reads them. With
 * CAROMI_PREPARES it never reads them. */
#define CAROMI_CHECK_STAYING_ARRAYS(can_stay, context, err, list, ...)                                 \
    do {                                                                                               \
        caromi_arrays arrays_;                                                                         \
        arrays_.named = arrays_.too_large = 0;                                                         \
        arrays_.self_alias = 0;                                                                        \
        arrays_.written = (caromi_written){CAROMI_SINGLE, 0, NULL};                                    \
        arrays_.in_count = arrays_.out_count = 0;                                                      \
        list(&arrays_, __VA_ARGS__);                                                                   \
        const int may_alias_ = caromi_may_alias(&arrays_);                                             \
        if (may_alias_ || caromi_has_buffers(context) || caromi_may_be_foreign((context), &arrays_)) { \
            arrays_.in_count = arrays_.out_count = 0;                                                  \
            arrays_.named = 1;                                                                         \
            list(&arrays_, __VA_ARGS__);                                                               \
            CHECK(caromi_check_named_arrays((context), &arrays_, may_alias_, (can_stay), (err)));      \
        }                                                                                              \
    } while (0)
static inline int caromi_use_of(const carom_batch *batch, int can_stay)
{
    return (can_stay ? CAROMI_STAYS : 0) | (batch->prepare ? CAROMI_PREPARES : 0);
}
/* Declares a function that lists arrays. Inlined, because then the first step is a few instructions per array. */
#define CAROMI_LIST CAROMI_INLINED void

enum { CAROMI_IS_INPUT, CAROMI_IS_OUTPUT };
CAROMI_LIST caromi_add_array(caromi_arrays *arrays, int is_output, const caromi_array *array)
{
    uint64_t last; /* distance of the last element from the first, in bytes */
    if (array->base[0] == NULL || array->count == 0)
        return;
    /* The span of up to three arrays: x, y and z. */
    uintptr_t low = (uintptr_t)array->base[0], high = low;
    for (int k = 1; k < 3 && array->base[1] != NULL; k++) {
        const uintptr_t base = (uintptr_t)array->base[k];
        low = base < low ? base : low;
        high = base > high ? base : high;
    }
    /* Spans are compared by signed differences. */
    arrays->too_large |= __builtin_mul_overflow(array->count - 1, array->stride, &last) |
                         (last > CAROMI_ADDRESS_SPACE - array->size) | (high > INTPTR_MAX - CAROMI_ADDRESS_SPACE);
    const uint32_t at = is_output ? arrays->out_count++ : arrays->in_count++;
    (is_output ? arrays->out : arrays->in)[at] = (caromi_span){low, high + last + array->size};
    if (!arrays->named)
        return;
    caromi_array *named = &(is_output ? arrays->out_array : arrays->in_array)[at];
    *named = *array;
}

CAROMI_LIST caromi_reads(caromi_arrays *arrays, const char *name, const void *base, uint64_t count, size_t stride,
                         size_t size)
{
    caromi_add_array(arrays, CAROMI_IS_INPUT,
                     &(caromi_array){name, {base, NULL, NULL}, count, stride, size, arrays->written});
}
/* A structure, or one number. */
CAROMI_LIST caromi_reads_one(caromi_arrays *arrays, const char *name, const void *base, size_t size)
{
    caromi_reads(arrays, name, base, 1, 0, size);
}
CAROMI_LIST caromi_reads_points(caromi_arrays *arrays, const char *name, const carom_points *points, uint64_t count)
{
    caromi_add_array(arrays, CAROMI_IS_INPUT,
                     &(caromi_array){name,
                                     {points->x, points->y, points->z},
                                     count,
                                     caromi_stride(points->stride),
                                     sizeof(float),
                                     arrays->written});
}
CAROMI_LIST caromi_reads_scalars(caromi_arrays *arrays, const char *name, const carom_scalars *scalars, uint64_t count)
{
    caromi_reads(arrays, name, scalars->data, count, caromi_stride(scalars->stride), sizeof(float));
}
CAROMI_LIST caromi_reads_uints(caromi_arrays *arrays, const char *name, const carom_uints *uints, uint64_t count)
{
    caromi_reads(arrays, name, uints->data, count, caromi_stride(uints->stride), sizeof(uint32_t));
}
/* A contiguous output array. */
CAROMI_LIST caromi_writes(caromi_arrays *arrays, const char *name, const void *base, uint64_t count, size_t size)
{
    caromi_add_array(arrays, CAROMI_IS_OUTPUT,
                     &(caromi_array){name, {base, NULL, NULL}, count, size, size, arrays->written});
}
/* Whether two of x, y and z, of the same stride, certainly do not overlap: they are members of one structure, or far
 * apart. */
static inline int caromi_is_apart(const float *first, const float *second, size_t stride, uint64_t length)
{
    const uintptr_t a = (uintptr_t)first, b = (uintptr_t)second, apart = a < b ? b - a : a - b;
    return (apart >= sizeof(float) && apart <= stride - sizeof(float)) || apart >= length;
}
CAROMI_LIST caromi_writes_points(caromi_arrays *arrays, const char *name, const carom_points_out *points,
                                 uint64_t count)
{
    const uint64_t length = (count - 1) * points->stride + sizeof(float); /* unless that overflows */
    caromi_add_array(
        arrays, CAROMI_IS_OUTPUT,
        &(caromi_array){
            name, {points->x, points->y, points->z}, count, points->stride, sizeof(float), arrays->written});
    if (points->x != NULL && count != 0)
        arrays->self_alias |= !caromi_is_apart(points->x, points->y, points->stride, length) ||
                              !caromi_is_apart(points->y, points->z, points->stride, length) ||
                              !caromi_is_apart(points->x, points->z, points->stride, length);
}

/* Checks of optional views. */
static inline carom_status caromi_check_optional_points(const carom_points *points, const char *name, carom_error *err)
{
    return points->x == NULL && points->y == NULL && points->z == NULL ? CAROM_OK
                                                                       : caromi_check_points(points, name, err);
}
static inline carom_status caromi_check_optional_scalars(const carom_scalars *scalars, const char *name,
                                                         carom_error *err)
{
    return scalars->data == NULL ? CAROM_OK : caromi_check_scalars(scalars, name, err);
}
static inline carom_status caromi_check_optional_uints(const carom_uints *uints, const char *name, carom_error *err)
{
    return uints->data == NULL ? CAROM_OK : caromi_check_uints(uints, name, err);
}
#endif
