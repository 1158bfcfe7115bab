/* SPDX-License-Identifier: MIT */
/* First hits as a list, by compaction: answers a part of the batch at a time, and drops the queries without a hit. */
#include <string.h>

#include "host/core/device.h"
#include "list.h"
#include "query.h"

enum { PART = 1 << 20 }; /* queries of a part: enough for a device; each ends with a report of progress */

/* The first hits of a part, before compaction: the list's columns, one row per query. */
typedef struct compact_part {
    uint64_t queries;
    int32_t *triangle, *instance;
    uint8_t *state, *feature, *rungs; /* rungs: as in caromi_mesh_batch; NULL: fast mode */
    float *t, *point[3], *normal[3];
} compact_part;

static void free_part(const carom_context *context, const compact_part *part)
{
    void *const all[] = {part->triangle, part->instance,  part->state,     part->feature,
                         part->rungs,    part->t,         part->point[0],  part->point[1],
                         part->point[2], part->normal[0], part->normal[1], part->normal[2]};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        caromi_free(context, all[i]);
}

/* Allocates the columns of a part. */
static int alloc_part(const carom_context *context, const carom_hit_list *list, uint64_t queries, int exact,
                      compact_part *p)
{
    int complete = 1;
    *p = (compact_part){.queries = queries};
#define COLUMN(member, wanted)                                         \
    if (wanted) {                                                      \
        p->member = caromi_alloc(context, queries, sizeof *p->member); \
        complete = complete && p->member != NULL;                      \
    }
    /* Only columns that the caller wants. */
    COLUMN(triangle, 1)
    COLUMN(state, list->state != NULL)
    COLUMN(t, list->t != NULL)
    COLUMN(feature, list->feature != NULL)
    COLUMN(instance, list->instance != NULL)
    COLUMN(rungs, exact)
    for (int k = 0; k < 3; k++) {
        COLUMN(point[k], list->point.x != NULL)
        COLUMN(normal[k], list->normal.x != NULL)
    }
#undef COLUMN
    if (!complete)
        free_part(context, p);
    return complete;
}

static void put_point(const carom_points_out *to, uint64_t at, float *const *from, uint64_t i)
{
    float *const base[3] = {to->x, to->y, to->z};
    for (int k = 0; k < 3 && base[k] != NULL; k++)
        memcpy((char *)base[k] + at * to->stride, &from[k][i], sizeof(float));
}

/* Copies one hit to the list. */
static void put_hit(const carom_hit_list *list, uint64_t query, const compact_part *part, uint64_t i)
{
    const uint64_t at = list->totals->stored;
    if (list->query != NULL)
        list->query[at] = query;
    if (list->triangle != NULL)
        list->triangle[at] = part->triangle[i];
    if (list->state != NULL)
        list->state[at] = part->state[i];
    if (list->t != NULL)
        list->t[at] = part->t[i];
    if (list->feature != NULL)
        list->feature[at] = part->feature[i];
    if (list->instance != NULL)
        list->instance[at] = part->instance[i];
    put_point(&list->point, at, part->point, i);
    put_point(&list->normal, at, part->normal, i);
}

/* Appends the hits of a part. Returns how many queries the later rungs have decided. Points of hits that are not in the
 * list do not count, wherever they are computed. */
static caromi_rungs put_part(const carom_hit_list *list, uint64_t first, const compact_part *part, uint64_t count)
{
    carom_list_totals *totals = list->totals;
    caromi_rungs rungs = {0, 0};
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t query = first + i;
        const int hit = part->triangle[i] >= 0;
        int is_stored = 0;
        if (totals->complete == query && (!hit || totals->stored < list->capacity)) {
            is_stored = hit;
            if (hit)
                put_hit(list, query, part, i);
            totals->stored += (uint64_t)hit;
            totals->complete++;
        }
        totals->total += (uint64_t)hit;
        if (list->offsets != NULL)
            list->offsets[query + 1] = totals->total;
        if (part->rungs != NULL)
            caromi_rungs_count(&rungs, caromi_rung_of(part->rungs[i], is_stored));
    }
    return rungs;
}

/* Adds the statistics of devices. The first part names the devices; in later parts one may be lost. */
static void add_shares(carom_stats *sum, const carom_stats *part)
{
    for (uint32_t i = 0; i < part->device_count; i++) {
        carom_device_share *to = &sum->devices[i];
        const carom_device_share *from = &part->devices[i];
        if (i >= sum->device_count) {
            *to = *from;
            continue;
        }
        to->status = from->status != CAROM_OK && to->status == CAROM_OK ? from->status : to->status;
        to->queries += from->queries;
        to->seconds += from->seconds;
    }
    sum->device_count = sum->device_count > part->device_count ? sum->device_count : part->device_count;
}

/* Adds the statistics of a part. */
static void add_stats(carom_stats *sum, const carom_stats *part)
{
    const size_t size = sum->size;
    carom_stats all = *sum;
    all.queries += part->queries;
    all.on_device += part->on_device;
    all.on_cpu += part->on_cpu;
    all.fallen_back += part->fallen_back;
    all.by_proof += part->by_proof;
    all.by_integers += part->by_integers;
    all.by_second_filter += part->by_second_filter;
    all.upload += part->upload;
    all.compute += part->compute;
    all.download += part->download;
    all.host += part->host;
    all.total += part->total;
    if (part->fallback_reason[0] != '\0')
        memcpy(all.fallback_reason, part->fallback_reason, sizeof all.fallback_reason);
    add_shares(&all, part);
    *sum = all;
    sum->size = size;
}

/* The list's columns as those of first hits. */
static carom_mesh_hit_result result_of(const compact_part *part)
{
    return (carom_mesh_hit_result){.size = sizeof(carom_mesh_hit_result),
                                   .triangle = part->triangle,
                                   .state = part->state,
                                   .t = part->t,
                                   .feature = part->feature,
                                   .instance = part->instance,
                                   .point = {part->point[0], part->point[1], part->point[2], sizeof(float)},
                                   .normal = {part->normal[0], part->normal[1], part->normal[2], sizeof(float)}};
}

/* Queries [first, first + count) as a batch of their own, whose answers go to `to`. */
static caromi_mesh_batch part_of(const caromi_mesh_batch *whole, uint64_t first, uint64_t count, const compact_part *to)
{
    const carom_mesh_hit_result out = result_of(to);
    caromi_mesh_batch part = *whole;
    part.begin = 0;
    part.count = count;
    part.hits_only = 1;
    part.rungs = to->rungs;
    if (to->rungs != NULL)
        memset(to->rungs, 0, count);
    caromi_hits_to_columns(&out, part.out);
    for (int c = 0; c < CAROMI_MESH_IN; c++)
        part.in[c] = caromi_column_from(&whole->in[c], first);
    part.mask = caromi_column_from(&whole->mask, first);
    return part;
}

/* The columns of a batch that is answered part by part. */
static carom_status open_part(const carom_context *context, const carom_hit_list *list, uint64_t queries, int exact,
                              compact_part *part, carom_error *err)
{
    return alloc_part(context, list, queries, exact, part)
               ? CAROM_OK
               : caromi_fail_memory(err, "no memory for the first hits of %llu queries", (unsigned long long)queries);
}

/* Answers queries [*done, end) of a list that was begun on a device, there or on the CPU (NULL); advances *done. */
static carom_status go_on(const carom_context *context, caromi_device *device, const caromi_list_batch *batch,
                          uint64_t end, uint64_t *done, carom_stats *stats, carom_error *err)
{
    const carom_hit_list *list = batch->list;
    const uint64_t most = end - *done < PART ? end - *done : PART;
    carom_status status = CAROM_OK;
    compact_part part;
    uint64_t count, answered;
    if (list->offsets != NULL && *done == batch->sweep.begin)
        list->offsets[*done] = 0;
    CHECK(open_part(context, list, most, batch->sweep.exact, &part, err));
    do {
        answered = 0;
        count = end - *done < most ? end - *done : most;
        const uint64_t by_integers = stats->by_integers, by_second_filter = stats->by_second_filter;
        const caromi_mesh_batch next = part_of(&batch->sweep, *done, count, &part);
        if (device != NULL)
            status = caromi_driver.mesh(device, &next, count, &answered, stats, err);
        else if ((status = caromi_cpu_mesh(context, &next, 0, count, stats, err)) == CAROM_OK)
            answered = count;
        stats->by_integers = by_integers;
        stats->by_second_filter = by_second_filter;
        caromi_count_rungs(stats, put_part(list, *done, &part, answered));
        *done += answered;
    } while (status == CAROM_OK && answered == count && *done < end);
    free_part(context, &part);
    return status;
}

carom_status caromi_cpu_first_list(const carom_context *context, const void *list_batch, uint64_t first, uint64_t end,
                                   carom_stats *stats, carom_error *err)
{
    return go_on(context, NULL, list_batch, end, &first, stats, err);
}

carom_status caromi_device_first_list(caromi_device *device, const void *list_batch, uint64_t end, uint64_t *done,
                                      carom_stats *stats, carom_error *err)
{
    const caromi_list_batch *batch = list_batch;
    return go_on(batch->sweep.mesh->context, device, batch, end, done, stats, err);
}

/* Answers first hits part by part, and appends the hits to the list. The context may have a device for the parts. */
carom_status caromi_compact_first(carom_mesh *mesh, const carom_mesh_sweep_desc *desc, const carom_hit_list *list,
                                  carom_stats *stats, carom_error *err)
{
    const carom_batch silent = {
        .prepare = desc->batch.prepare}; /* without progress: that counts the queries of the whole batch */
    caromi_mesh_batch whole;
    compact_part part;
    carom_stats sum = {.size = sizeof sum};
    carom_status status = CAROM_OK;
    /* Equal parts, so that none is too small for a device. */
    const uint64_t begin = desc->batch.begin, all = desc->batch.count - begin;
    const uint64_t parts = all < PART ? 1 : all / PART, queries = all / parts + 1;
    uint64_t answered = 0;
    caromi_begin_list(&desc->batch, list->offsets, list->totals);
    caromi_mesh_sweep_batch(desc, mesh, &whole);
    CHECK(open_part(mesh->context, list, queries, whole.exact, &part, err));
    for (uint64_t i = 0; status == CAROM_OK && i < parts && all > 0; i++) {
        const uint64_t first = begin + caromi_slice_start(all, parts, i);
        const uint64_t count = begin + caromi_slice_start(all, parts, i + 1) - first;
        const caromi_mesh_batch next = part_of(&whole, first, count, &part);
        carom_stats s = {.size = sizeof s};
        status = caromi_run_mesh(&next, &silent, &s, err);
        if (silent.prepare) {
            sum = s;
            break;
        }
        if (status == CAROM_OK) {
            s.by_integers = s.by_second_filter = 0;
            caromi_count_rungs(&s, put_part(list, first, &part, count));
            s.by_proof = whole.exact ? count - s.by_integers : 0;
            answered = first + count - begin;
            add_stats(&sum, &s);
            status = caromi_report(mesh->context, "query", first + count, err);
        }
    }
    free_part(mesh->context, &part);
    caromi_staging_note_answers(mesh->context, answered);
    sum.queries = silent.prepare ? 0 : all;
    if ((status == CAROM_OK || status == CAROM_ERROR_CANCELLED) && stats != NULL)
        *stats = sum;
    return status;
}
