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

static void *input(const cloud_call *a, int column)
{
    return resident_at(a->resident, a->spheres->column[column]);
}

/* NULL for a column that the task does not write. */
static void *output(const cloud_call *a, const columns *column)
{
    return resident_at(a->resident, column->column[0]);
}

static carom_cloud_desc describe(const cloud_call *a)
{
    static const float t_max = 1.0f;
    carom_cloud_desc desc = {.batch = {.size = sizeof desc, .count = a->out->count, .accuracy = a->accuracy},
                             .center = {input(a, 0), input(a, 1), input(a, 2), sizeof(float)},
                             .radius = {input(a, 6), sizeof(float)}};

    if (a->task.radii > 0.0f) {
        desc.velocity = (carom_points){input(a, 3), input(a, 4), input(a, 5), sizeof(float)};
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
                                        .offsets = output(a, &o->offsets),
                                        .b = output(a, &o->b),
                                        .t = output(a, &o->t),
                                        .totals = &a->totals};
    const carom_cloud_count_result counts = {.size = sizeof counts, .partners = output(a, &o->partners)};
    const carom_cloud_partner_result first = {
        .size = sizeof first, .other = output(a, &o->other), .t = output(a, &o->t)};

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

/* The columns of the answers, and the bytes of each that are compared. */
enum { ANSWERS = 5 };
static void list_answers(const cloud_answers *o, const columns *of[ANSWERS], size_t bytes[ANSWERS])
{
    const columns *const all[ANSWERS] = {&o->offsets, &o->b, &o->partners, &o->other, &o->t};
    const size_t times = o->work == CLOUD_LIST ? o->capacity : o->count;
    const size_t sizes[ANSWERS] = {(o->count + 1) * sizeof(uint64_t), o->capacity * sizeof(int32_t),
                                   o->count * sizeof(uint32_t), o->count * sizeof(int32_t), times * sizeof(float)};

    memcpy(of, all, sizeof all);
    memcpy(bytes, sizes, sizeof sizes);
}

uint64_t cloud_call_hash(const cloud_call *a)
{
    const columns *of[ANSWERS];
    size_t bytes[ANSWERS];
    uint64_t hash = 0;

    list_answers(a->out, of, bytes);
    for (int i = 0; i < ANSWERS; i++)
        if (of[i]->column[0] != NULL) {
            resident_read(a->resident, of[i]);
            hash = bench_hash(hash, of[i]->column[0], bytes[i]);
        }
    return hash;
}

/* Wipes the answers, asks, and returns their hash. */
uint64_t cloud_call_check(cloud_call *a)
{
    const columns *of[ANSWERS];
    size_t bytes[ANSWERS];

    list_answers(a->out, of, bytes);
    for (int i = 0; i < ANSWERS; i++)
        if (of[i]->column[0] != NULL) {
            memset(of[i]->column[0], 0xa5, bytes[i]);
            resident_write(a->resident, of[i]);
        }
    cloud_call_run(a);
    return cloud_call_hash(a);
}

carom_status cloud_call_settle(cloud_call *a, carom_error *err)
{
    const cloud_answers *o = a->out;
    const columns *all[] = {a->spheres, &o->offsets, &o->b, &o->partners, &o->other, &o->t};
    carom_status status = CAROM_OK;

    a->resident = resident_alloc();
    for (size_t i = 0; status == CAROM_OK && i < sizeof all / sizeof all[0]; i++)
        status = resident_add(a->resident, a->subject, all[i], err);
    return status;
}
