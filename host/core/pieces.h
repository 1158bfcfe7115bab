/* SPDX-License-Identifier: MIT */
/* Divides a batch among several devices: contiguous pieces, one for each device, in proportion to the devices' measured
 * speeds, so that all end together. Other devices finish the queries that a device leaves unanswered. Answers do not
 * depend on the division. */
#ifndef CAROM_HOST_CORE_PIECES_H
#define CAROM_HOST_CORE_PIECES_H
#include "batch.h"

/* Answers queries from *done on; *done becomes the end of the contiguous answered ones. CAROM_OK with *done < count:
 * the CPU answers the rest. timed: the caller wants the times of commands. */
carom_status caromi_run_pieces(carom_context *context, const caromi_batch *batch, uint64_t *done, carom_stats *stats,
                               int timed, carom_error *err);
/* Prepares each device for the batch. */
carom_status caromi_prepare_pieces(carom_context *context, const caromi_batch *batch, carom_stats *stats,
                                   carom_error *err);
#endif
