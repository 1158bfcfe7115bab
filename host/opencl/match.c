/* SPDX-License-Identifier: MIT */
/* The match of two lists of contacts that lie on a GPU (kernels/contact_match.cl). Records are checked before anything
 * is written. Lists with a fault, which the host has to name, and lists with a sphere of very many contacts are left to
 * the host. */
#include <string.h>

#include "grid.h"
#include "host/core/arrays.h"
#include "host/mesh/match.h"
#include "kernels/contact_match.h"
#include "probe.h"

/* Memory of matches, which is that of clouds (grid.h) under other names. */
enum {
    MATCH_REPORT = CAROMI_GRID_LONG,
    MATCH_BELOW = CAROMI_GRID_RANKS,   /* of each previous contact: the one below it in its chain */
    MATCH_ANSWER = CAROMI_GRID_KEYS,   /* the caller may not want it, or forbid that it is read */
    MATCH_GONE = CAROMI_GRID_COUNTS,   /* whether a previous contact has ended */
    MATCH_PLACE = CAROMI_GRID_OFFSETS, /* how many before it have */
    MATCH_INPUTS = CAROMI_GRID_COLUMN  /* of the probe */
};

/* A list on the device. */
typedef struct device_records {
    caromi_resident query, patch, point[3];
    size_t stride;
    cl_uint count;
} device_records;

enum { RECORDS_PAIRED = 1 << 16 /* previous records of a launch, which bounds its time */ };

/* A match whose arrays lie on the device; memory NULL: not wanted. */
typedef struct match_job {
    grid_job job;
    device_records previous, now;
    caromi_resident answer, ended;
} match_job;

static void set_records(caromi_arguments *arguments, const device_records *records)
{
    caromi_set_resident(arguments, &records->query);
    caromi_set_resident(arguments, &records->patch);
    for (int k = 0; k < 3; k++)
        caromi_set_resident(arguments, &records->point[k]);
    caromi_set_ulong(arguments, records->stride);
    caromi_set_uint(arguments, records->count);
}

/* Launches a kernel whose work-items share `count` records, which it knows already. */
static carom_status launch(const match_job *match, caromi_arguments *arguments, uint32_t count, carom_error *err)
{
    const uint64_t most = match->job.device->max_items;
    return count > 0 ? caromi_grid_launch(&match->job, arguments, count < most ? count : most, err) : CAROM_OK;
}

static carom_status check_records(const match_job *match, int is_previous, carom_error *err)
{
    const device_records *own = is_previous ? &match->previous : &match->now,
                         *other = is_previous ? &match->now : &match->previous;
    caromi_arguments arguments = caromi_arguments_of(match->job.device, CAROMI_PROGRAM_MATCH_CHECK);
    set_records(&arguments, own);
    set_records(&arguments, other);
    caromi_set_uint(&arguments, (uint64_t)is_previous);
    caromi_grid_set_memory(&match->job, &arguments, MATCH_BELOW);
    caromi_grid_set_memory(&match->job, &arguments, MATCH_REPORT);
    return launch(match, &arguments, own->count, err);
}

static carom_status pair_some(const match_job *match, cl_uint first, cl_uint records, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(match->job.device, CAROMI_PROGRAM_MATCH_PAIR);
    set_records(&arguments, &match->previous);
    set_records(&arguments, &match->now);
    caromi_grid_set_memory(&match->job, &arguments, MATCH_BELOW);
    caromi_grid_set_memory(&match->job, &arguments, MATCH_ANSWER);
    caromi_set_uint(&arguments, first);
    return caromi_grid_launch_each(&match->job, &arguments, records, err);
}

static carom_status pair_up(const match_job *match, carom_error *err)
{
    const cl_uint count = match->previous.count;
    const size_t bytes = match->now.count * sizeof(cl_long);
    caromi_arguments begin = caromi_arguments_of(match->job.device, CAROMI_PROGRAM_MATCH_BEGIN);
    CHECK(caromi_grid_reserve(&match->job, MATCH_ANSWER, match->now.count, sizeof(cl_long), err));
    caromi_grid_set_memory(&match->job, &begin, MATCH_ANSWER);
    CHECK(caromi_grid_launch_each(&match->job, &begin, match->now.count, err));
    for (cl_uint first = 0; first < count; first += RECORDS_PAIRED)
        CHECK(pair_some(match, first, count - first < RECORDS_PAIRED ? count - first : RECORDS_PAIRED, err));
    if (match->answer.memory == NULL)
        return CAROM_OK;
    return caromi_copy_range(match->job.device, match->job.slot->queue,
                             *caromi_grid_memory_of(&match->job, MATCH_ANSWER), 0, match->answer.memory,
                             (size_t)match->answer.at, bytes, err);
}

/* Lists the ended contacts; their number stands behind the last of MATCH_PLACE. */
static carom_status list_ended(const match_job *match, carom_error *err)
{
    const cl_uint count = match->previous.count;
    caromi_arguments gone = caromi_arguments_of(match->job.device, CAROMI_PROGRAM_MATCH_GONE),
                     end = caromi_arguments_of(match->job.device, CAROMI_PROGRAM_MATCH_END);
    caromi_grid_set_memory(&match->job, &gone, MATCH_BELOW);
    caromi_grid_set_memory(&match->job, &gone, MATCH_GONE);
    CHECK(caromi_grid_launch_each(&match->job, &gone, count, err));
    CHECK(caromi_grid_sum_up(&match->job, MATCH_GONE, MATCH_PLACE, CAROMI_PROGRAM_GRID_OFFSET, count, err));
    if (match->ended.memory == NULL)
        return CAROM_OK;
    caromi_grid_set_memory(&match->job, &end, MATCH_GONE);
    caromi_grid_set_memory(&match->job, &end, MATCH_PLACE);
    caromi_set_resident(&end, &match->ended);
    return caromi_grid_launch_each(&match->job, &end, count, err);
}

/* Matches on the device. *report: why the lists are left to the host; 0: they are not. */
static carom_status run(match_job *match, cl_uint *report, carom_error *err)
{
    CHECK(caromi_grid_reserve(&match->job, MATCH_REPORT, 1, WORD, err));
    CHECK(caromi_grid_reserve(&match->job, MATCH_BELOW, match->previous.count, WORD, err));
    CHECK(caromi_grid_reserve(&match->job, MATCH_GONE, match->previous.count, WORD, err));
    CHECK(caromi_grid_reserve(&match->job, MATCH_PLACE, match->previous.count, sizeof(cl_ulong), err));
    CHECK(caromi_grid_clear(&match->job, MATCH_REPORT, 1, err));
    CHECK(check_records(match, 1, err));
    CHECK(check_records(match, 0, err));
    CHECK(caromi_grid_read_back(&match->job, MATCH_REPORT, 0, report, sizeof *report, err));
    if (*report != 0)
        return CAROM_OK;
    CHECK(pair_up(match, err));
    CHECK(list_ended(match, err));
    return caromi_slot_settle(match->job.device, match->job.slot, match->job.stats, err);
}

/* ---- the probe --------------------------------------------------------------------------------------------------- */

enum { RECORDS = 512, SPHERES = 40 };

/* Lists of contacts with many ties, and the matches by host and device. */
typedef struct match_probe {
    struct probe_list {
        uint64_t query[RECORDS];
        uint32_t patch[RECORDS];
        float point[RECORDS][3];
    } list[2];
    int64_t answer[2][RECORDS];
    uint64_t ended[2][RECORDS];
} match_probe;

/* Points on a coarse lattice, whose distances tie, and points of all sizes. */
static void make_list(uint64_t *state, struct probe_list *list)
{
    for (uint32_t i = 0; i < RECORDS; i++) {
        list->query[i] = (uint64_t)i * SPHERES / RECORDS;
        list->patch[i] = (uint32_t)caromi_probe_next(state) % 2;
        const uint32_t exponent = list->query[i] % 4 == 3 ? (uint32_t)caromi_probe_next(state) % 250 : 127;
        for (int k = 0; k < 3; k++)
            list->point[i][k] = list->query[i] % 2 == 0
                                    ? (float)((int)(caromi_probe_next(state) % 5) - 2)
                                    : caromi_probe_float(0, exponent, (uint32_t)caromi_probe_next(state) % 8 << 20);
    }
}

/* The list in memory that holds a match_probe. */
static device_records records_of(cl_mem memory, int which)
{
    const size_t list = offsetof(match_probe, list) + (size_t)which * sizeof(struct probe_list),
                 point = list + offsetof(struct probe_list, point);
    return (device_records){{memory, list + offsetof(struct probe_list, query)},
                            {memory, list + offsetof(struct probe_list, patch)},
                            {{memory, point}, {memory, point + sizeof(float)}, {memory, point + 2 * sizeof(float)}},
                            3 * sizeof(float),
                            RECORDS};
}

static carom_status run_probe(match_job *match, match_probe *data, carom_error *err)
{
    uint64_t random = 23, ended = 0;
    cl_uint report = 0;
    carom_contact_records list[2];
    for (int i = 0; i < 2; i++) {
        make_list(&random, &data->list[i]);
        list[i] = (carom_contact_records){
            sizeof list[i], RECORDS, data->list[i].query, data->list[i].patch, carom_xyz(data->list[i].point[0]), NULL};
    }
    const carom_contact_match out = {sizeof out, data->answer[0], data->ended[0], &ended};
    CHECK(caromi_match_on_host(match->job.device->context, &list[0], &list[1], &out, err));
    CHECK(caromi_grid_reserve(&match->job, MATCH_INPUTS, 1, sizeof *data, err));
    const cl_mem memory = *caromi_grid_memory_of(&match->job, MATCH_INPUTS);
    match->previous = records_of(memory, 0);
    match->now = records_of(memory, 1);
    match->answer = (caromi_resident){memory, offsetof(match_probe, answer) + sizeof data->answer[0]};
    match->ended = (caromi_resident){memory, offsetof(match_probe, ended) + sizeof data->ended[0]};
    CHECK(caromi_write_at(match->job.device, match->job.slot->queue, memory, CAROMI_BEGIN, data, sizeof *data, NULL,
                          err));
    CHECK(run(match, &report, err));
    CHECK(caromi_grid_read_back(&match->job, MATCH_INPUTS, 0, data, sizeof *data, err));
    CHECK(caromi_probe_compare(match->job.device, CAROMI_PROGRAM_MATCH_PAIR, RECORDS, 0, data->answer[1],
                               data->answer[0], sizeof(int64_t), err));
    return caromi_probe_compare(match->job.device, CAROMI_PROGRAM_MATCH_END, RECORDS, 0, data->ended[1], data->ended[0],
                                sizeof(uint64_t), err);
}

/* Builds the programs at their first use, and compares them with the host. */
static carom_status probe(const grid_job *job, carom_error *err)
{
    static const uint32_t programs[] = {
        CAROMI_PROGRAM_GRID_CLEAR,  CAROMI_PROGRAM_GRID_SUM,    CAROMI_PROGRAM_GRID_CARRY,
        CAROMI_PROGRAM_GRID_OFFSET, CAROMI_PROGRAM_MATCH_CHECK, CAROMI_PROGRAM_MATCH_BEGIN,
        CAROMI_PROGRAM_MATCH_PAIR,  CAROMI_PROGRAM_MATCH_GONE,  CAROMI_PROGRAM_MATCH_END};
    const carom_context *context = job->device->context;
    caromi_program *last = &job->device->programs[CAROMI_PROGRAM_MATCH_END];
    match_job match = {.job = *job};
    if (last->probed)
        return CAROM_OK;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        CHECK(caromi_program_build(job->device, programs[i], err));
    match_probe *data = caromi_alloc(context, 1, sizeof *data);
    if (data == NULL)
        return caromi_fail_memory(err, "no memory for the bit probe (%zu bytes)", sizeof *data);
    memset(data, 0, sizeof *data);
    const carom_status status = run_probe(&match, data, err);
    last->probed = status == CAROM_OK;
    caromi_free(context, data);
    return status;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* Finds a list's arrays on the device. Returns 0 if one of them is not there. */
static int find_records(const caromi_device *device, const carom_contact_records *records, device_records *out)
{
    caromi_in_column column[3];
    if (records->count == 0 || records->count > INT32_MAX)
        return 0;
    caromi_points_to_columns(&records->point, (caromi_index){NULL, 0}, column);
    *out = (device_records){.query = caromi_resident_at(device, records->query),
                            .patch = caromi_resident_at(device, records->patch),
                            .stride = column[0].stride,
                            .count = (cl_uint)records->count};
    int found = out->query.memory != NULL && out->patch.memory != NULL;
    for (int k = 0; k < 3; k++) {
        out->point[k] = caromi_resident_at(device, column[k].base);
        found = found && out->point[k].memory != NULL;
    }
    return found;
}

/* The number of ended contacts, on the device or for the host. */
static carom_status give_count(const match_job *match, uint64_t *to, carom_error *err)
{
    const caromi_resident at = caromi_resident_at(match->job.device, to);
    const size_t from = match->previous.count * sizeof(cl_ulong);
    if (to == NULL)
        return CAROM_OK;
    if (at.memory == NULL)
        return caromi_grid_read_back(&match->job, MATCH_PLACE, from, to, sizeof *to, err);
    CHECK(caromi_copy_range(match->job.device, match->job.slot->queue, *caromi_grid_memory_of(&match->job, MATCH_PLACE),
                            from, at.memory, (size_t)at.at, sizeof *to, err));
    return caromi_finish(match->job.device, match->job.slot->queue, err);
}

carom_status caromi_device_match(caromi_device *device, const carom_contact_records *previous,
                                 const carom_contact_records *now, const carom_contact_match *out, int *answered,
                                 carom_error *err)
{
    carom_stats unused = {.size = sizeof unused};
    match_job match = {.job = {.device = device, .slot = &device->slots[0], .stats = &unused}};
    cl_uint report = 0;
    *answered = 0;
    match.answer = caromi_resident_at(device, out->previous);
    match.ended = caromi_resident_at(device, out->ended);
    if (!caromi_serves_alone(device) || !device->info.fp64 || !find_records(device, previous, &match.previous) ||
        !find_records(device, now, &match.now) || (out->previous != NULL && match.answer.memory == NULL) ||
        (out->ended != NULL && match.ended.memory == NULL))
        return CAROM_OK;
    carom_status status = probe(&match.job, err);
    if (status == CAROM_OK)
        status = run(&match, &report, err);
    if (status == CAROM_OK && report == 0)
        status = give_count(&match, out->ended_count, err);
    if (status != CAROM_OK) { /* commands may still run in the caller's arrays */
        (void)caromi_finish(device, match.job.slot->queue, NULL);
        caromi_slot_retire(match.job.slot);
    }
    *answered = status == CAROM_OK && report == 0;
    return status;
}
