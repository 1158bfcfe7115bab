/* SPDX-License-Identifier: MIT */
/* The verbs in OpenCL C (contracts: lang.h). One lane is a work-item of a GPU; more are the vectors of a CPU. */

/* clang-format off */
#ifdef LANG_ALLOW_FMA
#pragma OPENCL FP_CONTRACT ON
#else
#pragma OPENCL FP_CONTRACT OFF
#endif
#if LANES > 1 && defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
/* The target is the CPU itself, for which the built-in prefetch() does nothing. (SPIR-V has no other prefetch.) */
#define v_prefetch(base, bytes) __builtin_prefetch((const void *)((size_t)(base) + (bytes)))
#define LANG_HAS_PREFETCH
#define LANG_UNROLL _Pragma("unroll")
#define LANG_ROLLED
#define LANG_ALIGNED __attribute__((aligned(64))) /* each vector in a cache line of its own */
#define FN static inline __attribute__((always_inline)) /* a call saves and restores every vector register */
#else
#define v_prefetch(base, bytes) (void)0
#define LANG_UNROLL
#define LANG_ROLLED _Pragma("unroll 1")
#define LANG_ALIGNED
#if defined(__SPIR__) || defined(__SPIRV__) /* Mesa, which inlines by itself */
#define FN static inline
#else
#define FN static inline __attribute__((always_inline))
#endif
#endif
#define FN_RARE FN
#ifdef __AMDGCN__ /* at least two waves: else the compiler may use so many registers that only one wave fits */
#define LANG_SEARCH_KERNEL __attribute__((amdgpu_waves_per_eu(2))) __kernel
#else
#define LANG_SEARCH_KERNEL __kernel
#endif
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
#include "lang_opencl_scalar.h"
#else
#include "lang_opencl_vector.h"
#endif

#define v_f(x) ((vf)(x))
#define v_i(x) ((vi)(x))
FN vf v_sel(vm m, vf a, vf b) { return m ? a : b; }
FN vi vi_sel(vm m, vi a, vi b) { return m ? a : b; }
FN vi vi_max_where(vm m, vi a, vi b) { return m ? a : b; }
FN vf v_sel_or_zero(vm m, vf a) { return m ? a : v_f(0.0f); }
FN vf v_or_disjoint(vm m, vf a, vf b) { return m ? a : b; }
FN vf v_sqrt(vf x) { return sqrt(x); }
FN vm v_lt(vf a, vf b) { return a < b; }
FN vm v_le(vf a, vf b) { return a <= b; }
FN vm v_eq(vf a, vf b) { return a == b; }
FN vm vi_gt(vi a, vi b) { return a > b; }
FN vm vi_eq(vi a, vi b) { return a == b; }
FN vm v_and(vm a, vm b) { return a & b; }
FN vm v_or(vm a, vm b) { return a | b; }
FN vf v_min(vf a, vf b) { return a < b ? a : b; }
FN vf v_max(vf a, vf b) { return a > b ? a : b; }
FN vf v_min_where(vm m, vf a, vf b) { return v_sel(v_and(m, v_lt(a, b)), a, b); }
FN vf v_max_where(vm m, vf a, vf b) { return v_sel(v_and(m, v_lt(b, a)), a, b); }
FN vi vi_max(vi a, vi b) { return a > b ? a : b; }
#ifdef LANG_HAS_PREFETCH /* on a CPU the instruction itself, because every step of a traversal begins with it */
FN int bitmask_first(u32 lanes) { return __builtin_ctz(lanes); }
#else
FN int bitmask_first(u32 lanes) { return 31 - (int)clz(lanes & -lanes); }
#endif
FN int bitmask_last(u32 lanes) { return 31 - (int)clz(lanes); }
FN int bitmask_count(u32 lanes) { return (int)popcount(lanes); }
/* In integers, because a compiler may drop the sum with +0 (Mesa's does). */
FN vf v_positive_zero(vf x)
{
    const vi bits = v_bits(x), zero = v_i(0);
    return v_from_bits(vi_sel(vi_gt(bits & R_MAGNITUDE_MASK, zero), bits, zero));
}
/* clang-format on */
