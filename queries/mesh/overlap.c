/* SPDX-License-Identifier: MIT */
/* Spheres at rest against a mesh: which triangles each overlaps, how many, or whether it overlaps any. */
#include "mesh.h"

#include <stdio.h>
#include <stdlib.h>

enum { QUERY, TRIANGLE };

static carom_status ask_overlaps(carom_mesh *mesh, const query_call *call, carom_stats *stats, carom_error *err)
{
    const carom_mesh_overlap_desc desc = query_at_rest(call);
    call->list->query = call->out[QUERY];
    call->list->triangle = call->out[TRIANGLE];
    call->list->instance = call->instance;
    return carom_mesh_overlap_list(mesh, &desc, call->list, stats, err);
}

static carom_status ask_any(carom_mesh *mesh, const query_call *call, carom_stats *stats, carom_error *err)
{
    const carom_mesh_overlap_desc desc = query_at_rest(call);
    return carom_mesh_overlap_any(
        mesh, &desc, &(carom_any_result){.size = sizeof(carom_any_result), .hit = call->out[0]}, stats, err);
}

/* A byte for each triangle, which the caller frees: whether the sphere overlaps it; *count as ref_mesh_overlaps says.
 * NULL: no memory. */
static uint8_t *true_overlaps(const query_sphere *s, int64_t *count)
{
    uint8_t *overlaps = malloc(s->mesh.triangle_count + 1);
    *count = overlaps ? ref_mesh_overlaps(&s->mesh, &s->sphere, s->options.mask, overlaps) : 0;
    return overlaps;
}

/* The triangles of a sphere stand in ascending order, so none is there twice. */
static void judge_overlaps(const query_sphere *s, const query_records *answer, query_verdict *v)
{
    const int32_t *given = (const int32_t *)answer->out[TRIANGLE] + answer->at;
    int64_t count;
    int32_t last = -1;
    uint8_t *truth = true_overlaps(s, &count);
    v->known = truth != NULL;
    snprintf(v->truth, sizeof v->truth, "%lld overlaps", (long long)count);
    for (uint64_t k = 0; v->known && answer->stored && k < answer->count && !v->wrong; k++) {
        if (given[k] <= last || (size_t)given[k] >= s->mesh.triangle_count)
            v->wrong = "triangles out of order";
        else if (!truth[given[k]])
            v->wrong = "a triangle that is not overlapped";
        last = given[k];
    }
    query_judge_list(answer, (uint64_t)(count < 0 ? 0 : count), v);
    free(truth);
}

static void judge_any(const query_sphere *s, const query_records *answer, query_verdict *v)
{
    int64_t count;
    uint8_t *truth = true_overlaps(s, &count);
    v->known = truth != NULL;
    query_judge_whether(((const uint8_t *)answer->out[0])[answer->at], count, v);
    free(truth);
}

const query_type query_mesh_overlaps = {
    .name = "mesh-overlaps",
    .inputs = QUERY_AT_REST,
    .fields = {{"query", QUERY_COUNT, 0}, {"triangle", QUERY_TRIANGLE, 0}},
    .mesh = {.command = "overlap",
             .hits = {"all", "a row for every triangle it overlaps, ordered by query, triangle: query,triangle"},
             .count = {"count", "how many triangles it overlaps: count (empty for an invalid row)"},
             .is_list = 1,
             .ask = ask_overlaps,
             .judge = judge_overlaps}};

const query_type query_mesh_any_still = {
    .name = "mesh-any-still",
    .inputs = QUERY_AT_REST,
    .fields = {{"hit", QUERY_BITS, 0}},
    .mesh = {.command = "overlap",
             .hits = {"any", "whether the sphere overlaps a triangle, or with --sign is inside: hit (1 or 0, empty for "
                             "an\n           invalid row; default)"},
             .is_default = 1,
             .ask = ask_any,
             .judge = judge_any}};
