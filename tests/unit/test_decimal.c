/* SPDX-License-Identifier: MIT */
/* Decimal text to binary32 and back (cli/base/decimal.c) against strtof and printf of the C library: every exponent,
 * powers of ten and their neighbours, ties, texts of any number of digits. The table of powers against whole numbers.
 */
#include "tests/support/support.h"
#include "cli/base/decimal.h"

#include <math.h>

enum { SEED = 29, EACH_EXPONENT = 400, TEXTS = 400000 };

static uint32_t next_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum { WORDS = 12 }; /* of 32 bits, the lowest first */

static int bit_of(const uint32_t *number, int i)
{
    return i >= 0 && i < 32 * WORDS ? number[i / 32] >> i % 32 & 1 : 0;
}

static int bits_in(const uint32_t *number)
{
    int n = 32 * WORDS;
    while (n > 0 && !bit_of(number, n - 1))
        n--;
    return n;
}

static void times(uint32_t *number, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < WORDS; i++) {
        carry += (uint64_t)number[i] * factor;
        number[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static uint32_t divide(uint32_t *number, uint32_t divisor)
{
    uint64_t rest = 0;
    for (int i = WORDS; i-- > 0;) {
        rest = rest << 32 | number[i];
        number[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    return (uint32_t)rest;
}

/* 10^k for k >= 0, else floor(2^320 / 10^-k): both have more bits than the table, or all. */
static void power_of_ten(int k, uint32_t *number)
{
    memset(number, 0, WORDS * sizeof *number);
    number[k < 0 ? 10 : 0] = 1;
    for (int i = 0; i < k; i++)
        times(number, 10);
    for (int i = 0; i < -k; i++)
        divide(number, 10);
}

static void test_powers(void **state)
{
    (void)state;
    for (int k = DECIMAL_POWER_MIN; k <= DECIMAL_POWER_MAX; k++) {
        uint32_t number[WORDS];
        uint64_t upper = 0;
        int q;
        power_of_ten(k, number);
        const int bits = bits_in(number);
        for (int i = 1; i <= 64; i++)
            upper = upper << 1 | (uint64_t)bit_of(number, bits - i);
        assert_true(decimal_power(k, &q) == upper);
        assert_int_equal(q, bits - 64 - (k < 0 ? 320 : 0));
        assert_true((k >= 0 && k <= 10) == ((upper & 0xffffffffff) == 0)); /* what decimal_exponent relies on */
    }
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void check_written(float value)
{
    char got[DECIMAL_MAX], expected[64];
    const size_t length = decimal_write(got, value);
    const int wanted = snprintf(expected, sizeof expected, "%.9g", (double)value);
    if ((int)length != wanted || memcmp(got, expected, length) != 0)
        fail_msg("%a: %.*s, not %s", (double)value, (int)length, got, expected);
    float back;
    const char *end = decimal_read(got, got + length, &back);
    const float read = strtof(expected, NULL);
    if (end && (end != got + length || memcmp(&back, &read, sizeof read) != 0))
        fail_msg("%s: read as %a, not %a", expected, (double)back, (double)read);
}

static void check_near(uint32_t bits)
{
    for (uint32_t i = 0; i < 7; i++) {
        check_written(from_bits(bits + i - 3));
        check_written(from_bits((bits + i - 3) | 0x80000000));
    }
}

static void test_every_exponent(void **state)
{
    (void)state;
    uint64_t random = SEED;
    for (uint32_t exponent = 0; exponent < 256; exponent++) {
        check_near(exponent << 23);
        for (uint32_t bit = 0; bit < 23; bit++)
            check_near(exponent << 23 | 1u << bit);
        for (size_t i = 0; i < test_effort(EACH_EXPONENT); i++)
            check_written(from_bits(exponent << 23 | (next_bits(&random) & 0x807fffff)));
    }
}

static void test_powers_and_ties(void **state)
{
    (void)state;
    for (int k = -45; k <= 38; k++) {
        char text[16];
        uint32_t bits;
        snprintf(text, sizeof text, "1e%d", k);
        const float power = strtof(text, NULL);
        memcpy(&bits, &power, sizeof bits);
        check_near(bits);
    }
    /* 1 + odd / 2^n has n decimals, so that for n > 8 many lie between two numbers of nine digits. */
    for (int places = 0; places < 24; places++)
        for (uint32_t odd = 1; odd < 512; odd += 2) {
            check_written(1.0f + ldexpf((float)odd, -places));
            check_written(ldexpf((float)(odd + 8192), -places));
        }
    for (uint32_t whole = 0; whole < 4096; whole++) {
        check_written((float)whole);
        check_written((float)whole * 0.125f);
        check_written((float)whole * 262144.0f);
    }
    check_written(0.0f);
    check_written(-0.0f);
    check_written(INFINITY);
    check_written(-INFINITY);
    check_written(NAN);
    check_written(-NAN);
}

static void test_integers(void **state)
{
    (void)state;
    static const int64_t values[] = {0, 1, -1, 9, 10, -10, 99, 1000000, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        char got[DECIMAL_MAX], expected[32];
        const size_t length = decimal_write_integer(got, values[i]);
        got[length] = '\0';
        snprintf(expected, sizeof expected, "%lld", (long long)values[i]);
        assert_string_equal(got, expected);
    }
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* In memory that ends behind the text. Returns whether the answer was given here. */
static int check_read(const char *text)
{
    const size_t length = strlen(text);
    char *copy = malloc(length + 1), *stop;
    float value = 0.0f;
    assert_non_null(copy);
    memcpy(copy, text, length);
    const char *end = decimal_read(copy, copy + length, &value);
    const float expected = strtof(text, &stop);
    if (end && (end - copy != stop - text || memcmp(&value, &expected, sizeof value) != 0))
        fail_msg("%s: %a behind %td bytes, not %a behind %td", text, (double)value, end - copy, (double)expected,
                 stop - text);
    free(copy);
    return end != NULL;
}

static void test_texts(void **state)
{
    (void)state;
    static const char *const taken[] = {"0",
                                        "-0",
                                        "+0",
                                        "0e99999999999999999999",
                                        "1.",
                                        ".5",
                                        "-.5e1",
                                        "1e0",
                                        "1E+05",
                                        "1e-0000000000000000000001",
                                        "0.00000000000000000000000000000000012345678901234567e3",
                                        "9999999999999999999",
                                        "1234567890123456789e-40",
                                        "3.4028234e38",
                                        "1.1754945e-38",
                                        "1,2",
                                        "1 "};
    static const char *const left[] = {"",
                                       "-",
                                       "+-1",
                                       "--1",
                                       ".",
                                       "e5",
                                       "1e",
                                       "1e+",
                                       "inf",
                                       "nan",
                                       " 1",
                                       "3.4028236e38",
                                       "1e39",
                                       "1e-38",
                                       "1.17549435e-38",
                                       "1e-999999999999999999999",
                                       "16777217",
                                       "16777219",
                                       "12345678901234567890",
                                       "0.50000002980232238769531250"};
    for (size_t i = 0; i < COUNT_OF(taken); i++)
        if (!check_read(taken[i]))
            fail_msg("%s: was left", taken[i]);
    for (size_t i = 0; i < COUNT_OF(left); i++)
        if (check_read(left[i]))
            fail_msg("%s: was taken", left[i]);
    const char hex[] = "0x1p3"; /* for the caller to see that there is more */
    float zero;
    assert_ptr_equal(decimal_read(hex, hex + 5, &zero), hex + 1);
}

static void test_random_texts(void **state)
{
    (void)state;
    uint64_t random = SEED;
    size_t taken = 0;
    const size_t count = test_effort(TEXTS);
    for (size_t i = 0; i < count; i++) {
        char text[96];
        const int digits = 1 + (int)(next_bits(&random) % 24), point = (int)(next_bits(&random) % 25);
        size_t used = (size_t)snprintf(text, sizeof text, "%s", next_bits(&random) & 1 ? "-" : "");
        for (int k = 0; k < digits; k++) {
            if (k == point)
                text[used++] = '.';
            text[used++] = (char)('0' + next_bits(&random) % 10);
        }
        text[used] = '\0';
        if (next_bits(&random) & 1)
            snprintf(text + used, sizeof text - used, "e%d", (int)(next_bits(&random) % 110) - 55);
        taken += (size_t)check_read(text);
    }
    test_share("texts that are numbers", taken, count, 1.0 / 3, 1.0);
}

/* What lies between two floats, exactly and within the digits of a double or of 64 bits. */
static void test_midpoints(void **state)
{
    (void)state;
    uint64_t random = SEED;
    for (size_t i = 0; i < test_effort(TEXTS / 4); i++) {
        const float low = from_bits(next_bits(&random) % 0x7f7fffff);
        const double middle = 0.5 * ((double)low + (double)nextafterf(low, INFINITY));
        char text[96];
        for (int digits = 8; digits <= 19; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, middle);
            check_read(text);
        }
        snprintf(text, sizeof text, "%.60g", middle);
        check_read(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_powers),          cmocka_unit_test(test_every_exponent),
                                       cmocka_unit_test(test_powers_and_ties), cmocka_unit_test(test_integers),
                                       cmocka_unit_test(test_texts),           cmocka_unit_test(test_random_texts),
                                       cmocka_unit_test(test_midpoints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
