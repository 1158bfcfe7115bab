/* SPDX-License-Identifier: MIT */
/* The sign of a determinant, against integers of 128 bits. A power of two on each row and column does not change it, so
 * the same matrices are asked for with numbers from the smallest to the largest of binary64. */
#include "cli/import/determinant.h"
#include "tests/support/support.h"

#include <float.h>
#include <math.h>

__extension__ typedef __int128 wide;

/* Numbers below 2^39: a product of three, and a sum of six, fit. */
static int sign_of(int64_t m[3][3])
{
    wide sum = 0;
    for (int k = 0; k < 3; k++) {
        const int next = (k + 1) % 3, last = (k + 2) % 3;
        sum += (wide)m[0][k] * ((wide)m[1][next] * m[2][last] - (wide)m[1][last] * m[2][next]);
    }
    return sum > 0 ? 1 : sum < 0 ? -1 : 0;
}

static int64_t draw(ref_gen *g, int bits)
{
    const int64_t magnitude = (int64_t)(ref_gen_bits(g) >> (64 - bits));
    return ref_gen_bits(g) & 1 ? magnitude : -magnitude;
}

/* A third row that is nearly, or just, a sum of the others. */
static void draw_matrix(ref_gen *g, int64_t m[3][3])
{
    const int kind = (int)(ref_gen_bits(g) % 4), bits = kind == 0 ? 39 : 1 + (int)(ref_gen_bits(g) % 36);
    const int64_t a = draw(g, 2), b = draw(g, 1);
    for (int k = 0; k < 3; k++) {
        m[0][k] = draw(g, bits);
        m[1][k] = draw(g, bits);
        m[2][k] = kind == 0 ? draw(g, bits) : a * m[0][k] + b * m[1][k];
    }
    if (kind == 1)
        m[2][ref_gen_bits(g) % 3] += draw(g, 2);
}

static void test_random_matrices(void **state)
{
    ref_gen g;
    unsigned seen[3] = {0};
    (void)state;
    ref_gen_seed(&g, 44, 0, 0);
    for (int i = 0; i < 200000; i++) {
        int64_t whole[3][3];
        double m[3][4] = {{0}};
        int rows[3], columns[3];
        draw_matrix(&g, whole);
        for (int k = 0; k < 3; k++) {
            rows[k] = i % 2 ? (int)(ref_gen_bits(&g) % 980) - 490 : 0;
            columns[k] = i % 4 ? (int)(ref_gen_bits(&g) % 980) - 490 : i % 8 ? -1074 : 984;
            rows[k] = i % 4 ? rows[k] : 0;
        }
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++)
                m[r][k] = ldexp((double)whole[r][k], rows[r] + columns[k]);
        const int wanted = sign_of(whole), got = mesh_determinant_sign(m);
        seen[wanted + 1]++;
        if (got != wanted)
            fail_msg("matrix %d: %d, not %d: %a %a %a, %a %a %a, %a %a %a", i, got, wanted, m[0][0], m[0][1], m[0][2],
                     m[1][0], m[1][1], m[1][2], m[2][0], m[2][1], m[2][2]);
    }
    assert_true(seen[0] > 10000 && seen[1] > 10000 && seen[2] > 10000);
}

static void test_ends(void **state)
{
    const double large = DBL_MAX, small = 0x1p-1074;
    (void)state;
    assert_int_equal(mesh_determinant_sign((const double[3][4]){{large}, {0, large}, {0, 0, large}}), 1);
    assert_int_equal(mesh_determinant_sign((const double[3][4]){{large}, {0, 0, large}, {0, large}}), -1);
    assert_int_equal(mesh_determinant_sign((const double[3][4]){{small}, {0, small}, {0, 0, -small}}), -1);
    assert_int_equal(mesh_determinant_sign((const double[3][4]){{-small}, {0, -small}, {0, 0, small}}), 1);
    assert_int_equal(mesh_determinant_sign((const double[3][4]){{-0.0, 1}, {0, -0.0}, {0, 0, 1}}), 0);
    /* All six products are of the largest number, in both signs. */
    assert_int_equal(mesh_determinant_sign(
                         (const double[3][4]){{large, large, large}, {large, large, large}, {large, large, large}}),
                     0);
    assert_int_equal(
        mesh_determinant_sign((const double[3][4]){{large, -large, 0}, {large, large, -large}, {large, large, large}}),
        1);
    assert_int_equal(mesh_determinant_sign((const double[3][4]){{HUGE_VAL}, {0, 1}, {0, 0, -1}}), 0);
    assert_int_equal(mesh_determinant_sign((const double[3][4]){{(double)NAN, 1}, {1, 0}, {0, 0, 1}}), 0);
    /* The fourth column is a shift. */
    assert_int_equal(mesh_determinant_sign((const double[3][4]){{1, 0, 0, -large}, {0, 1}, {0, 0, 1, (double)NAN}}), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_matrices), cmocka_unit_test(test_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
