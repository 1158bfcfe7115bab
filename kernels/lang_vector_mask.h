/* SPDX-License-Identifier: MIT */
/* The verbs that SSE4.1, AVX2 and NEON share, because a mask is a vector of 0 and -1 there. Included at the beginning
 * of their spellings. */

/* clang-format off */
typedef vi vm; /* -1 or 0 */
FN vm v_not(vm m) { return ~m; }
FN vf v_sel_or_zero(vm m, vf a) { return (vf)(m & (vi)a); }
FN vf v_or_disjoint(vm m, vf a, vf b) { return (vf)((m & (vi)a) | (vi)b); }
FN vf v_min(vf a, vf b);
FN vf v_max(vf a, vf b);
/* `a` is NaN where not m, so that v_min and v_max are b. */
FN vf v_min_where(vm m, vf a, vf b) { return v_min((vf)((vi)a | ~m), b); }
FN vf v_max_where(vm m, vf a, vf b) { return v_max((vf)((vi)a | ~m), b); }
FN vf v_below_where(vm m, vf x) { return (vf)((vi)x + m); }
FN vm v_lt(vf a, vf b) { return a < b; }
FN vm v_le(vf a, vf b) { return a <= b; }
FN vm v_eq(vf a, vf b) { return a == b; }
FN vm vi_gt(vi a, vi b) { return a > b; }
FN vm vi_eq(vi a, vi b) { return a == b; }
typedef u8 lang_bytes __attribute__((vector_size(LANES)));
FN void v_store_u8(u8 *p, vi x)
{
    const lang_bytes b = __builtin_convertvector(x, lang_bytes);
    memcpy(p, &b, sizeof b);
}
FN real v_reduce_min(vf x)
{
    real lane[LANES], least;
    v_store(lane, x);
    least = lane[0];
    for (int i = 1; i < LANES; i++)
        least = lane[i] < least ? lane[i] : least;
    return least;
}
FN int vi_reduce_min(vi x)
{
    int lane[LANES], least;
    vi_store(lane, x);
    least = lane[0];
    for (int i = 1; i < LANES; i++)
        least = lane[i] < least ? lane[i] : least;
    return least;
}
#if LANES == 4 /* AVX2 has instructions for all of these */
FN vi vi_load_u8(const u8 *p)
{
    lang_bytes b;
    memcpy(&b, p, sizeof b);
    return __builtin_convertvector(b, vi);
}
FN vf v_tables_at(const real *first, const real *second, vi at)
{
    vf picked;
    real lane[LANES];
    LANG_UNROLL
    for (int i = 0; i < LANES; i++)
        lane[i] = (at[i] < 16 ? first : second)[at[i] & 15];
    memcpy(&picked, lane, sizeof picked);
    return picked;
}
FN vf v_table_lookup(const real *table, const u8 *indices)
{
    vf picked;
    real lane[LANES];
    LANG_UNROLL
    for (int i = 0; i < LANES; i++)
        lane[i] = table[indices[i]];
    memcpy(&picked, lane, sizeof picked);
    return picked;
}

/* The shuffle of bytes that compresses four lanes, for each bitmask of them. */
#define LANG_LANE(i) 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3
#define LANG_SHUFFLE(a, b, c, d) {LANG_LANE(a), LANG_LANE(b), LANG_LANE(c), LANG_LANE(d)}
static const u8 lang_shuffles[16][16] = {
    LANG_SHUFFLE(0, 0, 0, 0), LANG_SHUFFLE(0, 0, 0, 0), LANG_SHUFFLE(1, 0, 0, 0), LANG_SHUFFLE(0, 1, 0, 0),
    LANG_SHUFFLE(2, 0, 0, 0), LANG_SHUFFLE(0, 2, 0, 0), LANG_SHUFFLE(1, 2, 0, 0), LANG_SHUFFLE(0, 1, 2, 0),
    LANG_SHUFFLE(3, 0, 0, 0), LANG_SHUFFLE(0, 3, 0, 0), LANG_SHUFFLE(1, 3, 0, 0), LANG_SHUFFLE(0, 1, 3, 0),
    LANG_SHUFFLE(2, 3, 0, 0), LANG_SHUFFLE(0, 2, 3, 0), LANG_SHUFFLE(1, 2, 3, 0), LANG_SHUFFLE(0, 1, 2, 3)};
#define LANG_HAS_COMPRESS
/* Moves the reals in the bitmask `lanes` to the front of four; stores four. Each spelling defines it. */
FN void lang_compress_4(real *to, const real *from, u32 lanes);
FN void v_compress(real *to, int stride, const vf *rows, int count, u32 lanes)
{
    LANG_UNROLL
    for (int k = 0; k < count; k++)
        lang_compress_4(to + k * stride, (const real *)(rows + k), lanes);
}
#endif
/* clang-format on */
