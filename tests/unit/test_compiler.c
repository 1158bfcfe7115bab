/* SPDX-License-Identifier: MIT */
/* What the compiler did wrong once, with the flags of the library. gcc 12.2 without -fno-delete-null-pointer-checks
 * takes list_corners for a function that stores nothing. Its caller then reads the zeros that were in the list. */
#include "tests/support/support.h"

enum { WIDTH = 16, CORNERS = 3 * WIDTH };

typedef struct leaf {
    int triangle[WIDTH];
    unsigned char corner[3][WIDTH];
} leaf;

typedef struct table {
    const uint32_t *position;
} table;

typedef struct tables {
    const table *first;
} tables;

__attribute__((noinline)) static int list_corners(const tables *t, const leaf *l, int all, uint32_t *list)
{
    uint32_t seen = 0;
    int count = 0;
    for (int slot = 0; slot < WIDTH && l->triangle[slot] >= 0; slot++)
        for (int k = 0; k < 3; k++) {
            const uint32_t bit = all ? 0 : 1u << l->corner[k][slot];
            if ((seen & bit) == 0)
                list[count++] = t->first->position[3 * (size_t)(uint32_t)l->triangle[slot] + (size_t)k];
            seen |= bit;
        }
    return count;
}

__attribute__((noinline)) static uint32_t sum_of_corners(const tables *t, const leaf *l, int all)
{
    uint32_t list[CORNERS] = {0}, sum = 0;
    for (int i = list_corners(t, l, all, list); i-- > 0;)
        sum += list[i];
    return sum;
}

static void test_stores_are_seen(void **state)
{
    (void)state;
    leaf l;
    uint32_t position[CORNERS];
    for (int i = 0; i < CORNERS; i++)
        position[i] = 1;
    for (int i = 0; i < WIDTH; i++) {
        l.triangle[i] = i;
        for (int k = 0; k < 3; k++)
            l.corner[k][i] = (unsigned char)((i + k) % WIDTH);
    }
    const table first = {position};
    const tables t = {&first};
    assert_int_equal(sum_of_corners(&t, &l, 0), WIDTH);
    assert_int_equal(sum_of_corners(&t, &l, 1), CORNERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stores_are_seen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
