/* SPDX-License-Identifier: MIT */
#include "slabs.h"

#include "cli/parallel.h"
#include "cli/unfinished.h"

/* ---- one slab -----------------------------------------------------------------------------------------------------
 */

bake_question bake_question_of(const cli_options *o, const bake_plan *plan)
{
    return (bake_question){
        .plan = plan, .accuracy = plan->accuracy, .allow_open = o->bake.allow_open, .box = plan->lattice};
}

int bake_worker_open(bake_worker *w, const cli_options *options, const bake_mesh *mesh, const bake_plan *plan)
{
    *w = (bake_worker){.options = options, .mesh = mesh, .question = bake_question_of(options, plan)};
    return bake_slab_alloc(plan, &w->slab) ? EXIT_DONE : cli_no_memory();
}

int bake_worker_ask(bake_worker *w, uint64_t slab)
{
    carom_stats stats;
    (void)bake_plan_slab(w->question.plan, slab, &w->question.box);
    const int status = bake_mesh_ask(w->mesh, &w->question, &w->slab, &stats);
    if (status != EXIT_DONE)
        return status;
    cli_report_fallback(&stats);
    if (!w->has_asked)
        cli_report_unused_device(w->options, &stats);
    w->has_asked = 1;
    return EXIT_DONE;
}

void bake_worker_close(bake_worker *w)
{
    bake_slab_free(&w->slab);
}

int bake_memory_of(const bake_plan *plan, const bake_mesh *mesh, bake_memory *out)
{
    out->nodes = bake_plan_most_nodes(plan);
    out->slab = out->nodes * bake_plan_node_bytes(plan);
    out->list = 9 * (plan->end - plan->begin);
    return bake_mesh_bytes(mesh, &out->input);
}

/* ---- all of them, by this process alone ---------------------------------------------------------------------------
 */

typedef struct run_progress {
    progress shown;
    const bake_question *question;
    uint64_t done; /* nodes of finished slabs */
} run_progress;

/* The library's progress counts layers of the box. */
static int show_progress(void *user, uint64_t done, uint64_t count)
{
    run_progress *p = user;
    const uint64_t *nodes = p->question->box.dims;
    progress_show(&p->shown, p->done + nodes[0] * nodes[1] * nodes[2] / count * done);
    return 0;
}

/* Slabs are computed one after another; where there is a second buffer, each is written while the next is computed. */
typedef struct pipeline {
    bake_worker *worker;
    bake_partial *partial;
    int is_double;      /* there is a second buffer */
    bake_slab computed; /* the second buffer */
    uint64_t next;      /* to be computed into that of the worker */
    uint64_t ready;     /* to be written from the second one; NO_SLAB: none */
    int asked, written; /* exit statuses */
} pipeline;

#define NO_SLAB UINT64_MAX

static void compute_or_write(void *user, unsigned i)
{
    pipeline *p = user;
    if (i == 0)
        p->asked = bake_worker_ask(p->worker, p->next);
    else
        p->written = bake_partial_put(p->partial, p->ready, &p->computed);
}

/* What is computed while an earlier slab cannot be written is not kept: it would not find room either. */
static int bake_next(pipeline *p, uint64_t slab)
{
    p->next = slab;
    p->asked = p->written = EXIT_DONE;
    parallel_run(p->ready == NO_SLAB ? 1 : 2, compute_or_write, p);
    p->ready = NO_SLAB;
    if (p->asked != EXIT_DONE || p->written != EXIT_DONE)
        return p->written != EXIT_DONE ? p->written : p->asked;
    if (!p->is_double)
        return bake_partial_put(p->partial, slab, &p->worker->slab);
    const bake_slab other = p->computed;
    p->computed = p->worker->slab;
    p->worker->slab = other;
    p->ready = slab;
    return EXIT_DONE;
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
        status = unfinished_asked() ? EXIT_STOPPED : bake_next(p, s);
        shown->done += bake_plan_nodes(plan, s);
    }
    const int written = write_last(p);
    status = written != EXIT_DONE ? written : status;
    return status == EXIT_DONE ? status : bake_partial_stopped(p->partial, status);
}

/* With one thread nothing runs beside the slab that it computes. */
static int has_room_for_two(const cli_options *o, const bake_mesh *mesh, const bake_plan *plan)
{
    bake_memory memory;
    return parallel_threads(o) > 1 && plan->end - plan->begin > 1 && bake_memory_of(plan, mesh, &memory) == EXIT_DONE &&
           2 * memory.slab + memory.list + memory.input <= o->bake.max_memory;
}

static int bake_alone(const cli_options *o, bake_mesh *mesh, bake_partial *partial)
{
    bake_worker worker;
    run_progress shown;
    pipeline p = {.worker = &worker, .partial = partial, .ready = NO_SLAB};
    int status = bake_worker_open(&worker, o, mesh, partial->plan);
    if (status == EXIT_DONE) {
        p.is_double = has_room_for_two(o, mesh, partial->plan) && bake_slab_alloc(partial->plan, &p.computed);
        shown.question = &worker.question;
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
