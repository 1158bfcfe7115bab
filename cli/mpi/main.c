/* SPDX-License-Identifier: MIT */
/* carom-mpi: carom bake by several ranks, with the same options, sentences and bytes. */
#include "cli/cli.h"
#include "cli/probe/probe.h"
#include "cli/base/output.h"
#include "cli/base/unfinished.h"
#include "bake_ranks.h"
#include "ranks.h"
#include "share.h"

#include <stdio.h>
#include <string.h>

static int is_common(const char *word)
{
    static const char *const words[] = {"--version", "-V", "--help", "-h", "help"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(word, words[i]))
            return i < 2 ? 'V' : 'h';
    return 0;
}

static int print_usage(void)
{
    char text[1024] = "Usage: mpirun -n K carom-mpi bake ";
    const size_t used = strlen(text);
    const size_t words = used + bake_kind_words("", "|", "|", text + used, sizeof text - used);
    snprintf(text + words, sizeof text - words, "%s",
             " OPTIONS\n\n"
             "carom bake by K ranks: the same options and sentences, the same bytes in OUT, for any K.\n"
             "carom-mpi bake distance --help lists the options. Each rank may have its own --backend,\n"
             "--device, --isa and --threads. Ranks that ask for OpenCL without --device take the devices\n"
             "of their node in turn. bake join, status, check and path are the work of one process: carom.\n");
    return cli_print(text);
}

/* Only volumes: what else carom does is for one process. */
static int run(int argc, char **argv)
{
    const int common = argc > 1 ? is_common(argv[1]) : 0;
    if (common)
        return common == 'V' ? cli_print_version() : print_usage();
    if (argc < 3 || strcmp(argv[1], "bake") != 0 || (!bake_kind_named(argv[2]) && !is_common(argv[2]))) {
        char words[256];
        bake_kind_words("bake ", ", ", " and ", words, sizeof words);
        return cli_refuse(EXIT_USAGE, "carom-mpi does %s%s%s%s%s; what else there is, carom does in one process", words,
                          argc > 1 ? ", not " : "", argc > 1 ? argv[1] : "", argc > 2 ? " " : "",
                          argc > 2 ? argv[2] : "");
    }
    return is_common(argv[2]) == 'h' ? print_usage() : cli_run(argc, argv);
}

int main(int argc, char **argv)
{
    int status;
    cli_hold_standard_streams();
    unfinished_begin();
    if (argc > 1 && !strcmp(argv[1], PROBE_COMMAND))
        return probe_child(cli_command_named(probe_child_command(argc, argv)), argc, argv);
    unfinished_hold_users_too(); /* mpirun hands on SIGUSR2; after SIGINT and SIGTERM it waits for a second */
    ranks_begin(&argc, &argv);
    if (all_ranks.rank == 0) {
        ranks_of_bake.threads = all_ranks.threads;
        bake_crew_here = &ranks_of_bake;
        status = run(argc, argv);
        ranks_dismiss(status);
    } else {
        char name[32];
        snprintf(name, sizeof name, "rank %d", all_ranks.rank);
        cli_message_from(name);
        status = ranks_serve(argc, argv);
    }
    share_end();
    ranks_end();
    return status;
}
