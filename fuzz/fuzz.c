/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- backends ---------------------------------------------------------------------------------------------------- */

carom_context *fuzz_context(int backend)
{
    static carom_context *contexts[FUZZ_BACKENDS]; /* kept: an input takes microseconds, a context does not */
    if (!contexts[backend]) {
        carom_context_desc desc = carom_context_desc_default();
        carom_error err = {0};
        desc.backend = CAROM_BACKEND_CPU;
        desc.isa = backend == 0 ? CAROM_ISA_SCALAR : CAROM_ISA_AUTO;
        desc.threads = 1;
        fuzz_check_call(carom_context_create(&desc, &contexts[backend], &err), &err, NULL);
    }
    return contexts[backend];
}

const char *fuzz_backend_name(int backend)
{
    return carom_isa_name(carom_context_isa(fuzz_context(backend)));
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

enum { ANY_BITS, WHOLE, EIGHTHS, FRACTIONS, NEAR_WHOLE, OFFSET, WIDE, MIXED, KINDS };

unsigned fuzz_byte(fuzz_source *s)
{
    return s->at < s->size ? s->data[s->at++] : 0;
}

fuzz_source fuzz_open(const uint8_t *data, size_t size)
{
    fuzz_source s = {data, size, 0, 0, 0};
    s.kind = (int)(fuzz_byte(&s) % KINDS);
    s.scale = (int)fuzz_byte(&s);
    /* Mostly about 1; else down to denormals and up to the largest number. */
    s.scale = s.scale < 192 ? 0 : (s.scale - 224) * 4;
    return s;
}

static uint32_t next_bits(fuzz_source *s, int bytes)
{
    uint32_t bits = 0;
    for (int i = 0; i < bytes; i++)
        bits |= (uint32_t)fuzz_byte(s) << 8 * i;
    return bits;
}

static float any_float(fuzz_source *s)
{
    uint32_t bits = next_bits(s, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float number_of_kind(fuzz_source *s, int kind)
{
    int small = (int)(int8_t)fuzz_byte(s);
    switch (kind) {
    case WHOLE: return (float)(small % 5);
    case EIGHTHS: return (float)(small % 33) * 0.125f;
    case FRACTIONS: return (float)(small * 65536 + (int)next_bits(s, 2)) * 0x1p-22f;
    case NEAR_WHOLE: return small & 64 ? nextafterf((float)(small % 5), small & 32 ? 8.0f : -8.0f) : (float)(small % 5);
    case OFFSET: return 4096.0f + (float)(small % 9) * 0.25f;
    default: return ldexpf((float)(small % 17), (int)next_bits(s, 1) % 96 - 48);
    }
}

float fuzz_float(fuzz_source *s)
{
    int kind = s->kind == MIXED ? (int)(fuzz_byte(s) % MIXED) : s->kind;
    return kind == ANY_BITS ? any_float(s) : ldexpf(number_of_kind(s, kind), s->scale);
}

float fuzz_radius(fuzz_source *s)
{
    float value = fuzz_float(s);
    return s->kind == ANY_BITS ? value : fabsf(value);
}

void fuzz_vector(fuzz_source *s, float out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = fuzz_float(s);
}

enum {
    STILL = 1,         /* no motion */
    ALIKE = 2,         /* the triangle moves as the sphere does */
    MOVING = 4,        /* the triangle moves at all */
    FIRST_EQUAL = 8,   /* corners 0 and 1 are one */
    SECOND_EQUAL = 16, /* corners 1 and 2 are one */
    POINT = 32,        /* radius 0 */
    AIMED = 64,        /* straight at corner 0, or at the middle of an edge */
    RESTING = 128      /* a radius away from a corner along an axis */
};

void fuzz_sweep_case(fuzz_source *s, ref_sweep_case *out)
{
    unsigned flags = fuzz_byte(s);
    memset(out, 0, sizeof *out);
    for (int v = 0; v < 3; v++)
        fuzz_vector(s, out->p[v]);
    fuzz_vector(s, out->center);
    fuzz_vector(s, out->velocity);
    float radius = flags & POINT ? 0.0f : fuzz_radius(s);
    out->radius = (double)radius;
    if (flags & FIRST_EQUAL)
        memcpy(out->p[1], out->p[0], sizeof out->p[1]);
    if (flags & SECOND_EQUAL)
        memcpy(out->p[2], out->p[1], sizeof out->p[2]);
    if (flags & RESTING) {
        unsigned where = fuzz_byte(s);
        memcpy(out->center, out->p[where % 3], sizeof out->center);
        out->center[where / 3 % 3] += where & 64 ? -radius : radius;
    }
    for (int k = 0; k < 3; k++) {
        float target = flags & ALIKE ? (out->p[0][k] + out->p[1][k]) * 0.5f : out->p[0][k];
        if (flags & AIMED)
            out->velocity[k] = target - out->center[k];
        if (flags & STILL)
            out->velocity[k] = 0.0f;
    }
    if (flags & MOVING)
        fuzz_vector(s, out->w);
    if ((flags & (MOVING | ALIKE)) == (MOVING | ALIKE))
        memcpy(out->w, out->velocity, sizeof out->w);
}

void fuzz_sweep_row(const ref_sweep_case *c, float row[19])
{
    for (size_t k = 0; k < 3; k++) {
        row[k] = c->center[k];
        row[4 + k] = c->velocity[k];
        row[7 + k] = c->p[0][k];
        row[10 + k] = c->p[1][k];
        row[13 + k] = c->p[2][k];
        row[16 + k] = c->w[k];
    }
    row[3] = (float)c->radius;
}

/* ---- failing ----------------------------------------------------------------------------------------------------- */

void fuzz_fail(const char *what, const char *label, const float *numbers, size_t count)
{
    fprintf(stderr, "fuzz: %s: %s\n ", label, what);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, " %a", (double)numbers[i]);
    fputc('\n', stderr);
    abort();
}

/* A batch of one: it took one of the two rungs. */
void fuzz_check_call(carom_status status, const carom_error *err, const carom_stats *stats)
{
    if (status != CAROM_OK)
        fuzz_fail(err->message, carom_status_name(status), NULL, 0);
    if (stats && stats->by_proof + stats->by_integers != 1)
        fuzz_fail("by_proof + by_integers is not 1", "statistics", NULL, 0);
    if (stats && stats->by_second_filter > stats->by_proof)
        fuzz_fail("by_second_filter is more than by_proof", "statistics", NULL, 0);
}
