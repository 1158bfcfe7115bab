/* SPDX-License-Identifier: MIT */
/* The part in binary64. */
#include <math.h>

typedef double number;
#define NUM(x) (x)
#define NUM_HIGH(x) (x)
#define PARALLEL_SINE2 0x1p-100
#define num_root sqrt
#define CAROMI_HAS_PART caromi_edge_has_part_filter

static inline number num_of_sum(double a, double b)
{
    return a + b;
}

static inline number num_of_product(double a, double b)
{
    return a * b;
}

static inline number num_add(number a, number b)
{
    return a + b;
}

static inline number num_subtract(number a, number b)
{
    return a - b;
}

static inline number num_negate(number a)
{
    return -a;
}

static inline number num_multiply(number a, number b)
{
    return a * b;
}

static inline number num_divide(number a, number b)
{
    return a / b;
}

static inline int num_less(number a, number b)
{
    return a < b;
}

#include "edge_overlap_template.h"
