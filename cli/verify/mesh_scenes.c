/* SPDX-License-Identifier: MIT */
/* Meshes for carom verify, and spheres aimed at them: what touches, ties, grazes and slides as exactly as binary32
 * allows. All but one small enough for the reference to try every triangle, and made of + - * / and sqrt: the same on
 * every machine. */
#include "mesh.h"

#include "queries/shapes.h"

#include <math.h>
#include <string.h>

enum { SIDE = 16, SPHERE_SIDE = 8, STREAM_SCENES = 120, STREAM_MASKS = 140, STREAM_BALLS = 141 };

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

static void set_corner(verify_scene *s, size_t triangle, size_t v, const double at[3])
{
    for (size_t k = 0; k < 3; k++)
        s->vertices[9 * triangle + 3 * v + k] = ref_round(at[k]);
}

/* Triangles of about a quarter, each with vertices of its own. */
static void fill_plain(ref_gen *g, size_t triangle, verify_scene *s)
{
    shape_soup_triangle(g, 0.25, 1.0, 0.0, &s->vertices[9 * triangle]);
}

/* Away from the origin, so that coordinates have few bits left. */
static void fill_far(ref_gen *g, size_t triangle, verify_scene *s)
{
    shape_soup_triangle(g, 0.25, 0x1p-4, 1024.0, &s->vertices[9 * triangle]);
}

/* A triangle's size has nothing to do with its neighbour's. */
static void fill_mixed(ref_gen *g, size_t triangle, verify_scene *s)
{
    const int exponent = ref_gen_int(g, -16, 16);
    shape_soup_triangle(g, 0.25, ref_power_of_two(exponent), 0.0, &s->vertices[9 * triangle]);
}

/* Corners on a coarse grid: shared corners, crossing and coplanar triangles, segments, points and duplicates. */
static void fill_lattice(ref_gen *g, size_t triangle, verify_scene *s)
{
    const int flat = ref_gen_chance(g, 2), again = triangle > 0 && ref_gen_chance(g, 6);
    double place[3], at[3];
    ref_gen_lattice(g, place, 16);
    for (size_t v = 0; v < 3; v++) {
        ref_gen_lattice(g, at, 2);
        for (int k = 0; k < 3; k++)
            at[k] = k == 2 && flat ? 0.0 : at[k] + place[k];
        set_corner(s, triangle, v, at);
    }
    if (again)
        memcpy(&s->vertices[9 * triangle], &s->vertices[9 * (triangle / 2)], 9 * sizeof(float));
}

static void fill_needle(ref_gen *g, size_t triangle, verify_scene *s)
{
    fill_plain(g, triangle, s);
    shape_needle(triangle, &s->vertices[9 * triangle]);
}

typedef void triangle_filler(ref_gen *g, size_t triangle, verify_scene *s);

/* Triangles that share no vertices. */
static void make_apart(size_t scene, uint64_t seed, triangle_filler *fill, verify_scene *s)
{
    for (size_t i = 0; i < s->triangle_count; i++) {
        ref_gen g;
        ref_gen_seed(&g, STREAM_SCENES + scene, seed, i);
        fill(&g, i, s);
    }
}

/* The square of half side 1 in the plane z = 0: corners and middles of edges are numbers. With heights, a ground. */
static void make_square(size_t scene, uint64_t seed, double height, verify_scene *s)
{
    const uint32_t row = SIDE + 1;
    uint32_t *to = s->indices;
    s->vertex_count = (size_t)row * row;
    for (size_t i = 0; i < s->vertex_count; i++) {
        ref_gen g;
        ref_gen_seed(&g, STREAM_SCENES + scene, seed, i);
        s->vertices[3 * i] = (float)(i % row) * (2.0f / SIDE) - 1.0f;
        s->vertices[3 * i + 1] = (float)(i / row) * (2.0f / SIDE) - 1.0f;
        s->vertices[3 * i + 2] = ref_round(height * ref_gen_range(&g, 0.0, 1.0));
    }
    for (uint32_t y = 0; y < SIDE; y++)
        for (uint32_t x = 0; x < SIDE; x++, to += 6) {
            const uint32_t a = y * row + x, b = a + row, corners[6] = {a, a + 1, b, a + 1, b + 1, b};
            memcpy(to, corners, sizeof corners);
        }
}

/* Corner (a, b) of an octant of the octahedron with `side` segments an edge, blown up to the unit sphere. */
static void set_ball_corner(verify_scene *s, int side, size_t triangle, size_t v, size_t octant, int a, int b)
{
    double at[3] = {a, b, side - a - b};
    const double length = ref_length(at);
    for (size_t k = 0; k < 3; k++)
        at[k] *= (octant >> k & 1 ? -1.0 : 1.0) / length;
    set_corner(s, triangle, v, at);
}

/* In 8 side^2 triangles. */
static void make_ball(int side, verify_scene *s)
{
    size_t i = 0;
    for (size_t octant = 0; octant < 8; octant++)
        for (int a = 0; a < side; a++)
            for (int b = 0; a + b < side; b++)
                for (int upper = 0; upper < 2 && a + b + upper < side; upper++, i++) {
                    set_ball_corner(s, side, i, 0, octant, a + upper, b + upper);
                    set_ball_corner(s, side, i, 1, octant, a + 1, b);
                    set_ball_corner(s, side, i, 2, octant, a, b + 1);
                }
}

static void make_masks(uint64_t seed, size_t count, uint32_t *masks)
{
    for (size_t i = 0; i < count; i++) {
        ref_gen g;
        ref_gen_seed(&g, STREAM_MASKS, seed, i);
        const uint32_t bits = (uint32_t)ref_gen_bits(&g);
        const int kind = ref_gen_int(&g, 0, 7);
        masks[i] = kind == 0 ? 0 : kind == 1 ? UINT32_MAX : kind < 5 ? UINT32_C(1) << (bits & 31) : bits;
    }
}

enum { SCENE_SQUARE = 6, SCENE_GROUND, SCENE_BALL, SCENE_MOVING, SCENE_LARGE_BALL };
_Static_assert(2 * SIDE * SIDE == MESH_TRIANGLES && 8 * SPHERE_SIDE * SPHERE_SIDE == MESH_TRIANGLES,
               "all that are judged");
_Static_assert((int)SCENE_LARGE_BALL == (int)MESH_JUDGED, "the one that is not judged is the last");

static const struct {
    const char *name;
    triangle_filler *fill; /* NULL: by another function */
} scenes[MESH_SCENES] = {{"soup", fill_plain},
                         {"soup with masks", fill_plain},
                         {"far", fill_far},
                         {"mixed sizes", fill_mixed},
                         {"lattice", fill_lattice},
                         {"needles", fill_needle},
                         {"square", NULL},
                         {"ground", NULL},
                         {"ball", NULL},
                         {"moving instances", fill_plain},
                         {"large ball", NULL}};

const char *verify_scene_name(size_t index)
{
    return scenes[index].name;
}

/* Segments an edge of a sphere in as many triangles as there may be. */
static int large_side(uint64_t most)
{
    int side = 1;
    while (side < MESH_LARGE_SIDE && 8 * ((uint64_t)side + 1) * ((uint64_t)side + 1) <= most)
        side++;
    return side;
}

void verify_scene_make(size_t index, uint64_t seed, uint64_t most, verify_scene *out)
{
    const int side = index == SCENE_LARGE_BALL ? large_side(most) : SPHERE_SIDE;
    out->name = scenes[index].name;
    out->has_masks = index == 1;
    out->triangle_count = 8 * (size_t)side * (size_t)side;
    out->vertex_count = 3 * out->triangle_count;
    for (size_t v = 0; v < out->vertex_count; v++)
        out->indices[v] = (uint32_t)v;
    if (scenes[index].fill)
        make_apart(index, seed, scenes[index].fill, out);
    else if (index == SCENE_SQUARE || index == SCENE_GROUND)
        make_square(index, seed, index == SCENE_SQUARE ? 0.0 : 0.25, out);
    else
        make_ball(side, out);
    if (out->has_masks)
        make_masks(seed, out->triangle_count, out->masks);
    out->instance_count = 0;
    if (index == SCENE_MOVING)
        verify_scene_move(seed, out);
}

carom_mesh_desc verify_scene_desc(const verify_scene *s)
{
    return (carom_mesh_desc){.size = sizeof(carom_mesh_desc),
                             .vertices = carom_xyz(s->vertices),
                             .vertex_count = s->vertex_count,
                             .indices = {s->indices, sizeof(uint32_t)},
                             .triangle_count = s->triangle_count,
                             .masks = {s->has_masks ? s->masks : NULL, sizeof(uint32_t)}};
}

ref_mesh verify_scene_reference(const verify_scene *s)
{
    return (ref_mesh){s->vertices, s->indices, s->triangle_count, s->has_masks ? s->masks : NULL};
}

/* ---- spheres ----------------------------------------------------------------------------------------------------- */

/* A spot on or beside a triangle. Returns the size of the triangle, which is a number of few bits where corners are. */
static double pick_spot(ref_gen *g, const verify_scene *s, double spot[3])
{
    const ref_mesh mesh = verify_scene_reference(s);
    float p[3][3];
    double size = 0.0;
    ref_mesh_triangle(&mesh, (size_t)ref_gen_int(g, 0, (int)s->triangle_count - 1), p);
    const int v = shape_spot(g, p, spot);
    for (int k = 0; k < 6; k++)
        size = fmax(size, fabs((double)p[(v + 1 + k / 3) % 3][k % 3] - (double)p[v][k % 3]));
    return size > 0.0 ? size : 0.125;
}

const char *const verify_sphere_columns[SPHERE_COLUMNS] = {"cx", "cy", "cz",    "radius",      "vx",
                                                           "vy", "vz", "t_max", "max_distance"};

/* None, or about the distance of a spot: that, the next numbers, any in its neighbourhood. */
static float pick_max_distance(ref_gen *g, double distance)
{
    const float limit = ref_round(fmax(distance, 0.0));
    switch (ref_gen_int(g, 0, 7)) {
    case 0: return limit;
    case 1: return nextafterf(limit, 0.0f);
    case 2: return nextafterf(limit, HUGE_VALF);
    case 3: return ref_round(fmax(distance, 0.0) * ref_gen_range(g, 0.25, 2.0));
    default: return HUGE_VALF;
    }
}

/* From far, near, the surface or within; at rest, away; with a radius that makes distances whole, any radius, none.
 * Some windows end when the surface is reached. */
static void aim(ref_gen *g, const verify_scene *s, float out[SPHERE_COLUMNS])
{
    static const double radii[] = {0.0, 0.125, 0.25, 0.5}, distances[] = {0.0, 1.0, 4.0, 1024.0};
    double spot[3], way[3];
    const double size = pick_spot(g, s, spot);
    double radius = size * radii[ref_gen_int(g, 0, 3)], gap = size * distances[ref_gen_int(g, 0, 3)], speed = size;
    const int kind = ref_gen_int(g, 0, 15);
    shape_way(g, way);
    radius *= ref_gen_chance(g, 3) ? ref_gen_range(g, 0.01, 1.0) : ref_gen_chance(g, 16) ? 8.0 : 1.0;
    speed *= kind == 0 ? 0.0 : kind == 1 ? -1.0 : ref_power_of_two(ref_gen_int(g, -4, 2));
    if (kind == 2 || kind == 3)
        gap = kind == 2 ? -0.5 * radius : ref_gen_range(g, 0.0, 3.0 * size);
    for (int k = 0; k < 3; k++) {
        out[k] = ref_round(spot[k] + way[k] * (radius + gap));
        out[SPHERE_VELOCITY + k] = ref_round(-way[k] * speed);
    }
    out[SPHERE_RADIUS] = ref_round(radius);
    out[SPHERE_T_MAX] = ref_gen_chance(g, 4) && speed > 0.0 && gap >= 0.0 ? ref_round(gap / speed) : HUGE_VALF;
    if (kind == 4) /* sliding past at the radius */
        out[ref_gen_int(g, 0, 2)] += out[SPHERE_RADIUS];
    if (kind == 5 && ref_gen_chance(g, 4))
        out[ref_gen_int(g, 0, 6)] = ref_gen_chance(g, 2) ? -HUGE_VALF : 0.0f / 0.0f;
    out[SPHERE_MAX_DISTANCE] = pick_max_distance(g, radius + gap);
}

void verify_spheres_make(const verify_scene *scene, uint64_t seed, uint64_t first, uint64_t count, uint64_t block,
                         verify_spheres *out)
{
    /* Options are one for all spheres of a call: half of the calls have none. A third have end positions. */
    static const carom_start starts[] = {CAROM_START_REPORT, CAROM_START_SKIP_PARTING, CAROM_START_REPORT,
                                         CAROM_START_SKIP};
    out->start = starts[block % 4];
    out->cull_back = block % 4 >= 2 && block % 8 != 6;
    out->ends = block % 3 == 1;
    for (uint64_t i = 0; i < count; i++) {
        ref_gen g;
        float one[SPHERE_COLUMNS];
        ref_gen_seed(&g, STREAM_BALLS, seed, first + i);
        aim(&g, scene, one);
        for (int k = 0; k < 3 && out->ends; k++) {
            if (scene->instance_count > 0)
                one[k] = verify_scene_snap(one[k]);
            one[SPHERE_VELOCITY + k] += one[k];
        }
        if (out->ends && one[SPHERE_T_MAX] > 1.0f)
            one[SPHERE_T_MAX] = 1.0f;
        for (int c = 0; c < SPHERE_COLUMNS; c++)
            out->column[c][i] = one[c];
    }
    make_masks(seed + first, count, out->mask);
}

query_sphere verify_spheres_case(const verify_scene *scene, const verify_spheres *b, uint64_t i)
{
    query_sphere s = {.mesh = verify_scene_reference(scene),
                      .instances = scene->instance_count > 0 ? scene->instances : NULL,
                      .instance_count = scene->instance_count,
                      .sphere.radius = (double)b->column[SPHERE_RADIUS][i],
                      .t_max = b->column[SPHERE_T_MAX][i],
                      .max_distance = b->column[SPHERE_MAX_DISTANCE][i],
                      .options = {b->mask[i], b->cull_back, (int)b->start}};
    for (int k = 0; k < 3; k++) {
        s.sphere.center[k] = b->column[k][i];
        s.sphere.velocity[k] = b->column[SPHERE_VELOCITY + k][i];
        s.sphere.w[k] = b->ends ? s.sphere.center[k] : 0.0f;
    }
    return s;
}
