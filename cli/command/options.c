/* SPDX-License-Identifier: MIT */
/* Command-line options: one table for all commands, refused with a sentence that names option and value. */
#include "command.h"
#include "cli/base/decimal.h"
#include "cli/base/output.h"
#include "queries/query.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct option_row {
    uint32_t bit;
    const char *name;
    const char *value; /* NULL: takes none */
    const char *help;
} option_row;

static const option_row option_rows[] = {
    {OPTION_PAIRS, "pairs", "FILE", "pairs: CSV, .npy or .h5"},
    {OPTION_ROW, "row", "N", "the row of the file, from 0"},
    {OPTION_MESH, "mesh", "FILE", "mesh file"},
    {OPTION_SPHERES, "spheres", "FILE", "spheres: CSV, .npy or .h5"},
    {OPTION_T_MAX, "t-max", "T", "end of the time window, >= 0 or inf (default inf)"},
    {OPTION_MAX_DISTANCE, "max-distance", "D",
     "with --hits closest: no triangle farther away, >= 0 or inf (default inf)"},
    {OPTION_HITS, "hits", "WHICH", "which hits to report, as above"},
    {OPTION_START, "start", "POLICY",
     "what touches or overlaps at time 0: report, skip-parting (skipped if moving away) or skip"},
    {OPTION_CULL_BACK, "cull-back", NULL, "no hits on triangles whose normal (P1-P0)x(P2-P0) goes along the motion"},
    {OPTION_QUERIES, "queries", "N",
     "queries of each type or scene, such as 2e6 (default 1000000; a scene's own number)"},
    {OPTION_SEED, "seed", "S", "seed of the queries (default 1)"},
    {OPTION_SCENE, "scene", "NAME", "scenes whose names begin so, separated by commas; list names all (default all)"},
    {OPTION_QUICK, "quick", NULL, "fewer rounds and smaller batches, no mesh of a million triangles"},
    {OPTION_SCALING, "scaling", NULL,
     "series instead of scenes: batch size, triangles, threads, chunk; --scene names some of them"},
    {OPTION_JSON, "json", "FILE", "the same rows for programs, in the shape of Google Benchmark"},
    {OPTION_AS_JSON, "json", NULL, "as JSON, for programs"},
    {OPTION_FROM, "from", "FILE", "show an earlier --json FILE instead of measuring"},
    {OPTION_COMPARE, "compare", "FILE", "what moved since an earlier --json FILE, beyond the spread of both"},
    {OPTION_PLOT, "plot", "FILE", "a picture by gnuplot; the name ends in .svg or .png"},
    {OPTION_SVG, "svg", "FILE", "a picture of the same, as SVG"},
    {OPTION_BACKEND, "backend", "B", "auto, cpu (never loads OpenCL) or opencl (default auto)"},
    {OPTION_DEVICE, "device", "D", "OpenCL device: number or part of a name, as carom info lists them; or D,D,..."},
    {OPTION_ISA, "isa", "I", "CPU path: auto, scalar, sse4.1, avx2, avx512 or neon (default auto)"},
    {OPTION_THREADS, "threads", "N", "CPU threads, >= 1 (default: all that the process may use)"},
    {OPTION_ACCURACY, "accuracy", "A", "fast or exact"},
    {OPTION_PROBE_LIMIT, "probe-limit", "S",
     "seconds until a device that is tried in another process counts as hung; 0: no such process (default 600)"},
    {OPTION_OUTPUT, "output", "FILE", "where to write (-o FILE; default standard output)"},
    {OPTION_PROGRESS, "progress", "P", "on standard error: auto, plain (lines), json or none (default auto)"},
};

enum { ROW_COUNT = sizeof option_rows / sizeof option_rows[0], SHORT_OUTPUT = 'o', LONG_BASE = 256 };
enum { OWN_MAX = 16, LONG_HELP = LONG_BASE + ROW_COUNT, LONG_VERSION, LONG_OWN };

static int accepts(const cli_command *command, const option_row *row)
{
    return ((command->accepts | OPTION_PROGRESS) & row->bit) != 0;
}

/* The command's own options: `*count` of them. */
static const cli_own_option *own_options(const cli_command *command, int *count)
{
    *count = command->own ? command->own->option_count : 0;
    return command->own ? command->own->options : NULL;
}

void options_names(uint32_t bits, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < ROW_COUNT && used < size; i++) {
        if (!(bits & option_rows[i].bit))
            continue;
        bits &= ~option_rows[i].bit;
        used += (size_t)snprintf(text + used, size - used, "%s--%s",
                                 used == 0 ? ""
                                 : bits    ? ", "
                                           : " and ",
                                 option_rows[i].name);
    }
}

/* The words of a command that has none of its own: columns and fields of its query. */
static size_t describe_pairs(const query_type *q, char *text, size_t size)
{
    size_t used =
        (size_t)snprintf(text, size, "usage: carom %s --pairs F.csv [options]\n\n%c%s.\nF.csv has the columns ",
                         q->name, q->summary[0] - 'a' + 'A', q->summary + 1);
    for (int c = 0; c < query_required_count(q); c++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", c > 0 ? "," : "", query_column_name(q, c));
    for (int c = query_required_count(q); c < query_column_count(q); c++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 c == query_required_count(q) ? " and optionally " : ",", query_column_name(q, c));
    used += (size_t)snprintf(text + used, size - used, ". Output: ");
    for (int f = 0; f < query_field_count(q); f++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", f > 0 ? "," : "",
                                 q->fields[query_field_in_output(q, f)].name);
    return used + (size_t)snprintf(text + used, size - used,
                                   ".\nA CSV file named - is standard input. A .npy file is float32 [rows][columns], a "
                                   ".h5 file has a dataset\nfor each column, and so has the output if it ends in .h5. "
                                   "One row per input row, in order.\n\n"
                                   "options:\n");
}

/* Its own words, and those of --hits: WHICH in the synopsis, and a line for each at the end. */
static size_t describe_command(const cli_command *command, char *text, size_t size)
{
    const char *which = strstr(command->synopsis, "WHICH"), *rest = which ? which + 5 : command->synopsis;
    const query_type *row;
    const query_word *word;
    size_t used =
        (size_t)snprintf(text, size, "usage: %.*s", which ? (int)(which - command->synopsis) : 0, command->synopsis);
    int widest = 0;
    used += cli_hits_words(command->name, "|", "|", text + used, size - used);
    used += (size_t)snprintf(text + used, size - used, "%s\n\n%c%s.\n%s", rest, command->summary[0] - 'a' + 'A',
                             command->summary + 1, command->details);
    for (int i = 0; (word = query_word_of(command->name, i, &row)) != NULL; i++)
        widest = widest > (int)strlen(word->word) ? widest : (int)strlen(word->word);
    for (int i = 0; (word = query_word_of(command->name, i, &row)) != NULL; i++)
        used += (size_t)snprintf(text + used, size - used, "  %-*s  %s\n", widest, word->word, word->help);
    if (widest > 0)
        used += (size_t)snprintf(text + used, size - used,
                                 "Queries and triangles are numbered from 0, in the order of their files.\n");
    return used + (size_t)snprintf(text + used, size - used, "\noptions:\n");
}

static size_t describe_option(const char *name, const char *value, const char *help, char *text, size_t size)
{
    char left[32];
    snprintf(left, sizeof left, "--%s %s", name, value ? value : "");
    return (size_t)snprintf(text, size, "  %-18s %s\n", left, help);
}

/* A bake needs a file to grow in. */
static const char *help_of(const cli_command *command, const option_row *row)
{
    const int is_bake = !strncmp(command->name, "bake ", 5);
    return row->bit == OPTION_OUTPUT && is_bake ? "where to write (-o FILE)" : row->help;
}

static int print_command_help(const cli_command *command)
{
    char text[8192];
    size_t used = command->details ? describe_command(command, text, sizeof text)
                                   : describe_pairs(query_named(command->name), text, sizeof text);
    int own_count;
    const cli_own_option *own = own_options(command, &own_count);
    for (int i = 0; i < own_count && used < sizeof text; i++)
        used += describe_option(own[i].name, own[i].value, own[i].help, text + used, sizeof text - used);
    for (size_t i = 0; i < ROW_COUNT && used < sizeof text; i++)
        if (accepts(command, &option_rows[i]))
            used += describe_option(option_rows[i].name, option_rows[i].value, help_of(command, &option_rows[i]),
                                    text + used, sizeof text - used);
    if (used < sizeof text)
        snprintf(text + used, sizeof text - used, "  %-18s %s\n  %-18s %s\n", "--help", "this text", "--version",
                 "the version");
    return cli_print(text);
}

int cli_parse_count(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
    return decimal_read_whole(text, text + strlen(text), out) && *out >= low && *out <= high;
}

static int parse_word(const char *text, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(text, words[i]))
            return i;
    return -1;
}

static int set_isa(const char *value, cli_options *out)
{
    static const char *const words[] = {"auto", "scalar", "sse4.1", "avx2", "avx512", "neon"};
    static const carom_isa isas[] = {CAROM_ISA_AUTO, CAROM_ISA_SCALAR, CAROM_ISA_SSE41,
                                     CAROM_ISA_AVX2, CAROM_ISA_AVX512, CAROM_ISA_NEON};
    int i = parse_word(value, words, 6);
    if (i < 0)
        return cli_refuse(EXIT_USAGE, "--isa: expected auto, scalar, sse4.1, avx2, avx512 or neon, got '%s'", value);
    if (!carom_isa_available(isas[i]))
        return cli_refuse(EXIT_USAGE, "--isa %s: this CPU or this build does not have it; see carom info", value);
    out->isa = isas[i];
    return -1;
}

static int set_backend(const char *value, cli_options *out)
{
    static const char *const words[] = {"auto", "cpu", "opencl"};
    static const carom_backend backends[] = {CAROM_BACKEND_AUTO, CAROM_BACKEND_CPU, CAROM_BACKEND_OPENCL};
    int i = parse_word(value, words, 3);
    if (i < 0)
        return cli_refuse(EXIT_USAGE, "--backend: expected auto, cpu or opencl, got '%s'", value);
    out->backend = backends[i];
    return -1;
}

static int set_accuracy(const char *value, cli_options *out)
{
    static const char *const words[] = {"fast", "exact"};
    int i = parse_word(value, words, 2);
    if (i < 0)
        return cli_refuse(EXIT_USAGE, "--accuracy: expected fast or exact, got '%s'", value);
    out->accuracy = i == 0 ? CAROM_ACCURACY_FAST : CAROM_ACCURACY_EXACT;
    return -1;
}

static int set_progress(const char *value, cli_options *out)
{
    static const char *const words[] = {"auto", "plain", "json", "none"};
    int i = parse_word(value, words, 4);
    if (i < 0)
        return cli_refuse(EXIT_USAGE, "--progress: expected auto, plain, json or none, got '%s'", value);
    out->progress = (progress_form)i;
    return -1;
}

/* The end of a window, or a largest distance. */
static int set_limit(const char *name, const char *value, float *out)
{
    char *end;
    float limit = strtof(value, &end);
    if (end == value || *end != '\0' || !(limit >= 0.0f))
        return cli_refuse(EXIT_USAGE, "--%s: expected a number >= 0 or inf, got '%s'", name, value);
    *out = limit;
    return -1;
}

static int set_start(const char *value, cli_options *out)
{
    static const char *const words[] = {"report", "skip-parting", "skip"};
    static const carom_start starts[] = {CAROM_START_REPORT, CAROM_START_SKIP_PARTING, CAROM_START_SKIP};
    int i = parse_word(value, words, 3);
    if (i < 0)
        return cli_refuse(EXIT_USAGE, "--start: expected report, skip-parting or skip, got '%s'", value);
    out->start = starts[i];
    return -1;
}

static int set_threads(const char *value, cli_options *out)
{
    enum { MOST = 1024 }; /* the library's */
    uint64_t threads;
    if (!cli_parse_count(value, 1, UINT64_MAX, &threads))
        return cli_refuse(EXIT_USAGE, "--threads: expected a whole number >= 1 and below 2^64, got '%s'", value);
    if (threads > MOST)
        cli_message("--threads %s: %d are used, the most there can be", value, (int)MOST);
    out->threads = (uint32_t)(threads < MOST ? threads : MOST);
    return -1;
}

static int set_probe_limit(const char *value, cli_options *out)
{
    uint64_t seconds;
    if (!cli_parse_count(value, 0, 1000000, &seconds))
        return cli_refuse(EXIT_USAGE, "--probe-limit: expected whole seconds, 0..1000000, got '%s'", value);
    out->probe_limit = (uint32_t)seconds;
    return -1;
}

static int set_name(const char *name, const char *value, const char **out)
{
    if (*value == '\0')
        return cli_refuse(EXIT_USAGE, "--%s: expected a name, got an empty one", name);
    *out = value;
    return -1;
}

/* Store one option. Returns -1 to go on, else an exit status. */
static int set_option(const option_row *row, const char *value, cli_options *out)
{
    out->given |= row->bit;
    switch (row->bit) {
    case OPTION_BACKEND: return set_backend(value, out);
    case OPTION_DEVICE: return set_name(row->name, value, &out->device);
    case OPTION_ISA: return set_isa(value, out);
    case OPTION_THREADS: return set_threads(value, out);
    case OPTION_PROBE_LIMIT: return set_probe_limit(value, out);
    case OPTION_ACCURACY: return set_accuracy(value, out);
    case OPTION_OUTPUT: return set_name(row->name, value, &out->output);
    case OPTION_PAIRS: return set_name(row->name, value, &out->pairs);
    case OPTION_MESH: return set_name(row->name, value, &out->mesh);
    case OPTION_SPHERES: return set_name(row->name, value, &out->spheres);
    case OPTION_SCENE: return set_name(row->name, value, &out->scenes);
    case OPTION_JSON: return set_name(row->name, value, &out->json);
    case OPTION_FROM: return set_name(row->name, value, &out->from);
    case OPTION_COMPARE: return set_name(row->name, value, &out->compare);
    case OPTION_PLOT: return set_name(row->name, value, &out->plot);
    case OPTION_SVG: return set_name(row->name, value, &out->svg);
    case OPTION_T_MAX: return set_limit(row->name, value, &out->t_max);
    case OPTION_MAX_DISTANCE: return set_limit(row->name, value, &out->max_distance);
    case OPTION_HITS: return set_name(row->name, value, &out->hits);
    case OPTION_START: return set_start(value, out);
    case OPTION_PROGRESS: return set_progress(value, out);
    case OPTION_QUERIES:
        if (!cli_parse_count(value, 1, UINT64_C(1) << 48, &out->queries))
            return cli_refuse(EXIT_USAGE, "--queries: expected a whole number from 1 to 2^48, got '%s'", value);
        return -1;
    case OPTION_ROW:
        if (!cli_parse_count(value, 0, UINT64_MAX, &out->row))
            return cli_refuse(EXIT_USAGE, "--row: expected a whole number from 0 to 2^64 - 1, got '%s'", value);
        return -1;
    case OPTION_SEED:
        if (!cli_parse_count(value, 0, UINT64_MAX, &out->seed))
            return cli_refuse(EXIT_USAGE, "--seed: expected a whole number from 0 to 2^64 - 1, got '%s'", value);
        return -1;
    default: return -1;
    }
}

/* getopt reports an unknown option and an ambiguous abbreviation alike. */
static int refuse_option(const cli_command *command, const char *argument)
{
    size_t length = strcspn(argument, "=");
    int matches = 0, exact = 0, own_count;
    const cli_own_option *own = own_options(command, &own_count);
    if (strncmp(argument, "--", 2))
        return cli_refuse(EXIT_USAGE, "%s: unknown option '%s'; see carom %s --help", command->name, argument,
                          command->name);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (!accepts(command, &option_rows[i]) || strncmp(argument + 2, option_rows[i].name, length - 2))
            continue;
        matches++;
        exact |= strlen(option_rows[i].name) == length - 2;
    }
    for (int i = 0; i < own_count; i++) {
        const int begins = !strncmp(argument + 2, own[i].name, length - 2);
        matches += begins;
        exact |= begins && strlen(own[i].name) == length - 2;
    }
    exact |= length == 6 && !strncmp(argument, "--help", 6);
    exact |= length == 9 && !strncmp(argument, "--version", 9);
    const char *wrong = exact || matches == 1 ? "takes no value" : matches > 1 ? "is ambiguous" : "is unknown";
    return cli_refuse(EXIT_USAGE, "%s: option '%.*s' %s; see carom %s --help", command->name, (int)length, argument,
                      wrong, command->name);
}

static size_t row_of(uint32_t bit)
{
    size_t i = 0;
    while (option_rows[i].bit != bit)
        i++;
    return i;
}

static void list_options(const cli_command *command, struct option *list)
{
    size_t used = 0;
    int own_count;
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (accepts(command, &option_rows[i]))
            list[used++] = (struct option){option_rows[i].name, option_rows[i].value ? required_argument : no_argument,
                                           NULL, (int)(LONG_BASE + i)};
    const cli_own_option *own = own_options(command, &own_count);
    for (int i = 0; i < own_count; i++)
        list[used++] = (struct option){own[i].name, own[i].value ? required_argument : no_argument, NULL, LONG_OWN + i};
    list[used++] = (struct option){"help", no_argument, NULL, LONG_HELP};
    list[used++] = (struct option){"version", no_argument, NULL, LONG_VERSION};
    list[used] = (struct option){NULL, 0, NULL, 0};
}

static int check_together(const cli_options *o)
{
    if ((o->given & OPTION_DEVICE) && o->backend == CAROM_BACKEND_CPU)
        return cli_refuse(EXIT_USAGE, "--device names an OpenCL device, and --backend cpu uses none");
    return -1;
}

/* What getopt has left over. */
static int set_operands(int argc, char **argv, cli_options *out)
{
    const cli_command *command = out->command;
    const int most = command->own ? command->own->operands_max : 0;
    out->operands = argv + optind;
    out->operand_count = argc - optind;
    if (out->operand_count > most)
        return cli_refuse(EXIT_USAGE, "%s: unexpected argument '%s'; see carom %s --help", command->name,
                          argv[optind + most], command->name);
    if (command->own && out->operand_count < command->own->operands_min)
        return cli_refuse(EXIT_USAGE, "%s: expected %s; see carom %s --help", command->name, command->own->operands,
                          command->name);
    return check_together(out);
}

int options_parse(const cli_command *command, int argc, char **argv, cli_options *out)
{
    struct option list[ROW_COUNT + OWN_MAX + 3];
    list_options(command, list);
    *out = (cli_options){.t_max = INFINITY,
                         .max_distance = INFINITY,
                         .queries = 1000000,
                         .seed = 1,
                         .probe_limit = 600,
                         .bake = bake_options_default,
                         .command = command,
                         .argc = argc,
                         .argv = argv};
    optind = 0;
    opterr = 0;
    const char *shorts = command->accepts & OPTION_OUTPUT ? ":o:h" : ":h";
    for (;;) {
        int at = optind > 0 ? optind : 1;
        int code = getopt_long(argc, argv, shorts, list, NULL);
        int status = -1;
        if (code == -1)
            break;
        if (code == LONG_HELP || code == 'h')
            return print_command_help(command);
        if (code == LONG_VERSION)
            return cli_print_version();
        if (code == ':')
            return cli_refuse(EXIT_USAGE, "%s: option '%s' needs a value", command->name, argv[optind - 1]);
        if (code == '?')
            return refuse_option(command, argv[optind - 1 >= at ? optind - 1 : at]);
        if (code == SHORT_OUTPUT)
            code = (int)(LONG_BASE + row_of(OPTION_OUTPUT));
        status = code >= LONG_OWN ? command->own->options[code - LONG_OWN].set(optarg, out)
                                  : set_option(&option_rows[code - LONG_BASE], optarg, out);
        if (status >= 0)
            return status;
    }
    return set_operands(argc, argv, out);
}
