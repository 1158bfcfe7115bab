/* SPDX-License-Identifier: MIT */
/* glTF 2.0: meshes, primitives and their triangles (section 3.7.2). */
#ifdef CAROM_HAVE_JANSSON

#include "cli/base/base.h"
#include "gltf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS, LINES, LINE_LOOP, LINE_STRIP, TRIANGLES, TRIANGLE_STRIP, TRIANGLE_FAN, MODES };

/* Morph targets of a primitive: each vertex reads all of them. */
enum { TARGETS_MAX = 4096 };

/* ---- checking ---------------------------------------------------------------------------------------------------- */

static int check_compressed(gltf *g, const json_t *primitive, const gltf_thing *accessor, const gltf_values *values)
{
    int draco = gltf_has_extension(primitive, "KHR_draco_mesh_compression");
    g->copies |= draco && !values->compressed;
    g->draco |= draco && values->compressed;
    return draco || !values->compressed ? EXIT_DONE
                                        : gltf_refuse(g, accessor, "it has neither a bufferView nor sparse values");
}

static int find_positions(gltf *g, const gltf_thing *mesh, const json_t *primitive, const json_t *attributes,
                          const gltf_values **out)
{
    const gltf_thing thing = {mesh->kind, mesh->number, attributes};
    gltf_thing accessor;
    int status = gltf_follow(g, &thing, "POSITION", g->accessors, "accessor", &accessor);
    *out = NULL;
    if (status == EXIT_DONE && accessor.json)
        status = gltf_positions(g, &accessor, out);
    return status == EXIT_DONE && *out ? check_compressed(g, primitive, &accessor, *out) : status;
}

static int find_indices(gltf *g, const gltf_thing *mesh, const json_t *primitive, gltf_primitive *p)
{
    const gltf_thing thing = {mesh->kind, mesh->number, primitive};
    gltf_thing accessor;
    int status = gltf_follow(g, &thing, "indices", g->accessors, "accessor", &accessor);
    if (status == EXIT_DONE && accessor.json)
        status = gltf_indices(g, &accessor, &p->indices);
    if (status == EXIT_DONE && p->indices)
        status = check_compressed(g, primitive, &accessor, p->indices);
    if (status == EXIT_DONE && p->indices && p->indices->largest >= p->positions->count)
        status = gltf_refuse(g, &accessor, "one of its indices is %llu, but mesh %llu has %llu positions for it",
                             (unsigned long long)p->indices->largest, (unsigned long long)mesh->number,
                             (unsigned long long)p->positions->count);
    return status;
}

static int find_targets(gltf *g, gltf_mesh *mesh, const json_t *primitive, int is_first, gltf_primitive *p)
{
    const gltf_thing thing = {mesh->thing.kind, mesh->thing.number, primitive};
    const json_t *targets;
    int status = gltf_list(g, &thing, "targets", &targets);
    size_t count = json_array_size(targets);
    if (status == EXIT_DONE && count > TARGETS_MAX)
        status = gltf_refuse(g, &thing, "%zu morph targets, more than %d", count, TARGETS_MAX);
    if (status == EXIT_DONE && !is_first && count != mesh->target_count)
        status = gltf_refuse(g, &thing, "its primitives have different numbers of morph targets");
    if (status != EXIT_DONE || count == 0)
        return status;
    mesh->target_count = count;
    p->targets = calloc(count, sizeof *p->targets);
    if (!p->targets)
        return cli_no_memory();
    for (size_t i = 0; i < count && status == EXIT_DONE; i++) {
        status = find_positions(g, &mesh->thing, primitive, json_array_get(targets, i), &p->targets[i]);
        if (status == EXIT_DONE && p->targets[i] && p->positions && p->targets[i]->count != p->positions->count)
            status = gltf_refuse(g, &thing, "morph target %zu has %llu positions, not %llu", i,
                                 (unsigned long long)p->targets[i]->count, (unsigned long long)p->positions->count);
    }
    return status;
}

static uint64_t count_triangles(int mode, uint64_t corners)
{
    if (mode == TRIANGLES)
        return corners / 3;
    return mode > TRIANGLES && corners > 2 ? corners - 2 : 0;
}

static int check_primitive(gltf *g, gltf_mesh *mesh, const json_t *json, int is_first, gltf_primitive *p)
{
    const gltf_thing thing = {mesh->thing.kind, mesh->thing.number, json};
    uint64_t mode;
    if (!json_is_object(json))
        return gltf_refuse(g, &mesh->thing, "one of its primitives is not an object");
    int status = gltf_whole(g, &thing, "mode", MODES, TRIANGLES, &mode);
    if (status == EXIT_DONE)
        status = find_positions(g, &mesh->thing, json, json_object_get(json, "attributes"), &p->positions);
    if (status == EXIT_DONE)
        status = find_targets(g, mesh, json, is_first, p);
    if (status != EXIT_DONE || !p->positions)
        return status;
    status = find_indices(g, &mesh->thing, json, p);
    if (status != EXIT_DONE)
        return status;
    const uint64_t reach = p->indices ? p->indices->largest + 1 : p->positions->count;
    p->mode = (int)mode;
    p->corners = p->indices ? p->indices->count : p->positions->count;
    p->triangles = count_triangles(p->mode, p->corners);
    mesh->triangles += p->triangles;
    mesh->vertices += 3 * p->triangles < reach ? 3 * p->triangles : reach;
    mesh->reach = p->triangles > 0 && reach > mesh->reach ? reach : mesh->reach;
    return EXIT_DONE;
}

int gltf_mesh_check(gltf *g, gltf_mesh *mesh)
{
    const json_t *primitives;
    int status = gltf_list(g, &mesh->thing, "primitives", &primitives);
    if (mesh->primitives || status != EXIT_DONE)
        return status;
    mesh->count = json_array_size(primitives);
    if (mesh->count == 0)
        return gltf_refuse(g, &mesh->thing, "it has no primitives");
    mesh->primitives = calloc(mesh->count, sizeof *mesh->primitives);
    if (!mesh->primitives)
        return cli_no_memory();
    for (size_t i = 0; i < mesh->count && status == EXIT_DONE; i++)
        status = check_primitive(g, mesh, json_array_get(primitives, i), i == 0, &mesh->primitives[i]);
    return status;
}

void gltf_mesh_free(gltf_mesh *mesh)
{
    for (size_t i = 0; mesh->primitives && i < mesh->count; i++)
        free(mesh->primitives[i].targets);
    free(mesh->primitives);
}

/* ---- building ---------------------------------------------------------------------------------------------------- */

static int is_morphed(const gltf_build *b, const gltf_mesh *mesh, const gltf_primitive *p)
{
    for (size_t i = 0; i < mesh->target_count; i++)
        if (p->targets[i] && fabs(b->weights[i]) > 0.0)
            return 1;
    return 0;
}

static void find_place(const gltf_build *b, const gltf_instance *at, const gltf_primitive *p, uint64_t i, int identity,
                       float xyz[3])
{
    double v[3], moved[3];
    gltf_position(p->positions, i, v);
    for (size_t t = 0; t < at->mesh->target_count; t++) {
        if (!p->targets[t] || !(fabs(b->weights[t]) > 0.0))
            continue;
        gltf_position(p->targets[t], i, moved);
        for (int k = 0; k < 3; k++)
            v[k] += b->weights[t] * moved[k];
    }
    mesh_matrix_apply(&at->matrix, identity, v, xyz);
}

/* A vertex enters the mesh when the first triangle uses it: accessors may hold many more than a primitive needs. */
static int vertex(gltf_build *b, const gltf_instance *at, const gltf_primitive *p, uint64_t corner, int identity,
                  uint32_t *out)
{
    const uint64_t i = p->indices ? gltf_index(p->indices, corner) : corner;
    int status = EXIT_DONE;
    if (b->slots[i] <= b->first) {
        float xyz[3];
        find_place(b, at, p, i, identity, xyz);
        status = mesh_add_vertex(b->out, xyz);
        b->slots[i] = (uint32_t)b->out->vertex_count;
    }
    *out = b->slots[i] - 1;
    return status;
}

static void find_corners(int mode, uint64_t t, uint64_t corner[3])
{
    corner[0] = mode == TRIANGLES ? 3 * t : mode == TRIANGLE_STRIP ? t : t + 1;
    corner[1] = mode == TRIANGLES ? 3 * t + 1 : mode == TRIANGLE_STRIP ? t + 1 + t % 2 : t + 2;
    corner[2] = mode == TRIANGLES ? 3 * t + 2 : mode == TRIANGLE_STRIP ? t + 2 - t % 2 : 0;
}

static int add_triangles(gltf_build *b, const gltf_instance *at, const gltf_primitive *p)
{
    const int identity = mesh_matrix_is_identity(&at->matrix);
    const uint64_t first = b->out->triangle_count;
    int status = EXIT_DONE;
    for (uint64_t t = 0; t < p->triangles && status == EXIT_DONE; t++) {
        uint64_t corner[3];
        uint32_t v[3];
        find_corners(p->mode, t, corner);
        for (int k = 0; k < 3 && status == EXIT_DONE; k++)
            status = vertex(b, at, p, corner[k], identity, &v[k]);
        if (status == EXIT_DONE)
            status = mesh_add_triangle(b->out, v[0], v[1], v[2]);
    }
    mesh_placed_turn(&at->matrix, b->out, first);
    return status;
}

static void count_drops(gltf_build *b, const gltf_primitive *p)
{
    const uint64_t n = p->corners;
    switch (p->mode) {
    case POINTS: b->out->dropped_points += n; break;
    case LINES: b->out->dropped_lines += n / 2; break;
    case LINE_LOOP: b->out->dropped_lines += n > 1 ? n : 0; break;
    case LINE_STRIP: b->out->dropped_lines += n - 1; break;
    case TRIANGLES: b->left_over += n % 3; break;
    default: b->left_over += n < 3 ? n : 0; break;
    }
}

static int add_primitive(gltf_build *b, const gltf_instance *at, const gltf_primitive *p)
{
    const char *name = json_string_value(json_object_get(at->node.json, "name"));
    const int morphed = is_morphed(b, at->mesh, p);
    char numbered[32];
    if (!name || !*name)
        name = json_string_value(json_object_get(at->mesh->thing.json, "name"));
    if (!name || !*name) {
        snprintf(numbered, sizeof numbered, "nodes[%llu]", (unsigned long long)at->node.number);
        name = numbered;
    }
    /* Primitives of one node that share an accessor share its vertices. */
    if (morphed || p->positions != b->shared)
        b->first = b->out->vertex_count;
    b->shared = morphed ? NULL : p->positions;
    b->morphed += morphed;
    b->integers += p->positions->component != GLTF_FLOAT;
    mesh_placed_count(&b->placed, &at->matrix, at->skinned);
    count_drops(b, p);
    int status = mesh_add_part(b->out, name, strlen(name));
    return status == EXIT_DONE ? add_triangles(b, at, p) : status;
}

/* A node's weights come before its mesh's. */
static int find_weights(gltf_build *b, const gltf_instance *at)
{
    const size_t count = at->mesh->target_count;
    const gltf_thing *thing = json_object_get(at->node.json, "weights") ? &at->node : &at->mesh->thing;
    const json_t *weights;
    int status = gltf_list(b->g, thing, "weights", &weights);
    for (size_t i = 0; i < count; i++)
        b->weights[i] = 0.0;
    if (status != EXIT_DONE || count == 0 || !weights)
        return status;
    if (json_array_size(weights) != count)
        return gltf_refuse(b->g, thing, "%zu weights, but mesh %llu has %zu morph targets", json_array_size(weights),
                           (unsigned long long)at->mesh->thing.number, count);
    for (size_t i = 0; i < count; i++) {
        const json_t *weight = json_array_get(weights, i);
        if (!json_is_number(weight))
            return gltf_refuse(b->g, thing, "weight %zu is not a number", i);
        b->weights[i] = json_number_value(weight);
    }
    return EXIT_DONE;
}

int gltf_instance_add(gltf_build *b, const gltf_instance *instance)
{
    int status = find_weights(b, instance);
    b->shared = NULL;
    for (size_t i = 0; i < instance->mesh->count && status == EXIT_DONE; i++) {
        const gltf_primitive *p = &instance->mesh->primitives[i];
        b->without += !p->positions;
        if (p->positions)
            status = add_primitive(b, instance, p);
    }
    return status;
}

#endif
