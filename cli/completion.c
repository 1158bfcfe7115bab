/* SPDX-License-Identifier: MIT */
/* Scripts that complete command lines, made from the list of commands and their tables of options. Each shell has three
 * functions: for the names of commands, for a command, and for an option of it. */
#include "completion.h"
#include "cli.h"
#include "cli/bake/bake.h"
#include "cli/base/output.h"

#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 256 };

/* What follows an option. */
typedef enum value_kind {
    NO_VALUE,
    FILE_VALUE,
    ONE_WORD,
    SOME_WORDS, /* separated by commas */
    OTHER_VALUE /* a number, a name */
} value_kind;

static size_t join(const char *const *words, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; words[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? " " : "", words[i]);
    return used;
}

/* The arrays that --with of carom bake adds; 0: the option is another one. */
static uint32_t arrays_of(const cli_option *row)
{
    return row->read == bake_read_with ? BAKE_MORE : row->read == bake_read_with_gradient ? BAKE_MORE_AND_GRADIENT : 0;
}

/* text: the words that the option takes, with blanks between them. */
static value_kind value_of(const cli_command *command, const cli_option *row, char text[WORDS_MAX])
{
    const char *const *words = strcmp(row->name, "hits") ? cli_words_of(row) : command->hits_words;
    const char *arrays[BAKE_ARRAYS + 1] = {NULL};
    int count = 0;
    *text = '\0';
    if (!row->value)
        return NO_VALUE;
    if (!strcmp(row->value, "FILE"))
        return FILE_VALUE;
    if (words)
        join(words, text, WORDS_MAX);
    else if (!strcmp(row->name, "hits"))
        cli_hits_words(command->name, " ", " ", text, WORDS_MAX);
    for (int a = 0; a < BAKE_ARRAYS; a++)
        if (arrays_of(row) & 1u << a)
            arrays[count++] = bake_arrays[a].name;
    if (row->read == bake_read_format)
        for (; bake_format_at(count); count++)
            arrays[count] = bake_format_at(count)->name;
    if (count > 0)
        join(arrays, text, WORDS_MAX);
    return *text == '\0' ? OTHER_VALUE : count > 0 ? SOME_WORDS : ONE_WORD;
}

/* The first word of `bake drop`; NULL for a command of one word. */
static const char *group_of(const cli_command *command, char group[32])
{
    const char *blank = strchr(command->name, ' ');
    snprintf(group, 32, "%.*s", (int)(blank ? blank - command->name : 0), command->name);
    return blank ? group : NULL;
}

/* Whether the command is the first of its group. */
static int begins_group(int i)
{
    char group[32], before[32];
    const char *name = group_of(cli_command_at(i), group);
    return name && (i == 0 || !group_of(cli_command_at(i - 1), before) || strcmp(before, group) != 0);
}

static const char group_help[] = "volumes and paths; carom bake --help lists what there is";

/* Text within single quotes; `special` has the characters that `escape` stands in front of. */
static void write_quoted(output *out, const char *text, const char *special, const char *quote)
{
    for (; *text; text++)
        if (*text == '\'')
            output_text(out, quote);
        else
            output_format(out, "%s%c", strchr(special, *text) ? "\\" : "", *text);
}

/* ---- bash -------------------------------------------------------------------------------------------------------- */

static void bash_names(output *out, const char *group)
{
    const cli_command *command;
    char own[32];
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++) {
        const char *of = group_of(command, own);
        if (group && of && !strcmp(of, group))
            output_format(out, "%s ", command->name + strlen(group) + 1);
        else if (!group && (!of || begins_group(i)))
            output_format(out, "%s ", of ? of : command->name);
    }
}

static void bash_option(output *out, const cli_command *command, const cli_option *row)
{
    static const char *const kinds[] = {"", "file", "words", "list", "other"};
    char words[WORDS_MAX];
    const value_kind kind = value_of(command, row, words);
    if (kind != NO_VALUE)
        output_format(out, "        --%s%s) kind=%s words='%s' ;;\n", row->name, row == command->output ? " | -o" : "",
                      kinds[kind], words);
}

static void bash_command(output *out, const cli_command *command)
{
    char words[WORDS_MAX] = "";
    const cli_option *row;
    if (command->operand_words)
        join(command->operand_words, words, sizeof words);
    output_format(out, "    '%s')\n        options='", command->name);
    for (int i = 0; (row = cli_option_of(command, i)) != NULL; i++)
        output_format(out, "--%s ", row->name);
    output_format(out, "%s--help --version' operands='%s'\n        case $before in\n", command->output ? "-o " : "",
                  command->operands_max == 0 ? ""
                  : *words                   ? words
                                             : "FILE");
    for (int i = 0; (row = cli_option_of(command, i)) != NULL; i++)
        bash_option(out, command, row);
    output_text(out, "        esac\n        ;;\n");
}

static void write_bash(output *out)
{
    const cli_command *command;
    char group[32];
    output_text(out, "# Completion of carom for bash, by `carom completion bash`.\n"
                     "_carom()\n"
                     "{\n"
                     "    local current=$2 before=$3 command=${COMP_WORDS[1]-} at=2\n"
                     "    local kind='' words='' options='' operands='' begun='' IFS=$' \\t\\n'\n"
                     "    if [ \"$current\" = = ]; then current=; fi # bash cuts --option=value in three\n"
                     "    if [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
                     "    case $command in\n");
    for (int i = 0; cli_command_at(i); i++)
        if (begins_group(i)) {
            output_format(out, "    %s) command=\"%s ${COMP_WORDS[2]-}\" at=3 words='",
                          group_of(cli_command_at(i), group), group);
            bash_names(out, group);
            output_text(out, "--help --version' ;;\n");
        }
    output_text(out, "    esac\n    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='");
    bash_names(out, NULL);
    output_text(out, "--help --version' at=2\n    fi\n"
                     "    if [ \"$COMP_CWORD\" -lt $at ]; then\n"
                     "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
                     "        return\n    fi\n"
                     "    words=''\n"
                     "    case $command in\n");
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++)
        bash_command(out, command);
    output_text(out, "    esac\n"
                     "    if [ -z \"$kind\" ]; then\n"
                     "        kind=words words=$options\n"
                     "        if [[ $current != -* && $operands == FILE ]]; then kind=file; fi\n"
                     "        if [[ $current != -* && -n $operands ]]; then words=$operands; fi\n"
                     "    fi\n"
                     "    COMPREPLY=()\n"
                     "    case $kind in\n"
                     "    file) return ;; # readline's own\n"
                     "    list) begun=${current%\"${current##*,}\"} ;;\n"
                     "    esac\n"
                     "    compopt +o default 2> /dev/null\n"
                     "    mapfile -t COMPREPLY < <(compgen -P \"$begun\" -W \"$words\" -- \"${current#\"$begun\"}\")\n"
                     "}\n"
                     "complete -o default -F _carom carom\n");
}

/* ---- zsh --------------------------------------------------------------------------------------------------------- */

static void zsh_quoted(output *out, const char *text)
{
    write_quoted(out, text, "\\[]:", "'\\''");
}

static void zsh_name(output *out, const char *name, const char *help)
{
    output_format(out, "        '%s:", name);
    zsh_quoted(out, help);
    output_text(out, "'\n");
}

static void zsh_names(output *out, const char *group)
{
    const cli_command *command;
    char own[32];
    output_text(out, "        names=(\n");
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++) {
        const char *of = group_of(command, own);
        if (group && of && !strcmp(of, group))
            zsh_name(out, command->name + strlen(group) + 1, cli_command_summary(command));
        else if (!group && (!of || begins_group(i)))
            zsh_name(out, of ? of : command->name, of ? group_help : cli_command_summary(command));
    }
    zsh_name(out, "--help", "the commands");
    zsh_name(out, "--version", "the version");
    output_text(out, "        )\n        _describe command names\n        return\n");
}

static void zsh_option(output *out, const cli_command *command, const cli_option *row)
{
    char words[WORDS_MAX];
    const value_kind kind = value_of(command, row, words);
    output_format(out, row == command->output ? "        '(-o --%s)'{-o+,--%s=}'[" : "        '--%s%s[", row->name,
                  row == command->output ? row->name
                  : kind == NO_VALUE     ? ""
                                         : "=");
    zsh_quoted(out, row->help);
    output_text(out, "]");
    if (kind != NO_VALUE)
        output_format(out,
                      kind == FILE_VALUE   ? ":%s:_files"
                      : kind == ONE_WORD   ? ":%s:(%s)"
                      : kind == SOME_WORDS ? ":%s:_values -s , array %s"
                                           : ":%s: ",
                      row->value, words);
    output_text(out, "'\n");
}

static void zsh_command(output *out, const cli_command *command)
{
    char words[WORDS_MAX] = "";
    const cli_option *row;
    output_format(out, "    '%s') options=(\n", command->name);
    for (int i = 0; (row = cli_option_of(command, i)) != NULL; i++)
        zsh_option(out, command, row);
    output_text(out, "        '(- *)--help[this text]'\n        '(- *)--version[the version]'\n");
    if (command->operand_words)
        join(command->operand_words, words, sizeof words);
    if (command->operands_max > 0)
        output_format(out, *words ? "        '%s:operand:(%s)'\n" : "        '%s:file:_files'\n",
                      command->operands_max > 1 ? "*" : "1", words);
    output_text(out, "        ) ;;\n");
}

static void write_zsh(output *out)
{
    const cli_command *command;
    char group[32];
    output_text(out, "#compdef carom\n"
                     "# Completion of carom for zsh, by `carom completion zsh`.\n"
                     "_carom() {\n"
                     "    local command=$words[2]\n"
                     "    local -a names options\n"
                     "    if (( CURRENT == 2 )); then\n");
    zsh_names(out, NULL);
    output_text(out, "    fi\n    shift words; (( CURRENT-- ))\n");
    for (int i = 0; cli_command_at(i); i++)
        if (begins_group(i)) {
            output_format(out, "    if [[ $command == %s ]]; then\n        if (( CURRENT == 2 )); then\n",
                          group_of(cli_command_at(i), group));
            zsh_names(out, group);
            output_text(out, "        fi\n        command=\"$command $words[2]\"\n"
                             "        shift words; (( CURRENT-- ))\n    fi\n");
        }
    output_text(out, "    case $command in\n");
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++)
        zsh_command(out, command);
    output_text(out, "    esac\n"
                     "    (( $#options )) && _arguments $options\n"
                     "}\n"
                     "if [[ $funcstack[1] == _carom ]]; then _carom \"$@\"; else compdef _carom carom; fi\n");
}

/* ---- fish -------------------------------------------------------------------------------------------------------- */

static void fish_help(output *out, const char *help)
{
    output_text(out, " -d '");
    write_quoted(out, help, "\\", "\\'");
    output_text(out, "'\n");
}

static void fish_option(output *out, const cli_command *command, const cli_option *row)
{
    char words[WORDS_MAX];
    const value_kind kind = value_of(command, row, words);
    output_format(out, "complete -c carom -n '__carom_in %s' -l %s%s", command->name, row->name,
                  row == command->output ? " -s o" : "");
    output_format(out,
                  kind == NO_VALUE     ? "%s"
                  : kind == FILE_VALUE ? " -rF%s"
                  : kind == ONE_WORD   ? " -xa '%s'"
                  : kind == SOME_WORDS ? " -xa '(__fish_append , %s)'"
                                       : " -x%s",
                  words);
    fish_help(out, row->help);
}

static void fish_command(output *out, int i)
{
    const cli_command *command = cli_command_at(i);
    char group[32], words[WORDS_MAX] = "";
    const char *of = group_of(command, group);
    const cli_option *row;
    if (begins_group(i)) {
        output_format(out, "complete -c carom -n '__carom_at' -a %s", group);
        fish_help(out, group_help);
        output_format(out,
                      "complete -c carom -n '__carom_at %s' -l help -d 'the commands'\n"
                      "complete -c carom -n '__carom_at %s' -l version -d 'the version'\n",
                      group, group);
    }
    output_format(out, "complete -c carom -n '__carom_at%s%s' -a %s", of ? " " : "", of ? of : "",
                  of ? command->name + strlen(of) + 1 : command->name);
    fish_help(out, cli_command_summary(command));
    for (int k = 0; (row = cli_option_of(command, k)) != NULL; k++)
        fish_option(out, command, row);
    output_format(out,
                  "complete -c carom -n '__carom_in %s' -l help -d 'this text'\n"
                  "complete -c carom -n '__carom_in %s' -l version -d 'the version'\n",
                  command->name, command->name);
    if (command->operand_words)
        join(command->operand_words, words, sizeof words);
    if (command->operands_max > 0)
        output_format(out,
                      *words ? "complete -c carom -n '__carom_in %s' -a '%s'\n"
                             : "complete -c carom -n '__carom_in %s' -F\n",
                      command->name, words);
}

static void write_fish(output *out)
{
    output_text(out, "# Completion of carom for fish, by `carom completion fish`.\n"
                     "function __carom_at -d 'the words before this one are these'\n"
                     "    set -l words (commandline -opc)\n"
                     "    set -e words[1]\n"
                     "    test \"$words\" = \"$argv\"\n"
                     "end\n"
                     "function __carom_in -d 'the command is this one'\n"
                     "    set -l words (commandline -opc)\n"
                     "    set -e words[1]\n"
                     "    set -l count (count $argv)\n"
                     "    test (count $words) -ge $count; and test \"$words[1..$count]\" = \"$argv\"\n"
                     "end\n"
                     "complete -c carom -f\n"
                     "complete -c carom -n '__carom_at' -l help -d 'the commands'\n"
                     "complete -c carom -n '__carom_at' -l version -d 'the version'\n");
    for (int i = 0; cli_command_at(i); i++)
        fish_command(out, i);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static int run(const void *own)
{
    static void (*const writers[])(output *) = {write_bash, write_zsh, write_fish};
    const cli_options *o = own;
    output out;
    int shell = 0;
    while (shells[shell] && strcmp(o->operands[0], shells[shell]) != 0)
        shell++;
    if (!shells[shell])
        return cli_refuse(EXIT_USAGE, "completion: expected %s, got '%s'", o->command->operands, o->operands[0]);
    const int status = output_open(&out, o->output);
    if (status != EXIT_DONE)
        return status;
    writers[shell](&out);
    return output_close(&out, EXIT_DONE);
}

const cli_command completion_command = {
    .name = "completion",
    .summary = "a script that completes command lines in bash, zsh or fish",
    .synopsis = "carom completion bash|zsh|fish [-o FILE]",
    .details =
        "The script completes commands, options, and values that are words or files. A package installs all three.\n"
        "Otherwise, for the shell of today: source <(carom completion bash), the same with zsh, or\n"
        "carom completion fish | source.\n",
    .run = run,
    .size = sizeof(cli_options),
    .output = &cli_output_text,
    .operands_min = 1,
    .operands_max = 1,
    .operands = "bash, zsh or fish",
    .operand_words = shells,
};
