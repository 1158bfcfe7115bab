/* SPDX-License-Identifier: MIT */
#include "report_plot.h"

#include "cli/explain/svg.h"
#include "html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 1080, ROW = 22, TOP = 26, BOTTOM = 40 };

/* ---- rows -------------------------------------------------------------------------------------------------------- */

const char *report_subject(const bench_row *r)
{
    return r->name + strlen(r->scene) + (strlen(r->name) > strlen(r->scene));
}

int report_is_exact(const bench_row *r)
{
    return !strncmp(report_subject(r), "exact/", 6);
}

/* Distinct for most people with colour blindness. */
const char *report_colour(const bench_row *r)
{
    return strstr(r->name, "/opencl/") != NULL  ? "#d55e00"
           : strstr(r->name, "/plain/") != NULL ? "#777777"
           : strstr(r->name, "/peer/") != NULL  ? "#009e73"
           : r->threads > 1                     ? "#cc79a7"
                                                : "#0072b2";
}

static double ns(const bench_row *r, double seconds)
{
    return seconds / r->queries * 1e9;
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

typedef struct axis {
    double least, most; /* of the values, all above 0 */
    double from, to;    /* pixels */
} axis;                 /* logarithmic */

static double at(const axis *a, double value)
{
    const double part = log(value / a->least) / log(a->most / a->least);

    return a->from + fmin(fmax(part, 0.0), 1.0) * (a->to - a->from);
}

static void widen(axis *a, double value)
{
    if (!(value > 0.0) || !isfinite(value))
        return;
    a->least = fmin(a->least, value);
    a->most = fmax(a->most, value);
}

static const axis empty = {.least = (double)INFINITY, .most = 0.0};

/* A number as a tick has it: 0.5, 20, 3k, 1M. */
static const char *tick_text(double value, char text[32])
{
    static const struct {
        double unit;
        const char *letter;
    } units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1.0, ""}};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (value >= 0.9999 * units[i].unit) {
            snprintf(text, 32, "%.3g%s", value / units[i].unit, units[i].letter);
            return text;
        }
    snprintf(text, 32, "%.3g", value);
    return text;
}

/* 1, 2 and 5 of each power of ten; 1 alone where there are many. */
static double next_tick(double value, int sparse)
{
    const double power = pow(10.0, floor(log10(value * 1.000001))), lead = value / power;

    return power * (sparse || lead > 4.5 ? 10.0 : lead > 1.5 ? 5.0 : 2.0);
}

static double first_tick(const axis *a, int sparse)
{
    double tick = pow(10.0, floor(log10(a->least)));

    while (tick < a->least * 0.999999)
        tick = next_tick(tick, sparse);
    return tick;
}

static int is_sparse(const axis *a)
{
    return log10(a->most / a->least) > 3.0;
}

static void draw_ticks(output *out, const axis *a, double low, double high, int is_vertical)
{
    char text[32];

    for (double t = first_tick(a, is_sparse(a)); t <= a->most * 1.000001; t = next_tick(t, is_sparse(a))) {
        const double place = at(a, t);
        if (is_vertical) {
            svg_line(out, (svg_point){low, place}, (svg_point){high, place}, "class=\"grid\"");
            svg_text(out, (svg_point){low - 6, place + 4}, "end", "class=\"label\"", tick_text(t, text));
        } else {
            svg_line(out, (svg_point){place, low}, (svg_point){place, high}, "class=\"grid\"");
            svg_text(out, (svg_point){place, high + 16}, "middle", "class=\"label\"", tick_text(t, text));
        }
    }
}

static void begin(output *out, double height, const char *title)
{
    output_format(out,
                  "<div class=\"wide\"><svg viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" "
                  "role=\"img\">",
                  WIDTH, height, WIDTH, height);
    html_element(out, "title", NULL, title);
    output_char(out, '\n');
}

static void end(output *out)
{
    output_text(out, "</svg></div>\n");
}

/* ---- a scene ----------------------------------------------------------------------------------------------------- */

/* Fast mode is filled, exact mode hollow. */
static void draw_point(output *out, svg_point center, const char *colour, int hollow)
{
    char style[96];

    snprintf(style, sizeof style, "fill=\"%s\" stroke=\"%s\" stroke-width=\"1.6\"", hollow ? "#ffffff" : colour,
             colour);
    svg_circle(out, center, 4.5, style);
}

static void draw_interval(output *out, const axis *x, double low, double high, double y, const char *colour)
{
    char style[64];

    if (!isfinite(low) || !isfinite(high))
        return;
    snprintf(style, sizeof style, "stroke=\"%s\" stroke-width=\"2\"", colour);
    svg_line(out, (svg_point){at(x, low), y}, (svg_point){at(x, high), y}, style);
    svg_line(out, (svg_point){at(x, low), y - 5}, (svg_point){at(x, low), y + 5}, style);
    svg_line(out, (svg_point){at(x, high), y - 5}, (svg_point){at(x, high), y + 5}, style);
}

static void draw_cpu_time(output *out, double x, double y)
{
    svg_line(out, (svg_point){x - 4, y - 4}, (svg_point){x + 4, y + 4}, "stroke=\"#1b1b1b\" stroke-width=\"1.3\"");
    svg_line(out, (svg_point){x - 4, y + 4}, (svg_point){x + 4, y - 4}, "stroke=\"#1b1b1b\" stroke-width=\"1.3\"");
}

void report_plot_scene(output *out, const bench_row *rows, size_t count)
{
    const double low = TOP, high = TOP + ROW * (double)count;
    axis x = empty;
    char text[HTML_TEXT], numbers[96];

    for (size_t i = 0; i < count; i++) {
        widen(&x, ns(&rows[i], rows[i].median));
        widen(&x, ns(&rows[i], rows[i].cpu));
        widen(&x, ns(&rows[i], rows[i].interval.low));
        widen(&x, ns(&rows[i], rows[i].interval.high));
    }
    x.least /= 1.15;
    x.most *= 1.15;
    x.from = 330;
    x.to = 850;
    begin(out, high + BOTTOM, "Medians with 95 % intervals");
    draw_ticks(out, &x, low, high, 0);
    svg_text(out, (svg_point){0.5 * (x.from + x.to), high + 34}, "middle", "class=\"label\"", "ns per query");
    svg_text(out, (svg_point){WIDTH, low - 10}, "end", "class=\"label\"", "median [95 %], CPU time");
    for (size_t i = 0; i < count; i++) {
        const bench_row *r = &rows[i];
        const double y = low + ROW * ((double)i + 0.5), median = ns(r, r->median);
        const int digits = median < 100.0 ? 2 : 0, has = isfinite(r->interval.low) && isfinite(r->interval.high);
        svg_text(out, (svg_point){x.from - 12, y + 4}, "end", "class=\"name\"", html_escape(report_subject(r), text));
        draw_interval(out, &x, ns(r, r->interval.low), ns(r, r->interval.high), y, report_colour(r));
        draw_point(out, (svg_point){at(&x, median), y}, report_colour(r), report_is_exact(r));
        if (isfinite(r->cpu) && r->cpu > 0.0)
            draw_cpu_time(out, at(&x, ns(r, r->cpu)), y);
        char cpu[32] = "";
        if (isfinite(r->cpu))
            snprintf(cpu, sizeof cpu, ", %.*f", digits, ns(r, r->cpu));
        if (has)
            snprintf(numbers, sizeof numbers, "%.*f [%.*f, %.*f]%s", digits, median, digits, ns(r, r->interval.low),
                     digits, ns(r, r->interval.high), cpu);
        else
            snprintf(numbers, sizeof numbers, "%.*f%s", digits, median, cpu);
        svg_text(out, (svg_point){WIDTH, y + 4}, "end", "class=\"name\"", numbers);
    }
    end(out);
}

/* ---- a series ---------------------------------------------------------------------------------------------------- */

/* Are these two points of one line: the subject behind the size is the same? */
static int is_same_line(const bench_row *a, const bench_row *b)
{
    const char *of_a = strchr(a->name, '/'), *of_b = strchr(b->name, '/');

    return of_a != NULL && of_b != NULL && !strcmp(of_a, of_b);
}

static const char *const line_colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"};
enum { COLOURS = sizeof line_colours / sizeof line_colours[0] };

/* The line through all points of the subject of row `first`, and its name in the legend. */
static void draw_line_of(output *out, const bench_row *rows, size_t count, size_t first, int number, const axis *x,
                         const axis *y)
{
    const char *colour = line_colours[number % COLOURS];
    char style[64], text[HTML_TEXT];
    svg_point before = {0, 0};
    int drawn = 0;

    snprintf(style, sizeof style, "stroke=\"%s\" stroke-width=\"1.6\"", colour);
    for (size_t i = first; i < count; i++) {
        const bench_row *r = &rows[i];
        if (!is_same_line(r, &rows[first]))
            continue;
        const svg_point here = {at(x, r->size), at(y, ns(r, r->median))};
        if (drawn++)
            svg_line(out, before, here, style);
        if (isfinite(r->interval.low) && isfinite(r->interval.high))
            svg_line(out, (svg_point){here.x, at(y, ns(r, r->interval.low))},
                     (svg_point){here.x, at(y, ns(r, r->interval.high))}, style);
        draw_point(out, here, colour, report_is_exact(r));
        before = here;
    }
    draw_point(out, (svg_point){780, TOP + 10 + ROW * number}, colour, 0);
    svg_text(out, (svg_point){792, TOP + 14 + ROW * number}, "start", "class=\"name\"",
             html_escape(strchr(rows[first].name, '/') + 1, text));
}

/* Is no row in front of this one of its line? */
static int begins_line(const bench_row *rows, size_t i)
{
    int known = strchr(rows[i].name, '/') == NULL;

    for (size_t k = 0; k < i; k++)
        known |= is_same_line(&rows[k], &rows[i]);
    return !known;
}

void report_plot_series(output *out, const bench_row *rows, size_t count)
{
    axis x = empty, y = empty;
    int lines = 0;

    for (size_t i = 0; i < count; i++) {
        widen(&x, rows[i].size);
        widen(&y, ns(&rows[i], rows[i].median));
        lines += begins_line(rows, i);
    }
    x = (axis){x.least / 1.2, x.most * 1.2, 70, 750};
    y = (axis){y.least / 1.3, y.most * 1.3, 360, TOP};
    begin(out, fmax(400.0, TOP + ROW * (lines + 1.0)), "Medians over size");
    draw_ticks(out, &x, TOP, 360, 0);
    draw_ticks(out, &y, x.from, x.to, 1);
    svg_text(out, (svg_point){x.from, TOP - 10}, "start", "class=\"label\"", "ns per query");
    svg_text(out, (svg_point){0.5 * (x.from + x.to), 394}, "middle", "class=\"label\"", "size");
    lines = 0;
    for (size_t i = 0; i < count; i++)
        if (begins_line(rows, i))
            draw_line_of(out, rows, count, i, lines++, &x, &y);
    end(out);
}

/* ---- the roofline ------------------------------------------------------------------------------------------------ */

/* Divisions, a root counted as the divisions that take as long. */
static double operations(const bench_row *r, const bench_limits *l)
{
    return r->divisions + r->roots * l->divisions / l->roots;
}

static int is_under_roof(const bench_row *r, const bench_limits *l)
{
    char isa[64];

    snprintf(isa, sizeof isa, "/cpu/%s/", l->isa);
    return r->threads == l->threads && strstr(r->name, isa) != NULL && !isfinite(r->size) && r->bytes > 0.0 &&
           operations(r, l) > 0.0 && isfinite(operations(r, l));
}

static void draw_roof(output *out, const bench_limits *l, const axis *x, const axis *y)
{
    const double ridge = fmin(fmax(l->divisions / l->triad_bytes, x->least), x->most);
    char text[96];

    svg_line(out, (svg_point){x->from, at(y, x->least * l->triad_bytes)},
             (svg_point){at(x, ridge), at(y, fmin(ridge * l->triad_bytes, l->divisions))}, "class=\"roof\"");
    svg_line(out, (svg_point){at(x, ridge), at(y, l->divisions)}, (svg_point){x->to, at(y, l->divisions)},
             "class=\"roof\"");
    snprintf(text, sizeof text, "memory, %.1f GB/s", l->triad_bytes * 1e-9);
    const double middle = sqrt(x->least * ridge); /* the words stand to the left of the line */
    svg_text(out, (svg_point){at(x, middle) - 10, at(y, middle * l->triad_bytes) - 6}, "end", "class=\"name\"", text);
    snprintf(text, sizeof text, "divider, %.2f G divisions/s", l->divisions * 1e-9);
    svg_text(out, (svg_point){x->to - 4, at(y, l->divisions) - 8}, "end", "class=\"name\"", text);
}

int report_plot_roofline(output *out, const bench_json *json, const bench_limits *l)
{
    axis x = empty, y = empty;
    int count = 0;
    char text[HTML_TEXT];

    for (size_t i = 0; i < json->row_count; i++) {
        const bench_row *r = &json->rows[i];
        if (!is_under_roof(r, l))
            continue;
        widen(&x, operations(r, l) / r->bytes);
        widen(&y, operations(r, l) * r->queries / r->median);
        count++;
    }
    if (count == 0)
        return 0;
    widen(&x, 0.5 * l->divisions / l->triad_bytes);
    widen(&x, 2.0 * l->divisions / l->triad_bytes);
    widen(&y, l->divisions);
    const double height = fmax(420.0, TOP + 16.0 * (count + 1)), bottom = 380;
    x = (axis){x.least / 1.5, x.most * 1.5, 70, 690};
    widen(&y, x.least * l->triad_bytes);
    y = (axis){y.least / 1.5, y.most * 1.8, bottom, TOP};
    begin(out, height, "Roofline");
    draw_ticks(out, &x, TOP, bottom, 0);
    draw_ticks(out, &y, x.from, x.to, 1);
    svg_text(out, (svg_point){x.from, TOP - 10}, "start", "class=\"label\"",
             "divisions per second (a root counts as several)");
    svg_text(out, (svg_point){0.5 * (x.from + x.to), bottom + 34}, "middle", "class=\"label\"", "divisions per byte");
    draw_roof(out, l, &x, &y);
    for (size_t i = 0, number = 0; i < json->row_count; i++) {
        const bench_row *r = &json->rows[i];
        if (!is_under_roof(r, l))
            continue;
        const svg_point here = {at(&x, operations(r, l) / r->bytes), at(&y, operations(r, l) * r->queries / r->median)};
        const double line = TOP + 16.0 * (double)number++;
        char label[128];
        draw_point(out, here, report_colour(r), report_is_exact(r));
        snprintf(label, sizeof label, "%zu", number);
        svg_text(out, (svg_point){here.x + (number % 2 ? 8 : -8), here.y + 4}, number % 2 ? "start" : "end",
                 "class=\"label\"", label);
        snprintf(label, sizeof label, "%zu  %.48s, %s: %.0f %%", number, r->scene,
                 report_is_exact(r) ? "exact" : "fast",
                 100.0 * operations(r, l) * r->queries / r->median /
                     fmin(l->divisions, operations(r, l) / r->bytes * l->triad_bytes));
        svg_text(out, (svg_point){720, line + 4}, "start", "class=\"name\"", html_escape(label, text));
    }
    end(out);
    return count;
}

/* ---- a comparison ------------------------------------------------------------------------------------------------ */

/* Of one run on each side the intervals hold what runs differ by, too. The band is the floor: within it is noise. */
static void draw_move(output *out, const bench_moved *row, const moved_row *m, const axis *x, double y)
{
    const char *colour = m->by_time == MOVED_SLOWER ? "#b00000" : m->by_time == MOVED_FASTER ? "#00734f" : "#555555";
    char text[HTML_TEXT], numbers[64];

    if (isfinite(m->floor)) {
        const svg_box band = {at(x, exp(-m->floor)), y - 8, at(x, exp(m->floor)), y + 8};
        svg_rectangle(out, &band, "class=\"band\"");
    }
    svg_text(out, (svg_point){x->from - 12, y + 4}, "end", "class=\"name\"", html_escape(row->now->name, text));
    draw_interval(out, x, exp(m->low), exp(m->high), y, colour);
    draw_point(out, (svg_point){at(x, exp(m->shift)), y}, colour,
               m->by_time != MOVED_SLOWER && m->by_time != MOVED_FASTER);
    snprintf(numbers, sizeof numbers, "%.3f [%.3f, %.3f]", exp(m->shift), exp(m->low), exp(m->high));
    svg_text(out, (svg_point){WIDTH, y + 4}, "end", "class=\"name\"", numbers);
}

void report_plot_moves(output *out, const bench_comparison *c)
{
    axis x = {.least = 0.97, .most = 1.03};
    int count = 0, drawn = 0;

    for (int i = 0; i < c->row_count; i++) {
        const moved_row *m = &c->moved[i];
        if (!isfinite(m->shift))
            continue;
        count++;
        widen(&x, exp(fmax(m->high, m->floor)));
        widen(&x, exp(fmin(m->low, -m->floor)));
    }
    if (count == 0)
        return;
    const double high = TOP + ROW * (double)count;
    x = (axis){fmax(x.least / 1.01, 0.25), fmin(x.most * 1.01, 4.0), 430, 900};
    begin(out, high + BOTTOM, "Ratios of new to old with 95 % intervals");
    for (int step = 0; step <= 4; step++) {
        const double value = x.least * pow(x.most / x.least, step / 4.0), place = at(&x, value);
        char text[32];
        svg_line(out, (svg_point){place, TOP}, (svg_point){place, high}, "class=\"grid\"");
        snprintf(text, sizeof text, "%.3f", value);
        svg_text(out, (svg_point){place, high + 16}, "middle", "class=\"label\"", text);
    }
    svg_text(out, (svg_point){0.5 * (x.from + x.to), high + 34}, "middle", "class=\"label\"", "time now / before");
    for (int pass = 0; pass < 2; pass++) /* those with a verdict first */
        for (int i = 0; i < c->row_count; i++) {
            const moved_row *m = &c->moved[i];
            const int is_called = m->by_time == MOVED_SLOWER || m->by_time == MOVED_FASTER;
            if (isfinite(m->shift) && is_called == !pass)
                draw_move(out, &c->rows[i], m, &x, TOP + ROW * (drawn++ + 0.5));
        }
    svg_line(out, (svg_point){at(&x, 1.0), TOP}, (svg_point){at(&x, 1.0), high}, "class=\"axis\"");
    end(out);
}
