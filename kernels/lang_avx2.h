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
FN void lang_compress_4(real *to, const real *from, u32 lanes)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)lang_shuffles[lanes]);
    _mm_storeu_ps(to, _mm_castsi128_ps(_mm_shuffle_epi8(_mm_castps_si128(_mm_loadu_ps(from)), bytes)));
}
/* Both halves of the table are permuted; bit 3 of an index chooses the half. */
FN vf v_table_lookup(const real *table, const u8 *indices)
{
    const __m256i at = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)indices));
    const __m256 low = _mm256_permutevar8x32_ps((__m256)v_load(table), at);
    const __m256 high = _mm256_permutevar8x32_ps((__m256)v_load(table + 8), at);
    return (vf)_mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(at, 28)));
}
/* clang-format on */
