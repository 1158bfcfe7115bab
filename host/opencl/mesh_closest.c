/* SPDX-License-Identifier: MIT */
/* Closest points of a mesh on a device, and the probe of their kernels. */
#include <math.h>
#include <string.h>

#include "probe.h"
#include "host/mesh/closest.h"

/* Output columns: those of the search, then those of the points. */
enum { NEAR_TRIANGLE, NEAR_DISTANCE, NEAR_DEPTH, NEAR_FIRST, NEAR_ALL = NEAR_FIRST + OUT_CLOSEST };

static uint32_t search_program(int exact)
{
    return exact ? CAROMI_PROGRAM_MESH_CLOSEST_EXACT : CAROMI_PROGRAM_MESH_CLOSEST;
}
static uint32_t point_program(int exact)
{
    return exact ? CAROMI_PROGRAM_MESH_CLOSEST_POINT_EXACT : CAROMI_PROGRAM_MESH_CLOSEST_POINT;
}

static carom_status launch_search(caromi_device *d, caromi_cl_slot *slot, const caromi_closest_batch *s,
                                  carom_error *err)
{
    const cl_kernel kernel = d->programs[search_program(s->exact)].kernel;
    cl_uint next = 0;
    uint64_t items;
    cl_int code = caromi_set_question(d, slot, kernel, &next, s->mesh, s->options, slot->padded, CAROMI_CLOSEST_IN,
                                      CAROMI_CLOSEST_IN, &items);
    if (code == CL_SUCCESS)
        code = caromi_set_columns(kernel, &next, slot->out, NEAR_FIRST);
    if (code != CL_SUCCESS)
        return caromi_cl_fail(d, code, "clSetKernelArg", err);
    return caromi_enqueue_search(d, slot, kernel, next, items, err);
}

static carom_status launch_points(caromi_device *d, caromi_cl_slot *slot, const caromi_closest_batch *s,
                                  carom_error *err)
{
    const cl_kernel kernel = d->programs[point_program(s->exact)].kernel;
    cl_uint next = 0;
    cl_int code = caromi_set_triangles(kernel, &next, s->mesh);
    if (code == CL_SUCCESS)
        code = caromi_set_columns(kernel, &next, slot->in, 3);
    if (code == CL_SUCCESS)
        code = caromi_set_columns(kernel, &next, &slot->out[NEAR_TRIANGLE], 1);
    if (code == CL_SUCCESS)
        code = caromi_set_columns(kernel, &next, &slot->out[NEAR_FIRST], OUT_CLOSEST);
    if (code != CL_SUCCESS)
        return caromi_cl_fail(d, code, "clSetKernelArg", err);
    return caromi_enqueue(d, slot, kernel, next, slot->padded / d->lanes, err);
}

static carom_status launch_closest(caromi_device *d, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const caromi_closest_batch *s = user;
    const carom_status status = launch_search(d, slot, s, err);
    return status == CAROM_OK && s->wants_point ? launch_points(d, slot, s, err) : status;
}

static uint64_t settle_closest(const void *user, const void *const *marks, const uint64_t *rows, uint64_t first,
                               size_t count)
{
    return caromi_settle_closest_batch(user, marks, rows, first, count);
}

/* Without a probe, for the probe. */
static carom_status stream_closest(caromi_device *d, const caromi_closest_batch *batch, uint64_t end, uint64_t *done,
                                   carom_stats *stats, carom_error *err)
{
    const carom_mesh_closest_result *r = batch->out;
    const size_t p = r->point.stride;
    const caromi_out_column out[NEAR_ALL] = {{r->triangle, sizeof *r->triangle},
                                             {r->distance, sizeof *r->distance},
                                             {r->depth, sizeof *r->depth},
                                             {r->point.x, p},
                                             {r->point.y, p},
                                             {r->point.z, p},
                                             {r->feature, sizeof *r->feature}};
    caromi_in_column in[CAROMI_CLOSEST_IN + 1];
    memcpy(in, batch->in, sizeof batch->in);
    in[CAROMI_CLOSEST_IN] = batch->mask;
    caromi_stream s = {.count = end,
                       .chunk = d->gpu ? 1u << 18 : d->max_items, /* a query costs more than a pair */
                       .in_count = CAROMI_CLOSEST_IN + (batch->mask.base != NULL),
                       .out_count = batch->wants_point ? NEAR_ALL : NEAR_FIRST,
                       .in = in,
                       .out = out,
                       .mark = {NEAR_TRIANGLE, NEAR_DISTANCE, NEAR_FIRST},
                       .mark_count = !batch->exact        ? 1
                                     : batch->wants_point ? 3
                                                          : 2,
                       .settle = batch->exact ? settle_closest : NULL,
                       .named = batch->mesh,
                       .mesh = batch->mesh,
                       .launch = launch_closest,
                       .user = batch};
    for (uint32_t c = 0; c < s.out_count; c++)
        s.out_size[c] = c == NEAR_FIRST + OUT_CLOSEST_FEATURE ? 1 : 4;
    return caromi_stream_past(d, batch->mesh, &s, done, stats, err);
}

/* ---------------------------------------------------------------- the probe */

enum { QUERIES = 256, TRIANGLES = 400 };

typedef struct closest_answers {
    int32_t triangle[QUERIES];
    float distance[QUERIES], depth[QUERIES], point[3][QUERIES];
    uint8_t feature[QUERIES];
} closest_answers;

typedef struct closest_probe {
    float vertices[9 * TRIANGLES];
    uint32_t masks[TRIANGLES], mask[QUERIES];
    float in[CAROMI_CLOSEST_IN][QUERIES];
    closest_answers got, expected;
} closest_probe;

static carom_mesh_closest_result answers_out(closest_answers *a, int point)
{
    carom_mesh_closest_result out = {.triangle = a->triangle, .distance = a->distance, .depth = a->depth};
    if (point) {
        out.point = (carom_points_out){a->point[0], a->point[1], a->point[2], sizeof(float)};
        out.feature = a->feature;
    }
    return out;
}

static carom_status compare_answers(const caromi_device *d, const closest_answers *a, const closest_answers *b,
                                    int exact, carom_error *err)
{
    const uint32_t search = search_program(exact), point = point_program(exact);
    const struct {
        uint32_t program;
        const void *got, *expected;
        size_t size;
    } columns[NEAR_ALL] = {{search, a->triangle, b->triangle, 4}, {search, a->distance, b->distance, 4},
                           {search, a->depth, b->depth, 4},       {point, a->point[0], b->point[0], 4},
                           {point, a->point[1], b->point[1], 4},  {point, a->point[2], b->point[2], 4},
                           {point, a->feature, b->feature, 1}};
    carom_status status = CAROM_OK;
    for (uint32_t c = 0; status == CAROM_OK && c < NEAR_ALL; c++)
        status = caromi_probe_compare(d, columns[c].program, QUERIES, c, columns[c].got, columns[c].expected,
                                      columns[c].size, err);
    return status;
}

static void make_queries(uint64_t *state, closest_probe *p)
{
    for (uint32_t i = 0; i < QUERIES; i++) {
        float row[CAROMI_MESH_IN];
        caromi_probe_row(state, row, CAROMI_MESH_IN, RADII_SWEEP);
        if (i % 8 == 0) /* a corner of the mesh */
            memcpy(row, p->vertices + 3 * (size_t)i, 3 * sizeof *row);
        for (int c = 0; c < CAROMI_CLOSEST_IN; c++)
            p->in[c][i] = row[c];
    }
}

static carom_status run_probe(caromi_device *d, carom_context *context, int point, int exact, int masked,
                              closest_probe *p, carom_error *err)
{
    uint64_t state = 3, done = 0;
    carom_stats stats = {.size = sizeof stats};
    carom_mesh *mesh = NULL;
    caromi_probe_triangles(&state, p->vertices, TRIANGLES);
    make_queries(&state, p);
    caromi_probe_masks(3, p->masks, TRIANGLES);
    caromi_probe_masks(4, p->mask, QUERIES);
    const carom_mesh_desc desc = {.size = sizeof desc,
                                  .vertices = {p->vertices, p->vertices + 1, p->vertices + 2, 12},
                                  .vertex_count = 3 * TRIANGLES,
                                  .triangle_count = TRIANGLES,
                                  .masks = masked ? p->masks : NULL};
    carom_status status = carom_mesh_create(context, &desc, &mesh, err);
    if (status != CAROM_OK)
        return status;
    int chosen;
    const carom_context scalar = {.desc = context->desc, .isa = caromi_isa_select(CAROM_ISA_SCALAR, &chosen)};
    carom_mesh_closest_result out = answers_out(&p->expected, point);
    caromi_closest_batch batch = {.mesh = mesh, .count = QUERIES, .wants_point = point, .exact = exact, .out = &out};
    for (int c = 0; c < CAROMI_CLOSEST_IN; c++)
        batch.in[c] = (caromi_in_column){p->in[c], sizeof(float), NULL};
    if (masked) {
        batch.mask = (caromi_in_column){p->mask, sizeof(uint32_t), NULL};
        batch.options = MESH_TRIANGLE_MASKS | MESH_QUERY_MASKS;
    }
    status = caromi_cpu_closest(&scalar, &batch, 0, QUERIES, &stats, err);
    if (status == CAROM_OK) {
        out = answers_out(&p->got, point);
        status = stream_closest(d, &batch, QUERIES, &done, &stats, err);
    }
    if (status == CAROM_OK)
        status = compare_answers(d, &p->got, &p->expected, exact, err);
    carom_mesh_destroy(mesh);
    return status;
}

static carom_status probe_closest(caromi_device *d, carom_context *context, int point, int exact, carom_error *err)
{
    caromi_program *first = &d->programs[search_program(exact)], *second = &d->programs[point_program(exact)];
    if (first->probed && (second->probed || !point))
        return CAROM_OK;
    carom_status status = caromi_program_build(d, search_program(exact), err);
    if (status == CAROM_OK && point)
        status = caromi_program_build(d, point_program(exact), err);
    if (status != CAROM_OK)
        return status;
    closest_probe *p = caromi_alloc(d->context, 1, sizeof *p);
    if (p == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the bit probe (%zu bytes)", sizeof *p);
    memset(p, 0, sizeof *p);
    d->probing = 1;
    for (int masked = 0; status == CAROM_OK && masked < 2; masked++)
        status = run_probe(d, context, point, exact, masked, p, err);
    d->probing = 0;
    first->probed = status == CAROM_OK;
    second->probed = status == CAROM_OK && point;
    caromi_free(d->context, p);
    return status;
}

carom_status caromi_device_closest(caromi_device *d, const void *closest_batch, uint64_t end, uint64_t *done,
                                   carom_stats *stats, carom_error *err)
{
    const caromi_closest_batch *batch = closest_batch;
    if (batch->exact && !d->info.fp64)
        return caromi_lacks_fp64(d, stats);
    caromi_fit_stack(d, batch->mesh);
    carom_status status = probe_closest(d, batch->mesh->context, batch->wants_point, batch->exact, err);
    if (status == CAROM_OK)
        status = stream_closest(d, batch, end, done, stats, err);
    return status;
}
