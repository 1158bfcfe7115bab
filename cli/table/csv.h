/* SPDX-License-Identifier: MIT */
/* Reading tables of numbers by the contract of the command line, a chunk of rows at a time: memory is bounded by the
 * limits, and the file may be a pipe. */
#ifndef CAROM_CLI_TABLE_CSV_H
#define CAROM_CLI_TABLE_CSV_H

#include "table.h"

/* CSV_LINE_MAX bytes may be in a line, its end included; it takes a buffer of that size. */
enum { CSV_PART = 1 << 20, CSV_LINE_MAX = 1 << 24 };

typedef struct csv_reader csv_reader;

/* Each of these returns an exit status; anything but EXIT_DONE has been explained on standard error. */

/* Open `path` ("-": standard input) and read the header. `columns` [count] and `path` must outlive the reader. */
int csv_open(csv_reader **out, const char *path, table_column *columns, size_t count, const table_limits *limits);
/* The next rows, at most `most` and at most limits.rows, into the columns; fewer only at the end of the file. Row i of
 * the file stands in line i + 2. Of several malformed rows the first is refused, and nothing behind the last row that
 * is asked for is looked at. */
int csv_next(csv_reader *reader, uint64_t most, uint64_t *rows);
/* How much of the file has been turned into rows, from 0 to 1; NaN of a pipe. */
double csv_share(const csv_reader *reader);
/* An earlier reading of the file has reported the numbers beyond binary32. */
void csv_read_again(csv_reader *reader);
/* May be NULL. */
void csv_close(csv_reader *reader);

/* The names in the header of a file; csv_free_names releases them. Returns an exit status. */
int csv_names(const char *path, char ***names, size_t *count);
void csv_free_names(char **names, size_t count);

#endif
