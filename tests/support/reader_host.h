/* SPDX-License-Identifier: MIT */
/* The functions of the command that its readers of meshes and CSV call, for tests and fuzz targets. */
#ifndef CAROM_TESTS_SUPPORT_READER_HOST_H
#define CAROM_TESTS_SUPPORT_READER_HOST_H

#include "cli/base/base.h"

/* If not 0, the readers' messages are printed. reader_host_said always holds the last one. */
extern int reader_host_prints;
extern char reader_host_said[512];

#endif
