/* SPDX-License-Identifier: MIT */
/* Signs of distance volumes: those of the exact reference, the same on every backend; and open meshes are refused. */
#include "reference/mesh.h"
#include "tests/support/mesh_oracle.h"
#include "tests/support/sign_scenes.h"

#include <math.h>

enum { SEED = 131 };

/* ---- against the reference --------------------------------------------------------------------------------------- */

/* The reference's rays from every node; the caller frees them. */
static ref_mesh_ray_answer *rays_of(const scene *s, const carom_lattice *lattice)
{
    const ref_mesh mesh = oracle_mesh(s);
    const size_t count = lattice_nodes(lattice);
    ref_mesh_ray_answer *rays = test_alloc(count, sizeof *rays);
    for (size_t i = 0; i < count; i++) {
        float p[3];
        lattice_node(lattice, i, p);
        ref_mesh_ray(&mesh, p, &rays[i]);
    }
    return rays;
}

static void check_signs(const ref_mesh_ray_answer *rays, const carom_lattice *lattice, carom_sign sign, const volume *v,
                        const volume *magnitudes, const char *name)
{
    for (size_t i = 0; i < v->count; i++) {
        float p[3];
        const float distance = volume_distance(v, i), magnitude = fabsf(volume_distance(magnitudes, i));
        const int inside = sign == CAROM_SIGN_PARITY ? rays[i].crossings % 2 != 0 : rays[i].sum != 0;
        const float expected = inside && magnitude != 0.0f ? -magnitude : magnitude;
        if (bits_of_float(distance) == bits_of_float(expected))
            continue;
        lattice_node(lattice, i, p);
        fail_msg("%s, sign %d, node %zu at %a %a %a: %a, the reference has %a (%llu crossings, sum %lld)", name,
                 (int)sign, i, (double)p[0], (double)p[1], (double)p[2], (double)distance, (double)expected,
                 (unsigned long long)rays[i].crossings, (long long)rays[i].sum);
    }
}

static void check_scene(carom_context *context, const sign_scene *k, size_t which, const float *band)
{
    scene s = k->make();
    carom_mesh *mesh = scene_mesh(context, &s);
    const carom_lattice lattice = sign_lattice(&s, which, 7 + test_effort(12));
    ref_mesh_ray_answer *rays = rays_of(&s, &lattice);
    for (int exact = 0; exact < 2; exact++) {
        carom_mesh_distance_desc desc = volume_desc(&lattice, exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST);
        desc.band = band;
        desc.allow_open = 1;
        volume magnitudes = volume_ask(mesh, &desc, NULL);
        for (int sign = CAROM_SIGN_PARITY; sign <= CAROM_SIGN_WINDING; sign++) {
            desc.sign = (carom_sign)sign;
            volume v = volume_ask(mesh, &desc, NULL);
            check_signs(rays, &lattice, desc.sign, &v, &magnitudes, k->name);
            volume_compare(&lattice, &magnitudes, 0, &v, ~(1 << VOLUME_DISTANCE), k->name);
            volume_free(&v);
        }
        volume_free(&magnitudes);
    }
    free(rays);
    carom_mesh_destroy(mesh);
    scene_free(&s);
}

static void test_reference(void **state)
{
    static const float band = 0.25f;
    carom_context *context = test_context();
    (void)state;
    for (size_t i = 0; i < SIGN_SCENES; i++)
        for (size_t which = 0; which < SIGN_LATTICES; which++)
            check_scene(context, &sign_scenes[i], which, i % 3 == which ? &band : NULL);
    carom_context_destroy(context);
}

/* A box is inside itself, whatever its faces' directions. */
static void test_by_hand(void **state)
{
    carom_context *context = test_context();
    const carom_lattice lattice = {{-2.0, -2.0, -2.0}, 1.0, {5, 5, 5}, {0}};
    (void)state;
    for (int turned = 0; turned < 2; turned++)
        for (int sign = CAROM_SIGN_PARITY; sign <= CAROM_SIGN_WINDING; sign++) {
            scene s = turned ? scene_turned_round(scene_unit_box()) : scene_unit_box();
            carom_mesh *mesh = scene_mesh(context, &s);
            carom_mesh_distance_desc desc = volume_desc(&lattice, CAROM_ACCURACY_FAST);
            desc.sign = (carom_sign)sign;
            volume v = volume_ask(mesh, &desc, NULL);
            for (size_t i = 0; i < v.count; i++) {
                float p[3];
                lattice_node(&lattice, i, p);
                const float most = fmaxf(fabsf(p[0]), fmaxf(fabsf(p[1]), fabsf(p[2])));
                assert_true((volume_distance(&v, i) < 0) == (most < 1));
            }
            assert_true(volume_distance(&v, v.count / 2) == -1.0f);
            volume_free(&v);
            carom_mesh_destroy(mesh);
            scene_free(&s);
        }
    carom_context_destroy(context);
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

/* More slabs than a group has, and more crossings than a thread sorts at a time, some of them in one column. */
static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    static const carom_lattice lattices[] = {{{-1.1, -1.1, -1.1}, 0.2, {11, 12, 300}, {0}},
                                             {{-1.0, -1.0, -0.9}, 0.03125, {64, 64, 3}, {0}},
                                             {{0.03, 0.04, -0.9}, 0.4, {1, 1, 5}, {0}}};
    for (size_t i = 0; i < COUNT_OF(lattices); i++) {
        scene s = i == 0 ? scene_hollow() : scene_box(-1, -1, -0.5f, 1, 1, 0.5f);
        const size_t copies = i == 0 ? 1 : i == 1 ? 40 : 20000;
        scene many = {.vertex_count = s.vertex_count, .triangle_count = copies * s.triangle_count};
        many.vertices = s.vertices;
        many.indices = test_alloc(3 * many.triangle_count, sizeof *many.indices);
        for (size_t k = 0; k < 3 * many.triangle_count; k++)
            many.indices[k] = s.indices[k % (3 * s.triangle_count)];
        carom_mesh *expected_of = scene_mesh(scalar, &many), *got_of = scene_mesh(context, &many);
        for (int sign = CAROM_SIGN_PARITY; sign <= CAROM_SIGN_WINDING; sign++) {
            carom_mesh_distance_desc desc = volume_desc(&lattices[i], CAROM_ACCURACY_FAST);
            desc.sign = (carom_sign)sign;
            volume expected = volume_ask(expected_of, &desc, NULL), got = volume_ask(got_of, &desc, NULL);
            const size_t slab = (size_t)(desc.lattice.dims[0] * desc.lattice.dims[1]);
            volume_compare(&lattices[i], &expected, 0, &got, -1, label);
            desc.batch.begin = desc.lattice.dims[2] / 2;
            volume part = volume_ask(got_of, &desc, NULL);
            volume_compare(&lattices[i], &expected, (size_t)desc.batch.begin * slab, &part, -1, label);
            if (i == 0) {
                ref_mesh_ray_answer *rays = rays_of(&many, &lattices[i]);
                check_signs(rays, &lattices[i], desc.sign, &got, &got, label);
                free(rays);
            }
            if (i == 2)
                assert_true((volume_distance(&got, 2) < 0) == (sign == CAROM_SIGN_WINDING));
            volume_free(&part);
            volume_free(&expected);
            volume_free(&got);
        }
        carom_mesh_destroy(expected_of);
        carom_mesh_destroy(got_of);
        free(many.indices);
        many.indices = NULL;
        scene_free(&s);
    }
}

/* ---- open meshes ------------------------------------------------------------------------------------------------- */

static carom_status try_sign(carom_mesh *mesh, carom_sign sign, int allow_open, carom_error *err)
{
    static const carom_lattice one = {{0.0, 0.0, 0.0}, 1.0, {1, 1, 1}, {0}};
    carom_mesh_distance_desc desc = volume_desc(&one, CAROM_ACCURACY_FAST);
    float distance;
    const carom_mesh_distance_result out = {.size = sizeof out, .distance = &distance};
    desc.sign = sign;
    desc.allow_open = (uint8_t)allow_open;
    return carom_mesh_distance(mesh, &desc, &out, NULL, err);
}

/* Numbers of edges that parity and winding refuse; 0: none. Takes the scene. */
static void check_open(carom_context *context, scene s, int odd, int unbalanced)
{
    carom_mesh *mesh = scene_mesh(context, &s);
    const int refused[] = {odd, unbalanced};
    for (int sign = CAROM_SIGN_PARITY; sign <= CAROM_SIGN_WINDING; sign++) {
        char words[64];
        carom_error err;
        const int edges = refused[sign - CAROM_SIGN_PARITY];
        const carom_status status = try_sign(mesh, (carom_sign)sign, 0, &err);
        snprintf(words, sizeof words, "the mesh is open: %d edges", edges);
        if (edges == 0)
            test_ok("a closed mesh", status, &err);
        else
            test_error(status, CAROM_ERROR_INVALID_ARGUMENT, &err, words);
        test_ok("an open mesh that is allowed", try_sign(mesh, (carom_sign)sign, 1, &err), &err);
    }
    carom_mesh_destroy(mesh);
    scene_free(&s);
}

static scene box_without(size_t triangle)
{
    scene s = scene_unit_box();
    s.triangle_count--;
    for (int k = 0; k < 3; k++)
        s.indices[3 * triangle + (size_t)k] = s.indices[3 * s.triangle_count + (size_t)k];
    return s;
}

static scene box_with_turned(size_t triangle)
{
    scene s = scene_unit_box();
    const uint32_t first = s.indices[3 * triangle];
    s.indices[3 * triangle] = s.indices[3 * triangle + 1];
    s.indices[3 * triangle + 1] = first;
    return s;
}

/* Every triangle has vertices of its own, zeros of both signs; one triangle is a segment, one a point. */
static scene box_unindexed(void)
{
    scene box = scene_box(0, -1, -1, 1, 1, 1);
    scene s = scene_alloc_apart(14);
    for (size_t i = 0; i < 36; i++)
        for (size_t k = 0; k < 3; k++) {
            const float x = box.vertices[3 * box.indices[i] + k];
            s.vertices[3 * i + k] = x == 0.0f && i % 2 != 0 ? -0.0f : x;
        }
    memcpy(s.vertices + 3 * 36, s.vertices, 6 * sizeof(float)); /* A B A */
    memcpy(s.vertices + 3 * 38, s.vertices, 3 * sizeof(float)); /* then C C C */
    scene_free(&box);
    return s;
}

static scene box_masked(void)
{
    scene s = scene_unit_box();
    s.masks = test_alloc(s.triangle_count, sizeof *s.masks);
    for (size_t t = 0; t < s.triangle_count; t++)
        s.masks[t] = t != 5;
    return s;
}

static void test_open(void **state)
{
    carom_context *context = test_context();
    (void)state;
    check_open(context, scene_unit_box(), 0, 0);
    check_open(context, scene_turned_round(scene_unit_box()), 0, 0);
    check_open(context, box_without(3), 3, 3);
    check_open(context, box_with_turned(4), 0, 3);
    check_open(context, box_unindexed(), 0, 0);
    check_open(context, box_masked(), 3, 3);
    check_open(context, scene_both(scene_unit_box(), scene_unit_box()), 0, 0);
    check_open(context, scene_sphere(9), 0, 0);
    check_open(context, scene_floor(4), 16, 16);
    carom_context_destroy(context);
}

/* The edges are counted again after an update. */
static void test_update(void **state)
{
    carom_context *context = test_context();
    scene s = box_unindexed();
    carom_mesh *mesh = scene_mesh(context, &s);
    carom_error err;
    (void)state;
    test_ok("a closed mesh", try_sign(mesh, CAROM_SIGN_PARITY, 0, &err), &err);
    s.vertices[0] += 0.5f;
    const carom_points moved = carom_xyz(s.vertices);
    test_ok("an update", carom_mesh_update(mesh, &moved, CAROM_MESH_AUTO, &err), &err);
    test_error(try_sign(mesh, CAROM_SIGN_PARITY, 0, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "the mesh is open");
    carom_mesh_destroy(mesh);
    scene_free(&s);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {cmocka_unit_test(test_by_hand), cmocka_unit_test(test_reference),
                                        cmocka_unit_test(test_open), cmocka_unit_test(test_update),
                                        SAME_BITS_ON_CPU(check_same)};
    const struct CMUnitTest on_device[] = {cmocka_unit_test(test_by_hand), cmocka_unit_test(test_reference),
                                           SAME_BITS_ON_DEVICE(check_same)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
