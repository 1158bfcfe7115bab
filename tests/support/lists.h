/* SPDX-License-Identifier: MIT */
/* Lists of hits and of overlaps, and any queries, for the tests of mesh queries. */
#ifndef CAROM_TESTS_SUPPORT_LISTS_H
#define CAROM_TESTS_SUPPORT_LISTS_H

#include "scenes.h"

/* Arrays between guards; a list of overlaps uses offsets, query and triangle alone. */
typedef struct hit_list {
    size_t queries, capacity;
    guarded offsets, query;
    hits hits; /* [capacity] the other columns */
    union {
        carom_list_totals totals; /* as the call reported them */
        struct {
            uint64_t total, complete, stored;
        };
    };
    uint64_t by_proof, by_integers, on_cpu, on_device; /* of the statistics */
} hit_list;

enum { LIST_OVERLAPS = 1 << HIT_TRIANGLE, LIST_HITS = -1 }; /* masks of the fields that a list has */

hit_list list_alloc(size_t count, size_t capacity, unsigned char fill);
void list_free(hit_list *l);
/* Fail if the call wrote outside the arrays. */
void list_check_guards(const hit_list *l, const char *label);
uint64_t list_offset(const hit_list *l, size_t i);
uint64_t list_query(const hit_list *l, size_t k);
/* Number of the record of sphere i and this triangle, or SIZE_MAX. */
size_t list_find(const hit_list *l, size_t i, int32_t triangle);
/* Descriptor of the list's arrays; overlaps: without the columns that must be NULL. */
carom_hit_list list_desc(hit_list *l, int fields);

/* A request for a list. */
typedef struct list_request {
    carom_accuracy accuracy;
    int overlaps;     /* 1: which triangles the spheres overlap, at rest */
    carom_hits which; /* unused for overlaps */
} list_request;

/* All hits, first hits and overlaps, in fast mode and then in exact mode. */
enum { LIST_REQUESTS = 6 };
extern const list_request list_requests[LIST_REQUESTS];

/* Get the list of spheres first .. first + count. The capacity of `l` may be too small. */
void list_ask(carom_mesh *mesh, const list_request *q, const swept_spheres *b, size_t first, size_t count, hit_list *l);
/* Count the records, then get the list with exactly that capacity, and check its form. */
hit_list list_whole(carom_mesh *mesh, const list_request *q, const swept_spheres *b, size_t first, size_t count);
/* Offsets, counts, the order by (query, time, triangle), every record within the offsets of its query. */
void list_check_form(const hit_list *l, int fields, const char *label);
/* Fail unless both agree in every byte of offsets, queries and the fields in the mask. */
void list_compare(const swept_spheres *b, const hit_list *expected, const hit_list *got, int fields, const char *label);
/* Fail unless record k of `l` and answer i of `h` agree in all fields but, if !triangles, the triangle. */
void list_compare_record(const swept_spheres *b, size_t i, const hits *expected, size_t at, const hit_list *l, size_t k,
                         int triangles, const char *label);

/* Fail unless, for each sphere, the first record of all its hits is its first hit. */
void list_check_first(carom_mesh *mesh, carom_accuracy accuracy, const swept_spheres *b, const hit_list *all,
                      const char *label);
/* Checks `whole`, the list of a mesh of `s`, triangle by triangle. A mesh of two triangles must give the same records
 * for the triangle, bit for bit. So tree and neighbours do not change a hit. */
void list_check_alone(carom_context *context, const scene *s, const list_request *q, const swept_spheres *b,
                      const hit_list *whole, const char *label);

/* Any query: a byte for each sphere. The caller frees it. */
uint8_t *any_of(carom_mesh *mesh, const list_request *q, const swept_spheres *b, size_t first, size_t count);
/* Fail unless two meshes answer a request, and the any query, with the same bits; list_compare_meshes checks every
 * request. */
void list_compare_request(carom_mesh *expected, carom_mesh *got, const list_request *q, const swept_spheres *b,
                          const char *label);
void list_compare_meshes(carom_mesh *expected, carom_mesh *got, const swept_spheres *b, const char *label);

#endif
