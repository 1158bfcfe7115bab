/* SPDX-License-Identifier: MIT */
/* The types of mesh queries: what their answers consist of, how they are asked, compared and printed. */
#include "mesh.h"

#include <stdlib.h>
#include <string.h>

/* Records a sphere that a list has room for: some calls have more hits, and must leave off at the same sphere. */
enum { RECORDS_EACH = 64, RECORDS = RECORDS_EACH * MESH_BLOCK };

#define BIT(field) (UINT32_C(1) << (field))
#define THREE(field) (UINT32_C(7) << (field))
#define OF_HIT \
    (BIT(MESH_TRIANGLE) | BIT(MESH_STATE) | BIT(MESH_T) | THREE(MESH_POINT) | THREE(MESH_NORMAL) | BIT(MESH_FEATURE))

/* clang-format off */
const verify_mesh_type verify_mesh_types[MESH_TYPES] = {
    {"mesh-first", 0, OF_HIT},
    {"mesh-all", 1, BIT(MESH_QUERY) | OF_HIT},
    {"mesh-any", 0, BIT(MESH_HIT)},
    {"mesh-overlaps", 1, BIT(MESH_QUERY) | BIT(MESH_TRIANGLE)},
    {"mesh-any-still", 0, BIT(MESH_HIT)},
    {"mesh-closest", 0, BIT(MESH_TRIANGLE) | BIT(MESH_T) | THREE(MESH_POINT) | BIT(MESH_FEATURE) | BIT(MESH_DEPTH)},
};

const verify_mesh_field verify_mesh_fields[MESH_FIELDS] = {
    {"triangle", 4}, {"state", 1}, {"t", 4}, {"x", 4}, {"y", 4}, {"z", 4}, {"nx", 4}, {"ny", 4}, {"nz", 4},
    {"feature", 1}, {"depth", 4}, {"hit", 1}, {"query", 8},
};
/* clang-format on */

int verify_mesh_answers_alloc(verify_mesh_answers *answers)
{
    *answers = (verify_mesh_answers){0};
    for (int f = 0; f < MESH_FIELDS; f++)
        if (!(answers->field[f] = cli_alloc(RECORDS, verify_mesh_fields[f].size)))
            return cli_no_memory();
    answers->offsets = cli_alloc(MESH_BLOCK + 1, sizeof *answers->offsets);
    return answers->offsets ? EXIT_DONE : cli_no_memory();
}

void verify_mesh_answers_free(verify_mesh_answers *answers)
{
    for (int f = 0; f < MESH_FIELDS; f++)
        free(answers->field[f]);
    free(answers->offsets);
}

static int has_field(const verify_mesh_request *ask, int field)
{
    return (int)(verify_mesh_types[ask->type].fields >> field & 1);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

static void *array(const verify_mesh_answers *a, int field)
{
    return a->field[field];
}

static carom_points_out points_out(const verify_mesh_answers *a, int x)
{
    return (carom_points_out){array(a, x), array(a, x + 1), array(a, x + 2), sizeof(float)};
}

static carom_status ask_closest(carom_mesh *mesh, const carom_mesh_overlap_desc *desc, const verify_mesh_answers *to,
                                carom_stats *stats, carom_error *err)
{
    const carom_mesh_closest_result result = {array(to, MESH_TRIANGLE), array(to, MESH_T), points_out(to, MESH_POINT),
                                              array(to, MESH_FEATURE), array(to, MESH_DEPTH)};
    return carom_mesh_overlap_closest(mesh, desc, &result, stats, err);
}

static carom_status ask_first(carom_mesh *mesh, const carom_mesh_sweep_desc *desc, const verify_mesh_answers *to,
                              carom_stats *stats, carom_error *err)
{
    const carom_mesh_hit_result result = {array(to, MESH_TRIANGLE),    array(to, MESH_STATE),
                                          array(to, MESH_T),           points_out(to, MESH_POINT),
                                          points_out(to, MESH_NORMAL), array(to, MESH_FEATURE)};
    return carom_mesh_sweep_first(mesh, desc, &result, stats, err);
}

/* Overlaps if `rest` is given, else hits. */
static carom_status ask_list(carom_mesh *mesh, const carom_mesh_sweep_desc *sweep, const carom_mesh_overlap_desc *rest,
                             verify_mesh_answers *to, carom_stats *stats, carom_error *err)
{
    carom_mesh_hit_list list = {.size = sizeof list,
                                .capacity = RECORDS_EACH * sweep->count,
                                .offsets = to->offsets,
                                .query = array(to, MESH_QUERY),
                                .triangle = array(to, MESH_TRIANGLE)};
    carom_status status;
    if (rest) {
        status = carom_mesh_overlap_list(mesh, rest, &list, stats, err);
    } else {
        list.state = array(to, MESH_STATE);
        list.t = array(to, MESH_T);
        list.point = points_out(to, MESH_POINT);
        list.normal = points_out(to, MESH_NORMAL);
        list.feature = array(to, MESH_FEATURE);
        status = carom_mesh_sweep_list(mesh, sweep, CAROM_HITS_ALL, &list, stats, err);
    }
    to->total = list.total;
    to->complete = list.complete;
    to->stored = list.stored;
    return status;
}

/* What a backend forgets to write must not look like the last answer. */
static void spoil(const verify_mesh_request *ask, verify_mesh_answers *to)
{
    const uint64_t rows = verify_mesh_types[ask->type].is_list ? RECORDS_EACH * ask->count : ask->count;
    for (int f = 0; f < MESH_FIELDS; f++)
        if (has_field(ask, f))
            memset(to->field[f], 0xa5, rows * verify_mesh_fields[f].size);
    memset(to->offsets, 0xa5, (ask->count + 1) * sizeof *to->offsets);
    to->total = to->complete = to->stored = 0;
}

carom_status verify_mesh_ask(carom_mesh *mesh, const verify_mesh_request *ask, const verify_spheres *b,
                             verify_mesh_answers *to, carom_stats *stats, carom_error *err)
{
    const carom_points center = {b->column[0], b->column[1], b->column[2], sizeof(float)};
    const carom_scalars radius = {b->column[SPHERE_RADIUS], sizeof(float)};
    const carom_points velocity = {b->column[SPHERE_VELOCITY], b->column[SPHERE_VELOCITY + 1],
                                   b->column[SPHERE_VELOCITY + 2], sizeof(float)};
    const carom_mesh_overlap_desc rest = {.size = sizeof rest,
                                          .count = ask->count,
                                          .accuracy = ask->accuracy,
                                          .center = center,
                                          .radius = radius,
                                          .mask = b->mask,
                                          .mask_stride = sizeof *b->mask};
    const carom_mesh_sweep_desc sweep = {.size = sizeof sweep,
                                         .count = ask->count,
                                         .accuracy = ask->accuracy,
                                         .center = center,
                                         .velocity = velocity,
                                         .radius = radius,
                                         .t_max = {b->column[SPHERE_T_MAX], sizeof(float)},
                                         .mask = b->mask,
                                         .mask_stride = sizeof *b->mask,
                                         .cull_back = b->cull_back,
                                         .start = b->start};
    *stats = (carom_stats){.size = sizeof *stats};
    spoil(ask, to);
    switch (ask->type) {
    case MESH_FIRST: return ask_first(mesh, &sweep, to, stats, err);
    case MESH_ANY: return carom_mesh_sweep_any(mesh, &sweep, array(to, MESH_HIT), stats, err);
    case MESH_ANY_STILL: return carom_mesh_overlap_any(mesh, &rest, array(to, MESH_HIT), stats, err);
    case MESH_CLOSEST: return ask_closest(mesh, &rest, to, stats, err);
    default: return ask_list(mesh, &sweep, ask->type == MESH_OVERLAPS ? &rest : NULL, to, stats, err);
    }
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

int verify_mesh_rows(const verify_mesh_request *ask, const verify_mesh_answers *a, uint64_t i, uint64_t *from,
                     uint64_t *to)
{
    const int is_list = verify_mesh_types[ask->type].is_list;
    *from = is_list ? a->offsets[i] : i;
    *to = is_list ? a->offsets[i + 1] : i + 1;
    if (!is_list || (i < a->complete && *from <= *to && *to <= a->stored && a->stored <= RECORDS))
        return 1;
    *to = *from;
    return 0;
}

int verify_mesh_is_full(const verify_mesh_request *ask, const verify_mesh_answers *a)
{
    return a->complete < ask->count && a->offsets[a->complete + 1] > RECORDS_EACH * ask->count;
}

int verify_mesh_differs(const verify_mesh_request *ask, const verify_mesh_answers *a, const verify_mesh_answers *b,
                        uint64_t i)
{
    uint64_t from_a, to_a, from_b, to_b;
    if (verify_mesh_rows(ask, a, i, &from_a, &to_a) != verify_mesh_rows(ask, b, i, &from_b, &to_b) ||
        to_a - from_a != to_b - from_b)
        return 1;
    for (int f = 0; f < MESH_FIELDS; f++) {
        const size_t size = verify_mesh_fields[f].size;
        if (has_field(ask, f) &&
            memcmp(a->field[f] + from_a * size, b->field[f] + from_b * size, (to_a - from_a) * size))
            return 1;
    }
    return 0;
}

int verify_mesh_same(const verify_mesh_request *ask, const verify_mesh_answers *a, const verify_mesh_answers *b)
{
    uint64_t rows = ask->count;
    if (verify_mesh_types[ask->type].is_list) {
        if (a->total != b->total || a->complete != b->complete || a->stored != b->stored || a->stored > RECORDS ||
            memcmp(a->offsets, b->offsets, (ask->count + 1) * sizeof *a->offsets))
            return 0;
        rows = a->stored;
    }
    for (int f = 0; f < MESH_FIELDS; f++)
        if (has_field(ask, f) && memcmp(a->field[f], b->field[f], rows * verify_mesh_fields[f].size))
            return 0;
    return 1;
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

void verify_mesh_print_sphere(output *out, const verify_spheres *b, uint64_t i)
{
    static const char *const names[SPHERE_COLUMNS] = {"cx", "cy", "cz", "radius", "vx", "vy", "vz", "t_max"};
    output_text(out, "    query:");
    for (int c = 0; c < SPHERE_COLUMNS; c++)
        output_format(out, " %s=%a", names[c], (double)b->column[c][i]);
    output_format(out, " mask=0x%x start=%d cull_back=%d\n", (unsigned)b->mask[i], (int)b->start, b->cull_back);
}

static void print_row(output *out, const verify_mesh_request *ask, const verify_scene *scene,
                      const verify_mesh_answers *a, uint64_t row)
{
    const ref_mesh mesh = verify_scene_reference(scene);
    int32_t triangle;
    float value, p[3][3];
    for (int f = MESH_STATE; f < MESH_QUERY; f++) {
        const unsigned char *at = a->field[f] + row * verify_mesh_fields[f].size;
        if (!has_field(ask, f))
            continue;
        if (f == MESH_STATE) {
            output_format(out, " state=%s", carom_state_name((carom_state)*at));
        } else if (f == MESH_FEATURE) {
            output_format(out, " feature=%s", carom_feature_name((carom_feature)*at));
        } else if (f == MESH_HIT) {
            output_format(out, " hit=%d", *at);
        } else {
            memcpy(&value, at, sizeof value);
            output_format(out, " %s=%a",
                          f == MESH_T && ask->type == MESH_CLOSEST ? "distance" : verify_mesh_fields[f].name,
                          (double)value);
        }
    }
    if (!has_field(ask, MESH_TRIANGLE))
        return;
    memcpy(&triangle, a->field[MESH_TRIANGLE] + row * sizeof triangle, sizeof triangle);
    output_format(out, " triangle=%d", triangle);
    if (triangle < 0 || (size_t)triangle >= scene->triangle_count)
        return;
    ref_mesh_triangle(&mesh, (size_t)triangle, p);
    for (int v = 0; v < 3; v++)
        output_format(out, "%s%a,%a,%a", v ? " " : " (", (double)p[v][0], (double)p[v][1], (double)p[v][2]);
    output_char(out, ')');
}

void verify_mesh_print_answer(output *out, const verify_mesh_request *ask, const char *who, const verify_scene *scene,
                              const verify_mesh_answers *a, uint64_t i)
{
    uint64_t from, to;
    const int there = verify_mesh_rows(ask, a, i, &from, &to);
    output_format(out, "    %s:", who);
    if (verify_mesh_types[ask->type].is_list)
        output_format(out, " %llu records from %llu on, list of %llu, %llu in it, complete to query %llu\n",
                      (unsigned long long)(a->offsets[i + 1] - a->offsets[i]), (unsigned long long)a->offsets[i],
                      (unsigned long long)a->total, (unsigned long long)a->stored, (unsigned long long)a->complete);
    for (uint64_t row = from; there && row < to; row++) {
        output_text(out, verify_mesh_types[ask->type].is_list ? "      " : "");
        print_row(out, ask, scene, a, row);
        output_char(out, '\n');
    }
}
