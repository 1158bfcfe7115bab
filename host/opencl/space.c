/* SPDX-License-Identifier: MIT */
/* The grid of empty space of a mesh that a device has refitted (kernels/refit_space.cl), as host/mesh/clearance.c
 * computes it. The host chooses the size of its cubes, from the bounds that the refit has found. */
#include "host/mesh/clearance.h"
#include "enqueue.h"
#include "mesh_copy.h"
#include "refit.h"

/* A grid while it is computed. */
typedef struct space {
    caromi_device *device;
    const carom_mesh *mesh;
    const mesh_copy *copy;
    mesh_clearance header;
    int size[3];
    cl_uint cubes, words, most; /* words of marks; marks of all leaves, if the grid is worth it */
} space;

carom_status caromi_space_make(caromi_device *device, const carom_mesh *mesh, mesh_copy *copy, carom_error *err)
{
    const uint64_t most = caromi_clearance_most(mesh->leaf_count);
    if (copy->marks == NULL)
        CHECK(caromi_make_buffer(device, "marks of a grid", CL_MEM_READ_WRITE, (most / 32 + 2) * sizeof(cl_uint), NULL,
                                 &copy->marks, err));
    for (int i = 0; i < 2; i++)
        if (copy->distances[i] == NULL)
            CHECK(caromi_make_buffer(device, "distances of a grid", CL_MEM_READ_WRITE, most, NULL, &copy->distances[i],
                                     err));
    return CAROM_OK;
}

static void set_memory(caromi_arguments *arguments, const cl_mem *memory)
{
    caromi_set_argument(arguments, memory, sizeof *memory);
}

static void set_divisor(caromi_arguments *arguments, int divisor)
{
    const uint64_t d = (uint64_t)divisor;
    caromi_set_uint(arguments, d);
    caromi_set_ulong(arguments, ((UINT64_C(1) << REFIT_INVERSE_BITS) + d - 1) / d);
}

static carom_status begin(const space *s, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(s->device, CAROMI_PROGRAM_REFIT_SPACE_BEGIN);
    set_memory(&arguments, &s->copy->clearance);
    for (int k = 0; k < 3; k++)
        caromi_set_real(&arguments, s->header.lower[k]);
    caromi_set_real(&arguments, s->header.per_length);
    caromi_set_real(&arguments, s->header.scale);
    for (int k = 0; k < 3; k++)
        caromi_set_uint(&arguments, (uint64_t)s->size[k]);
    set_memory(&arguments, &s->copy->marks);
    caromi_set_uint(&arguments, s->words);
    return caromi_refit_launch(s->device, &arguments, s->words + 1, UINT64_MAX, err);
}

static carom_status mark(const space *s, uint32_t program, uint64_t groups, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(s->device, program);
    const uint64_t nodes = s->mesh->info.node_count;
    set_memory(&arguments, &s->copy->nodes);
    caromi_set_uint(&arguments, nodes);
    set_memory(&arguments, &s->copy->clearance);
    caromi_set_uint(&arguments, s->most);
    set_memory(&arguments, &s->copy->marks);
    caromi_set_uint(&arguments, s->words);
    return caromi_refit_launch(s->device, &arguments,
                               (nodes * MESH_WIDEST + REFIT_GROUP - 1) / REFIT_GROUP * REFIT_GROUP, groups, err);
}

static carom_status spread_rows(const space *s, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(s->device, CAROMI_PROGRAM_REFIT_SPACE_ROW);
    set_memory(&arguments, &s->copy->marks);
    caromi_set_uint(&arguments, s->words);
    caromi_set_uint(&arguments, s->most);
    set_memory(&arguments, &s->copy->distances[0]);
    set_divisor(&arguments, s->size[0]);
    caromi_set_uint(&arguments, s->cubes);
    return caromi_refit_launch(s->device, &arguments, s->cubes, UINT64_MAX, err);
}

static carom_status spread(const space *s, const cl_mem *from, const cl_mem *to, size_t to_at, int step, int length,
                           carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(s->device, CAROMI_PROGRAM_REFIT_SPACE_SPREAD);
    set_memory(&arguments, from);
    set_memory(&arguments, to);
    caromi_set_uint(&arguments, to_at);
    set_divisor(&arguments, step);
    set_divisor(&arguments, length);
    caromi_set_uint(&arguments, s->cubes);
    return caromi_refit_launch(s->device, &arguments, s->cubes, UINT64_MAX, err);
}

static carom_status find(const space *s, carom_error *err)
{
    const mesh_copy *copy = s->copy;
    CHECK(begin(s, err));
    if (s->mesh->info.node_count == 0) /* a single leaf fills the grid: all cubes were and stay 0 */
        return caromi_finish(s->device, s->device->slots[0].queue, err);
    CHECK(mark(s, CAROMI_PROGRAM_REFIT_SPACE_COUNT, REFIT_SUMS_MOST, err));
    CHECK(mark(s, CAROMI_PROGRAM_REFIT_SPACE_MARK, UINT64_MAX, err));
    CHECK(spread_rows(s, err));
    CHECK(spread(s, &copy->distances[0], &copy->distances[1], 0, s->size[0], s->size[1], err));
    CHECK(spread(s, &copy->distances[1], &copy->clearance, sizeof(mesh_clearance), s->size[0] * s->size[1], s->size[2],
                 err));
    return caromi_finish(s->device, s->device->slots[0].queue, err); /* searches run in two queues */
}

carom_status caromi_space_find(caromi_device *device, const carom_mesh *mesh, carom_error *err)
{
    mesh_copy *copy = mesh->device_copies[device->place];
    space s = {.device = device, .mesh = mesh, .copy = copy};
    if (!copy->space_is_old)
        return CAROM_OK;
    CHECK(caromi_enqueue_refuse(device->context, err));
    s.cubes = (cl_uint)caromi_clearance_lay_out(mesh, &s.header, s.size);
    s.words = (s.cubes + 31) / 32;
    s.most = CAROMI_MARKS_PER_CUBE * s.cubes;
    CHECK(find(&s, err));
    copy->space_is_old = 0;
    return CAROM_OK;
}
