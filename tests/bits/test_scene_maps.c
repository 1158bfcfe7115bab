/* SPDX-License-Identifier: MIT */
/* Scenes whose instances have maps of one kind, from rotations to maps that are all but singular, and queries that just
 * reach a triangle in the world or just miss it. A search takes a query into an instance's own space with bounds of all
 * errors. So here the bounds are wrong if an answer differs from that of the merged mesh. */
#include <math.h>

#include "tests/support/world_answers.h"

enum { SEED = 151, INSTANCES = 3 };

/* ---- spheres ----------------------------------------------------------------------------------------------------- */

static double unit(ref_gen *g)
{
    double x[3];
    ref_gen_box(g, x, 1);
    return x[0];
}

/* The size of a triangle: its largest edge along an axis. */
static double size_of(const float *p, const float *q, const float *r)
{
    double size = 0;
    for (int k = 0; k < 3; k++)
        size = fmax(size, (double)fmaxf(p[k], fmaxf(q[k], r[k])) - (double)fminf(p[k], fminf(q[k], r[k])));
    return size;
}

/* A sphere around a place that is the radius away from a point of a triangle, a little more or less; along the motion
 * it is there at time 1, and the motion is across the way to the point, or any. */
static void aim(ref_gen *g, const scene *all, float one[SPHERE_COLUMNS])
{
    static const double radii[] = {0, 1e-4, 0.1, 1, 4}, off[] = {0, 1e-7, -1e-7, 1e-5, -1e-5, 1e-2, -1e-2, 1};
    static const double ways[] = {0, 1e-2, 1, 30, 3000};
    const uint32_t *corner = &all->indices[3 * (size_t)ref_gen_int(g, 0, (int)all->triangle_count - 1)];
    const float *p = &all->vertices[3 * corner[0]], *q = &all->vertices[3 * corner[1]],
                *r = &all->vertices[3 * corner[2]];
    const double size = size_of(p, q, r), radius = radii[ref_gen_int(g, 0, 4)] * size * (1.5 + unit(g)),
                 way = ways[ref_gen_int(g, 0, 4)] * (size + radius);
    double u = fabs(unit(g)), v = fabs(unit(g)), n[3], m[3], square = 1e-300, along = 0;
    const int feature = ref_gen_int(g, 0, 2);
    u = feature == 0 ? floor(2 * u) : u; /* a corner */
    v = feature < 2 ? 0 : v * (1 - u);   /* an edge; the face */
    for (int k = 0; k < 3; k++) {
        n[k] = unit(g);
        m[k] = unit(g);
        square += n[k] * n[k];
    }
    for (int k = 0; k < 3; k++) {
        n[k] /= sqrt(square);
        along += n[k] * m[k];
    }
    const int across = ref_gen_int(g, 0, 1);
    const double distance = radius * (1 + off[ref_gen_int(g, 0, 7)]);
    for (int k = 0; k < 3; k++) {
        const double point = (double)p[k] + u * ((double)q[k] - (double)p[k]) + v * ((double)r[k] - (double)p[k]),
                     motion = way * (m[k] - (across ? along * n[k] : 0));
        one[k] = (float)(point + n[k] * distance - motion);
        one[SPHERE_VELOCITY + k] = (float)motion;
    }
    one[SPHERE_RADIUS] = (float)radius;
    one[SPHERE_T_MAX] = ref_gen_int(g, 0, 3) == 0 ? INFINITY : 1.25f;
}

static swept_spheres make_spheres(uint64_t seed, const scene *all, size_t count, int options)
{
    swept_spheres b = swept_spheres_alloc(count);
    for (size_t i = 0; i < count; i++) {
        ref_gen g;
        float one[SPHERE_COLUMNS];
        ref_gen_seed(&g, 9, seed, i);
        aim(&g, all, one);
        for (int c = 0; c < SPHERE_COLUMNS; c++)
            b.column[c][i] = one[c];
    }
    if (options == 1)
        swept_spheres_end(&b);
    return b;
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

static void check_world(carom_context *scalar, carom_context *context, uint64_t seed, const world *w, const char *label)
{
    scene all = world_merge(w);
    carom_mesh *merged = scene_mesh(scalar, &all);
    carom_scene *made = world_scene(context, w);
    for (int options = 0; options < 2; options++) {
        swept_spheres b = make_spheres(seed + (uint64_t)options, &all, test_effort(80), options);
        world_compare(w, merged, carom_scene_mesh(made), &b, label);
        swept_spheres_free(&b);
    }
    carom_scene_destroy(made);
    carom_mesh_destroy(merged);
    scene_free(&all);
}

static void check_kind(carom_context *scalar, carom_context *context, uint64_t seed, const world_kind *kind)
{
    world w = world_make(seed, INSTANCES, 1, 0);
    world_set_maps(&w, seed, kind);
    check_world(scalar, context, seed, &w, kind->name);
    world_free(&w);
}

/* Meshes so small that squares of their lengths underflow, made as large again by their maps. */
static void check_tiny(carom_context *scalar, carom_context *context)
{
    static const int exponents[] = {60, 64, 68, 72, 74, 76, 80, 100, 120};
    for (size_t i = 0; i < COUNT_OF(exponents); i++) {
        world w = world_make(SEED, INSTANCES, 1, 0);
        world_set_maps(&w, SEED + i, &world_kinds[0]);
        for (int m = 0; m < WORLD_MESHES; m++)
            scene_scale(&w.meshes[m], -exponents[i]);
        for (size_t k = 0; k < INSTANCES; k++)
            for (int at = 0; at < WORLD_MAP; at++)
                w.map[k][at] = at % 4 == 3 ? w.map[k][at] : ldexpf(w.map[k][at], exponents[i]);
        check_world(scalar, context, SEED + i, &w, "a tiny mesh, enlarged");
        world_free(&w);
    }
}

/* Moves the third corner of each triangle, which has vertices of its own, to an edge or next to it. */
static void flatten(scene *s, uint64_t seed)
{
    static const float beside[] = {0, 1e-8f, 1e-6f, 1e-4f, 0x1p-11f, 0x1p-9f, 0x1p-7f};
    for (size_t t = 0; t < s->triangle_count; t++) {
        ref_gen g;
        ref_gen_seed(&g, 10, seed, t);
        float *p = s->vertices + 9 * t;
        const float along = (float)unit(&g), by = beside[ref_gen_int(&g, 0, (int)COUNT_OF(beside) - 1)];
        for (int k = 0; k < 3; k++)
            p[6 + k] = p[k] + along * along * (p[3 + k] - p[k]) + by * (p[6 + k] - p[k]);
    }
}

/* Triangles of every thinness: of the thinnest a fast overlap has no bound but their box. */
static void check_thin(carom_context *scalar, carom_context *context)
{
    for (size_t i = 0; i < 10; i++) {
        world w = world_make(SEED + i, 2 * WORLD_MESHES, 1, 0);
        world_set_maps(&w, SEED + i, &world_kinds[i]);
        flatten(&w.meshes[1], SEED + i);
        flatten(&w.meshes[5], SEED + i);
        check_world(scalar, context, SEED + i, &w, "thin triangles");
        world_free(&w);
    }
}

static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    (void)label;
    for (size_t i = 0; i < WORLD_KINDS; i++)
        check_kind(scalar, context, SEED + i, &world_kinds[i]);
    check_tiny(scalar, context);
    check_thin(scalar, context);
}

static void test_scalar(void **state)
{
    (void)state;
    carom_context *scalar = test_cpu(CAROM_ISA_SCALAR, 1);
    check_same(scalar, scalar, "scalar");
    carom_context_destroy(scalar);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scalar), SAME_BITS_ON_CPU(check_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
