/* SPDX-License-Identifier: MIT */
/* The second rung of exact mode for mesh queries: the same traversal for one query, triangle by triangle. Pairs that
 * the floating-point filter leaves undecided are decided in integers. */
#define LANES 1
#include <math.h>

#include "kernels/mesh_exact.h"
#include "cpu/exact/exact.h"
#include "mesh.h"

/* Early out: whether a sphere is certainly outside a triangle's box, inflated by the radius, up to a time that rounds
 * to `until`. For nearly all distant triangles, which binary32 cannot separate from their neighbours, it spares the
 * integers. Differences of binary32 numbers are off by 2^-53 of their operands. A NaN is never outside. */
static int is_outside(const caromi_mesh_query *query, const float *corners, int moving, float until)
{
    double enter = 0, leave = (double)until * (1 + 0x1p-22) + 0x1p-148;
    for (int axis = 0; axis < 3; axis++) {
        const float *const coordinate = corners + axis, given = moving ? query->in[MESH_VX + axis] : 0;
        const double low = (double)fminf(coordinate[0], fminf(coordinate[3], coordinate[6])),
                     high = (double)fmaxf(coordinate[0], fmaxf(coordinate[3], coordinate[6]));
        const double center = (double)query->in[MESH_CX + axis], radius = (double)query->in[MESH_RADIUS];
        const double velocity = (double)given - (moving && (query->options & MESH_ENDS) != 0 ? center : 0);
        const double error = 0x1p-50 * (fabs(low) + fabs(high) + fabs(center) + radius);
        const double to_low = low - radius - center - error, to_high = high + radius - center + error;
        if (velocity == 0) {
            if (to_low > 0 || to_high < 0)
                return 1;
            continue;
        }
        /* Times at which the centre enters and leaves the inflated slab of this axis. */
        const double axis_enter = (velocity > 0 ? to_low : to_high) / velocity,
                     axis_leave = (velocity > 0 ? to_high : to_low) / velocity;
        enter = fmax(enter, axis_enter - 0x1p-50 * fabs(axis_enter));
        leave = fmin(leave, axis_leave + 0x1p-50 * fabs(axis_leave));
    }
    return enter > leave;
}

/* Whether the query's options cull the triangle. */
static int is_culled(int options, const float *in, int begins)
{
    return ((options & MESH_SKIP) != 0 && begins) || ((options & MESH_CULL_BACK) != 0 && caromi_exact_is_back(in)) ||
           ((options & MESH_SKIP_PARTING) != 0 && begins && caromi_exact_is_parting(in));
}

/* Decides a triangle in integers: 1 with time and state if it is hit. */
static int resolve_sweep(const caromi_mesh_query *query, const float *corners, float limit, float *t, int *state)
{
    float in[IN_SWEEP_MOVING] = {0};
    caromi_exact_sweep answer;
    memcpy(in, query->in, IN_P0X * sizeof *in);
    memcpy(in + IN_P0X, corners, 9 * sizeof *in);
    if ((query->options & MESH_ENDS) != 0) /* V is the end position, so W is the start */
        memcpy(in + IN_WX, query->in, 3 * sizeof *in);
    caromi_exact_sweep_of(in, CAROMI_EXACT_TIMES, limit, &answer);
    const int begins = answer.state == STATE_TOUCHING || answer.state == STATE_OVERLAPPING;
    *t = begins ? 0 : answer.t_first;
    *state = answer.state;
    if (!begins && (answer.state != STATE_APPROACHING || answer.beyond))
        return 0;
    return !is_culled(query->options, in, begins);
}

/* Decides in integers whether a sphere at rest overlaps a triangle. */
static int resolve_overlap(const caromi_mesh_query *query, const float *corners)
{
    float in[IN_OVERLAP];
    int overlap, axes;
    memcpy(in, query->in, IN_OP0X * sizeof *in);
    memcpy(in + IN_OP0X, corners, 9 * sizeof *in);
    caromi_exact_overlap_of(in, &overlap, &axes);
    return overlap == 1;
}

/* Decides one triangle: by its box, then in integers. */
int caromi_resolve_hit(const caromi_mesh_query *query, const float *corners, int overlap, mesh_record *hit)
{
    int state = STATE_MISS;
    hit->t = 0;
    if (overlap)
        return !is_outside(query, corners, 0, 0) && resolve_overlap(query, corners);
    const float until = query->in[MESH_T_MAX];
    const int is_hit = !is_outside(query, corners, 1, until) && resolve_sweep(query, corners, until, &hit->t, &state);
    hit->state = state;
    return is_hit;
}

/* Solves one pair: box, filter, integers. */
static mesh_packet_result resolve_pair(const mesh_packet *packet, const mesh_traversal *trav,
                                       const caromi_mesh_query *query)
{
    const float corners[9] = {packet->in.p0.x, packet->in.p0.y, packet->in.p0.z, packet->in.p1.x, packet->in.p1.y,
                              packet->in.p1.z, packet->in.p2.x, packet->in.p2.y, packet->in.p2.z};
    if (is_outside(query, corners, 1, trav->best.t))
        return mesh_packet_result_of(0, 0, STATE_MISS);
    mesh_packet_result result = mesh_sweep_exact(packet, query->options);
    if (!result.undecided)
        return result;
    result.hits = resolve_sweep(query, corners, trav->precalc[PRECALC_LIMIT], &result.t, &result.state);
    result.undecided = 0;
    return result;
}

/* Solves the triangles of a leaf, and keeps the first hit. */
static void resolve_leaf(const mesh_leaf *leaf, mesh_traversal *trav, float scale, const caromi_mesh_query *query)
{
    for (int lane = 0; lane < MESH_WIDTH; lane++) {
        const mesh_group group = mesh_group_of(leaf, trav->next, lane, trav, scale, query->options);
        if (group.active) {
            const mesh_packet packet = mesh_packet_of(&group, trav, query->options);
            const mesh_packet_result result = resolve_pair(&packet, trav, query);
            mesh_record_first(trav, &packet, &result);
        }
    }
}

/* Traverses the hierarchy for one query; no pair stays undecided. */
void caromi_resolve_mesh(const caromi_mesh_view *mesh, const caromi_mesh_query *query, int32_t *triangle,
                         int32_t *state, float *t)
{
    const float *in = query->in;
    const mesh_query traversed = {in[MESH_CX], in[MESH_CY], in[MESH_CZ],    in[MESH_RADIUS], in[MESH_VX],
                                  in[MESH_VY], in[MESH_VZ], in[MESH_T_MAX], query->options,  query->mask};
    mesh_traversal trav;
    trav.masks = mesh->masks;
    int left = mesh_begin_single(&trav, mesh->frame, traversed);
    while (left)
        if (trav.next >= 0) {
            left = mesh_visit_node(&trav, mesh->nodes + trav.next, query->options);
        } else {
            resolve_leaf(mesh->leaves + MESH_LEAF_AT(trav.next), &trav, mesh->frame.scale, query);
            left = mesh_pop_next(&trav);
        }
    *triangle = trav.best.triangle == MESH_NO_TRIANGLE ? -1 : trav.best.triangle;
    *state = trav.state;
    *t = mesh_first_time(&trav);
}
