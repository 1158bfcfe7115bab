/* SPDX-License-Identifier: MIT */
#include "scene_instances.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

enum { LEVEL_SIDE = 224, PROPS = 200, PROP_RINGS = 25, PROP_SIDES = 10 };
static const double level_half = 10.0, prop_width = 0.3, torus_width = 2.8;

/* ---- maps -------------------------------------------------------------------------------------------------------- */

/* A turn by a random angle around a random axis (Rodrigues), then a scale and a shift. */
static void set_map(uint64_t *state, double scale, const double shift[3], float map[12])
{
    double axis[3], length = 0.0;
    for (int k = 0; k < 3; k++) {
        axis[k] = bench_range(state, -1.0, 1.0);
        length += axis[k] * axis[k];
    }
    length = sqrt(length);
    const double angle = bench_range(state, 0.5, 5.5), c = cos(angle), s = sin(angle);
    for (int k = 0; k < 3; k++)
        axis[k] /= length;
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++) {
            const int other = 3 - row - column, next = (row + 1) % 3 == column;
            const double cross = row == column ? 0.0 : (next ? -s : s) * axis[other];
            map[4 * row + column] =
                (float)(scale * ((row == column ? c : 0.0) + (1.0 - c) * axis[row] * axis[column] + cross));
        }
        map[4 * row + 3] = (float)shift[row];
    }
}

static void set_identity(float map[12])
{
    memset(map, 0, 12 * sizeof *map);
    map[0] = map[5] = map[10] = 1.0f;
}

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

/* A floor with waves. */
static mesh_scene make_level(void)
{
    const uint32_t row = LEVEL_SIDE + 1;
    mesh_scene m = mesh_scene_alloc((size_t)row * row, 2 * (size_t)LEVEL_SIDE * LEVEL_SIDE);
    uint32_t *to = m.indices;
    for (size_t i = 0; i < m.vertex_count; i++) {
        const double x = level_half * (2.0 * (double)(i % row) / LEVEL_SIDE - 1.0),
                     y = level_half * (2.0 * (double)(i / row) / LEVEL_SIDE - 1.0);
        m.vertices[3 * i] = (float)x;
        m.vertices[3 * i + 1] = (float)y;
        m.vertices[3 * i + 2] = (float)(0.3 * sin(1.7 * x) * cos(1.3 * y));
    }
    for (uint32_t y = 0; y < LEVEL_SIDE; y++)
        for (uint32_t x = 0; x < LEVEL_SIDE; x++) {
            const uint32_t a = y * row + x, b = a + row, corners[6] = {a, a + 1, b, a + 1, b + 1, b};
            for (int k = 0; k < 6; k++)
                *to++ = corners[k];
        }
    mesh_scene_set_box(&m);
    return m;
}

static scene_parts *parts_alloc(size_t meshes, size_t count)
{
    scene_parts *p = calloc(1, sizeof *p);
    if (p != NULL) {
        p->mesh = calloc(count, sizeof *p->mesh);
        p->map = calloc(count, sizeof *p->map);
        p->instances = calloc(count, sizeof *p->instances);
    }
    if (p == NULL || p->mesh == NULL || p->map == NULL || p->instances == NULL)
        bench_die("no memory for %zu instances", count);
    p->list =
        (peer_instances){.meshes = p->meshes, .mesh_count = meshes, .mesh = p->mesh, .map = p->map[0], .count = count};
    return p;
}

void scene_parts_free(scene_parts *p)
{
    if (p == NULL)
        return;
    for (int i = 0; i < p->made_count; i++)
        carom_scene_destroy(p->made[i]);
    for (size_t i = 0; i < p->list.mesh_count; i++)
        mesh_scene_free(&p->own[i]);
    free(p->mesh);
    free(p->map);
    free(p->instances);
    free(p);
}

/* The mesh of all triangles in the world, as a scene defines its corners. */
static mesh_scene merge(scene_parts *p)
{
    size_t vertices = 0, triangles = 0;
    for (size_t i = 0; i < p->list.mesh_count; i++)
        p->meshes[i] = (peer_mesh){.vertices = p->own[i].vertices,
                                   .indices = p->own[i].indices,
                                   .vertex_count = p->own[i].vertex_count,
                                   .triangle_count = p->own[i].triangle_count};
    for (size_t i = 0; i < p->list.count; i++) {
        vertices += p->own[p->mesh[i]].vertex_count;
        triangles += p->own[p->mesh[i]].triangle_count;
    }
    mesh_scene all = mesh_scene_alloc(vertices, triangles);
    vertices = triangles = 0;
    for (size_t i = 0; i < p->list.count; i++) {
        const mesh_scene *own = &p->own[p->mesh[i]];
        const float *m = p->map[i];
        for (size_t v = 0; v < own->vertex_count; v++) {
            const float *x = own->vertices + 3 * v;
            for (size_t k = 0; k < 3; k++)
                all.vertices[3 * (vertices + v) + k] =
                    (float)((((double)m[4 * k] * (double)x[0] + (double)m[4 * k + 1] * (double)x[1]) +
                             (double)m[4 * k + 2] * (double)x[2]) +
                            (double)m[4 * k + 3]);
        }
        for (size_t c = 0; c < 3 * own->triangle_count; c++)
            all.indices[3 * triangles + c] = own->indices[c] + (uint32_t)vertices;
        p->instances[i].first = (uint32_t)triangles;
        vertices += own->vertex_count;
        triangles += own->triangle_count;
        p->instances[i].end = (uint32_t)triangles;
    }
    mesh_scene_set_box(&all);
    all.parts = p;
    return all;
}

static scene_parts *make_props(void)
{
    scene_parts *p = parts_alloc(2, 1 + PROPS);
    p->own[0] = make_level();
    p->own[1] = mesh_scene_make(PROP_RINGS, PROP_SIDES);
    set_identity(p->map[0]);
    for (size_t i = 1; i <= PROPS; i++) {
        uint64_t state = 7919 * i;
        double shift[3];
        for (int k = 0; k < 3; k++)
            shift[k] = k < 2 ? bench_range(&state, -level_half, level_half) : bench_range(&state, 0.0, 0.5);
        set_map(&state, prop_width / torus_width, shift, p->map[i]);
        p->mesh[i] = 1;
    }
    return p;
}

static void set_velocities(scene_parts *p, double diagonal)
{
    p->is_moving = 1;
    for (size_t i = 1; i < p->list.count; i++) {
        uint64_t state = 104729 * i;
        const double speed = bench_range(&state, 0.005, 0.02) * diagonal;
        for (int k = 0; k < 3; k++)
            p->instances[i].velocity[k] = (float)(speed * bench_range(&state, -1.0, 1.0));
    }
}

mesh_scene mesh_scene_make_instances(mesh_shape shape)
{
    const int is_one = shape == SHAPE_ONE || shape == SHAPE_TURNED;
    scene_parts *p = is_one ? parts_alloc(1, 1) : make_props();
    if (is_one) {
        uint64_t state = 17;
        static const double nowhere[3];
        p->own[0] = mesh_scene_make(250, 140);
        set_identity(p->map[0]);
        if (shape == SHAPE_TURNED)
            set_map(&state, 1.0, nowhere, p->map[0]);
    }
    mesh_scene all = merge(p);
    if (shape == SHAPE_MOVING)
        set_velocities(p, all.diagonal);
    return all;
}

/* ---- carom's scene ----------------------------------------------------------------------------------------------- */

carom_mesh *scene_parts_open(scene_parts *p, const subject *of)
{
    carom_mesh *meshes[PARTS_MESHES] = {NULL};
    carom_scene *scene = NULL;
    carom_error err = {0};
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < p->list.mesh_count && status == CAROM_OK; i++) {
        const carom_mesh_desc desc = {.size = sizeof desc,
                                      .vertices = carom_xyz(p->meshes[i].vertices),
                                      .vertex_count = p->meshes[i].vertex_count,
                                      .indices = carom_uints_of(p->meshes[i].indices),
                                      .triangle_count = p->meshes[i].triangle_count};
        status = carom_mesh_create(of->context, &desc, &meshes[i], &err);
    }
    carom_scene_desc desc = {.size = sizeof desc,
                             .meshes = meshes,
                             .mesh_count = p->list.mesh_count,
                             .mesh = carom_uints_of(p->mesh),
                             .instance_count = p->list.count,
                             .pose = {.size = sizeof desc.pose, .map = p->list.map}};
    const float *velocity = p->instances[0].velocity;
    if (p->is_moving)
        desc.pose.velocity = carom_strided(velocity, sizeof p->instances[0]);
    if (status == CAROM_OK)
        status = carom_scene_create(of->context, &desc, &scene, &err);
    for (size_t i = 0; i < p->list.mesh_count; i++)
        carom_mesh_destroy(meshes[i]); /* the scene keeps them */
    if (status != CAROM_OK)
        bench_die("scene on %s: %s: %s", of->what, carom_status_name(status), err.message);
    p->made[p->made_count++] = scene;
    return carom_scene_mesh(scene);
}
