/* SPDX-License-Identifier: MIT */
/* The second filter of exact mode: the sweep of a sphere against a triangle in binary64, from the moments of the line
 * of centres (Pluecker coordinates). It answers most pairs that the first filter (proof.h) leaves undecided; integers
 * decide the rest (cpu/exact/motion.h, whose letters and formulas these are).
 *
 * Every feature has its roots and its closed region in numbers that need no guess. Each number carries a bound of its
 * error. A root whose signs are all certain is the first or last contact, because the distance to a triangle is convex
 * in time. A pair is a miss if each feature certainly has no root in its region.
 *
 * Small integers: where all lengths are multiples of 2^-9 of the largest, and all velocities of 2^-8, every polynomial
 * below is exact, and its bound is 0. So ties on lattices are decided as ties.
 *
 * docs/exact.md, section 13, derives the bounds. Nothing is scaled, because binary32 inputs cannot leave the range. */
#ifndef CAROM_SWEEP_PLUCKER_H
#define CAROM_SWEEP_PLUCKER_H
#include "layout.h"
#include "bounded.h"

/* ---- pair -------------------------------------------------------------------------------------------------------- */

/* Whether a lane is set. */
FN int wide_any(wm m)
{
    const wf zero = w_f(W(0.0)), one = w_f(W(1.0)), numbers = w_sel(m, one, zero);
    return v_any(v_lt(v_f(R(0.0)), w_join(numbers, numbers)));
}

/* A number E or Y of a feature, and its root. */
typedef struct plucker_square {
    bounded square, root;
} plucker_square;

FN plucker_square plucker_square_of(bounded square)
{
    plucker_square r;
    r.square = square;
    r.root = bounded_sqrt(square);
    return r;
}

/* The letters of motion.h. */
typedef struct plucker_pair {
    wf unit;        /* relative error of a rounding in polynomials; 0 where they are exact */
    wf normal_unit; /* the same for products of edges */
    bounded radius2, speed2;
    bounded3 v, d[3], e[3], q[3], a[3], n;
    plucker_square edge[3]; /* E */
    bounded v_dot_e[3], plucker[3], a_dot_n[3];
    bounded normal_speed;   /* n.v */
    wf time_unit;           /* from times of `v` to the caller's */
    wf fine_size;           /* largest distance from a corner, plus the radius */
    wf length, edge_length; /* the largest of all lengths, and of the edges */
    wm valid;               /* numbers are finite, radius is not negative, and there is motion */
    wm is_lattice;          /* and the squares that tell a tie are exact in two numbers */
    int has_lattice;        /* one of the pairs is */
} plucker_pair;

/* Whether a binary32 number is a multiple of half a unit in the last place of `grain`. */
FN wm w_is_multiple(wf a, wf grain)
{
    return w_eq((a + grain) - grain, a);
}
FN wm w3_is_multiple(w3 a, wf grain)
{
    return w_and(w_and(w_is_multiple(a.x, grain), w_is_multiple(a.y, grain)), w_is_multiple(a.z, grain));
}

/* A number whose last place is twice the share of a size, or more. It has few bits, so sums with it stay exact. */
FN wf grain_of(wf size, wide_real share)
{
    return wide_head(size) * (share * W(0x1p54));
}

/* Inputs of WIDE pairs. */
typedef struct plucker_in {
    w3 center, velocity, w, p[3];
    wf radius;
} plucker_in;

/* Whether the corners, and all lengths, are multiples of a grain's half last place. */
FN wm plucker_corners_are(plucker_in in, wf grain)
{
    return w_and(w_and(w3_is_multiple(in.p[0], grain), w3_is_multiple(in.p[1], grain)), w3_is_multiple(in.p[2], grain));
}
FN wm plucker_lengths_are(plucker_in in, wf grain)
{
    return w_and(w_and(w3_is_multiple(in.center, grain), w_is_multiple(in.radius, grain)),
                 plucker_corners_are(in, grain));
}

/* Whether a size is so far inside the range that products of fourteen, to twice the precision, stay there. */
FN wm plucker_in_range(wf size)
{
    return w_and(w_lt(w_f(W(0x1p-40)), size), w_lt(size, w_f(W(0x1p40))));
}

/* Differences of the inputs, and whether polynomials of them are exact. */
FN void plucker_differences(plucker_in in, plucker_pair *pair)
{
    const wf zero = w_f(W(0.0));
    pair->v = bounded3_difference(in.velocity, in.w);
    LANG_UNROLL
    for (int k = 0; k < 3; k++) {
        pair->d[k] = bounded3_difference(in.center, in.p[k]);
        pair->e[k] = bounded3_difference(in.p[(k + 1) % 3], in.p[k]);
    }
    const wf from = w_max(w_max(pair->d[0].size, pair->d[1].size), pair->d[2].size),
             across = w_max(w_max(pair->e[0].size, pair->e[1].size), pair->e[2].size),
             size = w_max(w_max(from, across), in.radius);
    /* Lengths that are multiples of 2^-9 of the largest and velocities of 2^-8; or edges of 2^-26, whose products have
     * 52 bits. */
    const wf speed_grain = grain_of(pair->v.size, W(0x1p-8));
    const wm is_coarse = w_and(plucker_lengths_are(in, grain_of(size, W(0x1p-9))),
                               w_and(w3_is_multiple(in.velocity, speed_grain), w3_is_multiple(in.w, speed_grain)));
    pair->unit = w_sel(is_coarse, zero, BOUNDED_EPS);
    const wf slow_grain = grain_of(pair->v.size, W(0x1p-3));
    const wm is_short = plucker_lengths_are(in, grain_of(size, W(0x1p-7))),
             is_slow = w_and(w3_is_multiple(in.velocity, slow_grain), w3_is_multiple(in.w, slow_grain));
    pair->is_lattice =
        w_and(w_and(is_coarse, w_or(is_short, is_slow)), w_and(plucker_in_range(size), plucker_in_range(pair->v.size)));
    pair->has_lattice = wide_any(pair->is_lattice);
    pair->normal_unit = w_sel(plucker_corners_are(in, grain_of(across, W(0x1p-26))), zero, BOUNDED_EPS);
    pair->length = size;
    pair->edge_length = across;
    pair->fine_size = from + in.radius;
    const wf square = in.radius * in.radius;
    pair->radius2 = bounded_of(square, zero); /* 48 bits */
    pair->valid =
        w_and(w_and(w_le(zero, in.radius), w_lt(zero, pair->v.size)), w_lt((size + pair->v.size), w_infinity()));
    /* Slow motions are scaled up, because a product of seven such numbers could be denormal. */
    const wf scale = w_sel(w_lt(pair->v.size, w_f(W(0x1p-40))), w_f(W(0x1p100)), w_f(W(1.0)));
    pair->v.value = w3_mul(pair->v.value, scale);
    pair->v.size = pair->v.size * scale;
    pair->v.error = pair->v.error * scale;
    pair->time_unit = scale;
}

/* The quantities that several features share. */
FN void plucker_pair_of(plucker_in in, plucker_pair *pair)
{
    plucker_differences(in, pair);
    const wf unit = pair->unit;
    pair->speed2 = bounded3_square(pair->v, unit);
    pair->n = bounded3_cross(pair->e[0], pair->e[1], pair->normal_unit);
    pair->normal_speed = bounded3_dot(pair->n, pair->v, unit);
    LANG_UNROLL
    for (int k = 0; k < 3; k++) {
        pair->q[k] = bounded3_cross(pair->d[k], pair->v, unit);
        pair->a[k] = bounded3_cross(pair->e[k], pair->v, unit);
        pair->edge[k] = plucker_square_of(bounded3_square(pair->e[k], pair->normal_unit));
        pair->v_dot_e[k] = bounded3_dot(pair->v, pair->e[k], unit);
        pair->plucker[k] = bounded3_dot(pair->e[k], pair->q[k], unit);
        pair->a_dot_n[k] = bounded3_dot(pair->a[k], pair->n, unit);
    }
}

/* ---- features ---------------------------------------------------------------------------------------------------- */

/* The begin or end of contact, as far as features are tried. */
typedef struct plucker_contact {
    bounded a, b, k, root; /* of the feature that holds it: the time is (-b -+ root) / a */
    wf feature;
    wm found, clear; /* a feature certainly holds it with Y > 0; all earlier ones certainly do not */
} plucker_contact;

/* The single root of a corner or an edge, at time -b / a, where Y is known to be 0. */
typedef struct plucker_tangency {
    bounded a, b;
    wm in, out; /* it is in the feature's region; it is not, or Y is not 0 */
} plucker_tangency;

enum { PLUCKER_FIRST, PLUCKER_LAST, PLUCKER_CONTACTS };
enum { PLUCKER_TANGENCIES = 6 }; /* corners and edges */

/* Which of a feature's two roots are in its region, and which are not. Of a tangency both are the same. */
typedef struct plucker_region {
    wm in[PLUCKER_CONTACTS], out[PLUCKER_CONTACTS];
    wm is_tangent;
} plucker_region;

/* p sqrt(E) = s sqrt(Y) is a tie of the first root, and p sqrt(E) = -s sqrt(Y) of the last: it meets its condition. The
 * squares are exact in two numbers. */
FN void plucker_add_ties(bounded p, bounded e, bounded s, bounded y, wm is_lattice, wm *in, wm *out)
{
    const wf zero = w_f(W(0.0)), sign = p.value * s.value;
    const wide2 left = wide2_mul(wide2_product(p.value, p.value), wide2_of(e.value, zero)),
                right = wide2_mul(wide2_product(s.value, s.value), wide2_of(y.value, zero)),
                difference = wide2_sub(left, right);
    const wm is_tie = w_and(is_lattice, w_and(w_eq(difference.hi, zero), w_eq(difference.lo, zero))),
             ties[] = {w_and(is_tie, w_le(zero, sign)), w_and(is_tie, w_le(sign, zero))};
    LANG_UNROLL
    for (int i = 0; i < PLUCKER_CONTACTS; i++) {
        in[i] = w_or(in[i], ties[i]);
        out[i] = w_and(out[i], w_not(ties[i]));
    }
}

/* One more condition: wanted (p sqrt(E) -+ s sqrt(Y)) >= 0, for the first root and the last. */
FN void plucker_surd(const plucker_pair *pair, bounded p, const plucker_square *e, bounded s, const plucker_square *y,
                     int wanted, plucker_region *region)
{
    const wf rounding = BOUNDED_EPS;
    const bounded x = bounded_mul(p, e->root, rounding), z = bounded_mul(s, y->root, rounding);
    const wf error = x.error + z.error + (w_abs(x.value) + w_abs(z.value)) * rounding;
    const wf excess[] = {(x.value - z.value) * (wide_real)wanted, (x.value + z.value) * (wide_real)wanted};
    wm in[PLUCKER_CONTACTS], out[PLUCKER_CONTACTS], known[PLUCKER_CONTACTS];
    LANG_UNROLL
    for (int i = 0; i < PLUCKER_CONTACTS; i++) {
        in[i] = w_le(error, excess[i]);
        out[i] = w_lt(excess[i], -error);
        known[i] = w_or(w_or(in[i], out[i]), region->out[i]);
    }
    if (pair->has_lattice && wide_any(w_not(w_and(known[PLUCKER_FIRST], known[PLUCKER_LAST]))))
        plucker_add_ties(p, e->square, s, y->square, pair->is_lattice, in, out);
    LANG_UNROLL
    for (int i = 0; i < PLUCKER_CONTACTS; i++) {
        region->in[i] = w_and(region->in[i], in[i]);
        region->out[i] = w_or(region->out[i], out[i]);
    }
}

/* A region without conditions of roots that exist if Y >= 0. */
FN plucker_region plucker_region_of(bounded y)
{
    const wf zero = w_f(W(0.0));
    plucker_region region;
    region.is_tangent = w_and(w_eq(y.value, zero), w_eq(y.error, zero));
    region.in[PLUCKER_FIRST] = region.in[PLUCKER_LAST] = w_or(w_lt(y.error * W(4.0), y.value), region.is_tangent);
    region.out[PLUCKER_FIRST] = region.out[PLUCKER_LAST] = w_lt(y.value, -y.error);
    return region;
}

/* Keeps a feature's roots where they are the first that are found. */
FN void plucker_keep(const plucker_region *region, bounded a, bounded b, bounded k, bounded root, int feature,
                     plucker_contact *contacts)
{
    LANG_UNROLL
    for (int i = 0; i < PLUCKER_CONTACTS; i++) {
        plucker_contact *contact = &contacts[i];
        const wm held = w_and(w_and(region->in[i], w_not(region->is_tangent)), w_not(contact->found));
        contact->a = bounded_sel(held, a, contact->a);
        contact->b = bounded_sel(held, b, contact->b);
        contact->k = bounded_sel(held, k, contact->k);
        contact->root = bounded_sel(held, root, contact->root);
        contact->feature = w_sel(held, w_f((wide_real)feature), contact->feature);
        contact->found = w_or(contact->found, held);
        contact->clear = w_and(contact->clear, w_or(w_or(contact->found, region->out[i]), region->is_tangent));
    }
}

FN plucker_tangency plucker_tangency_of(const plucker_region *region, bounded a, bounded b)
{
    plucker_tangency root;
    root.a = a;
    root.b = b;
    root.in = w_and(region->in[PLUCKER_FIRST], region->is_tangent);
    root.out = w_or(region->out[PLUCKER_FIRST], w_not(region->is_tangent));
    return root;
}

FN plucker_tangency plucker_corner(const plucker_pair *pair, int corner, plucker_contact *contacts)
{
    const wf unit = pair->unit;
    const int before = (corner + 2) % 3;
    const bounded3 *q = &pair->q[corner];
    const bounded y = bounded_sub(bounded_mul(pair->radius2, pair->speed2, unit), bounded3_square(*q, unit), unit);
    const bounded one = bounded_of(w_f(W(1.0)), w_f(W(0.0)));
    const plucker_square root_y = plucker_square_of(y), unity = {one, one};
    plucker_region region = plucker_region_of(y);
    plucker_surd(pair, bounded3_dot(pair->a[corner], *q, unit), &unity, pair->v_dot_e[corner], &root_y, -1, &region);
    plucker_surd(pair, bounded3_dot(pair->a[before], *q, unit), &unity, pair->v_dot_e[before], &root_y, 1, &region);
    const bounded b = bounded3_dot(pair->v, pair->d[corner], unit);
    plucker_keep(&region, pair->speed2, b, bounded_sub(bounded3_square(pair->d[corner], unit), pair->radius2, unit),
                 root_y.root, FEATURE_V0 + corner, contacts);
    return plucker_tangency_of(&region, pair->speed2, b);
}

FN plucker_tangency plucker_edge(const plucker_pair *pair, int edge, plucker_contact *contacts)
{
    const wf unit = pair->unit;
    const bounded3 *a = &pair->a[edge], moment = bounded3_cross(pair->e[edge], pair->d[edge], unit);
    const bounded *h = &pair->plucker[edge];
    const plucker_square *length = &pair->edge[edge];
    const bounded a2 = bounded3_square(*a, unit);
    const bounded y = bounded_sub(bounded_mul(pair->radius2, a2, unit), bounded_mul(*h, *h, unit), unit);
    const plucker_square root_y = plucker_square_of(y);
    plucker_region region = plucker_region_of(y);
    /* An edge along the motion has no roots. */
    const wm is_along = w_and(w_eq(a2.value, w_f(W(0.0))), w_eq(a2.error, w_f(W(0.0))));
    LANG_UNROLL
    for (int i = 0; i < PLUCKER_CONTACTS; i++) {
        region.in[i] = w_and(region.in[i], w_lt(a2.error * W(16.0), a2.value));
        region.out[i] = w_or(region.out[i], is_along);
    }
    plucker_surd(pair, bounded3_dot(*a, pair->q[edge], unit), length, pair->v_dot_e[edge], &root_y, 1, &region);
    plucker_surd(pair, bounded3_dot(*a, pair->q[(edge + 1) % 3], unit), length, pair->v_dot_e[edge], &root_y, -1,
                 &region);
    plucker_surd(pair, bounded_mul(*h, pair->normal_speed, unit), length, pair->a_dot_n[edge], &root_y, -1, &region);
    const bounded b = bounded3_dot(*a, moment, unit);
    plucker_keep(&region, a2, b,
                 bounded_sub(bounded3_square(moment, unit), bounded_mul(pair->radius2, length->square, unit), unit),
                 bounded_mul_roots(length->root, root_y.root), FEATURE_E01 + edge, contacts);
    return plucker_tangency_of(&region, a2, b);
}

FN void plucker_face(const plucker_pair *pair, wf radius, plucker_contact *contacts)
{
    const wf unit = pair->unit, zero = w_f(W(0.0)), one = w_f(W(1.0));
    const plucker_square length = plucker_square_of(bounded3_square(pair->n, unit)),
                         reach = {pair->radius2, bounded_of(radius, zero)};
    const bounded *speed = &pair->normal_speed, flip = bounded_of(w_sel(w_lt(speed->value, zero), -one, one), zero);
    const wm is_clear = w_lt(speed->error * W(16.0), w_abs(speed->value));
    plucker_region region;
    region.in[PLUCKER_FIRST] = region.in[PLUCKER_LAST] = is_clear;
    region.out[PLUCKER_FIRST] = region.out[PLUCKER_LAST] = region.is_tangent = w_lt(one, zero);
    LANG_UNROLL
    for (int i = 0; i < 3; i++)
        plucker_surd(pair, bounded_mul(pair->plucker[i], flip, zero), &length, pair->a_dot_n[i], &reach, 1, &region);
    const wm is_along = w_and(w_eq(speed->value, zero), w_eq(speed->error, zero));
    LANG_UNROLL
    for (int i = 0; i < PLUCKER_CONTACTS; i++)
        region.out[i] = w_or(w_and(region.out[i], is_clear), is_along);
    /* The product of both roots, times a: in factors, because a square would lose digits. */
    const bounded a = bounded_of(w_abs(speed->value), speed->error), root = bounded_mul_roots(length.root, reach.root),
                  b = bounded_mul(bounded3_dot(pair->n, pair->d[0], unit), flip, zero),
                  distance = bounded_of(w_abs(b.value), b.error);
    const wf rounding = w_sel(w_eq(distance.error + root.error, zero), zero, BOUNDED_EPS);
    bounded k =
        bounded_mul(bounded_sub(distance, root, rounding), bounded_add(distance, root, BOUNDED_EPS), BOUNDED_EPS);
    k.value = k.value / a.value;
    k.error = (k.error + w_abs(k.value) * a.error) * W(1.25) / a.value + w_abs(k.value) * BOUNDED_EPS;
    plucker_keep(&region, a, b, k, root, FEATURE_FACE, contacts);
}

/* A contact without roots. */
FN plucker_contact plucker_none(void)
{
    const wf zero = w_f(W(0.0)), one = w_f(W(1.0));
    const bounded none = bounded_of(zero, zero);
    plucker_contact contact;
    contact.a = contact.b = contact.k = contact.root = none;
    contact.feature = w_f((wide_real)FEATURE_NONE);
    contact.found = w_lt(one, zero);
    contact.clear = w_lt(zero, one);
    return contact;
}

/* Finds the features that hold the first contact and the last. tangencies: [PLUCKER_TANGENCIES]. Returns whether a
 * tangency may be in its region. */
FN wm plucker_find(const plucker_pair *pair, wf radius, plucker_contact *contacts, plucker_tangency *tangencies)
{
    contacts[PLUCKER_FIRST] = contacts[PLUCKER_LAST] = plucker_none();
    LANG_UNROLL
    for (int corner = 0; corner < 3; corner++)
        tangencies[corner] = plucker_corner(pair, corner, contacts);
    LANG_UNROLL
    for (int edge = 0; edge < 3; edge++)
        tangencies[3 + edge] = plucker_edge(pair, edge, contacts);
    plucker_face(pair, radius, contacts);
    wm none = w_le(radius, radius);
    LANG_UNROLL
    for (int k = 0; k < PLUCKER_TANGENCIES; k++)
        none = w_and(none, tangencies[k].out);
    /* A point meets the plane at a tangency, too, and other features precede the face. */
    const wm is_first = w_or(none, w_lt(w_f(W(0.0)), radius));
    LANG_UNROLL
    for (int i = 0; i < PLUCKER_CONTACTS; i++)
        contacts[i].clear = w_and(contacts[i].clear, w_or(is_first, w_not(contacts[i].found)));
    return w_not(none);
}
#endif
