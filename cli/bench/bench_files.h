/* SPDX-License-Identifier: MIT */
#ifndef CAROM_CLI_BENCH_BENCH_FILES_H
#define CAROM_CLI_BENCH_BENCH_FILES_H

#include "bench_report.h"
#include "cli/command/command.h"

typedef struct bench_files {
    const cli_options *common; /* its operands are files */
    const char *first, *report;
    bench_words_fn *words;
} bench_files;

/* Compares results of earlier runs. The first and the operands in front of `--` are of one build, those behind it of
 * another. Without `--` each operand is held against the first. Returns an exit status with the message printed. */
int bench_files_compare(const bench_files *files);

#endif
