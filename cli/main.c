/* SPDX-License-Identifier: MIT */
/* The list of commands, and the way from a command line to one of them. */
#include "cli.h"
#include "cli/bake/command.h"
#include "cli/base/output.h"
#include "cli/bench/command.h"
#include "cli/contacts/command.h"
#include "cli/drop/command.h"
#include "cli/explain/command.h"
#include "cli/import/import.h"
#include "cli/info/command.h"
#include "cli/probe/probe.h"
#include "cli/query/command.h"
#include "cli/spheres/command.h"
#include "cli/table/hdf5_child.h"
#include "cli/verify/command.h"
#include "completion.h"
#include "outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_command *const commands[] = {
    &info_command,
    &sweep_command,
    &overlap_command,
    &spheres_command,
    &contacts_command,
    &drop_command,
#define PAIRS_ONLY(name) &name##_command,
    QUERY_PAIRS(PAIRS_COMMAND)
#undef PAIRS_ONLY
        & explain_command,
#define BAKE_COMMAND(name) &bake_##name##_command,
    BAKE_EACH_KIND(BAKE_COMMAND)
#undef BAKE_COMMAND
        & bake_path_command,
    &bake_join_command,
    &bake_status_command,
    &bake_check_command,
    &verify_command,
    &bench_command,
    &completion_command,
};

enum { COMMAND_COUNT = CLI_COUNT(commands) };

const cli_command *cli_command_at(int i)
{
    return i < COMMAND_COUNT ? commands[i] : NULL;
}

const cli_command *cli_command_named(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(name, commands[i]->name))
            return commands[i];
    return NULL;
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
                                   "Usage: carom COMMAND [options]\n\n"
                                   "Batches of sphere/triangle and sphere/sphere queries, the same bits from every "
                                   "backend.\n\nCommands:\n");
    for (size_t i = 0; i < COMMAND_COUNT && used < sizeof text; i++)
        if (!group || is_in_group(commands[i], group))
            used += (size_t)snprintf(text + used, sizeof text - used, "  %-14s  %s\n", commands[i]->name,
                                     cli_command_summary(commands[i]));
    if (used < sizeof text)
        snprintf(
            text + used, sizeof text - used,
            "\nOptions:\n  --help              this text; carom COMMAND --help: the options of a command\n  --version  "
            "         the version\n"
            "\nExit status: 0 success, 1 the work failed, 2 bad usage or bad input, 75 stopped and resumable (bake),\n"
            "130 interrupted (bench).\n");
    return cli_print(text);
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

static const cli_options *running;

/* Outputs must not be in the place of a file that a mesh file names. */
static int may_read(const char *path)
{
    return cli_check_named_input(running, path);
}

static int run(const cli_command *command, int argc, char **argv)
{
    cli_options *options;
    int status = options_parse(command, argc, argv, &options);
    if (status >= 0)
        return status;
    running = options;
    mesh_import_ask(may_read);
    progress_choose(options->progress);
    status = outputs_check(options);
    status = status >= 0 ? status : command->run(options);
    free(options);
    return status;
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
        if (is_in_group(commands[i], group))
            used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", used > 0 ? ", " : "",
                                     commands[i]->name + strlen(group) + 1);
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
        return probe_child(cli_command_named(probe_child_command(argc, argv)), argc, argv);
    if (!strcmp(argv[1], HDF5_COMMAND))
        return hdf5_child(argc, argv);
    const cli_command *command = cli_command_named(argv[1]);
    if (command)
        return run(command, argc - 1, argv + 1);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (is_in_group(commands[i], argv[1]))
            return run_of_group(argv[1], argc - 2, argv + 2);
    return cli_refuse(EXIT_USAGE, "unknown %s '%s'; see carom --help", argv[1][0] == '-' ? "option" : "command",
                      argv[1]);
}
