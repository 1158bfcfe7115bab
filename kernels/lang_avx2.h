/* SPDX-License-Identifier: MIT */
/* The verbs for AVX2, 8 lanes. Included by lang_c.h. */
#include <immintrin.h>
#include "lang_vector_mask.h"

/* clang-format off */
FN int v_any(vm m) { return _mm256_movemask_ps((__m256)m) != 0; }
FN u32 v_bitmask(vm m) { return (u32)_mm256_movemask_ps((__m256)m); }
FN vf v_sel(vm m, vf a, vf b) { return (vf)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m); }
FN vi vi_sel(vm m, vi a, vi b) { return (vi)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m); }
FN vf v_sqrt(vf x) { return (vf)_mm256_sqrt_ps((__m256)x); }
FN vf v_min(vf a, vf b) { return (vf)_mm256_min_ps((__m256)a, (__m256)b); }
FN vf v_max(vf a, vf b) { return (vf)_mm256_max_ps((__m256)a, (__m256)b); }
FN vi vi_max(vi a, vi b) { return (vi)_mm256_max_epi32((__m256i)a, (__m256i)b); }
FN vi vi_max_where(vm m, vi a, vi b) { return vi_max(m & a, b); }
#define LANG_HAS_COMPRESS
/* For each bitmask of eight lanes a word with the numbers of those that are set, the lowest in the lowest byte. */
#define LANG_IS_SET(lanes, lane) ((u64)(lanes) >> (lane)&1)
#define LANG_PUT(word, lanes, lane) ((word) << 8 * LANG_IS_SET(lanes, lane) | (lane)*LANG_IS_SET(lanes, lane))
#define LANG_SET_HIGH(b) LANG_PUT(LANG_PUT(LANG_PUT(LANG_PUT((u64)0, b, 7), b, 6), b, 5), b, 4)
#define LANG_SET(b) LANG_PUT(LANG_PUT(LANG_PUT(LANG_PUT(LANG_SET_HIGH(b), b, 3), b, 2), b, 1), b, 0)
#define LANG_SET_4(b) LANG_SET(b), LANG_SET((b) + 1), LANG_SET((b) + 2), LANG_SET((b) + 3)
#define LANG_SET_16(b) LANG_SET_4(b), LANG_SET_4((b) + 4), LANG_SET_4((b) + 8), LANG_SET_4((b) + 12)
#define LANG_SET_64(b) LANG_SET_16(b), LANG_SET_16((b) + 16), LANG_SET_16((b) + 32), LANG_SET_16((b) + 48)
static const u64 lang_set[256] = {LANG_SET_64(0), LANG_SET_64(64), LANG_SET_64(128), LANG_SET_64(192)};
FN void v_compress(real *to, int stride, const vf *rows, int count, u32 lanes)
{
    const __m256i at = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)&lang_set[lanes]));
    LANG_UNROLL
    for (int k = 0; k < count; k++)
        v_store(to + k * stride, (vf)_mm256_permutevar8x32_ps((__m256)rows[k], at));
}
FN vi vi_load_u8(const u8 *p)
{
    return (vi)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
}
/* Both halves of the table are permuted; bit 3 of an index chooses the half. */
FN vf lang_table_at(const real *table, vi at)
{
    const __m256 low = _mm256_permutevar8x32_ps((__m256)v_load(table), (__m256i)at);
    const __m256 high = _mm256_permutevar8x32_ps((__m256)v_load(table + 8), (__m256i)at);
    return (vf)_mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32((__m256i)at, 28)));
}
FN vf v_table_lookup(const real *table, const u8 *indices) { return lang_table_at(table, vi_load_u8(indices)); }
FN vf v_tables_at(const real *first, const real *second, vi at)
{
    return v_sel((vm)_mm256_slli_epi32((__m256i)at, 27), lang_table_at(second, at), lang_table_at(first, at));
}
/* clang-format on */
