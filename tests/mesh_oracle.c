/* SPDX-License-Identifier: MIT */
#include "mesh_oracle.h"

#include <math.h>

#include "judge.h"

ref_mesh oracle_mesh(const scene *s)
{
    return (ref_mesh){s->vertices, s->indices, s->triangle_count, s->masks};
}

ref_mesh_options oracle_options(const balls *b, size_t i)
{
    ref_mesh_options options = ref_mesh_no_options;
    options.cull_back = b->cull_back;
    options.start = (int)b->start;
    if (b->mask != NULL)
        options.mask = b->mask[i];
    return options;
}

oracle_hit oracle_first(const scene *s, const balls *b, size_t i)
{
    const ref_mesh mesh = oracle_mesh(s);
    const ref_mesh_options options = oracle_options(b, i);
    oracle_hit best;
    ref_sweep_case c;
    balls_case(b, i, s, 0, &c);
    const char *wrong = ref_mesh_first(&mesh, &c, b->column[BALL_T_MAX][i], &options, &best);
    if (wrong != NULL)
        fail_msg("the oracle: %s", wrong);
    return best;
}

ref_mesh_list oracle_all(const scene *s, const balls *b, size_t i)
{
    const ref_mesh mesh = oracle_mesh(s);
    const ref_mesh_options options = oracle_options(b, i);
    ref_mesh_list list;
    ref_sweep_case c;
    balls_case(b, i, s, 0, &c);
    const char *wrong = ref_mesh_all(&mesh, &c, b->column[BALL_T_MAX][i], &options, &list);
    if (wrong != NULL)
        fail_msg("the oracle: %s", wrong);
    return list;
}

/* ---- answers -------------------------------------------------------------------------------------------------------- */

/* 1 and the triangle's unit normal against the motion, where the corners leave no doubt about it. */
static int clear_face_normal(const ref_sweep_case *c, double n[3])
{
    double e[2][3], length = 0.0, longest = 0.0, along = 0.0, speed = 0.0;
    for (int k = 0; k < 3; k++) {
        e[0][k] = (double)c->p[1][k] - (double)c->p[0][k];
        e[1][k] = (double)c->p[2][k] - (double)c->p[0][k];
        longest = fmax(longest, fmax(fabs(e[0][k]), fabs(e[1][k])));
        speed = fmax(speed, fabs((double)c->velocity[k]));
    }
    for (int k = 0; k < 3; k++) {
        n[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
        length += n[k] * n[k];
    }
    length = sqrt(length);
    for (int k = 0; k < 3; k++)
        along += n[k] / length * ((double)c->velocity[k] / speed);
    for (int k = 0; k < 3; k++)
        n[k] *= (along > 0.0 ? -1.0 : 1.0) / length;
    return length > 1e-3 * longest * longest && fabs(along) > 1e-6;
}

/* 1 and the true normal, where the reference's points are good enough to tell. */
static int clear_normal(const ref_sweep_case *c, const oracle_hit *truth, double n[3])
{
    double length = 0.0, reach = queries_scale(c);
    if (!(c->radius > 0.0) && truth->state == REF_APPROACHING)
        return truth->feature == REF_FACE && clear_face_normal(c, n);
    for (int k = 0; k < 3; k++) {
        double way = truth->near * (double)c->velocity[k];
        n[k] = (double)c->center[k] + way - truth->point[k];
        reach = fmax(reach, fmax(fabs(way), fabs(truth->point[k])));
        length += n[k] * n[k];
    }
    length = sqrt(length);
    for (int k = 0; k < 3; k++)
        n[k] /= length;
    return length > 1e-9 * reach && reach > 0x1p-400;
}

static const char *judge_normal(const ref_sweep_case *c, size_t at, const oracle_hit *truth, const hits *h)
{
    double n[3], length2 = 0.0, off = 0.0;
    int clear = clear_normal(c, truth, n);
    for (int k = 0; k < 3; k++) {
        double got = (double)hit_float(h, HIT_NX + k, at);
        length2 += got * got;
        off = fmax(off, clear ? fabs(got - n[k]) : 0.0);
    }
    if (!(fabs(length2 - 1.0) < 1e-6) && !(length2 <= 0.0 && !clear && truth->state != REF_APPROACHING))
        return "the normal is not a unit vector";
    return off > 1e-6 ? "the normal does not point from the contact point to the centre" : NULL;
}

const char *oracle_judge_at(const scene *s, const balls *b, size_t i, const oracle_hit *truth, const hits *h, size_t k)
{
    int exists = truth->triangle >= 0 && isfinite(truth->t);
    ref_sweep_case c;
    if (hit_triangle(h, k) != truth->triangle)
        return "another triangle";
    if (hit_state(h, k) != (truth->triangle >= 0 || truth->state == REF_INVALID ? truth->state : REF_MISS))
        return "wrong state";
    if (bits_of_float(hit_float(h, HIT_T, k)) != bits_of_float(truth->t))
        return "wrong time";
    if (h->field[HIT_FEATURE].data[k] != (exists ? truth->feature : REF_NONE))
        return "wrong feature";
    for (int f = HIT_X; f <= HIT_NZ && !exists; f++)
        if (bits_of_float(hit_float(h, f, k)) != 0)
            return "a point or a normal without a hit";
    if (!exists)
        return NULL;
    balls_case(b, i, s, (size_t)truth->triangle, &c);
    const float point[3] = {hit_float(h, HIT_X, k), hit_float(h, HIT_Y, k), hit_float(h, HIT_Z, k)};
    if (ref_point_error(&c, truth->feature, truth->point, point) > 1.0)
        return "the contact point is more than one unit off";
    return judge_normal(&c, k, truth, h);
}

const char *oracle_judge(const scene *s, const balls *b, size_t i, const oracle_hit *truth, const hits *h)
{
    return oracle_judge_at(s, b, i, truth, h, i);
}
