/* SPDX-License-Identifier: MIT */
#ifndef CAROM_HOST_CORE_FALLBACK_H
#define CAROM_HOST_CORE_FALLBACK_H
#include "context.h"

/* Records in the statistics why the CPU answers `count` queries. */
void caromi_explain_fall_back(carom_stats *stats, uint64_t count, const carom_error *cause);
/* Records that a device cannot run batches of this kind, so that the CPU answers. */
void caromi_decline(const carom_context *context, carom_stats *stats, const char *reason);
#endif
