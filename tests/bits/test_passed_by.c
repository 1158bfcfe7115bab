/* SPDX-License-Identifier: MIT */
/* Triangles that a search leaves out, or takes as hit, without asking the solver: those in spheres that the sphere does
 * not come near, and those with a corner well inside it at the start (docs/numerics.md, section 11). Both rest on
 * bounds of errors, so spheres come as near to them as they can; a mesh of two triangles, which passes nothing by, says
 * what is true. */
#include "tests/support/exact_scenes.h"
#include "tests/support/list_oracle.h"

#include <float.h>
#include <math.h>

enum { SEED = 241, TORUS = 2, FLOOR = 3 };

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

/* Triangles side by side share corners: only of such is a sphere known. All are about 1 large. */
static scene make_torus(void)
{
    return kinds[TORUS].make(300);
}

static scene make_terrain(void)
{
    scene s = kinds[FLOOR].make(500);
    for (size_t i = 0; i < s.vertex_count; i++) {
        ref_gen g;
        ref_gen_seed(&g, 120, SEED, i);
        s.vertices[3 * i + 2] = (float)ref_gen_range(&g, -0.05, 0.05);
    }
    return s;
}

/* All triangles of one shape and size, with corners on the corners of their boxes. */
static scene make_flat(void)
{
    return kinds[FLOOR].make(500);
}

/* Large triangles beside small and thin ones, which have the sphere of the largest of their leaf. */
static scene make_graded(void)
{
    scene s = kinds[FLOOR].make(500);
    for (size_t i = 0; i < s.vertex_count; i++) {
        float *p = &s.vertices[3 * i];
        p[2] = p[0] * p[1] * 0.5f;
        p[0] *= p[0] * p[0];
    }
    return s;
}

/* Folded at every line of corners, so the boxes are large and next to each other's triangles. */
static scene make_folded(void)
{
    scene s = kinds[FLOOR].make(500);
    for (size_t i = 0; i < s.vertex_count; i++) {
        float *p = &s.vertices[3 * i];
        p[2] = (int)lrintf(p[0] * 8.0f) & 1 ? 0.25f : 0.0f;
        p[1] += p[2] * 0.125f;
    }
    return s;
}

/* A torus of 2^-16 beside one triangle of 1: it is as small as an error of the mesh's size. */
static scene make_speck(void)
{
    scene small = make_torus();
    const size_t corners = small.vertex_count;
    scene s = scene_alloc(corners + 3, small.triangle_count + 1);
    scene_scale(&small, -16);
    memcpy(s.vertices, small.vertices, 3 * corners * sizeof *s.vertices);
    memcpy(s.indices, small.indices, 3 * small.triangle_count * sizeof *s.indices);
    for (size_t k = 0; k < 3; k++) {
        s.indices[3 * small.triangle_count + k] = (uint32_t)(corners + k);
        s.vertices[3 * (corners + k) + k] = 1.0f;
    }
    scene_free(&small);
    return s;
}

/* Where a mesh lies, and the size of what is to be met in it. With sizes and speeds from 2^-30 to 2^30 something is
 * passed by, so some stand at these ends. */
typedef struct setting {
    const char *name;
    scene (*make)(void);
    double size;
    int exponent;
    float offset;
} setting;

static const setting settings[] = {
    {"torus", make_torus, 1.0, 0, 0.0f},
    {"terrain", make_terrain, 1.0, 0, 0.0f},
    {"flat", make_flat, 1.0, 0, 0.0f},
    {"graded", make_graded, 1.0, 0, 0.0f},
    {"folded", make_folded, 1.0, 0, 0.0f},
    {"speck", make_speck, 0x1p-16, 0, 0.0f},
    {"torus, far", make_torus, 1.0, 0, 100.0f},
    {"terrain, 2^27", make_terrain, 1.0, 27, 0.0f},
    {"folded, 2^-30", make_folded, 1.0, -30, 0.0f},
    {"flat, far, 2^-28", make_flat, 1.0, -28, 3.0f},
    {"torus, 2^-80", make_torus, 1.0, -80, 0.0f},
    {"graded, 2^70", make_graded, 1.0, 70, 0.0f},
};

/* ---- spheres ----------------------------------------------------------------------------------------------------- */

/* What is aimed at: a point, mostly the corner farthest from the middle of its triangle's box, and the way out
 * there. */
typedef struct target {
    double at[3], out[3];
} target;

static target target_of(ref_gen *g, const scene *s)
{
    float p[3][3];
    target t;
    double middle[3], farthest = -1.0;
    scene_triangle(s, (size_t)ref_gen_int(g, 0, (int)s->triangle_count - 1), p);
    for (int k = 0; k < 3; k++)
        middle[k] =
            0.5 * ((double)fminf(fminf(p[0][k], p[1][k]), p[2][k]) + (double)fmaxf(fmaxf(p[0][k], p[1][k]), p[2][k]));
    for (int v = 0; v < 3; v++) {
        double way[3];
        for (int k = 0; k < 3; k++)
            way[k] = (double)p[v][k] - middle[k];
        if (ref_length(way) <= farthest)
            continue;
        farthest = ref_length(way);
        for (int k = 0; k < 3; k++) {
            t.at[k] = (double)p[v][k];
            t.out[k] = way[k] / farthest;
        }
    }
    if (ref_gen_chance(g, 4)) /* a point on an edge, seen from anywhere */
        for (int k = 0; k < 3; k++)
            t.at[k] = 0.5 * ((double)p[0][k] + (double)p[1][k]);
    if (!(farthest > 0.0) || ref_gen_chance(g, 4))
        ref_gen_direction(g, t.out);
    return t;
}

/* 1, some units of the last place beside it, or 2^-k. */
static double nearly_one(ref_gen *g)
{
    return 1.0 + (ref_gen_chance(g, 2) ? ref_gen_int(g, -8, 8) * 0x1p-24 : ref_slip(g) * 0.25);
}

/* Of squared radii: around what is well inside, and around what is inside. */
static double share_of_radius(ref_gen *g)
{
    static const double squares[] = {0.9, 0.9375, 0.9375, 0.97, 1.0, 1.02, 1.045, 1.1};
    return sqrt(squares[ref_gen_int(g, 0, 7)] * nearly_one(g));
}

/* A sphere that comes as near to a target as its radius, on its way, at its end or at its start; or is there at time
 * 0. */
static void aim(ref_gen *g, const scene *s, double size, float out[7])
{
    static const double distances[] = {0.0, 0.5, 1.0, 4.0, 64.0, 1024.0, 32768.0, 0x1p20},
                        radii[] = {0.0, 0.0003, 0.05, 0.3, 0.3, 1.0, 8.0, 64.0};
    const target t = target_of(g, s);
    double radius = size * radii[ref_gen_int(g, 0, 7)] * ref_gen_range(g, 0.5, 1.0), touch = radius, u[3];
    double distance = size * distances[ref_gen_int(g, 0, 7)];
    const int kind = ref_gen_int(g, 0, 9);
    if (kind < 4) { /* past it */
        ref_gen_across(g, u, t.out);
        touch *= nearly_one(g);
    } else if (kind < 6) { /* towards it */
        for (int k = 0; k < 3; k++)
            u[k] = -t.out[k];
    } else { /* from a start there, or past it anyhow */
        ref_gen_direction(g, u);
        touch *= kind == 9 ? nearly_one(g) : share_of_radius(g);
        distance = kind == 9 ? distance : 0.0;
    }
    const int exponent = ref_gen_chance(g, 6) ? 10 * ref_gen_int(g, -8, 8) : 4 * ref_gen_int(g, -7, 7);
    const double speed = kind == 8 && ref_gen_chance(g, 2) ? 0.0 : ref_power_of_two(exponent);
    for (int k = 0; k < 3; k++) {
        out[k] = (float)(t.at[k] + t.out[k] * touch - u[k] * distance);
        out[4 + k] = (float)(u[k] * speed);
    }
    out[SPHERE_RADIUS] = (float)radius;
}

static swept_spheres make_swept_spheres(uint64_t seed, const scene *s, double size, size_t count)
{
    swept_spheres b = swept_spheres_alloc(count);
    for (size_t i = 0; i < count; i++) {
        ref_gen g;
        float one[7];
        ref_gen_seed(&g, 121, seed, i);
        aim(&g, s, size, one);
        for (int c = 0; c < 7; c++)
            b.column[c][i] = one[c];
    }
    return b;
}

/* ---- margins ----------------------------------------------------------------------------------------------------- */

/* What the search adds to radius and sphere, and how much of it a hit needs: the distance of the way from the middle of
 * the triangle's box. At most a half, says docs/numerics.md. Below 0 where nothing is passed by. */
static double margin_used(const scene *s, const swept_spheres *b, size_t i, int32_t triangle, float t)
{
    ref_sweep_case c;
    double way[3], half[3], along = 0.0, v2 = 0.0, most = 0.0, fastest = 0.0, largest = 0.0;
    swept_spheres_case(b, i, s, (size_t)triangle, &c);
    for (int k = 0; k < 3; k++) {
        const double lo = (double)fminf(fminf(c.p[0][k], c.p[1][k]), c.p[2][k]),
                     hi = (double)fmaxf(fmaxf(c.p[0][k], c.p[1][k]), c.p[2][k]);
        half[k] = 0.5 * (hi - lo);
        way[k] = 0.5 * (lo + hi) - (double)c.center[k];
        along += way[k] * (double)c.velocity[k];
        v2 += (double)c.velocity[k] * (double)c.velocity[k];
        most = fmax(most, fabs((double)c.center[k]));
        fastest = fmax(fastest, fabs((double)c.velocity[k]));
    }
    for (size_t k = 0; k < 3 * s->vertex_count; k++)
        largest = fmax(largest, fabs((double)s->vertices[k]));
    const double size = fmax(fmax(most, c.radius), 2.0 * ref_power_of_two(ilogb(largest)));
    if (size < 0x1p-30 || size > 0x1p30 || (v2 > 0.0 && (fastest < 0x1p-30 || fastest > 0x1p30)))
        return -1.0;
    const double at = v2 > 0.0 ? fmin(fmax(along / v2, 0.0), (double)t) : 0.0;
    for (int k = 0; k < 3; k++)
        way[k] -= at * (double)c.velocity[k];
    return (ref_length(way) - c.radius - ref_length(half)) / (c.radius * 0x1p-8 + size * 0x1p-16);
}

static double most_margin(const scene *s, const swept_spheres *b, const hit_list *l)
{
    double most = 0.0;
    for (size_t k = 0; k < l->stored; k++)
        most = fmax(most, margin_used(s, b, (size_t)list_query(l, k), hit_triangle(&l->hits, k),
                                      hit_float(&l->hits, HIT_T, k)));
    return most;
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */

/* Of sphere i's hits the one that needs most of the margin. */
static size_t nearest_to_margin(const scene *s, const swept_spheres *b, const hit_list *l, size_t i)
{
    size_t found = (size_t)list_offset(l, i);
    double most = -HUGE_VAL;
    for (size_t k = found; k < list_offset(l, i + 1); k++) {
        const double used = margin_used(s, b, i, hit_triangle(&l->hits, k), hit_float(&l->hits, HIT_T, k));
        found = used > most ? k : found;
        most = fmax(most, used);
    }
    return found;
}

/* Windows that end at that hit, just before it, just after it, and on the way to it. */
static void cut_windows(const scene *s, swept_spheres *b, const hit_list *l)
{
    for (size_t i = 0; i < b->count; i++) {
        ref_gen g;
        ref_gen_seed(&g, 122, SEED, i);
        if (list_offset(l, i + 1) == list_offset(l, i))
            continue;
        const float t = hit_float(&l->hits, HIT_T, nearest_to_margin(s, b, l, i));
        const float ends[] = {t, t, t, t, nextafterf(t, 0.0f), nextafterf(t, HUGE_VALF), 0.5f * t};
        b->column[SPHERE_T_MAX][i] = ends[ref_gen_int(&g, 0, 6)];
    }
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

typedef struct made {
    scene s;
    swept_spheres b;
} made;

static made make(size_t n, size_t count)
{
    const setting *at = &settings[n];
    made m = {.s = at->make()};
    scene_place(&m.s, 0, at->offset);
    m.b = make_swept_spheres(SEED + n, &m.s, at->size, test_effort(count));
    scene_scale(&m.s, at->exponent);
    swept_spheres_scale(&m.b, at->exponent, at->exponent); /* speeds stay what they are */
    return m;
}

static void made_free(made *m)
{
    scene_free(&m->s);
    swept_spheres_free(&m->b);
}

/* Fast mode: every hit is found, whatever is passed by. The search for the first one stops short of what it has found,
 * and takes corners inside without asking; that for all does neither. The CPU says what is true: a device is slow with
 * small meshes. */
static void test_fast(void **state)
{
    carom_context *context = test_context(), *judge = test_cpu(CAROM_ISA_AUTO, 2);
    (void)state;
    for (size_t n = 0; n < COUNT_OF(settings); n++) {
        made m = make(n, 120);
        carom_mesh *mesh = scene_mesh(context, &m.s);
        uint64_t found = 0;
        double used = 0.0;
        for (int windows = 0; windows < 2; windows++) {
            hit_list all = list_whole(mesh, &list_requests[0], &m.b, 0, m.b.count);
            list_check_alone(judge, &m.s, &list_requests[0], &m.b, &all, settings[n].name);
            list_check_first(mesh, CAROM_ACCURACY_FAST, &m.b, &all, settings[n].name);
            used = fmax(used, most_margin(&m.s, &m.b, &all));
            found += all.total;
            cut_windows(&m.s, &m.b, &all);
            list_free(&all);
        }
        print_message("%-18s %zu triangles, %zu spheres, %llu hits, at most %.3f of the margin used\n",
                      settings[n].name, m.s.triangle_count, m.b.count, (unsigned long long)found, used);
        assert_true(used < 0.5);
        test_share("hits of a setting", found, m.b.count, 1.0, HUGE_VAL);
        carom_mesh_destroy(mesh);
        made_free(&m);
    }
    carom_context_destroy(context);
    carom_context_destroy(judge);
}

/* Exact mode against the reference, triangle by triangle. */
static void test_exact(void **state)
{
    carom_context *context = test_context();
    (void)state;
    for (size_t n = 0; n < COUNT_OF(settings); n++) {
        made m = make(n, 16);
        carom_mesh *mesh = scene_mesh(context, &m.s);
        for (int windows = 0; windows < 2; windows++) {
            hit_list all = list_whole(mesh, &list_requests[3], &m.b, 0, m.b.count);
            uint8_t *any = any_of(mesh, &list_requests[3], &m.b, 0, m.b.count);
            for (size_t i = 0; i < m.b.count; i++)
                list_judge_hits(&m.s, &m.b, i, &all, any, settings[n].name);
            list_check_first(mesh, CAROM_ACCURACY_EXACT, &m.b, &all, settings[n].name);
            cut_windows(&m.s, &m.b, &all);
            free(any);
            list_free(&all);
        }
        carom_mesh_destroy(mesh);
        made_free(&m);
    }
    carom_context_destroy(context);
}

static void check_same(carom_context *scalar, carom_context *context, const char *label)
{
    for (size_t n = 0; n < COUNT_OF(settings); n++) {
        made m = make(n, 60);
        carom_mesh *expected = scene_mesh(scalar, &m.s), *mesh = scene_mesh(context, &m.s);
        list_compare_request(expected, mesh, &list_requests[0], &m.b, label);
        list_compare_request(expected, mesh, &list_requests[1], &m.b, label);
        list_compare_request(expected, mesh, &list_requests[4], &m.b, label);
        carom_mesh_destroy(expected);
        carom_mesh_destroy(mesh);
        made_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest on_cpu[] = {cmocka_unit_test(test_fast), cmocka_unit_test(test_exact),
                                        SAME_BITS_ON_CPU(check_same)};
    const struct CMUnitTest on_device[] = {cmocka_unit_test(test_fast), cmocka_unit_test(test_exact),
                                           SAME_BITS_ON_DEVICE(check_same)};
    return test_on_device() ? cmocka_run_group_tests(on_device, NULL, NULL)
                            : cmocka_run_group_tests(on_cpu, NULL, NULL);
}
