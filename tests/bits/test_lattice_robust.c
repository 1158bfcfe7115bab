/* SPDX-License-Identifier: MIT */
/* Sign rule `robust`: against sums of solid angles in long double, on meshes with holes, cracks, doubled faces and no
 * shared edges at all; one side for each place, whatever lattice, instruction set or number of threads; and the side of
 * `winding` on closed meshes. */
#include "reference/mesh.h"
#include "tests/support/mesh_oracle.h"
#include "tests/support/open_scenes.h"

#include <math.h>

/* ---- against sums ------------------------------------------------------------------------------------------------ */

/* Exact, so that the distance of a node on the mesh, which has no side, is 0. */
static carom_mesh_distance_desc robust_desc(const carom_lattice *lattice)
{
    carom_mesh_distance_desc desc = volume_desc(lattice, CAROM_ACCURACY_EXACT);
    desc.sign = CAROM_SIGN_ROBUST;
    return desc;
}

static size_t check_volume(const scene *s, const carom_lattice *lattice, const volume *v, const char *name)
{
    const ref_mesh mesh = oracle_mesh(s);
    size_t inside = 0;
    for (size_t i = 0; i < v->count; i++) {
        float p[3];
        const float distance = volume_distance(v, i);
        lattice_node(lattice, i, p);
        const double beyond = fabs((double)ref_mesh_winding(&mesh, p)) - 0.5;
        inside += beyond > 0;
        if (distance != 0 && fabs(beyond) > 0x1p-20 && (distance < 0) != (beyond > 0))
            fail_msg("%s, node %zu at %a %a %a: %g, the winding number is %g more than 1/2", name, i, (double)p[0],
                     (double)p[1], (double)p[2], (double)distance, beyond);
    }
    return inside;
}

static void test_sums(void **state)
{
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < OPEN_SCENES; i++) {
        scene s = open_scenes[i].make();
        carom_mesh *mesh = scene_mesh(context, &s);
        /* Also nodes at whole numbers, above and below corners and edges, in planes of holes; a fine column; and nodes
         * next to an edge of the boxes. */
        const carom_lattice lattices[] = {lattice_around(&s, 9 + test_effort(12)), sign_lattice(&s, 1, 0),
                                          sign_lattice(&s, 2, 0), sign_lattice(&s, 3, 5)};
        for (size_t k = 0; k < COUNT_OF(lattices); k++) {
            const carom_mesh_distance_desc desc = robust_desc(&lattices[k]);
            volume v = volume_ask(mesh, &desc, NULL);
            const size_t inside = check_volume(&s, &lattices[k], &v, open_scenes[i].name);
            if (i < 8 && k == 0)
                assert_true(inside > 0 && inside < v.count);
            volume_free(&v);
        }
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* On a closed mesh the side is that of `winding`, bit for bit. */
static void test_closed(void **state)
{
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < SIGN_SCENES; i++) {
        scene s = sign_scenes[i].make();
        carom_mesh *mesh = scene_mesh(context, &s);
        for (size_t which = 0; which < SIGN_LATTICES; which++) {
            const carom_lattice lattice = sign_lattice(&s, which, 7 + test_effort(12));
            carom_mesh_distance_desc desc = volume_desc(&lattice, CAROM_ACCURACY_EXACT);
            volume v = volume_alloc(lattice_nodes(&lattice), 0);
            const carom_mesh_distance_result out = volume_result(&v);
            carom_error err;
            desc.sign = CAROM_SIGN_WINDING;
            if (carom_mesh_distance(mesh, &desc, &out, NULL, &err) == CAROM_OK) {
                const carom_mesh_distance_desc robust = robust_desc(&lattice);
                volume got = volume_ask(mesh, &robust, NULL);
                volume_compare(&lattice, &v, 0, &got, 1 << VOLUME_DISTANCE, sign_scenes[i].name);
                volume_free(&got);
            }
            volume_free(&v);
        }
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* ---- one side for each place ------------------------------------------------------------------------------------- */

/* Nodes of a lattice, each again in a coarser one and alone. The box's opening is in a plane of nodes, where its
 * winding number is 1/2. */
static void test_one_side(void **state)
{
    carom_context *context = test_context();
    static const carom_lattice fine = {{-1.25, -1.25, -1.25}, 0.125, {21, 21, 19}, {0}},
                               coarse = {{-1.25, -1.25, -1.25}, 0.25, {11, 11, 10}, {0}};
    (void)state;
    for (size_t i = 0; i < OPEN_SCENES; i++) {
        scene s = open_scenes[i].make();
        carom_mesh *mesh = scene_mesh(context, &s);
        const carom_mesh_distance_desc of_fine = robust_desc(&fine), of_coarse = robust_desc(&coarse);
        volume v = volume_ask(mesh, &of_fine, NULL), w = volume_ask(mesh, &of_coarse, NULL);
        for (size_t n = 0; n < w.count; n++) {
            const size_t x = n % 11, y = n / 11 % 11, z = n / 121;
            const size_t in_fine = 2 * x + 21 * (2 * y) + 21 * 21 * (2 * z);
            if (bits_of_float(volume_distance(&w, n)) != bits_of_float(volume_distance(&v, in_fine)))
                fail_msg("%s, node %zu: %g, in a finer lattice %g", open_scenes[i].name, n,
                         (double)volume_distance(&w, n), (double)volume_distance(&v, in_fine));
        }
        for (size_t n = 0; n < v.count; n += 97) {
            const carom_lattice one = {{-1.25, -1.25, -1.25}, 0.125, {1, 1, 1}, {n % 21, n / 21 % 21, n / 441}};
            const carom_mesh_distance_desc of_one = robust_desc(&one);
            volume alone = volume_ask(mesh, &of_one, NULL);
            assert_int_equal(bits_of_float(volume_distance(&alone, 0)), bits_of_float(volume_distance(&v, n)));
            volume_free(&alone);
        }
        volume_free(&v);
        volume_free(&w);
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    static const carom_lattice lattice = {{-1.1, -1.1, -1.1}, 0.125, {19, 18, 20}, {0}};
    for (size_t i = 0; i < 8; i += i == 2 ? 2 : 1) { /* the torus of soup takes as long as all others */
        scene s = open_scenes[i].make();
        carom_mesh *expected_of = scene_mesh(scalar, &s), *got_of = scene_mesh(context, &s);
        carom_mesh_distance_desc desc = robust_desc(&lattice);
        volume expected = volume_ask(expected_of, &desc, NULL), got = volume_ask(got_of, &desc, NULL);
        volume_compare(&lattice, &expected, 0, &got, -1, label);
        desc.batch.begin = 7;
        volume part = volume_ask(got_of, &desc, NULL);
        volume_compare(&lattice, &expected, 7 * 19 * 18, &part, -1, label);
        volume_free(&part);
        volume_free(&expected);
        volume_free(&got);
        carom_mesh_destroy(expected_of);
        carom_mesh_destroy(got_of);
        scene_free(&s);
    }
}

/* ---- changes, memory --------------------------------------------------------------------------------------------- */

/* A mesh that has moved is closed anew. */
static void test_update(void **state)
{
    carom_context *context = test_context();
    scene s = open_box();
    carom_mesh *mesh = scene_mesh(context, &s);
    const carom_lattice lattice = lattice_around(&s, 14);
    const carom_mesh_distance_desc desc = robust_desc(&lattice);
    carom_error err;
    (void)state;
    volume v = volume_ask(mesh, &desc, NULL);
    volume_free(&v);
    for (size_t i = 0; i < 3 * s.vertex_count; i++)
        s.vertices[i] *= i % 3 == 2 ? 0.3f : 0.7f;
    const carom_points moved = carom_xyz(s.vertices);
    test_ok("an update", carom_mesh_update(mesh, &moved, CAROM_MESH_AUTO, &err), &err);
    v = volume_ask(mesh, &desc, NULL);
    assert_true(check_volume(&s, &lattice, &v, "a box that has moved") > 0);
    volume_free(&v);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

/* An allocator of which one allocation fails. */
typedef struct short_memory {
    size_t calls, fail_at, live;
} short_memory;

static void *short_alloc(void *user, size_t size, size_t alignment)
{
    short_memory *memory = user;
    if (++memory->calls == memory->fail_at)
        return NULL;
    memory->live++;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void short_free(void *user, void *block)
{
    ((short_memory *)user)->live--;
    free(block);
}

/* Each allocation fails once: the call says so, nothing leaks, and the next call has the answer. */
static void test_memory(void **state)
{
    static const carom_lattice lattice = {{-1.25, -1.25, -1.25}, 0.5, {6, 6, 6}, {0}};
    (void)state;
    for (size_t fail_at = 1, failed = 1; failed; fail_at++) {
        scene s = open_masked();
        short_memory memory = {0};
        carom_context_desc desc = carom_context_desc_default();
        carom_context *context;
        carom_error err = {0};
        desc.backend = CAROM_BACKEND_CPU;
        desc.threads = 1;
        desc.allocator = (carom_allocator){short_alloc, short_free, &memory};
        test_ok("a context", carom_context_create(&desc, &context, &err), &err);
        carom_mesh *mesh = scene_mesh(context, &s);
        const carom_mesh_distance_desc asked = robust_desc(&lattice);
        volume v = volume_alloc(lattice_nodes(&lattice), 0);
        const carom_mesh_distance_result out = volume_result(&v);
        memory.calls = 0;
        memory.fail_at = fail_at;
        const carom_status status = carom_mesh_distance(mesh, &asked, &out, NULL, &err);
        failed = memory.calls >= fail_at;
        if (status != CAROM_OK)
            test_error(status, CAROM_ERROR_OUT_OF_MEMORY, &err, "no memory");
        memory.fail_at = 0;
        test_ok("the next call", carom_mesh_distance(mesh, &asked, &out, NULL, &err), &err);
        (void)check_volume(&s, &lattice, &v, "short of memory");
        volume_free(&v);
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
        assert_int_equal(memory.live, 0);
        scene_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {cmocka_unit_test(test_sums),     cmocka_unit_test(test_closed),
                                        cmocka_unit_test(test_one_side), cmocka_unit_test(test_update),
                                        cmocka_unit_test(test_memory),   SAME_BITS_ON_CPU(check_same)};
    const struct CMUnitTest on_device[] = {cmocka_unit_test(test_sums), cmocka_unit_test(test_closed),
                                           SAME_BITS_ON_DEVICE(check_same)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
