/* SPDX-License-Identifier: MIT */
/* The columns of a batch in buffers of the subject's context: on a discrete device in its own memory. */
#ifndef CAROM_BENCH_RESIDENT_H
#define CAROM_BENCH_RESIDENT_H

#include "scenes.h"
#include "subjects.h"

/* Each column has a buffer of its own: a device takes such a column as it is. */
typedef struct resident resident;

resident *resident_alloc(void);
/* NULL is fine. */
void resident_free(resident *r);
/* Buffers for these columns, filled with what they hold; none for columns without rows. */
carom_status resident_add(resident *r, const subject *of, const columns *host, carom_error *err);
/* The address in a buffer of what begins at `host`; without a resident, `host`. */
void *resident_at(const resident *r, void *host);
/* Copy columns that have buffers to them, or back. End the program if that fails; without a resident do nothing. */
void resident_write(const resident *r, const columns *host);
void resident_read(const resident *r, const columns *host);

#endif
