/* SPDX-License-Identifier: MIT */
#include "slabs.h"

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

static int bake_missing(bake_worker *w, bake_partial *p, run_progress *shown)
{
    const bake_plan *plan = p->plan;
    int status = EXIT_DONE;
    for (uint64_t s = plan->begin; s < plan->end && status == EXIT_DONE; s++) {
        if (p->done[s - plan->begin])
            continue;
        status = unfinished_asked() ? EXIT_STOPPED : bake_worker_ask(w, s);
        if (status == EXIT_DONE)
            status = bake_partial_put(p, s, &w->slab);
        shown->done += bake_plan_nodes(plan, s);
    }
    return status == EXIT_DONE ? status : bake_partial_stopped(p, status);
}

static int bake_alone(const cli_options *o, bake_mesh *mesh, bake_partial *p)
{
    bake_worker worker;
    run_progress shown;
    int status = bake_worker_open(&worker, o, mesh, p->plan);
    if (status == EXIT_DONE) {
        shown.question = &worker.question;
        bake_partial_progress(p, &shown.shown, &shown.done);
        worker.question.progress = (carom_progress){show_progress, &shown};
        status = bake_missing(&worker, p, &shown);
        progress_end(&shown.shown);
    }
    bake_worker_close(&worker);
    return status;
}

static const bake_crew alone = {.bake = bake_alone};
const bake_crew *bake_crew_here = &alone;
