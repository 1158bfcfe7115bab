/* SPDX-License-Identifier: MIT */
/* The description of a command, the options that all of them share, and their way to the library. Each command has
 * options of its own: a table of rows, and a struct that begins with the shared ones. */
#ifndef CAROM_CLI_COMMAND_COMMAND_H
#define CAROM_CLI_COMMAND_COMMAND_H

#include "cli/base/base.h"
#include "cli/base/progress.h"

#include <carom/carom.h>

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Rows that a command holds at once, and records of a list: as many as `auto` gives to a device. */
enum { CLI_CHUNK = CAROM_AUTO_MIN_QUERIES };

enum { CLI_MORE_OUTPUTS = 7 };

/* The shared options, and how the command was called: the first member, `common`, of each command's own. */
struct cli_command;
typedef struct cli_options {
    const struct cli_command *command;
    int argc;
    char **argv;
    char **operands; /* arguments that are no options; as many as the command takes */
    int operand_count;
    int operands_apart; /* of these, behind the argument `--`; -1: there is none */
    /* Of commands that compute. */
    carom_backend backend;
    const char *device;
    carom_isa isa;
    uint32_t threads; /* 0: not given */
    carom_accuracy accuracy;
    uint32_t probe_limit;                                   /* seconds; see probe.h */
    int is_device_given, is_accuracy_given, is_other_given; /* which were on the command line; other: of the rest */
    uint64_t auto_from;                                     /* as of a context */
    const char *output;                                     /* NULL: standard output */
    const char *more_outputs[CLI_MORE_OUTPUTS];             /* --output again, where a command takes several */
    int more_output_count;
    progress_form progress;
} cli_options;

/* Stores the value of --NAME. Returns -1 to go on, else an exit status with the message printed. */
typedef int cli_read_fn(const char *name, const char *value, void *out);

/* The use of a file that an option names. */
typedef enum cli_file {
    CLI_NO_FILE,
    CLI_READS,
    CLI_WRITES,      /* a format of its own, which the command checks */
    CLI_WRITES_TEXT, /* in no format of rows but text */
    CLI_WRITES_ROWS, /* in the format that the suffix names (cli/rows/rows_format.h) */
    CLI_GROWS        /* beside a partial file and a journal */
} cli_file;

typedef struct cli_option {
    const char *name;
    const char *value; /* as help shows it; NULL: takes none */
    const char *help;
    cli_read_fn *read; /* NULL without a value */
    size_t at;         /* offset of the member that `read` stores into, in the command's struct */
    size_t given;      /* of an int that becomes 1 if the option is there; 0: of none */
    cli_file file;
} cli_option;

typedef struct cli_command {
    const char *name;    /* of one word or two */
    const char *summary; /* one line for `carom --help` */
    const char *synopsis;
    const char *details; /* what it reads and writes; NULL, as the two before: as the query of that name says. Words of
                          * --hits and what they mean follow from the registry */
    int (*run)(const void *options);
    size_t size;               /* of its struct of options */
    const void *defaults;      /* such a struct; NULL: all zero */
    const cli_option *options; /* [option_count] its own */
    int option_count;
    int computes;             /* it takes cli_compute_options, too */
    const cli_option *output; /* its --output; NULL: it has none */
    int operands_min, operands_max;
    const char *operands;             /* as messages name them */
    const char *const *operand_words; /* words that an operand may be; NULL: operands are files */
    const char *const *hits_words;    /* words of --hits; NULL: they follow from the registry. NULL ends both lists */
    /* Prepares its calls in a process that tries a device, for rows with the optional columns of the set `present`; see
     * probe.h. Returns an exit status. NULL: such a process only opens devices. */
    int (*prepare)(const void *options, uint32_t present);
} cli_command;

#define CLI_COUNT(rows) ((int)(sizeof(rows) / sizeof(rows)[0]))

/* ---- files.c: files that options name -----------------------------------------------------------------------------
 */

/* The file that an option names; NULL: none. */
const char *cli_file_of(const cli_options *o, const cli_option *row);
/* Output i that the option names, from 0: --output may name several; NULL beyond the last. */
const char *cli_output_of(const cli_options *o, const cli_option *row, int i);
/* Whether a path is this file; "-" is standard input. */
int cli_is_same_file(const char *path, const struct stat *file);
/* Refuses a file that another input names, such as a mesh of a scene, if an output would replace it. Returns an exit
 * status. */
int cli_check_named_input(const cli_options *o, const char *path);

/* ---- options.c, help.c: the command line --------------------------------------------------------------------------
 */

/* Row i of all that the command takes: its own, the shared ones, --progress; NULL beyond the last. */
const cli_option *cli_option_of(const cli_command *command, int i);
/* Parse argv[1..]. Returns -1 to go on and run it, else the exit status (help, version, bad usage). *out is the
 * command's own struct, to be freed; NULL unless -1 is returned. */
int options_parse(const cli_command *command, int argc, char **argv, cli_options **out);
/* One line for `carom --help`. */
const char *cli_command_summary(const cli_command *command);
int cli_print_command_help(const cli_command *command);
int cli_print_version(void);
/* The words that --hits of a command may be, with these gaps between them. Returns their length. */
size_t cli_hits_words(const char *command, const char *between, const char *before_last, char *text, size_t size);

/* ---- shared.c: options that several commands have -----------------------------------------------------------------
 */

enum { CLI_COMPUTE_OPTIONS = 6 };
extern const cli_option cli_compute_options[CLI_COMPUTE_OPTIONS], cli_progress_option;
/* --output of a command that writes text, or rows. */
extern const cli_option cli_output_text, cli_output_rows;

cli_read_fn cli_read_name;    /* const char *; refused if it has a name already */
cli_read_fn cli_read_outputs; /* of `output`: it may be given several times */
cli_read_fn cli_read_limit;   /* float >= 0: the end of a window, or a largest distance */
cli_read_fn cli_read_length;  /* float, finite and >= 0 */
cli_read_fn cli_read_start;   /* carom_start */
cli_read_fn cli_read_sign;    /* carom_sign */
cli_read_fn cli_read_whole;   /* uint64_t */
cli_read_fn cli_read_queries; /* uint64_t */
cli_read_fn cli_read_bundle;  /* uint32_t >= 1 */
/* The words of carom_sign, by its numbers. */
enum { CLI_SIGNS = 4 };
extern const char *const cli_sign_words[CLI_SIGNS + 1]; /* as a list for cli_read_word */
/* The place of the value among words, the last of which NULL follows. Returns -1 to go on, else an exit status. */
int cli_read_word(const char *name, const char *value, const char *const *words, int *out);
/* The words that the option takes, as above; NULL: it takes other values, or the command knows (--hits). */
const char *const *cli_words_of(const cli_option *row);
/* A whole number within [low, high], as 2000000, 2e6 or 2.5e6. Returns 0 if it is none. */
int cli_parse_count(const char *text, uint64_t low, uint64_t high, uint64_t *out);

/* What `details` of a command that reads and writes rows say of its files. */
#define CLI_ROWS_FILES                                                                                          \
    "A CSV file named - is standard input. A .npy file is float32 [rows][columns], or has columns by name in\n" \
    "NumPy's structured type; a .h5 file has a dataset for each column. The suffix of -o names the format:\n"   \
    ".h5, .npy, .vtp and .xyz, else CSV."

/* Rows of a command's table, with one wording for all commands; `type` is its struct. */
#define CLI_PAIRS(type)                                                                                \
    {                                                                                                  \
        "pairs", "FILE", "pairs: CSV, .npy or .h5", cli_read_name, offsetof(type, pairs), 0, CLI_READS \
    }
#define CLI_MESH(type)                                                                 \
    {                                                                                  \
        "mesh", "FILE", "mesh file", cli_read_name, offsetof(type, mesh), 0, CLI_READS \
    }
#define CLI_SCENE(type)                                                                                            \
    {                                                                                                              \
        "scene", "FILE",                                                                                           \
            "instances of mesh files, in place of --mesh: mesh,m00..m23 and optionally mask and ux,uy,uz (sweep)", \
            cli_read_name, offsetof(type, scene), 0, CLI_READS                                                     \
    }
#define CLI_SPHERES(type)                                                                                    \
    {                                                                                                        \
        "spheres", "FILE", "spheres: CSV, .npy or .h5", cli_read_name, offsetof(type, spheres), 0, CLI_READS \
    }
#define CLI_T_MAX(type)                                                                                           \
    {                                                                                                             \
        "t-max", "T", "end of the time window, >= 0 or inf (default inf)", cli_read_limit, offsetof(type, t_max), \
            offsetof(type, is_t_max_given), CLI_NO_FILE                                                           \
    }
#define CLI_HITS(type)                                                                                         \
    {                                                                                                          \
        "hits", "WHICH", "which hits to report, as above", cli_read_name, offsetof(type, hits), 0, CLI_NO_FILE \
    }
#define CLI_START(type)                                                                                  \
    {                                                                                                    \
        "start", "POLICY",                                                                               \
            "what touches or overlaps at time 0: report, skip-parting (skipped if moving away) or skip", \
            cli_read_start, offsetof(type, start), offsetof(type, is_start_given), CLI_NO_FILE           \
    }
#define CLI_SIGN(at, given)                                                                                    \
    {                                                                                                          \
        "sign", "S", "none, parity, winding or robust: minus inside (default none)", cli_read_sign, at, given, \
            CLI_NO_FILE                                                                                        \
    }
#define CLI_ALLOW_OPEN(at, given)                                                                           \
    {                                                                                                       \
        "allow-open", NULL, "take a sign also from a mesh that is not closed", NULL, at, given, CLI_NO_FILE \
    }
#define CLI_CULL_BACK(type)                                                                                    \
    {                                                                                                          \
        "cull-back", NULL, "no hits on triangles whose normal (P1-P0)x(P2-P0) goes along the motion", NULL, 0, \
            offsetof(type, cull_back), CLI_NO_FILE                                                             \
    }
#define CLI_QUERIES(type)                                                                                     \
    {                                                                                                         \
        "queries", "N", "queries of each type or scene, such as 2e6 (default 1000000; a scene's own number)", \
            cli_read_queries, offsetof(type, queries), offsetof(type, is_queries_given), CLI_NO_FILE          \
    }
#define CLI_SEED(type)                                                                                       \
    {                                                                                                        \
        "seed", "S", "seed of the queries (default 1)", cli_read_whole, offsetof(type, seed), 0, CLI_NO_FILE \
    }

/* ---- library.c: the library, and what it reports ------------------------------------------------------------------
 */

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
/* A mesh from the imported triangles of a file; a fault that the library finds in them is the file's. Returns as above.
 */
struct mesh_data;
int cli_mesh_make(carom_context *context, const char *path, const struct mesh_data *data, carom_mesh **mesh);
/* The same with its context. The caller destroys both in any case. */
int cli_mesh_open(const cli_options *options, const char *path, const struct mesh_data *data, carom_context **context,
                  carom_mesh **mesh);

/* ---- advice.c: where a driver fails -------------------------------------------------------------------------------
 */

enum { CLI_ADVICE = 2048 };
/* "To try: ...", for a platform, or for those whose kernel caches there are (""). Returns its length, below `size`. */
size_t cli_advise(char *out, size_t size, const char *platform);

#endif
