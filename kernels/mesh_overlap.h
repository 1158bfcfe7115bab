/* SPDX-License-Identifier: MIT */
/* Triangles of a mesh that a sphere at rest overlaps. */
#ifndef CAROM_MESH_OVERLAP_H
#define CAROM_MESH_OVERLAP_H
#include "mesh_run.h"
#include "overlap_exact.h"

/* The spheres and triangles of a packet. */
FN overlap_in mesh_overlap_in(const mesh_packet *packet)
{
    overlap_in in;
    in.center = packet->in.center;
    in.radius = packet->in.radius;
    in.p0 = packet->in.p0;
    in.p1 = packet->in.p1;
    in.p2 = packet->in.p2;
    return in;
}

/* Overlaps of LANES pairs in fast mode, as hits at time 0. */
FN mesh_packet_result mesh_overlap(const mesh_packet *packet, int options)
{
    const vi overlaps = overlap(mesh_overlap_in(packet)).overlap;
    (void)options;
    return mesh_packet_result_of(v_and(packet->active, vi_eq(overlaps, v_i(1))), v_f(R(0.0)), v_i(STATE_OVERLAPPING));
}

/* Overlaps of LANES pairs in exact mode. */
FN mesh_packet_result mesh_overlap_exact(const mesh_packet *packet, int options)
{
    const vi overlaps = overlap_exact(mesh_overlap_in(packet)).overlap;
    (void)options;
    mesh_packet_result result =
        mesh_packet_result_of(v_and(packet->active, vi_eq(overlaps, v_i(1))), v_f(R(0.0)), v_i(STATE_OVERLAPPING));
    result.undecided = v_and(packet->active, vi_eq(overlaps, v_i(OVERLAP_UNDECIDED)));
    return result;
}

MESH_SEARCH(mesh_overlaps, mesh_cull_leaf_none, mesh_overlap, mesh_record_all)
MESH_SEARCH(mesh_overlaps_exact, mesh_cull_leaf_none, mesh_overlap_exact, mesh_record_all)
#endif
