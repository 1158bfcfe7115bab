/* SPDX-License-Identifier: MIT */
/* What the two probes share: numbers, and the verdict. */
#ifndef CAROM_CL_PROBE_H
#define CAROM_CL_PROBE_H
#include "cl_device.h"

uint64_t caromi_probe_next(uint64_t *state);
/* A float from its fields. */
float caromi_probe_float(uint32_t sign, uint32_t exponent, uint32_t mantissa);

/* Equal bits, or a refusal that names the first difference. */
carom_status caromi_probe_compare(const caromi_device *d, uint32_t program, uint32_t count, uint32_t column,
                                  const void *got, const void *expected, size_t size, carom_error *err);
#endif
