/* SPDX-License-Identifier: MIT */
#include "mesh_oracle.h"

#include "reference/judge_mesh.h"

ref_mesh oracle_mesh(const scene *s)
{
    return (ref_mesh){s->vertices, s->indices, s->triangle_count, s->masks};
}

ref_mesh_options oracle_options(const swept_spheres *b, size_t i)
{
    ref_mesh_options options = ref_mesh_no_options;
    options.cull_back = b->cull_back;
    options.start = (int)b->start;
    if (b->mask != NULL)
        options.mask = b->mask[i];
    return options;
}

oracle_hit oracle_first(const scene *s, const swept_spheres *b, size_t i)
{
    const ref_mesh mesh = oracle_mesh(s);
    const ref_mesh_options options = oracle_options(b, i);
    oracle_hit best;
    ref_sweep_case c;
    swept_spheres_case(b, i, s, 0, &c);
    const char *wrong = ref_mesh_first(&mesh, &c, b->column[SPHERE_T_MAX][i], &options, &best);
    if (wrong != NULL)
        fail_msg("the oracle: %s", wrong);
    return best;
}

ref_mesh_list oracle_all(const scene *s, const swept_spheres *b, size_t i)
{
    const ref_mesh mesh = oracle_mesh(s);
    const ref_mesh_options options = oracle_options(b, i);
    ref_mesh_list list;
    ref_sweep_case c;
    swept_spheres_case(b, i, s, 0, &c);
    const char *wrong = ref_mesh_all(&mesh, &c, b->column[SPHERE_T_MAX][i], &options, &list);
    if (wrong != NULL)
        fail_msg("the oracle: %s", wrong);
    return list;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

const char *oracle_judge_at(const scene *s, const swept_spheres *b, size_t i, const oracle_hit *truth, const hits *h,
                            size_t k)
{
    ref_given_hit given = {.triangle = hit_triangle(h, k),
                           .state = hit_state(h, k),
                           .feature = h->field[HIT_FEATURE].data[k],
                           .t = hit_float(h, HIT_T, k)};
    ref_sweep_case c;
    for (int axis = 0; axis < 3; axis++) {
        given.point[axis] = hit_float(h, HIT_X + axis, k);
        given.normal[axis] = hit_float(h, HIT_NX + axis, k);
    }
    swept_spheres_case(b, i, s, truth->triangle < 0 ? 0 : (size_t)truth->triangle, &c);
    return ref_judge_hit(&c, truth, &given);
}

const char *oracle_judge(const scene *s, const swept_spheres *b, size_t i, const oracle_hit *truth, const hits *h)
{
    return oracle_judge_at(s, b, i, truth, h, i);
}
