/* SPDX-License-Identifier: MIT */
/* The probes of refits on a device: the leaves and nodes of a small mesh with leaves of both kinds, moved to ordinary
 * numbers, to huge and to tiny ones, and to zeros of both signs, against those of the CPU; and a vertex that is
 * refused. For contacts also what they know of edges and corners, and whether other vertices coincide. */
#include <math.h>
#include <string.h>

#include "host/mesh/clearance.h"
#include "host/mesh/edges.h"
#include "host/mesh/mesh.h"
#include "mesh_copy.h"
#include "probe.h"
#include "refit.h"

enum {
    SHEET = 40, /* squares along each side of a connected sheet, for leaves with shared vertices */
    SIDE = SHEET + 1,
    SHEET_TRIANGLES = 2 * SHEET * SHEET,
    LOOSE = 400, /* triangles that share no vertex */
    TRIANGLES = SHEET_TRIANGLES + LOOSE,
    VERTICES = SIDE * SIDE + 3 * LOOSE,
    MOVES = 4,
    GENTLE = MOVES, /* a move after which most children of nodes have normal cones */
    CONTACT_MOVES
};

typedef struct refit_probe {
    float vertices[3 * VERTICES];
    uint32_t indices[3 * TRIANGLES];
    cl_mem from, to; /* the vertices, before and behind the copy */
} refit_probe;

static void make_indices(uint32_t *indices)
{
    for (uint32_t i = 0; i < SHEET * SHEET; i++) {
        const uint32_t corner = i / SHEET * SIDE + i % SHEET;
        const uint32_t own[2][6] = {{corner, corner + 1, corner + SIDE, corner + SIDE, corner + 1, corner + SIDE + 1},
                                    {corner, corner + 1, corner + SIDE + 1, corner, corner + SIDE + 1, corner + SIDE}};
        /* Diagonals alternate, so that every second vertex has eight triangles. */
        memcpy(indices + 6 * (size_t)i, own[(i / SHEET + i % SHEET) % 2], sizeof own[0]);
    }
    for (uint32_t i = 0; i < 3 * LOOSE; i++)
        indices[3 * SHEET_TRIANGLES + i] = SIDE * SIDE + i;
}

/* The vertices before any move, and after each: move 0 is a rugged sheet and triangles of three sizes. */
static void make_vertices(refit_probe *p, int move)
{
    enum { TINY = 4, HUGE_ONE = 5 }; /* kinds of numbers, probe.c */
    uint64_t state = 40 + (uint64_t)move;
    caromi_probe_triangles(&state, p->vertices + 3 * SIDE * SIDE, LOOSE);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        float *v = p->vertices + 3 * (size_t)i;
        v[0] = (float)(i / SIDE) * 0.25f - 1.25f;
        v[1] = (float)(i % SIDE) * 0.25f - 1.25f;
        v[2] = caromi_probe_number(&state, CAROMI_PROBE_NEAR) * (move == GENTLE ? 0x1p-7f : 0.125f);
    }
    for (uint32_t i = 0; move > 0 && move < GENTLE && i < 3 * VERTICES; i++) {
        const uint64_t r = caromi_probe_next(&state);
        if (move == 3)
            p->vertices[i] = r % 16 == 0 ? p->vertices[i] : r % 2 ? -0.0f : 0.0f;
        else if (r % 4 == 0 || i % 3 == 1)
            p->vertices[i] = caromi_probe_number(&state, move == 1 ? HUGE_ONE : TINY);
        else if (move == 2)
            p->vertices[i] *= 0x1p-100f;
    }
}

static carom_status compare_array(const caromi_device *device, cl_mem memory, size_t at, const void *expected,
                                  size_t bytes, const char *what, int move, carom_error *err)
{
    char *got = caromi_alloc(device->context, 1, bytes);
    if (got == NULL)
        return caromi_fail_memory(err, "no memory for the bit probe (%zu bytes)", bytes);
    carom_status status =
        caromi_read(device, device->slots[0].queue, memory, at, got, bytes, CAROMI_WAIT, NULL, "a mesh", err);
    if (status == CAROM_OK && memcmp(got, expected, bytes) != 0)
        status = caromi_fail(err, CAROM_ERROR_NOT_BIT_EXACT, 0,
                             "%s: the %s of a mesh differ from the CPU's after move %d", device->info.name, what, move);
    caromi_free(device->context, got);
    return status;
}

/* Compares the cubes of the grid of empty space; a zero in its header may have either sign. */
static carom_status compare_space(caromi_device *device, carom_mesh *mesh, mesh_copy *copy, int move, carom_error *err)
{
    CHECK(caromi_space_find(device, mesh, err));
    caromi_clearance_find(mesh);
    const mesh_clearance *grid = mesh->clearance;
    const size_t cubes = (size_t)grid->size[0] * (size_t)grid->size[1] * (size_t)grid->size[2];
    return compare_array(device, copy->clearance, sizeof *grid, grid + 1, cubes, "empty space", move, err);
}

static carom_status refit_there(caromi_device *device, carom_mesh *mesh, refit_probe *p, refit_job *job,
                                refit_result *result, carom_error *err)
{
    *job = (refit_job){.device = device, .mesh = mesh, .stride = 3 * sizeof(float), .to = p->to};
    for (uint64_t k = 0; k < 3; k++)
        job->from[k] = (caromi_resident){p->from, k * sizeof(float)};
    CHECK(caromi_write_at(device, device->slots[0].queue, p->from, CAROMI_BEGIN, p->vertices, sizeof p->vertices,
                          "vertices", err));
    return caromi_refit_run(job, result, err);
}

static void refit_here(carom_mesh *mesh, const refit_probe *p, carom_status *status, carom_error *err)
{
    const carom_points vertices = {p->vertices, p->vertices + 1, p->vertices + 2, 3 * sizeof(float)};
    caromi_extent extent;
    *status = caromi_mesh_check(mesh, &vertices, &extent, err);
    if (*status != CAROM_OK)
        return;
    caromi_mesh_move(mesh, &vertices, &extent);
    caromi_hierarchy_refit(mesh);
}

static carom_status probe_move(caromi_device *device, carom_mesh *mesh, refit_probe *p, int move, carom_error *err)
{
    refit_job job;
    refit_result result;
    carom_status status = CAROM_OK;
    make_vertices(p, move);
    CHECK(refit_there(device, mesh, p, &job, &result, err));
    refit_here(mesh, p, &status, err);
    CHECK(status);
    CHECK(compare_array(device, job.copy->leaves, 0, mesh->leaves, caromi_bytes_of_leaves(mesh), "leaves", move, err));
    CHECK(compare_array(device, job.copy->nodes, 0, mesh->nodes, caromi_bytes_of_nodes(mesh), "nodes", move, err));
    CHECK(compare_space(device, mesh, job.copy, move, err));
    const mesh_frame *frame = &mesh->view.frame;
    return !result.is_refused && result.scale == frame->scale && result.ball == frame->ball
               ? CAROM_OK
               : caromi_fail(err, CAROM_ERROR_NOT_BIT_EXACT, 0,
                             "%s: the frame of a mesh differs from the CPU's after move %d", device->info.name, move);
}

/* Of two vertices that are not finite the one with the lowest triangle is reported, and nothing moves. */
static carom_status probe_refused(caromi_device *device, carom_mesh *mesh, refit_probe *p, carom_error *err)
{
    enum { FIRST = SHEET_TRIANGLES + 100, LAST = TRIANGLES - 1 };
    refit_job job;
    refit_result result;
    p->vertices[3 * p->indices[3 * LAST] + 1] = INFINITY;
    p->vertices[3 * p->indices[3 * FIRST + 2]] = NAN;
    CHECK(refit_there(device, mesh, p, &job, &result, err));
    if (!result.is_refused || result.triangle != FIRST || result.corner != 2)
        return caromi_fail(err, CAROM_ERROR_NOT_BIT_EXACT, 0, "%s: a vertex that is not finite is not found",
                           device->info.name);
    return compare_array(device, job.copy->leaves, 0, mesh->leaves, caromi_bytes_of_leaves(mesh), "leaves", MOVES, err);
}

static carom_status run_probe(caromi_device *device, carom_mesh *mesh, refit_probe *p, carom_error *err)
{
    CHECK(caromi_make_buffer(device, "the bit probe", CL_MEM_READ_WRITE, sizeof p->vertices, NULL, &p->from, err));
    CHECK(caromi_make_buffer(device, "the bit probe", CL_MEM_READ_WRITE, sizeof p->vertices, NULL, &p->to, err));
    for (int move = 1; move <= MOVES; move++)
        CHECK(probe_move(device, mesh, p, move % MOVES, err));
    return probe_refused(device, mesh, p, err);
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

/* Moves both meshes, and compares the culling data of contacts, if the same vertices coincide. */
static carom_status probe_contacts_move(caromi_device *device, carom_mesh *mesh, refit_probe *p, int move,
                                        carom_error *err)
{
    refit_job job;
    refit_result result;
    const caromi_corners *corners;
    const caromi_edges *edges;
    carom_status status = CAROM_OK;
    int follows;
    CHECK(caromi_edges_of(mesh, &edges, err));
    make_vertices(p, move);
    CHECK(refit_there(device, mesh, p, &job, &result, err));
    refit_here(mesh, p, &status, err);
    CHECK(status);
    caromi_edges_move(mesh);
    caromi_corners_move(mesh);
    CHECK(caromi_refit_contacts_run(device, mesh, 0, &follows, err));
    CHECK(caromi_corners_of(mesh, &corners, err));
    if (follows != (mesh->edges != NULL)) /* the host has discarded them */
        return caromi_fail(err, CAROM_ERROR_NOT_BIT_EXACT, 0,
                           "%s: coinciding vertices differ from the CPU's after move %d", device->info.name, move);
    if (!follows)
        return CAROM_OK;
    CHECK(caromi_edges_of(mesh, &edges, err));
    CHECK(compare_array(device, job.copy->opposites[0], 0, edges->culling[0].opposites,
                        mesh->leaf_count * CAROMI_OPPOSITES_BYTES(MESH_WIDEST), "third corners", move, err));
    return compare_array(device, job.copy->cones[0], 0, edges->culling[0].cones,
                         mesh->info.node_count * CAROMI_CONES_BYTES(MESH_WIDEST), "normal cones", move, err);
}

/* A gentle move before and after each other one, so that cones come and go. */
static carom_status run_contacts_probe(caromi_device *device, carom_mesh *mesh, refit_probe *p, carom_error *err)
{
    CHECK(caromi_make_buffer(device, "the bit probe", CL_MEM_READ_WRITE, sizeof p->vertices, NULL, &p->from, err));
    CHECK(caromi_make_buffer(device, "the bit probe", CL_MEM_READ_WRITE, sizeof p->vertices, NULL, &p->to, err));
    for (int move = 0; move < 2 * CONTACT_MOVES; move++)
        CHECK(probe_contacts_move(device, mesh, p, move % 2 == 0 ? GENTLE : move / 2, err));
    return CAROM_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

typedef carom_status probe_run(caromi_device *device, carom_mesh *mesh, refit_probe *p, carom_error *err);

static carom_status probe_mesh(caromi_device *device, carom_context *context, refit_probe *p, probe_run *run,
                               carom_error *err)
{
    const carom_mesh_desc desc = {
        .size = sizeof desc,
        .vertices = {p->vertices, p->vertices + 1, p->vertices + 2, 3 * sizeof(float)},
        .vertex_count = VERTICES,
        .indices = {p->indices, sizeof *p->indices},
        .triangle_count = TRIANGLES,
    };
    carom_mesh *mesh = NULL;
    make_indices(p->indices);
    make_vertices(p, 0);
    CHECK(caromi_mesh_make(context, &desc, MESH_WIDEST, &mesh, err));
    const carom_status status = run(device, mesh, p, err);
    caromi_mesh_end(mesh);
    return status;
}

/* Builds the programs from `first` to `last` at their first use, and probes them. */
static carom_status probe(caromi_device *device, carom_context *context, uint32_t first, uint32_t end, probe_run *run,
                          carom_error *err)
{
    caromi_program *last = &device->programs[end];
    if (last->probed)
        return CAROM_OK;
    for (uint32_t program = first; program <= end; program++)
        CHECK(caromi_program_build(device, program, err));
    refit_probe *p = caromi_alloc(device->context, 1, sizeof *p);
    if (p == NULL)
        return caromi_fail_memory(err, "no memory for the bit probe (%zu bytes)", sizeof *p);
    memset(p, 0, sizeof *p);
    device->probing = 1;
    const carom_status status = probe_mesh(device, context, p, run, err);
    device->probing = 0;
    last->probed = status == CAROM_OK;
    caromi_release_buffer(&p->from);
    caromi_release_buffer(&p->to);
    caromi_free(device->context, p);
    return status;
}

carom_status caromi_refit_probe(caromi_device *device, carom_context *context, carom_error *err)
{
    return probe(device, context, CAROMI_PROGRAM_REFIT_FIRST, CAROMI_PROGRAM_REFIT_LAST, run_probe, err);
}

carom_status caromi_refit_contacts_probe(caromi_device *device, carom_context *context, carom_error *err)
{
    CHECK(caromi_program_build(device, CAROMI_PROGRAM_GRID_CLEAR, err));
    return probe(device, context, CAROMI_PROGRAM_REFIT_CONTACTS_FIRST, CAROMI_PROGRAM_REFIT_CONTACTS_LAST,
                 run_contacts_probe, err);
}
