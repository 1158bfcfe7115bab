/* SPDX-License-Identifier: MIT */
/* The commands of carom bake that are no kind of volume. */
#include "bake.h"
#include "path.h"

#include <limits.h>

static int read_paths(const char *name, const char *value, void *out)
{
    if (*value == '\0')
        return cli_refuse(EXIT_USAGE, "--%s: expected a name, got ''", name);
    *(const char **)out = value;
    return -1;
}

static int read_samples(const char *name, const char *value, void *out)
{
    bake_options *bake = out;
    if (!cli_parse_count(value, 1, BAKE_NODES_MAX, &bake->samples))
        return cli_refuse(EXIT_USAGE, "--%s: expected a whole number from 1 to 2^48, got '%s'", name, value);
    return -1;
}

#define PATHS read_paths, offsetof(bake_request, bake.paths), 0, CLI_READS

/* clang-format off */
#define ON_PATHS                                                                                                      \
    BAKE_ONE_MESH, CLI_SCENE(bake_request), CLI_HITS(bake_request), CLI_START(bake_request),                \
        CLI_CULL_BACK(bake_request)

static const cli_option path_options[] = {
    {"paths", "FILE", "polylines: CSV, .npy or H5MD (.h5)", PATHS},
    {"radius", "R", "of the sphere, if the file has no column radius", BAKE_OWN(bake_read_radius)},
    BAKE_RESUME,
    BAKE_PART,
    {"max-memory", "BYTES", "refuse to start if more is needed; chunks are as large as it allows",
     BAKE_OWN(bake_read_max_memory)},
    ON_PATHS,
};

static const cli_option check_options[] = {
    BAKE_PLACES_NODES,
    BAKE_SIGNS_AND_BAND,
    {"radius", "R", "of the sphere of a clearance", BAKE_OWN(bake_read_radius)},
    {"ball", "R", "radius of the ball of a drop map", BAKE_OWN(bake_read_radius)},
    {"paths", "FILE", "polylines of rows of paths", PATHS},
    {"samples", "N", "nodes to compute anew, such as 1e4 (default 1000)", BAKE_OWN(read_samples)},
    ON_PATHS,
    CLI_SEED(bake_request),
};
/* clang-format on */

const cli_command bake_path_command = {
    .name = "bake path",
    .summary = "hits of spheres that move along polylines on a mesh",
    .synopsis = "carom bake path --mesh M|--scene F --paths P [--radius R] [--hits first|all|any] [options] -o OUT",
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
        "that is not finite makes its path invalid. OUT ends in .csv, .h5, .npy, .vtp or .xyz, and grows in\n"
        "OUT.partial, beside a journal. After an interruption the same command with --resume goes on.\n"
        "--part I/N takes the paths whose first points are in the I-th of N shares of all points; OUT has any name.\n",
    .run = run_bake_path,
    .prepare = prepare_bake_path,
    .size = sizeof(bake_request),
    .defaults = &bake_defaults,
    .options = path_options,
    .option_count = CLI_COUNT(path_options),
    .computes = 1,
    .output = &bake_output_option,
    .hits_words = path_hits_words,
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
    .defaults = &bake_defaults,
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
    .defaults = &bake_defaults,
    .operands_min = 1,
    .operands_max = 1,
    .operands = "OUT",
};

const cli_command bake_check_command = {
    .name = "bake check",
    .summary = "random nodes of a volume, or random paths, computed anew",
    .synopsis = "carom bake check OUT --mesh M|--scene F [--paths P] [--samples N] [--seed S] [options]",
    .details =
        "N nodes or paths are computed in the accuracy of the file, and must have its bits; in exact mode; and by\n"
        "the reference. Rows of paths need the paths, too.\n"
        "A file knows its options; a .npy or .csv file does where the file system keeps the attribute "
        "user.carom.bake,\n"
        "otherwise give those of the bake. Exit status 1 on a difference.\n",
    .run = run_bake_check,
    .prepare = prepare_bake_check,
    .size = sizeof(bake_request),
    .defaults = &bake_defaults,
    .options = check_options,
    .option_count = CLI_COUNT(check_options),
    .computes = 1,
    .operands_min = 1,
    .operands_max = 1,
    .operands = "OUT",
    .hits_words = path_hits_words,
};
