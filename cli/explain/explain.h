/* SPDX-License-Identifier: MIT */
/* carom explain: one sweep taken apart, as rows (explain.c) and as a picture (explain_svg.c). */
#ifndef CAROM_CLI_EXPLAIN_EXPLAIN_H
#define CAROM_CLI_EXPLAIN_EXPLAIN_H

#include "cli/base/output.h"
#include "reference/partition.h"

/* The whole SVG document. `row` is the number in the title. */
void explain_svg(output *out, uint64_t row, const ref_sweep_case *c, const ref_partition *partition);

#endif
