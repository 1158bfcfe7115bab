/* SPDX-License-Identifier: MIT */
/* The verbs of kernels/lang.h in one instruction set: compiled once for each with the flags of cpu/lanes/isa_*.c,
 * LANES, and LANG_ISA, its name. Nothing here may run on a CPU without it. */
#include "kernels/lang.h"

#include "tests/bits/lang_test.h"
#include "tests/bits/lang_verbs.h"

#define NAMED_(isa) lang_run_##isa
#define NAMED(isa) NAMED_(isa)
const lang_run NAMED(LANG_ISA);

static void run(const lang_columns *in, int *out)
{
    for (int at = 0; at < LANG_ROWS; at += LANES)
        lang_verbs(in->x, in->n, in->table, in->places, in->bytes, out, LANG_ROWS, at);
}

const lang_run NAMED(LANG_ISA) = {LANES,
#ifdef LANG_HAS_COMPRESS
                                  1,
#else
                                  0,
#endif
                                  run};
