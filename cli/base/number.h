/* SPDX-License-Identifier: MIT */
/* Numbers in text files, as every reader of text takes them. */
#ifndef CAROM_CLI_BASE_NUMBER_H
#define CAROM_CLI_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* text[0..length) as strtof reads all of it in the C locale, blanks around it allowed. Returns 0 if malformed. */
int number_read(const char *text, size_t length, float *out);
/* text[0..length) as a whole number below 2^32 without sign, decimal or hexadecimal with 0x, blanks around it
 * allowed. */
int number_read_mask(const char *text, size_t length, uint32_t *out);

#endif
