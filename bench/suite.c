/* SPDX-License-Identifier: MIT */
/* The scenes, and a run of them: for each scene all subjects in both accuracies, the plain loops and the peers, in
 * turns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clouds.h"
#include "common.h"
#include "contacts.h"
#include "lattices.h"
#include "limits.h"
#include "steps.h"
#include "scene_instances.h"
#include "suite.h"

/* Further rounds may take so much of the time that the planned ones took, over the whole run. */
static const double SPARE = 0.25;

side *suite_add_side(suite *u, const suite_scene *scene, int number, int exact, const char *backend, const char *what,
                     uint32_t threads)
{
    if (u->count == SIDES_MAX)
        return NULL;
    side *s = &u->sides[u->count++];
    *s = (side){.subject = number, .exact = exact};
    s->row = (bench_row){
        .threads = threads, .over_fast = (double)NAN, .share = (double)NAN, .same = -1, .size = (double)NAN};
    s->row.divisions = s->row.roots = s->row.over_each = s->row.upload = s->row.compute = s->row.download =
        s->row.host = s->row.overhead = s->row.second_filter = s->row.integers = (double)NAN;
    snprintf(s->row.scene, sizeof s->row.scene, "%s", scene->name);
    snprintf(s->row.name, sizeof s->row.name, "%s/%s/%s/%s/threads:%u", scene->name, exact ? "exact" : "fast", backend,
             what, threads);
    return s;
}

int suite_has_answers(scene_type type)
{
    return type != TYPE_BUILD && type != TYPE_REFIT;
}

int suite_takes_part(const suite *u, const suite_scene *scene, int number)
{
    const subject *best = subjects_best(&u->subjects), *s = &u->subjects.list[number];
    const int is_device = strcmp(s->backend, "cpu") != 0;

    if (scene->type == TYPE_STEP)
        return scene->resident ? is_device : !is_device && s->isa == best->isa;
    if (scene->resident)
        return s == best || is_device;
    return suite_has_answers(scene->type) || (best != NULL && s->isa == best->isa);
}

void suite_add_subjects(suite *u, const suite_scene *scene, const char *beside)
{
    char what[64];

    for (int i = 0; i < u->subjects.count; i++) {
        const subject *of = &u->subjects.list[i];
        if (!suite_takes_part(u, scene, i))
            continue;
        snprintf(what, sizeof what, "%s%s", of->what, beside);
        for (int exact = 0; exact < 2; exact++)
            if ((u->settings->accuracies >> exact & 1) && !(exact && !suite_has_answers(scene->type)))
                suite_add_side(u, scene, i, exact, of->backend, what, of->threads);
    }
}

/* A device is also refused late, when the program of a query turns out to be wrong or not to build. */
static int is_able(suite *u, const suite_scene *scene, side *s)
{
    carom_error err = {0};
    char text[768];
    carom_status status = CAROM_OK;

    if (scene->resident)
        status = suite_side_settle(s, &err);
    if (status == CAROM_OK)
        status = suite_side_try(s, &err);
    if (status == CAROM_OK)
        return 1;
    suite_side_free_resident(s);
    snprintf(text, sizeof text, "%s is not measured: %s", s->row.name, err.message);
    u->listener->note(u->listener->user, text);
    return 0;
}

static void drop_unable(suite *u, const suite_scene *scene)
{
    int kept = 0;

    for (int i = 0; i < u->count; i++)
        if (is_able(u, scene, &u->sides[i])) {
            if (kept != i)
                u->sides[kept] = u->sides[i];
            kept++;
        }
    u->count = kept;
}

static void judge(const suite *u, side *s)
{
    const answers *out = s->pairs.out;

    if (s->mesh.subject != NULL)
        truth_judge(&u->truth, NULL, s->mesh.out->time.column[0], NULL, &s->row);
    else if (pair_task_is_overlap(s->pairs.task))
        truth_judge(&u->truth, out->bytes.column[0], NULL, NULL, &s->row);
    else
        truth_judge(&u->truth, NULL, out->numbers.column[0], out->numbers.count < 2 ? NULL : out->numbers.column[1],
                    &s->row);
}

/* Are two sides asked the same? */
static int is_alike(const side *a, const side *b)
{
    return a->mesh.task.query == b->mesh.task.query && a->mesh.task.work == b->mesh.task.work;
}

/* What the timed runs have left in the buffers must be what was judged before them. */
static void check_resident(suite *u)
{
    for (int i = 0; i < u->count; i++) {
        side *s = &u->sides[i];
        if (suite_side_is_resident(s) && suite_side_hash(s) != s->hash)
            s->row.same = 0;
    }
}

/* Bits of every subject against those of the first one in the same accuracy, and its answers against the truth. Answers
 * in buffers are compared with those of the same subject in the host's arrays, too. */
void suite_check_sides(suite *u, const suite_scene *scene)
{
    drop_unable(u, scene);
    for (int i = 0; i < u->count && suite_has_answers(scene->type); i++) {
        side *s = &u->sides[i];
        s->hash = suite_side_check(s);
        if (u->truth.count > 0)
            judge(u, s);
        for (int k = 0; k < i && s->row.same < 0; k++)
            if (u->sides[k].exact == s->exact && is_alike(&u->sides[k], s))
                s->row.same = s->hash == u->sides[k].hash;
        if (scene->resident)
            s->row.same = s->row.same != 0 && suite_side_check_from_host(s) == s->hash;
    }
}

static void fill_device_times(side *s, const carom_stats *fastest)
{
    if (fastest->on_device > 0) {
        s->row.upload = fastest->upload;
        s->row.compute = fastest->compute;
        s->row.download = fastest->download;
        s->row.host = fastest->host;
        if (suite_side_is_resident(s) && s->row.best >= fastest->compute) /* kernels of two pieces may overlap */
            s->row.overhead = s->row.best - fastest->compute;
    }
    if (s->exact && fastest->queries > 0) {
        s->row.second_filter = (double)fastest->by_second_filter / (double)fastest->queries;
        s->row.integers = (double)fastest->by_integers / (double)fastest->queries;
    }
}

/* The nearest limit of so many threads; for the instruction set that the limits were measured with. Of a device: its
 * kernels against copies of as many bytes. */
static void fill_limit(const suite *u, side *s, const suite_scene *scene)
{
    const query_selection *shape = scene->type == TYPE_PAIRS ? pair_task_selection(scene->pairs) : NULL;
    const bench_limits *l = NULL;

    if (shape != NULL && s->subject >= 0) {
        s->row.divisions = shape->divisions;
        s->row.roots = shape->roots;
    }
    if (scene->type == TYPE_PAIRS && s->subject >= 0 && s->row.compute > 0.0 &&
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

/* The side of the same subject in fast mode; -1: none. */
static int fast_of(const suite *u, int exact)
{
    for (int i = 0; i < u->count; i++)
        if (u->sides[i].subject == u->sides[exact].subject && !u->sides[i].exact &&
            is_alike(&u->sides[i], &u->sides[exact]))
            return i;
    return -1;
}

/* The side that asks the same subject about some nodes of the lattice one by one; -1: none. */
static int each_of(const suite *u, int lattice)
{
    const side *s = &u->sides[lattice];

    for (int i = 0; i < u->count && s->mesh.task.work >= MESH_VOLUME; i++)
        if (u->sides[i].subject == s->subject && u->sides[i].exact == s->exact && u->sides[i].mesh.task.query != NULL)
            return i;
    return -1;
}

static void report(suite *u, const suite_scene *scene, const measurement *m)
{
    for (int i = 0; i < u->count; i++) {
        side *s = &u->sides[i];
        bench_row_take(&s->row, m, i);
        if (s->exact && fast_of(u, i) >= 0)
            s->row.over_fast = measure_ratio(m, i, fast_of(u, i));
        if (each_of(u, i) >= 0)
            s->row.over_each =
                measure_ratio(m, each_of(u, i), i) * s->row.queries / u->sides[each_of(u, i)].row.queries;
        if (s->subject >= 0 && suite_has_answers(scene->type))
            fill_device_times(s, suite_side_fastest(s));
        fill_limit(u, s, scene);
        u->listener->row(u->listener->user, &s->row);
    }
}

/* The ratios to report: exact over fast for each subject that answered in both accuracies, and nodes one by one over
 * their lattice. */
static int find_pairs(const suite *u, measure_pair *pairs)
{
    int count = 0;

    for (int i = 0; i < u->count; i++) {
        if (u->sides[i].exact && fast_of(u, i) >= 0)
            pairs[count++] = (measure_pair){i, fast_of(u, i)};
        if (each_of(u, i) >= 0)
            pairs[count++] = (measure_pair){each_of(u, i), i};
    }
    return count;
}

static int go_on(void *user, double share)
{
    suite *u = user;

    const double spent = (u->before + share * u->scene_cost) / u->planned;
    u->ended |= !u->listener->go_on(u->listener->user, u->done, spent);
    return !u->ended;
}

measure_plan suite_plan(const suite *u)
{
    return u->settings->quick ? (measure_plan){.rounds = 4, .sample = 0.004}
                              : (measure_plan){.rounds = 12, .sample = 0.02};
}

void suite_measure(suite *u, const suite_scene *scene)
{
    measure_plan plan = suite_plan(u);
    measure_side runs[SIDES_MAX];
    measure_pair pairs[2 * SIDES_MAX];
    measurement *m = malloc(sizeof *m);

    if (m == NULL)
        bench_die("no memory for a measurement");
    for (int i = 0; i < u->count; i++)
        runs[i] = (measure_side){suite_side_run, &u->sides[i]};
    plan.go_on = go_on;
    plan.user = u;
    const double start = measure_now();
    if (measure(m, &plan, runs, u->count)) {
        u->spare += SPARE * (measure_now() - start);
        u->spare -= measure_more(m, runs, pairs, find_pairs(u, pairs), u->spare);
        check_resident(u);
        report(u, scene, m);
        if (u->find != NULL)
            u->find(u, scene, m);
    }
    free(m);
}

/* Pairs: by when all but a few of those that touch have begun to, so that the ends of a convex cast are known. */
float suite_window(const suite_scene *scene)
{
    if (scene->type != TYPE_PAIRS || scene->pairs.query != &query_sweep)
        return 1.0f;
    return !strcmp(scene->family, "far-1e3") ? 2048.0f : 16.0f;
}

int suite_has_peers(const suite *u, const suite_scene *scene)
{
    const int quick = u->settings->quick && u->settings->scenes == NULL;

    return (u->settings->accuracies & 1) && scene->peers >= (quick ? PEERS_QUICK : PEERS_FULL);
}

/* The reference looks at every triangle. */
static size_t mesh_judged(const suite *u, const mesh_scene *shape, size_t swept)
{
    const size_t most = u->settings->quick || shape->triangle_count > 100000 ? 200 : 1000;

    return swept < most ? swept : most;
}

/* The queries of a batch. A scene that is too large for a quick run is measured in full if it was asked for. */
size_t suite_count(const suite *u, const suite_scene *scene)
{
    if (u->settings->queries > 0 && scene->count != CACHED)
        return u->settings->queries;
    return u->settings->quick && scene->quick_count > 0 ? scene->quick_count : scene->count;
}

size_t suite_triangles(const suite *u, const suite_scene *scene)
{
    if (scene->shape != SHAPE_TORUS)
        return (size_t)scene->rings * 1000;
    return scene->rings == 0 ? u->settings->mesh.triangle_count : 2 * (size_t)scene->rings * (size_t)scene->sides;
}

static void run_pairs(suite *u, const suite_scene *scene)
{
    const size_t count = suite_count(u, scene);
    pair_scene in = scene_make(scene->pairs.query, scene->family, count);
    answers out = answers_alloc(scene->pairs, count);

    suite_add_subjects(u, scene, "");
    for (int i = 0; i < u->count; i++)
        u->sides[i].pairs = (pair_call){.subject = &u->subjects.list[u->sides[i].subject],
                                        .task = scene->pairs,
                                        .accuracy = u->sides[i].exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST,
                                        .scene = &in,
                                        .out = &out};
    u->truth = truth_pairs(&in, suite_window(scene), u->settings->quick ? 1000 : 10000);
    suite_check_sides(u, scene);
    if (!scene->resident && (u->settings->accuracies & 1))
        rivals_add_plain(u, scene, &in, &out);
    for (int i = 0; i < u->count; i++) {
        u->sides[i].row.queries = (double)count;
        if (!(u->sides[i].row.bytes > 0.0))
            u->sides[i].row.bytes = pair_task_bytes(scene->pairs);
    }
    if (suite_has_peers(u, scene))
        rivals_add_peers(u, scene, (peer_task){.in = scene_in(&in), .count = count});
    suite_measure(u, scene);
    rivals_close_peers(u);
    truth_free(&u->truth);
    scene_free(&in);
    answers_free(&out);
}

void suite_add_mesh_sides(suite *u, const suite_scene *scene, const char *beside, mesh_call call, double queries,
                          carom_mesh **meshes)
{
    const int first = u->count;

    suite_add_subjects(u, scene, beside);
    for (int i = first; i < u->count; i++) {
        side *s = &u->sides[i];
        s->mesh = call;
        s->mesh.subject = &u->subjects.list[s->subject];
        s->mesh.accuracy = s->exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        if (call.task.work != MESH_BUILD && meshes[s->subject] == NULL)
            meshes[s->subject] = mesh_call_create(&s->mesh);
        s->mesh.mesh = meshes[s->subject];
        s->row.queries = queries;
    }
}

mesh_scene suite_mesh(const suite *u, const suite_scene *scene)
{
    if (scene->shape == SHAPE_TORUS && scene->rings == 0)
        return mesh_scene_copy(&u->settings->mesh);
    if (scene->shape >= SHAPE_ONE)
        return mesh_scene_make_instances(scene->shape);
    return scene->shape == SHAPE_TORUS ? mesh_scene_make(scene->rings, scene->sides)
                                       : mesh_scene_make_other(scene->shape, (size_t)scene->rings);
}

int suite_is_list(const suite_scene *scene)
{
    return scene->task.query != NULL && scene->task.query->mesh.is_list;
}

static void run_mesh(suite *u, const suite_scene *scene)
{
    mesh_scene shape = suite_mesh(u, scene);
    const mesh_task task = scene->type == TYPE_BUILD   ? (mesh_task){NULL, MESH_BUILD, 0}
                           : scene->type == TYPE_REFIT ? (mesh_task){NULL, MESH_REFIT, 0}
                                                       : scene->task;
    const size_t count = scene->type == TYPE_MESH ? suite_count(u, scene) : shape.triangle_count;
    const size_t swept = scene->type == TYPE_MESH ? count : 0;
    const int is_first = task.query == &query_mesh_first && task.work == MESH_ASK;
    columns spheres = spheres_make(&shape, scene->spheres, swept);
    carom_mesh *meshes[SUBJECTS_MAX] = {NULL};
    hits out = {.count = swept};
    mesh_call call = {.subject = &u->subjects.list[0], .shape = &shape, .spheres = &spheres, .out = &out, .task = task};

    if (suite_is_list(scene))
        meshes[0] = call.mesh = mesh_call_create(&call);
    out = hits_alloc(swept, suite_is_list(scene) ? mesh_call_count_hits(call) : swept);
    suite_add_mesh_sides(u, scene, "", call, (double)count, meshes);
    u->truth = truth_mesh(&shape, &spheres, mesh_judged(u, &shape, is_first ? swept : 0));
    suite_check_sides(u, scene);
    if (suite_has_peers(u, scene))
        rivals_add_peers(u, scene,
                         (peer_task){.in = (const float *const *)(const void *)spheres.column,
                                     .count = count,
                                     .vertices = shape.vertices,
                                     .indices = shape.indices,
                                     .vertex_count = shape.vertex_count,
                                     .triangle_count = shape.triangle_count,
                                     .instances = shape.parts != NULL ? &shape.parts->list : NULL});
    suite_measure(u, scene);
    rivals_close_peers(u);
    truth_free(&u->truth);
    for (int i = 0; i < u->subjects.count && shape.parts == NULL; i++)
        carom_mesh_destroy(meshes[i]);
    columns_free(&spheres);
    hits_free(&out);
    mesh_scene_free(&shape);
}

/* Of the best instruction set: with as many threads as its subjects have. */
static void measure_limits(suite *u)
{
    const subject *best = subjects_best(&u->subjects);

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

typedef void run_fn(suite *u, const suite_scene *scene);

static run_fn *run_of(scene_type type)
{
    switch (type) {
    case TYPE_PAIRS: return run_pairs;
    case TYPE_LATTICE: return lattices_run;
    case TYPE_CONTACTS: return contacts_run;
    case TYPE_CLOUD: return clouds_run;
    case TYPE_STEP: return steps_run;
    default: return run_mesh;
    }
}

/* Returns 0 if the run has to end. */
static int run_scene(suite *u, const planned_scene *p)
{
    u->count = 0;
    u->find = NULL;
    u->scene_cost = p->seconds;
    u->listener->scene(u->listener->user, p->scene.name, p->scene.what);
    run_of(p->scene.type)(u, &p->scene);
    for (int i = 0; i < u->count; i++)
        suite_side_free_resident(&u->sides[i]);
    u->before += p->seconds;
    u->done += !u->ended;
    return go_on(u, 0.0);
}

static void run_scenes(suite *u)
{
    planned_scene *scenes = NULL;

    subjects_report_devices(&u->subjects, u->settings->quick, u->listener);
    measure_limits(u);
    if (u->settings->accuracies & 1)
        u->peers = peers_load(u->listener);
    const size_t count = plan_scenes(u, &scenes);
    int going = go_on(u, 0.0);
    for (size_t i = 0; i < count && going; i++)
        going = run_scene(u, &scenes[i]);
    free(scenes);
}

int bench_run(const bench_settings *settings, const bench_listener *listener)
{
    suite *u = calloc(1, sizeof *u);

    if (u == NULL)
        bench_die("no memory for a run");
    u->settings = settings;
    u->listener = listener;
    subjects_open(&u->subjects, settings, listener);
    const int measurable = u->subjects.count > 0; /* else there is no plan, whose progress could be shown */
    if (measurable)
        run_scenes(u);
    subjects_close(&u->subjects);
    free(u);
    return measurable;
}
