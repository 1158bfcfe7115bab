/* SPDX-License-Identifier: MIT */
/* Options that cull triangles: back faces, and contact at the start. Only queries with such options run this code, so
 * it is kept out of the searches. docs/numerics.md, section 11, has the errors. */
#ifndef CAROM_MESH_OPTIONS_H
#define CAROM_MESH_OPTIONS_H
#include "mesh_run.h"

/* The vector scaled by a power of two to a size of about 1. */
FN v3 mesh_about_one(v3 a)
{
    return v3_mul(a, v_scale_down(v_exponent(v3_magnitude(a))));
}

/* Back faces: triangles whose normal points along the motion. Only the sign counts, so each factor has a scale of its
 * own. */
FN_RARE vm mesh_back(const mesh_packet *pairs, int options)
{
    const sweep_query query = sweep_prepare(pairs->in, mesh_motion_kind(options));
    const v3 n = v3_cross(mesh_about_one(query.relative.e01), mesh_about_one(query.relative.e02));
    return v_lt(v_f(R(0.0)), v3_dot(n, mesh_about_one(query.relative.v)));
}

/* The triangle's closest point at time 0, relative to the centre. */
FN nearest mesh_nearest(const sweep_query *query)
{
    const vf scale = v_scale_down(v_exponent(query->relative.length));
    return nearest_on_triangle(v3_mul(query->relative.center, -scale), v3_mul(query->relative.e01, scale),
                               v3_mul(query->relative.e02, scale));
}

/* Triangles from which the sphere moves away at the start. */
FN_RARE vm mesh_parting(const mesh_packet *pairs, int options)
{
    const sweep_query query = sweep_prepare(mesh_packet_again(pairs), mesh_motion_kind(options));
    return v_lt(v3_dot(mesh_about_one(mesh_nearest(&query).point), mesh_about_one(query.relative.v)), v_f(R(0.0)));
}

/* The triangles in contact at the start that the start policy keeps. */
FN vm mesh_started(vm starts, const mesh_packet *packet, int options)
{
    if ((options & MESH_SKIP) != 0)
        return v_and(starts, v_not(starts));
    return v_any(starts) ? v_and(starts, v_not(mesh_parting(packet, options))) : starts;
}
#endif
