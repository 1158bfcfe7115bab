/* SPDX-License-Identifier: MIT */
/* Contacts in a buffer after a refit on a device: the device updates what contacts know of edges and corners as long as
 * the same vertices coincide, and has the CPU's bytes in this data and in every answer. Else the host finds it anew. */
#include <math.h>

#include "host/mesh/edges.h"
#include "tests/support/moving_mesh.h"

enum { COUNT = 150, HITS = 1 << 14, STEPS = 4, SCENES = 6 };

/* All arrays of a call, in one piece of memory. */
typedef struct contact_arrays {
    uint64_t offsets[COUNT + 1], query[HITS];
    int32_t triangle[HITS];
    uint32_t patch[HITS], mask[COUNT];
    float distance[HITS], normal[3 * HITS], spheres[4 * COUNT];
    uint8_t feature[HITS];
} contact_arrays;
static contact_arrays expected, got;

typedef struct question {
    carom_accuracy accuracy;
    int has_masks, has_patches;
} question;

static void need_binary64(void)
{
    if (!test_need_device().fp64)
        test_skip("fp64", "the device has no binary64");
}

static carom_status ask_contacts_of(const question *q, carom_mesh *mesh, contact_arrays *at, carom_list_totals *totals,
                                    carom_stats *stats, carom_error *err)
{
    const carom_mesh_contacts_desc desc = {.batch = {.size = sizeof desc, .count = COUNT, .accuracy = q->accuracy},
                                           .center = {at->spheres, at->spheres + 1, at->spheres + 2, 4 * sizeof(float)},
                                           .radius = {at->spheres + 3, 4 * sizeof(float)},
                                           .mask = {q->has_masks ? at->mask : NULL, sizeof *at->mask},
                                           .margin = 0.01f};
    const carom_contact_list list = {.size = sizeof list,
                                     .capacity = HITS,
                                     .offsets = at->offsets,
                                     .query = at->query,
                                     .triangle = at->triangle,
                                     .feature = at->feature,
                                     .distance = at->distance,
                                     .normal = carom_xyz_out(at->normal),
                                     .patch = q->has_patches ? at->patch : NULL,
                                     .totals = totals};
    return carom_mesh_contacts(mesh, &desc, &list, stats, err);
}

/* A mesh on a device and on the CPU, as it was at first, and a buffer for the arrays. */
typedef struct fixture {
    moving m;
    scene was;
    carom_buffer *arrays;
} fixture;

static fixture make_fixture(scene s, carom_backend backend)
{
    fixture f = {.m = start_as(s, backend, 1), .was = scene_copy(&s)};
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = sizeof got, .where = CAROM_BUFFER_DEVICE};
    carom_error err = {0};
    test_ok("buffer", carom_buffer_create(f.m.context, &desc, &f.arrays, &err), &err);
    return f;
}

static void end_fixture(fixture *f)
{
    carom_buffer_destroy(f->arrays);
    scene_free(&f->was);
    finish(&f->m);
}

/* Spheres at corners, edges and faces of the moved scene. */
static void make_spheres(const scene *s, uint64_t seed)
{
    ref_gen g;
    ref_gen_seed(&g, 73, SEED, seed);
    for (size_t i = 0; i < COUNT; i++) {
        float p[3][3], *sphere = expected.spheres + 4 * i;
        const uint64_t r = ref_gen_bits(&g);
        scene_triangle(s, (size_t)(r % s->triangle_count), p);
        for (int k = 0; k < 3; k++)
            sphere[k] = r >> 40 & 1 ? p[0][k] : (p[0][k] + p[1][k] + (r >> 41 & 1 ? p[2][k] : p[1][k])) / 3;
        sphere[r >> 42 & 1] += (float)(r >> 44 & 0xff) * 0x1p-10f;
        sphere[3] = r >> 52 & 1 ? 0.5f : 0.1f;
        expected.mask[i] = 1u << (r >> 53 & 1);
    }
}

/* Asks the CPU and the device, and compares all bytes. */
static void compare(const fixture *f, const question *q, carom_stats *stats, const char *what)
{
    carom_list_totals totals = {0}, found = {0};
    carom_error err = {0};
    test_ok("write", carom_buffer_write(f->arrays, 0, &expected, sizeof expected, &err), &err);
    test_ok("CPU", ask_contacts_of(q, f->m.expected, &expected, &totals, NULL, &err), &err);
    cl_fetched = cl_sent = 0;
    test_ok("device", ask_contacts_of(q, f->m.mesh, carom_buffer_address(f->arrays), &found, stats, &err), &err);
    const size_t crossed = cl_fetched + cl_sent;
    test_ok("read", carom_buffer_read(f->arrays, 0, &got, sizeof got, &err), &err);
    cl_fetched = crossed;
    if (memcmp(&found, &totals, sizeof totals) != 0 || memcmp(&got, &expected, sizeof got) != 0)
        fail_msg("%s: contacts differ from the CPU's", what);
}

/* Bends the scene: vertices that coincide still do, and no others. */
static void bend(fixture *f, int step)
{
    for (size_t i = 0; i < f->was.vertex_count; i++) {
        const float *p = f->was.vertices + 3 * i;
        float *to = f->m.s.vertices + 3 * i;
        to[0] = p[0] * (1 + 0.125f * (float)step);
        to[1] = p[1] + 0.0625f * (float)step * p[0] * p[0];
        to[2] = p[2] - 0.03125f * (float)(step * step) * p[0] * p[1];
    }
}

static scene scene_numbered(int i)
{
    scene s;
    switch (i) {
    case 0: return scene_sphere(8);
    case 1: s = scene_sphere(4); return scene_both(s, scene_copy(&s)); /* each triangle has a twin */
    case 2: return scene_both(scene_sphere(5), scene_soup(SEED, 600, 0.05));
    case 3: return scene_box(-1, -1, -1, 1, 1, 1); /* one leaf */
    case 4:
        s = scene_floor(20);
        s.masks = random_masks(SEED, s.triangle_count);
        return s;
    default: return scene_floor(30);
    }
}

/* The device's culling data for a kind of queries has the CPU's bytes. */
static void expect_same_culling(const moving *m, const question *q, const char *what)
{
    const caromi_culling *c = caromi_culling_of(m->expected->edges, q->has_masks);
    const size_t leaves = m->expected->leaf_count * CAROMI_OPPOSITES_BYTES(16),
                 nodes = m->expected->info.node_count * CAROMI_CONES_BYTES(16);
    char *here = test_alloc(leaves + nodes, 1);
    if (!cl_peek(leaves, here) || memcmp(here, c->opposites, leaves) != 0)
        fail_msg("%s: third corners differ from the CPU's", what);
    if (nodes > 0 && (!cl_peek(nodes, here) || memcmp(here, c->cones, nodes) != 0))
        fail_msg("%s: cones differ from the CPU's", what);
    free(here);
}

static void follow(int number)
{
    fixture f = make_fixture(scene_numbered(number), CAROM_BACKEND_OPENCL);
    for (int step = 0; step < STEPS; step++) {
        const question q = {.has_masks = f.m.s.masks != NULL && step == STEPS - 1};
        carom_stats stats = {.size = sizeof stats};
        char what[64];
        (void)snprintf(what, sizeof what, "scene %d, step %d", number, step);
        bend(&f, step);
        make_spheres(&f.m.s, (uint64_t)step);
        (void)move_both(&f.m, TOGETHER, CAROM_MESH_REFIT);
        assert_true(f.m.mesh->is_stale);
        compare(&f, &q, &stats, what);
        if (step == 0) /* the first contacts: the host finds edges and corners */
            continue;
        assert_true(f.m.mesh->is_stale);
        assert_int_equal(stats.brought + stats.returned, 0);
        if (step == 1 || q.has_masks) /* the first ones after a refit upload tables for this kind of queries */
            expect_same_culling(&f.m, &q, what);
        else if (cl_fetched > CROSSES)
            fail_msg("%s: %zu bytes cross", what, (size_t)cl_fetched);
        compare(&f, &q, &stats, what);
        assert_true(f.m.mesh->is_stale && cl_fetched <= CROSSES);
    }
    end_fixture(&f);
}

static void contacts_need_no_vertices(void **state)
{
    (void)state;
    need_binary64();
    for (int number = 0; number < SCENES; number++)
        follow(number);
}

/* Vertices that coincide come apart, or others come together: the host finds edges and corners anew, and later moves
 * are followed again. Zeros of both signs are one position. */
static void other_corners_are_found_anew(void **state)
{
    enum { APART, TOGETHER_NOW, ZEROS, KINDS };
    const question q = {0};
    (void)state;
    need_binary64();
    for (int kind = 0; kind < KINDS; kind++) {
        scene s = scene_sphere(5);
        fixture f = make_fixture(scene_both(s, scene_copy(&s)), CAROM_BACKEND_OPENCL);
        carom_stats stats = {.size = sizeof stats};
        float *const vertices = f.m.s.vertices, *const last = vertices + 3 * (f.m.s.vertex_count - 1);
        for (int step = 0; step < 8; step++) {
            const int is_other = step / 2 % 2 == 1 && kind != ZEROS; /* two steps each */
            bend(&f, kind == ZEROS ? 0 : step);
            if (kind == ZEROS)
                for (size_t i = 0; i < 3 * f.m.s.vertex_count; i++)
                    vertices[i] = vertices[i] == 0 ? (i + (size_t)step) % 2 ? -0.0f : 0.0f : vertices[i];
            else if (is_other && kind == APART)
                last[0] += 0.01f;
            else if (is_other)
                memcpy(vertices, vertices + 3 * (f.m.s.vertex_count / 4), 3 * sizeof(float));
            make_spheres(&f.m.s, (uint64_t)step);
            (void)move_both(&f.m, TOGETHER, CAROM_MESH_REFIT);
            compare(&f, &q, &stats, kind == APART ? "apart" : kind == ZEROS ? "zeros" : "together");
            assert_int_equal(f.m.mesh->is_stale, step % 2 == 1 || (kind == ZEROS && step > 0));
        }
        end_fixture(&f);
    }
}

/* Exact answers and found patches may need the host's copy; given answers are those of the CPU. */
static void what_the_host_decides_is_brought(void **state)
{
    (void)state;
    need_binary64();
    fixture f = make_fixture(scene_numbered(5), CAROM_BACKEND_OPENCL);
    for (int step = 0; step < 8; step++) {
        const question q = {.accuracy = step % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST,
                            .has_patches = step >= 4};
        carom_stats stats = {.size = sizeof stats};
        bend(&f, step % 4 + 1);
        make_spheres(&f.m.s, (uint64_t)step);
        (void)move_both(&f.m, TOGETHER, CAROM_MESH_REFIT);
        compare(&f, &q, &stats, "exact or with patches");
        assert_true(!q.has_patches || !f.m.mesh->is_stale);
    }
    end_fixture(&f);
}

/* A list of hits in the buffer after a refit has the CPU's bytes, and in fast mode needs no vertices. */
static carom_status ask_list(carom_accuracy accuracy, carom_mesh *mesh, contact_arrays *at, carom_list_totals *totals,
                             carom_error *err)
{
    static const float along = 0.5f;
    const carom_mesh_sweep_desc desc = {.batch = {.size = sizeof desc, .count = COUNT, .accuracy = accuracy},
                                        .center = {at->spheres, at->spheres + 1, at->spheres + 2, 4 * sizeof(float)},
                                        .radius = {at->spheres + 3, 4 * sizeof(float)},
                                        .velocity = {&along, &along, &along, CAROM_REPEAT}};
    const carom_hit_list list = {.size = sizeof list,
                                 .capacity = HITS,
                                 .offsets = at->offsets,
                                 .query = at->query,
                                 .triangle = at->triangle,
                                 .t = at->distance,
                                 .normal = carom_xyz_out(at->normal),
                                 .totals = totals};
    return carom_mesh_sweep_list(mesh, &desc, CAROM_HITS_ALL, &list, NULL, err);
}

static void lists_need_no_vertices(void **state)
{
    (void)state;
    fixture f = make_fixture(scene_numbered(2), CAROM_BACKEND_OPENCL);
    for (int step = 0; step < 4; step++) {
        const carom_accuracy accuracy =
            step % 2 && test_need_device().fp64 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        carom_list_totals totals = {0}, found = {0};
        carom_error err = {0};
        bend(&f, step);
        make_spheres(&f.m.s, (uint64_t)step);
        (void)move_both(&f.m, TOGETHER, CAROM_MESH_REFIT);
        test_ok("write", carom_buffer_write(f.arrays, 0, &expected, sizeof expected, &err), &err);
        test_ok("CPU", ask_list(accuracy, f.m.expected, &expected, &totals, &err), &err);
        test_ok("device", ask_list(accuracy, f.m.mesh, carom_buffer_address(f.arrays), &found, &err), &err);
        assert_true(f.m.mesh->is_stale || accuracy == CAROM_ACCURACY_EXACT);
        test_ok("read", carom_buffer_read(f.arrays, 0, &got, sizeof got, &err), &err);
        assert_memory_equal(&found, &totals, sizeof totals);
        assert_memory_equal(&got, &expected, sizeof got);
    }
    end_fixture(&f);
}

/* A device that fails at any launch of a call after a refit: the CPU has the same bytes. */
static void a_failing_device_changes_no_byte(void **state)
{
    const question q = {0};
    (void)state;
    need_binary64();
    for (int launch = 1; launch < 40; launch += 4) {
        carom_stats stats = {.size = sizeof stats};
        fixture f = make_fixture(scene_numbered(2), CAROM_BACKEND_AUTO);
        for (int step = 0; step < 3; step++) {
            bend(&f, step);
            make_spheres(&f.m.s, (uint64_t)step);
            (void)move_both(&f.m, TOGETHER, CAROM_MESH_REFIT);
            cl_sabotage(CALL_LAUNCH, step == 2 ? launch : 0, 0);
            compare(&f, &q, &stats, "after a failed launch");
            cl_sabotage(CALL_LAUNCH, 0, 0);
        }
        end_fixture(&f);
    }
}

int main(void)
{
    cl_seen_as.discrete = 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contacts_need_no_vertices), cmocka_unit_test(other_corners_are_found_anew),
        cmocka_unit_test(what_the_host_decides_is_brought), cmocka_unit_test(lists_need_no_vertices),
        cmocka_unit_test(a_failing_device_changes_no_byte)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
