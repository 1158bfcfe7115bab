/* SPDX-License-Identifier: MIT */
#include "cloud_task.h"
#include "common.h"

#include <math.h>
#include <string.h>

/* ---- clouds ------------------------------------------------------------------------------------------------------ */

static double radius_of(cloud_set set, double share)
{
    if (set == CLOUD_DOUBLE)
        return 1.0 + share;
    return set == CLOUD_TENFOLD ? pow(1.0 - share * (1.0 - 1e-3), -1.0 / 3.0) : 1.0;
}

/* The edge of the cube in which a sphere has six others within 1.15 times the sum of their radii, on average: the
 * expected (ra + rb)^3 follows from the moments of the radii. */
static double edge_of(const float *radius, size_t count)
{
    const double ball = 4.18879 * 1.15 * 1.15 * 1.15, partners = 6.0;
    double moment[4] = {0.0};

    for (size_t i = 0; i < count; i++) {
        double power = 1.0 / (double)count;
        for (int k = 0; k < 4; k++, power *= (double)radius[i])
            moment[k] += power;
    }
    return cbrt((double)count * ball * (2.0 * moment[3] + 6.0 * moment[1] * moment[2]) / partners);
}

static void place(cloud_set set, uint64_t *state, double edge, double out[3])
{
    const int is_piled = set == CLOUD_PILE && bench_range(state, 0.0, 1.0) < 0.95;

    for (int k = 0; k < 3; k++) {
        const double low = is_piled && k < 2 ? 0.2 : 0.0, high = !is_piled ? 1.0 : k < 2 ? 0.8 : 0.05 / 0.36;
        out[k] = edge * bench_range(state, low, high);
    }
}

static void direct(uint64_t *state, double length, double out[3])
{
    const double z = bench_range(state, -1.0, 1.0), angle = bench_range(state, 0.0, 6.283185307179586),
                 across = sqrt(1.0 - z * z);

    out[0] = length * across * cos(angle);
    out[1] = length * across * sin(angle);
    out[2] = length * z;
}

columns cloud_make(const cloud_task *task, size_t count)
{
    columns c = columns_alloc(7, count, sizeof(float));
    float *const radius = c.column[6];

    for (size_t i = 0; i < count; i++) {
        uint64_t state = i * 0x9e3779b97f4a7c15u + (uint64_t)task->set;
        radius[i] = (float)radius_of(task->set, bench_range(&state, 0.0, 1.0));
    }
    const double edge = edge_of(radius, count) * (task->set == CLOUD_PILE ? cbrt(0.95 / 0.05) : 1.0);
    for (size_t i = 0; i < count; i++) {
        uint64_t state = ~(i * 0x9e3779b97f4a7c15u + (uint64_t)task->set);
        double at[3], way[3];
        place(task->set, &state, edge, at);
        direct(&state, (double)task->radii, way);
        for (int k = 0; k < 3; k++) {
            ((float *)c.column[k])[i] = (float)at[k];
            ((float *)c.column[3 + k])[i] = (float)way[k];
        }
    }
    return c;
}

/* Wide ways meet more. */
double cloud_task_weight(const cloud_task *task)
{
    return (task->set == CLOUD_TENFOLD ? 8.0 : 5.0) + 4.0 * sqrt((double)task->radii) +
           0.9 * (double)(task->radii * task->radii);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

cloud_answers cloud_answers_alloc(const cloud_task *task, size_t count, size_t capacity)
{
    const int is_list = task->work == CLOUD_LIST, is_first = task->work == CLOUD_FIRST, is_moving = task->radii > 0.0f;

    return (cloud_answers){.work = task->work,
                           .is_moving = is_moving,
                           .count = count,
                           .capacity = capacity,
                           .offsets = columns_alloc(is_list, count + 1, sizeof(uint64_t)),
                           .b = columns_alloc(is_list, capacity, sizeof(int32_t)),
                           .partners = columns_alloc(task->work == CLOUD_COUNT, count, sizeof(uint32_t)),
                           .other = columns_alloc(is_first, count, sizeof(int32_t)),
                           .t = columns_alloc(is_first || is_moving, is_list ? capacity : count, sizeof(float))};
}

void cloud_answers_free(cloud_answers *a)
{
    columns_free(&a->offsets);
    columns_free(&a->b);
    columns_free(&a->partners);
    columns_free(&a->other);
    columns_free(&a->t);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static carom_cloud_desc describe(const cloud_call *a)
{
    static const float t_max = 1.0f;
    float *const *in = (float *const *)(const void *)a->spheres->column;
    carom_cloud_desc desc = {.batch = {.size = sizeof desc, .count = a->out->count, .accuracy = a->accuracy},
                             .center = {in[0], in[1], in[2], sizeof(float)},
                             .radius = {in[6], sizeof(float)}};

    if (a->task.radii > 0.0f) {
        desc.velocity = (carom_points){in[3], in[4], in[5], sizeof(float)};
        desc.t_max = (carom_scalars){&t_max, CAROM_REPEAT};
    }
    return desc;
}

static carom_status ask(cloud_call *a, carom_error *err)
{
    const carom_cloud_desc desc = describe(a);
    const cloud_answers *o = a->out;
    const carom_cloud_pair_list list = {.size = sizeof list,
                                        .capacity = o->capacity,
                                        .offsets = o->offsets.column[0],
                                        .b = o->b.column[0],
                                        .t = o->t.column[0],
                                        .totals = &a->totals};
    const carom_cloud_count_result counts = {.size = sizeof counts, .partners = o->partners.column[0]};
    const carom_cloud_partner_result first = {.size = sizeof first, .other = o->other.column[0], .t = o->t.column[0]};

    if (a->task.work == CLOUD_COUNT)
        return carom_cloud_count(a->subject->context, &desc, &counts, &a->stats, err);
    if (a->task.work == CLOUD_FIRST)
        return carom_cloud_first(a->subject->context, &desc, &first, &a->stats, err);
    return carom_cloud_list(a->subject->context, &desc, &list, &a->stats, err);
}

carom_status cloud_call_try(cloud_call *a, carom_error *err)
{
    a->stats.size = sizeof a->stats;
    const carom_status status = ask(a, err);
    if (status == CAROM_OK && (a->fastest.size == 0 || a->stats.total < a->fastest.total))
        a->fastest = a->stats;
    return status;
}

void cloud_call_run(void *user)
{
    cloud_call *a = user;
    carom_error err = {0};
    const carom_status status = cloud_call_try(a, &err);

    if (status != CAROM_OK)
        bench_die("cloud on %s: %s: %s", a->subject->what, carom_status_name(status), err.message);
}

uint64_t cloud_call_check(cloud_call *a)
{
    cloud_answers *o = a->out;
    const size_t times = o->work == CLOUD_LIST ? o->capacity : o->count;
    void *const array[] = {o->offsets.column[0], o->b.column[0], o->partners.column[0], o->other.column[0],
                           o->t.column[0]};
    const size_t bytes[] = {(o->count + 1) * sizeof(uint64_t), o->capacity * sizeof(int32_t),
                            o->count * sizeof(uint32_t), o->count * sizeof(int32_t), times * sizeof(float)};
    uint64_t hash = 0;

    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++)
        if (array[i] != NULL)
            memset(array[i], 0xa5, bytes[i]);
    cloud_call_run(a);
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++)
        if (array[i] != NULL)
            hash = bench_hash(hash, array[i], bytes[i]);
    return hash;
}
