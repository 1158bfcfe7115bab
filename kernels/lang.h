/* SPDX-License-Identifier: MIT */
/* The verbs that every kernel is written in, and their contracts. Kernels use nothing else of a machine.
 *
 * The text of a kernel is compiled as OpenCL C and as C. It works on LANES independent values at a time: LANES is 1 for
 * a GPU and for scalar C; 4, 8 or 16 for a CPU's vectors. This page says what each verb promises. A spelling is a file
 * that defines the verbs for one machine:
 *
 *   lang_opencl.h   OpenCL C; with lang_opencl_scalar.h (LANES 1) or lang_opencl_vector.h
 *   lang_c.h        C of GCC and Clang; with lang_scalar.h (LANES 1), lang_sse41.h (4), lang_avx2.h (8), lang_neon.h
 *                   (4, 64-bit ARM) or lang_avx512.h (16). SSE4.1, AVX2 and NEON share lang_vector_mask.h.
 *
 * The same text gives the same bits in every spelling, because every operation is exact or correctly rounded. These are
 * missing on purpose: fma, mad, rsqrt, dot, length, and the built-in min, max and clamp; their results vary between
 * implementations. tests/bits/test_lang.c compares every verb with its contract, lane by lane.
 *
 * Types
 *   real            binary32. Another width is another block of constants below; kernels write literals as R(0.5).
 *   vf, vi, vm      LANES reals; LANES 32-bit integers; LANES truth values. By spelling a vm holds 0 or 1, 0 or -1 in
 *                   each lane, or a bit for each lane: only verbs may look into it.
 *   u8, u32, u64    unsigned integers
 *   G               address space of the caller's buffers (__global; nothing in C)
 *   FN, FN_RARE     begin a function; FN_RARE is for rare work that is best kept out of line
 *
 * Operators
 *   + - * /         on vf: correctly rounded, denormals kept. A product is not fused with a sum, but under
 *                   LANG_ALLOW_FMA: for kernels whose answer does not depend on rounding.
 *   + - & | ^ << >> on vi: a sum must not overflow; >> keeps the sign.
 *   < <= > >= ==    are not portable between spellings: use the verbs.
 *
 * Make and cast
 *   v_f(x) v_i(x)             the scalar in every lane; -0 stays -0
 *   v_bits(x) v_from_bits(x)  the same 32 bits as vi, as vf
 *   real_bits, real_of_bits   the same for one real and u32
 *
 * Memory. Pointers are aligned for their element, not for a vector.
 *   v_load(p)                 LANES reals from p
 *   v_loads(p, x)             LANG_LOADS times LANES reals from p, to the array x; p is aligned for so many
 *   v_store(p, x)             LANES reals to p; vi_store(p, x) LANES integers
 *   v_store_u8(p, x)          LANES bytes to p. Requires 0 <= x <= 255.
 *   v_prefetch(base, bytes)   a hint: may point beyond the array. Does nothing without LANG_HAS_PREFETCH.
 *   vi_load_u8(p)             LANES bytes from p, as integers
 *   v_table_lookup(t, p)      lane i is t[p[i]], p of u8. Requires p[i] < 16 and 16 readable reals at t.
 *   v_tables_at(t, u, x)      lane i is t[x[i]], or u[x[i] - 16] if x[i] >= 16; x of vi. Requires 0 <= x[i] < 32 and
 *                             16 readable reals at both.
 *   v_compress(to, stride, rows, count, lanes)
 *                             from each of `count` rows (vf) the lanes in the bitmask `lanes`, in order, without gaps,
 *                             to `to + row * stride`. May store up to LANES reals per row; those after the selected
 *                             ones are undefined. Needs LANG_HAS_COMPRESS: lane by lane it would not pay.
 *
 * Compare. NaN makes each of them false; -0 equals +0.
 *   v_lt v_le v_gt v_ge v_eq  <  <=  >  >=  ==
 *   v_within(a, x, b)         a <= x and x <= b
 *   vi_gt vi_eq               >  == of signed integers
 *   v_finite(x)               neither NaN nor infinite
 *
 * Masks
 *   v_and v_or v_not          lane by lane
 *   v_any(m)                  nonzero if a lane is set
 *   v_bitmask(m)              u32: bit i is lane i; other bits are 0
 *   bitmask_first(b)          number of the lowest bit that is set, bitmask_last(b) of the highest. Require b != 0.
 *   bitmask_count(b)          number of bits that are set
 *
 * Select. Operands are evaluated in every lane: keep them free of traps. The chosen operand keeps its bits.
 *   v_sel(m, a, b) vi_sel     a where m, else b
 *   v_sel_or_zero(m, a)       a where m, else +0
 *   v_or_disjoint(m, a, b)    a where m, else b. Requires b = +0 where m: a bitwise or of (a where m) and b will do.
 *   v_below_where(m, x)       where m the next number below x, NaN below +0, else x. Requires x >= +0.
 *   vi_max_where(m, a, b)     a where m, else b. Requires 0 <= b everywhere and b <= a where m: a maximum will do.
 *
 * Arithmetic
 *   v_sqrt(x)                 correctly rounded; NaN for x < 0; -0 for -0
 *   v_min(a, b)               a < b ? a : b, so b if one is NaN. Of +0 and -0 it is b on CPUs, but either one on GPUs,
 *   v_max(a, b)               whose compilers use the hardware's minimum (llvm #93414): a use must not depend on that
 *                             sign. v_max is a > b ? a : b likewise. The x86 instructions do just this; ARM's do not.
 *   v_lesser(a, b)            the lesser of two numbers, v_greater the greater. Requires no NaN; of +0 and -0 either
 *                             one. Searches by teams have one instruction for it, where v_min takes two.
 *   v_min_where(m, a, b)      a where m and a < b, else b, with v_min's freedom in signs of zero; v_max_where likewise
 *   vi_min vi_max             of signed integers
 *   v_reduce_min(x)           real: the least lane. Requires no NaN; of +0 and -0 either one.
 *   vi_reduce_min(x)          int: the least lane
 *   v_abs v_magnitude         the sign bit cleared, as vf, as vi. As integers: ordered like |x|, NaN above infinity.
 *   v_copysign_one(x)         1 or -1 by the sign bit of x
 *   v_positive_zero(x)        -0 becomes +0, the rest stays; NaN stays some NaN
 *   v_head(x)                 x cut towards 0 to 12 significant bits: the product of two heads is exact. For normal x.
 *   v_infinity() v_largest()  +inf; the largest finite number
 *
 * Powers of two. An exponent field is the bits of a positive number under R_EXPONENT_MASK.
 *   v_exponent(magnitude)     the field of the magnitude, at least that of the smallest normal number
 *   v_scale_down(e)           2^-e. Requires a field below that of 2^127. Brings numbers of field e into [1, 2).
 *   v_scale_ratio(a, b)       2^(a-b), at most 2^127; 0 below the normal numbers. Requires a-b <= 128, of exponents.
 *   v_pow2_of(k)              2^k for an integer k, as two factors; k is cut to [-252, 254]
 *   v_ldexp(x, p)             x * 2^k, p = v_pow2_of(k): two products, so no intermediate result leaves the range
 *                             unless the result does. Exact if the result is normal.
 *
 * A spelling also defines: LANG_LOADS, what one load brings at the cost of one; LANG_HAS_PREFETCH, LANG_HAS_COMPRESS
 * (or not); LANG_RARE_APART if FN_RARE is out of line, so that a packet with one rare lane goes there as a whole;
 * LANG_LOCKSTEP if lanes are work-items that wait for each other; LANG_UNROLL and LANG_ALIGNED for loops over
 * and arrays of vectors; LANG_ROLLED for loops that GPUs are not to unroll, because of the registers. OpenCL C also:
 * LANG_SEARCH_KERNEL, which begins the kernel of a search, as __kernel begins others. */
#ifndef CAROM_LANG_H
#define CAROM_LANG_H

#ifndef LANES
#error "define LANES: 1, 4, 8 or 16"
#endif

/* The real type. Another width is another block like this one; the solvers use only these names. */
#define R(x) x##f
#define R_INFINITY_BITS 0x7f800000
#define R_NAN_BITS 0x7fc00000
#define R_EXPONENT_MASK 0x7f800000
#define R_MAGNITUDE_MASK 0x7fffffff
#define R_SIGN_MASK ((int)0x80000000)
#define R_HEAD_MASK ((int)0xfffff000) /* keeps 12 of 24 significant bits: products of two heads are exact */
#define R_HEAD_SHIFT 12
#define R_EXPONENT_SHIFT 23
#define R_EXPONENT_BIAS 127
#define R_MIN_NORMAL_BITS 0x00800000
#define R_BIG_BITS 0x7d800000   /* 2^124: sums of a few such numbers still fit */
#define R_SMALL_BITS 0x0d800000 /* 2^-100: 2^-26 of it is still normal */

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#include "lang_opencl.h"
#else
#include "lang_c.h" /* cmake/embed.cmake leaves it out of the texts for OpenCL */
#endif

/* clang-format off */
/* ---- built from the verbs of the spelling */
FN vm v_gt(vf a, vf b) { return v_lt(b, a); }
FN vm v_ge(vf a, vf b) { return v_le(b, a); }
FN vm v_within(vf low, vf x, vf high) { return v_and(v_le(low, x), v_le(x, high)); }
FN vi v_magnitude(vf x) { return v_bits(x) & R_MAGNITUDE_MASK; }
FN vf v_abs(vf x) { return v_from_bits(v_magnitude(x)); }
FN vf v_head(vf x) { return v_from_bits(v_bits(x) & R_HEAD_MASK); }
FN vm v_finite(vf x) { return vi_gt(v_i(R_INFINITY_BITS), v_magnitude(x)); }
FN vf v_copysign_one(vf x) { return v_from_bits((v_bits(x) & R_SIGN_MASK) | v_bits(v_f(R(1.0)))); }
FN vf v_infinity(void) { return v_from_bits(v_i(R_INFINITY_BITS)); }
FN vf v_largest(void) { return v_from_bits(v_i(R_INFINITY_BITS - 1)); }

FN vi vi_min(vi a, vi b) { return vi_sel(vi_gt(a, b), b, a); }
#ifndef LANG_HAS_LESSER
FN vf v_lesser(vf a, vf b) { return v_min(a, b); }
FN vf v_greater(vf a, vf b) { return v_max(a, b); }
#endif
/* clang-format on */

FN vi v_exponent(vi magnitude)
{
    return vi_max(magnitude, v_i(R_MIN_NORMAL_BITS)) & R_EXPONENT_MASK;
}

FN vf v_scale_down(vi exponent)
{
    return v_from_bits((2 * R_EXPONENT_BIAS << R_EXPONENT_SHIFT) - exponent);
}

FN vf v_scale_ratio(vi a, vi b)
{
    const vi bits = vi_max(a - b + (R_EXPONENT_BIAS << R_EXPONENT_SHIFT), v_i(0));
    return v_from_bits(vi_min(bits, v_i(2 * R_EXPONENT_BIAS << R_EXPONENT_SHIFT)));
}

typedef struct v_pow2 {
    vf a, b;
} v_pow2;

FN v_pow2 v_pow2_of(vi exponent)
{
    const vi k = vi_max(vi_min(exponent, v_i(2 * R_EXPONENT_BIAS)), v_i(2 - 2 * R_EXPONENT_BIAS));
    const vi k1 = k >> 1;
    v_pow2 p;
    p.a = v_from_bits((k1 + R_EXPONENT_BIAS) << R_EXPONENT_SHIFT);
    p.b = v_from_bits((k - k1 + R_EXPONENT_BIAS) << R_EXPONENT_SHIFT);
    return p;
}

FN vf v_ldexp(vf x, v_pow2 p)
{
    return (x * p.a) * p.b;
}

#endif
