/* SPDX-License-Identifier: MIT */
/* A mesh whose masks have changed answers as one that was created with them, bit for bit: first hits in both modes,
 * contacts, and the sides of nodes, of which a mesh caches what depends on masks. */
#include "tests/support/contact_answers.h"
#include "tests/support/exact_scenes.h"

enum { SEED = 57, COUNT = 300, ROUNDS = 3 };

static void set_masks(carom_mesh *mesh, const scene *s)
{
    carom_error err;
    const carom_uints masks = {s->masks, s->masks != NULL ? sizeof *s->masks : 0};
    assert_int_equal(carom_mesh_set_masks(mesh, s->masks != NULL ? &masks : NULL, &err), CAROM_OK);
}

/* By a rule: whether the mesh counts as closed, and if so on which side each of eight nodes is. */
static int sides_by(carom_mesh *mesh, carom_sign sign)
{
    float distance[8];
    carom_error err;
    carom_mesh_distance_desc desc = {
        .batch = {.size = sizeof desc, .count = 2}, .lattice = {.dims = {2, 2, 2}, .spacing = 0.25}, .sign = sign};
    const carom_mesh_distance_result out = {.size = sizeof out, .distance = distance};
    const carom_status status = carom_mesh_distance(mesh, &desc, &out, NULL, &err);
    int sides = 0;
    for (int i = 0; i < 8 && status == CAROM_OK; i++)
        sides |= (distance[i] < 0) << i;
    return status == CAROM_OK ? sides : 256 + (int)status;
}

static int side_of(carom_mesh *mesh)
{
    return sides_by(mesh, CAROM_SIGN_PARITY) << 16 | sides_by(mesh, CAROM_SIGN_ROBUST);
}

static void compare(carom_context *context, carom_mesh *mesh, const scene *s, swept_spheres *b, const char *label)
{
    carom_mesh *fresh = scene_mesh(context, s);
    for (int accuracy = 0; accuracy < 2; accuracy++) {
        const contact_call call = {.accuracy = (carom_accuracy)accuracy, .margin = 0.05f};
        hits got = sweep_as(mesh, b, (carom_accuracy)accuracy), expected = sweep_as(fresh, b, (carom_accuracy)accuracy);
        hits_compare(b, &expected, &got, b->count, -1, label);
        contact_answers got_list = ask_contacts(mesh, b, &call), expected_list = ask_contacts(fresh, b, &call);
        contact_answers_compare(b, &expected_list, &got_list, label);
        hits_free(&got);
        hits_free(&expected);
        contact_answers_free(&got_list);
        contact_answers_free(&expected_list);
    }
    assert_int_equal(side_of(mesh), side_of(fresh));
    assert_int_equal(test_mesh_info(mesh).bytes, test_mesh_info(fresh).bytes);
    carom_mesh_destroy(fresh);
}

static void test_same(void **state)
{
    (void)state;
    carom_context *context = test_context();
    for (int k = 0; k < KINDS; k++) {
        scene s = kinds[k].make(200);
        swept_spheres b = swept_spheres_aimed(SEED, &s, 1.0, COUNT);
        carom_mesh *mesh = scene_mesh(context, &s);
        b.mask = random_masks(SEED, COUNT);
        for (int round = 0; round < ROUNDS; round++) {
            uint32_t *const query_masks = b.mask;
            free(s.masks);
            s.masks = round % 3 == 2 ? NULL : random_masks(SEED + 1 + (uint64_t)round, s.triangle_count);
            if (round == 1)
                s.masks[0] = s.masks[s.triangle_count / 2] = 0;
            set_masks(mesh, &s);
            compare(context, mesh, &s, &b, kinds[k].name);
            b.mask = NULL;
            compare(context, mesh, &s, &b, kinds[k].name);
            b.mask = query_masks;
        }
        carom_mesh_destroy(mesh);
        swept_spheres_free(&b);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

/* After an update, and with a rebuild behind it. */
static void test_moved(void **state)
{
    (void)state;
    carom_context *context = test_context();
    scene s = scene_sphere(6);
    swept_spheres b = swept_spheres_aimed(SEED, &s, 1.0, COUNT);
    carom_mesh *mesh = scene_mesh(context, &s);
    for (int how = CAROM_MESH_AUTO; how <= CAROM_MESH_REBUILD; how++) {
        const carom_points vertices = carom_xyz(s.vertices);
        carom_error err;
        free(s.masks);
        s.masks = random_masks(SEED + (uint64_t)how, s.triangle_count);
        set_masks(mesh, &s);
        for (size_t i = 0; i < 3 * s.vertex_count; i += 3)
            s.vertices[i] *= 1.25f;
        assert_int_equal(carom_mesh_update(mesh, &vertices, (carom_mesh_follow)how, &err), CAROM_OK);
        carom_mesh *fresh = scene_mesh(context, &s);
        hits got = sweep_as(mesh, &b, CAROM_ACCURACY_EXACT), expected = sweep_as(fresh, &b, CAROM_ACCURACY_EXACT);
        hits_compare(&b, &expected, &got, b.count, -1, "moved");
        hits_free(&got);
        hits_free(&expected);
        carom_mesh_destroy(fresh);
    }
    carom_mesh_destroy(mesh);
    swept_spheres_free(&b);
    scene_free(&s);
    carom_context_destroy(context);
}

static void test_refused(void **state)
{
    (void)state;
    carom_context *context = test_context();
    carom_error err;
    scene s = scene_sphere(3), none = {NULL, NULL, 0, 0, NULL};
    carom_mesh *mesh = scene_mesh(context, &s), *empty = scene_mesh(context, &none), *other;
    uint64_t bytes;
    void *image = NULL;
    uint32_t mask = 1;
    const carom_uints one = {&mask, CAROM_REPEAT}, crooked = {&mask, 2};
    assert_int_equal(carom_mesh_set_masks(NULL, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_string_equal(err.message, "mesh must not be NULL");
    assert_int_equal(carom_mesh_set_masks(empty, &one, &err), CAROM_OK);
    assert_int_equal(carom_mesh_set_masks(mesh, &one, &err), CAROM_OK);
    assert_int_equal(carom_mesh_set_masks(mesh, &crooked, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(carom_mesh_set_masks(mesh, NULL, &err), CAROM_OK);
    assert_int_equal(carom_mesh_get_image(mesh, NULL, 0, &bytes, &err), CAROM_OK);
    assert_int_equal(posix_memalign(&image, 64, (size_t)bytes), 0);
    assert_int_equal(carom_mesh_get_image(mesh, image, bytes, &bytes, &err), CAROM_OK);
    assert_int_equal(carom_mesh_open_image(context, image, bytes, &other, &err), CAROM_OK);
    assert_int_equal(carom_mesh_set_masks(other, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_string_equal(err.message, "the mesh lies in an image (carom_mesh_open_image): its masks cannot be changed");
    carom_mesh_destroy(other);
    free(image);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(empty);
    scene_free(&s);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_moved),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
