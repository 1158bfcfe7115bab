/* SPDX-License-Identifier: MIT */
/* Exact sums, products, quotients and roots, rounded, must be what the hardware's correctly rounded operations give. */
#include "root.h"
#include "selftest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double any_double(ref_test *test, int spread)
{
    uint64_t bits = ref_test_bits(test), field = ref_test_bits(test);
    double value;

    /* Exponents around one, around the denormals, or anywhere; short mantissas make ties. */
    field = spread == 0 ? 1023 - 30 + field % 60 : spread == 1 ? field % 60 : field % 2047;
    if (bits >> 60 < 4)
        bits &= ~(uint64_t)0 << 30;
    bits = (bits & 0x800fffffffffffffu) | field << 52;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void report(ref_test *test, int ok, const char *what, double a, double b, double got)
{
    if (!ref_check(test, ok, what))
        printf("    operands %a %a gave %a\n", a, b, got);
}

static void check_arithmetic(ref_test *test, double a, double b)
{
    volatile double sum = a + b, product = a * b, difference = a - b;
    volatile float narrow = (float)a;
    ref_dyadic x, y, z;
    double got;

    ref_dyadic_from_double(&x, a);
    ref_dyadic_from_double(&y, b);
    report(test, ref_same_bits(ref_dyadic_to_double(&x), a == 0.0 ? 0.0 : a), "round trip", a, b, 0.0);
    report(test, (float)narrow == ref_dyadic_to_float(&x), "narrowing", a, b, (double)ref_dyadic_to_float(&x));
    ref_dyadic_add(&z, &x, &y);
    got = ref_dyadic_to_double(&z);
    report(test, got == sum, "sum", a, b, got);
    ref_dyadic_sub(&z, &z, &y);
    report(test, ref_dyadic_cmp(&z, &x) == 0, "(a + b) - b = a", a, b, 0.0);
    ref_dyadic_sub(&z, &x, &y);
    got = ref_dyadic_to_double(&z);
    report(test, got == difference, "difference", a, b, got);
    report(test, ref_dyadic_cmp(&x, &y) == (a > b) - (a < b), "order", a, b, 0.0);
    ref_dyadic_mul(&z, &x, &y);
    got = ref_dyadic_to_double(&z);
    report(test, got == product, "product", a, b, got);
}

static void check_floats(ref_test *test, double wide_a, double wide_b)
{
    volatile float a = (float)wide_a, b = (float)wide_b, sum = a + b, product = a * b;
    ref_dyadic x, y, z;

    if (!isfinite(a) || !isfinite(b))
        return;
    ref_dyadic_from_float(&x, a);
    ref_dyadic_from_float(&y, b);
    ref_dyadic_mul(&z, &x, &y);
    report(test, ref_dyadic_to_float(&z) == product, "float product", wide_a, wide_b, (double)ref_dyadic_to_float(&z));
    ref_dyadic_add(&z, &x, &y);
    report(test, ref_dyadic_to_float(&z) == sum, "float sum", wide_a, wide_b, (double)ref_dyadic_to_float(&z));
}

static void check_roots(ref_test *test, double a, double b)
{
    volatile double quotient = a / b, root = sqrt(fabs(a));
    volatile float narrow = (float)a / (float)b, narrow_root = sqrtf((float)fabs(a));
    ref_dyadic x, y, one, estimate;
    ref_root value;
    double got;

    ref_dyadic_from_double(&one, 1.0);
    ref_dyadic_from_double(&x, a);
    ref_dyadic_from_double(&y, b);
    if (b != 0.0) {
        ref_root_rational(&value, &x, &y);
        ref_root_estimate(&estimate, &value);
        got = ref_root_to_double(&value, &estimate);
        report(test, got == quotient, "quotient", a, b, got);
        if (isfinite((float)a) && isfinite((float)b) && (float)b != 0.0f) {
            ref_dyadic_from_float(&x, (float)a);
            ref_dyadic_from_float(&y, (float)b);
            ref_root_rational(&value, &x, &y);
            got = (double)ref_root_to_float(&value, &estimate); /* the estimate is off by up to two: must not matter */
            report(test, got == (double)narrow, "float quotient", a, b, got);
        }
    }
    ref_dyadic_from_double(&value.q, fabs(a));
    ref_dyadic_zero(&value.p);
    ref_dyadic_copy(&value.w, &one);
    value.s = value.q.sign;
    ref_root_estimate(&estimate, &value);
    got = ref_root_to_double(&value, &estimate);
    report(test, got == root, "square root", a, b, got);
    if (isfinite((float)a) && (double)(float)a == a)
        report(test, ref_root_to_float(&value, &estimate) == narrow_root, "float square root", a, b, got);
}

/* A tie written as (m w) / w and as sqrt(m^2 w^2) / w: the quotient is inexact, so only the midpoints can settle it. */
static void check_tie(ref_test *test, double wide, double scale)
{
    volatile float near = (float)wide, next = nextafterf((float)wide, INFINITY);
    double middle = 0.5 * ((double)near + (double)next);
    ref_dyadic estimate;
    ref_root value;
    double got;

    if (!isfinite(near) || !isfinite(next) || scale == 0.0)
        return;
    near = (float)middle;
    ref_dyadic_from_double(&value.p, middle);
    ref_dyadic_from_double(&value.w, fabs(scale));
    ref_dyadic_mul(&value.p, &value.p, &value.w);
    ref_dyadic_zero(&value.q);
    value.s = 0;
    for (int i = 0; i < 2; i++) {
        ref_root_estimate(&estimate, &value);
        got = (double)ref_root_to_float(&value, &estimate);
        report(test, got == (double)near, "tie", middle, scale, got);
        ref_dyadic_mul(&value.q, &value.p, &value.p);
        value.s = value.p.sign;
        ref_dyadic_zero(&value.p);
    }
}

/* (p + s sqrt(q)) / w scaled by k is the same number; moved by the smallest step it is not. */
static void check_order(ref_test *test)
{
    ref_root a, b;
    ref_dyadic k, step;
    int side;

    ref_dyadic_from_double(&a.p, any_double(test, 0));
    ref_dyadic_from_double(&a.q, fabs(any_double(test, 0)));
    ref_dyadic_from_double(&a.w, fabs(any_double(test, 0)));
    ref_dyadic_from_double(&k, fabs(any_double(test, 0)));
    a.s = ref_test_bits(test) % 2 ? 1 : -1;
    ref_root_copy(&b, &a);
    ref_dyadic_mul(&b.p, &b.p, &k);
    ref_dyadic_mul(&b.w, &b.w, &k);
    ref_dyadic_mul(&k, &k, &k);
    ref_dyadic_mul(&b.q, &b.q, &k);
    ref_check(test, ref_root_cmp(&a, &b) == 0 && ref_root_cmp(&b, &a) == 0, "a root equals itself at another scale");
    side = ref_test_bits(test) % 2 ? 1 : -1;
    ref_dyadic_from_double(&step, side * 0x1p-400);
    ref_dyadic_add(&b.p, &b.p, &step);
    ref_check(test, ref_root_cmp(&a, &b) == -side, "a step of 2^-400 in p is seen");
    ref_dyadic_sub(&b.p, &b.p, &step);
    ref_dyadic_add(&b.q, &b.q, &step);
    ref_check(test, ref_root_cmp(&b, &a) == side * a.s, "a step of 2^-400 in q is seen");
}

void ref_test_numbers(ref_test *test)
{
    for (int i = 0; i < 3000; i++) {
        double a = any_double(test, i % 3);
        double b = any_double(test, (i / 3) % 3);

        check_arithmetic(test, a, b);
        check_arithmetic(test, a, a);
        check_arithmetic(test, a, a * 0x1p-53);
        if (isfinite((float)b))
            check_arithmetic(test, a, (double)(float)b);
        check_floats(test, a, b);
        check_floats(test, a * 0x1p-100, b);
        check_roots(test, a, b);
        if (isfinite((float)a) && isfinite((float)b))
            check_roots(test, (double)(float)a, (double)(float)b);
        check_order(test);
        check_tie(test, a, any_double(test, 0));
        check_tie(test, b, 3.0);
    }
}
