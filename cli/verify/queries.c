/* SPDX-License-Identifier: MIT */
/* Pair queries of carom verify, from the rows of the registry: a quarter from the reference's adversarial families, the
 * rest from the quick generator. */
#include "verify.h"

#include "reference/reference.h"

#include <stdlib.h>
#include <string.h>

static int largest_count(int (*count_of)(const query_type *q))
{
    int largest = 0;
    for (int type = 0; type < QUERY_PAIR_COUNT; type++)
        largest = count_of(query_pairs[type]) > largest ? count_of(query_pairs[type]) : largest;
    return largest;
}

int verify_queries_alloc(verify_queries *queries, uint64_t count)
{
    *queries = (verify_queries){0};
    for (int i = 0; i < largest_count(query_column_count); i++)
        if (!(queries->column[i] = cli_alloc(count, sizeof(float))))
            return cli_no_memory();
    return EXIT_DONE;
}

void verify_queries_free(verify_queries *queries)
{
    for (int i = 0; i < QUERY_COLUMNS_MAX; i++)
        free(queries->column[i]);
}

int verify_answers_alloc(verify_answers *answers, uint64_t count)
{
    *answers = (verify_answers){0};
    for (int i = 0; i < largest_count(query_field_count); i++)
        if (!(answers->field[i] = cli_alloc(count, sizeof(float))))
            return cli_no_memory();
    return EXIT_DONE;
}

void verify_answers_free(verify_answers *answers)
{
    for (int i = 0; i < QUERY_FIELDS_MAX; i++)
        free(answers->field[i]);
}

void *verify_answer_at(int type, const verify_answers *answers, int field, uint64_t i)
{
    return (unsigned char *)answers->field[field] + i * query_field_size(&query_pairs[type]->fields[field]);
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static void store_row(const query_type *q, const float *row, verify_queries *out, uint64_t i)
{
    for (int c = 0; c < query_column_count(q); c++)
        out->column[c][i] = row[c];
}

void verify_generate(int type, uint64_t seed, uint64_t first, uint64_t count, verify_queries *out)
{
    const query_type *q = query_pairs[type];
    const uint64_t families = ref_family_count();
    query_random key = {seed + (uint64_t)type};
    const uint64_t base = query_random_bits(&key);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t index = first + i;
        query_random r = {base ^ index * UINT64_C(0xd1342543de82ef95)};
        float row[QUERY_COLUMNS_MAX];
        if ((index & 3) == 0)
            q->family((size_t)(index / 4 % families), seed, index / 4 / families, row);
        else
            q->random(&r, row);
        store_row(q, row, out, i);
    }
}

void verify_generate_family(int type, size_t family, uint64_t seed, uint64_t count, verify_queries *out)
{
    for (uint64_t i = 0; i < count; i++) {
        float row[QUERY_COLUMNS_MAX];
        query_pairs[type]->family(family, seed, i, row);
        store_row(query_pairs[type], row, out, i);
    }
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

/* The queries from `from` on, so many as the request says: these fields, with or without optional inputs. */
static carom_status run_part(carom_context *context, const verify_request *request, uint64_t from, uint32_t fields,
                             int with_optional, const verify_queries *queries, const verify_answers *answers,
                             carom_stats *stats, carom_error *err)
{
    const query_type *q = query_pairs[request->type];
    const int columns = with_optional ? query_column_count(q) : query_required_count(q);
    float *column[QUERY_COLUMNS_MAX] = {0};
    void *out[QUERY_FIELDS_MAX] = {0};
    for (int c = 0; c < columns; c++)
        column[c] = queries->column[c];
    for (int f = 0; f < query_field_count(q); f++)
        if (fields >> f & 1)
            out[f] = verify_answer_at(request->type, answers, f, from);
    const query_inputs in = query_inputs_of(q, column, from);
    const query_call call = {.count = request->count, .accuracy = request->accuracy, .in = &in, .out = out};
    return q->ask(context, &call, stats, err);
}

static int kernel_count(const query_type *q)
{
    int count = 0;
    for (int s = 0; s < query_selection_count(q); s++)
        count += q->selections[s].has_kernel;
    return count;
}

static uint32_t fields_of_kernel(const query_type *q, int kernel)
{
    int s = 0;
    while (!q->selections[s].has_kernel || kernel-- > 0)
        s++;
    return q->selections[s].fields;
}

/* An equal share of the queries for each kernel: one for each amount of output, with and without optional inputs. */
static carom_status run_mix(carom_context *context, const verify_request *request, const verify_queries *queries,
                            const verify_answers *answers, carom_stats *stats, carom_error *err)
{
    const query_type *q = query_pairs[request->type];
    const uint64_t ways = query_required_count(q) < query_column_count(q) ? 2 : 1;
    const uint64_t parts = (uint64_t)kernel_count(q) * ways;
    carom_stats sum = {.size = sizeof sum};
    carom_status status = CAROM_OK;
    for (uint64_t part = 0; part < parts && status == CAROM_OK; part++) {
        const uint64_t from = request->count * part / parts, to = request->count * (part + 1) / parts;
        verify_request some = *request;
        some.count = to - from;
        status = run_part(context, &some, from, fields_of_kernel(q, (int)(part / ways)), (int)(part % ways), queries,
                          answers, stats, err);
        sum.queries += stats->queries;
        sum.on_device += stats->on_device;
        sum.by_proof += stats->by_proof;
        sum.by_integers += stats->by_integers;
        sum.by_second_filter += stats->by_second_filter;
    }
    *stats = sum;
    return status;
}

carom_status verify_run(carom_context *context, const verify_request *request, const verify_queries *queries,
                        const verify_answers *answers, carom_stats *stats, carom_error *err)
{
    *stats = (carom_stats){.size = sizeof *stats};
    if (request->mix)
        return run_mix(context, request, queries, answers, stats, err);
    return run_part(context, request, 0, query_all_fields(query_pairs[request->type]), 1, queries, answers, stats, err);
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

void verify_print_query(output *out, int type, const verify_queries *queries, uint64_t i)
{
    const query_type *q = query_pairs[type];
    output_text(out, "    query:");
    for (int c = 0; c < query_column_count(q); c++)
        output_format(out, " %s=%a", query_column_name(q, c), (double)queries->column[c][i]);
    output_char(out, '\n');
}

void verify_print_value(output *out, const query_field *field, const void *value)
{
    const uint8_t byte = *(const uint8_t *)value;
    float number;
    switch (field->kind) {
    case QUERY_STATE: output_text(out, carom_state_name((carom_state)byte)); break;
    case QUERY_FEATURE: output_text(out, carom_feature_name((carom_feature)byte)); break;
    case QUERY_BITS: output_format(out, "%u", (unsigned)byte); break;
    default: memcpy(&number, value, sizeof number); output_format(out, "%a", (double)number);
    }
}

void verify_print_values(output *out, int type, const query_value *values, uint32_t fields)
{
    const query_type *q = query_pairs[type];
    for (int k = 0; k < query_field_count(q); k++) {
        const int f = query_field_in_output(q, k);
        if (!(fields >> f & 1))
            continue;
        output_format(out, " %s=", q->fields[f].name);
        verify_print_value(out, &q->fields[f], &values[f]);
    }
    output_char(out, '\n');
}

void verify_print_answer(output *out, int type, const char *name, const verify_answers *answers, uint64_t i)
{
    query_value values[QUERY_FIELDS_MAX];
    query_load_answer(query_pairs[type], answers->field, i, values);
    output_format(out, "    %s:", name);
    verify_print_values(out, type, values, query_all_fields(query_pairs[type]));
}
