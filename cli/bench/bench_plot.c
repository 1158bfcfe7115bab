/* SPDX-License-Identifier: MIT */
/* A result as a picture: the data and the words for gnuplot in one file, its drawing back through a pipe. */
#include "bench_plot.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/base.h"

enum { LINES_MAX = 48, PANELS_MAX = 8, NAME = BENCH_WARNING };
enum {
    WIDTH = 1500,
    LINE_HEIGHT = 20,
    TITLE_HEIGHT = 2 * LINE_HEIGHT,
    SCENES_HEIGHT = 700,
    SERIES_HEIGHT = 560
}; /* pixels */

/* A subject: one colour in every panel. */
typedef struct line {
    char name[NAME]; /* backend/device-or-isa/threads:N */
} line;

typedef struct plot {
    const bench_json *json;
    FILE *to;
    line lines[LINES_MAX];
    int line_count;
    char series[PANELS_MAX][NAME]; /* scenes whose rows have a size */
    int series_count, scenes;      /* rows of scenes: a panel of them */
} plot;

static int ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), wanted = strlen(end);

    return length > wanted && !strcmp(text + length - wanted, end);
}

int bench_plot_check(const char *path)
{
    if (!ends_with(path, ".svg") && !ends_with(path, ".png"))
        return cli_refuse(EXIT_USAGE, "--plot: expected a name that ends in .svg or .png, got '%s'", path);
    if (system("gnuplot --version > /dev/null 2>&1") != 0)
        return cli_refuse(EXIT_WORK, "--plot needs gnuplot, which does not run here (Debian: gnuplot-nox)");
    return EXIT_DONE;
}

/* Names go between single quotes of gnuplot's language, and a result may come from anywhere. */
static void copy_name(char out[NAME], const char *from, size_t length)
{
    size_t used = 0;

    for (; used < length && used + 1 < NAME && from[used] != '\0'; used++)
        out[used] =
            (char)(isalnum((unsigned char)from[used]) || strchr("-.,;:/@() ", from[used]) != NULL ? from[used] : '-');
    out[used] = '\0';
}

/* What stands behind scene and accuracy. */
static const char *subject_of(const bench_row *r)
{
    const char *at = strchr(r->name, '/');

    at = at != NULL ? strchr(at + 1, '/') : NULL;
    return at != NULL ? at + 1 : r->name;
}

static int is_exact(const bench_row *r)
{
    return !strncmp(r->name + strcspn(r->name, "/"), "/exact/", 7);
}

/* Loops that only move bytes answer nothing. */
static int is_drawn(const bench_row *r)
{
    return strncmp(subject_of(r), "plain/traffic", 13) != 0 && r->median > 0.0 && r->queries > 0.0;
}

static int line_of(plot *p, const bench_row *r)
{
    line l;

    copy_name(l.name, subject_of(r),
              strncmp(r->scene, "scaling-threads", 15) != 0
                  ? NAME
                  : strcspn(subject_of(r), "/") + 1 + strcspn(subject_of(r) + strcspn(subject_of(r), "/") + 1, "/"));
    for (int i = 0; i < p->line_count; i++)
        if (!strcmp(p->lines[i].name, l.name))
            return i;
    if (p->line_count == LINES_MAX)
        return -1;
    p->lines[p->line_count] = l;
    return p->line_count++;
}

static void find_series(plot *p, const bench_row *r)
{
    char name[NAME];

    copy_name(name, r->scene, NAME);
    for (int i = 0; i < p->series_count; i++)
        if (!strcmp(p->series[i], name))
            return;
    if (p->series_count < PANELS_MAX)
        snprintf(p->series[p->series_count++], sizeof p->series[0], "%s", name);
}

static void survey(plot *p)
{
    for (size_t i = 0; i < p->json->row_count; i++) {
        const bench_row *r = &p->json->rows[i];
        if (!is_drawn(r))
            continue;
        (void)line_of(p, r);
        if (isfinite(r->size))
            find_series(p, r);
        else
            p->scenes++;
    }
}

/* ---------------------------------------------------------------- data */

static double rate(const bench_row *r)
{
    return 1e-6 * r->queries / r->median;
}

/* The 95 % interval of the median as a bar. Results without it have the spread of the rounds: where the rate is at the
 * times median + spread and median - spread. A spread of the whole median, of two rounds that differ by far, has no
 * upper end on a logarithmic axis: twice the rate. */
static void put_point(const plot *p, double x, const bench_row *r)
{
    if (r->interval.low > 0.0 && r->interval.high > 0.0) {
        fprintf(p->to, "%.9g %.9g %.9g %.9g\n", x, rate(r), 1e-6 * r->queries / r->interval.high,
                1e-6 * r->queries / r->interval.low);
        return;
    }
    const double spread = isfinite(r->spread) && r->spread > 0.0 ? r->spread / r->median : 0.0;

    fprintf(p->to, "%.9g %.9g %.9g %.9g\n", x, rate(r), rate(r) / (1.0 + spread),
            rate(r) / (1.0 - (spread < 0.5 ? spread : 0.5)));
}

/* Rows of a picture one after the other, and the number of their scene among those drawn. */
typedef struct walk {
    const char *series; /* NULL: scenes that are no series */
    const char *scene;
    size_t next;
    int place;
} walk;

static walk walk_of(const char *series)
{
    return (walk){.series = series, .scene = "", .place = -1};
}

/* The next row of the series, or of all scenes; NULL: there is none. */
static const bench_row *next_row(const plot *p, walk *w)
{
    while (w->next < p->json->row_count) {
        const bench_row *r = &p->json->rows[w->next++];
        if (!is_drawn(r) || isfinite(r->size) != (w->series != NULL))
            continue;
        w->place += strcmp(w->scene, r->scene) != 0;
        w->scene = r->scene;
        if (w->series == NULL || !strcmp(w->series, r->scene))
            return r;
    }
    return NULL;
}

static double place_of(const walk *w, const bench_row *r)
{
    return w->series != NULL ? r->size : w->place;
}

/* A block of data for a line and an accuracy: a size or the number of its scene, millions of queries a second, and the
 * ends of the bar. Returns how many points it has. */
static int put_points(plot *p, const char *block, const char *series, int which, int exact)
{
    walk w = walk_of(series);
    const bench_row *r;
    int points = 0;

    fprintf(p->to, "$%s << END\n", block);
    while ((r = next_row(p, &w)) != NULL)
        if (line_of(p, r) == which && is_exact(r) == exact) {
            put_point(p, place_of(&w, r), r);
            points++;
        }
    fputs("END\n", p->to);
    return points;
}

/* The rate that the CPU time of all threads together would give, beside each point. */
static int put_cpu_times(plot *p, const char *series)
{
    walk w = walk_of(series);
    const bench_row *r;
    int points = 0;

    fputs("$cpu << END\n", p->to);
    while ((r = next_row(p, &w)) != NULL)
        if (r->cpu > 0.0 && line_of(p, r) >= 0) {
            fprintf(p->to, "%.9g %.9g\n", place_of(&w, r), 1e-6 * r->queries / r->cpu);
            points++;
        }
    fputs("END\n", p->to);
    return points;
}

/* Where one core cannot go beyond, scene by scene. */
static int put_limits(plot *p)
{
    walk w = walk_of(NULL);
    const bench_row *r;
    int points = 0;

    fputs("$limit << END\n", p->to);
    while ((r = next_row(p, &w)) != NULL)
        if (r->limit != NULL && r->threads == 1 && !is_exact(r) && r->share > 0.0) {
            fprintf(p->to, "%d %.9g\n", w.place, rate(r) / r->share);
            points++;
        }
    fputs("END\n", p->to);
    return points;
}

static void put_scene_names(plot *p)
{
    walk w = walk_of(NULL);
    const bench_row *r;
    int named = 0;

    fputs("set xtics rotate by 40 right font 'sans,9' (", p->to);
    while ((r = next_row(p, &w)) != NULL) {
        char name[NAME];
        if (w.place < named)
            continue;
        copy_name(name, r->scene, NAME);
        fprintf(p->to, "%s'%s' %d", named > 0 ? ", " : "", name, named);
        named++;
    }
    fprintf(p->to, ")\nset xrange [-0.6:%d.6]\n", named - 1);
}

/* ---------------------------------------------------------------- panels */

/* Fast mode filled, exact mode hollow, one colour for a subject. */
static void draw_lines(plot *p, const char *series, int limits)
{
    /* Distinct for most people with colour blindness. */
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00",
                                          "#000000", "#8c564b", "#7f7f7f", "#9467bd", "#17becf", "#6b8e23"};
    enum { COLOURS = sizeof colours / sizeof colours[0], SHAPES = 5 };
    static const int hollow[SHAPES] = {6, 4, 8, 10, 12}, filled[SHAPES] = {7, 5, 9, 11, 13};
    const char *separator = "plot ";
    char block[32];
    int drawn[LINES_MAX][2];

    for (int i = 0; i < p->line_count; i++)
        for (int exact = 0; exact < 2; exact++) {
            snprintf(block, sizeof block, "l%d%s", i, exact ? "x" : "f");
            drawn[i][exact] = put_points(p, block, series, i, exact);
        }
    const int has_cpu = put_cpu_times(p, series) > 0, has_limits = limits && put_limits(p) > 0;
    if (has_cpu) {
        fprintf(p->to, "%s$cpu using 1:2 with points pt 2 ps 0.6 lc rgb '#999999' title 'by CPU time'", separator);
        separator = ", ";
    }
    if (has_limits) {
        fprintf(p->to, "%s$limit using 1:2:(0.4) with xerrorbars pt 0 lw 2 lc 'black' title 'limit of one core'",
                separator);
        separator = ", ";
    }
    for (int i = 0; i < p->line_count; i++)
        for (int exact = 0; exact < 2; exact++) {
            if (drawn[i][exact] == 0)
                continue;
            fprintf(p->to, "%s$l%d%s using 1:2:3:4 with yerrorbars pt %d ps 1.1 lc rgb '%s' title '%s%s'", separator, i,
                    exact ? "x" : "f", (exact ? hollow : filled)[i % SHAPES], colours[i % COLOURS], p->lines[i].name,
                    exact ? ", exact" : "");
            if (series != NULL)
                fprintf(p->to, ", $l%d%s using 1:2 with lines lc rgb '%s' notitle", i, exact ? "x" : "f",
                        colours[i % COLOURS]);
            separator = ", ";
        }
    fputc('\n', p->to);
}

/* A panel's place on the picture, in pixels from its upper left corner. */
static void place_panel(plot *p, int height, int x, int y, int w, int h)
{
    fprintf(p->to, "set origin %.6f,%.6f\nset size %.6f,%.6f\n", (double)x / WIDTH, (double)(height - y - h) / height,
            (double)w / WIDTH, (double)h / height);
}

/* What the axes of a series mean. */
typedef struct axes {
    const char *series, *x, *y;
    int whole; /* x counts a few things: an axis of whole numbers */
} axes;

static axes axes_of(const char *series)
{
    static const char queries[] = "million queries per second";
    static const axes known[] = {
        {"scaling-batch", "pairs of a batch", queries, 0},
        {"scaling-triangles", "triangles of the mesh", queries, 0},
        {"scaling-build", "triangles of the mesh", "million triangles built per second", 0},
        {"scaling-threads", "threads", queries, 1},
        {"scaling-threads-mesh", "threads", queries, 1},
        {"scaling-chunk", "queries of a chunk", queries, 0},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(series, known[i].series))
            return known[i];
    return (axes){series, "size", queries, 0};
}

static void find_range(const plot *p, const char *series, double *least, double *most)
{
    *least = (double)INFINITY;
    *most = 1.0;
    for (size_t i = 0; i < p->json->row_count; i++) {
        const bench_row *r = &p->json->rows[i];
        if (strcmp(r->scene, series) != 0 || !isfinite(r->size))
            continue;
        *least = r->size < *least ? r->size : *least;
        *most = r->size > *most ? r->size : *most;
    }
}

static void set_axes(plot *p, const char *series)
{
    const axes a = axes_of(series);
    double least, most;

    find_range(p, series, &least, &most);
    fprintf(p->to, "set title '%s'\nset xlabel '%s' font 'sans,9' offset 0,0.8\nset ylabel '%s'\n", series, a.x, a.y);
    if (a.whole) /* up to about eight numbers */
        fprintf(p->to, "unset logscale x\nset format x '%%.0f'\nset xtics %.0f\nset xrange [0.5:%.1f]\n",
                ceil(most / 8.0), most + 0.5);
    else
        fprintf(p->to, "set logscale x\nset format x '%%.0s%%c'\nset xtics autofreq\nset xrange [%.9g:%.9g]\n",
                least / 1.3, most * 1.3);
}

static int has_intervals(const plot *p)
{
    int have = 0;

    for (size_t i = 0; i < p->json->row_count; i++)
        have |= p->json->rows[i].interval.low > 0.0;
    return have;
}

/* What a reader must know before any figure stands in red below the title. */
static void put_title(plot *p, int height)
{
    const char *const lines[] = {p->json->partial ? "partial: the run was interrupted" : "", p->json->warning};
    char cpu[NAME], commit[NAME];
    int y = TITLE_HEIGHT;

    copy_name(cpu, p->json->cpu, NAME);
    copy_name(commit, p->json->commit, NAME);
    fprintf(p->to, "set multiplot title 'carom %s on %s; %s'\n", commit, cpu,
            has_intervals(p) ? "bars: 95 % interval of the median" : "bars: spread of the rounds");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char shown[NAME];
        if (lines[i][0] == '\0')
            continue;
        copy_name(shown, lines[i], NAME);
        fprintf(p->to, "set label %zu '%s' at screen 0.5,%.6f center tc 'red'\n", i + 1, shown,
                1.0 - (double)y / height);
        y += LINE_HEIGHT;
    }
}

static void draw(plot *p, const char *path)
{
    const int warnings = (p->json->partial != 0) + (p->json->warning[0] != '\0');
    const int scenes = p->scenes > 0 ? SCENES_HEIGHT : 0, title = TITLE_HEIGHT + warnings * LINE_HEIGHT;
    const int height = title + scenes + (p->series_count + 1) / 2 * SERIES_HEIGHT;

    fprintf(p->to, "set terminal %s size %d,%d noenhanced font 'sans,11' background 'white'\n",
            ends_with(path, ".svg") ? "svg" : "pngcairo", WIDTH, height);
    put_title(p, height);
    fputs("set grid lc 'gray80'\nset logscale y\nset ylabel 'million queries per second (build, refit: triangles)'\n",
          p->to);
    if (p->scenes > 0) {
        place_panel(p, height, 0, title, WIDTH, SCENES_HEIGHT);
        put_scene_names(p);
        fputs("set key outside right top Left reverse samplen 1 width -6 font 'sans,9'\n"
              "set title 'scenes'\n",
              p->to);
        draw_lines(p, NULL, 1);
        fputs("unset xtics\nset xtics norotate autofreq font 'sans,11'\nset autoscale x\nunset label\n", p->to);
    }
    fputs("set key below Left reverse samplen 2 width 2 font 'sans,9'\n", p->to);
    for (int i = 0; i < p->series_count; i++) {
        place_panel(p, height, i % 2 * WIDTH / 2, title + scenes + i / 2 * SERIES_HEIGHT, WIDTH / 2, SERIES_HEIGHT);
        set_axes(p, p->series[i]);
        draw_lines(p, p->series[i], 0);
        fputs("unset label\n", p->to); /* those of the title are drawn once */
    }
    fputs("unset multiplot\n", p->to);
}

/* ---------------------------------------------------------------- gnuplot */

static int run_gnuplot(int script, const char *path)
{
    char command[64], buffer[4096];
    output out;
    int status = output_open(&out, path);

    if (status != EXIT_DONE)
        return status;
    snprintf(command, sizeof command, "gnuplot /dev/fd/%d", script);
    FILE *drawing = popen(command, "r");
    size_t got, all = 0;
    while (drawing != NULL && (got = fread(buffer, 1, sizeof buffer, drawing)) > 0) {
        for (size_t i = 0; i < got; i++)
            output_char(&out, buffer[i]);
        all += got;
    }
    if (drawing == NULL || pclose(drawing) != 0 || all == 0) {
        output_close(&out, EXIT_WORK);
        return cli_refuse(EXIT_WORK, "%s: gnuplot could not draw it", path);
    }
    return output_close(&out, EXIT_DONE);
}

int bench_plot(const bench_json *json, const char *path)
{
    plot *p = cli_alloc(1, sizeof *p);

    if (p == NULL)
        return cli_no_memory();
    memset(p, 0, sizeof *p);
    p->json = json;
    survey(p);
    int status = p->line_count > 0 ? EXIT_DONE : cli_refuse(EXIT_WORK, "%s: there is nothing to draw", path);
    if (status == EXIT_DONE) {
        p->to = tmpfile(); /* without a name that could stay behind */
        if (p->to != NULL) {
            draw(p, path);
            fflush(p->to);
        }
        if (p->to == NULL || ferror(p->to))
            status = cli_refuse(EXIT_WORK, "the data for gnuplot cannot be written: %s", strerror(errno));
    }
    if (status == EXIT_DONE)
        status = run_gnuplot(fileno(p->to), path);
    if (p->to != NULL)
        fclose(p->to);
    free(p);
    return status;
}
