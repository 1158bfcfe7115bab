/* SPDX-License-Identifier: MIT */
/* Clearance volumes on a GPU: tiles give the exact distance of each node, and a kernel compares it with the limits. It
 * lists the nodes whose distance is next to a limit. The host reads this list, decides these nodes in integers, and
 * another kernel puts their answers to their places: so no byte of all other nodes crosses. */
#include "host/lattice/cubes.h"

#include "abilities.h"
#include "enqueue.h"
#include "kernels/lattice_limits.h"
#include "lattice.h"

/* Columns in the slot's inputs: of the tiles, and the list. Answers of the host replace distances. */
enum { TRIANGLE, DISTANCE, CLOSE, COLUMNS, SLICE = 64 /* nodes that a task decides */ };

/* The user data of the stream's callbacks. */
typedef struct cubes_job {
    const caromi_cubes *cubes;
    uint64_t *resolved; /* nodes decided in integers */
} cubes_job;

/* ---- nodes next to a limit --------------------------------------------------------------------------------------- */

typedef struct close_nodes {
    const caromi_cubes *cubes;
    uint64_t first; /* node */
    const uint32_t *rows;
    uint8_t *answers;
    uint64_t count;
} close_nodes;

/* Task: decides some of the nodes. */
static void decide_slice(void *user, uint64_t task, uint32_t thread)
{
    const close_nodes *nodes = user;
    const uint64_t begin = task * SLICE, end = nodes->count - begin < SLICE ? nodes->count : begin + SLICE;
    (void)thread;
    for (uint64_t i = begin; i < end; i++)
        nodes->answers[i] = (uint8_t)caromi_cubes_resolve(nodes->cubes, nodes->first + nodes->rows[i]);
}

/* Decides the listed nodes of a chunk, and puts their answers to their places. */
static carom_status decide(caromi_device *device, caromi_cl_slot *slot, const cubes_job *job, uint32_t count,
                           uint32_t *rows, uint8_t *answers, carom_error *err)
{
    const cl_mem list = slot->in[CLOSE].memory, to = slot->in[DISTANCE].memory;
    close_nodes nodes = {job->cubes, job->cubes->nodes.begin + slot->first, rows, answers, count};
    CHECK(caromi_read(device, slot->queue, list, CLEARANCE_LIST * sizeof *rows, rows, count * sizeof *rows, CAROMI_WAIT,
                      NULL, "nodes next to a limit", err));
    for (uint32_t i = 0; i < count; i++)
        if (rows[i] >= slot->count)
            return caromi_fail_corrupt(device, "nodes", slot->first, slot->first + slot->count, err);
    caromi_parallel(device->context->pool, (count + SLICE - 1) / SLICE, decide_slice, &nodes);
    CHECK(caromi_write_at(device, slot->queue, to, CAROMI_BEGIN, answers, count, "decided nodes", err));
    caromi_arguments arguments = caromi_arguments_of(device, CAROMI_PROGRAM_LATTICE_PUT);
    caromi_set_column(&arguments, &slot->in[CLOSE]);
    caromi_set_column(&arguments, &slot->in[DISTANCE]);
    caromi_set_column(&arguments, &slot->out[0]);
    *job->resolved += count;
    return caromi_launch_chunk(device, slot, &arguments, count, err);
}

/* Reads how many nodes are listed, and decides them. */
static carom_status settle(caromi_device *device, caromi_cl_slot *slot, const cubes_job *job, carom_error *err)
{
    uint32_t head[CLEARANCE_LIST];
    CHECK(caromi_read(device, slot->queue, slot->in[CLOSE].memory, CAROMI_BEGIN, head, sizeof head, CAROMI_WAIT, NULL,
                      "the number of nodes next to a limit", err));
    if (head[CLEARANCE_TRUNCATED])
        return caromi_fail_truncated(device, slot->first, slot->first + slot->count, err);
    const uint32_t count = head[CLEARANCE_COUNT];
    if (count > slot->count)
        return caromi_fail_corrupt(device, "nodes", slot->first, slot->first + slot->count, err);
    if (count == 0)
        return CAROM_OK;
    uint32_t *rows = caromi_alloc(device->context, count, sizeof *rows + sizeof(uint8_t));
    if (rows == NULL)
        return caromi_fail_memory(err, "no memory for %u nodes next to a limit", count);
    const carom_status status = decide(device, slot, job, count, rows, (uint8_t *)(rows + count), err);
    caromi_free(device->context, rows);
    return status;
}

/* ---- the stream -------------------------------------------------------------------------------------------------- */

static carom_status launch(caromi_device *device, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const cubes_job *job = user;
    const caromi_cubes *cubes = job->cubes;
    const caromi_lattice_job tiles = caromi_lattice_job_of(&cubes->nodes);
    for (int k = 0; k < COLUMNS; k++)
        CHECK(caromi_reserve(device, slot, &slot->in[k], (slot->count + CLEARANCE_LIST) * sizeof(cl_uint),
                             CAROMI_NO_HOST_POINTER, err));
    caromi_arguments clear = caromi_arguments_of(device, CAROMI_PROGRAM_LATTICE_CLEAR);
    caromi_set_column(&clear, &slot->in[CLOSE]);
    CHECK(caromi_launch_chunk(device, slot, &clear, CLEARANCE_LIST, err));
    CHECK(caromi_launch_lattice(device, slot, &tiles, slot->in, err));
    caromi_arguments arguments = caromi_arguments_of(device, CAROMI_PROGRAM_LATTICE_CLASSIFY);
    caromi_set_columns(&arguments, slot->in, COLUMNS);
    caromi_set_real(&arguments, cubes->certain.inner_low);
    caromi_set_real(&arguments, cubes->certain.inner_high);
    caromi_set_real(&arguments, cubes->certain.outer_low);
    caromi_set_real(&arguments, cubes->nodes.band);
    caromi_set_column(&arguments, &slot->out[0]);
    CHECK(caromi_launch_chunk(device, slot, &arguments, slot->count, err));
    return settle(device, slot, job, err);
}

carom_status caromi_stream_cubes(caromi_device *device, const caromi_cubes *cubes, uint64_t end, uint64_t *done,
                                 carom_stats *stats, carom_error *err)
{
    const caromi_lattice_batch *nodes = &cubes->nodes;
    const caromi_out_column out = {cubes->out, sizeof *cubes->out};
    uint64_t answered = *done - nodes->begin, resolved = 0;
    const uint64_t before = answered;
    const cubes_job job = {cubes, &resolved};
    const caromi_stream stream = {.count = end - nodes->begin,
                                  .chunk = caromi_lattice_chunk(device, nodes),
                                  .answers_any_count = 1,
                                  .out_count = 1,
                                  .out = &out,
                                  .out_size = {sizeof *cubes->out},
                                  .extra = COLUMNS * sizeof(cl_uint),
                                  .launch = launch,
                                  .user = &job};
    CHECK(caromi_enqueue_refuse(device->context, err)); /* the host reads the lists */
    CHECK(caromi_upload_mesh(device, nodes->mesh, err));
    const carom_status status = caromi_stream_run(device, &stream, &answered, stats, err);
    *done += answered - before;
    stats->by_integers += resolved;
    return status;
}

carom_status caromi_device_cubes(caromi_device *device, const void *cubes, uint64_t end, uint64_t *done,
                                 carom_stats *stats, carom_error *err)
{
    const caromi_cubes *c = cubes;
    carom_error why = {CAROM_OK, 0, ""};
    caromi_fit_stack(device, c->nodes.mesh);
    const carom_status status = caromi_probe_cubes(device, c, &why);
    if (status != CAROM_OK)
        return caromi_leave_batch(device, CAROMI_ANSWERS_TILES, status, &why, stats, err);
    return caromi_stream_cubes(device, c, end, done, stats, err);
}
