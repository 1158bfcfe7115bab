/* SPDX-License-Identifier: MIT */
/* A mesh in an image answers every request with the bits of the mesh that was copied, at any address, from memory that
 * cannot be written. What is no image is refused. */
#include "tests/support/requests.h"
#include "tests/support/volumes.h"

#include <sys/mman.h>

enum { SEED = 211, QUERIES = 600 };
static const carom_status bad = CAROM_ERROR_INVALID_ARGUMENT;

/* An image in pages of its own. */
typedef struct image {
    unsigned char *data;
    uint64_t bytes;
} image;

static image image_of(const carom_mesh *mesh)
{
    image m = {0};
    carom_error err;
    test_ok("the size of an image", carom_mesh_get_image(mesh, NULL, 0, &m.bytes, &err), &err);
    m.data = mmap(NULL, m.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(m.data, MAP_FAILED);
    memset(m.data, 0x5a, m.bytes);
    test_ok("an image", carom_mesh_get_image(mesh, m.data, m.bytes, &m.bytes, &err), &err);
    return m;
}

/* The image becomes read-only; its bytes are checked for gaps that were not written. */
static carom_mesh *open_image(carom_context *context, const image *m)
{
    carom_mesh *mesh = NULL;
    carom_error err;
    assert_int_equal(mprotect(m->data, m->bytes, PROT_READ), 0);
    test_ok("a mesh in an image", carom_mesh_open_image(context, m->data, m->bytes, &mesh, &err), &err);
    return mesh;
}

static void image_free(image *m)
{
    munmap(m->data, m->bytes);
}

static void compare_requests(carom_context *context, carom_mesh *mesh, carom_mesh *shared, const fixture *f)
{
    for (size_t i = 0; i < REQUESTS; i++) {
        const request *q = &requests[i];
        if (!request_needs_mesh(q))
            continue;
        carom_error err = {0};
        batch_result expected = batch_result_alloc(q, f), got = batch_result_alloc(q, f);
        test_ok(q->name, request_ask(q, context, mesh, f, &expected, &err), &err);
        test_ok(q->name, request_ask(q, context, shared, f, &got, &err), &err);
        batch_result_compare(q, f, &expected, &got, "the image");
        batch_result_free(&expected);
        batch_result_free(&got);
    }
}

static void compare_volumes(carom_mesh *mesh, carom_mesh *shared, const scene *s)
{
    const carom_lattice lattice = lattice_around(s, 24);
    for (int exact = 0; exact < 2; exact++) {
        carom_mesh_distance_desc desc = volume_desc(&lattice, exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST);
        desc.sign = CAROM_SIGN_PARITY;
        desc.allow_open = 1;
        volume expected = volume_ask(mesh, &desc, NULL), got = volume_ask(shared, &desc, NULL);
        volume_compare(&lattice, &expected, 0, &got, -1, "the image");
        volume_free(&expected);
        volume_free(&got);
    }
}

/* Meshes of one leaf and of many, with masks and without. */
static void answers_are_the_same(void **state)
{
    static const size_t sizes[] = {1, 3, 40, 5000};
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (int with_masks = 0; with_masks < 2; with_masks++) {
            scene s = scene_soup(SEED + i, sizes[i], 0.2);
            s.masks = with_masks ? random_masks(SEED, sizes[i]) : NULL;
            fixture f = fixture_make(SEED, s, QUERIES, 1);
            carom_mesh *mesh = scene_mesh(context, &f.s);
            image m = image_of(mesh);
            carom_mesh *shared = open_image(context, &m);
            const carom_mesh_info a = test_mesh_info(mesh), b = test_mesh_info(shared);
            assert_memory_equal(&a, &b, sizeof a);
            compare_requests(context, mesh, shared, &f);
            compare_volumes(mesh, shared, &f.s);
            carom_mesh_destroy(mesh);
            carom_mesh_destroy(shared);
            image_free(&m);
            fixture_free(&f);
        }
    carom_context_destroy(context);
}

/* Made twice, by other threads, or of a mesh that was one itself: the same bytes, with no gap left as it was. */
static void images_are_the_same(void **state)
{
    carom_context *context = test_cpu(CAROM_ISA_AUTO, 1), *other = test_cpu(CAROM_ISA_AUTO, 3);
    scene s = scene_soup(SEED, 20000, 0.1);
    carom_mesh *mesh = scene_mesh(context, &s), *again = scene_mesh(other, &s);
    (void)state;
    image a = image_of(mesh), b = image_of(again);
    carom_mesh *shared = open_image(other, &a);
    image c = image_of(shared);
    assert_int_equal(a.bytes, b.bytes);
    assert_memory_equal(a.data, b.data, a.bytes);
    assert_int_equal(a.bytes, c.bytes);
    assert_memory_equal(a.data, c.data, a.bytes);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(again);
    carom_mesh_destroy(shared);
    image_free(&a);
    image_free(&b);
    image_free(&c);
    scene_free(&s);
    carom_context_destroy(context);
    carom_context_destroy(other);
}

/* An instruction set reads images of either width: scalar C has 8, AVX-512 16, others 8 too. */
static void every_width_is_read(void **state)
{
    static const carom_isa isas[] = {CAROM_ISA_SCALAR, CAROM_ISA_AUTO};
    carom_context *context[] = {test_cpu(isas[0], 1), test_cpu(isas[1], 2)};
    scene s = scene_soup(SEED, 5000, 0.2);
    s.masks = random_masks(SEED, 5000);
    fixture f = fixture_make(SEED, s, QUERIES, 1);
    (void)state;
    for (int k = 0; k < 2; k++) {
        carom_mesh *mesh = scene_mesh(context[!k], &f.s), *own = scene_mesh(context[k], &f.s);
        image m = image_of(mesh);
        carom_mesh *shared = open_image(context[k], &m);
        const uint32_t width = test_mesh_info(mesh).width;
        assert_int_equal(width, carom_context_isa(context[!k]) == CAROM_ISA_AVX512 ? 16 : 8);
        assert_int_equal(test_mesh_info(shared).width, width);
        compare_requests(context[k], own, shared, &f);
        compare_volumes(own, shared, &f.s);
        carom_mesh_destroy(mesh);
        carom_mesh_destroy(own);
        carom_mesh_destroy(shared);
        image_free(&m);
    }
    fixture_free(&f);
    carom_context_destroy(context[0]);
    carom_context_destroy(context[1]);
}

static void an_empty_mesh_has_one(void **state)
{
    carom_context *context = test_context();
    const carom_mesh_desc desc = {.size = sizeof desc};
    carom_mesh *mesh = NULL;
    carom_error err;
    (void)state;
    test_ok("an empty mesh", carom_mesh_create(context, &desc, &mesh, &err), &err);
    image m = image_of(mesh);
    carom_mesh *shared = open_image(context, &m);
    assert_int_equal(test_mesh_info(shared).triangle_count, 0);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(shared);
    image_free(&m);
    carom_context_destroy(context);
}

static void refuse(carom_context *context, const unsigned char *data, uint64_t size, const char *word)
{
    carom_mesh *mesh = NULL;
    carom_error err = {0};
    test_error(carom_mesh_open_image(context, data, size, &mesh, &err), bad, &err, word);
    assert_null(mesh);
}

static void what_is_none_is_refused(void **state)
{
    carom_context *context = test_context();
    scene s = scene_soup(SEED, 100, 0.2);
    carom_mesh *mesh = scene_mesh(context, &s);
    carom_error err = {0};
    uint64_t bytes = 0;
    (void)state;
    image m = image_of(mesh);
    const unsigned char old_magic = m.data[0], old_version = m.data[8];
    test_error(carom_mesh_get_image(mesh, m.data, m.bytes - 1, &bytes, &err), bad, &err, "capacity is");
    assert_int_equal(bytes, m.bytes);
    test_error(carom_mesh_get_image(NULL, m.data, m.bytes, &bytes, &err), bad, &err, "mesh must not be NULL");
    test_error(carom_mesh_get_image(mesh, NULL, 0, NULL, &err), bad, &err, "bytes must not be NULL");
    refuse(context, NULL, m.bytes, "image must not be NULL");
    refuse(context, m.data + 8, m.bytes - 8, "multiple of 64");
    refuse(context, m.data, 20, "size is 20");
    refuse(context, m.data, m.bytes - 1, "size is");
    m.data[0] ^= 1;
    refuse(context, m.data, m.bytes, "no image");
    m.data[0] = old_magic;
    m.data[8] = '9';
    refuse(context, m.data, m.bytes, "another version or build of carom (9");
    m.data[8] = old_version;
    for (size_t at = 24; at < 160; at++) { /* sizes and counts: whatever changes the layout is found */
        carom_mesh *other = NULL;
        m.data[at] ^= 0x80;
        const carom_status status = carom_mesh_open_image(context, m.data, m.bytes, &other, &err);
        assert_true(status == CAROM_OK || status == bad);
        carom_mesh_destroy(other);
        m.data[at] ^= 0x80;
    }
    carom_mesh *shared = open_image(context, &m);
    const carom_points moved = carom_xyz(s.vertices);
    test_error(carom_mesh_update(shared, &moved, CAROM_MESH_REFIT, &err), bad, &err, "cannot be moved");
    carom_mesh_destroy(shared);
    carom_mesh_destroy(mesh);
    image_free(&m);
    scene_free(&s);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_the_same),    cmocka_unit_test(images_are_the_same),
        cmocka_unit_test(every_width_is_read),     cmocka_unit_test(an_empty_mesh_has_one),
        cmocka_unit_test(what_is_none_is_refused),
    };
    return cmocka_run_group_tests_name("mesh_image", tests, NULL, NULL);
}
