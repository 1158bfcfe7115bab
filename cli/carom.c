/* SPDX-License-Identifier: MIT */
/* The process of carom: what comes before the command. */
#include "cli.h"
#include "cli/base/unfinished.h"

int main(int argc, char **argv)
{
    cli_hold_standard_streams();
    unfinished_begin();
    return cli_run(argc, argv);
}
