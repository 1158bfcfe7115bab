/* SPDX-License-Identifier: MIT */
/* A batch for several devices. It is cut into contiguous pieces, one for each device, as long as the devices have been
 * fast at such batches, so that all end together. What a device leaves unanswered the others finish. Answers do not
 * depend on the cuts. */
#ifndef CAROM_HOST_CORE_PIECES_H
#define CAROM_HOST_CORE_PIECES_H
#include "batch.h"

/* Answers queries from *done on, which becomes the end of those answered without a gap; OK with *done < count: the rest
 * is the CPU's. timed: as caromi_device_time. */
carom_status caromi_run_pieces(carom_context *context, const caromi_batch *batch, uint64_t *done, carom_stats *stats,
                               int timed, carom_error *err);
/* Prepares each device for the batch. */
carom_status caromi_prepare_pieces(carom_context *context, const caromi_batch *batch, carom_stats *stats,
                                   carom_error *err);
#endif
