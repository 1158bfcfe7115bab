/* SPDX-License-Identifier: MIT */
/* The truth about a cloud: every pair by itself. Exact mode against the reference, fast mode against clouds of two
 * spheres. */
#ifndef CAROM_TESTS_SUPPORT_CLOUD_TRUTH_H
#define CAROM_TESTS_SUPPORT_CLOUD_TRUTH_H

#include "cloud_lists.h"

/* The list, whole and in pieces, counts, first and any partners. Frees the cloud. */
void cloud_check_made(carom_context *context, cloud *c, size_t number, int exact);
/* A list with too little room, again and again from where it ends; and by thirds. */
void cloud_check_cut(carom_context *context, const cloud *c, const cloud_records *expected, size_t number);

#endif
