/* SPDX-License-Identifier: MIT */
#include "progress.h"
#include "base.h"
#include "text.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1024, NAME_BYTES = 512, BAR_CELLS = 24, BAR_CELLS_LEAST = 4, JOB_LEAST = 8 };

/* Seconds before the first report and between reports. */
static const double bar_first = 1.0, bar_every = 0.2, line_every = 10.0, json_every = 1.0;

/* There is one terminal: all jobs and messages of the process share it. */
static pthread_mutex_t terminal_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int bar_stands, chosen_form;
static _Atomic(progress *) gathered; /* the job that shows what others do */

void progress_choose(progress_form form)
{
    atomic_store(&chosen_form, (int)form);
}

void progress_clear(void)
{
    if (atomic_exchange(&bar_stands, 0))
        fputs("\r\033[K", stderr);
}

void progress_leave(void)
{
    if (atomic_exchange(&bar_stands, 0) && write(STDERR_FILENO, "\n", 1) != 1)
        return; /* the terminal is gone */
}

/* A terminal that can take a line back. */
static int has_terminal(void)
{
    const char *kind = getenv("TERM");
    return isatty(STDERR_FILENO) && kind && strcmp(kind, "dumb") != 0;
}

static int is_bar(const progress *p)
{
    return p->form == PROGRESS_AUTO;
}

void progress_begin(progress *p, const char *job, const char *unit, uint64_t done, uint64_t total)
{
    progress_form form = (progress_form)atomic_load(&chosen_form);
    if (atomic_load(&gathered))
        form = PROGRESS_NONE;
    if (form == PROGRESS_AUTO && !has_terminal())
        form = PROGRESS_PLAIN;
    *p = (progress){.job = job, .unit = unit, .form = form, .first = done, .done = done, .total = total};
    p->share = (double)NAN;
    p->begin = cli_seconds();
    p->every = is_bar(p) ? bar_every : form == PROGRESS_JSON ? json_every : line_every;
    p->next = p->begin + (is_bar(p) ? bar_first : p->every);
}

/* ---- numbers ------------------------------------------------------------------------------------------------------
 */

/* What a report says; NaN: not known. */
typedef struct estimate {
    double seconds, rate, left;
} estimate;

/* Units and time from the start of this run on: what an earlier run did took other time. */
static estimate estimate_of(const progress *p, double now)
{
    estimate e = {now - p->begin, (double)NAN, (double)NAN};
    const double before = p->total > 0 ? (double)p->first / (double)p->total : 0.0;
    if (p->unit && e.seconds > 0.0)
        e.rate = (double)(p->done - p->first) / e.seconds;
    if (p->share > before)
        e.left = e.seconds * (1.0 - p->share) / (p->share - before);
    return e;
}

/* Three digits and a prefix: 12.3 k, 4.56 M. */
static void put_rate(char *out, size_t size, double rate, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    int i = 0;
    for (; rate >= 999.5 && i < 4; i++)
        rate /= 1000.0;
    const int digits = rate >= 99.95 ? 0 : rate >= 9.995 ? 1 : 2;
    snprintf(out, size, "%.*f %s%s%s/s", digits, rate, prefixes[i], i > 0 ? " " : "", unit);
}

static void put_seconds(char *out, size_t size, double seconds)
{
    if (seconds < 99.5)
        snprintf(out, size, "%.0f s", seconds);
    else if (seconds < 99.5 * 60.0)
        snprintf(out, size, "%.0f min", seconds / 60.0);
    else
        snprintf(out, size, "%.1f h", seconds / 3600.0);
}

/* ---- the three forms ----------------------------------------------------------------------------------------------
 */

/* Append; what does not fit is cut off. */
__attribute__((format(printf, 3, 4))) static void add(char *line, size_t *used, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(line + *used, LINE_MAX_BYTES - *used, format, args);
    va_end(args);
    *used += n > 0 ? (size_t)n : 0;
    *used = *used < LINE_MAX_BYTES ? *used : LINE_MAX_BYTES - 1;
}

static void add_rate_and_left(char *line, size_t *used, const progress *p, const estimate *e)
{
    char text[64];
    if (e->rate >= 0.05) { /* a few things that take long each have no rate to speak of */
        put_rate(text, sizeof text, e->rate, p->unit);
        add(line, used, ", %s", text);
    }
    put_seconds(text, sizeof text, isnan(e->left) ? e->seconds : e->left);
    add(line, used, ", %s%s", text, isnan(e->left) ? "" : " left");
}

static void add_cells(char *line, size_t *used, double share, size_t count)
{
    char cells[BAR_CELLS];
    const size_t full = (size_t)(share * (double)count);
    for (size_t i = 0; i < count; i++)
        cells[i] = i < full ? '#' : '-';
    add(line, used, " [%.*s]", (int)count, cells);
}

/* carom: sweep [######------------------]  25 %, 1.23 M rows/s, 12 s left
 * Where the terminal is too narrow the bar becomes shorter, then the name of the job, because rate and time say more.
 */
static size_t make_bar(char *line, const progress *p, const estimate *e, const char *job, size_t width)
{
    char rest[LINE_MAX_BYTES] = "";
    size_t used = 0, rest_used = 0, cells = 0;
    if (!isnan(p->share))
        add(rest, &rest_used, " %3.0f %%", floor(100.0 * p->share));
    else if (p->unit)
        add(rest, &rest_used, ": %llu %s", (unsigned long long)p->done, p->unit);
    add_rate_and_left(rest, &rest_used, p, e);
    const size_t taken = strlen("carom: ") + rest_used, room = width > taken ? width - taken : 0;
    const size_t name = strlen(job), fitting = text_cut(job, name, room);
    if (!isnan(p->share) && room >= name + 3 + BAR_CELLS_LEAST)
        cells = room - name - 3 < BAR_CELLS ? room - name - 3 : BAR_CELLS;
    add(line, &used, "carom: %.*s", (int)(fitting < JOB_LEAST ? name : fitting), job);
    if (cells > 0)
        add_cells(line, &used, p->share, cells);
    add(line, &used, "%s", rest);
    return text_cut(line, used, width);
}

/* carom: sweep: 1200000 of 5000000 rows, 24 %, 1.23 M rows/s, 12 s left */
static size_t make_line(char *line, const progress *p, const estimate *e, const char *job, int last)
{
    char text[64];
    size_t used = 0;
    add(line, &used, "carom: %s", job);
    if (p->unit && p->total > 0)
        add(line, &used, ": %llu of %llu %s", (unsigned long long)p->done, (unsigned long long)p->total, p->unit);
    else if (p->unit)
        add(line, &used, ": %llu %s", (unsigned long long)p->done, p->unit);
    if (!isnan(p->share))
        add(line, &used, ", %.0f %%", floor(100.0 * p->share));
    if (!last) {
        add_rate_and_left(line, &used, p, e);
    } else {
        put_seconds(text, sizeof text, e->seconds);
        add(line, &used, ", ended after %s", text);
    }
    add(line, &used, "\n");
    return used;
}

static void add_number(char *line, size_t *used, const char *key, double value)
{
    if (isnan(value))
        add(line, used, ", \"%s\": null", key);
    else
        add(line, used, ", \"%s\": %.6g", key, value);
}

static void add_count(char *line, size_t *used, const char *key, int known, uint64_t value)
{
    if (known)
        add(line, used, ", \"%s\": %llu", key, (unsigned long long)value);
    else
        add(line, used, ", \"%s\": null", key);
}

/* Every object has every key; null is not known. */
static size_t make_object(char *line, const progress *p, const estimate *e)
{
    char name[NAME_BYTES];
    size_t used = 0;
    text_json(name, sizeof name, p->job, strlen(p->job));
    add(line, &used, "{\"job\": \"%s\", \"unit\": ", name);
    if (p->unit)
        add(line, &used, "\"%s\"", p->unit);
    else
        add(line, &used, "null");
    add_count(line, &used, "done", p->unit != NULL, p->done);
    add_count(line, &used, "total", p->total > 0, p->total);
    add_number(line, &used, "share", p->share);
    add_number(line, &used, "rate", e->rate);
    add_number(line, &used, "seconds", e->seconds);
    add_number(line, &used, "left", e->left);
    add(line, &used, "}\n");
    return used;
}

/* ---- reports ------------------------------------------------------------------------------------------------------
 */

/* A line that is longer than the terminal is wide could not be taken back. */
static size_t terminal_width(void)
{
    struct winsize window;
    const int known = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1;
    return known ? (size_t)window.ws_col - 1 : 79;
}

/* One call of fwrite is one write, so lines stay whole. */
static void report(const progress *p, double now, int last)
{
    char line[LINE_MAX_BYTES], job[NAME_BYTES];
    const estimate e = estimate_of(p, now);
    size_t used;
    text_show(job, sizeof job, p->job, strlen(p->job));
    if (is_bar(p)) {
        used = make_bar(line, p, &e, job, terminal_width());
        fprintf(stderr, "\r%.*s\033[K", (int)used, line);
        atomic_store(&bar_stands, 1);
        return;
    }
    used = p->form == PROGRESS_JSON ? make_object(line, p, &e) : make_line(line, p, &e, job, last);
    progress_clear();
    fwrite(line, 1, used, stderr);
}

static void set(progress *p, double now, uint64_t done, double share)
{
    p->done = done;
    p->share = share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
    if (p->form != PROGRESS_NONE && now >= p->next) {
        report(p, now, 0);
        p->reports++;
        p->next += p->every * (floor((now - p->next) / p->every) + 1.0);
    }
}

static void show(progress *p, uint64_t done, double share)
{
    pthread_mutex_lock(&terminal_lock);
    const double now = cli_seconds();
    progress *whole = p->whole;
    set(p, now, done, share);
    if (whole && !isnan(p->share))
        set(whole, now, whole->done, ((double)whole->done + p->share) / (double)whole->total);
    pthread_mutex_unlock(&terminal_lock);
}

void progress_gather(progress *whole)
{
    atomic_store(&gathered, whole);
}

void progress_is_unit(progress *p)
{
    p->whole = atomic_load(&gathered);
}

void progress_show(progress *p, uint64_t done)
{
    show(p, done, p->total > 0 ? (double)done / (double)p->total : (double)NAN);
}

void progress_found(progress *p, uint64_t done)
{
    p->first += done - p->done;
    progress_show(p, done);
}

void progress_show_share(progress *p, uint64_t done, double share)
{
    show(p, done, share);
}

void progress_end(progress *p)
{
    pthread_mutex_lock(&terminal_lock);
    if (p->reports > 0 && is_bar(p))
        progress_clear();
    else if (p->reports > 0)
        report(p, cli_seconds(), 1);
    p->reports = 0;
    pthread_mutex_unlock(&terminal_lock);
}
