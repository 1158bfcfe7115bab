/* SPDX-License-Identifier: MIT */
/* Triangulation of polygons by the mesh readers, checked against the definition in integers: all triangles are
 * counter-clockwise, inside the polygon, disjoint, and cover it. */
#include "cli/import/reader.h"
#include "tests/support/polygon_oracle.h"
#include "tests/support/reader_host.h"
#include "tests/support/support.h"

#include <math.h>

/* ---- a polygon under construction -------------------------------------------------------------------------------- */

typedef struct outline {
    lattice_point *p;
    size_t count, room;
} outline;

static void put(outline *o, int64_t x, int64_t y)
{
    if (o->count == o->room) {
        o->room = o->room ? 2 * o->room : 64;
        o->p = realloc(o->p, o->room * sizeof *o->p);
        assert_non_null(o->p);
    }
    o->p[o->count++] = (lattice_point){(int32_t)x, (int32_t)y};
}

static void fail_outline(const char *what, const outline *o, int plane)
{
    print_error("plane %d, %zu corners:", plane, o->count);
    for (size_t i = 0; i < o->count && i < 64; i++)
        print_error(" (%d,%d)", (int)o->p[i].x, (int)o->p[i].y);
    print_error("\n");
    fail_msg("%s", what);
}

/* Maps a lattice point to a plane in space. In every plane the polygon keeps its orientation about the axis along which
 * the reader projects it. Each coordinate is exact in binary32. */
static void place(lattice_point p, int plane, float out[3])
{
    const float x = (float)p.x, y = (float)p.y;
    const float places[][3] = {{x, y, 0},
                               {0, x, y},
                               {y, 7, x},
                               {y, x, -1},                                             /* from below */
                               {x * 0.125f + 16384, y * 0.125f - 16384, 16384},        /* far away */
                               {x, y, (x + y) * 0.5f},                                 /* inclined */
                               {x * 0x1p-130f, y * 0x1p-130f, 0},                      /* denormal */
                               {x * 0x1p100f, (x - 2 * y) * 0x1p99f, -(y * 0x1p100f)}, /* seen along y, as (z, x) */
                               {x, y * 0x1p-60f, 0}};
    memcpy(out, places[plane], sizeof places[plane]);
}
enum { PLANES = 9 };

/* Triangulates the polygon and checks the result. With `sums` only the checks in linear time are made; it is negative
 * for a polygon that is not simple. Returns 0 if the reader found no triangulation. */
static int cut_right(const outline *o, int plane, int sums)
{
    mesh_data mesh = {0};
    uint32_t *corners = malloc(o->count * sizeof *corners);
    assert_non_null(corners);
    for (size_t i = 0; i < o->count; i++) {
        float xyz[3];
        place(o->p[i], plane, xyz);
        corners[i] = (uint32_t)i;
        assert_int_equal(mesh_add_vertex(&mesh, xyz), EXIT_DONE);
    }
    assert_int_equal(mesh_add_polygon(&mesh, corners, o->count), EXIT_DONE);
    const int given_up = mesh.fans > 0;
    const char *wrong = given_up ? NULL
                        : sums ? polygon_judge_sums(o->p, o->count, mesh.indices, (size_t)mesh.triangle_count, sums > 0)
                               : polygon_judge(o->p, o->count, mesh.indices, (size_t)mesh.triangle_count);
    if (wrong)
        fail_outline(wrong, o, plane);
    free(corners);
    mesh_free(&mesh);
    return !given_up;
}

static void check_outline_in(const outline *o, int plane, int sums)
{
    if (!cut_right(o, plane, sums))
        fail_outline("given up", o, plane);
}

static void check_outline(const outline *o)
{
    for (int plane = 0; plane < PLANES; plane++)
        check_outline_in(o, plane, 0);
}

/* ---- small ones, at random --------------------------------------------------------------------------------------- */

static ref_gen seeded(uint64_t seed)
{
    ref_gen g;
    ref_gen_seed(&g, 0, seed, 0);
    return g;
}

static uint32_t below(ref_gen *random, uint32_t limit)
{
    return (uint32_t)ref_gen_int(random, 0, (int)limit - 1);
}

/* Random polygons on a coarse lattice touch themselves in many ways. Polygons that cross themselves are left out. */
static void test_small(void **state)
{
    (void)state;
    ref_gen random = seeded(5);
    size_t judged = 0, touching = 0, given_up = 0;
    for (int i = 0; i < (int)test_effort(400000); i++) {
        outline o = {0};
        const uint32_t n = 4 + below(&random, 9), side = 3 + below(&random, 4);
        for (uint32_t k = 0; k < n; k++)
            put(&o, below(&random, side), below(&random, side));
        if (polygon_covers_once(o.p, o.count)) {
            judged++;
            touching += !polygon_is_simple(o.p, o.count);
            if (polygon_is_simple(o.p, o.count))
                check_outline_in(&o, (int)(judged % PLANES), 0);
            else
                given_up += !cut_right(&o, (int)(judged % PLANES), 0);
        }
        free(o.p);
    }
    assert_true(judged > 10);
    assert_true(touching > 10);
    assert_true(given_up <= 1 + touching / 1000); /* ear clipping cannot cut some of them */
}

static int64_t cross(lattice_point a, lattice_point b, lattice_point c)
{
    return ((int64_t)b.x - a.x) * ((int64_t)c.y - a.y) - ((int64_t)b.y - a.y) * ((int64_t)c.x - a.x);
}

/* A polygon through random points, without crossings. While two edges cross, the path between them is reversed, which
 * makes the polygon shorter (2-opt). Collinear points stay as they are. Polygons that still touch themselves are left
 * out. */
static outline untangled(ref_gen *random, uint32_t n, uint32_t side)
{
    outline o = {0};
    for (uint32_t k = 0; k < n; k++)
        put(&o, below(random, side), below(random, side));
    for (int changed = 1; changed;) {
        changed = 0;
        for (size_t i = 0; i + 2 < n; i++)
            for (size_t k = i + 2; k < n; k++) {
                lattice_point a = o.p[i], b = o.p[i + 1], c = o.p[k], d = o.p[(k + 1) % n];
                if (cross(a, b, c) * (cross(a, b, d) > 0 ? 1 : -1) >= 0 ||
                    cross(c, d, a) * (cross(c, d, b) > 0 ? 1 : -1) >= 0)
                    continue;
                for (size_t low = i + 1, high = k; low < high; low++, high--) {
                    lattice_point kept = o.p[low];
                    o.p[low] = o.p[high];
                    o.p[high] = kept;
                }
                changed = 1;
            }
    }
    for (size_t low = 0, high = n - 1; low < high && polygon_area(o.p, n) < 0; low++, high--) {
        lattice_point kept = o.p[low];
        o.p[low] = o.p[high];
        o.p[high] = kept;
    }
    return o;
}

static void test_simple(void **state)
{
    (void)state;
    ref_gen random = seeded(7);
    int simple = 0;
    for (int i = 0; i < 60; i++) {
        outline o = untangled(&random, 5 + below(&random, 60), i % 2 ? 1000 : 24);
        if (polygon_is_simple(o.p, o.count)) {
            simple++;
            check_outline_in(&o, i % PLANES, 0);
        }
        free(o.p);
    }
    assert_true(simple > 20);
}

/* Each corner is repeated up to three times, also across the end of the list. The result must be that of single
 * corners. */
static void test_repeats(void **state)
{
    (void)state;
    ref_gen random = seeded(9);
    for (int i = 0; i < 60; i++) {
        outline o = untangled(&random, 4 + below(&random, 20), 1000), twice = {0};
        size_t extra = 0, shift = below(&random, 3);
        for (size_t k = 0; k < o.count; k++)
            for (uint32_t times = 1 + below(&random, 3); times > 0; times--)
                put(&twice, o.p[k].x, o.p[k].y);
        extra = twice.count - o.count;
        for (size_t k = 0; k < shift; k++) { /* the first corner again, after the last */
            put(&twice, twice.p[0].x, twice.p[0].y);
            memmove(twice.p, twice.p + 1, --twice.count * sizeof *twice.p);
        }
        if (polygon_is_simple(o.p, o.count)) {
            mesh_data mesh = {0};
            uint32_t corners[256];
            for (size_t k = 0; k < twice.count; k++) {
                float xyz[3];
                place(twice.p[k], i % PLANES, xyz);
                corners[k] = (uint32_t)k;
                assert_int_equal(mesh_add_vertex(&mesh, xyz), EXIT_DONE);
            }
            assert_int_equal(mesh_add_polygon(&mesh, corners, twice.count), EXIT_DONE);
            const char *wrong = polygon_judge(twice.p, twice.count, mesh.indices, (size_t)mesh.triangle_count);
            if (wrong || mesh.fans > 0)
                fail_outline(wrong ? wrong : "given up", &twice, i % PLANES);
            assert_int_equal(mesh.triangle_count, o.count - 2);
            assert_int_equal(mesh.repeats, extra);
            mesh_free(&mesh);
        }
        free(o.p);
        free(twice.p);
    }
}

/* A polygon that collapses to one or two points is counted; three points make a triangle. */
static void test_collapsed(void **state)
{
    (void)state;
    const float points[][3] = {{0, 0, 0}, {-0.0f, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const uint32_t point[] = {0, 1, 0, 1, 1}, line[] = {0, 2, 2, 1, 0}, triangle[] = {1, 2, 3, 0};
    mesh_data mesh = {0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(mesh_add_vertex(&mesh, points[i]), EXIT_DONE);
    assert_int_equal(mesh_add_polygon(&mesh, point, 5), EXIT_DONE);
    assert_int_equal(mesh_add_polygon(&mesh, line, 5), EXIT_DONE);
    assert_int_equal(mesh.triangle_count, 0);
    assert_int_equal(mesh_add_polygon(&mesh, triangle, 4), EXIT_DONE);
    assert_int_equal(mesh.triangle_count, 1);
    assert_int_equal(mesh.dropped_points, 1);
    assert_int_equal(mesh.dropped_lines, 1);
    assert_int_equal(mesh.repeats, 8);
    mesh_free(&mesh);
}

/* ---- kinds that are known to be hard ----------------------------------------------------------------------------- */

static outline comb(int teeth, int height)
{
    outline o = {0};
    put(&o, 2 * teeth, -1);
    for (int i = teeth; i > 0; i--) {
        put(&o, 2 * i, 0);
        put(&o, 2 * i - 1, height);
    }
    put(&o, 0, 0);
    put(&o, 0, -1);
    return o;
}

/* A corridor of width 1 that turns inwards, walls at right angles. */
static outline spiral(int turns)
{
    static const int steps[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    outline inner = {0}, o = {0};
    int64_t x = 0, y = 0;
    for (int i = 0; i <= 4 * turns; i++) { /* the inner wall is to the left of the outer one */
        const int *back = steps[i % 4], *left = steps[(i + 1) % 4];
        const int64_t length = 4 * (int64_t)turns + 4 - (i > 0 ? (i - 1) / 2 * 2 : 0);
        const int first = i == 0, last = i == 4 * turns;
        put(&o, x, y);
        put(&inner, x + (first ? 0 : back[0]) + (last ? 0 : left[0]), y + (first ? 0 : back[1]) + (last ? 0 : left[1]));
        x += back[0] * length;
        y += back[1] * length;
    }
    for (size_t i = inner.count; i-- > 0;)
        put(&o, inner.p[i].x, inner.p[i].y);
    free(inner.p);
    return o;
}

/* Random distances from a centre: about half of the corners are reflex. */
static outline star(int n, int longest)
{
    outline o = {0};
    ref_gen random = seeded(3);
    for (int i = 0; i < n; i++) {
        double angle = 2 * 3.14159265358979323846 * i / n, r = longest * (0.3 + 0.7 * below(&random, 1000) / 1000.0);
        put(&o, (int64_t)(r * cos(angle)), (int64_t)(r * sin(angle)));
    }
    return o;
}

/* Path from the left of row y through its holes and back. Each hole is walked around; a bridge leads from the right
 * corner of one hole to the next. */
static void holes_of_row(outline *o, int y, int column, int columns)
{
    const int x = 4 * column + 2;
    put(o, x, y);
    put(o, x + 1, y + 1);
    put(o, x + 2, y);
    if (column + 1 < columns) {
        holes_of_row(o, y, column + 1, columns);
        put(o, x + 2, y);
    }
    put(o, x + 1, y - 1);
    put(o, x, y);
}

static outline sieve(int rows, int columns)
{
    outline o = {0};
    put(&o, 0, 0);
    put(&o, 4 * columns + 2, 0);
    put(&o, 4 * columns + 2, 4 * rows + 2);
    put(&o, 0, 4 * rows + 2);
    for (int row = rows; row-- > 0;) {
        put(&o, 0, 4 * row + 2);
        holes_of_row(&o, 4 * row + 2, 0, columns);
        put(&o, 0, 4 * row + 2);
    }
    return o;
}

static void test_hard(void **state)
{
    (void)state;
    static const struct {
        size_t count;
        lattice_point p[16];
    } fixed[] = {
        /* a doubled reflex corner */
        {5, {{0, 0}, {3, 1}, {3, 1}, {6, 0}, {3, 6}}},
        /* a bridge to a hole, with a bend; and with a straight corner, twice */
        {13, {{0, 0}, {9, 0}, {9, 9}, {0, 9}, {0, 2}, {2, 3}, {4, 6}, {6, 6}, {6, 4}, {4, 4}, {4, 6}, {2, 3}, {0, 2}}},
        {12, {{0, 0}, {9, 0}, {9, 9}, {0, 9}, {0, 5}, {2, 5}, {4, 5}, {6, 6}, {6, 4}, {4, 5}, {2, 5}, {0, 5}}},
        /* two islands and a bridge without width between them, with two bends */
        {13, {{0, 0}, {3, 0}, {3, 3}, {5, 5}, {7, 3}, {9, 5}, {9, 9}, {7, 9}, {9, 5}, {7, 3}, {5, 5}, {3, 3}, {0, 3}}},
        /* spikes: outside, inside, of two edges, and one that folds back further than it came */
        {6, {{0, 0}, {4, 0}, {8, 0}, {4, 0}, {4, 4}, {0, 4}}},
        {8, {{0, 0}, {4, 0}, {4, 4}, {2, 2}, {1, 1}, {2, 2}, {4, 4}, {0, 4}}},
        {8, {{0, 0}, {4, 0}, {6, 2}, {9, 2}, {6, 2}, {4, 0}, {4, 4}, {0, 4}}},
        {5, {{0, 0}, {9, 0}, {4, 0}, {4, 4}, {0, 4}}},
        /* holes that touch the border: at a corner of both, at its edge, and each other */
        {7, {{0, 0}, {8, 0}, {8, 8}, {0, 8}, {0, 0}, {2, 4}, {4, 2}}},
        {8, {{0, 0}, {8, 0}, {8, 8}, {0, 8}, {0, 4}, {2, 6}, {2, 2}, {0, 4}}},
        {14,
         {{0, 0},
          {8, 0},
          {8, 8},
          {0, 8},
          {0, 4},
          {2, 4},
          {4, 6},
          {4, 4},
          {6, 6},
          {6, 2},
          {4, 4},
          {4, 2},
          {2, 4},
          {0, 4}}},
        /* straight corners on every edge of a triangle, and of an L */
        {9, {{0, 0}, {1, 0}, {2, 0}, {6, 0}, {3, 3}, {2, 4}, {0, 6}, {0, 5}, {0, 1}}},
        {11, {{0, 0}, {2, 0}, {4, 0}, {4, 1}, {4, 2}, {3, 2}, {2, 2}, {2, 3}, {2, 4}, {0, 4}, {0, 2}}},
    };
    for (size_t i = 0; i < COUNT_OF(fixed); i++) {
        outline o = {0};
        for (size_t k = 0; k < fixed[i].count; k++)
            put(&o, fixed[i].p[k].x, fixed[i].p[k].y);
        if (!polygon_covers_once(o.p, o.count))
            fail_outline("does not cover once", &o, 0);
        check_outline(&o);
        free(o.p);
    }
    outline made[] = {comb(40, 30), spiral(12), star(150, 1000), sieve(4, 5)};
    for (size_t i = 0; i < COUNT_OF(made); i++) {
        assert_true(i == 3 ? polygon_covers_once(made[i].p, made[i].count)
                           : polygon_is_simple(made[i].p, made[i].count));
        check_outline(&made[i]);
        free(made[i].p);
    }
}

/* So large that an algorithm of cubic time would take days. */
static void test_large(void **state)
{
    (void)state;
    const int n = test_effort(100) < 20 ? 10000 : 100000;
    outline made[] = {comb(n / 2, n), spiral(n / 8), star(n, 1 << 20), sieve(n / 500, 100)};
    for (size_t i = 0; i < COUNT_OF(made); i++) {
        check_outline_in(&made[i], i % 2 ? 5 : 0, i == 3 ? -1 : 1);
        free(made[i].p);
    }
}

/* A polygon that crosses itself is counted as such (`fans`), and its triangles are not lost. */
static void test_crossing(void **state)
{
    (void)state;
    ref_gen random = seeded(11);
    mesh_data mesh = {0};
    uint32_t corners[1000];
    for (uint32_t i = 0; i < 1000; i++) {
        float xyz[3] = {(float)below(&random, 100), (float)below(&random, 100), 0};
        corners[i] = i;
        assert_int_equal(mesh_add_vertex(&mesh, xyz), EXIT_DONE);
    }
    assert_int_equal(mesh_add_polygon(&mesh, corners, 1000), EXIT_DONE);
    assert_int_equal(mesh.fans, 1);
    assert_true(mesh.triangle_count >= 900 && mesh.triangle_count <= 998);
    mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small),     cmocka_unit_test(test_simple),
                                       cmocka_unit_test(test_repeats),   cmocka_unit_test(test_hard),
                                       cmocka_unit_test(test_collapsed), cmocka_unit_test(test_large),
                                       cmocka_unit_test(test_crossing)};
    return cmocka_run_group_tests_name("polygons", tests, NULL, NULL);
}
