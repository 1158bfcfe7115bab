/* SPDX-License-Identifier: MIT */
/* Searches whose work-items share queries (kernels/mesh_team.h): the size of groups, and their memory. */
#include "device.h"

enum {
    PER_UNIT = 12, /* groups for each compute unit, at least, before a group gets more queries */
    SHARE_MIN = 32
};

/* A group serves the more queries at once the more it has; but all compute units are to have several groups. A probe
 * has few queries: more than a group prepares at a time. A CPU in a GPU's place may end loops that turn too often
 * (mesh_run_is_truncated). */
cl_uint caromi_team_share(const caromi_device *device, uint64_t queries)
{
    cl_uint share = device->probing ? 2 * SHARE_MIN : SHARE_MIN;
    while (device->gpu && 2 * share <= CAROMI_SHARE_MAX &&
           queries / (2 * share) >= (uint64_t)PER_UNIT * device->info.compute_units)
        share *= 2;
    return share;
}

/* Entries of a stack that have no room in local memory. */
static uint32_t far_entries(const carom_mesh *mesh)
{
    return mesh->stack > MESH_NEAR ? (uint32_t)(mesh->stack - MESH_NEAR) : 0;
}

carom_status caromi_reserve_far(caromi_device *device, caromi_cl_slot *slot, uint32_t program, const carom_mesh *mesh,
                                uint64_t count, carom_error *err)
{
    const uint64_t items = device->programs[program].items, share = caromi_team_share(device, count);
    const uint64_t stacks = (count + share - 1) / share * (items / 2), entries = far_entries(mesh);
    return items == 0 ? CAROM_OK
                      : caromi_reserve(device, slot, &slot->far,
                                       sizeof(mesh_far_entry) * (size_t)(stacks * (entries > 0 ? entries : 1)),
                                       CAROMI_NO_HOST_POINTER, err);
}

void caromi_set_far(const caromi_cl_slot *slot, caromi_arguments *arguments, const carom_mesh *mesh)
{
    caromi_set_column(arguments, &slot->far);
    caromi_set_uint(arguments, far_entries(mesh));
}

/* As if each group had the fewest queries. */
uint32_t caromi_far_bytes(const caromi_device *device, const carom_mesh *mesh)
{
    return device->items / 2 * far_entries(mesh) * (uint32_t)sizeof(mesh_far_entry) / SHARE_MIN;
}
