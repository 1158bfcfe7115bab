/* SPDX-License-Identifier: MIT */
#include "worlds.h"

#include <math.h>
#include <string.h>

/* ---- maps -------------------------------------------------------------------------------------------------------- */

static float within(ref_gen *g, float by)
{
    double v[3];
    ref_gen_box(g, v, (double)by);
    return (float)v[0];
}

/* A rotation by a quaternion, times `size`. */
static void turn(ref_gen *g, float size, float map[WORLD_MAP])
{
    const double a = (double)within(g, 1), b = (double)within(g, 1), c = (double)within(g, 1), d = (double)within(g, 1);
    const double n = (double)size / (a * a + b * b + c * c + d * d + 1e-9);
    const double m[9] = {a * a + b * b - c * c - d * d, 2 * (b * c - a * d),           2 * (b * d + a * c),
                         2 * (b * c + a * d),           a * a - b * b + c * c - d * d, 2 * (c * d - a * b),
                         2 * (b * d - a * c),           2 * (c * d + a * b),           a * a - b * b - c * c + d * d};
    for (int k = 0; k < 9; k++)
        map[4 * (k / 3) + k % 3] = (float)(m[k] * n);
}

void world_set_map(uint64_t seed, size_t i, float spread, float map[WORLD_MAP])
{
    ref_gen g;
    ref_gen_seed(&g, 7, seed, i);
    memset(map, 0, WORLD_MAP * sizeof *map);
    turn(&g, 1, map);
    for (int row = 0; row < 3; row++)
        map[4 * row + 3] = within(&g, spread);
    switch (i % 11) {
    case 0:
    case 1:
        memset(map, 0, WORLD_MAP * sizeof *map);
        map[0] = map[5] = map[10] = 1;
        map[3] = i % 11 == 0 ? 0 : 0.5f;
        break;
    case 2: map[0] = -map[0], map[4] = -map[4], map[8] = -map[8]; break;
    case 3: map[1] += 3; break;
    case 4:
        map[8] = map[4], map[9] = map[5], map[10] = map[6]; /* a plane */
        break;
    case 5:
        memset(map, 0, WORLD_MAP * sizeof *map);
        map[3] = map[7] = 0.25f;
        break;
    case 6: map[0] *= 40, map[4] *= 40, map[8] *= 40; break;
    case 7:
        for (int k = 0; k < 11; k++)
            map[k] *= k % 4 == 3 ? 1 : 0x1p-140f;
        break;
    default: break;
    }
}

const world_kind world_kinds[WORLD_KINDS] = {
    {"rotation", 1, 0, 1, 1, 0},
    {"mirrored", 1, 0, 1, 1, 1},
    {"in one place", 1, 0, 1, 0, 0},
    {"1e-6", 1e-6f, 0, 1, 2, 0},
    {"1e-3, mirrored", 1e-3f, 0, 1, 2, 1},
    {"1e6", 1e6f, 0, 1, 2, 0},
    {"far", 1, 0, 1, 100, 0},
    {"very far", 1e-2f, 0, 1, 1e4f, 1},
    {"at 1e5", 1, 0, 1, 1e5f, 0},
    {"at 1e7", 1e3f, 0, 1, 1e7f, 0},
    {"hardly sheared", 1, 0.01f, 1, 1, 0},
    {"sheared", 1, 0.5f, 1, 1, 1},
    {"sheared much", 1e2f, 4, 1, 1, 0},
    {"sheared too much", 1, 1e3f, 1, 1, 0},
    {"flattened", 1, 0, 0.1f, 1, 0},
    {"flattened much", 1, 0.2f, 0.01f, 3, 1},
    {"nearly singular", 1, 0, 1e-6f, 1, 0},
    {"all but singular", 1, 3, 1e-30f, 1, 0},
    {"stretched", 1e-3f, 0, 30, 1, 0},
    {"stretched much", 1, 1, 1e4f, 1, 1},
    {"2^-50", 0x1p-50f, 0, 1, 1, 0},
    {"2^-100", 0x1p-100f, 0.1f, 1, 1, 0},
    {"2^60", 0x1p60f, 0, 1, 1, 1},
    {"2^110", 0x1p110f, 0, 2, 1, 0},
    {"subnormal", 0x1p-140f, 0, 1, 1, 0},
};

world world_make_unmoved(uint64_t seed, int kind)
{
    static const float identity[WORLD_MAP] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    world w = world_make(seed, 1, 1, kind % 2);
    w.mesh[0] = 1;
    w.first[1] = (int32_t)w.meshes[1].triangle_count;
    memcpy(w.map[0], identity, sizeof identity);
    for (size_t v = 0; kind >= 2 && v < 3 * w.meshes[1].vertex_count; v += 2)
        w.meshes[1].vertices[v] = -0.0f;
    return w;
}

void world_set_maps(world *w, uint64_t seed, const world_kind *kind)
{
    for (size_t i = 0; i < w->instances; i++) {
        ref_gen g;
        double place[3];
        float *map = w->map[i];
        world_set_map(seed, 10 + 11 * i, 0, map); /* a rotation */
        for (int k = 0; k < WORLD_MAP; k++)
            map[k] *= kind->size;
        for (int k = 0; k < 3; k++) {
            map[k] += kind->shear * map[4 + k];
            map[8 + k] *= kind->stretch;
            if (kind->mirrors)
                map[4 * k] = -map[4 * k];
        }
        ref_gen_seed(&g, 8, seed, i);
        ref_gen_box(&g, place, (double)kind->far * (double)kind->size);
        for (int k = 0; k < 3; k++)
            map[4 * k + 3] = (float)place[k];
    }
}

/* ---- worlds ------------------------------------------------------------------------------------------------------ */

world world_make(uint64_t seed, size_t instances, float spread, int masks)
{
    world w = {.instances = instances,
               .mesh = test_alloc(instances, sizeof *w.mesh),
               .map = test_alloc(instances, sizeof *w.map),
               .first = test_alloc(instances + 1, sizeof *w.first)};
    w.meshes[0] = scene_sphere(4);
    w.meshes[1] = scene_soup(seed, 700, 0.2);
    w.meshes[2] = scene_box(-0.5f, -0.5f, -0.5f, 0.5f, 0.5f, 0.5f);
    w.meshes[3] = scene_alloc(0, 0);
    w.meshes[4] = scene_floor(1);
    w.meshes[5] = scene_soup(seed + 1, 30, 1.0);
    scene_scale(&w.meshes[5], -3);
    if (masks) {
        w.masks = random_masks(seed, instances);
        w.meshes[1].masks = random_masks(seed + 2, w.meshes[1].triangle_count);
    }
    for (size_t i = 0; i < instances; i++) {
        w.mesh[i] = (uint32_t)((i * 5 + i / WORLD_MESHES) % WORLD_MESHES);
        world_set_map(seed, i, spread, w.map[i]);
        w.first[i + 1] = w.first[i] + (int32_t)w.meshes[w.mesh[i]].triangle_count;
    }
    return w;
}

void world_free(world *w)
{
    for (int i = 0; i < WORLD_MESHES; i++)
        scene_free(&w->meshes[i]);
    free(w->mesh);
    free(w->masks);
    free(w->map);
    free(w->velocity);
    free(w->first);
}

static double determinant(const float *m)
{
    const long double a = (long double)m[0] *
                          ((long double)m[5] * (long double)m[10] - (long double)m[6] * (long double)m[9]),
                      b = (long double)m[1] *
                          ((long double)m[4] * (long double)m[10] - (long double)m[6] * (long double)m[8]),
                      c = (long double)m[2] *
                          ((long double)m[4] * (long double)m[9] - (long double)m[5] * (long double)m[8]);
    return (double)(a - b + c);
}

scene world_merge(const world *w)
{
    scene all = scene_alloc_apart((size_t)w->first[w->instances]);
    all.masks = test_alloc(all.triangle_count, sizeof *all.masks);
    float *to = all.vertices;
    uint32_t *mask = all.masks;
    for (size_t i = 0; i < w->instances; i++) {
        const scene *s = &w->meshes[w->mesh[i]];
        const float *m = w->map[i];
        const int mirrors = determinant(m) < 0;
        for (size_t t = 0; t < s->triangle_count; t++) {
            *mask++ = (s->masks != NULL ? s->masks[t] : UINT32_MAX) & (w->masks != NULL ? w->masks[i] : UINT32_MAX);
            for (size_t c = 0; c < 3; c++, to += 3) {
                const float *v = s->vertices + 3 * (size_t)s->indices[3 * t + (mirrors && c > 0 ? 3 - c : c)];
                for (int row = 0; row < 3; row++, m += 4) {
                    volatile double sum = (double)m[0] * (double)v[0];
                    sum += (double)m[1] * (double)v[1];
                    sum += (double)m[2] * (double)v[2];
                    sum += (double)m[3];
                    to[row] = (float)sum;
                }
                m = w->map[i];
            }
        }
    }
    return all;
}

void world_move(world *w, uint64_t seed, float unit)
{
    w->velocity = w->velocity != NULL ? w->velocity : test_alloc(w->instances, sizeof *w->velocity);
    for (size_t i = 0; i < w->instances; i++) {
        ref_gen g;
        const size_t speed = (i * 3 + i / WORLD_SPEEDS) % WORLD_SPEEDS;
        ref_gen_seed(&g, 8, seed, speed);
        for (int k = 0; k < 3; k++)
            w->velocity[i][k] = speed == 0 ? -0.0f : unit * rintf(within(&g, 3) / unit);
    }
}

carom_scene_pose world_pose(const world *w)
{
    const carom_points none = {0};
    return (carom_scene_pose){.size = sizeof(carom_scene_pose),
                              .map = w->map[0],
                              .masks = {w->masks, sizeof *w->masks},
                              .velocity = w->velocity != NULL ? carom_xyz(w->velocity[0]) : none};
}

void world_update(carom_scene *made, const world *w)
{
    carom_error err = {0};
    const carom_scene_pose pose = world_pose(w);
    test_ok("carom_scene_update", carom_scene_update(made, &pose, &err), &err);
}

carom_scene *world_scene(carom_context *context, const world *w)
{
    carom_mesh *meshes[WORLD_MESHES];
    carom_scene *made = NULL;
    carom_error err = {0};
    for (int i = 0; i < WORLD_MESHES; i++)
        meshes[i] = scene_mesh(context, &w->meshes[i]);
    const carom_scene_desc desc = {.size = sizeof desc,
                                   .meshes = meshes,
                                   .mesh_count = WORLD_MESHES,
                                   .mesh = {w->mesh, sizeof *w->mesh},
                                   .instance_count = w->instances,
                                   .pose = world_pose(w)};
    test_ok("carom_scene_create", carom_scene_create(context, &desc, &made, &err), &err);
    for (int i = 0; i < WORLD_MESHES; i++)
        carom_mesh_destroy(meshes[i]);
    return made;
}

int32_t world_split(const world *w, int32_t *triangle)
{
    int32_t instance = 0;
    if (*triangle < 0)
        return -1;
    while (w->first[instance + 1] <= *triangle)
        instance++;
    *triangle -= w->first[instance];
    return instance;
}

float (*world_own_corners(const world *w))[9]
{
    float(*own)[9] = test_alloc((size_t)w->first[w->instances] + 1, sizeof *own), (*to)[9] = own;
    for (size_t i = 0; i < w->instances; i++) {
        const scene *s = &w->meshes[w->mesh[i]];
        const int mirrors = determinant(w->map[i]) < 0;
        for (size_t t = 0; t < s->triangle_count; t++, to++)
            for (size_t c = 0; c < 3; c++)
                memcpy(*to + 3 * c, s->vertices + 3 * (size_t)s->indices[3 * t + (mirrors && c > 0 ? 3 - c : c)],
                       3 * sizeof(float));
    }
    return own;
}

int32_t *world_instances(const world *w)
{
    int32_t *instance = test_alloc((size_t)w->first[w->instances] + 1, sizeof *instance);
    for (size_t i = 0; i < w->instances; i++)
        for (int32_t t = w->first[i]; t < w->first[i + 1]; t++)
            instance[t] = (int32_t)i;
    return instance;
}
