/* SPDX-License-Identifier: MIT */
/* The tables of options of carom bake, and its commands. */
#include "bake.h"
#include "command.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A binary64 that is finite, up to a comma or the end. Returns what follows it, NULL if there is none. */
static const char *read_double(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end == text || !isfinite(*out) ? NULL : end;
}

/* Whole numbers from 1 to 2^48. */
static const char *read_whole(const char *text, uint64_t *out)
{
    char *end;
    if (*text < '0' || *text > '9')
        return NULL;
    *out = strtoull(text, &end, 10); /* UINT64_MAX if it is more */
    return *out < 1 || *out > BAKE_NODES_MAX ? NULL : end;
}

static int set_spacing(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    const char *end = read_double(value, &bake->spacing);
    if (!end || *end != '\0' || !(bake->spacing > 0.0))
        return cli_refuse(EXIT_USAGE, "--%s: expected a finite number > 0, got '%s'", name, value);
    bake->given |= BAKE_GIVEN_SPACING;
    return -1;
}

/* As many as there are axes, separated by commas. Returns 0 if that is not what there is. */
static int read_origin(const char *at, int axes, bake_options *bake)
{
    for (int k = 0; k < axes; k++) {
        at = read_double(at, &bake->origin[k]);
        if (!at || *at != (k < axes - 1 ? ',' : '\0'))
            return 0;
        at++;
    }
    bake->given |= BAKE_GIVEN_ORIGIN;
    return 1;
}

static int read_dims(const char *at, int axes, bake_options *bake)
{
    for (int k = 0; k < axes; k++) {
        at = read_whole(at, &bake->dims[k]);
        if (!at || *at != (k < axes - 1 ? ',' : '\0'))
            return 0;
        at++;
    }
    bake->given |= BAKE_GIVEN_DIMS;
    return 1;
}

static int set_origin(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    if (!read_origin(value, 3, bake))
        return cli_refuse(EXIT_USAGE, "--%s: expected three finite numbers X,Y,Z, got '%s'", name, value);
    return -1;
}

static int set_dims(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    if (!read_dims(value, 3, bake))
        return cli_refuse(EXIT_USAGE, "--%s: expected three whole numbers NX,NY,NZ from 1 to 2^48, got '%s'", name,
                          value);
    return -1;
}

static int set_map_origin(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    if (!read_origin(value, 2, bake))
        return cli_refuse(EXIT_USAGE, "--%s: expected two finite numbers X,Y, got '%s'", name, value);
    return -1;
}

static int set_map_dims(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    if (!read_dims(value, 2, bake))
        return cli_refuse(EXIT_USAGE, "--%s: expected two whole numbers NX,NY from 1 to 2^48, got '%s'", name, value);
    return -1;
}

static int set_margin(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    const char *end = read_double(value, &bake->margin);
    if (!end || *end != '\0' || !(bake->margin >= 0.0))
        return cli_refuse(EXIT_USAGE, "--%s: expected a finite number >= 0, got '%s'", name, value);
    bake->given |= BAKE_GIVEN_MARGIN;
    return -1;
}

static int set_sign(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    for (int i = 0; i < BAKE_SIGNS; i++)
        if (!strcmp(value, bake_sign_words[i])) {
            bake->sign = (carom_sign)i;
            return -1;
        }
    return cli_refuse(EXIT_USAGE, "--%s: expected none, parity or winding, got '%s'", name, value);
}

static int set_band(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    char *end;
    const float band = strtof(value, &end);
    if (end == value || *end != '\0' || !(band >= 0.0f))
        return cli_refuse(EXIT_USAGE, "--%s: expected a number >= 0 or inf, got '%s'", name, value);
    bake->band = band == 0.0f ? 0.0f : band; /* -0 is 0 */
    return -1;
}

static int set_with(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    const char *at = value;
    for (;;) {
        const size_t length = strcspn(at, ",");
        int a = BAKE_TRIANGLE;
        while (a < BAKE_CLEARANCE &&
               (strlen(bake_arrays[a].name) != length || strncmp(at, bake_arrays[a].name, length)))
            a++;
        if (a == BAKE_CLEARANCE)
            return cli_refuse(EXIT_USAGE,
                              "--%s: expected triangle, feature or point, or some of them separated by "
                              "commas, got '%s'",
                              name, value);
        bake->arrays |= 1u << a;
        at += length;
        if (*at++ == '\0')
            return -1;
    }
}

static int set_part(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    const char *at = read_whole(value, &bake->part);
    at = at && *at == '/' ? read_whole(at + 1, &bake->parts) : NULL;
    if (!at || *at != '\0' || bake->part > bake->parts)
        return cli_refuse(EXIT_USAGE, "--%s: expected I/N with I from 1 to N, got '%s'", name, value);
    bake->is_part = 1;
    return -1;
}

static int set_max_memory(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    if (!cli_parse_count(value, 1, UINT64_MAX, &bake->max_memory))
        return cli_refuse(EXIT_USAGE, "--%s: expected a whole number of bytes, such as 2e9, got '%s'", name, value);
    return -1;
}

static int set_paths(const char *name, const char *value, void *out)
{
    if (*value == '\0')
        return cli_refuse(EXIT_USAGE, "--%s: expected a name, got ''", name);
    *(const char **)out = value;
    return -1;
}

static int set_radius(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    char *end;
    const float radius = strtof(value, &end);
    if (end == value || *end != '\0' || !(radius >= 0.0f) || isinf(radius))
        return cli_refuse(EXIT_USAGE, "--%s: expected a finite number >= 0, got '%s'", name, value);
    bake->radius = radius == 0.0f ? 0.0f : radius; /* -0 is 0 */
    bake->given |= BAKE_GIVEN_RADIUS;
    return -1;
}

static int set_samples(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    if (!cli_parse_count(value, 1, BAKE_NODES_MAX, &bake->samples))
        return cli_refuse(EXIT_USAGE, "--%s: expected a whole number from 1 to 2^48, got '%s'", name, value);
    return -1;
}

/* ---- tables -------------------------------------------------------------------------------------------------------
 */

#define OWN(read) read, offsetof(bake_request, bake), 0, CLI_NO_FILE
#define OWN_FLAG(member) NULL, 0, offsetof(bake_request, bake.member), CLI_NO_FILE
#define PATHS set_paths, offsetof(bake_request, bake.paths), 0, CLI_READS

/* clang-format off */
#define PLACES_NODES                                                                                                 \
    {"spacing", "H", "distance of neighbouring nodes", OWN(set_spacing)},                                            \
    {"origin", "X,Y,Z", "of node (0, 0, 0); default: the mesh's lower bounds less the margin", OWN(set_origin)},     \
    {"dims", "NX,NY,NZ", "nodes along x, y and z", OWN(set_dims)},                                                   \
    {"margin", "M", "around the bounds of the mesh (default two spacings)", OWN(set_margin)}
#define DESCRIBES_FILE                                                                                               \
    PLACES_NODES,                                                                                                    \
    {"sign", "S", "none, parity or winding: minus inside (default none)", OWN(set_sign)},                            \
    {"band", "B", "nodes farther than B hold B with their sign, and nothing else", OWN(set_band)}
#define RESUME {"resume", NULL, "go on with the partial file of an earlier run, if there is one", OWN_FLAG(resume)}
#define PART {"part", "I/N", "bake part I of N; carom bake join puts them together", OWN(set_part)}
#define RUNS_LONG RESUME, PART, {"max-memory", "BYTES", "refuse to start if more is needed", OWN(set_max_memory)}
#define ON_PATHS CLI_MESH(bake_request), CLI_HITS(bake_request), CLI_START(bake_request), CLI_CULL_BACK(bake_request)

static const cli_option distance_options[] = {
    DESCRIBES_FILE,
    {"allow-open", NULL, "take a sign also from a mesh that is not closed", OWN_FLAG(allow_open)},
    {"with", "LIST", "more arrays: some of triangle,feature,point", OWN(set_with)},
    RUNS_LONG,
    CLI_MESH(bake_request),
};

static const cli_option clearance_options[] = {
    PLACES_NODES,
    {"radius", "R", "of the sphere", OWN(set_radius)},
    RUNS_LONG,
    CLI_MESH(bake_request),
};

static const cli_option drop_options[] = {
    {"ball", "R", "radius of the ball", OWN(set_radius)},
    {"spacing", "H", "distance of neighbouring columns", OWN(set_spacing)},
    {"origin", "X,Y", "of column (0, 0); default: the mesh's lower bounds less the margin", OWN(set_map_origin)},
    {"dims", "NX,NY", "columns along x and y", OWN(set_map_dims)},
    {"margin", "M", "around the bounds of the mesh (default two spacings)", OWN(set_margin)},
    RUNS_LONG,
    CLI_MESH(bake_request),
};

static const cli_option path_options[] = {
    {"paths", "FILE", "polylines: CSV, .npy or H5MD (.h5)", PATHS},
    {"radius", "R", "of the sphere, if the file has no column radius", OWN(set_radius)},
    RESUME,
    PART,
    {"max-memory", "BYTES", "refuse to start if more is needed; chunks are as large as it allows",
     OWN(set_max_memory)},
    ON_PATHS,
};

static const cli_option check_options[] = {
    DESCRIBES_FILE,
    {"radius", "R", "of the sphere of a clearance", OWN(set_radius)},
    {"ball", "R", "radius of the ball of a drop map", OWN(set_radius)},
    {"paths", "FILE", "polylines of rows of paths", PATHS},
    {"samples", "N", "nodes to compute anew, such as 1e4 (default 1000)", OWN(set_samples)},
    ON_PATHS,
    CLI_SEED(bake_request),
};
/* clang-format on */

static const bake_request defaults = {.seed = 1,
                                      .bake = {.band = INFINITY,
                                               .arrays = 1u << BAKE_DISTANCE,
                                               .part = 1,
                                               .parts = 1,
                                               .max_memory = UINT64_MAX,
                                               .samples = 1000}};

/* A bake needs a file to grow in. */
static const cli_option output_option = {
    "output", "FILE", "where to write (-o FILE)", cli_read_name, offsetof(bake_request, common.output), 0, CLI_GROWS};

/* ---- commands -----------------------------------------------------------------------------------------------------
 */

const cli_command bake_distance_command = {
    .name = "bake distance",
    .summary = "distances from a lattice of nodes to a mesh, as a volume",
    .synopsis = "carom bake distance --mesh M --spacing H|--dims NX,NY,NZ [options] -o OUT",
    .details =
        "OUT ends in .npy or .nrrd (float32 [nz][ny][nx]), or in .vti, .vtkhdf (both for ParaView) or .h5 (arrays "
        "distance,\n"
        "triangle, feature, point).\n"
        "Node (i,j,k) is at origin + index * H, rounded to binary32. With --spacing alone the nodes cover the bounds "
        "of "
        "the\n"
        "mesh and the margin; with --dims alone the spacing is the smallest that does. Distances are those of carom\n"
        "overlap --hits closest, bit for bit. The output grows in OUT.partial, beside the journal OUT.journal. After "
        "an\n"
        "interruption the same command with --resume goes on. SIGINT and SIGTERM finish a slab and end with status "
        "75.\n",
    .run = run_bake_volume,
    .prepare = prepare_bake_volume,
    .size = sizeof(bake_request),
    .defaults = &defaults,
    .options = distance_options,
    .option_count = CLI_COUNT(distance_options),
    .computes = 1,
    .output = &output_option,
};

const cli_command bake_clearance_command = {
    .name = "bake clearance",
    .summary = "in which cubes of a lattice a sphere is clear of a mesh, as a volume",
    .synopsis = "carom bake clearance --mesh M --radius R --spacing H|--dims NX,NY,NZ [options] -o OUT",
    .details =
        "OUT ends in .npy or .nrrd (uint8 [nz][ny][nx]), or in .vti, .vtkhdf or .h5 (array clearance). A node stands "
        "for the\n"
        "cube of edge H around it: 0 if a sphere of radius R with its centre anywhere in the cube is clear of the "
        "mesh, 1 "
        "if it "
        "touches\n"
        "the mesh wherever its centre is, 2 if the node's distance does not tell. Decided exactly in both modes. "
        "Lattice,\n"
        "partial file, --resume and --part are those of carom bake distance.\n",
    .run = run_bake_volume,
    .prepare = prepare_bake_volume,
    .size = sizeof(bake_request),
    .defaults = &defaults,
    .options = clearance_options,
    .option_count = CLI_COUNT(clearance_options),
    .computes = 1,
    .output = &output_option,
};

const cli_command bake_drop_command = {
    .name = "bake drop",
    .summary = "how high a ball that comes down stands on a mesh, as a map",
    .synopsis = "carom bake drop --mesh M --ball R --spacing H|--dims NX,NY [options] -o OUT",
    .details =
        "OUT ends in .npy or .nrrd (float32 [ny][nx]), or in .vti, .vtkhdf or .h5 (array height). The ball comes down "
        "along\n"
        "-z over each column until it first touches the mesh. The height of its centre is rounded up to binary32, so "
        "it "
        "never cuts\n"
        "into the mesh; -inf where it meets nothing. The same answer in both modes. Lattice, partial file, --resume "
        "and\n"
        "--part are those of carom bake distance, with x and y alone.\n",
    .run = run_bake_volume,
    .prepare = prepare_bake_volume,
    .size = sizeof(bake_request),
    .defaults = &defaults,
    .options = drop_options,
    .option_count = CLI_COUNT(drop_options),
    .computes = 1,
    .output = &output_option,
};

const cli_command bake_path_command = {
    .name = "bake path",
    .summary = "hits of spheres that move along polylines on a mesh",
    .synopsis = "carom bake path --mesh M --paths P [--radius R] [--hits first|all|any] [options] -o OUT",
    .details =
        "P is a CSV file with the columns path,x,y,z and, without --radius, radius, a .npy file (float32\n"
        "[paths][points][3]) or H5MD (.h5: path p is particle p). Rows of a path follow each other; its id is a whole\n"
        "number from 0 to 2^63 - 1. Segment s goes from point s to point s + 1 over u in [0, 1], with the radius of "
        "its\n"
        "first row. --hits chooses:\n"
        "  first  the smallest segment, u, triangle: path,segment,u,triangle,state,x,y,z,nx,ny,nz,feature (default)\n"
        "  all    a row for every hit: the same columns; paths as in P, and in each by segment, u, triangle\n"
        "  any    whether there is a hit: path,hit (1 or 0, empty for an invalid path)\n"
        "A path of one point is the segment from it to itself. A path without hits has one row, of segment -1. A "
        "point\n"
        "that is not finite makes its path invalid. OUT ends in .csv or .h5 (a dataset for each column), and grows in\n"
        "OUT.partial, beside a journal. After an interruption the same command with --resume goes on.\n"
        "--part I/N takes the paths whose first points are in the I-th of N shares of all points; OUT has any name.\n",
    .run = run_bake_path,
    .prepare = prepare_bake_path,
    .size = sizeof(bake_request),
    .defaults = &defaults,
    .options = path_options,
    .option_count = CLI_COUNT(path_options),
    .computes = 1,
    .output = &output_option,
};

const cli_command bake_join_command = {
    .name = "bake join",
    .summary = "the parts of a bake, put together",
    .synopsis = "carom bake join OUT PART... [options]",
    .details = "The parts are the outputs of carom bake ... --part I/N, each of them once, in any order.\n"
               "OUT ends in .npy, .nrrd, .vti, .vtkhdf or .h5, of paths in .csv. It is byte for byte that of a bake in "
               "one go.\n",
    .run = run_bake_join,
    .size = sizeof(bake_request),
    .defaults = &defaults,
    .operands_min = 2,
    .operands_max = INT_MAX,
    .operands = "OUT and the parts",
};

const cli_command bake_status_command = {
    .name = "bake status",
    .summary = "how far a bake has come",
    .synopsis = "carom bake status OUT",
    .details =
        "Prints one line: D/N slabs P% B bytes OPTIONS. B is the size of OUT when it is complete; of paths, whose\n"
        "slabs are 256 points each, the bytes so far.\n",
    .run = run_bake_status,
    .size = sizeof(bake_request),
    .defaults = &defaults,
    .operands_min = 1,
    .operands_max = 1,
    .operands = "OUT",
};

const cli_command bake_check_command = {
    .name = "bake check",
    .summary = "random nodes of a volume, or random paths, computed anew",
    .synopsis = "carom bake check OUT --mesh M [--paths P] [--samples N] [--seed S] [options]",
    .details =
        "N nodes or paths are computed in the accuracy of the file, and must have its bits; in exact mode; and by\n"
        "the reference. Rows of paths need the paths, too.\n"
        "A file knows its options; a .npy or .csv file does where the file system keeps the attribute "
        "user.carom.bake,\n"
        "otherwise give those of the bake. Exit status 1 on a difference.\n",
    .run = run_bake_check,
    .prepare = prepare_bake_check,
    .size = sizeof(bake_request),
    .defaults = &defaults,
    .options = check_options,
    .option_count = CLI_COUNT(check_options),
    .computes = 1,
    .operands_min = 1,
    .operands_max = 1,
    .operands = "OUT",
};
