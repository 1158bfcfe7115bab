/* SPDX-License-Identifier: MIT */
/* The later rungs of exact mode for mesh queries: the same traversal for one query, triangle by triangle. Pairs that
 * the floating-point filter leaves undecided are decided by the second one or in integers. */
#include "kernels/mesh_exact.h"
#include "nodes.h"
#include "resolve_hit.h"

/* Gives a query the velocity of the instance where its traversal is. */
#ifdef MESH_SCENE
#define MESH_CARRY(query, trav) memcpy((query)->carried, (trav)->stack.at->velocity, sizeof(query)->carried)
#else
#define MESH_CARRY(query, trav) (void)0
#endif

/* Solves one pair by the filter, unless it is outside; adds it to `undecided` if it stays undecided. */
static mesh_packet_result mesh_filter_pair(const mesh_packet *packet, const mesh_traversal *trav,
                                           const caromi_mesh_query *query, caromi_undecided_hits *undecided,
                                           mesh_record *record, caromi_hit_outcome *outcome)
{
    const float corners[9] = {packet->in.p0.x, packet->in.p0.y, packet->in.p0.z, packet->in.p1.x, packet->in.p1.y,
                              packet->in.p1.z, packet->in.p2.x, packet->in.p2.y, packet->in.p2.z};
    if (caromi_hit_is_outside(query, corners, 1, trav->best.t))
        return mesh_packet_result_of(0, 0, STATE_MISS);
    const mesh_packet_result result = mesh_sweep_exact(packet, query->options);
    if (result.undecided)
        caromi_undecided_hits_add(undecided, query, corners, trav->precalc[PRECALC_LIMIT], record, outcome);
    return result;
}

/* Solves the triangles of a leaf, and keeps the first hit. */
static void mesh_resolve_leaf(const mesh_leaf *leaf, mesh_traversal *trav, float scale, const caromi_mesh_query *query,
                              caromi_hit_outcome *outcome)
{
    caromi_undecided_hits undecided;
    mesh_packet packet[MESH_WIDTH]; /* of undecided triangles */
    mesh_record record[MESH_WIDTH];
    int count = 0;
    caromi_undecided_hits_begin(&undecided, query->isa);
    for (int lane = 0; lane < MESH_WIDTH; lane++) {
        const mesh_group group = mesh_group_of(leaf, trav->next, lane, trav, scale, query->options);
        if (!group.active)
            continue;
        packet[count] = mesh_packet_of(&group, trav, query->options);
        const mesh_packet_result result =
            mesh_filter_pair(&packet[count], trav, query, &undecided, &record[count], outcome);
        if (result.undecided)
            count++;
        else
            mesh_record_first(trav, &packet[count], &result);
    }
    caromi_undecided_hits_decide(&undecided);
    for (int i = 0; i < count; i++) {
        const mesh_packet_result hit =
            mesh_packet_result_of(record[i].state != STATE_MISS, record[i].t, record[i].state);
        mesh_record_first(trav, &packet[i], &hit);
    }
}

/* Traverses the hierarchy for one query; no pair stays undecided. Returns the rung that was needed. */
static caromi_rung mesh_resolve(const caromi_mesh_view *mesh, const caromi_mesh_query *query, int32_t *triangle,
                                int32_t *state, float *t)
{
    const float *in = query->in;
    const mesh_query traversed = {in[MESH_CX], in[MESH_CY], in[MESH_CZ],    in[MESH_RADIUS], in[MESH_VX],
                                  in[MESH_VY], in[MESH_VZ], in[MESH_T_MAX], query->options,  query->mask};
    caromi_mesh_query own = *query;
    mesh_traversal trav;
    caromi_hit_outcome outcome = {.rung = CAROMI_SECOND_FILTER};
    trav.masks = mesh->masks;
    MESH_BEGIN_AT(&trav, mesh);
    int left = mesh_begin_single(&trav, mesh->frame, traversed);
    while (left)
        if (trav.next >= 0) {
            left = mesh_visit_node(&trav, MESH_NODE(mesh, &trav), query->options);
        } else {
            MESH_CARRY(&own, &trav);
            mesh_resolve_leaf(MESH_LEAF_HERE(mesh, &trav), &trav, mesh->frame.scale, &own, &outcome);
            left = mesh_pop_next(&trav);
        }
    *triangle = trav.best.triangle == MESH_NO_TRIANGLE ? -1 : trav.best.triangle;
    *state = trav.state;
    *t = mesh_first_time(&trav);
    return outcome.rung;
}
