/* SPDX-License-Identifier: MIT */
/* Bundles whose arrays all lie on the device. They are answered in rounds of single queries, as on the host
 * (host/mesh/bundle.c), but kernels choose the queries of a round and put the answers together (kernels/bundle.cl). The
 * streams of the rounds gather the queries that the kernels have listed, and their answers stay on the device. Of any
 * hits the host reads the number of bundles that are left after each round, of closest points nothing. A call in the
 * caller's queue has all its rounds enqueued, with room for all bundles: a kernel counts those that are left, and the
 * other rows of the round are invalid queries, which end at once. */
#include "bundle.h"

#include "abilities.h"
#include "enqueue.h"
#include "host/core/staging.h"
#include "host/mesh/list.h"

/* ---- which calls ------------------------------------------------------------------------------------------------- */

static int input_stays(const caromi_device *device, const caromi_in_column *column)
{
    return column->base == NULL || column->stride == 0 ||
           (caromi_is_resident(device, column->base) &&
            (column->index.base == NULL || caromi_is_resident(device, column->index.base)));
}

static int inputs_stay(const caromi_device *device, const caromi_mesh_batch *batch)
{
    int stay = input_stays(device, &batch->mask);
    for (int c = 0; c < batch->kind->in; c++)
        stay = stay && input_stays(device, &batch->in[c]);
    return stay;
}

static int outputs_stay(const caromi_device *device, const caromi_mesh_batch *batch)
{
    int stay = batch->query == NULL || caromi_is_resident(device, batch->query);
    for (uint32_t k = 0; k < CAROMI_ANSWERS; k++)
        stay = stay && (batch->out[k].base == NULL || caromi_is_resident(device, batch->out[k].base));
    return stay;
}

/* Whether the device folds these bundles by itself. *serves is 0 if their arrays come to the host: some lie there, or
 * the programs cannot be built. */
static carom_status prepare(caromi_device *device, const caromi_mesh_batch *batch, int outputs_stay, int *serves,
                            carom_error *err)
{
    const caromi_index select = caromi_rounds_select(batch);
    carom_error why = {CAROM_OK, 0, ""};
    *serves = outputs_stay && batch->mesh->scene == NULL && (device->lacking & CAROMI_FOLDS_BUNDLES) == 0 &&
              caromi_has_residents(device->context) && inputs_stay(device, batch);
    if (!*serves)
        return CAROM_OK;
    if (select.base != NULL && caromi_enqueue_last_index(device->context, &select) == UINT32_MAX)
        CHECK(caromi_enqueue_refuse(device->context, err)); /* it may be what means no element in a list of a round */
    CHECK(caromi_probe_resident(device, err));
    const carom_status status = caromi_probe_bundles(device, &why);
    if (status == CAROM_OK)
        return CAROM_OK;
    if (!caromi_gives_up_ability(device, CAROMI_FOLDS_BUNDLES, status))
        return caromi_fail(err, status, why.native_code, "%s", why.message);
    caromi_log(device->context, CAROM_LOG_WARNING, "%s: the arrays of bundles come to the host: %s", device->info.name,
               why.message);
    *serves = 0;
    return CAROM_OK;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

static bundle_job job_of(caromi_device *device, const caromi_mesh_batch *batch, uint64_t queries, carom_stats *stats)
{
    return (bundle_job){.device = device,
                        .context = (carom_context *)device->context,
                        .slot = &device->slots[0],
                        .own_queue = device->slots[0].queue,
                        .batch = batch,
                        .stats = stats,
                        .rounds = caromi_rounds_of(batch, queries, &caromi_device_rounds),
                        .has_room_for_all = device->context->enqueued != NULL};
}

static caromi_resident from_element(caromi_resident array, uint64_t element, size_t stride)
{
    array.at += element * stride;
    return array;
}

/* Lists the queries of a round, and describes it as a batch. */
static carom_status begin_round(bundle_job *job, caromi_mesh_batch *round, carom_error *err)
{
    const caromi_index select = caromi_rounds_select(job->batch);
    const caromi_resident at =
        from_element(caromi_resident_at(job->device, select.base), job->rounds.first, select.stride);
    CHECK(caromi_went_on_between(job->context));
    caromi_enqueue_move(job->context, job->rounds.first);
    CHECK(caromi_bundle_list(job, &at, select.stride, caromi_enqueue_last_index(job->context, &select), err));
    caromi_round_batch(&job->rounds, job->batch, caromi_bundle_array(job, CAROMI_BUNDLE_ELEMENT), round);
    return CAROM_OK;
}

/* Ends a job. Of a failed one no command may still run. */
static carom_status end_job(bundle_job *job, carom_status status, uint64_t end, uint64_t *done, carom_error *err)
{
    if (status == CAROM_OK)
        status = caromi_bundle_settle(job, err);
    else
        (void)caromi_slot_settle(job->device, job->slot, job->stats, NULL);
    caromi_bundle_close(job);
    if (status == CAROM_OK && !job->has_declined)
        *done = end;
    return status;
}

/* ---- any hit ----------------------------------------------------------------------------------------------------- */

static carom_status answer_hits(bundle_job *job, const caromi_list_batch *batch, carom_error *err)
{
    caromi_list_batch round = *batch;
    uint64_t answered = 0;
    CHECK(begin_round(job, &round.sweep, err));
    CHECK(caromi_bundle_settle(job, err)); /* the stream has other queues */
    round.any = caromi_bundle_array(job, CAROMI_BUNDLE_ANSWER);
    CHECK(caromi_device_list(job->device, &round, round.sweep.count, &answered, job->stats, err));
    job->has_declined = answered < round.sweep.count;
    return job->has_declined ? CAROM_OK : caromi_bundle_add_hits(job, err);
}

static carom_status answer_any(bundle_job *job, const caromi_list_batch *batch, uint64_t first, uint64_t end,
                               carom_error *err)
{
    const caromi_resident to = caromi_resident_at(job->device, batch->any);
    const caromi_rounds *rounds = &job->rounds;
    CHECK(caromi_bundle_open(job, 1u << CAROMI_BUNDLE_ELEMENT | 1u << CAROMI_BUNDLE_ANSWER, err));
    for (; first < end && !job->has_declined; first += (uint64_t)rounds->count * rounds->size) {
        const caromi_resident bytes = from_element(to, first / rounds->size, 1);
        caromi_rounds_begin(&job->rounds, first, end);
        CHECK(caromi_bundle_begin(job, err));
        while (!job->has_declined && caromi_rounds_next(&job->rounds) > 0)
            CHECK(answer_hits(job, batch, err));
        CHECK(caromi_bundle_answer(job, RESIDENT_BYTES, &bytes, err));
    }
    return CAROM_OK;
}

carom_status caromi_resident_any_bundles(caromi_device *device, const void *list_batch, uint64_t end, uint64_t *done,
                                         carom_stats *stats, carom_error *err)
{
    const caromi_list_batch *batch = list_batch;
    int serves;
    CHECK(prepare(device, &batch->sweep, caromi_is_resident(device, batch->any), &serves, err));
    if (!serves || *done == end)
        return CAROM_OK;
    bundle_job job = job_of(device, &batch->sweep, end - *done, stats);
    const carom_status status = answer_any(&job, batch, *done, end, err);
    return end_job(&job, status, end, done, err);
}

/* ---- closest points ---------------------------------------------------------------------------------------------- */

/* Whether the best depth of a bundle limits the distances of its other queries: host/mesh/bundle.c, set_limits. */
static int has_limits(const bundle_job *job)
{
    return job->batch->sign == CAROM_SIGN_NONE && job->rounds.size > 1;
}

/* Stores the answers of a round that are the best of their bundles. */
static carom_status store_answers(bundle_job *job, carom_error *err)
{
    for (uint32_t k = 0; k < CAROMI_ANSWERS; k++) {
        const caromi_out_column *out = &job->batch->out[k];
        if (out->base == NULL)
            continue;
        const caromi_resident to =
            from_element(caromi_resident_at(job->device, out->base), job->rounds.first / job->rounds.size, out->stride);
        CHECK(caromi_bundle_store(job, k, &to, out->stride, err));
    }
    return CAROM_OK;
}

static carom_status answer_depths(bundle_job *job, carom_error *err)
{
    caromi_mesh_batch round;
    uint64_t answered = 0;
    CHECK(begin_round(job, &round, err));
    const caromi_mesh_batch of_caller = round;
    if (has_limits(job)) {
        CHECK(caromi_bundle_limit(job, &of_caller, err));
        round.in[MESH_MAX_DISTANCE] =
            (caromi_in_column){caromi_bundle_array(job, CAROMI_BUNDLE_LIMIT), sizeof(float), {NULL, 0}};
    }
    CHECK(caromi_bundle_settle(job, err)); /* the stream has other queues */
    for (uint32_t k = 0; k < CAROMI_ANSWERS; k++)
        round.out[k] = (caromi_out_column){caromi_bundle_array(job, CAROMI_BUNDLE_ANSWER + k), caromi_answer_size(k)};
    CHECK(caromi_device_mesh(job->device, &round, round.count, &answered, job->stats, err));
    job->has_declined = answered < round.count;
    if (job->has_declined)
        return CAROM_OK;
    CHECK(caromi_bundle_add_depths(job, &of_caller, err));
    return store_answers(job, err);
}

static carom_status answer_closest(bundle_job *job, uint64_t first, uint64_t end, carom_error *err)
{
    const caromi_mesh_batch *batch = job->batch;
    const caromi_rounds *rounds = &job->rounds;
    uint32_t shown = 1u << CAROMI_BUNDLE_ELEMENT | (has_limits(job) ? 1u << CAROMI_BUNDLE_LIMIT : 0);
    for (uint32_t k = 0; k < CAROMI_ANSWERS; k++)
        shown |= (uint32_t)(k == CAROMI_ANSWER_DEPTH || batch->out[k].base != NULL) << (CAROMI_BUNDLE_ANSWER + k);
    CHECK(caromi_bundle_open(job, shown, err));
    for (; first < end && !job->has_declined; first += (uint64_t)rounds->count * rounds->size) {
        const caromi_resident query =
            from_element(caromi_resident_at(job->device, batch->query), first / rounds->size, sizeof *batch->query);
        caromi_rounds_begin(&job->rounds, first, end);
        CHECK(caromi_bundle_begin(job, err));
        while (!job->has_declined && caromi_rounds_next(&job->rounds) > 0)
            CHECK(answer_depths(job, err));
        if (query.memory != NULL)
            CHECK(caromi_bundle_answer(job, RESIDENT_WORDS, &query, err));
    }
    return CAROM_OK;
}

carom_status caromi_resident_closest_bundles(caromi_device *device, const void *mesh_batch, uint64_t end,
                                             uint64_t *done, carom_stats *stats, carom_error *err)
{
    const caromi_mesh_batch *batch = mesh_batch;
    int serves;
    CHECK(prepare(device, batch, outputs_stay(device, batch), &serves, err));
    if (!serves || *done == end)
        return CAROM_OK;
    bundle_job job = job_of(device, batch, end - *done, stats);
    const carom_status status = answer_closest(&job, *done, end, err);
    return end_job(&job, status, end, done, err);
}
