/* SPDX-License-Identifier: MIT */
/* carom bake distance, bake clearance and bake drop: slab after slab, until the file is complete or a signal asks for
 * an end. */
#include "mesh.h"
#include "partial.h"

#include "cli/unfinished.h"

#include <string.h>

enum { REHEARSAL_SIDE = 20 };

/* ---- before any work ----------------------------------------------------------------------------------------------
 */

static int check_options(const cli_options *o, const bake_kind *kind, bake_plan *plan)
{
    if (!o->mesh && !o->rehearsal)
        return cli_refuse(EXIT_USAGE, "%s: --mesh FILE is missing", kind->command);
    if (!o->output)
        return cli_refuse(EXIT_USAGE, "%s: -o OUT is missing", kind->command);
    if (kind->radius && !(o->bake.given & BAKE_GIVEN_RADIUS) && !o->rehearsal)
        return cli_refuse(EXIT_USAGE, "%s: --%s R is missing", kind->command, kind->radius);
    *plan = (bake_plan){.kind = kind,
                        .sign = o->bake.sign,
                        .band = o->bake.band,
                        .radius = o->bake.radius,
                        .arrays = 1u << kind->array | (o->bake.arrays & kind->more),
                        .accuracy = o->accuracy,
                        .part = o->bake.part,
                        .parts = o->bake.parts};
    if (o->rehearsal)
        return EXIT_DONE;
    plan->format = o->bake.is_part ? &bake_format_part : bake_format_of(o->output);
    return plan->format ? EXIT_DONE : EXIT_USAGE;
}

/* Buffers of a slab, the mesh twice (as read, and in the hierarchy), and the list of slabs. */
static int check_memory(const cli_options *o, const bake_plan *plan, const bake_mesh *mesh)
{
    uint64_t input;
    const int status = bake_mesh_bytes(mesh, &input);
    if (status != EXIT_DONE)
        return status;
    const uint64_t nodes = bake_plan_most_nodes(plan);
    const uint64_t slab = nodes * bake_plan_node_bytes(plan), list = 9 * (plan->end - plan->begin);
    if (slab + list + input <= o->bake.max_memory)
        return EXIT_DONE;
    return cli_refuse(
        EXIT_USAGE,
        "--max-memory %llu: %llu bytes are needed: %llu for a slab of %llu nodes, %llu for the mesh, %llu "
        "for the list of slabs",
        (unsigned long long)o->bake.max_memory, (unsigned long long)(slab + list + input), (unsigned long long)slab,
        (unsigned long long)nodes, (unsigned long long)input, (unsigned long long)list);
}

/* ---- slabs --------------------------------------------------------------------------------------------------------
 */

static bake_question question_of(const cli_options *o, const bake_plan *plan)
{
    return (bake_question){
        .plan = plan, .accuracy = plan->accuracy, .allow_open = o->bake.allow_open, .box = plan->lattice};
}

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

static void begin_progress(run_progress *p, const bake_partial *partial, const bake_question *question)
{
    const bake_plan *plan = question->plan;
    p->done = 0;
    p->question = question;
    for (uint64_t s = plan->begin; s < plan->end; s++)
        p->done += partial->done[s - plan->begin] ? bake_plan_nodes(plan, s) : 0;
    progress_begin(&p->shown, plan->kind->command, "nodes", p->done, bake_plan_nodes_before(plan, plan->end));
}

static int bake_one(const cli_options *o, const bake_mesh *mesh, bake_partial *p, uint64_t s,
                    const bake_question *question, const bake_slab *slab)
{
    carom_stats stats;
    const int status = bake_mesh_ask(mesh, question, slab, &stats);
    if (status != EXIT_DONE)
        return bake_partial_stopped(p, status);
    cli_report_fallback(&stats);
    if (s == p->plan->begin)
        cli_report_unused_device(o, &stats);
    return bake_partial_put(p, s, slab);
}

static int bake_slabs(const cli_options *o, const bake_mesh *mesh, bake_partial *p, const bake_slab *slab)
{
    const bake_plan *plan = p->plan;
    bake_question question = question_of(o, plan);
    run_progress shown;
    int status = EXIT_DONE;
    begin_progress(&shown, p, &question);
    question.progress = (carom_progress){show_progress, &shown};
    for (uint64_t s = plan->begin; s < plan->end && status == EXIT_DONE; s++) {
        if (p->done[s - plan->begin])
            continue;
        if (unfinished_asked()) {
            status = EXIT_STOPPED;
            break;
        }
        const uint64_t nodes = bake_plan_slab(plan, s, &question.box);
        status = bake_one(o, mesh, p, s, &question, slab);
        shown.done += nodes;
    }
    progress_end(&shown.shown);
    return status == EXIT_STOPPED ? bake_partial_stopped(p, status) : status;
}

static int bake_file(const cli_options *o, const bake_plan *plan, const bake_mesh *mesh)
{
    bake_partial partial;
    bake_slab slab = {0};
    int status = bake_partial_open(&partial, o, plan);
    if (status == EXIT_DONE && !bake_slab_alloc(plan, &slab))
        status = cli_no_memory();
    if (status == EXIT_DONE && !partial.is_finished)
        status = bake_slabs(o, mesh, &partial, &slab);
    if (status == EXIT_DONE)
        status = bake_partial_finish(&partial);
    bake_partial_close(&partial);
    bake_slab_free(&slab);
    return status;
}

/* A small volume around the made-up mesh, and no file. */
static int rehearse(const cli_options *o, bake_plan *plan, bake_mesh *mesh)
{
    const bake_options around = {.given = BAKE_GIVEN_DIMS, .dims = {REHEARSAL_SIDE, REHEARSAL_SIDE, REHEARSAL_SIDE}};
    carom_stats stats;
    bake_slab slab = {0};
    int status = bake_plan_place(plan, &around, mesh->lower, mesh->upper);
    if (status != EXIT_DONE)
        return status;
    bake_question question = question_of(o, plan);
    (void)bake_plan_slab(plan, 0, &question.box); /* that for which there is room */
    question.allow_open = 1;
    status = bake_mesh_open(o, 0, mesh);
    if (status == EXIT_DONE && !bake_slab_alloc(plan, &slab))
        status = cli_no_memory();
    if (status == EXIT_DONE)
        status = bake_mesh_ask(mesh, &question, &slab, &stats);
    bake_slab_free(&slab);
    return status;
}

static int run(const cli_options *o, bake_plan *plan, bake_mesh *mesh)
{
    carom_stats stats;
    int status = bake_mesh_read(o, mesh);
    if (status != EXIT_DONE)
        return status;
    if (o->rehearsal)
        return rehearse(o, plan, mesh);
    bake_mesh_name(mesh, plan->mesh);
    status = bake_plan_place(plan, &o->bake, mesh->lower, mesh->upper);
    if (status != EXIT_DONE)
        return status;
    if (unfinished_asked())
        return cli_refuse(EXIT_STOPPED, "%s: nothing is done yet", o->output);
    status = bake_mesh_open(o, bake_plan_nodes_before(plan, plan->end), mesh);
    /* Also whether the mesh is closed, if it must be. */
    bake_question question = question_of(o, plan);
    question.only_checks = 1;
    if (status == EXIT_DONE)
        status = bake_mesh_ask(mesh, &question, &(bake_slab){0}, &stats);
    if (status == EXIT_DONE)
        status = check_memory(o, plan, mesh);
    return status == EXIT_DONE ? bake_file(o, plan, mesh) : status;
}

static int bake(const cli_options *options, const bake_kind *kind)
{
    bake_plan plan;
    bake_mesh mesh = {0};
    int status = check_options(options, kind, &plan);
    if (status != EXIT_DONE)
        return status;
    if (!options->rehearsal)
        unfinished_hold();
    status = run(options, &plan, &mesh);
    bake_mesh_free(&mesh);
    return status;
}

int command_bake_distance(const cli_options *options)
{
    return bake(options, &bake_kind_distance);
}

int command_bake_clearance(const cli_options *options)
{
    return bake(options, &bake_kind_clearance);
}

int command_bake_drop(const cli_options *options)
{
    return bake(options, &bake_kind_drop);
}
