/* SPDX-License-Identifier: MIT */
/* carom bake distance, bake clearance and bake drop: what is checked before any work, then the file from its beginning
 * to its end. */
#include "slabs.h"

#include "cli/base/unfinished.h"

#include <string.h>

enum { REHEARSAL_SIDE = 20 };

/* ---- before any work ----------------------------------------------------------------------------------------------
 */

static int check_options(const bake_request *o, const bake_kind *kind, bake_plan *plan)
{
    if (!o->mesh && !o->common.rehearsal)
        return cli_refuse(EXIT_USAGE, "%s: --mesh FILE is missing", kind->command);
    if (!o->common.output)
        return cli_refuse(EXIT_USAGE, "%s: -o OUT is missing", kind->command);
    if (kind->radius && !(o->bake.given & BAKE_GIVEN_RADIUS) && !o->common.rehearsal)
        return cli_refuse(EXIT_USAGE, "%s: --%s R is missing", kind->command, kind->radius);
    *plan = (bake_plan){.kind = kind,
                        .sign = o->bake.sign,
                        .band = o->bake.band,
                        .radius = o->bake.radius,
                        .arrays = 1u << kind->array | (o->bake.arrays & kind->more),
                        .accuracy = o->common.accuracy,
                        .part = o->bake.part,
                        .parts = o->bake.parts};
    if (o->common.rehearsal)
        return EXIT_DONE;
    plan->format = o->bake.is_part ? &bake_format_part : bake_format_of(o->common.output);
    return plan->format ? EXIT_DONE : EXIT_USAGE;
}

static int check_memory(const bake_request *o, const bake_plan *plan, const bake_mesh *mesh)
{
    bake_memory m;
    const int status = bake_memory_of(plan, mesh, &m);
    if (status != EXIT_DONE)
        return status;
    if (m.slab + m.list + m.input <= o->bake.max_memory)
        return EXIT_DONE;
    return cli_refuse(EXIT_USAGE,
                      "--max-memory %llu: %llu bytes are needed: %llu for a slab of %llu %s, %llu for the mesh, %llu "
                      "for the list of slabs",
                      (unsigned long long)o->bake.max_memory, (unsigned long long)(m.slab + m.list + m.input),
                      (unsigned long long)m.slab, (unsigned long long)m.nodes, plan->kind->unit,
                      (unsigned long long)m.input, (unsigned long long)m.list);
}

/* ---- the whole ----------------------------------------------------------------------------------------------------
 */

static int bake_file(const bake_request *o, const bake_plan *plan, bake_mesh *mesh)
{
    bake_partial partial;
    int status = bake_partial_open(&partial, o, plan);
    if (status == EXIT_DONE && !partial.is_finished)
        status = bake_crew_here->bake(o, mesh, &partial);
    if (status == EXIT_DONE)
        status = bake_partial_finish(&partial);
    bake_partial_close(&partial);
    return status;
}

/* A small volume around the made-up mesh, and no file. */
static int rehearse(const bake_request *o, bake_plan *plan, bake_mesh *mesh)
{
    const bake_options around = {.given = BAKE_GIVEN_DIMS, .dims = {REHEARSAL_SIDE, REHEARSAL_SIDE, REHEARSAL_SIDE}};
    bake_worker worker;
    int status = bake_plan_place(plan, &around, mesh->lower, mesh->upper);
    if (status == EXIT_DONE)
        status = bake_mesh_open(o, 0, mesh);
    if (status != EXIT_DONE)
        return status;
    status = bake_worker_open(&worker, o, mesh, plan);
    worker.question.allow_open = 1;
    if (status == EXIT_DONE)
        status = bake_worker_ask(&worker, 0); /* that for which there is room */
    bake_worker_close(&worker);
    return status;
}

static int run(const bake_request *o, bake_plan *plan, bake_mesh *mesh)
{
    carom_stats stats;
    int status = bake_mesh_read(o, mesh);
    if (status != EXIT_DONE)
        return status;
    if (o->common.rehearsal)
        return rehearse(o, plan, mesh);
    bake_mesh_name(mesh, plan->mesh);
    status = bake_plan_place(plan, &o->bake, mesh->lower, mesh->upper);
    if (status != EXIT_DONE)
        return status;
    if (unfinished_asked())
        return cli_refuse(EXIT_STOPPED, "%s: nothing is done yet", o->common.output);
    const uint64_t nodes = bake_crew_here->is_many ? 0 : bake_plan_nodes_before(plan, plan->end);
    status = bake_mesh_open(o, nodes, mesh);
    /* Also whether the mesh is closed, if it must be. */
    bake_question question = bake_question_of(o, plan);
    question.only_checks = 1;
    if (status == EXIT_DONE)
        status = bake_mesh_ask(mesh, &question, &(bake_slab){0}, &stats);
    if (status == EXIT_DONE)
        status = check_memory(o, plan, mesh);
    return status == EXIT_DONE ? bake_file(o, plan, mesh) : status;
}

static int bake(const bake_request *options, const bake_kind *kind)
{
    bake_plan plan;
    bake_mesh mesh = {0};
    bake_request own = *options;
    int status = check_options(options, kind, &plan);
    if (status != EXIT_DONE)
        return status;
    if (!options->common.rehearsal)
        unfinished_hold();
    if (own.common.threads == 0)
        own.common.threads = bake_crew_here->threads;
    status = run(&own, &plan, &mesh);
    bake_mesh_free(&mesh);
    return status;
}

int run_bake_distance(const void *options)
{
    return bake(options, &bake_kind_distance);
}

int run_bake_clearance(const void *options)
{
    return bake(options, &bake_kind_clearance);
}

int run_bake_drop(const void *options)
{
    return bake(options, &bake_kind_drop);
}
