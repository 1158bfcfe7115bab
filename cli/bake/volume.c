/* SPDX-License-Identifier: MIT */
/* The commands that bake a volume: what is checked before any work, then the outputs of a mesh from their beginning to
 * their end. */
#include "folder.h"
#include "several.h"

#include "cli/base/unfinished.h"
#include "cli/probe/probe.h"

#include <string.h>

/* ---- before any work ----------------------------------------------------------------------------------------------
 */

static int check_options(const bake_request *o, const bake_kind *kind, bake_outputs *out, bake_plan *plan)
{
    if (bake_mesh_named(o) != EXIT_DONE)
        return EXIT_USAGE;
    if (!o->common.output)
        return cli_refuse(EXIT_USAGE, "%s: -o OUT is missing", kind->command->name);
    if (kind->radius && !(o->bake.given & BAKE_GIVEN_RADIUS))
        return cli_refuse(EXIT_USAGE, "%s: --%s R is missing", kind->command->name, kind->radius);
    *plan = (bake_plan){.kind = kind,
                        .parameters = o->bake.parameters,
                        .arrays = 1u << kind->array | (o->bake.arrays & kind->more),
                        .accuracy = o->common.accuracy,
                        .part = o->bake.part,
                        .parts = o->bake.parts,
                        .bits = o->bake.bits};
    return bake_outputs_name(out, o);
}

static int check_memory(const bake_request *o, const bake_plan *plan, int outputs, const bake_mesh *mesh)
{
    bake_memory m;
    const int status = bake_memory_of(plan, mesh, &m);
    if (status != EXIT_DONE)
        return status;
    m.list *= (uint64_t)outputs;
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

static int run(const bake_request *o, bake_plan *plan, bake_outputs *out, bake_mesh *mesh, int *is_current)
{
    carom_stats stats;
    int status = bake_mesh_read(o, mesh);
    if (status != EXIT_DONE)
        return status;
    bake_mesh_name(mesh, plan->mesh);
    status = bake_plan_place(plan, &o->bake, mesh->lower, mesh->upper);
    if (status != EXIT_DONE)
        return status;
    bake_outputs_plan(out, plan);
    if (is_current && (*is_current = bake_outputs_are_current(out)))
        return EXIT_DONE;
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
        status = check_memory(o, plan, out->count, mesh);
    return status == EXIT_DONE ? bake_outputs_bake(out, o, mesh) : status;
}

int bake_one_mesh(const bake_request *options, const bake_kind *kind, bake_shared *shared, int *is_current)
{
    bake_plan plan;
    bake_outputs out;
    bake_mesh mesh = {.shared = shared};
    int status = check_options(options, kind, &out, &plan);
    if (status == EXIT_DONE)
        status = bake_outputs_check(&out, &plan);
    if (status != EXIT_DONE)
        return status;
    status = run(options, &plan, &out, &mesh, is_current);
    bake_mesh_free(&mesh);
    return status;
}

static int bake(const bake_request *options, const bake_kind *kind)
{
    bake_request own = *options;
    unfinished_hold();
    if (own.common.threads == 0)
        own.common.threads = bake_crew_here->threads;
    return bake_folder_is_meant(&own) ? bake_folder(&own, kind) : bake_one_mesh(&own, kind, NULL, NULL);
}

/* One node at the mesh. */
int bake_prepare_volume(const bake_request *o, const bake_kind *kind, uint32_t arrays, carom_accuracy accuracy)
{
    bake_plan plan = {.kind = kind,
                      .lattice = {.spacing = 1.0, .dims = {1, 1, 1}},
                      .parameters = o->bake.parameters,
                      .arrays = arrays,
                      .accuracy = accuracy,
                      .part = 1,
                      .parts = 1};
    bake_mesh mesh = {0};
    bake_slab slab = {0};
    carom_stats stats;
    bake_plan_cut(&plan);
    int status = bake_slab_alloc(&plan, &slab) ? EXIT_DONE : cli_no_memory();
    if (status == EXIT_DONE)
        status = probe_mesh(&o->common, &mesh.context, &mesh.mesh);
    bake_question question = bake_question_of(o, &plan);
    question.allow_open = 1;
    question.only_prepares = 1;
    if (status == EXIT_DONE)
        status = bake_mesh_ask(&mesh, &question, &slab, &stats);
    bake_slab_free(&slab);
    bake_mesh_free(&mesh);
    return status;
}

static const bake_kind *kind_of(const bake_request *options)
{
    for (int i = 0; i < BAKE_KINDS; i++)
        if (options->common.command == bake_kinds[i]->command)
            return bake_kinds[i];
    return NULL;
}

int run_bake_volume(const void *options)
{
    return bake(options, kind_of(options));
}

int prepare_bake_volume(const void *own, uint32_t present)
{
    const bake_request *options = own;
    (void)present;
    const bake_kind *kind = kind_of(options);
    const uint32_t arrays = 1u << kind->array | (options->bake.arrays & kind->more);
    return bake_prepare_volume(options, kind, arrays, options->common.accuracy);
}
