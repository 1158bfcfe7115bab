/* SPDX-License-Identifier: MIT */
/* The mesh, the scene and the queries on which the mesh kernels are probed: hard triangles, and spheres near them. */
#include "probe_mesh_input.h"

#include <math.h>
#include <string.h>

#include "host/mesh/mesh.h"
#include "host/scene/scene.h"

enum {
    GROUP = 16, /* queries of a work-item */
    SHEET = 10  /* squares along each side of a connected sheet of triangles, for contacts */
};

/* Makes triangles of three sizes, some without area, some twice. */
void caromi_probe_triangles(uint64_t *state, float *vertices, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        float *v = vertices + 9 * (size_t)i, base[3];
        const float size = i % 8 == 0 ? 1.0f : i % 8 == 1 ? 0x1p-12f : 0x1p-3f;
        for (int k = 0; k < 3; k++)
            base[k] = caromi_probe_number(state, i % 4 == 3 ? CAROMI_PROBE_LATTICE : CAROMI_PROBE_NEAR);
        for (int k = 0; k < 9; k++)
            v[k] =
                base[k % 3] + size * caromi_probe_number(state, i % 4 == 3 ? CAROMI_PROBE_LATTICE : CAROMI_PROBE_NEAR);
        if (i % 16 == 5)
            memcpy(v + 6, v + 3, 3 * sizeof *v);
        if (i % 32 == 9 && i > 0)
            memcpy(v, v - 9, 9 * sizeof *v); /* the same triangle twice: the lower index wins */
    }
}

/* The corner (i, k) of the sheet. */
static void sheet_corner(uint32_t i, uint32_t k, float *v)
{
    uint64_t state = i * (SHEET + 1) + k + 100;
    v[0] = (float)i * 0.25f - 1.25f;
    v[1] = (float)k * 0.25f - 1.25f;
    v[2] = caromi_probe_number(&state, CAROMI_PROBE_LATTICE) * 0x1p-3f;
}

/* Replaces the first triangles by a connected sheet. */
static void make_sheet(float *vertices)
{
    for (uint32_t i = 0; i < SHEET * SHEET; i++) {
        float *v = vertices + 18 * (size_t)i;
        sheet_corner(i / SHEET, i % SHEET, v);
        sheet_corner(i / SHEET + 1, i % SHEET, v + 3);
        sheet_corner(i / SHEET, i % SHEET + 1, v + 6);
        memcpy(v + 9, v + 6, 3 * sizeof *v);
        memcpy(v + 12, v + 3, 3 * sizeof *v);
        sheet_corner(i / SHEET + 1, i % SHEET + 1, v + 15);
    }
}

/* Makes a sphere small and slow, and its window short, so that it has few hits. NaN stays NaN. */
static void limit(float *row)
{
    for (int c = MESH_RADIUS; c < CAROMI_MESH_IN; c++) {
        const float most = c == MESH_RADIUS ? 0x1p-8f : c == MESH_T_MAX ? 0x1p-4f : 1.0f;
        row[c] = row[c] > most ? most : row[c] < -1.0f ? -1.0f : row[c];
    }
}

/* The end of a query's window, or its largest distance; infinite for three queries in four. */
static float window_of(uint32_t query, float any)
{
    const float end = fabsf(any);
    return query % 4 != 3 || !(end >= 0) ? INFINITY : end;
}

/* Makes moving spheres of several sizes; every fourth is aimed at the mesh. */
static void make_sweeps(uint64_t *state, probe_input *input)
{
    for (uint32_t i = 0; i < CAROMI_PROBE_QUERIES; i++) {
        float row[CAROMI_MESH_IN];
        caromi_probe_row(state, row, CAROMI_MESH_IN, RADII_SWEEP);
        row[MESH_RADIUS] *= i % 2 ? 0.125f : 1.0f;
        for (int k = 0; i % 4 == 0 && k < 3; k++) /* aimed at the middle of the mesh */
            row[MESH_VX + k] = row[k] * -0.5f;
        row[MESH_T_MAX] = window_of(i, row[MESH_T_MAX]);
        /* Work-items with few hits, whose records the first pass of a list writes. */
        if (i / GROUP % 2 == 0)
            limit(row);
        for (int c = 0; c < CAROMI_MESH_IN; c++)
            input->in[c][i] = row[c];
    }
}

/* Makes centres for closest points; every eighth is a corner of the mesh. */
static void make_centers(uint64_t *state, probe_input *input)
{
    for (uint32_t i = 0; i < CAROMI_PROBE_QUERIES; i++) {
        float row[CAROMI_MESH_IN];
        caromi_probe_row(state, row, CAROMI_MESH_IN, RADII_SWEEP);
        row[MESH_MAX_DISTANCE] = window_of(i, row[MESH_MAX_DISTANCE]);
        if (i % 8 == 0) /* centre at a corner of the mesh */
            memcpy(row, input->vertices + 3 * (size_t)i, 3 * sizeof *row);
        for (int c = 0; c < CAROMI_CLOSEST_IN; c++)
            input->in[c][i] = row[c];
    }
}

/* Makes spheres at rest near the sheet, and at its corners; every fourth query has a margin. */
static void make_resting(uint64_t *state, probe_input *input)
{
    make_centers(state, input);
    for (uint32_t i = 0; i < CAROMI_PROBE_LIST_QUERIES; i++) {
        float row[CAROMI_MESH_IN];
        caromi_probe_row(state, row, CAROMI_MESH_IN, RADII_SWEEP);
        for (int k = 0; i % 8 != 0 && i % 16 != 1 && k < 3; k++) /* NaN stays NaN */
            input->in[k][i] = row[k] > 1.0f ? 1.0f : row[k] < -1.0f ? -1.0f : row[k];
        input->in[MESH_RADIUS][i] =
            i / GROUP % 2 == 0 && input->in[MESH_RADIUS][i] > 0.25f ? 0.25f : input->in[MESH_RADIUS][i];
        input->in[MESH_MAX_DISTANCE][i] = i % 4 == 3 ? 0.125f : 0.0f;
    }
}

/* Makes random masks, in which one bit in four is set. */
void caromi_probe_masks(uint64_t state, uint32_t *masks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + 1;
        masks[i] = (uint32_t)(state >> 32);
        state = state * UINT64_C(6364136223846793005) + 1;
        masks[i] &= (uint32_t)(state >> 32);
    }
}

carom_status caromi_probe_input_make(const caromi_mesh_batch *like, int masked, probe_input *input, carom_mesh **mesh,
                                     carom_error *err)
{
    const int moves = like->kind == &caromi_first_hit, contacts = like->kind == &caromi_contact_triangles;
    uint64_t state = moves ? 2 : 3;
    caromi_probe_triangles(&state, input->vertices, CAROMI_PROBE_TRIANGLES);
    if (contacts)
        make_sheet(input->vertices);
    (moves ? make_sweeps : contacts ? make_resting : make_centers)(&state, input);
    caromi_probe_masks(3, input->masks, CAROMI_PROBE_TRIANGLES);
    caromi_probe_masks(4, input->mask, CAROMI_PROBE_QUERIES);
    for (uint32_t i = 0; i < CAROMI_PROBE_QUERIES; i++)
        input->mask[i] = i % 8 == 0 ? 0 : input->mask[i] & 0xff00ff00u;
    return caromi_probe_mesh_make(like->mesh->context, input->vertices, CAROMI_PROBE_TRIANGLES,
                                  masked ? input->masks : NULL, mesh, err);
}

caromi_mesh_batch caromi_probe_batch_of(const probe_input *input, carom_mesh *mesh, const caromi_mesh_batch *like,
                                        int options)
{
    caromi_mesh_batch batch = {
        .kind = like->kind,
        .mesh = mesh,
        .count = CAROMI_PROBE_QUERIES,
        .exact = like->exact,
        .options = options,
        .sign = like->sign,
    };
    for (int c = 0; c < like->kind->in; c++)
        batch.in[c] = (caromi_in_column){.base = input->in[c], .stride = sizeof(float)};
    if (options)
        batch.mask = (caromi_in_column){.base = input->mask, .stride = sizeof(uint32_t)};
    return batch;
}

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

enum { INSTANCES = 6 };
/* The identity, turned, mirrored, sheared so that boxes are mapped, flattened, and with numbers for which binary32 does
 * not suffice. */
static const float maps[INSTANCES][CAROMI_MAP] = {
    {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
    {0.6f, -0.8f, 0, 0.25f, 0.8f, 0.6f, 0, -0.125f, 0, 0, 1, 0.5f},
    {0, 1, 0, -0.5f, 1, 0, 0, 0.25f, 0, 0, 1, 0.125f},
    {1, 2.5f, 0, 0, 0, 0.125f, 1, 0.25f, 0.5f, 0, 0.75f, 0},
    {1, 0, 0, 0.0625f, 0, 1, 0, 0, 0, 0, 0, 0.375f},
    {0x1p-90f, 0, 0, 0, 0, 0x1p-90f, 0, 0.5f, 0, 0, 0x1p-90f, -0.25f},
};

carom_status caromi_probe_scene_make(const caromi_mesh_batch *like, carom_mesh *mesh, int masked, carom_scene **scene,
                                     carom_error *err)
{
    static const uint32_t masks[INSTANCES] = {~0u, 0xff00u, 0xffffu, 0xff0000u, ~0u, 0xf0f0f0f0u};
    static const uint32_t first = 0;
    carom_mesh *const meshes[] = {mesh};
    const carom_scene_desc desc = {
        .size = sizeof desc,
        .meshes = meshes,
        .mesh_count = 1,
        .mesh = {&first, CAROM_REPEAT},
        .instance_count = INSTANCES,
        .pose = {.size = sizeof desc.pose, .map = maps[0], .masks = {masked ? masks : NULL, sizeof *masks}}};
    return like->mesh->scene != NULL ? caromi_scene_make(like->mesh->context, &desc, scene, err) : CAROM_OK;
}
