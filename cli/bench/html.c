/* SPDX-License-Identifier: MIT */
#include "html.h"

#include "cli/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char style[] =
    "body{font:15px/1.45 system-ui,sans-serif;color:#1b1b1b;background:#fff;max-width:1120px;margin:2em auto;"
    "padding:0 1em}\n"
    "h1{font-size:1.7em;margin-bottom:.1em}h2{border-bottom:2px solid #0072b2;padding-bottom:.15em;margin-top:2em}\n"
    "h3{margin:1.6em 0 .2em;font-size:1.1em}.what,.small{color:#555;font-size:.9em;margin:.2em 0 .6em}\n"
    ".doubt{border-left:4px solid #c00;background:#fdecec;padding:.5em .8em;margin:.6em 0}\n"
    "table{border-collapse:collapse;font-size:.8em;margin:.6em 0}.wide{overflow-x:auto}\n"
    "th,td{padding:.22em .5em;border-bottom:1px solid #e2e2e2;text-align:right;white-space:nowrap;"
    "font-variant-numeric:tabular-nums}\n"
    "th{background:#f3f6f9}th:first-child,td:first-child{text-align:left}\n"
    "table.facts td{text-align:left;white-space:normal}td.none{color:#777}\n"
    "td.slower{color:#b00000;font-weight:600}td.faster{color:#00734f;font-weight:600}td.bad{color:#b00000}\n"
    "svg{width:100%;min-width:900px;height:auto;display:block;margin:.4em 0}svg text{font:12px "
    "system-ui,sans-serif;fill:#1b1b1b}\n"
    "svg .grid{stroke:#e4e4e4;stroke-width:1}svg .axis{stroke:#888;stroke-width:1}svg "
    ".label{font-size:11px;fill:#555}\n"
    "svg .band{fill:#eef3f7}svg .roof{stroke:#1b1b1b;stroke-width:2;fill:none}\n"
    "details summary{cursor:pointer;color:#0072b2}\n"
    "@page{size:landscape}\n"
    "@media print{body{max-width:none;margin:0}.wide{overflow:visible}svg{min-width:0}table{font-size:.6em}\n"
    "th,td{padding:.15em .3em}}\n";

void html_begin(output *out, const char *title)
{
    output_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n");
    html_element(out, "title", NULL, title);
    output_text(out, "\n<style>\n");
    output_text(out, style);
    output_text(out, "</style>\n</head>\n<body>\n");
    html_element(out, "h1", NULL, title);
    output_char(out, '\n');
}

void html_end(output *out)
{
    output_text(out, "</body>\n</html>\n");
}

static const char *entity(char c)
{
    switch (c) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    default: return NULL;
    }
}

/* What is longer than the buffer ends in dots. */
const char *html_escape(const char *text, char buffer[HTML_TEXT])
{
    char shown[HTML_TEXT];
    size_t used = 0;

    text_show(shown, sizeof shown, text, strlen(text));
    for (const char *at = shown; *at != '\0'; at++) {
        const char one[2] = {*at, '\0'}, *piece = entity(*at) != NULL ? entity(*at) : one;
        if (used + strlen(piece) + 4 > HTML_TEXT) {
            memcpy(buffer + used, "...", 3);
            used += 3;
            break;
        }
        memcpy(buffer + used, piece, strlen(piece));
        used += strlen(piece);
    }
    buffer[used] = '\0';
    return buffer;
}

void html_text(output *out, const char *text)
{
    char escaped[HTML_TEXT];

    output_text(out, html_escape(text, escaped));
}

void html_element(output *out, const char *tag, const char *class, const char *text)
{
    if (class != NULL)
        output_format(out, "<%s class=\"%s\">", tag, class);
    else
        output_format(out, "<%s>", tag);
    html_text(out, text);
    output_format(out, "</%s>", tag);
}

void html_cell(output *out, const char *format, ...)
{
    char text[HTML_TEXT];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    html_element(out, "td", NULL, text);
}

void html_table_begin(output *out, const char *const *heads)
{
    output_text(out, "<div class=\"wide\"><table>\n<tr>");
    for (; *heads != NULL; heads++)
        html_element(out, "th", NULL, *heads);
    output_text(out, "</tr>\n");
}

void html_table_end(output *out)
{
    output_text(out, "</table></div>\n");
}
