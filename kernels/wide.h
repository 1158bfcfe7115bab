/* SPDX-License-Identifier: MIT */
/* The verbs in binary64, for exact mode: `wf` (WIDE reals), `wm` (a mask) and the verbs below, spelled for OpenCL C and
 * for C as in lang.h. WIDE is half of LANES (1 for one lane), so a group of LANES queries has PARTS halves. The halves
 * are joined in registers: a load over two stores would wait for both to leave the core. Only programs of exact mode
 * contain this file. */
#ifndef CAROM_WIDE_H
#define CAROM_WIDE_H
#include "vec.h"
#include "wide_real.h"

/* clang-format off */
#if LANES == 1
#define WIDE 1
#elif LANES == 4
#define WIDE 2
#elif LANES == 8
#define WIDE 4
#else
#define WIDE 8
#endif
#define PARTS (LANES / WIDE)

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
/* ---------------------------------------------------------------- OpenCL C */
#if WIDE == 1
typedef double wf;
typedef int wm; /* 0 or 1 */
#define w_load(p) ((wf)*(p))
#define w_store(p, x) (*(p) = (float)(x))
#define w_store_u8(p, x) (*(p) = (uchar)(x))
#define w_round(x) ((wf)(float)(x))
#define w_join(low, high) ((float)(low))
#define w_not(m) (!(m))
#else
typedef LANG_CAT(double, WIDE) wf;
typedef LANG_CAT(long, WIDE) wm; /* -1 or 0 */
#define w_load(p) LANG_CAT(convert_double, WIDE)(LANG_CAT(vload, WIDE)(0, p))
#define w_store(p, x) LANG_CAT(vstore, WIDE)(LANG_CAT(convert_float, WIDE)(x), 0, p)
#define w_store_u8(p, x) LANG_CAT(vstore, WIDE)(LANG_CAT(convert_uchar, WIDE)(x), 0, p)
#define w_round(x) LANG_CAT(convert_double, WIDE)(LANG_CAT(convert_float, WIDE)(x))
#define w_join(low, high) ((vf)(LANG_CAT(convert_float, WIDE)(low), LANG_CAT(convert_float, WIDE)(high)))
#define w_not(m) (~(m))
#endif
#define w_f(x) ((wf)(x))
#define wide_abs(x) fabs(x)
#define wide_copysign(x, sign) copysign(x, sign)
FN wf w_sel(wm m, wf a, wf b) { return m ? a : b; }
FN wf w_sqrt(wf x) { return sqrt(x); }
FN wf w_abs(wf x) { return fabs(x); }
FN wm w_lt(wf a, wf b) { return a < b; }
FN wm w_le(wf a, wf b) { return a <= b; }
FN wm w_eq(wf a, wf b) { return a == b; }

#else
/* ---------------------------------------------------------------- C */
#define wide_abs(x) __builtin_fabs(x)
#define wide_copysign(x, sign) __builtin_copysign(x, sign)
#if WIDE == 1
typedef double wf;
typedef int wm; /* 0 or 1 */
FN wf w_f(double x) { return x; }
FN wf w_sel(wm m, wf a, wf b) { return m ? a : b; }
FN wf w_sqrt(wf x) { return __builtin_sqrt(x); }
FN wf w_abs(wf x) { return __builtin_fabs(x); }
FN wm w_lt(wf a, wf b) { return a < b; }
FN wm w_le(wf a, wf b) { return a <= b; }
FN wm w_eq(wf a, wf b) { return a == b; }
FN wm w_not(wm m) { return !m; }
FN wf w_load(const float *p) { return (wf)*p; }
FN wf w_round(wf x) { return (wf)(float)x; }
FN vf w_join(wf low, wf high) { (void)high; return (float)low; }
FN void w_store(float *p, wf x) { *p = (float)x; }
FN void w_store_u8(u8 *p, wf x) { *p = (u8)x; }
#else
typedef double wf __attribute__((vector_size(8 * WIDE)));
typedef int64_t wi __attribute__((vector_size(8 * WIDE)));
typedef float wide_narrow __attribute__((vector_size(4 * WIDE)));
typedef u8 wide_bytes __attribute__((vector_size(WIDE)));
FN wf w_f(double x) { return x - (wf){0}; }
#if WIDE == 8
/* Spelled as an instruction, because GCC 12 converts by halves. */
FN wide_narrow w_narrow(wf x) { return (wide_narrow)_mm512_cvtpd_ps((__m512d)x); }
FN wf w_widen(wide_narrow x) { return (wf)_mm512_cvtps_pd((__m256)x); }
#elif WIDE == 4
FN wide_narrow w_narrow(wf x) { return (wide_narrow)_mm256_cvtpd_ps((__m256d)x); }
FN wf w_widen(wide_narrow x) { return (wf)_mm256_cvtps_pd((__m128)x); }
#else
FN wide_narrow w_narrow(wf x) { return __builtin_convertvector(x, wide_narrow); }
FN wf w_widen(wide_narrow x) { return __builtin_convertvector(x, wf); }
#endif
#if WIDE == 2 && !defined(__ARM_NEON)
FN wf w_load(const float *p)
{
    return (wf)_mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)p)));
}
#else
FN wf w_load(const float *p)
{
    wide_narrow x;
    memcpy(&x, p, sizeof x);
    return w_widen(x);
}
#endif
FN wf w_round(wf x) { return w_widen(w_narrow(x)); }
FN void w_store(float *p, wf x)
{
    const wide_narrow n = w_narrow(x);
    memcpy(p, &n, sizeof n);
}
FN wf w_abs(wf x) { return (wf)((wi)x & INT64_MAX); }
#if WIDE == 8
FN vf w_join(wf low, wf high)
{
    return (vf)_mm512_insertf32x8(_mm512_castps256_ps512((__m256)w_narrow(low)), (__m256)w_narrow(high), 1);
}
typedef __mmask8 wm;
FN wm w_not(wm m) { return (wm)~m; }
FN wf w_sel(wm m, wf a, wf b) { return (wf)_mm512_mask_blend_pd(m, (__m512d)b, (__m512d)a); }
FN wm w_lt(wf a, wf b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LT_OQ); }
FN wm w_le(wf a, wf b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LE_OQ); }
FN wm w_eq(wf a, wf b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_EQ_OQ); }
FN wf w_sqrt(wf x) { return (wf)_mm512_sqrt_pd((__m512d)x); }
FN void w_store_u8(u8 *p, wf x)
{
    _mm_storel_epi64((__m128i *)(void *)p, _mm512_cvtepi64_epi8(_mm512_cvtpd_epi64((__m512d)x)));
}
#else
typedef wi wm; /* -1 or 0 */
FN wm w_not(wm m) { return ~m; }
FN wm w_lt(wf a, wf b) { return a < b; }
FN wm w_le(wf a, wf b) { return a <= b; }
FN wm w_eq(wf a, wf b) { return a == b; }
FN void w_store_u8(u8 *p, wf x)
{
    const wide_bytes b = __builtin_convertvector(x, wide_bytes);
    memcpy(p, &b, sizeof b);
}
#if WIDE == 4
FN vf w_join(wf low, wf high)
{
    return (vf)_mm256_insertf128_ps(_mm256_castps128_ps256((__m128)w_narrow(low)), (__m128)w_narrow(high), 1);
}
FN wf w_sel(wm m, wf a, wf b) { return (wf)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m); }
FN wf w_sqrt(wf x) { return (wf)_mm256_sqrt_pd((__m256d)x); }
#elif defined(__ARM_NEON)
FN vf w_join(wf low, wf high)
{
    return (vf)vcombine_f32(vcvt_f32_f64((float64x2_t)low), vcvt_f32_f64((float64x2_t)high));
}
FN wf w_sel(wm m, wf a, wf b) { return (wf)vbslq_f64((uint64x2_t)m, (float64x2_t)a, (float64x2_t)b); }
FN wf w_sqrt(wf x) { return (wf)vsqrtq_f64((float64x2_t)x); }
#else
FN vf w_join(wf low, wf high) { return (vf)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)low), _mm_cvtpd_ps((__m128d)high)); }
FN wf w_sel(wm m, wf a, wf b) { return (wf)_mm_blendv_pd((__m128d)b, (__m128d)a, (__m128d)m); }
FN wf w_sqrt(wf x) { return (wf)_mm_sqrt_pd((__m128d)x); }
#endif
#endif
#endif
#endif

/* ---------------------------------------------------------------- built from the verbs above */
#define W(x) x
#ifndef W_BOUND
#define W_BOUND W(1.0) /* a test shrinks all bounds with it, and must then find wrong answers */
#endif
#define W_EPS(n) (W(n) * W(0x1p-53) * W_BOUND) /* n roundings, for the bounds of a pair query's filter */
FN wf w_real(real x) { return w_f((wide_real)x); }
FN wm w_and(wm a, wm b) { return (wm)(a & b); }
FN wm w_or(wm a, wm b) { return (wm)(a | b); }
FN wf w_infinity(void) { return w_f(W(1.0)) / w_f(W(0.0)); }

typedef struct w3 {
    wf x, y, z;
} w3;
FN w3 w3_of(wf x, wf y, wf z) { w3 r; r.x = x; r.y = y; r.z = z; return r; }
/* Three rows of LANES reals in binary64, for the half that begins at first_lane. */
FN w3 load3_lanes(const real (*p)[LANES], int first_lane)
{
    return w3_of(w_load(p[0] + first_lane), w_load(p[1] + first_lane), w_load(p[2] + first_lane));
}
/* Three columns from `first` on, as columns.h does. */
FN w3 load3_wide(G const real *const *in, int first, size_t i)
{
    return w3_of(w_load(in[first] + i), w_load(in[first + 1] + i), w_load(in[first + 2] + i));
}
FN w3 w3_add(w3 a, w3 b) { return w3_of(a.x + b.x, a.y + b.y, a.z + b.z); }
FN w3 w3_sub(w3 a, w3 b) { return w3_of(a.x - b.x, a.y - b.y, a.z - b.z); }
FN w3 w3_add_scaled(w3 a, w3 b, wf s) { return w3_of(a.x + b.x * s, a.y + b.y * s, a.z + b.z * s); }
FN w3 w3_sub_scaled(w3 a, w3 b, wf s) { return w3_of(a.x - b.x * s, a.y - b.y * s, a.z - b.z * s); }
FN w3 w3_mul(w3 a, wf s) { return w3_of(a.x * s, a.y * s, a.z * s); }
FN wf w3_dot(w3 a, w3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
FN w3 w3_cross(w3 a, w3 b)
{
    return w3_of(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
/* Sum of magnitudes: at least the length, at most sqrt(3) of it. */
FN wf w3_size(w3 a) { return w_abs(a.x) + w_abs(a.y) + w_abs(a.z); }
/* clang-format on */
#endif
