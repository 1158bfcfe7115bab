/* SPDX-License-Identifier: MIT */
/* The machine, spelled twice. Solver text knows `vf` (LANES reals), `vi` (LANES integers of the same width), `vm`
 * (a mask) and the verbs below; this file spells them for OpenCL C and for C with GCC/Clang vectors.
 *
 * Every verb is correctly rounded or exact, so the same text gives the same bits wherever it is compiled. Not here
 * on purpose: fma, mad, rsqrt, dot, length, min/max/clamp built-ins (their results vary between implementations). Only a
 * program whose answers are defined by the question alone (exact times) may fuse what it likes: LANG_FREE. */
#ifndef CAROM_LANG_H
#define CAROM_LANG_H

/* clang-format off */
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
/* ---------------------------------------------------------------- OpenCL C */
#ifdef LANG_FREE
#pragma OPENCL FP_CONTRACT ON
#else
#pragma OPENCL FP_CONTRACT OFF
#endif
#if LANES > 1 && defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
/* Compiled for a CPU itself, where the built-in prefetch() does nothing. (SPIR-V knows no other.) */
#define v_prefetch(base, bytes) __builtin_prefetch((const void *)((size_t)(base) + (bytes)))
#define LANG_FETCHES
#define LANG_UNROLL _Pragma("unroll")
#define LANG_ALIGNED __attribute__((aligned(64))) /* vectors in lines of their own */
#define FN static inline __attribute__((always_inline)) /* a call saves and restores every vector register */
#else
#define v_prefetch(base, bytes) (void)0
#define LANG_UNROLL
#define LANG_ALIGNED
#define FN static inline
#endif
#define FN_RARE FN
#define G __global
typedef float real;
#define real_bits(x) as_uint(x)
#define real_of_bits(x) as_float(x)
typedef uchar u8;
typedef uint u32;
typedef ulong u64;
#define LANG_CAT_(a, b) a##b
#define LANG_CAT(a, b) LANG_CAT_(a, b)
#if LANES == 1
#define LANG_LOCKSTEP /* work-items may run together, and all wait for what one of them does */
typedef float vf;
typedef int vi;
typedef int vm; /* 0 or 1 */
#define v_not(m) (!(m))
#define v_any(m) (m)
#define v_lanes(m) ((u32)(m))
#define v_bits(x) as_int(x)
#define v_from_bits(x) as_float(x)
#define v_store_u8(p, x) (*(p) = (uchar)(x))
#define v_load(p) (*(p))
#define v_store(p, x) (*(p) = (x))
#define vi_store(p, x) (*(p) = (x))
#define v_least(x) (x)
#define vi_least(x) (x)
#else
typedef LANG_CAT(float, LANES) vf;
typedef LANG_CAT(int, LANES) vi;
typedef vi vm; /* -1 or 0 */
#define v_not(m) (~(m))
#define v_bits(x) LANG_CAT(as_int, LANES)(x)
#define v_from_bits(x) LANG_CAT(as_float, LANES)(x)
#define v_store_u8(p, x) LANG_CAT(vstore, LANES)(LANG_CAT(convert_uchar, LANES)(x), 0, p)
#define v_load(p) LANG_CAT(vload, LANES)(0, p)
#define v_store(p, x) LANG_CAT(vstore, LANES)(x, 0, p)
#define vi_store(p, x) LANG_CAT(vstore, LANES)(x, 0, p)
#define v_least(x) LANG_CAT(v_least_, LANES)(x)
#define vi_least(x) LANG_CAT(vi_least_, LANES)(x)
#endif
#define v_f(x) ((vf)(x))
#define v_i(x) ((vi)(x))
FN vf v_sel(vm m, vf a, vf b) { return m ? a : b; }
FN vi vi_sel(vm m, vi a, vi b) { return m ? a : b; }
FN vi vi_raise(vm m, vi a, vi b) { return m ? a : b; } /* 0 <= b <= a: elsewhere that is a plain maximum */
FN vf v_only(vm m, vf x) { return m ? x : v_f(0.0f); }
FN vf v_put(vm m, vf x, vf rest) { return m ? x : rest; } /* rest is +0 where m is set: elsewhere that is plain or */
FN vf v_sqrt(vf x) { return sqrt(x); }
FN vm v_lt(vf a, vf b) { return a < b; }
FN vm v_le(vf a, vf b) { return a <= b; }
FN vm v_eq(vf a, vf b) { return a == b; }
FN vm vi_gt(vi a, vi b) { return a > b; }
FN vm vi_eq(vi a, vi b) { return a == b; }
FN vm v_and(vm a, vm b) { return a & b; }
FN vm v_or(vm a, vm b) { return a | b; }
/* v_lanes: a bit for each lane. The processor's own verb, where there is one, is one instruction instead of a dozen. */
#if LANES == 16 && defined(LANG_FETCHES) && defined(__AVX512DQ__)
typedef int lang_ints __attribute__((vector_size(64))); /* as the compiler's own verbs know them */
FN u32 v_lanes(vm m) { return (ushort)__builtin_ia32_cvtd2mask512(*(const lang_ints *)&m); }
FN int v_any(vm m) { return v_lanes(m) != 0; }
#elif LANES == 8 && defined(LANG_FETCHES) && defined(__AVX__)
typedef float lang_reals __attribute__((vector_size(32)));
FN u32 v_lanes(vm m) { return (u32)__builtin_ia32_movmskps256(*(const lang_reals *)&m); }
FN int v_any(vm m) { return v_lanes(m) != 0; }
#elif LANES > 1
/* Halves or-ed together: any() is a chain of branches on some CPUs. */
FN int v_or_2(int2 m) { return m.lo | m.hi; }
FN int v_or_4(int4 m) { return v_or_2(m.lo | m.hi); }
FN int v_or_8(int8 m) { return v_or_4(m.lo | m.hi); }
FN int v_or_16(int16 m) { return v_or_8(m.lo | m.hi); }
FN int v_lanes_4(int4 m) { return v_or_4(m & (int4)(1, 2, 4, 8)); }
FN int v_lanes_8(int8 m) { return v_or_8(m & (int8)(1, 2, 4, 8, 16, 32, 64, 128)); }
FN int v_lanes_16(int16 m) { return v_lanes_8(m.lo) | v_lanes_8(m.hi) << 8; }
FN u32 v_lanes(vm m) { return (u32)LANG_CAT(v_lanes_, LANES)(m); }
FN int v_any(vm m) { return LANG_CAT(v_or_, LANES)(m) != 0; }
#endif
#ifdef LANG_FETCHES /* every step of a search begins with it: the processor's own verb */
FN int lane_first(u32 lanes) { return __builtin_ctz(lanes); }
#else
FN int lane_first(u32 lanes) { return 31 - (int)clz(lanes & -lanes); }
#endif
FN int lanes_count(u32 lanes) { return (int)popcount(lanes); }
FN float v_least_2(float2 a) { return a.lo < a.hi ? a.lo : a.hi; }
FN float v_least_4(float4 a) { return v_least_2(a.lo < a.hi ? a.lo : a.hi); }
FN float v_least_8(float8 a) { return v_least_4(a.lo < a.hi ? a.lo : a.hi); }
FN float v_least_16(float16 a) { return v_least_8(a.lo < a.hi ? a.lo : a.hi); }
FN int vi_least_2(int2 a) { return a.lo < a.hi ? a.lo : a.hi; }
FN int vi_least_4(int4 a) { return vi_least_2(a.lo < a.hi ? a.lo : a.hi); }
FN int vi_least_8(int8 a) { return vi_least_4(a.lo < a.hi ? a.lo : a.hi); }
FN int vi_least_16(int16 a) { return vi_least_8(a.lo < a.hi ? a.lo : a.hi); }
FN vf v_min(vf a, vf b) { return a < b ? a : b; }
FN vf v_max(vf a, vf b) { return a > b ? a : b; }
FN vi vi_max(vi a, vi b) { return a > b ? a : b; }
/* v_pack: lanes of `count` rows side by side, in the order that they have; what is packed of a row is `stride` from what is of
 * the next. May store up to LANES reals there. Lane by lane it would cost more than it gains, so it is only where the
 * processor has a verb for it. */
#if LANES == 16 && defined(LANG_FETCHES) && defined(__AVX512F__)
#define LANG_PACKS
typedef float lang_row __attribute__((vector_size(64), aligned(4))); /* as the compiler's own verbs know it */
FN void v_pack(real *to, int stride, const vf *rows, int count, u32 lanes)
{
    const vf zero = v_f(0.0f);
    LANG_UNROLL
    for (int k = 0; k < count; k++)
        *(lang_row *)(to + k * stride) =
            __builtin_ia32_compresssf512_mask(*(const lang_row *)(rows + k), *(const lang_row *)&zero, (ushort)lanes);
}
#endif
/* v_pick: of the first 16 reals of a table those at LANES places below 16. */
#if LANES == 1
#define v_pick(table, places) ((table)[*(places)])
#elif defined(LANG_PACKS)
typedef int lang_indices __attribute__((vector_size(64)));
#define v_pick(table, places) v_picked(v_load(table), LANG_CAT(convert_int, LANES)(LANG_CAT(vload, LANES)(0, places)))
FN vf v_picked(vf from, vi at)
{
    vf picked;
    *(lang_row *)&picked = __builtin_ia32_permvarsf512(*(const lang_row *)&from, *(const lang_indices *)&at);
    return picked;
}
#else
FN vf v_pick(G const real *table, G const u8 *places)
{
    real picked[LANES];
    LANG_UNROLL
    for (int lane = 0; lane < LANES; lane++)
        picked[lane] = table[places[lane]];
    return v_load(picked);
}
#endif
/* -0 becomes +0, the rest stays. In integers, because a compiler may drop the sum with 0 (Mesa's does). */
FN vf v_positive_zero(vf x)
{
    const vi bits = v_bits(x), zero = v_i(0);
    return v_from_bits(vi_sel(vi_gt(bits & R_MAGNITUDE_MASK, zero), bits, zero));
}

#else
/* ---------------------------------------------------------------- C */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define FN static inline __attribute__((always_inline, unused))
#ifdef LANG_FREE
#define FN_RARE FN /* a function apart would not tell by its name that it may fuse: tests/bits/fused.sh */
#else
#define FN_RARE static __attribute__((noinline, unused)) /* out of the way of a search that does without */
#endif
#if defined(__clang__)
#define LANG_UNROLL _Pragma("unroll")
#else
#define LANG_UNROLL _Pragma("GCC unroll 24")
#endif
#define LANG_ALIGNED __attribute__((aligned(64))) /* vectors in lines of their own */
#define G
/* May point beyond the array: a hint, not an access. */
#define v_prefetch(base, bytes) __builtin_prefetch((const void *)((uintptr_t)(base) + (bytes)))
#define LANG_FETCHES
typedef float real;
typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
FN u32 real_bits(real x) { u32 r; memcpy(&r, &x, sizeof r); return r; }
FN real real_of_bits(u32 x) { real r; memcpy(&r, &x, sizeof r); return r; }

#if LANES == 1
typedef float vf;
typedef int32_t vi;
typedef int vm; /* 0 or 1 */
FN vf v_f(real x) { return x; }
FN vi v_i(int x) { return x; }
FN vi v_bits(vf x) { vi r; memcpy(&r, &x, sizeof r); return r; }
FN vf v_from_bits(vi x) { vf r; memcpy(&r, &x, sizeof r); return r; }
FN vf v_sqrt(vf x) { return __builtin_sqrtf(x); }
FN vm v_not(vm m) { return !m; }
FN int v_any(vm m) { return m; }
FN u32 v_lanes(vm m) { return (u32)m; }
FN vf v_sel(vm m, vf a, vf b) { return m ? a : b; }
FN vi vi_sel(vm m, vi a, vi b) { return m ? a : b; }
FN vi vi_raise(vm m, vi a, vi b) { return m ? a : b; }
FN vf v_only(vm m, vf x) { return m ? x : 0.0f; }
FN vf v_put(vm m, vf x, vf rest) { return m ? x : rest; }
FN vm v_lt(vf a, vf b) { return a < b; }
FN vm v_le(vf a, vf b) { return a <= b; }
FN vm v_eq(vf a, vf b) { return a == b; }
FN vm vi_gt(vi a, vi b) { return a > b; }
FN vm vi_eq(vi a, vi b) { return a == b; }
FN vf v_min(vf a, vf b) { return a < b ? a : b; }
FN vf v_max(vf a, vf b) { return a > b ? a : b; }
FN vi vi_max(vi a, vi b) { return a > b ? a : b; }
FN void v_store_u8(u8 *p, vi x) { *p = (u8)x; }

#else
typedef float vf __attribute__((vector_size(4 * LANES)));
typedef int32_t vi __attribute__((vector_size(4 * LANES)));
FN vf v_f(real x) { return x - (vf){0}; } /* exact for every x, -0 included: x - (+0) = x */
FN vi v_i(int x) { return x - (vi){0}; }
FN vi v_bits(vf x) { return (vi)x; }
FN vf v_from_bits(vi x) { return (vf)x; }

#if LANES == 16
#include <immintrin.h>
typedef __mmask16 vm;
FN vm v_not(vm m) { return (vm)~m; }
FN int v_any(vm m) { return m != 0; }
FN u32 v_lanes(vm m) { return m; }
FN vf v_sel(vm m, vf a, vf b) { return (vf)_mm512_mask_blend_ps(m, (__m512)b, (__m512)a); }
FN vf v_only(vm m, vf x) { return (vf)_mm512_maskz_mov_ps(m, (__m512)x); }
FN vf v_put(vm m, vf x, vf rest) { return v_sel(m, x, rest); }
FN vi vi_sel(vm m, vi a, vi b) { return (vi)_mm512_mask_blend_epi32(m, (__m512i)b, (__m512i)a); }
FN vi vi_raise(vm m, vi a, vi b) { return vi_sel(m, a, b); }
FN vm v_lt(vf a, vf b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ); }
FN vm v_le(vf a, vf b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LE_OQ); }
FN vm v_eq(vf a, vf b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_EQ_OQ); }
FN vm vi_gt(vi a, vi b) { return _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b); }
FN vm vi_eq(vi a, vi b) { return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b); }
FN vf v_sqrt(vf x) { return (vf)_mm512_sqrt_ps((__m512)x); }
FN vf v_min(vf a, vf b) { return (vf)_mm512_min_ps((__m512)a, (__m512)b); } /* a < b ? a : b, as the others */
FN vf v_max(vf a, vf b) { return (vf)_mm512_max_ps((__m512)a, (__m512)b); }
FN vi vi_max(vi a, vi b) { return (vi)_mm512_max_epi32((__m512i)a, (__m512i)b); }
FN void v_store_u8(u8 *p, vi x) { _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtepi32_epi8((__m512i)x)); }

#else
typedef vi vm; /* -1 or 0 */
FN vm v_not(vm m) { return ~m; }
FN vf v_only(vm m, vf x) { return (vf)(m & (vi)x); }
FN vf v_put(vm m, vf x, vf rest) { return (vf)((m & (vi)x) | (vi)rest); }
FN vm v_lt(vf a, vf b) { return a < b; }
FN vm v_le(vf a, vf b) { return a <= b; }
FN vm v_eq(vf a, vf b) { return a == b; }
FN vm vi_gt(vi a, vi b) { return a > b; }
FN vm vi_eq(vi a, vi b) { return a == b; }
typedef u8 lang_bytes __attribute__((vector_size(LANES)));
FN void v_store_u8(u8 *p, vi x)
{
    const lang_bytes b = __builtin_convertvector(x, lang_bytes);
    memcpy(p, &b, sizeof b);
}
#if LANES == 8
#include <immintrin.h>
FN int v_any(vm m) { return _mm256_movemask_ps((__m256)m) != 0; }
FN u32 v_lanes(vm m) { return (u32)_mm256_movemask_ps((__m256)m); }
FN vf v_sel(vm m, vf a, vf b) { return (vf)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m); }
FN vi vi_sel(vm m, vi a, vi b) { return (vi)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m); }
FN vf v_sqrt(vf x) { return (vf)_mm256_sqrt_ps((__m256)x); }
FN vf v_min(vf a, vf b) { return (vf)_mm256_min_ps((__m256)a, (__m256)b); }
FN vf v_max(vf a, vf b) { return (vf)_mm256_max_ps((__m256)a, (__m256)b); }
FN vi vi_max(vi a, vi b) { return (vi)_mm256_max_epi32((__m256i)a, (__m256i)b); }
FN vi vi_raise(vm m, vi a, vi b) { return vi_max(m & a, b); }
#elif defined(__ARM_NEON)
#include <arm_neon.h>
FN int v_any(vm m) { return vmaxvq_u32((uint32x4_t)m) != 0; }
FN u32 v_lanes(vm m) { return vaddvq_u32((uint32x4_t)(m & (vi){1, 2, 4, 8})); }
FN vf v_sel(vm m, vf a, vf b) { return (vf)vbslq_f32((uint32x4_t)m, (float32x4_t)a, (float32x4_t)b); }
FN vi vi_sel(vm m, vi a, vi b) { return (vi)vbslq_s32((uint32x4_t)m, (int32x4_t)a, (int32x4_t)b); }
FN vf v_sqrt(vf x) { return (vf)vsqrtq_f32((float32x4_t)x); }
FN vf v_min(vf a, vf b) { return v_sel(a < b, a, b); } /* vminq differs for NaN and -0 */
FN vf v_max(vf a, vf b) { return v_sel(a > b, a, b); }
FN vi vi_max(vi a, vi b) { return (vi)vmaxq_s32((int32x4_t)a, (int32x4_t)b); }
FN vi vi_raise(vm m, vi a, vi b) { return vi_sel(m, a, b); }
#else
#include <smmintrin.h>
FN int v_any(vm m) { return _mm_movemask_ps((__m128)m) != 0; }
FN u32 v_lanes(vm m) { return (u32)_mm_movemask_ps((__m128)m); }
FN vf v_sel(vm m, vf a, vf b) { return (vf)_mm_blendv_ps((__m128)b, (__m128)a, (__m128)m); }
FN vi vi_sel(vm m, vi a, vi b) { return (vi)_mm_blendv_ps((__m128)b, (__m128)a, (__m128)m); }
FN vf v_sqrt(vf x) { return (vf)_mm_sqrt_ps((__m128)x); }
FN vf v_min(vf a, vf b) { return (vf)_mm_min_ps((__m128)a, (__m128)b); }
FN vf v_max(vf a, vf b) { return (vf)_mm_max_ps((__m128)a, (__m128)b); }
FN vi vi_max(vi a, vi b) { return (vi)_mm_max_epi32((__m128i)a, (__m128i)b); }
FN vi vi_raise(vm m, vi a, vi b) { return vi_max(m & a, b); }
#endif
#endif
#endif
FN int lane_first(u32 lanes) { return __builtin_ctz(lanes); }
FN int lanes_count(u32 lanes) { return __builtin_popcount(lanes); }
FN vf v_load(const real *p) { vf r; memcpy(&r, p, sizeof r); return r; }
FN void v_store(real *p, vf x) { memcpy(p, &x, sizeof x); }
FN void vi_store(int *p, vi x) { memcpy(p, &x, sizeof x); }
#if LANES == 16
FN real v_least(vf x) { return _mm512_reduce_min_ps((__m512)x); }
FN int vi_least(vi x) { return _mm512_reduce_min_epi32((__m512i)x); }
#else
FN real v_least(vf x)
{
    real lane[LANES], least;
    v_store(lane, x);
    least = lane[0];
    for (int i = 1; i < LANES; i++)
        least = lane[i] < least ? lane[i] : least;
    return least;
}
FN int vi_least(vi x)
{
    int lane[LANES], least;
    vi_store(lane, x);
    least = lane[0];
    for (int i = 1; i < LANES; i++)
        least = lane[i] < least ? lane[i] : least;
    return least;
}
#endif
/* v_pick: as above. */
#if LANES == 16
FN vf v_pick(const real *table, const u8 *places)
{
    const __m512i at = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)places));
    return (vf)_mm512_permutexvar_ps(at, (__m512)v_load(table));
}
#elif LANES == 8
FN vf v_pick(const real *table, const u8 *places)
{
    const __m256i at = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)places));
    const __m256 low = _mm256_permutevar8x32_ps((__m256)v_load(table), at);
    const __m256 high = _mm256_permutevar8x32_ps((__m256)v_load(table + 8), at);
    return (vf)_mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(at, 28)));
}
#else
FN vf v_pick(const real *table, const u8 *places)
{
    vf picked;
    real lane[LANES];
    LANG_UNROLL
    for (int i = 0; i < LANES; i++)
        lane[i] = table[places[i]];
    memcpy(&picked, lane, sizeof picked);
    return picked;
}
#endif
/* v_pack: as above. */
#if LANES > 1
#define LANG_PACKS
#endif
#if LANES == 16
FN void v_pack(real *to, int stride, const vf *rows, int count, u32 lanes)
{
    LANG_UNROLL
    for (int k = 0; k < count; k++)
        v_store(to + k * stride, (vf)_mm512_maskz_compress_ps((__mmask16)lanes, (__m512)rows[k]));
}
#elif LANES > 1
/* For each mask of four lanes where their bytes come from. */
#define LANG_LANE(i) 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3
#define LANG_PACK(a, b, c, d) {LANG_LANE(a), LANG_LANE(b), LANG_LANE(c), LANG_LANE(d)}
static const u8 lang_packs[16][16] = {
    LANG_PACK(0, 0, 0, 0), LANG_PACK(0, 0, 0, 0), LANG_PACK(1, 0, 0, 0), LANG_PACK(0, 1, 0, 0),
    LANG_PACK(2, 0, 0, 0), LANG_PACK(0, 2, 0, 0), LANG_PACK(1, 2, 0, 0), LANG_PACK(0, 1, 2, 0),
    LANG_PACK(3, 0, 0, 0), LANG_PACK(0, 3, 0, 0), LANG_PACK(1, 3, 0, 0), LANG_PACK(0, 1, 3, 0),
    LANG_PACK(2, 3, 0, 0), LANG_PACK(0, 2, 3, 0), LANG_PACK(1, 2, 3, 0), LANG_PACK(0, 1, 2, 3)};
FN void lang_pack(real *to, const real *from, u32 lanes)
{
#if defined(__ARM_NEON)
    vst1q_u8((u8 *)to, vqtbl1q_u8(vld1q_u8((const u8 *)from), vld1q_u8(lang_packs[lanes])));
#else
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)lang_packs[lanes]);
    _mm_storeu_ps(to, _mm_castsi128_ps(_mm_shuffle_epi8(_mm_castps_si128(_mm_loadu_ps(from)), bytes)));
#endif
}
FN void v_pack(real *to, int stride, const vf *rows, int count, u32 lanes)
{
    LANG_UNROLL
    for (int k = 0; k < count; k++) {
        real row[LANES];
        v_store(row, rows[k]);
        lang_pack(to + k * stride, row, lanes & 15);
        if (LANES == 8)
            lang_pack(to + k * stride + lanes_count(lanes & 15), row + LANES - 4, lanes >> 4);
    }
}
#endif
FN vm v_and(vm a, vm b) { return (vm)(a & b); }
FN vm v_or(vm a, vm b) { return (vm)(a | b); }
FN vf v_positive_zero(vf x) { return x + v_f(R(0.0)); } /* -0 becomes +0, the rest stays */
#endif

/* ---------------------------------------------------------------- built from the verbs above */
FN vm v_gt(vf a, vf b) { return v_lt(b, a); }
FN vm v_ge(vf a, vf b) { return v_le(b, a); }
FN vm v_within(vf low, vf x, vf high) { return v_and(v_le(low, x), v_le(x, high)); }
FN vi v_magnitude(vf x) { return v_bits(x) & R_MAGNITUDE_MASK; } /* ordered like |x|; NaN above infinity above numbers */
FN vf v_abs(vf x) { return v_from_bits(v_magnitude(x)); }
FN vf v_head(vf x) { return v_from_bits(v_bits(x) & R_HEAD_MASK); }
FN vm v_finite(vf x) { return vi_gt(v_i(R_INFINITY_BITS), v_magnitude(x)); }
FN vf v_copysign_one(vf x) { return v_from_bits((v_bits(x) & R_SIGN_MASK) | v_bits(v_f(R(1.0)))); }
FN vf v_infinity(void) { return v_from_bits(v_i(R_INFINITY_BITS)); }
FN vf v_largest(void) { return v_from_bits(v_i(R_INFINITY_BITS - 1)); }

FN vi vi_min(vi a, vi b) { return vi_sel(vi_gt(a, b), b, a); }
/* clang-format on */

/* Exponent field of the power of two at or below a magnitude, at least that of the smallest normal number. */
FN vi v_exponent(vi magnitude)
{
    return vi_max(magnitude, v_i(R_MIN_NORMAL_BITS)) & R_EXPONENT_MASK;
}
/* 2^-e for an exponent field below that of 2^127: brings the largest magnitude into [1, 2). Exact. */
FN vf v_scale_down(vi exponent)
{
    return v_from_bits((2 * R_EXPONENT_BIAS << R_EXPONENT_SHIFT) - exponent);
}
/* 2^(a-b) for exponent fields; too small becomes 0, too large the largest power of two. */
FN vf v_scale_ratio(vi a, vi b)
{
    const vi bits = vi_max(a - b + (R_EXPONENT_BIAS << R_EXPONENT_SHIFT), v_i(0));
    return v_from_bits(vi_min(bits, v_i(2 * R_EXPONENT_BIAS << R_EXPONENT_SHIFT)));
}

/* x * 2^k in two steps, so that no intermediate leaves the range before the result does. */
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
