/* SPDX-License-Identifier: MIT */
/* The bit probe (probe.c) of the mesh kernels, on the inputs of probe_mesh_input.c. */
#include <string.h>

#include "enqueue.h"
#include "host/mesh/mesh.h"
#include "host/mesh/side.h"
#include "host/scene/scene.h"
#include "mesh_list.h"
#include "probe_mesh_input.h"

enum { HITS = 1 << 12 };

/* Columns of answers; a column of bytes fills only a part of its row. */
typedef struct probe_answers {
    uint32_t column[CAROMI_ANSWERS][CAROMI_PROBE_QUERIES];
} probe_answers;

/* The output of a list of hits. */
typedef struct list_answers {
    uint64_t offsets[CAROMI_PROBE_LIST_QUERIES + 1];
    int32_t triangle[HITS];
    uint8_t state[HITS], any[CAROMI_PROBE_LIST_QUERIES];
    float t[HITS];
    uint64_t query[HITS];              /* these columns of lists that stay on the device alone */
    uint32_t point[OUT_CONTACT][HITS]; /* the features fill only a part of their row */
    float depth[HITS];                 /* of contacts, and their patches */
    uint32_t patch[HITS];
    carom_list_totals totals;
} list_answers;

/* The inputs of a probe, and its results. */
typedef struct mesh_probe {
    probe_input input;
    probe_answers got, expected;
    list_answers list_got, list_expected;
} mesh_probe;

/* ---- queries with one answer each -------------------------------------------------------------------------------- */

enum { GRADIENT = 3 /* columns */ };

/* Sets the outputs of a batch: those that another one wants. */
static void set_outputs(probe_answers *to, const caromi_mesh_batch *like, caromi_mesh_batch *batch)
{
    const uint32_t count = caromi_wants_points(like) ? batch->kind->out : batch->kind->search_out;
    for (uint32_t k = 0; caromi_wants_gradient(like) && k < GRADIENT; k++)
        batch->out[CAROMI_ANSWER_GRADIENT + k] =
            (caromi_out_column){to->column[CAROMI_ANSWER_GRADIENT + k], sizeof(float)};
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t answer = batch->kind->answer[k];
        batch->out[answer] = (caromi_out_column){to->column[answer], caromi_answer_size(answer)};
    }
}

/* Compares the answers of queries with one answer each. */
static carom_status compare_answers(const caromi_device *device, const caromi_mesh_batch *batch, const mesh_probe *data,
                                    carom_error *err)
{
    const caromi_mesh_kind *kind = batch->kind;
    const uint32_t points = caromi_batch_points_program(batch), search = batch->sign != CAROM_SIGN_NONE
                                                                             ? CAROMI_PROGRAM_MESH_SIDE
                                                                             : caromi_batch_search_program(batch);
    carom_status status = CAROM_OK;
    for (uint32_t k = 0; status == CAROM_OK && k < kind->out; k++) {
        const uint32_t answer = kind->answer[k], of_points = k >= kind->search_out;
        status = caromi_probe_compare(device, of_points ? points : search, (uint32_t)batch->count,
                                      of_points ? k - kind->search_out : k, data->got.column[answer],
                                      data->expected.column[answer], caromi_answer_size(answer), err);
    }
    for (uint32_t k = 0; status == CAROM_OK && k < GRADIENT; k++)
        status = caromi_probe_compare(device, caromi_batch_gradient_program(batch), (uint32_t)batch->count, k,
                                      data->got.column[CAROMI_ANSWER_GRADIENT + k],
                                      data->expected.column[CAROMI_ANSWER_GRADIENT + k], sizeof(float), err);
    return status;
}

/* A context for scalar code on one thread, with the allocator and the log of the device's context. */
static carom_context scalar_context(const caromi_device *device)
{
    int chosen;
    carom_context scalar = {.desc = device->context->desc, .isa = caromi_isa_select(CAROM_ISA_SCALAR, &chosen)};
    scalar.hooks = caromi_hooks_of_desc(&scalar.desc);
    scalar.hooks.owner = device->context;
    return scalar;
}

/* Answers the queries on the CPU and on the device, and compares. */
static carom_status run_mesh_probe(caromi_device *device, carom_mesh *mesh, const caromi_mesh_batch *like, int options,
                                   mesh_probe *data, carom_error *err)
{
    uint64_t done = 0;
    carom_stats stats = {.size = sizeof stats};
    const carom_context scalar = scalar_context(device);
    caromi_mesh_batch batch = caromi_probe_batch_of(&data->input, mesh, like, options);
    set_outputs(&data->expected, like, &batch);
    carom_status status = caromi_cpu_mesh(&scalar, &batch, 0, batch.count, &stats, err);
    if (status == CAROM_OK) {
        set_outputs(&data->got, like, &batch);
        status = caromi_stream_mesh(device, &batch, batch.count, &done, &stats, err);
    }
    return status == CAROM_OK ? compare_answers(device, &batch, data, err) : status;
}

/* A list over some memory. */
static carom_hit_list list_out(list_answers *answers)
{
    return (carom_hit_list){.size = sizeof(carom_hit_list),
                            .capacity = HITS,
                            .offsets = answers->offsets,
                            .triangle = answers->triangle,
                            .state = answers->state,
                            .t = answers->t,
                            .totals = &answers->totals};
}

/* Columns of a list, by which a failed probe is reported. */
enum { LIST_OFFSETS, LIST_TRIANGLE, LIST_STATE, LIST_T, LIST_ANY, LIST_QUERY, LIST_DEPTH, LIST_PATCH, LIST_POINT };

/* Answers a list where its arrays lie, with all columns, and compares it. */
static carom_status run_rows_probe(caromi_device *device, const carom_context *scalar, caromi_list_batch *batch,
                                   caromi_contacts *contacts, mesh_probe *data, carom_error *err)
{
    const int has_points = batch->search != CAROMI_MESH_OVERLAPS;
    const uint32_t program = CAROMI_PROGRAM_ROWS_ORDER;
    list_answers *const answers[] = {&data->list_expected, &data->list_got};
    uint64_t done = 0;
    carom_stats stats = {.size = sizeof stats};
    for (int i = 0; i < 2; i++) {
        carom_hit_list list = list_out(answers[i]);
        list.query = answers[i]->query;
        if (has_points) {
            uint32_t(*point)[HITS] = answers[i]->point;
            list.point = (carom_points_out){(float *)point[0], (float *)point[1], (float *)point[2], sizeof(float)};
            list.normal = (carom_points_out){(float *)point[3], (float *)point[4], (float *)point[5], sizeof(float)};
            list.feature = (uint8_t *)point[OUT_FEATURE];
        }
        answers[i]->totals = (carom_list_totals){0};
        answers[i]->offsets[0] = 0;
        batch->list = &list;
        if (contacts != NULL) {
            contacts->patch_of_hit = answers[i]->patch;
            batch->sweep.out[CAROMI_ANSWER_TRIANGLE].base = list.triangle;
            batch->sweep.out[CAROMI_ANSWER_KEY].base = list.t;
            batch->sweep.out[CAROMI_ANSWER_DEPTH] = (caromi_out_column){answers[i]->depth, sizeof(float)};
        }
        for (uint32_t k = 0; k < OUT_CONTACT; k++)
            batch->sweep.out[CAROMI_ANSWER_POINT + k] =
                (caromi_out_column){has_points ? answers[i]->point[k] : NULL, k == OUT_FEATURE ? 1 : sizeof(float)};
        CHECK(i > 0             ? caromi_stream_rows(device, batch, CAROMI_PROBE_LIST_QUERIES, &done, &stats, err)
              : batch->is_first ? caromi_cpu_first_list(scalar, batch, 0, CAROMI_PROBE_LIST_QUERIES, &stats, err)
                                : caromi_cpu_list(scalar, batch, 0, CAROMI_PROBE_LIST_QUERIES, &stats, err));
    }
    const list_answers *got = answers[1], *expected = answers[0];
    CHECK(caromi_probe_compare(device, program, CAROMI_PROBE_LIST_QUERIES + 1, LIST_OFFSETS, got->offsets,
                               expected->offsets, sizeof *got->offsets, err));
    CHECK(
        caromi_probe_compare(device, program, HITS, LIST_QUERY, got->query, expected->query, sizeof *got->query, err));
    CHECK(caromi_probe_compare(device, program, HITS, LIST_TRIANGLE, got->triangle, expected->triangle,
                               sizeof *got->triangle, err));
    CHECK(caromi_probe_compare(device, program, HITS, LIST_STATE, got->state, expected->state, 1, err));
    CHECK(caromi_probe_compare(device, program, HITS, LIST_T, got->t, expected->t, sizeof *got->t, err));
    CHECK(caromi_probe_compare(device, program, HITS, LIST_DEPTH, got->depth, expected->depth, sizeof(float), err));
    CHECK(caromi_probe_compare(device, program, HITS, LIST_PATCH, got->patch, expected->patch, sizeof(uint32_t), err));
    for (uint32_t k = 0; k < OUT_CONTACT; k++)
        CHECK(caromi_probe_compare(device, program, HITS, LIST_POINT + k, got->point[k], expected->point[k],
                                   k == OUT_FEATURE ? 1 : sizeof(float), err));
    return CAROM_OK;
}

/* Compares any-hit queries, in which a device stops at the first decided hit. */
static carom_status run_any_probe(caromi_device *device, const carom_context *scalar, const caromi_list_batch *list,
                                  mesh_probe *data, carom_error *err)
{
    uint64_t done = 0;
    carom_stats stats = {.size = sizeof stats};
    caromi_list_batch batch = {.search = list->search, .sweep = list->sweep, .any = data->list_expected.any};
    memset(batch.sweep.out, 0, sizeof batch.sweep.out);
    const int is_body = batch.sweep.sign != CAROM_SIGN_NONE;
    carom_status status = caromi_cpu_list(scalar, &batch, 0, CAROMI_PROBE_LIST_QUERIES, &stats, err);
    if (status == CAROM_OK && is_body)
        status = caromi_sign_overlaps(scalar, &batch.sweep, batch.any, 0, CAROMI_PROBE_LIST_QUERIES, &stats, err);
    batch.any = data->list_got.any;
    if (status == CAROM_OK)
        status = (is_body ? caromi_stream_bodies : caromi_stream_list)(device, &batch, CAROMI_PROBE_LIST_QUERIES, &done,
                                                                       &stats, err);
    return status != CAROM_OK
               ? status
               : caromi_probe_compare(device, is_body ? CAROMI_PROGRAM_MESH_INSIDE : caromi_list_program(&batch),
                                      CAROMI_PROBE_LIST_QUERIES, LIST_ANY, data->list_got.any, data->list_expected.any,
                                      1, err);
}

/* Compares a list: the counts of all queries, as many hits as fit, and the any-hit answers. The state of a contact is
 * its feature. */
static carom_status run_list_probe(caromi_device *device, carom_mesh *mesh, const caromi_list_batch *like, int in_place,
                                   int options, mesh_probe *data, carom_error *err)
{
    uint64_t done = 0;
    carom_stats stats = {.size = sizeof stats};
    const carom_context scalar = scalar_context(device);
    carom_hit_list got = list_out(&data->list_got), expected = list_out(&data->list_expected);
    const carom_mesh_hit_result got_columns = {.triangle = got.triangle, .state = got.state, .t = got.t};
    const carom_mesh_hit_result expected_columns = {
        .triangle = expected.triangle, .state = expected.state, .t = expected.t};
    caromi_contacts contacts = {.merge = in_place && like->contacts != NULL && like->contacts->merge > 0 ? 0x1p-4f : 0,
                                .patches = {.of = data->input.masks}};
    caromi_list_batch batch = {.search = like->search, .is_first = like->is_first, .list = &expected};
    data->list_got.totals = data->list_expected.totals = (carom_list_totals){0}; /* of the options before */
    if (like->contacts != NULL) {
        const caromi_edges *edges;
        CHECK(caromi_edges_of(mesh, &edges, err));
        batch.contacts = &contacts;
    }
    /* The CPU's list is the expected one. */
    batch.sweep = caromi_probe_batch_of(&data->input, mesh, &like->sweep, options);
    batch.sweep.count = CAROMI_PROBE_LIST_QUERIES;
    caromi_hits_to_columns(&expected_columns, batch.sweep.out);
    if (in_place)
        return run_rows_probe(device, &scalar, &batch, like->contacts != NULL ? &contacts : NULL, data, err);
    const uint32_t program = caromi_list_program(&batch);
    carom_status status = caromi_cpu_list(&scalar, &batch, 0, CAROMI_PROBE_LIST_QUERIES, &stats, err);
    if (status != CAROM_OK)
        return status;
    /* The device's list. */
    batch.list = &got;
    caromi_hits_to_columns(&got_columns, batch.sweep.out);
    status = caromi_stream_list(device, &batch, CAROMI_PROBE_LIST_QUERIES, &done, &stats, err);
    const list_answers *got_answers = &data->list_got, *expected_answers = &data->list_expected;
    /* All columns must have the same bits. */
    if (status == CAROM_OK)
        status =
            caromi_probe_compare(device, program, CAROMI_PROBE_LIST_QUERIES + 1, LIST_OFFSETS, got_answers->offsets,
                                 expected_answers->offsets, sizeof *got_answers->offsets, err);
    if (status == CAROM_OK)
        status = caromi_probe_compare(device, program, HITS, LIST_TRIANGLE, got_answers->triangle,
                                      expected_answers->triangle, sizeof *got_answers->triangle, err);
    if (status == CAROM_OK)
        status = caromi_probe_compare(device, program, HITS, LIST_STATE, got_answers->state, expected_answers->state,
                                      sizeof *got_answers->state, err);
    if (status == CAROM_OK)
        status = caromi_probe_compare(device, program, HITS, LIST_T, got_answers->t, expected_answers->t,
                                      sizeof *got_answers->t, err);
    return status == CAROM_OK && like->contacts == NULL ? run_any_probe(device, &scalar, &batch, data, err) : status;
}

/* The options that a program is probed with. A program for queries without options is probed without any. Other
 * programs are probed with each start policy, as policies exclude each other. Closest points and contacts have one
 * program for all queries. */
typedef struct probe_options {
    int count, options[3];
} probe_options;

static const probe_options *options_of(const caromi_mesh_batch *like)
{
    enum { MASKS = MESH_TRIANGLE_MASKS | MESH_QUERY_MASKS };
    static const probe_options plain = {1, {0}}, at_rest = {2, {0, MASKS}},
                               scene = {3, {0, MASKS | MESH_CULL_BACK | MESH_SKIP_PARTING, MASKS | MESH_SKIP}},
                               all = {2, {MASKS | MESH_CULL_BACK | MESH_SKIP_PARTING, MASKS | MESH_SKIP}};
    if (like->mesh->scene != NULL) /* one program for all queries */
        return like->kind != &caromi_first_hit ? &at_rest : &scene;
    return like->kind != &caromi_first_hit ? &at_rest : like->options ? &all : &plain;
}

/* Probes the programs of a batch. list: NULL for queries with one answer each; in_place: its arrays stay on the
 * device. */
static carom_status probe(caromi_device *device, const caromi_mesh_batch *like, const caromi_list_batch *list,
                          int in_place, carom_error *err)
{
    const probe_options *asked = options_of(like);
    carom_mesh *mesh = NULL;
    carom_scene *scene = NULL;
    mesh_probe *data = caromi_alloc(device->context, 1, sizeof *data);
    if (data == NULL)
        return caromi_fail_memory(err, "no memory for the bit probe (%zu bytes)", sizeof *data);
    memset(data, 0, sizeof *data);
    device->probing = 1;
    const int masked = asked->options[asked->count - 1];
    carom_status status = caromi_probe_input_make(like, masked, &data->input, &mesh, err);
    if (status == CAROM_OK)
        status = caromi_probe_scene_make(like, mesh, masked, &scene, err);
    carom_mesh *searched = scene != NULL ? scene->all : mesh;
    for (int i = 0; status == CAROM_OK && i < asked->count; i++) {
        const int options = asked->options[i] | (like->options & MESH_ENDS);
        status = list != NULL ? run_list_probe(device, searched, list, in_place, options, data, err)
                              : run_mesh_probe(device, searched, like, options, data, err);
    }
    if (scene != NULL)
        caromi_scene_end(scene);
    if (mesh != NULL)
        caromi_mesh_end(mesh);
    device->probing = 0;
    caromi_free(device->context, data);
    return status;
}

/* The bit of `probed` for a batch: programs are probed with velocities and with end positions separately. */
static int kind_of_motion(const caromi_mesh_batch *batch)
{
    return (batch->options & MESH_ENDS) != 0 ? 2 : 1;
}

static carom_status build_and_ask(caromi_device *device, uint32_t program, const caromi_mesh_batch *like,
                                  const caromi_list_batch *list, int in_place, carom_error *err)
{
    CHECK(caromi_program_build(device, program, err));
    return probe(device, like, list, in_place, err);
}

/* Builds and probes the program of a search. Where its work-items share queries, and that fails, tries the program in
 * which each has a query of its own. */
static carom_status build_and_probe(caromi_device *device, uint32_t program, const caromi_mesh_batch *like,
                                    const caromi_list_batch *list, int in_place, carom_error *err)
{
    carom_error why = {CAROM_OK, 0, ""};
    carom_status status = build_and_ask(device, program, like, list, in_place, &why);
    if (status != CAROM_OK && caromi_program_goes_alone(device, program, &why)) {
        const carom_error shared = why;
        status = build_and_ask(device, program, like, list, in_place, &why);
        if (status == CAROM_OK)
            caromi_log(device->context, CAROM_LOG_WARNING, "from now on kernel %s takes a query for each work-item: %s",
                       caromi_program_name(program), shared.message);
    }
    if (status != CAROM_OK && err != NULL)
        *err = why;
    return status;
}

/* The bit of `probed` of the program of sides, which works on the answers of either accuracy, with or without
 * gradients. */
static int kind_of_sides(const caromi_mesh_batch *batch)
{
    return 1 << (2 * (batch->exact != 0) + caromi_wants_gradient(batch));
}

/* Probes closest points without a sign first, then with it. */
static carom_status probe_sides(caromi_device *device, const caromi_mesh_batch *batch, carom_error *err)
{
    caromi_mesh_batch plain = *batch;
    caromi_program *sides = &device->programs[CAROMI_PROGRAM_MESH_SIDE];
    plain.sign = CAROM_SIGN_NONE;
    CHECK(caromi_probe_mesh(device, &plain, err));
    if ((sides->probed & kind_of_sides(batch)) != 0)
        return CAROM_OK;
    CHECK(caromi_enqueue_refuse(device->context, err));
    CHECK(build_and_probe(device, CAROMI_PROGRAM_MESH_SIDE, batch, NULL, 0, err));
    sides->probed |= kind_of_sides(batch);
    return CAROM_OK;
}

carom_status caromi_probe_mesh(caromi_device *device, const caromi_mesh_batch *batch, carom_error *err)
{
    if (batch->sign != CAROM_SIGN_NONE)
        return probe_sides(device, batch, err);
    const int motion = kind_of_motion(batch);
    const uint32_t search = caromi_batch_search_program(batch), points = caromi_batch_points_program(batch);
    const uint32_t gradient = caromi_batch_gradient_program(batch);
    const int is_mesh = batch->mesh->scene == NULL; /* of a scene the host finds points */
    const int wants_points = is_mesh && caromi_wants_points(batch),
              wants_gradient = is_mesh && caromi_wants_gradient(batch);
    caromi_program *first = &device->programs[search], *second = &device->programs[points],
                   *third = &device->programs[gradient];
    if ((first->probed & motion) != 0 && ((second->probed & motion) != 0 || !wants_points) &&
        (third->probed || !wants_gradient))
        return CAROM_OK;
    CHECK(caromi_enqueue_refuse(device->context, err));
    if (wants_points)
        CHECK(caromi_program_build(device, points, err));
    if (wants_gradient)
        CHECK(caromi_program_build(device, gradient, err));
    const carom_status status = build_and_probe(device, search, batch, NULL, 0, err);
    first->probed |= status == CAROM_OK ? motion : 0;
    second->probed |= status == CAROM_OK && wants_points ? motion : 0;
    third->probed |= status == CAROM_OK && wants_gradient;
    return status;
}

/* Probes overlaps without a sign first, then with it. */
static carom_status probe_inside(caromi_device *device, const caromi_list_batch *batch, carom_error *err)
{
    caromi_list_batch plain = *batch;
    caromi_program *inside = &device->programs[CAROMI_PROGRAM_MESH_INSIDE];
    plain.sweep.sign = CAROM_SIGN_NONE;
    CHECK(caromi_probe_list(device, &plain, err));
    if (inside->probed)
        return CAROM_OK;
    CHECK(caromi_enqueue_refuse(device->context, err));
    CHECK(build_and_probe(device, CAROMI_PROGRAM_MESH_INSIDE, &batch->sweep, batch, 0, err));
    inside->probed = 1;
    return CAROM_OK;
}

carom_status caromi_probe_list(caromi_device *device, const caromi_list_batch *batch, carom_error *err)
{
    if (batch->sweep.sign != CAROM_SIGN_NONE)
        return probe_inside(device, batch, err);
    const int motion = kind_of_motion(&batch->sweep);
    const uint32_t program = caromi_list_program(batch);
    if ((device->programs[program].probed & motion) != 0)
        return CAROM_OK;
    CHECK(caromi_enqueue_refuse(device->context, err));
    const carom_status status = build_and_probe(device, program, &batch->sweep, batch, 0, err);
    device->programs[program].probed |= status == CAROM_OK ? motion : 0;
    return status;
}

static carom_status build_choice(caromi_device *device, const caromi_list_batch *batch, carom_error *err)
{
    const uint32_t exact = (uint32_t)batch->sweep.exact;
    if (batch->contacts == NULL)
        return CAROM_OK;
    CHECK(caromi_program_build(device, CAROMI_PROGRAM_CONTACT_CHOOSE + exact, err));
    return batch->contacts->merge > 0 ? caromi_program_build(device, CAROMI_PROGRAM_CONTACT_MERGE + exact, err)
                                      : CAROM_OK;
}

/* Lists that stay on the device: further bits of `probed`. They belong to the search's program, which may be built anew
 * later, with a longer stack or with a query for each work-item. Contacts have a bit for each of two kinds: merged ones
 * need one program more. */
carom_status caromi_probe_rows(caromi_device *device, const caromi_list_batch *batch, carom_error *err)
{
    const uint32_t program = caromi_list_program(batch);
    const int merges = batch->contacts != NULL && batch->contacts->merge > 0;
    const int kind = (merges ? 2 : kind_of_motion(&batch->sweep)) << 2;
    CHECK(caromi_enqueue_refuse(device->context, err));
    if ((device->programs[program].probed & kind) != 0)
        return CAROM_OK;
    CHECK(caromi_program_build(device, caromi_batch_points_program(&batch->sweep), err));
    CHECK(build_choice(device, batch, err));
    CHECK(caromi_build_rows(device, err));
    CHECK(build_and_probe(device, program, &batch->sweep, batch, 1, err));
    device->programs[program].probed |= kind;
    return CAROM_OK;
}
