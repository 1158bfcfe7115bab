/* SPDX-License-Identifier: MIT */
/* Bounds of heights, the floating-point filter of drop maps. Let p be a point of a triangle that touches the ball over
 * column c. The ball's centre is then q = sqrt(R^2 - |c - p|^2) above p, where |c - p| is seen from above. The height
 * that p gives, p.z + q, is concave in p. So any point of the triangle is a lower bound, and the tangent plane at p,
 * evaluated at the triangle's corners, is an upper bound. An inaccurate p makes the bounds wider, not wrong.
 * docs/drop.md adds up the errors. */
#include "drop.h"

#include <math.h>

#include "cpu/exact/ray.h"

static const drop_bound none = DROP_NONE;

/* The height that a corner gives: z + sqrt(R^2 - square), with separate bounds near both ends of the range. */
drop_bound caromi_drop_corner_bound(const drop_ball *ball, const double corner[3], double x, double y)
{
    const double dx = x - corner[0], dy = y - corner[1], z = corner[2];
    const double square = dx * dx + dy * dy, upright2 = ball->r2 - square, error = 8 * DROP_ROUNDING * ball->r2;
    if (upright2 < -error)
        return none;
    if (square < 0x1p-20 * ball->r2)
        return caromi_drop_near_corner(ball, z, square);
    if (upright2 <= 4 * error) {
        const double high = z + sqrt(upright2 + error);
        return (drop_bound){upright2 > error ? z : -HUGE_VAL, high + 8 * DROP_ROUNDING * (fabs(z) + ball->r)};
    }
    const double root = sqrt(upright2), height_error = 2 * error / root + 8 * DROP_ROUNDING * (fabs(z) + root);
    return (drop_bound){z + root - height_error, z + root + height_error};
}

/* ---- a point of a triangle --------------------------------------------------------------------------------------- */

/* Bounds from the point P0 + beta e + gamma f; beta, gamma >= 0, beta + gamma <= 1. `offset`: of the column from P0. */
typedef struct touch {
    drop_bound bound;
    double rise[3], rise_error; /* rise of the tangent plane from the point to each corner; bound of its error */
    int is_known; /* 0: the contact is at the ball's side, where the tangent plane is (nearly) vertical: nothing else is
                     set */
} touch;

static inline touch touch_at(const drop_ball *ball, double z0, const double e[3], const double f[3], double beta,
                             double gamma, const double offset[2])
{
    touch result = {.is_known = 0};
    /* (x, y): offset of the column from the point; upright: height of the ball's centre above it. */
    const double x = offset[0] - (beta * e[0] + gamma * f[0]), y = offset[1] - (beta * e[1] + gamma * f[1]);
    const double offset_error =
        8 * DROP_ROUNDING *
        (fabs(offset[0]) + fabs(offset[1]) + beta * (fabs(e[0]) + fabs(e[1])) + gamma * (fabs(f[0]) + fabs(f[1])));
    const double upright2 = ball->r2 - (x * x + y * y);
    const double square_error = 8 * DROP_ROUNDING * ball->r2 + (2 * (fabs(x) + fabs(y)) + offset_error) * offset_error;
    if (!(upright2 > 1024 * square_error))
        return result;
    const double upright = sqrt(upright2), inverse = 1 / upright, loss = square_error * inverse * inverse;
    /* The height that the point gives, a lower bound. */
    const double height = z0 + (beta * e[2] + gamma * f[2]) + upright;
    const double error =
        16 * DROP_ROUNDING * (fabs(z0) + beta * fabs(e[2]) + gamma * fabs(f[2]) + upright) + 2 * square_error * inverse;
    /* Slopes of the tangent plane along e and f. */
    const double slope_e = (x * e[0] + y * e[1]) * inverse + e[2], slope_f = (x * f[0] + y * f[1]) * inverse + f[2];
    const double slope_e_error = (fabs(x * e[0]) + fabs(y * e[1])) * inverse * (8 * DROP_ROUNDING + 2 * loss) +
                                 2 * offset_error * (fabs(e[0]) + fabs(e[1])) * inverse +
                                 8 * DROP_ROUNDING * fabs(e[2]);
    const double slope_f_error = (fabs(x * f[0]) + fabs(y * f[1])) * inverse * (8 * DROP_ROUNDING + 2 * loss) +
                                 2 * offset_error * (fabs(f[0]) + fabs(f[1])) * inverse +
                                 8 * DROP_ROUNDING * fabs(f[2]);
    /* The tangent plane at the three corners: the highest of them is an upper bound. */
    result.rise[0] = -(beta * slope_e + gamma * slope_f);
    result.rise[1] = slope_e + result.rise[0];
    result.rise[2] = slope_f + result.rise[0];
    result.rise_error = 3 * (slope_e_error + slope_f_error) + 16 * DROP_ROUNDING * (fabs(slope_e) + fabs(slope_f));
    double rise = result.rise[0] > result.rise[1] ? result.rise[0] : result.rise[1];
    rise = result.rise[2] > rise ? result.rise[2] : rise;
    result.bound = (drop_bound){height - error, height + error + (rise > 0 ? rise : 0) + result.rise_error};
    result.is_known = 1;
    return result;
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

/* Prepares an edge for columns. */
void caromi_drop_edge_make(drop_edge *edge, const float *a, const float *b)
{
    for (int k = 0; k < 3; k++) {
        edge->a[k] = (double)a[k];
        edge->b[k] = (double)b[k];
        edge->e[k] = edge->b[k] - edge->a[k];
    }
    edge->top = (double)(a[2] > b[2] ? a[2] : b[2]);
    edge->length2 = edge->e[0] * edge->e[0] + edge->e[1] * edge->e[1];
    edge->contact_shift = edge->e[2] / (sqrt(edge->length2) * sqrt(edge->length2 + edge->e[2] * edge->e[2]));
    edge->slope2 = edge->e[2] * edge->e[2] / edge->length2;
}

/* Whether the edge is out of the ball's reach: its closest point, seen from above, is farther than the radius. */
static int is_far(const drop_ball *ball, const drop_edge *edge, const double offset[2])
{
    const double foot = (edge->e[0] * offset[0] + edge->e[1] * offset[1]) / edge->length2,
                 fraction = foot > 0 ? (foot < 1 ? foot : 1) : 0;
    const double x = offset[0] - fraction * edge->e[0], y = offset[1] - fraction * edge->e[1];
    const double cross_error =
        64 * DROP_ROUNDING * (fabs(offset[0]) + fabs(offset[1]) + fabs(edge->e[0]) + fabs(edge->e[1]));
    return x * x + y * y >
           ball->r2 * (1 + 16 * DROP_ROUNDING) + 2 * (2 * (fabs(x) + fabs(y)) + cross_error) * cross_error;
}

/* Bounds from the contact point on an edge. */
drop_bound caromi_drop_edge_bound(const drop_ball *ball, const drop_edge *edge, double x, double y)
{
    static const double no_edge[3];
    const double offset[2] = {x - edge->a[0], y - edge->a[1]};
    /* The column's squared distance from the edge's line, seen from above, and the error of its difference from R^2. */
    const double left = edge->e[0] * offset[1], right = edge->e[1] * offset[0], cross = left - right;
    const double cross_error = 8 * DROP_ROUNDING * (fabs(left) + fabs(right)),
                 distance2 = cross * cross / edge->length2;
    const double upright2 = ball->r2 - distance2;
    const double error =
        (2 * fabs(cross) + cross_error) * cross_error / edge->length2 + 8 * DROP_ROUNDING * (distance2 + ball->r2);
    if (upright2 < -error)
        return none;
    drop_bound flat;
    if (edge->slope2 <= DROP_FLAT && caromi_drop_flat_edge_bound(ball, edge, x, y, &flat))
        return flat;
    /* The contact point as a fraction of the edge: the column's foot, shifted as the edge slopes. */
    const double along = (edge->e[0] * offset[0] + edge->e[1] * offset[1]) / edge->length2 +
                         edge->contact_shift * sqrt(upright2 > 0 ? upright2 : 0);
    const double fraction = along > 0 ? (along < 1 ? along : 1) : 0; /* not a number: 0 */
    touch contact = touch_at(ball, edge->a[2], edge->e, no_edge, fraction, 0, offset);
    if (!contact.is_known && is_far(ball, edge, offset))
        return none;
    if (!contact.is_known) /* a bound from the edge's highest z and the distance of its line */
        return (drop_bound){-HUGE_VAL, edge->top + sqrt(upright2 > 0 ? upright2 + error : error) +
                                           8 * DROP_ROUNDING * (fabs(edge->top) + ball->r)};
    /* The height falls from an end on: the end, a corner, decides it. */
    if ((fraction == 0 && contact.rise[1] < -contact.rise_error) ||
        (fraction == 1 && contact.rise[0] < -contact.rise_error))
        contact.bound.high = -HUGE_VAL;
    return contact.bound;
}

/* ---- faces ------------------------------------------------------------------------------------------------------- */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Whether the triangle has no area when seen along an axis, exactly. */
static int is_line(const float *const corner[3], int axis)
{
    const int axis1 = (axis + 1) % 3, axis2 = (axis + 2) % 3;
    float seen[3][2];
    for (int k = 0; k < 3; k++) {
        seen[k][0] = corner[k][axis1];
        seen[k][1] = corner[k][axis2];
    }
    return caromi_drop_side(seen[0], seen[1], seen[2]) == 0;
}

/* The kind of a face whose normal's z may be zero. */
static int kind_of_steep(const float *const corner[3])
{
    /* From each inner point of a vertical face, the face continues upwards: its edges decide the height. */
    return is_line(corner, 2) ? DROP_FACE_NONE : DROP_FACE_THIN;
}

/* Prepares a nearly level face. `slope_rise` is the radius times the squared slope; half of that bounds the rise, the
 * rest covers rounding. */
static void make_flat(drop_face *face, const drop_ball *ball, const double normal[3], const double size[3])
{
    const double slope_x = (fabs(normal[0]) + 8 * DROP_ROUNDING * size[0]) / normal[2],
                 slope_y = (fabs(normal[1]) + 8 * DROP_ROUNDING * size[1]) / normal[2];
    face->area = normal[2];
    face->size = size[2];
    face->slope_rise = ball->r * (slope_x * slope_x + slope_y * slope_y);
    face->level = caromi_drop_sum_alone(face->p[2], ball->r);
}

/* The face's normal with the bounds of its error, its kind, and what each kind needs. */
void caromi_drop_face_make(drop_face *face, const drop_ball *ball, const float *const corner[3])
{
    double normal[3], size[3];
    /* The edges, and their cross product with the sums of its terms' magnitudes. */
    for (int k = 0; k < 3; k++) {
        face->corner[k] = corner[k];
        face->p[k] = (double)corner[0][k];
        face->e[k] = (double)corner[1][k] - (double)corner[0][k];
        face->f[k] = (double)corner[2][k] - (double)corner[0][k];
    }
    for (int k = 0; k < 3; k++) {
        const int axis1 = (k + 1) % 3, axis2 = (k + 2) % 3;
        const double plus = face->e[axis1] * face->f[axis2], minus = face->e[axis2] * face->f[axis1];
        normal[k] = plus - minus;
        size[k] = fabs(plus) + fabs(minus);
    }
    face->top = larger((double)corner[0][2], larger((double)corner[1][2], (double)corner[2][2]));
    const double size_sum = size[0] + size[1] + size[2];
    if (fabs(normal[2]) <= 16 * DROP_ROUNDING * size[2]) {
        face->kind = kind_of_steep(corner);
        return;
    }
    /* The contact point lies opposite the upward normal, `shift` away from the column. */
    const double sign = normal[2] < 0 ? -1 : 1,
                 length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    /* The kind follows from the normal and its error. */
    const double normal_error = 16 * DROP_ROUNDING * size_sum / length;
    face->kind = !(normal_error < 0x1p-12)                                                            ? DROP_FACE_THIN
                 : normal[0] * normal[0] + normal[1] * normal[1] <= DROP_FLAT * normal[2] * normal[2] ? DROP_FACE_FLAT
                                                                                                      : DROP_FACE_SLOPE;
    if (face->kind == DROP_FACE_FLAT)
        make_flat(face, ball, normal, size);
    /* Numbers for the bounds over columns. */
    face->inverse = 1 / normal[2];
    for (int k = 0; k < 2; k++)
        face->shift[k] = ball->r * (sign * normal[k] / length);
    face->shift_error = 2 * ball->r * normal_error;
    for (int k = 0; k < 2; k++) {
        face->side[0][k] = sign * face->e[k];
        face->side[1][k] = sign * ((double)corner[2][k] - (double)corner[1][k]);
        face->side[2][k] = sign * -face->f[k];
    }
}

double caromi_drop_face_slack(const drop_face *face, int k, double reach)
{
    return (fabs(face->side[k][0]) + fabs(face->side[k][1])) * (2 * face->shift_error + 32 * DROP_ROUNDING * reach);
}

/* Tests the contact point against the three edges, with a slack for rounding. */
int caromi_drop_face_may_touch(const drop_face *face, double x, double y)
{
    for (int k = 0; k < 3; k++) {
        const double u = x - face->shift[0] - (double)face->corner[k][0];
        const double v = y - face->shift[1] - (double)face->corner[k][1];
        const double reach = fabs(u) + fabs(v) + fabs(face->shift[0]) + fabs(face->shift[1]);
        if (face->side[k][0] * v - face->side[k][1] * u < -caromi_drop_face_slack(face, k, reach))
            return 0;
    }
    return 1;
}

/* The contact point on a face, as beta and gamma of touch_at(). (u, v): offset of the column from the first corner. */
static void place_on(const drop_face *face, double u, double v, double *beta, double *gamma)
{
    u -= face->shift[0];
    v -= face->shift[1];
    const double weight1 = (u * face->f[1] - v * face->f[0]) * face->inverse;
    const double weight2 = (v * face->e[0] - u * face->e[1]) * face->inverse;
    *beta = weight1 > 0 ? (weight1 < 1 ? weight1 : 1) : 0; /* not a number: 0 */
    const double gamma_most = (1 - *beta) * (1 - 2 * DROP_ROUNDING);
    *gamma = weight2 > 0 ? (weight2 < gamma_most ? weight2 : gamma_most) : 0;
}

/* Bounds from the contact point inside a face. */
drop_bound caromi_drop_face_bound(const drop_ball *ball, const drop_face *face, double x, double y)
{
    if (ball->r == 0)
        return caromi_drop_ray_bound(face->corner, x, y);
    if (face->kind == DROP_FACE_FLAT)
        return caromi_drop_flat_bound(ball, face, x, y);
    const double offset[2] = {x - face->p[0], y - face->p[1]};
    double beta, gamma;
    place_on(face, offset[0], offset[1], &beta, &gamma);
    const touch contact = touch_at(ball, face->p[2], face->e, face->f, beta, gamma, offset);
    if (!contact.is_known)
        return (drop_bound){-HUGE_VAL, caromi_drop_sum_alone(face->top, ball->r).high};
    return contact.bound;
}

/* ---- triangles --------------------------------------------------------------------------------------------------- */

/* An upper bound of the height that points at `top` or lower give, at a squared distance of at least `square`. */
double caromi_drop_reach_bound(const drop_ball *ball, double top, double square)
{
    const double upright2 = ball->r2 - square, error = 8 * DROP_ROUNDING * ball->r2;
    if (square == 0)
        return caromi_drop_sum_alone(top, ball->r).high;
    return upright2 < -error
               ? -HUGE_VAL
               : top + sqrt(upright2 > 0 ? upright2 + error : error) + 8 * DROP_ROUNDING * (fabs(top) + ball->r);
}

double caromi_drop_over_box(const drop_ball *ball, const double at[2], const double lower[2], const double upper[2],
                            double top)
{
    double square = 0;
    for (int k = 0; k < 2; k++) {
        const double gap = lower[k] > at[k] ? lower[k] - at[k] : at[k] > upper[k] ? at[k] - upper[k] : 0;
        square += gap * gap;
    }
    return caromi_drop_reach_bound(ball, top, square);
}

/* The highest corner, at the distance of the column from the bounding box. */
double caromi_drop_box_bound(const drop_ball *ball, const float *const corner[3], double x, double y)
{
    const double column[2] = {x, y};
    double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL}, top = -HUGE_VAL;
    for (int i = 0; i < 3; i++) {
        for (int axis = 0; axis < 2; axis++) {
            low[axis] = (double)corner[i][axis] < low[axis] ? (double)corner[i][axis] : low[axis];
            high[axis] = (double)corner[i][axis] > high[axis] ? (double)corner[i][axis] : high[axis];
        }
        top = (double)corner[i][2] > top ? (double)corner[i][2] : top;
    }
    return caromi_drop_over_box(ball, column, low, high, top);
}

/* The bounds of one triangle over one column, tightened point by point. */
typedef struct triangle_bound {
    const drop_ball *ball;
    double corner[3][3], x, y;
    drop_bound bound; /* the tightest so far */
} triangle_bound;

/* Tightens the bounds by those of one point. */
static void narrow(triangle_bound *triangle, drop_bound bound)
{
    triangle->bound.low = larger(triangle->bound.low, bound.low);
    triangle->bound.high = bound.high < triangle->bound.high ? bound.high : triangle->bound.high;
}

/* Tightens the bounds by the point with barycentric weights beta and gamma of the two corners after corner `first`. */
static void try_point(triangle_bound *triangle, int first, double beta, double gamma)
{
    const double *p = triangle->corner[first], *next = triangle->corner[(first + 1) % 3],
                 *last = triangle->corner[(first + 2) % 3];
    const double e[3] = {next[0] - p[0], next[1] - p[1], next[2] - p[2]};
    const double f[3] = {last[0] - p[0], last[1] - p[1], last[2] - p[2]};
    const double offset[2] = {triangle->x - p[0], triangle->y - p[1]};
    const touch contact = touch_at(triangle->ball, p[2], e, f, beta, gamma, offset);
    if (!contact.is_known)
        return;
    narrow(triangle, contact.bound);
}

/* Whether the height falls from the line of a level edge towards the third corner, so that the edge bounds the
 * triangle. cross: cross product of the edge and the column's offset. */
static int falls_inwards(const triangle_bound *triangle, const drop_edge *edge, const double third[3], double cross)
{
    const double f[3] = {third[0] - edge->a[0], third[1] - edge->a[1], third[2] - edge->a[2]};
    const double plus = edge->e[0] * f[1], minus = edge->e[1] * f[0], area = plus - minus, length = sqrt(edge->length2);
    const double rise = f[2] - (edge->e[0] * f[0] + edge->e[1] * f[1]) / edge->length2 * edge->e[2],
                 upright2 = triangle->ball->r2 - cross * cross / edge->length2;
    if (!(fabs(area) > 0x1p-20 * (fabs(plus) + fabs(minus)) && 2 * upright2 > triangle->ball->r2))
        return 0;
    const double slope = rise * length / fabs(area), tilt = (area > 0 ? cross : -cross) / (length * sqrt(upright2));
    return slope + tilt < -0x1p-20 * (1 + fabs(slope) + fabs(tilt));
}

/* Tightens the bounds by the contact point on an edge. */
static void try_edge(triangle_bound *triangle, const float *const corner[3], int number)
{
    drop_edge edge;
    drop_bound flat;
    caromi_drop_edge_make(&edge, corner[number], corner[(number + 1) % 3]);
    const double offset[2] = {triangle->x - edge.a[0], triangle->y - edge.a[1]},
                 cross = edge.e[0] * offset[1] - edge.e[1] * offset[0];
    const double upright2 = triangle->ball->r2 - cross * cross / edge.length2;
    if (edge.slope2 <= DROP_FLAT &&
        caromi_drop_flat_edge_bound(triangle->ball, &edge, triangle->x, triangle->y, &flat)) {
        const int bounds_triangle = falls_inwards(triangle, &edge, triangle->corner[(number + 2) % 3], cross);
        narrow(triangle, (drop_bound){flat.low, bounds_triangle ? flat.high : HUGE_VAL});
        if (bounds_triangle)
            return;
    }
    const double along = (edge.e[0] * offset[0] + edge.e[1] * offset[1]) / edge.length2 +
                         edge.contact_shift * sqrt(upright2 > 0 ? upright2 : 0);
    if (edge.length2 > 0)
        try_point(triangle, number, along > 0 ? (along < 1 ? along : 1) : 0, 0); /* not a number: 0 */
    else
        try_point(triangle, number, edge.e[2] > 0, 0);
}

/* The largest upper bound of all features, for contacts at the ball's side or none. */
static double bound_features(const drop_ball *ball, const drop_face *face, double x, double y)
{
    const float *const *corner = face->corner;
    double high = -HUGE_VAL;
    for (int k = 0; k < 3; k++) {
        const double at[3] = {(double)corner[k][0], (double)corner[k][1], (double)corner[k][2]};
        drop_edge edge;
        caromi_drop_edge_make(&edge, corner[k], corner[(k + 1) % 3]);
        high = larger(high, caromi_drop_corner_bound(ball, at, x, y).high);
        if (edge.length2 > 0)
            high = larger(high, caromi_drop_edge_bound(ball, &edge, x, y).high);
    }
    if (face->kind != DROP_FACE_NONE && caromi_drop_face_may_touch(face, x, y))
        high = larger(high, caromi_drop_face_bound(ball, face, x, y).high);
    return high;
}

/* Whether the column is straight over the highest corner: the height is a sum then. */
static int is_over_top(const triangle_bound *triangle, double top)
{
    for (int k = 0; k < 3; k++)
        if (triangle->corner[k][0] == triangle->x && triangle->corner[k][1] == triangle->y &&
            triangle->corner[k][2] == top)
            return 1;
    return 0;
}

/* Bounds from several points of a triangle: inside the face, then on each edge, until they decide. */
drop_bound caromi_drop_triangle_bound(const drop_ball *ball, const float *const corner[3], double x, double y,
                                      double bar)
{
    triangle_bound triangle = {.ball = ball, .x = x, .y = y};
    drop_face face;
    int first_edge = 0;
    if (ball->r == 0)
        return caromi_drop_ray_bound(corner, x, y);
    caromi_drop_face_make(&face, ball, corner);
    triangle.bound = (drop_bound){-HUGE_VAL, caromi_drop_sum_alone(face.top, ball->r).high};
    for (int k = 0; k < 9; k++)
        triangle.corner[k / 3][k % 3] = (double)corner[k / 3][k % 3];
    if (is_over_top(&triangle, face.top))
        return caromi_drop_sum_alone(face.top, ball->r);
    if (face.kind == DROP_FACE_FLAT) {
        const drop_bound flat = caromi_drop_flat_bound(ball, &face, x, y);
        if (flat.low > -HUGE_VAL)
            return flat;
        if (flat.high > -HUGE_VAL)
            triangle.bound.high = flat.high;
    } else if (face.kind == DROP_FACE_SLOPE) {
        double beta, gamma;
        place_on(&face, x - face.p[0], y - face.p[1], &beta, &gamma);
        try_point(&triangle, 0, beta, gamma);
        first_edge = beta == 0 ? 2 : gamma == 0 ? 0 : 1; /* the edge that is probably closest */
    }
    /* Edge by edge, until the bounds decide. */
    for (int k = 0; k < 3; k++)
        if (triangle.bound.high > bar &&
            caromi_drop_round_up(triangle.bound.high) > caromi_drop_round_up(triangle.bound.low))
            try_edge(&triangle, corner, (first_edge + k) % 3);
    if (triangle.bound.low == -HUGE_VAL && face.kind != DROP_FACE_THIN) {
        const double high = bound_features(ball, &face, x, y);
        triangle.bound.high = high < triangle.bound.high ? high : triangle.bound.high;
    }
    return triangle.bound;
}
