/* SPDX-License-Identifier: MIT */
/* The BVH of a mesh is the same, byte for byte, for every number of threads that build or refit it. It contains every
 * triangle once, and its boxes are tight, with nodes of 8 and of 16. This test reads private structures, because
 * answers do not depend on the tree. */
#include "tests/support/scenes.h"

#include <limits.h>
#include <math.h>

#include "host/bvh/mesh_data.h"

enum { SEED = 81 };

/* Instruction sets whose meshes differ in width: nodes of 8, and of 16 where there is AVX-512. */
static const carom_isa isas[] = {CAROM_ISA_SCALAR, CAROM_ISA_AUTO};

static carom_context *with_threads(uint32_t threads, carom_isa isa)
{
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_error err = {0};
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = threads;
    desc.isa = isa;
    test_need_processors(threads);
    test_ok("carom_context_create", carom_context_create(&desc, &context, &err), &err);
    return context;
}

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

static scene soup(size_t triangles)
{
    return scene_soup(SEED, triangles, 0.02);
}

static scene all_equal(size_t triangles)
{
    scene s = scene_soup(SEED, triangles, 0.3);
    for (size_t i = 9; i < 9 * triangles; i++)
        s.vertices[i] = s.vertices[i % 9];
    return s;
}

/* Boxes of many sizes around one point. */
static scene one_middle(size_t triangles)
{
    static const float corners[9] = {-1, -1, -1, 1, 1, 1, 1, -1, 1};
    scene s = scene_soup(SEED, triangles, 0.3);
    for (size_t i = 0; i < 9 * triangles; i++)
        s.vertices[i] = corners[i % 9] * (float)(i / 9 * 7919 % triangles + 1);
    return s;
}

static scene sorted(size_t triangles)
{
    scene s = scene_soup(SEED, triangles, 0.001);
    for (size_t i = 0; i < 9 * triangles; i += 3)
        s.vertices[i] += (float)(i / 9);
    return s;
}

/* From the largest to the smallest numbers, so that most splits cut off next to nothing; some numbers are -0. */
static scene huge_spread(size_t triangles)
{
    scene s = scene_soup(SEED, triangles, 0.3);
    for (size_t i = 0; i < 9 * triangles; i++)
        s.vertices[i] = i % 5 == 0 ? -0.0f : ldexpf(s.vertices[i], 120 - (int)(i / 9 % 260));
    return s;
}

/* Clusters at growing distances: they become leaves of the top nodes, and each of these nodes has one child with nearly
 * all triangles. */
static scene chain(size_t triangles)
{
    scene s = scene_soup(SEED, triangles, 0.02);
    for (size_t i = 0; i < 9 * triangles && i < 9 * 15 * 32; i += 3)
        s.vertices[i] += ldexpf(1.0f, 3 + (int)(i / 9 / 15) * 3);
    return s;
}

static scene sphere(size_t triangles)
{
    return scene_sphere((int)sqrt((double)triangles / 8));
}

static const struct {
    const char *name;
    scene (*make)(size_t triangles);
    size_t triangles;
} scenes[] = {{"one triangle", soup, 1},
              {"a full leaf", soup, 16},
              {"two leaves", soup, 17},
              {"a soup", soup, 40001},
              {"a sphere", sphere, 30000},
              {"triangles that are all equal", all_equal, 20011},
              {"boxes with one middle", one_middle, 20011},
              {"a line in order", sorted, 30011},
              {"a huge spread", huge_spread, 30011},
              {"a chain", chain, 20011}};

/* ---- a tree ------------------------------------------------------------------------------------------------------ */

typedef struct tree_check {
    const carom_mesh *mesh;
    unsigned char *seen; /* by triangle */
    uint64_t nodes, leaves;
    const char *name;
} tree_check;

/* Coordinate k, of nine, of the triangle in this lane. */
static float leaf_corner(const caromi_leaf_rows *leaf, int reference, int k, int lane)
{
    if (MESH_IS_UNINDEXED(reference))
        return leaf->unindexed[k][lane];
    return leaf->vertex[k % 3][leaf->corner[k / 3][lane]];
}

/* A leaf is unindexed if and only if its triangles have more vertices than an indexed leaf has room for. */
static void check_indexing(const tree_check *tree, int reference)
{
    const caromi_leaf_rows leaf = caromi_leaf_at(tree->mesh, reference);
    uint32_t seen[3 * MESH_WIDEST];
    int count = 0;
    for (int i = 0; i < 3 * tree->mesh->view.width; i++) {
        const int triangle = leaf.triangle[i / 3];
        if (triangle < 0)
            continue;
        const uint32_t vertex = tree->mesh->indices[3 * (size_t)triangle + (size_t)i % 3];
        int at = 0;
        while (at < count && seen[at] != vertex)
            at++;
        if (at == count)
            seen[count++] = vertex;
    }
    assert_int_equal(MESH_IS_UNINDEXED(reference), count > MESH_VERTICES);
}

/* The leaf's bounding radius fits: a sphere of that radius around the middle of a triangle's box contains the triangle,
 * and for the largest triangle it is tight. */
static void check_ball(const tree_check *tree, int reference)
{
    const caromi_leaf_rows leaf = caromi_leaf_at(tree->mesh, reference);
    double largest = 0;
    if (MESH_IS_UNINDEXED(reference))
        return;
    for (int lane = 0; lane < tree->mesh->view.width; lane++) {
        double half2 = 0;
        for (int k = 0; k < 3; k++) {
            const float a = leaf_corner(&leaf, reference, k, lane), b = leaf_corner(&leaf, reference, 3 + k, lane);
            const float c = leaf_corner(&leaf, reference, 6 + k, lane);
            const double half = 0.5 * ((double)fmaxf(a, fmaxf(b, c)) - (double)fminf(a, fminf(b, c)));
            half2 += half * half;
        }
        largest = fmax(largest, sqrt(half2));
    }
    /* Squares of smaller or larger lengths underflow or overflow. A radius of 0 or infinity is then right: a margin
     * covers small triangles, and an infinite sphere contains every triangle. */
    if (largest < 0x1p-60 || (largest > 0x1p60 && isinf(*leaf.ball)))
        return;
    if ((double)*leaf.ball < largest || (double)*leaf.ball > largest * 1.0001)
        fail_msg("%s: a leaf's ball has radius %g, its largest triangle needs %g", tree->name, (double)*leaf.ball,
                 largest);
}

static void check_leaf(tree_check *tree, int reference, const float lo[3], const float hi[3])
{
    const caromi_leaf_rows leaf = caromi_leaf_at(tree->mesh, reference);
    const float scale = tree->mesh->view.frame.scale;
    tree->leaves += MESH_IS_UNINDEXED(reference) ? 2 : 1;
    check_indexing(tree, reference);
    check_ball(tree, reference);
    for (int lane = 0; lane < tree->mesh->view.width; lane++) {
        const int stored = leaf.triangle[lane], triangle = leaf.triangle[stored == -1 ? 0 : lane];
        assert_in_range(triangle, 0, tree->mesh->info.triangle_count - 1);
        assert_true(lane == 0 || stored == -1 || stored > leaf.triangle[lane - 1]);
        if (stored != -1)
            tree->seen[triangle]++;
        for (int k = 0; k < 9; k++) {
            const float x = leaf_corner(&leaf, reference, k, lane);
            if (x != caromi_corner(tree->mesh, (uint32_t)triangle, k / 3)[k % 3])
                fail_msg("%s: a leaf's triangle %d is not the mesh's", tree->name, triangle);
            if (x * scale < lo[k % 3] || x * scale > hi[k % 3])
                fail_msg("%s: triangle %d leaves its box", tree->name, triangle);
        }
    }
}

/* Returns the lowest triangle index in the subtree. */
static int check_subtree(tree_check *tree, int reference, const float lo[3], const float hi[3])
{
    int least = INT_MAX;
    if (reference < 0) {
        const caromi_leaf_rows leaf = caromi_leaf_at(tree->mesh, reference);
        check_leaf(tree, reference, lo, hi);
        for (int lane = 0; lane < tree->mesh->view.width; lane++)
            least = leaf.triangle[lane] >= 0 && leaf.triangle[lane] < least ? leaf.triangle[lane] : least;
        return least;
    }
    const caromi_node_rows node = caromi_node_at(tree->mesh, (uint64_t)reference);
    tree->nodes++;
    for (int i = 0; i < tree->mesh->view.width; i++) {
        const float l[3] = {node.lower[0][i], node.lower[1][i], node.lower[2][i]};
        const float h[3] = {node.upper[0][i], node.upper[1][i], node.upper[2][i]};
        if (node.child[i] == 0) {
            assert_true(l[0] > h[0]);
            assert_int_equal(node.least[i], INT_MAX);
            continue;
        }
        for (int k = 0; k < 3; k++)
            if (l[k] < lo[k] || h[k] > hi[k])
                fail_msg("%s: a child's box leaves its node's", tree->name);
        const int below = check_subtree(tree, node.child[i], l, h);
        if (node.least[i] != below)
            fail_msg("%s: %d is not the lowest index below a child", tree->name, node.least[i]);
        least = below < least ? below : least;
    }
    return least;
}

static void grow(float *least, float *most, float low, float high)
{
    *least = fminf(*least, low);
    *most = fmaxf(*most, high);
}

/* Extent along axis k of the subtree of a reference. */
static void extent_below(const carom_mesh *mesh, int reference, int k, float *least, float *most)
{
    *least = INFINITY;
    *most = -INFINITY;
    for (int i = 0; i < mesh->view.width; i++)
        if (reference < 0) {
            const caromi_leaf_rows leaf = caromi_leaf_at(mesh, reference);
            for (int corner = 0; corner < 3; corner++) {
                const float x = leaf_corner(&leaf, reference, 3 * corner + k, i) * mesh->view.frame.scale;
                grow(least, most, x, x);
            }
        } else {
            const caromi_node_rows node = caromi_node_at(mesh, (uint64_t)reference);
            grow(least, most, node.lower[k][i], node.upper[k][i]);
        }
}

/* Boxes are tight: the box of a leaf is that of its triangles, the box of a node that of its children. */
static void check_tight(const carom_mesh *mesh, const char *name)
{
    for (uint64_t n = 0; n < mesh->info.node_count; n++) {
        const caromi_node_rows node = caromi_node_at(mesh, n);
        for (int i = 0; i < mesh->view.width; i++)
            for (int k = 0; k < 3 && node.child[i] != 0; k++) {
                const float lo = node.lower[k][i], hi = node.upper[k][i];
                float least, most;
                extent_below(mesh, node.child[i], k, &least, &most);
                if (lo != least || hi != most || is_nan_or_minus_zero(lo) || is_nan_or_minus_zero(hi))
                    fail_msg("%s: node %llu, slot %d: not the box of what is in it", name, (unsigned long long)n, i);
            }
    }
}

static void check_tree(const carom_mesh *mesh, const char *name)
{
    const float lo[3] = {-INFINITY, -INFINITY, -INFINITY}, hi[3] = {INFINITY, INFINITY, INFINITY};
    const size_t triangles = mesh->info.triangle_count;
    tree_check tree = {mesh, test_alloc(triangles, 1), 0, 0, name};
    check_subtree(&tree, mesh->view.frame.root, lo, hi);
    for (size_t i = 0; i < triangles; i++)
        if (tree.seen[i] != 1)
            fail_msg("%s: triangle %zu is in %d leaves", name, i, tree.seen[i]);
    assert_int_equal(tree.nodes, mesh->info.node_count);
    assert_int_equal(tree.leaves, mesh->leaf_count);
    free(tree.seen);
    check_tight(mesh, name);
}

static void expect_same(const carom_mesh *expected, const carom_mesh *got, uint32_t threads, const char *name)
{
    if (memcmp(&expected->info, &got->info, sizeof got->info) || expected->leaf_count != got->leaf_count ||
        expected->view.frame.root != got->view.frame.root)
        fail_msg("%s: %u threads make another tree than expected", name, threads);
    if (memcmp(expected->nodes, got->nodes, caromi_bytes_of_nodes(got)))
        fail_msg("%s: %u threads make other nodes than expected", name, threads);
    if (memcmp(expected->leaves, got->leaves, caromi_bytes_of_leaves(got)))
        fail_msg("%s: %u threads make other leaves than expected", name, threads);
}

/* Thread counts to test, the most useful ones first, because an emulator is slow with many threads. */
static const uint32_t many[] = {3, 8, 1, 2, 40};

static size_t many_count(void)
{
    return 1 + test_effort(COUNT_OF(many) - 1);
}

/* Builds a scene's tree with all numbers of threads. */
static void check_scene(const swept_spheres *b, size_t number, carom_isa isa)
{
    const char *name = scenes[number].name;
    carom_context *one = with_threads(1, isa);
    scene s = scenes[number].make(scenes[number].triangles);
    carom_mesh *expected = scene_mesh(one, &s);
    hits first = hits_alloc(b->count, 0x5a);
    check_tree(expected, name);
    sweep_first(expected, b, &first);
    for (size_t t = 0; t < many_count(); t++) {
        carom_context *context = with_threads(many[t], isa);
        for (size_t round = 0; round < test_effort(3); round++) {
            carom_mesh *mesh = scene_mesh(context, &s);
            expect_same(expected, mesh, many[t], name);
            if (round == 0) {
                hits h = hits_alloc(b->count, 0xa5);
                sweep_first(mesh, b, &h);
                hits_compare(b, &first, &h, b->count, -1, name);
                hits_free(&h);
            }
            carom_mesh_destroy(mesh);
        }
        carom_context_destroy(context);
    }
    hits_free(&first);
    carom_mesh_destroy(expected);
    scene_free(&s);
    carom_context_destroy(one);
}

static void test_same_tree(void **state)
{
    swept_spheres b = swept_spheres_mixed(SEED, test_effort(50));
    (void)state;
    for (size_t i = 0; i < COUNT_OF(scenes); i++)
        for (size_t k = 0; k < COUNT_OF(isas); k++)
            check_scene(&b, i, isas[k]);
    swept_spheres_free(&b);
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

static void follow(carom_mesh *mesh, const scene *s, carom_mesh_follow how)
{
    const carom_points vertices = scene_desc(s).vertices;
    carom_error err = {0};
    test_ok("carom_mesh_update", carom_mesh_update(mesh, &vertices, how, &err), &err);
}

/* The vertices in another order and scaled, so that every triangle moves. */
static scene scattered(const scene *from)
{
    scene s = scene_copy(from);
    uint32_t *order = random_order(SEED, s.vertex_count);
    for (size_t i = 0; i < s.vertex_count; i++)
        for (size_t k = 0; k < 3; k++)
            s.vertices[3 * i + k] = from->vertices[3 * (size_t)order[i] + k] * 0.3f;
    free(order);
    return s;
}

/* A refit keeps each triangle in its leaf and makes all boxes tight again. A refit back to the first vertices gives the
 * first tree, byte for byte, except for the count of refits. A rebuild gives the same tree as a new build. */
static void check_updates(size_t number, carom_isa isa)
{
    const char *name = scenes[number].name;
    carom_context *one = with_threads(1, isa);
    scene s = scenes[number].make(scenes[number].triangles), t = scattered(&s);
    carom_mesh *built = scene_mesh(one, &s), *other = scene_mesh(one, &t);
    carom_mesh *refitted = scene_mesh(one, &s);
    follow(refitted, &t, CAROM_MESH_REFIT);
    check_tree(refitted, name);
    for (size_t k = 0; k < many_count(); k++) {
        carom_context *context = with_threads(many[k], isa);
        carom_mesh *mesh = scene_mesh(context, &s);
        follow(mesh, &t, CAROM_MESH_REFIT);
        expect_same(refitted, mesh, many[k], name);
        follow(mesh, &s, CAROM_MESH_REFIT);
        assert_int_equal(mesh->info.refits, 2);
        mesh->info.refits = 0;
        expect_same(built, mesh, many[k], name);
        follow(mesh, &t, CAROM_MESH_REBUILD);
        expect_same(other, mesh, many[k], name);
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
    }
    carom_mesh_destroy(built);
    carom_mesh_destroy(other);
    carom_mesh_destroy(refitted);
    scene_free(&s);
    scene_free(&t);
    carom_context_destroy(one);
}

static void test_follow(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(scenes); i++)
        for (size_t k = 0; k < COUNT_OF(isas); k++)
            check_updates(i, isas[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_tree),
        cmocka_unit_test(test_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
