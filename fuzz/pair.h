/* SPDX-License-Identifier: MIT */
/* What the fuzz targets of pair queries share: from a row of columns to a verdict. */
#ifndef CAROM_FUZZ_PAIR_H
#define CAROM_FUZZ_PAIR_H

#include "fuzz.h"
#include "queries/query.h"

/* Ask both backends in exact mode: everything, then each amount of output that has a kernel of its own. Where optional
 * inputs are zero, ask without them too. Ends the process unless the reference agrees and all bits are the same. */
void fuzz_pair(const query_type *q, const float *row);

#endif
