/* SPDX-License-Identifier: MIT */
/* Batches that may have any number of hits per query. The batch is answered part by part. A search writes the hits of a
 * part into stages, one per task, in the order of traversal. Undecided hits are settled, and the hits are sorted and
 * counted. Then the place of the hits of each stage is known. */
#ifndef CAROM_HOST_MESH_LIST_H
#define CAROM_HOST_MESH_LIST_H
#include "contacts.h"

/* Hits of a run of queries. */
typedef struct caromi_stage {
    uint64_t first; /* first query */
    uint32_t queries;
    mesh_record *records;
    size_t count, capacity;
    size_t *start;        /* [queries] where the hits of a query begin in records */
    uint32_t *hits;       /* [queries] */
    uint8_t *by_integers; /* [queries] whether a hit of the query was settled in integers */
    uint64_t total;       /* hits */
    uint64_t base;        /* hits of the batch before this stage */
    int full; /* no room for the hits of its queries: memory is short, or they are more than stages may hold */
} caromi_stage;

/* A checked batch, and how far it has come. */
typedef struct caromi_list_batch {
    caromi_mesh_batch sweep; /* a batch of first hits, or of contacts; its `out` are the columns of the list */
    enum caromi_mesh_search search;
    const caromi_contacts *contacts; /* of contacts; else NULL */
    uint8_t *any;                    /* any-hit query: 1 or 0 for each query; else NULL */
    const carom_hit_list *list;      /* list of hits; else NULL */
    caromi_sequencer *turns;         /* of several devices; of a list, else NULL */
    int counts_only;                 /* only the number of hits is wanted: they are not sorted */
} caromi_list_batch;

/* Whether the state from the search is the whole answer: an any-hit query that has found a decided hit. */
static inline int caromi_is_answered(const caromi_list_batch *batch, int state)
{
    return batch->any != NULL && state != CAROM_MISS;
}
/* Adds the result of query `row` of the stage: its state and its records. Settles what is undecided (of contacts that
 * is done before) and sorts the hits. 0: no memory. */
int caromi_stage_take(const carom_context *context, const caromi_list_batch *batch, caromi_stage *stage, uint32_t row,
                      int state, const mesh_record *records, uint32_t count);
/* The same for the triangles within reach, from which it chooses the contacts. spare: room for as many records. */
int caromi_stage_take_contacts(const carom_context *context, const caromi_list_batch *batch,
                               caromi_contact_scratch *scratch, caromi_stage *stage, uint32_t row,
                               const caromi_mesh_query *query, int state, mesh_record *records, uint32_t count,
                               mesh_record *spare);

carom_status caromi_stages_create(const carom_context *context, uint32_t count, uint32_t queries, caromi_stage **out,
                                  carom_error *err);
void caromi_stages_destroy(const carom_context *context, caromi_stage *stages, uint32_t count);
/* Frees the records of stages. */
void caromi_stages_empty(const carom_context *context, caromi_stage *stages, uint32_t count);
/* Writes the hits of consecutive stages to the caller. The first stage follows the one that was delivered last. */
carom_status caromi_stages_deliver(const carom_context *context, const caromi_list_batch *batch, caromi_stage *stages,
                                   uint32_t count, carom_stats *stats, carom_error *err);

caromi_on_cpu caromi_cpu_list; /* list.c */
/* Runs a batch whose columns are set: begins its list, and answers it also if the mesh is empty. name: of its kind;
 * list_calls.c */
carom_status caromi_run_list(caromi_list_batch *batch, const carom_batch *asked, const char *name, carom_stats *stats,
                             carom_error *err);
/* The first hits of a checked batch as a list; compact.c. */
carom_status caromi_compact_first(carom_mesh *mesh, const carom_mesh_sweep_desc *desc, const carom_hit_list *list,
                                  carom_stats *stats, carom_error *err);
#endif
