/* SPDX-License-Identifier: MIT */
/* What test_lang.c shares with the files that compile the verbs: lang_isa.c and lang_device.c. */
#ifndef CAROM_TESTS_BITS_LANG_TEST_H
#define CAROM_TESTS_BITS_LANG_TEST_H

#include <stdint.h>

enum { LANG_ROWS = 4096, LANG_TABLE = 16 };

typedef struct lang_columns {
    float *x;           /* [3][LANG_ROWS]: a, b, c */
    int32_t *n;         /* [3][LANG_ROWS]: i, j, and 1 where the mask is set */
    const float *table; /* [LANG_TABLE] */
    uint8_t *places;    /* [LANG_ROWS], below LANG_TABLE */
    uint8_t *bytes;     /* [LANG_ROWS], written */
} lang_columns;

/* A spelling: out[verb * LANG_ROWS + row] for every verb of lang_verbs.h. */
typedef struct lang_run {
    int lanes, compresses;
    void (*run)(const lang_columns *in, int32_t *out);
} lang_run;

/* Runs the OpenCL spelling at `lanes` on the device of this run; skips if there is none. `portable` hides the
 * compiler's target, so that the text for any device is tried on a CPU too. `out` has room for one int more. */
void lang_run_device(int lanes, int portable, int verbs, const lang_columns *in, int32_t *out, int *compresses);

#endif
