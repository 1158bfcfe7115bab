/* SPDX-License-Identifier: MIT */
/* The verbs in OpenCL C for one lane, where they differ from those for vectors. Included by lang_opencl.h. */

/* clang-format off */
#define LANG_LOCKSTEP /* work-items of a GPU run in lockstep: all wait while one of them takes a branch */
typedef float vf;
typedef int vi;
typedef int vm; /* 0 or 1 */
#define v_not(m) (!(m))
#define v_any(m) (m)
#define v_bitmask(m) ((u32)(m))
#define v_bits(x) as_int(x)
#define v_from_bits(x) as_float(x)
#define v_below_where(m, x) as_float(as_int(x) - (m))
#define v_load(p) (*(p))
#ifdef MESH_ITEMS /* neighbouring work-items load neighbouring numbers */
#define LANG_LOADS 1
FN void v_loads(G const real *p, vf x[LANG_LOADS]) { x[0] = *p; }
#define LANG_HAS_LESSER /* searches by teams are for NVIDIA, where these are its min.f32 and max.f32 */
FN vf v_lesser(vf a, vf b) { return fmin(a, b); }
FN vf v_greater(vf a, vf b) { return fmax(a, b); }
#else
#define LANG_LOADS 4
FN void v_loads(G const real *p, vf x[LANG_LOADS])
{
    const float4 four = *(G const float4 *)p;
    x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
}
#endif
#define v_store(p, x) (*(p) = (x))
#define vi_store(p, x) (*(p) = (x))
#define v_store_u8(p, x) (*(p) = (uchar)(x))
#define v_reduce_min(x) (x)
#define vi_reduce_min(x) (x)
#define vi_load_u8(p) ((int)*(p))
#define v_tables_at(first, second, at) ((at) < 16 ? (first) : (second))[(at)&15]
#define v_table_lookup(table, indices) ((table)[*(indices)])
/* clang-format on */
