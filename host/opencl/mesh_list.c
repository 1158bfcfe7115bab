/* SPDX-License-Identifier: MIT */
/* All hits on a mesh by a device, part by part of the batch, in two passes: the first counts hits, a prefix sum assigns
 * their positions, and the second pass writes them. On devices that share memory with the host, the first pass already
 * writes hits: the queries of a work-item share space for CAROMI_INLINE_HITS hits each. Only work-items whose hits did
 * not fit run in the second pass. */
#include "abilities.h"
#include "mesh_copy.h"
#include "mesh_list.h"

#include "host/core/staging.h"
#include "host/mesh/block.h"
#include "host/mesh/mesh.h"

enum {
    STAGES_PER_THREAD = 4,
    HITS_HELD = 1 << 23 /* most hits of a part; fewer if the device has less memory */
};

/* The program of a list batch. */
uint32_t caromi_list_program(const caromi_list_batch *batch)
{
    if (batch->contacts != NULL)
        return caromi_search_program(CAROMI_PROGRAM_MESH_CONTACTS, batch->sweep.exact, 0);
    const uint32_t search = batch->search == CAROMI_MESH_OVERLAPS ? CAROMI_PROGRAM_MESH_OVERLAPS
                            : batch->is_first                     ? CAROMI_PROGRAM_MESH_FIRST
                                                                  : CAROMI_PROGRAM_MESH_LIST;
    if (batch->sweep.mesh->scene != NULL)
        return caromi_search_program(batch->search == CAROMI_MESH_OVERLAPS ? CAROMI_PROGRAM_SCENE_OVERLAPS
                                                                           : CAROMI_PROGRAM_SCENE_LIST,
                                     batch->sweep.exact, 0);
    return caromi_search_program(search, batch->sweep.exact, batch->sweep.options);
}

/* Enqueues one pass of a search over a chunk, whose queries are sorted. */
carom_status caromi_launch_pass(caromi_device *device, caromi_cl_slot *slot, const caromi_list_batch *batch,
                                const caromi_list_pass *pass, carom_error *err)
{
    const caromi_mesh_batch *sweep = &batch->sweep;
    const int columns = sweep->kind->in;
    const uint32_t program = caromi_list_program(batch);
    caromi_arguments arguments = caromi_arguments_of(device, program);
    CHECK(caromi_reserve_far(device, slot, program, sweep->mesh, slot->padded, err));
    const uint64_t items = caromi_set_search(device, slot, &arguments, program, sweep->mesh, sweep->options,
                                             slot->padded, (uint32_t)columns, pass->mask);
    if (batch->contacts != NULL)
        caromi_set_edges(device, &arguments, sweep->mesh, sweep->mask.base != NULL);
    caromi_set_argument(&arguments, &pass->records, sizeof pass->records);
    caromi_set_uint(&arguments, pass->found);
    caromi_set_int(&arguments, pass->each);
    caromi_set_int(&arguments, batch->any != NULL);
    caromi_set_argument(&arguments, &pass->from, sizeof pass->from);
    caromi_set_argument(&arguments, &pass->hits, sizeof pass->hits);
    caromi_set_argument(&arguments, &pass->state, sizeof pass->state);
    caromi_set_argument(&arguments, &pass->start, sizeof pass->start);
    return caromi_launch_search(device, slot, &arguments, program, items, err);
}

/* Launches one pass of a list over a chunk of queries. */
static carom_status launch_list(caromi_device *device, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const caromi_list_part *part = user;
    const caromi_mesh_batch *sweep = &part->batch->sweep;
    const int columns = sweep->kind->in;
    const cl_mem memory = part->fill ? part->memory : part->inline_hits;
    const caromi_list_pass pass = {
        .records = memory != NULL ? memory : caromi_column_memory(slot->out), /* any memory: none is written */
        .found = (cl_uint)part->found,
        .each = part->fill                  ? CAROMI_FILLS
                : part->inline_hits != NULL ? CAROMI_INLINE_HITS
                                            : CAROMI_COUNTS,
        .mask = (uint32_t)columns + 1,
        .from = caromi_column_memory(&slot->in[columns]),
        .hits = caromi_column_memory(&slot->out[0]),
        .state = caromi_column_memory(&slot->out[1]),
        .start = caromi_column_memory(&slot->out[2])};
    CHECK(caromi_sort_chunk(device, slot, sweep->mesh, columns, sweep->options, err));
    return caromi_launch_pass(device, slot, part->batch, &pass, err);
}

/* Describes one pass of a list as a stream. */
caromi_stream caromi_list_stream(const caromi_device *device, const caromi_list_part *part, uint64_t count,
                                 const caromi_in_column *in, const caromi_out_column *out)
{
    const caromi_mesh_batch *sweep = &part->batch->sweep;
    return (caromi_stream){.count = count,
                           .chunk = device->gpu ? CAROMI_LIST_QUERIES : device->max_items,
                           .answers_any_count = 1,
                           .in_count = (uint32_t)(sweep->kind->in + 1 + (sweep->mask.base != NULL)),
                           .out_count = 3,
                           .in = in,
                           .out = out,
                           .out_size = {4, 1, 4},
                           .extra = caromi_sort_chunk_bytes(device) + caromi_far_bytes(device, sweep->mesh),
                           .largest = caromi_far_bytes(device, sweep->mesh),
                           .launch = launch_list,
                           .user = part};
}

enum { COUNT_PASS, FILL_PASS };
/* Runs one pass over the part. The first downloads counts and states. The second (fill) writes the hits of queries that
 * have a position, and counts them again. */
static carom_status stream_part(caromi_device *device, caromi_list_part *part, int fill, carom_stats *stats,
                                carom_error *err)
{
    static const float none = 0;
    const caromi_mesh_batch *sweep = &part->batch->sweep;
    const int masks = sweep->mask.base != NULL, places = fill || part->inline_hits != NULL, columns = sweep->kind->in;
    caromi_in_column in[CAROMI_MESH_IN + 2];
    const caromi_out_column out[3] = {{fill ? part->again : part->hits, sizeof *part->hits},
                                      {fill ? NULL : part->state, 1},
                                      {fill || part->inline_hits == NULL ? NULL : part->start, sizeof *part->start}};
    uint64_t done = 0;
    for (int c = 0; c < columns; c++)
        in[c] = caromi_column_from(&sweep->in[c], part->first);
    in[columns] = places ? (caromi_in_column){.base = part->from, .stride = sizeof *part->from}
                         : (caromi_in_column){.base = &none};
    if (masks)
        in[columns + 1] = caromi_column_from(&sweep->mask, part->first);
    const caromi_stream stream = caromi_list_stream(device, part, part->queries, in, out);
    part->fill = fill;
    return caromi_stream_run(device, &stream, &done, stats, err);
}

/* The number of hits that fit into a quarter of the device's memory, and into one buffer. */
static uint64_t first_capacity(const caromi_device *device)
{
    const uint64_t by_buffer = device->info.max_allocation / sizeof(mesh_record),
                   by_total = device->info.memory / 4 / sizeof(mesh_record);
    uint64_t capacity = HITS_HELD;
    capacity = capacity < by_buffer || by_buffer == 0 ? capacity : by_buffer; /* 0: the device does not say */
    return capacity < by_total || by_total == 0 ? capacity : by_total;
}

/* Checks the counts of the first pass. Sets `start` to -1 for work-items whose hits did not all fit. */
static carom_status check_counts(const caromi_device *device, caromi_list_part *part, carom_error *err)
{
    const uint64_t end = part->first + part->counted;
    /* Each count is possible. */
    for (uint64_t i = 0; i < part->counted; i++) {
        if (part->hits[i] == MESH_LOOP_TRUNCATED)
            return caromi_fail_truncated(device, part->first, end, err);
        if ((uint32_t)part->hits[i] > part->batch->sweep.mesh->info.triangle_count)
            return caromi_fail_corrupt(device, "numbers of hits", part->first, end, err);
        if (part->inline_hits == NULL)
            part->start[i] = -1;
    }
    /* Hits that the first pass wrote: whether the hits of each work-item fit into its space. */
    for (uint64_t first = 0, next; part->inline_hits != NULL && first < part->counted; first = next) {
        uint64_t hits = 0;
        next = caromi_end_of_item(part, first);
        if (part->start[first] != (int32_t)(first * CAROMI_INLINE_HITS) || next - first > CAROMI_SHARE_MAX)
            return caromi_fail_corrupt(device, "places of hits", part->first, end, err);
        for (uint64_t i = first; i < next; i++)
            hits += (uint32_t)part->hits[i];
        for (uint64_t i = first; hits > (next - first) * CAROMI_INLINE_HITS && i < next; i++)
            part->start[i] = -1;
    }
    return CAROM_OK;
}

/* Prefix sum: assigns each query the position of its hits, or -1 if the second pass need not write any, as for a
 * decided any-hit query. Queries whose hits do not fit go into the next part. */
static void scan(caromi_list_part *part)
{
    part->found = part->all = 0;
    for (part->queries = 0; part->queries < part->counted; part->queries++) {
        const uint64_t i = part->queries;
        const uint32_t hits = caromi_is_answered(part->batch, part->state[i]) ? 0 : (uint32_t)part->hits[i];
        if (part->all + hits > part->capacity && i > 0)
            break;
        part->all += hits;
        part->from[i] = hits > 0 && part->start[i] < 0 ? (int32_t)part->found : -1;
        part->found += part->start[i] < 0 ? hits : 0;
    }
}

/* Checks that the second pass found as many hits per query as the first; otherwise some records were not written. */
static carom_status check_again(const caromi_device *device, const caromi_list_part *part, carom_error *err)
{
    for (uint64_t i = 0; i < part->queries; i++) {
        if (part->again[i] == MESH_LOOP_TRUNCATED)
            return caromi_fail_truncated(device, part->first, part->first + part->queries, err);
        if (part->again[i] != (part->from[i] < 0 ? 0 : part->hits[i]))
            return caromi_fail_corrupt(device, "numbers of hits", part->first, part->first + part->queries, err);
    }
    return CAROM_OK;
}

/* Runs the second pass, and downloads the hits. */
static carom_status fetch_hits(caromi_device *device, caromi_list_part *part, carom_stats *stats, carom_error *err)
{
    const uint64_t bytes = part->found * sizeof *part->records;
    part->records = caromi_alloc(part->context, part->found, sizeof *part->records);
    if (part->records == NULL)
        return caromi_fail_memory(err, "no memory for %llu hits", (unsigned long long)part->found);
    CHECK(caromi_make_buffer(device, "hits", CL_MEM_WRITE_ONLY, bytes, NULL, &part->memory, err));
    CHECK(stream_part(device, part, FILL_PASS, stats, err));
    CHECK(check_again(device, part, err));
    const double start = caromi_now();
    const carom_status status = caromi_read(device, device->slots[0].queue, part->memory, CAROMI_BEGIN, part->records,
                                            bytes, CAROMI_WAIT, NULL, "hits", err);
    stats->download += caromi_now() - start;
    return status;
}

static void release_hits(caromi_list_part *part)
{
    caromi_release_buffer(&part->memory);
    caromi_free(part->context, part->records);
    part->records = NULL;
}

/* Fetches the hits of a part as far as they fit, and adds them to the batch. */
static carom_status try_part(caromi_device *device, caromi_list_part *part, carom_stats *stats, carom_error *err)
{
    scan(part);
    carom_status status = part->found > 0 ? fetch_hits(device, part, stats, err) : CAROM_OK;
    if (status == CAROM_OK)
        status = caromi_add_part(device, part, stats, err);
    release_hits(part);
    return status;
}

/* Writes a part's hits and adds them to the batch. If there is no memory, the limit of hits is halved, down to one
 * query. The counting pass is not repeated. */
static carom_status run_part(caromi_device *device, caromi_list_part *part, carom_stats *stats, carom_error *err)
{
    for (uint64_t before = UINT64_MAX;; before = part->queries) {
        carom_error why = {CAROM_OK, 0, ""};
        const carom_status status = try_part(device, part, stats, &why);
        if (status != CAROM_ERROR_OUT_OF_MEMORY || part->queries <= 1 || part->queries == before) {
            if (status != CAROM_OK && err != NULL)
                *err = why;
            return status;
        }
        caromi_stages_empty(part->context, part->stages, part->stage_count);
        part->capacity = part->all / 2;
        caromi_log(device->context, CAROM_LOG_INFO, "%s has no memory for %llu hits at a time; trying half",
                   device->info.name, (unsigned long long)part->all);
    }
}

/* Moves on to the next part; the counts of its queries are kept. */
static void go_on(caromi_list_part *part)
{
    part->first += part->queries;
    part->counted -= part->queries;
    part->hits += part->queries;
    part->from += part->queries;
    part->state += part->queries;
    part->start += part->queries;
    part->gone += part->queries;
}

/* Allocates the first pass's buffer for hits. A list works without it, and any-hit queries do not use it. */
static void open_inline_hits(caromi_device *device, caromi_list_part *part)
{
    carom_error why = {CAROM_OK, 0, ""};
    const uint64_t bytes = (uint64_t)CAROMI_INLINE_QUERIES * CAROMI_INLINE_HITS * sizeof(mesh_record);
    if (!device->unified || part->batch->any != NULL)
        return;
    if (device->inline_hits == NULL &&
        caromi_make_buffer(device, "the first hits of each query", CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes,
                           NULL, &device->inline_hits, &why) != CAROM_OK)
        caromi_log(device->context, CAROM_LOG_INFO, "hits are counted before any is written: %s", why.message);
    part->inline_hits = device->inline_hits;
}

void caromi_inline_hits_release(caromi_device *device)
{
    caromi_release_buffer(&device->inline_hits);
}

/* Maps the hits that the first pass has written. */
static carom_status map_inline_hits(caromi_device *device, caromi_list_part *part, carom_error *err)
{
    void *written;
    if (part->inline_hits == NULL)
        return CAROM_OK;
    CHECK(caromi_map(device, device->slots[0].queue, part->inline_hits, CL_MAP_READ,
                     part->counted * CAROMI_INLINE_HITS * sizeof *part->written, CAROMI_WAIT, &written, NULL, "hits",
                     err));
    part->written = written;
    return CAROM_OK;
}

/* Unmaps the buffer and waits, as the device must not write before the unmap has ended. */
static void unmap_inline_hits(caromi_device *device, caromi_list_part *part)
{
    cl_event event = NULL;
    if (part->written != NULL &&
        caromi_unmap(device, device->slots[0].queue, part->inline_hits, part->written, &event, NULL) == CAROM_OK) {
        caromi_wait(event);
        caromi_release_event(event);
    }
    part->written = NULL;
}

/* Runs the first pass over `queries` queries from `first` on. */
static carom_status count_hits(caromi_device *device, caromi_list_part *part, uint64_t first, uint64_t queries,
                               carom_stats *stats, carom_error *err)
{
    unmap_inline_hits(device, part);
    part->capacity = first_capacity(device);
    part->first = first;
    part->gone = 0;
    part->queries = part->counted = queries;
    for (uint64_t i = 0; part->inline_hits != NULL && i < part->counted; i++)
        part->from[i] = (int32_t)(i * CAROMI_INLINE_HITS);
    CHECK(stream_part(device, part, COUNT_PASS, stats, err));
    CHECK(check_counts(device, part, err));
    return map_inline_hits(device, part, err);
}

/* The queries of the next first pass: the next part that this device gets among several, or else from `done` on.
 * Returns their number. */
static uint64_t next_queries(const caromi_list_part *part, uint64_t done, uint64_t end, uint64_t *first)
{
    caromi_sequencer *turns = part->batch->turns;
    const uint64_t most = part->inline_hits != NULL ? CAROMI_INLINE_QUERIES : CAROMI_LIST_QUERIES;
    if (turns != NULL && turns->is_shared)
        return caromi_sequencer_claim(turns, most, first);
    *first = done;
    return end - done < most ? end - done : most;
}

/* Answers a list on a device, part by part. */
carom_status caromi_stream_list(caromi_device *device, const caromi_list_batch *batch, uint64_t end, uint64_t *done,
                                carom_stats *stats, carom_error *err)
{
    const carom_context *context = device->context;
    caromi_list_part part = {.batch = batch, .context = context};
    CHECK(caromi_ready_mesh(device, &batch->sweep, err));
    if (batch->any != NULL && (!batch->sweep.exact || caromi_is_resident(device, batch->any)))
        return caromi_stream_any(device, &part, end, done, stats, err);
    /* Buffers of the host: counts, positions and states of a first pass, and stages for its hits. */
    part.stage_count = STAGES_PER_THREAD * caromi_pool_threads(context->pool);
    CHECK(
        caromi_stages_create(context, part.stage_count, CAROMI_LIST_QUERIES / part.stage_count + 1, &part.stages, err));
    int32_t *hits = caromi_alloc(context, CAROMI_LIST_QUERIES, sizeof *hits),
            *from = caromi_alloc(context, CAROMI_LIST_QUERIES, sizeof *from);
    int32_t *start = caromi_alloc(context, CAROMI_LIST_QUERIES, sizeof *start);
    uint8_t *state = caromi_alloc(context, CAROMI_LIST_QUERIES, 1);
    part.again = caromi_alloc(context, CAROMI_LIST_QUERIES, sizeof *part.again);
    carom_status status = hits != NULL && from != NULL && start != NULL && state != NULL && part.again != NULL
                              ? CAROM_OK
                              : caromi_fail_memory(err, "no memory to stage %d queries", CAROMI_LIST_QUERIES);
    if (status == CAROM_OK)
        status = caromi_open_choosers(device, &part, err);
    if (status == CAROM_OK)
        open_inline_hits(device, &part);
    /* Each first pass counts the hits of many queries; they are then fetched part by part. */
    while (status == CAROM_OK && !part.is_stopped) {
        uint64_t first = 0;
        const uint64_t queries = part.counted == 0 ? next_queries(&part, *done, end, &first) : part.counted;
        if (queries == 0)
            break;
        if (part.counted == 0) {
            part.hits = hits;
            part.from = from;
            part.start = start;
            part.state = state;
            status = count_hits(device, &part, first, queries, stats, err);
        }
        if (status == CAROM_OK)
            status = run_part(device, &part, stats, err);
        *done += status == CAROM_OK && !part.is_stopped ? part.queries : 0;
        go_on(&part);
    }
    unmap_inline_hits(device, &part);
    caromi_free(context, hits);
    caromi_free(context, from);
    caromi_free(context, start);
    caromi_free(context, part.again);
    caromi_free(context, state);
    caromi_close_choosers(&part);
    caromi_stages_destroy(context, part.stages, part.stage_count);
    return status;
}

static unsigned ability_of(int is_of_contacts)
{
    return is_of_contacts ? CAROMI_CHOOSES_CONTACTS : CAROMI_LISTS_HITS;
}

/* Contacts are chosen in binary64. */
int caromi_list_stays_on(const caromi_device *device, int is_of_contacts)
{
    return caromi_has_ability(device, ability_of(is_of_contacts)) && (!is_of_contacts || device->info.fp64);
}

/* Brings what the host needs to decide or complete hits. */
static carom_status bring(const caromi_list_batch *batch, carom_error *err)
{
    const caromi_edges *edges;
    if (batch->sweep.mesh->scene != NULL) /* the call has looked at it */
        return CAROM_OK;
    CHECK(caromi_mesh_bring(batch->sweep.mesh, err));
    return batch->contacts != NULL ? caromi_edges_of(batch->sweep.mesh, &edges, err) : CAROM_OK;
}

/* Answers a list whose arrays stay on the device. If there is no memory even for few queries, the rest is answered part
 * by part through the host. So are all lists of this kind from now on if their programs cannot be built. */
static carom_status answer_in_place(caromi_device *device, const caromi_list_batch *batch, uint64_t end, uint64_t *done,
                                    carom_stats *stats, carom_error *err)
{
    const uint64_t begin = batch->sweep.begin;
    carom_error why = {CAROM_OK, 0, ""};
    carom_status status = caromi_probe_rows(device, batch, &why);
    const int gives_up = caromi_gives_up_ability(device, ability_of(batch->contacts != NULL), status);
    if (status == CAROM_OK)
        status = caromi_stream_rows(device, batch, end, done, stats, &why);
    if (status != CAROM_ERROR_OUT_OF_MEMORY && !gives_up)
        return status == CAROM_OK ? CAROM_OK : caromi_fail(err, status, why.native_code, "%s", why.message);
    caromi_log(device->context, gives_up ? CAROM_LOG_WARNING : CAROM_LOG_INFO,
               "%s: the list's arrays come to the host: %s", device->info.name, why.message);
    CHECK(caromi_staging_show_after(batch->sweep.mesh->context, *done - begin, err));
    CHECK(bring(batch, err));
    if (batch->is_first)
        return caromi_device_first_list(device, batch, end, done, stats, err);
    if (batch->list->offsets != NULL && *done == begin)
        batch->list->offsets[begin] = 0;
    CHECK(caromi_probe_list(device, batch, err));
    return caromi_stream_list(device, batch, end, done, stats, err);
}

carom_status caromi_device_list(caromi_device *device, const void *list_batch, uint64_t end, uint64_t *done,
                                carom_stats *stats, carom_error *err)
{
    const caromi_list_batch *batch = list_batch;
    const int stays = batch->any != NULL && (!batch->sweep.exact || caromi_is_resident(device, batch->any));
    const int is_body = batch->sweep.sign != CAROM_SIGN_NONE;
    if ((is_body || caromi_program_needs_fp64(caromi_list_program(batch))) && !device->info.fp64)
        return caromi_lacks_fp64(device,
                                 batch->sweep.mesh->scene != NULL ? "scenes need"
                                 : is_body                        ? "signs need"
                                                                  : "exact mode needs",
                                 stats);
    caromi_fit_stack(device, batch->sweep.mesh);
    if (batch->list != NULL && caromi_has_residents(device->context) &&
        caromi_list_stays_on(device, batch->contacts != NULL))
        return answer_in_place(device, batch, end, done, stats, err);
    if (!stays && *done < end)
        CHECK(bring(batch, err));
    carom_status status = caromi_probe_list(device, batch, err);
    if (status == CAROM_OK)
        status = (is_body ? caromi_stream_bodies : caromi_stream_list)(device, batch, end, done, stats, err);
    return status;
}
