/* SPDX-License-Identifier: MIT */
/* From columns to the library's descriptors. */
#include "common.h"
#include "question.h"

#include <string.h>

const question_shape question_shapes[QUESTION_COUNT] = {
    [QUESTION_FIRST] = {"sweep, first time", SCENE_SWEEP, 1, 0, 3, 8},
    [QUESTION_TIMES] = {"sweep, both times", SCENE_SWEEP, 2, 1, 3, 8},
    [QUESTION_FULL] = {"sweep, everything", SCENE_SWEEP, 8, 3, 6, 8},
    [QUESTION_OVERLAP] = {"overlap", SCENE_OVERLAP, 0, 1, 1, 0},
    [QUESTION_AXES] = {"overlap and mask", SCENE_OVERLAP, 0, 2, 1, 0},
    [QUESTION_SPHERES] = {"spheres", SCENE_SPHERES, 2, 1, 1, 2},
};

enum { NUMBERS_MAX = 8, BYTES_MAX = 3 };

double question_bytes(question q)
{
    const question_shape *shape = &question_shapes[q];

    return 4.0 * (scene_columns(shape->scene) + shape->numbers) + shape->bytes;
}

answers answers_alloc(size_t count)
{
    return (answers){columns_alloc(NUMBERS_MAX, count, sizeof(float)), columns_alloc(BYTES_MAX, count, 1), count};
}

void answers_free(answers *a)
{
    columns_free(&a->numbers);
    columns_free(&a->bytes);
}

uint64_t answers_hash(const answers *a, question q)
{
    uint64_t hash = 0;

    for (int c = 0; c < question_shapes[q].numbers; c++)
        hash = bench_hash(hash, a->numbers.column[c], a->count * sizeof(float));
    for (int c = 0; c < question_shapes[q].bytes; c++)
        hash = bench_hash(hash, a->bytes.column[c], a->count);
    return hash;
}

static carom_points points(const pair_scene *s, int column)
{
    const float *const *in = scene_in(s);

    return (carom_points){in[column], in[column + 1], in[column + 2], sizeof(float)};
}

static carom_scalars scalars(const pair_scene *s, int column)
{
    return (carom_scalars){scene_in(s)[column], sizeof(float)};
}

static carom_points_out points_out(const answers *a, int column)
{
    void *const *to = a->numbers.column;

    return (carom_points_out){to[column], to[column + 1], to[column + 2], sizeof(float)};
}

static carom_status sweep(ask *a, carom_error *err)
{
    const pair_scene *s = a->scene;
    const carom_sweep_pairs_desc desc = {
        .size = sizeof desc,
        .count = s->count,
        .accuracy = a->accuracy,
        .center = points(s, 0),
        .radius = scalars(s, 3),
        .velocity = points(s, 4),
        .p0 = points(s, 7),
        .p1 = points(s, 10),
        .p2 = points(s, 13),
    };
    carom_sweep_result result = {.t_first = a->out->numbers.column[0]};
    if (a->question != QUESTION_FIRST) {
        result.t_last = a->out->numbers.column[1];
        result.state = a->out->bytes.column[0];
    }
    if (a->question == QUESTION_FULL) {
        result.point_first = points_out(a->out, 2);
        result.point_last = points_out(a->out, 5);
        result.feature_first = a->out->bytes.column[1];
        result.feature_last = a->out->bytes.column[2];
    }
    return carom_sweep_pairs(a->subject->context, &desc, &result, &a->stats, err);
}

static carom_status overlap(ask *a, carom_error *err)
{
    const pair_scene *s = a->scene;
    const carom_overlap_pairs_desc desc = {
        .size = sizeof desc,
        .count = s->count,
        .accuracy = a->accuracy,
        .center = points(s, 0),
        .radius = scalars(s, 3),
        .p0 = points(s, 4),
        .p1 = points(s, 7),
        .p2 = points(s, 10),
    };
    carom_overlap_result result = {.overlap = a->out->bytes.column[0]};
    if (a->question == QUESTION_AXES)
        result.axes = a->out->bytes.column[1];
    return carom_overlap_pairs(a->subject->context, &desc, &result, &a->stats, err);
}

static carom_status spheres(ask *a, carom_error *err)
{
    const pair_scene *s = a->scene;
    const carom_sphere_pairs_desc desc = {
        .size = sizeof desc,
        .count = s->count,
        .accuracy = a->accuracy,
        .a0 = points(s, 0),
        .a1 = points(s, 3),
        .radius_a = scalars(s, 6),
        .b0 = points(s, 7),
        .b1 = points(s, 10),
        .radius_b = scalars(s, 13),
    };
    const carom_sphere_result result = {
        .u_first = a->out->numbers.column[0],
        .u_last = a->out->numbers.column[1],
        .state = a->out->bytes.column[0],
    };
    return carom_sphere_pairs(a->subject->context, &desc, &result, &a->stats, err);
}

carom_status ask_try(ask *a, carom_error *err)
{
    const scene_kind kind = question_shapes[a->question].scene;

    a->stats.size = sizeof a->stats;
    const carom_status status = kind == SCENE_SWEEP     ? sweep(a, err)
                                : kind == SCENE_OVERLAP ? overlap(a, err)
                                                        : spheres(a, err);
    if (status == CAROM_OK && (a->fastest.size == 0 || a->stats.total < a->fastest.total))
        a->fastest = a->stats;
    return status;
}

void ask_run(void *user)
{
    ask *a = user;
    carom_error err = {0};
    const carom_status status = ask_try(a, &err);

    if (status != CAROM_OK)
        bench_die("%s on %s: %s: %s", question_shapes[a->question].name, a->subject->what, carom_status_name(status),
                  err.message);
}

uint64_t ask_check(ask *a)
{
    for (int c = 0; c < question_shapes[a->question].numbers; c++)
        memset(a->out->numbers.column[c], 0xa5, a->out->count * sizeof(float));
    for (int c = 0; c < question_shapes[a->question].bytes; c++)
        memset(a->out->bytes.column[c], 0xa5, a->out->count);
    ask_run(a);
    return answers_hash(a->out, a->question);
}

plain_columns question_columns(question q, const pair_scene *s, const answers *out)
{
    plain_columns c = {
        .in_count = scene_columns(question_shapes[q].scene),
        .number_count = question_shapes[q].numbers,
        .byte_count = question_shapes[q].bytes,
        .count = s->count,
    };
    for (int i = 0; i < c.in_count; i++)
        c.in[i] = s->in.column[i];
    for (int i = 0; i < c.number_count; i++)
        c.number[i] = out->numbers.column[i];
    for (int i = 0; i < c.byte_count; i++)
        c.byte[i] = out->bytes.column[i];
    return c;
}
