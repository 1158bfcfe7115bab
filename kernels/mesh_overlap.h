/* SPDX-License-Identifier: MIT */
/* Triangles of a mesh that a sphere at rest overlaps. */
#ifndef CAROM_MESH_OVERLAP_H
#define CAROM_MESH_OVERLAP_H
#include "mesh_run.h"
#include "overlap_exact.h"

FN overlap_in mesh_overlap_in(const mesh_question *q)
{
    overlap_in in;
    in.center = q->in.center;
    in.radius = q->in.radius;
    in.p0 = q->in.p0;
    in.p1 = q->in.p1;
    in.p2 = q->in.p2;
    return in;
}

FN mesh_answers mesh_overlap(const mesh_question *q, int options)
{
    const vi is = overlap(mesh_overlap_in(q)).overlap;
    (void)options;
    return mesh_answers_of(v_and(q->open, vi_eq(is, v_i(1))), v_f(R(0.0)), v_i(STATE_OVERLAPPING));
}

FN mesh_answers mesh_overlap_exact(const mesh_question *q, int options)
{
    const vi is = overlap_exact(mesh_overlap_in(q)).overlap;
    (void)options;
    mesh_answers a = mesh_answers_of(v_and(q->open, vi_eq(is, v_i(1))), v_f(R(0.0)), v_i(STATE_OVERLAPPING));
    a.open = v_and(q->open, vi_eq(is, v_i(OVERLAP_OPEN)));
    return a;
}

MESH_SEARCH(mesh_overlaps, mesh_sift_none, mesh_overlap, mesh_take_all)
MESH_SEARCH(mesh_overlaps_exact, mesh_sift_none, mesh_overlap_exact, mesh_take_all)
#endif
