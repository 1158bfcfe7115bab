/* SPDX-License-Identifier: MIT */
/* The verbs in C of GCC and Clang (contracts: lang.h): what all lane counts share, and the choice of a spelling. Files
 * that include this are compiled with -ffp-contract=off. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* clang-format off */
#define FN static inline __attribute__((always_inline, unused))
#ifdef LANG_ALLOW_FMA
#define FN_RARE FN /* an out-of-line function's name would not show that it may fuse: tests/bits/fused.sh */
#else
#define FN_RARE static __attribute__((noinline, unused)) /* keeps rare work out of the registers of a hot loop */
#endif
#if LANES > 1 && !defined(LANG_ALLOW_FMA)
#define LANG_RARE_APART
#endif
#if defined(__clang__)
#define LANG_UNROLL _Pragma("unroll")
#else
#define LANG_UNROLL _Pragma("GCC unroll 24")
#endif
#define LANG_ROLLED
#define LANG_ALIGNED __attribute__((aligned(64))) /* each vector in a cache line of its own */
#define G
#define v_prefetch(base, bytes) __builtin_prefetch((const void *)((uintptr_t)(base) + (bytes)))
#define LANG_HAS_PREFETCH
typedef float real;
typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
FN u32 real_bits(real x) { u32 r; memcpy(&r, &x, sizeof r); return r; }
FN real real_of_bits(u32 x) { real r; memcpy(&r, &x, sizeof r); return r; }
FN int bitmask_first(u32 lanes) { return __builtin_ctz(lanes); }
FN int bitmask_last(u32 lanes) { return 31 - __builtin_clz(lanes); }
FN int bitmask_count(u32 lanes) { return __builtin_popcount(lanes); }

#if LANES == 1
typedef float vf;
typedef int32_t vi;
#else
typedef float vf __attribute__((vector_size(4 * LANES)));
typedef int32_t vi __attribute__((vector_size(4 * LANES)));
FN vf v_f(real x) { return x - (vf){0}; } /* exact for every x, -0 included: x - (+0) = x */
FN vi v_i(int x) { return x - (vi){0}; }
FN vi v_bits(vf x) { return (vi)x; }
FN vf v_from_bits(vi x) { return (vf)x; }
#endif
FN vf v_load(const real *p) { vf r; memcpy(&r, p, sizeof r); return r; }
#define LANG_LOADS 1
FN void v_loads(const real *p, vf x[LANG_LOADS]) { x[0] = v_load(p); }
FN void v_store(real *p, vf x) { memcpy(p, &x, sizeof x); }
FN void vi_store(int *p, vi x) { memcpy(p, &x, sizeof x); }

#if LANES == 1
#include "lang_scalar.h"
#elif LANES == 16
#include "lang_avx512.h"
#elif LANES == 8
#include "lang_avx2.h"
#elif defined(__ARM_NEON)
#include "lang_neon.h"
#else
#include "lang_sse41.h"
#endif

FN vm v_and(vm a, vm b) { return (vm)(a & b); }
FN vm v_or(vm a, vm b) { return (vm)(a | b); }
FN vf v_positive_zero(vf x) { return x + v_f(R(0.0)); }
/* clang-format on */
