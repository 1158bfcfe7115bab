/* SPDX-License-Identifier: MIT */
/* Batches with any number of hits per query, answered part by part:
 *
 *   1. list.c    searches a part's queries; each task writes its hits, in the order of traversal, to a stage of its own
 *   2. stage.c   decides undecided hits, sorts each query's hits, counts them
 *   3. stage.c   a prefix sum of the stages' counts is where the hits of each stage go in the caller's list
 *   4. stage.c   writes the stages to the list, one task each
 *
 * On a device, host/opencl/mesh_list.c does step 1. */
#ifndef CAROM_HOST_MESH_LIST_H
#define CAROM_HOST_MESH_LIST_H
#include "contacts.h"
#include "cpu/mesh/resolve_hit.h"

/* The staged hits of consecutive queries, written by one task. */
typedef struct caromi_stage {
    uint64_t first; /* first query */
    uint32_t queries;
    mesh_record *records;
    size_t count, capacity;
    size_t *start;  /* [queries] first record of each query */
    uint32_t *hits; /* [queries] number of hits */
    uint8_t *rung;  /* [queries] last rung that a hit of the query has reached */
    uint64_t total; /* hits of all queries */
    uint64_t base;  /* number of the batch's hits before this stage */
    int full;       /* the hits do not fit: there is no memory, or they exceed the limit of stages */
} caromi_stage;

/* A checked batch with any number of hits per query. */
typedef struct caromi_list_batch {
    /* Inputs, as a batch of first hits or of contacts; its `out` are the columns of the list. */
    caromi_mesh_batch sweep;
    enum caromi_mesh_search search;
    int is_first;                    /* only the first hit of each query is listed */
    const caromi_contacts *contacts; /* options of contacts; else NULL */
    uint8_t *any;                    /* any-hit query: 1 or 0 for each query; else NULL */
    caromi_on_cpu *on_cpu;           /* answers single queries on the CPU */
    const carom_hit_list *list;      /* list of hits; else NULL */
    caromi_sequencer *turns;         /* orders the output of several devices into one list; else NULL */
    int counts_only;                 /* only the number of hits is wanted: hits are not sorted */
    _Atomic uint32_t *part;          /* queries of the next part on the CPU, from earlier pieces; 0: not known */
} caromi_list_batch;

/* Whether the search's state is the complete answer: an any-hit query with a decided hit. */
static inline int caromi_is_answered(const caromi_list_batch *batch, int state)
{
    return batch->any != NULL && state != CAROM_MISS;
}
/* Exact mode: adds an undecided record of a query to those that wait for a decision, if it may be a hit up to a time
 * that rounds to `until`. When they are decided, hits have their time and state, and others the state CAROM_MISS. The
 * second function adds all that are undecided. */
void caromi_add_undecided_record(const caromi_list_batch *batch, const caromi_mesh_query *query, float until,
                                 mesh_record *record, caromi_undecided_hits *undecided, caromi_hit_outcome *outcome);
void caromi_add_undecided_records(const caromi_list_batch *batch, const caromi_mesh_query *query, mesh_record *records,
                                  uint32_t count, caromi_undecided_hits *undecided, caromi_hit_outcome *outcome);
/* Adds the state and the records of query `row` to the stage, and sorts the hits. rung: the last that decided one of
 * them. Returns 0 if there is no memory. */
int caromi_stage_add(const carom_context *context, const caromi_list_batch *batch, caromi_stage *stage, uint32_t row,
                     int state, const mesh_record *records, uint32_t count, caromi_rung rung);
/* Chooses the contacts from the triangles within reach of a query, and adds them to the stage. spare: room for as many
 * records. */
int caromi_stage_add_contacts(const carom_context *context, const caromi_list_batch *batch,
                              caromi_contact_scratch *scratch, caromi_stage *stage, uint32_t row,
                              const caromi_mesh_query *query, int state, mesh_record *records, uint32_t count,
                              mesh_record *spare);

carom_status caromi_stages_create(const carom_context *context, uint32_t count, uint32_t queries, caromi_stage **out,
                                  carom_error *err);
void caromi_stages_destroy(const carom_context *context, caromi_stage *stages, uint32_t count);
/* Frees the records of stages. */
void caromi_stages_empty(const carom_context *context, caromi_stage *stages, uint32_t count);
/* Writes the hits of consecutive stages to the caller's list, behind the stages of the last call. */
carom_status caromi_stages_scatter(const carom_context *context, const caromi_list_batch *batch, caromi_stage *stages,
                                   uint32_t count, carom_stats *stats, carom_error *err);

caromi_on_cpu caromi_cpu_list; /* list.c */
/* Runs a batch whose columns are set: initializes its list, then answers it, also if the mesh is empty. name: of the
 * call, for errors. list_calls.c */
carom_status caromi_answer_list(caromi_list_batch *batch, const carom_batch *asked, const char *name,
                                carom_stats *stats, carom_error *err);
/* Whether a device answers the list in place, with arrays that lie in its memory. list_calls.c */
int caromi_list_stays(const carom_mesh *mesh, const carom_batch *asked, int is_of_contacts);
/* Answer a list of first hits on the CPU, or what is left of one whose arrays were to stay on a device. compact.c */
caromi_on_cpu caromi_cpu_first_list;
caromi_on_device caromi_device_first_list;
/* Writes the first hits of a checked batch as a list, without the queries that have none, where a device may search
 * them. compact.c */
carom_status caromi_compact_first(carom_mesh *mesh, const carom_mesh_sweep_desc *desc, const carom_hit_list *list,
                                  carom_stats *stats, carom_error *err);
#endif
