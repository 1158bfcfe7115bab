/* SPDX-License-Identifier: MIT */
#include "common.h"
#include "queries/mesh/mesh.h"
#include "scene_instances.h"
#include "verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/mesh.h"
#include "reference/reference.h"

/* How far along its way a sphere may be from the true place of contact, in shares of the scene's size: a triangle of a
 * pair is about 1 large, a mesh as large as its diagonal. */
#define PLACE_ROOM 1e-4

static truth truth_alloc(size_t count, float window)
{
    truth t = {.count = count, .window = window};

    t.hit = calloc(count + 1, 1);
    t.time = calloc(count + 1, sizeof *t.time);
    t.room = calloc(count + 1, sizeof *t.room);
    if (t.hit == NULL || t.time == NULL || t.room == NULL)
        bench_die("no memory for %zu true answers", count);
    return t;
}

void truth_free(truth *t)
{
    free(t->hit);
    free(t->time);
    free(t->room);
    *t = (truth){0};
}

/* In time; a sphere at rest is at its place at any time. */
static double room_of(double speed, double size)
{
    return speed > 0.0 ? PLACE_ROOM * size / speed : (double)INFINITY;
}

static void take(float *out, const float *const *in, int column, size_t i)
{
    for (int k = 0; k < 3; k++)
        out[k] = in[column + k][i];
}

/* The first two fields with a time, on a whole line of time, are cut to the window. */
static void set_times(truth *t, size_t i, const query_type *q, const query_truth *a)
{
    int first = 1;

    while (q->fields[first].kind != QUERY_TIME)
        first++;
    const float begin = a->value[first].number, end = a->value[first + 1].number;
    t->hit[i] = a->value[0].byte != q->invalid && begin <= t->window && end >= 0.0f;
    t->time[i] = fmax((double)begin, 0.0);
    t->room[i] = room_of(a->speed, 1.0);
}

static void count_hits(truth *t)
{
    for (size_t i = 0; i < t->count; i++)
        t->hits += t->hit[i];
}

truth truth_pairs(const pair_scene *scene, float window, size_t count)
{
    const query_type *q = scene->query;
    truth t = truth_alloc(count < scene->count ? count : scene->count, window);

    for (size_t i = 0; i < t.count; i++) {
        float row[QUERY_COLUMNS_MAX] = {0};
        query_truth a;
        for (int c = 0; c < query_required_count(q); c++)
            row[c] = scene_in(scene)[c][i];
        q->truth(row, 0.0, &a);
        if (q->fields[0].kind == QUERY_BITS)
            t.hit[i] = a.value[0].byte == 1;
        else
            set_times(&t, i, q, &a);
    }
    count_hits(&t);
    return t;
}

truth truth_mesh(const mesh_scene *shape, const columns *spheres, size_t count)
{
    const ref_mesh mesh = {shape->vertices, shape->indices, shape->triangle_count, NULL};
    const int is_moving = shape->parts != NULL && shape->parts->is_moving;
    truth t = truth_alloc(count, 1.0f);

    for (size_t i = 0; i < count; i++) {
        const float *const *in = (const float *const *)(const void *)spheres->column;
        ref_sweep_case ball = {.radius = (double)in[6][i]};
        ref_mesh_hit hit;
        take(ball.center, in, 0, i);
        take(ball.velocity, in, 3, i);
        const query_sphere sphere = {.mesh = mesh,
                                     .instances = is_moving ? shape->parts->instances : NULL,
                                     .instance_count = is_moving ? shape->parts->list.count : 0,
                                     .sphere = ball,
                                     .t_max = t.window,
                                     .options = ref_mesh_no_options};
        if (!query_find_first(&sphere, &hit))
            bench_die("the reference has no answer for sphere %zu", i);
        t.hit[i] = hit.triangle >= 0;
        t.time[i] = (double)hit.t;
        const double v[3] = {(double)ball.velocity[0], (double)ball.velocity[1], (double)ball.velocity[2]};
        t.room[i] = room_of(sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), shape->diagonal);
    }
    count_hits(&t);
    return t;
}

void truth_judge(const truth *t, const uint8_t *overlap, const float *first, const float *last, bench_row *row)
{
    row->judged = t->count;
    for (size_t i = 0; i < t->count; i++) {
        const int begins = first != NULL && first[i] <= t->window && (last != NULL ? last[i] : first[i]) >= 0.0f;
        const int hit = overlap != NULL ? overlap[i] == 1 : begins;
        row->misses += t->hit[i] && !hit;
        row->false_hits += !t->hit[i] && hit;
        if (overlap == NULL && t->hit[i] && hit)
            row->off += !(fabs(fmax((double)first[i], 0.0) - t->time[i]) <= t->room[i]);
    }
}
