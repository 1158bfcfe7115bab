/* SPDX-License-Identifier: MIT */
/* The kinds of volumes by their names, and what they share. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define KIND(name) &bake_kind_##name,
const bake_kind *const bake_kinds[BAKE_KINDS] = {BAKE_EACH_KIND(KIND)};

const bake_kind *bake_kind_named(const char *name)
{
    for (int i = 0; i < BAKE_KINDS; i++)
        if (!strcmp(name, bake_kinds[i]->name))
            return bake_kinds[i];
    return NULL;
}

size_t bake_kind_words(const char *before, const char *between, const char *before_last, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < BAKE_KINDS && used < size; i++) {
        const char *gap = i == 0 ? "" : i < BAKE_KINDS - 1 ? between : before_last;
        used += (size_t)snprintf(text + used, size - used, "%s%s%s", gap, before, bake_kinds[i]->name);
    }
    return used < size ? used : size - 1;
}

carom_batch bake_batch_of(const bake_question *q, size_t size)
{
    return (carom_batch){.size = size,
                         .begin = q->only_checks ? 0 : q->first,
                         .count = q->only_checks ? 0 : q->box.dims[q->plan->kind->axes - 1],
                         .prepare = q->only_prepares != 0,
                         .accuracy = q->accuracy,
                         .progress = q->progress};
}

ref_mesh bake_reference_of(const bake_place *at)
{
    const mesh_data *data = &at->mesh->data;
    return (ref_mesh){data->xyz, data->indices, (size_t)data->triangle_count, data->masks};
}

int bake_is_inside(const bake_place *at, const ref_mesh *mesh, int given)
{
    const carom_sign sign = at->plan->parameters.sign;
    ref_mesh_ray_answer ray;
    if (sign == CAROM_SIGN_NONE)
        return 0;
    if (sign == CAROM_SIGN_ROBUST) {
        const double beyond = fabs((double)ref_mesh_winding(mesh, at->p)) - 0.5;
        return fabs(beyond) > 0x1p-20 ? beyond > 0 : given;
    }
    ref_mesh_ray(mesh, at->p, &ray);
    return sign == CAROM_SIGN_PARITY ? (int)(ray.crossings & 1) : ray.sum != 0;
}
