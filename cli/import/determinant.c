/* SPDX-License-Identifier: MIT */
#include "determinant.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 wide_word;

/* A number is 53 bits times a power of two from 2^LOWEST to 2^HIGHEST, a product of three 159 bits. */
enum {
    LOWEST = DBL_MIN_EXP - 2 * DBL_MANT_DIG + 1,
    HIGHEST = DBL_MAX_EXP - DBL_MANT_DIG,
    WORDS = (3 * (HIGHEST - LOWEST) + 3 * DBL_MANT_DIG + 2) / 64 + 2
};

/* A sum of products in units of 2^(3 LOWEST), the lowest word first. It holds any three of them. */
typedef struct fixed_sum {
    uint64_t word[WORDS];
} fixed_sum;

/* Add value * 2^bit. */
static void add_word(fixed_sum *sum, wide_word value, unsigned bit)
{
    uint64_t *word = sum->word + bit / 64;
    const unsigned shift = bit % 64;
    const uint64_t high = shift > 0 ? (uint64_t)(value >> (128 - shift)) : 0;
    const wide_word low = value << shift;
    wide_word carry = (wide_word)word[0] + (uint64_t)low;
    word[0] = (uint64_t)carry;
    carry = (carry >> 64) + word[1] + (uint64_t)(low >> 64);
    word[1] = (uint64_t)carry;
    carry = (carry >> 64) + word[2] + high;
    word[2] = (uint64_t)carry;
    for (unsigned i = 3; carry >> 64 > 0; i++) {
        carry = (wide_word)word[i] + 1;
        word[i] = (uint64_t)carry;
    }
}

static void add_product(fixed_sum sums[2], double a, double b, double c, int minus)
{
    const double factors[3] = {a, b, c};
    uint64_t bits[3];
    unsigned at = 0;
    for (int i = 0; i < 3; i++) {
        int exponent;
        bits[i] = (uint64_t)ldexp(fabs(frexp(factors[i], &exponent)), DBL_MANT_DIG);
        if (bits[i] == 0)
            return;
        at += (unsigned)(exponent - DBL_MANT_DIG - LOWEST);
        minus ^= signbit(factors[i]) != 0;
    }
    const wide_word two = (wide_word)bits[0] * bits[1];
    add_word(&sums[minus], (wide_word)(uint64_t)two * bits[2], at);
    add_word(&sums[minus], (wide_word)(uint64_t)(two >> 64) * bits[2], at + 64);
}

int mesh_determinant_sign(const double m[3][4])
{
    fixed_sum sums[2] = {0}; /* of products that count as plus and as minus */
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (!isfinite(m[i][k]))
                return 0;
    for (int k = 0; k < 3; k++) {
        const int next = (k + 1) % 3, last = (k + 2) % 3;
        add_product(sums, m[0][k], m[1][next], m[2][last], 0);
        add_product(sums, m[0][k], m[1][last], m[2][next], 1);
    }
    for (int i = WORDS - 1; i >= 0; i--)
        if (sums[0].word[i] != sums[1].word[i])
            return sums[0].word[i] > sums[1].word[i] ? 1 : -1;
    return 0;
}
