/* SPDX-License-Identifier: MIT */
/* Tests a device's quotients, square roots and denormals. A device that does not promise correct rounding may still
 * have it: 2^20 of each operation are compared with the CPU, half of them as close to the midpoint of two binary32
 * numbers as possible. */
#include <math.h>
#include <string.h>

#include "probe.h"

enum { COUNT = 1 << 20 };

typedef struct rounding_probe {
    float a[COUNT], b[COUNT], quotient[COUNT], root[COUNT], expected[COUNT];
} rounding_probe;

/* Makes a / b close to a midpoint: a is the rounded product of b and a number with one bit more than binary32. */
static void hard_quotient(uint64_t r, float *a, float *b)
{
    const uint64_t divisor = (r & 0x7fffff) | 0x800000, middle = (r >> 23 & 0xffffff) << 1 | 0x2000001;
    const int shift = (int)(r >> 47 & 127) - 63;
    *a = ldexpf((float)(divisor * middle), shift);
    *b = (float)divisor;
}

/* Makes sqrt(a) close to a midpoint: a is the rounded square of such a number, or its neighbour. */
static float hard_square(uint64_t r)
{
    const uint64_t middle = (r & 0xffffff) << 1 | 0x2000001;
    const float a = (float)(middle * middle);
    const int shift = 2 * ((int)(r >> 40 & 63) - 47);
    return ldexpf(r >> 63 ? nextafterf(a, r >> 62 & 1 ? INFINITY : 0.0f) : a, shift);
}

static void make_inputs(rounding_probe *p)
{
    uint64_t state = 3;
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint64_t r = caromi_probe_next(&state), s = caromi_probe_next(&state);
        switch (i & 3) {
        case 0: hard_quotient(r, &p->a[i], &p->b[i]); break;
        case 1:
            p->a[i] = hard_square(r);
            p->b[i] = caromi_probe_float((uint32_t)s, 64 + (uint32_t)(s >> 1 & 127), (uint32_t)(s >> 32));
            break;
        case 2: /* arbitrary finite numbers, with mostly finite quotients; roots of positive numbers */
            p->a[i] = caromi_probe_float(0, (uint32_t)(r >> 32) % 255, (uint32_t)r);
            p->b[i] = caromi_probe_float((uint32_t)s, (uint32_t)(s >> 32) % 255, (uint32_t)(s >> 1));
            break;
        default: /* denormals over small integers and powers of two */
            p->a[i] = caromi_probe_float(0, (uint32_t)(r >> 40) & 1, (uint32_t)r >> (r >> 56) % 23);
            p->b[i] = s & 1 ? (float)(s >> 58) + 1 : caromi_probe_float(0, 100 + (uint32_t)(s >> 32) % 60, 0);
            break;
        }
    }
}

static carom_status launch_rounding(caromi_device *d, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    caromi_arguments a = caromi_arguments_of(d, CAROMI_PROGRAM_ROUNDING);
    (void)user;
    caromi_set_columns(&a, slot->in, 2);
    caromi_set_columns(&a, slot->out, 2);
    return caromi_launch_chunk(d, slot, &a, slot->padded / d->lanes, err);
}

static carom_status run_probe(caromi_device *d, rounding_probe *p, carom_error *err)
{
    const caromi_in_column in[] = {{.base = p->a, .stride = sizeof(float)}, {.base = p->b, .stride = sizeof(float)}};
    const caromi_out_column out[] = {{p->quotient, sizeof(float)}, {p->root, sizeof(float)}};
    const caromi_stream stream = {.count = COUNT,
                                  .chunk = d->max_items * d->lanes,
                                  .in_count = 2,
                                  .out_count = 2,
                                  .in = in,
                                  .out = out,
                                  .out_size = {4, 4},
                                  .launch = launch_rounding};
    uint64_t done = 0;
    carom_stats stats = {.size = sizeof stats};
    carom_status status = caromi_stream_run(d, &stream, &done, &stats, err);
    if (status != CAROM_OK)
        return status;
    for (uint32_t i = 0; i < COUNT; i++)
        p->expected[i] = p->a[i] / p->b[i];
    status = caromi_probe_compare(d, CAROMI_PROGRAM_ROUNDING, COUNT, 0, p->quotient, p->expected, sizeof(float), err);
    if (status != CAROM_OK)
        return status;
    for (uint32_t i = 0; i < COUNT; i++)
        p->expected[i] = sqrtf(p->a[i]);
    return caromi_probe_compare(d, CAROMI_PROGRAM_ROUNDING, COUNT, 1, p->root, p->expected, sizeof(float), err);
}

carom_status caromi_probe_rounding(caromi_device *d, carom_error *err)
{
    carom_status status = caromi_program_build(d, CAROMI_PROGRAM_ROUNDING, err);
    if (status != CAROM_OK)
        return status;
    rounding_probe *p = caromi_alloc(d->context, 1, sizeof *p);
    if (p == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the bit probe (%zu bytes)", sizeof *p);
    make_inputs(p);
    d->probing = 1;
    status = run_probe(d, p, err);
    d->probing = 0;
    caromi_free(d->context, p);
    return status;
}
