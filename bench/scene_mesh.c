/* SPDX-License-Identifier: MIT */
/* The procedural mesh and the spheres that are swept against it. */
#include "common.h"
#include "scene_instances.h"
#include "scenes.h"

#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double two_pi = 6.283185307179586476925;

/* Ring radius 1, tube radius 0.4 with bumps of a tenth. */
static void torus_point(double u, double v, double out[3])
{
    const double tube = 0.4 * (1.0 + 0.1 * sin(7.0 * u) * cos(5.0 * v));
    const double from_axis = 1.0 + tube * cos(v);

    out[0] = from_axis * cos(u);
    out[1] = from_axis * sin(u);
    out[2] = tube * sin(v);
}

void mesh_scene_set_box(mesh_scene *m)
{
    double sum = 0.0;

    for (size_t k = 0; k < 3; k++) {
        float low = m->vertices[3 * (size_t)m->indices[0] + k], high = low;
        for (size_t i = 0; i < 3 * m->triangle_count; i++) { /* unused vertices may lie anywhere */
            const float x = m->vertices[3 * (size_t)m->indices[i] + k];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        m->low[k] = (double)low;
        m->high[k] = (double)high;
        sum += (m->high[k] - m->low[k]) * (m->high[k] - m->low[k]);
    }
    m->diagonal = sqrt(sum);
}

mesh_scene mesh_scene_alloc(size_t vertices, size_t triangles)
{
    mesh_scene m = {.vertex_count = vertices, .triangle_count = triangles};

    m.vertices = malloc(m.vertex_count * 3 * sizeof *m.vertices);
    m.indices = malloc(m.triangle_count * 3 * sizeof *m.indices);
    if (!m.vertices || !m.indices)
        bench_die("no memory for a mesh of %zu triangles", m.triangle_count);
    return m;
}

mesh_scene mesh_scene_copy(const bench_mesh *from)
{
    mesh_scene m = mesh_scene_alloc(from->vertex_count, from->triangle_count);

    memcpy(m.vertices, from->vertices, m.vertex_count * 3 * sizeof *m.vertices);
    memcpy(m.indices, from->indices, m.triangle_count * 3 * sizeof *m.indices);
    mesh_scene_set_box(&m);
    return m;
}

mesh_scene mesh_scene_make(int rings, int sides)
{
    /* Spheres start in the box of the torus without its bumps. */
    static const double half[3] = {1.4, 1.4, 0.4};
    mesh_scene m = mesh_scene_alloc((size_t)rings * (size_t)sides, 2 * (size_t)rings * (size_t)sides);
    uint32_t *to = m.indices;
    for (int i = 0; i < rings; i++)
        for (int j = 0; j < sides; j++) {
            double p[3];
            torus_point(two_pi * i / rings, two_pi * j / sides, p);
            for (int k = 0; k < 3; k++)
                m.vertices[3 * (i * sides + j) + k] = (float)p[k];
            const uint32_t here = (uint32_t)(i * sides + j), above = (uint32_t)(i * sides + (j + 1) % sides);
            const uint32_t right = (uint32_t)((i + 1) % rings * sides + j);
            const uint32_t corner = (uint32_t)((i + 1) % rings * sides + (j + 1) % sides);
            const uint32_t quad[6] = {here, right, corner, here, corner, above};
            for (int k = 0; k < 6; k++)
                *to++ = quad[k];
        }
    mesh_scene_set_box(&m);
    for (int k = 0; k < 3; k++) {
        m.low[k] = -half[k];
        m.high[k] = half[k];
    }
    return m;
}

void mesh_scene_free(mesh_scene *m)
{
    scene_parts_free(m->parts);
    free(m->vertices);
    free(m->indices);
    *m = (mesh_scene){0};
}

static void direction(uint64_t *state, double out[3])
{
    double length2;

    do {
        length2 = 0.0;
        for (int k = 0; k < 3; k++) {
            out[k] = bench_range(state, -1.0, 1.0);
            length2 += out[k] * out[k];
        }
    } while (length2 > 1.0 || length2 < 0.01);
    for (int k = 0; k < 3; k++)
        out[k] /= sqrt(length2);
}

static void start_near(const mesh_scene *m, uint64_t *state, double out[3])
{
    const uint32_t *corner = m->indices + 3 * (bench_bits(state) % m->triangle_count);
    double u = bench_range(state, 0.0, 1.0), v = bench_range(state, 0.0, 1.0), away[3];
    const double distance = bench_range(state, 0.0, 0.02) * m->diagonal;

    if (u + v > 1.0) {
        u = 1.0 - u;
        v = 1.0 - v;
    }
    direction(state, away);
    for (int k = 0; k < 3; k++) {
        const double p0 = (double)m->vertices[3 * corner[0] + (uint32_t)k];
        const double p1 = (double)m->vertices[3 * corner[1] + (uint32_t)k];
        const double p2 = (double)m->vertices[3 * corner[2] + (uint32_t)k];
        out[k] = p0 + u * (p1 - p0) + v * (p2 - p0) + distance * away[k];
    }
}

static void start_in_box(const mesh_scene *m, uint64_t *state, double out[3])
{
    const double more = 0.02 * m->diagonal;

    for (int k = 0; k < 3; k++)
        out[k] = bench_range(state, m->low[k] - more, m->high[k] + more);
}

columns spheres_make(const mesh_scene *m, sphere_kind kind, size_t count)
{
    columns c = columns_alloc(7, count, sizeof(float));
    const double shortest = kind == SPHERES_LONG ? 0.2 : 0.005, longest = kind == SPHERES_LONG ? 1.0 : 0.02;

    for (size_t i = 0; i < count; i++) {
        uint64_t state = i * 0x9e3779b97f4a7c15u + (uint64_t)kind;
        double start[3], step[3];
        if (kind == SPHERES_NEAR || kind == SPHERES_STILL)
            start_near(m, &state, start);
        else
            start_in_box(m, &state, start);
        direction(&state, step);
        const double way = bench_range(&state, shortest, longest) * m->diagonal;
        const double length = kind == SPHERES_STILL ? 0.0 : way;
        for (int k = 0; k < 3; k++) {
            ((float *)c.column[k])[i] = (float)start[k];
            ((float *)c.column[3 + k])[i] = (float)(step[k] * length);
        }
        ((float *)c.column[6])[i] = (float)(bench_range(&state, 0.001, 0.005) * m->diagonal);
    }
    return c;
}
