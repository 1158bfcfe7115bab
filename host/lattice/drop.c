/* SPDX-License-Identifier: MIT */
/* The call for drop maps. */
#include <math.h>

#include "calls/lattice.h"
#include "host/mesh/mesh.h"
#include "host/mesh/query.h"
#include "drop.h"

/* Columns of a piece, at most and at least: a piece of few rows bounds the same triangles again. */
enum { PIECE = 1 << 20, PIECE_LEAST = PIECE / 8 };

carom_status caromi_check_ball(float radius, carom_error *err)
{
    return radius >= 0 && isfinite(radius)
               ? CAROM_OK
               : caromi_fail_argument(err, "radius is %g; it must be finite and >= 0", (double)radius);
}

/* Checks the descriptor of a drop map. */
static carom_status check(const caromi_request *request, uint64_t *extent, carom_error *err)
{
    const carom_mesh_drop_desc *desc = request->desc;
    CHECK(caromi_check_lattice(&desc->batch, &desc->lattice, AXIS_Y, &extent[CAROMI_PER_NODE], err));
    if (desc->lattice.dims[2] != 1)
        return caromi_fail_argument(err, "lattice.dims[2] is %llu; it must be 1 for a drop map",
                                    (unsigned long long)desc->lattice.dims[2]);
    return caromi_check_ball(desc->radius, err);
}

/* A drop map as a batch of columns. */
typedef struct drop_batch {
    drop_map *map;
    uint64_t begin; /* column of height[0] */
    float *height;
} drop_batch;

static carom_status on_cpu(const carom_context *context, const void *batch, uint64_t first, uint64_t end,
                           carom_stats *stats, carom_error *err)
{
    const drop_batch *drop = batch;
    const uint64_t width = drop->map->lattice->dims[0];
    (void)context;
    caromi_rungs rungs = {0, 0};
    if (drop->height == NULL)
        return CAROM_OK;
    CHECK(caromi_drop_rows(drop->map, first / width, (end - first) / width, drop->height + (first - drop->begin),
                           &rungs, err));
    caromi_count_rungs(stats, rungs);
    return CAROM_OK;
}

static carom_status run_batch(drop_map *map, const carom_mesh_drop_desc *desc, const carom_mesh_drop_result *out,
                              carom_stats *stats, carom_error *err)
{
    const uint64_t width = desc->lattice.dims[0];
    const drop_batch batch = {map, desc->batch.begin * width, out->height};
    const caromi_batch run = {.batch = &batch,
                              .begin = desc->batch.begin * width,
                              .count = desc->batch.count * width,
                              .on_cpu = on_cpu,
                              .piece = (PIECE + width - 1) / width * width,
                              .piece_least = (PIECE_LEAST + width - 1) / width * width,
                              .reports = desc->batch.progress.fn != NULL,
                              .prepare = desc->batch.prepare,
                              .slab = width,
                              .slab_name = "row",
                              .exact = 1,
                              .name = "a drop map",
                              .pace = &map->mesh->drop_pace};
    return caromi_run(map->mesh->context, &run, stats, err);
}

/* One answer is served in both modes: the exact one. */
static carom_status run(const caromi_request *request, carom_error *err)
{
    const carom_mesh_drop_desc *desc = request->desc;
    const carom_mesh_drop_result *out = request->out;
    carom_mesh *mesh = request->subject;
    const uint64_t columns = (desc->batch.count - desc->batch.begin) * desc->lattice.dims[0];
    drop_map map = {.mesh = mesh, .lattice = &desc->lattice};
    int32_t *masks = NULL;
    CHECK(caromi_mesh_bring(mesh, err));
    map.ball = caromi_drop_ball_of(desc->radius);
    if (columns == 0 || out->height == NULL)
        return run_batch(&map, desc, out, request->stats, err);
    if (mesh->masks != NULL)
        CHECK(caromi_masks_of_triangles(mesh, &masks, err));
    map.masks = masks;
    caromi_rungs none = {0, 0};
    carom_status status = CAROM_OK;
    if (desc->batch.prepare)
        status = caromi_drop_rows(&map, desc->batch.begin, desc->batch.count - desc->batch.begin, NULL, &none, err);
    if (status == CAROM_OK)
        status = run_batch(&map, desc, out, request->stats, err);
    caromi_free(mesh->context, masks);
    return status;
}

static const caromi_handler drop = {.check = check, .run = run};
carom_status carom_mesh_drop(carom_mesh *mesh, const carom_mesh_drop_desc *desc, const carom_mesh_drop_result *out,
                             carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    CHECK(caromi_mesh_only(mesh, "carom_mesh_drop", err));
    return caromi_answer(caromi_type_of_mesh_drop(), &drop, mesh->context,
                         &(caromi_request){mesh, desc, out, CAROMI_NO_WHICH, stats}, err);
}
