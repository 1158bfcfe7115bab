/* SPDX-License-Identifier: MIT */
/* Drop maps of plates that are level, or lean by next to nothing: heights are next to binary32 numbers everywhere, and
 * are still found without integers. */
#include <math.h>

#include "queries/random.h"
#include "tests/support/drop_maps.h"
#include "tests/support/drop_scenes.h"

/* A plate of `cells`^2 squares from -1 to 1, turned by `turn` radians, whose z is a + x slope_x + y slope_y, moved by
 * at most `rough` at each vertex; with a ridge of that slope along x. */
typedef struct plate {
    const char *name;
    double z, slope_x, slope_y, rough, ridge, turn;
    float radius;
} plate;

/* 6.1e-17 is the cosine of 90 degrees in binary64. */
static const plate plates[] = {
    {"level", 0, 0, 0, 0, 0, 0, 1},
    {"level, next to 0", 1e-17, 0, 0, 0, 0, 0, 1},
    {"level, below 0", -1e-30, 0, 0, 0, 0, 0, 1},
    {"level, denormal", 1e-40, 0, 0, 0, 0, 0, 0.3f},
    {"level, a small ball", 1, 0, 0, 0, 0, 0, 1e-17f},
    {"turned by 90 degrees", 0, 0, 6.1e-17, 0, 0, 0, 1},
    {"turned by 90 degrees, both ways", 0, -6.1e-17, 6.1e-17, 0, 0, 6.1e-17, 1},
    {"turned by 90 degrees, lower", 0, 0, 6.1e-17, 0, 0, 0, 0.3f},
    {"turned by 90 degrees, a small ball", 0, 3e-17, 6.1e-17, 0, 0, 0, 1e-3f},
    {"1e-17", 0, 1e-17, 0, 0, 0, 0, 10},
    {"1e-30", 0, 1e-30, 2e-30, 0, 0, 0, 1},
    {"denormal", 0, 4e-44, 1e-44, 0, 0, 0, 1},
    {"below a power of two", -1e-17, 0, 6.1e-18, 0, 0, 0, 2},
    {"1e-9", 0, 1e-9, 3e-10, 0, 0, 0, 1},
    {"rough by 1e-17", 0, 0, 0, 1e-17, 0, 0, 1},
    {"rough by 1e-30", 0, 0, 0, 1e-30, 0, 0, 1},
    {"rough by 1e-40, turned", 0, 0, 0, 1e-40, 0, 6.1e-17, 0.625f},
    {"valley of 1e-17", 0, 0, 0, 0, 1e-17, 0, 1},
    {"ridge of 1e-17", 0, 0, 0, 0, -1e-17, 0, 1},
    {"roof", 0, 0, 0, 0, -1, 0, 1},
    {"roof, its ridge leaning by 1e-17", 0, 1e-17, 0, 0, -1, 6.1e-17, 1},
    {"roof, its ridge leaning by 1e-9", 5e-10, 1e-9, 0, 0, -1, 0, 1},
    {"roof, its ridge leaning by 1e-30", 0, 1e-30, 0, 0, -1, 0, 1},
};

static scene scene_of(const plate *p, uint32_t cells)
{
    const uint32_t row = cells + 1;
    scene s = scene_alloc((size_t)row * row, 2 * (size_t)cells * cells);
    query_random random = {7};
    for (uint32_t v = 0; v < row * row; v++) {
        const double x = 2.0 * (v % row) / cells - 1, y = 2.0 * (v / row) / cells - 1;
        const double rough = p->rough * ((double)(query_random_bits(&random) % 257) / 128 - 1);
        s.vertices[3 * v] = (float)(x - p->turn * y);
        s.vertices[3 * v + 1] = (float)(y + p->turn * x);
        s.vertices[3 * v + 2] = (float)(p->z + p->slope_x * x + p->slope_y * y + p->ridge * fabs(y) + rough);
    }
    for (uint32_t i = 0; i < cells * cells; i++) {
        const uint32_t at = i / cells * row + i % cells,
                       corner[] = {at, at + 1, at + row + 1, at, at + row + 1, at + row};
        memcpy(s.indices + 6 * i, corner, sizeof corner);
    }
    return s;
}

/* On corners and edges of the plate, or beside them. */
static carom_lattice columns(uint64_t n, int on)
{
    const double spacing = on ? 2.0 / (double)(n - 1) : 1.97 / (double)(n - 1);
    return (carom_lattice){{on ? -1 : -0.983, on ? -1 : -0.979, 0}, spacing, {n, n, 1}, {0}};
}

/* ---- against the reference --------------------------------------------------------------------------------------- */

static void check_plate(carom_context *context, const plate *p, uint32_t cells)
{
    scene s = scene_of(p, cells);
    carom_mesh *mesh = scene_mesh(context, &s);
    for (int on = 0; on < 2; on++) {
        const carom_lattice lattice = columns(5, on);
        const carom_mesh_drop_desc desc = drop_map_desc(&lattice, p->radius, CAROM_ACCURACY_FAST);
        drop_map m = drop_map_ask(mesh, &desc, NULL);
        drop_map_check(&s, &desc, &m, 1, p->name);
        guarded_free(&m.height);
    }
    carom_mesh_destroy(mesh);
    scene_free(&s);
}

static void test_reference(void **state)
{
    static const uint32_t cells[] = {1, 2, 5};
    carom_context *context = test_context(), *scalar = test_cpu(CAROM_ISA_SCALAR, 1);
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cells) * COUNT_OF(plates); i++)
        check_plate(i % 2 == 0 ? context : scalar, &plates[i / COUNT_OF(cells)], cells[i % COUNT_OF(cells)]);
    carom_context_destroy(context);
    carom_context_destroy(scalar);
}

/* Of everything above at once, in any combination, and up to the size where leaning faces no longer count as flat. */
static void test_random_plates(void **state)
{
    static const double sizes[] = {0, 0, 1e-45, 1e-38, 1e-30, 1e-20, 6.1e-17, 1e-12, 2e-9, 1.5e-8, 1e-7};
    static const float radii[] = {1, 5, 2.5f, 0.3f, 1e-3f, 1e-9f, 50};
    carom_context *context = test_context();
    query_random random = {3};
    (void)state;
    for (int i = 0; i < 20 + (int)test_effort(200); i++) {
        double value[6];
        for (int k = 0; k < 6; k++) {
            value[k] = sizes[query_random_bits(&random) % COUNT_OF(sizes)];
            value[k] *= (double)(query_random_bits(&random) % 9) / 4 - 1;
        }
        const plate p = {"random", value[0],
                         value[1], value[2],
                         value[3], query_random_bits(&random) % 4 == 0 ? -1 : value[4],
                         value[5], radii[query_random_bits(&random) % COUNT_OF(radii)]};
        check_plate(context, &p, 1 + (uint32_t)(query_random_bits(&random) % 3));
    }
    carom_context_destroy(context);
}

/* ---- what is decided without integers ---------------------------------------------------------------------------- */

static void test_work(void **state)
{
    static const uint32_t cells[] = {1, 8, 100}; /* faces are painted; and searched for */
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(cells) * COUNT_OF(plates); i++) {
        const plate *p = &plates[i / 2 / COUNT_OF(cells)];
        scene s = scene_of(p, cells[i / 2 % COUNT_OF(cells)]);
        carom_mesh *mesh = scene_mesh(context, &s);
        const carom_lattice lattice = columns(33, i % 2);
        const carom_mesh_drop_desc desc = drop_map_desc(&lattice, p->radius, CAROM_ACCURACY_FAST);
        carom_stats stats = {.size = sizeof stats};
        drop_map m = drop_map_ask(mesh, &desc, &stats);
        if (stats.by_integers > m.count / 32) /* a row may be level with a binary32 number */
            fail_msg("%s, %zu triangles, lattice %zu: integers decided %llu of %zu columns", p->name, s.triangle_count,
                     i % 2, (unsigned long long)stats.by_integers, m.count);
        guarded_free(&m.height);
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* A plate turned by 90 degrees: half of it is lower than the radius, and half is higher. */
static void test_by_hand(void **state)
{
    carom_context *context = test_context();
    const plate p = {"turned", 0, 0, 6.1e-17, 0, 0, 0, 1};
    scene s = scene_of(&p, 1);
    carom_mesh *mesh = scene_mesh(context, &s);
    const carom_lattice lattice = columns(17, 1);
    const carom_mesh_drop_desc desc = drop_map_desc(&lattice, 1, CAROM_ACCURACY_FAST);
    drop_map m = drop_map_ask(mesh, &desc, NULL);
    (void)state;
    for (size_t i = 0; i < m.count; i++)
        assert_true(drop_map_height(&m, i) == (i / 17 < 8 ? 1.0f : 0x1.000002p0f)); /* a slope lifts the middle too */
    guarded_free(&m.height);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_hand), cmocka_unit_test(test_reference),
                                       cmocka_unit_test(test_random_plates), cmocka_unit_test(test_work)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
