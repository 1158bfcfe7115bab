/* SPDX-License-Identifier: MIT */
/* Abilities of a device besides its searches. One whose programs cannot be built, or bear too small groups, is
 * given up: the host does that work from then on, and the device keeps its other work. */
#include "abilities.h"
#include "host/core/fallback.h"

/* Devices that answer one query in a work-item. Others than GPUs are faster where the host sorts, so they do so only if
 * the caller asks for one lane. */
int caromi_serves_alone(const caromi_device *device)
{
    return device->lanes == 1 && (device->gpu || device->context->desc.device_lanes == 1);
}

int caromi_has_ability(const caromi_device *device, unsigned ability)
{
    return caromi_serves_alone(device) && (device->lacking & ability) == 0;
}

int caromi_gives_up_ability(caromi_device *device, unsigned ability, carom_status status)
{
    if (status != CAROM_ERROR_KERNEL_BUILD)
        return 0;
    device->lacking |= ability;
    return 1;
}

carom_status caromi_leave_batch(caromi_device *device, unsigned ability, carom_status status, const carom_error *why,
                                carom_stats *stats, carom_error *err)
{
    if (!caromi_gives_up_ability(device, ability, status))
        return caromi_fail(err, status, why->native_code, "%s", why->message);
    caromi_decline(device->context, stats, why->message);
    return CAROM_OK;
}
