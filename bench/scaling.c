/* SPDX-License-Identifier: MIT */
/* How times grow: with the mesh, with the threads, with the chunk; and what all series share. */
#include "scaling.h"

#include "measure.h"
#include "memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---------------------------------------------------------------------------------------------------- */

void scaling_note(const scaling *s, const char *format, ...)
{
    char text[768];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    s->listener->note(s->listener->user, text);
}

void scaling_finding(const scaling *s, const char *format, ...)
{
    char text[768];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    s->listener->finding(s->listener->user, text);
}

const char *scaling_number(double value, char text[32])
{
    const double power = floor(log10(value) + 0.5);

    if (value >= 1000.0 && pow(10.0, power) == value)
        snprintf(text, 32, "10^%.0f", power);
    else
        snprintf(text, 32, "%.0f", value);
    return text;
}

const char *scaling_side_name(const scaling_side *side)
{
    const char *accuracy = strchr(side->row.name, '/');

    return strchr(accuracy + 1, '/') + 1;
}

double scaling_memory(void)
{
    const double available = memory_available(), untold = 2e9;

    return 0.5 * (available > 0.0 ? available : untold);
}

/* ---- who answers ---------------------------------------------------------------------------------------------- */

static void add_subjects(scaling *s, const bench_settings *settings)
{
    subjects more;

    subjects_open(&more, settings, s->listener);
    for (int i = 0; i < more.count; i++) {
        if (s->subjects.count < SUBJECTS_MAX)
            s->subjects.list[s->subjects.count++] = more.list[i];
        else
            carom_context_destroy(more.list[i].context);
    }
}

void scaling_open_cpu(scaling *s, uint32_t threads)
{
    bench_settings cpu = *s->settings;

    cpu.isa = s->best;
    if (threads > 0)
        cpu.threads = threads;
    add_subjects(s, &cpu);
}

void scaling_open_devices(scaling *s, const char *device, uint32_t chunk)
{
    bench_settings devices = *s->settings;

    if (devices.backend == CAROM_BACKEND_CPU || devices.isa != CAROM_ISA_AUTO)
        return;
    devices.backend = CAROM_BACKEND_OPENCL;
    devices.device = device;
    devices.device_chunk = chunk;
    add_subjects(s, &devices);
}

void scaling_open(scaling *s)
{
    scaling_open_cpu(s, 0);
    scaling_open_devices(s, s->settings->device, 0);
}

void scaling_close(scaling *s)
{
    subjects_close(&s->subjects);
    s->count = 0;
}

/* ---- a point -------------------------------------------------------------------------------------------------- */

void scaling_begin(scaling *s, const char *series, const char *what)
{
    s->series = series;
    s->count = s->subjects.count;
    for (int i = 0; i < s->count; i++) {
        const subject *who = &s->subjects.list[i];
        s->sides[i] = (scaling_side){.who = who, .fresh = 1};
        s->sides[i].row.threads = who->threads;
        snprintf(s->sides[i].row.scene, sizeof s->sides[i].row.scene, "%s", series);
    }
    if (s->count > 0)
        s->listener->scene(s->listener->user, series, what);
}

static void set_point(scaling *s, scaling_side *side, double size, double queries)
{
    bench_row *row = &side->row;

    row->size = size;
    row->queries = queries;
    row->over_fast = row->share = row->upload = row->compute = row->download = row->integers = (double)NAN;
    row->same = -1;
    snprintf(row->name, sizeof row->name, "%s-%.0f/%s/%s/%s/threads:%u", s->series, size,
             s->accuracy == CAROM_ACCURACY_EXACT ? "exact" : "fast", side->who->backend, side->who->what,
             side->who->threads);
}

void scaling_point(scaling *s, double size, double queries)
{
    for (int i = 0; i < s->count; i++)
        set_point(s, &s->sides[i], size, queries);
}

void scaling_ask_pairs(scaling *s, const pair_scene *in, const answers *out)
{
    for (int i = 0; i < s->count; i++) {
        scaling_side *side = &s->sides[i];
        side->pairs =
            (ask){.subject = side->who, .question = QUESTION_TIMES, .accuracy = s->accuracy, .scene = in, .out = out};
        side->row.bytes = question_bytes(QUESTION_TIMES);
    }
}

static void side_run(void *user)
{
    scaling_side *side = user;

    if (side->pairs.subject != NULL)
        ask_run(&side->pairs);
    else
        mesh_ask_run(&side->mesh);
}

/* A device is refused late: when the program of a query turns out to be wrong or not to build. */
static void try_side(const scaling *s, scaling_side *side)
{
    carom_error err = {0};

    const double start = measure_now();
    const carom_status status =
        side->pairs.subject != NULL ? ask_try(&side->pairs, &err) : mesh_ask_try(&side->mesh, &err);
    side->fresh = 0;
    side->first = measure_now() - start;
    if (status == CAROM_OK)
        return;
    side->stopped = 1;
    scaling_note(s, "%s is not measured: %s", side->row.name, err.message);
}

/* Hands the sides that answer to `going`. */
static int check_bits(scaling *s, scaling_side **going)
{
    uint64_t first = 0;
    int count = 0;

    for (int i = 0; i < s->count; i++) {
        scaling_side *side = &s->sides[i];
        if (!side->stopped && side->fresh)
            try_side(s, side);
        if (side->stopped)
            continue;
        const uint64_t hash = side->pairs.subject != NULL ? ask_check(&side->pairs) : mesh_ask_check(&side->mesh);
        if (count == 0)
            first = hash;
        else
            side->row.same = hash == first;
        going[count++] = side;
    }
    return count;
}

static void fill_row(scaling_side *side, const measurement *m, int place)
{
    const carom_stats *fastest = side->pairs.subject != NULL ? &side->pairs.fastest : &side->mesh.fastest;

    side->row.rounds = m->rounds;
    side->row.median = measure_median(m, place);
    side->row.cpu = measure_cpu(m, place);
    side->row.best = measure_best(m, place);
    side->row.spread = measure_spread(m, place);
    if (fastest->on_device > 0) {
        side->row.upload = fastest->upload;
        side->row.compute = fastest->compute;
        side->row.download = fastest->download;
    }
    if (fastest->by_proof > 0)
        side->row.integers = (double)fastest->by_integers / (double)fastest->queries;
}

void scaling_measure(scaling *s)
{
    const measure_plan plan = {s->settings->quick ? 3 : 5, s->settings->quick ? 0.002 : 0.01, 0.03};
    scaling_side *going[SUBJECTS_MAX];
    measure_side runs[SUBJECTS_MAX];
    const int count = check_bits(s, going);
    measurement *m = malloc(sizeof *m);

    if (m == NULL)
        bench_die("no memory for a measurement");
    for (int i = 0; i < count; i++)
        runs[i] = (measure_side){side_run, going[i], going[i]->row.threads > 1};
    if (count > 0)
        measure(m, &plan, runs, count);
    for (int i = 0; i < count; i++) {
        fill_row(going[i], m, i);
        s->listener->row(s->listener->user, &going[i]->row);
    }
    s->rows += count;
    free(m);
}

int scaling_go_on(scaling *s, double next_size, double growth)
{
    const double limit = s->settings->quick ? 0.5 : 4.0; /* seconds of a batch */
    char number[32];
    int left = 0;

    for (int i = 0; i < s->count; i++) {
        scaling_side *side = &s->sides[i];
        const double next = side->row.median * growth;
        if (side->stopped)
            continue;
        side->stopped = next > limit;
        left += !side->stopped;
        if (side->stopped)
            scaling_note(s, "%s: %s stops before %s: a batch would take about %.1f s, and %.1f s is the most",
                         s->series, scaling_side_name(side), scaling_number(next_size, number), next, limit);
    }
    return left;
}

/* ---- triangles ------------------------------------------------------------------------------------------------ */

enum { TRIANGLE_POINTS = 6 };
typedef struct builds {
    bench_row rows[TRIANGLE_POINTS];
    int count;
} builds;

/* Each in a context of its own; the time of the first is a row, for later. */
static void make_meshes(scaling *s, const mesh_scene *shape, carom_mesh **meshes, builds *built)
{
    for (int i = 0; i < s->count; i++) {
        scaling_side *side = &s->sides[i];
        const double start = measure_now();
        side->mesh.shape = shape;
        meshes[i] = side->stopped ? NULL : mesh_ask_create(&side->mesh);
        const double seconds = measure_now() - start;
        if (i > 0 || side->stopped || !strcmp(side->who->backend, "opencl")) /* the CPU builds */
            continue;
        bench_row *row = &built->rows[built->count++];
        *row = side->row;
        snprintf(row->scene, sizeof row->scene, "scaling-build");
        snprintf(row->name, sizeof row->name, "scaling-build-%zu/fast/cpu/%s/threads:1", shape->triangle_count,
                 side->who->what);
        row->threads = 1;
        row->queries = (double)shape->triangle_count;
        row->rounds = 1;
        row->bytes = row->spread = 0.0;
        row->median = row->cpu = row->best = seconds;
    }
}

static void tell_builds(scaling *s, const builds *built)
{
    if (built->count > 0)
        s->listener->scene(s->listener->user, "scaling-build", "build a hierarchy, once each, per triangle");
    for (int i = 0; i < built->count; i++)
        s->listener->row(s->listener->user, &built->rows[i]);
}

static void measure_mesh(scaling *s, int sides, size_t queries, builds *built)
{
    mesh_scene shape = mesh_scene_make(2 * sides, sides);
    columns spheres = spheres_make(&shape, SPHERES_NEAR, queries);
    hits out = hits_alloc(queries);
    carom_mesh *meshes[SUBJECTS_MAX] = {NULL};

    for (int i = 0; i < s->count; i++)
        s->sides[i].mesh =
            (mesh_ask){.subject = s->sides[i].who, .spheres = &spheres, .out = &out, .accuracy = s->accuracy};
    scaling_point(s, (double)shape.triangle_count, (double)queries);
    make_meshes(s, &shape, meshes, built);
    for (int i = 0; i < s->count; i++)
        s->sides[i].mesh.mesh = meshes[i];
    scaling_measure(s);
    for (int i = 0; i < s->count; i++)
        carom_mesh_destroy(meshes[i]);
    hits_free(&out);
    columns_free(&spheres);
    mesh_scene_free(&shape);
}

static void run_triangles(scaling *s)
{
    static const int sides[TRIANGLE_POINTS] = {5, 16, 50, 158, 500, 1581}; /* 4 sides^2 triangles */
    enum { MESH_BYTES = 300 }; /* of a triangle, with what its build needs */
    const int count = s->settings->quick ? TRIANGLE_POINTS - 2 : TRIANGLE_POINTS;
    builds built = {.count = 0};

    scaling_open(s);
    scaling_begin(s, "scaling-triangles", "first hit: from next to the surface, short ways");
    for (int i = 0; i < count && s->count > 0; i++) {
        const double triangles = 4.0 * sides[i] * sides[i], bytes = triangles * MESH_BYTES * s->count;
        if (bytes > scaling_memory()) {
            scaling_note(s,
                         "scaling-triangles: %.0f triangles for %d would take %.1f GB, more than half of the memory "
                         "that is free",
                         triangles, s->count, bytes * 1e-9);
            break;
        }
        measure_mesh(s, sides[i], s->settings->quick ? 4000 : 20000, &built);
        if (i + 1 < count && scaling_go_on(s, 4.0 * sides[i + 1] * sides[i + 1], 1.5) == 0)
            break;
    }
    tell_builds(s, &built);
    scaling_close(s);
}

/* ---- threads -------------------------------------------------------------------------------------------------- */

static void tell_speed_up(const scaling *s)
{
    char text[512];
    size_t used = (size_t)snprintf(text, sizeof text, "%s: times one thread:", s->series);

    for (int i = 1; i < s->count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %.2f with %u%s",
                                 s->sides[0].row.median / s->sides[i].row.median, s->sides[i].who->threads,
                                 i + 1 < s->count ? "," : "");
    if (s->count > 1 && !s->sides[0].stopped)
        scaling_finding(s, "%s", text);
}

/* Sizes are the sides' own. */
static void measure_threads(scaling *s, double queries)
{
    for (int i = 0; i < s->count; i++)
        set_point(s, &s->sides[i], s->sides[i].who->threads, queries);
    scaling_measure(s);
    tell_speed_up(s);
}

static void threads_on_pairs(scaling *s)
{
    const size_t count = s->settings->quick ? 1 << 17 : 1000000;
    pair_scene in = scene_make(SCENE_SWEEP, "random", count);
    answers out = answers_alloc(count);

    scaling_begin(s, "scaling-threads", "sweep: both times and the state");
    scaling_ask_pairs(s, &in, &out);
    measure_threads(s, (double)count);
    answers_free(&out);
    scene_free(&in);
}

static void threads_on_mesh(scaling *s)
{
    const size_t queries = s->settings->quick ? 4000 : 50000;
    const int sides = s->settings->quick ? 50 : 158;
    mesh_scene shape = mesh_scene_make(2 * sides, sides);
    columns spheres = spheres_make(&shape, SPHERES_NEAR, queries);
    hits out = hits_alloc(queries);
    carom_mesh *meshes[SUBJECTS_MAX];

    scaling_begin(s, "scaling-threads-mesh", "first hit: from next to the surface, short ways");
    for (int i = 0; i < s->count; i++) {
        mesh_ask *mesh = &s->sides[i].mesh;
        *mesh = (mesh_ask){
            .subject = s->sides[i].who, .shape = &shape, .spheres = &spheres, .out = &out, .accuracy = s->accuracy};
        mesh->mesh = meshes[i] = mesh_ask_create(mesh);
    }
    measure_threads(s, (double)queries);
    for (int i = 0; i < s->count; i++)
        carom_mesh_destroy(meshes[i]);
    hits_free(&out);
    columns_free(&spheres);
    mesh_scene_free(&shape);
}

/* Every number of threads up to four, then by half more, and all. */
static void run_threads(scaling *s)
{
    const uint32_t all = s->settings->threads > 0 ? s->settings->threads : subjects_usable_threads();

    for (uint32_t n = 1; n < all; n += n < 4 ? 1 : n / 2)
        scaling_open_cpu(s, n);
    scaling_open_cpu(s, all);
    if (s->subjects.count > 0) {
        threads_on_pairs(s);
        threads_on_mesh(s);
    }
    scaling_close(s);
}

/* ---- chunk ---------------------------------------------------------------------------------------------------- */

/* A context for every chunk of a device, `index` as a text. */
static void chunks_of(scaling *s, const char *index, const char *name)
{
    const int first = 12, last = s->settings->quick ? 18 : 22;
    const size_t count = (size_t)1 << last;
    int best = 0;

    for (int log = first; log <= last; log += 2)
        scaling_open_devices(s, index, 1u << log);
    if (s->subjects.count != (last - first) / 2 + 1) { /* said why */
        scaling_close(s);
        return;
    }
    pair_scene base = scene_make(SCENE_SWEEP, "random", (size_t)1 << 18), in = scene_repeat(&base, count);
    answers out = answers_alloc(count);
    scaling_begin(s, "scaling-chunk", name);
    scaling_ask_pairs(s, &in, &out);
    for (int i = 0; i < s->count; i++)
        set_point(s, &s->sides[i], ldexp(1.0, first + 2 * i), (double)count);
    scaling_measure(s);
    for (int i = 0; i < s->count; i++)
        best = s->sides[i].row.median < s->sides[best].row.median ? i : best;
    if (!s->sides[best].stopped)
        scaling_finding(s, "scaling-chunk: %s is fastest with chunks of %.0f", s->sides[best].who->what,
                        s->sides[best].row.size);
    answers_free(&out);
    scene_free(&in);
    scene_free(&base);
    scaling_close(s);
}

static void run_chunk(scaling *s)
{
    carom_device_info devices[DEVICES_MAX];
    int count = 0;

    scaling_open_devices(s, s->settings->device, 0);
    for (int i = 0; i < s->subjects.count && count < DEVICES_MAX; i++)
        count += carom_context_device(s->subjects.list[i].context, &devices[count]);
    scaling_close(s);
    for (int i = 0; i < count; i++) {
        char index[16];
        snprintf(index, sizeof index, "%u", devices[i].index);
        chunks_of(s, index, devices[i].name);
    }
}

/* ---- all of them ---------------------------------------------------------------------------------------------- */

typedef struct series {
    const char *name, *what;
    void (*run)(scaling *s);
} series;
static const series all_series[] = {
    {"batch", "1 to 10^8 pairs, and from how many on a device is faster", scaling_batch},
    {"triangles", "meshes of 10^2 to 10^7 triangles", run_triangles},
    {"threads", "one to all, on pairs and on a mesh", run_threads},
    {"chunk", "2^12 to 2^22 queries in a launch of a device", run_chunk},
};
enum { SERIES_COUNT = sizeof all_series / sizeof all_series[0] };

const char *scaling_series_name(size_t index, const char **what)
{
    if (index >= SERIES_COUNT)
        return NULL;
    *what = all_series[index].what;
    return all_series[index].name;
}

static carom_isa best_isa(carom_isa wanted)
{
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_error err = {0};

    desc.backend = CAROM_BACKEND_CPU;
    desc.isa = wanted;
    desc.threads = 1;
    if (carom_context_create(&desc, &context, &err) != CAROM_OK)
        bench_die("%s", err.message);
    const carom_isa isa = carom_context_isa(context);
    carom_context_destroy(context);
    return isa;
}

int scaling_run(const bench_settings *settings, const bench_listener *listener)
{
    scaling *s = calloc(1, sizeof *s);

    if (s == NULL)
        bench_die("no memory for a run");
    s->settings = settings;
    s->listener = listener;
    s->accuracy = settings->accuracies & 1 ? CAROM_ACCURACY_FAST : CAROM_ACCURACY_EXACT;
    s->best = best_isa(settings->isa);
    for (size_t i = 0; i < SERIES_COUNT; i++)
        if (bench_is_chosen(settings->scenes, all_series[i].name))
            all_series[i].run(s);
    const int measured = s->rows > 0;
    free(s);
    return measured;
}
