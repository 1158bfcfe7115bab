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

/* The use that a bake makes of an earlier run's work; BAKE_RESUMES is the flag --resume. */
enum {
    BAKE_BEGINS,  /* refuse it */
    BAKE_RESUMES, /* go on with it */
    /* To a name that the user has not typed: go on, begin anew if the mesh is another, and replace only what carom
     * baked. */
    BAKE_REPEATS
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
    uint32_t arrays;      /* a bit for each bake_array that --with names */
    int resume;           /* BAKE_BEGINS, ... */
    int is_part;          /* --part was given */
    uint64_t part, parts; /* from 1 */
    uint64_t max_memory;  /* bytes */
    const char *paths;
    uint64_t samples;
    int bits;         /* --bits; 0: not given */
    uint32_t formats; /* a bit for each that --format names (bake_format_at) */
} bake_options;

enum { BAKE_MORE_MESHES = 255 };

/* A command line of carom bake. */
typedef struct bake_request {
    cli_options common;
    const char *mesh, *scene, *hits;
    const char *more_meshes[BAKE_MORE_MESHES]; /* --mesh again, and a file of names: of volumes alone */
    int more_mesh_count;
    const char *mesh_list;
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
    bake_read_max_memory, bake_read_mesh, bake_read_format, bake_read_bits;

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
#define BAKE_ONE_MESH                                                                                                \
    {"mesh", "FILE", "mesh file", bake_read_mesh, offsetof(bake_request, mesh), 0, CLI_READS}
#define BAKE_MESHES                                                                                                  \
    {"mesh", "FILE", "mesh file; several of them go to a folder (-o DIR/)", bake_read_mesh,                          \
     offsetof(bake_request, mesh), 0, CLI_READS},                                                                    \
    {"meshes", "FILE", "names of mesh files, one a line, seen from the folder of that file", cli_read_name,          \
     offsetof(bake_request, mesh_list), 0, CLI_READS},                                                               \
    {"format", "LIST", "of the files in -o DIR/: some of npy,nrrd,vti,vtkhdf,h5", BAKE_OWN(bake_read_format)}
/* clang-format on */

#endif
