/* SPDX-License-Identifier: MIT */
#include "pair.h"

#include <string.h>

static _Noreturn void give_up(const query_type *q, const char *what, int backend, const float *row)
{
    fuzz_fail(what, fuzz_backend_name(backend), row,
              (size_t)query_column_count(q)); /* as `carom NAME --pairs` has them */
}

static void ask(const query_type *q, int backend, const float *row, int with_optional, uint32_t fields,
                query_value *answer)
{
    float copy[QUERY_COLUMNS_MAX], *column[QUERY_COLUMNS_MAX] = {0};
    void *out[QUERY_FIELDS_MAX] = {0};
    carom_error err = {0};
    carom_stats stats = {.size = sizeof stats};
    memcpy(copy, row, sizeof copy);
    memset(answer, 0xa5, QUERY_FIELDS_MAX * sizeof *answer);
    for (int c = 0; c < (with_optional ? query_column_count(q) : query_required_count(q)); c++)
        column[c] = &copy[c];
    for (int f = 0; f < query_field_count(q); f++)
        out[f] = fields >> f & 1 ? (void *)&answer[f] : NULL;
    const query_inputs in = query_inputs_of(q, column, 0);
    const query_call call = {.count = 1, .accuracy = CAROM_ACCURACY_EXACT, .in = &in, .out = out};
    fuzz_check_call(q->ask(fuzz_context(backend), &call, &stats, &err), &err, &stats);
}

static int same(const query_type *q, const query_value *a, const query_value *b, uint32_t fields)
{
    for (int f = 0; f < query_field_count(q); f++)
        if ((fields >> f & 1) && memcmp(&a[f], &b[f], query_field_size(&q->fields[f])))
            return 0;
    return 1;
}

static void check_backend(const query_type *q, int backend, const float *row, int with_optional,
                          const query_truth *truth, query_value *answer)
{
    ask(q, backend, row, with_optional, query_all_fields(q), answer);
    const char *what = q->judge(row, truth, answer);
    if (what)
        give_up(q, what, backend, row);
    for (int s = 0; s < query_selection_count(q); s++) {
        const uint32_t fields = q->selections[s].fields;
        query_value some[QUERY_FIELDS_MAX];
        if (!q->selections[s].has_kernel || fields == query_all_fields(q))
            continue;
        ask(q, backend, row, with_optional, fields, some);
        if (!same(q, some, answer, fields))
            give_up(q, "asked for fewer fields, it answers otherwise", backend, row);
    }
}

void fuzz_pair(const query_type *q, const float *row)
{
    query_truth truth;
    int with_optional = query_required_count(q) == query_column_count(q);
    for (int c = query_required_count(q); c < query_column_count(q); c++)
        with_optional |= row[c] != 0.0f;
    q->truth(row, 0.0, &truth);
    for (; with_optional < 2; with_optional++) { /* what is left out has kernels of its own */
        query_value answers[FUZZ_BACKENDS][QUERY_FIELDS_MAX];
        for (int b = 0; b < FUZZ_BACKENDS; b++)
            check_backend(q, b, row, with_optional, &truth, answers[b]);
        if (!same(q, answers[0], answers[1], query_all_fields(q)))
            give_up(q, "two backends differ in a bit", 1, row);
    }
}
