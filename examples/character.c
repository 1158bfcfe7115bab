/* SPDX-License-Identifier: MIT */
/* character: character controllers in a level with a door that opens. A character is an upright capsule, swept as the
 * spheres of a column: the first of their hits stops all of them, and what is left of the motion slides along the
 * contact. What the column leaves out is seen by a sphere that moves along the capsule's axis: that is the capsule. */
#include <carom/carom.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHARACTERS = 4, COLUMN = 3, SPHERES = CHARACTERS * COLUMN, RATE = 64, SECONDS = 6, SLIDES = 4 };
enum { LEVEL = 1, DOOR = 2 }; /* masks */

static const float radius = 0.4f, spacing = 0.4f, gap = 1e-3f; /* gap: how far a character stays away */

typedef struct game {
    float feet[CHARACTERS][3], velocity[CHARACTERS][3]; /* feet: centre of the lowest sphere */
    float walk[CHARACTERS][2];                          /* what the player wants */
    uint8_t grounded[CHARACTERS];
    uint32_t mask[SPHERES];
    unsigned touched[CHARACTERS]; /* frames after which the capsule touched something */
} game;

/* First hits of all characters along `way`; for each the earliest of its column: share of the way, and normal. */
static carom_status sweep(carom_mesh *world, const game *g, float way[CHARACTERS][3], float *t,
                          float normal[CHARACTERS][3], carom_error *err)
{
    float center[SPHERES][3], velocity[SPHERES][3], time[SPHERES], along[SPHERES][3];
    const float one = 1;
    for (int s = 0; s < SPHERES; s++) {
        memcpy(center[s], g->feet[s / COLUMN], sizeof center[s]);
        memcpy(velocity[s], way[s / COLUMN], sizeof velocity[s]);
        center[s][2] += spacing * (float)(s % COLUMN);
    }
    const carom_mesh_sweep_desc desc = {.batch = {.size = sizeof desc, .count = SPHERES},
                                        .center = carom_xyz(center[0]),
                                        .velocity = carom_xyz(velocity[0]),
                                        .radius = {&radius, CAROM_REPEAT},
                                        .t_max = {&one, CAROM_REPEAT},
                                        .mask = carom_uints_of(g->mask),
                                        .start = CAROM_START_SKIP_PARTING};
    const carom_mesh_hit_result hit = {.size = sizeof hit, .t = time, .normal = carom_xyz_out(along[0])};
    const carom_status status = carom_mesh_sweep_first(world, &desc, &hit, NULL, err);
    for (int s = 0; status == CAROM_OK && s < SPHERES; s++)
        if (s % COLUMN == 0 || time[s] < t[s / COLUMN]) {
            t[s / COLUMN] = time[s]; /* +inf without a hit */
            memcpy(normal[s / COLUMN], along[s], sizeof along[s]);
        }
    return status;
}

/* Collide and slide. */
static carom_status move(carom_mesh *world, game *g, carom_error *err)
{
    float way[CHARACTERS][3], t[CHARACTERS], normal[CHARACTERS][3];
    carom_status status = CAROM_OK;
    for (int c = 0; c < CHARACTERS; c++)
        for (int k = 0; k < 3; k++)
            way[c][k] = g->velocity[c][k] / RATE;
    for (int slide = 0; slide < SLIDES && status == CAROM_OK; slide++) {
        status = sweep(world, g, way, t, normal, err);
        for (int c = 0; status == CAROM_OK && c < CHARACTERS; c++) {
            float *w = way[c], *n = normal[c];
            const float length = sqrtf(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
            const float into = fminf(w[0] * n[0] + w[1] * n[1] + w[2] * n[2], 0); /* 0 without a hit */
            const float go = into < 0 ? fmaxf(t[c] - gap / -into, 0) : length > 0 ? fminf(t[c], 1) : 0;
            for (int k = 0; k < 3; k++) {
                g->feet[c][k] += go * w[k];
                w[k] = (1 - go) * (w[k] - into * n[k]); /* what is left, along the contact */
                g->velocity[c][k] -=
                    n[k] * fminf(0, g->velocity[c][0] * n[0] + g->velocity[c][1] * n[1] + g->velocity[c][2] * n[2]);
            }
        }
    }
    return status;
}

/* Ground check: is there something to stand on within two gaps below? */
static carom_status check_ground(carom_mesh *world, game *g, carom_error *err)
{
    float down[CHARACTERS][3], t[CHARACTERS], normal[CHARACTERS][3];
    for (int c = 0; c < CHARACTERS; c++)
        down[c][0] = down[c][1] = 0, down[c][2] = -2 * gap;
    const carom_status status = sweep(world, g, down, t, normal, err);
    for (int c = 0; status == CAROM_OK && c < CHARACTERS; c++)
        g->grounded[c] = t[c] <= 1 && normal[c][2] > 0.7f; /* no steeper than 45 degrees */
    return status;
}

/* The capsules at rest: spheres that move along their axes. */
static carom_status check_capsules(carom_mesh *world, game *g, carom_error *err)
{
    float head[CHARACTERS][3];
    uint32_t mask[CHARACTERS];
    uint8_t any[CHARACTERS];
    const carom_mesh_sweep_desc desc = {.batch = {.size = sizeof desc, .count = CHARACTERS},
                                        .center = carom_xyz(g->feet[0]),
                                        .end = carom_xyz(head[0]),
                                        .radius = {&radius, CAROM_REPEAT},
                                        .mask = carom_uints_of(mask)};
    const carom_any_result out = {.size = sizeof out, .hit = any};
    for (int c = 0; c < CHARACTERS; c++) {
        memcpy(head[c], g->feet[c], sizeof head[c]);
        head[c][2] += spacing * (COLUMN - 1);
        mask[c] = g->mask[c * COLUMN];
    }
    const carom_status status = carom_mesh_sweep_any(world, &desc, &out, NULL, err);
    for (int c = 0; status == CAROM_OK && c < CHARACTERS; c++)
        g->touched[c] += any[c] == 1;
    return status;
}

/* A floor, a wall at x = 4, and a wall at x = -4 with a doorway 2 wide and 2 high. A bar of no thickness at y = 4. */
static const float level_corner[][3] = {
    {-8, -8, 0}, {8, -8, 0},  {8, 8, 0},     {-8, 8, 0},   {4, -8, 4},      {4, 8, 4},       {4, -8, 0}, {4, 8, 0},
    {-4, -8, 0}, {-4, -1, 0}, {-4, -1, 4},   {-4, -8, 4},  {-4, 1, 0},      {-4, 8, 0},      {-4, 8, 4}, {-4, 1, 4},
    {-4, -1, 2}, {-4, 1, 2},  {-2, 4, 0.6f}, {2, 4, 0.6f}, {2, 4.5f, 0.6f}, {-2, 4.5f, 0.6f}};
static const uint32_t level_index[] = {0,  1,  2,  0,  2,  3,  4,  5,  7,  4,  7,  6,  8,  9,  10, 8,  10, 11,
                                       12, 13, 14, 12, 14, 15, 16, 17, 15, 16, 15, 10, 18, 19, 20, 18, 20, 21};
static const float door_corner[][3] = {{-4, -1, 0}, {-4, 1, 0}, {-4, 1, 2}, {-4, -1, 2}};
static const uint32_t door_index[] = {0, 1, 2, 0, 2, 3};

static carom_status play(carom_context *context, game *g, carom_error *err)
{
    const carom_mesh_desc level = {.size = sizeof level,
                                   .vertices = carom_xyz(level_corner[0]),
                                   .vertex_count = 22,
                                   .indices = carom_uints_of(level_index),
                                   .triangle_count = 12};
    const carom_mesh_desc door = {.size = sizeof door,
                                  .vertices = carom_xyz(door_corner[0]),
                                  .vertex_count = 4,
                                  .indices = carom_uints_of(door_index),
                                  .triangle_count = 2};
    float map[2][12] = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    const uint32_t masks[] = {LEVEL, DOOR};
    carom_mesh *mesh[2] = {NULL, NULL};
    carom_scene *scene = NULL;
    const carom_scene_pose pose = {.size = sizeof pose, .map = map[0], .masks = carom_uints_of(masks)};
    carom_status status = carom_mesh_create(context, &level, &mesh[0], err);
    if (status == CAROM_OK)
        status = carom_mesh_create(context, &door, &mesh[1], err);
    const carom_scene_desc desc = {
        .size = sizeof desc, .meshes = mesh, .mesh_count = 2, .instance_count = 2, .pose = pose};
    if (status == CAROM_OK)
        status = carom_scene_create(context, &desc, &scene, err);
    carom_mesh *world = carom_scene_mesh(scene);
    for (int frame = 0; frame < SECONDS * RATE && status == CAROM_OK; frame++) {
        map[1][11] = fminf(2, fmaxf(0, (float)frame / RATE - 1)); /* opens from 1 s on, with 1 m/s */
        status = carom_scene_update(scene, &pose, err);
        for (int c = 0; c < CHARACTERS; c++) {
            g->velocity[c][0] = g->walk[c][0], g->velocity[c][1] = g->walk[c][1];
            g->velocity[c][2] -= 9.81f / RATE;
        }
        if (status == CAROM_OK)
            status = move(world, g, err);
        if (status == CAROM_OK)
            status = check_ground(world, g, err);
        if (status == CAROM_OK)
            status = check_capsules(world, g, err);
        for (int c = 0; frame == 2 * RATE - 1 && c < CHARACTERS && status == CAROM_OK; c++)
            printf("after 2 s: %d at %.3f %.3f %.3f\n", c, (double)g->feet[c][0], (double)g->feet[c][1],
                   (double)g->feet[c][2]);
    }
    carom_scene_destroy(scene);
    carom_mesh_destroy(mesh[0]);
    carom_mesh_destroy(mesh[1]);
    return status;
}

int main(void)
{
    static game g = {.feet = {{0, -6, 3}, {-2, 0, 0.5f}, {-2, 0.5f, 0.5f}, {0, 3, 0.5f}},
                     .walk = {{2, 2}, {-1, 0}, {-0.9f, 0}, {0, 1}}};
    carom_context *context = NULL;
    carom_error err;
    for (int s = 0; s < SPHERES; s++)
        g.mask[s] = s / COLUMN == 2 ? LEVEL : LEVEL | DOOR; /* character 2 is a ghost: no door holds it */
    const int ok = carom_context_create(NULL, &context, &err) == CAROM_OK && play(context, &g, &err) == CAROM_OK;
    for (int c = 0; ok && c < CHARACTERS; c++)
        printf("after 6 s: %d at %.3f %.3f %.3f, %s, its capsule touched something after %u frames\n", c,
               (double)g.feet[c][0], (double)g.feet[c][1], (double)g.feet[c][2],
               g.grounded[c] ? "on the ground" : "in the air", g.touched[c]);
    if (!ok)
        fprintf(stderr, "%s\n", err.message);
    carom_context_destroy(context);
    return ok ? 0 : 1;
}
