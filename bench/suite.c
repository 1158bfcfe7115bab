/* SPDX-License-Identifier: MIT */
/* The scenes, and a run of them: for each scene all subjects in both accuracies and the plain loops, in turns. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "measure.h"
#include "mesh_question.h"
#include "plain.h"
#include "question.h"

typedef enum scene_type { TYPE_PAIRS, TYPE_MESH, TYPE_BUILD } scene_type;

typedef struct suite_scene {
    const char *name, *what;
    scene_type type;
    size_t count, quick_count; /* 0: not in a quick run */
    question question;         /* pairs */
    const char *family;
    sphere_kind spheres; /* meshes: a torus of 2 * rings * sides triangles */
    int rings, sides;
} suite_scene;

enum { MILLION = 1000000, FEW = 1 << 17, CACHED = 4096 };
#define PAIRS(name, what, question, family)                             \
    {                                                                   \
        name, what, TYPE_PAIRS, MILLION, FEW, question, family, 0, 0, 0 \
    }
/* A few pairs again and again, from cache. */
#define CACHED_PAIRS(name, question)                                                                         \
    {                                                                                                        \
        name, "the same 4096 pairs again and again", TYPE_PAIRS, CACHED, CACHED, question, "random", 0, 0, 0 \
    }
#define TORUS_70K 250, 140
#define TORUS_1M 1000, 500

static const suite_scene scenes[] = {
    PAIRS("sweep-first-random", "first time", QUESTION_FIRST, "random"),
    PAIRS("sweep-times-random", "both times and the state", QUESTION_TIMES, "random"),
    PAIRS("sweep-full-random", "times, points, features", QUESTION_FULL, "random"),
    PAIRS("sweep-times-near", "starts close to the triangle", QUESTION_TIMES, "near"),
    PAIRS("sweep-times-far", "starts 1000 triangles away", QUESTION_TIMES, "far-1e3"),
    PAIRS("sweep-times-grazing", "lines that all but miss", QUESTION_TIMES, "grazing"),
    PAIRS("sweep-times-overlapping", "starts in contact, mostly", QUESTION_TIMES, "overlapping"),
    PAIRS("overlap-random", "yes or no", QUESTION_OVERLAP, "random"),
    PAIRS("overlap-axes-random", "and the mask of separating axes", QUESTION_AXES, "random"),
    PAIRS("spheres-random", "sphere against sphere", QUESTION_SPHERES, "random"),
    CACHED_PAIRS("sweep-first-cached", QUESTION_FIRST),
    CACHED_PAIRS("sweep-times-cached", QUESTION_TIMES),
    CACHED_PAIRS("sweep-full-cached", QUESTION_FULL),
    CACHED_PAIRS("overlap-cached", QUESTION_OVERLAP),
    CACHED_PAIRS("overlap-axes-cached", QUESTION_AXES),
    CACHED_PAIRS("spheres-cached", QUESTION_SPHERES),
    {"mesh-near-70k", "first hit: from next to the surface, short ways", TYPE_MESH, 50000, 10000, 0, NULL, SPHERES_NEAR,
     TORUS_70K},
    {"mesh-box-70k", "first hit: from anywhere in the box, short ways", TYPE_MESH, 50000, 10000, 0, NULL, SPHERES_BOX,
     TORUS_70K},
    {"mesh-long-70k", "first hit: long ways through it", TYPE_MESH, 50000, 10000, 0, NULL, SPHERES_LONG, TORUS_70K},
    {"mesh-near-1m", "first hit: from next to the surface, short ways", TYPE_MESH, 30000, 0, 0, NULL, SPHERES_NEAR,
     TORUS_1M},
    {"mesh-box-1m", "first hit: from anywhere in the box, short ways", TYPE_MESH, 30000, 0, 0, NULL, SPHERES_BOX,
     TORUS_1M},
    {"mesh-long-1m", "first hit: long ways through it", TYPE_MESH, 30000, 0, 0, NULL, SPHERES_LONG, TORUS_1M},
    {"build-70k", "build a hierarchy, per triangle", TYPE_BUILD, 70000, 70000, 0, NULL, 0, TORUS_70K},
    {"build-1m", "build a hierarchy, per triangle", TYPE_BUILD, MILLION, 0, 0, NULL, 0, TORUS_1M},
};
enum { SCENE_COUNT = sizeof scenes / sizeof scenes[0], SIDES_MAX = MEASURE_SIDES_MAX };

/* One runner of a scene. */
typedef struct side {
    bench_row row;
    int subject, exact; /* subject -1: a plain loop */
    ask pairs;
    mesh_ask mesh;
    const plain_loops *plain;
    plain_columns columns;
    uint64_t hash;
} side;

typedef struct suite {
    const bench_settings *settings;
    const bench_listener *listener;
    subjects subjects;
    bench_limits limits[BENCH_LIMITS];
    int limit_count;
    side sides[SIDES_MAX];
    int count;
} suite;

_Noreturn void bench_die(const char *format, ...)
{
    va_list list;

    fflush(stdout);
    fprintf(stderr, "carom: bench: ");
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fprintf(stderr, "\n");
    exit(1);
}

uint64_t bench_hash(uint64_t hash, const void *memory, size_t size)
{
    const unsigned char *from = memory;

    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, from + i, size - i < sizeof word ? size - i : sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

const char *bench_scene_name(size_t index, const char **what)
{
    if (index >= SCENE_COUNT)
        return NULL;
    *what = scenes[index].what;
    return scenes[index].name;
}

int bench_is_chosen(const char *list, const char *name)
{
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, name, strcspn(at, ",")))
            return 1;
    }
    return list == NULL;
}

int bench_knows(const char *list, bench_name_fn *names, const char **unknown)
{
    const char *name, *what;

    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        size_t found = 0;
        at += *at == ',';
        for (size_t i = 0; (name = names(i, &what)) != NULL; i++)
            found += !strncmp(at, name, strcspn(at, ",")) && *at != ',' && *at != '\0';
        if (found == 0) {
            *unknown = at;
            return 0;
        }
    }
    return 1;
}

static void side_run(void *user)
{
    side *s = user;

    if (s->plain != NULL && s->columns.in_count == 0)
        (s->pairs.question == QUESTION_AXES ? s->plain->ericson_axes : s->plain->ericson_overlap)(
            scene_in(s->pairs.scene), s->pairs.out->bytes.column[0], s->pairs.out->bytes.column[1],
            s->pairs.scene->count);
    else if (s->plain != NULL)
        s->plain->stream_rows(&s->columns);
    else if (s->pairs.subject != NULL)
        ask_run(&s->pairs);
    else
        mesh_ask_run(&s->mesh);
}

static side *add_side(suite *u, const suite_scene *scene, int who, int exact, const char *backend, const char *what,
                      uint32_t threads)
{
    if (u->count == SIDES_MAX)
        return NULL;
    side *s = &u->sides[u->count++];
    *s = (side){.subject = who, .exact = exact};
    s->row = (bench_row){
        .threads = threads, .over_fast = (double)NAN, .share = (double)NAN, .same = -1, .size = (double)NAN};
    s->row.upload = s->row.compute = s->row.download = s->row.integers = (double)NAN;
    snprintf(s->row.scene, sizeof s->row.scene, "%s", scene->name);
    snprintf(s->row.name, sizeof s->row.name, "%s/%s/%s/%s/threads:%u", scene->name, exact ? "exact" : "fast", backend,
             what, threads);
    return s;
}

/* The side of every subject and accuracy; the caller fills in what it asks. */
static void add_subjects(suite *u, const suite_scene *scene)
{
    for (int i = 0; i < u->subjects.count; i++) {
        const subject *who = &u->subjects.list[i];
        const int build = scene->type == TYPE_BUILD;
        if (build && !strcmp(who->backend, "opencl")) /* the CPU builds */
            continue;
        for (int exact = 0; exact < 2; exact++)
            if ((u->settings->accuracies >> exact & 1) && !(exact && build))
                add_side(u, scene, i, exact, who->backend, who->what, who->threads);
    }
}

/* A device is also refused late, when the program of a query turns out to be wrong or not to build. */
static int is_able(suite *u, side *s)
{
    carom_error err = {0};
    char text[768];
    const carom_status status = s->pairs.subject != NULL ? ask_try(&s->pairs, &err) : mesh_ask_try(&s->mesh, &err);

    if (status == CAROM_OK)
        return 1;
    snprintf(text, sizeof text, "%s is not measured: %s", s->row.name, err.message);
    u->listener->note(u->listener->user, text);
    return 0;
}

static void drop_unable(suite *u)
{
    int kept = 0;

    for (int i = 0; i < u->count; i++)
        if (u->sides[i].plain != NULL || is_able(u, &u->sides[i])) {
            if (kept != i)
                u->sides[kept] = u->sides[i];
            kept++;
        }
    u->count = kept;
}

/* Bits of every subject against those of the first one in the same accuracy. */
static void check_bits(suite *u, scene_type type)
{
    for (int i = 0; i < u->count && type != TYPE_BUILD; i++) {
        side *s = &u->sides[i];
        if (s->plain != NULL)
            continue;
        s->hash = s->pairs.subject != NULL ? ask_check(&s->pairs) : mesh_ask_check(&s->mesh);
        for (int k = 0; k < i && s->row.same < 0; k++)
            if (u->sides[k].exact == s->exact)
                s->row.same = s->hash == u->sides[k].hash;
    }
}

static void fill_device_times(side *s, const carom_stats *fastest)
{
    if (fastest->on_device > 0) {
        s->row.upload = fastest->upload;
        s->row.compute = fastest->compute;
        s->row.download = fastest->download;
    }
    if (s->exact && fastest->queries > 0)
        s->row.integers = (double)fastest->by_integers / (double)fastest->queries;
}

/* The nearest limit of so many threads; for the instruction set that the limits were measured with. Of a device: its
 * kernels against copies of as many bytes. */
static void fill_limit(const suite *u, side *s, const suite_scene *scene)
{
    const question_shape *shape = &question_shapes[scene->question];
    const bench_limits *l = NULL;

    if (scene->type == TYPE_PAIRS && s->subject >= 0 && isfinite(s->row.compute) &&
        u->subjects.list[s->subject].copy_bytes > 0.0) {
        s->row.limit = "device memory";
        s->row.share = s->row.bytes * s->row.queries / u->subjects.list[s->subject].copy_bytes / s->row.compute;
        return;
    }
    for (int i = 0; i < u->limit_count && s->subject >= 0; i++)
        if (u->limits[i].threads == s->row.threads && !strcmp(u->subjects.list[s->subject].what, u->limits[i].isa))
            l = &u->limits[i];
    if (scene->type != TYPE_PAIRS || l == NULL)
        return;
    const double pair = s->row.median / s->row.queries;
    const double memory = scene->count > CACHED ? s->row.bytes / l->triad_bytes : 0.0;
    const double divider = shape->divisions / l->divisions + shape->roots / l->roots;
    s->row.limit = memory > divider ? "memory" : "divider";
    s->row.share = (memory > divider ? memory : divider) / pair;
}

static void report(suite *u, const suite_scene *scene, const measurement *m)
{
    for (int i = 0; i < u->count; i++) {
        side *s = &u->sides[i];
        s->row.rounds = m->rounds;
        s->row.median = measure_median(m, i);
        s->row.cpu = measure_cpu(m, i);
        s->row.best = measure_best(m, i);
        s->row.spread = measure_spread(m, i);
        for (int k = 0; s->exact && k < u->count; k++)
            if (u->sides[k].subject == s->subject && !u->sides[k].exact)
                s->row.over_fast = measure_ratio(m, i, k);
        if (s->subject >= 0 && scene->type != TYPE_BUILD)
            fill_device_times(s, s->pairs.subject != NULL ? &s->pairs.fastest : &s->mesh.fastest);
        fill_limit(u, s, scene);
        u->listener->row(u->listener->user, &s->row);
    }
}

static void measure_sides(suite *u, const suite_scene *scene)
{
    const measure_plan plan = {u->settings->quick ? 3 : 7, u->settings->quick ? 0.004 : 0.02, 0.03};
    measure_side runs[SIDES_MAX];
    measurement *m = malloc(sizeof *m);

    if (m == NULL)
        bench_die("no memory for a measurement");
    for (int i = 0; i < u->count; i++)
        runs[i] = (measure_side){side_run, &u->sides[i], u->sides[i].row.threads > 1};
    measure(m, &plan, runs, u->count);
    report(u, scene, m);
    free(m);
}

/* The same columns read and written without any arithmetic; and for overlap the published test, vectorised by the
 * compiler. */
static void add_plain(suite *u, const suite_scene *scene, const pair_scene *in, const answers *out)
{
    carom_isa best = CAROM_ISA_SCALAR;
    for (int i = 0; i < u->subjects.count; i++)
        if (!strcmp(u->subjects.list[i].backend, "cpu"))
            best = u->subjects.list[i].isa;
    const plain_loops *plain = plain_for_isa((int)best);
    if (plain == NULL)
        return;
    char what[64];
    const int overlap = question_shapes[scene->question].scene == SCENE_OVERLAP;
    for (int ericson = scene->count <= CACHED; ericson <= overlap; ericson++) { /* a cache has no floor to speak of */
        snprintf(what, sizeof what, "%s-%s", ericson ? "ericson" : "traffic", plain->name);
        side *s = add_side(u, scene, -1, 0, "plain", what, 1);
        if (s == NULL)
            return;
        s->plain = plain;
        s->pairs = (ask){.question = scene->question, .scene = in, .out = out};
        if (!ericson)
            s->columns = question_columns(scene->question, in, out);
    }
}

/* How many answers of the published test are not carom's: two formulas in binary32 may differ where a distance rounds
 * to the radius. */
static void count_other(suite *u)
{
    side *ours = NULL, *theirs = NULL;

    for (int i = 0; i < u->count; i++) {
        if (u->sides[i].plain == NULL && ours == NULL)
            ours = &u->sides[i];
        if (u->sides[i].plain != NULL && u->sides[i].columns.in_count == 0)
            theirs = &u->sides[i];
    }
    if (ours == NULL || theirs == NULL)
        return;
    const size_t count = ours->pairs.scene->count;
    const uint8_t *overlap = ours->pairs.out->bytes.column[0];
    columns copy = columns_alloc(1, count, 1);
    side_run(ours);
    memcpy(copy.column[0], overlap, count);
    side_run(theirs);
    for (size_t i = 0; i < count; i++)
        theirs->row.other += ((uint8_t *)copy.column[0])[i] != overlap[i];
    columns_free(&copy);
}

static void run_pairs(suite *u, const suite_scene *scene, size_t count)
{
    const question_shape *shape = &question_shapes[scene->question];
    pair_scene in = scene_make(shape->scene, scene->family, count);
    answers out = answers_alloc(count);

    add_subjects(u, scene);
    for (int i = 0; i < u->count; i++)
        u->sides[i].pairs = (ask){.subject = &u->subjects.list[u->sides[i].subject],
                                  .question = scene->question,
                                  .accuracy = u->sides[i].exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST,
                                  .scene = &in,
                                  .out = &out};
    drop_unable(u);
    check_bits(u, TYPE_PAIRS);
    if (u->settings->accuracies & 1)
        add_plain(u, scene, &in, &out);
    count_other(u);
    for (int i = 0; i < u->count; i++) {
        u->sides[i].row.queries = (double)count;
        u->sides[i].row.bytes = question_bytes(scene->question);
    }
    measure_sides(u, scene);
    scene_free(&in);
    answers_free(&out);
}

static void run_mesh(suite *u, const suite_scene *scene, size_t count)
{
    mesh_scene shape = mesh_scene_make(scene->rings, scene->sides);
    const int build = scene->type == TYPE_BUILD;
    const size_t swept = build ? 0 : count; /* a build sweeps nothing */
    hits out = hits_alloc(swept);
    columns spheres = spheres_make(&shape, scene->spheres, swept);
    carom_mesh *meshes[SUBJECTS_MAX] = {NULL};

    add_subjects(u, scene);
    for (int i = 0; i < u->count; i++) {
        side *s = &u->sides[i];
        s->mesh = (mesh_ask){.subject = &u->subjects.list[s->subject],
                             .shape = &shape,
                             .spheres = &spheres,
                             .out = &out,
                             .accuracy = s->exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST,
                             .build = build};
        if (!build && meshes[s->subject] == NULL)
            meshes[s->subject] = mesh_ask_create(&s->mesh);
        s->mesh.mesh = meshes[s->subject];
        s->row.queries = (double)count;
    }
    drop_unable(u);
    check_bits(u, scene->type);
    measure_sides(u, scene);
    for (int i = 0; i < u->subjects.count; i++)
        carom_mesh_destroy(meshes[i]);
    columns_free(&spheres);
    hits_free(&out);
    mesh_scene_free(&shape);
}

/* Of the best instruction set: with as many threads as its subjects have. */
static void measure_limits(suite *u)
{
    const subject *best = NULL;

    for (int i = 0; i < u->subjects.count; i++)
        if (!strcmp(u->subjects.list[i].backend, "cpu"))
            best = &u->subjects.list[i];
    for (int i = 0; i < u->subjects.count && best != NULL; i++) {
        const subject *s = &u->subjects.list[i];
        if (strcmp(s->backend, "cpu") != 0 || s->isa != best->isa || u->limit_count == BENCH_LIMITS)
            continue;
        bench_limits *l = &u->limits[u->limit_count];
        *l = limits_measure(s->isa, s->threads, u->settings->quick);
        if (l->triad_bytes <= 0.0)
            return;
        u->limit_count++;
        u->listener->limits(u->listener->user, l);
    }
}

int bench_run(const bench_settings *settings, const bench_listener *listener)
{
    suite *u = calloc(1, sizeof *u);

    if (u == NULL)
        bench_die("no memory for a run");
    u->settings = settings;
    u->listener = listener;
    subjects_open(&u->subjects, settings, listener);
    measure_limits(u);
    for (size_t i = 0; i < SCENE_COUNT && u->subjects.count > 0; i++) {
        const size_t count = settings->quick ? scenes[i].quick_count : scenes[i].count;
        if (!bench_is_chosen(settings->scenes, scenes[i].name))
            continue;
        if (count == 0 && settings->scenes == NULL)
            continue;
        u->count = 0;
        listener->scene(listener->user, scenes[i].name, scenes[i].what);
        (scenes[i].type == TYPE_PAIRS ? run_pairs : run_mesh)(u, &scenes[i], count > 0 ? count : scenes[i].count);
    }
    const int measured = u->subjects.count > 0;
    subjects_close(&u->subjects);
    free(u);
    return measured;
}
