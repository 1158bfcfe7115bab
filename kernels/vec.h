/* SPDX-License-Identifier: MIT */
/* 3-vectors of lanes. The order of every sum is written out: it is part of the answer. */
#ifndef CAROM_VEC_H
#define CAROM_VEC_H
#include "lang.h"

typedef struct v3 {
    vf x, y, z;
} v3;

/* clang-format off */
FN v3 v3_of(vf x, vf y, vf z) { v3 r; r.x = x; r.y = y; r.z = z; return r; }
FN v3 v3_add(v3 a, v3 b) { return v3_of(a.x + b.x, a.y + b.y, a.z + b.z); }
FN v3 v3_sub(v3 a, v3 b) { return v3_of(a.x - b.x, a.y - b.y, a.z - b.z); }
FN v3 v3_mul(v3 a, vf s) { return v3_of(a.x * s, a.y * s, a.z * s); }
FN vf v3_dot(v3 a, v3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
FN v3 v3_cross(v3 a, v3 b)
{
    return v3_of(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
FN v3 v3_sel(vm m, v3 a, v3 b) { return v3_of(v_sel(m, a.x, b.x), v_sel(m, a.y, b.y), v_sel(m, a.z, b.z)); }
FN vi v3_magnitude(v3 a) { return vi_max(vi_max(v_magnitude(a.x), v_magnitude(a.y)), v_magnitude(a.z)); }
FN vm v3_finite(v3 a) { return v_and(v_and(v_finite(a.x), v_finite(a.y)), v_finite(a.z)); }
/* clang-format on */

/* Rounding error of fl(a - b) = d, exactly (Knuth). */
FN vf v_sub_error(vf a, vf b, vf d)
{
    const vf b_again = a - d;
    return (a - (d + b_again)) + (b_again - b);
}
FN v3 v3_sub_error(v3 a, v3 b, v3 d)
{
    return v3_of(v_sub_error(a.x, b.x, d.x), v_sub_error(a.y, b.y, d.y), v_sub_error(a.z, b.z, d.z));
}
#endif
