/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "cli/base/base.h"
#include "cli/table/hdf5.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int files_is_hdf5(const char *path)
{
    return cli_is_hdf5(path) || cli_has_suffix(path, "vtkhdf");
}

int files_open_regular(output *out, const char *path)
{
    output_place place;
    int status = output_place_find(&place, path);
    if (status == EXIT_DONE && place.folder < 0)
        status = cli_refuse(EXIT_USAGE, "%s: is no regular file, which %s must be", path,
                            files_is_hdf5(path) ? "an HDF5 file" : "a volume");
    output_place_free(&place);
    return status == EXIT_DONE ? output_open(out, path) : status;
}

int files_open(output *out, const char *path)
{
    if (!files_is_hdf5(path))
        return output_open(out, path);
    const int status = hdf5_require(path);
    return status == EXIT_DONE ? files_open_regular(out, path) : status;
}

int files_type(const char *name, const char *const *types, int count)
{
    int i = count - 1;
    while (i >= 0 && strcmp(name, types[i]))
        i--;
    return i;
}

int files_receive(void *to, size_t size)
{
    for (char *at = to; size > 0;) {
        const ssize_t n = read(STDIN_FILENO, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) /* the caller has ended, or has something else to raise */
            return cli_refuse(EXIT_WORK, "the numbers to be written ended early");
        at += n;
        size -= (size_t)n;
    }
    return EXIT_DONE;
}
