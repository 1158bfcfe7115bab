/* SPDX-License-Identifier: MIT */
/* A mesh query that the kernels leave open: the same traversal, triangle by triangle, with integers for those that the proof
 * leaves open. */
#define LANES 1
#include <math.h>

#include "kernels/mesh_exact.h"
#include "exact.h"
#include "mesh.h"

/* Whether a sphere is surely outside a triangle's box, inflated by the radius, up to a time that rounds to `until`. From
 * afar, where binary32 cannot tell a triangle from its neighbours, this spares nearly all of them the integers. Differences
 * of binary32 numbers are off by 2^-53 of what they are made of; a NaN is never outside. */
static int is_outside(const caromi_mesh_query *query, const float *corners, int moving, float until)
{
    double enter = 0, leave = (double)until * (1 + 0x1p-22) + 0x1p-148;
    for (int k = 0; k < 3; k++) {
        const float *const p = corners + k, v32 = moving ? query->in[4 + k] : 0;
        const double low = (double)fminf(p[0], fminf(p[3], p[6])), high = (double)fmaxf(p[0], fmaxf(p[3], p[6]));
        const double center = (double)query->in[k], radius = (double)query->in[3], v = (double)v32;
        const double off = 0x1p-50 * (fabs(low) + fabs(high) + fabs(center) + radius);
        const double to_low = low - radius - center - off, to_high = high + radius - center + off;
        if (v == 0) {
            if (to_low > 0 || to_high < 0)
                return 1;
            continue;
        }
        const double in = (v > 0 ? to_low : to_high) / v, out = (v > 0 ? to_high : to_low) / v;
        enter = fmax(enter, in - 0x1p-50 * fabs(in));
        leave = fmin(leave, out + 0x1p-50 * fabs(out));
    }
    return enter > leave;
}

/* What the options of a query leave out. */
static int is_left_out(int options, const float *in, int begins)
{
    return ((options & MESH_SKIP) != 0 && begins) || ((options & MESH_CULL_BACK) != 0 && caromi_exact_is_back(in)) ||
           ((options & MESH_SKIP_PARTING) != 0 && begins && caromi_exact_is_parting(in));
}

/* A triangle, exactly: 1 and time and state if it is hit. */
static int settle_sweep(const caromi_mesh_query *query, const float *corners, float limit, float *t, int *state)
{
    float in[IN_SWEEP_MOVING] = {0};
    caromi_exact_sweep a;
    memcpy(in, query->in, IN_P0X * sizeof *in);
    memcpy(in + IN_P0X, corners, 9 * sizeof *in);
    caromi_exact_sweep_of(in, CAROMI_EXACT_TIMES, limit, &a);
    const int begins = a.state == STATE_TOUCHING || a.state == STATE_OVERLAPPING;
    *t = begins ? 0 : a.t_first;
    *state = a.state;
    if (!begins && (a.state != STATE_APPROACHING || a.beyond))
        return 0;
    return !is_left_out(query->options, in, begins);
}

static int settle_overlap(const caromi_mesh_query *query, const float *corners)
{
    float in[IN_OVERLAP];
    int overlap, axes;
    memcpy(in, query->in, IN_OP0X * sizeof *in);
    memcpy(in + IN_OP0X, corners, 9 * sizeof *in);
    caromi_exact_overlap_of(in, &overlap, &axes);
    return overlap == 1;
}

int caromi_settle_hit(const caromi_mesh_query *query, const float *corners, int overlap, mesh_record *hit)
{
    int state = STATE_MISS;
    hit->t = 0;
    if (overlap)
        return !is_outside(query, corners, 0, 0) && settle_overlap(query, corners);
    const float until = query->in[CAROMI_MESH_IN - 1];
    const int is = !is_outside(query, corners, 1, until) && settle_sweep(query, corners, until, &hit->t, &state);
    hit->state = state;
    return is;
}

/* What a pair answers. */
static mesh_answers settle_pair(const mesh_question *q, const mesh_walk *w, const caromi_mesh_query *query)
{
    const float corners[9] = {q->in.p0.x, q->in.p0.y, q->in.p0.z, q->in.p1.x, q->in.p1.y,
                              q->in.p1.z, q->in.p2.x, q->in.p2.y, q->in.p2.z};
    if (is_outside(query, corners, 1, w->until.t))
        return mesh_answers_of(0, 0, STATE_MISS);
    mesh_answers a = mesh_sweep_exact(q, query->options);
    if (!a.open)
        return a;
    a.hits = settle_sweep(query, corners, w->course[MESH_COURSE_LIMIT], &a.t, &a.state);
    a.open = 0;
    return a;
}

static void settle_leaf(const mesh_leaf *leaf, mesh_walk *w, float scale, const caromi_mesh_query *query)
{
    for (int lane = 0; lane < MESH_WIDTH; lane++) {
        const mesh_group g = mesh_group_of(leaf, w->next, lane, w, scale, query->options);
        if (g.open) {
            const mesh_question q = mesh_question_of(&g, w);
            const mesh_answers a = settle_pair(&q, w, query);
            mesh_take_first(w, &q, &a);
        }
    }
}

void caromi_settle_mesh(const caromi_mesh_view *mesh, const caromi_mesh_query *query, int32_t *triangle, int32_t *state,
                        float *t)
{
    const float *in = query->in;
    const mesh_query q = {in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7], query->options, query->mask};
    mesh_walk w;
    w.masks = mesh->masks;
    int left = mesh_begin_alone(&w, mesh->frame, q);
    while (left)
        if (w.next >= 0) {
            left = mesh_descend(&w, mesh->nodes + w.next, query->options);
        } else {
            settle_leaf(mesh->leaves + MESH_LEAF_AT(w.next), &w, mesh->frame.scale, query);
            left = mesh_advance(&w);
        }
    *triangle = w.until.triangle == MESH_NO_TRIANGLE ? -1 : w.until.triangle;
    *state = w.state;
    *t = mesh_first_time(&w);
}
