/* SPDX-License-Identifier: MIT */
/* Queries of meshes from their rows: how they are asked, compared and printed. */
#include "mesh.h"

#include <stdlib.h>
#include <string.h>

/* Records a sphere that a list has room for: some calls have more hits, and must leave off at the same sphere. */
enum { RECORDS_EACH = 64, RECORDS = RECORDS_EACH * MESH_BLOCK };

static int is_list(const verify_mesh_request *ask)
{
    return query_meshes[ask->type]->mesh.is_list;
}

static int field_count(int type)
{
    return query_field_count(query_meshes[type]);
}

static size_t field_size(int type, int f)
{
    return query_field_size(&query_meshes[type]->fields[f]);
}

static const void *at(const verify_mesh_answers *a, int type, int f, uint64_t row)
{
    return (const unsigned char *)a->field[f] + row * field_size(type, f);
}

int verify_mesh_answers_alloc(verify_mesh_answers *answers)
{
    *answers = (verify_mesh_answers){0};
    for (int f = 0; f < QUERY_FIELDS_MAX; f++) {
        size_t size = 0;
        for (int type = 0; type < MESH_TYPES; type++)
            if (f < field_count(type) && field_size(type, f) > size)
                size = field_size(type, f);
        if (size > 0 && !(answers->field[f] = cli_alloc(RECORDS, size)))
            return cli_no_memory();
    }
    answers->offsets = cli_alloc(MESH_BLOCK + 1, sizeof *answers->offsets);
    answers->instance = cli_alloc(RECORDS, sizeof *answers->instance);
    return answers->offsets && answers->instance ? EXIT_DONE : cli_no_memory();
}

void verify_mesh_answers_free(verify_mesh_answers *answers)
{
    for (int f = 0; f < QUERY_FIELDS_MAX; f++)
        free(answers->field[f]);
    free(answers->offsets);
    free(answers->instance);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

/* What a backend forgets to write must not look like the last answer. */
static void spoil(const verify_mesh_request *ask, verify_mesh_answers *to)
{
    const uint64_t rows = is_list(ask) ? RECORDS_EACH * ask->count : ask->count;
    for (int f = 0; f < field_count(ask->type); f++)
        memset(to->field[f], 0xa5, rows * field_size(ask->type, f));
    memset(to->offsets, 0xa5, (ask->count + 1) * sizeof *to->offsets);
}

/* What the row reads of the spheres. */
static query_inputs inputs_of(const query_type *q, const verify_spheres *b)
{
    float *column[QUERY_COLUMNS_MAX];
    for (int c = 0; c < query_column_count(q); c++) {
        column[c] = (float *)b->mask; /* the one that is not found by its name */
        for (int s = 0; s < SPHERE_COLUMNS; s++)
            if (!strcmp(query_column_name(q, c), verify_sphere_columns[s]))
                column[c] = (float *)b->column[s];
    }
    return query_inputs_of(q, column, 0);
}

/* Triangles and patches get their numbers among those of all instances. */
static void number_all(const verify_scene *scene, const verify_mesh_request *ask, verify_mesh_answers *to)
{
    const query_type *q = query_meshes[ask->type];
    const uint64_t stored = to->stored < RECORDS ? to->stored : RECORDS, rows = is_list(ask) ? stored : ask->count;
    for (int f = 0; f < query_field_count(q); f++) {
        int32_t *value = to->field[f];
        if (q->fields[f].kind == QUERY_TRIANGLE || q->fields[f].kind == QUERY_PATCH)
            for (uint64_t i = 0; i < rows; i++)
                value[i] = verify_scene_number(scene, to->instance[i], value[i]);
    }
}

carom_status verify_mesh_ask(carom_mesh *mesh, const verify_scene *scene, const verify_mesh_request *ask,
                             const verify_spheres *b, verify_mesh_answers *to, carom_stats *stats, carom_error *err)
{
    const query_type *q = query_meshes[ask->type];
    carom_list_totals totals = {0};
    carom_hit_list list = {
        .size = sizeof list, .totals = &totals, .capacity = RECORDS_EACH * ask->count, .offsets = to->offsets};
    query_inputs in = inputs_of(q, b);
    in.cull_back = b->cull_back;
    in.start = b->start;
    in.ends = b->ends;
    const query_call call = {.count = ask->count,
                             .accuracy = ask->accuracy,
                             .in = &in,
                             .out = to->field,
                             .instance = scene->instance_count > 0 ? to->instance : NULL,
                             .list = &list};
    *stats = (carom_stats){.size = sizeof *stats};
    spoil(ask, to);
    const carom_status status = q->mesh.ask(mesh, &call, stats, err);
    to->total = totals.total;
    to->complete = totals.complete;
    to->stored = totals.stored;
    if (status == CAROM_OK && scene->instance_count > 0)
        number_all(scene, ask, to);
    return status;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

query_records verify_mesh_records(const verify_mesh_request *ask, const verify_mesh_answers *a, uint64_t i)
{
    if (!is_list(ask))
        return (query_records){.out = a->field, .at = i, .count = 1, .stored = 1};
    const uint64_t from = a->offsets[i], to = a->offsets[i + 1];
    return (query_records){.out = a->field,
                           .at = from,
                           .count = to - from,
                           .stored = i < a->complete && from <= to && to <= a->stored && a->stored <= RECORDS,
                           .is_full =
                               a->complete < ask->count && a->offsets[a->complete + 1] > RECORDS_EACH * ask->count};
}

int verify_mesh_differs(const verify_mesh_request *ask, const verify_mesh_answers *a, const verify_mesh_answers *b,
                        uint64_t i)
{
    const query_records of_a = verify_mesh_records(ask, a, i), of_b = verify_mesh_records(ask, b, i);
    if (of_a.stored != of_b.stored || (of_a.stored && of_a.count != of_b.count))
        return 1;
    for (int f = 0; f < field_count(ask->type) && of_a.stored; f++)
        if (memcmp(at(a, ask->type, f, of_a.at), at(b, ask->type, f, of_b.at), of_a.count * field_size(ask->type, f)))
            return 1;
    return 0;
}

int verify_mesh_same(const verify_mesh_request *ask, const verify_mesh_answers *a, const verify_mesh_answers *b)
{
    uint64_t rows = ask->count;
    if (is_list(ask)) {
        if (a->total != b->total || a->complete != b->complete || a->stored != b->stored || a->stored > RECORDS ||
            memcmp(a->offsets, b->offsets, (ask->count + 1) * sizeof *a->offsets))
            return 0;
        rows = a->stored;
    }
    for (int f = 0; f < field_count(ask->type); f++)
        if (memcmp(a->field[f], b->field[f], rows * field_size(ask->type, f)))
            return 0;
    return 1;
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

void verify_mesh_print_sphere(output *out, const verify_spheres *b, uint64_t i)
{
    output_text(out, "    query:");
    for (int c = 0; c < SPHERE_COLUMNS; c++)
        output_format(out, " %s=%a", verify_sphere_columns[c], (double)b->column[c][i]);
    output_format(out, " mask=0x%x start=%d cull_back=%d%s\n", (unsigned)b->mask[i], (int)b->start, b->cull_back,
                  b->ends ? ", v is an end position" : "");
}

static void print_triangle(output *out, const verify_scene *scene, int32_t triangle)
{
    const ref_mesh mesh = verify_scene_reference(scene);
    float p[3][3];
    output_format(out, " triangle=%d", triangle);
    if (triangle < 0 || (size_t)triangle >= scene->triangle_count)
        return;
    ref_mesh_triangle(&mesh, (size_t)triangle, p);
    for (int v = 0; v < 3; v++)
        output_format(out, "%s%a,%a,%a", v ? " " : " (", (double)p[v][0], (double)p[v][1], (double)p[v][2]);
    output_char(out, ')');
}

/* The triangle is the last, because its corners follow. */
static void print_row(output *out, const verify_mesh_request *ask, const verify_scene *scene,
                      const verify_mesh_answers *a, uint64_t row)
{
    const query_type *q = query_meshes[ask->type];
    const void *triangle = NULL;
    for (int f = 0; f < query_field_count(q); f++) {
        const query_field *field = &q->fields[f];
        const void *value = at(a, ask->type, f, row);
        switch (field->kind) {
        case QUERY_TRIANGLE: triangle = triangle ? triangle : value; break; /* the first; others follow from it */
        case QUERY_PATCH: break;                                            /* follows from the triangle */
        case QUERY_COUNT: break;                                            /* the query, which has been printed */
        default: output_format(out, " %s=", field->name); verify_print_value(out, field, value);
        }
    }
    if (triangle)
        print_triangle(out, scene, *(const int32_t *)triangle);
}

void verify_mesh_print_answer(output *out, const verify_mesh_request *ask, const char *who, const verify_scene *scene,
                              const verify_mesh_answers *a, uint64_t i)
{
    const query_records r = verify_mesh_records(ask, a, i);
    output_format(out, "    %s:", who);
    if (is_list(ask))
        output_format(out, " %llu records from %llu on, list of %llu, %llu in it, complete to query %llu\n",
                      (unsigned long long)r.count, (unsigned long long)r.at, (unsigned long long)a->total,
                      (unsigned long long)a->stored, (unsigned long long)a->complete);
    for (uint64_t k = 0; r.stored && k < r.count; k++) {
        output_text(out, is_list(ask) ? "      " : "");
        print_row(out, ask, scene, a, r.at + k);
        output_char(out, '\n');
    }
}
