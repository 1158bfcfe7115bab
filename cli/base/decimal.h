/* SPDX-License-Identifier: MIT */
/* Decimal text to binary32 and back, with the answers of strtof and of printf's %.9g, many times faster. */
#ifndef CAROM_CLI_BASE_DECIMAL_H
#define CAROM_CLI_BASE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

enum { DECIMAL_MAX = 32 }; /* bytes that a number may take; what lies behind its end is scratch */

/* The plain decimal number (sign, digits, point, exponent) that text[0..end) begins with, as strtof rounds it. Returns
 * the first byte behind it, or NULL to leave the text to strtof: no such number, or one of the few that need more
 * than 64 bits, or a result that is subnormal or too large. */
const char *decimal_read(const char *text, const char *end, float *out);

/* All of text[0..end) as a whole number below 2^64 without sign: 2000000, 2e6, 2.5e6 and 12.00 are some. Returns 0 if
 * it is none. */
int decimal_read_whole(const char *text, const char *end, uint64_t *out);

/* The value as %.9g prints it. Returns its length; no NUL follows. */
size_t decimal_write(char text[DECIMAL_MAX], float value);
/* As %lld prints it. */
size_t decimal_write_integer(char text[DECIMAL_MAX], int64_t value);

/* The table: floor(10^k / 2^q) for the q that makes it a number of 64 bits; k from DECIMAL_POWER_MIN to _MAX. */
enum { DECIMAL_POWER_MIN = -57, DECIMAL_POWER_MAX = 53 };
uint64_t decimal_power(int k, int *q);

#endif
