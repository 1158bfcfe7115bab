/* SPDX-License-Identifier: MIT */
/* The loops of plain.h, included once per instruction set with PLAIN_TABLE, PLAIN_NAME and PLAIN_BITS defined. The
 * pragma promises that the columns do not overlap, in a form that gcc and clang both read. */
#include <string.h>

#include "plain.h"
#include "plain_ericson.h"
#include "plain_soa.h"

#define PLAIN_COLUMNS(in)                                                                               \
    const float *restrict cx = in[0], *restrict cy = in[1], *restrict cz = in[2], *restrict cr = in[3]; \
    const float *restrict ax = in[4], *restrict ay = in[5], *restrict az = in[6];                       \
    const float *restrict bx = in[7], *restrict by = in[8], *restrict bz = in[9];                       \
    const float *restrict dx = in[10], *restrict dy = in[11], *restrict dz = in[12]

#define PLAIN_SWEEP_COLUMNS(in)                                                                         \
    const float *restrict cx = in[0], *restrict cy = in[1], *restrict cz = in[2], *restrict cr = in[3]; \
    const float *restrict vx = in[4], *restrict vy = in[5], *restrict vz = in[6];                       \
    const float *restrict ax = in[7], *restrict ay = in[8], *restrict az = in[9];                       \
    const float *restrict bx = in[10], *restrict by = in[11], *restrict bz = in[12];                    \
    const float *restrict dx = in[13], *restrict dy = in[14], *restrict dz = in[15]

#define PLAIN_AXES(i)                                                                      \
    plain_ericson((plain_v3){cx[i], cy[i], cz[i]}, cr[i], (plain_v3){ax[i], ay[i], az[i]}, \
                  (plain_v3){bx[i], by[i], bz[i]}, (plain_v3){dx[i], dy[i], dz[i]})

static void ericson_overlap(const float *const *in, uint8_t *overlap, uint8_t *axes, size_t count)
{
    PLAIN_COLUMNS(in);
    (void)axes;
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        const plain_axes s = PLAIN_AXES(i);
        overlap[i] = (uint8_t)(1 ^ (s.plane | s.ab | s.bc | s.ca | s.a | s.b | s.c));
    }
}

static void ericson_axes(const float *const *in, uint8_t *overlap, uint8_t *axes, size_t count)
{
    PLAIN_COLUMNS(in);
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        const plain_axes s = PLAIN_AXES(i);
        const int mask = s.plane | s.ab << 1 | s.bc << 2 | s.ca << 3 | s.a << 4 | s.b << 5 | s.c << 6;
        overlap[i] = (uint8_t)(mask == 0);
        axes[i] = (uint8_t)mask;
    }
}

static void sweep_first(const float *const *in, float *time, size_t count)
{
    PLAIN_SWEEP_COLUMNS(in);
    float *restrict out = time;
#pragma omp simd
    for (size_t i = 0; i < count; i++)
        out[i] = plain_soa_sweep((plain_v3){cx[i], cy[i], cz[i]}, cr[i], (plain_v3){vx[i], vy[i], vz[i]},
                                 (plain_v3){ax[i], ay[i], az[i]}, (plain_v3){bx[i], by[i], bz[i]},
                                 (plain_v3){dx[i], dy[i], dz[i]});
}

/* Bits of a vector register; the columns are read as numbers without arithmetic, so any bits will do. */
typedef uint32_t stream_lanes __attribute__((vector_size(PLAIN_BITS / 8), aligned(4), may_alias));
typedef uint8_t stream_bytes __attribute__((vector_size(PLAIN_BITS / 32), aligned(1), may_alias));
enum { STREAM_LANES = PLAIN_BITS / 32 };

/* A register's width of each column, then the next of each. Every read enters every write, so none can be left out;
 * exclusive or is the cheapest way to let it. */
static void stream_rows(const plain_columns *columns)
{
    const plain_columns c = *columns;

    for (size_t first = 0; first < c.count; first += STREAM_LANES) {
        stream_lanes mix = *(const stream_lanes *)(const void *)(c.in[0] + first);
        for (int k = 1; k < c.in_count; k++)
            mix ^= *(const stream_lanes *)(const void *)(c.in[k] + first);
        for (int k = 0; k < c.number_count; k++)
            *(stream_lanes *)(void *)(c.number[k] + first) = mix;
        for (int k = 0; k < c.byte_count; k++)
            *(stream_bytes *)(void *)(c.byte[k] + first) = __builtin_convertvector(mix, stream_bytes);
    }
}

/* PLAIN_BLOCK elements of a column at a time. */
static void stream_columns(const plain_columns *columns)
{
    const plain_columns c = *columns;
    stream_lanes mix[PLAIN_BLOCK / STREAM_LANES];
    const size_t each = PLAIN_BLOCK / STREAM_LANES;

    for (size_t first = 0; first < c.count; first += PLAIN_BLOCK) {
        memcpy(mix, c.in[0] + first, sizeof mix);
        for (int k = 1; k < c.in_count; k++)
            for (size_t i = 0; i < each; i++)
                mix[i] ^= *(const stream_lanes *)(const void *)(c.in[k] + first + i * STREAM_LANES);
        for (int k = 0; k < c.number_count; k++)
            memcpy(c.number[k] + first, mix, sizeof mix);
        for (int k = 0; k < c.byte_count; k++)
            for (size_t i = 0; i < each; i++)
                *(stream_bytes *)(void *)(c.byte[k] + first + i * STREAM_LANES) =
                    __builtin_convertvector(mix[i], stream_bytes);
    }
}

static void triad(float *restrict a, const float *restrict b, const float *restrict c, size_t count)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++)
        a[i] = b[i] + 3.0f * c[i];
}

/* Four chains, so that no operation waits for the one before it. */
static void multiply_add(float *restrict a, const float *restrict b, const float *restrict c, size_t count)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        float w = b[i], x = c[i], y = b[i] + 1.0f, z = c[i] + 1.0f;
        for (int k = 0; k < PLAIN_MULTIPLY_ADDS / 4; k++) {
            w = w * 0.5f + 1.0f;
            x = x * 0.5f + 1.0f;
            y = y * 0.5f + 1.0f;
            z = z * 0.5f + 1.0f;
        }
        a[i] = (w + x) + (y + z);
    }
}

static void divide(float *restrict a, const float *restrict b, const float *restrict c, size_t count)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++)
        a[i] = b[i] / c[i];
}

static void root(float *restrict a, const float *restrict b, const float *restrict c, size_t count)
{
    (void)c;
#pragma omp simd
    for (size_t i = 0; i < count; i++)
        a[i] = __builtin_sqrtf(b[i]);
}

const plain_loops PLAIN_TABLE = {PLAIN_NAME,     ericson_overlap, ericson_axes, sweep_first, stream_rows,
                                 stream_columns, triad,           multiply_add, divide,      root};
