/* SPDX-License-Identifier: MIT */
/* A query in an instance's own space, where its boxes are tested as they lie. It is made once, when a traversal enters
 * the instance. It is larger than the query's image, so that it meets each box above a triangle that the query meets in
 * the world: docs/scenes.md, section 3. */
#ifndef CAROM_SCENE_OWN_H
#define CAROM_SCENE_OWN_H
#include "scene_instance.h"
#include "traversal_precalc.h"
#include "wide.h"

/* Sizes and speeds for which the bounds hold. Other queries meet mapped boxes. */
#define SCENE_LEAST W(0x1p-30)
#define SCENE_MOST W(0x1p30)
/* The same for overlaps of fast mode, in the scene's scale: squares of a triangle's lengths keep their digits. */
#define SCENE_MOST_OVERLAP W(0x1p20)

FN wide_real scene_larger(wide_real a, wide_real b)
{
    return a < b ? b : a;
}

/* The largest magnitude of a vector's coordinates, which are finite: other queries are not traversed. */
FN wide_real scene_largest(const wide_real p[3])
{
    return scene_larger(scene_larger(wide_abs(p[1]), wide_abs(p[2])), wide_abs(p[0]));
}

/* A direction of the world in own space. */
FN void scene_turn(G const mesh_instance *at, const wide_real from[3], wide_real to[3])
{
    for (int k = 0; k < 3; k++) {
        G const wide_real *row = at->own.inverse[k];
        to[k] = row[0] * from[0] + row[1] * from[1] + row[2] * from[2];
    }
}

/* A point of the world in own space. */
FN void scene_move(G const mesh_instance *at, const wide_real from[3], wide_real to[3])
{
    const wide_real offset[3] = {from[0] - at->map[0][3], from[1] - at->map[1][3], from[2] - at->map[2][3]};
    scene_turn(at, offset, to);
}

/* ---- sweeps and overlaps ----------------------------------------------------------------------------------------- */

/* A query's terms of the slab test where its traversal is. */
typedef struct scene_sweep {
    G const mesh_instance *at; /* for which they were made */
#ifdef MESH_SCENE_MOVES
    wide_real velocity[3]; /* relative to it, in the world. Its error is less than one rounding to binary32 */
#endif
    int is_fast_overlap;        /* the query is an overlap of fast mode */
    int is_own;                 /* boxes are not mapped */
    real precalc[PRECALC_ROWS]; /* of own space: those of the slabs alone */
} scene_sweep;

/* The velocity of a query, or the difference of its end position and centre. */
FN void scene_query_velocity(const mesh_query *query, wide_real velocity[3])
{
    const int by_end = (query->options & MESH_ENDS) != 0;
    velocity[0] = (wide_real)query->vx - (by_end ? (wide_real)query->cx : 0.0);
    velocity[1] = (wide_real)query->vy - (by_end ? (wide_real)query->cy : 0.0);
    velocity[2] = (wide_real)query->vz - (by_end ? (wide_real)query->cz : 0.0);
}

/* Stores the slab terms of a sphere in own space. Returns 0 if numbers are out of range. reach: per axis. velocity: per
 * unit of the slab test's time; `rests` if it is 0. */
FN int scene_store_slabs(real *precalc, const wide_real center[3], const wide_real reach[3],
                         const wide_real velocity[3], int rests)
{
    const wide_real size = scene_larger(scene_larger(scene_largest(center), scene_largest(reach)), 2);
    const wide_real speed = rests ? 1 : scene_largest(velocity), least = speed * 0x1p-40, margin = size * 0x1p-19;
    if (!(size <= SCENE_MOST && speed >= SCENE_LEAST && speed <= SCENE_MOST))
        return 0;
    for (int k = 0; k < 3; k++) {
        const wide_real along = rests ? 0 : velocity[k];
        precalc[PRECALC_SLABS + 2 * k] = (real)(center[k] + (reach[k] + margin));
        precalc[PRECALC_SLABS + 2 * k + 1] = (real)(center[k] - (reach[k] + margin));
        precalc[PRECALC_SLABS + 6 + k] = (real)(1 / (wide_abs(along) < least ? wide_copysign(least, along) : along));
    }
    return 1;
}

/* The radius of a ball around the centre that has a point of each triangle that the query may meet, before corners are
 * rounded. A thin triangle that it overlaps in fast mode is known to have its box near the sphere's, and no more. */
FN wide_real scene_ball_of_contact(const scene_sweep *own, G const mesh_instance *at, wide_real radius, wide_real size)
{
    const wide_real ball = radius * 1.00390625 + size * 0x1p-16 + at->own.triangle * 0x1p-9,
                    of_thin = (radius + size * 0x1p-19 + at->own.thin) * 1.7320509;
    const int meets_thin = own->is_fast_overlap && at->own.thin > 0;
    return (meets_thin ? scene_larger(ball, of_thin) : ball) + 2 * at->own.rounding;
}

/* Takes a query into the space of the instance that its traversal has entered, or back. precalc: its terms in the
 * world. */
FN void scene_enter_sweep(scene_sweep *own, G const mesh_instance *at, const mesh_query *query, const real *precalc)
{
    const wide_real center[3] = {(wide_real)query->cx, (wide_real)query->cy, (wide_real)query->cz},
                    radius = (wide_real)query->radius;
    wide_real own_center[3], velocity[3], own_velocity[3], reach[3];
    own->at = at;
    own->is_own = 0;
    if (own->is_fast_overlap ? !at->own.takes_overlaps : !at->own.takes_sweeps)
        return;
#ifdef MESH_SCENE_MOVES
    const wide_real *along = own->velocity;
#else
    wide_real along[3];
    scene_query_velocity(query, along);
#endif
    const wide_real speed = scene_largest(along),
                    size = scene_larger(scene_larger(scene_largest(center), radius), 2 / (wide_real)at->scale);
    if (!(size >= SCENE_LEAST && size <= SCENE_MOST && (speed == 0 || (speed >= SCENE_LEAST && speed <= SCENE_MOST))))
        return;
    if (own->is_fast_overlap && !(size * (wide_real)at->scale <= SCENE_MOST_OVERLAP))
        return;
    const wide_real ball = scene_ball_of_contact(own, at, radius, size);
    const wide_real unit =
        (wide_real)precalc[PRECALC_UNIT] * (wide_real)precalc[PRECALC_UNIT + 1]; /* of the test's time */
    for (int k = 0; k < 3; k++) {
        reach[k] = at->own.extent[k] * ball;
        velocity[k] = along[k] * unit;
    }
    scene_move(at, center, own_center);
    scene_turn(at, velocity, own_velocity);
    own->precalc[PRECALC_UNIT] = precalc[PRECALC_UNIT];
    own->precalc[PRECALC_UNIT + 1] = precalc[PRECALC_UNIT + 1];
    own->is_own = scene_store_slabs(own->precalc, own_center, reach, own_velocity, speed == 0);
}

/* ---- distances --------------------------------------------------------------------------------------------------- */

/* A centre where its traversal is, and bounds of a distance in the world from one in own space: at least shrinks x -
 * floor, at most grows x + floor. */
typedef struct scene_center {
    G const mesh_instance *at; /* for which it was made */
    int is_own;                /* boxes are not mapped */
    real x, y, z, shrinks, grows, floor;
} scene_center;

/* Takes a centre into the space of the instance that its traversal has entered, or back. */
FN void scene_enter_center(scene_center *own, G const mesh_instance *at, real x, real y, real z)
{
    const wide_real center[3] = {(wide_real)x, (wide_real)y, (wide_real)z};
    wide_real to[3];
    own->at = at;
    own->is_own = 0;
    own->x = own->y = own->z = own->shrinks = own->grows = own->floor = R(0.0);
    if (!at->own.takes_distances)
        return;
    scene_move(at, center, to);
    const wide_real size = scene_larger(scene_largest(to), 2);
    if (!(size <= SCENE_MOST))
        return;
    own->is_own = 1;
    own->x = (real)to[0];
    own->y = (real)to[1];
    own->z = (real)to[2];
    own->shrinks = (real)at->own.shrinks;
    own->grows = (real)at->own.grows;
    own->floor = (real)(at->own.grows * size * 0x1p-22 + 2 * at->own.rounding + at->own.triangle * 0x1p-19);
}
#endif
