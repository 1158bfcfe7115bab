/* SPDX-License-Identifier: MIT */
/* The bit probe: before its first use, each built program answers a fixed batch of hard inputs, and must give the bits
 * of the scalar CPU code. So claims of a device about its arithmetic need no trust, nor does a compiler changed by the
 * user's environment. */
#include <math.h>
#include <string.h>

#include "enqueue.h"
#include "host/mesh/mesh.h"
#include "probe.h"

enum { PAIRS = 4096 };

uint64_t caromi_probe_next(uint64_t *state)
{
    /* splitmix64 (Steele, Lea, Flood). */
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A binary32 number from its fields. */
float caromi_probe_float(uint32_t sign, uint32_t exponent, uint32_t mantissa)
{
    const uint32_t bits = (sign & 1) << 31 | (exponent & 255) << 23 | (mantissa & 0x7fffff);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Kinds of numbers; the first two are in the header. */
enum { NEAR = CAROMI_PROBE_NEAR, LATTICE = CAROMI_PROBE_LATTICE, FAR, TINY, DENORMAL, HUGE_ONE, RAW, WIDE, KINDS };

/* A pseudorandom number of a kind. */
float caromi_probe_number(uint64_t *state, uint32_t kind)
{
    const uint64_t r = caromi_probe_next(state);
    const uint32_t sign = (uint32_t)(r >> 63), mantissa = (uint32_t)r & 0x7fffff, pick = (uint32_t)(r >> 32) & 0xffff;
    switch (kind) {
    case LATTICE: return (float)((int)(pick % 5) - 2);
    case FAR: return caromi_probe_float(sign, 127 + 14 + pick % 8, mantissa);
    case TINY: return caromi_probe_float(sign, 1 + pick % 30, mantissa);
    case DENORMAL: return caromi_probe_float(sign, 0, mantissa >> pick % 23);
    case HUGE_ONE: return caromi_probe_float(sign, 227 + pick % 28, mantissa);
    case RAW: return caromi_probe_float(sign, pick, mantissa);
    case WIDE: return caromi_probe_float(sign, 67 + pick % 120, mantissa);
    default: return 2 * ((float)(r >> 40) * 0x1p-24f) - 1;
    }
}

/* Fills a row. Kernels read different things from a column, but triples of columns are mostly points: so triples are
 * copied or cleared. */
void caromi_probe_row(uint64_t *state, float *row, uint32_t columns, uint32_t radii)
{
    const uint64_t r = caromi_probe_next(state);
    assert(columns >= 7);
    /* The last four kinds stand for coordinates near 0, which give most hits. */
    const uint32_t kind = (uint32_t)r % (KINDS + 4);
    for (uint32_t c = 0; c < columns; c++)
        row[c] = caromi_probe_number(state, kind);
    const uint32_t from = (uint32_t)(r >> 8) % (columns - 3), to = (uint32_t)(r >> 16) % (columns - 3);
    switch (r >> 24 & 15) {
    case 0: /* two equal points */ memmove(row + to, row + from, 3 * sizeof *row); break;
    case 1: /* no motion, or a point at the origin */ memset(row + 4, 0, 3 * sizeof *row); break;
    case 2: /* one number of another kind */ row[from] = caromi_probe_number(state, (uint32_t)(r >> 32) % KINDS); break;
    case 3: /* far away */
        for (uint32_t c = 0; c < 3; c++)
            row[c] = caromi_probe_number(state, FAR);
        break;
    case 4: /* along an axis */ row[4] = row[5] = 0; break;
    default: break;
    }
    for (uint32_t c = 0; (r >> 40 & 15) != 0 && c < columns; c++) /* makes most radii valid */
        if (radii >> c & 1)
            row[c] = fabsf(row[c]);
}

uint64_t caromi_probe_sphere(uint64_t *state, float *row, uint32_t columns, uint32_t radii)
{
    const uint64_t random = caromi_probe_next(state);
    caromi_probe_row(state, row, columns, radii);
    for (uint32_t k = 0; k < columns; k++) {
        if (random % 8 != 0)
            row[k] = caromi_probe_number(state, random % 2 ? CAROMI_PROBE_LATTICE : CAROMI_PROBE_NEAR);
        row[k] = radii >> k & 1 ? fabsf(row[k]) : row[k];
    }
    return random;
}

/* The error for a device whose results differ. */
static carom_status refuse(const caromi_device *device, uint32_t program, uint32_t element, uint32_t column,
                           const void *got, const void *expected, size_t size, carom_error *err)
{
    uint64_t a = 0, b = 0; /* offsets are the widest columns */
    assert(size <= sizeof a);
    memcpy(&a, got, size);
    memcpy(&b, expected, size);
    return caromi_fail(
        err, CAROM_ERROR_NOT_BIT_EXACT, CAROMI_NO_NATIVE_CODE,
        "%.80s was refused: its bits differ from the CPU's: kernel %s, probe %u, column %u: %#llx, not %#llx",
        device->info.name, caromi_program_name(program), element, column, (unsigned long long)a, (unsigned long long)b);
}

/* Compares a column of results with the expected one, bit by bit. */
carom_status caromi_probe_compare(const caromi_device *device, uint32_t program, uint32_t count, uint32_t column,
                                  const void *got, const void *expected, size_t size, carom_error *err)
{
    const char *a = got, *b = expected;
    if (memcmp(a, b, count * size) == 0)
        return CAROM_OK;
    uint32_t i = 0;
    while (memcmp(a + i * size, b + i * size, size) == 0)
        i++;
    return refuse(device, program, i, column, a + i * size, b + i * size, size, err);
}

static int is_open(const caromi_pair_shape *shape, const float *column, uint32_t i)
{
    return shape->out_bytes & 1 ? ((const uint8_t *)column)[i] == OVERLAP_UNDECIDED : isnan(column[i]);
}

/* Masks undecided rows of exact mode, which have no answer to compare: sets all their columns to the mark, on both
 * sides. A device that fuses other operations than the CPU may leave a few other rows undecided. Returns the number of
 * rows that only the device leaves undecided. */
static uint32_t clear_open(enum caromi_pair_kernel kernel, float (*got)[PAIRS], float (*expected)[PAIRS])
{
    const caromi_pair_shape *shape = &caromi_pair_shapes[kernel];
    uint32_t device_only = 0;
    for (uint32_t i = 0; caromi_is_exact(kernel) && i < PAIRS; i++) {
        const int by_device = is_open(shape, got[0], i), by_cpu = is_open(shape, expected[0], i);
        device_only += by_device && !by_cpu;
        for (uint32_t c = 0; (by_device || by_cpu) && c < shape->out_count; c++) {
            const size_t size = caromi_out_size(shape, c);
            memset((char *)got[c] + i * size, 0xff, size);
            memset((char *)expected[c] + i * size, 0xff, size);
        }
    }
    return device_only;
}

/* Inputs and results of the probe of a pair kernel. */
typedef struct pair_probe {
    float in[COLUMNS_MAX][PAIRS];
    float got[COLUMNS_MAX][PAIRS], expected[COLUMNS_MAX][PAIRS];
} pair_probe;

/* Runs a pair kernel on hard inputs, on the CPU and on the device, and compares. */
static carom_status run_pair_probe(caromi_device *device, enum caromi_pair_kernel kernel, pair_probe *data,
                                   carom_error *err)
{
    const caromi_pair_shape *shape = &caromi_pair_shapes[kernel];
    caromi_pair_batch batch;
    const float *in[COLUMNS_MAX];
    void *expected[COLUMNS_MAX];
    uint64_t state = 1, done = 0;
    carom_stats stats = {.size = sizeof stats};
    /* Hard inputs, column by column. */
    for (uint32_t i = 0; i < PAIRS; i++) {
        float row[COLUMNS_MAX];
        caromi_probe_row(&state, row, shape->in_count, shape->in_radii);
        for (uint32_t c = 0; c < shape->in_count; c++)
            data->in[c][i] = row[c];
    }
    memset(&batch, 0, sizeof batch);
    batch.kernel = kernel;
    batch.count = PAIRS;
    for (uint32_t c = 0; c < shape->in_count; c++) {
        batch.in[c] = (caromi_in_column){.base = data->in[c], .stride = sizeof(float)};
        in[c] = data->in[c];
    }
    for (uint32_t c = 0; c < shape->out_count; c++) {
        batch.out[c] = (caromi_out_column){data->got[c], caromi_out_size(shape, c)};
        expected[c] = data->expected[c];
    }
    /* Scalar code gives the expected results. */
    int chosen;
    caromi_isa_select(CAROM_ISA_SCALAR, &chosen)->pairs[kernel](in, expected, PAIRS, 0);
    carom_status status = caromi_stream_pairs(device, &batch, PAIRS, &done, &stats, err);
    /* In exact mode the device may leave a few more pairs undecided than the CPU. */
    const uint32_t more_open = clear_open(kernel, data->got, data->expected);
    if (status == CAROM_OK && more_open > PAIRS / 32)
        status = caromi_fail(err, CAROM_ERROR_NOT_BIT_EXACT, CAROMI_NO_NATIVE_CODE,
                             "%.80s was refused: kernel %s leaves %u of %u probes open that the CPU settles",
                             device->info.name, caromi_program_name((uint32_t)kernel), more_open, (unsigned)PAIRS);
    for (uint32_t c = 0; status == CAROM_OK && c < shape->out_count; c++)
        status = caromi_probe_compare(device, kernel, PAIRS, c, data->got[c], data->expected[c],
                                      caromi_out_size(shape, c), err);
    return status;
}

carom_status caromi_probe_pairs(caromi_device *device, enum caromi_pair_kernel kernel, carom_error *err)
{
    caromi_program *program = &device->programs[kernel];
    if (program->probed)
        return CAROM_OK;
    CHECK(caromi_enqueue_refuse(device->context, err));
    carom_status status = caromi_program_build(device, kernel, err);
    if (status != CAROM_OK)
        return status;
    pair_probe *data = caromi_alloc(device->context, 1, sizeof *data);
    if (data == NULL)
        return caromi_fail_memory(err, "no memory for the bit probe (%zu bytes)", sizeof *data);
    memset(data, 0, sizeof *data);
    device->probing = 1;
    status = run_pair_probe(device, kernel, data, err);
    device->probing = 0;
    program->probed = status == CAROM_OK;
    caromi_free(device->context, data);
    return status;
}

carom_status caromi_probe_mesh_make(carom_context *context, const float *vertices, uint32_t triangles,
                                    const uint32_t *masks, carom_mesh **out, carom_error *err)
{
    const carom_mesh_desc desc = {.size = sizeof desc,
                                  .vertices = carom_xyz(vertices),
                                  .vertex_count = 3 * (uint64_t)triangles,
                                  .triangle_count = triangles,
                                  .masks = {masks, sizeof *masks}};
    return caromi_mesh_make(context, &desc, MESH_WIDEST, out, err);
}

carom_status caromi_probe_programs(caromi_device *device, uint32_t first, uint32_t last, size_t bytes,
                                   carom_status (*run)(caromi_device *device, void *data, carom_error *err),
                                   carom_error *err)
{
    if (device->programs[last].probed)
        return CAROM_OK;
    for (uint32_t program = first; program <= last; program++)
        if (device->info.fp64 || !caromi_program_needs_fp64(program))
            CHECK(caromi_program_build(device, program, err));
    void *data = caromi_alloc(device->context, 1, bytes);
    if (data == NULL)
        return caromi_fail_memory(err, "no memory for the bit probe (%zu bytes)", bytes);
    memset(data, 0, bytes);
    device->probing = 1;
    const carom_status status = run(device, data, err);
    device->probing = 0;
    device->programs[last].probed = status == CAROM_OK;
    caromi_free(device->context, data);
    return status;
}
