/* SPDX-License-Identifier: MIT */
#include "drop_scenes.h"

#include "exact_scenes.h"
#include "queries/random.h"

#include <math.h>

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

/* A field of (n + 1)^2 heights, with walls where they differ by whole steps. */
static scene field_of(int n, float (*height)(int i, int j))
{
    const size_t side = (size_t)n + 1;
    scene s = scene_alloc(side * side, 2 * (size_t)n * (size_t)n);
    for (size_t v = 0; v < side * side; v++) {
        s.vertices[3 * v] = (float)(v % side) * (2.0f / (float)n) - 1;
        s.vertices[3 * v + 1] = (float)(v / side) * (2.0f / (float)n) - 1;
        s.vertices[3 * v + 2] = height((int)(v % side), (int)(v / side));
    }
    for (size_t q = 0; q < (size_t)n * (size_t)n; q++) {
        const uint32_t a = (uint32_t)(q / (size_t)n * side + q % (size_t)n), b = a + 1, c = a + (uint32_t)side;
        const uint32_t corner[2][6] = {{a, b, c, c, b, c + 1}, {b, a, c, c + 1, b, c}};
        memcpy(s.indices + 6 * q, corner[q % 3 == 1], sizeof corner[0]); /* some are turned over */
    }
    return s;
}

static float level(int i, int j)
{
    (void)i;
    (void)j;
    return 0.25f;
}

static float steps(int i, int j)
{
    return 0.125f * (float)((7 * i + 5 * j + i * j) % 3);
}

static float roof(int i, int j)
{
    return 0.25f * (float)abs(i - 4) - 0.125f * (float)(j % 2);
}

scene drop_scene_level(void)
{
    return field_of(8, level);
}

static scene scene_steps(void)
{
    return field_of(8, steps);
}

static scene scene_roof(void)
{
    return field_of(8, roof);
}

/* Boxes of whole eighths: walls, edges along the axes, and triangles without an area. */
scene drop_scene_boxes(void)
{
    static const float at[5][2][3] = {{{-1, -1, -1}, {1, 1, 0}},
                                      {{-0.5f, -0.5f, 0}, {0.5f, 0.25f, 0.5f}},
                                      {{0.25f, 0, 0}, {0.75f, 0.75f, 0.25f}},
                                      {{-0.75f, 0.5f, 0.5f}, {-0.75f, 0.75f, 0.75f}},
                                      {{-0.25f, 0.75f, 0.25f}, {-0.25f, 0.75f, 0.25f}}};
    scene s = scene_alloc(0, 0);
    for (size_t b = 0; b < COUNT_OF(at); b++)
        s = scene_both(s, scene_box(at[b][0][0], at[b][0][1], at[b][0][2], at[b][1][0], at[b][1][1], at[b][1][2]));
    return s;
}

/* Turns a scene, so that nothing is level or upright, and rounds its corners. */
static scene tilted(scene s)
{
    for (size_t v = 0; v < s.vertex_count; v++) {
        float *p = s.vertices + 3 * v;
        const float x = p[0] * 0.8f - p[2] * 0.6f, z = p[0] * 0.6f + p[2] * 0.8f;
        p[0] = x * 0.96f - p[1] * 0.28f;
        p[1] = x * 0.28f + p[1] * 0.96f;
        p[2] = z;
    }
    return s;
}

/* Walls that lean by about 2^-20 and less, both ways. */
static scene scene_leaning(void)
{
    scene s = drop_scene_boxes();
    for (size_t v = 0; v < s.vertex_count; v++)
        for (size_t k = 0; k < 2; k++)
            s.vertices[3 * v + k] *= 1 + 0x1p-22f * (float)((v * 5 + k) % 7);
    return s;
}

static scene scene_tilted_boxes(void)
{
    return tilted(drop_scene_boxes());
}

static scene scene_tilted_level(void)
{
    return tilted(drop_scene_level());
}

/* A closed surface of needles, 1 to 10^-6: a sphere flattened and sheared. */
static scene scene_thin(void)
{
    scene s = scene_sphere(5);
    for (size_t v = 0; v < s.vertex_count; v++) {
        float *p = s.vertices + 3 * v;
        p[1] = p[1] * 1e-6f + p[0] * 0.5f;
        p[2] = p[2] * 0.5f + p[0] * 0.25f;
    }
    return s;
}

static scene scene_far(void)
{
    scene s = scene_sphere(5);
    scene_place(&s, 0, 1e4f);
    return s;
}

scene drop_scene_torus(void)
{
    return kinds[2].make(500);
}

static scene scene_soup_of(void)
{
    return kinds[0].make(100);
}

static scene scene_grid(void)
{
    return kinds[4].make(150);
}

static scene scene_needles(void)
{
    return kinds[5].make(100);
}

/* Two hubs with 300 triangles each: more than a star has. */
static scene scene_fans(void)
{
    enum { SPOKES = 300 };
    scene s = scene_alloc(SPOKES + 2, 2 * SPOKES);
    for (size_t v = 0; v < SPOKES; v++) {
        const float x = (float)(v % 150) / 75 - 1, y = sqrtf(1 - x * x);
        const float p[3] = {x, v < 150 ? y : -y, 0.125f * (float)(v % 4)};
        memcpy(s.vertices + 3 * v, p, sizeof p);
        const uint32_t next = (uint32_t)((v + 1) % SPOKES);
        const uint32_t corner[6] = {(uint32_t)v, next, SPOKES, next, (uint32_t)v, SPOKES + 1};
        memcpy(s.indices + 6 * v, corner, sizeof corner);
    }
    const float hubs[6] = {0, 0, 0.75f, 0, 0.125f, -0.5f};
    memcpy(s.vertices + (size_t)3 * SPOKES, hubs, sizeof hubs);
    return s;
}

/* Faces whose normals are lost in binary64: corners on a line, seen from above or at all, but for 2^-60. */
static scene scene_lost(void)
{
    static const float corner[4][3][3] = {{{0x1p-60f, 0, 0}, {0.5f, 0.5f, 0.75f}, {1, 1, 0.25f}},
                                          {{0, 0x1p-60f, 0.5f}, {-0.5f, 0.25f, 0.25f}, {-1, 0.5f, 0}},
                                          {{0, 0, 0x1p-60f}, {0.5f, -0.5f, 0.25f}, {1, -1, 0.5f}},
                                          {{0, 0, 0}, {-0.5f, -0.5f, 0.25f}, {-1, -1, 0.5f}}};
    scene s = scene_alloc_apart(4);
    memcpy(s.vertices, corner, sizeof corner);
    return s;
}

/* Every triangle has vertices of its own. */
scene drop_scene_unwelded(void)
{
    scene from = scene_sphere(5), s = scene_alloc_apart(from.triangle_count);
    for (size_t i = 0; i < 3 * from.triangle_count; i++)
        memcpy(s.vertices + 3 * i, from.vertices + (size_t)3 * from.indices[i], 3 * sizeof(float));
    scene_free(&from);
    return s;
}

static scene scene_masked(void)
{
    scene s = drop_scene_torus();
    s.masks = random_masks(7, s.triangle_count);
    for (size_t t = 0; t < s.triangle_count; t += 3)
        s.masks[t] = 0;
    return s;
}

const drop_scene drop_scenes[DROP_SCENES] = {
    {"level", drop_scene_level},          {"steps", scene_steps},     {"roof", scene_roof},
    {"boxes", drop_scene_boxes},          {"leaning", scene_leaning}, {"tilted boxes", scene_tilted_boxes},
    {"tilted level", scene_tilted_level}, {"thin", scene_thin},       {"far", scene_far},
    {"torus", drop_scene_torus},          {"soup", scene_soup_of},    {"grid", scene_grid},
    {"needles", scene_needles},           {"fans", scene_fans},       {"lost", scene_lost},
    {"unwelded", drop_scene_unwelded},    {"masked", scene_masked}};

/* ---- crowds: many triangles for a column ------------------------------------------------------------------------- */

/* `n` copies of a scene, each `apart` above the last, with corners in another order and some turned over. */
static scene copies_of(scene from, size_t n, float apart)
{
    const size_t vertices = from.vertex_count, triangles = from.triangle_count;
    scene s = scene_alloc(n * vertices, n * triangles);
    for (size_t v = 0; v < n * vertices; v++) {
        memcpy(s.vertices + 3 * v, from.vertices + 3 * (v % vertices), 3 * sizeof(float));
        s.vertices[3 * v + 2] += apart * (float)(v / vertices);
    }
    for (size_t t = 0; t < n * triangles; t++)
        for (size_t k = 0; k < 3; k++) {
            const size_t copy = t / triangles, way = copy % 2 == 0 ? k : 2 - k, corner = (way + copy) % 3;
            s.indices[3 * t + k] = (uint32_t)(copy * vertices) + from.indices[3 * (t % triangles) + corner];
        }
    scene_free(&from);
    return s;
}

static scene scene_duplicates(void)
{
    return copies_of(scene_tilted_boxes(), 12, 0);
}

static scene scene_sheets(void)
{
    return copies_of(scene_roof(), 6, 0x1p-20f);
}

static scene scene_fine(void)
{
    return kinds[2].make(1500);
}

/* A sheet that is folded three times over each place. */
static scene scene_folded(void)
{
    scene s = field_of(24, roof);
    for (size_t v = 0; v < s.vertex_count; v++) {
        float *p = s.vertices + 3 * v;
        p[2] = 0.25f * p[2] + 0.01f * p[0];
        p[0] = 4 * fabsf(remainderf(1.5f * p[0], 1)) - 1;
    }
    return s;
}

/* Triangles on end: from a corner at the bottom far up, some of them upright, some as thin as needles. */
static scene scene_spikes(void)
{
    enum { SPIKES = 800 };
    scene s = scene_alloc_apart(SPIKES);
    query_random random = {11};
    for (size_t t = 0; t < SPIKES; t++) {
        const float width = t % 3 == 0 ? 0.25f : 1e-3f;
        float *p = s.vertices + 9 * t;
        for (size_t k = 0; k < 9; k++)
            p[k] = (float)(query_random_bits(&random) % 2049) / 1024 - 1;
        for (size_t k = 3; k < 9; k++)
            p[k] = k % 3 < 2 ? p[k % 3] + width * p[k] : p[k];
        if (t % 4 == 0)
            p[6] = p[3], p[7] = p[4]; /* upright: two corners one above the other */
    }
    return s;
}

static scene scene_many_needles(void)
{
    return kinds[5].make(800);
}

static scene scene_masked_copies(void)
{
    scene s = copies_of(drop_scene_torus(), 3, 0.125f);
    s.masks = test_alloc(s.triangle_count, sizeof *s.masks);
    for (size_t t = 0; t < s.triangle_count; t++) /* the highest are left out, but for a few */
        s.masks[t] = t < s.triangle_count / 2 || t % 7 == 0;
    return s;
}

const drop_scene drop_crowds[DROP_CROWDS] = {{"duplicates", scene_duplicates},
                                             {"sheets", scene_sheets},
                                             {"fine", scene_fine},
                                             {"folded", scene_folded},
                                             {"spikes", scene_spikes},
                                             {"many needles", scene_many_needles},
                                             {"masked copies", scene_masked_copies}};
