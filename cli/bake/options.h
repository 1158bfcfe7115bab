/* SPDX-License-Identifier: MIT */
/* Options of carom bake, and rows of its commands' tables. */
#ifndef CAROM_CLI_BAKE_OPTIONS_H
#define CAROM_CLI_BAKE_OPTIONS_H

#include "command.h"

#include <stdint.h>

/* Arrays of an output: BAKE_NAME. */
enum bake_array {
#define BAKE_ARRAY(name, type, components) BAKE_##name,
    BAKE_EACH_ARRAY(BAKE_ARRAY) BAKE_ARRAYS
#undef BAKE_ARRAY
};

/* Which options were on the command line. */
enum {
    BAKE_GIVEN_SPACING = 1u << 0,
    BAKE_GIVEN_ORIGIN = 1u << 1,
    BAKE_GIVEN_DIMS = 1u << 2,
    BAKE_GIVEN_MARGIN = 1u << 3,
    BAKE_GIVEN_RADIUS = 1u << 4
};

/* Options of a kind that decide about its answers. */
typedef struct bake_parameters {
    carom_sign sign;
    float band;   /* +inf: none */
    float radius; /* of a sphere or a ball */
} bake_parameters;

typedef struct bake_options {
    uint32_t given;
    double spacing, origin[3], margin;
    uint64_t dims[3];
    bake_parameters parameters;
    int allow_open;
    uint32_t arrays; /* a bit for each bake_array that --with names */
    int resume;
    int is_part;          /* --part was given */
    uint64_t part, parts; /* from 1 */
    uint64_t max_memory;  /* bytes */
    const char *paths;
    uint64_t samples;
} bake_options;

/* A command line of carom bake. */
typedef struct bake_request {
    cli_options common;
    const char *mesh, *scene, *hits;
    carom_start start;
    int is_start_given, cull_back;
    uint64_t seed;
    bake_options bake;
} bake_request;

extern const bake_request bake_defaults;
/* --output: a bake needs a file to grow in. */
extern const cli_option bake_output_option;

/* ---- rows of a command's table ------------------------------------------------------------------------------------
 */

cli_read_fn bake_read_spacing, bake_read_origin, bake_read_dims, bake_read_map_origin, bake_read_map_dims,
    bake_read_margin, bake_read_band, bake_read_radius, bake_read_with, bake_read_with_gradient, bake_read_part,
    bake_read_max_memory;

/* Arrays that --with adds. */
#define BAKE_MORE (1u << BAKE_triangle | 1u << BAKE_feature | 1u << BAKE_point)
#define BAKE_MORE_AND_GRADIENT (BAKE_MORE | 1u << BAKE_gradient)

/* Members behind the help of an option that `read` stores into bake_options, and of a flag there. */
#define BAKE_OWN(read) read, offsetof(bake_request, bake), 0, CLI_NO_FILE
#define BAKE_OWN_FLAG(member) NULL, 0, offsetof(bake_request, bake.member), CLI_NO_FILE

/* clang-format off */
#define BAKE_PLACES_NODES                                                                                            \
    {"spacing", "H", "distance of neighbouring nodes", BAKE_OWN(bake_read_spacing)},                                 \
    {"origin", "X,Y,Z", "of node (0, 0, 0); default: the mesh's lower bounds less the margin",                       \
     BAKE_OWN(bake_read_origin)},                                                                                    \
    {"dims", "NX,NY,NZ", "nodes along x, y and z", BAKE_OWN(bake_read_dims)},                                        \
    {"margin", "M", "around the bounds of the mesh (default two spacings)", BAKE_OWN(bake_read_margin)}
#define BAKE_PLACES_COLUMNS                                                                                          \
    {"spacing", "H", "distance of neighbouring columns", BAKE_OWN(bake_read_spacing)},                               \
    {"origin", "X,Y", "of column (0, 0); default: the mesh's lower bounds less the margin",                          \
     BAKE_OWN(bake_read_map_origin)},                                                                                \
    {"dims", "NX,NY", "columns along x and y", BAKE_OWN(bake_read_map_dims)},                                        \
    {"margin", "M", "around the bounds of the mesh (default two spacings)", BAKE_OWN(bake_read_margin)}
#define BAKE_SIGNS_AND_BAND                                                                                          \
    CLI_SIGN(offsetof(bake_request, bake.parameters.sign), 0),                                                       \
    {"band", "B", "nodes farther than B hold B with their sign, and nothing else", BAKE_OWN(bake_read_band)}
#define BAKE_WITH {"with", "LIST", "more arrays: some of triangle,feature,point", BAKE_OWN(bake_read_with)}
#define BAKE_WITH_GRADIENT                                                                                           \
    {"with", "LIST", "more arrays: some of triangle,feature,point,gradient", BAKE_OWN(bake_read_with_gradient)}
#define BAKE_RESUME                                                                                                  \
    {"resume", NULL, "go on with the partial file of an earlier run, if there is one", BAKE_OWN_FLAG(resume)}
#define BAKE_PART {"part", "I/N", "bake part I of N; carom bake join puts them together", BAKE_OWN(bake_read_part)}
#define BAKE_RUNS_LONG                                                                                               \
    BAKE_RESUME, BAKE_PART,                                                                                          \
    {"max-memory", "BYTES", "refuse to start if more is needed", BAKE_OWN(bake_read_max_memory)}
/* clang-format on */

#endif
