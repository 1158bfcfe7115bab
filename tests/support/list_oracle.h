/* SPDX-License-Identifier: MIT */
/* Checks lists of exact mode against the exact reference. */
#ifndef CAROM_TESTS_SUPPORT_LIST_ORACLE_H
#define CAROM_TESTS_SUPPORT_LIST_ORACLE_H

#include "lists.h"
#include "mesh_oracle.h"

/* Fail unless the records of sphere i are exactly its true hits (overlaps), in order, and any[i] agrees. */
void list_judge_hits(const scene *s, const swept_spheres *b, size_t i, const hit_list *l, const uint8_t *any,
                     const char *name);
void list_judge_overlaps(const scene *s, const swept_spheres *b, size_t i, const hit_list *l, const uint8_t *any,
                         const char *name);

#endif
