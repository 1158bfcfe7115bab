/* SPDX-License-Identifier: MIT */
/* The kinds of volumes: what is theirs in a fingerprint, and what the library is asked for. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

/* Edges of slabs: those of the library's cubes of nodes, and of two of its tiles of columns. */
enum { CUBE_EDGE = 8, TILE_EDGE = 512 };
/* Nodes of a slab. A node takes up to 7 us in a mesh of a million triangles, so the most take 4 s. It takes 28 us in
 * one of ten million, so there a slab has fewer. A column takes up to 1 us and 6 us there. The rows of a slab are
 * pieces of the file, which cost less if they are long. */
enum { NODES_MOST = 1 << 19, NODES_LEAST = 1 << 12, COLUMNS_MOST = 1 << 21, COLUMNS_LEAST = 1 << 19 };
#define NODE_VISITS (UINT64_C(1) << 39)
#define COLUMN_VISITS (UINT64_C(1) << 41)

static carom_batch batch_of(const bake_question *q, size_t size)
{
    return (carom_batch){.size = size,
                         .begin = q->only_checks ? 0 : q->first,
                         .count = q->only_checks ? 0 : q->box.dims[q->plan->kind->axes - 1],
                         .prepare = q->only_prepares != 0,
                         .accuracy = q->accuracy,
                         .progress = q->progress};
}

/* Progress ends a call where it is enough for now. */
static int exit_of(const bake_mesh *mesh, carom_status status, const carom_error *err)
{
    if (status == CAROM_OK || status == CAROM_ERROR_CANCELLED)
        return status == CAROM_OK ? EXIT_DONE : EXIT_STOPPED;
    return cli_library_error(mesh->path, status, err);
}

/* ---- distance -----------------------------------------------------------------------------------------------------
 */

static void distance_items(const bake_plan *plan, char *text)
{
    bake_text_add(text, "sign %s\nband %.9g\n", bake_sign_words[plan->sign], (double)plan->band);
}

static int read_distance(const char **at, bake_plan *plan)
{
    char value[BAKE_NAME];
    const int sign = bake_text_take(at, "sign", value) ? bake_word_of(value, bake_sign_words, BAKE_SIGNS) : -1;
    if (sign < 0 || !bake_text_take(at, "band", value))
        return 0;
    plan->sign = (carom_sign)sign;
    plan->band = strtof(value, NULL);
    return 1;
}

static void describe_distance(const bake_plan *plan, char *line)
{
    bake_text_add(line, " --sign %s --band %.9g", bake_sign_words[plan->sign], (double)plan->band);
}

static int ask_distance(const bake_mesh *mesh, const bake_question *q, const bake_slab *to, carom_stats *stats)
{
    const bake_plan *plan = q->plan;
    float *const point = to->array[BAKE_POINT];
    const carom_mesh_distance_desc desc = {
        .batch = batch_of(q, sizeof desc),
        .lattice = q->box,
        .sign = plan->sign,
        .allow_open = q->allow_open != 0,
        .band = &plan->band,
    };
    const carom_mesh_distance_result result = {.size = sizeof result,
                                               .distance = to->array[BAKE_DISTANCE],
                                               .triangle = to->array[BAKE_TRIANGLE],
                                               .point = point ? carom_xyz_out(point) : (carom_points_out){0},
                                               .feature = to->array[BAKE_FEATURE]};
    carom_error err = {0};
    const carom_status status = carom_mesh_distance(mesh->mesh, &desc, &result, stats, &err);
    return exit_of(mesh, status, &err);
}

const bake_kind bake_kind_distance = {.name = "distance",
                                      .command = "bake distance",
                                      .array = BAKE_DISTANCE,
                                      .axes = 3,
                                      .unit = "nodes",
                                      .edge = CUBE_EDGE,
                                      .most = NODES_MOST,
                                      .visits = NODE_VISITS,
                                      .least = NODES_LEAST,
                                      .more = 1u << BAKE_TRIANGLE | 1u << BAKE_FEATURE | 1u << BAKE_POINT,
                                      .items = distance_items,
                                      .read_items = read_distance,
                                      .describe = describe_distance,
                                      .ask = ask_distance,
                                      .is_near = bake_is_near_distance,
                                      .judge = bake_judge_distance,
                                      .report = bake_report_distance};

/* ---- clearance ----------------------------------------------------------------------------------------------------
 */

/* One that has a radius alone. */
static void radius_items(const bake_plan *plan, char *text)
{
    bake_text_add(text, "%s %.9g\n", plan->kind->radius, (double)plan->radius);
}

static int read_radius(const char **at, bake_plan *plan)
{
    char value[BAKE_NAME];
    const int is_there = bake_text_take(at, plan->kind->radius, value);
    plan->radius = is_there ? strtof(value, NULL) : 0.0f;
    return is_there;
}

static void describe_radius(const bake_plan *plan, char *line)
{
    bake_text_add(line, " --%s %.9g", plan->kind->radius, (double)plan->radius);
}

static int ask_clearance(const bake_mesh *mesh, const bake_question *q, const bake_slab *to, carom_stats *stats)
{
    const carom_mesh_clearance_desc desc = {
        .batch = batch_of(q, sizeof desc),
        .lattice = q->box,
        .radius = q->plan->radius,
    };
    const carom_mesh_clearance_result result = {.size = sizeof result, .clearance = to->array[BAKE_CLEARANCE]};
    carom_error err = {0};
    const carom_status status = carom_mesh_clearance(mesh->mesh, &desc, &result, stats, &err);
    return exit_of(mesh, status, &err);
}

const bake_kind bake_kind_clearance = {.name = "clearance",
                                       .command = "bake clearance",
                                       .array = BAKE_CLEARANCE,
                                       .axes = 3,
                                       .unit = "nodes",
                                       .edge = CUBE_EDGE,
                                       .most = NODES_MOST,
                                       .visits = NODE_VISITS,
                                       .least = NODES_LEAST,
                                       .radius = "radius",
                                       .items = radius_items,
                                       .read_items = read_radius,
                                       .describe = describe_radius,
                                       .ask = ask_clearance,
                                       .is_near = bake_is_near_clearance,
                                       .judge = bake_judge_clearance,
                                       .report = bake_report_clearance};

/* ---- drop ---------------------------------------------------------------------------------------------------------
 */

static int ask_drop(const bake_mesh *mesh, const bake_question *q, const bake_slab *to, carom_stats *stats)
{
    const carom_mesh_drop_desc desc = {
        .batch = batch_of(q, sizeof desc),
        .lattice = q->box,
        .radius = q->plan->radius,
    };
    const carom_mesh_drop_result result = {.size = sizeof result, .height = to->array[BAKE_HEIGHT]};
    carom_error err = {0};
    const carom_status status = carom_mesh_drop(mesh->mesh, &desc, &result, stats, &err);
    return exit_of(mesh, status, &err);
}

const bake_kind bake_kind_drop = {.name = "drop",
                                  .command = "bake drop",
                                  .array = BAKE_HEIGHT,
                                  .axes = 2,
                                  .unit = "columns",
                                  .edge = TILE_EDGE,
                                  .most = COLUMNS_MOST,
                                  .visits = COLUMN_VISITS,
                                  .least = COLUMNS_LEAST,
                                  .radius = "ball",
                                  .items = radius_items,
                                  .read_items = read_radius,
                                  .describe = describe_radius,
                                  .ask = ask_drop,
                                  .is_near = bake_is_near_drop,
                                  .judge = bake_judge_drop,
                                  .report = bake_report_drop};

/* ---- all ----------------------------------------------------------------------------------------------------------
 */

const bake_kind *const bake_kinds[BAKE_KINDS] = {&bake_kind_distance, &bake_kind_clearance, &bake_kind_drop};

const bake_kind *bake_kind_named(const char *name)
{
    for (int i = 0; i < BAKE_KINDS; i++)
        if (!strcmp(name, bake_kinds[i]->name))
            return bake_kinds[i];
    return NULL;
}
