/* SPDX-License-Identifier: MIT */
#include "mesh.h"

#include <stdio.h>

carom_batch query_batch(const query_call *call, size_t size)
{
    const query_inputs *in = call->in;
    return (carom_batch){.size = size,
                         .count = call->count,
                         .accuracy = call->accuracy,
                         .select = in->select,
                         .elements = in->elements,
                         .prepare = call->in->prepare,
                         .progress = in->progress};
}

carom_mesh_sweep_desc query_swept(const query_call *call)
{
    const query_inputs *in = call->in;
    const carom_points none = {0};
    return (carom_mesh_sweep_desc){.batch = query_batch(call, sizeof(carom_mesh_sweep_desc)),
                                   .center = in->points[0],
                                   .velocity = in->ends ? none : in->points[1],
                                   .end = in->ends ? in->points[1] : none,
                                   .radius = in->scalars[0],
                                   .t_max = in->scalars[1],
                                   .mask = carom_uints_of(in->mask),
                                   .cull_back = in->cull_back,
                                   .start = in->start,
                                   .bundle = in->bundle};
}

carom_mesh_overlap_desc query_at_rest(const query_call *call)
{
    const query_inputs *in = call->in;
    return (carom_mesh_overlap_desc){.batch = query_batch(call, sizeof(carom_mesh_overlap_desc)),
                                     .center = in->points[0],
                                     .radius = in->scalars[0],
                                     .mask = carom_uints_of(in->mask),
                                     .sign = in->sign,
                                     .allow_open = in->allow_open,
                                     .bundle = in->bundle};
}

ref_sweep_case query_sphere_and(const query_sphere *s, int32_t triangle)
{
    ref_sweep_case c = s->sphere;
    if (triangle >= 0)
        ref_mesh_triangle(&s->mesh, (size_t)triangle, c.p);
    return c;
}

void query_judge_whether(uint8_t given, int64_t found, query_verdict *v)
{
    const uint8_t expected = found < 0 ? CAROM_OVERLAP_INVALID : found > 0;
    snprintf(v->truth, sizeof v->truth, "hit=%d", expected);
    if (v->known && given != expected)
        v->wrong = "a hit that is none, or one that is missed";
}

void query_judge_list(const query_records *answer, uint64_t truth, query_verdict *v)
{
    if (!v->known || v->wrong)
        return;
    if (answer->count != truth) {
        snprintf(v->truth, sizeof v->truth, "%llu records", (unsigned long long)truth);
        v->wrong = "another number of records";
    } else if (!answer->stored && !answer->is_full) {
        snprintf(v->truth, sizeof v->truth, "%llu records, for which there was room", (unsigned long long)truth);
        v->wrong = "a list that ends before it is full";
    }
}
