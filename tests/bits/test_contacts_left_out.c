/* SPDX-License-Identifier: MIT */
/* Triangles that the search for contacts leaves out, alone or by nodes and leaves, change no answer: contacts are the
 * same, bit by bit, where masks keep it from leaving out nearly any. */
#include "tests/support/contact_answers.h"
#include "tests/support/exact_scenes.h"
#include "tests/support/walls.h"

#include <math.h>

enum { SEED = 91 };

/* Masks of the same bits as some others, for queries of these bits alone, and one bit more, so that nearly no two
 * neighbours count for the same queries. NULL: all bits are the same. */
static uint32_t *told_apart(const uint32_t *masks, size_t count)
{
    uint32_t *apart = test_alloc(count, sizeof *apart);
    for (size_t t = 0; t < count; t++) {
        ref_gen g;
        ref_gen_seed(&g, 136, SEED, t);
        apart[t] = (masks != NULL ? masks[t] : 1) | UINT32_C(0x100) << ref_gen_int(&g, 0, 23);
    }
    return apart;
}

static void compare_left_out(carom_context *context, const scene *s, const swept_spheres *b, float merge_within)
{
    scene apart = *s;
    swept_spheres ask = *b;
    apart.masks = told_apart(s->masks, s->triangle_count);
    if (b->mask == NULL) {
        ask.mask = test_alloc(b->count, sizeof *ask.mask);
        for (size_t i = 0; i < b->count; i++)
            ask.mask[i] = 0xff;
    }
    for (int exact = 0; exact < 2; exact++) {
        const contact_call call = {.accuracy = (carom_accuracy)exact, .margin = 0.0625f, .merge_within = merge_within};
        contact_answers expected = ask_scene_contacts(context, &apart, &ask, &call);
        contact_answers got = ask_scene_contacts(context, s, b, &call);
        contact_answers_compare(b, &expected, &got, "triangles that the search leaves out");
        contact_answers_free(&expected);
        contact_answers_free(&got);
    }
    free(apart.masks);
    if (b->mask == NULL)
        free(ask.mask);
}

/* The search leaves out triangles that another one surely precedes, but not if that one counts for fewer queries. So
 * the contacts are the same where nearly none is left out. Without masks, with those of patches of triangles, some of
 * which contain those of others, and with others for each triangle but for queries without: there only 0 counts. */
static void check_left_out(carom_context *context, const scene *s, const swept_spheres *b, float merge_within)
{
    static const uint32_t kinds_of[] = {1, 3, 7, 2, 6, 0};
    scene masked = *s;
    swept_spheres ask = *b;
    compare_left_out(context, s, b, merge_within);
    masked.masks = test_alloc(s->triangle_count, sizeof *masked.masks);
    ask.mask = test_alloc(b->count, sizeof *ask.mask);
    for (size_t t = 0; t < s->triangle_count; t++)
        masked.masks[t] = kinds_of[t / 12 % COUNT_OF(kinds_of)];
    for (size_t i = 0; i < b->count; i++)
        ask.mask[i] = 1 + (uint32_t)i % 7;
    compare_left_out(context, &masked, &ask, merge_within);
    for (size_t t = 0; t < s->triangle_count; t++)
        masked.masks[t] = t % 97 == 5 ? 0 : 1u << t % 2;
    compare_left_out(context, &masked, b, merge_within);
    free(masked.masks);
    free(ask.mask);
}

/* Far from the wall z = 0, and nearly above it: there distances are rounded by more than they differ. */
static swept_spheres far_from_wall(uint64_t seed, size_t count)
{
    swept_spheres b = swept_spheres_alloc(count);
    for (size_t i = 0; i < count; i++) {
        ref_gen g;
        ref_gen_seed(&g, 134, seed, i);
        const double distance = ref_power_of_two(ref_gen_int(&g, -8, 24));
        const double lean = distance * ref_power_of_two(ref_gen_int(&g, -20, 0));
        for (int k = 0; k < 2; k++)
            b.column[k][i] = (float)(ref_gen_range(&g, -1.0, 1.0) + lean * ref_gen_range(&g, -1.0, 1.0));
        b.column[2][i] = (float)distance;
        b.column[SPHERE_RADIUS][i] = (float)(2.0 * distance);
    }
    return b;
}

static void check_far(carom_context *context, int kind)
{
    scene s = scene_wall(kind, SEED, 40, 0.0f);
    swept_spheres b = far_from_wall(SEED, test_effort(600));
    turn_wall(&s, &b);
    check_left_out(context, &s, &b, 0);
    swept_spheres_free(&b);
    scene_free(&s);
}

/* Times a power of two, so that the largest coordinates are about 2^exponent. */
static void enlarge(scene *s, swept_spheres *b, int exponent)
{
    float most = 0;
    for (size_t i = 0; i < 3 * s->vertex_count; i++)
        most = fmaxf(most, fabsf(s->vertices[i]));
    const int by = exponent - ilogbf(most);
    for (size_t i = 0; i < 3 * s->vertex_count; i++)
        s->vertices[i] = ldexpf(s->vertices[i], by);
    for (int column = 0; column <= SPHERE_RADIUS; column++)
        for (size_t i = 0; i < b->count; i++)
            b->column[column][i] = ldexpf(b->column[column][i], by);
}

/* Near the end of binary32, where squares and products leave it. */
static void check_huge(carom_context *context, size_t kind)
{
    for (int exponent = 122; exponent < 127; exponent++) {
        scene s = kinds[kind].make(60);
        swept_spheres b = swept_spheres_aimed(SEED + (uint64_t)exponent, &s, 1.0, test_effort(100));
        enlarge(&s, &b, exponent);
        check_left_out(context, &s, &b, 0);
        swept_spheres_free(&b);
        scene_free(&s);
    }
}

/* Half of the triangles, at random, run the other way. */
static void turn_triangles(scene *s, uint64_t seed)
{
    for (size_t t = 0; t < s->triangle_count; t++) {
        ref_gen g;
        ref_gen_seed(&g, 140, seed, t);
        if (!ref_gen_chance(&g, 2))
            continue;
        const uint32_t first = s->indices[3 * t];
        s->indices[3 * t] = s->indices[3 * t + 1];
        s->indices[3 * t + 1] = first;
    }
}

/* A sheet that is folded to and fro along lines in y, at x = 0 and x = 1: its triangles all face nearly up or down, so
 * only the folds tell that a way along x may end at a contact. */
static scene folded_sheet(size_t folds, size_t columns, double height)
{
    const size_t across = columns + 1, most = 2 * folds * columns;
    scene s = scene_alloc((folds + 1) * across, most);
    for (size_t v = 0; v < s.vertex_count; v++) {
        s.vertices[3 * v] = (float)(v / across % 2);
        s.vertices[3 * v + 1] = (float)(v % across);
        s.vertices[3 * v + 2] = (float)(height * (double)(v / across));
    }
    for (size_t t = 0; t < most; t++) {
        const size_t at = t / 2 / columns * across + t / 2 % columns;
        const size_t square[] = {at, at + 1, at + across + 1, at + across};
        for (size_t k = 0; k < 3; k++)
            s.indices[3 * t + k] = (uint32_t)square[t % 2 && k > 0 ? k + 1 : k];
    }
    return s;
}

/* Mostly beside the folds, farther away than a leaf is large. */
static swept_spheres beside_folds(const scene *s, size_t count)
{
    swept_spheres b = swept_spheres_alloc(count);
    const float *last = s->vertices + 3 * (s->vertex_count - 1);
    for (size_t i = 0; i < b.count; i++) {
        ref_gen g;
        ref_gen_seed(&g, 139, SEED, i);
        b.column[0][i] = (float)ref_gen_range(&g, -6.0, 7.0);
        for (int k = 1; k < 3; k++)
            b.column[k][i] = (float)ref_gen_range(&g, -0.5, (double)last[k] + 0.5);
        b.column[SPHERE_RADIUS][i] = (float)ref_gen_range(&g, 1.0, 6.5);
    }
    return b;
}

static void test_folded(void **state)
{
    static const double heights[] = {0.125, 0.25};
    (void)state;
    carom_context *context = test_context();
    for (int turned = 0; turned < 2; turned++)
        for (size_t h = 0; h < COUNT_OF(heights); h++) {
            scene s = folded_sheet(40, 24, heights[h]);
            if (turned)
                turn_triangles(&s, SEED);
            swept_spheres b = beside_folds(&s, test_effort(2000));
            check_left_out(context, &s, &b, 0);
            swept_spheres_free(&b);
            scene_free(&s);
        }
    carom_context_destroy(context);
}

static void test_left_out(void **state)
{
    static const float sizes[] = {1.0f, 0x1p-4f, 0x1p-10f, 0x1p6f};
    (void)state;
    carom_context *context = test_context();
    for (size_t k = 0; k < KINDS; k++)
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            scene s = kinds[k].make(600);
            if (i % 2)
                turn_triangles(&s, SEED + i);
            swept_spheres b = swept_spheres_aimed(SEED + 50 + i, &s, (double)sizes[i], test_effort(600));
            check_left_out(context, &s, &b, i % 2 ? 0.0f : 0.01f);
            swept_spheres_free(&b);
            scene_free(&s);
        }
    for (int kind = 0; kind < WALL_KINDS; kind++)
        for (int place = 0; place < 2; place++) {
            scene s = scene_wall(kind, SEED, 12, place ? 0.3f : 0.0f);
            swept_spheres b = spheres_over_wall(SEED, &s, place ? 0.3f : 0.0f, test_effort(600));
            for (size_t i = 0; place && i < b.count; i++) /* far above, or nearly in the plane */
                b.column[2][i] = 0.3f + b.column[SPHERE_RADIUS][i] * (i % 2 ? 0x1p-12f : 0.999f);
            check_left_out(context, &s, &b, 0);
            swept_spheres_free(&b);
            scene_free(&s);
        }
    for (int kind = 0; kind < WALL_KINDS; kind++)
        check_far(context, kind);
    for (size_t k = 0; k < KINDS; k++)
        check_huge(context, k);
    carom_context_destroy(context);
}

/* Triangle 0 hangs on the corner at the origin, where a narrow one begins. That is closer by less than rounding, or by
 * more, and a steep one behind it is much closer: so the narrow one is left out, and yet it has to be compared. */
static void test_narrow(void **state)
{
    static const uint32_t indices[] = {0, 3, 4, 0, 1, 2, 1, 2, 5};
    (void)state;
    carom_context *context = test_context();
    for (int exponent = -16; exponent < -8; exponent++) {
        const float width = (float)ref_power_of_two(exponent);
        const float vertices[] = {0, 0, 0, width, -1, 0, width, 1, 0, -1, -1, -1, -1, 1, -1, 1, 0, 1};
        scene s = {test_alloc(18, sizeof *s.vertices), test_alloc(9, sizeof *s.indices), 6, 3, NULL};
        memcpy(s.vertices, vertices, sizeof vertices);
        memcpy(s.indices, indices, sizeof indices);
        swept_spheres b = swept_spheres_alloc(test_effort(2000));
        for (size_t i = 0; i < b.count; i++) {
            ref_gen g;
            ref_gen_seed(&g, 141, SEED, i);
            b.column[0][i] = width * (float)ref_gen_range(&g, 0.5, 3.0);
            b.column[2][i] = (float)ref_gen_range(&g, 0.5, 4.0);
            b.column[SPHERE_RADIUS][i] = 4;
        }
        turn_wall(&s, &b);
        compare_left_out(context, &s, &b, 0);
        swept_spheres_free(&b);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

enum { SECTORS = 6 };

/* A flat fan around its last vertex, the origin; triangles count for one of its sectors. */
static scene fan_of_sectors(size_t count)
{
    scene s = scene_alloc(count + 1, count);
    s.masks = test_alloc(count, sizeof *s.masks);
    for (size_t t = 0; t < count; t++) {
        const double angle = 6.283185307179586 * (double)t / (double)count;
        s.vertices[3 * t] = (float)cos(angle);
        s.vertices[3 * t + 1] = (float)sin(angle);
        s.indices[3 * t] = (uint32_t)t;
        s.indices[3 * t + 1] = (uint32_t)((t + 1) % count);
        s.indices[3 * t + 2] = (uint32_t)count;
        s.masks[t] = 1u << SECTORS * t / count;
    }
    return s;
}

/* Each sphere is across the corner from the sector that counts for it, whose lowest triangle has the contact. A
 * triangle right under the sphere counts for nothing. */
static void test_across(void **state)
{
    static const size_t counts[] = {6, 7, 8, 12, 31, 48, 60};
    (void)state;
    carom_context *context = test_context();
    for (size_t n = 0; n < COUNT_OF(counts); n++) {
        const size_t count = counts[n];
        scene s = fan_of_sectors(count);
        swept_spheres b = swept_spheres_alloc(SECTORS);
        b.mask = test_alloc(b.count, sizeof *b.mask);
        for (size_t i = 0; i < SECTORS; i++) {
            const double angle = 6.283185307179586 * ((double)i + 0.5) / SECTORS;
            b.column[0][i] = -0.25f * (float)cos(angle);
            b.column[1][i] = -0.25f * (float)sin(angle);
            b.column[2][i] = 0.125f;
            b.column[SPHERE_RADIUS][i] = 1;
            b.mask[i] = 1u << i;
        }
        for (int exact = 0; exact < 2; exact++) {
            const contact_call call = {.accuracy = (carom_accuracy)exact};
            contact_answers a = ask_scene_contacts(context, &s, &b, &call);
            assert_int_equal(a.count, SECTORS);
            for (size_t i = 0; i < SECTORS; i++) {
                assert_int_equal(a.query[i], i);
                assert_int_equal(a.triangle[i], (i * count + SECTORS - 1) / SECTORS);
                assert_int_equal(a.feature[i], CAROM_FEATURE_V2);
            }
            contact_answers_free(&a);
        }
        swept_spheres_free(&b);
        scene_free(&s);
    }
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {cmocka_unit_test(test_left_out), cmocka_unit_test(test_folded),
                                        cmocka_unit_test(test_narrow), cmocka_unit_test(test_across)};
    return cmocka_run_group_tests(on_cpu, NULL, NULL);
}
