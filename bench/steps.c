/* SPDX-License-Identifier: MIT */
#include "steps.h"

#include "common.h"

#include <stdio.h>
#include <string.h>

double steps_weight(void)
{
    return 20.0;
}

/* The parts of the fastest step of each side, and what crossed in it. */
static void find_parts(suite *u, const suite_scene *scene, const measurement *m)
{
    char text[512];
    (void)m;

    for (int i = 0; i < u->count; i++) {
        const side *s = &u->sides[i];
        const double each = 1e9 / s->row.queries;
        size_t used = (size_t)snprintf(text, sizeof text, "%s: %s: ns a sphere:", scene->name,
                                       s->row.name + strlen(scene->name) + 1);
        for (int k = 0; k < STEP_PARTS && used < sizeof text; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %s %.3g", k > 0 ? "," : "", step_part_name(k),
                                     each * s->step.fastest_part[k]);
        if (s->step.resident != NULL && used < sizeof text)
            snprintf(text + used, sizeof text - used, "; bytes a sphere: %.1f brought to the host, %.1f returned",
                     (double)s->step.fastest.brought / s->row.queries,
                     (double)s->step.fastest.returned / s->row.queries);
        u->listener->finding(u->listener->user, text);
    }
}

/* The CPU path counts records, and its answers are those that a device's are compared with. */
static carom_mesh *open_reference(const mesh_scene *shape, subject *of)
{
    carom_context_desc desc = carom_context_desc_default();
    const mesh_call call = {.subject = of, .shape = shape};
    carom_error err = {0};

    *of = (subject){.backend = "cpu", .what = "reference"};
    desc.backend = CAROM_BACKEND_CPU;
    if (carom_context_create(&desc, &of->context, &err) != CAROM_OK)
        bench_die("the CPU path: %s", err.message);
    return mesh_call_create(&call);
}

static void compare(suite *u, step_call reference)
{
    for (int i = 0; i < u->count; i++) {
        side *s = &u->sides[i];
        reference.accuracy = s->step.accuracy;
        s->row.same = s->row.same != 0 && s->hash == step_call_check(&reference);
    }
}

void steps_run(suite *u, const suite_scene *scene)
{
    mesh_scene shape = suite_mesh(u, scene);
    const size_t count = suite_count(u, scene);
    subject reference;
    carom_mesh *meshes[SUBJECTS_MAX] = {NULL}, *mesh = open_reference(&shape, &reference);
    step_arrays arrays = step_arrays_make(&shape, count, &reference, mesh);

    suite_add_subjects(u, scene, "");
    for (int i = 0; i < u->count; i++) {
        side *s = &u->sides[i];
        s->step = (step_call){.subject = &u->subjects.list[s->subject],
                              .accuracy = s->exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST,
                              .shape = &shape,
                              .arrays = &arrays};
        const mesh_call call = {.subject = s->step.subject, .shape = &shape};
        if (meshes[s->subject] == NULL)
            meshes[s->subject] = mesh_call_create(&call);
        s->step.mesh = meshes[s->subject];
        s->row.queries = (double)count;
    }
    if (u->count == 0)
        u->listener->note(u->listener->user, scene->resident ? "step-device is not measured: no device is a subject"
                                                             : "step-cpu is not measured: the CPU path is no subject");
    u->truth = (truth){0};
    u->find = find_parts;
    suite_check_sides(u, scene);
    compare(u, (step_call){.subject = &reference, .shape = &shape, .mesh = mesh, .arrays = &arrays});
    if (u->count > 0)
        suite_measure(u, scene);
    for (int i = 0; i < u->subjects.count; i++)
        carom_mesh_destroy(meshes[i]);
    carom_mesh_destroy(mesh);
    carom_context_destroy(reference.context);
    step_arrays_free(&arrays);
    mesh_scene_free(&shape);
}
