/* SPDX-License-Identifier: MIT */
/* Every verb of kernels/lang.h once, beside what its contract says. The left column is compiled for each instruction
 * set (lang_isa.c) and for OpenCL (lang_device.c): a, b, c are vf, i, j are vi, m is vm. The right column is compiled
 * in test_lang.c alone, for one lane: float a, b, c, int32_t i, j, m. It uses no verb; ref_ functions are in
 * test_lang.c. */
#ifndef CAROM_TESTS_BITS_LANG_VERBS_H
#define CAROM_TESTS_BITS_LANG_VERBS_H

/* clang-format off */
/* Compared as numbers: the same bits, but any NaN for a NaN. */
#define LANG_REALS(X)                                                                               \
    X(add, a + b, ref_add(a, b))                                                                    \
    X(subtract, a - b, ref_add(a, -b))                                                              \
    X(multiply, a * b, ref_multiply(a, b))                                                          \
    X(divide, a / b, ref_divide(a, b))                                                              \
    X(not_fused, a * b + c, ref_add(ref_multiply(a, b), c))                                         \
    X(v_sqrt, v_sqrt(a), ref_sqrt(a))                                                               \
    X(v_positive_zero, v_positive_zero(a), ref_bits(a) == INT32_MIN ? 0.0f : a)                     \
    X(v_infinity, v_infinity(), INFINITY)                                                           \
    X(v_largest, v_largest(), FLT_MAX)                                                              \
    X(v_scale_down, v_scale_down(vi_min(v_exponent(v_magnitude(a)), v_i(253 << 23))),               \
      ref_power(-(ref_exponent(a) < 126 ? ref_exponent(a) : 126)))                                  \
    X(v_scale_ratio, v_scale_ratio(v_exponent(v_magnitude(a)), vi_max(v_exponent(v_magnitude(b)), v_i(127 << 23))), \
      ref_ratio(ref_exponent(a) - (ref_exponent(b) > 0 ? ref_exponent(b) : 0)))                     \
    X(v_scale_ratio_up, v_scale_ratio(v_i(127 << 23), v_exponent(v_magnitude(b))), ref_ratio(-ref_exponent(b))) \
    X(v_ldexp, v_ldexp(a, v_pow2_of(i >> 22)), ref_ldexp(a, i >> 22))

/* Compared as numbers, but of two zeros either one where a GPU may answer. */
#define LANG_MINIMA(X)                             \
    X(v_min, v_min(a, b), a < b ? a : b)           \
    X(v_max, v_max(a, b), a > b ? a : b)           \
    X(v_lesser, v_lesser(v_sel(v_eq(a, a), a, b), v_sel(v_eq(b, b), b, a)), a < b || b != b ? a : b) \
    X(v_greater, v_greater(v_sel(v_eq(a, a), a, b), v_sel(v_eq(b, b), b, a)), a > b || b != b ? a : b) \
    X(v_min_where, v_min_where(m, a, b), m && a < b ? a : b) \
    X(v_max_where, v_max_where(m, a, b), m && a > b ? a : b)

/* Compared bit by bit. */
#define LANG_INTS(X)                                                                                \
    X(v_f, v_bits(v_f(R(-0.0))), INT32_MIN)                                                         \
    X(v_i, v_i(-7), -7)                                                                             \
    X(v_bits, v_bits(a), ref_bits(a))                                                               \
    X(v_from_bits, v_bits(v_from_bits(i)), i)                                                       \
    X(v_sel, v_bits(v_sel(m, a, b)), m ? ref_bits(a) : ref_bits(b))                                 \
    X(vi_sel, vi_sel(m, i, j), m ? i : j)                                                           \
    X(v_sel_or_zero, v_bits(v_sel_or_zero(m, a)), m ? ref_bits(a) : 0)                              \
    X(v_or_disjoint, v_bits(v_or_disjoint(m, a, v_sel(m, v_f(R(0.0)), b))), m ? ref_bits(a) : ref_bits(b)) \
    X(vi_max_where, vi_max_where(m, vi_sel(m, (i & 0x3fffffff) + (j & 0x3fffffff), i), j & 0x3fffffff),    \
      m ? (i & 0x3fffffff) + (j & 0x3fffffff) : j & 0x3fffffff)                                     \
    X(v_below_where, v_bits(v_below_where(m, v_from_bits(i & R_MAGNITUDE_MASK))), (i & INT32_MAX) - m)      \
    X(vi_min, vi_min(i, j), i < j ? i : j)                                                          \
    X(vi_max, vi_max(i, j), i > j ? i : j)                                                          \
    X(int_add, (i >> 1) + (j >> 1), (i >> 1) + (j >> 1))                                            \
    X(int_subtract, (i >> 1) - (j >> 1), (i >> 1) - (j >> 1))                                       \
    X(int_and, i & j, i & j)                                                                        \
    X(int_or, i | j, i | j)                                                                         \
    X(int_left, (i & 0xffff) << 9, (i & 0xffff) * 512)                                              \
    X(int_right, i >> 5, (int32_t)floor(i / 32.0))                                                  \
    X(v_magnitude, v_magnitude(a), ref_bits(fabsf(a)))                                              \
    X(v_abs, v_bits(v_abs(a)), ref_bits(fabsf(a)))                                                  \
    X(v_copysign_one, v_bits(v_copysign_one(a)), ref_bits(signbit(a) ? -1.0f : 1.0f))               \
    X(v_head, v_bits(v_head(a)), ref_head(a))                                                       \
    X(v_exponent, v_exponent(v_magnitude(a)), (ref_exponent(a) + 127) << 23)

/* 1 where the mask is set, else 0. */
#define LANG_MASKS(X)                                                                               \
    X(v_lt, v_lt(a, b), a < b)                                                                      \
    X(v_le, v_le(a, b), a <= b)                                                                     \
    X(v_gt, v_gt(a, b), a > b)                                                                      \
    X(v_ge, v_ge(a, b), a >= b)                                                                     \
    X(v_eq, v_eq(a, b), a == b)                                                                     \
    X(v_within, v_within(a, b, c), a <= b && b <= c)                                                \
    X(vi_gt, vi_gt(i, j), i > j)                                                                    \
    X(vi_eq, vi_eq(i, j), i == j)                                                                   \
    X(v_finite, v_finite(a), isfinite(a) != 0)                                                      \
    X(v_and, v_and(m, v_lt(a, b)), m && a < b)                                                      \
    X(v_or, v_or(m, v_lt(a, b)), m || a < b)                                                        \
    X(v_not, v_not(m), !m)                                                                          \
    X(v_not_twice, v_not(v_not(v_lt(a, b))), a < b)

/* One number of a group of lanes, the same in all of them; the right column is about an array g of the group's rows. */
#define LANG_GROUPS(X)                                                                              \
    X(v_any, v_any(m) != 0, group_bits(g) != 0)                                                     \
    X(v_any_of_none, v_any(v_and(m, v_not(m))) != 0, 0)                                             \
    X(v_bitmask, v_bitmask(m), group_bits(g))                                                       \
    X(v_bitmask_of_not, v_bitmask(v_not(m)), ~group_bits(g) & group_all(g))                         \
    X(bitmask_first, bitmask_first(v_bitmask(m) | 0x10000), group_first(g))                         \
    X(bitmask_last, bitmask_last(v_bitmask(m) << 1 | 1), group_last(g) + 1)                         \
    X(bitmask_count, bitmask_count(v_bitmask(m)), group_count(g))                                   \
    X(vi_reduce_min, vi_reduce_min(i), group_least_int(g))

/* What goes through memory: written out below. v_reduce_min: bits of the least lane, infinite ones and NaN left out. */
#define LANG_OTHERS(X) \
    X(v_reduce_min, , ) X(v_table_lookup, , ) X(v_tables_at, , ) X(vi_load_u8, , ) X(v_store_u8, , ) \
    X(v_compress_a, , ) X(v_compress_b, , )

#define LANG_NUMBER(name, verb, contract) VERB_##name,
enum {
    LANG_REALS(LANG_NUMBER) LANG_MINIMA(LANG_NUMBER) LANG_INTS(LANG_NUMBER) LANG_MASKS(LANG_NUMBER)
    LANG_GROUPS(LANG_NUMBER) LANG_OTHERS(LANG_NUMBER) VERBS
};

#ifdef CAROM_LANG_H /* where verbs are */
#define LANG_PUT_REAL(name, verb, contract) vi_store(out + VERB_##name * rows + at, v_bits(verb));
#define LANG_PUT_INT(name, verb, contract) vi_store(out + VERB_##name * rows + at, verb);
#define LANG_PUT_MASK(name, verb, contract) vi_store(out + VERB_##name * rows + at, vi_sel(verb, v_i(1), v_i(0)));
#define LANG_PUT_GROUP(name, verb, contract) vi_store(out + VERB_##name * rows + at, v_i((int)(verb)));
/* clang-format on */

/* Every verb on the LANES rows from `at` of columns of `rows`: out[verb * rows + row]. */
FN void lang_verbs(G const real *x, G const int *n, G const real *table, G const u8 *places, G u8 *bytes, G int *out,
                   int rows, int at)
{
    const vf a = v_load(x + at), b = v_load(x + rows + at), c = v_load(x + 2 * rows + at);
    const vi i = v_bits(v_load((G const real *)(n + at))), j = v_bits(v_load((G const real *)(n + rows + at)));
    const vm m = vi_gt(v_bits(v_load((G const real *)(n + 2 * rows + at))), v_i(0));
    LANG_REALS(LANG_PUT_REAL)
    LANG_MINIMA(LANG_PUT_REAL)
    LANG_INTS(LANG_PUT_INT)
    LANG_MASKS(LANG_PUT_MASK)
    LANG_GROUPS(LANG_PUT_GROUP)
    LANG_PUT_INT(v_reduce_min, v_bits(v_f(v_reduce_min(v_sel(v_finite(a), a, v_infinity())))), )
    LANG_PUT_REAL(v_table_lookup, v_table_lookup(table, places + at), )
    LANG_PUT_REAL(v_tables_at, v_tables_at(table, x, i & 31), )
    LANG_PUT_INT(vi_load_u8, vi_load_u8(places + at), )
    v_prefetch(x + rows, 1 << 30);
    v_store_u8(bytes + at, i & 255);
    for (int lane = 0; lane < LANES; lane++) {
        out[VERB_v_store_u8 * rows + at + lane] = bytes[at + lane];
        out[VERB_v_compress_a * rows + at + lane] = 0;
        out[VERB_v_compress_b * rows + at + lane] = 0;
    }
#ifdef LANG_HAS_COMPRESS
    LANG_ALIGNED real packed[4 * LANES];
    vf pair[2];
    pair[0] = a;
    pair[1] = b;
    v_compress(packed + 1, LANES + 3, pair, 2, v_bitmask(m));
    for (int lane = 0; lane < bitmask_count(v_bitmask(m)); lane++) {
        out[VERB_v_compress_a * rows + at + lane] = (int)real_bits(packed[1 + lane]);
        out[VERB_v_compress_b * rows + at + lane] = (int)real_bits(packed[LANES + 4 + lane]);
    }
#endif
}
#endif

#endif
