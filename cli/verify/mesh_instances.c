/* SPDX-License-Identifier: MIT */
/* The mesh of carom verify that is a scene: instances with maps and velocities. A map permutes axes, turns two of their
 * signs and scales by a power of two, so corners in the world are exactly those that the reference has. */
#include "mesh.h"

#include "reference/generate.h"

#include <math.h>
#include <string.h>

enum { STREAM_INSTANCES = 142, STEP_LOG2 = 6, SNAP_LOG2 = 12 };

/* World axis k is own axis axis[k], times factor[k]. */
typedef struct turn {
    int axis[3];
    float factor[3];
} turn;

static turn pick_turn(ref_gen *g)
{
    turn t;
    const int shift = ref_gen_int(g, 0, 2), kept = ref_gen_int(g, 0, 3), exponent = ref_gen_int(g, -3, 3);
    for (int k = 0; k < 3; k++) {
        t.axis[k] = (k + shift) % 3;
        t.factor[k] = (float)ref_power_of_two(exponent) * (kept < 3 && k != kept ? -1.0f : 1.0f);
    }
    return t;
}

/* Each velocity is a multiple of 2^-STEP_LOG2; one in four instances is at rest. */
static void pick_velocity(ref_gen *g, float velocity[3])
{
    const int at_rest = ref_gen_chance(g, 4);
    for (int k = 0; k < 3; k++) {
        const int steps = ref_gen_int(g, -(1 << STEP_LOG2), 1 << STEP_LOG2);
        velocity[k] = at_rest ? 0.0f : (float)steps / (1 << STEP_LOG2);
    }
}

void verify_scene_move(uint64_t seed, verify_scene *s)
{
    const size_t each = s->triangle_count / MESH_INSTANCES;
    s->instance_count = MESH_INSTANCES;
    memset(s->maps, 0, sizeof s->maps);
    for (size_t i = 0; i < MESH_INSTANCES; i++) {
        ref_gen g;
        ref_gen_seed(&g, STREAM_INSTANCES, seed, i);
        const turn t = pick_turn(&g);
        query_instance *instance = &s->instances[i];
        instance->first = (uint32_t)(i * each);
        instance->end = (uint32_t)(i + 1 < MESH_INSTANCES ? (i + 1) * each : s->triangle_count);
        pick_velocity(&g, instance->velocity);
        for (int k = 0; k < 3; k++) {
            s->maps[i][4 * k + t.axis[k]] = t.factor[k];
            for (size_t v = 3 * (size_t)instance->first; v < 3 * (size_t)instance->end; v++)
                s->own[3 * v + (size_t)t.axis[k]] = s->vertices[3 * v + (size_t)k] / t.factor[k];
        }
    }
}

float verify_scene_snap(float coordinate)
{
    const float steps = coordinate * (1 << SNAP_LOG2);
    return fabsf(steps) < 0x1p23f ? rintf(steps) / (1 << SNAP_LOG2) : coordinate;
}

int32_t verify_scene_number(const verify_scene *s, int32_t instance, int32_t triangle)
{
    const int is_known = instance >= 0 && (size_t)instance < s->instance_count && triangle >= 0;
    return is_known ? triangle + (int32_t)s->instances[instance].first : triangle;
}

/* The meshes are the scene's alone afterwards. */
static carom_status open_instances(carom_context *context, const verify_scene *s, carom_scene **made, carom_error *err)
{
    carom_mesh *meshes[MESH_INSTANCES] = {NULL};
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < s->instance_count && status == CAROM_OK; i++) {
        const size_t first = s->instances[i].first, count = s->instances[i].end - first;
        const carom_mesh_desc desc = {.size = sizeof desc,
                                      .vertices = carom_xyz(s->own + 9 * first),
                                      .vertex_count = 3 * count,
                                      .indices = {s->indices, sizeof(uint32_t)},
                                      .triangle_count = count};
        status = carom_mesh_create(context, &desc, &meshes[i], err);
    }
    carom_scene_desc desc = {.size = sizeof desc,
                             .meshes = meshes,
                             .mesh_count = s->instance_count,
                             .instance_count = s->instance_count,
                             .pose = {.size = sizeof desc.pose, .map = s->maps[0]}};
    const float *velocity = s->instances[0].velocity;
    desc.pose.velocity = carom_strided(velocity, sizeof s->instances[0]);
    if (status == CAROM_OK)
        status = carom_scene_create(context, &desc, made, err);
    for (size_t i = 0; i < MESH_INSTANCES; i++)
        carom_mesh_destroy(meshes[i]);
    return status;
}

carom_status verify_scene_open(carom_context *context, const verify_scene *s, carom_scene **made, carom_mesh **mesh,
                               carom_error *err)
{
    const carom_mesh_desc desc = verify_scene_desc(s);
    *made = NULL;
    *mesh = NULL;
    if (s->instance_count == 0)
        return carom_mesh_create(context, &desc, mesh, err);
    const carom_status status = open_instances(context, s, made, err);
    if (status == CAROM_OK)
        *mesh = carom_scene_mesh(*made);
    return status;
}

void verify_scene_close(carom_scene **made, carom_mesh **mesh)
{
    if (*made == NULL)
        carom_mesh_destroy(*mesh);
    carom_scene_destroy(*made);
    *made = NULL;
    *mesh = NULL;
}
