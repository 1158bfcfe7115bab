/* SPDX-License-Identifier: MIT */
/* Batches that may have any number of hits per query. The batch is answered part after part: a search leaves the hits
 * of a part in stages, one per task, in the order it meets them; they are settled, put in order and counted; then every
 * stage knows where its hits go. */
#ifndef CAROM_HOST_MESH_LIST_H
#define CAROM_HOST_MESH_LIST_H
#include "batch.h"

/* Hits of a run of queries. */
typedef struct caromi_stage {
    uint64_t first; /* query */
    uint32_t queries;
    mesh_record *records;
    size_t count, capacity;
    size_t *start;        /* [queries] where the hits of a query begin in records */
    uint32_t *hits;       /* [queries] */
    uint8_t *by_integers; /* [queries] whether a hit of the query was settled in integers */
    uint64_t total;       /* hits */
    uint64_t base;        /* hits of the batch before these */
    int full; /* no room for the hits of its queries: memory is short, or they are more than stages may hold */
} caromi_stage;

/* A checked batch, and how far it has come. */
typedef struct caromi_list_batch {
    caromi_mesh_batch sweep; /* of first hits; its `out` are the list's columns */
    enum caromi_mesh_search search;
    uint8_t *any;               /* whether a query has a hit; or */
    const carom_hit_list *list; /* the hits */
    int counts_only;            /* only their number is asked for: they are not sorted */
} caromi_list_batch;

/* Whether the state that a search leaves is the whole answer: any hit is asked for, and it has found one that is
 * sure. */
static inline int caromi_is_answered(const caromi_list_batch *batch, int state)
{
    return batch->any != NULL && state != CAROM_MISS;
}
/* Take what a search has left of query `row` of the stage's run, its state and its records: settle what is undecided,
 * sort the rest. 0: no memory. */
int caromi_stage_take(const carom_context *context, const caromi_list_batch *batch, caromi_stage *stage, uint32_t row,
                      int state, const mesh_record *records, uint32_t count);

carom_status caromi_stages_create(const carom_context *context, uint32_t count, uint32_t queries, caromi_stage **out,
                                  carom_error *err);
void caromi_stages_destroy(const carom_context *context, caromi_stage *stages, uint32_t count);
/* Give back the records of stages. */
void caromi_stages_empty(const carom_context *context, caromi_stage *stages, uint32_t count);
/* Send the hits of stages that follow each other, and on what went before, to the caller. */
carom_status caromi_stages_deliver(const carom_context *context, const caromi_list_batch *batch, caromi_stage *stages,
                                   uint32_t count, carom_stats *stats, carom_error *err);

caromi_on_cpu caromi_cpu_list; /* list.c */
/* The first hits of a checked batch as a list; compact.c. */
carom_status caromi_compact_first(carom_mesh *mesh, const carom_mesh_sweep_desc *desc, const carom_hit_list *list,
                                  carom_stats *stats, carom_error *err);
#endif
