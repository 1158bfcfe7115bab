/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "cli/base/base.h"
#include "cli/base/progress.h"
#include "cli/base/unfinished.h"
#include "cli/table/hdf5_child.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

typedef struct job {
    const char *name;
    int least; /* arguments */
    int (*run)(int count, char **arguments);
} job;

static const job jobs[] = {
    {"mesh", 1, files_read_mesh},
    {"rows", 1, files_read_rows},
    {"arrays", 1, files_read_arrays},
    {"write-rows", 3, files_write_rows},
    {"write-arrays", 2, files_write_arrays},
};

static int run(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (!strcmp(name, HDF5_COMMAND))
        return hdf5_child(argc, argv);
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        if (!strcmp(name, jobs[i].name) && argc - 2 >= jobs[i].least)
            return jobs[i].run(argc - 2, argv + 2);
    return cli_refuse(EXIT_USAGE, "carom-files is for the Python package carom; see carom --help");
}

int main(int argc, char **argv)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* the reader of a pipe does not outlive who asked for it */
    cli_hold_standard_streams();
    unfinished_begin();
    progress_choose(PROGRESS_NONE);
    return run(argc, argv);
}
