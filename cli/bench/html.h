/* SPDX-License-Identifier: MIT */
/* Pieces of an HTML document that needs no other file and no script. */
#ifndef CAROM_CLI_BENCH_HTML_H
#define CAROM_CLI_BENCH_HTML_H

#include "cli/base/output.h"

void html_begin(output *out, const char *title);
void html_end(output *out);
/* Text from outside, escaped; bytes that are not printable or no UTF-8 as messages show them. */
enum { HTML_TEXT = 1024 };
const char *html_escape(const char *text, char buffer[HTML_TEXT]);
void html_text(output *out, const char *text);
/* <tag class="class">text</tag>; no class if it is NULL. The text is escaped. */
void html_element(output *out, const char *tag, const char *class, const char *text);
void html_cell(output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A row of heads; NULL ends them. */
void html_table_begin(output *out, const char *const *heads);
void html_table_end(output *out);

#endif
