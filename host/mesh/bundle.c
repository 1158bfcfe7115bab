/* SPDX-License-Identifier: MIT */
/* Bundles are answered in rounds. A round is a batch of single queries: the next queries of each bundle whose answer
 * may still change. So rounds have the searches, threads, sorting and culling of any batch, and an answer is put
 * together from single answers, whatever the rounds are.
 *
 *   any       a bundle with a hit is in no further round
 *   closest   the largest depth so far limits the distance of the searches that follow: a sphere that is farther from
 *             the mesh cannot have the answer */
#include "bundle.h"

#include <math.h>
#include <string.h>

#include "host/core/device.h"
#include "host/core/staging.h"
#include "list.h"
#include "query.h"
#include "rounds.h"

/* Who answers the rounds. */
typedef struct bundle_way {
    const carom_context *context;
    caromi_device *device; /* NULL: the CPU */
    const caromi_round_sizes *sizes;
} bundle_way;

/* Fewer queries do not fill the interleaved traversals. */
static const caromi_round_sizes cpu_rounds = {1 << 13, 16, 1 << 17};

static bundle_way way_of_cpu(const carom_context *context)
{
    return (bundle_way){context, NULL, &cpu_rounds};
}

static bundle_way way_of_device(const carom_context *context, caromi_device *device)
{
    return (bundle_way){context, device, &caromi_device_rounds};
}

/* Between the rounds of a device, which no thread of the CPU's looks after. */
static carom_status went_on(const bundle_way *way)
{
    return way->device != NULL ? caromi_went_on_between(way->context) : CAROM_OK;
}

/* Bundles that are answered together, and the queries of their present round. */
typedef struct bundle_rounds {
    const caromi_mesh_batch *batch;
    caromi_index select; /* the batch's */
    caromi_rounds plan;
    uint32_t *bundle;  /* [plan.most] numbers of those that are left */
    uint32_t *number;  /* [plan.capacity] the round's queries, counted from the first one of all bundles */
    uint32_t *element; /* [plan.capacity] which element of the batch's columns each of them reads */
} bundle_rounds;

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

static void rounds_free(const carom_context *context, bundle_rounds *rounds)
{
    caromi_free(context, rounds->bundle);
    caromi_free(context, rounds->number);
    if (rounds->element != rounds->number)
        caromi_free(context, rounds->element);
}

/* Memory for the rounds of so many queries; rounds_free in any case. */
static carom_status rounds_create(const bundle_way *way, const caromi_mesh_batch *batch, uint64_t queries,
                                  bundle_rounds *rounds, carom_error *err)
{
    const carom_context *context = way->context;
    const caromi_rounds plan = caromi_rounds_of(batch, queries, way->sizes);
    *rounds = (bundle_rounds){.batch = batch, .select = caromi_rounds_select(batch), .plan = plan};
    rounds->bundle = caromi_alloc(context, plan.most, sizeof *rounds->bundle);
    rounds->number = caromi_alloc(context, plan.capacity, sizeof *rounds->number);
    rounds->element =
        rounds->select.base == NULL ? rounds->number : caromi_alloc(context, plan.capacity, sizeof *rounds->element);
    if (rounds->bundle != NULL && rounds->number != NULL && rounds->element != NULL)
        return CAROM_OK;
    return caromi_fail_memory(err, "no memory for rounds of %u queries", plan.capacity);
}

/* Begins with the bundles from query `first` on. */
static void rounds_begin(bundle_rounds *rounds, uint64_t first, uint64_t end)
{
    caromi_rounds_begin(&rounds->plan, first, end);
    for (uint32_t i = 0; i < rounds->plan.count; i++)
        rounds->bundle[i] = i;
}

/* Lists the queries of the next round; 0: there is none. */
static int rounds_next(bundle_rounds *rounds)
{
    const uint32_t count = caromi_rounds_next(&rounds->plan), size = rounds->plan.size;
    uint32_t *number = rounds->number, at = rounds->plan.at;
    for (uint32_t j = 0; count > 0 && j < rounds->plan.members; j++) {
        for (uint32_t i = 0; i < rounds->plan.left; i++)
            *number++ = rounds->bundle[i] * size + at;
        at = (uint32_t)(((uint64_t)at + rounds->plan.step) % size);
    }
    for (uint32_t i = 0; rounds->element != rounds->number && i < count; i++)
        rounds->element[i] = (uint32_t)caromi_index_at(&rounds->select, rounds->plan.first + rounds->number[i]);
    return count > 0;
}

/* The present round as a batch of single queries, with the outputs of the whole batch. */
static void batch_of(const bundle_rounds *rounds, caromi_mesh_batch *batch)
{
    caromi_round_batch(&rounds->plan, rounds->batch, rounds->element, batch);
}

/* ---- any hit ----------------------------------------------------------------------------------------------------- */

/* Adds the answers of a round; bundles with a hit leave. A hit comes before an invalid query, so nothing that they
 * have left can change their answer. */
static void add_hits(bundle_rounds *rounds, const uint8_t *hit, uint8_t *answer)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < rounds->plan.left; i++) {
        const uint32_t bundle = rounds->bundle[i];
        uint8_t found = answer[bundle];
        for (uint32_t j = 0; j < rounds->plan.members && found != 1; j++) {
            const uint8_t member = hit[(size_t)j * rounds->plan.left + i];
            found = member != 0 ? member : found;
        }
        answer[bundle] = found;
        rounds->bundle[left] = bundle;
        left += found != 1;
    }
    rounds->plan.left = left;
}

/* Answers a round. */
static carom_status ask_any(const bundle_way *way, const caromi_list_batch *round, carom_stats *stats, carom_error *err)
{
    const uint64_t count = round->sweep.count;
    uint64_t done = 0;
    if (way->device != NULL)
        CHECK(caromi_driver.list(way->device, round, count, &done, stats, err));
    return done < count ? round->on_cpu(way->context, round, done, count, stats, err) : CAROM_OK;
}

static carom_status answer_any(const bundle_way *way, const caromi_list_batch *batch, uint64_t first, uint64_t end,
                               carom_stats *stats, carom_error *err)
{
    const carom_context *context = way->context;
    bundle_rounds rounds;
    carom_status status = rounds_create(way, &batch->sweep, end - first, &rounds, err);
    uint8_t *hit = caromi_alloc(context, rounds.plan.capacity, sizeof *hit);
    if (status == CAROM_OK && hit == NULL)
        status = caromi_fail_memory(err, "no memory for answers of %u queries", rounds.plan.capacity);
    for (; status == CAROM_OK && first < end; first += (uint64_t)rounds.plan.count * rounds.plan.size) {
        uint8_t *answer = batch->any + first / rounds.plan.size;
        rounds_begin(&rounds, first, end);
        memset(answer, 0, rounds.plan.count);
        while (status == CAROM_OK && rounds_next(&rounds)) {
            caromi_list_batch round = *batch;
            batch_of(&rounds, &round.sweep);
            round.any = hit;
            status = went_on(way);
            if (status == CAROM_OK)
                status = ask_any(way, &round, stats, err);
            if (status == CAROM_OK)
                add_hits(&rounds, hit, answer);
        }
    }
    caromi_free(context, hit);
    rounds_free(context, &rounds);
    return status;
}

carom_status caromi_cpu_any_bundles(const carom_context *context, const void *list_batch, uint64_t first, uint64_t end,
                                    carom_stats *stats, carom_error *err)
{
    const bundle_way way = way_of_cpu(context);
    return answer_any(&way, list_batch, first, end, stats, err);
}

/* ---- closest points ---------------------------------------------------------------------------------------------- */

/* The best answer of a bundle so far. */
typedef struct bundle_best {
    uint32_t number; /* of its query in the bundle */
    float depth;     /* -inf of an invalid query */
    uint8_t is_valid, is_stored;
} bundle_best;

/* Rounds of closest points. */
typedef struct closest_rounds {
    bundle_rounds rounds;
    bundle_best *best;                     /* [rounds.plan.most] */
    float *limit;                          /* [capacity] each query's max_distance; NULL: as the caller gave them */
    char *memory;                          /* of the columns that follow */
    caromi_out_column out[CAROMI_ANSWERS]; /* the round's answers */
} closest_rounds;

/* An upper bound of the distance at which a sphere of this radius has at least this depth, as reported: rounded to
 * binary32. */
static float distance_at_depth(float radius, float depth)
{
    /* fl(radius - d) >= depth only if radius - d >= depth less half of its last place, which is at most 2^-24 of its
     * magnitude, or 2^-150. The rest of `slack` is more than the roundings of binary64 here. */
    const double slack = fabs((double)depth) * 0x1p-24 + ((double)radius + fabs((double)depth)) * 0x1p-50 + 0x1p-149;
    const double distance = (double)radius - (double)depth + slack;
    return distance > 0 ? nextafterf((float)distance, INFINITY) : 0;
}

static float float_at(const caromi_in_column *column, uint64_t query)
{
    float value;
    memcpy(&value, caromi_element(column, query), sizeof value);
    return value;
}

/* Whether a query has an answer: a finite centre and a radius >= 0. */
static int is_valid(const caromi_mesh_batch *batch, uint64_t query)
{
    float radius = 0;
    int valid = 1;
    for (int c = 0; c < MESH_IN_RESTING; c++) {
        const float value = float_at(&batch->in[c], query);
        valid = valid && isfinite(value);
        radius = c == MESH_RADIUS ? value : radius;
    }
    return valid && radius >= 0;
}

/* Allocates the columns of a round: those of the caller, and depths. */
static carom_status closest_create(const bundle_way *way, const caromi_mesh_batch *batch, uint64_t queries,
                                   closest_rounds *closest, carom_error *err)
{
    const carom_context *context = way->context;
    size_t each = 0;
    CHECK(rounds_create(way, batch, queries, &closest->rounds, err));
    const uint32_t capacity = closest->rounds.plan.capacity;
    const int limits = batch->sign == CAROM_SIGN_NONE && closest->rounds.plan.size > 1;
    for (uint32_t k = 0; k < CAROMI_ANSWERS; k++)
        each += k == CAROMI_ANSWER_DEPTH || batch->out[k].base != NULL ? sizeof(float) : 0;
    closest->best = caromi_alloc(context, closest->rounds.plan.most, sizeof *closest->best);
    closest->memory = caromi_alloc(context, capacity, each);
    closest->limit = limits ? caromi_alloc(context, capacity, sizeof *closest->limit) : NULL;
    char *column = closest->memory;
    for (uint32_t k = 0; column != NULL && k < CAROMI_ANSWERS; k++) {
        const int wanted = k == CAROMI_ANSWER_DEPTH || batch->out[k].base != NULL;
        closest->out[k] = (caromi_out_column){wanted ? column : NULL, caromi_answer_size(k)};
        column += wanted ? capacity * sizeof(float) : 0;
    }
    if (closest->best != NULL && closest->memory != NULL && (closest->limit != NULL || !limits))
        return CAROM_OK;
    return caromi_fail_memory(err, "no memory for answers of %u queries", capacity);
}

static void closest_free(const carom_context *context, closest_rounds *closest)
{
    caromi_free(context, closest->best);
    caromi_free(context, closest->memory);
    caromi_free(context, closest->limit);
    rounds_free(context, &closest->rounds);
}

/* Limits the distances of the round's queries: a sphere that is farther away has a smaller depth than its bundle's
 * best. At equal depths the lower number wins, so these are not beyond the limit. A search with a limit has the answer
 * of one without, unless that is farther away. (Inside a body depths grow with distances, so signs set no limit.) */
static void set_limits(closest_rounds *closest)
{
    const bundle_rounds *rounds = &closest->rounds;
    const caromi_mesh_batch *batch = rounds->batch;
    const uint32_t count = rounds->plan.left * rounds->plan.members;
    for (uint32_t i = 0; i < count; i++) {
        const bundle_best *best = &closest->best[rounds->number[i] / rounds->plan.size];
        const uint64_t query = rounds->plan.first + rounds->number[i];
        const float radius = float_at(&batch->in[MESH_RADIUS], query);
        float limit = float_at(&batch->in[MESH_MAX_DISTANCE], query);
        if (best->is_stored && best->is_valid && isfinite(radius)) {
            const float distance = distance_at_depth(radius, best->depth);
            limit = distance < limit ? distance : limit;
        }
        closest->limit[i] = limit;
    }
}

/* Whether an answer replaces the best of its bundle. */
static int is_better(const bundle_best *best, const bundle_best *answer)
{
    if (!best->is_stored || answer->is_valid != best->is_valid)
        return !best->is_stored || answer->is_valid;
    return answer->is_valid &&
           (answer->depth > best->depth || (answer->depth == best->depth && answer->number < best->number));
}

/* Stores an answer of the round as that of its bundle. */
static void store(const closest_rounds *closest, uint32_t i, uint64_t bundle, const bundle_best *best)
{
    const caromi_mesh_batch *batch = closest->rounds.batch;
    for (uint32_t k = 0; k < CAROMI_ANSWERS; k++)
        if (batch->out[k].base != NULL)
            caromi_scatter(&batch->out[k], bundle, (const char *)closest->out[k].base + i * closest->out[k].stride, 1,
                           closest->out[k].stride);
    if (batch->query != NULL)
        batch->query[bundle] = best->is_valid ? (int64_t)(bundle * closest->rounds.plan.size + best->number) : -1;
}

/* Adds the answers of a round. */
static void add_answers(closest_rounds *closest)
{
    const bundle_rounds *rounds = &closest->rounds;
    const uint32_t count = rounds->plan.left * rounds->plan.members;
    const float *depth = closest->out[CAROMI_ANSWER_DEPTH].base;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t bundle = rounds->number[i] / rounds->plan.size;
        bundle_best *best = &closest->best[bundle];
        bundle_best answer = {rounds->number[i] % rounds->plan.size, depth[i], 1, 1};
        if (best->is_stored && best->is_valid && answer.depth < best->depth)
            continue;
        if (isinf(answer.depth) && answer.depth < 0) /* the depth of invalid queries, and of others */
            answer.is_valid = (uint8_t)is_valid(rounds->batch, rounds->plan.first + rounds->number[i]);
        if (!is_better(best, &answer))
            continue;
        *best = answer;
        store(closest, i, rounds->plan.first / rounds->plan.size + bundle, best);
    }
}

/* Answers a round. */
static carom_status ask_closest(const bundle_way *way, const caromi_mesh_batch *round, carom_stats *stats,
                                carom_error *err)
{
    uint64_t done = 0;
    if (way->device != NULL)
        CHECK(caromi_driver.mesh(way->device, round, round->count, &done, stats, err));
    return done < round->count ? caromi_mesh_on_cpu(round->mesh)(way->context, round, done, round->count, stats, err)
                               : CAROM_OK;
}

static carom_status answer_closest(const bundle_way *way, const caromi_mesh_batch *batch, uint64_t first, uint64_t end,
                                   carom_stats *stats, carom_error *err)
{
    closest_rounds closest = {.best = NULL};
    bundle_rounds *rounds = &closest.rounds;
    carom_status status = closest_create(way, batch, end - first, &closest, err);
    for (; status == CAROM_OK && first < end; first += (uint64_t)rounds->plan.count * rounds->plan.size) {
        rounds_begin(rounds, first, end);
        memset(closest.best, 0, rounds->plan.count * sizeof *closest.best);
        while (status == CAROM_OK && rounds_next(rounds)) {
            caromi_mesh_batch round;
            batch_of(rounds, &round);
            memcpy(round.out, closest.out, sizeof round.out);
            if (closest.limit != NULL) {
                set_limits(&closest);
                round.in[MESH_MAX_DISTANCE] = (caromi_in_column){closest.limit, sizeof(float), {NULL, 0}};
            }
            status = went_on(way);
            if (status == CAROM_OK)
                status = ask_closest(way, &round, stats, err);
            if (status == CAROM_OK)
                add_answers(&closest);
        }
    }
    closest_free(way->context, &closest);
    return status;
}

carom_status caromi_cpu_closest_bundles(const carom_context *context, const void *mesh_batch, uint64_t first,
                                        uint64_t end, carom_stats *stats, carom_error *err)
{
    const bundle_way way = way_of_cpu(context);
    return answer_closest(&way, mesh_batch, first, end, stats, err);
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

/* Queries that later rungs have decided. If the device fails, the CPU decides all of them again. */
typedef struct decided {
    uint64_t by_second_filter, by_integers;
} decided;
static decided decided_so_far(const carom_stats *stats)
{
    return (decided){stats->by_second_filter, stats->by_integers};
}
static carom_status end_on_device(carom_status status, decided before, uint64_t end, uint64_t *done, carom_stats *stats)
{
    if (status == CAROM_OK)
        *done = end;
    else {
        stats->by_second_filter = before.by_second_filter;
        stats->by_integers = before.by_integers;
    }
    return status;
}

/* Where the arrays stay on the device, it also chooses the queries of the rounds and puts the answers together
 * (host/opencl/bundle.c). Else all of them come to the host, which does that. */
carom_status caromi_device_any_bundles(caromi_device *device, const void *list_batch, uint64_t end, uint64_t *done,
                                       carom_stats *stats, carom_error *err)
{
    const caromi_list_batch *batch = list_batch;
    const bundle_way way = way_of_device(batch->sweep.mesh->context, device);
    const decided before = decided_so_far(stats);
    caromi_list_batch single = *batch;
    uint64_t all = end;
    single.sweep.bundle = 0;
    /* Prepares; a device that cannot answer says so. */
    CHECK(caromi_driver.list(device, &single, end, &all, stats, err));
    const int needs_fp64 =
        batch->search == CAROMI_MESH_OVERLAPS ? batch->sweep.sign != CAROM_SIGN_NONE : batch->sweep.exact;
    if (needs_fp64 && !caromi_driver.has_fp64(device))
        return CAROM_OK;
    all = *done;
    const carom_status status = caromi_driver.any_bundles(device, batch, end, &all, stats, err);
    if (status != CAROM_OK || all == end)
        return end_on_device(status, before, end, done, stats);
    CHECK(caromi_staging_show(batch->sweep.mesh->context, err));
    return end_on_device(answer_any(&way, batch, *done, end, stats, err), before, end, done, stats);
}

carom_status caromi_device_closest_bundles(caromi_device *device, const void *mesh_batch, uint64_t end, uint64_t *done,
                                           carom_stats *stats, carom_error *err)
{
    const caromi_mesh_batch *batch = mesh_batch;
    const bundle_way way = way_of_device(batch->mesh->context, device);
    const decided before = decided_so_far(stats);
    caromi_mesh_batch single = *batch;
    uint64_t all = end;
    single.bundle = 0;
    single.query = NULL;
    /* Prepares; a device that cannot answer says so. */
    CHECK(caromi_driver.mesh(device, &single, end, &all, stats, err));
    if ((batch->exact || batch->sign != CAROM_SIGN_NONE) && !caromi_driver.has_fp64(device))
        return CAROM_OK;
    all = *done;
    const carom_status status = caromi_driver.closest_bundles(device, batch, end, &all, stats, err);
    if (status != CAROM_OK || all == end)
        return end_on_device(status, before, end, done, stats);
    CHECK(caromi_staging_show(batch->mesh->context, err));
    return end_on_device(answer_closest(&way, batch, *done, end, stats, err), before, end, done, stats);
}
