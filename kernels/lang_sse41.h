/* SPDX-License-Identifier: MIT */
/* The verbs for SSE4.1, 4 lanes. Included by lang_c.h. */
#include <smmintrin.h>
#include "lang_vector_mask.h"

/* clang-format off */
FN int v_any(vm m) { return _mm_movemask_ps((__m128)m) != 0; }
FN u32 v_bitmask(vm m) { return (u32)_mm_movemask_ps((__m128)m); }
FN vf v_sel(vm m, vf a, vf b) { return (vf)_mm_blendv_ps((__m128)b, (__m128)a, (__m128)m); }
FN vi vi_sel(vm m, vi a, vi b) { return (vi)_mm_blendv_ps((__m128)b, (__m128)a, (__m128)m); }
FN vf v_sqrt(vf x) { return (vf)_mm_sqrt_ps((__m128)x); }
FN vf v_min(vf a, vf b) { return (vf)_mm_min_ps((__m128)a, (__m128)b); }
FN vf v_max(vf a, vf b) { return (vf)_mm_max_ps((__m128)a, (__m128)b); }
FN vi vi_max(vi a, vi b) { return (vi)_mm_max_epi32((__m128i)a, (__m128i)b); }
FN vi vi_max_where(vm m, vi a, vi b) { return vi_max(m & a, b); }
FN void lang_compress_4(real *to, const real *from, u32 lanes)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)lang_shuffles[lanes]);
    _mm_storeu_ps(to, _mm_castsi128_ps(_mm_shuffle_epi8(_mm_castps_si128(_mm_loadu_ps(from)), bytes)));
}
/* clang-format on */
