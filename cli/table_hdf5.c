/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "table.h"

static int open_table(void **file, const char *path, table_column *columns, size_t count, const table_limits *limits)
{
    (void)file, (void)columns, (void)count, (void)limits;
    return cli_refuse(EXIT_USAGE, "%s: rows are read as CSV or .npy; .h5 is not read yet", path);
}

const table_source table_hdf5 = {.suffix = "h5", .open = open_table};
