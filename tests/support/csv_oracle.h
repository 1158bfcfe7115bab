/* SPDX-License-Identifier: MIT */
/* The contract of CSV files (docs/command.md), read the plain way: whole text, line by line, strtof. And the reader of
 * the command on the same text, in any pieces, as tests and fuzz targets compare it. */
#ifndef CAROM_TESTS_SUPPORT_CSV_ORACLE_H
#define CAROM_TESTS_SUPPORT_CSV_ORACLE_H

#include "cli/table/csv.h"
#include "cli/base/parallel.h"

enum { CSV_ORACLE_COLUMNS = 8 };

/* A table, or the line of the first fault. */
typedef struct csv_table {
    uint64_t refused; /* line, 0: none */
    uint64_t rows;    /* in front of it */
    int present[CSV_ORACLE_COLUMNS];
    uint32_t *bits[CSV_ORACLE_COLUMNS]; /* [rows] floats or masks */
} csv_table;

void csv_oracle_read(const char *text, size_t size, const table_column *columns, size_t count, csv_table *out);

/* How the text reaches the reader. */
typedef struct csv_way {
    table_limits limits;
    uint64_t most; /* of each csv_next */
    size_t piece;  /* bytes of each write into a pipe; 0: a file */
} csv_way;

/* What the command's reader makes of it. Its last message is in reader_host_said. Returns the exit status. */
int csv_table_read(const char *text, size_t size, table_column *columns, size_t count, const csv_way *way,
                   csv_table *out);

/* NULL, or what differs. */
const char *csv_table_differs(const csv_table *a, const csv_table *b);
void csv_table_free(csv_table *table);

#endif
