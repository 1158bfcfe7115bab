/* SPDX-License-Identifier: MIT */
/* Reading tables of numbers by the contract of the command line. */
#ifndef CAROM_CLI_CSV_H
#define CAROM_CLI_CSV_H

#include <stddef.h>
#include <stdint.h>

typedef enum csv_kind {
    CSV_FLOAT, /* as strtof reads it */
    CSV_TIME,  /* a float that is neither NaN nor negative */
    CSV_MASK   /* 32 bits, decimal or hexadecimal with 0x; csv_masks has them */
} csv_kind;

typedef struct csv_column {
    const char *name;
    csv_kind kind;
    int group;   /* 0: required; else optional, and columns of one group come all or none */
    int present; /* filled by csv_read */
    float *data; /* [rows], NULL if absent; csv_free releases it */
} csv_column;

/* Read `path` ("-": standard input) into columns. Row i stands in line i + 2.
 * Returns an exit status; anything but EXIT_DONE has been explained on standard error. */
int csv_read(const char *path, csv_column *columns, size_t count, uint64_t *rows);
void csv_free(csv_column *columns, size_t count);

/* The numbers of a column of masks, NULL if absent. */
const uint32_t *csv_masks(const csv_column *column);

/* text[0..length) as strtof reads all of it in the C locale, blanks around it allowed. Returns 0 if malformed. */
int csv_number(const char *text, size_t length, float *out);
/* text[0..length) as a whole number below 2^32 without sign, decimal or hexadecimal with 0x, blanks around it
 * allowed. */
int csv_mask(const char *text, size_t length, uint32_t *out);

#endif
