/* SPDX-License-Identifier: MIT */
/* Checks the vertices of a mesh, on all threads, and computes their bounds in the same pass. */
#include <math.h>

#include "host/core/arrays.h"
#include "host/bvh/bvh.h"
#include "mesh.h"

enum {
    SLICES = 64,
    /* SLICES: most slices of a mesh; a mesh of fewer triangles than ONE_SLICE is one slice. */
    ONE_SLICE = 8192
};

/* Result of a slice of the corners. The box is complete only if no corner is refused. */
typedef struct mesh_slice {
    bvh_box box;
    uint64_t refused; /* the first refused corner, or NONE */
} mesh_slice;
static const uint64_t NONE = UINT64_MAX;

/* The check of a mesh, slice by slice. */
typedef struct mesh_survey {
    const carom_mesh *mesh;
    const carom_points *vertices;
    uint64_t slices;
    mesh_slice slice[SLICES];
} mesh_survey;

uint64_t caromi_mesh_slices(uint64_t triangles)
{
    return triangles > ONE_SLICE ? SLICES : 1;
}

static bvh_vec vertex(const carom_points *points, uint64_t i)
{
    const size_t stride = caromi_stride(points->stride);
    return (bvh_vec){caromi_load(points->x, stride, i), caromi_load(points->y, stride, i),
                     caromi_load(points->z, stride, i), 0};
}

/* Lanes that are infinite or NaN: only for these is v - v not 0. */
static bvh_ints not_finite(bvh_vec v)
{
    return v - v != (bvh_vec){0, 0, 0, 0};
}

static int is_some(bvh_ints lanes)
{
    return (lanes[0] | lanes[1] | lanes[2]) != 0;
}

static uint64_t first_refused(const mesh_survey *survey, uint64_t first, uint64_t end)
{
    const carom_mesh *mesh = survey->mesh;
    while (first < end && mesh->indices[first] < mesh->vertex_count &&
           !is_some(not_finite(vertex(survey->vertices, mesh->indices[first]))))
        first++;
    return first;
}

/* Task: checks a slice. If both -0 and 0 are the extreme, the first becomes the bound, as an equal value does not
 * replace it. */
static void check_slice(void *user, uint64_t slice, uint32_t thread)
{
    mesh_survey *survey = user;
    const carom_mesh *mesh = survey->mesh;
    const carom_points points = *survey->vertices;
    const uint64_t corners = 3 * mesh->info.triangle_count, first = caromi_slice_start(corners, survey->slices, slice);
    const uint64_t end = caromi_slice_start(corners, survey->slices, slice + 1), vertices = mesh->vertex_count;
    bvh_box box = bvh_empty();
    bvh_ints refused = {0, 0, 0, 0};
    uint64_t i = first;
    (void)thread;
    (void)caromi_watch_look(mesh->watch);
    for (; i < end && mesh->indices[i] < vertices; i++) {
        const bvh_vec v = vertex(&points, mesh->indices[i]);
        box.lo = bvh_min(v, box.lo);
        box.hi = bvh_max(v, box.hi);
        refused |= not_finite(v);
    }
    survey->slice[slice].box = box;
    survey->slice[slice].refused = i < end || is_some(refused) ? first_refused(survey, first, end) : NONE;
}

carom_status caromi_mesh_only(const carom_mesh *mesh, const char *call, carom_error *err)
{
    if (mesh->scene == NULL)
        return CAROM_OK;
    return caromi_fail(err, CAROM_ERROR_UNSUPPORTED, CAROMI_NO_NATIVE_CODE,
                       "%s needs a mesh; this one is that of a scene (carom_scene_mesh)", call);
}

carom_status caromi_mesh_refuse(const carom_mesh *mesh, uint64_t corner, carom_error *err)
{
    const uint32_t v = mesh->indices[corner];
    const unsigned long long triangle = corner / 3;
    if (v >= mesh->vertex_count)
        return caromi_fail_argument(err, "triangle %llu, corner %d: vertex %u, but there are %llu", triangle,
                                    (int)(corner % 3), v, (unsigned long long)mesh->vertex_count);
    return caromi_fail_argument(err, "triangle %llu, corner %d: vertex %u has a coordinate that is not finite",
                                triangle, (int)(corner % 3), v);
}

/* The slices are read in order, so the error names the first wrong triangle. */
carom_status caromi_mesh_check(const carom_mesh *mesh, const carom_points *vertices, caromi_extent *extent,
                               carom_error *err)
{
    mesh_survey survey = {.mesh = mesh, .vertices = vertices};
    bvh_box box = bvh_empty();
    survey.slices = caromi_mesh_slices(mesh->info.triangle_count);
    caromi_parallel(mesh->context->pool, survey.slices, check_slice, &survey);
    for (uint64_t i = 0; i < survey.slices; i++) {
        if (survey.slice[i].refused != NONE)
            return caromi_mesh_refuse(mesh, survey.slice[i].refused, err);
        box.lo = bvh_min(survey.slice[i].box.lo, box.lo);
        box.hi = bvh_max(survey.slice[i].box.hi, box.hi);
    }
    extent->largest = 0;
    for (int k = 0; k < 3; k++) {
        extent->lower[k] = box.lo[k];
        extent->upper[k] = box.hi[k];
        extent->largest = fmaxf(extent->largest, fmaxf(fabsf(box.lo[k]), fabsf(box.hi[k])));
    }
    return CAROM_OK;
}
