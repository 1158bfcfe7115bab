/* SPDX-License-Identifier: MIT */
/* The verbs in OpenCL C for 4, 8 or 16 lanes, where they differ from the verbs for one lane. Included by lang_opencl.h.
 * If the compiler's target is an x86 processor, a few verbs are its own instructions: one instead of a dozen. */

/* clang-format off */
typedef LANG_CAT(float, LANES) vf;
typedef LANG_CAT(int, LANES) vi;
typedef vi vm; /* -1 or 0 */
#define v_not(m) (~(m))
#define v_bits(x) LANG_CAT(as_int, LANES)(x)
#define v_from_bits(x) LANG_CAT(as_float, LANES)(x)
#define v_below_where(m, x) v_from_bits(v_bits(x) + (m))
#define v_load(p) LANG_CAT(vload, LANES)(0, p)
#define LANG_LOADS 1
#define v_loads(p, x) ((x)[0] = v_load(p))
#define v_store(p, x) LANG_CAT(vstore, LANES)(x, 0, p)
#define vi_store(p, x) LANG_CAT(vstore, LANES)(x, 0, p)
#define v_store_u8(p, x) LANG_CAT(vstore, LANES)(LANG_CAT(convert_uchar, LANES)(x), 0, p)
#define vi_load_u8(p) LANG_CAT(convert_int, LANES)(LANG_CAT(vload, LANES)(0, p))

/* v_bitmask and v_any. */
#if LANES == 16 && defined(LANG_HAS_PREFETCH) && defined(__AVX512DQ__)
typedef int lang_ints __attribute__((vector_size(64))); /* the type that the compiler's built-in takes */
FN u32 v_bitmask(vm m) { return (ushort)__builtin_ia32_cvtd2mask512(*(const lang_ints *)&m); }
FN int v_any(vm m) { return v_bitmask(m) != 0; }
#elif LANES == 8 && defined(LANG_HAS_PREFETCH) && defined(__AVX__)
typedef float lang_reals __attribute__((vector_size(32)));
FN u32 v_bitmask(vm m) { return (u32)__builtin_ia32_movmskps256(*(const lang_reals *)&m); }
FN int v_any(vm m) { return v_bitmask(m) != 0; }
#else
/* Halves or-ed together: any() is a chain of branches on some CPUs. */
FN int lang_or_2(int2 m) { return m.lo | m.hi; }
FN int lang_or_4(int4 m) { return lang_or_2(m.lo | m.hi); }
FN int lang_or_8(int8 m) { return lang_or_4(m.lo | m.hi); }
FN int lang_or_16(int16 m) { return lang_or_8(m.lo | m.hi); }
FN int lang_bitmask_4(int4 m) { return lang_or_4(m & (int4)(1, 2, 4, 8)); }
FN int lang_bitmask_8(int8 m) { return lang_or_8(m & (int8)(1, 2, 4, 8, 16, 32, 64, 128)); }
FN int lang_bitmask_16(int16 m) { return lang_bitmask_8(m.lo) | lang_bitmask_8(m.hi) << 8; }
FN u32 v_bitmask(vm m) { return (u32)LANG_CAT(lang_bitmask_, LANES)(m); }
FN int v_any(vm m) { return LANG_CAT(lang_or_, LANES)(m) != 0; }
#endif

/* Least lane: half of the lanes against the other half until two are left. */
FN float lang_min_2(float2 a) { return a.lo < a.hi ? a.lo : a.hi; }
FN float lang_min_4(float4 a) { return lang_min_2(a.lo < a.hi ? a.lo : a.hi); }
FN float lang_min_8(float8 a) { return lang_min_4(a.lo < a.hi ? a.lo : a.hi); }
FN float lang_min_16(float16 a) { return lang_min_8(a.lo < a.hi ? a.lo : a.hi); }
FN int lang_min_i2(int2 a) { return a.lo < a.hi ? a.lo : a.hi; }
FN int lang_min_i4(int4 a) { return lang_min_i2(a.lo < a.hi ? a.lo : a.hi); }
FN int lang_min_i8(int8 a) { return lang_min_i4(a.lo < a.hi ? a.lo : a.hi); }
FN int lang_min_i16(int16 a) { return lang_min_i8(a.lo < a.hi ? a.lo : a.hi); }
#define v_reduce_min(x) LANG_CAT(lang_min_, LANES)(x)
#define vi_reduce_min(x) LANG_CAT(lang_min_i, LANES)(x)

#if LANES == 16 && defined(LANG_HAS_PREFETCH) && defined(__AVX512F__)
#define LANG_HAS_COMPRESS
typedef float lang_row __attribute__((vector_size(64), aligned(4))); /* the types that the compiler's built-ins take */
typedef int lang_indices __attribute__((vector_size(64)));
FN void v_compress(real *to, int stride, const vf *rows, int count, u32 lanes)
{
    const vf zero = (vf)(0.0f);
    LANG_UNROLL
    for (int k = 0; k < count; k++)
        *(lang_row *)(to + k * stride) =
            __builtin_ia32_compresssf512_mask(*(const lang_row *)(rows + k), *(const lang_row *)&zero, (ushort)lanes);
}
#define v_table_lookup(table, indices) lang_permute(v_load(table), vi_load_u8(indices))
#define v_tables_at(first, second, at) \
    v_sel((at) < 16, lang_permute(v_load(first), at), lang_permute(v_load(second), at))
FN vf lang_permute(vf from, vi at)
{
    vf picked;
    *(lang_row *)&picked = __builtin_ia32_permvarsf512(*(const lang_row *)&from, *(const lang_indices *)&at);
    return picked;
}
#else
FN vf v_tables_at(G const real *first, G const real *second, vi at)
{
    int slot[LANES];
    real picked[LANES];
    vi_store(slot, at);
    LANG_UNROLL
    for (int lane = 0; lane < LANES; lane++)
        picked[lane] = (slot[lane] < 16 ? first : second)[slot[lane] & 15];
    return v_load(picked);
}
FN vf v_table_lookup(G const real *table, G const u8 *indices)
{
    real picked[LANES];
    LANG_UNROLL
    for (int lane = 0; lane < LANES; lane++)
        picked[lane] = table[indices[lane]];
    return v_load(picked);
}
#endif
/* clang-format on */
