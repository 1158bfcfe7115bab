/* SPDX-License-Identifier: MIT */
#include "sign_scenes.h"

#include <math.h>

#include "mesh_oracle.h"
#include "queries/random.h"

scene scene_turned_round(scene s)
{
    for (size_t t = 0; t < s.triangle_count; t++) {
        const uint32_t first = s.indices[3 * t];
        s.indices[3 * t] = s.indices[3 * t + 1];
        s.indices[3 * t + 1] = first;
    }
    return s;
}

/* A closed surface of needles: a sphere flattened and sheared. */
static scene scene_flat(void)
{
    scene s = scene_sphere(6);
    for (size_t v = 0; v < s.vertex_count; v++) {
        float *p = s.vertices + 3 * v;
        p[1] = p[1] * 1e-4f + p[0] * 0.5f;
        p[2] = p[2] + p[0] * 0.25f;
    }
    return s;
}

/* Two boxes with a gap of 1e-6, and two that share a face. */
static scene scene_gaps(void)
{
    const scene apart = scene_both(scene_box(-1, -1, -1, 0, 1, 1), scene_box(1e-6f, -1, -1, 1, 1, 1));
    return scene_both(apart, scene_both(scene_box(-1, -1, 1, 0, 1, 2), scene_box(0, -1, 1, 1, 1, 2)));
}

/* The same normals out in both: the part that both hold has the winding number 2. */
static scene scene_twice(void)
{
    return scene_both(scene_box(-1, -1, -1, 0.5f, 1, 1), scene_box(-0.5f, -0.5f, -0.5f, 1, 1.5f, 0.5f));
}

scene scene_hollow(void)
{
    return scene_both(scene_sphere(8), scene_turned_round(scene_box(-0.25f, -0.25f, -0.25f, 0.25f, 0.25f, 0.25f)));
}

static scene scene_reversed(void)
{
    return scene_turned_round(scene_sphere(7));
}

static scene scene_far(void)
{
    scene s = scene_sphere(7);
    scene_place(&s, 0, 1e4f);
    return s;
}

static scene scene_open(void)
{
    return kinds[0].make(60);
}

static scene scene_grid(void)
{
    return kinds[4].make(200);
}

static scene scene_needle_soup(void)
{
    return kinds[5].make(100);
}

static scene scene_torus(void)
{
    return kinds[2].make(800);
}

/* Coordinates of 2^126, and of 2^-140 among them. */
static scene scene_wide(void)
{
    scene s = scene_both(scene_box(-1, -1, -1, 1, 1, 1), scene_box(-0x1p-126f, -0x1p-130f, -0x1p-130f, 1, 1, 2));
    for (size_t i = 0; i < 3 * 8; i++)
        s.vertices[i] *= 0x1p126f;
    for (size_t i = 3 * 8; i < 3 * 16; i++)
        s.vertices[i] *= 0x1p-14f;
    return s;
}

scene scene_unit_box(void)
{
    return scene_box(-1, -1, -1, 1, 1, 1);
}

const sign_scene sign_scenes[SIGN_SCENES] = {
    {"box", scene_unit_box}, {"torus", scene_torus},   {"flat", scene_flat}, {"gaps", scene_gaps},
    {"twice", scene_twice},  {"hollow", scene_hollow}, {"far", scene_far},   {"reversed", scene_reversed},
    {"wide", scene_wide},    {"soup", scene_open},     {"grid", scene_grid}, {"needles", scene_needle_soup}};

carom_lattice sign_lattice(const scene *s, size_t i, uint64_t n)
{
    static const carom_lattice whole = {{-1.25, -1.25, -1.5}, 0.25, {11, 12, 15}, {0}};
    static const carom_lattice column = {{0.0, 0.0, -1.0}, 0.0625, {1, 1, 600}, {0}};
    if (i != 3)
        return i == 0 ? lattice_around(s, n) : i == 1 ? whole : column;
    const double spacing = 0x1p-22, half = (double)(n / 2) * spacing;
    return (carom_lattice){{-half, -1.0 - half, 1.0 - half}, spacing, {n, n, n}, {0}};
}

/* ---- centres ----------------------------------------------------------------------------------------------------- */

enum { SEED = 197 };

/* Coordinate `axis` of a place in a scene: of a corner, of the middle of an edge, or of the middle of a triangle. */
static float coordinate_of(const scene *s, uint64_t kind, uint64_t triangle, int axis)
{
    float p[3][3];
    scene_triangle(s, (size_t)(triangle % s->triangle_count), p);
    return kind == 0   ? p[0][axis]
           : kind == 1 ? p[0][axis] / 2 + p[1][axis] / 2
                       : p[0][axis] / 4 + p[1][axis] / 4 + p[2][axis] / 2;
}

swept_spheres sign_centres(const scene *s, size_t count)
{
    const carom_lattice lattice = lattice_around(s, 12);
    const size_t nodes = lattice_nodes(&lattice);
    query_random r = {SEED + s->triangle_count};
    swept_spheres b = swept_spheres_alloc(count);
    b.max_distance = random_limits(SEED, count);
    for (size_t i = 0; i < count; i++) {
        float p[3];
        const uint64_t random = query_random_bits(&r), kind = random % 4, triangle = random >> 8;
        lattice_node(&lattice, (size_t)(query_random_bits(&r) % nodes), p);
        for (int k = 0; k < 3 && kind < 3; k++)
            p[k] = coordinate_of(s, kind, k < 2 || random >> 4 & 1 ? triangle : triangle >> 8, k);
        if (kind < 3 && (random >> 5 & 1) != 0)
            p[2] -= 0.25f;
        for (int k = 0; k < 3; k++)
            b.column[k][i] = p[k];
        b.column[SPHERE_RADIUS][i] = i % 16 == 7 ? -1.0f : (float)(random >> 40 & 255) / 64;
        if (i % 16 == 15)
            b.column[i / 16 % 3][i] = i % 32 == 15 ? NAN : INFINITY;
    }
    return b;
}

int sign_is_inside(const scene *s, const swept_spheres *b, size_t i, carom_sign sign)
{
    const uint32_t asked = b->mask != NULL ? b->mask[i] : UINT32_MAX;
    uint32_t *masks = test_alloc(s->triangle_count + 1, sizeof *masks);
    ref_mesh mesh = oracle_mesh(s);
    ref_mesh_ray_answer ray;
    const float p[3] = {b->column[0][i], b->column[1][i], b->column[2][i]};
    for (size_t t = 0; t < s->triangle_count; t++)
        masks[t] = (s->masks != NULL ? s->masks[t] : UINT32_MAX) & asked;
    mesh.masks = masks;
    ref_mesh_ray(&mesh, p, &ray);
    free(masks);
    return sign == CAROM_SIGN_PARITY ? ray.crossings % 2 != 0 : ray.sum != 0;
}
