/* SPDX-License-Identifier: MIT */
/* Tests a device's quotients, square roots and denormals. A device that does not promise correct rounding may still
 * have it: 2^20 of each operation are compared with the CPU, half of them as close to the midpoint of two binary32
 * numbers as possible. */
#include <math.h>
#include <string.h>

#include "probe.h"

enum { COUNT = 1 << 20 };

/* Inputs and results of the probe: a / b and the square root of a. */
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

static void make_inputs(rounding_probe *data)
{
    uint64_t state = 3;
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint64_t r = caromi_probe_next(&state), s = caromi_probe_next(&state);
        switch (i & 3) {
        case 0: hard_quotient(r, &data->a[i], &data->b[i]); break;
        case 1:
            data->a[i] = hard_square(r);
            data->b[i] = caromi_probe_float((uint32_t)s, 64 + (uint32_t)(s >> 1 & 127), (uint32_t)(s >> 32));
            break;
        case 2: /* arbitrary finite numbers, with mostly finite quotients; roots of positive numbers */
            data->a[i] = caromi_probe_float(0, (uint32_t)(r >> 32) % 255, (uint32_t)r);
            data->b[i] = caromi_probe_float((uint32_t)s, (uint32_t)(s >> 32) % 255, (uint32_t)(s >> 1));
            break;
        default: /* denormals over small integers and powers of two */
            data->a[i] = caromi_probe_float(0, (uint32_t)(r >> 40) & 1, (uint32_t)r >> (r >> 56) % 23);
            data->b[i] = s & 1 ? (float)(s >> 58) + 1 : caromi_probe_float(0, 100 + (uint32_t)(s >> 32) % 60, 0);
            break;
        }
    }
}

static carom_status launch_rounding(caromi_device *device, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(device, CAROMI_PROGRAM_ROUNDING);
    (void)user;
    caromi_set_columns(&arguments, slot->in, 2);
    caromi_set_columns(&arguments, slot->out, 2);
    return caromi_launch_chunk(device, slot, &arguments, slot->padded / device->lanes, err);
}

static carom_status run_probe(caromi_device *device, rounding_probe *data, carom_error *err)
{
    const caromi_in_column in[] = {{.base = data->a, .stride = sizeof(float)},
                                   {.base = data->b, .stride = sizeof(float)}};
    const caromi_out_column out[] = {{data->quotient, sizeof(float)}, {data->root, sizeof(float)}};
    const caromi_stream stream = {.count = COUNT,
                                  .chunk = device->max_items * device->lanes,
                                  .in_count = 2,
                                  .out_count = 2,
                                  .in = in,
                                  .out = out,
                                  .out_size = {4, 4},
                                  .launch = launch_rounding};
    uint64_t done = 0;
    carom_stats stats = {.size = sizeof stats};
    carom_status status = caromi_stream_run(device, &stream, &done, &stats, err);
    if (status != CAROM_OK)
        return status;
    for (uint32_t i = 0; i < COUNT; i++)
        data->expected[i] = data->a[i] / data->b[i];
    status = caromi_probe_compare(device, CAROMI_PROGRAM_ROUNDING, COUNT, 0, data->quotient, data->expected,
                                  sizeof(float), err);
    if (status != CAROM_OK)
        return status;
    for (uint32_t i = 0; i < COUNT; i++)
        data->expected[i] = sqrtf(data->a[i]);
    return caromi_probe_compare(device, CAROMI_PROGRAM_ROUNDING, COUNT, 1, data->root, data->expected, sizeof(float),
                                err);
}

/* Tests quotients and square roots of a device that does not promise correct rounding. */
carom_status caromi_probe_rounding(caromi_device *device, carom_error *err)
{
    carom_status status = caromi_program_build(device, CAROMI_PROGRAM_ROUNDING, err);
    if (status != CAROM_OK)
        return status;
    rounding_probe *data = caromi_alloc(device->context, 1, sizeof *data);
    if (data == NULL)
        return caromi_fail_memory(err, "no memory for the bit probe (%zu bytes)", sizeof *data);
    make_inputs(data);
    device->probing = 1;
    status = run_probe(device, data, err);
    device->probing = 0;
    caromi_free(device->context, data);
    return status;
}
