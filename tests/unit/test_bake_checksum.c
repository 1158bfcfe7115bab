/* SPDX-License-Identifier: MIT */
/* The checksum of journals and parts is XXH64: known answers, and every byte and length counts. */
#include "cli/bake/bake.h"
#include "tests/support/support.h"

#include <string.h>

/* By the reference implementation (xxhsum -H64). */
static void known_answers(void **state)
{
    unsigned char bytes[200];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(37 * i);
    assert_true(bake_checksum(bytes, 32, 0) == UINT64_C(0x2c1f2ffa2ace16d3));
    assert_true(bake_checksum(bytes, 63, 0) == UINT64_C(0x2c9d78b9323007f3));
    assert_true(bake_checksum(bytes, 200, 0) == UINT64_C(0x1c760183c44e5e90));
    assert_true(bake_checksum("", 0, 0) == UINT64_C(0xef46db3751d8e999));
    assert_true(bake_checksum("a", 1, 0) == UINT64_C(0xd24ec4f1a98c6e5b));
    assert_true(bake_checksum("abc", 3, 0) == UINT64_C(0x44bc2cf5ad770999));
}

static void every_byte_counts(void **state)
{
    unsigned char bytes[200];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(37 * i);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        const uint64_t sum = bake_checksum(bytes, size, 7);
        assert_true(size == 0 || sum != bake_checksum(bytes, size - 1, 7));
        assert_true(sum != bake_checksum(bytes, size, 8));
        for (size_t i = 0; i < size; i++) {
            bytes[i] ^= 0x10;
            assert_true(sum != bake_checksum(bytes, size, 7));
            bytes[i] ^= 0x10;
        }
    }
}

static void numbers_are_little_endian(void **state)
{
    unsigned char bytes[8];
    (void)state;
    bake_put64(bytes, UINT64_C(0x0807060504030201));
    for (int i = 0; i < 8; i++)
        assert_int_equal(bytes[i], i + 1);
    assert_true(bake_get64(bytes) == UINT64_C(0x0807060504030201));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(every_byte_counts),
        cmocka_unit_test(numbers_are_little_endian),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
