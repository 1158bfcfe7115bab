/* SPDX-License-Identifier: MIT */
/* How times grow: with the mesh, with the threads, with the chunk; and the list of all series. */
#include "common.h"
#include "scaling.h"

#include "measure.h"
#include "memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- triangles --------------------------------------------------------------------------------------------------- */

enum { TRIANGLE_POINTS = 6 };
typedef struct builds {
    bench_row rows[TRIANGLE_POINTS];
    int count;
} builds;

/* Each in a context of its own; the time of the first is kept as a row, for series that want it. */
static void make_meshes(scaling *s, const mesh_scene *shape, carom_mesh **meshes, builds *built)
{
    for (int i = 0; i < s->count; i++) {
        scaling_side *side = &s->sides[i];
        const double start = measure_now();
        side->mesh.shape = shape;
        meshes[i] = side->stopped ? NULL : mesh_call_create(&side->mesh);
        const double seconds = measure_now() - start;
        if (i > 0 || built == NULL || side->stopped || !strcmp(side->subject->backend, "opencl")) /* the CPU builds */
            continue;
        bench_row *row = &built->rows[built->count++];
        *row = side->row;
        snprintf(row->scene, sizeof row->scene, "scaling-build");
        snprintf(row->name, sizeof row->name, "scaling-build-%zu/fast/cpu/%s/threads:1", shape->triangle_count,
                 side->subject->what);
        row->threads = 1;
        row->queries = (double)shape->triangle_count;
        row->rounds = 1;
        row->bytes = row->spread = 0.0;
        row->median = row->cpu = row->best = seconds;
    }
}

static void report_builds(scaling *s, const builds *built)
{
    if (built->count > 0)
        s->listener->scene(s->listener->user, "scaling-build", "build a hierarchy, once each, per triangle");
    for (int i = 0; i < built->count; i++)
        s->listener->row(s->listener->user, &built->rows[i]);
}

/* Sizes are the sides' own. */
static void place_threads(scaling *s, double queries)
{
    for (int i = 0; i < s->count; i++)
        scaling_place(s, &s->sides[i], s->sides[i].subject->threads, queries);
}

/* A point over triangles; over threads, unless builds are measured. */
static void measure_mesh(scaling *s, int sides, size_t queries, builds *built)
{
    mesh_scene shape = mesh_scene_make(2 * sides, sides);
    columns spheres = spheres_make(&shape, SPHERES_NEAR, queries);
    hits out = hits_alloc(queries, queries);
    carom_mesh *meshes[SUBJECTS_MAX] = {NULL};

    for (int i = 0; i < s->count; i++)
        s->sides[i].mesh = (mesh_call){.subject = s->sides[i].subject,
                                       .spheres = &spheres,
                                       .out = &out,
                                       .accuracy = s->accuracy,
                                       .task = ASK(mesh_first)};
    if (built != NULL)
        scaling_point(s, (double)shape.triangle_count, (double)queries);
    else
        place_threads(s, (double)queries);
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
        if (bytes > memory_to_spare()) {
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
    report_builds(s, &built);
    scaling_close(s);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void report_speed_up(const scaling *s)
{
    char text[512];
    size_t used = (size_t)snprintf(text, sizeof text, "%s: times one thread:", s->series);

    for (int i = 1; i < s->count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %.2f with %u%s",
                                 s->sides[0].row.median / s->sides[i].row.median, s->sides[i].subject->threads,
                                 i + 1 < s->count ? "," : "");
    if (s->count > 1 && !s->sides[0].stopped && !s->ended)
        scaling_finding(s, "%s", text);
}

static void threads_on_pairs(scaling *s)
{
    const size_t count = s->settings->quick ? 1 << 17 : 1000000;
    pair_scene in = scene_make(&query_sweep, "random", count);
    answers out = answers_alloc((pair_task)SWEEP_TIMES, count);

    scaling_begin(s, "scaling-threads", "sweep: both times and the state");
    scaling_ask_pairs(s, &in, &out);
    place_threads(s, (double)count);
    scaling_measure(s);
    report_speed_up(s);
    answers_free(&out);
    scene_free(&in);
}

static void threads_on_mesh(scaling *s)
{
    scaling_begin(s, "scaling-threads-mesh", "first hit: from next to the surface, short ways");
    measure_mesh(s, s->settings->quick ? 50 : 158, s->settings->quick ? 4000 : 50000, NULL);
    report_speed_up(s);
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
        if (!s->ended)
            threads_on_mesh(s);
    }
    scaling_close(s);
}

/* ---- chunk ------------------------------------------------------------------------------------------------------- */

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
    pair_scene base = scene_make(&query_sweep, "random", (size_t)1 << 18), in = scene_repeat(&base, count);
    answers out = answers_alloc((pair_task)SWEEP_TIMES, count);
    scaling_begin(s, "scaling-chunk", name);
    scaling_ask_pairs(s, &in, &out);
    for (int i = 0; i < s->count; i++)
        scaling_place(s, &s->sides[i], ldexp(1.0, first + 2 * i), (double)count);
    scaling_measure(s);
    for (int i = 0; i < s->count; i++)
        best = s->sides[i].row.median < s->sides[best].row.median ? i : best;
    if (!s->sides[best].stopped && !s->ended)
        scaling_finding(s, "scaling-chunk: %s is fastest with chunks of %.0f", s->sides[best].subject->what,
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
    scaling_report_devices(s);
    for (int i = 0; i < s->subjects.count && count < DEVICES_MAX; i++)
        count += subject_device(&s->subjects.list[i], &devices[count]);
    scaling_close(s);
    for (int i = 0; i < count && !s->ended; i++) {
        char index[16];
        snprintf(index, sizeof index, "%u", devices[i].index);
        chunks_of(s, index, devices[i].name);
    }
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

typedef struct series {
    const char *name, *what;
    void (*run)(scaling *s);
    series_kind kind;
} series;
static const series all_series[] = {
    {"batch", "1 to 10^8 pairs, and from how many on a device is faster", scaling_batch, SERIES_BATCH},
    {"triangles", "meshes of 10^2 to 10^7 triangles", run_triangles, SERIES_TRIANGLES},
    {"threads", "one to all, on pairs and on a mesh", run_threads, SERIES_THREADS},
    {"chunk", "2^12 to 2^22 queries in a launch of a device", run_chunk, SERIES_CHUNK},
};
enum { SERIES_COUNT = sizeof all_series / sizeof all_series[0] };

int scaling_series_name(size_t index, char name[BENCH_NAME], const char **what)
{
    if (index >= SERIES_COUNT)
        return 0;
    *what = all_series[index].what;
    snprintf(name, BENCH_NAME, "%s", all_series[index].name);
    return 1;
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

static double measure_pace(const scaling *s)
{
    bench_settings one = *s->settings;
    subjects alone;
    double sweep = 0.0;

    one.backend = CAROM_BACKEND_CPU;
    one.device = NULL;
    one.isa = s->best;
    one.threads = 1;
    subjects_open(&alone, &one, s->listener);
    if (alone.count > 0)
        sweep = pair_task_pace(&alone.list[0], s->accuracy);
    subjects_close(&alone);
    return sweep;
}

static void plan_series(scaling *s)
{
    size_t count = 0;

    s->sweep = measure_pace(s);
    for (size_t i = 0; i < SERIES_COUNT; i++)
        if (bench_is_chosen(s->settings->scenes, all_series[i].name)) {
            s->planned += scaling_seconds(s, all_series[i].kind);
            count++;
        }
    s->listener->plan(s->listener->user, "series", count, s->planned);
}

/* Returns 0 if the run has to end. */
static int run_series(scaling *s, const series *one)
{
    s->cost = scaling_seconds(s, one->kind);
    s->begin = measure_now();
    one->run(s);
    s->before += s->cost;
    s->cost = 0.0;
    s->done += !s->ended;
    return scaling_ask(s);
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
    plan_series(s);
    int going = scaling_ask(s);
    for (size_t i = 0; i < SERIES_COUNT && going; i++)
        if (bench_is_chosen(settings->scenes, all_series[i].name))
            going = run_series(s, &all_series[i]);
    const int measured = s->rows > 0;
    free(s);
    return measured;
}
