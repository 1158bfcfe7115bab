/* SPDX-License-Identifier: MIT */
/* How a lattice is cut into slabs: every node is in just one, in every shape of lattice, and no slab is too large. */
#include "cli/bake/plan.c"
#include "tests/support/support.h"

#include <stdarg.h>

/* Of the command. */
int cli_refuse(int status, const char *format, ...)
{
    (void)format;
    return status;
}

static const bake_kind
    of_volume =
        {.name = "volume", .axes = 3, .edge = 8, .most = 1 << 19, .visits = UINT64_C(1) << 39, .least = 1 << 12},
    of_map = {.name = "map", .axes = 2, .edge = 512, .most = 1 << 21, .visits = UINT64_C(1) << 41, .least = 1 << 19};

static bake_plan plan_of(const bake_kind *kind, uint64_t nx, uint64_t ny, uint64_t nz, uint64_t part, uint64_t parts)
{
    bake_plan plan = {.kind = kind, .part = part, .parts = parts, .lattice = {.spacing = 1.0, .dims = {nx, ny, nz}}};
    plan.arrays = 1u << BAKE_distance;
    bake_plan_cut(&plan);
    return plan;
}

static const uint64_t shapes[][3] = {
    {1, 1, 1},      {5, 7, 3},       {16, 16, 16},   {17, 9, 33},     {1, 1, 700000}, {1, 700000, 1}, {700000, 1, 1},
    {300000, 3, 9}, {3, 300000, 5},  {257, 255, 70}, {70000, 9, 9},   {9, 70000, 9},  {9, 9, 70000},  {600, 530, 1},
    {2, 2, 4095},   {1023, 1025, 3}, {64, 64, 64},   {20000, 20, 10}, {8192, 8, 8},   {8193, 8, 9},   {1500, 2000, 1}};

/* Ranges of nodes of a file, a bit for each node that a slab holds. */
static void check_once(const bake_plan *first, uint64_t parts)
{
    const uint64_t *n = first->lattice.dims, total = n[0] * n[1] * n[2];
    uint8_t *seen = test_alloc(total, 1);
    uint64_t slabs = 0;
    memset(seen, 0, total);
    for (uint64_t part = 1; part <= parts; part++) {
        const bake_plan plan = plan_of(first->kind, n[0], n[1], n[2], part, parts);
        uint64_t before = 0;
        for (uint64_t s = plan.begin; s < plan.end; s++, slabs++) {
            carom_lattice box;
            const uint64_t nodes = bake_plan_slab(&plan, s, &box);
            assert_true(nodes == box.dims[0] * box.dims[1] * box.dims[2] && nodes == bake_plan_nodes(&plan, s));
            assert_true(nodes > 0 && nodes <= bake_plan_most_nodes(&plan));
            assert_true(bake_plan_nodes_before(&plan, s) == before);
            for (uint64_t at = 0; at < nodes; at++) {
                uint64_t found = before + at;
                const uint64_t node = bake_plan_node(&plan, &box, at);
                assert_true(node < total && !seen[node]);
                seen[node] = 1;
                if (at % 97 == 0 || at == nodes - 1)
                    assert_true(bake_plan_find(&plan, &found) == s && found == at);
            }
            before += nodes;
        }
        assert_true(bake_plan_nodes_before(&plan, plan.end) == before);
    }
    assert_true(slabs == first->slabs);
    assert_null(memchr(seen, 0, total));
    free(seen);
}

static void test_each_node_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        for (uint64_t parts = 1; parts <= 7; parts += 3) {
            const bake_plan plan = plan_of(&of_volume, shapes[i][0], shapes[i][1], shapes[i][2], 1, 1);
            check_once(&plan, parts);
            const bake_plan flat = plan_of(&of_map, shapes[i][0], shapes[i][1] * shapes[i][2], 1, 1, 1);
            check_once(&flat, parts);
        }
}

/* A small layer is whole; a large one is cut, and then the slab has its edge along the slower axes. */
static void test_sizes(void **state)
{
    static const uint64_t sides[] = {1, 3, 8, 100, 500, 512, 700, 5000, 1000000, UINT64_C(1) << 24};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sides); i++)
        for (size_t j = 0; j < COUNT_OF(sides); j++) {
            const bake_plan plan = plan_of(&of_volume, sides[i], sides[j], 40, 1, 1);
            const int is_cut = plan.box[0] < sides[i] || plan.box[1] < sides[j];
            assert_true(bake_plan_most_nodes(&plan) <= 1 << 19);
            assert_true(!is_cut || (plan.box[2] >= 8 && bake_plan_most_nodes(&plan) > 1 << 18));
            assert_true(is_cut == (sides[i] * sides[j] * 8 > 1 << 19));
            assert_true(plan.box[1] == sides[j] || plan.box[1] % 8 == 0);
            const bake_plan flat = plan_of(&of_map, sides[i], sides[j], 1, 1, 1);
            assert_true(bake_plan_most_nodes(&flat) <= 1 << 21 && flat.box[2] == 1);
        }
    const bake_plan cube = plan_of(&of_volume, 512, 512, 512, 1, 1);
    assert_true(cube.box[0] == 512 && cube.box[1] == 128 && cube.box[2] == 8 && cube.slabs == 256);
    const bake_plan huge = plan_of(&of_volume, UINT64_C(1) << 20, UINT64_C(1) << 20, UINT64_C(1) << 8, 1, 1);
    assert_true(huge.slabs == UINT64_C(1) << 29);
}

/* A node takes longer in a larger mesh. */
static void test_triangles(void **state)
{
    static const struct {
        const bake_kind *kind;
        const char *mesh;
        uint64_t most;
    } meshes[] = {{&of_volume, "0:1048576", 1 << 19},    {&of_volume, "0:2097152", 1 << 18},
                  {&of_volume, "0:16777216", 1 << 15},   {&of_map, "0:1048576", 1 << 21},
                  {&of_volume, "0:4294967296", 1 << 12}, {&of_map, "0:16777216", 1 << 19}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(meshes); i++) {
        const int is_map = meshes[i].kind == &of_map;
        bake_plan plan = is_map ? plan_of(&of_map, 8192, 8192, 1, 1, 1) : plan_of(&of_volume, 512, 512, 512, 1, 1);
        snprintf(plan.mesh, sizeof plan.mesh, "%s", meshes[i].mesh);
        bake_plan_cut(&plan);
        assert_true(bake_plan_most_nodes(&plan) == meshes[i].most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_node_once), cmocka_unit_test(test_sizes),
                                       cmocka_unit_test(test_triangles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
