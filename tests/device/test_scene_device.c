/* SPDX-License-Identifier: MIT */
/* Scenes on a device: every search in both modes, with masks and options, has the bits of the merged mesh on the CPU.
 * Only what has changed is sent. Where the device fails or lacks memory, or does not do it, the CPU answers, in words.
 */
#include "tests/support/cl_shim.h"
#include "tests/support/world_answers.h"

enum { SEED = 977, MANY = CAROM_AUTO_MIN_QUERIES };
/* Room for hits: at least one for each query. */
static size_t room_for(size_t count)
{
    return count > 1 << 16 ? count : 1 << 16;
}

/* Ends the test if there is no device with binary64. */
static void need_device(void)
{
    if (!test_need_device().fp64)
        test_skip("fp64", "the device has no binary64, and the CPU answers scenes");
}

static swept_spheres make_spheres(uint64_t seed, size_t count, int options)
{
    swept_spheres b = swept_spheres_mixed(seed, count);
    b.cull_back = options == 1;
    if (options >= 2)
        b.start = options == 2 ? CAROM_START_SKIP : CAROM_START_SKIP_PARTING;
    if (options == 3)
        swept_spheres_end(&b);
    if (options % 2 == 1)
        b.mask = random_masks(seed + 5, b.count);
    return b;
}

/* ---- all searches ------------------------------------------------------------------------------------------------ */

enum { FIRST, ALL, LIST_OF_FIRST, ANY, OVERLAP_LIST, OVERLAP_ANY, CLOSEST, SEARCHES, AT_REST = OVERLAP_LIST };

/* What one search has found. */
typedef struct found {
    int32_t *triangle, *instance;
    float *t, *point;
    uint8_t *byte;
    uint64_t *offsets;
    carom_list_totals totals;
    carom_stats stats;
} found;

static found found_alloc(size_t count)
{
    const size_t room = room_for(count);
    return (found){.triangle = test_alloc(room, sizeof(int32_t)),
                   .instance = test_alloc(room, sizeof(int32_t)),
                   .t = test_alloc(room, sizeof(float)),
                   .point = test_alloc(room, 3 * sizeof(float)),
                   .byte = test_alloc(room, 1),
                   .offsets = test_alloc(count + 1, sizeof(uint64_t)),
                   .stats = {.size = sizeof(carom_stats)}};
}

static void found_free(found *a)
{
    void *const all[] = {a->triangle, a->instance, a->t, a->point, a->byte, a->offsets};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        free(all[i]);
}

static carom_status ask_search(carom_mesh *mesh, const swept_spheres *b, int search, carom_accuracy accuracy, found *a,
                               carom_error *err)
{
    carom_mesh_sweep_desc sweep = swept_spheres_desc(b, 0, b->count);
    carom_mesh_overlap_desc overlap = swept_spheres_at_rest(b, 0, b->count);
    carom_mesh_closest_desc closest = swept_spheres_closest(b, 0, b->count);
    const carom_points_out point = {a->point, a->point + 1, a->point + 2, 3 * sizeof(float)};
    const carom_mesh_hit_result hit = {.size = sizeof hit,
                                       .triangle = a->triangle,
                                       .instance = a->instance,
                                       .t = a->t,
                                       .state = a->byte,
                                       .point = point};
    const carom_mesh_closest_result nearest = {.size = sizeof nearest,
                                               .triangle = a->triangle,
                                               .instance = a->instance,
                                               .distance = a->t,
                                               .feature = a->byte,
                                               .point = point};
    carom_hit_list list = {.size = sizeof list,
                           .capacity = room_for(b->count),
                           .offsets = a->offsets,
                           .triangle = a->triangle,
                           .instance = a->instance,
                           .totals = &a->totals};
    sweep.batch.accuracy = overlap.batch.accuracy = closest.batch.accuracy = accuracy;
    switch (search) {
    case FIRST: return carom_mesh_sweep_first(mesh, &sweep, &hit, &a->stats, err);
    case ANY: return carom_mesh_sweep_any(mesh, &sweep, TEST_ANY(a->byte), &a->stats, err);
    case OVERLAP_ANY: return carom_mesh_overlap_any(mesh, &overlap, TEST_ANY(a->byte), &a->stats, err);
    case OVERLAP_LIST: return carom_mesh_overlap_list(mesh, &overlap, &list, &a->stats, err);
    case CLOSEST: return carom_mesh_closest(mesh, &closest, &nearest, &a->stats, err);
    default:
        list.t = a->t;
        list.state = a->byte;
        list.point = point;
        return carom_mesh_sweep_list(mesh, &sweep, search == ALL ? CAROM_HITS_ALL : CAROM_HITS_FIRST, &list, &a->stats,
                                     err);
    }
}

/* Both have been asked the same. */
static void compare_found(const swept_spheres *b, int search, const found *expected, const found *got)
{
    const size_t rows =
        search == ALL || search == LIST_OF_FIRST || search == OVERLAP_LIST ? (size_t)expected->totals.stored : b->count;
    assert_int_equal(expected->totals.total, got->totals.total);
    assert_memory_equal(expected->offsets, got->offsets, (b->count + 1) * sizeof *got->offsets);
    assert_memory_equal(expected->triangle, got->triangle, rows * sizeof *got->triangle);
    assert_memory_equal(expected->instance, got->instance, rows * sizeof *got->instance);
    assert_memory_equal(expected->t, got->t, rows * sizeof *got->t);
    assert_memory_equal(expected->point, got->point, rows * 3 * sizeof *got->point);
    assert_memory_equal(expected->byte, got->byte, rows);
}

/* Searches from `first` on, by a scene on a device and the same scene on the CPU. */
static void compare_from(int first, carom_scene *on_cpu, carom_scene *on_device, const swept_spheres *b,
                         const char *label)
{
    for (int search = first; search < SEARCHES; search++)
        for (carom_accuracy accuracy = CAROM_ACCURACY_FAST; accuracy <= CAROM_ACCURACY_EXACT; accuracy++) {
            carom_error err = {0};
            found expected = found_alloc(b->count), got = found_alloc(b->count);
            test_ok(label, ask_search(carom_scene_mesh(on_cpu), b, search, accuracy, &expected, &err), &err);
            test_ok(label, ask_search(carom_scene_mesh(on_device), b, search, accuracy, &got, &err), &err);
            assert_int_equal(got.stats.on_device, b->count);
            assert_int_equal(got.stats.fallen_back, 0);
            if (accuracy == CAROM_ACCURACY_FAST) /* how many of exact mode depends on the width of the hierarchy */
                assert_int_equal(got.stats.by_integers, 0);
            compare_found(b, search, &expected, &got);
            found_free(&expected);
            found_free(&got);
        }
}

static void compare_all(carom_scene *on_cpu, carom_scene *on_device, const swept_spheres *b, const char *label)
{
    compare_from(0, on_cpu, on_device, b, label);
}

/* Worlds of several sizes, against the merged mesh and against the CPU's scene. */
static void check_worlds(carom_context *device)
{
    static const size_t instances[] = {1, 2, 11, 90};
    carom_context *cpu = test_cpu(CAROM_ISA_SCALAR, 1);
    for (size_t i = 0; i < COUNT_OF(instances); i++) {
        world w = world_make(SEED + i, instances[i], instances[i] > 50 ? 4 : 1.5f, i % 2 == 1);
        scene all = world_merge(&w);
        carom_mesh *merged = scene_mesh(cpu, &all);
        carom_scene *made = world_scene(device, &w), *expected = world_scene(cpu, &w);
        for (int options = 0; options < 4; options++) {
            swept_spheres b = make_spheres(SEED + (uint64_t)options, test_effort(220), options);
            world_compare(&w, merged, carom_scene_mesh(made), &b, "a scene on a device");
            if (options % 3 == 0)
                compare_all(expected, made, &b, "a scene on a device");
            swept_spheres_free(&b);
        }
        carom_scene_destroy(made);
        carom_scene_destroy(expected);
        carom_mesh_destroy(merged);
        scene_free(&all);
        world_free(&w);
    }
    carom_context_destroy(cpu);
    carom_context_destroy(device);
    cl_expect_none("scenes");
}

static void test_own_lanes(void **state)
{
    (void)state;
    need_device();
    check_worlds(test_device(0, 0));
}

static void test_one_lane(void **state)
{
    (void)state;
    need_device();
    check_worlds(test_device(1, 64));
}

static void test_discrete(void **state)
{
    (void)state;
    need_device();
    check_worlds(cl_open_discrete());
    cl_seen_as = (cl_disguise){0};
}

/* ---- trees of one and of two ------------------------------------------------------------------------------------- */

/* One instance that is not moved, which the CPU searches as its mesh; with masks of the mesh or of both, and with
 * coordinates -0, where it does not. */
static void test_unmoved(void **state)
{
    (void)state;
    need_device();
    carom_context *device = test_device(0, 0), *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    for (int kind = 0; kind < 4; kind++) {
        world w = world_make_unmoved(SEED, kind);
        carom_scene *made = world_scene(device, &w), *expected = world_scene(cpu, &w);
        swept_spheres b = make_spheres(SEED, test_effort(120), kind);
        compare_all(expected, made, &b, "not moved");
        free(w.masks); /* those of the mesh alone stay */
        w.masks = NULL;
        world_update(made, &w);
        world_update(expected, &w);
        compare_all(expected, made, &b, "not moved, masks of triangles");
        w.map[0][3] = 0.5f;
        world_update(made, &w);
        world_update(expected, &w);
        compare_all(expected, made, &b, "moved");
        swept_spheres_free(&b);
        carom_scene_destroy(made);
        carom_scene_destroy(expected);
        world_free(&w);
    }
    carom_context_destroy(cpu);
    carom_context_destroy(device);
    cl_expect_none("a scene of one instance");
}

/* Instances with velocities have a tree of their own, which queries at rest search too: beside another one, then
 * alone. */
static void test_two_trees(void **state)
{
    (void)state;
    need_device();
    carom_context *device = test_device(0, 0), *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    world w = world_make(SEED + 1, 40, 2, 1);
    swept_spheres b = make_spheres(SEED, test_effort(220), 1);
    world_move(&w, SEED, 0.25f);
    carom_scene *made = world_scene(device, &w), *expected = world_scene(cpu, &w);
    compare_from(AT_REST, expected, made, &b, "two trees");
    for (size_t i = 0; i < w.instances; i++)
        w.velocity[i][2] += 8;
    world_update(made, &w);
    world_update(expected, &w);
    compare_from(AT_REST, expected, made, &b, "all have velocities");
    carom_scene_destroy(made);
    carom_scene_destroy(expected);
    carom_context_destroy(cpu);
    carom_context_destroy(device);
    swept_spheres_free(&b);
    world_free(&w);
    cl_expect_none("two trees");
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

/* Bytes that a search sends. */
static size_t sent_by(carom_scene *made, const swept_spheres *b)
{
    carom_error err = {0};
    found a = found_alloc(b->count);
    const size_t before = cl_sent;
    test_ok("first", ask_search(carom_scene_mesh(made), b, FIRST, CAROM_ACCURACY_FAST, &a, &err), &err);
    assert_int_equal(a.stats.on_device, b->count);
    found_free(&a);
    return cl_sent - before;
}

/* Two scenes of one mesh, of all instances and of three, in two contexts: the CPU's, then the device's. */
typedef struct shared {
    world w;
    swept_spheres b;
    carom_context *context[2];
    carom_mesh *mesh[2];
    carom_scene *made[2][2]; /* [context][scene] */
} shared;

static shared share(void)
{
    static const uint32_t only = 0;
    shared all = {.w = world_make(SEED + 7, 40, 2, 1),
                  .b = make_spheres(SEED, 200, 1),
                  .context = {test_cpu(CAROM_ISA_AUTO, 2), cl_open_discrete()}};
    carom_error err = {0};
    for (int c = 0; c < 2; c++) {
        all.mesh[c] = scene_mesh(all.context[c], &all.w.meshes[1]);
        for (int s = 0; s < 2; s++) {
            const carom_scene_desc desc = {.size = sizeof desc,
                                           .meshes = &all.mesh[c],
                                           .mesh_count = 1,
                                           .mesh = {&only, CAROM_REPEAT},
                                           .instance_count = s == 0 ? all.w.instances : 3,
                                           .pose = world_pose(&all.w)};
            test_ok("carom_scene_create", carom_scene_create(all.context[c], &desc, &all.made[c][s], &err), &err);
        }
    }
    return all;
}

static void end_shared(shared *all)
{
    for (int c = 0; c < 2; c++) {
        for (int s = 0; s < 2; s++)
            carom_scene_destroy(all->made[c][s]);
        carom_mesh_destroy(all->mesh[c]);
        carom_context_destroy(all->context[c]);
    }
    swept_spheres_free(&all->b);
    world_free(&all->w);
    cl_seen_as = (cl_disguise){0};
    cl_expect_none("updated scenes");
}

/* Maps change between calls, those of a few instances and of all; then also the mesh that two scenes share. */
static void test_updates(void **state)
{
    (void)state;
    need_device();
    carom_error err = {0};
    shared all = share();
    scene *mesh = &all.w.meshes[1];
    for (uint64_t step = 0; step < 3; step++) {
        for (size_t i = 0; i < all.w.instances; i += step == 1 ? 9 : 1)
            world_set_map(SEED + step, i + step, (float)step, all.w.map[i]);
        for (size_t v = 0; step == 2 && v < 3 * mesh->vertex_count; v++)
            mesh->vertices[v] *= v % 3 == 0 ? 1.25f : 0.75f;
        const carom_points moved = carom_xyz(mesh->vertices);
        for (int c = 0; c < 2; c++) {
            if (step == 2)
                test_ok("carom_mesh_update", carom_mesh_update(all.mesh[c], &moved, CAROM_MESH_AUTO, &err), &err);
            world_update(all.made[c][0], &all.w);
            if (step == 2)
                world_update(all.made[c][1], &all.w);
        }
        for (int s = 0; s < 2; s++)
            compare_all(all.made[0][s], all.made[1][s], &all.b, "updated");
    }
    end_shared(&all);
}

/* Masks of triangles, which are given up, before instances have masks. */
static void test_masks(void **state)
{
    (void)state;
    need_device();
    carom_error err = {0};
    shared all = share();
    uint32_t *const of_instances = all.w.masks, *of_triangles = random_masks(SEED, all.w.meshes[1].triangle_count);
    for (int step = 0; step < 3; step++) {
        const carom_uints masks = {step == 0 ? of_triangles : NULL, sizeof *of_triangles};
        all.w.masks = step == 2 ? of_instances : NULL;
        for (int c = 0; c < 2; c++) {
            if (step < 2)
                test_ok("carom_mesh_set_masks", carom_mesh_set_masks(all.mesh[c], &masks, &err), &err);
            world_update(all.made[c][0], &all.w);
        }
        compare_all(all.made[0][0], all.made[1][0], &all.b, "masks");
    }
    free(of_triangles);
    end_shared(&all);
}

/* The meshes are sent once, the instances after an update. */
static void test_sent(void **state)
{
    (void)state;
    need_device();
    carom_context *device = cl_open_discrete();
    world w = world_make(SEED + 9, 3, 1, 0);
    swept_spheres b = make_spheres(SEED, 50, 0);
    carom_scene *made = world_scene(device, &w);
    (void)sent_by(made, &b); /* probes too */
    carom_scene *again = world_scene(device, &w);
    const size_t whole = sent_by(again, &b), asked = sent_by(again, &b);
    world_update(again, &w);
    const size_t posed = sent_by(again, &b);
    assert_true(whole > posed && posed > asked);
    assert_int_equal(sent_by(again, &b), asked);
    carom_scene_destroy(made);
    carom_scene_destroy(again);
    carom_context_destroy(device);
    swept_spheres_free(&b);
    world_free(&w);
    cl_seen_as = (cl_disguise){0};
    cl_expect_none("a scene that is sent");
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

/* A scene, many queries of which few are ordinary, and the CPU's found. */
typedef struct trial {
    world w;
    swept_spheres b;
    found expected[SEARCHES];
} trial;

static trial trial_make(void)
{
    trial t = {.w = world_make(SEED + 3, 12, 1.5f, 0), .b = swept_spheres_mixed(SEED, MANY)};
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    carom_scene *made = world_scene(cpu, &t.w);
    carom_error err = {0};
    for (size_t i = 0; i < MANY; i++)
        if (i % 64 != 0)
            t.b.column[SPHERE_RADIUS][i] = -1; /* invalid */
    for (int search = 0; search < SEARCHES; search++) {
        t.expected[search] = found_alloc(MANY);
        test_ok("expected",
                ask_search(carom_scene_mesh(made), &t.b, search, CAROM_ACCURACY_EXACT, &t.expected[search], &err),
                &err);
    }
    carom_scene_destroy(made);
    carom_context_destroy(cpu);
    return t;
}

static void trial_free(trial *t)
{
    for (int search = 0; search < SEARCHES; search++)
        found_free(&t->expected[search]);
    swept_spheres_free(&t->b);
    world_free(&t->w);
}

static carom_context *open_context(carom_backend backend)
{
    carom_context_desc desc = test_desc(backend);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.device_chunk = MANY / 4;
    test_ok("a context", carom_context_create(&desc, &context, &err), &err);
    return context;
}

/* A device that fails in the middle: what it has answered stays, and the CPU found the rest. */
static void test_lost(void **state)
{
    (void)state;
    need_device();
    trial t = trial_make();
    for (int search = 0; search < SEARCHES; search++) {
        int calls = 0;
        const cl_call call = search % 2 ? CALL_COMMAND : CALL_LAUNCH;
        for (int fails = 0; fails < 2; fails++) {
            carom_error err = {0};
            cl_sabotage(call, fails ? calls : 0, 0);
            carom_context *context = open_context(CAROM_BACKEND_AUTO);
            carom_scene *made = world_scene(context, &t.w);
            found got = found_alloc(MANY);
            test_ok("a device that dies",
                    ask_search(carom_scene_mesh(made), &t.b, search, CAROM_ACCURACY_EXACT, &got, &err), &err);
            compare_found(&t.b, search, &t.expected[search], &got);
            assert_int_equal(got.stats.on_device + got.stats.on_cpu, MANY);
            assert_int_equal(got.stats.fallen_back > 0, fails);
            calls = cl_calls(call);
            found_free(&got);
            carom_scene_destroy(made);
            carom_context_destroy(context);
            cl_sabotage(call, 0, 0);
        }
    }
    trial_free(&t);
    cl_expect_none("a scene on a device that dies");
}

/* No memory for the scene: `auto` leaves it to the CPU, `opencl` fails, and found once there is memory. */
static void test_scarce(void **state)
{
    (void)state;
    need_device();
    trial t = trial_make();
    for (int fails = 0; fails < 2; fails++) {
        carom_error err = {0};
        carom_context *context = open_context(fails ? CAROM_BACKEND_OPENCL : CAROM_BACKEND_AUTO);
        carom_scene *first = world_scene(context, &t.w), *made = world_scene(context, &t.w);
        found got = found_alloc(MANY);
        test_ok("probed", ask_search(carom_scene_mesh(first), &t.b, FIRST, CAROM_ACCURACY_EXACT, &got, &err), &err);
        assert_int_equal(got.stats.on_device, MANY);
        cl_scarce.above = 1 << 10;
        const carom_status status = ask_search(carom_scene_mesh(made), &t.b, FIRST, CAROM_ACCURACY_EXACT, &got, &err);
        cl_relieve();
        if (fails) {
            test_error(status, CAROM_ERROR_OUT_OF_MEMORY, &err, "scene");
            test_ok("relieved", ask_search(carom_scene_mesh(made), &t.b, FIRST, CAROM_ACCURACY_EXACT, &got, &err),
                    &err);
            assert_int_equal(got.stats.on_device, MANY);
        } else {
            test_ok("scarce", status, &err);
            assert_int_equal(got.stats.fallen_back, MANY);
            assert_non_null(strstr(got.stats.fallback_reason, "scene"));
        }
        compare_found(&t.b, FIRST, &t.expected[FIRST], &got);
        found_free(&got);
        carom_scene_destroy(first);
        carom_scene_destroy(made);
        carom_context_destroy(context);
    }
    trial_free(&t);
    cl_expect_none("a scene without memory");
}

/* A device whose arithmetic maps corners in another order is refused by the probe. */
static void test_wrong(void **state)
{
    (void)state;
    need_device();
    world w = world_make(SEED, 4, 1, 0);
    swept_spheres b = make_spheres(SEED, 60, 0);
    found a = found_alloc(b.count);
    carom_error err = {0};
    cl_text_patch = (cl_patch){"return ((w_f(row[0]) * p.x + w_f(row[1]) * p.y) + w_f(row[2]) * p.z) + w_f(row[3])",
                               "return w_f(row[0]) * p.x + (w_f(row[1]) * p.y + (w_f(row[2]) * p.z + w_f(row[3])) * "
                               "w_f(1.0000001))"};
    carom_context *device = test_device(0, 0);
    carom_scene *made = world_scene(device, &w);
    const carom_status status = ask_search(carom_scene_mesh(made), &b, FIRST, CAROM_ACCURACY_FAST, &a, &err);
    test_error(status, CAROM_ERROR_NOT_BIT_EXACT, &err, "scene_first");
    cl_text_patch = (cl_patch){NULL, NULL};
    carom_scene_destroy(made);
    carom_context_destroy(device);
    found_free(&a);
    swept_spheres_free(&b);
    world_free(&w);
}

/* ---- what devices do not do -------------------------------------------------------------------------------------- */

static void expect_declined(carom_context *context, const world *w, const char *words)
{
    carom_error err = {0};
    swept_spheres b = make_spheres(SEED, 80, 0);
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    carom_scene *made = world_scene(context, w), *other = world_scene(cpu, w);
    found got = found_alloc(b.count), expected = found_alloc(b.count);
    test_ok("expected", ask_search(carom_scene_mesh(other), &b, FIRST, CAROM_ACCURACY_FAST, &expected, &err), &err);
    test_ok("declined", ask_search(carom_scene_mesh(made), &b, FIRST, CAROM_ACCURACY_FAST, &got, &err), &err);
    compare_found(&b, FIRST, &expected, &got);
    assert_int_equal(got.stats.on_device, 0);
    assert_int_equal(got.stats.fallen_back, b.count);
    assert_non_null(strstr(got.stats.fallback_reason, words));
    carom_scene_destroy(made);
    carom_scene_destroy(other);
    carom_context_destroy(cpu);
    found_free(&got);
    found_free(&expected);
    swept_spheres_free(&b);
}

static void test_declined(void **state)
{
    (void)state;
    need_device();
    world w = world_make(SEED, 8, 1, 0);
    carom_context *context = test_device(0, 0);
    world_move(&w, SEED, 0.25f);
    expect_declined(context, &w, "velocities");
    carom_context_destroy(context);
    world_free(&w);
    w = world_make(SEED, 8, 1, 0);
    context = cl_open_without_fp64();
    expect_declined(context, &w, "no binary64");
    carom_context_destroy(context);
    cl_seen_as = (cl_disguise){0};
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_lanes), cmocka_unit_test(test_one_lane),  cmocka_unit_test(test_discrete),
        cmocka_unit_test(test_unmoved),   cmocka_unit_test(test_two_trees), cmocka_unit_test(test_updates),
        cmocka_unit_test(test_masks),     cmocka_unit_test(test_sent),      cmocka_unit_test(test_lost),
        cmocka_unit_test(test_scarce),    cmocka_unit_test(test_wrong),     cmocka_unit_test(test_declined)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
