/* SPDX-License-Identifier: MIT */
/* Memory and commands of the rounds of bundles (kernels/bundle.cl). */
#include <string.h>

#include "bundle.h"
#include "enqueue.h"
#include "host/core/staging.h"

enum { LINE = 64 /* shown memory begins at multiples */ };
_Static_assert((int)BUNDLE_SHOWN_MEMORIES <= (int)CAROMI_STAGING_WORK, "room for all that is shown");
_Static_assert((int)BUNDLE_GROUP == (int)CAROMI_GROUP, "as many work-items as a group may have");

/* ---- memory ------------------------------------------------------------------------------------------------------ */

void caromi_bundles_release(caromi_device *device)
{
    for (int k = 0; k < CAROMI_BUNDLE_MEMORIES; k++)
        caromi_column_release(device, &device->slots[0], &device->bundles[k]);
}

static carom_status reserve(const bundle_job *job, uint32_t memory, uint64_t words, carom_error *err)
{
    return caromi_reserve(job->device, job->slot, &job->device->bundles[memory], words * sizeof(cl_uint),
                          CAROMI_NO_HOST_POINTER, err);
}

/* Reserves memory of the device, and shows it at addresses of the job's range. */
static carom_status show(bundle_job *job, uint32_t memory, char *at, carom_error *err)
{
    const uint32_t k = memory - CAROMI_BUNDLE_SHOWN;
    CHECK(reserve(job, memory, job->rounds.capacity, err));
    job->store[k] = (caromi_device_memory){job->device, *caromi_bundle_memory(job, memory), 0};
    job->shown[k] = (carom_buffer){.context = job->context,
                                   .where = CAROM_BUFFER_DEVICE,
                                   .base = at,
                                   .bytes = job->rounds.capacity * sizeof(cl_uint),
                                   .use = CAROM_ACCESS_READ_WRITE,
                                   .store = &job->store[k]};
    caromi_staging_add_work(job->context, &job->shown[k]);
    return CAROM_OK;
}

carom_status caromi_bundle_open(bundle_job *job, uint32_t shown, carom_error *err)
{
    const caromi_rounds *rounds = &job->rounds;
    const uint64_t each = (rounds->capacity * sizeof(cl_uint) + LINE - 1) / LINE * LINE;
    job->held = caromi_staging_held(job->context);
    if (job->context->enqueued != NULL)
        job->slot->queue = caromi_enqueue_queue(job->context);
    for (uint32_t memory = 0; memory < CAROMI_BUNDLE_SHOWN; memory++)
        CHECK(reserve(job, memory,
                      memory == CAROMI_BUNDLE_COUNTER ? 2
                      : memory < CAROMI_BUNDLE_OWN    ? rounds->most
                                                      : rounds->capacity,
                      err));
    job->bytes = BUNDLE_SHOWN_MEMORIES * each;
    job->range = caromi_range_reserve(job->bytes);
    if (job->range == NULL)
        return caromi_fail_memory(err, "no addresses for rounds of %u queries", rounds->capacity);
    for (uint32_t k = 0; k < BUNDLE_SHOWN_MEMORIES; k++)
        if ((shown >> (CAROMI_BUNDLE_SHOWN + k) & 1) != 0)
            CHECK(show(job, CAROMI_BUNDLE_SHOWN + k, job->range + k * each, err));
    return CAROM_OK;
}

void caromi_bundle_close(bundle_job *job)
{
    caromi_staging_drop_work(job->context, job->held);
    job->slot->queue = job->own_queue;
    if (job->range != NULL)
        caromi_range_release(job->range, job->bytes);
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static void set_memory(const bundle_job *job, caromi_arguments *arguments, uint32_t memory)
{
    caromi_set_argument(arguments, caromi_bundle_memory(job, memory), sizeof(cl_mem));
}

/* Launches a kernel whose work-items share `count` elements. */
static carom_status launch(const bundle_job *job, caromi_arguments *arguments, uint64_t count, carom_error *err)
{
    const uint64_t most = job->device->max_items;
    caromi_set_uint(arguments, count);
    return caromi_launch_chunk(job->device, job->slot, arguments, count < most ? count : most, err);
}

static uint32_t queries_of(const bundle_job *job)
{
    return job->rounds.left * job->rounds.members;
}

/* Memory of the bundles that are left, before the round or after it. */
static uint32_t left_of(const bundle_job *job, int is_after)
{
    return (job->side ^ is_after) != 0 ? CAROMI_BUNDLE_REMAINING : CAROMI_BUNDLE_LEFT;
}

/* Sets the bundles of the round, and their counters. */
static void set_left(const bundle_job *job, caromi_arguments *arguments)
{
    set_memory(job, arguments, left_of(job, 0));
    set_memory(job, arguments, CAROMI_BUNDLE_COUNTER);
    caromi_set_uint(arguments, (uint64_t)job->side);
}

carom_status caromi_bundle_settle(bundle_job *job, carom_error *err)
{
    if (job->context->enqueued != NULL) /* all commands are in one queue */
        return CAROM_OK;
    return caromi_slot_settle(job->device, job->slot, job->stats, err);
}

carom_status caromi_bundle_begin(bundle_job *job, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_BUNDLE_BEGIN);
    job->side = 0;
    set_memory(job, &arguments, left_of(job, 0));
    set_memory(job, &arguments, CAROMI_BUNDLE_COUNTER);
    set_memory(job, &arguments, CAROMI_BUNDLE_RANK);
    set_memory(job, &arguments, CAROMI_BUNDLE_BEST);
    return launch(job, &arguments, job->rounds.count, err);
}

carom_status caromi_bundle_list(bundle_job *job, const caromi_resident *select, size_t stride, uint32_t last,
                                carom_error *err)
{
    const caromi_rounds *rounds = &job->rounds;
    const caromi_resident any = {*caromi_bundle_memory(job, CAROMI_BUNDLE_RANK), 0}; /* is not read */
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_BUNDLE_LIST);
    set_left(job, &arguments);
    caromi_set_uint(&arguments, rounds->members);
    caromi_set_uint(&arguments, rounds->size);
    caromi_set_uint(&arguments, rounds->at);
    caromi_set_uint(&arguments, rounds->step);
    caromi_set_resident(&arguments, select->memory != NULL ? select : &any);
    caromi_set_ulong(&arguments, stride);
    caromi_set_uint(&arguments, select->memory != NULL ? RESIDENT_INDEXED : RESIDENT_ELEMENT);
    caromi_set_uint(&arguments, last);
    set_memory(job, &arguments, CAROMI_BUNDLE_NUMBER);
    set_memory(job, &arguments, CAROMI_BUNDLE_ELEMENT);
    return launch(job, &arguments, queries_of(job), err);
}

/* Sets a column of the caller's. One number for all queries may lie in the program's memory. */
static void set_column(const bundle_job *job, caromi_arguments *arguments, const caromi_in_column *column)
{
    caromi_resident from = caromi_resident_at(job->device, column->base);
    const int is_word = from.memory == NULL;
    uint32_t word = 0;
    if (is_word) {
        assert(column->stride == 0);
        memcpy(&word, column->base, sizeof word);
        from = (caromi_resident){*caromi_bundle_memory(job, CAROMI_BUNDLE_NUMBER), word}; /* is not read */
    }
    caromi_set_resident(arguments, &from);
    caromi_set_ulong(arguments, column->stride);
    caromi_set_uint(arguments, is_word ? RESIDENT_SAME : RESIDENT_ELEMENT);
}

carom_status caromi_bundle_limit(bundle_job *job, const caromi_mesh_batch *round, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_BUNDLE_LIMIT);
    set_memory(job, &arguments, CAROMI_BUNDLE_NUMBER);
    set_memory(job, &arguments, CAROMI_BUNDLE_ELEMENT);
    caromi_set_uint(&arguments, job->rounds.size);
    set_column(job, &arguments, &round->in[MESH_RADIUS]);
    set_column(job, &arguments, &round->in[MESH_MAX_DISTANCE]);
    set_memory(job, &arguments, CAROMI_BUNDLE_RANK);
    set_memory(job, &arguments, CAROMI_BUNDLE_LIMIT);
    return launch(job, &arguments, queries_of(job), err);
}

/* ---- any hit ----------------------------------------------------------------------------------------------------- */

static carom_status raise_hits(bundle_job *job, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_BUNDLE_HITS);
    set_memory(job, &arguments, CAROMI_BUNDLE_NUMBER);
    caromi_set_uint(&arguments, job->rounds.size);
    set_memory(job, &arguments, CAROMI_BUNDLE_ANSWER);
    set_memory(job, &arguments, CAROMI_BUNDLE_RANK);
    return launch(job, &arguments, queries_of(job), err);
}

/* Lists the bundles that are left in the other memory. */
static carom_status list_left(bundle_job *job, carom_error *err)
{
    const uint64_t groups = (job->rounds.left + BUNDLE_GROUP - 1) / BUNDLE_GROUP,
                   most = job->device->max_items / BUNDLE_GROUP;
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_BUNDLE_LEFT);
    set_left(job, &arguments);
    caromi_set_uint(&arguments, job->rounds.left);
    set_memory(job, &arguments, CAROMI_BUNDLE_RANK);
    set_memory(job, &arguments, left_of(job, 1));
    return caromi_launch_groups(job->device, job->slot, &arguments, groups < most ? groups : most, BUNDLE_GROUP, err);
}

/* Reads how many are left. */
static carom_status read_left(bundle_job *job, carom_error *err)
{
    const uint64_t first = job->rounds.first;
    cl_uint left;
    CHECK(caromi_bundle_settle(job, err));
    CHECK(caromi_read(job->device, job->slot->queue, *caromi_bundle_memory(job, CAROMI_BUNDLE_COUNTER),
                      (size_t)(job->side ^ 1) * sizeof left, &left, sizeof left, CAROMI_WAIT, NULL, "bundles", err));
    if (left > job->rounds.left)
        return caromi_fail_corrupt(job->device, "numbers of bundles", first,
                                   first + (uint64_t)job->rounds.count * job->rounds.size, err);
    job->rounds.left = left;
    return CAROM_OK;
}

carom_status caromi_bundle_add_hits(bundle_job *job, carom_error *err)
{
    CHECK(raise_hits(job, err));
    CHECK(list_left(job, err));
    CHECK(job->has_room_for_all ? CAROM_OK : read_left(job, err));
    job->side ^= 1;
    return CAROM_OK;
}

/* ---- closest points ---------------------------------------------------------------------------------------------- */

carom_status caromi_bundle_add_depths(bundle_job *job, const caromi_mesh_batch *round, carom_error *err)
{
    caromi_arguments raise = caromi_arguments_of(job->device, CAROMI_PROGRAM_BUNDLE_RAISE),
                     lower = caromi_arguments_of(job->device, CAROMI_PROGRAM_BUNDLE_LOWER);
    set_memory(job, &raise, CAROMI_BUNDLE_NUMBER);
    set_memory(job, &raise, CAROMI_BUNDLE_ELEMENT);
    caromi_set_uint(&raise, job->rounds.size);
    for (int c = 0; c < MESH_IN_RESTING; c++)
        set_column(job, &raise, &round->in[c]);
    set_memory(job, &raise, CAROMI_BUNDLE_ANSWER + CAROMI_ANSWER_DEPTH);
    set_memory(job, &raise, CAROMI_BUNDLE_OWN);
    set_memory(job, &raise, CAROMI_BUNDLE_RANK);
    set_memory(job, &raise, CAROMI_BUNDLE_BEST);
    CHECK(launch(job, &raise, queries_of(job), err));
    set_memory(job, &lower, CAROMI_BUNDLE_NUMBER);
    caromi_set_uint(&lower, job->rounds.size);
    set_memory(job, &lower, CAROMI_BUNDLE_OWN);
    set_memory(job, &lower, CAROMI_BUNDLE_RANK);
    set_memory(job, &lower, CAROMI_BUNDLE_BEST);
    return launch(job, &lower, queries_of(job), err);
}

carom_status caromi_bundle_store(bundle_job *job, uint32_t answer, const caromi_resident *to, size_t stride,
                                 carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_BUNDLE_STORE);
    set_memory(job, &arguments, CAROMI_BUNDLE_NUMBER);
    caromi_set_uint(&arguments, job->rounds.size);
    set_memory(job, &arguments, CAROMI_BUNDLE_OWN);
    set_memory(job, &arguments, CAROMI_BUNDLE_RANK);
    set_memory(job, &arguments, CAROMI_BUNDLE_BEST);
    set_memory(job, &arguments, CAROMI_BUNDLE_ANSWER + answer);
    caromi_set_uint(&arguments, caromi_answer_size(answer) == 1 ? RESIDENT_BYTES : RESIDENT_WORDS);
    caromi_set_resident(&arguments, to);
    caromi_set_ulong(&arguments, stride);
    return launch(job, &arguments, queries_of(job), err);
}

carom_status caromi_bundle_answer(bundle_job *job, uint32_t kind, const caromi_resident *to, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_BUNDLE_ANSWER);
    set_memory(job, &arguments, CAROMI_BUNDLE_RANK);
    set_memory(job, &arguments, CAROMI_BUNDLE_BEST);
    caromi_set_uint(&arguments, kind);
    caromi_set_uint(&arguments, job->rounds.size);
    caromi_set_ulong(&arguments, job->rounds.first);
    caromi_set_resident(&arguments, to);
    return launch(job, &arguments, job->rounds.count, err);
}
