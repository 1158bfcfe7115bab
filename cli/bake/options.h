/* SPDX-License-Identifier: MIT */
/* Options of carom bake. */
#ifndef CAROM_CLI_BAKE_OPTIONS_H
#define CAROM_CLI_BAKE_OPTIONS_H

#include "cli/command/command.h"

#include <stdint.h>

/* Arrays of an output, in the order in which every file holds them. */
enum bake_array { BAKE_DISTANCE, BAKE_TRIANGLE, BAKE_FEATURE, BAKE_POINT, BAKE_CLEARANCE, BAKE_HEIGHT, BAKE_ARRAYS };

/* Which options were on the command line. */
enum {
    BAKE_GIVEN_SPACING = 1u << 0,
    BAKE_GIVEN_ORIGIN = 1u << 1,
    BAKE_GIVEN_DIMS = 1u << 2,
    BAKE_GIVEN_MARGIN = 1u << 3,
    BAKE_GIVEN_RADIUS = 1u << 4
};

typedef struct bake_options {
    uint32_t given;
    double spacing, origin[3], margin;
    uint64_t dims[3];
    carom_sign sign;
    int allow_open;
    float band;      /* +inf: none */
    uint32_t arrays; /* a bit for each bake_array */
    int resume;
    int is_part;          /* --part was given */
    uint64_t part, parts; /* from 1 */
    uint64_t max_memory;  /* bytes */
    const char *paths;
    float radius; /* of a sphere or a ball */
    uint64_t samples;
} bake_options;

/* A command line of carom bake. */
typedef struct bake_request {
    cli_options common;
    const char *mesh, *hits;
    carom_start start;
    int is_start_given, cull_back;
    uint64_t seed;
    bake_options bake;
} bake_request;

#endif
