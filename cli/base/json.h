/* SPDX-License-Identifier: MIT */
/* A JSON document, written value by value. The writer puts commas and lines; it works without jansson. */
#ifndef CAROM_CLI_BASE_JSON_H
#define CAROM_CLI_BASE_JSON_H

#include "output.h"

typedef struct json_writer {
    output *out;
    int depth, empty; /* open brackets; nothing stands in the innermost yet */
} json_writer;

/* The document is one object: json_begin opens it, json_end closes it. */
void json_begin(json_writer *j, output *out);
void json_end(json_writer *j);

/* The key of a value is NULL within an array. json_close closes the innermost object or array. */
void json_object(json_writer *j, const char *key);
void json_array(json_writer *j, const char *key);
void json_close(json_writer *j, char bracket);
/* NULL becomes null; bytes that are no UTF-8 become U+FFFD. */
void json_text(json_writer *j, const char *key, const char *text);
void json_count(json_writer *j, const char *key, uint64_t value);
/* In nine digits, as binary32 needs; null if it is not finite. */
void json_real(json_writer *j, const char *key, double value);
void json_bool(json_writer *j, const char *key, int value);
void json_null(json_writer *j, const char *key);

/* A string with its quotes. */
void json_quoted(output *out, const char *text);

#endif
