/* SPDX-License-Identifier: MIT */
/* The meshes of carom verify: every configuration against the first, byte by byte, in both modes, and its exact answers
 * against the reference. A query of a mesh costs many times one of a pair, so there are fewer. */
#include "mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SUBJECTS_MAX = 64,
    WARM_UP = 32,
    WARM_UP_MOST = 2048,
    MESH_SHARE = 8,
    REFERENCE_SHARE = 40,
    EXACT_SHARE = 8,
    SLOW_FACTOR = 8
};
/* Blocks that a scene has at least: they differ in options. The first has no options and is as large as it can be: of
 * so many queries or more (host/opencl/query_sort.c) a device puts them in order. */
enum {
    BLOCKS_LEAST = 4,
    BLOCK_LEAST = 1024,
    ORDERED = 1 << 13,
    EACH_ORDERED = ORDERED + (BLOCKS_LEAST - 1) * BLOCK_LEAST
};
/* Queries that a triangle of the large mesh stands for. */
enum { QUERIES_PER_TRIANGLE = 3 };

/* As for pairs: seconds that a configuration may take in all, and in one block, before it gets a smaller share. */
static const double patience = 10.0, block_patience = 3.0;

typedef struct counts {
    uint64_t queries, different, on_device;
    verify_rungs rungs;
    double seconds;
} counts;

typedef struct subject {
    verify_subject is;
    carom_mesh *mesh;   /* NULL: it takes no part, or no longer */
    carom_scene *scene; /* whose mesh it is; or NULL */
    char failure[300];
    double cost;  /* seconds per query, all types and modes */
    double share; /* of each block */
    counts cells[VERIFY_MODES][MESH_TYPES];
} subject;

typedef struct mesh_run {
    const verify_options *options;
    output *out;
    subject subjects[SUBJECTS_MAX]; /* the first is compared with */
    size_t count;
    uint64_t each, judged; /* queries of a scene; those of a block for the reference */
    verify_scene scene;
    verify_spheres swept_spheres;
    verify_mesh_answers expected, got;
    verify_mesh_tally tallies[MESH_TYPES][MESH_JUDGED];
    progress progress;
} mesh_run;

/* ---- running and comparing -------------------------------------------------------------------------------------- */

static int is_asked(const mesh_run *r, int mode)
{
    return !r->options->common.is_accuracy_given || mode == (int)r->options->common.accuracy;
}

static uint64_t share_of(int mode, uint64_t n)
{
    return mode == CAROM_ACCURACY_EXACT ? (n + EXACT_SHARE - 1) / EXACT_SHARE : n;
}

static void lose(mesh_run *r, subject *s, const char *what, carom_status status, const carom_error *err)
{
    output_format(r->out, "%s: %s on %s failed: %s: %s\n", s->is.name, what, r->scene.name, carom_status_name(status),
                  err->message);
    snprintf(s->failure, sizeof s->failure, "failed while working: %s", err->message);
    verify_scene_close(&s->scene, &s->mesh);
    s->is.context = NULL; /* stays out of the rest; its owner destroys it */
}

/* A configuration that fails in the middle is a difference. */
static int answer(mesh_run *r, subject *s, const verify_mesh_request *ask, verify_mesh_answers *to)
{
    counts *cell = &s->cells[ask->accuracy][ask->type];
    carom_error err = {0};
    carom_stats stats;
    const double start = cli_seconds();
    carom_status status = verify_mesh_ask(s->mesh, &r->scene, ask, &r->swept_spheres, to, &stats, &err);
    cell->seconds += cli_seconds() - start;
    if (status != CAROM_OK) {
        cell->different += ask->count;
        lose(r, s, query_meshes[ask->type]->name, status, &err);
        return 0;
    }
    cell->queries += ask->count;
    verify_add_rungs(&cell->rungs, &stats);
    cell->on_device += stats.on_device;
    return 1;
}

static void explain(mesh_run *r, const subject *s, const verify_mesh_request *ask, uint64_t first, uint64_t i)
{
    const subject *base = &r->subjects[0];
    output_format(r->out, "%s differs from %s, %s mode, first in %s query %llu on %s:\n", s->is.name, base->is.name,
                  ask->accuracy == CAROM_ACCURACY_FAST ? "fast" : "exact", query_meshes[ask->type]->name,
                  (unsigned long long)(first + i), r->scene.name);
    verify_mesh_print_sphere(r->out, &r->swept_spheres, i);
    verify_mesh_print_answer(r->out, ask, base->is.name, &r->scene, &r->expected, i);
    verify_mesh_print_answer(r->out, ask, s->is.name, &r->scene, &r->got, i);
}

static void compare(mesh_run *r, subject *s, const verify_mesh_request *ask, uint64_t first)
{
    uint64_t *different = &s->cells[ask->accuracy][ask->type].different;
    const uint64_t before = *different;
    if (verify_mesh_same(ask, &r->expected, &r->got))
        return;
    for (uint64_t i = 0; i < ask->count; i++)
        if (verify_mesh_differs(ask, &r->expected, &r->got, i) && (*different)++ == 0)
            explain(r, s, ask, first, i);
    /* the same records, but other offsets or totals */
    if (*different == before && (*different)++ == 0)
        explain(r, s, ask, first, ask->count - 1);
}

/* Where a list ends depends on how many spheres there are, so a smaller share is compared with answers to that share
 * alone, which are not counted again. */
static int expect_share(mesh_run *r, verify_mesh_request *expected, const verify_mesh_request *ask)
{
    carom_error err = {0};
    carom_stats stats;
    subject *base = &r->subjects[0];
    if (expected->count == ask->count)
        return 1;
    *expected = *ask;
    const carom_status status =
        verify_mesh_ask(base->mesh, &r->scene, ask, &r->swept_spheres, &r->expected, &stats, &err);
    if (status == CAROM_OK)
        return 1;
    base->cells[ask->accuracy][ask->type].different += ask->count;
    lose(r, base, query_meshes[ask->type]->name, status, &err);
    return 0;
}

/* Queries of n that a configuration answers. */
static uint64_t part_of(const subject *s, uint64_t n)
{
    const uint64_t part = (uint64_t)(s->share * (double)n) + 1;
    return part < n ? part : n;
}

static int run_type(mesh_run *r, size_t scene, int type, int mode, uint64_t first, uint64_t n)
{
    verify_mesh_request all = {type, (carom_accuracy)mode, share_of(mode, n)};
    if (!r->subjects[0].mesh || !answer(r, &r->subjects[0], &all, &r->expected))
        return 0;
    if (mode == CAROM_ACCURACY_EXACT && scene < MESH_JUDGED)
        verify_mesh_judge(&all, &r->scene, &r->swept_spheres, &r->expected,
                          r->judged < all.count ? r->judged : all.count, r->out, &r->tallies[type][scene]);
    for (size_t i = 1; i < r->count; i++) {
        subject *s = &r->subjects[i];
        verify_mesh_request ask = {type, (carom_accuracy)mode, share_of(mode, part_of(s, n))};
        if (!s->mesh)
            continue;
        if (!expect_share(r, &all, &ask))
            return 0;
        if (answer(r, s, &ask, &r->got))
            compare(r, s, &ask, first);
    }
    return 1;
}

static void open_scene(mesh_run *r, size_t scene)
{
    verify_scene_make(scene, r->options->seed, r->options->queries / QUERIES_PER_TRIANGLE, &r->scene);
    for (size_t i = 0; i < r->count; i++) {
        subject *s = &r->subjects[i];
        carom_error err = {0};
        const carom_status status =
            s->is.context ? verify_scene_open(s->is.context, &r->scene, &s->scene, &s->mesh, &err) : CAROM_OK;
        if (status == CAROM_OK)
            continue;
        s->cells[0][0].different++;
        lose(r, s, "a mesh", status, &err);
    }
}

static void close_scene(mesh_run *r)
{
    for (size_t i = 0; i < r->count; i++)
        verify_scene_close(&r->subjects[i].scene, &r->subjects[i].mesh);
}

/* Queries of a block: enough are left for the other blocks that a scene has at least. */
static uint64_t block_at(const mesh_run *r, uint64_t first, uint64_t block)
{
    const uint64_t least = r->each / BLOCKS_LEAST < BLOCK_LEAST ? r->each / BLOCKS_LEAST : BLOCK_LEAST;
    const uint64_t n = r->each - first - (block < BLOCKS_LEAST ? BLOCKS_LEAST - 1 - block : 0) * least;
    return n < MESH_BLOCK ? n : MESH_BLOCK;
}

static int run_scene(mesh_run *r, size_t scene)
{
    const uint64_t seed = r->options->seed * MESH_SCENES + scene;
    int done = 1;
    open_scene(r, scene);
    for (uint64_t first = 0, n, block = 0; first < r->each && done; first += n, block++) {
        n = block_at(r, first, block);
        verify_spheres_make(&r->scene, seed, first, n, block, &r->swept_spheres);
        for (int type = 0; type < MESH_TYPES && done; type++)
            for (int mode = 0; mode < VERIFY_MODES && done; mode++)
                if (is_asked(r, mode))
                    done = run_type(r, scene, type, mode, first, n);
        progress_show(&r->progress, scene * r->each + first + n);
    }
    close_scene(r);
    return done;
}

/* ---- who answers how much --------------------------------------------------------------------------------------- */

/* Seconds per query, one of each type and mode. */
static double cost_of(const subject *s)
{
    double cost = 0.0;
    for (int mode = 0; mode < VERIFY_MODES; mode++)
        for (int type = 0; type < MESH_TYPES; type++)
            if (s->cells[mode][type].queries > 0)
                cost += s->cells[mode][type].seconds / (double)s->cells[mode][type].queries;
    return cost;
}

static void ask_all(mesh_run *r, subject *s, uint64_t n)
{
    for (int type = 0; type < MESH_TYPES; type++)
        for (int mode = 0; mode < VERIFY_MODES && s->mesh; mode++) {
            const verify_mesh_request ask = {type, (carom_accuracy)mode, share_of(mode, n)};
            if (is_asked(r, mode))
                answer(r, s, &ask, &r->got);
        }
    s->cost = cost_of(s);
    if (s->mesh) /* what failed stays counted */
        memset(s->cells, 0, sizeof s->cells);
}

/* The first few queries build kernels; the next are timed, so that an emulator is not given a whole block. What looks
 * slow may be a device that takes its time for a call, so it is timed with more and more of them, as long as that takes
 * little. */
static void warm_up(mesh_run *r)
{
    open_scene(r, 0);
    verify_spheres_make(&r->scene, r->options->seed, 0, WARM_UP_MOST, 0, &r->swept_spheres);
    for (size_t i = 0; i < r->count; i++) {
        subject *s = &r->subjects[i];
        ask_all(r, s, WARM_UP);
        ask_all(r, s, WARM_UP);
        const double block = (double)block_at(r, 0, 0);
        for (uint64_t n = WARM_UP; n < WARM_UP_MOST && s->cost * block > block_patience && s->cost * (double)n < 0.5;)
            ask_all(r, s, n *= 4);
        while (s->share * block > WARM_UP && s->cost * s->share * block > block_patience)
            s->share /= 2;
    }
    close_scene(r);
}

/* After the first scene. */
static void choose_shares(mesh_run *r)
{
    double best = 0.0;
    for (size_t i = 0; i < r->count; i++) {
        subject *s = &r->subjects[i];
        s->cost = cost_of(s);
        if (s->is.context && s->is.is_cpu && (best <= 0.0 || s->cost < best))
            best = s->cost;
    }
    for (size_t i = 1; i < r->count; i++) {
        subject *s = &r->subjects[i];
        if (s->cost > SLOW_FACTOR * best && s->cost * (double)(MESH_SCENES * r->each) > patience)
            s->share *= SLOW_FACTOR * best / s->cost;
    }
}

/* ---- the matrix and the reference ------------------------------------------------------------------------------- */

static void write_row(const mesh_run *r, const subject *s, int mode)
{
    counts sum = {0};
    output_format(r->out, "%-52s", s->is.name);
    for (int type = 0; type < MESH_TYPES; type++) {
        const counts *c = &s->cells[mode][type];
        verify_write_cell(r->out, mode, c->queries, &c->rungs, c->different);
        sum.seconds += c->seconds;
        sum.queries += c->queries;
        sum.on_device += c->on_device;
    }
    if (sum.queries > 0)
        output_format(r->out, " %11.1f", 1e9 * sum.seconds / (double)sum.queries);
    if (s->share < 1.0)
        output_format(r->out, "  share %.3g %%", 100.0 * s->share);
    if (sum.queries > 0 && !s->is.is_cpu && sum.on_device == 0)
        output_text(r->out, "  on the CPU");
    output_format(r->out, "%s%s\n", s->failure[0] ? "  " : "", s->failure);
}

static void write_matrix(const mesh_run *r)
{
    const double asked = (double)(MESH_SCENES * r->each);
    static const char *const titles[VERIFY_MODES] = {"meshes, fast mode: queries / different",
                                                     "meshes: first filter + second + integers / different"};
    output_format(r->out,
                  "\nmeshes: %.0f queries of each type, %.3g %% of the pairs, in exact mode an eighth of them; "
                  "%d meshes of %d triangles, one of them of instances that move, one of %zu\n",
                  asked, 100.0 * asked / (double)r->options->queries, (int)MESH_JUDGED, (int)MESH_TRIANGLES,
                  r->scene.triangle_count);
    for (int mode = 0; mode < VERIFY_MODES; mode++) {
        if (!is_asked(r, mode))
            continue;
        output_format(r->out, "\n%-52s", titles[mode]);
        for (int type = 0; type < MESH_TYPES; type++)
            verify_write_column(r->out, query_meshes[type]->name);
        output_text(r->out, "    ns/query\n");
        for (size_t i = 0; i < r->count; i++)
            write_row(r, &r->subjects[i], mode);
    }
}

static void write_reference(const mesh_run *r, uint64_t *wrong)
{
    verify_mesh_tally sum = {0};
    output_format(r->out, "\nexact reference on meshes of %d triangles; exact mode: wrong if anything differs\n",
                  (int)MESH_TRIANGLES);
    output_format(r->out, "  %-14s %-24s %8s %8s\n", "query", "mesh", "queries", "wrong");
    for (int type = 0; type < MESH_TYPES; type++)
        for (size_t i = 0; i < MESH_JUDGED; i++) {
            const verify_mesh_tally *t = &r->tallies[type][i];
            output_format(r->out, "  %-14s %-24s %8llu %8llu\n", query_meshes[type]->name, verify_scene_name(i),
                          (unsigned long long)t->queries, (unsigned long long)t->wrong);
            sum.queries += t->queries;
            sum.wrong += t->wrong;
        }
    output_format(r->out, "mesh reference: %llu queries, %llu wrong\n", (unsigned long long)sum.queries,
                  (unsigned long long)sum.wrong);
    *wrong += sum.wrong;
}

static void write_all(const mesh_run *r, double seconds, uint64_t *different, uint64_t *wrong)
{
    double answers[VERIFY_MODES] = {0};
    for (size_t i = 0; i < r->count; i++)
        for (int mode = 0; mode < VERIFY_MODES; mode++)
            for (int type = 0; type < MESH_TYPES; type++) {
                answers[mode] += (double)r->subjects[i].cells[mode][type].queries;
                *different += r->subjects[i].cells[mode][type].different;
            }
    write_matrix(r);
    output_format(r->out, "mesh bits: %.0f fast and %.0f exact answers compared in %.1f s, seed %llu\n", answers[0],
                  answers[1], seconds, (unsigned long long)r->options->seed);
    if (is_asked(r, CAROM_ACCURACY_EXACT))
        write_reference(r, wrong);
}

static void choose_counts(mesh_run *r)
{
    const uint64_t total = r->options->queries, each = total / (MESH_SHARE * MESH_SCENES), least = 4 * BLOCKS_LEAST;
    uint64_t blocks = 0;
    r->each = each > least ? each : total < least ? total : least;
    if (r->each < EACH_ORDERED && total >= MESH_SHARE * (uint64_t)EACH_ORDERED)
        r->each = EACH_ORDERED;
    for (uint64_t first = 0; first < r->each; blocks++)
        first += block_at(r, first, blocks);
    r->judged = (total < 100000 ? total : 100000) / REFERENCE_SHARE / (MESH_JUDGED * blocks) + 1;
    for (size_t i = 0; i < r->count; i++)
        r->subjects[i].share = 1.0;
}

int verify_meshes(const verify_subject *subjects, size_t count, const verify_options *options, output *out,
                  uint64_t *different, uint64_t *wrong)
{
    mesh_run *r = cli_alloc(1, sizeof *r);
    const double start = cli_seconds();
    if (!r)
        return cli_no_memory();
    memset(r, 0, sizeof *r); /* no literal: clang makes it on the stack, where there is no room for it */
    r->options = options;
    r->out = out;
    int status = verify_mesh_answers_alloc(&r->expected) | verify_mesh_answers_alloc(&r->got);
    for (size_t i = 0; i < count && r->count < SUBJECTS_MAX; i++)
        if (subjects[i].context)
            r->subjects[r->count++].is = subjects[i];
    if (status == EXIT_DONE && r->count > 0) {
        choose_counts(r);
        progress_begin(&r->progress, "verify meshes", "spheres", 0, MESH_SCENES * r->each);
        warm_up(r);
        for (size_t scene = 0; scene < MESH_SCENES && run_scene(r, scene); scene++)
            if (scene == 0)
                choose_shares(r);
        progress_end(&r->progress);
        write_all(r, cli_seconds() - start, different, wrong);
    }
    verify_mesh_answers_free(&r->expected);
    verify_mesh_answers_free(&r->got);
    free(r);
    return status;
}
