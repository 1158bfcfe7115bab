/* SPDX-License-Identifier: MIT */
/* What the fuzz targets share. A target takes any bytes as one query, asks two backends in exact mode and the exact
 * reference, and ends the process with the query in hex floats if they differ. It is run by libFuzzer, which looks for
 * bytes that reach new code, or by replay.c. */
#ifndef CAROM_FUZZ_H
#define CAROM_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "carom/carom.h"
#include "reference/reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_BACKENDS = 2 }; /* scalar, and the best instruction set of this machine */
carom_context *fuzz_context(int backend);
const char *fuzz_backend_name(int backend);

/* Bytes as numbers, one after the other; beyond the end they are zeros. The first bytes say what kind of numbers follow
 * (any bits, small whole numbers, fractions, numbers next to whole ones, mixtures) and how they are scaled, because
 * ties hardly ever come out of arbitrary bits. */
typedef struct fuzz_source {
    const uint8_t *data;
    size_t size, at;
    int kind, scale;
} fuzz_source;

fuzz_source fuzz_open(const uint8_t *data, size_t size);
unsigned fuzz_byte(fuzz_source *s);
float fuzz_float(fuzz_source *s);
float fuzz_radius(fuzz_source *s); /* negative or not finite only among arbitrary bits */
void fuzz_vector(fuzz_source *s, float out[3]);
/* A sphere and a triangle, with what makes ties: no motion, equal motions, equal corners, radius 0, an aim, a touch. */
void fuzz_sweep_case(fuzz_source *s, ref_sweep_case *out);
/* Its numbers as `carom sweep --pairs` reads them. */
void fuzz_sweep_row(const ref_sweep_case *c, float row[19]);

/* Say what went wrong; `numbers` are those of the pair. */
_Noreturn void fuzz_fail(const char *what, const char *label, const float *numbers, size_t count);
void fuzz_check_call(carom_status status, const carom_error *err, const carom_stats *stats);

#endif
