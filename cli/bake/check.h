/* SPDX-License-Identifier: MIT */
/* One node of a volume, as carom bake check compares it. */
#ifndef CAROM_CLI_BAKE_CHECK_H
#define CAROM_CLI_BAKE_CHECK_H

#include "mesh.h"

/* Its values in every array. */
typedef struct bake_node {
    float distance;
    int32_t triangle;
    uint8_t feature;
    float point[3];
    uint8_t clearance;
    float height;
    const char *wrong; /* of the reference, where it judges a value and has none of its own: its sentence */
} bake_node;

typedef struct bake_place {
    const char *path; /* of the file */
    const bake_plan *plan;
    const bake_mesh *mesh;
    uint64_t node; /* its number in the lattice */
    float p[3];
} bake_place;

/* Members of a kind. Is an answer as near the exact one as it must be? */
int bake_is_near_distance(const bake_place *at, const bake_node *given, const bake_node *exact);
int bake_is_near_clearance(const bake_place *at, const bake_node *given, const bake_node *exact);
int bake_is_near_drop(const bake_place *at, const bake_node *given, const bake_node *exact);
/* The reference's answer. Returns whether it is the exact one. */
bake_verdict bake_judge_distance(const bake_place *at, const bake_node *exact, bake_node *truth);
bake_verdict bake_judge_clearance(const bake_place *at, const bake_node *exact, bake_node *truth);
bake_verdict bake_judge_drop(const bake_place *at, const bake_node *exact, bake_node *truth);
/* The message about two answers that differ; who: has the other one. */
void bake_report_distance(const bake_place *at, const char *who, const bake_node *file, const bake_node *other);
void bake_report_clearance(const bake_place *at, const char *who, const bake_node *file, const bake_node *other);
void bake_report_drop(const bake_place *at, const char *who, const bake_node *file, const bake_node *other);

#endif
