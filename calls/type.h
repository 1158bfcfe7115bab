/* SPDX-License-Identifier: MIT */
/* The type of a call with a batch, as constant data: which members its descriptor and its result have, and what it does
 * with the batch. The library makes checks, columns and jobs from it (host/core/handler.h); tests ask the same
 * questions of every type. It is data alone, made from the public headers. */
#ifndef CAROM_CALLS_TYPE_H
#define CAROM_CALLS_TYPE_H
#include <stddef.h>
#include <stdint.h>

#include "carom/carom.h"
#include "kernels/pairs.h"

typedef enum caromi_member_kind {
    CAROMI_POINTS, /* views, which a call reads */
    CAROMI_SCALARS,
    CAROMI_UINTS,
    CAROMI_NUMBER,     /* one number by pointer, or NULL */
    CAROMI_POINTS_OUT, /* arrays, which it fills; NULL: not wanted */
    CAROMI_ARRAY,
} caromi_member_kind;

/* How many elements a member has. */
typedef enum caromi_extent_kind {
    CAROMI_PER_QUERY,   /* batch.count; of bundles, their number */
    CAROMI_PER_ELEMENT, /* batch.elements, if the batch selects from them; else batch.count */
    CAROMI_PER_A,       /* the same by the indices of a pair's first thing, and of its second */
    CAROMI_PER_B,
    CAROMI_PER_NODE,   /* of the slabs that a lattice answers */
    CAROMI_PER_OFFSET, /* batch.count + 1 */
    CAROMI_PER_RECORD, /* the capacity of a list */
    CAROMI_SINGLE,
    CAROMI_EXTENTS
} caromi_extent_kind;

enum { CAROMI_NO_COLUMN = 255, CAROMI_MEMBERS_MAX = 12 };
enum { CAROMI_OPTIONAL, CAROMI_REQUIRED }; /* whether a NULL member is an error */

typedef struct caromi_member {
    const char *name;
    uint16_t offset;
    uint8_t kind, extent;
    uint8_t column;    /* the first of a batch that it fills */
    uint8_t size;      /* bytes of an element */
    uint8_t is_needed; /* CAROMI_REQUIRED or CAROMI_OPTIONAL */
} caromi_member;

typedef struct caromi_members {
    const caromi_member *at; /* array */
    uint32_t count;
} caromi_members;
/* An array with more than CAROMI_MEMBERS_MAX members does not compile: a char array would have the size -1. */
#define CAROMI_COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define CAROMI_MEMBERS(array)                                                                                   \
    {                                                                                                           \
        array, CAROMI_COUNT_OF(array) + 0 * sizeof(char[CAROMI_COUNT_OF(array) <= CAROMI_MEMBERS_MAX ? 1 : -1]) \
    }

/* An entry of such an array: a member of structure `type`, how many elements it has, and the first of the batch's
 * columns that it fills. */
#define CAROMI_MEMBER(type, member, kind, extent, column, size, needed)     \
    {                                                                       \
#member, offsetof(type, member), kind, extent, column, size, needed \
    }
/* An entry for an input: a view of numbers, or of points. */
#define CAROMI_VIEW(type, member, kind, extent, column, needed) \
    CAROMI_MEMBER(type, member, kind, extent, column, sizeof(float), needed)
/* Entries for outputs that may be NULL: an array, and the arrays x, y and z of points. */
#define CAROMI_FILLED(type, member, extent, column) \
    CAROMI_MEMBER(type, member, CAROMI_ARRAY, extent, column, sizeof *((type *)0)->member, CAROMI_OPTIONAL)
#define CAROMI_FILLED_POINTS(type, member, extent, column) \
    CAROMI_MEMBER(type, member, CAROMI_POINTS_OUT, extent, column, sizeof(float), CAROMI_OPTIONAL)

/* Members of carom_batch that a call supports, besides those that all do. */
enum { CAROMI_SERVES_SELECT = 1, CAROMI_SERVES_BEGIN = 2 };
/* Unit of batch.count. */
typedef enum caromi_unit { CAROMI_UNIT_QUERY, CAROMI_UNIT_SLAB, CAROMI_UNIT_ROW, CAROMI_UNIT_SPHERE } caromi_unit;

/* A public call by its arguments; `which` is for the call that has one more. */
typedef carom_status caromi_call_function(void *subject, const void *desc, const void *out, int which,
                                          carom_stats *stats, carom_error *err);

typedef struct caromi_call_type {
    const char *name;                   /* of the public function */
    const char *subject, *out_argument; /* "context" or "mesh"; "out", "list" or "order" */
    const char *desc_name, *out_name;   /* of the structures */
    size_t desc_size, out_size;         /* out_size 0: the result is an array of elements */
    size_t out_element;                 /* bytes of such an element; there is one for each query */
    caromi_members in, out;
    uint8_t unit;      /* caromi_unit */
    uint8_t serves;    /* members of the batch */
    uint8_t stays;     /* a device can use the arrays where they lie */
    uint8_t enqueues;  /* and then answers in fast mode without the host */
    uint8_t has_which; /* the call has one more argument: all or first hits */
    uint16_t totals;   /* offset of a list's totals in the result; 0: no list */
    uint16_t lattice;  /* offset of the lattice in the descriptor; 0: none */
    uint16_t radius;   /* offset of the one radius of all queries, a float; 0: none */
    uint16_t indices;  /* offset of the indices of pairs in the descriptor; 0: none */
    caromi_call_function *call;
} caromi_call_type;

#define CAROMI_INLINED static inline __attribute__((always_inline))

/* Defines caromi_call_NAME(...), which calls the public function carom_NAME: all calls have one type then. */
#define CALL(name, subject_type, desc_type, out_type)                                                                  \
    static inline carom_status caromi_call_##name(void *subject, const void *desc, const void *out, int which,         \
                                                  carom_stats *stats, carom_error *err)                                \
    {                                                                                                                  \
        (void)which;                                                                                                   \
        return carom_##name((subject_type *)subject, (const desc_type *)desc, (out_type *)(uintptr_t)out, stats, err); \
    }
#define CALL_WITH_HITS(name, subject_type, desc_type, out_type)                                                \
    static inline carom_status caromi_call_##name(void *subject, const void *desc, const void *out, int which, \
                                                  carom_stats *stats, carom_error *err)                        \
    {                                                                                                          \
        return carom_##name((subject_type *)subject, (const desc_type *)desc, (carom_hits)which,               \
                            (out_type *)(uintptr_t)out, stats, err);                                           \
    }
#include "list.h"

/* Defines caromi_type_of_NAME(), the type of a call. `inputs` and `outputs` are arrays of members. A constant behind a
 * function that is inlined: the compiler knows all of it where the call is answered. */
#define CAROMI_CALL_TYPE(call_name, subject_name, desc, inputs, argument, result, outputs, ...) \
    CAROMI_INLINED const caromi_call_type *caromi_type_of_##call_name(void)                     \
    {                                                                                           \
        static const caromi_call_type type = {.name = "carom_" #call_name,                      \
                                              .subject = (subject_name),                        \
                                              .out_argument = (argument),                       \
                                              .desc_name = #desc,                               \
                                              .out_name = #result,                              \
                                              .desc_size = sizeof(desc),                        \
                                              .out_size = sizeof(result),                       \
                                              .in = inputs,                                     \
                                              .out = outputs,                                   \
                                              .call = caromi_call_##call_name,                  \
                                              __VA_ARGS__};                                     \
        return &type;                                                                           \
    }

/* Of calls that say yes or no to each query. */
static const caromi_member caromi_any_out[] = {
    CAROMI_MEMBER(carom_any_result, hit, CAROMI_ARRAY, CAROMI_PER_QUERY, CAROMI_NO_COLUMN, sizeof(uint8_t),
                  CAROMI_REQUIRED),
};
#define CAROMI_NO_MEMBERS \
    {                     \
        NULL, 0           \
    }
#endif
