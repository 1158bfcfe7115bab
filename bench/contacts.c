/* SPDX-License-Identifier: MIT */
#include "contacts.h"

#include "common.h"
#include "queries/mesh/mesh.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- spheres ----------------------------------------------------------------------------------------------------- */

static const float *corner_of(const mesh_scene *m, size_t corner)
{
    return m->vertices + 3 * (size_t)m->indices[corner];
}

static double mean_edge(const mesh_scene *m)
{
    double sum = 0.0;

    for (size_t i = 0; i < 3 * m->triangle_count; i++) {
        const float *p = corner_of(m, i), *q = corner_of(m, i / 3 * 3 + (i + 1) % 3);
        double square = 0.0;
        for (int k = 0; k < 3; k++)
            square += ((double)q[k] - (double)p[k]) * ((double)q[k] - (double)p[k]);
        sum += sqrt(square);
    }
    return sum / (double)(3 * m->triangle_count);
}

/* Spheres of one radius whose centres are off a random triangle along its normal, to either side, by 0.95 to 1 of it.
 * Columns as those of spheres_make(). */
static columns resting_spheres(const mesh_scene *m, double radius, size_t count)
{
    columns c = columns_alloc(7, count, sizeof(float));

    for (size_t i = 0; i < count; i++) {
        uint64_t state = i * 0x9e3779b97f4a7c15u + 7;
        const size_t t = 3 * (size_t)(bench_bits(&state) % m->triangle_count);
        const float *p[3] = {corner_of(m, t), corner_of(m, t + 1), corner_of(m, t + 2)};
        const double sign = bench_range(&state, -1.0, 1.0) < 0.0 ? -1.0 : 1.0;
        const double away = sign * radius * bench_range(&state, 0.95, 1.0), s = sqrt(bench_range(&state, 0.0, 1.0)),
                     u = s * bench_range(&state, 0.0, 1.0);
        double e[2][3], n[3], square = 0.0;
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 2; a++)
                e[a][k] = (double)p[a + 1][k] - (double)p[0][k];
        for (int k = 0; k < 3; k++) {
            n[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
            square += n[k] * n[k];
        }
        for (int k = 0; k < 3; k++)
            ((float *)c.column[k])[i] = (float)((double)p[0][k] + (s - u) * e[0][k] + u * e[1][k] +
                                                (square > 0.0 ? away * n[k] / sqrt(square) : 0.0));
        ((float *)c.column[6])[i] = (float)radius;
    }
    return c;
}

static void crumple(const mesh_scene *m, double edge)
{
    uint64_t state = 11;

    for (size_t i = 0; i < 3 * m->vertex_count; i++)
        m->vertices[i] += (float)(edge * bench_range(&state, -0.5, 0.5));
}

static void turn(const mesh_scene *m)
{
    uint64_t state = 12;

    for (size_t t = 0; t < m->triangle_count; t++) {
        const uint32_t first = m->indices[3 * t];
        if (bench_bits(&state) % 2 == 0)
            continue;
        m->indices[3 * t] = m->indices[3 * t + 1];
        m->indices[3 * t + 1] = first;
    }
}

double contacts_weight(float edges)
{
    return 2.0 + 0.1 * (double)(edges * edges); /* all three sides together */
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

enum { CONTACTS, CLOSEST, OVERLAPS, ASKED };
static const char *const beside[ASKED] = {[CONTACTS] = "", [CLOSEST] = "-closest", [OVERLAPS] = "-overlaps"};
static const query_type *const query_of[ASKED] = {
    [CONTACTS] = &query_mesh_contacts, [CLOSEST] = &query_mesh_closest, [OVERLAPS] = &query_mesh_overlaps};

/* ---- what a scene says as a whole -------------------------------------------------------------------------------- */

/* The side that asks the same subject in the same mode; -1: none. */
static int side_of(const suite *u, const side *like, int asked)
{
    for (int i = 0; i < u->count; i++)
        if (u->sides[i].mesh.task.query == query_of[asked] && u->sides[i].subject == like->subject &&
            u->sides[i].exact == like->exact)
            return i;
    return -1;
}

static void find_costs(suite *u, const suite_scene *scene, const measurement *m)
{
    char text[384];

    for (int i = 0; i < u->count; i++) {
        const side *s = &u->sides[i];
        const int closest = side_of(u, s, CLOSEST), overlaps = side_of(u, s, OVERLAPS);
        if (s->mesh.task.query != query_of[CONTACTS] || closest < 0 || overlaps < 0)
            continue;
        const double spheres = s->row.queries, found = (double)s->mesh.out->capacity / spheres,
                     reached = (double)u->sides[overlaps].mesh.out->capacity / spheres;
        const double closest_ns = 1e9 * measure_median(m, closest) / spheres;
        snprintf(
            text, sizeof text,
            "%s: %s: a sphere has %.2f contacts and %.1f triangles in reach; closest points and %.1f ns for each of "
            "them; %.2f times overlap lists",
            scene->name, s->row.name + strlen(scene->name) + 1, found, reached,
            (measure_ratio(m, i, closest) - 1.0) * closest_ns / reached, measure_ratio(m, i, overlaps));
        u->listener->finding(u->listener->user, text);
    }
}

/* ---- a scene ----------------------------------------------------------------------------------------------------- */

void contacts_run(suite *u, const suite_scene *scene)
{
    mesh_scene shape = suite_mesh(u, scene);
    const size_t count = suite_count(u, scene);
    const double edge = mean_edge(&shape);
    const int asked = scene->resident ? 1 : ASKED; /* in buffers contacts alone */
    columns spheres = resting_spheres(&shape, (double)scene->task.band * edge, count);
    carom_mesh *meshes[SUBJECTS_MAX] = {NULL};
    hits out[ASKED];
    mesh_call call = {.subject = &u->subjects.list[0], .shape = &shape, .spheres = &spheres};

    if (scene->family != NULL && strcmp(scene->family, CONTACTS_CRUMPLED) == 0)
        crumple(&shape, edge);
    else if (scene->family != NULL)
        turn(&shape);
    meshes[0] = call.mesh = mesh_call_create(&call);
    for (int k = 0; k < ASKED; k++) {
        hits sizes = {.count = count};
        call.task = (mesh_task){query_of[k], MESH_ASK, 0};
        call.out = &sizes;
        out[k] = hits_alloc(count, query_of[k]->mesh.is_list ? mesh_call_count_hits(call) : count);
    }
    for (int k = 0; k < asked; k++) {
        call.task = (mesh_task){query_of[k], MESH_ASK, 0};
        call.out = &out[k];
        suite_add_mesh_sides(u, scene, beside[k], call, (double)call.out->count, meshes);
    }
    u->truth = (truth){0};
    u->find = find_costs;
    suite_check_sides(u, scene);
    suite_measure(u, scene);
    for (int i = 0; i < u->subjects.count; i++)
        carom_mesh_destroy(meshes[i]);
    for (int k = 0; k < asked; k++)
        hits_free(&out[k]);
    columns_free(&spheres);
    mesh_scene_free(&shape);
}
