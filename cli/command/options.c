/* SPDX-License-Identifier: MIT */
/* The command line, by the table of the command. */
#include "command.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERAND = 1, SHORT_OUTPUT = 'o', ROWS_MAX = 48, LONG_ROW = 256, LONG_HELP = LONG_ROW + ROWS_MAX, LONG_VERSION };

const cli_option *cli_option_of(const cli_command *command, int i)
{
    if (i < command->option_count)
        return &command->options[i];
    i -= command->option_count;
    if (command->computes && i < CLI_COMPUTE_OPTIONS)
        return &cli_compute_options[i];
    i -= command->computes ? CLI_COMPUTE_OPTIONS : 0;
    if (command->output && i == 0)
        return command->output;
    return i == (command->output ? 1 : 0) ? &cli_progress_option : NULL;
}

/* Store one option. Returns -1 to go on, else an exit status. */
static int take(const cli_option *row, const char *value, cli_options *out)
{
    char *const base = (char *)out;
    if (row->given)
        *(int *)(void *)(base + row->given) = 1;
    return row->read ? row->read(row->name, value, base + row->at) : -1;
}

/* getopt reports an unknown option and an ambiguous abbreviation alike. */
static int refuse_option(const cli_command *command, const char *argument)
{
    size_t length = strcspn(argument, "=");
    int matches = 0, exact = 0;
    const cli_option *row;
    if (strncmp(argument, "--", 2))
        return cli_refuse(EXIT_USAGE, "%s: unknown option '%s'; see carom %s --help", command->name, argument,
                          command->name);
    for (int i = 0; (row = cli_option_of(command, i)) != NULL; i++) {
        const int begins = !strncmp(argument + 2, row->name, length - 2);
        matches += begins;
        exact |= begins && strlen(row->name) == length - 2;
    }
    exact |= length == 6 && !strncmp(argument, "--help", 6);
    exact |= length == 9 && !strncmp(argument, "--version", 9);
    const char *wrong = exact || matches == 1 ? "takes no value" : matches > 1 ? "is ambiguous" : "is unknown";
    return cli_refuse(EXIT_USAGE, "%s: option '%.*s' %s; see carom %s --help", command->name, (int)length, argument,
                      wrong, command->name);
}

static void list_options(const cli_command *command, struct option *list)
{
    const cli_option *row;
    int used = 0;
    for (; (row = cli_option_of(command, used)) != NULL && used < ROWS_MAX; used++)
        list[used] = (struct option){row->name, row->value ? required_argument : no_argument, NULL, LONG_ROW + used};
    list[used++] = (struct option){"help", no_argument, NULL, LONG_HELP};
    list[used++] = (struct option){"version", no_argument, NULL, LONG_VERSION};
    list[used] = (struct option){NULL, 0, NULL, 0};
}

static int check_together(const cli_options *o)
{
    if (o->is_device_given && o->backend == CAROM_BACKEND_CPU)
        return cli_refuse(EXIT_USAGE, "--device names an OpenCL device, and --backend cpu uses none");
    return -1;
}

static int check_operands(const cli_options *o)
{
    const cli_command *command = o->command;
    const int most = command->operands_max;
    if (o->operand_count > most)
        return cli_refuse(EXIT_USAGE, "%s: unexpected argument '%s'; see carom %s --help", command->name,
                          o->operands[most], command->name);
    if (o->operand_count < command->operands_min)
        return cli_refuse(EXIT_USAGE, "%s: expected %s; see carom %s --help", command->name, command->operands,
                          command->name);
    return check_together(o);
}

static int parse(const cli_command *command, int argc, char **argv, cli_options *out)
{
    struct option list[ROWS_MAX + 3];
    int at, code;
    list_options(command, list);
    optind = 0;
    opterr = 0;
    const char *shorts = command->output ? "-:o:h" : "-:h"; /* `-`: operands come where they stand */
    for (;;) {
        at = optind > 0 ? optind : 1;
        code = getopt_long(argc, argv, shorts, list, NULL);
        if (code == -1)
            break;
        if (code == OPERAND) {
            out->operands[out->operand_count++] = optarg;
            continue;
        }
        if (code == LONG_HELP || code == 'h')
            return cli_print_command_help(command);
        if (code == LONG_VERSION)
            return cli_print_version();
        if (code == ':')
            return cli_refuse(EXIT_USAGE, "%s: option '%s' needs a value", command->name, argv[optind - 1]);
        if (code == '?')
            return refuse_option(command, argv[optind - 1 >= at ? optind - 1 : at]);
        const int status =
            take(code == SHORT_OUTPUT ? command->output : cli_option_of(command, code - LONG_ROW), optarg, out);
        if (status >= 0)
            return status;
    }
    out->operands_apart = optind > at ? argc - optind : -1; /* the last step has taken `--` */
    for (int i = optind; i < argc; i++)
        out->operands[out->operand_count++] = argv[i];
    return check_operands(out);
}

int options_parse(const cli_command *command, int argc, char **argv, cli_options **out)
{
    *out = cli_alloc(1, command->size + (size_t)argc * sizeof *(*out)->operands); /* which are behind the options */
    if (!*out)
        return cli_no_memory();
    if (command->defaults)
        memcpy(*out, command->defaults, command->size);
    else
        memset(*out, 0, command->size);
    (*out)->probe_limit = 600;
    (*out)->command = command;
    (*out)->argc = argc;
    (*out)->argv = argv;
    (*out)->operands = (char **)(void *)((char *)*out + command->size);
    const int status = parse(command, argc, argv, *out);
    if (status >= 0) {
        free(*out);
        *out = NULL;
    }
    return status;
}
