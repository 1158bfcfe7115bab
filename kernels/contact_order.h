/* SPDX-License-Identifier: MIT */
/* The rules by which contacts are chosen: the order of the triangles around a sphere, and which of them contain the
 * closest point of one. The order is by the distance of the closest feature, then by index. Exact mode compares true
 * distances. Fast mode compares binary32 distances; where these tie at an edge or a corner, it compares the distances
 * of the closest features in binary64. Triangles with the same closest feature have the same distance. For LANES 1. */
#ifndef CAROM_CONTACT_ORDER_H
#define CAROM_CONTACT_ORDER_H
#include "mesh_contacts_exact.h"

/* Results of a decision. Integers have to decide the third case. */
#define CONTACT_NO 0
#define CONTACT_YES 1
#define CONTACT_UNDECIDED 2

/* A mesh, and its triangles at each corner and edge. */
typedef struct contact_mesh {
    mesh_frame frame;
    G const real *vertices;
    G const u32 *indices;
    G const u32 *position; /* [3 triangles] number of each corner's position */
    G const u32 *next;     /* [3 triangles] next triangle at each edge, in rings */
    G const u8 *twins;     /* a bit for each triangle that has a twin, with the same three corners */
    G const u32 *twin;     /* [triangles] next of these, in rings; read only with that bit */
    G const u64 *start;    /* first triangle of each position */
    G const u32 *triangle; /* triangles at each position, ascending */
    G const int *mask;     /* [triangles]; or NULL */
    wf extent;             /* upper bound of the distance of any two points */
} contact_mesh;

typedef struct contact_sphere {
    v3 center;
    real radius, margin;
    int mask;
} contact_sphere;

FN u32 contact_position(const contact_mesh *mesh, u32 triangle, int corner)
{
    return mesh->position[3 * (size_t)triangle + (size_t)corner];
}

FN v3 contact_corner(const contact_mesh *mesh, u32 triangle, int corner)
{
    G const real *p = mesh->vertices + 3 * (size_t)mesh->indices[3 * (size_t)triangle + (size_t)corner];
    return v3_of(p[0], p[1], p[2]);
}

/* Whether the sphere's mask includes the triangle. */
FN int contact_counts(const contact_mesh *mesh, const contact_sphere *sphere, u32 triangle)
{
    return mesh->mask == 0 || (mesh->mask[triangle] & sphere->mask) != 0;
}

FN w3 contact_wide(v3 p)
{
    return w3_of(w_real(p.x), w_real(p.y), w_real(p.z));
}

FN closest_in contact_pair(const contact_mesh *mesh, v3 center, u32 triangle)
{
    closest_in pair;
    pair.center = center;
    pair.p0 = contact_corner(mesh, triangle, 0);
    pair.p1 = contact_corner(mesh, triangle, 1);
    pair.p2 = contact_corner(mesh, triangle, 2);
    return pair;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

FN closest_wide contact_wide_pair(closest_in pair)
{
    return closest_wide_of(contact_wide(pair.center), contact_wide(pair.p0), contact_wide(pair.p1),
                           contact_wide(pair.p2));
}

FN closest_range contact_range_of(closest_in pair)
{
    const closest_wide wide = contact_wide_pair(pair);
    return closest_range_of(&wide);
}

/* Bounds of the distance from the triangle's box. */
FN closest_span contact_span_of(closest_in pair, closest_view view, real scale)
{
    return closest_span_of(view, v3_mul(mesh_min3(pair.p0, pair.p1, pair.p2), scale),
                           v3_mul(mesh_max3(pair.p0, pair.p1, pair.p2), scale));
}

/* The binary32 to which every distance of the range rounds; NaN if there are two. */
FN real contact_distance_in(closest_range range)
{
    const real low = w_join(range.low, range.low), high = w_join(range.high, range.high);
    return low < high || low > high ? v_from_bits(R_NAN_BITS) : low;
}

/* The distance that `closest` gives a triangle; in exact mode NaN if the nearest binary32 is not certain. */
FN real contact_own_distance(mesh_frame frame, closest_in pair, int exact)
{
    if (exact)
        return contact_distance_in(contact_range_of(pair));
    return contacts_solution_of(pair, contact_span_of(pair, closest_view_of(pair.center, frame), frame.scale), 1, 1)
        .distance;
}

/* The record of one triangle, as the search makes it. */
FN mesh_record contact_record_of(mesh_frame frame, closest_in pair, u32 triangle, int exact)
{
    mesh_record record;
    record.triangle = (int)triangle;
    record.query = 0;
    if (exact) {
        const closest_wide wide = contact_wide_pair(pair);
        record.t = contact_distance_in(closest_range_of(&wide));
        record.state = (int)closest_point_of(&wide).feature;
    } else {
        const closest_view view = closest_view_of(pair.center, frame);
        const contacts_solution solution = contacts_solution_of(pair, contact_span_of(pair, view, frame.scale), 1, 0);
        record.t = contacts_distance(pair, view, &solution, 1, frame.scale);
        record.state = solution.feature;
    }
    return record;
}

/* ---- features ---------------------------------------------------------------------------------------------------- */

/* The triangle's first edge between these positions; -1: it has none. */
FN int contact_edge_between(const contact_mesh *mesh, u32 triangle, u32 a, u32 b)
{
    for (int k = 0; k < 3; k++) {
        const u32 from = contact_position(mesh, triangle, k), to = contact_position(mesh, triangle, (k + 1) % 3);
        if ((from == a && to == b) || (from == b && to == a))
            return k;
    }
    return -1;
}

/* A closest feature as ids of distinct vertex positions, in ascending order: one for a corner, two for an edge, three
 * for a face. */
typedef struct contact_simplex {
    int count;
    u32 position[3];
    int corner[3]; /* number of the triangle's corner at each position */
} contact_simplex;

/* The positions of a record's closest feature, in ascending order. */
FN contact_simplex contact_simplex_of(const contact_mesh *mesh, const mesh_record *record)
{
    contact_simplex p;
    p.count = record->state < FEATURE_E01 ? 1 : record->state < FEATURE_FACE ? 2 : 3;
    const int first = p.count == 1 ? record->state - FEATURE_V0 : p.count == 2 ? record->state - FEATURE_E01 : 0;
    for (int i = 0; i < p.count; i++) {
        const int corner = (first + i) % 3;
        const u32 position = contact_position(mesh, (u32)record->triangle, corner);
        int at = i;
        for (; at > 0 && p.position[at - 1] > position; at--) {
            p.position[at] = p.position[at - 1];
            p.corner[at] = p.corner[at - 1];
        }
        p.position[at] = position;
        p.corner[at] = corner;
    }
    return p;
}

/* Whether two triangles have the same closest feature, by positions. */
FN int contact_same_feature(const contact_mesh *mesh, const mesh_record *a, const mesh_record *b)
{
    if (a->state < FEATURE_E01 && b->state < FEATURE_E01)
        return contact_position(mesh, (u32)a->triangle, a->state - FEATURE_V0) ==
               contact_position(mesh, (u32)b->triangle, b->state - FEATURE_V0);
    if ((a->state < FEATURE_E01) != (b->state < FEATURE_E01) || (a->state < FEATURE_FACE) != (b->state < FEATURE_FACE))
        return 0;
    const contact_simplex p = contact_simplex_of(mesh, a), q = contact_simplex_of(mesh, b);
    int same = 1;
    for (int i = 0; i < p.count; i++)
        same &= p.position[i] == q.position[i];
    return same;
}

/* ---- triangles with the same feature ----------------------------------------------------------------------------- */

#define CONTACT_FAN_SMALL 16 /* up to so many triangles at a corner are taken in the order of their indices */

/* Goes through the triangles that have a record's closest feature. */
typedef struct contact_others {
    u32 own, at;
    int feature;
    u32 a, b; /* of an edge: its positions */
    /* Of a corner: the next one is before `down`; then from `up` on to the last. */
    u64 first, down, up, last;
} contact_others;

/* At a corner of many triangles, the next lower indices come first, as one that is not masked out nearly always
 * precedes. A loop from the lowest index would go through all of the masked triangles for each record, if these have
 * the lowest indices. */
FN void contact_find_fan(const contact_mesh *mesh, contact_others *others, u32 position)
{
    u64 high = mesh->start[position + (u64)1];
    others->first = others->down = others->up = mesh->start[position];
    others->last = high;
    if (high - others->first <= CONTACT_FAN_SMALL)
        return;
    while (high - others->down > 1) { /* binary search */
        const u64 middle = others->down + (high - others->down) / 2;
        if (mesh->triangle[middle] <= others->own)
            others->down = middle;
        else
            high = middle;
    }
    others->up = others->down;
}

FN contact_others contact_others_of(const contact_mesh *mesh, const mesh_record *record)
{
    contact_others others;
    others.own = others.at = (u32)record->triangle;
    others.feature = record->state;
    others.a = others.b = 0;
    others.first = others.down = others.up = others.last = 0;
    if (record->state < FEATURE_E01)
        contact_find_fan(mesh, &others, contact_position(mesh, others.own, record->state - FEATURE_V0));
    else if (record->state < FEATURE_FACE) {
        others.a = contact_position(mesh, others.own, record->state - FEATURE_E01);
        others.b = contact_position(mesh, others.own, (record->state - FEATURE_E01 + 1) % 3);
    }
    return others;
}

/* Moves on to the next triangle `at`; 0 ends. At a corner the record's own triangle comes too, and one with two corners
 * there comes twice. */
FN int contact_next_other(const contact_mesh *mesh, contact_others *others)
{
    if (others->feature < FEATURE_E01) {
        const int is_down = others->down > others->first;
        if (!is_down && others->up == others->last)
            return 0;
        others->at = mesh->triangle[is_down ? --others->down : others->up++];
        return 1;
    }
    if (others->feature < FEATURE_FACE)
        others->at =
            mesh->next[3 * (size_t)others->at + (size_t)contact_edge_between(mesh, others->at, others->a, others->b)];
    else if (mesh->twin != 0 && (mesh->twins[others->own / 8] >> others->own % 8 & 1) != 0)
        others->at = mesh->twin[others->at];
    return others->at != others->own;
}

/* ---- fast mode --------------------------------------------------------------------------------------------------- */

/* Squared distance of the centre from the corner, line or plane of the feature. */
FN wf contact_square_from(const contact_mesh *mesh, v3 center, const mesh_record *record)
{
    const contact_simplex p = contact_simplex_of(mesh, record);
    const w3 origin = contact_wide(contact_corner(mesh, (u32)record->triangle, p.corner[0]));
    w3 offset = w3_sub(contact_wide(center), origin);
    if (p.count == 1)
        return w3_dot(offset, offset);
    const w3 along = w3_sub(contact_wide(contact_corner(mesh, (u32)record->triangle, p.corner[1])), origin);
    if (p.count == 2) {
        offset = w3_sub_scaled(offset, along, w3_dot(offset, along) / w3_dot(along, along));
        return w3_dot(offset, offset);
    }
    const w3 normal =
        w3_cross(along, w3_sub(contact_wide(contact_corner(mesh, (u32)record->triangle, p.corner[2])), origin));
    const wf height = w3_dot(normal, offset);
    return height * height / w3_dot(normal, normal);
}

/* The largest coordinate of the triangle relative to the centre, by magnitude. */
FN wf contact_size_of(const contact_mesh *mesh, v3 center, const mesh_record *record)
{
    wf size = w_f(W(0.0));
    for (int k = 0; k < 3; k++) {
        const w3 offset = w3_sub(contact_wide(contact_corner(mesh, (u32)record->triangle, k)), contact_wide(center));
        size = closest_max(closest_max(size, w_abs(offset.x)), closest_max(w_abs(offset.y), w_abs(offset.z)));
    }
    return size;
}

/* Whether two binary32 distances are in the true order for certain. Each has an error of at most 2^-20 of the size, so
 * a difference of twice that decides. A first test with the mesh's extent as the size decides most pairs. */
FN int contact_are_apart(const contact_mesh *mesh, v3 center, const mesh_record *a, const mesh_record *b)
{
    const wf apart = w_abs(w_real(a->t) - w_real(b->t));
    if (apart > W(0x1p-18) * (w_real(a->t) + mesh->extent))
        return 1;
    return apart > W(0x1p-18) * closest_max(contact_size_of(mesh, center, a), contact_size_of(mesh, center, b));
}

/* The sign of a's minus b's distance. */
FN int contact_fast_order(const contact_mesh *mesh, v3 center, const mesh_record *a, const mesh_record *b)
{
    const int differ = a->t < b->t || a->t > b->t;
    if (differ && contact_are_apart(mesh, center, a, b))
        return a->t < b->t ? -1 : 1;
    if (contact_same_feature(mesh, a, b))
        return 0;
    const wf first = contact_square_from(mesh, center, a), second = contact_square_from(mesh, center, b);
    return (first > second) - (first < second);
}

/* ---- exact mode -------------------------------------------------------------------------------------------------- */

/* The sign of a's minus b's true distance; or CONTACT_UNDECIDED. */
FN int contact_exact_order(const contact_mesh *mesh, v3 center, const mesh_record *a, const mesh_record *b)
{
    if (a->t < b->t || a->t > b->t)
        return a->t < b->t ? -1 : 1;
    if (a->state == FEATURE_NONE || b->state == FEATURE_NONE)
        return CONTACT_UNDECIDED;
    if (contact_same_feature(mesh, a, b))
        return 0;
    const closest_range first = contact_range_of(contact_pair(mesh, center, (u32)a->triangle)),
                        second = contact_range_of(contact_pair(mesh, center, (u32)b->triangle));
    return first.high < second.low ? -1 : second.high < first.low ? 1 : CONTACT_UNDECIDED;
}

/* Whether the normal of the triangle, |n|^2 against its error, may be 0. */
FN int contact_may_be_flat(v3 p0, v3 p1, v3 p2)
{
    const w3 edge1 = w3_sub(contact_wide(p1), contact_wide(p0)), edge2 = w3_sub(contact_wide(p2), contact_wide(p0));
    const w3 normal = w3_cross(edge1, edge2);
    /* The error of n is below 2^-50 |a| |b|. */
    return !(w3_dot(normal, normal) > W(0x1p-96) * (w3_dot(edge1, edge1) * w3_dot(edge2, edge2)));
}

/* Whether a true distance, which rounds to t, is at most the real sum radius + more. Both bounds of the distance are
 * the binary32 numbers beside t; a sum in binary64 is off by 2^-53 of itself, and as much in each bound. */
FN int contact_is_within(real t, real radius, real more)
{
    const wf sum = w_real(radius) + w_abs(w_real(more)), slack = sum * W(0x1p-51), x = w_real(t),
             most = w_real(v_largest());
    if (!(t >= R(0.0)))
        return CONTACT_UNDECIDED;
    if (x * (W(1.0) + W(0x1p-23)) + W(0x1p-149) <= sum - slack)
        return CONTACT_YES;
    return closest_min(x, most) * (W(1.0) - W(0x1p-23)) - W(0x1p-149) > sum + slack ? CONTACT_NO : CONTACT_UNDECIDED;
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

/* Whether j comes before k, which is within reach, in the order (distance, index). */
FN int contact_comes_before(const contact_mesh *mesh, const contact_sphere *sphere, const mesh_record *j,
                            const mesh_record *k, int exact)
{
    /* In fast mode, a triangle beyond the limit in binary32 makes no contact and suppresses none. */
    if (!exact && j->t > sphere->radius + sphere->margin)
        return CONTACT_NO;
    const int order =
        exact ? contact_exact_order(mesh, sphere->center, j, k) : contact_fast_order(mesh, sphere->center, j, k);
    return order == CONTACT_UNDECIDED ? order : order != 0 ? order < 0 : j->triangle < k->triangle;
}

/* The same for a triangle j that has k's closest feature. In exact mode, let j have an area and its closest point
 * elsewhere than on that feature. Then j is strictly closer, as its closest point is unique. */
FN int contact_precedes(const contact_mesh *mesh, const contact_sphere *sphere, const mesh_record *j,
                        const mesh_record *k, int exact)
{
    if (!exact)
        return contact_comes_before(mesh, sphere, j, k, 0);
    if (j->state == FEATURE_NONE)
        return CONTACT_UNDECIDED;
    if (contact_same_feature(mesh, j, k))
        return j->triangle < k->triangle;
    const u32 triangle = (u32)j->triangle;
    if (!contact_may_be_flat(contact_corner(mesh, triangle, 0), contact_corner(mesh, triangle, 1),
                             contact_corner(mesh, triangle, 2)))
        return CONTACT_YES;
    return contact_comes_before(mesh, sphere, j, k, 1);
}
#endif
