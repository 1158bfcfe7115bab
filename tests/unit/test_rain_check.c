/* SPDX-License-Identifier: MIT */
/* The checker of examples/rain against integers: tetrahedra and points whose coordinates are whole numbers that
 * binary32 holds, on edges, faces and corners too. */
#include "tests/support/support.h"

#include "examples/rain/rain.h"

#include <stdlib.h>
#include <string.h>

void *rain_alloc(uint64_t count, size_t size)
{
    return calloc(count, size);
}

int rain_fail(const char *format, ...)
{
    (void)format;
    return 0;
}

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A whole number from -size to size of 24 bits and a power of two: as large as the size, or far smaller. */
static int64_t draw_number(uint64_t *seed, int64_t size)
{
    const uint64_t smaller = draw(seed) % 3 == 0 ? draw(seed) % 24 : 0;
    return (int64_t)(float)((int64_t)(draw(seed) % (uint64_t)(2 * size + 1) - (uint64_t)size) >> smaller);
}

/* Of which side of a plane p is: products of three differences of 41 bits. */
static int side(const int64_t *a, const int64_t *b, const int64_t *c, const int64_t *p)
{
    __int128 u[3], v[3], w[3];
    for (int k = 0; k < 3; k++)
        u[k] = b[k] - a[k], v[k] = c[k] - a[k], w[k] = p[k] - a[k];
    const __int128 s =
        (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] + (u[0] * v[1] - u[1] * v[0]) * w[2];
    return (s > 0) - (s < 0);
}

static int strictly_inside(int64_t corner[4][3], const int64_t *p)
{
    int within = 0;
    for (int k = 0; k < 4; k++) {
        const int64_t *a = corner[k], *b = corner[(k + 1) % 4], *c = corner[(k + 2) % 4], *d = corner[(k + 3) % 4];
        within += side(a, b, c, p) != 0 && side(a, b, c, p) == side(a, b, c, d);
    }
    return within == 4;
}

static int checker_says_inside(int64_t corner[4][3], const int64_t *point, uint64_t count, uint8_t *inside)
{
    static uint32_t index[12] = {0, 1, 2, 0, 1, 3, 1, 2, 3, 0, 2, 3};
    float vertex[12];
    rain_mesh mesh = {.vertex = vertex, .index = index, .vertex_count = 4, .triangle_count = 4};
    for (int i = 0; i < 12; i++) {
        vertex[i] = (float)corner[i / 3][i % 3];
        mesh.lower[i % 3] = i < 3 || vertex[i] < mesh.lower[i % 3] ? vertex[i] : mesh.lower[i % 3];
        mesh.upper[i % 3] = i < 3 || vertex[i] > mesh.upper[i % 3] ? vertex[i] : mesh.upper[i % 3];
    }
    rain_checker *checker = rain_checker_create(&mesh);
    for (uint64_t i = 0; checker && i < count; i++) {
        float center[3] = {(float)point[3 * i], (float)point[3 * i + 1], (float)point[3 * i + 2]}, radius = 1.0f;
        const rain_spheres one = {.count = 1, .center = center, .radius = &radius};
        inside[i] = rain_check(checker, &one, 0).outside == 0;
    }
    rain_checker_destroy(checker);
    return checker != NULL;
}

enum { POINTS = 400 };

/* Points near the tetrahedron: weighted means of corners, many of them on faces, edges and corners or beside. */
static void make_points(uint64_t *seed, int64_t corner[4][3], int64_t size, int64_t *point)
{
    for (int i = 0; i < POINTS; i++) {
        int64_t weight[4], all = 0;
        for (int k = 0; k < 4; k++)
            all += weight[k] = (int64_t)(draw(seed) % 3);
        for (int a = 0; a < 3; a++) {
            int64_t sum = 0;
            for (int k = 0; k < 4; k++)
                sum += weight[k] * corner[k][a];
            const int64_t at = all ? sum / all + (int64_t)(draw(seed) % 3) - 1 : draw_number(seed, size);
            point[3 * i + a] = (int64_t)(float)at;
        }
    }
}

/* Returns how many points were inside. */
static uint64_t compare(uint64_t *seed, int64_t size)
{
    static int64_t point[3 * POINTS];
    static uint8_t inside[POINTS];
    int64_t corner[4][3];
    uint64_t found = 0;
    for (int i = 0; i < 12; i++)
        corner[i / 3][i % 3] = draw_number(seed, size);
    make_points(seed, corner, size, point);
    assert_true(checker_says_inside(corner, point, POINTS, inside));
    for (uint64_t i = 0; i < POINTS; i++) {
        const int64_t *p = point + 3 * i;
        const int expected = strictly_inside(corner, p);
        if (inside[i] != expected)
            fail_msg("size %lld: (%lld %lld %lld) is %s", (long long)size, (long long)p[0], (long long)p[1],
                     (long long)p[2], expected ? "inside" : "not strictly inside");
        found += (uint64_t)expected;
    }
    return found;
}

static void test_integers(void **state)
{
    uint64_t seed = 1, found = 0;
    (void)state;
    for (size_t i = 0; i < test_effort(60); i++)
        for (int64_t size = 2; size <= INT64_C(1) << 40; size *= 8)
            found += compare(&seed, size);
    assert_true(found > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_integers)};
    return cmocka_run_group_tests_name("the checker of rain", tests, NULL, NULL);
}
