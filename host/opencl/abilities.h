/* SPDX-License-Identifier: MIT */
/* Abilities of a device besides its searches, which it has as long as it can build the programs. */
#ifndef CAROM_HOST_OPENCL_ABILITIES_H
#define CAROM_HOST_OPENCL_ABILITIES_H
#include "device.h"

enum {
    CAROMI_REFITS = 1,
    CAROMI_REFITS_CONTACTS = 2,
    CAROMI_LISTS_HITS = 4, /* in buffers */
    CAROMI_CHOOSES_CONTACTS = 8,
    CAROMI_ANSWERS_TILES = 16,
    CAROMI_FOLDS_BUNDLES = 32 /* in buffers */
};
/* Whether the device answers one query in a work-item and has the ability. */
int caromi_has_ability(const caromi_device *device, unsigned ability);
/* Whether the error is that a program could not be built: the device then has the ability no more. */
int caromi_gives_up_ability(caromi_device *device, unsigned ability, carom_status status);
/* The same for a batch that the host answers then, with the reason in its statistics; fails after other errors. */
carom_status caromi_leave_batch(caromi_device *device, unsigned ability, carom_status status, const carom_error *why,
                                carom_stats *stats, carom_error *err);
#endif
