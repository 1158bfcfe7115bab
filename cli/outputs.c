/* SPDX-License-Identifier: MIT */
#include "outputs.h"
#include "cli/base/output_place.h"
#include "cli/rows/rows.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --output first, then what a command writes beside it. */
enum { OUTPUTS_MAX = 5 + CLI_MORE_OUTPUTS }; /* no command has more */

/* Whether this file is read as an input. */
static int is_input(const cli_options *o, const struct stat *file)
{
    const cli_option *row;
    for (int i = 0; (row = cli_option_of(o->command, i)) != NULL; i++)
        if (row->file == CLI_READS && cli_file_of(o, row) && cli_is_same_file(cli_file_of(o, row), file))
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
            return last->exists && strcmp(last->shown, places[i].shown) != 0
                       ? cli_refuse(EXIT_USAGE, "%s and %s: two outputs are one file", places[i].shown, last->shown)
                       : cli_refuse(EXIT_USAGE, "%s: two outputs would have this one name", last->shown);
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
static int check_format(const cli_options *o, const char *path, int writes_rows, const output_place *place)
{
    if (!writes_rows && rows_format_of(path) != rows_format_of(NULL))
        return cli_refuse(EXIT_USAGE, "%s: %s writes text, and no .%s", path, o->command->name, cli_suffix(path));
    return rows_format_check(path, place->folder >= 0);
}

/* places[count - 1] becomes the place of a file that the option names. */
static int check_output(const cli_options *o, const cli_option *row, const char *path, output_place *places,
                        size_t count)
{
    output_place *const place = &places[count - 1];
    int status = output_place_find(place, path);
    if (status == EXIT_DONE)
        status = check_apart(o, places, count);
    if (status == EXIT_DONE && row->file == CLI_GROWS)
        status = check_beside(o, place);
    if (status == EXIT_DONE && (row->file == CLI_WRITES_TEXT || row->file == CLI_WRITES_ROWS))
        status = check_format(o, path, row->file == CLI_WRITES_ROWS, place);
    return status;
}

/* A bake that is given a folder looks at what it writes there itself. */
static int is_folder(const cli_option *row, const char *path)
{
    struct stat info;
    return row->file == CLI_GROWS &&
           (path[strlen(path) - 1] == '/' || (stat(path, &info) == 0 && S_ISDIR(info.st_mode)));
}

/* All that the option names. */
static int check_outputs(const cli_options *o, const cli_option *row, output_place *places, size_t *count)
{
    const char *path;
    int status = EXIT_DONE;
    for (int i = 0; (path = cli_output_of(o, row, i)) != NULL && status == EXIT_DONE && *count < OUTPUTS_MAX; i++)
        if (!is_folder(row, path))
            status = check_output(o, row, path, places, ++*count);
    return status;
}

int outputs_check(const cli_options *o)
{
    const cli_option *row = o->command->output;
    output_place places[OUTPUTS_MAX];
    size_t count = 0;
    int status = EXIT_DONE;
    if (row)
        status = check_outputs(o, row, places, &count);
    for (int i = 0; i < o->command->option_count && status == EXIT_DONE; i++) {
        row = &o->command->options[i];
        if (row->file >= CLI_WRITES)
            status = check_outputs(o, row, places, &count);
    }
    for (size_t i = 0; i < count; i++)
        output_place_free(&places[i]);
    return status == EXIT_DONE ? -1 : status;
}
