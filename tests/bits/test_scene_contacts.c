/* SPDX-License-Identifier: MIT */
/* Contacts with scenes, against the definition in rationals; against a mesh of which a scene has one instance; the same
 * bytes on every instruction set and number of threads. */
#include <math.h>

#include "tests/support/contact_answers.h"
#include "tests/support/worlds.h"

enum { SEED = 141 };

static const double flat = 30;

/* A margin and merge-within by number. */
static contact_call call_of(int which, carom_accuracy accuracy)
{
    static const float margin[] = {0, 0.05f, 0.05f}, merge[] = {0, 0, 0.125f};
    return (contact_call){.accuracy = accuracy, .margin = margin[which], .merge_within = merge[which], .flat = &flat};
}
enum { CALLS = 3 };

/* Spheres near the instances, some of them masked. */
static swept_spheres spheres(uint64_t seed, size_t count, int masks)
{
    swept_spheres b = swept_spheres_mixed(seed, 20 + test_effort(count));
    for (size_t i = 0; i < b.count; i++)
        if (!(b.column[SPHERE_RADIUS][i] < 0.3f))
            b.column[SPHERE_RADIUS][i] = 0.3f;
    if (masks)
        b.mask = random_masks(seed + 5, b.count);
    return b;
}

/* Moves the spheres to corners, and to the middles of edges, of triangles of the world, whose meshes are `size` times
 * as large as in their own spaces. */
static void aim(const world *w, float size, swept_spheres *b)
{
    scene all = world_merge(w);
    for (size_t i = 0; i < b->count && all.triangle_count > 0; i++) {
        float p[3][3];
        const size_t instance = i % w->instances, first = (size_t)w->first[instance],
                     count = (size_t)w->first[instance + 1] - first;
        if (count == 0)
            continue;
        scene_triangle(&all, first + i * 7919 % count, p);
        for (size_t k = 0; k < 3; k++) {
            const float at = p[i / 3 % 3][k], end = i % 2 == 0 ? at : p[(i / 3 + 1) % 3][k];
            b->column[k][i] = (at + end) / 2 + 0.05f * size * (float)((int)((i + 2) * (k + 3) % 5) - 2);
        }
        b->column[SPHERE_RADIUS][i] = 0.2f * size;
    }
    scene_free(&all);
}

/* Numbers as in the merged mesh; patches must be numbers of the instance's mesh. */
static void number_as_merged(const world *w, contact_answers *a)
{
    for (size_t k = 0; k < a->count; k++) {
        assert_in_range(a->instance[k], 0, w->instances - 1);
        assert_in_range(a->triangle[k], 0, w->meshes[w->mesh[a->instance[k]]].triangle_count - 1);
        assert_in_range(a->patch[k], 0, a->triangle[k]);
        a->triangle[k] += w->first[a->instance[k]];
    }
}

/* ---- the definition ---------------------------------------------------------------------------------------------- */

/* The points that are reported for the triangles of sphere i where nothing is merged. */
static void points_of(const contact_answers *a, size_t i, float (*points)[3])
{
    for (size_t k = (size_t)a->offsets[i]; k < a->offsets[i + 1]; k++)
        memcpy(points[a->triangle[k]], &a->point[3 * k], sizeof *points);
}

static void judge_world(carom_context *context, const world *w, const swept_spheres *b, int which, const char *name)
{
    contact_call call = call_of(which, CAROM_ACCURACY_EXACT), alone = call;
    float(*own)[9] = world_own_corners(w);
    int32_t *part = world_instances(w);
    scene all = world_merge(w);
    carom_scene *made = world_scene(context, w);
    float(*points)[3] = test_alloc(all.triangle_count + 1, sizeof *points);
    call.own = alone.own = (const float(*)[9])own;
    call.part = alone.part = part;
    alone.merge_within = 0;
    contact_answers apart = ask_contacts_of_scene(carom_scene_mesh(made), b, &alone),
                    merged = ask_contacts_of_scene(carom_scene_mesh(made), b, &call);
    number_as_merged(w, &apart);
    number_as_merged(w, &merged);
    assert_true(apart.count > 0);
    assert_true(call.merge_within <= 0 || merged.count < apart.count);
    for (size_t i = 0; i < b->count; i++) {
        points_of(&apart, i, points);
        judge_contacts(&all, b, i, &call, call.merge_within > 0 ? (const float(*)[3])points : NULL, &merged, name);
    }
    contact_answers_free(&apart);
    contact_answers_free(&merged);
    carom_scene_destroy(made);
    scene_free(&all);
    free(points);
    free(part);
    free(own);
}

static void test_definition(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (int which = 0; which < CALLS; which++) {
        world w = world_make(SEED + (uint64_t)which, 11, 1.5f, which == 1);
        swept_spheres b = spheres(SEED + (uint64_t)which, 60, which == 1);
        if (which != 1)
            aim(&w, 1, &b);
        judge_world(context, &w, &b, which, "world");
        swept_spheres_free(&b);
        world_free(&w);
    }
    carom_context_destroy(context);
}

/* All instances in one place: distances are tied, and corners of one mesh do not count for another instance. */
static void test_same_place(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (int which = 0; which < CALLS; which++) {
        world w = world_make(SEED, 9, 0, 0);
        for (size_t i = 0; i < w.instances; i++) {
            memset(w.map[i], 0, sizeof *w.map);
            w.map[i][0] = i % 2 == 0 ? 1 : -1; /* half of them mirrored */
            w.map[i][5] = w.map[i][10] = 1;
        }
        swept_spheres b = spheres(SEED, 24, 0);
        aim(&w, 1, &b);
        judge_world(context, &w, &b, which, "one place");
        swept_spheres_free(&b);
        world_free(&w);
    }
    carom_context_destroy(context);
}

/* Instances whose maps are of one kind. */
static void test_maps(void **state)
{
    static const size_t numbers[] = {0, 1, 3, 5, 6, 10, 14, 16, 18};
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        const world_kind *kind = &world_kinds[numbers[i]];
        world w = world_make(SEED + i, 3, 1, 0);
        world_set_maps(&w, SEED + i, kind);
        swept_spheres b = spheres(SEED + i, 10, 0);
        aim(&w, kind->size, &b);
        judge_world(context, &w, &b, 0, kind->name);
        swept_spheres_free(&b);
        world_free(&w);
    }
    carom_context_destroy(context);
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

/* A scene of one instance that is not moved has the contacts of the mesh, and its patches. */
static void test_one_instance(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    for (int m = 0; m < WORLD_MESHES; m++) {
        world w = world_make(SEED, 1, 0, m % 2);
        w.mesh[0] = (uint32_t)m;
        w.first[1] = (int32_t)w.meshes[m].triangle_count;
        free(w.masks);
        w.masks = NULL;
        swept_spheres b = spheres(SEED, 100, m % 2);
        carom_mesh *mesh = scene_mesh(context, &w.meshes[m]);
        carom_scene *made = world_scene(context, &w);
        for (int which = 0; which < 2 * CALLS; which++) {
            const contact_call call = call_of(which / 2, which % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST);
            contact_answers one = ask_contacts(mesh, &b, &call),
                            other = ask_contacts_of_scene(carom_scene_mesh(made), &b, &call);
            for (size_t k = 0; k < one.count; k++)
                one.instance[k] = 0;
            contact_answers_compare(&b, &one, &other, "one instance");
            contact_answers_free(&one);
            contact_answers_free(&other);
        }
        carom_scene_destroy(made);
        carom_mesh_destroy(mesh);
        swept_spheres_free(&b);
        world_free(&w);
    }
    carom_context_destroy(context);
}

static void compare_scenes(carom_context *scalar, carom_context *context, const world *w, const swept_spheres *b,
                           int calls, const char *label)
{
    carom_scene *one = world_scene(scalar, w), *other = world_scene(context, w);
    for (int which = 0; which < 2 * calls; which++) {
        const contact_call call = call_of(which / 2, which % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST);
        contact_answers expected = ask_contacts_of_scene(carom_scene_mesh(one), b, &call),
                        got = ask_contacts_of_scene(carom_scene_mesh(other), b, &call);
        contact_answers_compare(b, &expected, &got, label);
        contact_answers_free(&expected);
        contact_answers_free(&got);
    }
    carom_scene_destroy(one);
    carom_scene_destroy(other);
}

static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    world w = world_make(SEED + 1, 40, 2, 1);
    swept_spheres b = spheres(SEED + 1, 120, 1);
    compare_scenes(scalar, context, &w, &b, CALLS, label);
    swept_spheres_free(&b);
    world_free(&w);
    for (size_t i = 0; i < WORLD_KINDS; i++) {
        w = world_make(SEED + i, 3, 1, 0);
        world_set_maps(&w, SEED + i, &world_kinds[i]);
        b = spheres(SEED + i, 10, 0);
        aim(&w, world_kinds[i].size, &b);
        compare_scenes(scalar, context, &w, &b, 1, world_kinds[i].name);
        swept_spheres_free(&b);
        world_free(&w);
    }
}

/* ---- many triangles, bad calls ----------------------------------------------------------------------------------- */

/* Many copies of one triangle in many instances: at merge-within 0 one contact of each instance, else one in all. */
static void test_many(void **state)
{
    (void)state;
    enum { COPIES = 60, INSTANCES = 70 };
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    scene s = scene_alloc(3, COPIES);
    const float corner[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    memcpy(s.vertices, corner, sizeof corner);
    for (uint32_t i = 0; i < 3 * COPIES; i++)
        s.indices[i] = i % 3;
    carom_mesh *mesh = scene_mesh(context, &s);
    uint32_t of[INSTANCES] = {0};
    carom_error err = {0};
    carom_scene *made = NULL;
    const carom_scene_desc desc = {.size = sizeof desc,
                                   .meshes = &mesh,
                                   .mesh_count = 1,
                                   .mesh = {of, sizeof *of},
                                   .instance_count = INSTANCES,
                                   .pose = {.size = sizeof desc.pose}};
    test_ok("carom_scene_create", carom_scene_create(context, &desc, &made, &err), &err);
    for (int which = 0; which < 2 * CALLS; which++) {
        const contact_call call = call_of(which / 2, which % 2 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST);
        swept_spheres b = spheres(SEED, 3, 0);
        for (size_t i = 0; i < b.count; i++) {
            b.column[0][i] = b.column[1][i] = i % 3 == 0 ? 0.25f : i % 3 == 1 ? 0.5f : -0.125f; /* face, edge, corner */
            b.column[2][i] = 0.25f;
            b.column[SPHERE_RADIUS][i] = 0.5f;
        }
        contact_answers a = ask_contacts_of_scene(carom_scene_mesh(made), &b, &call);
        const size_t each = call.merge_within > 0 ? 1 : INSTANCES;
        assert_int_equal(a.count, each * b.count);
        for (size_t k = 0; k < a.count; k++) {
            assert_int_equal(a.instance[k], k % each);
            assert_int_equal(a.triangle[k], 0);
            assert_int_equal(a.patch[k], 0);
        }
        contact_answers_free(&a);
        swept_spheres_free(&b);
    }
    carom_scene_destroy(made);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

static carom_status count_contacts(carom_mesh *mesh, const swept_spheres *b, int32_t *instance, carom_error *err)
{
    const contact_call call = {.accuracy = CAROM_ACCURACY_FAST};
    const carom_mesh_contacts_desc desc = swept_spheres_contacts(b, &call);
    carom_list_totals totals;
    const carom_contact_list list = {.size = sizeof list, .capacity = 4, .instance = instance, .totals = &totals};
    return carom_mesh_contacts(mesh, &desc, &list, NULL, err);
}

/* An instance column is a scene's alone; a mesh that has changed must be followed. */
static void test_refused(void **state)
{
    (void)state;
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 2);
    scene box = scene_box(0, 0, 0, 1, 1, 1);
    carom_mesh *mesh = scene_mesh(context, &box);
    carom_scene *made = NULL;
    carom_error err = {0};
    int32_t instance[4];
    swept_spheres b = spheres(SEED, 20, 0);
    const carom_scene_desc desc = {
        .size = sizeof desc, .meshes = &mesh, .mesh_count = 1, .instance_count = 1, .pose = {.size = sizeof desc.pose}};
    test_ok("carom_scene_create", carom_scene_create(context, &desc, &made, &err), &err);
    test_error(count_contacts(mesh, &b, instance, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "instance must be NULL");
    test_ok("a scene", count_contacts(carom_scene_mesh(made), &b, instance, &err), &err);
    const carom_points vertices = scene_desc(&box).vertices;
    test_ok("move", carom_mesh_update(mesh, &vertices, CAROM_MESH_AUTO, &err), &err);
    test_error(count_contacts(carom_scene_mesh(made), &b, instance, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               "instance 0");
    test_ok("follow", carom_scene_update(made, &desc.pose, &err), &err);
    test_ok("followed", count_contacts(carom_scene_mesh(made), &b, instance, &err), &err);
    carom_scene_destroy(made);
    carom_mesh_destroy(mesh);
    swept_spheres_free(&b);
    scene_free(&box);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_definition), cmocka_unit_test(test_same_place),
                                       cmocka_unit_test(test_maps),       cmocka_unit_test(test_one_instance),
                                       SAME_BITS_ON_CPU(check_same),      cmocka_unit_test(test_many),
                                       cmocka_unit_test(test_refused),    SAME_BITS_ON_DEVICE(check_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
