/* SPDX-License-Identifier: MIT */
#include "option_sets.h"

const option_set option_sets[OPTION_SETS] = {
    {"masks of triangles", 1, 0, 0, CAROM_START_REPORT},
    {"masks of spheres", 0, 1, 0, CAROM_START_REPORT},
    {"masks of both", 1, 1, 0, CAROM_START_REPORT},
    {"no back faces", 0, 0, 1, CAROM_START_REPORT},
    {"no start that parts", 0, 0, 0, CAROM_START_SKIP_PARTING},
    {"no start", 0, 0, 0, CAROM_START_SKIP},
    {"all options", 1, 1, 1, CAROM_START_SKIP_PARTING},
};

option_setting option_setting_make(uint64_t seed, size_t kind, const option_set *o, size_t triangles, size_t count)
{
    option_setting t = {.s = kinds[kind].make(triangles)};
    swept_spheres b = kind % 3 == 1 ? swept_spheres_mixed(seed + kind, test_effort(count))
                                    : swept_spheres_aimed(seed + kind, &t.s, 1.0, test_effort(count));
    snprintf(t.name, sizeof t.name, "%s, %s", kinds[kind].name, o->name);
    if (o->triangle_masks)
        t.s.masks = random_masks(seed + kind, t.s.triangle_count);
    if (o->sphere_masks)
        b.mask = random_masks(seed + 50 + kind, b.count);
    b.cull_back = o->cull_back;
    b.start = o->start;
    for (size_t i = 0; i < b.count; i += 5)
        b.column[SPHERE_T_MAX][i] = i % 2 ? 0.0f : 2.0f;
    t.b = b;
    return t;
}

void option_setting_free(option_setting *t)
{
    scene_free(&t->s);
    swept_spheres_free(&t->b);
}
