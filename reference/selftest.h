/* SPDX-License-Identifier: MIT */
/* Checks of the reference itself, against facts that do not come from it. */
#ifndef CAROM_REFERENCE_SELFTEST_H
#define CAROM_REFERENCE_SELFTEST_H

#include "reference.h"

typedef struct ref_test {
    long checks, failures;
    uint64_t state; /* of the number stream */
} ref_test;

/* Counts; says `what` (and prints the first failures) if not ok. Returns ok. */
int ref_check(ref_test *test, int ok, const char *what);
void ref_print_sweep(const ref_sweep_case *c, const ref_sweep_answer *a);
uint64_t ref_test_bits(ref_test *test);
int ref_same_bits(double a, double b);

void ref_test_numbers(ref_test *test);                  /* selftest_numbers.c: dyadics and roots against the hardware */
void ref_test_hand_cases(ref_test *test);               /* selftest_cases.c */
void ref_test_sampling(ref_test *test, uint64_t cases); /* selftest_geometry.c: distances in long double */
void ref_test_symmetries(ref_test *test, uint64_t cases); /* selftest_geometry.c: exact relations between answers */
void ref_test_meshes(ref_test *test, uint64_t cases);     /* selftest_mesh.c */
void ref_test_closest(ref_test *test, uint64_t cases);    /* selftest_closest.c */

#endif
