/* SPDX-License-Identifier: MIT */
/* The verbs for NEON on 64-bit ARM, 4 lanes. Included by lang_c.h. */
#include <arm_neon.h>
#include "lang_vector_mask.h"

/* clang-format off */
FN int v_any(vm m) { return vmaxvq_u32((uint32x4_t)m) != 0; }
FN u32 v_bitmask(vm m) { return vaddvq_u32((uint32x4_t)(m & (vi){1, 2, 4, 8})); }
FN vf v_sel(vm m, vf a, vf b) { return (vf)vbslq_f32((uint32x4_t)m, (float32x4_t)a, (float32x4_t)b); }
FN vi vi_sel(vm m, vi a, vi b) { return (vi)vbslq_s32((uint32x4_t)m, (int32x4_t)a, (int32x4_t)b); }
FN vf v_sqrt(vf x) { return (vf)vsqrtq_f32((float32x4_t)x); }
FN vf v_min(vf a, vf b) { return v_sel(a < b, a, b); } /* vminq differs for NaN and -0 */
FN vf v_max(vf a, vf b) { return v_sel(a > b, a, b); }
FN vi vi_max(vi a, vi b) { return (vi)vmaxq_s32((int32x4_t)a, (int32x4_t)b); }
FN vi vi_max_where(vm m, vi a, vi b) { return vi_sel(m, a, b); }
FN void lang_compress_4(real *to, const real *from, u32 lanes)
{
    vst1q_u8((u8 *)to, vqtbl1q_u8(vld1q_u8((const u8 *)from), vld1q_u8(lang_shuffles[lanes])));
}
/* clang-format on */
