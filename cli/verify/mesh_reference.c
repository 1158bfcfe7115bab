/* SPDX-License-Identifier: MIT */
/* Exact answers about meshes against the reference, which tries every triangle. A graze that begins at the end of its
 * window to the last bit of binary64 is beyond the reference: that sphere is not counted. */
#include "mesh.h"

void verify_mesh_judge(const verify_mesh_request *ask, const verify_scene *scene, const verify_spheres *swept_spheres,
                       const verify_mesh_answers *answers, uint64_t count, output *out, verify_mesh_tally *tally)
{
    const query_type *q = query_meshes[ask->type];
    for (uint64_t i = 0; i < count; i++) {
        const query_sphere sphere = verify_spheres_case(scene, swept_spheres, i);
        const query_records records = verify_mesh_records(ask, answers, i);
        query_verdict v = {0};
        q->mesh.judge(&sphere, &records, &v);
        tally->queries += (uint64_t)v.known;
        if (!v.wrong || tally->wrong++ > 0)
            continue;
        output_format(out, "  first wrong answer of exact mode: %s, %s on %s:\n", v.wrong, q->name, scene->name);
        verify_mesh_print_sphere(out, swept_spheres, i);
        verify_mesh_print_answer(out, ask, "answer", scene, answers, i);
        output_format(out, "    reference: %s\n", v.truth);
    }
}
