/* SPDX-License-Identifier: MIT */
/* The files that a command's options name. */
#include "command.h"

#include <string.h>
#include <unistd.h>

const char *cli_file_of(const cli_options *o, const cli_option *row)
{
    return *(const char *const *)(const void *)((const char *)o + row->at);
}

const char *cli_output_of(const cli_options *o, const cli_option *row, int i)
{
    if (i == 0)
        return cli_file_of(o, row);
    return row == o->command->output && i <= o->more_output_count ? o->more_outputs[i - 1] : NULL;
}

int cli_is_same_file(const char *path, const struct stat *file)
{
    struct stat info;
    return (strcmp(path, "-") ? stat(path, &info) : fstat(STDIN_FILENO, &info)) == 0 && info.st_dev == file->st_dev &&
           info.st_ino == file->st_ino;
}

int cli_check_named_input(const cli_options *o, const char *path)
{
    struct stat file;
    const cli_option *row;
    if (stat(path, &file) != 0 || !S_ISREG(file.st_mode))
        return EXIT_DONE; /* its reader says what is wrong */
    for (int i = 0; (row = cli_option_of(o->command, i)) != NULL; i++) {
        const int writes = row == o->command->output || row->file >= CLI_WRITES;
        const char *output;
        for (int n = 0; writes && (output = cli_output_of(o, row, n)) != NULL; n++)
            if (strcmp(output, "-") && cli_is_same_file(output, &file))
                return cli_refuse(EXIT_USAGE, "%s: is read as an input, which the output would replace", output);
    }
    return EXIT_DONE;
}
