/* SPDX-License-Identifier: MIT */
/* Signs at given centres on a device (kernels/mesh_side.h): of closest points after their search, and of overlaps for
 * queries whose sphere does not meet the surface. */
#include <string.h>

#include "device.h"
#include "host/mesh/list.h"
#include "host/mesh/mesh.h"
#include "host/mesh/side.h"

static uint64_t set_rays(const caromi_device *device, caromi_cl_slot *slot, caromi_arguments *arguments,
                         uint32_t program, const caromi_mesh_batch *batch)
{
    const uint64_t items = caromi_set_search(device, slot, arguments, program, batch->mesh, batch->options,
                                             slot->padded, CAROMI_CLOSEST_IN, CAROMI_CLOSEST_IN);
    caromi_set_int(arguments, batch->sign == CAROM_SIGN_PARITY);
    return items;
}

carom_status caromi_launch_sides(caromi_device *device, caromi_cl_slot *slot, const caromi_mesh_batch *batch,
                                 const caromi_cl_column *gradient, carom_error *err)
{
    const uint32_t program = CAROMI_PROGRAM_MESH_SIDE;
    caromi_arguments arguments = caromi_arguments_of(device, program);
    const uint64_t items = set_rays(device, slot, &arguments, program, batch);
    caromi_set_int(&arguments, gradient != NULL);
    caromi_set_columns(&arguments, slot->out, batch->kind->search_out);
    caromi_set_columns(&arguments, gradient != NULL ? gradient : slot->out, 3); /* without one they are not written */
    return caromi_launch_search(device, slot, &arguments, program, items, err);
}

/* ---- overlaps ---------------------------------------------------------------------------------------------------- */

static carom_status launch_inside(caromi_device *device, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const caromi_mesh_batch *batch = &((const caromi_list_batch *)user)->sweep;
    const uint32_t program = CAROMI_PROGRAM_MESH_INSIDE;
    caromi_arguments arguments = caromi_arguments_of(device, program);
    CHECK(caromi_sort_chunk(device, slot, batch->mesh, CAROMI_CLOSEST_IN, batch->options, err));
    const uint64_t items = set_rays(device, slot, &arguments, program, batch);
    caromi_set_column(&arguments, &slot->out[0]);
    return caromi_launch_search(device, slot, &arguments, program, items, err);
}

static carom_status check_inside(const caromi_device *device, const void *user, const void *inside, size_t stride,
                                 uint64_t count, uint64_t first, uint64_t end, carom_error *err)
{
    int corrupt = 0, truncated = 0;
    (void)user;
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t is_inside = ((const uint8_t *)inside)[i * stride];
        truncated |= is_inside == (uint8_t)MESH_LOOP_TRUNCATED;
        corrupt |= is_inside > 1;
    }
    return truncated ? caromi_fail_truncated(device, first, end, err)
           : corrupt ? caromi_fail_corrupt(device, "sides of centres", first, end, err)
                     : CAROM_OK;
}

/* Spheres that do not meet the surface overlap a body if their centres are inside. */
static caromi_rungs add_inside(const void *user, const void *const *marks, const uint64_t *rows, uint64_t first,
                               size_t count)
{
    uint8_t *any = ((const caromi_list_batch *)user)->any + first;
    const uint8_t *inside = marks[0];
    (void)rows;
    for (size_t i = 0; i < count; i++)
        any[i] = any[i] == 0 ? inside[i] : any[i];
    return (caromi_rungs){0, 0};
}

static carom_status stream_inside(caromi_device *device, const caromi_list_batch *list, uint64_t end, uint64_t *done,
                                  carom_stats *stats, carom_error *err)
{
    const caromi_mesh_batch *batch = &list->sweep;
    caromi_in_column in[CAROMI_CLOSEST_IN + 1];
    const caromi_out_column out[] = {{NULL, 1}};
    const caromi_stream stream = {.count = end,
                                  .chunk = device->gpu ? 1u << 18 : device->max_items,
                                  .answers_any_count = 1,
                                  .in_count = CAROMI_CLOSEST_IN + (batch->mask.base != NULL),
                                  .out_count = 1,
                                  .in = in,
                                  .out = out,
                                  .out_size = {1},
                                  .mark = {0},
                                  .mark_count = 1,
                                  .resolve = add_inside,
                                  .extra = caromi_sort_chunk_bytes(device),
                                  .check = check_inside,
                                  .launch = launch_inside,
                                  .user = list};
    memcpy(in, batch->in, MESH_IN_RESTING * sizeof *in);
    in[MESH_MAX_DISTANCE] = batch->in[MESH_RADIUS]; /* not read */
    in[CAROMI_CLOSEST_IN] = batch->mask;
    return caromi_stream_run(device, &stream, done, stats, err);
}

/* A query counts as answered when both are known: if the device fails between them, the CPU answers it anew. */
carom_status caromi_stream_bodies(caromi_device *device, const caromi_list_batch *batch, uint64_t end, uint64_t *done,
                                  carom_stats *stats, carom_error *err)
{
    uint64_t reached = *done;
    CHECK(caromi_stream_list(device, batch, end, &reached, stats, err));
    return stream_inside(device, batch, reached, done, stats, err);
}
