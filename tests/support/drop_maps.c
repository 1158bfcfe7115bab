/* SPDX-License-Identifier: MIT */
#include "drop_maps.h"

carom_mesh_drop_desc drop_map_desc(const carom_lattice *lattice, float radius, carom_accuracy accuracy)
{
    return (carom_mesh_drop_desc){
        .batch = {.size = sizeof(carom_mesh_drop_desc), .count = lattice->dims[1], .accuracy = accuracy},
        .lattice = *lattice,
        .radius = radius};
}

drop_map drop_map_ask(carom_mesh *mesh, const carom_mesh_drop_desc *desc, carom_stats *stats)
{
    drop_map m = {.count = (size_t)((desc->batch.count - desc->batch.begin) * desc->lattice.dims[0])};
    m.height = guarded_alloc(m.count * sizeof(float), 0, 0x77);
    const carom_mesh_drop_result out = {.size = sizeof out, .height = (float *)(void *)m.height.data};
    carom_error err;
    test_ok("a drop map", carom_mesh_drop(mesh, desc, &out, stats, &err), &err);
    return m;
}

float drop_map_height(const drop_map *m, size_t i)
{
    float z;
    memcpy(&z, m->height.data + i * sizeof z, sizeof z);
    return z;
}

void drop_map_compare(const drop_map *expected, size_t first, const drop_map *got, const char *label)
{
    for (size_t i = 0; i < got->count; i++)
        if (bits_of_float(drop_map_height(expected, first + i)) != bits_of_float(drop_map_height(got, i)))
            fail_msg("%s: column %zu is %a, not %a", label, first + i, (double)drop_map_height(got, i),
                     (double)drop_map_height(expected, first + i));
}

void drop_map_check(const scene *s, const carom_mesh_drop_desc *desc, const drop_map *m, size_t step, const char *name)
{
    const ref_mesh mesh = oracle_mesh(s);
    for (size_t i = 0; i < m->count; i += step) {
        ref_mesh_drop_case at = {.radius = desc->radius, .height = drop_map_height(m, i)};
        at.x = carom_lattice_coordinate(&desc->lattice, 0, i % desc->lattice.dims[0]);
        at.y = carom_lattice_coordinate(&desc->lattice, 1, i / desc->lattice.dims[0]);
        const char *wrong = ref_mesh_drop(&mesh, &at);
        if (wrong != NULL)
            fail_msg("%s, radius %a, column %zu at %a %a: height %a: %s", name, (double)desc->radius, i, (double)at.x,
                     (double)at.y, (double)at.height, wrong);
    }
}
