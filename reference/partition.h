/* SPDX-License-Identifier: MIT */
/* Eberly's partition of one sweep: the line of centres, cut where the region of the triangle's closest feature changes.
 * In each element the squared distance less r^2 is one quadratic F(t). All of it exact, from the definition. */
#ifndef CAROM_REFERENCE_PARTITION_H
#define CAROM_REFERENCE_PARTITION_H

#include "space.h"

/* A line crosses at most nine borders: two end planes of each edge, three sides of the face. */
enum { REF_BORDERS = 9, REF_ELEMENTS_MAX = REF_BORDERS + 1 };

typedef struct ref_element {
    int feature; /* the first of V0 V1 V2 E01 E12 E20 F that holds the closest point inside the element */
    int has_begin, has_end;
    ref_root begin, end; /* rational; absent: infinite */
    ref_quadratic f;
    int zero;         /* F is zero throughout: every time is a root, and `roots` is 0 */
    int roots;        /* in the closed element */
    ref_root root[2]; /* in order; a double root is one */
} ref_element;

typedef struct ref_partition {
    int count; /* 0: the case is invalid */
    ref_element element[REF_ELEMENTS_MAX];
} ref_partition;

void ref_partition_set(ref_partition *out, const ref_sweep_case *c);

/* R0 R1 R2 R01 R12 R20 R012: the region of a feature. */
const char *ref_region_name(int feature);

/* The element in numbers: the nearest binary64 of each, zero as +0, infinite beyond its range. The roots of an element
 * that is `zero` are its ends. */
typedef struct ref_element_row {
    const char *region;
    double begin, end, f[3];
    int roots;
    double root[2];
} ref_element_row;

void ref_element_row_set(ref_element_row *out, const ref_element *element);

/* F(t), rounded once. The partition is not empty. */
double ref_partition_value(const ref_partition *partition, double t);

#endif
