/* SPDX-License-Identifier: MIT */
#include "common.h"
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

/* In time; who does not move is at its place at any time. */
static double room_of(const double velocity[3], double size)
{
    const double speed = sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1] + velocity[2] * velocity[2]);

    return speed > 0.0 ? PLACE_ROOM * size / speed : (double)INFINITY;
}

static void take(float *out, const float *const *in, int column, size_t i)
{
    for (int k = 0; k < 3; k++)
        out[k] = in[column + k][i];
}

/* The times of a whole line of time, cut to the window. */
static void set_times(truth *t, size_t i, int state, float first, float last, const double velocity[3])
{
    t->hit[i] = state != REF_INVALID && first <= t->window && last >= 0.0f;
    t->time[i] = fmax((double)first, 0.0);
    t->room[i] = room_of(velocity, 1.0);
}

static void sweep_truth(truth *t, size_t i, const float *const *in)
{
    ref_sweep_case c = {.radius = (double)in[3][i]};
    ref_sweep_answer a;
    take(c.center, in, 0, i);
    take(c.velocity, in, 4, i);
    for (int v = 0; v < 3; v++)
        take(c.p[v], in, 7 + 3 * v, i);
    ref_sweep(&c, &a);
    set_times(t, i, a.state, a.t_first, a.t_last,
              (double[3]){(double)c.velocity[0], (double)c.velocity[1], (double)c.velocity[2]});
}

static void overlap_truth(truth *t, size_t i, const float *const *in)
{
    ref_sweep_case c = {.radius = (double)in[3][i]};
    ref_overlap_answer a;
    take(c.center, in, 0, i);
    for (int v = 0; v < 3; v++)
        take(c.p[v], in, 4 + 3 * v, i);
    ref_overlap(&c, &a);
    t->hit[i] = a.overlap == 1;
}

static void spheres_truth(truth *t, size_t i, const float *const *in)
{
    ref_spheres_case c = {.radius_a = in[6][i], .radius_b = in[13][i]};
    ref_spheres_answer a;
    double velocity[3];
    take(c.a0, in, 0, i);
    take(c.a1, in, 3, i);
    take(c.b0, in, 7, i);
    take(c.b1, in, 10, i);
    for (int k = 0; k < 3; k++)
        velocity[k] = ((double)c.a1[k] - (double)c.a0[k]) - ((double)c.b1[k] - (double)c.b0[k]);
    ref_spheres(&c, &a);
    set_times(t, i, a.state, a.u_first, a.u_last, velocity);
}

static void count_hits(truth *t)
{
    for (size_t i = 0; i < t->count; i++)
        t->hits += t->hit[i];
}

truth truth_pairs(question q, const pair_scene *scene, float window, size_t count)
{
    truth t = truth_alloc(count < scene->count ? count : scene->count, window);
    const scene_kind kind = question_shapes[q].scene;

    for (size_t i = 0; i < t.count; i++)
        (kind == SCENE_SWEEP     ? sweep_truth
         : kind == SCENE_OVERLAP ? overlap_truth
                                 : spheres_truth)(&t, i, scene_in(scene));
    count_hits(&t);
    return t;
}

truth truth_mesh(const mesh_scene *shape, const columns *spheres, size_t count)
{
    const ref_mesh mesh = {shape->vertices, shape->indices, shape->triangle_count, NULL};
    truth t = truth_alloc(count, 1.0f);

    for (size_t i = 0; i < count; i++) {
        const float *const *in = (const float *const *)(const void *)spheres->column;
        ref_sweep_case ball = {.radius = (double)in[6][i]};
        ref_mesh_hit hit;
        take(ball.center, in, 0, i);
        take(ball.velocity, in, 3, i);
        const char *wrong = ref_mesh_first(&mesh, &ball, t.window, &ref_mesh_no_options, &hit);
        if (wrong != NULL)
            bench_die("the reference, sphere %zu: %s", i, wrong);
        t.hit[i] = hit.triangle >= 0;
        t.time[i] = (double)hit.t;
        t.room[i] = room_of((double[3]){(double)ball.velocity[0], (double)ball.velocity[1], (double)ball.velocity[2]},
                            shape->diagonal);
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
