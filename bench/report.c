/* SPDX-License-Identifier: MIT */
/* Rows are printed as they come, because a run takes minutes, and kept for the JSON file. */
#include "report.h"

#include "bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 48 };

typedef struct row {
    char section[32], label[128], unit[16], verdict[128];
    double value, best, per_second, gigabytes; /* NAN: does not apply */
    report_bound bound;
    double asked;
} row;

typedef struct fact {
    char name[48], value[400];
} fact;

struct report {
    fact *facts;
    row *rows;
    size_t fact_count, row_count;
    char section[32];
    int met, missed, skipped, different;
};

/* One more element at the end of an array that grows by doubling. */
static void *append(void **array, size_t *count, size_t size)
{
    if ((*count & (*count - 1)) == 0) {
        *array = realloc(*array, (*count ? 2 * *count : 1) * size);
        if (!*array)
            bench_die("no memory for the report");
    }
    return memset((char *)*array + (*count)++ * size, 0, size);
}

report *report_create(void)
{
    report *r = calloc(1, sizeof *r);

    if (!r)
        bench_die("no memory for the report");
    return r;
}

void report_destroy(report *r)
{
    free(r->facts);
    free(r->rows);
    free(r);
}

void report_fact(report *r, const char *name, const char *format, ...)
{
    fact *f = append((void **)&r->facts, &r->fact_count, sizeof *f);
    va_list list;

    snprintf(f->name, sizeof f->name, "%s", name);
    va_start(list, format);
    vsnprintf(f->value, sizeof f->value, format, list);
    va_end(list);
    printf("%-14s %s\n", f->name, f->value);
    fflush(stdout);
}

void report_section(report *r, const char *name, const char *format, ...)
{
    char title[256];
    va_list list;

    va_start(list, format);
    vsnprintf(title, sizeof title, format, list);
    va_end(list);
    snprintf(r->section, sizeof r->section, "%s", name);
    printf("\n%s: %s\n  %-*s %10s %10s %-9s %9s %7s  %-9s %s\n", name, title, LABEL, "", "median", "best", "", "M/s",
           "GB/s", "asked", "verdict");
    fflush(stdout);
}

static row *new_row(report *r, const char *label, const char *unit)
{
    row *out = append((void **)&r->rows, &r->row_count, sizeof *out);

    snprintf(out->section, sizeof out->section, "%s", r->section);
    snprintf(out->label, sizeof out->label, "%s", label);
    snprintf(out->unit, sizeof out->unit, "%s", unit);
    out->value = out->best = out->per_second = out->gigabytes = (double)NAN;
    return out;
}

static void judge(report *r, row *x, report_bound bound, double asked)
{
    x->bound = bound;
    x->asked = asked;
    if (bound == REPORT_NO_BOUND)
        return;
    const int met = bound == REPORT_AT_LEAST ? x->value >= asked : x->value <= asked;
    *(met ? &r->met : &r->missed) += 1;
    snprintf(x->verdict, sizeof x->verdict, "%s", met ? "met" : "MISSED");
}

static void print_cell(double value, int width, int digits)
{
    if (isnan(value))
        printf(" %*s", width, "");
    else
        printf(" %*.*f", width, digits, value);
}

static void print_row(const row *x)
{
    char asked[16] = "";

    if (x->bound != REPORT_NO_BOUND)
        snprintf(asked, sizeof asked, "%s %g", x->bound == REPORT_AT_LEAST ? ">=" : "<=", x->asked);
    printf("  %-*s", LABEL, x->label);
    print_cell(x->value, 10, fabs(x->value) < 10000.0 ? 2 : 0);
    print_cell(x->best, 10, fabs(x->best) < 10000.0 ? 2 : 0);
    printf(" %-9s", x->unit);
    print_cell(x->per_second * 1e-6, 9, 2);
    print_cell(x->gigabytes, 7, 1);
    if (x->verdict[0])
        printf("  %-9s %s", asked, x->verdict);
    printf("\n");
    fflush(stdout);
}

void report_add_time(report *r, const char *label, const report_time *t)
{
    row *x = new_row(r, label, t->unit);

    x->value = t->median / t->queries * 1e9;
    x->best = t->best / t->queries * 1e9;
    x->per_second = t->queries / t->median;
    if (t->bytes > 0.0)
        x->gigabytes = t->bytes / x->value;
    judge(r, x, t->bound, t->asked);
    print_row(x);
}

void report_add_ratio(report *r, const char *label, double ratio, report_bound bound, double asked)
{
    row *x = new_row(r, label, "x");

    x->value = ratio;
    judge(r, x, bound, asked);
    print_row(x);
}

void report_add_value(report *r, const char *label, double value, const char *unit)
{
    row *x = new_row(r, label, unit);

    x->value = value;
    print_row(x);
}

void report_add_same(report *r, const char *label, int same)
{
    row *x = new_row(r, label, "");

    r->different += !same;
    snprintf(x->verdict, sizeof x->verdict, "%s", same ? "same bits" : "BITS DIFFER");
    print_row(x);
}

void report_add_skip(report *r, const char *label, const char *reason)
{
    row *x = new_row(r, label, "");

    r->skipped++;
    snprintf(x->verdict, sizeof x->verdict, "skipped: %s", reason);
    print_row(x);
}

int report_finish(report *r)
{
    if (r->met + r->missed > 0)
        printf("\nrequirements\n  %-24s %-*s %9s %9s  %s\n", "", LABEL, "", "asked", "measured", "verdict");
    for (size_t i = 0; i < r->row_count; i++) {
        const row *x = &r->rows[i];
        char asked[16];
        if (x->bound == REPORT_NO_BOUND)
            continue;
        snprintf(asked, sizeof asked, "%s %g", x->bound == REPORT_AT_LEAST ? ">=" : "<=", x->asked);
        printf("  %-24s %-*s %9s %9.2f  %s\n", x->section, LABEL, x->label, asked, x->value, x->verdict);
    }
    for (size_t i = 0; i < r->row_count; i++)
        if (!strncmp(r->rows[i].verdict, "skipped", 7))
            printf("  %-24s %-*s %s\n", r->rows[i].section, LABEL, r->rows[i].label, r->rows[i].verdict);
    printf("\n%d requirements met, %d missed; %d skipped. %s\n", r->met, r->missed, r->skipped,
           r->different ? "ANSWERS DIFFER." : "All answers compared had the same bits.");
    return r->different == 0;
}

static void json_string(FILE *to, const char *text)
{
    putc('"', to);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(to, "\\%c", *c);
        else if (*c < 0x20 || *c == 0x7f)
            fprintf(to, "\\u%04x", (unsigned)*c);
        else
            putc(*c, to);
    }
    putc('"', to);
}

/* JSON has no word for what is not a number. */
static void json_number(FILE *to, const char *name, double value)
{
    if (isfinite(value))
        fprintf(to, ", \"%s\": %.9g", name, value);
}

static void json_row(FILE *to, const row *x)
{
    fprintf(to, "    {\"section\": ");
    json_string(to, x->section);
    fprintf(to, ", \"case\": ");
    json_string(to, x->label);
    fprintf(to, ", \"unit\": ");
    json_string(to, x->unit);
    json_number(to, "median", x->value);
    json_number(to, "best", x->best);
    json_number(to, "per_second", x->per_second);
    json_number(to, "gb_per_s", x->gigabytes);
    if (x->bound != REPORT_NO_BOUND)
        json_number(to, x->bound == REPORT_AT_LEAST ? "at_least" : "at_most", x->asked);
    if (x->verdict[0]) {
        fprintf(to, ", \"verdict\": ");
        json_string(to, x->verdict);
    }
    putc('}', to);
}

int report_write_json(const report *r, const char *path)
{
    FILE *to = fopen(path, "w");

    if (!to)
        return 0;
    fprintf(to, "{\n  \"machine\": {");
    for (size_t i = 0; i < r->fact_count; i++) {
        fprintf(to, "%s\n    ", i ? "," : "");
        json_string(to, r->facts[i].name);
        fprintf(to, ": ");
        json_string(to, r->facts[i].value);
    }
    fprintf(to, "\n  },\n  \"met\": %d, \"missed\": %d, \"skipped\": %d, \"different\": %d,\n  \"rows\": [\n", r->met,
            r->missed, r->skipped, r->different);
    for (size_t i = 0; i < r->row_count; i++) {
        json_row(to, &r->rows[i]);
        fprintf(to, "%s\n", i + 1 < r->row_count ? "," : "");
    }
    fprintf(to, "  ]\n}\n");
    const int failed = ferror(to);
    return fclose(to) == 0 && !failed;
}
