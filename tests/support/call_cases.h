/* SPDX-License-Identifier: MIT */
/* Every call with a batch, made from its type (calls/calls.h): inputs by the names of its members, room for all its
 * outputs, and the comparison of two answers. A new call needs no line here unless it has inputs or options of new
 * names. */
#ifndef CAROM_TESTS_SUPPORT_CALL_CASES_H
#define CAROM_TESTS_SUPPORT_CALL_CASES_H

#include "calls/calls.h"
#include "scenes.h"

/* What a case gives: all optional inputs; none of them; indices for pairs and a selection for queries of a mesh, with
 * all optional inputs; bundles of selected queries, so many in each; or of a cloud all optional inputs, in an open box
 * and with limits that are finite. */
typedef enum call_form { CALL_FULL, CALL_BARE, CALL_INDEXED, CALL_BUNDLED, CALL_MOVING, CALL_FORMS } call_form;
enum { CALL_BUNDLE = 4 };

/* What is asked: the call, its form and accuracy. Cases are numbered; exact mode comes second. */
typedef struct call_choice {
    int number; /* of the type */
    int which;  /* carom_hits, for the type that has it */
    call_form form;
    carom_accuracy accuracy;
} call_choice;
/* Choice i of [0, call_choices()). A form that a call does not have is left out. */
int call_choices(void);
call_choice call_choice_at(int i);

enum { CALL_ARRAYS_MAX = CAROMI_MEMBERS_MAX + 4, CALL_STRUCTURE_MAX = 512 };

/* An array of a call, in the memory of its case. */
typedef struct call_array {
    const char *name;
    uint8_t kind, extent; /* of the member */
    size_t offset, element, count;
    size_t structure, member; /* which structure points to it, and where */
    int is_index;             /* of pairs or queries: its values are below the number of elements */
} call_array;

/* A call that can be made. All its arrays lie in one piece of memory, between guard bands, and pointers into it are set
 * by call_case_place: the same case can be asked in the host's memory, in a buffer, or where nothing may be touched. */
typedef struct call_case {
    const caromi_call_type *type;
    call_choice choice;
    uint64_t count; /* queries, slabs, rows or spheres */
    size_t nodes;   /* answers of one: of a slab or row its nodes, else 1 */
    size_t bundle;  /* queries of an answer: of bundles CALL_BUNDLE, else 1 */
    _Alignas(16) unsigned char structure[2][CALL_STRUCTURE_MAX]; /* descriptor and result */
    carom_cloud_pairs_before before;
    carom_list_totals totals;
    carom_stats stats;
    int in_count, out_count;
    call_array in[CALL_ARRAYS_MAX], out[CALL_ARRAYS_MAX];
    unsigned char *memory; /* inputs, and outputs full of CALL_FILL */
    size_t bytes;
    char *base; /* what the pointers are relative to */
} call_case;
enum { CALL_FILL = 0xa5 };

/* The mesh of all cases. */
scene call_scene(void);
/* A case of about `count` queries or spheres, of which one in `share` is ordinary and all others are invalid, which
 * costs almost no time. Slabs and rows have 2^12 nodes. */
call_case *call_case_make(call_choice choice, size_t count, size_t share);
void call_case_free(call_case *c);
/* Whether the type's subject is a mesh; else it is a context. */
int call_is_of_mesh(const caromi_call_type *type);
/* As "carom_mesh_closest, exact, indexed". */
const char *call_case_name(const call_case *c);
carom_batch *call_case_batch(call_case *c);
/* Sets all pointers to arrays at `base`, which has c->bytes bytes; at first it is c->memory. */
void call_case_place(call_case *c, void *base);
/* The same, with inputs and outputs in two pieces of memory of this size. */
void call_case_place_apart(call_case *c, void *in, void *out);
/* Outputs, totals and statistics as before the first call. */
void call_case_reset(call_case *c);
/* Makes the call; `mesh` serves if the call is one of meshes. */
carom_status call_case_ask(call_case *c, carom_context *context, carom_mesh *mesh, carom_error *err);
/* Fails unless guard bands and inputs are as they were made. Reads c->memory. */
void call_case_check(const call_case *c, const char *who);
/* Fails unless outputs, totals and statistics are untouched. */
void call_case_expect_untouched(const call_case *c, const char *who);
/* Fail unless the answers to the first `done` are the same, or all, with the totals. */
void call_case_compare_first(const call_case *expected, const call_case *got, uint64_t done, const char *who);
void call_case_compare(const call_case *expected, const call_case *got, const char *who);
/* A new case with the answers of the context, which must succeed. */
call_case *call_case_answer(call_choice choice, size_t count, size_t share, carom_context *context);

#endif
