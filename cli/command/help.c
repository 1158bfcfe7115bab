/* SPDX-License-Identifier: MIT */
/* carom COMMAND --help. */
#include "command.h"
#include "cli/base/output.h"
#include "queries/query.h"

#include <stdio.h>
#include <string.h>

size_t cli_hits_words(const char *command, const char *between, const char *before_last, char *text, size_t size)
{
    const query_type *row;
    size_t used = 0;
    for (int i = 0; query_word_of(command, i, &row) && used < size; i++) {
        const query_word *word = query_word_of(command, i, &row);
        const char *gap = i == 0 ? "" : query_word_of(command, i + 1, &row) ? between : before_last;
        used += (size_t)snprintf(text + used, size - used, "%s%s", gap, word->word);
    }
    return used;
}

const char *cli_command_summary(const cli_command *command)
{
    return command->summary ? command->summary : query_named(command->name)->summary;
}

/* The words of a command that has none of its own: columns and fields of its query. */
static size_t describe_pairs(const query_type *q, char *text, size_t size)
{
    size_t used =
        (size_t)snprintf(text, size, "Usage: carom %s --pairs F.csv [options]\n\n%c%s.\nF.csv has the columns ",
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
                                   ".\n" CLI_ROWS_FILES " One row per input row, in order.\n\n"
                                   "Options:\n");
}

/* The ways to call it, one in a line: help2man makes the synopsis of the manual page from them. WHICH stands for the
 * words of --hits. */
static size_t describe_usage(const cli_command *command, char *text, size_t size)
{
    size_t used = 0;
    for (const char *way = command->synopsis, *end; way && used < size; way = end ? end + 1 : NULL) {
        end = strchr(way, '\n');
        const int length = (int)(end ? end - way : (ptrdiff_t)strlen(way));
        const char *which = strstr(way, "WHICH");
        const int before = which && which < way + length ? (int)(which - way) : length;
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", used == 0 ? "Usage: " : "   or: ", before, way);
        if (before < length)
            used += cli_hits_words(command->name, "|", "|", text + used, size - used);
        const int behind = before < length ? before + 5 : length;
        used += (size_t)snprintf(text + used, size - used, "%.*s\n", length - behind, way + behind);
    }
    return used;
}

/* Its own words, and a line for each of --hits at the end. */
static size_t describe_command(const cli_command *command, char *text, size_t size)
{
    const query_type *row;
    const query_word *word;
    size_t used = describe_usage(command, text, size);
    int widest = 0;
    used += (size_t)snprintf(text + used, size - used, "\n%c%s.\n%s", command->summary[0] - 'a' + 'A',
                             command->summary + 1, command->details);
    for (int i = 0; (word = query_word_of(command->name, i, &row)) != NULL; i++)
        widest = widest > (int)strlen(word->word) ? widest : (int)strlen(word->word);
    for (int i = 0; (word = query_word_of(command->name, i, &row)) != NULL; i++)
        used += (size_t)snprintf(text + used, size - used, "  %-*s  %s\n", widest, word->word, word->help);
    if (widest > 0)
        used += (size_t)snprintf(text + used, size - used,
                                 "Queries and triangles are numbered from 0, in the order of their files.\n");
    return used + (size_t)snprintf(text + used, size - used, "\nOptions:\n");
}

static size_t describe_option(const char *name, const char *value, const char *help, char *text, size_t size)
{
    char left[32];
    snprintf(left, sizeof left, "--%s %s", name, value ? value : "");
    return (size_t)snprintf(text, size, "  %-19s  %s\n", left, help);
}

int cli_print_command_help(const cli_command *command)
{
    char text[8192];
    const cli_option *row;
    size_t used = command->details ? describe_command(command, text, sizeof text)
                                   : describe_pairs(query_named(command->name), text, sizeof text);
    for (int i = 0; (row = cli_option_of(command, i)) != NULL && used < sizeof text; i++)
        used += describe_option(row->name, row->value, row->help, text + used, sizeof text - used);
    if (used < sizeof text)
        snprintf(text + used, sizeof text - used, "  %-19s  %s\n  %-19s  %s\n", "--help", "this text", "--version",
                 "the version");
    return cli_print(text);
}

int cli_print_version(void)
{
    char line[64];
    snprintf(line, sizeof line, "carom %s\n", carom_version());
    return cli_print(line);
}
