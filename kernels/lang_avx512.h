/* SPDX-License-Identifier: MIT */
/* The verbs for AVX-512 (F, DQ, BW, VL), 16 lanes: masks are registers of their own. Included by lang_c.h. */
#include <immintrin.h>

/* clang-format off */
typedef __mmask16 vm; /* a bit for each lane */
FN vm v_not(vm m) { return (vm)~m; }
FN int v_any(vm m) { return m != 0; }
FN u32 v_bitmask(vm m) { return m; }
FN vf v_sel(vm m, vf a, vf b) { return (vf)_mm512_mask_blend_ps(m, (__m512)b, (__m512)a); }
FN vi vi_sel(vm m, vi a, vi b) { return (vi)_mm512_mask_blend_epi32(m, (__m512i)b, (__m512i)a); }
FN vf v_below_where(vm m, vf x)
{
    return (vf)_mm512_mask_sub_epi32((__m512i)x, m, (__m512i)x, _mm512_set1_epi32(1));
}
FN vi vi_max_where(vm m, vi a, vi b) { return vi_sel(m, a, b); }
FN vf v_sel_or_zero(vm m, vf a) { return (vf)_mm512_maskz_mov_ps(m, (__m512)a); }
FN vf v_or_disjoint(vm m, vf a, vf b) { return v_sel(m, a, b); }
FN vm v_lt(vf a, vf b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ); }
FN vm v_le(vf a, vf b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LE_OQ); }
FN vm v_eq(vf a, vf b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_EQ_OQ); }
FN vm vi_gt(vi a, vi b) { return _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b); }
FN vm vi_eq(vi a, vi b) { return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b); }
FN vf v_sqrt(vf x) { return (vf)_mm512_sqrt_ps((__m512)x); }
FN vf v_min(vf a, vf b) { return (vf)_mm512_min_ps((__m512)a, (__m512)b); }
FN vf v_max(vf a, vf b) { return (vf)_mm512_max_ps((__m512)a, (__m512)b); }
FN vf v_min_where(vm m, vf a, vf b) { return (vf)_mm512_mask_min_ps((__m512)b, m, (__m512)a, (__m512)b); }
FN vf v_max_where(vm m, vf a, vf b) { return (vf)_mm512_mask_max_ps((__m512)b, m, (__m512)a, (__m512)b); }
FN vi vi_max(vi a, vi b) { return (vi)_mm512_max_epi32((__m512i)a, (__m512i)b); }
FN void v_store_u8(u8 *p, vi x) { _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtepi32_epi8((__m512i)x)); }
FN real v_reduce_min(vf x) { return _mm512_reduce_min_ps((__m512)x); }
FN int vi_reduce_min(vi x) { return _mm512_reduce_min_epi32((__m512i)x); }
FN vi vi_load_u8(const u8 *p)
{
    return (vi)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}
FN vf v_table_lookup(const real *table, const u8 *indices)
{
    return (vf)_mm512_permutexvar_ps((__m512i)vi_load_u8(indices), (__m512)v_load(table));
}
FN vf v_tables_at(const real *first, const real *second, vi at)
{
    return (vf)_mm512_permutex2var_ps((__m512)v_load(first), (__m512i)at, (__m512)v_load(second));
}
#define LANG_HAS_COMPRESS
FN void v_compress(real *to, int stride, const vf *rows, int count, u32 lanes)
{
    LANG_UNROLL
    for (int k = 0; k < count; k++)
        v_store(to + k * stride, (vf)_mm512_maskz_compress_ps((__mmask16)lanes, (__m512)rows[k]));
}
/* clang-format on */
