/* SPDX-License-Identifier: MIT */
#include "volumes.h"

#include <math.h>

static const struct {
    const char *name;
    size_t size;
} fields[VOLUME_FIELDS] = {{"distance", 4}, {"triangle", 4}, {"x", 4}, {"y", 4}, {"z", 4}, {"feature", 1}};

volume volume_alloc(size_t count, unsigned char fill)
{
    volume v = {.count = count};
    for (int f = 0; f < VOLUME_FIELDS; f++)
        v.field[f] = guarded_alloc(count * fields[f].size, 0, fill);
    return v;
}

void volume_free(volume *v)
{
    for (int f = 0; f < VOLUME_FIELDS; f++)
        guarded_free(&v->field[f]);
}

static void *data_of(const volume *v, int field)
{
    return v->field[field].data;
}

carom_mesh_distance_result volume_result(const volume *v)
{
    return (carom_mesh_distance_result){.size = sizeof(carom_mesh_distance_result),
                                        .distance = data_of(v, VOLUME_DISTANCE),
                                        .triangle = data_of(v, VOLUME_TRIANGLE),
                                        .point = {data_of(v, VOLUME_X), data_of(v, VOLUME_Y), data_of(v, VOLUME_Z), 4},
                                        .feature = data_of(v, VOLUME_FEATURE)};
}

float volume_distance(const volume *v, size_t node)
{
    float d;
    memcpy(&d, v->field[VOLUME_DISTANCE].data + node * sizeof d, sizeof d);
    return d;
}

size_t lattice_nodes(const carom_lattice *lattice)
{
    return (size_t)(lattice->dims[0] * lattice->dims[1] * lattice->dims[2]);
}

void lattice_node(const carom_lattice *lattice, size_t node, float p[3])
{
    for (int k = 0; k < 3; k++) {
        p[k] = carom_lattice_coordinate(lattice, k, node % lattice->dims[k]);
        node /= (size_t)lattice->dims[k];
    }
}

carom_lattice lattice_around(const scene *s, uint64_t n)
{
    double lower[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, upper[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, longest = 0.0;
    carom_lattice lattice = {.first = {0}};
    for (size_t i = 0; i < 3 * s->vertex_count; i++) {
        lower[i % 3] = fmin(lower[i % 3], (double)s->vertices[i]);
        upper[i % 3] = fmax(upper[i % 3], (double)s->vertices[i]);
    }
    for (int k = 0; k < 3; k++)
        longest = fmax(longest, upper[k] - lower[k]);
    lattice.spacing = (longest > 0.0 ? longest : 1.0) / (double)(n - 5);
    for (int k = 0; k < 3; k++) {
        lattice.origin[k] = lower[k] - 2.0 * lattice.spacing;
        lattice.dims[k] = (uint64_t)ceil((upper[k] - lower[k]) / lattice.spacing) + 5;
    }
    return lattice;
}

carom_mesh_distance_desc volume_desc(const carom_lattice *lattice, carom_accuracy accuracy)
{
    return (carom_mesh_distance_desc){
        .batch = {.size = sizeof(carom_mesh_distance_desc), .count = lattice->dims[2], .accuracy = accuracy},
        .lattice = *lattice};
}

volume volume_ask(carom_mesh *mesh, const carom_mesh_distance_desc *desc, carom_stats *stats)
{
    const uint64_t slab = desc->lattice.dims[0] * desc->lattice.dims[1];
    volume v = volume_alloc((size_t)((desc->batch.count - desc->batch.begin) * slab), 0x5a);
    const carom_mesh_distance_result out = volume_result(&v);
    carom_error err;
    test_ok("distances of a lattice", carom_mesh_distance(mesh, desc, &out, stats, &err), &err);
    for (int f = 0; f < VOLUME_FIELDS; f++)
        guarded_check(&v.field[f], fields[f].name);
    return v;
}

static void cut_to_band(const volume *v, float band)
{
    for (size_t i = 0; i < v->count; i++)
        if (volume_distance(v, i) > band) {
            const int32_t none = -1;
            for (int f = 0; f < VOLUME_FIELDS; f++)
                memset(v->field[f].data + i * fields[f].size, 0, fields[f].size);
            memcpy(v->field[VOLUME_DISTANCE].data + i * sizeof band, &band, sizeof band);
            memcpy(v->field[VOLUME_TRIANGLE].data + i * sizeof none, &none, sizeof none);
        }
}

volume volume_by_closest(carom_mesh *mesh, const carom_lattice *lattice, carom_accuracy accuracy, float band)
{
    const size_t count = lattice_nodes(lattice);
    float *nodes = test_alloc(count, 3 * sizeof *nodes);
    volume v = volume_alloc(count, 0xa5);
    const carom_mesh_distance_result to = volume_result(&v);
    carom_error err;
    for (size_t i = 0; i < count; i++)
        lattice_node(lattice, i, nodes + 3 * i);
    const carom_mesh_closest_desc desc = {
        .batch = {.size = sizeof desc, .count = count, .accuracy = accuracy},
        .center = carom_xyz(nodes),
    };
    const carom_mesh_closest_result out = {
        .size = sizeof out, .distance = to.distance, .triangle = to.triangle, .point = to.point, .feature = to.feature};
    test_ok("closest points of nodes", carom_mesh_closest(mesh, &desc, &out, NULL, &err), &err);
    cut_to_band(&v, band);
    free(nodes);
    return v;
}

static void print_node(const volume *v, size_t node, const char *label)
{
    const carom_mesh_distance_result r = volume_result(v);
    print_error("%s: triangle %d, distance %a, point %a %a %a, feature %d\n", label, r.triangle[node],
                (double)r.distance[node], (double)r.point.x[node], (double)r.point.y[node], (double)r.point.z[node],
                r.feature[node]);
}

void volume_compare(const carom_lattice *lattice, const volume *expected, size_t first, const volume *got, int mask,
                    const char *label)
{
    for (int f = 0; f < VOLUME_FIELDS; f++) {
        const size_t size = fields[f].size;
        const unsigned char *a = expected->field[f].data + first * size, *b = got->field[f].data;
        if (!(mask >> f & 1) || memcmp(a, b, got->count * size) == 0)
            continue;
        size_t i = 0;
        while (memcmp(a + i * size, b + i * size, size) == 0)
            i++;
        float p[3];
        lattice_node(lattice, first + i, p);
        print_node(expected, first + i, "expected");
        print_node(got, i, "got");
        fail_msg("%s: node %zu, at %a %a %a, differs in %s", label, first + i, (double)p[0], (double)p[1], (double)p[2],
                 fields[f].name);
    }
}

carom_mesh_clearance_desc clearance_desc(const carom_lattice *lattice, float radius, carom_accuracy accuracy)
{
    return (carom_mesh_clearance_desc){
        .batch = {.size = sizeof(carom_mesh_clearance_desc), .count = lattice->dims[2], .accuracy = accuracy},
        .lattice = *lattice,
        .radius = radius};
}

guarded clearance_ask(carom_mesh *mesh, const carom_mesh_clearance_desc *desc, carom_stats *stats)
{
    const uint64_t slab = desc->lattice.dims[0] * desc->lattice.dims[1];
    guarded memory = guarded_alloc((size_t)((desc->batch.count - desc->batch.begin) * slab), 0, 0x5a);
    const carom_mesh_clearance_result out = {.size = sizeof out, .clearance = memory.data};
    carom_error err;
    test_ok("clearance of a lattice", carom_mesh_clearance(mesh, desc, &out, stats, &err), &err);
    guarded_check(&memory, "clearance");
    return memory;
}
