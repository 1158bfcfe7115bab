/* SPDX-License-Identifier: MIT */
/* What the commands share: options and the library context. */
#ifndef CAROM_CLI_COMMAND_COMMAND_H
#define CAROM_CLI_COMMAND_COMMAND_H

#include "cli/bake/options.h"
#include "cli/spheres/cloud.h"
#include "cli/contacts/contacts.h"
#include "cli/base/base.h"
#include "cli/base/progress.h"

#include <carom/carom.h>

#include <stddef.h>
#include <stdint.h>

/* Options a command may accept; a bit each so that a command's row says which. */
enum {
    OPTION_BACKEND = 1u << 0,
    OPTION_DEVICE = 1u << 1,
    OPTION_ISA = 1u << 2,
    OPTION_THREADS = 1u << 3,
    OPTION_ACCURACY = 1u << 4,
    OPTION_OUTPUT = 1u << 5,
    OPTION_PAIRS = 1u << 6,
    OPTION_MESH = 1u << 7,
    OPTION_SPHERES = 1u << 8,
    OPTION_T_MAX = 1u << 9,
    OPTION_HITS = 1u << 10,
    OPTION_START = 1u << 11,
    OPTION_CULL_BACK = 1u << 12,
    OPTION_QUERIES = 1u << 13,
    OPTION_SEED = 1u << 14,
    OPTION_SCENE = 1u << 15,
    OPTION_QUICK = 1u << 16,
    OPTION_JSON = 1u << 17,
    OPTION_FROM = 1u << 18,
    OPTION_COMPARE = 1u << 19,
    OPTION_PLOT = 1u << 20,
    OPTION_SCALING = 1u << 21,
    OPTION_PROBE_LIMIT = 1u << 22,
    OPTION_ROW = 1u << 23,
    OPTION_SVG = 1u << 24,
    OPTION_PROGRESS = 1u << 25, /* of every command, without a word in its row */
    OPTION_MAX_DISTANCE = 1u << 26,
    OPTION_AS_JSON = 1u << 30, /* --json of info, which takes no file */
    OPTIONS_COMPUTE =
        OPTION_BACKEND | OPTION_DEVICE | OPTION_ISA | OPTION_THREADS | OPTION_ACCURACY | OPTION_PROBE_LIMIT
};

struct cli_command;
typedef struct cli_options {
    uint32_t given; /* OPTION_ bits that were on the command line */
    carom_backend backend;
    const char *device;
    carom_isa isa;
    uint32_t threads; /* 0: not given */
    carom_accuracy accuracy;
    const char *output; /* NULL: standard output */
    const char *pairs, *mesh, *spheres;
    float t_max, max_distance; /* +inf unless given */
    const char *hits;
    carom_start start;
    uint64_t auto_from; /* as of a context */
    uint64_t queries, seed;
    const char *scenes, *json, *from, *compare, *plot, *svg;
    uint64_t row;
    progress_form progress;
    bake_options bake;
    cloud_options cloud;
    contacts_options contacts;
    char **operands; /* what is no option; as many as the command takes */
    int operand_count;
    uint32_t probe_limit; /* seconds; see probe.h, as what follows */
    int rehearsal;        /* input is made up, with the optional columns of the set `present` */
    uint32_t present;
    const struct cli_command *command; /* this one, as it was called */
    int argc;
    char **argv;
} cli_options;

/* An option that one command alone has. */
typedef struct cli_own_option {
    const char *name;
    const char *value; /* NULL: takes none */
    const char *help;
    int (*set)(const char *value, cli_options *out); /* returns -1 to go on, else an exit status */
} cli_own_option;

/* What one command takes beside the options of the table. */
typedef struct cli_own {
    const cli_own_option *options; /* [option_count] */
    int option_count;
    int operands_min, operands_max;
    const char *operands; /* as messages name them */
} cli_own;

typedef struct cli_command {
    const char *name;    /* of one word or two */
    uint32_t accepts;    /* OPTION_ bits */
    const char *summary; /* one line for `carom --help` */
    const char *synopsis;
    const char *details; /* what it reads and writes; NULL, as the two before: as the query of that name says. Words of
                          * --hits and what they mean follow from the registry */
    int (*run)(const cli_options *options);
    const cli_own *own; /* NULL: nothing */
} cli_command;

/* Run the command that argv[1] names. Returns the exit status of the process. */
int cli_run(int argc, char **argv);
/* One line for `carom --help`. */
const char *cli_command_summary(const cli_command *command);
/* The command of that name, NULL if there is none. */
const cli_command *cli_command_named(const char *name);
/* Parse argv[1..] of `command`. Returns -1 to go on and run it, else the exit status (help, version, bad usage). */
int options_parse(const cli_command *command, int argc, char **argv, cli_options *out);
/* A whole number within [low, high], as 2000000, 2e6 or 2.5e6. Returns 0 if it is none. */
int cli_parse_count(const char *text, uint64_t low, uint64_t high, uint64_t *out);
/* Their names as `--a, --b and --c`. */
void options_names(uint32_t bits, char *text, size_t size);
/* The words that --hits of a command may be, with these gaps between them. Returns their length. */
size_t cli_hits_words(const char *command, const char *between, const char *before_last, char *text, size_t size);
int cli_print_version(void);

/* Report a failed library call; `about` (may be NULL) stands in front. Returns the exit status it means. */
int cli_library_error(const char *about, carom_status status, const carom_error *err);
/* Say on standard error how many queries a device left to the CPU, if any. */
void cli_report_fallback(const carom_stats *stats);
/* Warn on standard error if the named device is not used. */
void cli_report_unused_device(const cli_options *options, const carom_stats *stats);

/* Context description from the options; warnings of the library go to standard error. */
carom_context_desc cli_context_desc(const cli_options *options);
/* Create the context. Returns EXIT_DONE or an exit status with the message printed. */
int cli_context_open(const cli_options *options, carom_context **out);
/* Context and mesh from imported triangles; what the library refuses in them is a fault of the file. Returns as above;
 * the caller destroys both in any case. */
struct mesh_data;
int cli_mesh_open(const cli_options *options, const struct mesh_data *data, carom_context **context, carom_mesh **mesh);

int command_info(const cli_options *options);
/* Of a query that stands in the registry for pairs and for meshes. */
int command_on_mesh(const cli_options *options);
/* Of a query of the registry that has no command of its own. */
int command_pairs(const cli_options *options);
/* cloud.c: of pairs and of a cloud. */
int command_spheres(const cli_options *options);
extern const cli_own spheres_own;
/* contacts.c */
int command_contacts(const cli_options *options);
extern const cli_own contacts_own;
int command_verify(const cli_options *options);
int command_bench(const cli_options *options);
int command_explain(const cli_options *options);

#endif
