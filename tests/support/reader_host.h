/* SPDX-License-Identifier: MIT */
/* The mesh readers' program, for tests and fuzz targets that read as the command does. */
#ifndef CAROM_TESTS_SUPPORT_READER_HOST_H
#define CAROM_TESTS_SUPPORT_READER_HOST_H

#include "cli/cli.h"

/* Whether refusals are printed; the text is made in any case, and is this until the next. */
extern int reader_host_prints;
extern char reader_host_said[512];

#endif
