/* SPDX-License-Identifier: MIT */
#include "mesh.h"

#include <stdio.h>
#include <string.h>

void fuzz_mesh_ask(const query_type *query, carom_mesh *mesh, const query_sphere *of, int ends, int32_t *instance,
                   fuzz_mesh_answer *to)
{
    const float *c = of->sphere.center, *v = of->sphere.velocity, radius = (float)of->sphere.radius;
    void *out[QUERY_FIELDS_MAX];
    carom_error err = {0};
    carom_stats stats = {.size = sizeof stats};
    const float *limit = query_has_role(query, QUERY_REACH) ? &of->max_distance : &of->t_max;
    const query_inputs in = {.points = {{c, c + 1, c + 2, 12}, {v, v + 1, v + 2, 12}},
                             .scalars = {{&radius, 4}, {limit, 4}},
                             .cull_back = (uint8_t)of->options.cull_back,
                             .start = (carom_start)of->options.start,
                             .ends = ends};
    memset(to, 0xa5, sizeof *to);
    carom_list_totals totals = {0};
    carom_hit_list list = {
        .size = sizeof list, .totals = &totals, .capacity = FUZZ_MESH_TRIANGLES, .offsets = to->offsets};
    for (int f = 0; f < QUERY_FIELDS_MAX; f++)
        out[f] = to->field[f];
    const query_call call = {
        .count = 1, .accuracy = CAROM_ACCURACY_EXACT, .in = &in, .out = out, .instance = instance, .list = &list};
    fuzz_check_call(query->mesh.ask(mesh, &call, &stats, &err), &err, &stats);
    to->total = totals.total;
    to->stored = totals.stored;
}

int fuzz_mesh_judge(const query_type *query, const query_sphere *of, fuzz_mesh_answer *answer, char *what, size_t size)
{
    void *out[QUERY_FIELDS_MAX];
    query_verdict verdict = {0};
    for (int f = 0; f < QUERY_FIELDS_MAX; f++)
        out[f] = answer->field[f];
    const query_records records = {.out = out,
                                   .count = query->mesh.is_list ? answer->offsets[1] : 1,
                                   .stored = !query->mesh.is_list || answer->stored == answer->offsets[1]};
    query->mesh.judge(of, &records, &verdict);
    if (verdict.wrong)
        snprintf(what, size, "%s: %s; the reference: %s", query->name, verdict.wrong, verdict.truth);
    return !verdict.wrong;
}
