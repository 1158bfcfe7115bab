/* SPDX-License-Identifier: MIT */
/* The floating-point filter of exact mode, for a sweep of a sphere against a triangle: it certifies a guessed contact,
 * or leaves the pair undecided. A guess is a time and a point on a feature (corner, edge or face) of the triangle. The
 * filter computes when the distance to that feature's line or plane is r, with a bound on the error. It also checks
 * that no other part of the triangle is closer then.
 *
 * The distance to a triangle is convex in time. So a time at which it is r and falls is the first contact, and one at
 * which it is r and rises is the last: no other feature has to be tested. A wrong guess fails the test; it cannot give
 * a wrong answer.
 *
 * Words: the `hull` is the corner, line or plane that the feature lies in. The `foot` is the hull's point closest to
 * the sphere's centre. `y` is the vector from the guessed point to the centre. `apart`: the guess is a miss, and the
 * filter proves that the sphere never touches. `certain`: proven, whatever was rounded.
 *
 * Near the guess the squared distance to the hull minus r^2 is a parabola in time, c + b D + a D^2 with D = t - guess.
 * Only the distance to the guessed point must be precise: it is computed in binary64 (residual.h). Binary32 with error
 * bounds is enough for the rest: the offset of the foot from that point, the slopes, and the side of the triangle that
 * the centre is on. docs/exact.md, section 13, derives every bound. */
#ifndef CAROM_PROOF_H
#define CAROM_PROOF_H
#include "residual.h"
#include "sweep.h"

#ifndef PROOF_BOUND
#define PROOF_BOUND R(1.0) /* a test shrinks all bounds by this factor, and must then find wrong answers */
#endif
#define PROOF_EPS(n) v_f(R(n) * R(0x1p-24) * PROOF_BOUND) /* n roundings of binary32 */
#define PROOF_WIDE_EPS(n) v_f(R(n) * R(0x1p-53) * PROOF_BOUND)
#define PROOF_FLOOR v_f(R(0x1p-100)) /* far above losses by underflow, far below the terms that it is added to */

/* The two contacts of a sweep, where the sphere enters and where it leaves: indices of arrays. A miss and a pair at
 * rest have a single guess, PROOF_FIRST. */
enum { PROOF_FIRST, PROOF_LAST, PROOF_CONTACTS };

/* Sum of magnitudes: an upper bound of the length. */
FN vf v3_size(v3 a)
{
    return v_abs(a.x) + v_abs(a.y) + v_abs(a.z);
}

/* Two numbers of a vector, for the edges e01 and e02: its coordinates in that basis (weights of P1 and P2), or its dot
 * products with the two edges. */
typedef struct v2 {
    vf x1, x2;
} v2;

/* Makes a v2. */
FN v2 v2_of(vf x1, vf x2)
{
    v2 r;
    r.x1 = x1;
    r.x2 = x2;
    return r;
}
FN vf v2_dot(v2 a, v2 b)
{
    return a.x1 * b.x1 + a.x2 * b.x2;
}

/* ---- pair: the motion and the triangle --------------------------------------------------------------------------- */

/* Terms of a sphere and a triangle that first and last contact share. Lengths are in units of the view (sweep_view.h),
 * where motion and triangle have a size of about 1. */
typedef struct proof_pair {
    v3 v, e01, e02; /* relative velocity; edges from P0 to P1 and from P0 to P2 */
    vf radius;
    vf speed;                  /* upper bound of |v| */
    vf size;                   /* upper bound of |e01| + |e02| */
    vf distance;               /* upper bound of the distance of the centre from P0 at time 0 */
    vf reach;                  /* upper bound of `size` plus `distance` */
    vf gram11, gram12, gram22; /* e01.e01, e01.e02, e02.e02 */
    v2 ve;                     /* v.e01, v.e02 */
    vf reach_per_time;         /* length of the view per scaled time, at unit speed */
    vm at_rest;                /* no relative motion */
    vm ordinary;               /* the error bounds hold: neither scaled by sweep_rescue() nor almost at rest */
} proof_pair;

/* Motion and triangle of a pair, as its view has them. length: the largest magnitude among the pair's lengths. */
FN void proof_pair_view(const sweep_view *view, vi length, proof_pair *pair)
{
    pair->v = view->v;
    pair->e01 = view->e01;
    pair->e02 = view->e02;
    pair->radius = view->radius;
    pair->distance = v_from_bits(length) * v_scale_down(view->unit) * R(1.7321);
    pair->reach_per_time = v_scale_ratio(v_exponent(length), view->unit);
}

/* Inverses of squares and areas, for the projections to edges and face. */
typedef struct proof_inverses {
    vf per11, per22, per_e12;  /* 1 / squared length: of e01, e02, e02 - e01 */
    vf face11, face12, face22; /* inverse of the Gram matrix; meaningless without area */
} proof_inverses;

/* Inverses of squares and areas. */
FN proof_inverses proof_inverses_of(const proof_pair *pair)
{
    const v3 e12 = v3_sub(pair->e02, pair->e01), normal = v3_cross(pair->e01, pair->e02);
    const vf one = v_f(R(1.0)), per_area = one / v3_dot(normal, normal);
    proof_inverses inverses;
    inverses.per11 = one / pair->gram11;
    inverses.per22 = one / pair->gram22;
    inverses.per_e12 = one / v3_dot(e12, e12);
    inverses.face11 = pair->gram22 * per_area;
    inverses.face12 = -(pair->gram12 * per_area);
    inverses.face22 = pair->gram11 * per_area;
    return inverses;
}

/* Terms of motion and triangle: bounds of sizes, and products. */
FN void proof_pair_terms(proof_pair *pair)
{
    pair->speed = v_sqrt(v3_dot(pair->v, pair->v)) * R(1.00001);
    /* Products of the edges, and bounds of their sizes. */
    pair->gram11 = v3_dot(pair->e01, pair->e01);
    pair->gram12 = v3_dot(pair->e01, pair->e02);
    pair->gram22 = v3_dot(pair->e02, pair->e02);
    pair->size = v_sqrt(pair->gram11 + pair->gram22) * R(1.41423) + v_f(R(0x1p-60)); /* squares can underflow */
    pair->reach = pair->distance + pair->size;
    /* The motion along the edges. */
    pair->ve = v2_of(v3_dot(pair->v, pair->e01), v3_dot(pair->v, pair->e02));
}

/* Lanes whose motion may have denormal components: the bounds below do not hold so near the end of the range. */
FN vm proof_is_slow(vi speed)
{
    return v_not(vi_gt(speed, v_i(R_SMALL_BITS)));
}

/* Terms of a query whose lanes may be rare. */
FN proof_pair proof_pair_of(const sweep_query *query, const sweep_view *view)
{
    proof_pair pair;
    proof_pair_view(view, query->relative.length, &pair);
    proof_pair_terms(&pair);
    pair.at_rest = vi_eq(query->relative.speed, v_i(0));
    /* Pairs that sweep_rescue had to scale are not ordinary, either. */
    pair.ordinary = v_and(vi_eq(query->time_exponent, v_i(0)), v_eq(query->unscale, v_f(R(1.0))));
    pair.ordinary = v_and(pair.ordinary, v_or(pair.at_rest, v_not(proof_is_slow(query->relative.speed))));
    return pair;
}

/* Lanes in which the sphere is almost a point beside the triangle. */
FN vm proof_is_point(vf radius, vf size)
{
    return v_lt(radius, size * R(0x1p-16));
}

/* ---- hull: projecting the centre to a feature -------------------------------------------------------------------- */

/* The affine hull of a feature: a corner, the line of an edge, or the plane of the face. It projects the centre to the
 * foot, and bounds how far the projection's roundings grow. */
typedef struct proof_hull {
    vm in0, in1, in2;  /* which corners the feature has */
    vm e12;            /* the feature is E12 (whose direction is e02 - e01) */
    vf m11, m12, m22;  /* inverse of the Gram matrix of the feature's edges; 0 for a corner */
    vf spread;         /* factor from errors of products with the edges to errors of weights */
    vf condition;      /* square of the factor by which a projection grows its roundings */
    vf condition_root; /* upper bound of the root of `condition` */
    vm in_range;       /* the feature is large and wide enough for the bounds */
} proof_hull;

/* The hull of a feature. */
FN proof_hull proof_hull_of(const proof_pair *pair, const proof_inverses *inverses, vi feature)
{
    const vf one = v_f(R(1.0));
    const vm e01 = vi_eq(feature, v_i(FEATURE_E01)), e20 = vi_eq(feature, v_i(FEATURE_E20));
    const vm e12 = vi_eq(feature, v_i(FEATURE_E12)), face = vi_eq(feature, v_i(FEATURE_FACE));
    const vm edge_at_p1 = v_or(e01, e12), edge_at_p2 = v_or(e20, e12);
    proof_hull hull;
    /* Corners of the feature. */
    hull.e12 = e12;
    hull.in0 = v_or(v_or(vi_eq(feature, v_i(FEATURE_V0)), face), v_or(e01, e20));
    hull.in1 = v_or(v_or(vi_eq(feature, v_i(FEATURE_V1)), face), edge_at_p1);
    hull.in2 = v_or(v_or(vi_eq(feature, v_i(FEATURE_V2)), face), edge_at_p2);
    /* Inverse of the Gram matrix: a single number for an edge, a matrix for the face. */
    const vf per_e12 = v_sel_or_zero(e12, inverses->per_e12);
    hull.m11 = v_or_disjoint(e01, inverses->per11, v_or_disjoint(face, inverses->face11, per_e12));
    hull.m22 = v_or_disjoint(e20, inverses->per22, v_or_disjoint(face, inverses->face22, per_e12));
    hull.m12 = v_sel_or_zero(face, inverses->face12);
    const vf inverse_size = hull.m11 + hull.m22;
    /* How errors grow in a projection, and whether the bounds hold. */
    hull.spread = inverse_size * pair->size;
    hull.condition = one + (hull.m11 * pair->gram11 + hull.m22 * pair->gram22) * R(2.0);
    hull.condition_root = v_f(R(2.0)) + hull.condition * R(0.125);
    hull.in_range = v_and(v_lt(inverse_size, v_f(R(0x1p50))), v_lt(hull.condition, v_f(R(4096.0))));
    return hull;
}

/* Weights of the vector along the hull that has the given dot products with the edges e01, e02. On E12 only the
 * difference of the two products counts. */
FN v2 proof_solve(const proof_hull *hull, v2 products)
{
    const vf product1 = products.x1 - v_sel_or_zero(hull->e12, products.x2),
             product2 = products.x2 - v_sel_or_zero(hull->e12, products.x1);
    return v2_of(hull->m11 * product1 + hull->m12 * products.x2, hull->m12 * products.x1 + hull->m22 * product2);
}
/* The same weights with a more precise difference of the two products, taken before they were rounded. */
FN v2 proof_solve_fine(const proof_hull *hull, v2 products, vf difference)
{
    const vf product1 = v_sel(hull->e12, difference, products.x1),
             product2 = v_sel(hull->e12, -difference, products.x2);
    return v2_of(hull->m11 * product1 + hull->m12 * products.x2, hull->m12 * products.x1 + hull->m22 * product2);
}

/* The foot: the projection of the centre to the hull, as weights. `products` are the dot products of centre - P0 with
 * the edges. A point of an edge must lie exactly on it: on E12, w2 is a multiple of 2^-23 in [0, 1], so that 1 - w2 is
 * exact. */
FN v2 proof_foot(const proof_pair *pair, const proof_hull *hull, vi feature, v2 products)
{
    const vf zero = v_f(R(0.0)), one = v_f(R(1.0));
    const v2 weights = proof_solve(hull, products);
    const vf e12_offset = hull->m22 * (pair->gram11 - pair->gram12),
             e12_weight = v_min(v_max(weights.x2 + e12_offset, zero), one);
    const vf w2 = v_sel(hull->e12, (e12_weight + one) - one, weights.x2);
    return v2_of(v_sel(hull->e12, one - w2, weights.x1) + v_sel_or_zero(vi_eq(feature, v_i(FEATURE_V1)), one),
                 w2 + v_sel_or_zero(vi_eq(feature, v_i(FEATURE_V2)), one));
}

/* ---- parabola: the squared distance over time -------------------------------------------------------------------- */

/* A guessed first or last contact, or the guessed closest approach of a miss. */
typedef struct proof_contact {
    guess at;        /* its time, and its point of the triangle */
    vi feature;      /* the feature that holds the point */
    vm apart;        /* the guess is a miss */
    vf reach;        /* distance travelled by the centre until then, in units of the view, at unit speed */
    proof_hull hull; /* of the feature */
} proof_contact;

/* Squared distance from the centre to the hull, less r^2, as a quadratic c + b D + a D^2 in the time step D from the
 * guess. */
typedef struct proof_parabola {
    vf a, b, c;
    vf a_error, b_error, c_error;
    v2 foot_shift;       /* foot - guessed point at the guessed time, as weights */
    v2 foot_velocity;    /* velocity of the foot, as weights */
    v2 y_products;       /* dot products of y with the edges; y = centre - guessed point */
    vf y_error;          /* error bound of y */
    vf projection_error; /* error bound of a projection of y, counted in roundings */
} proof_parabola;

/* Where the foot is at the guessed time, and how fast it moves. full: y_products come from binary64. */
FN void proof_parabola_foot(const proof_pair *pair, const proof_contact *contact, const residual *res, int full,
                            proof_parabola *parabola)
{
    parabola->y_products = full ? v2_of(res->g1, res->g2) : v2_of(v3_dot(res->y, pair->e01), v3_dot(res->y, pair->e02));
    parabola->foot_shift = full ? proof_solve_fine(&contact->hull, parabola->y_products, res->g12)
                                : proof_solve(&contact->hull, parabola->y_products);
    parabola->foot_velocity = proof_solve(&contact->hull, pair->ve);
}

/* The coefficients a, b, c. The centre's motion along the hull does not change the distance, so it is taken off. */
FN void proof_parabola_coefficients(const proof_pair *pair, const residual *res, proof_parabola *parabola)
{
    parabola->a = v3_dot(pair->v, pair->v) - v2_dot(parabola->foot_velocity, pair->ve);
    parabola->b = (v3_dot(res->y, pair->v) - v2_dot(parabola->foot_shift, pair->ve)) * R(2.0);
    parabola->c = res->c - v2_dot(parabola->foot_shift, parabola->y_products);
}

/* Error bounds of the coefficients and of the projection. */
FN void proof_parabola_errors(const proof_pair *pair, const proof_contact *contact, const residual *res,
                              proof_parabola *parabola)
{
    const proof_hull *hull = &contact->hull;
    const vf size = v3_size(res->y), reach = pair->reach + contact->reach * pair->speed;
    /* Bounds of the foot's shift, and of the errors of y and of its projection. */
    const vf foot_shift_length = (v_abs(parabola->foot_shift.x1) + v_abs(parabola->foot_shift.x2)) * pair->size +
                                 PROOF_EPS(6.0) * size * hull->condition_root;
    parabola->y_error = PROOF_WIDE_EPS(8.0) * reach;
    parabola->projection_error = hull->condition_root * (size + hull->condition * foot_shift_length);
    /* Bounds of the coefficients: roundings of binary32, and of binary64 where y enters. */
    parabola->a_error = PROOF_EPS(13.0) * (pair->speed * pair->speed) * (hull->condition * hull->condition_root);
    parabola->b_error =
        pair->speed * (PROOF_EPS(26.0) * parabola->projection_error + parabola->y_error * R(2.0)) + PROOF_FLOOR;
    parabola->c_error = PROOF_EPS(2.0) * v_abs(parabola->c) + PROOF_FLOOR +
                        PROOF_EPS(14.0) * foot_shift_length * parabola->projection_error +
                        PROOF_WIDE_EPS(24.0) * ((size + parabola->y_error) * reach + pair->radius * pair->radius);
}

/* ---- step: the true time ----------------------------------------------------------------------------------------- */

/* The time step from the guess to the true contact (a root of the parabola) or, for a miss, to the closest approach
 * (its minimum). Times are in units of the view. */
typedef struct proof_step {
    vf step, error; /* the step and its error bound */
    vf slack;       /* for a miss: at most half of (squared distance - r^2) there; else 0 */
    vm certain;     /* proven: a root where the distance falls (last: rises), or a minimum above r */
} proof_step;

/* The root of a D^2 + b D + c = 0: one step of Newton's method and its correction by the curvature. In lanes `apart`
 * the closest approach: 2 a D + b = 0, where the squared distance exceeds r^2 by c - b^2 / 4a. */
FN proof_step proof_step_of(const proof_parabola *parabola, vm apart, int last)
{
    const vf zero = v_f(R(0.0)), half_b = parabola->b * R(0.5);
    const vf value = last ? parabola->c : v_sel(apart, half_b, parabola->c),
             slope = last ? parabola->b : v_sel(apart, parabola->a, parabola->b);
    const vf value_error = last ? parabola->c_error : v_sel(apart, parabola->b_error * R(0.5), parabola->c_error);
    const vf slope_error = last ? parabola->b_error : v_sel(apart, parabola->a_error, parabola->b_error);
    const vf curvature = last ? parabola->a : v_sel_or_zero(v_not(apart), parabola->a);
    /* Newton's step, then the correction by the curvature. */
    const vf per_slope = v_f(R(1.0)) / slope, newton_step = -value * per_slope;
    /* newton_step (1 - share) leaves less than 2.1 share^2 of the value. */
    const vf curvature_share = curvature * newton_step * per_slope;
    proof_step root;
    root.step = newton_step - newton_step * curvature_share;
    const vf size = v_abs(root.step), fall = last ? parabola->b : -parabola->b;
    root.error = v_abs(per_slope) * R(2.0) *
                 (value_error + size * (slope_error + size * parabola->a_error) +
                  v_abs(value) * (curvature_share * curvature_share * R(2.25) + PROOF_EPS(16.0)));
    root.certain = v_and(v_lt(parabola->b_error * R(16.0), fall),
                         v_lt((parabola->a + parabola->a_error) * (size + root.error) * R(16.0), fall));
    root.slack = zero;
    if (!last) {
        const vf change = v_abs(half_b) * size;
        /* Error of the parabola at D, and its change from there to the minimum. */
        const vf slack_error = parabola->c_error + size * (parabola->b_error + size * parabola->a_error) +
                               (parabola->a + parabola->a_error) * root.error * root.error + PROOF_EPS(8.0) * change;
        root.slack = v_sel_or_zero(apart, (parabola->c - change) * R(0.5) - slack_error);
        const vm passes = v_and(v_lt(parabola->a_error * R(4.0), parabola->a), v_lt(zero, root.slack));
        root.certain = v_or(v_and(apart, passes), v_and(v_not(apart), root.certain));
    }
    return root;
}

/* For a face and a sphere that is almost a point: compares the distance to the plane, not its square, with r. */
FN proof_step proof_step_to_plane(const proof_pair *pair, const proof_parabola *parabola, v3 y, int last)
{
    const v3 normal = v3_cross(pair->e01, pair->e02);
    const vf normal_speed = v3_dot(normal, pair->v), edges2 = pair->gram11 + pair->gram22,
             per_normal_speed = v_f(R(1.0)) / normal_speed;
    const vf offset = pair->radius * v_sqrt(v3_dot(normal, normal)) * v_copysign_one(normal_speed);
    proof_step root;
    root.step = ((last ? offset : -offset) - v3_dot(normal, y)) * per_normal_speed;
    const vf size = v3_size(y) + pair->radius + v_abs(root.step) * pair->speed;
    root.error = v_abs(per_normal_speed) * edges2 * (PROOF_EPS(16.0) * size + parabola->y_error) + PROOF_FLOOR;
    root.slack = v_f(R(0.0));
    root.certain = v_lt(PROOF_EPS(128.0) * edges2 * pair->speed, v_abs(normal_speed));
    return root;
}

/* Without relative motion the distance at time 0 decides. */
FN proof_step proof_step_at_rest(const proof_parabola *parabola)
{
    const vf zero = v_f(R(0.0));
    proof_step root;
    root.step = root.error = zero;
    root.slack = v_max(parabola->c * R(0.5) - parabola->c_error, zero);
    root.certain = v_lt(parabola->c_error, v_abs(parabola->c));
    return root;
}

/* a in lanes m, else b. */
FN proof_step proof_step_sel(vm m, proof_step a, proof_step b)
{
    proof_step root;
    root.step = v_sel(m, a.step, b.step);
    root.error = v_sel(m, a.error, b.error);
    root.slack = v_sel(m, a.slack, b.slack);
    root.certain = v_or(v_and(m, a.certain), v_and(v_not(m), b.certain));
    return root;
}

/* ---- proof: the whole triangle is considered --------------------------------------------------------------------- */

/* Result of the filter for a first contact, a last contact, or a miss. [low, high] encloses its time, rounded to
 * binary32. */
typedef struct proof {
    vf low, high;
    vf step, step_error;      /* step from the guess, and its error bound; in the caller's units */
    vf view_step, view_error; /* the same in units of the view */
    v2 shift;                 /* from the guessed point to the true one, as weights */
    vf travel;                /* distance that the centre travels from the guess to the true time */
    vf shift_error;         /* error of shift, relative to its length and to travel; valid for products from binary64 */
    vf gap_error;           /* error bound of centre - point at the true time */
    vm certain;             /* the contact or the miss is proven */
    vm apart;               /* the pair is a miss */
    vm flip0, flip1, flip2; /* corners that fail: to remove from the hull, or to add to it */
} proof;

/* Whether no part of the triangle is closer than the foot in the hull. The corners of the feature must have positive
 * weights; every other corner must lie beyond the plane through the foot at right angles to centre - foot. For a miss a
 * corner may lie before that plane by at most the slack, and the foot may lie outside an edge, because the edge's
 * corners lie in the plane in any case. */
FN vm proof_nearest(const proof_pair *pair, const proof_contact *contact, const proof_parabola *parabola,
                    const proof_step *root, proof *out)
{
    const proof_hull *hull = &contact->hull;
    const v2 shift = out->shift;
    const vf gap_error = out->gap_error;
    const vm apart = out->apart;
    const vf weight1 = v_load(contact->at.w1) + shift.x1, weight2 = v_load(contact->at.w2) + shift.x2,
             weight0 = v_f(R(1.0)) - weight1 - weight2;
    /* Dot products of the edges with centre - point, at the true time. */
    const vf product1 =
        parabola->y_products.x1 + root->step * pair->ve.x1 - (pair->gram11 * shift.x1 + pair->gram12 * shift.x2);
    const vf product2 =
        parabola->y_products.x2 + root->step * pair->ve.x2 - (pair->gram12 * shift.x1 + pair->gram22 * shift.x2);
    const vf product0 = -(weight1 * product1 + weight2 * product2),
             error_factor = v_sel(apart, v_f(R(3.0)), v_f(R(2.0)));
    /* Limits: corners outside the feature against the plane, weights of its own corners. */
    const vf limit = root->slack - (pair->size * gap_error * error_factor + PROOF_FLOOR);
    const vf least_weight = v_sel(apart, v_f(R(-0.25)), hull->spread * gap_error * R(2.0) + PROOF_EPS(8.0));
    const vm holds0 =
        v_or(v_and(hull->in0, v_lt(least_weight, weight0)), v_and(v_not(hull->in0), v_lt(product0, limit)));
    const vm holds1 =
        v_or(v_and(hull->in1, v_lt(least_weight, weight1)), v_and(v_not(hull->in1), v_lt(product0 + product1, limit)));
    const vm holds2 =
        v_or(v_and(hull->in2, v_lt(least_weight, weight2)), v_and(v_not(hull->in2), v_lt(product0 + product2, limit)));
    out->flip0 = v_not(holds0);
    out->flip1 = v_not(holds1);
    out->flip2 = v_not(holds2);
    return v_and(holds0, v_and(holds1, holds2));
}

/* Whether a hull has a corner after `flip` has removed or added it. */
FN vm proof_flipped(vm has, vm flip)
{
    return v_or(v_and(has, v_not(flip)), v_and(flip, v_not(has)));
}

/* Another feature to try in lanes `lost`: the hull with the failing corners flipped. Near the border of two features
 * the guess may be the wrong one, because contact times differ there by the square of the offset only. */
FN vi proof_neighbour_feature(const proof_contact *contact, const proof *failed, vm lost)
{
    const proof_hull *hull = &contact->hull;
    const vm has0 = proof_flipped(hull->in0, failed->flip0), has1 = proof_flipped(hull->in1, failed->flip1);
    const vm has2 = proof_flipped(hull->in2, failed->flip2);
    /* The feature of the corners that are left: one corner, an edge, or the face. */
    const vi corner = vi_sel(has0, v_i(FEATURE_V0), vi_sel(has1, v_i(FEATURE_V1), v_i(FEATURE_V2)));
    const vi edge = vi_sel(v_and(has0, has1), v_i(FEATURE_E01), vi_sel(has0, v_i(FEATURE_E20), v_i(FEATURE_E12)));
    const vm any_corner = v_or(has0, v_or(has1, has2)), all_corners = v_and(has0, v_and(has1, has2));
    const vm two_corners = v_or(v_and(has0, v_or(has1, has2)), v_and(has1, has2));
    const vi neighbour = vi_sel(all_corners, v_i(FEATURE_FACE), vi_sel(two_corners, edge, corner));
    return vi_sel(v_and(lost, any_corner), neighbour, contact->feature);
}

/* Replaces the steps [from, to) in two rare cases: a face and a sphere that is almost a point, and a pair at rest. */
FN void proof_steps_rare(const proof_pair *pair, const proof_contact *contacts, const residual *residuals,
                         const proof_parabola *parabolas, int from, int to, proof_step *roots)
{
    const vm is_point = proof_is_point(pair->radius, pair->size);
    vm face_of_point[PROOF_CONTACTS];
    LANG_UNROLL
    for (int i = from; i < to; i++)
        face_of_point[i] =
            v_and(is_point, v_and(contacts[i].hull.in0, v_and(contacts[i].hull.in1, contacts[i].hull.in2)));
    if (v_any(v_or(face_of_point[from], face_of_point[to - 1]))) {
        LANG_UNROLL
        for (int i = from; i < to; i++)
            roots[i] =
                proof_step_sel(face_of_point[i], proof_step_to_plane(pair, &parabolas[i], residuals[i].y, i), roots[i]);
    }
    if (from == PROOF_FIRST && v_any(pair->at_rest))
        roots[PROOF_FIRST] =
            proof_step_sel(pair->at_rest, proof_step_at_rest(&parabolas[PROOF_FIRST]), roots[PROOF_FIRST]);
}

/* Where the true contact point is, and the error bound of the vector from it to the centre. */
FN void proof_shift(const proof_pair *pair, const proof_contact *contact, const proof_parabola *parabola,
                    const proof_step *root, int last, int rare, proof *out)
{
    const vf spread = contact->hull.condition * contact->hull.condition_root;
    out->apart = contact->apart;
    if (rare && !last && v_any(pair->at_rest))
        out->apart =
            v_or(v_and(v_not(pair->at_rest), out->apart), v_and(pair->at_rest, v_lt(v_f(R(0.0)), parabola->c)));
    out->shift = v2_of(parabola->foot_shift.x1 + root->step * parabola->foot_velocity.x1,
                       parabola->foot_shift.x2 + root->step * parabola->foot_velocity.x2);
    out->travel = v_abs(root->step) * pair->speed;
    out->shift_error = PROOF_EPS(12.0) * spread;
    out->gap_error = pair->speed * root->error + parabola->y_error +
                     PROOF_EPS(20.0) * (parabola->projection_error + spread * out->travel);
}

/* The interval that encloses the true time, in the caller's unit of time. */
FN void proof_time(const proof_contact *contact, const proof_step *root, v_pow2 unit, proof *out)
{
    const vf time = v_load(contact->at.time);
    out->view_step = root->step;
    out->step = v_ldexp(root->step, unit);
    /* The sum of two binary32 numbers is rounded once: to the answer. */
    out->step_error = v_ldexp(root->error, unit) * R(1.25) + PROOF_EPS(4.0) * v_abs(out->step) + v_f(R(0x1p-140));
    out->low = v_positive_zero(time + (out->step - out->step_error));
    out->high = time + (out->step + out->step_error);
    out->view_error = root->error * R(2.0) + PROOF_EPS(4.0) * v_abs(root->step);
}

/* The parabolas at the guessed contacts [from, to): PROOF_FIRST, PROOF_LAST or both. Each loop takes one step for both
 * contacts, so a core has two independent chains of operations. full: as in proof_parabola_foot(). */
FN void proof_parabolas(const proof_pair *pair, const proof_contact *contacts, const residual *residuals, int from,
                        int to, int full, proof_parabola *parabolas)
{
    LANG_UNROLL
    for (int i = from; i < to; i++)
        proof_parabola_foot(pair, &contacts[i], &residuals[i], full, &parabolas[i]);
    LANG_UNROLL
    for (int i = from; i < to; i++)
        proof_parabola_coefficients(pair, &residuals[i], &parabolas[i]);
    LANG_UNROLL
    for (int i = from; i < to; i++)
        proof_parabola_errors(pair, &contacts[i], &residuals[i], &parabolas[i]);
}

/* Filters the guessed contacts [from, to). PROOF_FIRST alone decides a miss or a pair at rest. rare: some lane may be
 * at rest, almost a point, or not ordinary; a constant at every call. */
FN void prove(const proof_pair *pair, const proof_contact *contacts, const residual *residuals,
              const proof_parabola *parabolas, v_pow2 unit, int from, int to, int rare, proof *proofs)
{
    proof_step roots[PROOF_CONTACTS];
    LANG_UNROLL
    for (int i = from; i < to; i++)
        roots[i] = proof_step_of(&parabolas[i], contacts[i].apart, i);
    if (rare)
        proof_steps_rare(pair, contacts, residuals, parabolas, from, to, roots);
    LANG_UNROLL
    for (int i = from; i < to; i++)
        proof_shift(pair, &contacts[i], &parabolas[i], &roots[i], i, rare, &proofs[i]);
    LANG_UNROLL
    for (int i = from; i < to; i++)
        proofs[i].certain = v_and(v_and(contacts[i].hull.in_range, roots[i].certain),
                                  proof_nearest(pair, &contacts[i], &parabolas[i], &roots[i], &proofs[i]));
    LANG_UNROLL
    for (int i = from; rare && i < to; i++)
        proofs[i].certain = v_and(pair->ordinary, proofs[i].certain);
    LANG_UNROLL
    for (int i = from; i < to; i++)
        proof_time(&contacts[i], &roots[i], unit, &proofs[i]);
}
#endif
