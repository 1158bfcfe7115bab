/* SPDX-License-Identifier: MIT */
/* Contacts whose arrays lie in a buffer of a GPU: they have the CPU's bytes in every column, on meshes of every kind,
 * with ties, masks, margins and merging, in chunks, from a later query on, selected, without room for all, and after
 * vertices have moved. */
#include <math.h>

#include "tests/support/cl_shim.h"
#include "tests/support/scenes.h"

enum { MOST = 256, ELEMENTS = 300, HITS = 1 << 15, STRIDE = 28, CASES = 10, FAN = 700, CASES_EACH = 10 };

/* All arrays of a call, in one piece of memory. */
typedef struct contact_arrays {
    double flat;
    uint64_t offsets[MOST + 1], query[HITS];
    int32_t triangle[HITS];
    uint32_t patch[HITS], select[MOST], mask[ELEMENTS];
    float distance[HITS], depth[HITS], normal[3 * HITS];
    uint8_t feature[HITS];
    char point[STRIDE * HITS], spheres[ELEMENTS * STRIDE + 4];
} contact_arrays;

static contact_arrays expected, got;

typedef struct question {
    uint64_t begin, count, capacity;
    carom_accuracy accuracy;
    float margin, merge;
    unsigned wanted; /* outputs */
    size_t shift;    /* of the spheres, in bytes */
    int is_selected, is_masked, prepares;
    double flat;
} question;

static uint64_t seed = 1;
static uint32_t any(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % below;
}
static float unit(void)
{
    return (float)any(1u << 24) * 0x1p-23f - 1;
}

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

/* Pages of a book, or a fan around a corner, with more triangles at one feature than a work-item goes through. */
static scene fan_scene(int is_book)
{
    scene s = scene_alloc_apart(FAN);
    for (size_t t = 0; t < FAN; t++) {
        float *v = s.vertices + 9 * t;
        const float x = unit(), y = unit(), z = is_book ? 0 : unit() * 0.25f;
        const float own[9] = {0, 0, 0, is_book ? 0 : unit(), is_book ? 0 : unit(), is_book ? 1 : 0, x, y, z};
        memcpy(v, own, sizeof own);
    }
    return s;
}

/* A grid whose vertices lie on a coarse lattice: many triangles without area, and many that coincide. */
static scene crumpled_scene(void)
{
    scene s = scene_floor(6);
    for (size_t i = 0; i < 3 * s.vertex_count; i++)
        s.vertices[i] = i % 3 == 2 ? (float)any(3) * 0.125f : (float)(int)(s.vertices[i] * (any(8) ? 4 : 2)) * 0.25f;
    return s;
}

static scene scene_of(uint32_t kind)
{
    scene s;
    switch (kind) {
    case 0: return scene_floor(9);
    case 1: return scene_sphere(6);
    case 2: return scene_soup(any(1000), 150, 0.5);
    case 3: s = scene_soup(any(1000), 60, 0.7); return scene_both(s, scene_copy(&s));
    case 4: return scene_both(scene_box(-0.5f, -0.5f, -0.5f, 0.5f, 0.5f, 0.5f), scene_floor(5));
    case 5: return crumpled_scene();
    case 6: return fan_scene(0);
    case 7: return fan_scene(1);
    case 8: s = scene_floor(4); return scene_both(s, scene_floor(7)); /* T-junctions, and triangles upon others */
    default:
        s = scene_sphere(4);
        scene_scale(&s, (int)any(40) - 20);
        return s;
    }
}

/* ---- spheres ----------------------------------------------------------------------------------------------------- */

static void put(size_t shift, size_t i, const float sphere[4])
{
    memcpy(expected.spheres + shift + i * STRIDE, sphere, 4 * sizeof *sphere);
}

/* Spheres at corners, edges and faces, some straight above at exactly their radius; giant and invalid ones. */
static void make_spheres(const scene *s, size_t shift, float scale)
{
    static const float radii[] = {0, 0.125f, 0.25f, 0.01f, 0.5f};
    for (size_t i = 0; i < ELEMENTS; i++) {
        float p[3][3], sphere[4] = {unit() * scale, unit() * scale, unit() * scale, 0};
        const uint32_t kind = any(8), weight = any(3);
        const float r = any(3) ? radii[any(5)] * scale : (unit() + 1) * 0.3f * scale;
        scene_triangle(s, any((uint32_t)s->triangle_count), p);
        for (int k = 0; kind < 6 && k < 3; k++)
            sphere[k] = weight == 0   ? p[0][k]
                        : weight == 1 ? (p[0][k] + p[1][k]) * 0.5f
                                      : (p[0][k] + p[1][k] + p[2][k]) * (1 / 3.0f);
        if (kind < 3)
            sphere[2] += any(2) ? r : -r;
        else if (kind == 3)
            sphere[any(3)] += unit() * 1e-6f * scale;
        else if (kind == 4)
            sphere[2] += unit() * 0.2f * scale;
        sphere[3] = i % 61 == 7 ? 3 * scale : r;
        if (i % 67 == 5)
            sphere[any(4)] = NAN;
        put(shift, i, sphere);
    }
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static carom_status ask_contacts_of(const question *q, carom_mesh *mesh, contact_arrays *at, carom_list_totals *totals,
                                    carom_stats *stats, carom_error *err)
{
    const float *spheres = (const float *)(const void *)(at->spheres + q->shift);
    float *point = (float *)(void *)(at->point + 1);
    const carom_mesh_contacts_desc desc = {.batch = {.size = sizeof desc,
                                                     .begin = q->begin,
                                                     .count = q->count,
                                                     .elements = q->is_selected ? ELEMENTS : 0,
                                                     .select = {q->is_selected ? at->select : NULL, sizeof *at->select},
                                                     .accuracy = q->accuracy,
                                                     .prepare = (uint8_t)q->prepares},
                                           .center = {spheres, spheres + 1, spheres + 2, STRIDE},
                                           .radius = {spheres + 3, STRIDE},
                                           .mask = {q->is_masked ? at->mask : NULL, sizeof *at->mask},
                                           .flat = q->flat >= 0 ? &q->flat : NULL,
                                           .margin = q->margin,
                                           .merge_within = q->merge};
    const unsigned wanted = q->wanted;
    const carom_contact_list list = {.size = sizeof list,
                                     .capacity = q->capacity,
                                     .offsets = wanted & 1 ? at->offsets : NULL,
                                     .query = wanted & 2 ? at->query : NULL,
                                     .triangle = wanted & 4 ? at->triangle : NULL,
                                     .feature = wanted & 8 ? at->feature : NULL,
                                     .distance = wanted & 16 ? at->distance : NULL,
                                     .point = wanted & 32 ? (carom_points_out){point, point + 1, point + 2, STRIDE}
                                                          : (carom_points_out){0},
                                     .normal = wanted & 64 ? carom_xyz_out(at->normal) : (carom_points_out){0},
                                     .depth = wanted & 128 ? at->depth : NULL,
                                     .patch = wanted & 256 ? at->patch : NULL,
                                     .totals = totals};
    return carom_mesh_contacts(mesh, &desc, &list, stats, err);
}

/* A device and the CPU with the same mesh, and a buffer for the arrays. */
typedef struct fixture {
    scene s;
    carom_context *cpu, *context;
    carom_mesh *here, *there;
    carom_buffer *buffer;
} fixture;

static carom_buffer *buffer_of(carom_context *context, size_t bytes)
{
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = bytes, .where = CAROM_BUFFER_DEVICE};
    carom_buffer *buffer = NULL;
    carom_error err = {0};
    test_ok("buffer", carom_buffer_create(context, &desc, &buffer, &err), &err);
    return buffer;
}

static fixture open_fixture(carom_backend backend, uint32_t chunk)
{
    fixture f = {0};
    carom_error err = {0};
    carom_context_desc desc = test_desc(backend);
    (void)test_need_device();
    cl_seen_as.discrete = 1;
    cl_relieve();
    desc.device_lanes = 1;
    desc.device_chunk = chunk;
    f.cpu = test_cpu(CAROM_ISA_AUTO, 2);
    test_ok("context", carom_context_create(&desc, &f.context, &err), &err);
    f.buffer = buffer_of(f.context, sizeof got);
    return f;
}

static void close_fixture(fixture *f)
{
    carom_buffer_destroy(f->buffer);
    carom_context_destroy(f->context);
    carom_context_destroy(f->cpu);
    cl_relieve();
    cl_expect_none("contacts in a buffer");
}

static void open_meshes(fixture *f, scene s)
{
    f->s = s;
    f->here = scene_mesh_of_devices(f->cpu, &f->s);
    f->there = scene_mesh(f->context, &f->s);
}

static void close_meshes(fixture *f)
{
    carom_mesh_destroy(f->here);
    carom_mesh_destroy(f->there);
    scene_free(&f->s);
}

/* Asks the CPU, fills the buffer as the CPU's memory was, asks the device, whose launch number `that_fails` fails (0:
 * none does), and compares all bytes. Integers decide no sphere on the device that they do not decide on the CPU. */
static void compare_after(const fixture *f, const question *q, int that_fails, carom_stats *stats)
{
    carom_list_totals totals = {0}, found = {0};
    carom_stats here = {.size = sizeof here};
    carom_error err = {0};
    memset(&expected, 0xa5, offsetof(contact_arrays, select));
    memset(expected.distance, 0xa5, offsetof(contact_arrays, spheres) - offsetof(contact_arrays, distance));
    test_ok("write", carom_buffer_write(f->buffer, 0, &expected, sizeof expected, &err), &err);
    test_ok("CPU", ask_contacts_of(q, f->here, &expected, &totals, &here, &err), &err);
    cl_sabotage(CALL_LAUNCH, that_fails, 0);
    test_ok("device", ask_contacts_of(q, f->there, carom_buffer_address(f->buffer), &found, stats, &err), &err);
    cl_sabotage(CALL_LAUNCH, 0, 0);
    assert_memory_equal(&found, &totals, sizeof totals);
    assert_true(stats->by_integers <= here.by_integers);
    test_ok("read", carom_buffer_read(f->buffer, 0, &got, sizeof got, &err), &err);
    assert_memory_equal(&got, &expected, sizeof got);
}

static void compare(const fixture *f, const question *q)
{
    carom_stats stats = {.size = sizeof stats};
    compare_after(f, q, 0, &stats);
    assert_int_equal(stats.on_device, q->count - q->begin);
    if (q->accuracy == CAROM_ACCURACY_FAST)
        assert_int_equal(stats.brought + stats.returned, 0);
}

static question question_of(float scale)
{
    static const float margins[] = {0, 0, 0.01f, 0.3f}, merges[] = {0, 0, 1e-5f, 0.05f, 0.5f};
    question q = {.count = MOST - any(20),
                  .capacity = any(4) ? HITS : any(200),
                  .accuracy = any(2) && test_need_device().fp64 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST,
                  .margin = margins[any(4)] * scale,
                  .merge = merges[any(5)] * scale,
                  .wanted = any(3) ? 511 : any(512),
                  .shift = any(2) ? any(4) : 0,
                  .is_selected = any(4) == 0,
                  .is_masked = any(3) == 0,
                  .flat = any(3) ? -1 : (double)any(90)};
    q.begin = any(3) ? 0 : any((uint32_t)q.count);
    q.capacity = any(12) ? q.capacity : 0;
    for (size_t i = 0; i < MOST; i++)
        expected.select[i] = any(ELEMENTS);
    for (size_t i = 0; i < ELEMENTS; i++)
        expected.mask[i] = any(9) ? 1u << any(3) : any(2) ? UINT32_MAX : 0;
    return q;
}

/* Moves vertices, some onto others, by an update with vertices of the host or of the device. */
static void move(fixture *f)
{
    carom_error err = {0};
    scene *s = &f->s;
    const size_t bytes = 3 * s->vertex_count * sizeof *s->vertices;
    for (size_t i = 0; i < s->vertex_count; i++)
        if (any(8) == 0)
            memcpy(s->vertices + 3 * i, s->vertices + 3 * (size_t)any((uint32_t)s->vertex_count), 3 * sizeof(float));
    const carom_points own = carom_xyz(s->vertices);
    test_ok("update", carom_mesh_update(f->here, &own, CAROM_MESH_REFIT, &err), &err);
    if (any(2)) {
        test_ok("update", carom_mesh_update(f->there, &own, CAROM_MESH_REFIT, &err), &err);
        return;
    }
    carom_buffer *buffer = buffer_of(f->context, bytes);
    test_ok("write", carom_buffer_write(buffer, 0, s->vertices, bytes, &err), &err);
    const carom_points there = carom_xyz(carom_buffer_address(buffer));
    test_ok("update", carom_mesh_update(f->there, &there, CAROM_MESH_REFIT, &err), &err);
    carom_buffer_destroy(buffer);
}

static void check_case(fixture *f, uint32_t kind)
{
    scene s = scene_of(kind);
    s.masks = any(3) ? NULL : random_masks(any(1000), s.triangle_count);
    const float scale = kind == 9 ? fabsf(s.vertices[3 * 2] + s.vertices[3 * 2 + 1]) + 1e-9f : 1;
    open_meshes(f, s);
    for (int i = 0; i < 3; i++) {
        const question q = question_of(scale);
        make_spheres(&f->s, q.shift, scale);
        compare(f, &q);
        if (i == 1 && f->s.vertex_count < 500)
            move(f);
    }
    close_meshes(f);
}

static void contacts_have_the_same_bytes(void **state)
{
    const int cases = (int)test_effort(CASES);
    (void)state;
    for (int from = 0; from < cases; from += CASES_EACH) {
        fixture f = open_fixture(CAROM_BACKEND_OPENCL, any(2) ? 0 : 40 + any(60));
        for (int i = 0; i < CASES_EACH; i++)
            check_case(&f, (uint32_t)i);
        close_fixture(&f);
    }
}

/* A book of which one page counts, on the other side of the edge than the sphere. */
static scene masked_book(void)
{
    scene s = fan_scene(1);
    for (int k = 0; k < 3; k++)
        s.vertices[6 + k] = k == 0 ? 1 : 0;
    s.masks = test_alloc(s.triangle_count, sizeof *s.masks);
    for (size_t t = 0; t < s.triangle_count; t++)
        s.masks[t] = t > 0 ? 2 : 1;
    return s;
}

/* A sphere at the edge of that book. */
static question at_the_book(void)
{
    const float sphere[4] = {-0.25f, 0, 0.5f, 0.5f};
    expected.mask[0] = 1;
    put(0, 0, sphere);
    return (question){.count = 1, .capacity = HITS, .wanted = 511, .is_masked = 1, .flat = -1, .merge = 0.125f};
}

/* The host learns at most 64 bytes in fast mode. But it chooses the contact of a sphere at the edge of a book, where
 * none of very many pages counts but one; in exact mode without integers. */
static void few_numbers_cross(void **state)
{
    (void)state;
    fixture f = open_fixture(CAROM_BACKEND_OPENCL, 0);
    for (int is_book = 0; is_book < 2; is_book++) {
        question q = at_the_book();
        open_meshes(&f, is_book ? masked_book() : scene_floor(9));
        compare(&f, &q); /* builds the programs */
        cl_fetched = cl_sent = 0;
        compare(&f, &q);
        assert_int_equal(got.offsets[1] > 0, 1);
        assert_int_equal(cl_fetched - sizeof got > 64, is_book);
        assert_int_equal(cl_sent - sizeof got > 0, is_book);
        q.accuracy = test_need_device().fp64 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        compare(&f, &q);
        close_meshes(&f);
    }
    close_fixture(&f);
}

/* A device that fails in a later chunk: the CPU answers the rest, and earlier records stay. */
static void a_failing_device_changes_no_byte(void **state)
{
    const question q = {.count = MOST, .capacity = HITS, .wanted = 511, .flat = -1, .merge = 0.01f};
    (void)state;
    for (int launch = 1; launch < 80; launch += 24) {
        carom_stats stats = {.size = sizeof stats};
        fixture f = open_fixture(CAROM_BACKEND_AUTO, MOST / 4);
        open_meshes(&f, scene_sphere(8));
        make_spheres(&f.s, 0, 1);
        compare_after(&f, &q, 0, &stats);
        compare_after(&f, &q, launch, &stats);
        assert_true(stats.on_cpu > 0);
        close_meshes(&f);
        close_fixture(&f);
    }
}

/* A device without binary64 searches, and the host chooses: no kernel that chooses is built, also where a call
 * prepares. */
static void without_binary64_no_device_chooses(void **state)
{
    question q = {.count = MOST, .capacity = HITS, .wanted = 511, .flat = -1, .prepares = 1};
    carom_stats stats = {.size = sizeof stats};
    carom_list_totals totals = {0};
    carom_error err = {0};
    (void)state;
    (void)test_need_device();
    cl_seen_as.no_fp64 = 1;
    fixture f = open_fixture(CAROM_BACKEND_OPENCL, 0);
    cl_broken = (cl_unbuilt){"contact_choose", "no binary64"};
    open_meshes(&f, scene_sphere(8));
    make_spheres(&f.s, 0, 1);
    test_ok("prepare", ask_contacts_of(&q, f.there, carom_buffer_address(f.buffer), &totals, NULL, &err), &err);
    q.prepares = 0;
    compare_after(&f, &q, 0, &stats);
    assert_int_equal(stats.on_device, MOST);
    close_meshes(&f);
    close_fixture(&f);
    cl_broken = (cl_unbuilt){NULL, NULL};
    cl_seen_as.no_fp64 = 0;
}

/* A kernel that chooses contacts, or lists them, and cannot be built: the host does that part, and the device searches.
 */
static void unbuilt_kernels_leave_the_choice(void **state)
{
    static const char *const kernels[] = {"contact_choose", "rows_adopt"};
    const question q = {.count = MOST, .capacity = HITS, .wanted = 511, .flat = -1};
    (void)state;
    if (!test_need_device().fp64)
        test_skip("fp64", "the device has no binary64");
    for (size_t i = 0; i < COUNT_OF(kernels); i++) {
        fixture f = open_fixture(CAROM_BACKEND_OPENCL, 0);
        cl_broken = (cl_unbuilt){kernels[i], "not today"};
        open_meshes(&f, scene_sphere(8));
        make_spheres(&f.s, 0, 1);
        for (int again = 0; again < 2; again++) {
            carom_stats stats = {.size = sizeof stats};
            compare_after(&f, &q, 0, &stats);
            assert_int_equal(stats.on_device, MOST);
            assert_true(stats.brought > 0);
        }
        close_meshes(&f);
        close_fixture(&f);
        cl_broken = (cl_unbuilt){NULL, NULL};
    }
}

/* Asks a device whose kernels are patched, so that its answers to `wrong` are wrong: the CPU answers in its place. */
static void expect_refused(fixture *f, const question *wrong)
{
    carom_stats stats = {.size = sizeof stats};
    compare_after(f, wrong, 0, &stats);
    assert_int_equal(stats.on_cpu, wrong->count);
    close_meshes(f);
    close_fixture(f);
    cl_text_patch = (cl_patch){NULL, NULL};
}

/* A search with a query for each work-item is built anew, with a longer stack, for a deep mesh: it is compared with the
 * CPU once more. */
static void a_longer_stack_is_probed(void **state)
{
    const question q = {.count = 40, .capacity = HITS, .wanted = 511, .flat = -1};
    carom_stats stats = {.size = sizeof stats};
    (void)state;
    cl_refused_options = "-DMESH_ITEMS";
    cl_text_patch = (cl_patch){"to->triangle = triangle;", "to->triangle = triangle ^ (MESH_STACK > 128);"};
    fixture f = open_fixture(CAROM_BACKEND_AUTO, 0);
    open_meshes(&f, scene_floor(9));
    make_spheres(&f.s, 0, 1);
    compare_after(&f, &q, 0, &stats);
    assert_int_equal(stats.on_device, q.count);
    close_meshes(&f);
    open_meshes(&f, scene_deep(1, 3000));
    make_spheres(&f.s, 0, 1);
    expect_refused(&f, &q);
    cl_refused_options = NULL;
}

/* Kernels for what the host chooses are compared with the CPU too, also in fast mode. */
static void what_the_host_chooses_is_probed(void **state)
{
    const question q = at_the_book();
    (void)state;
    cl_text_patch = (cl_patch){"? decided[decided_start[k - 1] + at]", "? decided[decided_start[k - 1] + at] ^ 4"};
    fixture f = open_fixture(CAROM_BACKEND_AUTO, 0);
    open_meshes(&f, masked_book());
    expect_refused(&f, &q);
}

/* A distance that is no number ends the device's work. */
static void impossible_distances_end_the_device(void **state)
{
    const question q = {.count = MOST, .capacity = HITS, .wanted = 511, .flat = -1};
    (void)state;
    cl_text_patch = (cl_patch){"to->t = t;", "to->t = number > 99 ? NAN : t;"}; /* beyond the probe */
    fixture f = open_fixture(CAROM_BACKEND_AUTO, 0);
    open_meshes(&f, scene_floor(9));
    make_spheres(&f.s, 0, 1);
    expect_refused(&f, &q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(contacts_have_the_same_bytes),
                                       cmocka_unit_test(few_numbers_cross),
                                       cmocka_unit_test(a_failing_device_changes_no_byte),
                                       cmocka_unit_test(without_binary64_no_device_chooses),
                                       cmocka_unit_test(a_longer_stack_is_probed),
                                       cmocka_unit_test(what_the_host_chooses_is_probed),
                                       cmocka_unit_test(impossible_distances_end_the_device),
                                       cmocka_unit_test(unbuilt_kernels_leave_the_choice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
