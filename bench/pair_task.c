/* SPDX-License-Identifier: MIT */
/* From a row of the registry to calls of the library. */
#include "pair_task.h"

#include "common.h"
#include "measure.h"

#include <string.h>

const query_selection *pair_task_selection(pair_task t)
{
    return &t.query->selections[t.selection];
}

static int count_fields(pair_task t, size_t size)
{
    int count = 0;

    for (int f = 0; f < query_field_count(t.query); f++)
        count += (pair_task_selection(t)->fields >> f & 1) && query_field_size(&t.query->fields[f]) == size;
    return count;
}

int pair_task_numbers(pair_task t)
{
    return count_fields(t, sizeof(float));
}

int pair_task_flags(pair_task t)
{
    return count_fields(t, 1);
}

double pair_task_bytes(pair_task t)
{
    return 4.0 * (query_required_count(t.query) + pair_task_numbers(t)) + pair_task_flags(t);
}

int pair_task_is_overlap(pair_task t)
{
    return t.query->fields[0].kind == QUERY_BITS;
}

answers answers_alloc(pair_task t, size_t count)
{
    return (answers){columns_alloc(pair_task_numbers(t), count, sizeof(float)),
                     columns_alloc(pair_task_flags(t), count, 1), count};
}

void answers_free(answers *a)
{
    columns_free(&a->numbers);
    columns_free(&a->bytes);
}

static uint64_t answers_hash(const answers *a)
{
    uint64_t hash = 0;

    for (int c = 0; c < a->numbers.count; c++)
        hash = bench_hash(hash, a->numbers.column[c], a->count * sizeof(float));
    for (int c = 0; c < a->bytes.count; c++)
        hash = bench_hash(hash, a->bytes.column[c], a->count);
    return hash;
}

carom_status pair_call_try(pair_call *call, carom_error *err)
{
    const query_type *q = call->task.query;
    float *column[QUERY_COLUMNS_MAX] = {0};
    void *out[QUERY_FIELDS_MAX] = {0};

    for (int c = 0; c < query_required_count(q); c++)
        column[c] = resident_at(call->resident, call->scene->in.column[c]);
    for (int f = 0, numbers = 0, bytes = 0; f < query_field_count(q); f++)
        if (pair_task_selection(call->task)->fields >> f & 1)
            out[f] = resident_at(call->resident, query_field_size(&q->fields[f]) == 1
                                                     ? call->out->bytes.column[bytes++]
                                                     : call->out->numbers.column[numbers++]);
    const query_inputs in = query_inputs_of(q, column, 0);
    const query_call all = {.count = call->scene->count, .accuracy = call->accuracy, .in = &in, .out = out};
    call->stats.size = sizeof call->stats;
    const carom_status status = q->ask(call->subject->context, &all, &call->stats, err);
    if (status == CAROM_OK && (call->fastest.size == 0 || call->stats.total < call->fastest.total))
        call->fastest = call->stats;
    return status;
}

void pair_call_run(void *user)
{
    pair_call *call = user;
    carom_error err = {0};
    const carom_status status = pair_call_try(call, &err);

    if (status != CAROM_OK)
        bench_die("%s on %s: %s: %s", pair_task_selection(call->task)->name, call->subject->what,
                  carom_status_name(status), err.message);
}

uint64_t pair_call_check(pair_call *call)
{
    const answers *out = call->out;

    for (int c = 0; c < out->numbers.count; c++)
        memset(out->numbers.column[c], 0xa5, out->count * sizeof(float));
    for (int c = 0; c < out->bytes.count; c++)
        memset(out->bytes.column[c], 0xa5, out->count);
    resident_write(call->resident, &out->numbers);
    resident_write(call->resident, &out->bytes);
    pair_call_run(call);
    return pair_call_hash(call);
}

uint64_t pair_call_hash(const pair_call *call)
{
    resident_read(call->resident, &call->out->numbers);
    resident_read(call->resident, &call->out->bytes);
    return answers_hash(call->out);
}

carom_status pair_call_settle(pair_call *call, carom_error *err)
{
    const columns *all[] = {&call->scene->in, &call->out->numbers, &call->out->bytes};
    carom_status status = CAROM_OK;

    call->resident = resident_alloc();
    for (size_t i = 0; status == CAROM_OK && i < sizeof all / sizeof all[0]; i++)
        status = resident_add(call->resident, call->subject, all[i], err);
    return status;
}

plain_columns pair_task_columns(pair_task t, const pair_scene *s, const answers *out)
{
    plain_columns c = {
        .in_count = query_required_count(t.query),
        .number_count = pair_task_numbers(t),
        .byte_count = pair_task_flags(t),
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

/* The second batch counts: the first builds programs and starts threads. */
double pair_task_pace(const subject *of, carom_accuracy accuracy)
{
    enum { FEW = 4096 };
    const pair_task task = SWEEP_TIMES;
    pair_scene in = scene_make(task.query, "random", FEW);
    answers out = answers_alloc(task, FEW);
    pair_call call = {.subject = of, .task = task, .accuracy = accuracy, .scene = &in, .out = &out};
    carom_error err = {0};
    double seconds = 0.0;

    if (pair_call_try(&call, &err) == CAROM_OK) {
        const double start = measure_now();
        pair_call_run(&call);
        seconds = (measure_now() - start) / FEW;
    }
    answers_free(&out);
    scene_free(&in);
    return seconds;
}
