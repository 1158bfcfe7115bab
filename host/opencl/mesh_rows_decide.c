/* SPDX-License-Identifier: MIT */
/* What exact mode's search leaves undecided in a list whose arrays stay on the device: the inputs of these queries
 * alone come to the host, and the answers go back. */
#include <string.h>

#include "mesh_rows.h"

#include "host/bvh/triangle.h"
#include "host/mesh/block.h"
#include "host/mesh/mesh.h"

enum { RUN = 1 << 7 /* candidates of a task */ };

/* Undecided queries on the host. */
typedef struct undecided_copy {
    uint32_t count;
    uint32_t *row;
    float *in[CAROMI_MESH_IN + 1]; /* and their masks, if there are any */
    void *memory;
} undecided_copy;

static carom_status read_words(const caromi_rows *rows, cl_mem from, uint32_t count, void *to, carom_error *err)
{
    return caromi_read(rows->job.device, rows->job.slot->queue, from, CAROMI_BEGIN, to, count * sizeof(cl_uint),
                       CAROMI_WAIT, NULL, "undecided queries", err);
}

/* Gathers a word of each element that `index` names, and reads these words. */
static carom_status fetch_words(const caromi_rows *rows, caromi_resident from, size_t stride, const cl_mem *index,
                                uint32_t count, void *to, carom_error *err)
{
    caromi_device *device = rows->job.device;
    caromi_cl_slot *slot = rows->job.slot;
    CHECK(caromi_reserve(device, slot, &slot->out[0], count * sizeof(cl_uint), CAROMI_NO_HOST_POINTER, err));
    CHECK(caromi_gather_words(device, slot->queue, &from, stride, &slot->out[0].memory, 1, index, 0, count, err));
    return read_words(rows, slot->out[0].memory, count, to, err);
}

static carom_status check_rows(const caromi_rows *rows, const uint32_t *row, uint32_t count, carom_error *err)
{
    for (uint32_t i = 0; i < count; i++)
        if (row[i] >= rows->rows)
            return caromi_fail_corrupt(rows->job.device, "undecided queries", rows->first, rows->first + rows->rows,
                                       err);
    return CAROM_OK;
}

/* Raises the rungs of rows. rung: of each; NULL: integers. */
static carom_status mark_rows(caromi_rows *rows, const uint32_t *row, const uint8_t *rung, uint32_t count,
                              carom_error *err)
{
    const carom_context *context = rows->job.device->context;
    CHECK(check_rows(rows, row, count, err));
    if (rows->rung == NULL) {
        rows->rung = caromi_alloc(context, rows->rows, 1);
        if (rows->rung == NULL)
            return caromi_fail_memory(err, "no memory for the marks of %u queries", rows->rows);
        memset(rows->rung, CAROMI_FIRST_FILTER, rows->rows);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t reached = rung != NULL ? rung[i] : CAROMI_INTEGERS;
        rows->rung[row[i]] = rows->rung[row[i]] > reached ? rows->rung[row[i]] : reached;
    }
    return CAROM_OK;
}

/* Copies the inputs of the listed rows to the host. */
static carom_status fetch_rows(const caromi_rows *rows, undecided_copy *copy, carom_error *err)
{
    const caromi_mesh_batch *sweep = &rows->batch->sweep;
    const cl_mem *list = caromi_grid_memory_of(&rows->job, CAROMI_ROWS_UNDECIDED_OF);
    const uint32_t columns = (uint32_t)sweep->kind->in + (sweep->mask.base != NULL);
    uint32_t *words = caromi_alloc(rows->job.device->context, copy->count, (2 + columns) * sizeof *words);
    copy->memory = words;
    if (words == NULL)
        return caromi_fail_memory(err, "no memory for %u undecided queries", copy->count);
    copy->row = words;
    CHECK(read_words(rows, *list, copy->count, copy->row, err));
    CHECK(check_rows(rows, copy->row, copy->count, err));
    for (uint32_t k = 0; k < columns; k++) {
        const caromi_resident from = {caromi_column_memory(&rows->job.slot->in[k]), 0};
        copy->in[k] = (float *)(void *)(words += copy->count);
        CHECK(fetch_words(rows, from, sizeof(float), list, copy->count, copy->in[k], err));
    }
    return CAROM_OK;
}

/* Makes the copied queries those of a batch. */
static void set_queries(caromi_mesh_batch *batch, const undecided_copy *copy)
{
    for (int k = 0; k < batch->kind->in; k++)
        batch->in[k] = (caromi_in_column){.base = copy->in[k], .stride = sizeof(float)};
    if (batch->mask.base != NULL)
        batch->mask = (caromi_in_column){.base = copy->in[batch->kind->in], .stride = sizeof(float)};
    batch->begin = 0;
    batch->count = copy->count;
}

static carom_status send(const caromi_rows *rows, uint32_t memory, const void *data, uint64_t count, size_t size,
                         carom_error *err)
{
    CHECK(caromi_grid_reserve(&rows->job, memory, count, size, err));
    return caromi_write_at(rows->job.device, rows->job.slot->queue, *caromi_grid_memory_of(&rows->job, memory),
                           CAROMI_BEGIN, data, (size_t)count * size, "decided queries", err);
}

/* ---- all hits ---------------------------------------------------------------------------------------------------- */

/* Candidates to be decided, and their keys. */
typedef struct decide_job {
    const caromi_rows *rows;
    const undecided_copy *copy;
    const int32_t *triangle;
    uint64_t *key;
    uint8_t *rung;
} decide_job;

/* Candidate i as a query of its own. */
static caromi_mesh_query query_of(const decide_job *job, uint64_t i)
{
    const caromi_mesh_batch *sweep = &job->rows->batch->sweep;
    caromi_mesh_query query = {.isa = sweep->mesh->context->isa, .mask = -1, .options = sweep->options};
    for (int k = 0; k < sweep->kind->in; k++)
        query.in[k] = job->copy->in[k][i];
    return query;
}

static uint64_t key_of(const mesh_record *record)
{
    uint32_t t;
    memcpy(&t, &record->t, sizeof t);
    return record->state == CAROM_MISS
               ? ROWS_MISS
               : (uint64_t)t << GRID_KEY_T_SHIFT | (uint64_t)(uint32_t)record->triangle << GRID_KEY_B_SHIFT |
                     (uint32_t)record->state;
}

static void decide_run(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const decide_job *job = user;
    mesh_record record[CAROMI_SECOND_SWEEPS];
    caromi_hit_outcome outcome[CAROMI_SECOND_SWEEPS];
    caromi_undecided_hits undecided;
    (void)thread;
    caromi_undecided_hits_begin(&undecided, job->rows->batch->sweep.mesh->context->isa);
    for (uint64_t from = begin, count; from < end; from += count) {
        count = end - from < CAROMI_SECOND_SWEEPS ? end - from : CAROMI_SECOND_SWEEPS;
        for (uint64_t i = 0; i < count; i++) {
            const caromi_mesh_query query = query_of(job, from + i);
            record[i] = (mesh_record){.t = NAN, .triangle = job->triangle[from + i], .state = CAROM_OVERLAPPING};
            outcome[i] = (caromi_hit_outcome){0};
            caromi_add_undecided_records(job->rows->batch, &query, &record[i], 1, &undecided, &outcome[i]);
        }
        caromi_undecided_hits_decide(&undecided);
        for (uint64_t i = 0; i < count; i++) {
            job->rung[from + i] = (uint8_t)outcome[i].rung;
            job->key[from + i] = key_of(&record[i]);
        }
    }
}

static carom_status decide(caromi_rows *rows, undecided_copy *copy, uint64_t *key, int32_t *triangle, uint8_t *rung,
                           carom_error *err)
{
    const grid_job *job = &rows->job;
    const caromi_resident triangles = {*caromi_grid_memory_of(job, CAROMI_ROWS_RECORDS),
                                       offsetof(mesh_record, triangle)};
    decide_job work = {rows, copy, triangle, key, rung};
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_ROWS_DECIDE);
    CHECK(caromi_mesh_bring(rows->batch->sweep.mesh, err));
    CHECK(fetch_rows(rows, copy, err));
    CHECK(check_rows(rows, copy->row, copy->count, err));
    CHECK(fetch_words(rows, triangles, sizeof(mesh_record), caromi_grid_memory_of(job, CAROMI_ROWS_UNDECIDED),
                      copy->count, triangle, err));
    for (uint32_t i = 0; i < copy->count; i++)
        if ((uint32_t)triangle[i] >= rows->batch->sweep.mesh->info.triangle_count)
            return caromi_fail_corrupt(job->device, "triangles", rows->first, rows->first + rows->rows, err);
    const double start = caromi_now();
    caromi_parallel_runs(job->device->context->pool, copy->count, RUN, decide_run, &work);
    job->stats->host += caromi_now() - start;
    CHECK(mark_rows(rows, copy->row, rung, copy->count, err));
    CHECK(send(rows, CAROMI_ROWS_DECIDED, key, copy->count, sizeof *key, err));
    caromi_grid_set_memory(job, &arguments, CAROMI_ROWS_UNDECIDED);
    caromi_grid_set_memory(job, &arguments, CAROMI_ROWS_UNDECIDED_OF);
    caromi_grid_set_memory(job, &arguments, CAROMI_ROWS_DECIDED);
    caromi_grid_set_memory(job, &arguments, CAROMI_ROWS_KEYS);
    caromi_grid_set_memory(job, &arguments, CAROMI_ROWS_HITS);
    return caromi_grid_launch_each(job, &arguments, copy->count, err);
}

carom_status caromi_rows_decide(caromi_rows *rows, carom_error *err)
{
    const carom_context *context = rows->job.device->context;
    undecided_copy copy = {.count = rows->report.undecided};
    uint64_t *key = caromi_alloc(context, copy.count, sizeof *key);
    int32_t *triangle = caromi_alloc(context, copy.count, sizeof *triangle);
    uint8_t *rung = caromi_alloc(context, copy.count, sizeof *rung);
    carom_status status = key != NULL && triangle != NULL && rung != NULL
                              ? decide(rows, &copy, key, triangle, rung, err)
                              : caromi_fail_memory(err, "no memory for %u undecided hits", copy.count);
    caromi_free(context, key);
    caromi_free(context, triangle);
    caromi_free(context, rung);
    caromi_free(context, copy.memory);
    return status;
}

/* ---- first hits -------------------------------------------------------------------------------------------------- */

/* First hits of the undecided queries. */
typedef struct first_answers {
    int32_t *triangle;
    float *t;
    uint8_t *state, *rungs; /* rungs: as in caromi_mesh_batch */
} first_answers;

static carom_status decide_first(caromi_rows *rows, undecided_copy *copy, const first_answers *out, carom_error *err)
{
    const grid_job *job = &rows->job;
    caromi_mesh_batch batch = rows->batch->sweep;
    carom_stats stats = {.size = sizeof stats};
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_ROWS_DECIDE_FIRST);
    CHECK(fetch_rows(rows, copy, err));
    set_queries(&batch, copy);
    batch.rungs = memset(out->rungs, 0, copy->count);
    memset(batch.out, 0, sizeof batch.out);
    batch.out[CAROMI_ANSWER_TRIANGLE] = (caromi_out_column){out->triangle, sizeof *out->triangle};
    batch.out[CAROMI_ANSWER_KEY] = (caromi_out_column){out->t, sizeof *out->t};
    batch.out[CAROMI_ANSWER_STATE] = (caromi_out_column){out->state, 1};
    const double start = caromi_now();
    CHECK(caromi_cpu_mesh(job->device->context, &batch, 0, batch.count, &stats, err));
    job->stats->host += caromi_now() - start;
    for (uint32_t i = 0; i < copy->count; i++)
        out->rungs[i] = (uint8_t)caromi_rung_of(out->rungs[i], 0);
    CHECK(mark_rows(rows, copy->row, out->rungs, copy->count, err));
    CHECK(send(rows, CAROMI_ROWS_DECIDED, out->triangle, copy->count, sizeof *out->triangle, err));
    CHECK(send(rows, CAROMI_ROWS_DECIDED_T, out->t, copy->count, sizeof *out->t, err));
    CHECK(send(rows, CAROMI_ROWS_DECIDED_STATE, out->state, copy->count, 1, err));
    caromi_grid_set_memory(job, &arguments, CAROMI_ROWS_UNDECIDED);
    caromi_grid_set_memory(job, &arguments, CAROMI_ROWS_DECIDED);
    caromi_grid_set_memory(job, &arguments, CAROMI_ROWS_DECIDED_T);
    caromi_grid_set_memory(job, &arguments, CAROMI_ROWS_DECIDED_STATE);
    caromi_grid_set_memory(job, &arguments, CAROMI_ROWS_TRIANGLE);
    caromi_grid_set_memory(job, &arguments, CAROMI_ROWS_T);
    caromi_grid_set_memory(job, &arguments, CAROMI_ROWS_STATE);
    caromi_grid_set_memory(job, &arguments, CAROMI_ROWS_HITS);
    return caromi_grid_launch_each(job, &arguments, copy->count, err);
}

carom_status caromi_rows_decide_first(caromi_rows *rows, carom_error *err)
{
    const carom_context *context = rows->job.device->context;
    undecided_copy copy = {.count = rows->report.undecided};
    const first_answers out = {.triangle = caromi_alloc(context, copy.count, sizeof *out.triangle),
                               .t = caromi_alloc(context, copy.count, sizeof *out.t),
                               .state = caromi_alloc(context, copy.count, 1),
                               .rungs = caromi_alloc(context, copy.count, 1)};
    carom_status status = out.triangle != NULL && out.t != NULL && out.state != NULL && out.rungs != NULL
                              ? decide_first(rows, &copy, &out, err)
                              : caromi_fail_memory(err, "no memory for %u undecided queries", copy.count);
    caromi_free(context, out.triangle);
    caromi_free(context, out.t);
    caromi_free(context, out.state);
    caromi_free(context, out.rungs);
    caromi_free(context, copy.memory);
    return status;
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

/* Contacts of the undecided rows, in a list of their own. */
typedef struct contact_answers {
    uint64_t *offsets;
    uint8_t *rungs; /* [rows] as in caromi_mesh_batch */
    int32_t *triangle;
    float *t;
    carom_list_totals totals;
} contact_answers;

/* Chooses the contacts, with memory for a guess of their number, and again if there are more. */
static carom_status choose(const caromi_rows *rows, const undecided_copy *copy, contact_answers *out, carom_error *err)
{
    enum { EACH = 8, MORE = 1024 };
    const carom_context *context = rows->job.device->context;
    caromi_contacts contacts = *rows->batch->contacts;
    caromi_list_batch batch = {.search = CAROMI_MESH_CONTACTS, .sweep = rows->batch->sweep, .contacts = &contacts};
    carom_stats stats = {.size = sizeof stats};
    carom_hit_list list = {.size = sizeof list, .offsets = out->offsets, .totals = &out->totals};
    contacts.patch_of_hit = NULL;
    memset(batch.sweep.out, 0, sizeof batch.sweep.out);
    set_queries(&batch.sweep, copy);
    batch.sweep.rungs = memset(out->rungs, 0, copy->count);
    batch.list = &list;
    list.capacity = (uint64_t)copy->count * EACH + MORE;
    for (;;) {
        out->totals = (carom_list_totals){0};
        out->triangle = list.triangle = caromi_alloc(context, list.capacity, sizeof *list.triangle);
        out->t = list.t = caromi_alloc(context, list.capacity, sizeof *list.t);
        if (list.triangle == NULL || list.t == NULL)
            return caromi_fail_memory(err, "no memory for the contacts of %u queries", copy->count);
        const double start = caromi_now();
        CHECK(caromi_cpu_list(context, &batch, 0, copy->count, &stats, err));
        rows->job.stats->host += caromi_now() - start;
        if (out->totals.total <= list.capacity)
            return CAROM_OK;
        caromi_free(context, out->triangle);
        caromi_free(context, out->t);
        list.capacity = out->totals.total;
    }
}

/* Stores the keys of contacts on the device. */
static carom_status give_contacts(const caromi_rows *rows, uint32_t count, const contact_answers *out, uint64_t *key,
                                  uint32_t *start, carom_error *err)
{
    const grid_job *job = &rows->job;
    caromi_arguments adopt = caromi_arguments_of(job->device, CAROMI_PROGRAM_ROWS_ADOPT),
                     give = caromi_arguments_of(job->device, CAROMI_PROGRAM_ROWS_GIVE);
    for (uint32_t i = 0; i <= count; i++)
        start[i] = (uint32_t)out->offsets[i];
    for (uint64_t i = 0; i < out->totals.total; i++) {
        uint32_t t;
        memcpy(&t, &out->t[i], sizeof t);
        key[i] = (uint64_t)t << GRID_KEY_T_SHIFT | (uint64_t)(uint32_t)out->triangle[i] << GRID_KEY_B_SHIFT;
    }
    key[out->totals.total] = ROWS_MISS;
    CHECK(send(rows, CAROMI_ROWS_DECIDED, key, out->totals.total + 1, sizeof *key, err));
    CHECK(send(rows, CAROMI_ROWS_DECIDED_START, start, count + 1ull, sizeof *start, err));
    caromi_grid_set_memory(job, &adopt, CAROMI_ROWS_UNDECIDED_OF);
    caromi_grid_set_memory(job, &adopt, CAROMI_ROWS_DECIDED_START);
    caromi_grid_set_memory(job, &adopt, CAROMI_ROWS_MARKS);
    caromi_grid_set_memory(job, &adopt, CAROMI_ROWS_HITS);
    CHECK(caromi_grid_launch_each(job, &adopt, count, err));
    caromi_grid_set_memory(job, &give, CAROMI_ROWS_SLOTS);
    caromi_grid_set_memory(job, &give, CAROMI_ROWS_OF);
    caromi_grid_set_memory(job, &give, CAROMI_ROWS_MARKS);
    caromi_grid_set_memory(job, &give, CAROMI_ROWS_DECIDED_START);
    caromi_grid_set_memory(job, &give, CAROMI_ROWS_DECIDED);
    caromi_grid_set_memory(job, &give, CAROMI_ROWS_KEYS);
    caromi_grid_set_memory(job, &give, CAROMI_ROWS_REPORT);
    return caromi_grid_launch_each(job, &give, rows->candidates, err);
}

/* A crowded row takes no integers. */
static carom_status mark_decided(caromi_rows *rows, const undecided_copy *copy, const contact_answers *out,
                                 carom_error *err)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < copy->count; i++)
        if (out->rungs[i])
            copy->row[count++] = copy->row[i];
    return mark_rows(rows, copy->row, NULL, count, err);
}

static carom_status choose_and_give(caromi_rows *rows, undecided_copy *copy, contact_answers *out, carom_error *err)
{
    const carom_context *context = rows->job.device->context;
    CHECK(fetch_rows(rows, copy, err));
    CHECK(choose(rows, copy, out, err));
    CHECK(mark_decided(rows, copy, out, err));
    uint64_t *key = caromi_alloc(context, out->totals.total + 1, sizeof *key);
    uint32_t *start = caromi_alloc(context, copy->count + 1ull, sizeof *start);
    const carom_status status = key != NULL && start != NULL
                                    ? give_contacts(rows, copy->count, out, key, start, err)
                                    : caromi_fail_memory(err, "no memory for the contacts of %u queries", copy->count);
    caromi_free(context, key);
    caromi_free(context, start);
    return status == CAROM_OK ? caromi_rows_report(rows, err) : status;
}

carom_status caromi_rows_decide_contacts(caromi_rows *rows, carom_error *err)
{
    const carom_context *context = rows->job.device->context;
    undecided_copy copy = {.count = rows->report.undecided};
    contact_answers out = {.offsets = caromi_alloc(context, copy.count + 1ull, sizeof *out.offsets),
                           .rungs = caromi_alloc(context, copy.count, 1)};
    const carom_status status = out.offsets != NULL && out.rungs != NULL
                                    ? choose_and_give(rows, &copy, &out, err)
                                    : caromi_fail_memory(err, "no memory for %u undecided queries", copy.count);
    caromi_free(context, out.offsets);
    caromi_free(context, out.rungs);
    caromi_free(context, out.triangle);
    caromi_free(context, out.t);
    caromi_free(context, copy.memory);
    return status;
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

/* Marks the rows of hits whose points are undecided, and copies inputs and triangles of these hits. */
carom_status caromi_rows_fetch_points(caromi_rows *rows, const cl_mem *columns, uint32_t count, float *const *to,
                                      uint32_t *scratch, carom_error *err)
{
    const uint32_t hits = rows->report.undecided;
    CHECK(read_words(rows, *caromi_grid_memory_of(&rows->job, CAROMI_ROWS_UNDECIDED_OF), hits, scratch, err));
    CHECK(mark_rows(rows, scratch, NULL, hits, err));
    for (uint32_t k = 0; k < count; k++)
        CHECK(fetch_words(rows, (caromi_resident){columns[k], 0}, sizeof(float),
                          caromi_grid_memory_of(&rows->job, CAROMI_ROWS_UNDECIDED), hits, to[k], err));
    return CAROM_OK;
}
