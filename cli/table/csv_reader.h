/* SPDX-License-Identifier: MIT */
/* What the files of the CSV reader share: csv.c has the file, its header, the chunks and every message; csv_lines.c
 * turns whole lines into numbers on several threads and leaves the first line that it cannot to csv.c. */
#ifndef CAROM_CLI_TABLE_CSV_READER_H
#define CAROM_CLI_TABLE_CSV_READER_H

#include "csv.h"
#include "cli/base/base.h"
#include "cli/base/parallel.h"

enum { CSV_SHOWN = 44 }; /* bytes of a string that shows file content */

/* Rows with a number beyond binary32. */
typedef struct csv_beyond {
    uint64_t rows, last; /* how many, and one more than the last */
    uint64_t first;
    const char *column;
    char text[CSV_SHOWN];
} csv_beyond;

/* The share of a thread in a block of whole lines. */
typedef struct csv_part {
    char *at, *end;     /* lines that are not read */
    uint64_t lines;     /* that there were */
    uint64_t row, stop; /* the next row of the chunk, and one more than the last of this part */
    csv_beyond beyond;
} csv_part;

struct csv_reader {
    const char *path; /* as messages show it */
    int fd;
    char *buffer;
    size_t capacity, begin, end; /* unread bytes are buffer[begin..end) */
    uint64_t taken, size;        /* bytes read of the file, and that there are; 0: not known */
    int at_end;                  /* the buffer has the last of the file */
    int empty;                   /* an empty line has been passed, so no row may follow */
    int ended;                   /* behind the last line */
    uint64_t line;               /* that messages name, from 1 */
    table_column *columns;
    size_t count;
    table_column **fields; /* [field_count] the column of each field, NULL: ignored */
    char **names;          /* [field_count] header names, for messages */
    size_t field_count;
    table_limits limits;
    uint64_t first, rows, room; /* row of the file that the chunk begins with, rows and room in the columns */
    csv_beyond beyond;
    int again; /* which an earlier reading has reported */
    csv_part parts[PARALLEL_MAX];
};

/* Read rows of the chunk, up to `most`, from the next `size` bytes, which are whole lines. It ends early at a line that
 * is no well-formed row. Returns 0 if memory is short. */
int csv_take_lines(csv_reader *r, size_t size, uint64_t most);

/* Read a field into that row of the chunk. Returns NULL, or what was expected in its place. */
const char *csv_take_field(const csv_reader *r, csv_beyond *beyond, const table_column *column, uint64_t row,
                           const char *text, size_t length);

/* Drop blanks around text[0..length). */
void csv_trim(const char **text, size_t *length);
/* Make file content short; what is not printable in it is the business of messages. */
void csv_show(const char *text, size_t length, char out[CSV_SHOWN]);

#endif
