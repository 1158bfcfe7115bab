/* SPDX-License-Identifier: MIT */
/* The verbs in scalar C, one lane: tests compare every other spelling with this one. Included by lang_c.h. */

/* clang-format off */
typedef int vm; /* 0 or 1 */
FN vf v_f(real x) { return x; }
FN vi v_i(int x) { return x; }
FN vi v_bits(vf x) { vi r; memcpy(&r, &x, sizeof r); return r; }
FN vf v_from_bits(vi x) { vf r; memcpy(&r, &x, sizeof r); return r; }
FN vf v_sqrt(vf x) { return __builtin_sqrtf(x); }
FN vm v_not(vm m) { return !m; }
FN int v_any(vm m) { return m; }
FN u32 v_bitmask(vm m) { return (u32)m; }
FN vf v_sel(vm m, vf a, vf b) { return m ? a : b; }
FN vi vi_sel(vm m, vi a, vi b) { return m ? a : b; }
FN vf v_below_where(vm m, vf x) { return real_of_bits(real_bits(x) - (u32)m); }
FN vi vi_max_where(vm m, vi a, vi b) { return m ? a : b; }
FN vf v_sel_or_zero(vm m, vf a) { return m ? a : 0.0f; }
FN vf v_or_disjoint(vm m, vf a, vf b) { return m ? a : b; }
FN vm v_lt(vf a, vf b) { return a < b; }
FN vm v_le(vf a, vf b) { return a <= b; }
FN vm v_eq(vf a, vf b) { return a == b; }
FN vm vi_gt(vi a, vi b) { return a > b; }
FN vm vi_eq(vi a, vi b) { return a == b; }
FN vf v_min(vf a, vf b) { return a < b ? a : b; }
FN vf v_max(vf a, vf b) { return a > b ? a : b; }
FN vf v_min_where(vm m, vf a, vf b) { return (m & (a < b)) ? a : b; }
FN vf v_max_where(vm m, vf a, vf b) { return (m & (a > b)) ? a : b; }
FN vi vi_max(vi a, vi b) { return a > b ? a : b; }
FN void v_store_u8(u8 *p, vi x) { *p = (u8)x; }
FN real v_reduce_min(vf x) { return x; }
FN int vi_reduce_min(vi x) { return x; }
FN vi vi_load_u8(const u8 *p) { return *p; }
FN vf v_tables_at(const real *first, const real *second, vi at) { return (at < 16 ? first : second)[at & 15]; }
FN vf v_table_lookup(const real *table, const u8 *indices) { return table[indices[0]]; }
/* clang-format on */
