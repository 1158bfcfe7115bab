/* SPDX-License-Identifier: MIT */
/* carom spheres: pairs of moving spheres row by row, or all spheres of a file among themselves. */
#include "cloud.h"
#include "command.h"
#include "cli/rows/rows.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A length, up to a comma or the end. Returns what follows it, NULL if there is none. */
static const char *read_length(const char *text, float *out)
{
    char *end;
    *out = strtof(text, &end); /* it would skip blanks */
    return end == text || isspace((unsigned char)*text) || !(*out >= 0.0f && *out < INFINITY) ? NULL : end;
}

static int read_margin(const char *name, const char *value, void *out)
{
    const char *end = read_length(value, out);
    if (!end || *end != '\0')
        return cli_refuse(EXIT_USAGE, "--%s: expected a finite number >= 0, got '%s'", name, value);
    return -1;
}

static int read_period(const char *name, const char *value, void *out)
{
    const char *at = value;
    for (int k = 0; k < 3; k++, at++) {
        at = read_length(at, (float *)out + k);
        if (!at || *at != (k < 2 ? ',' : '\0'))
            return cli_refuse(EXIT_USAGE, "--%s: expected three finite lengths LX,LY,LZ >= 0, got '%s'", name, value);
    }
    return -1;
}

#define CLOUD_OPTION(member, numbers, x, y, z, what)                         \
    {#member,    NULL, "with --cloud, --hits all: adds " what,               \
     NULL,       0,    offsetof(spheres_options, adds[CLOUD_ADDS_##member]), \
     CLI_NO_FILE},
#define CLOUD_PREVIOUS                                                                                           \
    {                                                                                                            \
        "previous", "FILE", "with --cloud, --hits all: the output of the step before: adds the column previous", \
            cli_read_name, offsetof(spheres_options, previous), 0, CLI_READS                                     \
    }
static const cli_option own_options[] = {
    {"cloud", "FILE", "spheres among themselves: CSV, .npy or .h5", cli_read_name, offsetof(spheres_options, cloud), 0,
     CLI_READS},
    {"against", "FILE", "with --cloud: pairs of its spheres with those of this file, and no others", cli_read_name,
     offsetof(spheres_options, against), 0, CLI_READS},
    {"margin", "D", "with --cloud, at rest: also pairs that are at most D apart (default 0)", read_margin,
     offsetof(spheres_options, margin), offsetof(spheres_options, is_margin_given), CLI_NO_FILE},
    {"periodic", "X,Y,Z", "with --cloud: lengths LX,LY,LZ of a periodic box, 0 for an axis that is open", read_period,
     offsetof(spheres_options, period), offsetof(spheres_options, is_period_given), CLI_NO_FILE},
    CLOUD_ADDED(CLOUD_OPTION) CLOUD_PREVIOUS,
    CLI_PAIRS(spheres_options),
    CLI_T_MAX(spheres_options),
    CLI_HITS(spheres_options),
    CLI_START(spheres_options),
};

static const char *const hits_words[] = {"all", "first", "any", "count", NULL};

static int find_hits(const spheres_options *options, cloud_hits *out)
{
    int word = HITS_ALL;
    const int status = options->hits ? cli_read_word("hits", options->hits, hits_words, &word) : -1;
    *out = (cloud_hits)word;
    return status < 0 ? EXIT_DONE : status;
}

/* Options that exclude a margin; columns of the file that do are found when it is read. */
static int check_margin(const spheres_options *o, cloud_hits hits)
{
    if (!o->is_margin_given)
        return EXIT_DONE;
    if (o->is_t_max_given || o->is_start_given)
        return cli_refuse(EXIT_USAGE, "spheres: --margin and %s%s%s exclude each other",
                          o->is_t_max_given ? "--t-max" : "", o->is_t_max_given && o->is_start_given ? " and " : "",
                          o->is_start_given ? "--start" : "");
    if (hits == HITS_FIRST || hits == HITS_ANY)
        return cli_refuse(EXIT_USAGE, "spheres: --margin is for --hits all and --hits count");
    return EXIT_DONE;
}

/* "--normal, --depth and --previous" */
#define CLOUD_WORD(member, numbers, x, y, z, what) ", --" #member
static const char *const column_words = &(CLOUD_ADDED(CLOUD_WORD) " and --previous")[2];

/* Whether an option asks for a column that a list alone has. */
static int has_columns(const spheres_options *o)
{
    int has = o->previous != NULL;
    for (int i = 0; i < CLOUD_ADDED_COLUMNS; i++)
        has |= o->adds[i];
    return has;
}

static int check_columns(const spheres_options *o, cloud_hits hits)
{
    if (has_columns(o) && hits != HITS_ALL)
        return cli_refuse(EXIT_USAGE, "spheres: %s are for --hits all", column_words);
    return EXIT_DONE;
}

/* Standard input is one file at most. */
static int check_inputs(const spheres_options *o)
{
    const char *const files[] = {o->cloud, o->against, o->previous};
    static const char *const names[] = {"cloud", "against", "previous"};
    const char *first = NULL;
    for (size_t i = 0; i < CLI_COUNT(files); i++) {
        if (!files[i] || strcmp(files[i], "-") != 0)
            continue;
        if (first)
            return cli_refuse(EXIT_USAGE, "spheres: --%s and --%s cannot both be standard input", first, names[i]);
        first = names[i];
    }
    return EXIT_DONE;
}

static int run(const void *options)
{
    const spheres_options *o = options;
    cloud_hits hits = HITS_ALL;
    if (o->pairs && o->cloud)
        return cli_refuse(EXIT_USAGE, "spheres: --pairs and --cloud exclude each other");
    if (!o->pairs && !o->cloud)
        return cli_refuse(EXIT_USAGE, "spheres: --pairs FILE or --cloud FILE is missing");
    if (o->pairs && (o->is_t_max_given || o->hits || o->is_start_given || o->is_margin_given || o->is_period_given))
        return cli_refuse(EXIT_USAGE,
                          "spheres: --t-max, --hits and --start, --margin and --periodic belong to --cloud");
    if (o->pairs && o->against)
        return cli_refuse(EXIT_USAGE, "spheres: --against belongs to --cloud");
    if (o->pairs && has_columns(o))
        return cli_refuse(EXIT_USAGE, "spheres: %s belong to --cloud", column_words);
    if (o->pairs)
        return rows_pairs(&query_spheres, &o->common, o->pairs);
    int status = find_hits(o, &hits);
    if (status == EXIT_DONE)
        status = check_margin(o, hits);
    if (status == EXIT_DONE)
        status = check_columns(o, hits);
    if (status == EXIT_DONE)
        status = check_inputs(o);
    return status == EXIT_DONE ? cloud_run(o, hits) : status;
}

static int prepare(const void *options, uint32_t present)
{
    const spheres_options *o = options;
    cloud_hits hits = HITS_ALL;
    if (o->pairs)
        return rows_prepare_pairs(&query_spheres, &o->common, present);
    const int status = find_hits(o, &hits);
    return status == EXIT_DONE ? cloud_prepare(o, hits, present) : status;
}

static const spheres_options defaults = {.t_max = INFINITY};

const cli_command spheres_command = {
    .name = "spheres",
    .summary = "moving spheres against moving spheres, pair by pair or all of a cloud",
    .synopsis = "carom spheres --pairs F.csv [options]\n"
                "carom spheres --cloud S.csv [--against B.csv] [--hits all|first|any|count] [options]",
    .details =
        "F.csv has the columns a0x,a0y,a0z,a1x,a1y,a1z,ra,b0x,b0y,b0z,b1x,b1y,b1z,rb: a sphere goes from a0 to a1 over "
        "u\n"
        "in [0, 1], another from b0 to b1. Output, one row per input row, in order: state,u_first,u_last.\n"
        "S.csv has the columns cx,cy,cz,radius and optionally vx,vy,vz, mask and group (32 bits, 0..4294967295 or "
        "0x..: "
        "a\n"
        "pair needs a bit of a's group in b's mask, and one of b's group in a's mask; without group the mask is the "
        "group)\n"
        "and t_max: contact begins at the latest at the smallest of --t-max and both spheres' own. With velocities, "
        "--t-max\n"
        "or the column must be there. --margin is for spheres at rest, without --t-max and --start.\n"
        "--against takes the pairs of a sphere a of S.csv and a sphere b of B.csv alone, which has columns of its own; "
        "rows\n"
        "of first, any and count are those of S.csv.\n" CLI_ROWS_FILES " With --cloud, --hits chooses:\n"
        "  all    a row for each pair that touches, by a, t, b: a,b,state,t, with --periodic also sx,sy,sz: the image "
        "of "
        "b,\n"
        "         in periods; where only the margin makes the pair, the state is miss and t is inf (default). Behind\n"
        "         them the columns that options add; previous is the row of OLD, from 0, with the same a, b and "
        "shift,\n"
        "         or -1 for a new pair\n"
        "  first  the partner of the smallest t, then index, of each sphere: other,state,t (-1,miss,inf without one)\n"
        "  any    whether the sphere has a partner: hit (1 or 0, empty for an invalid sphere)\n"
        "  count  how many partners it has: count (empty for an invalid sphere)\n"
        "Spheres are numbered from 0, in the order of their file.\n",
    .run = run,
    .size = sizeof(spheres_options),
    .defaults = &defaults,
    .options = own_options,
    .option_count = CLI_COUNT(own_options),
    .computes = 1,
    .output = &cli_output_rows,
    .hits_words = hits_words,
    .prepare = prepare,
};
