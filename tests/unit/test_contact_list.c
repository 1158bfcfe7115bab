/* SPDX-License-Identifier: MIT */
/* Lists of contacts in the caller's arrays, patches, and arguments that are refused. */
#include "tests/support/contact_answers.h"
#include "tests/support/exact_scenes.h"

#include <math.h>

enum { SEED = 17, COUNT = 300 };

static swept_spheres spheres_near(const scene *s)
{
    return swept_spheres_aimed(SEED, s, 1.0, COUNT);
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

/* A list that is too short holds the contacts of whole spheres; calls that go on there add up to the whole list. */
static void test_going_on(void **state)
{
    (void)state;
    carom_context *context = test_context();
    scene s = kinds[4].make(200);
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = spheres_near(&s);
    for (int exact = 0; exact < 2; exact++) {
        const contact_call call = {.accuracy = (carom_accuracy)exact, .margin = 0.125f, .merge_within = 1e-5f};
        contact_answers whole = ask_contacts(mesh, &b, &call), part = contact_answers_alloc(b.count, whole.count);
        size_t records = 0, calls = 0, most = 1;
        for (size_t i = 0; i < b.count; i++) {
            const size_t own = (size_t)(whole.offsets[i + 1] - whole.offsets[i]);
            most = own > most ? own : most;
        }
        carom_mesh_contacts_desc desc = swept_spheres_contacts(&b, &call);
        for (carom_list_totals totals = {0}; totals.complete < b.count; calls++) {
            carom_error err;
            const carom_contact_list list = contact_answers_list(&part, most, &totals);
            desc.batch.begin = totals.complete;
            assert_int_equal(carom_mesh_contacts(mesh, &desc, &list, NULL, &err), CAROM_OK);
            assert_true(totals.complete > desc.batch.begin);
            assert_int_equal(totals.total, whole.count - whole.offsets[desc.batch.begin]);
            for (size_t k = 0; k < totals.stored; k++, records++) {
                assert_int_equal(part.query[k], whole.query[records]);
                assert_int_equal(part.triangle[k], whole.triangle[records]);
                assert_int_equal(part.patch[k], whole.patch[records]);
                assert_memory_equal(&part.normal[3 * k], &whole.normal[3 * records], 3 * sizeof(float));
                assert_memory_equal(&part.depth[k], &whole.depth[records], sizeof(float));
            }
        }
        assert_int_equal(records, whole.count);
        assert_true(calls > 3);
        contact_answers_free(&whole);
        contact_answers_free(&part);
    }
    swept_spheres_free(&b);
    scene_free(&s);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* Query i reads element select[i]; records carry i. */
static void test_select(void **state)
{
    (void)state;
    carom_context *context = test_context();
    scene s = kinds[1].make(200);
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = spheres_near(&s);
    const contact_call call = {.accuracy = CAROM_ACCURACY_EXACT, .margin = 0.125f};
    uint32_t *order = random_order(SEED, b.count);
    swept_spheres copied = swept_spheres_reorder(&b, order, b.count);
    contact_answers expected = ask_contacts(mesh, &copied, &call), got = contact_answers_alloc(b.count, expected.count);
    carom_mesh_contacts_desc desc = swept_spheres_contacts(&b, &call);
    carom_list_totals totals;
    carom_error err;
    const carom_contact_list list = contact_answers_list(&got, expected.count, &totals);
    desc.batch.select = carom_uints_of(order);
    desc.batch.elements = b.count;
    assert_int_equal(carom_mesh_contacts(mesh, &desc, &list, NULL, &err), CAROM_OK);
    got.count = (size_t)totals.stored;
    assert_true(got.count > COUNT / 10);
    contact_answers_compare(&copied, &expected, &got, "selected spheres");
    desc.batch.elements = b.count - 1;
    assert_int_equal(carom_mesh_contacts(mesh, &desc, &list, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    contact_answers_free(&expected);
    contact_answers_free(&got);
    swept_spheres_free(&copied);
    swept_spheres_free(&b);
    free(order);
    scene_free(&s);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* Each column alone; the others are not written. */
static void test_columns(void **state)
{
    (void)state;
    carom_context *context = test_context();
    scene s = kinds[2].make(200);
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = spheres_near(&s);
    const contact_call call = {.accuracy = CAROM_ACCURACY_EXACT, .margin = 0.125f, .merge_within = 0.01f};
    contact_answers whole = ask_contacts(mesh, &b, &call), part = contact_answers_alloc(b.count, whole.count);
    const carom_mesh_contacts_desc desc = swept_spheres_contacts(&b, &call);
    for (int column = 0; column < 8; column++) {
        carom_list_totals totals;
        carom_error err;
        const carom_contact_list all = contact_answers_list(&part, whole.count, &totals);
        carom_contact_list list = {.size = sizeof list, .capacity = whole.count, .totals = &totals};
        list.query = column == 0 ? all.query : NULL;
        list.triangle = column == 1 ? all.triangle : NULL;
        list.feature = column == 2 ? all.feature : NULL;
        list.distance = column == 3 ? all.distance : NULL;
        list.depth = column == 4 ? all.depth : NULL;
        list.patch = column == 5 ? all.patch : NULL;
        list.point.x = list.normal.x = NULL;
        if (column == 6)
            list.point = all.point;
        if (column == 7)
            list.normal = all.normal;
        assert_int_equal(carom_mesh_contacts(mesh, &desc, &list, NULL, &err), CAROM_OK);
    }
    part.count = whole.count;
    memcpy(part.offsets, whole.offsets, (b.count + 1) * sizeof *part.offsets);
    contact_answers_compare(&b, &whole, &part, "columns one by one");
    contact_answers_free(&whole);
    contact_answers_free(&part);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

static void test_nothing(void **state)
{
    (void)state;
    carom_context *context = test_context();
    scene empty = {NULL, NULL, 0, 0, NULL}, s = kinds[1].make(50);
    swept_spheres b = spheres_near(&s);
    const contact_call call = {.margin = 1.0f};
    contact_answers a = ask_scene_contacts(context, &empty, &b, &call);
    assert_int_equal(a.count, 0);
    contact_answers_free(&a);
    b.count = 0;
    a = ask_scene_contacts(context, &s, &b, &call);
    assert_int_equal(a.count, 0);
    contact_answers_free(&a);
    b.count = COUNT;
    b.mask = test_alloc(COUNT, sizeof *b.mask);
    a = ask_scene_contacts(context, &s, &b, &call);
    assert_int_equal(a.count, 0);
    contact_answers_free(&a);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- patches ----------------------------------------------------------------------------------------------------- */

/* Two squares that share an edge of length 1, the second one turned up by a slope of rise / 4; then a triangle without
 * area on the same edge, and one whose corner alone is shared. */
static scene scene_fold(float rise)
{
    const float vertices[] = {-4,   0, 0, 0,    0, 0,    0, 1, 0, -4, 1, 0, 4, 0,
                              rise, 4, 1, rise, 0, 0.5f, 0, 0, 0, 5,  1, 0, 5};
    const uint32_t indices[] = {0, 1, 2, 2, 3, 0, 1, 4, 5, 1, 2, 5, 1, 2, 6, 1, 7, 8};
    scene s = {test_alloc(sizeof vertices, 1), test_alloc(sizeof indices, 1), 9, 6, NULL};
    memcpy(s.vertices, vertices, sizeof vertices);
    memcpy(s.indices, indices, sizeof indices);
    return s;
}

/* The patch of each triangle, by spheres on the middles of triangles. */
static void patches_of(carom_mesh *mesh, const scene *s, const double *flat, uint32_t *patch)
{
    swept_spheres b = swept_spheres_alloc(s->triangle_count);
    const contact_call call = {.accuracy = CAROM_ACCURACY_EXACT, .margin = 100.0f, .flat = flat};
    b.mask = test_alloc(s->triangle_count, sizeof *b.mask);
    for (size_t t = 0; t < s->triangle_count; t++)
        b.mask[t] = UINT32_C(1) << t; /* masks leave patches alone */
    contact_answers a = ask_contacts(mesh, &b, &call);
    assert_int_equal(a.count, s->triangle_count);
    for (size_t k = 0; k < a.count; k++)
        patch[a.triangle[k]] = a.patch[k];
    contact_answers_free(&a);
    swept_spheres_free(&b);
}

static carom_mesh *masked_mesh(carom_context *context, scene *s, const uint32_t *patches)
{
    carom_mesh *mesh;
    carom_error err;
    s->masks = test_alloc(s->triangle_count, sizeof *s->masks);
    for (size_t t = 0; t < s->triangle_count; t++)
        s->masks[t] = UINT32_C(1) << t;
    carom_mesh_desc desc = scene_desc(s);
    desc.patches.data = patches;
    desc.patches.stride = sizeof *patches;
    if (patches == NULL)
        desc.patches.stride = 0;
    assert_int_equal(carom_mesh_create(context, &desc, &mesh, &err), CAROM_OK);
    return mesh;
}

static void check_patches(carom_mesh *mesh, const scene *s, const double *flat, const uint32_t *expected)
{
    uint32_t patch[8];
    patches_of(mesh, s, flat, patch);
    for (size_t t = 0; t < s->triangle_count; t++)
        if (patch[t] != expected[t])
            fail_msg("flat %g: triangle %zu is of patch %u, not %u", flat != NULL ? *flat : 1.0, t, patch[t],
                     expected[t]);
}

static void test_patches(void **state)
{
    static const uint32_t apart[] = {0, 0, 2, 2, 4, 5}, joined[] = {0, 0, 0, 0, 4, 5};
    static const double angles[] = {0, 44.999999, 45, 45.000001, 60, 90, 180};
    (void)state;
    carom_context *context = test_context();
    scene s = scene_fold(4.0f), same = scene_fold(0.0f);
    carom_mesh *mesh = masked_mesh(context, &s, NULL);
    check_patches(mesh, &s, NULL, apart);
    for (size_t i = 0; i < COUNT_OF(angles); i++)
        check_patches(mesh, &s, &angles[i], angles[i] > 45 ? joined : apart);
    /* After an update they are those of the new shape. */
    const carom_points vertices = carom_xyz(same.vertices);
    carom_error err;
    assert_int_equal(carom_mesh_update(mesh, &vertices, CAROM_MESH_REFIT, &err), CAROM_OK);
    for (size_t i = 0; i < COUNT_OF(angles); i++)
        check_patches(mesh, &same, &angles[i], joined);
    carom_mesh_destroy(mesh);
    scene_free(&s);
    scene_free(&same);
    carom_context_destroy(context);
}

/* At an angle of exactly 90 degrees, and a hair beside it. */
static void test_right_angle(void **state)
{
    static const uint32_t apart[] = {0, 0, 2, 2, 4, 5}, joined[] = {0, 0, 0, 0, 4, 5};
    static const double right = 90;
    (void)state;
    carom_context *context = test_context();
    for (int more = -1; more <= 1; more++) {
        scene s = scene_fold(4.0f);
        s.vertices[12] = s.vertices[15] = (float)more * 0x1p-140f;
        carom_mesh *mesh = masked_mesh(context, &s, NULL);
        check_patches(mesh, &s, &right, more >= 0 ? joined : apart);
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* At an angle of exactly 60 degrees, whose cosine is 1/2, whichever way the second triangle turns. */
static void test_sixty_degrees(void **state)
{
    static const double angles[] = {59.999999999999, 60, 60.000000000001};
    (void)state;
    carom_context *context = test_context();
    /* The common edge (1, 1, 1) has the normals (1, -1, 0) and (1, 0, -1) at 60 degrees. */
    const float vertices[] = {0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0};
    const uint32_t indices[] = {0, 1, 2, 1, 0, 3}, turned[] = {0, 1, 2, 0, 1, 3};
    for (int t = 0; t < 2; t++) {
        scene s = {test_alloc(sizeof vertices, 1), test_alloc(sizeof indices, 1), 4, 2, NULL};
        memcpy(s.vertices, vertices, sizeof vertices);
        memcpy(s.indices, t ? turned : indices, sizeof indices);
        carom_mesh *mesh = masked_mesh(context, &s, NULL);
        for (size_t i = 0; i < COUNT_OF(angles); i++) {
            const uint32_t expected[] = {0, angles[i] < 60 ? 1 : 0};
            check_patches(mesh, &s, &angles[i], expected);
        }
        carom_mesh_destroy(mesh);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* Ids of the caller, which stay when vertices move, and go along in an image. */
static void test_given(void **state)
{
    static const uint32_t given[] = {7, 7, UINT32_MAX, 0, 3, 3};
    (void)state;
    carom_context *context = test_context();
    scene s = scene_fold(4.0f);
    carom_mesh *mesh = masked_mesh(context, &s, given), *other;
    carom_mesh_info info = {.size = sizeof info}, after = {.size = sizeof after};
    carom_error err;
    uint64_t bytes, later;
    assert_int_equal(carom_mesh_get_image(mesh, NULL, 0, &bytes, &err), CAROM_OK);
    check_patches(mesh, &s, NULL, given);
    assert_int_equal(carom_mesh_get_info(mesh, &info, &err), CAROM_OK);
    void *image = NULL;
    assert_int_equal(carom_mesh_get_image(mesh, NULL, 0, &later, &err), CAROM_OK);
    assert_int_equal(later, bytes);
    assert_int_equal(posix_memalign(&image, 64, (size_t)bytes), 0);
    assert_int_equal(carom_mesh_get_image(mesh, image, bytes, &bytes, &err), CAROM_OK);
    assert_int_equal(carom_mesh_open_image(context, image, bytes, &other, &err), CAROM_OK);
    check_patches(other, &s, NULL, given);
    const carom_points vertices = carom_xyz(s.vertices);
    assert_int_equal(carom_mesh_update(mesh, &vertices, CAROM_MESH_REBUILD, &err), CAROM_OK);
    check_patches(mesh, &s, NULL, given);
    assert_int_equal(carom_mesh_get_info(mesh, &after, &err), CAROM_OK);
    assert_int_equal(after.bytes, info.bytes);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(other);
    free(image);
    scene_free(&s);
    carom_context_destroy(context);
}

/* ---- scarce memory ----------------------------------------------------------------------------------------------- */

typedef struct scarce {
    long left, held; /* allocations until one fails, -1: none does; blocks that are not free */
} scarce;

static void *scarce_alloc(void *user, size_t size, size_t alignment)
{
    scarce *s = user;
    void *memory = NULL;
    if (s->left == 0)
        return NULL;
    s->left -= s->left > 0;
    s->held++;
    return posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, size) == 0 ? memory : NULL;
}

static void scarce_free(void *user, void *memory)
{
    ((scarce *)user)->held -= memory != NULL;
    free(memory);
}

/* Whichever allocation fails, the call says so, frees what it has, and works the next time. */
static void test_scarce(void **state)
{
    (void)state;
    scarce memory = {-1, 0};
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context;
    carom_error err;
    scene s = kinds[3].make(128);
    swept_spheres b = spheres_near(&s);
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = 1;
    desc.allocator = (carom_allocator){scarce_alloc, scarce_free, &memory};
    assert_int_equal(carom_context_create(&desc, &context, &err), CAROM_OK);
    const contact_call call = {.accuracy = CAROM_ACCURACY_EXACT, .margin = 0.125f, .merge_within = 0.01f};
    const carom_mesh_contacts_desc asked = swept_spheres_contacts(&b, &call);
    contact_answers a = contact_answers_alloc(b.count, 100 * b.count);
    carom_list_totals totals;
    const carom_contact_list list = contact_answers_list(&a, 100 * b.count, &totals);
    carom_status status = CAROM_ERROR_OUT_OF_MEMORY;
    long fails = 0;
    while (status != CAROM_OK) {
        carom_mesh *mesh = scene_mesh(context, &s);
        memory.left = fails++;
        status = carom_mesh_contacts(mesh, &asked, &list, NULL, &err);
        assert_true(status == CAROM_OK || status == CAROM_ERROR_OUT_OF_MEMORY);
        memory.left = -1;
        assert_int_equal(carom_mesh_contacts(mesh, &asked, &list, NULL, &err), CAROM_OK);
        const long held = memory.held;
        assert_int_equal(carom_mesh_contacts(mesh, &asked, &list, NULL, &err), CAROM_OK);
        assert_int_equal(memory.held, held);
        carom_mesh_destroy(mesh);
    }
    assert_true(fails > 12);
    carom_context_destroy(context);
    assert_int_equal(memory.held, 0);
    contact_answers_free(&a);
    swept_spheres_free(&b);
    scene_free(&s);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void check_refused(carom_mesh *mesh, const carom_mesh_contacts_desc *desc, const carom_contact_list *list,
                          const char *message)
{
    carom_error err = {CAROM_OK, 0, ""};
    assert_int_equal(carom_mesh_contacts(mesh, desc, list, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    if (strcmp(err.message, message) != 0)
        fail_msg("\"%s\" instead of \"%s\"", err.message, message);
}

static void test_refused(void **state)
{
    (void)state;
    carom_context *context = test_context();
    scene s = kinds[1].make(50);
    carom_mesh *mesh = scene_mesh(context, &s);
    swept_spheres b = spheres_near(&s);
    const contact_call call = {.accuracy = CAROM_ACCURACY_FAST};
    contact_answers a = contact_answers_alloc(b.count, 100);
    carom_list_totals totals;
    const carom_mesh_contacts_desc good = swept_spheres_contacts(&b, &call);
    const carom_contact_list list = contact_answers_list(&a, 100, &totals);
    const double angles[] = {-1, 181, (double)NAN, 180.00000001};
    carom_mesh_contacts_desc bad = good;
    carom_contact_list wrong = list;
    check_refused(NULL, &good, &list, "mesh must not be NULL");
    check_refused(mesh, NULL, &list, "desc must not be NULL");
    check_refused(mesh, &good, NULL, "list must not be NULL");
    bad.margin = -1.0f;
    check_refused(mesh, &bad, &list, "margin is -1; it must be finite and >= 0");
    bad = good;
    bad.merge_within = INFINITY;
    check_refused(mesh, &bad, &list, "merge_within is inf; it must be finite and >= 0");
    bad = good;
    for (size_t i = 0; i < COUNT_OF(angles); i++) {
        char message[80];
        bad.flat = &angles[i];
        snprintf(message, sizeof message, "flat is %.17g degrees; it must be in [0, 180]", angles[i]);
        check_refused(mesh, &bad, &list, message);
    }
    wrong.totals = NULL;
    check_refused(mesh, &good, &wrong, "totals must not be NULL");
    wrong = list;
    wrong.distance = a.depth;
    carom_error err;
    assert_int_equal(carom_mesh_contacts(mesh, &good, &wrong, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    contact_answers_free(&a);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* A centre over a triangle, or over its edge, where binary64 leaves the closest feature open. Columns that would need
 * integers once more are not asked for. */
static void test_by_integers(void **state)
{
    static const float vertices[] = {0, 0, 0, 4, 0, 0, 0, 4, 0};
    (void)state;
    carom_context *context = test_context();
    scene s = {test_alloc(sizeof vertices, 1), test_alloc(3, sizeof *s.indices), 3, 1, NULL};
    memcpy(s.vertices, vertices, sizeof vertices);
    for (uint32_t k = 0; k < 3; k++)
        s.indices[k] = k;
    carom_mesh *mesh = scene_mesh(context, &s);
    for (int over_edge = 0; over_edge < 2; over_edge++) {
        const contact_call call = {.accuracy = CAROM_ACCURACY_EXACT};
        swept_spheres b = swept_spheres_alloc(1);
        b.column[0][0] = b.column[2][0] = 1;
        b.column[1][0] = over_edge ? 0 : 1;
        b.column[SPHERE_RADIUS][0] = 2;
        const carom_mesh_contacts_desc desc = swept_spheres_contacts(&b, &call);
        int32_t triangle = -1;
        carom_list_totals totals;
        carom_stats stats = {.size = sizeof stats};
        carom_error err;
        const carom_contact_list list = {.size = sizeof list, .capacity = 1, .triangle = &triangle, .totals = &totals};
        assert_int_equal(carom_mesh_contacts(mesh, &desc, &list, &stats, &err), CAROM_OK);
        assert_int_equal(totals.total, 1);
        assert_int_equal(triangle, 0);
        assert_int_equal(stats.by_integers, over_edge);
        swept_spheres_free(&b);
    }
    scene_free(&s);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_going_on),      cmocka_unit_test(test_select),      cmocka_unit_test(test_columns),
        cmocka_unit_test(test_nothing),       cmocka_unit_test(test_patches),     cmocka_unit_test(test_right_angle),
        cmocka_unit_test(test_sixty_degrees), cmocka_unit_test(test_given),       cmocka_unit_test(test_scarce),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_by_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
