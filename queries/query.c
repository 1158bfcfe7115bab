/* SPDX-License-Identifier: MIT */
#include "query.h"

#include <math.h>
#include <string.h>

const query_type *const query_pairs[QUERY_PAIR_COUNT] = {
#define QUERY_POINTER(name, command) &query_##name,
    QUERY_PAIRS(QUERY_POINTER)
#undef QUERY_POINTER
};

const query_type *const query_meshes[QUERY_MESH_COUNT] = {
#define QUERY_POINTER(name, title) &query_##name,
    QUERY_MESHES(QUERY_POINTER) QUERY_MESH_FORMS(QUERY_POINTER)
#undef QUERY_POINTER
};

const query_type *query_named(const char *name)
{
    for (int i = 0; i < QUERY_PAIR_COUNT; i++)
        if (!strcmp(query_pairs[i]->name, name))
            return query_pairs[i];
    return NULL;
}

const query_word *query_word_of(const char *command, int i, const query_type **q)
{
    for (int is_default = 1; is_default >= 0; is_default--)
        for (int m = 0; m < QUERY_MESH_COUNT; m++) {
            const query_of_mesh *of = &query_meshes[m]->mesh;
            if (!of->command || strcmp(of->command, command) || of->is_default != is_default)
                continue;
            *q = query_meshes[m];
            if (of->count.word && i-- == 0)
                return &of->count;
            if (i-- == 0)
                return &of->hits;
        }
    return NULL;
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

int query_input_count(const query_type *q)
{
    int count = 0;
    while (count < QUERY_INPUTS_MAX && q->inputs[count].name)
        count++;
    return count;
}

int query_input_width(const query_input *input)
{
    return input->role == QUERY_POSITION || input->role == QUERY_VELOCITY ? 3 : 1;
}

static int count_columns(const query_type *q, int with_optional)
{
    int count = 0;
    for (int i = 0; i < query_input_count(q); i++)
        if (with_optional || !q->inputs[i].optional)
            count += query_input_width(&q->inputs[i]);
    return count;
}

int query_column_count(const query_type *q)
{
    return count_columns(q, 1);
}

int query_required_count(const query_type *q)
{
    return count_columns(q, 0);
}

const query_input *query_input_of(const query_type *q, int column, int *component)
{
    const query_input *input = q->inputs;
    for (*component = column; *component >= query_input_width(input); input++)
        *component -= query_input_width(input);
    return input;
}

const char *query_column_name(const query_type *q, int column)
{
    int component;
    const query_input *input = query_input_of(q, column, &component);
    return input->columns[component];
}

int query_has_role(const query_type *q, query_role role)
{
    int found = 0;
    for (int i = 0; i < query_input_count(q); i++)
        found |= q->inputs[i].role == role;
    return found;
}

static int nth_column(const query_type *q, int n, int width)
{
    for (int i = 0, column = 0; i < query_input_count(q); column += query_input_width(&q->inputs[i++]))
        if (query_input_width(&q->inputs[i]) == width && q->inputs[i].role != QUERY_MASK && n-- == 0)
            return column;
    return -1;
}

/* The column of masks, -1 without one. */
static int mask_column(const query_type *q)
{
    for (int i = 0, column = 0; i < query_input_count(q); column += query_input_width(&q->inputs[i++]))
        if (q->inputs[i].role == QUERY_MASK)
            return column;
    return -1;
}

int query_vector_column(const query_type *q, int i)
{
    return nth_column(q, i, 3);
}

int query_radius_column(const query_type *q, int i)
{
    return nth_column(q, i, 1);
}

query_inputs query_inputs_of(const query_type *q, float *const *column, uint64_t from)
{
    query_inputs in = {0};
    for (int i = 0, c; i < QUERY_VECTORS_MAX && (c = query_vector_column(q, i)) >= 0; i++)
        if (column[c])
            in.points[i] = (carom_points){column[c] + from, column[c + 1] + from, column[c + 2] + from, sizeof(float)};
    for (int i = 0, c; i < QUERY_RADII_MAX && (c = query_radius_column(q, i)) >= 0; i++)
        if (column[c])
            in.scalars[i] = (carom_scalars){column[c] + from, sizeof(float)};
    const int mask = mask_column(q);
    if (mask >= 0 && column[mask])
        in.mask = (const uint32_t *)(const void *)(column[mask] + from);
    return in;
}

void query_load_row(const query_type *q, float *const *column, uint64_t i, float *row)
{
    const int count = query_column_count(q);
    for (int c = 0; c < count; c++)
        row[c] = column[c] ? column[c][i] : 0.0f;
}

double query_largest(const query_type *q, const float *row)
{
    double largest = 0.0;
    for (int i = 0, column = 0; i < query_input_count(q); i++)
        for (int k = 0; k < query_input_width(&q->inputs[i]); k++, column++)
            if (q->inputs[i].role != QUERY_VELOCITY)
                largest = fmax(largest, fabs((double)row[column]));
    return largest;
}

void query_store_vector(float *row, int column, const float v[3])
{
    memcpy(row + column, v, 3 * sizeof *v);
}

void query_load_vector(const float *row, int column, float v[3])
{
    memcpy(v, row + column, 3 * sizeof *v);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

int query_field_count(const query_type *q)
{
    int count = 0;
    while (count < QUERY_FIELDS_MAX && q->fields[count].name)
        count++;
    return count;
}

size_t query_field_size(const query_field *field)
{
    switch (field->kind) {
    case QUERY_TIME:
    case QUERY_COORDINATE:
    case QUERY_HEIGHT: return sizeof(float);
    case QUERY_TRIANGLE:
    case QUERY_PATCH: return sizeof(uint32_t);
    case QUERY_COUNT:
    case QUERY_NUMBER: return sizeof(uint64_t);
    default: return 1;
    }
}

int query_field_named(const query_type *q, const char *name, size_t length)
{
    int field = query_field_count(q) - 1;
    while (field > 0 && (strncmp(q->fields[field].name, name, length) || q->fields[field].name[length]))
        field--;
    return field;
}

int query_field_in_output(const query_type *q, int i)
{
    const char *at = q->header;
    if (!at)
        return i;
    while (i-- > 0)
        at += strcspn(at, ",") + 1;
    return query_field_named(q, at, strcspn(at, ","));
}

uint32_t query_all_fields(const query_type *q)
{
    return (UINT32_C(1) << query_field_count(q)) - 1;
}

int query_selection_count(const query_type *q)
{
    int count = 0;
    while (count < QUERY_SELECTIONS_MAX && q->selections[count].name)
        count++;
    return count;
}

void query_load_answer(const query_type *q, void *const *array, uint64_t i, query_value *answer)
{
    for (int f = 0; f < query_field_count(q); f++) {
        if (query_field_size(&q->fields[f]) == 1)
            answer[f].byte = ((const uint8_t *)array[f])[i];
        else
            answer[f].number = ((const float *)array[f])[i];
    }
}

carom_points_out query_points_out(void *const *out, int field)
{
    return (carom_points_out){out[field], out[field + 1], out[field + 2], sizeof(float)};
}
