/* SPDX-License-Identifier: MIT */
/* Lists of hits that stay on a GPU: numbers that kernels and host agree on. */
#ifndef CAROM_MESH_ROWS_H
#define CAROM_MESH_ROWS_H

/* Numbers that the host reads besides the totals. */
typedef struct rows_report {
    unsigned int faults;    /* impossible results of the search: a mask of the following */
    unsigned int undecided; /* candidates that the host decides */
} rows_report;
#define ROWS_TRUNCATED 1
#define ROWS_CORRUPT 2

/* The key of a candidate that is no hit: behind all others. */
#define ROWS_MISS 0xffffffffffffffffu

/* Columns of a list, as bits of a mask, and whether points of the hits are wanted. Depth and patch are of contacts. */
enum {
    ROWS_QUERY,
    ROWS_TRIANGLE,
    ROWS_STATE,
    ROWS_T,
    ROWS_DEPTH,
    ROWS_PATCH,
    ROWS_COLUMNS,
    ROWS_POINTS = ROWS_COLUMNS
};

/* Marks of rows whose contacts the host chooses, besides CONTACT_UNDECIDED (contact_order.h): a decision would take
 * more steps than this, which bound the time of a work-item. */
#define CONTACT_CROWDED 4
#define CONTACT_TESTS 512 /* triangles with one feature */
#define CONTACT_STEPS 256 /* nodes and leaves around a point */
#endif
