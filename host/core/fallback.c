/* SPDX-License-Identifier: MIT */
/* Statistics and log lines for batches that the CPU answers instead of a device. */
#include "fallback.h"

#include <stdio.h>
#include <string.h>

/* Records in the statistics why the CPU answers `count` queries. */
void caromi_explain_fall_back(carom_stats *stats, uint64_t count, const carom_error *cause)
{
    stats->fallen_back = count;
    (void)snprintf(stats->fallback_reason, sizeof stats->fallback_reason, "%.*s",
                   (int)sizeof stats->fallback_reason - 1, cause->message);
}

/* Records that a device cannot run batches of this kind, so that the CPU answers. */
void caromi_decline(const carom_context *context, carom_stats *stats, const char *reason)
{
    carom_error cause = {CAROM_OK, 0, ""};
    (void)snprintf(cause.message, sizeof cause.message, "%s", reason);
    caromi_log(context, CAROM_LOG_WARNING, "the CPU answers: %s", reason);
    caromi_explain_fall_back(stats, stats->queries, &cause);
}
