/* SPDX-License-Identifier: MIT */
/* Queries and answers of the three pair types, as tables of columns and fields. */
#include "support.h"

#include <math.h>

/* ---- types as tables -------------------------------------------------------------------------------------------- */

typedef struct query_field {
    const char *name;
    size_t size;
} query_field;

typedef struct query_type {
    const char *name;
    int columns, fields;
    int points[MAX_POINTS + 1], scalars[MAX_SCALARS + 1]; /* columns they start with */
    query_field field[MAX_FIELDS];
} query_type;

static const query_type types[QUERY_TYPES] = {
    {"sweep",
     19,
     11,
     {0, 4, 7, 10, 13, 16, -1},
     {3, -1},
     {{"state", 1},
      {"t_first", 4},
      {"t_last", 4},
      {"x_first", 4},
      {"y_first", 4},
      {"z_first", 4},
      {"feature_first", 1},
      {"x_last", 4},
      {"y_last", 4},
      {"z_last", 4},
      {"feature_last", 1}}},
    {"overlap", 19, 2, {0, 7, 10, 13, -1}, {3, -1}, {{"overlap", 1}, {"axes", 1}}},
    {"spheres", 14, 3, {0, 3, 7, 10, -1}, {6, 13, -1}, {{"state", 1}, {"u_first", 4}, {"u_last", 4}}},
};

static const char *const column_names[2][MAX_COLUMNS] = {
    {"cx", "cy", "cz", "r", "vx", "vy", "vz", "p0x", "p0y", "p0z", "p1x", "p1y", "p1z", "p2x", "p2y", "p2z", "wx", "wy",
     "wz"},
    {"a0x", "a0y", "a0z", "a1x", "a1y", "a1z", "ra", "b0x", "b0y", "b0z", "b1x", "b1y", "b1z", "rb"},
};

const char *query_name(int type)
{
    return types[type].name;
}
int query_columns(int type)
{
    return types[type].columns;
}
int query_fields(int type)
{
    return types[type].fields;
}
const char *query_field_name(int type, int field)
{
    return types[type].field[field].name;
}
size_t query_field_size(int type, int field)
{
    return types[type].field[field].size;
}
int query_point_column(int type, int i)
{
    return types[type].points[i];
}
int query_scalar_column(int type, int i)
{
    return types[type].scalars[i];
}

/* ---- cases ------------------------------------------------------------------------------------------------------ */

queries queries_alloc(int type, size_t count)
{
    queries q = {.type = type, .count = count};
    for (int c = 0; c < types[type].columns; c++)
        q.column[c] = test_alloc(count, sizeof(float));
    return q;
}

void queries_free(queries *q)
{
    for (int c = 0; c < MAX_COLUMNS; c++)
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

void queries_put_sweep(queries *q, size_t i, const ref_sweep_case *c)
{
    put_vector(q, i, 0, c->center);
    q->column[3][i] = (float)c->radius;
    put_vector(q, i, 4, c->velocity);
    for (int k = 0; k < 3; k++)
        put_vector(q, i, 7 + 3 * k, c->p[k]);
    put_vector(q, i, 16, c->w);
}

void queries_get_sweep(const queries *q, size_t i, ref_sweep_case *c)
{
    get_vector(q, i, 0, c->center);
    c->radius = (double)q->column[3][i];
    get_vector(q, i, 4, c->velocity);
    for (int k = 0; k < 3; k++)
        get_vector(q, i, 7 + 3 * k, c->p[k]);
    get_vector(q, i, 16, c->w);
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
    ref_sweep_case sweep;
    ref_spheres_case spheres;
    if (q->type == SPHERES) {
        ref_family_spheres(family, seed, index, &spheres);
        queries_put_spheres(q, i, &spheres);
    } else {
        ref_family_sweep(family, seed, index, &sweep);
        queries_put_sweep(q, i, &sweep);
    }
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
    for (int c = 0; c < types[q->type].columns; c++)
        print_error(" %s=%a", column_names[q->type == SPHERES][c], (double)q->column[c][i]);
    print_error("\n");
}

/* ---- answers ---------------------------------------------------------------------------------------------------- */

answers answers_alloc(int type, size_t count, unsigned char fill)
{
    answers a = {.type = type, .count = count};
    for (int f = 0; f < types[type].fields; f++)
        a.field[f] = guarded_alloc(count * types[type].field[f].size, 0, fill);
    return a;
}

void answers_free(answers *a)
{
    for (int f = 0; f < types[a->type].fields; f++)
        guarded_free(&a->field[f]);
}

void answers_check_guards(const answers *a, const char *what)
{
    for (int f = 0; f < types[a->type].fields; f++)
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

void answers_print(const answers *a, size_t i, const char *who)
{
    print_error("  %s:", who);
    for (int f = 0; f < types[a->type].fields; f++) {
        if (types[a->type].field[f].size == 1)
            print_error(" %s=%d", types[a->type].field[f].name, answers_byte(a, f, i));
        else
            print_error(" %s=%a", types[a->type].field[f].name, (double)answers_float(a, f, i));
    }
    print_error("\n");
}

void answers_compare(const queries *q, const answers *expected, const answers *got, size_t count, int fields,
                     const char *who)
{
    for (int f = 0; f < types[q->type].fields; f++) {
        size_t size = types[q->type].field[f].size, i = 0;
        const unsigned char *a = expected->field[f].data, *b = got->field[f].data;
        if (!(fields >> f & 1) || count == 0 || !memcmp(a, b, count * size))
            continue;
        while (!memcmp(a + i * size, b + i * size, size))
            i++;
        queries_print(q, i);
        answers_print(expected, i, "expected");
        answers_print(got, i, who);
        fail_msg("%s: %s of %s differs", who, types[q->type].field[f].name, query_name(q->type));
    }
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

inputs inputs_of(const queries *q)
{
    inputs in;
    memset(&in, 0, sizeof in);
    for (int i = 0; types[q->type].points[i] >= 0; i++) {
        float *const *column = &q->column[types[q->type].points[i]];
        in.points[i] = (carom_points){column[0], column[1], column[2], sizeof(float)};
    }
    for (int i = 0; types[q->type].scalars[i] >= 0; i++)
        in.scalars[i] = (carom_scalars){q->column[types[q->type].scalars[i]], sizeof(float)};
    return in;
}

static void *wanted(const answers *a, int fields, int field)
{
    return fields >> field & 1 ? a->field[field].data : NULL;
}

static carom_points_out wanted_point(const answers *a, int fields, int field)
{
    if (!(fields >> field & 1))
        return (carom_points_out){0};
    return (carom_points_out){wanted(a, fields, field), wanted(a, fields, field + 1), wanted(a, fields, field + 2), 4};
}

carom_status ask_with(carom_context *context, int type, carom_accuracy accuracy, size_t count, const inputs *in,
                      const answers *out, int fields, carom_stats *stats, carom_error *err)
{
    const carom_points *p = in->points;
    if (type == SWEEP) {
        carom_sweep_pairs_desc desc = {.size = sizeof desc,
                                       .count = count,
                                       .accuracy = accuracy,
                                       .center = p[0],
                                       .velocity = p[1],
                                       .radius = in->scalars[0],
                                       .p0 = p[2],
                                       .p1 = p[3],
                                       .p2 = p[4],
                                       .triangle_velocity = p[5],
                                       .indices = in->indices,
                                       .progress = in->progress};
        carom_sweep_result result = {wanted(out, fields, STATE),        wanted(out, fields, T_FIRST),
                                     wanted(out, fields, T_LAST),       wanted_point(out, fields, X_FIRST),
                                     wanted_point(out, fields, X_LAST), wanted(out, fields, F_FIRST),
                                     wanted(out, fields, F_LAST)};
        return carom_sweep_pairs(context, &desc, &result, stats, err);
    }
    if (type == OVERLAP) {
        carom_overlap_pairs_desc desc = {.size = sizeof desc,
                                         .count = count,
                                         .accuracy = accuracy,
                                         .center = p[0],
                                         .radius = in->scalars[0],
                                         .p0 = p[1],
                                         .p1 = p[2],
                                         .p2 = p[3],
                                         .indices = in->indices,
                                         .progress = in->progress};
        carom_overlap_result result = {wanted(out, fields, OVERLAPS), wanted(out, fields, AXES)};
        return carom_overlap_pairs(context, &desc, &result, stats, err);
    }
    carom_sphere_pairs_desc desc = {.size = sizeof desc,
                                    .count = count,
                                    .accuracy = accuracy,
                                    .a0 = p[0],
                                    .a1 = p[1],
                                    .b0 = p[2],
                                    .b1 = p[3],
                                    .radius_a = in->scalars[0],
                                    .radius_b = in->scalars[1],
                                    .indices = in->indices,
                                    .progress = in->progress};
    carom_sphere_result result = {wanted(out, fields, STATE), wanted(out, fields, T_FIRST),
                                  wanted(out, fields, T_LAST)};
    return carom_sphere_pairs(context, &desc, &result, stats, err);
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
