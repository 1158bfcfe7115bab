/* SPDX-License-Identifier: MIT */
/* The table of commands, and what is checked before one runs. */
#include "cli/command/command.h"
#include "cli/table/hdf5.h"
#include "cli/rows/rows.h"
#include "cli/bake/bake.h"
#include "cli/table/hdf5_child.h"
#include "cli/probe/probe.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const cli_command commands[] = {
    {"info", OPTIONS_COMPUTE | OPTION_OUTPUT | OPTION_MESH | OPTION_AS_JSON,
     "what this build and this machine can do, or what a mesh holds", "carom info [--backend B] [--mesh M] [--json]",
     "Prints version, instruction sets, OpenCL devices, whether each passed the bit probe, and which is chosen.\n"
     "With --mesh it prints the parts, counts and bounds of the mesh and what the import changed.\n",
     command_info, NULL},
    {"sweep",
     OPTIONS_COMPUTE | OPTION_OUTPUT | OPTION_PAIRS | OPTION_MESH | OPTION_SPHERES | OPTION_T_MAX | OPTION_HITS |
         OPTION_START | OPTION_CULL_BACK,
     "moving spheres against triangles: times, points and features of contact",
     "carom sweep --pairs F.csv [options]\n       carom sweep --mesh M --spheres S.csv [--t-max T] [--hits WHICH]\n"
     "                   [--start report|skip-parting|skip] [--cull-back] [options]",
     "F.csv has the columns cx,cy,cz,radius,vx,vy,vz,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z and optionally wx,wy,wz.\n"
     "S.csv has the columns cx,cy,cz,radius,vx,vy,vz and optionally t_max, which overrides --t-max row by row,\n"
     "and mask: 32 bits, 0..4294967295 or 0x..; of 0, a sphere hits nothing, for the triangles of a file have all "
     "bits.\n"
     "A CSV file named - is standard input. A .npy file is float32 [rows][columns], a .h5 file has a dataset for each\n"
     "column, and so has the output if it ends in .h5. One row per input row, in order, but for --hits all. With "
     "--mesh,\n"
     "--hits chooses:\n",
     command_on_mesh, NULL},
    {"overlap",
     OPTIONS_COMPUTE | OPTION_OUTPUT | OPTION_PAIRS | OPTION_MESH | OPTION_SPHERES | OPTION_MAX_DISTANCE | OPTION_HITS,
     "spheres at rest against triangles: overlap, separating axes, the nearest point of a mesh",
     "carom overlap --pairs F.csv [options]\n       carom overlap --mesh M --spheres S.csv [--hits WHICH] [options]\n"
     "       carom overlap --mesh M --spheres S.csv --hits closest [--max-distance D] [options]",
     "F.csv has the columns cx,cy,cz,radius,p0x,p0y,p0z,p1x,p1y,p1z,p2x,p2y,p2z. Output: overlap,axes.\n"
     "S.csv has the columns cx,cy,cz,radius and optionally mask: 32 bits, 0..4294967295 or 0x..; of 0, a sphere\n"
     "overlaps nothing, for the triangles of a file have all bits. With --hits closest also max_distance, which\n"
     "overrides --max-distance row by row.\n"
     "A CSV file named - is standard input. A .npy file is float32 [rows][columns], a .h5 file has a dataset for each\n"
     "column, and so has the output if it ends in .h5. One row per input row, in order, but for --hits all. With "
     "--mesh,\n"
     "--hits chooses:\n",
     command_on_mesh, NULL},
    {"spheres", OPTIONS_COMPUTE | OPTION_OUTPUT | OPTION_PAIRS | OPTION_T_MAX | OPTION_HITS | OPTION_START,
     "moving spheres against moving spheres, pair by pair or all of a cloud",
     "carom spheres --pairs F.csv [options]\n       carom spheres --cloud S.csv [--t-max T] [--hits "
     "all|first|any|count]\n"
     "                   [--start report|skip-parting|skip] [--margin D] [--periodic LX,LY,LZ] [options]",
     "F.csv has the columns a0x,a0y,a0z,a1x,a1y,a1z,ra,b0x,b0y,b0z,b1x,b1y,b1z,rb: a sphere goes from a0 to a1 over u\n"
     "in [0, 1], another from b0 to b1. Output, one row per input row, in order: state,u_first,u_last.\n"
     "S.csv has the columns cx,cy,cz,radius and optionally vx,vy,vz, mask (32 bits, 0..4294967295 or 0x..: a pair "
     "needs "
     "a\n"
     "bit that both have) and t_max: contact begins at the latest at the smallest of --t-max and both spheres' own. "
     "With\n"
     "velocities, --t-max or the column must be there. --margin is for spheres at rest, without --t-max and --start.\n"
     "A CSV file named - is standard input. A .npy file is float32 [rows][columns], a .h5 file has a dataset for each\n"
     "column, and so has the output if it ends in .h5. With --cloud, --hits chooses:\n"
     "  all    a row for each pair that touches, by a, t, b: a,b,state,t, with --periodic also sx,sy,sz: the image of "
     "b,\n"
     "         in periods; where only the margin makes the pair, the state is miss and t is inf (default)\n"
     "  first  the partner of the smallest t, then index, of each sphere: other,state,t (-1,miss,inf without one)\n"
     "  any    whether the sphere has a partner: hit (1 or 0, empty for an invalid sphere)\n"
     "  count  how many partners it has: count (empty for an invalid sphere)\n"
     "Spheres are numbered from 0, in the order of the file.\n",
     command_spheres, &spheres_own},
    {"contacts", OPTIONS_COMPUTE | OPTION_OUTPUT | OPTION_MESH | OPTION_SPHERES,
     "where spheres at rest touch the surface of a mesh: one contact on a flat wall however it is cut",
     "carom contacts --mesh M --spheres S.csv [--margin D] [--merge-within D] [--flat DEG]\n"
     "                      [--previous OLD [--ended FILE]] [options]",
     "S.csv has the columns cx,cy,cz,radius and optionally mask: 32 bits, 0..4294967295 or 0x..; of 0, a sphere\n"
     "touches nothing, for the triangles of a file have all bits. Output, a row for each contact, by query, distance,\n"
     "triangle: query,triangle,feature,distance,x,y,z,nx,ny,nz,depth,patch. The normal points from the surface to the\n"
     "centre, depth is the radius less the distance, patch the lowest triangle of the part of the mesh that is flat\n"
     "across its edges. --previous adds previous: the row of OLD, from 0, with the same query and patch whose "
     "point\n"
     "is nearest, or -1 for a new contact.\n"
     "A CSV file named - is standard input. A .npy file is float32 [rows][columns], a .h5 file has a dataset for each\n"
     "column, and so has the output if it ends in .h5.\n",
     command_contacts, &contacts_own},
#define ON_MESH(name)
#define ON_CLOUD(name)
#define PAIRS_ONLY(name) {#name, OPTIONS_COMPUTE | OPTION_OUTPUT | OPTION_PAIRS, NULL, NULL, NULL, command_pairs, NULL},
#define PAIRS_COMMAND(name, command) command(name)
    /* clang-format off */
    QUERY_PAIRS(PAIRS_COMMAND)
    /* clang-format on */
    {"explain", OPTION_OUTPUT | OPTION_PAIRS | OPTION_ROW | OPTION_SVG,
     "one moving sphere against one triangle, step by step: the partition of its path, and a picture",
     "carom explain --pairs F.csv --row N [--svg FILE] [options]",
     "F.csv is a file of pairs as carom sweep reads it; - is standard input. Row N, counted from 0, is explained.\n"
     "Eberly's partition: the triangle's Voronoi regions cut the line of centres into elements. In each of them the\n"
     "squared distance less the squared radius is one quadratic, F(t) = f0 + 2 f1 t + f2 t^2.\n"
     "Output, a row for each element in the order of time: element,region,t_begin,t_end,f0,f1,f2,root0,root1.\n"
     "Regions: R0 R1 R2 of the corners, R01 R12 R20 of the edges, R012 of the face. Roots of F are those within the\n"
     "element; where F is zero throughout, they are its ends. Computed exactly, and each number rounded once.\n",
     command_explain, NULL},
    {"bake distance", OPTIONS_COMPUTE | OPTION_OUTPUT | OPTION_MESH,
     "distances from a lattice of nodes to a mesh, as a volume",
     "carom bake distance --mesh M --spacing H|--dims NX,NY,NZ [options] -o OUT",
     "OUT ends in .npy or .nrrd (float32 [nz][ny][nx]), or in .vti, .vtkhdf (both for ParaView) or .h5 (arrays "
     "distance,\n"
     "triangle, feature, point).\n"
     "Node (i,j,k) is at origin + index * H, rounded to binary32. With --spacing alone the nodes cover the bounds of "
     "the\n"
     "mesh and the margin; with --dims alone the spacing is the smallest that does. Distances are those of carom\n"
     "overlap --hits closest, bit for bit. The output grows in OUT.partial, beside the journal OUT.journal. After an\n"
     "interruption the same command with --resume goes on. SIGINT and SIGTERM finish a slab and end with status 75.\n",
     command_bake_distance, &bake_distance_own},
    {"bake clearance", OPTIONS_COMPUTE | OPTION_OUTPUT | OPTION_MESH,
     "in which cubes of a lattice a sphere is clear of a mesh, as a volume",
     "carom bake clearance --mesh M --radius R --spacing H|--dims NX,NY,NZ [options] -o OUT",
     "OUT ends in .npy or .nrrd (uint8 [nz][ny][nx]), or in .vti, .vtkhdf or .h5 (array clearance). A node stands "
     "for the\n"
     "cube of edge H around it: 0 if a sphere of radius R with its centre anywhere in the cube is clear of the mesh, 1 "
     "if it "
     "touches\n"
     "the mesh wherever its centre is, 2 if the node's distance does not tell. Decided exactly in both modes. "
     "Lattice,\n"
     "partial file, --resume and --part are those of carom bake distance.\n",
     command_bake_clearance, &bake_clearance_own},
    {"bake drop", OPTIONS_COMPUTE | OPTION_OUTPUT | OPTION_MESH,
     "how high a ball that comes down stands on a mesh, as a map",
     "carom bake drop --mesh M --ball R --spacing H|--dims NX,NY [options] -o OUT",
     "OUT ends in .npy or .nrrd (float32 [ny][nx]), or in .vti, .vtkhdf or .h5 (array height). The ball comes down "
     "along\n"
     "-z over each column until it first touches the mesh. The height of its centre is rounded up to binary32, so it "
     "never cuts\n"
     "into the mesh; -inf where it meets nothing. The same answer in both modes. Lattice, partial file, --resume and\n"
     "--part are those of carom bake distance, with x and y alone.\n",
     command_bake_drop, &bake_drop_own},
    {"bake path", OPTIONS_COMPUTE | OPTION_OUTPUT | OPTION_MESH | OPTION_HITS | OPTION_START | OPTION_CULL_BACK,
     "hits of spheres that move along polylines on a mesh",
     "carom bake path --mesh M --paths P [--radius R] [--hits first|all|any] [options] -o OUT",
     "P is a CSV file with the columns path,x,y,z and, without --radius, radius, a .npy file (float32\n"
     "[paths][points][3]) or H5MD (.h5: path p is particle p). Rows of a path follow each other; its id is a whole\n"
     "number from 0 to 2^63 - 1. Segment s goes from point s to point s + 1 over u in [0, 1], with the radius of its\n"
     "first row. --hits chooses:\n"
     "  first  the smallest segment, u, triangle: path,segment,u,triangle,state,x,y,z,nx,ny,nz,feature (default)\n"
     "  all    a row for every hit: the same columns; paths as in P, and in each by segment, u, triangle\n"
     "  any    whether there is a hit: path,hit (1 or 0, empty for an invalid path)\n"
     "A path of one point is the segment from it to itself. A path without hits has one row, of segment -1. A point\n"
     "that is not finite makes its path invalid. OUT ends in .csv or .h5 (a dataset for each column), and grows in\n"
     "OUT.partial, beside a journal. After an interruption the same command with --resume goes on.\n"
     "--part I/N takes the paths whose first points are in the I-th of N shares of all points; OUT has any name.\n",
     command_bake_path, &bake_path_own},
    {"bake join", 0, "the parts of a bake, put together", "carom bake join OUT PART... [options]",
     "The parts are the outputs of carom bake ... --part I/N, each of them once, in any order.\n"
     "OUT ends in .npy, .nrrd, .vti, .vtkhdf or .h5, of paths in .csv. It is byte for byte that of a bake in one go.\n",
     command_bake_join, &bake_join_own},
    {"bake status", 0, "how far a bake has come", "carom bake status OUT",
     "Prints one line: D/N slabs P% B bytes OPTIONS. B is the size of OUT when it is complete; of paths, whose\n"
     "slabs are 256 points each, the bytes so far.\n",
     command_bake_status, &bake_status_own},
    {"bake check", OPTIONS_COMPUTE | OPTION_MESH | OPTION_SEED | OPTION_HITS | OPTION_START | OPTION_CULL_BACK,
     "random nodes of a volume, or random paths, computed anew",
     "carom bake check OUT --mesh M [--paths P] [--samples N] [--seed S] [options]",
     "N nodes or paths are computed in the accuracy of the file, and must have its bits; in exact mode; and by\n"
     "the reference. Rows of paths need the paths, too.\n"
     "A file knows its options; a .npy or .csv file does where the file system keeps the attribute user.carom.bake,\n"
     "otherwise give those of the bake. Exit status 1 on a difference.\n",
     command_bake_check, &bake_check_own},
    {"verify", OPTIONS_COMPUTE | OPTION_OUTPUT | OPTION_QUERIES | OPTION_SEED,
     "compare every backend bit by bit, and with the exact reference", "carom verify [--queries N] [--seed S]",
     "Every instruction set, thread count and OpenCL device present answers N queries of each type (default 1000000)\n"
     "and min(N, 100000) queries go to the exact reference. N/96 more ask meshes for first, all and any hits, overlaps "
     "and\n"
     "closest points, and some of these too go to the reference; so do small clouds. Exit status 1 on any "
     "difference.\n",
     command_verify, NULL},
    {"bench",
     OPTIONS_COMPUTE | OPTION_OUTPUT | OPTION_SCENE | OPTION_MESH | OPTION_QUICK | OPTION_QUERIES | OPTION_SCALING |
         OPTION_JSON | OPTION_FROM | OPTION_COMPARE | OPTION_PLOT,
     "how fast every backend answers named scenes",
     "carom bench [--quick] [--scaling | [--queries N] [--mesh FILE]] [--scene NAME[,NAME...] | --from FILE]\n"
     "                   [--json FILE] [--compare FILE] [--plot FILE] [options]",
     "Every instruction set with one thread, the best with all, every OpenCL device, in fast and exact mode,\n"
     "and loops that only move the same bytes, in turns. Times are medians; +- is their spread. Close other programs "
     "first.\n"
     "Exit status 1 if answers that should have the same bits do not. SIGINT or SIGTERM ends the run and keeps\n"
     "what is measured, marked as partial: exit status 130.\n",
     command_bench, NULL},
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

const char *cli_command_summary(const cli_command *command)
{
    return command->summary ? command->summary : query_named(command->name)->summary;
}

const cli_command *cli_command_named(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(name, commands[i].name))
            return &commands[i];
    return NULL;
}

int cli_print_version(void)
{
    char line[64];
    snprintf(line, sizeof line, "carom %s\n", carom_version());
    return cli_print(line);
}

/* Does the name of a command begin with this word, and have another behind it? */
static int is_in_group(const cli_command *command, const char *group)
{
    const size_t length = strlen(group);
    return !strncmp(command->name, group, length) && command->name[length] == ' ';
}

/* All commands, or those of a group. */
static int print_usage(const char *group)
{
    char text[2048];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "usage: carom COMMAND [options]\n\n"
                                   "Batches of sphere/triangle and sphere/sphere queries, the same bits from every "
                                   "backend.\n\ncommands:\n");
    for (size_t i = 0; i < COMMAND_COUNT && used < sizeof text; i++)
        if (!group || is_in_group(&commands[i], group))
            used += (size_t)snprintf(text + used, sizeof text - used, "  %-14s %s\n", commands[i].name,
                                     cli_command_summary(&commands[i]));
    if (used < sizeof text)
        snprintf(
            text + used, sizeof text - used,
            "\n  carom COMMAND --help   the options of a command\n  carom --version        the version\n"
            "\nExit status: 0 success, 1 the work failed, 2 bad usage or bad input, 75 stopped and resumable (bake),\n"
            "130 interrupted (bench).\n");
    return cli_print(text);
}

enum { OUTPUTS_MAX = 5 };

/* Whether this file is read as an input. */
static int is_input(const cli_options *o, const struct stat *file)
{
    const char *const inputs[] = {o->pairs,      o->mesh,       o->spheres,          o->from,
                                  o->bake.paths, o->cloud.path, o->contacts.previous};
    struct stat info;
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
        if (inputs[i] && (strcmp(inputs[i], "-") ? stat(inputs[i], &info) : fstat(STDIN_FILENO, &info)) == 0 &&
            info.st_dev == file->st_dev && info.st_ino == file->st_ino)
            return 1;
    return 0;
}

/* Results would be in the place of the data that they come from, or of each other. */
static int check_apart(const cli_options *o, const output_place *places, size_t count)
{
    const output_place *last = &places[count - 1];
    if (last->exists && last->folder >= 0 && is_input(o, &last->old))
        return cli_refuse(EXIT_USAGE, "%s: is read as an input, which the output would replace", last->shown);
    for (size_t i = 0; i + 1 < count; i++)
        if (output_place_same(last, &places[i]))
            return cli_refuse(EXIT_USAGE, "%s: two outputs would have this one name", last->shown);
    return EXIT_DONE;
}

/* A bake grows beside its output, in files that it would take for its own. */
static int check_beside(const cli_options *o, const output_place *place)
{
    static const char *const ends[] = {"partial", "journal", "columns"};
    char name[PATH_MAX];
    struct stat info;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0] && place->folder >= 0; i++)
        if (snprintf(name, sizeof name, "%s.%s", place->name, ends[i]) < (int)sizeof name &&
            fstatat(place->folder, name, &info, 0) == 0 && is_input(o, &info))
            return cli_refuse(EXIT_USAGE, "%s.%s: is read as an input, which the bake would replace", place->shown,
                              ends[i]);
    return EXIT_DONE;
}

/* A name that promises a format that the command does not write would deceive. */
static int check_format(const cli_options *o, const char *path, const output_place *place)
{
    const char *suffix = cli_suffix(path);
    const int writes_rows = o->command->run == command_on_mesh || o->command->run == command_pairs ||
                            o->command->run == command_spheres || o->command->run == command_contacts;
    if (!strcmp(suffix, "npy") || (cli_is_hdf5(path) && !writes_rows))
        return cli_refuse(EXIT_USAGE, "%s: %s writes text%s, and no .%s", path, o->command->name,
                          writes_rows ? " or .h5" : "", suffix);
    if (rows_format_of(path) == &rows_csv)
        return EXIT_DONE;
    if (place->folder < 0)
        return cli_refuse(EXIT_USAGE, "%s: is no regular file, which an HDF5 file must be", path);
    return hdf5_require(path);
}

/* What would fail in the end fails before any work. Returns -1 to go on. */
static int check_outputs(const cli_options *o)
{
    const char *const paths[OUTPUTS_MAX] = {o->output, o->json, o->plot, o->svg, o->contacts.ended};
    output_place places[OUTPUTS_MAX];
    size_t count = 0;
    int status = EXIT_DONE;
    for (size_t i = 0; i < OUTPUTS_MAX && status == EXIT_DONE; i++) {
        if (!paths[i])
            continue;
        status = output_place_find(&places[count++], paths[i]);
        if (status == EXIT_DONE)
            status = check_apart(o, places, count);
        if (status == EXIT_DONE && i == 0)
            status =
                is_in_group(o->command, "bake") ? check_beside(o, &places[0]) : check_format(o, o->output, &places[0]);
        if (status == EXIT_DONE && paths[i] == o->contacts.ended)
            status = check_format(o, paths[i], &places[count - 1]);
    }
    for (size_t i = 0; i < count; i++)
        output_place_free(&places[i]);
    return status == EXIT_DONE ? -1 : status;
}

/* The first argument as a word that is for all commands. Returns -1 if it is none. */
static int common_word(const char *word, const char *group)
{
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
        return print_usage(group);
    if (!strcmp(word, "--version") || !strcmp(word, "-V"))
        return cli_print_version();
    return -1;
}

static int run(const cli_command *command, int argc, char **argv)
{
    cli_options options;
    int status = options_parse(command, argc, argv, &options);
    if (status < 0) {
        progress_choose(options.progress);
        status = check_outputs(&options);
    }
    return status >= 0 ? status : command->run(&options);
}

/* `carom bake WORD`: the command has the name of both. */
static int run_of_group(const char *group, int argc, char **argv)
{
    char name[64], words[128] = "";
    const int status = argc > 0 ? common_word(argv[0], group) : -1;
    if (status >= 0)
        return status;
    snprintf(name, sizeof name, "%s %s", group, argc > 0 ? argv[0] : "");
    const cli_command *command = cli_command_named(name);
    if (command)
        return run(command, argc, argv);
    for (size_t i = 0, used = 0; i < COMMAND_COUNT; i++)
        if (is_in_group(&commands[i], group))
            used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", used > 0 ? ", " : "",
                                     commands[i].name + strlen(group) + 1);
    return cli_refuse(EXIT_USAGE, "%s: expected one of %s%s%s%s; see carom %s --help", group, words,
                      argc > 0 ? ", got '" : "", argc > 0 ? argv[0] : "", argc > 0 ? "'" : "", group);
}

int cli_run(int argc, char **argv)
{
    if (argc < 2)
        return cli_refuse(EXIT_USAGE, "a command is missing; carom --help lists them");
    const int status = common_word(argv[1], NULL);
    if (status >= 0)
        return status;
    if (!strcmp(argv[1], PROBE_COMMAND))
        return probe_child(argc, argv);
    if (!strcmp(argv[1], HDF5_COMMAND))
        return hdf5_child(argc, argv);
    const cli_command *command = cli_command_named(argv[1]);
    if (command)
        return run(command, argc - 1, argv + 1);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (is_in_group(&commands[i], argv[1]))
            return run_of_group(argv[1], argc - 2, argv + 2);
    return cli_refuse(EXIT_USAGE, "unknown %s '%s'; see carom --help", argv[1][0] == '-' ? "option" : "command",
                      argv[1]);
}
