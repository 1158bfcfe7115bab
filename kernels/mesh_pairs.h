/* SPDX-License-Identifier: MIT */
/* The narrow phase of mesh searches: pairs of a query and a triangle, packed for the solver, and the use of its
 * results.
 *
 * A query enters the boxes of only a few triangles of a leaf, so a solver that took leaf after leaf would leave most
 * lanes idle. Instead the pairs of several interleaved traversals are compacted into a queue, and the solver takes a
 * packet of LANES pairs. A traversal waits for its results while others go on. A pair's result does not depend on the
 * rest of its packet. */
#ifndef CAROM_MESH_PAIRS_H
#define CAROM_MESH_PAIRS_H
#include "mesh_traversal.h"

/* Work-items in lockstep defer the pairs of a mesh. In a scene those of several instances would mix: a work-item only
 * notes where its present triangle is. */
#ifdef LANG_LOCKSTEP
#ifndef MESH_SCENE
#define MESH_DEFERS
#else
#define MESH_NOTES
typedef struct mesh_note {
    G const mesh_leaf *leaf;
    G const mesh_instance *at;
    int reference, lane;
} mesh_note;
#endif
#endif

/* LANES pairs of a query and a triangle at rest: the solver's input. */
typedef struct mesh_packet {
    sweep_in in;
    sweep_heading heading;
    vf enter, limit; /* entry into the triangle's box; end of the query's window */
    vi triangle;
    const u8 *traversal; /* number of the query's traversal, per lane */
    vm active;           /* lanes that hold a pair to solve */
#ifdef MESH_DEFERS
    /* Leaf and slot of the triangle. They are volatile, because else a compiler keeps the triangle in registers instead
     * of reading it again. */
    G const mesh_leaf *leaves;
    MESH_WAIT const volatile int *leaf;
    MESH_WAIT const volatile u8 *slot;
#elif defined(MESH_NOTES)
    const volatile mesh_note *note; /* volatile for the same reason */
#endif
} mesh_packet;

/* The solver's results. Exact mode may leave pairs undecided. */
typedef struct mesh_packet_result {
    vm hits;
    vf t;
    vi state;
    vm undecided; /* may be hits, but not before `from` */
    vf from;
} mesh_packet_result;

/* A result without undecided pairs. */
FN mesh_packet_result mesh_packet_result_of(vm hits, vf t, vi state)
{
    mesh_packet_result result;
    result.hits = hits;
    result.t = t;
    result.state = state;
    result.undecided = v_and(hits, v_not(hits)); /* none */
    result.from = t;
    return result;
}

/* The velocity relative to the triangle, as sweep_relate() computes it. */
FN v3 mesh_relative_velocity(const sweep_in *in, int options)
{
    const int motion = mesh_motion_kind(options);
    const v3 velocity = (motion & MOTION_BY_END) != 0 ? v3_sub(in->velocity, in->w) : in->velocity;
    return (motion & TRIANGLE_CARRIED) != 0 ? v3_sub(velocity, in->u) : velocity;
}

/* ---- use of the results ----------------------------------------------------------------------------------------- */

/* The traversal that a lane belongs to. Without packing there is only one traversal; rusticl's compiler crashes on an
 * offset to it. */
FN mesh_traversal *mesh_traversal_of_lane(mesh_traversal *traversals, const mesh_packet *packet, int lane)
{
#ifdef LANG_HAS_COMPRESS
    return traversals + packet->traversal[lane];
#else
    (void)packet, (void)lane;
    return traversals;
#endif
}

/* Ends a traversal: empties its stack, and no box can improve on this hit. */
FN void mesh_end_traversal(mesh_traversal *trav, mesh_hit_key best)
{
    trav->stack.top = 0;
    trav->best = best;
}

/* Keeps the first hit, and the earliest time that an undecided pair may be hit. At time 0 no hit is before that, so the
 * query is undecided whatever else it meets. */
FN void mesh_record_first(mesh_traversal *traversals, const mesh_packet *packet, const mesh_packet_result *result)
{
    int triangle[LANES], state[LANES];
    real t[LANES], from[LANES];
    vi_store(triangle, packet->triangle);
    vi_store(state, result->state);
    v_store(t, result->t);
    v_store(from, result->from);
    for (u32 left = v_bitmask(result->hits); left != 0; left &= left - 1) {
        const int lane = bitmask_first(left);
        mesh_traversal *trav = mesh_traversal_of_lane(traversals, packet, lane);
        const mesh_hit_key hit = mesh_hit_key_of(t[lane], triangle[lane]);
        if (mesh_is_after(trav->best, hit)) {
            trav->best = hit;
            trav->state = state[lane];
        }
    }
    for (u32 left = v_bitmask(result->undecided); left != 0; left &= left - 1) {
        const int lane = bitmask_first(left);
        mesh_traversal *trav = mesh_traversal_of_lane(traversals, packet, lane);
        trav->earliest_undecided = from[lane] < trav->earliest_undecided ? from[lane] : trav->earliest_undecided;
        if (from[lane] <= R(0.0))
            mesh_end_traversal(trav, mesh_hit_key_of(R(0.0), 0));
    }
}

/* Stores a record of query `number`; records number their queries from `first` on. */
FN void mesh_store_record(G mesh_record *to, real t, int triangle, int state, int number, int first)
{
    to->t = t;
    to->triangle = triangle;
    to->state = state;
    to->query = number - first;
}

/* Appends a record for each hit and, with NaN as its time, for each undecided pair. An any-hit query ends with its
 * first hit. */
FN void mesh_record_all(mesh_traversal *traversals, const mesh_packet *packet, const mesh_packet_result *result)
{
    const u32 hits = v_bitmask(result->hits);
    int triangle[LANES], state[LANES];
    real t[LANES];
    u32 left = v_bitmask(v_or(result->hits, result->undecided));
    if (left == 0)
        return;
    vi_store(triangle, packet->triangle);
    vi_store(state, result->state);
    v_store(t, v_sel(result->undecided, v_from_bits(v_i(R_NAN_BITS)), result->t));
    for (; left != 0; left &= left - 1) {
        const int i = bitmask_first(left);
        mesh_traversal *trav = mesh_traversal_of_lane(traversals, packet, i);
        mesh_sink *sink = trav->sink;
        if (sink->count < sink->capacity)
            mesh_store_record(sink->records + sink->count, t[i], triangle[i], state[i], trav->number, sink->first);
        sink->count++;
        trav->hits++;
        if ((hits >> i & 1) != 0) {
            trav->state = STATE_APPROACHING;
            if (sink->one_is_enough)
                mesh_end_traversal(trav, mesh_hit_key_of(R(-1.0), 0));
        }
    }
}

/* The time of the best hit; infinity without one. Without a branch, because it would be mispredicted. */
FN real mesh_first_time(const mesh_traversal *trav)
{
    const u32 none = 0 - (u32)(trav->best.triangle == MESH_NO_TRIANGLE); /* all bits, or none */
    return real_of_bits((real_bits(trav->best.t) & ~none) | (R_INFINITY_BITS & none));
}

/* ---- the queue of pairs ----------------------------------------------------------------------------------------- */

/* Columns of the queue: a triangle, the entry time of its box, and its index. */
enum { PAIR_P0, PAIR_P1 = 3, PAIR_P2 = 6, PAIR_ENTER = 9, PAIR_TRIANGLE, PAIR_COLUMNS };
/* Columns per traversal: its sphere, and the end of its time window; in scenes also the velocity of the instance where
 * it is. */
enum {
    PAIR_LIMIT = IN_P0X,
#ifdef MESH_SCENE_MOVES
    PAIR_UX,
    PAIR_UY,
    PAIR_UZ,
#endif
    PAIR_SPHERE
};
/* Fewer than LANES pairs stay in the queue, each traversal may add a leaf, and v_compress stores up to LANES
 * further. */
#define PAIR_CAPACITY (LANES + MESH_TRAVERSALS * MESH_WIDTH + LANES)
#define PAIR_COLUMN(p, k) ((p)->columns + (k)*PAIR_CAPACITY)

/* Work-items in lockstep run the solver as often as the work-item with the most pairs. So each work-item defers its
 * pairs until it has so many: by then the others have about as many. */
#define MESH_DEFERRED 8

typedef struct mesh_pairs {
#ifdef LANG_HAS_COMPRESS
    LANG_ALIGNED real columns[PAIR_COLUMNS * PAIR_CAPACITY]; /* integers as their bits */
    LANG_ALIGNED real sphere[PAIR_SPHERE * MESH_TRAVERSALS]; /* of each traversal */
    u8 traversal[PAIR_CAPACITY];                             /* number of each pair's traversal */
#elif defined(MESH_DEFERS)
    int leaf[MESH_DEFERRED + MESH_WIDTH]; /* reference to the leaf */
    u8 lane[MESH_DEFERRED + MESH_WIDTH];  /* slot of the triangle */
#elif defined(MESH_NOTES)
    volatile mesh_note note;
#endif
    int first, end;
    u32 submitted, answered; /* pairs since the beginning, modulo 2^32 */
} mesh_pairs;

/* Empties the queue. */
FN void mesh_pairs_begin(mesh_pairs *pairs)
{
    pairs->first = pairs->end = 0;
    pairs->submitted = pairs->answered = 0;
}

#ifdef LANG_HAS_COMPRESS
/* Stores the sphere of traversal `number` for its pairs. */
FN void mesh_set_sphere(mesh_pairs *pairs, const mesh_traversal *trav, int number)
{
    const mesh_query *query = &trav->query;
    const real sphere[PAIR_LIMIT + 1] = {query->cx, query->cy, query->cz, query->radius,
                                         query->vx, query->vy, query->vz, trav->precalc[PRECALC_LIMIT]};
    real *own = pairs->sphere + number;
    for (int k = 0; k <= PAIR_LIMIT; k++)
        own[k * MESH_TRAVERSALS] = sphere[k];
}

#ifdef MESH_SCENE_MOVES
/* Stores what pairs of traversal `number` have from the instance where it is. Pairs of other instances are solved: a
 * traversal waits for the pairs of a leaf. */
FN void mesh_set_carried(mesh_pairs *pairs, const mesh_traversal *trav, int number, int options)
{
    real *own = pairs->sphere + number;
    if ((options & MESH_CARRIED) == 0)
        return;
    own[PAIR_LIMIT * MESH_TRAVERSALS] = trav->precalc[PRECALC_LIMIT];
    for (int k = 0; k < 3; k++)
        own[(PAIR_UX + k) * MESH_TRAVERSALS] = trav->stack.at->velocity[k];
}
#else
#define mesh_set_carried(pairs, trav, number, options) (void)0
#endif

/* Appends the active lanes of a group, as pairs of traversal `number`. */
FN void mesh_pairs_push(mesh_pairs *pairs, const mesh_group *group, int number)
{
    const vf own[PAIR_COLUMNS] = {group->p.p0.x,
                                  group->p.p0.y,
                                  group->p.p0.z,
                                  group->p.p1.x,
                                  group->p.p1.y,
                                  group->p.p1.z,
                                  group->p.p2.x,
                                  group->p.p2.y,
                                  group->p.p2.z,
                                  group->enter,
                                  v_from_bits(group->triangle)};
    const u32 lanes = v_bitmask(group->active);
    v_compress(PAIR_COLUMN(pairs, 0) + pairs->end, PAIR_CAPACITY, own, PAIR_COLUMNS, lanes);
    v_store_u8(pairs->traversal + pairs->end, v_i(number));
    pairs->end += bitmask_count(lanes);
    pairs->submitted += (u32)bitmask_count(lanes);
}

/* Pads to LANES with copies of the last pair; triangle -1 masks them. */
FN void mesh_pairs_pad(mesh_pairs *pairs)
{
    for (int k = 0; k < PAIR_COLUMNS; k++)
        v_store(PAIR_COLUMN(pairs, k) + pairs->end, v_f(PAIR_COLUMN(pairs, k)[pairs->end - 1]));
    v_store(PAIR_COLUMN(pairs, PAIR_TRIANGLE) + pairs->end, v_from_bits(v_i(-1)));
    v_store_u8(pairs->traversal + pairs->end, v_i(pairs->traversal[pairs->end - 1]));
}

/* A vector from three columns of the oldest packet. */
FN v3 mesh_pairs_load(const mesh_pairs *pairs, int column)
{
    return v3_of(v_load(PAIR_COLUMN(pairs, column) + pairs->first),
                 v_load(PAIR_COLUMN(pairs, column + 1) + pairs->first),
                 v_load(PAIR_COLUMN(pairs, column + 2) + pairs->first));
}

/* A column of the spheres of the oldest packet, looked up by each pair's traversal. */
FN vf mesh_pairs_sphere(const mesh_pairs *pairs, int number)
{
    return v_table_lookup(pairs->sphere + number * MESH_TRAVERSALS, pairs->traversal + pairs->first);
}

/* The packet of the oldest LANES pairs. */
FN mesh_packet mesh_pairs_packet(const mesh_pairs *pairs, int options)
{
    mesh_packet packet;
    packet.in.center =
        v3_of(mesh_pairs_sphere(pairs, IN_CX), mesh_pairs_sphere(pairs, IN_CY), mesh_pairs_sphere(pairs, IN_CZ));
    packet.in.radius = mesh_pairs_sphere(pairs, IN_R);
    packet.in.velocity =
        v3_of(mesh_pairs_sphere(pairs, IN_VX), mesh_pairs_sphere(pairs, IN_VY), mesh_pairs_sphere(pairs, IN_VZ));
    packet.in.p0 = mesh_pairs_load(pairs, PAIR_P0);
    packet.in.p1 = mesh_pairs_load(pairs, PAIR_P1);
    packet.in.p2 = mesh_pairs_load(pairs, PAIR_P2);
    packet.in.w = mesh_relative_to(packet.in.center, options);
    packet.in.u = v3_of(v_f(R(0.0)), v_f(R(0.0)), v_f(R(0.0)));
#ifdef MESH_SCENE_MOVES
    if ((options & MESH_CARRIED) != 0)
        packet.in.u = v3_of(mesh_pairs_sphere(pairs, PAIR_UX), mesh_pairs_sphere(pairs, PAIR_UY),
                            mesh_pairs_sphere(pairs, PAIR_UZ));
#endif
    packet.heading = sweep_heading_of(mesh_relative_velocity(&packet.in, options));
    packet.enter = v_load(PAIR_COLUMN(pairs, PAIR_ENTER) + pairs->first);
    packet.limit = mesh_pairs_sphere(pairs, PAIR_LIMIT);
    packet.triangle = v_bits(v_load(PAIR_COLUMN(pairs, PAIR_TRIANGLE) + pairs->first));
    packet.traversal = pairs->traversal + pairs->first;
    packet.active = vi_gt(packet.triangle, v_i(-1));
    return packet;
}

/* Removes the oldest packet. If fewer than LANES pairs remain, they move to the front. */
FN void mesh_pairs_pop(mesh_pairs *pairs)
{
    const int left = pairs->end - pairs->first, done = left < LANES ? left : LANES;
    pairs->answered += (u32)done;
    pairs->first += done;
    if (left - done >= LANES)
        return;
    if (left > done) {
        LANG_UNROLL
        for (int k = 0; k < PAIR_COLUMNS; k++)
            v_store(PAIR_COLUMN(pairs, k), v_load(PAIR_COLUMN(pairs, k) + pairs->first));
        u8 traversal[LANES];
        LANG_UNROLL
        for (int lane = 0; lane < LANES; lane++)
            traversal[lane] = pairs->traversal[pairs->first + lane];
        LANG_UNROLL
        for (int lane = 0; lane < LANES; lane++)
            pairs->traversal[lane] = traversal[lane];
    }
    pairs->end = left - done;
    pairs->first = 0;
}
#else
#define mesh_set_carried(pairs, trav, number, options) (void)0
FN void mesh_set_sphere(mesh_pairs *pairs, const mesh_traversal *trav, int number)
{
    (void)pairs, (void)trav, (void)number;
}

#ifdef MESH_DEFERS
/* Defers a triangle of a leaf. */
FN void mesh_defer(mesh_pairs *pairs, int leaf, int lane)
{
    pairs->leaf[pairs->end] = leaf;
    pairs->lane[pairs->end++] = (u8)lane;
}
#endif

/* A packet of one query and triangles of one leaf. */
FN mesh_packet mesh_packet_of(const mesh_group *group, const mesh_traversal *trav, int options)
{
    mesh_packet packet;
    packet.in = mesh_sphere_of(&trav->query, options);
    MESH_CARRY_SPHERE(&packet.in, trav, options);
    packet.in.p0 = group->p.p0;
    packet.in.p1 = group->p.p1;
    packet.in.p2 = group->p.p2;
#ifndef MESH_PACKED
    packet.heading = traversal_precalc_of(trav->precalc).heading;
#elif defined(MESH_SCENE)
    packet.heading = sweep_heading_of(mesh_relative_velocity(&packet.in, options));
#endif
    packet.enter = group->enter;
    packet.limit = v_f(trav->precalc[PRECALC_LIMIT]);
    packet.triangle = group->triangle;
    packet.traversal = 0;
    packet.active = group->active;
    return packet;
}
#endif

#ifdef MESH_NOTES
FN void mesh_note_triangle(mesh_packet *packet, mesh_pairs *pairs, const mesh_traversal *trav, const mesh_group *group,
                           int lane)
{
    pairs->note.leaf = group->leaf;
    pairs->note.at = trav->stack.at;
    pairs->note.reference = group->reference;
    pairs->note.lane = lane;
    packet->note = &pairs->note;
}
#define MESH_NOTE(packet, pairs, trav, group, lane) mesh_note_triangle(packet, pairs, trav, group, lane)
#else
#define MESH_NOTE(packet, pairs, trav, group, lane) (void)0
#endif

/* Spheres and triangles of a packet, for rare work after the solver. Work-items in lockstep load the triangle again,
 * because keeping it would cost registers while the solver runs. */
FN sweep_in mesh_packet_again(const mesh_packet *packet)
{
    sweep_in in = packet->in;
#ifdef MESH_DEFERS
    const int leaf = *packet->leaf;
    const mesh_corners corners = mesh_corners_of(packet->leaves + MESH_LEAF_AT(leaf), leaf, *packet->slot);
    in.p0 = corners.p0;
    in.p1 = corners.p1;
    in.p2 = corners.p2;
#elif defined(MESH_NOTES)
    const int reference = packet->note->reference, lane = packet->note->lane;
    const mesh_corners corners = mesh_corners_of(packet->note->leaf, reference, lane);
    in.p0 = corners.p0;
    in.p1 = corners.p1;
    in.p2 = corners.p2;
    scene_map_corners(packet->note->at, packet->note->leaf, reference, lane, &in.p0, &in.p1, &in.p2);
#endif
    return in;
}

/* ---- pairs decided without the solver --------------------------------------------------------------------------- */

/* Limits of squared distances, as factors of the squared radius. A corner below the first is well inside the sphere;
 * below the second the solver's roundings do not matter (docs/numerics.md, section 11). Squared radii between the last
 * two limits keep all terms in range. */
#define MESH_WELL_INSIDE R(0.9375)
#define MESH_NEAR_ENOUGH R(0x1p18)
#define MESH_LEAST_SQUARE R(0x1p-80)
#define MESH_MOST_SQUARE R(0x1p80)

/* Squared distance from the query's centre at the start. */
FN vf mesh_distance2(v3 p, const mesh_query *query)
{
    const v3 d = v3_sub(p, v3_of(v_f(query->cx), v_f(query->cy), v_f(query->cz)));
    return v3_dot(d, d);
}

/* Early out: a triangle with a corner well inside the sphere at the start is hit at time 0. Only a lower index can then
 * be better. So the lowest such triangle becomes the best hit, and triangles with higher indices are culled. */
FN void mesh_accept_initial_overlap(mesh_traversal *trav, mesh_group *group, int options)
{
    const mesh_query *query = &trav->query;
    const real radius2 = query->radius * query->radius;
    if ((options & (MESH_CULL_BACK | MESH_SKIP_PARTING | MESH_SKIP)) != 0)
        return;
    const vf p0_distance2 = mesh_distance2(group->p.p0, query), p1_distance2 = mesh_distance2(group->p.p1, query),
             p2_distance2 = mesh_distance2(group->p.p2, query);
    const vm is_small =
        v_lt(v_greater(v_greater(p0_distance2, p1_distance2), p2_distance2), v_f(radius2 * MESH_NEAR_ENOUGH));
    const vm has_corner_inside =
        v_lt(v_lesser(v_lesser(p0_distance2, p1_distance2), p2_distance2), v_f(radius2 * MESH_WELL_INSIDE));
    const u32 inside = v_bitmask(v_and(group->active, v_and(is_small, has_corner_inside)));
    if (inside == 0 || !(radius2 > MESH_LEAST_SQUARE && radius2 < MESH_MOST_SQUARE))
        return;
    int triangle[LANES];
    vi_store(triangle, group->triangle);
    trav->best = mesh_hit_key_of(R(0.0), triangle[bitmask_first(inside)]); /* indices ascend in a leaf */
    trav->state = STATE_OVERLAPPING;
    group->active =
        v_and(group->active, v_and(v_le(group->enter, v_f(R(0.0))), vi_gt(v_i(trav->best.triangle), group->triangle)));
}

/* Culls triangles whose bounding sphere the query misses up to the best hit. */
FN void mesh_cull_bounding_sphere(const mesh_traversal *trav, mesh_group *group, int options)
{
    const mesh_query *query = &trav->query;
    if (trav->precalc[PRECALC_REACH] == R(1.0) / R(0.0))
        return;
    const mesh_capsule capsule = traversal_precalc_of(trav->precalc).capsule;
    const real bounding_radius =
        MESH_IS_UNINDEXED(group->reference) ? R(1.0) / R(0.0) : MESH_BALL(trav, group->leaf->ball);
    const v3 box_low = mesh_min3(group->p.p0, group->p.p1, group->p.p2),
             box_high = mesh_max3(group->p.p0, group->p.p1, group->p.p2);
    const v3 middle = v3_mul(v3_add(box_low, box_high), v_f(R(0.5)));
    sweep_in sphere = mesh_sphere_of(query, options);
    MESH_CARRY_SPHERE(&sphere, trav, options);
    /* How far the centre of a triangle's bounding sphere is from the query's path. */
    const v3 offset = v3_sub(middle, sphere.center);
    const v3 velocity = mesh_relative_velocity(&sphere, options);
    const vf nearest_at = v_min(v_max(v3_dot(offset, velocity) * capsule.per_v2, v_f(R(0.0))), v_f(trav->best.t));
    const v3 gap = v3_sub(offset, v3_mul(velocity, nearest_at));
    const vf reach = capsule.reach + v_f(bounding_radius);
    group->active = v_and(group->active, v_le(v3_dot(gap, gap), reach * reach));
}

/* Culling for the first hit. */
FN void mesh_cull_leaf_first(mesh_traversal *trav, mesh_group *group, int options)
{
    mesh_cull_bounding_sphere(trav, group, options);
    mesh_accept_initial_overlap(trav, group, options);
}

/* Culling for all hits: an initial overlap ends nothing. */
FN void mesh_cull_leaf_all(mesh_traversal *trav, mesh_group *group, int options)
{
    mesh_cull_bounding_sphere(trav, group, options);
}

/* Culls nothing: overlaps compare squared distances, whose errors the capsule's margins do not cover. */
FN void mesh_cull_leaf_none(mesh_traversal *trav, mesh_group *group, int options)
{
    (void)trav, (void)group, (void)options;
}

/* ---- a search --------------------------------------------------------------------------------------------------- */

#ifndef MESH_ITEMS /* else mesh_team.h has it */
/* Result of visiting a leaf: 0 ends the traversal, 1 goes on, MESH_WAITS goes on when the submitted pairs are
 * solved. */
#define MESH_WAITS 2

#define MESH_GROUPS (MESH_WIDTH / LANES) /* of a leaf's triangles */

/* Defines a search by its three steps at a leaf: `cull_leaf` decides entered triangles without the solver, `solve` is
 * the narrow phase for the others, `record` uses the results. `options` are the queries' options, or a constant 0. */
#define MESH_SEARCH(name, cull_leaf, solve, record)                                                 \
    /* Narrow phase for one packet. */                                                              \
    FN void name##_packet(mesh_traversal *traversals, const mesh_packet *packet, int options)       \
    {                                                                                               \
        const mesh_packet_result result = solve(packet, options);                                   \
        record(traversals, packet, &result);                                                        \
    }                                                                                               \
    /* Tests LANES triangles of the leaf at a time and submits those that are left. */              \
    FN int name##_visit_leaf(mesh_traversal *trav, int number, mesh_pairs *pairs, mesh_frame frame, \
                             G const mesh_leaf *leaf, int options)                                  \
    {                                                                                               \
        int waits = 0;                                                                              \
        mesh_set_carried(pairs, trav, number, options);                                             \
        LANG_ROLLED                                                                                 \
        for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {                                      \
            mesh_group group = mesh_group_of(leaf, trav->next, lane, trav, frame.scale, options);   \
            if (MESH_GROUPS > 1 && !v_any(group.active)) /* as every second group of a leaf */      \
                continue;                                                                           \
            cull_leaf(trav, &group, options);                                                       \
            if (v_any(group.active))                                                                \
                MESH_SEARCH_SUBMIT(name)                                                            \
        }                                                                                           \
        return waits ? MESH_WAITS : mesh_pop_next(trav);                                            \
    }                                                                                               \
    MESH_SEARCH_SOLVE(name)

/* MESH_SEARCH_SUBMIT hands a group's active lanes to the narrow phase: to the queue of pairs, to the deferred groups of
 * a work-item in lockstep, or directly to the solver. */
#ifdef LANG_HAS_COMPRESS
#define MESH_SEARCH_SUBMIT(name)                \
    {                                           \
        mesh_pairs_push(pairs, &group, number); \
        waits = 1;                              \
    }
/* Solves the oldest packet. */
#define MESH_SEARCH_SOLVE(name)                                                                           \
    FN void name##_solve(const mesh_run *run, mesh_traversal *traversals, mesh_pairs *pairs, int options) \
    {                                                                                                     \
        (void)run;                                                                                        \
        if (pairs->end - pairs->first < LANES)                                                            \
            mesh_pairs_pad(pairs);                                                                        \
        const mesh_packet packet = mesh_pairs_packet(pairs, options);                                     \
        name##_packet(traversals, &packet, options);                                                      \
        mesh_pairs_pop(pairs);                                                                            \
    }
#elif defined(MESH_DEFERS)
#define MESH_SEARCH_SUBMIT(name)             \
    {                                        \
        (void)number;                        \
        mesh_defer(pairs, trav->next, lane); \
    }
/* Solves the deferred groups that can still improve on the best hit. */
#define MESH_SEARCH_SOLVE(name)                                                                                \
    FN void name##_solve(const mesh_run *run, mesh_traversal *trav, mesh_pairs *pairs, int options)            \
    {                                                                                                          \
        for (int k = 0; k < pairs->end; k++) {                                                                 \
            const int leaf = pairs->leaf[k];                                                                   \
            const mesh_group group =                                                                           \
                mesh_group_of(mesh_leaf_of(run, leaf), leaf, pairs->lane[k], trav, run->frame.scale, options); \
            if (v_any(group.active)) {                                                                         \
                mesh_packet packet = mesh_packet_of(&group, trav, options);                                    \
                packet.leaves = run->leaves;                                                                   \
                packet.leaf = pairs->leaf + k;                                                                 \
                packet.slot = pairs->lane + k;                                                                 \
                name##_packet(trav, &packet, options);                                                         \
            }                                                                                                  \
        }                                                                                                      \
        pairs->end = 0;                                                                                        \
    }
#else
#define MESH_SEARCH_SUBMIT(name)                                    \
    {                                                               \
        mesh_packet packet = mesh_packet_of(&group, trav, options); \
        (void)number, (void)pairs;                                  \
        MESH_NOTE(&packet, pairs, trav, &group, lane);              \
        name##_packet(trav, &packet, options);                      \
    }
#define MESH_SEARCH_SOLVE(name) MESH_NEVER_WAITS(name, mesh_traversal)
#endif
#endif

/* For a search that solves every pair at its leaf. */
#define MESH_NEVER_WAITS(name, traversal_type)                                                            \
    FN void name##_solve(const mesh_run *run, traversal_type *traversals, mesh_pairs *pairs, int options) \
    {                                                                                                     \
        (void)run, (void)traversals, (void)pairs, (void)options;                                          \
    }
#endif
