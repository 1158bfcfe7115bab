/* SPDX-License-Identifier: MIT */
#ifndef CAROM_HOST_CORE_CHECKS_H
#define CAROM_HOST_CORE_CHECKS_H
#include "calls/type.h"
#include "host/base/error.h"

/* Argument checks of all batches. */
carom_status caromi_check_desc(size_t given, size_t expected, const char *name, carom_error *err);
/* serves: CAROMI_SERVES_*. */
carom_status caromi_check_batch(const carom_batch *batch, size_t size, const char *name, int serves, carom_error *err);
carom_status caromi_check_stats(const carom_stats *stats, carom_error *err);
carom_status caromi_check_points(const carom_points *p, const char *name, carom_error *err);
carom_status caromi_check_scalars(const carom_scalars *s, const char *name, carom_error *err);
carom_status caromi_check_uints(const carom_uints *u, const char *name, carom_error *err);
carom_status caromi_check_points_out(const carom_points_out *p, const char *name, carom_error *err);
#endif
