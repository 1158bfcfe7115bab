/* SPDX-License-Identifier: MIT */
#include "lattices.h"

#include "common.h"
#include "queries/mesh/mesh.h"

#include <math.h>

enum { SAMPLE = 1 << 17 }; /* nodes that are asked one by one, about */

/* ---- the lattice ------------------------------------------------------------------------------------------------- */

static double longest_side(const mesh_scene *m)
{
    double longest = 0.0;
    for (int k = 0; k < 3; k++)
        longest = fmax(longest, m->high[k] - m->low[k]);
    return longest;
}

/* A cube of 1.1 times the mesh's longest side around the middle of its box, or its base. */
static carom_lattice lattice_of(const mesh_scene *m, mesh_work work, size_t count)
{
    const int is_flat = work == MESH_DROP;
    const double length = 1.1 * longest_side(m), edge = round(is_flat ? sqrt((double)count) : cbrt((double)count));
    const uint64_t nodes = edge < 2.0 ? 2 : (uint64_t)edge;
    carom_lattice lattice = {.spacing = length / (double)(nodes - 1), .dims = {nodes, nodes, is_flat ? 1 : nodes}};

    for (int k = 0; k < 3; k++)
        lattice.origin[k] = 0.5 * (m->low[k] + m->high[k] - length);
    return lattice;
}

static size_t nodes_of(const carom_lattice *lattice)
{
    return (size_t)(lattice->dims[0] * lattice->dims[1] * lattice->dims[2]);
}

/* Every node of some rows, spread evenly: a row counts if the multiple of the golden ratio that its number gives has a
 * small fraction. Without columns: only their number. */
static size_t sample_rows(const carom_lattice *lattice, columns *c)
{
    const uint64_t width = lattice->dims[0], rows = lattice->dims[1] * lattice->dims[2];
    const double share = (double)SAMPLE / (double)(width * rows);
    size_t count = 0;

    for (uint64_t r = 0; r < rows; r++)
        if ((double)((uint32_t)r * 0x9e3779b1u) * 0x1p-32 < share) {
            for (uint64_t i = 0; c != NULL && i < width; i++) {
                const uint64_t node[3] = {i, r % lattice->dims[1], r / lattice->dims[1]};
                for (int k = 0; k < 3; k++)
                    ((float *)c->column[k])[count + i] = carom_lattice_coordinate(lattice, k, node[k]);
            }
            count += width;
        }
    return count;
}

/* Balls for a drop map begin above the mesh and end below it. */
static void drop_balls(const mesh_scene *m, float radius, size_t count, columns *c)
{
    const double above = m->high[2] + 2.0 * (double)radius + longest_side(m), below = m->low[2] - above;

    for (size_t i = 0; i < count; i++) {
        ((float *)c->column[2])[i] = (float)above;
        ((float *)c->column[5])[i] = (float)below;
        ((float *)c->column[6])[i] = radius;
    }
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static float radius_of(const mesh_call *a)
{
    return a->task.band * (float)longest_side(a->shape);
}

static carom_status ask_distance(mesh_call *a, carom_error *err)
{
    const float band = a->task.band * (float)a->lattice.spacing;
    const carom_mesh_distance_desc desc = {
        .batch = {.size = sizeof desc, .count = a->lattice.dims[2], .accuracy = a->accuracy},
        .lattice = a->lattice,
        .sign = a->task.work == MESH_SIGNED_BAND ? CAROM_SIGN_WINDING : CAROM_SIGN_NONE,
        .allow_open = a->task.work == MESH_SIGNED_BAND,
        .band = a->task.work == MESH_VOLUME ? NULL : &band};
    const carom_mesh_distance_result out = {.size = sizeof out,
                                            .distance = resident_at(a->resident, a->out->time.column[0])};

    return carom_mesh_distance(a->mesh, &desc, &out, &a->stats, err);
}

static carom_status ask_clearance(mesh_call *a, carom_error *err)
{
    const carom_mesh_clearance_desc desc = {
        .batch = {.size = sizeof desc, .count = a->lattice.dims[2], .accuracy = a->accuracy},
        .lattice = a->lattice,
        .radius = radius_of(a)};
    const carom_mesh_clearance_result out = {.size = sizeof out,
                                             .clearance = resident_at(a->resident, a->out->state.column[0])};

    return carom_mesh_clearance(a->mesh, &desc, &out, &a->stats, err);
}

static carom_status ask_drop(mesh_call *a, carom_error *err)
{
    const carom_mesh_drop_desc desc = {
        .batch = {.size = sizeof desc, .count = a->lattice.dims[1], .accuracy = a->accuracy},
        .lattice = a->lattice,
        .radius = radius_of(a)};
    const carom_mesh_drop_result out = {.size = sizeof out, .height = resident_at(a->resident, a->out->time.column[0])};

    return carom_mesh_drop(a->mesh, &desc, &out, &a->stats, err);
}

carom_status lattice_ask(mesh_call *a, carom_error *err)
{
    switch (a->task.work) {
    case MESH_CLEARANCE: return ask_clearance(a, err);
    case MESH_DROP: return ask_drop(a, err);
    default: return ask_distance(a, err);
    }
}

double lattices_weight(mesh_work work)
{
    switch (work) {
    case MESH_VOLUME: return 0.1;
    case MESH_CLEARANCE: return 0.03;
    case MESH_DROP: return 0.1;
    default: return 0.02;
    }
}

/* ---- a scene ----------------------------------------------------------------------------------------------------- */

/* First hits of falling balls; else closest points, within the band if there is one. */
static mesh_task task_of_one(const mesh_task *task, const mesh_scene *shape, const carom_lattice *lattice)
{
    mesh_task one = ASK(mesh_closest);

    if (task->work == MESH_DROP)
        one.query = &query_mesh_first;
    if (task->work == MESH_SIGNED_BAND)
        one.band = task->band * (float)(lattice->spacing / shape->diagonal);
    return one;
}

void lattices_run(suite *u, const suite_scene *scene)
{
    mesh_scene shape = suite_mesh(u, scene);
    const carom_lattice lattice = lattice_of(&shape, scene->task.work, suite_count(u, scene));
    const size_t nodes = nodes_of(&lattice), sampled = sample_rows(&lattice, NULL);
    columns centers = columns_alloc(7, sampled, sizeof(float));
    hits out = hits_alloc(0, nodes), out_of_each = hits_alloc(sampled, sampled);
    carom_mesh *meshes[SUBJECTS_MAX] = {NULL};
    mesh_call all = {.shape = &shape, .out = &out, .task = scene->task, .lattice = lattice},
              each = {.shape = &shape,
                      .out = &out_of_each,
                      .spheres = &centers,
                      .task = task_of_one(&scene->task, &shape, &lattice)};

    sample_rows(&lattice, &centers);
    if (scene->task.work == MESH_DROP)
        drop_balls(&shape, radius_of(&all), sampled, &centers);
    suite_add_mesh_sides(u, scene, "", all, (double)nodes, meshes);
    all.task.work = MESH_BAND;
    if (scene->task.work == MESH_SIGNED_BAND && !scene->resident)
        suite_add_mesh_sides(u, scene, "-unsigned", all, (double)nodes, meshes);
    if (!scene->resident)
        suite_add_mesh_sides(u, scene, "-each", each, (double)sampled, meshes);
    u->truth = (truth){0};
    suite_check_sides(u, scene);
    suite_measure(u, scene);
    for (int i = 0; i < u->subjects.count; i++)
        carom_mesh_destroy(meshes[i]);
    columns_free(&centers);
    hits_free(&out);
    hits_free(&out_of_each);
    mesh_scene_free(&shape);
}
