/* SPDX-License-Identifier: MIT */
/* Meshes that a device refits to vertices in its memory: the leaves and nodes there have the bytes of the CPU's refit,
 * nearly nothing crosses, and whatever needs the host's copy brings it up to date, or fails if the device is lost. */
#include "host/bvh/mesh_data.h"
#include "tests/support/call_cases.h"
#include "tests/support/cl_caller.h"
#include "tests/support/lists.h"

#include <math.h>

enum { SEED = 71, CROSSES = 64 };

/* ---- vertices in a buffer ---------------------------------------------------------------------------------------- */

/* How the vertices lie in the buffer. */
typedef enum layout { TOGETHER, IN_COLUMNS, WITH_GAPS, UNALIGNED, LAYOUTS } layout;
static const size_t strides[LAYOUTS] = {12, 4, 40, 13};

typedef struct moving {
    carom_context *context, *cpu;
    carom_mesh *mesh, *expected; /* on the device and on the CPU */
    carom_buffer *buffer;
    scene s;
    size_t bytes;
} moving;

static carom_context *open_discrete(carom_backend backend, uint32_t lanes)
{
    carom_context_desc desc = test_desc(backend);
    carom_context *context = NULL;
    carom_error err = {0};
    (void)test_need_device();
    cl_relieve();
    desc.device_lanes = lanes;
    test_ok("context", carom_context_create(&desc, &context, &err), &err);
    return context;
}

/* Takes the scene. */
static moving start_as(scene s, carom_backend backend, uint32_t lanes)
{
    moving m = {.context = open_discrete(backend, lanes), .s = s, .bytes = 44 * s.vertex_count + 64};
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = m.bytes, .where = CAROM_BUFFER_DEVICE};
    carom_error err = {0};
    m.cpu = test_cpu(CAROM_ISA_AUTO, 2);
    m.mesh = scene_mesh(m.context, &s);
    m.expected = scene_mesh(m.cpu, &s);
    test_ok("buffer", carom_buffer_create(m.context, &desc, &m.buffer, &err), &err);
    return m;
}

static moving start(scene s)
{
    return start_as(s, CAROM_BACKEND_OPENCL, 1);
}

static void end(moving *m)
{
    carom_buffer_destroy(m->buffer);
    carom_mesh_destroy(m->mesh);
    carom_mesh_destroy(m->expected);
    carom_context_destroy(m->context);
    carom_context_destroy(m->cpu);
    scene_free(&m->s);
    cl_relieve();
}

static void finish(moving *m)
{
    end(m);
    cl_expect_none("refit");
}

/* Writes the scene's vertices to the buffer. */
static carom_points send(const moving *m, layout how)
{
    const size_t stride = strides[how], apart = how == IN_COLUMNS ? 4 * m->s.vertex_count : 4;
    const size_t from = how == UNALIGNED ? 3 : how == WITH_GAPS ? 8 : 0;
    unsigned char *bytes = test_alloc(m->bytes, 1);
    carom_error err = {0};
    for (size_t i = 0; i < m->s.vertex_count; i++)
        for (size_t k = 0; k < 3; k++)
            memcpy(bytes + from + i * stride + k * apart, &m->s.vertices[3 * i + k], sizeof(float));
    test_ok("write", carom_buffer_write(m->buffer, 0, bytes, m->bytes, &err), &err);
    free(bytes);
    char *base = (char *)carom_buffer_address(m->buffer) + from;
    return (carom_points){(const float *)(void *)base, (const float *)(void *)(base + apart),
                          (const float *)(void *)(base + 2 * apart), stride};
}

static void move_expected(const moving *m, carom_mesh_follow how)
{
    const carom_points vertices = scene_desc(&m->s).vertices;
    carom_error err = {0};
    test_ok("the CPU's update", carom_mesh_update(m->expected, &vertices, how, &err), &err);
}

/* Moves both meshes to the scene's vertices. Returns the number of bytes that crossed for the one on the device. */
static size_t move_both(const moving *m, layout where, carom_mesh_follow how)
{
    const carom_points vertices = send(m, where);
    carom_error err = {0};
    move_expected(m, how);
    cl_fetched = cl_sent = 0;
    test_ok("update", carom_mesh_update(m->mesh, &vertices, how, &err), &err);
    return cl_fetched + cl_sent;
}

static void expect_same_info(const moving *m)
{
    carom_mesh_info a = {.size = sizeof a}, b = {.size = sizeof b};
    carom_error err = {0};
    test_ok("info", carom_mesh_get_info(m->mesh, &a, &err), &err);
    test_ok("info", carom_mesh_get_info(m->expected, &b, &err), &err);
    a.bytes = b.bytes;
    assert_memory_equal(&a, &b, sizeof a);
    assert_memory_equal(&m->mesh->view.frame, &m->expected->view.frame, sizeof m->mesh->view.frame);
}

/* The arrays on the device, if it has refitted the mesh, and then those of the host. */
static void expect_same_bytes(const moving *m, const char *what)
{
    const size_t nodes = m->expected->info.node_count * sizeof(mesh_node),
                 leaves = m->expected->leaf_count * sizeof(mesh_leaf);
    char *got = test_alloc(nodes + leaves, 1);
    if (m->mesh->is_stale) {
        if (!cl_peek(leaves, got) || memcmp(got, m->expected->leaves, leaves) != 0)
            fail_msg("%s: the leaves on the device differ from the CPU's", what);
        if (nodes > 0 && (!cl_peek(nodes, got) || memcmp(got, m->expected->nodes, nodes) != 0))
            fail_msg("%s: the nodes on the device differ from the CPU's", what);
    }
    free(got);
    expect_same_info(m);
    if (memcmp(m->mesh->leaves, m->expected->leaves, leaves) != 0)
        fail_msg("%s: the leaves on the host differ from the CPU's", what);
    if (nodes > 0 && memcmp(m->mesh->nodes, m->expected->nodes, nodes) != 0)
        fail_msg("%s: the nodes on the host differ from the CPU's", what);
}

static void expect_same_hits(const moving *m, const swept_spheres *b, carom_accuracy accuracy, const char *what)
{
    hits before = sweep_as(m->expected, b, accuracy), after = sweep_as(m->mesh, b, accuracy);
    hits_compare(b, &before, &after, b->count, -1, what);
    hits_free(&before);
    hits_free(&after);
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

static float any_number(ref_gen *g)
{
    const uint32_t bits = (uint32_t)ref_gen_bits(g);
    float x;
    memcpy(&x, &bits, sizeof x);
    return isfinite(x) ? x : 0.5f;
}

/* Moves from the shape of `from`: shaken, squeezed to a plane, arbitrary bits, huge, tiny, zeros, one vertex far off.
 */
enum { MOVES = 9 };
static void move_scene(scene *s, const scene *from, uint64_t seed, int kind)
{
    ref_gen g;
    ref_gen_seed(&g, 71, SEED, seed);
    for (size_t i = 0; i < 3 * s->vertex_count; i++) {
        const float was = from->vertices[i];
        const uint64_t r = ref_gen_bits(&g);
        const float shift = (float)(int)(r >> 40 & 0xffff) * 0x1p-16f;
        s->vertices[i] = kind == 0   ? was + 0.01f * shift
                         : kind == 1 ? was * 3.0f + shift
                         : kind == 2 ? (i % 3 == 1 ? -0.0f : was)
                         : kind == 3 ? any_number(&g)
                         : kind == 4 ? was * 0x1p126f
                         : kind == 5 ? was * 0x1p-140f
                         : kind == 6 ? (r % 2 ? -0.0f : 0.0f)
                         : kind == 7 ? (r % 8    ? was
                                        : r % 16 ? -0.0f
                                                 : 0.0f)
                                     : -was;
    }
    if (kind == 8)
        s->vertices[3 * (seed % s->vertex_count)] = -3000.0f;
}

static scene scene_numbered(int i)
{
    switch (i) {
    case 0: return scene_soup(SEED, 500, 0.1);
    case 1: return scene_sphere(8);
    case 2: return scene_both(scene_sphere(5), scene_soup(SEED, 3000, 0.01));
    case 3: return scene_soup(SEED, 1, 1.0);
    case 4: return scene_soup(SEED, 16, 1.0);
    case 5: return scene_box(-1, -1, -1, 1, 1, 1);
    default: return scene_floor(40);
    }
}
enum { SCENES = 7 };

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void follow(int number)
{
    moving m = start(scene_numbered(number));
    scene was = scene_copy(&m.s);
    swept_spheres b = swept_spheres_mixed(SEED, 300);
    (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT); /* builds programs and copies the mesh */
    for (int kind = 0; kind < MOVES; kind++) {
        char what[64];
        (void)snprintf(what, sizeof what, "scene %d, move %d", number, kind);
        move_scene(&m.s, &was, (uint64_t)kind, kind);
        const size_t crossed = move_both(&m, (layout)(kind % LAYOUTS), CAROM_MESH_REFIT);
        if (crossed > CROSSES)
            fail_msg("%s: %zu bytes cross", what, crossed);
        assert_true(m.mesh->is_stale);
        cl_fetched = cl_sent = 0;
        expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, what);
        assert_true(m.mesh->is_stale); /* a search needs nothing of the host */
        if (kind % 2)
            expect_same_hits(&m, &b, CAROM_ACCURACY_EXACT, what);
        expect_same_bytes(&m, what);
        assert_false(m.mesh->is_stale);
        expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, what);
    }
    swept_spheres_free(&b);
    scene_free(&was);
    finish(&m);
}

static void each_mesh_follows(void **state)
{
    (void)state;
    for (int number = 0; number < SCENES; number++)
        follow(number);
}

/* Updates in any order: on the device, from the host, with a rebuild, with a vertex that is refused. */
static void updates_in_any_order(void **state)
{
    (void)state;
    moving m = start(scene_both(scene_sphere(6), scene_soup(SEED, 400, 0.05)));
    scene was = scene_copy(&m.s);
    swept_spheres b = swept_spheres_mixed(SEED, 40);
    ref_gen g;
    ref_gen_seed(&g, 72, SEED, 0);
    for (uint64_t step = 0; step < test_effort(120); step++) {
        const uint64_t r = ref_gen_bits(&g);
        const carom_mesh_follow how = r % 8 == 0 ? CAROM_MESH_REBUILD : r % 8 < 3 ? CAROM_MESH_AUTO : CAROM_MESH_REFIT;
        const layout where = (layout)(r >> 8 & 3);
        char what[64];
        (void)snprintf(what, sizeof what, "step %llu", (unsigned long long)step);
        move_scene(&m.s, &was, step, (int)((r >> 16) % MOVES));
        if (r >> 24 & 1) {
            const carom_points vertices = scene_desc(&m.s).vertices;
            carom_error err = {0};
            move_expected(&m, how);
            test_ok("update", carom_mesh_update(m.mesh, &vertices, how, &err), &err);
        } else {
            (void)move_both(&m, where, how);
        }
        if (r >> 25 & 1)
            expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, what);
        if ((r >> 26 & 3) == 0 && how != CAROM_MESH_AUTO)
            expect_same_info(&m);
    }
    swept_spheres_free(&b);
    scene_free(&was);
    finish(&m);
}

/* `auto` builds a worn hierarchy anew, on the host. */
static void worn_hierarchies_are_rebuilt(void **state)
{
    (void)state;
    moving m = start(scene_sphere(10));
    swept_spheres b = swept_spheres_mixed(SEED, 300);
    uint32_t *order = random_order(SEED, m.s.vertex_count);
    scene was = scene_copy(&m.s);
    for (size_t i = 0; i < m.s.vertex_count; i++)
        memcpy(m.s.vertices + 3 * i, was.vertices + 3 * (size_t)order[i], 3 * sizeof(float));
    (void)move_both(&m, TOGETHER, CAROM_MESH_AUTO);
    expect_same_bytes(&m, "a worn hierarchy");
    assert_int_equal(m.mesh->info.refits, 0);
    expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, "a worn hierarchy");
    move_scene(&m.s, &was, 1, 1);
    (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT);
    expect_same_bytes(&m, "refitted after a rebuild");
    free(order);
    scene_free(&was);
    swept_spheres_free(&b);
    finish(&m);
}

static carom_status update_from(const moving *m, carom_mesh *mesh, int in_buffer, carom_error *err)
{
    const carom_points vertices = in_buffer ? send(m, TOGETHER) : scene_desc(&m->s).vertices;
    return carom_mesh_update(mesh, &vertices, CAROM_MESH_REFIT, err);
}

/* A used vertex that is not finite is refused with the CPU's words, and the mesh stays as it was. */
static void bad_vertices_are_refused(void **state)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    (void)state;
    scene s = scene_sphere(6), more = scene_alloc(s.vertex_count + 1, s.triangle_count); /* one vertex is not used */
    memcpy(more.vertices, s.vertices, 3 * s.vertex_count * sizeof *s.vertices);
    memcpy(more.indices, s.indices, 3 * s.triangle_count * sizeof *s.indices);
    scene_free(&s);
    moving m = start(more);
    swept_spheres b = swept_spheres_mixed(SEED, 200);
    scene was = scene_copy(&m.s);
    was.vertices[3 * was.vertex_count - 1] = NAN;
    for (uint64_t i = 0; i < 12; i++) {
        carom_error here = {0}, there = {0};
        move_scene(&m.s, &was, i, (int)(i % 2));
        (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT);
        const int stale = i % 3 != 0;
        if (!stale)
            expect_same_info(&m);
        m.s.vertices[(97 * i + 31) % (3 * m.s.vertex_count - 3)] = bad[i % 3];
        m.s.vertices[(291 * i + 7) % (3 * m.s.vertex_count - 3)] = bad[i % 3];
        test_error(update_from(&m, m.expected, 0, &here), CAROM_ERROR_INVALID_ARGUMENT, &here, "not finite");
        cl_fetched = cl_sent = 0;
        const carom_points vertices = send(&m, TOGETHER);
        cl_fetched = cl_sent = 0;
        test_error(carom_mesh_update(m.mesh, &vertices, CAROM_MESH_REFIT, &there), CAROM_ERROR_INVALID_ARGUMENT, &there,
                   "not finite");
        assert_string_equal(here.message, there.message);
        assert_true(cl_fetched + cl_sent <= CROSSES);
        assert_int_equal(m.mesh->is_stale, stale);
        expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, "after a refusal");
        expect_same_bytes(&m, "after a refusal");
    }
    scene_free(&was);
    swept_spheres_free(&b);
    finish(&m);
}

/* One vertex for all corners, by a stride of 0. */
static void all_corners_in_one_point(void **state)
{
    (void)state;
    moving m = start(scene_sphere(6));
    carom_points vertices = send(&m, TOGETHER);
    carom_error err = {0};
    vertices.stride = CAROM_REPEAT;
    test_ok("update", carom_mesh_update(m.mesh, &vertices, CAROM_MESH_REFIT, &err), &err);
    for (size_t i = 0; i < 3 * m.s.vertex_count; i++)
        m.s.vertices[i] = m.s.vertices[i % 3];
    move_expected(&m, CAROM_MESH_REFIT);
    assert_true(m.mesh->is_stale);
    expect_same_bytes(&m, "one point");
    finish(&m);
}

static void empty_meshes_stay_empty(void **state)
{
    (void)state;
    moving m = start(scene_sphere(2));
    carom_mesh *empty = NULL;
    const carom_mesh_desc desc = {.size = sizeof desc};
    carom_error err = {0};
    const carom_points vertices = send(&m, TOGETHER);
    test_ok("create", carom_mesh_create(m.context, &desc, &empty, &err), &err);
    test_ok("update", carom_mesh_update(empty, &vertices, CAROM_MESH_AUTO, &err), &err);
    carom_mesh_destroy(empty);
    finish(&m);
}

/* Every call of a mesh that a device has moved answers as that of one that the CPU has moved. */
static void each_call_follows(void **state)
{
    (void)state;
    moving m = start(call_scene());
    scene was = scene_copy(&m.s);
    for (int i = 0; i < call_choices(); i++) {
        const call_choice choice = call_choice_at(i);
        if (!call_is_of_mesh(call_type(choice.number)))
            continue;
        carom_error err = {0};
        call_case *expected = call_case_make(choice, 300, 4), *got = call_case_make(choice, 300, 4);
        move_scene(&m.s, &was, (uint64_t)i, 1);
        (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT);
        assert_true(m.mesh->is_stale);
        test_ok(call_case_name(expected), call_case_ask(expected, m.cpu, m.expected, &err), &err);
        test_ok(call_case_name(got), call_case_ask(got, m.context, m.mesh, &err), &err);
        call_case_compare_first(expected, got, got->count, "after a refit on the device");
        call_case_free(expected);
        call_case_free(got);
    }
    scene_free(&was);
    finish(&m);
}

/* The image of a mesh is that of the moved one. */
static void images_follow(void **state)
{
    (void)state;
    moving m = start(scene_sphere(6));
    scene was = scene_copy(&m.s);
    uint64_t bytes = 0;
    carom_error err = {0};
    move_scene(&m.s, &was, 3, 1);
    (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT);
    test_ok("size", carom_mesh_get_image(m.mesh, NULL, 0, &bytes, &err), &err);
    char *got = test_alloc(bytes, 1), *expected = test_alloc(bytes, 1);
    move_scene(&m.s, &was, 4, 1);
    (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT);
    test_ok("image", carom_mesh_get_image(m.mesh, got, bytes, &bytes, &err), &err);
    test_ok("image", carom_mesh_get_image(m.expected, expected, bytes, &bytes, &err), &err);
    assert_memory_equal(got, expected, bytes);
    free(got);
    free(expected);
    scene_free(&was);
    finish(&m);
}

/* A device that is lost takes the vertices with it. The mesh reports that until it gets new ones. */
static void lost_vertices_are_reported(void **state)
{
    static const carom_backend backends[] = {CAROM_BACKEND_OPENCL, CAROM_BACKEND_AUTO};
    (void)state;
    for (int i = 0; i < 2; i++) {
        moving m = start_as(scene_sphere(6), backends[i], 1);
        swept_spheres b = swept_spheres_mixed(SEED, 200);
        carom_mesh_sweep_desc desc = swept_spheres_desc(&b, 0, b.count);
        hits h = hits_alloc(b.count, 0);
        const carom_mesh_hit_result result = hits_result(&h, 0);
        carom_mesh_info info = {.size = sizeof info};
        carom_error err = {0};
        scene was = scene_copy(&m.s);
        move_scene(&m.s, &was, 0, 1);
        expect_same_hits(&m, &b, CAROM_ACCURACY_EXACT, "before the loss");
        (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT);
        cl_sabotage(CALL_READ, 1, 1);
        test_error(carom_mesh_get_info(m.mesh, &info, &err), CAROM_ERROR_DEVICE_LOST, &err, "moved on a device");
        assert_true(m.mesh->is_stale);
        desc.batch.accuracy = CAROM_ACCURACY_EXACT;
        test_error(carom_mesh_sweep_first(m.mesh, &desc, &result, NULL, &err), CAROM_ERROR_DEVICE_LOST, &err,
                   "moved on a device");
        cl_relieve();
        move_scene(&m.s, &was, 1, 1);
        move_expected(&m, CAROM_MESH_REFIT);
        test_ok("new vertices", update_from(&m, m.mesh, 0, &err), &err);
        expect_same_info(&m);
        if (backends[i] == CAROM_BACKEND_AUTO)
            expect_same_hits(&m, &b, CAROM_ACCURACY_EXACT, "new vertices");
        hits_free(&h);
        swept_spheres_free(&b);
        scene_free(&was);
        finish(&m);
    }
}

/* A refit that fails at any command: of `auto` the CPU goes on, with `opencl` the mesh has its old vertices. */
static void check_failure(carom_backend backend, cl_call call, int at, int *failed)
{
    moving m = start_as(scene_both(scene_sphere(9), scene_soup(SEED, 300, 0.1)), backend, 1);
    scene was = scene_copy(&m.s), first = scene_copy(&m.s);
    carom_error err = {0};
    move_scene(&first, &was, 0, 1);
    memcpy(m.s.vertices, first.vertices, 3 * first.vertex_count * sizeof(float));
    (void)move_both(&m, TOGETHER, CAROM_MESH_REFIT);
    move_scene(&m.s, &was, 1, 0);
    const carom_points vertices = send(&m, TOGETHER);
    cl_sabotage(call, at, 0);
    const carom_status status = carom_mesh_update(m.mesh, &vertices, CAROM_MESH_REFIT, &err);
    *failed = cl_calls(call) >= at;
    cl_relieve();
    if (backend == CAROM_BACKEND_AUTO || !*failed)
        assert_int_equal(status, CAROM_OK);
    else
        assert_int_equal(status, CAROM_ERROR_DEVICE_LOST);
    if (status != CAROM_OK)
        memcpy(m.s.vertices, first.vertices, 3 * first.vertex_count * sizeof(float));
    if (*failed || status == CAROM_OK)
        move_expected(&m, CAROM_MESH_REFIT);
    carom_mesh_info info = {.size = sizeof info};
    test_ok("info", carom_mesh_get_info(m.mesh, &info, &err), &err); /* the driver still returns the vertices */
    assert_memory_equal(m.mesh->vertices, m.expected->vertices, 12 * m.s.vertex_count);
    assert_memory_equal(m.mesh->leaves, m.expected->leaves, m.expected->leaf_count * sizeof(mesh_leaf));
    scene_free(&was);
    scene_free(&first);
    finish(&m);
}

static void failing_refits_lose_nothing(void **state)
{
    static const cl_call fail[] = {CALL_LAUNCH, CALL_READ, CALL_ARGUMENT};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(fail); i++)
        for (int backend = 0; backend < 2; backend++) {
            int failed = 1;
            for (int at = 1; failed && at < 200; at += fail[i] == CALL_ARGUMENT ? 23 : 2)
                check_failure(backend ? CAROM_BACKEND_AUTO : CAROM_BACKEND_OPENCL, fail[i], at, &failed);
            assert_false(failed);
        }
}

/* Without memory for a refit there the host refits, with `auto`; with `opencl` that is an error, and nothing moves. */
static void scarce_memory_is_no_loss(void **state)
{
    (void)state;
    int failed = 1;
    for (int at = 1; failed && at < 60; at += 2)
        for (int backend = 0; backend < 2; backend++) {
            moving m = start_as(scene_sphere(9), backend ? CAROM_BACKEND_AUTO : CAROM_BACKEND_OPENCL, 1);
            scene was = scene_copy(&m.s);
            carom_error err = {0};
            move_scene(&m.s, &was, 0, 1);
            const carom_points vertices = send(&m, TOGETHER);
            cl_sabotage(CALL_BUFFER, at, 1);
            const carom_status status = carom_mesh_update(m.mesh, &vertices, CAROM_MESH_REFIT, &err);
            failed = cl_calls(CALL_BUFFER) >= at;
            cl_relieve();
            if (failed && backend == 0)
                assert_int_equal(status, CAROM_ERROR_OUT_OF_MEMORY);
            else
                test_ok("update", status, &err);
            if (status == CAROM_OK)
                move_expected(&m, CAROM_MESH_REFIT);
            else
                assert_int_equal(m.mesh->info.refits, 0);
            carom_mesh_info info = {.size = sizeof info};
            test_ok("info", carom_mesh_get_info(m.mesh, &info, &err), &err);
            assert_memory_equal(m.mesh->leaves, m.expected->leaves, m.expected->leaf_count * sizeof(mesh_leaf));
            scene_free(&was);
            finish(&m);
        }
    assert_false(failed);
}

/* With lanes the vertices are brought, as by any device that does not refit. */
static void other_devices_bring_the_vertices(void **state)
{
    static const uint32_t lanes[] = {4, 8, 16};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lanes); i++) {
        moving m = start_as(scene_sphere(6), CAROM_BACKEND_OPENCL, lanes[i]);
        scene was = scene_copy(&m.s);
        swept_spheres b = swept_spheres_mixed(SEED, 200);
        move_scene(&m.s, &was, 0, 1);
        assert_true(move_both(&m, TOGETHER, CAROM_MESH_REFIT) >= 12 * m.s.vertex_count);
        assert_false(m.mesh->is_stale);
        expect_same_bytes(&m, "lanes");
        expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, "lanes");
        swept_spheres_free(&b);
        scene_free(&was);
        finish(&m);
    }
}

/* The vertices are in the program's own cl_mem, of a device that shares the host's memory too. */
static void vertices_of_the_callers_opencl(void **state)
{
    (void)state;
    for (int discrete = 0; discrete < 2; discrete++) {
        cl_seen_as.discrete = discrete;
        caller c = caller_on(find_device(test_need_device().index));
        const carom_opencl_desc cl = {.size = sizeof cl, .context = c.context, .device = c.device, .queue = c.queue};
        carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
        moving m = {.s = scene_both(scene_sphere(6), scene_soup(SEED, 300, 0.1))};
        swept_spheres b = swept_spheres_mixed(SEED, 200);
        carom_error err = {0};
        cl_int code;
        desc.device = NULL;
        desc.device_lanes = 1;
        m.bytes = 44 * m.s.vertex_count + 64;
        const cl_mem memory = clCreateBuffer(c.context, CL_MEM_READ_WRITE, m.bytes + 256, NULL, &code);
        test_ok("context", carom_context_create_opencl(&desc, &cl, &m.context, &err), &err);
        test_ok("wrap", carom_buffer_wrap_opencl(m.context, memory, 256, m.bytes, &m.buffer, &err), &err);
        m.cpu = test_cpu(CAROM_ISA_AUTO, 2);
        m.mesh = scene_mesh(m.context, &m.s);
        m.expected = scene_mesh(m.cpu, &m.s);
        scene was = scene_copy(&m.s);
        expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, "before any move");
        for (int kind = 0; kind < 3; kind++) {
            move_scene(&m.s, &was, (uint64_t)kind, kind);
            (void)move_both(&m, (layout)(kind % LAYOUTS), CAROM_MESH_REFIT);
            assert_true(m.mesh->is_stale);
            expect_same_hits(&m, &b, CAROM_ACCURACY_FAST, "the caller's memory");
            expect_same_bytes(&m, "the caller's memory");
        }
        scene_free(&was);
        swept_spheres_free(&b);
        end(&m);
        (void)clReleaseMemObject(memory);
        caller_close(&c);
        cl_expect_none("the caller's memory");
    }
}

/* A device whose refit has other bits is refused: with `auto` the CPU refits. */
static void wrong_devices_are_refused(void **state)
{
    static const cl_patch wrong[] = {{"own->row[row][lane] = x;", "own->row[row][lane] = x * 1.5f;"},
                                     {"R(0.5) * REFIT_BALL_MARGIN", "R(0.25) * REFIT_BALL_MARGIN"},
                                     {"row >= 3 ? x > extreme", "row > 3 ? x > extreme"},
                                     {"distance = is_marked ? d", "distance = is_marked ? d + 1"},
                                     {"for (uint d = 1; d < distance; d++)", "for (uint d = 2; d < distance; d++)"},
                                     {"refused = finite ? refused", "refused = 1 ? refused"}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        const int is_auto = i % 2;
        moving m = start_as(scene_sphere(6), is_auto ? CAROM_BACKEND_AUTO : CAROM_BACKEND_OPENCL, 1);
        scene was = scene_copy(&m.s);
        carom_error err = {0};
        move_scene(&m.s, &was, 0, 1);
        const carom_points vertices = send(&m, TOGETHER);
        cl_text_patch = wrong[i];
        const carom_status status = carom_mesh_update(m.mesh, &vertices, CAROM_MESH_REFIT, &err);
        cl_text_patch = (cl_patch){NULL, NULL};
        if (is_auto) {
            test_ok("update", status, &err);
            move_expected(&m, CAROM_MESH_REFIT);
        } else {
            assert_true(status == CAROM_ERROR_NOT_BIT_EXACT || status == CAROM_ERROR_DEVICE_LOST);
        }
        assert_false(m.mesh->is_stale);
        expect_same_info(&m);
        scene_free(&was);
        finish(&m);
    }
}

/* 10^6 triangles. */
static void large_meshes_follow(void **state)
{
    (void)state;
    moving m = start(scene_both(scene_sphere(300), scene_soup(SEED, 280000, 0.01)));
    scene was = scene_copy(&m.s);
    move_scene(&m.s, &was, 0, 1);
    (void)move_both(&m, WITH_GAPS, CAROM_MESH_REFIT);
    expect_same_bytes(&m, "a large mesh");
    scene_free(&was);
    finish(&m);
}

int main(void)
{
    cl_seen_as.discrete = 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_mesh_follows),
                                       cmocka_unit_test(updates_in_any_order),
                                       cmocka_unit_test(worn_hierarchies_are_rebuilt),
                                       cmocka_unit_test(bad_vertices_are_refused),
                                       cmocka_unit_test(all_corners_in_one_point),
                                       cmocka_unit_test(empty_meshes_stay_empty),
                                       cmocka_unit_test(each_call_follows),
                                       cmocka_unit_test(images_follow),
                                       cmocka_unit_test(lost_vertices_are_reported),
                                       cmocka_unit_test(failing_refits_lose_nothing),
                                       cmocka_unit_test(scarce_memory_is_no_loss),
                                       cmocka_unit_test(other_devices_bring_the_vertices),
                                       cmocka_unit_test(vertices_of_the_callers_opencl),
                                       cmocka_unit_test(wrong_devices_are_refused),
                                       cmocka_unit_test(large_meshes_follow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
