/* SPDX-License-Identifier: MIT */
#include "slabs.h"
#include "layers.h"

#include "cli/base/parallel.h"
#include "cli/base/unfinished.h"

/* ---- one slab -----------------------------------------------------------------------------------------------------
 */

bake_question bake_question_of(const bake_request *o, const bake_plan *plan)
{
    return (bake_question){
        .plan = plan, .accuracy = plan->accuracy, .allow_open = o->bake.allow_open, .box = plan->lattice};
}

int bake_worker_open(bake_worker *w, const bake_request *options, const bake_mesh *mesh, const bake_plan *plan)
{
    *w = (bake_worker){.options = options, .mesh = mesh, .question = bake_question_of(options, plan)};
    return bake_slab_alloc(plan, &w->slab) ? EXIT_DONE : cli_no_memory();
}

int bake_worker_ask_layers(bake_worker *w, uint64_t slab, uint64_t first)
{
    const bake_plan *plan = w->question.plan;
    carom_stats stats;
    bake_slab rest = w->slab;
    (void)bake_plan_slab(plan, slab, &w->question.box);
    w->question.first = first;
    for (int a = 0; a < BAKE_ARRAYS; a++)
        if (rest.array[a])
            rest.array[a] =
                (char *)rest.array[a] + first * bake_layer_nodes(plan, &w->question.box) * bake_arrays[a].size;
    const int status = bake_mesh_ask(w->mesh, &w->question, &rest, &stats);
    if (status != EXIT_DONE && status != EXIT_STOPPED)
        return status;
    const carom_lattice *box = &w->question.box;
    const uint64_t end = status == EXIT_DONE ? box->dims[plan->kind->axes - 1] : w->layers;
    bake_store(plan, &w->slab, first * bake_layer_nodes(plan, box), end * bake_layer_nodes(plan, box));
    cli_report_fallback(&stats);
    if (!w->has_asked)
        cli_report_unused_device(&w->options->common, &stats);
    w->has_asked = 1;
    return status;
}

int bake_worker_ask(bake_worker *w, uint64_t slab)
{
    return bake_worker_ask_layers(w, slab, 0);
}

void bake_worker_close(bake_worker *w)
{
    bake_slab_free(&w->slab);
}

int bake_memory_of(const bake_plan *plan, const bake_mesh *mesh, bake_memory *out)
{
    out->nodes = bake_plan_most_nodes(plan);
    out->slab = out->nodes * bake_plan_memory_bytes(plan);
    if ((plan->arrays & (1u << BAKE_gradient)) && !(plan->arrays & (1u << BAKE_triangle)))
        out->slab += out->nodes * sizeof(int32_t); /* gradients need triangles, which are not written then */
    out->list = 9 * (plan->end - plan->begin);
    return bake_mesh_bytes(mesh, &out->input);
}

/* ---- all of them, by this process alone ---------------------------------------------------------------------------
 */

/* A step ends a while after its start, or for a signal; the layers that are there are written and recorded. */
static const double step_seconds = 2.0;

typedef struct run_progress {
    progress shown;
    bake_worker *worker;
    uint64_t done; /* nodes of finished slabs */
    double begun;  /* seconds: when the step was */
} run_progress;

/* The library's progress counts layers of the box. A step ends when there are more: else it would get nowhere. */
static int show_progress(void *user, uint64_t done, uint64_t count)
{
    run_progress *p = user;
    const bake_question *question = &p->worker->question;
    const int has_more = done > p->worker->layers;
    p->worker->layers = done;
    progress_show(&p->shown, p->done + bake_layer_nodes(question->plan, &question->box) * done);
    return has_more && done < count && (unfinished_asked() || cli_seconds() - p->begun > step_seconds);
}

/* Slabs are computed one after another; where there is a second buffer, each is written while the next is computed. */
typedef struct pipeline {
    bake_worker *worker;
    bake_partial *partial;
    run_progress *shown;
    int is_double;      /* there is a second buffer */
    bake_slab computed; /* the second buffer */
    bake_layers there;  /* of an earlier run */
    uint64_t next;      /* to be computed into that of the worker, */
    uint64_t first;     /* from this layer on: the others are there */
    uint64_t ready;     /* to be written from the second one; NO_SLAB: none */
    int asked, written; /* exit statuses */
} pipeline;

#define NO_SLAB UINT64_MAX

static void compute_or_write(void *user, unsigned i)
{
    pipeline *p = user;
    if (i == 0)
        p->asked = bake_worker_ask_layers(p->worker, p->next, p->first);
    else
        p->written = bake_partial_put(p->partial, p->ready, &p->computed);
}

/* The slab, or some layers of it. What is computed while an earlier slab cannot be written is not kept: it would not
 * find room either. */
static int bake_step(pipeline *p)
{
    p->asked = p->written = EXIT_DONE;
    p->shown->begun = cli_seconds();
    p->worker->layers = p->first;
    parallel_run(p->ready == NO_SLAB ? 1 : 2, compute_or_write, p);
    p->ready = NO_SLAB;
    if (p->written != EXIT_DONE || (p->asked != EXIT_DONE && p->asked != EXIT_STOPPED))
        return p->written != EXIT_DONE ? p->written : p->asked;
    if (p->asked == EXIT_STOPPED) {
        const uint64_t first = p->first;
        p->first = p->worker->layers;
        return bake_layers_put(p->partial, p->next, first, p->first, &p->worker->slab);
    }
    if (!p->is_double)
        return bake_partial_put(p->partial, p->next, &p->worker->slab);
    const bake_slab other = p->computed;
    p->computed = p->worker->slab;
    p->worker->slab = other;
    p->ready = p->next;
    return EXIT_DONE;
}

static int bake_next(pipeline *p, uint64_t slab)
{
    int status = EXIT_DONE;
    p->next = slab;
    p->first =
        p->there.count > 0 && p->there.slab == slab ? bake_layers_read(p->partial, &p->there, &p->worker->slab) : 0;
    do
        status = unfinished_asked() ? EXIT_STOPPED : bake_step(p);
    while (status == EXIT_DONE && p->asked == EXIT_STOPPED);
    return status;
}

static int write_last(pipeline *p)
{
    return p->ready == NO_SLAB ? EXIT_DONE : bake_partial_put(p->partial, p->ready, &p->computed);
}

static int bake_missing(pipeline *p, run_progress *shown)
{
    const bake_plan *plan = p->partial->plan;
    int status = EXIT_DONE;
    for (uint64_t s = plan->begin; s < plan->end && status == EXIT_DONE; s++) {
        if (p->partial->done[s - plan->begin])
            continue;
        status = bake_next(p, s);
        shown->done += bake_plan_nodes(plan, s);
    }
    const int written = write_last(p);
    status = written != EXIT_DONE ? written : status;
    return status == EXIT_DONE ? status : bake_growing_stopped(&p->partial->file, status);
}

/* With one thread nothing runs beside the slab that it computes. */
static int has_room_for_two(const bake_request *o, const bake_mesh *mesh, const bake_plan *plan)
{
    bake_memory memory;
    return parallel_threads(o->common.threads) > 1 && plan->end - plan->begin > 1 &&
           bake_memory_of(plan, mesh, &memory) == EXIT_DONE &&
           2 * memory.slab + memory.list + memory.input <= o->bake.max_memory;
}

static int bake_alone(const bake_request *o, bake_mesh *mesh, bake_partial *partial)
{
    bake_worker worker;
    run_progress shown;
    pipeline p = {.worker = &worker, .partial = partial, .shown = &shown, .ready = NO_SLAB};
    int status = bake_worker_open(&worker, o, mesh, partial->plan);
    if (status == EXIT_DONE) {
        p.is_double = has_room_for_two(o, mesh, partial->plan) && bake_slab_alloc(partial->plan, &p.computed);
        p.there = bake_layers_find(partial);
        shown.worker = &worker;
        bake_partial_progress(partial, &shown.shown, &shown.done);
        worker.question.progress = (carom_progress){show_progress, &shown};
        status = bake_missing(&p, &shown);
        progress_end(&shown.shown);
    }
    bake_slab_free(&p.computed);
    bake_worker_close(&worker);
    return status;
}

static const bake_crew alone = {.bake = bake_alone};
const bake_crew *bake_crew_here = &alone;
