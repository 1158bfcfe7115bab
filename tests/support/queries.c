/* SPDX-License-Identifier: MIT */
/* Queries and answers from the rows of the registry. The cases that tests write by hand know the columns themselves. */
#include "support.h"

#include <math.h>

#define NUMBER(name, command) QUERY_##name,
int each_query[] = {QUERY_PAIRS(NUMBER)};
#undef NUMBER

static const query_type *row_of(int type)
{
    return type < QUERY_TYPES ? query_pairs[type] : query_meshes[type - QUERY_TYPES];
}

const char *query_name(int type)
{
    return row_of(type)->name;
}
int query_columns(int type)
{
    return query_column_count(row_of(type));
}
int query_fields(int type)
{
    return query_field_count(row_of(type));
}
const char *query_field_name(int type, int field)
{
    return row_of(type)->fields[field].name;
}
size_t query_field_bytes(int type, int field)
{
    return query_field_size(&row_of(type)->fields[field]);
}
int query_point_column(int type, int i)
{
    return query_vector_column(row_of(type), i);
}
int query_scalar_column(int type, int i)
{
    return query_radius_column(row_of(type), i);
}

/* ---- cases ------------------------------------------------------------------------------------------------------- */

queries queries_alloc(int type, size_t count)
{
    queries q = {.type = type, .count = count};
    for (int c = 0; c < query_columns(type); c++)
        q.column[c] = test_alloc(count, sizeof(float));
    return q;
}

void queries_free(queries *q)
{
    for (int c = 0; c < QUERY_COLUMNS_MAX; c++)
        free(q->column[c]);
    memset(q->column, 0, sizeof q->column);
}

static void put_vector(queries *q, size_t i, int column, const float v[3])
{
    for (int k = 0; k < 3; k++)
        q->column[column + k][i] = v[k];
}

static void get_vector(const queries *q, size_t i, int column, float v[3])
{
    for (int k = 0; k < 3; k++)
        v[k] = q->column[column + k][i];
}

static int corners_of(const queries *q)
{
    return q->type == OVERLAP ? 4 : 7;
}

void queries_put_sweep(queries *q, size_t i, const ref_sweep_case *c)
{
    put_vector(q, i, 0, c->center);
    q->column[3][i] = (float)c->radius;
    for (int k = 0; k < 3; k++)
        put_vector(q, i, corners_of(q) + 3 * k, c->p[k]);
    if (q->type == SWEEP) {
        put_vector(q, i, 4, c->velocity);
        put_vector(q, i, 16, c->w);
    }
}

void queries_get_sweep(const queries *q, size_t i, ref_sweep_case *c)
{
    memset(c, 0, sizeof *c);
    get_vector(q, i, 0, c->center);
    c->radius = (double)q->column[3][i];
    for (int k = 0; k < 3; k++)
        get_vector(q, i, corners_of(q) + 3 * k, c->p[k]);
    if (q->type == SWEEP) {
        get_vector(q, i, 4, c->velocity);
        get_vector(q, i, 16, c->w);
    }
}

void queries_put_spheres(queries *q, size_t i, const ref_spheres_case *c)
{
    put_vector(q, i, 0, c->a0);
    put_vector(q, i, 3, c->a1);
    q->column[6][i] = c->radius_a;
    put_vector(q, i, 7, c->b0);
    put_vector(q, i, 10, c->b1);
    q->column[13][i] = c->radius_b;
}

void queries_get_spheres(const queries *q, size_t i, ref_spheres_case *c)
{
    get_vector(q, i, 0, c->a0);
    get_vector(q, i, 3, c->a1);
    c->radius_a = q->column[6][i];
    get_vector(q, i, 7, c->b0);
    get_vector(q, i, 10, c->b1);
    c->radius_b = q->column[13][i];
    c->margin = 0.0;
}

static void put_family(queries *q, size_t i, size_t family, uint64_t seed, uint64_t index)
{
    float row[QUERY_COLUMNS_MAX];
    row_of(q->type)->family(family, seed, index, row);
    for (int c = 0; c < query_columns(q->type); c++)
        q->column[c][i] = row[c];
}

queries queries_family(int type, size_t family, uint64_t seed, size_t count)
{
    queries q = queries_alloc(type, count);
    for (size_t i = 0; i < count; i++)
        put_family(&q, i, family, seed, i);
    return q;
}

queries queries_mixed(int type, uint64_t seed, size_t count)
{
    queries q = queries_alloc(type, count);
    for (size_t i = 0; i < count; i++)
        put_family(&q, i, i % ref_family_count(), seed, i / ref_family_count());
    return q;
}

void queries_load(const queries *q, size_t i, float *row)
{
    query_load_row(row_of(q->type), q->column, i, row);
}

double queries_scale(const ref_sweep_case *c)
{
    double scale = c->radius;
    for (int k = 0; k < 3; k++) {
        scale = fmax(scale, fabs((double)c->center[k]));
        for (int v = 0; v < 3; v++)
            scale = fmax(scale, fabs((double)c->p[v][k]));
    }
    return scale;
}

void queries_print(const queries *q, size_t i)
{
    print_error("%s query %zu:", query_name(q->type), i);
    for (int c = 0; c < query_columns(q->type) && q->column[c] != NULL; c++)
        print_error(" %s=%a", query_column_name(row_of(q->type), c), (double)q->column[c][i]);
    print_error("\n");
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

answers answers_alloc(int type, size_t count, unsigned char fill)
{
    answers a = {.type = type, .count = count};
    for (int f = 0; f < query_fields(type); f++)
        a.field[f] = guarded_alloc(count * query_field_bytes(type, f), 0, fill);
    return a;
}

void answers_free(answers *a)
{
    for (int f = 0; f < query_fields(a->type); f++)
        guarded_free(&a->field[f]);
}

void answers_check_guards(const answers *a, const char *what)
{
    for (int f = 0; f < query_fields(a->type); f++)
        guarded_check(&a->field[f], what);
}

int answers_byte(const answers *a, int field, size_t i)
{
    return a->field[field].data[i];
}

float answers_float(const answers *a, int field, size_t i)
{
    float value;
    memcpy(&value, a->field[field].data + i * sizeof value, sizeof value);
    return value;
}

void answers_load(const answers *a, size_t i, query_value *values)
{
    void *arrays[QUERY_FIELDS_MAX] = {0};
    for (int f = 0; f < query_fields(a->type); f++)
        arrays[f] = a->field[f].data;
    query_load_answer(row_of(a->type), arrays, i, values);
}

void answers_print(const answers *a, size_t i, const char *label)
{
    print_error("  %s:", label);
    for (int f = 0; f < query_fields(a->type); f++) {
        const query_field *field = &row_of(a->type)->fields[f];
        if (query_field_size(field) == 1)
            print_error(" %s=%d", field->name, answers_byte(a, f, i));
        else if (field->kind == QUERY_TRIANGLE || field->kind == QUERY_PATCH)
            print_error(" %s=%d", field->name, ((const int32_t *)(const void *)a->field[f].data)[i]);
        else if (field->kind == QUERY_COUNT)
            print_error(" %s=%llu", field->name,
                        (unsigned long long)((const uint64_t *)(const void *)a->field[f].data)[i]);
        else
            print_error(" %s=%a", field->name, (double)answers_float(a, f, i));
    }
    print_error("\n");
}

void answers_compare(const queries *q, const answers *expected, const answers *got, size_t count, int fields,
                     const char *label)
{
    for (int f = 0; f < query_fields(q->type); f++) {
        size_t size = query_field_bytes(q->type, f), i = 0;
        const unsigned char *a = expected->field[f].data, *b = got->field[f].data;
        if (!(fields >> f & 1) || count == 0 || !memcmp(a, b, count * size))
            continue;
        while (!memcmp(a + i * size, b + i * size, size))
            i++;
        queries_print(q, i);
        answers_print(expected, i, "expected");
        answers_print(got, i, label);
        fail_msg("%s: %s of %s differs", label, query_field_name(q->type, f), query_name(q->type));
    }
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

inputs inputs_of(const queries *q)
{
    return query_inputs_of(row_of(q->type), q->column, 0);
}

carom_status ask_with(carom_context *context, int type, carom_accuracy accuracy, size_t count, const inputs *in,
                      const answers *out, int fields, carom_stats *stats, carom_error *err)
{
    void *arrays[QUERY_FIELDS_MAX] = {0};
    const query_call call = {.count = count, .accuracy = accuracy, .in = in, .out = arrays};
    for (int f = 0; f < query_fields(type); f++)
        arrays[f] = fields >> f & 1 ? out->field[f].data : NULL;
    return row_of(type)->ask(context, &call, stats, err);
}

carom_status ask_as(carom_context *context, int type, size_t count, const inputs *in, const answers *out, int fields,
                    carom_stats *stats, carom_error *err)
{
    return ask_with(context, type, CAROM_ACCURACY_FAST, count, in, out, fields, stats, err);
}

void ask(carom_context *context, const queries *q, const answers *out, int fields)
{
    carom_error err = {0};
    inputs in = inputs_of(q);
    test_ok(query_name(q->type), ask_as(context, q->type, q->count, &in, out, fields, NULL, &err), &err);
}
