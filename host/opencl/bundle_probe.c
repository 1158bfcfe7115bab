/* SPDX-License-Identifier: MIT */
/* The probe of bundles that stay on the device: rounds whose answers the host makes up, of any hits and of closest
 * points with equal depths, invalid queries and bundles of these alone. */
#include <math.h>
#include <string.h>

#include "bundle.h"
#include "host/core/staging.h"
#include "probe.h"

enum {
    SIZE = 5,
    BUNDLES = 203, /* some groups, the last one incomplete */
    QUERIES = SIZE * BUNDLES,
    ODD = 3,                                                        /* where results begin */
    RESULT = ODD + BUNDLES * 16,                                    /* bytes */
    RADII = (int)CAROMI_BUNDLE_ANSWER + (int)CAROMI_ANSWER_INSTANCE /* memory that no round needs here */
};
static const float MOST = 2.5f; /* of distances */
static const caromi_round_sizes sizes = {BUNDLES, 2 * BUNDLES - 1, QUERIES};

typedef struct bundle_probe {
    uint32_t order[QUERIES]; /* a selection */
    uint8_t hit[QUERIES];
    float radius[QUERIES], depth[QUERIES]; /* by element, by query */
    uint32_t number[QUERIES], element[QUERIES], word[QUERIES];
    uint8_t byte[QUERIES];
    float limit[QUERIES];
    float best[BUNDLES]; /* NaN: none is valid yet */
    uint8_t got[RESULT], expected[RESULT];
    cl_mem select, to;
} bundle_probe;

static void make(bundle_probe *data)
{
    uint64_t state = 17;
    for (uint32_t i = 0; i < QUERIES; i++)
        data->order[i] = (i * 8 + 5) % QUERIES;
    for (uint32_t i = 0; i < QUERIES; i++) {
        const uint64_t r = caromi_probe_next(&state);
        const int is_invalid = i / SIZE % 7 == 0 || (r & 7) == 1, is_zero = (r & 7) == 2;
        data->hit[i] = is_invalid ? OVERLAP_INVALID : (r & 0x300) == 0;
        data->radius[data->order[i]] = is_invalid ? -1.0f : is_zero ? 0.0f : 0.75f;
        data->depth[i] = is_invalid || (r & 7) == 3 ? -INFINITY
                         : is_zero                  ? ((r & 0x400) != 0 ? 0.0f : -0.0f)
                                                    : 0.75f - (float)(r >> 12 & 3) * 0.5f;
    }
}

static carom_status write_all(const bundle_job *job, uint32_t memory, const void *data, size_t bytes, carom_error *err)
{
    return caromi_write_at(job->device, job->slot->queue, *caromi_bundle_memory(job, memory), CAROMI_BEGIN, data, bytes,
                           NULL, err);
}

static carom_status read_all(const bundle_job *job, uint32_t memory, void *data, size_t bytes, carom_error *err)
{
    return caromi_read(job->device, job->slot->queue, *caromi_bundle_memory(job, memory), CAROMI_BEGIN, data, bytes,
                       CAROMI_WAIT, NULL, NULL, err);
}

static carom_status fail(const bundle_job *job, const char *what, carom_error *err)
{
    return caromi_fail(err, CAROM_ERROR_NOT_BIT_EXACT, CAROMI_NO_NATIVE_CODE,
                       "%.80s was refused: kernel %s differs from the CPU", job->device->info.name, what);
}

/* Whether a row of a round has a query of the selection, of whose elements `last` is the last one, or none. */
static int is_listed(const bundle_job *job, const bundle_probe *data, uint32_t r, uint32_t last)
{
    const uint32_t number = data->number[r], element = data->element[r];
    if (number == BUNDLE_NO_QUERY)
        return job->has_room_for_all && element == RESIDENT_NONE;
    return number < QUERIES && element == (data->order[number] < last ? data->order[number] : last);
}

/* Lists a round, and reads which queries it has. */
static carom_status list(bundle_job *job, bundle_probe *data, uint32_t count, uint32_t last, carom_error *err)
{
    const caromi_resident select = {data->select, 0};
    CHECK(caromi_bundle_list(job, &select, sizeof *data->order, last, err));
    CHECK(caromi_bundle_settle(job, err));
    CHECK(read_all(job, CAROMI_BUNDLE_NUMBER, data->number, count * sizeof *data->number, err));
    CHECK(read_all(job, CAROMI_BUNDLE_ELEMENT, data->element, count * sizeof *data->element, err));
    for (uint32_t r = 0; r < count; r++)
        if (!is_listed(job, data, r, last))
            return fail(job, "bundle_list", err);
    return CAROM_OK;
}

static carom_status clear_results(bundle_job *job, bundle_probe *data, carom_error *err)
{
    memset(data->expected, 0xa5, RESULT);
    return caromi_write_at(job->device, job->slot->queue, data->to, CAROMI_BEGIN, data->expected, RESULT, NULL, err);
}

static carom_status compare_results(bundle_job *job, bundle_probe *data, uint32_t program, carom_error *err)
{
    CHECK(caromi_bundle_settle(job, err));
    CHECK(caromi_read(job->device, job->slot->queue, data->to, CAROMI_BEGIN, data->got, RESULT, CAROMI_WAIT, NULL, NULL,
                      err));
    return caromi_probe_compare(job->device, program, RESULT, 0, data->got, data->expected, 1, err);
}

/* has_room_for_all: what the rows without a query have for an answer does not count. */
static carom_status run_hits(bundle_job *job, bundle_probe *data, int has_room_for_all, carom_error *err)
{
    const caromi_resident to = {data->to, ODD};
    job->has_room_for_all = has_room_for_all;
    CHECK(clear_results(job, data, err));
    caromi_rounds_begin(&job->rounds, 0, QUERIES);
    CHECK(caromi_bundle_begin(job, err));
    for (uint32_t count; (count = caromi_rounds_next(&job->rounds)) > 0;) {
        CHECK(list(job, data, count, QUERIES - 3, err));
        for (uint32_t r = 0; r < count; r++)
            data->byte[r] = data->number[r] == BUNDLE_NO_QUERY ? 1 : data->hit[data->number[r]];
        CHECK(write_all(job, CAROMI_BUNDLE_ANSWER, data->byte, count, err));
        CHECK(caromi_bundle_add_hits(job, err));
    }
    CHECK(caromi_bundle_answer(job, RESIDENT_BYTES, &to, err));
    for (uint32_t i = 0; i < BUNDLES; i++) {
        int has_hit = 0, has_invalid = 0;
        for (uint32_t k = 0; k < SIZE; k++) {
            has_hit |= data->hit[i * SIZE + k] == 1;
            has_invalid |= data->hit[i * SIZE + k] == OVERLAP_INVALID;
        }
        data->expected[ODD + i] = has_hit ? 1 : has_invalid ? OVERLAP_INVALID : 0;
    }
    return compare_results(job, data, CAROMI_PROGRAM_BUNDLE_LEFT, err);
}

/* Limits let all distances pass at which a query reaches the best depth so far, and few others. */
static carom_status check_limits(bundle_job *job, const bundle_probe *data, uint32_t count, carom_error *err)
{
    for (uint32_t r = 0; r < count; r++) {
        const double radius = (double)data->radius[data->element[r]], best = (double)data->best[data->number[r] / SIZE],
                     needed = radius - best, limit = (double)data->limit[r];
        const int has_best = !isnan(best) && needed < (double)MOST;
        if (has_best ? limit < needed || limit > (needed > 0 ? needed : 0) + 0x1p-18 : limit != (double)MOST)
            return fail(job, "bundle_limit", err);
    }
    return CAROM_OK;
}

/* A round: each query's triangle and feature are made of its number. */
static carom_status run_round(bundle_job *job, bundle_probe *data, const caromi_mesh_batch *round, uint32_t count,
                              carom_error *err)
{
    CHECK(list(job, data, count, UINT32_MAX, err));
    CHECK(caromi_bundle_limit(job, round, err));
    CHECK(caromi_bundle_settle(job, err));
    CHECK(read_all(job, CAROMI_BUNDLE_LIMIT, data->limit, count * sizeof *data->limit, err));
    CHECK(check_limits(job, data, count, err));
    for (uint32_t r = 0; r < count; r++) {
        const uint32_t number = data->number[r];
        float *best = &data->best[number / SIZE];
        const float depth = data->depth[number];
        memcpy(&data->word[r], &depth, sizeof depth);
        data->byte[r] = (uint8_t)(number * 7);
        if (data->radius[data->element[r]] >= 0 && !(depth <= *best))
            *best = depth;
    }
    CHECK(write_all(job, CAROMI_BUNDLE_ANSWER + CAROMI_ANSWER_DEPTH, data->word, count * sizeof *data->word, err));
    CHECK(write_all(job, CAROMI_BUNDLE_ANSWER + CAROMI_ANSWER_FEATURE, data->byte, count, err));
    for (uint32_t r = 0; r < count; r++)
        data->word[r] = data->number[r] * 0x01020305;
    CHECK(write_all(job, CAROMI_BUNDLE_ANSWER + CAROMI_ANSWER_TRIANGLE, data->word, count * sizeof *data->word, err));
    return caromi_bundle_add_depths(job, round, err);
}

/* The query that a bundle's answer is of. */
static uint32_t winner_of(const bundle_probe *data, uint32_t bundle, int *is_valid)
{
    uint32_t best = bundle * SIZE;
    *is_valid = 0;
    for (uint32_t k = bundle * SIZE; k < (bundle + 1) * SIZE; k++)
        if (data->radius[data->order[k]] >= 0 && (!*is_valid || data->depth[k] > data->depth[best])) {
            best = k;
            *is_valid = 1;
        }
    return best;
}

/* Results of a bundle: words 6 bytes apart, features behind them, then numbers of queries. */
enum { TRIANGLES = ODD, FEATURES = ODD + 6 * BUNDLES, NUMBERS = ODD + 7 * BUNDLES };
static carom_status run_depths(bundle_job *job, bundle_probe *data, carom_error *err)
{
    static const float one = 1;
    const caromi_resident triangles = {data->to, TRIANGLES}, features = {data->to, FEATURES},
                          numbers = {data->to, NUMBERS};
    caromi_mesh_batch round = {
        .in = {[MESH_CX] = {.base = &one}, [MESH_CY] = {.base = &one}, [MESH_CZ] = {.base = &one}}};
    round.in[MESH_RADIUS] = (caromi_in_column){.base = caromi_bundle_array(job, RADII), .stride = sizeof(float)};
    round.in[MESH_MAX_DISTANCE] = (caromi_in_column){.base = &MOST};
    for (uint32_t i = 0; i < BUNDLES; i++)
        data->best[i] = NAN;
    CHECK(clear_results(job, data, err));
    CHECK(write_all(job, RADII, data->radius, sizeof data->radius, err));
    caromi_rounds_begin(&job->rounds, 0, QUERIES);
    CHECK(caromi_bundle_begin(job, err));
    for (uint32_t count; (count = caromi_rounds_next(&job->rounds)) > 0;) {
        CHECK(run_round(job, data, &round, count, err));
        CHECK(caromi_bundle_store(job, CAROMI_ANSWER_TRIANGLE, &triangles, 6, err));
        CHECK(caromi_bundle_store(job, CAROMI_ANSWER_FEATURE, &features, 1, err));
    }
    CHECK(caromi_bundle_answer(job, RESIDENT_WORDS, &numbers, err));
    for (uint32_t i = 0; i < BUNDLES; i++) {
        int is_valid;
        const uint32_t winner = winner_of(data, i, &is_valid), word = winner * 0x01020305;
        const int64_t number = is_valid ? (int64_t)winner : -1;
        memcpy(data->expected + TRIANGLES + 6 * i, &word, sizeof word);
        data->expected[FEATURES + i] = (uint8_t)(winner * 7);
        memcpy(data->expected + NUMBERS + 8 * i, &number, sizeof number);
    }
    return compare_results(job, data, CAROMI_PROGRAM_BUNDLE_STORE, err);
}

static carom_status run_both(bundle_job *job, bundle_probe *data, carom_error *err)
{
    CHECK(caromi_bundle_open(job, ~0u << CAROMI_BUNDLE_SHOWN, err));
    CHECK(caromi_make_buffer(job->device, "the bit probe", CL_MEM_READ_WRITE, sizeof data->order, NULL, &data->select,
                             err));
    CHECK(caromi_make_buffer(job->device, "the bit probe", CL_MEM_READ_WRITE, RESULT, NULL, &data->to, err));
    CHECK(caromi_write_at(job->device, job->slot->queue, data->select, CAROMI_BEGIN, data->order, sizeof data->order,
                          NULL, err));
    CHECK(run_hits(job, data, 0, err));
    CHECK(run_hits(job, data, 1, err));
    return run_depths(job, data, err);
}

static carom_status run(caromi_device *device, void *memory, carom_error *err)
{
    const caromi_mesh_batch batch = {.bundle = SIZE};
    carom_stats stats = {.size = sizeof stats};
    bundle_probe *data = memory;
    bundle_job job = {.device = device,
                      .context = (carom_context *)device->context,
                      .slot = &device->slots[0],
                      .own_queue = device->slots[0].queue,
                      .stats = &stats,
                      .rounds = caromi_rounds_of(&batch, QUERIES, &sizes)};
    make(data);
    const carom_status status = run_both(&job, data, err);
    if (status != CAROM_OK)
        (void)caromi_slot_settle(device, job.slot, &stats, NULL);
    caromi_bundle_close(&job);
    caromi_release_buffer(&data->select);
    caromi_release_buffer(&data->to);
    return status;
}

carom_status caromi_probe_bundles(caromi_device *device, carom_error *err)
{
    return caromi_probe_programs(device, CAROMI_PROGRAM_BUNDLE_FIRST, CAROMI_PROGRAM_BUNDLE_LAST, sizeof(bundle_probe),
                                 run, err);
}
