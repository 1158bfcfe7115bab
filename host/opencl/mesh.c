/* SPDX-License-Identifier: MIT */
/* Mesh batches (host/mesh/batch.h) on a device. Queries are streamed against its copy there. */
#include <assert.h>
#include <string.h>

#include "device.h"
#include "host/mesh/batch.h"
#include "host/mesh/clearance.h"
#include "host/mesh/mesh.h"
#include "mesh_copy.h"

enum { TRIANGLE = 0 /* number of the search's output column for triangles */ };

/* The number of queries of a work-item. With lanes, a work-item interleaves several traversals: it gets a few times as
 * many queries, as long as all cores have some work-items. Without lanes it gets one. */
static cl_uint share_of(const caromi_device *device, uint32_t program, uint64_t queries)
{
    enum { PER_UNIT = 32 };
    if (device->programs[program].items > 0)
        return caromi_team_share(device, queries);
    cl_uint share = device->lanes;
    while (device->lanes > 1 && 2 * share <= CAROMI_SHARE_MAX &&
           queries / (2 * share) >= (uint64_t)PER_UNIT * device->info.compute_units)
        share *= 2;
    return share;
}

/* Whether a search with so many input columns leaves out queries in empty space. A closest point is looked for from
 * anywhere. */
static int is_past_space(uint32_t columns)
{
    return columns == CAROMI_MESH_IN;
}

/* Sets the arguments that all searches have in common; returns the number of work-items or groups. */
uint64_t caromi_set_search(const caromi_device *device, const caromi_cl_slot *slot, caromi_arguments *arguments,
                           uint32_t program, const carom_mesh *mesh, int options, uint64_t count, uint32_t columns,
                           uint32_t mask)
{
    const cl_uint share = share_of(device, program, count), queries = (cl_uint)count, rows = slot->sorted ? queries : 0;
    caromi_set_tree(device, arguments, mesh, options);
    caromi_set_columns(arguments, slot->in, columns);
    /* Arguments that are never read still need a buffer: without masks any column, without an order any buffer. */
    caromi_set_column(arguments, &slot->in[options & MESH_QUERY_MASKS ? mask : 0]);
    caromi_set_argument(arguments, &share, sizeof share);
    caromi_set_argument(arguments, &queries, sizeof queries);
    caromi_set_column(arguments, slot->sorted ? &slot->sort[CAROMI_SORT_ROW] : slot->in);
    caromi_set_argument(arguments, &rows, sizeof rows);
    if (is_past_space(columns))
        caromi_set_clearance(device, arguments, mesh);
    if (device->programs[program].items > 0)
        caromi_set_far(slot, arguments, mesh);
    return (count + share - 1) / share;
}

/* The error for a device that returned impossible numbers, such as indices outside the arrays. */
carom_status caromi_fail_corrupt(const caromi_device *device, const char *what, uint64_t first, uint64_t end,
                                 carom_error *err)
{
    return caromi_fail(err, CAROM_ERROR_DEVICE_LOST, CAROMI_NO_NATIVE_CODE,
                       "%s reports %s that cannot be, among queries %llu to %llu of the batch", device->info.name, what,
                       (unsigned long long)first, (unsigned long long)(end - 1));
}

carom_status caromi_fail_truncated(const caromi_device *device, uint64_t first, uint64_t end, carom_error *err)
{
    return caromi_fail(err, CAROM_ERROR_DEVICE_LOST, CAROMI_NO_NATIVE_CODE,
                       "%s ends the loops of a search before they are done, among queries %llu to %llu of the batch",
                       device->info.name, (unsigned long long)first, (unsigned long long)(end - 1));
}

/* The grid of a scene is worth its making after many queries alone, as on the CPU. */
static void report_to_scene(const caromi_mesh_batch *batch)
{
    (void)pthread_mutex_lock(&batch->mesh->context->finding);
    caromi_clearance_report(batch->mesh, batch->count - batch->begin);
    (void)pthread_mutex_unlock(&batch->mesh->context->finding);
}

carom_status caromi_ready_mesh(caromi_device *device, const caromi_mesh_batch *batch, carom_error *err)
{
    if (batch->mesh->scene != NULL && is_past_space((uint32_t)batch->kind->in))
        report_to_scene(batch);
    CHECK(caromi_upload_mesh(device, batch->mesh, err));
    assert(batch->mesh->stack <= device->stack);
    return is_past_space((uint32_t)batch->kind->in) ? caromi_space_find(device, batch->mesh, err) : CAROM_OK;
}

/* Runs a stream of a batch's queries, once its mesh is ready. */
carom_status caromi_stream_past(caromi_device *device, const caromi_mesh_batch *batch, const caromi_stream *stream,
                                uint64_t *done, carom_stats *stats, carom_error *err)
{
    CHECK(caromi_ready_mesh(device, batch, err));
    return caromi_stream_run(device, stream, done, stats, err);
}

/* The fast programs of a kind of search; the exact ones follow them. */
typedef struct mesh_programs {
    uint32_t search, points;
    int has_options; /* queries with options have programs of their own */
} mesh_programs;
static const mesh_programs programs_of[CAROMI_MESH_SEARCHES] = {
    [CAROMI_MESH_FIRST] = {CAROMI_PROGRAM_MESH_FIRST, CAROMI_PROGRAM_MESH_CONTACT, 1},
    [CAROMI_MESH_CLOSEST] = {CAROMI_PROGRAM_MESH_CLOSEST, CAROMI_PROGRAM_MESH_CLOSEST_POINT, 0},
    [CAROMI_MESH_CONTACTS] = {CAROMI_PROGRAM_MESH_CONTACTS, CAROMI_PROGRAM_CONTACT_TOUCH, 0}};
/* Of scenes the host completes the answers. */
static const uint32_t scene_programs_of[CAROMI_MESH_SEARCHES] = {
    [CAROMI_MESH_FIRST] = CAROMI_PROGRAM_SCENE_FIRST, [CAROMI_MESH_CLOSEST] = CAROMI_PROGRAM_SCENE_CLOSEST};

uint32_t caromi_batch_search_program(const caromi_mesh_batch *batch)
{
    const mesh_programs *programs = &programs_of[batch->kind->search];
    if (batch->mesh->scene != NULL)
        return caromi_search_program(scene_programs_of[batch->kind->search], batch->exact, 0);
    return caromi_search_program(programs->search, batch->exact, programs->has_options ? batch->options : 0);
}

uint32_t caromi_batch_points_program(const caromi_mesh_batch *batch)
{
    return programs_of[batch->kind->search].points + (uint32_t)batch->exact;
}

/* Launches the search of a chunk's queries. */
static carom_status launch_search(caromi_device *device, caromi_cl_slot *slot, const caromi_mesh_batch *batch,
                                  carom_error *err)
{
    const uint32_t program = caromi_batch_search_program(batch), in = (uint32_t)batch->kind->in;
    caromi_arguments arguments = caromi_arguments_of(device, program);
    CHECK(caromi_reserve_far(device, slot, program, batch->mesh, slot->padded, err));
    const uint64_t items =
        caromi_set_search(device, slot, &arguments, program, batch->mesh, batch->options, slot->padded, in, in);
    caromi_set_columns(&arguments, slot->out, batch->kind->search_out);
    return caromi_launch_search(device, slot, &arguments, program, items, err);
}

/* Launches the point kernel for a chunk. */
carom_status caromi_launch_points(caromi_device *device, caromi_cl_slot *slot, const caromi_mesh_batch *batch,
                                  carom_error *err)
{
    const caromi_mesh_kind *kind = batch->kind;
    caromi_arguments arguments = caromi_arguments_of(device, caromi_batch_points_program(batch));
    caromi_set_triangles(device, &arguments, batch->mesh);
    if (kind == &caromi_first_hit)
        caromi_set_argument(&arguments, &batch->options, sizeof batch->options);
    caromi_set_columns(&arguments, slot->in, (uint32_t)kind->point_in);
    caromi_set_column(&arguments, &slot->out[TRIANGLE]);
    caromi_set_columns(&arguments, &slot->out[kind->search_out], kind->out - kind->search_out);
    return caromi_launch_chunk(device, slot, &arguments, slot->padded / device->lanes, err);
}

uint32_t caromi_batch_gradient_program(const caromi_mesh_batch *batch)
{
    return CAROMI_PROGRAM_MESH_GRADIENT + (uint32_t)batch->exact;
}

/* Output columns of a batch: those of the search, of the point kernel and of the gradient, as far as they are wanted.
 */
enum { GRADIENT = 3 /* columns */ };
static uint32_t columns_without_gradient(const caromi_mesh_batch *batch)
{
    return caromi_wants_points(batch) ? batch->kind->out : batch->kind->search_out;
}
static uint32_t columns_of(const caromi_mesh_batch *batch, uint8_t answer[CAROMI_ANSWERS])
{
    const uint32_t first = columns_without_gradient(batch);
    memcpy(answer, batch->kind->answer, first);
    for (uint8_t k = 0; k < GRADIENT; k++)
        answer[first + k] = (uint8_t)(CAROMI_ANSWER_GRADIENT + k);
    return first + (caromi_wants_gradient(batch) ? GRADIENT : 0);
}

/* Launches the kernel of gradients for a chunk. */
static carom_status launch_gradients(caromi_device *device, caromi_cl_slot *slot, const caromi_mesh_batch *batch,
                                     carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(device, caromi_batch_gradient_program(batch));
    caromi_set_triangles(device, &arguments, batch->mesh);
    caromi_set_columns(&arguments, slot->in, (uint32_t)batch->kind->point_in);
    caromi_set_column(&arguments, &slot->out[TRIANGLE]);
    caromi_set_columns(&arguments, &slot->out[columns_without_gradient(batch)], GRADIENT);
    return caromi_launch_chunk(device, slot, &arguments, slot->padded / device->lanes, err);
}

/* Launches the search and, if they are wanted, the kernels of points, gradients and sides. */
static carom_status launch_mesh(caromi_device *device, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const caromi_mesh_batch *batch = user;
    CHECK(caromi_sort_chunk(device, slot, batch->mesh, batch->kind->in, batch->options, err));
    CHECK(launch_search(device, slot, batch, err));
    if (batch->mesh->scene != NULL)
        return CAROM_OK;
    if (caromi_wants_points(batch))
        CHECK(caromi_launch_points(device, slot, batch, err));
    if (caromi_wants_gradient(batch))
        CHECK(launch_gradients(device, slot, batch, err));
    if (batch->sign == CAROM_SIGN_NONE)
        return CAROM_OK;
    return caromi_launch_sides(device, slot, batch,
                               caromi_wants_gradient(batch) ? &slot->out[columns_without_gradient(batch)] : NULL, err);
}

carom_status caromi_check_triangles(const caromi_device *device, const carom_mesh *mesh, const void *triangles,
                                    size_t stride, uint64_t count, uint64_t first, uint64_t end, carom_error *err)
{
    int corrupt = 0, truncated = 0;
    for (uint64_t i = 0; i < count; i++) {
        int32_t triangle;
        memcpy(&triangle, (const char *)triangles + i * stride, sizeof triangle);
        corrupt |= !caromi_can_be(mesh, triangle);
        truncated |= triangle == MESH_LOOP_TRUNCATED;
    }
    return truncated ? caromi_fail_truncated(device, first, end, err)
           : corrupt ? caromi_fail_corrupt(device, "triangles", first, end, err)
                     : CAROM_OK;
}

/* Checks the triangles of every chunk, even if the caller wants only times: if a triangle is impossible, the time is
 * wrong too. */
static carom_status check_triangles(const caromi_device *device, const void *user, const void *triangles, size_t stride,
                                    uint64_t count, uint64_t first, uint64_t end, carom_error *err)
{
    return caromi_check_triangles(device, ((const caromi_mesh_batch *)user)->mesh, triangles, stride, count, first, end,
                                  err);
}

/* Answers queries that the device left undecided, on the CPU. */
static carom_status answer_undecided(const carom_context *context, const void *user, const caromi_in_column *in,
                                     const caromi_out_column *out, uint64_t first, const uint32_t *rows, uint64_t count,
                                     carom_stats *stats, carom_error *err)
{
    (void)first, (void)rows;
    caromi_mesh_batch batch = *(const caromi_mesh_batch *)user;
    const caromi_mesh_kind *kind = batch.kind;
    uint8_t answer[CAROMI_ANSWERS];
    const uint32_t out_count = columns_of(&batch, answer);
    memcpy(batch.in, in, (size_t)kind->in * sizeof *in);
    batch.mask = batch.mask.base != NULL ? in[kind->in] : batch.mask;
    for (uint32_t k = 0; k < out_count; k++)
        batch.out[answer[k]] = out[k];
    batch.begin = 0;
    batch.count = count;
    batch.rungs = NULL;
    return caromi_cpu_mesh(context, &batch, 0, count, stats, err);
}
static const caromi_undecided undecided_queries = {caromi_undecided_mesh_batch, answer_undecided};

static carom_status check_searched(const caromi_device *device, const void *user, const void *triangles, size_t stride,
                                   uint64_t count, uint64_t first, uint64_t end, carom_error *err)
{
    return check_triangles(device, ((const caromi_searched *)user)->batch, triangles, stride, count, first, end, err);
}

static carom_status launch_searched(caromi_device *device, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    return launch_mesh(device, slot, ((const caromi_searched *)user)->batch, err);
}

/* Streams queries of a scene through a device, which searches. The host adds points and instances, chunk by chunk. */
static carom_status stream_scene(caromi_device *device, const caromi_mesh_batch *batch, uint64_t end, uint64_t *done,
                                 carom_stats *stats, carom_error *err)
{
    const caromi_mesh_kind *kind = batch->kind;
    const caromi_searched searched = {device->context, batch};
    const int is_first = kind == &caromi_first_hit;
    caromi_in_column in[CAROMI_MESH_IN + 1];
    const caromi_out_column out[CAROMI_MARKS] = {{NULL, 0}};
    caromi_stream stream = {.count = end,
                            .chunk = device->gpu ? 1u << 18 : device->max_items,
                            .answers_any_count = 1,
                            .in_count = (uint32_t)kind->in + (batch->mask.base != NULL),
                            .out_count = kind->search_out,
                            .in = in,
                            .out = out,
                            .mark = {TRIANGLE, is_first ? 2 : 1, is_first ? 1 : 2},
                            .mark_count = 3,
                            .resolve = caromi_complete_searched,
                            .extra = caromi_sort_chunk_bytes(device),
                            .check = check_searched,
                            .launch = launch_searched,
                            .user = &searched};
    memcpy(in, batch->in, (size_t)kind->in * sizeof *in);
    in[kind->in] = batch->mask;
    for (uint32_t c = 0; c < kind->search_out; c++)
        stream.out_size[c] = (uint8_t)caromi_answer_size(kind->answer[c]);
    return caromi_stream_past(device, batch, &stream, done, stats, err);
}

/* Streams a batch of mesh queries through a device. */
carom_status caromi_stream_mesh(caromi_device *device, const caromi_mesh_batch *batch, uint64_t end, uint64_t *done,
                                carom_stats *stats, carom_error *err)
{
    const caromi_mesh_kind *kind = batch->kind;
    if (batch->mesh->scene != NULL)
        return stream_scene(device, batch, end, done, stats, err);
    const int wants_points = caromi_wants_points(batch), wants_gradient = caromi_wants_gradient(batch);
    caromi_in_column in[CAROMI_MESH_IN + 1];
    caromi_out_column out[CAROMI_ANSWERS];
    uint8_t answers[CAROMI_ANSWERS];
    const uint32_t out_count = columns_of(batch, answers), gradient = columns_without_gradient(batch);
    caromi_stream stream = {
        .count = end,
        .chunk = device->gpu ? 1u << 18 : device->max_items, /* smaller than for pairs, as a query costs more */
        .answers_any_count = !wants_points && !wants_gradient,
        .in_count = (uint32_t)kind->in + (batch->mask.base != NULL),
        .out_count = out_count,
        .in = in,
        .out = out,
        .mark = {TRIANGLE, 0 /* set below */, wants_points ? kind->search_out : CAROMI_NO_MARK, gradient},
        .mark_count = !batch->exact    ? 1
                      : wants_gradient ? 4
                      : wants_points   ? 3
                                       : 2,
        .resolve = batch->exact ? caromi_resolve_mesh_batch : NULL,
        .undecided = batch->exact ? &undecided_queries : NULL,
        .extra = caromi_sort_chunk_bytes(device) + caromi_far_bytes(device, batch->mesh),
        .largest = caromi_far_bytes(device, batch->mesh),
        .check = check_triangles,
        .launch = launch_mesh,
        .user = batch};
    memcpy(in, batch->in, (size_t)kind->in * sizeof *in);
    in[kind->in] = batch->mask;
    for (uint32_t c = 0; c < stream.out_count; c++) {
        const uint32_t answer = answers[c];
        out[c] = batch->out[answer];
        stream.out_size[c] = (uint8_t)caromi_answer_size(answer);
        if (answer == CAROMI_ANSWER_KEY)
            stream.mark[1] = c;
    }
    if (batch->hits_only)
        caromi_compact_stream(&stream);
    caromi_residents residents;
    if (batch->exact && *done < end && !caromi_find_residents(device, &stream, &residents))
        CHECK(caromi_mesh_bring(batch->mesh, err)); /* for queries that the host decides */
    return caromi_stream_past(device, batch, &stream, done, stats, err);
}

/* Answers a batch of mesh queries on a device, after the probes. */
carom_status caromi_device_mesh(caromi_device *device, const void *mesh_batch, uint64_t end, uint64_t *done,
                                carom_stats *stats, carom_error *err)
{
    const caromi_mesh_batch *batch = mesh_batch;
    const int is_scene = batch->mesh->scene != NULL, is_body = batch->sign != CAROM_SIGN_NONE;
    if ((batch->exact || is_scene || is_body) && !device->info.fp64)
        return caromi_lacks_fp64(device, is_scene ? "scenes need" : is_body ? "signs need" : "exact mode needs", stats);
    caromi_fit_stack(device, batch->mesh);
    carom_status status = caromi_probe_mesh(device, batch, err);
    if (status == CAROM_OK && batch->hits_only && !is_scene)
        status = caromi_probe_compact(device, err);
    if (status == CAROM_OK)
        status = caromi_stream_mesh(device, batch, end, done, stats, err);
    return status;
}
