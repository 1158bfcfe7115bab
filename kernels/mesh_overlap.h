/* SPDX-License-Identifier: MIT */
/* Triangles of a mesh that a sphere at rest overlaps. */
#ifndef CAROM_MESH_OVERLAP_H
#define CAROM_MESH_OVERLAP_H
#include "mesh_run.h"
#include "overlap_exact.h"

FN overlap_in mesh_overlap_in(const mesh_group *g)
{
    overlap_in in;
    in.center = g->in.center;
    in.radius = g->in.radius;
    in.p0 = g->in.p0;
    in.p1 = g->in.p1;
    in.p2 = g->in.p2;
    return in;
}

FN mesh_answers mesh_overlap(const mesh_group *g, const mesh_walk *w, G const mesh_leaf *leaf, int lane, int options)
{
    const vi is = overlap(mesh_overlap_in(g)).overlap;
    (void)w, (void)leaf, (void)lane, (void)options;
    return mesh_answers_of(v_and(g->open, vi_eq(is, v_i(1))), v_f(R(0.0)), v_i(STATE_OVERLAPPING));
}

FN mesh_answers mesh_overlap_exact(const mesh_group *g, const mesh_walk *w, G const mesh_leaf *leaf, int lane,
                                   int options)
{
    const vi is = overlap_exact(mesh_overlap_in(g)).overlap;
    (void)w, (void)leaf, (void)lane, (void)options;
    mesh_answers a = mesh_answers_of(v_and(g->open, vi_eq(is, v_i(1))), v_f(R(0.0)), v_i(STATE_OVERLAPPING));
    a.open = v_and(g->open, vi_eq(is, v_i(OVERLAP_OPEN)));
    return a;
}

MESH_SEARCH(mesh_visit_overlap, mesh_admitted, mesh_overlap, all)
MESH_SEARCH(mesh_visit_overlap_exact, mesh_admitted, mesh_overlap_exact, all)
#endif
