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

drop_bound caromi_drop_corner_bound(const drop_ball *ball, const double corner[3], double x, double y)
{
    const double dx = x - corner[0], dy = y - corner[1], z = corner[2];
    const double square = dx * dx + dy * dy, s = ball->r2 - square, error = 8 * DROP_U * ball->r2;
    if (s < -error)
        return none;
    if (square < 0x1p-20 * ball->r2)
        return caromi_drop_near_corner(ball, z, square);
    if (s <= 4 * error) {
        const double high = z + sqrt(s + error);
        return (drop_bound){s > error ? z : -HUGE_VAL, high + 8 * DROP_U * (fabs(z) + ball->r)};
    }
    const double root = sqrt(s), height_error = 2 * error / root + 8 * DROP_U * (fabs(z) + root);
    return (drop_bound){z + root - height_error, z + root + height_error};
}

/* ---- a point of a triangle --------------------------------------------------------------------------------------- */

/* Bounds from the point P0 + beta e + gamma f; beta, gamma >= 0, beta + gamma <= 1. d: offset of the column from P0. */
typedef struct touch {
    drop_bound bound;
    double rise[3], rise_error; /* rise of the tangent plane from the point to each corner; bound of its error */
    int is_known; /* 0: the contact is at the ball's side, where the tangent plane is (nearly) vertical: nothing else is
                     set */
} touch;

static inline touch touch_at(const drop_ball *ball, double z0, const double e[3], const double f[3], double beta,
                             double gamma, const double d[2])
{
    touch t = {.is_known = 0};
    const double x = d[0] - (beta * e[0] + gamma * f[0]), y = d[1] - (beta * e[1] + gamma * f[1]);
    const double offset_error =
        8 * DROP_U * (fabs(d[0]) + fabs(d[1]) + beta * (fabs(e[0]) + fabs(e[1])) + gamma * (fabs(f[0]) + fabs(f[1])));
    const double q2 = ball->r2 - (x * x + y * y);
    const double square_error = 8 * DROP_U * ball->r2 + (2 * (fabs(x) + fabs(y)) + offset_error) * offset_error;
    if (!(q2 > 1024 * square_error))
        return t;
    const double q = sqrt(q2), inverse = 1 / q, loss = square_error * inverse * inverse;
    const double height = z0 + (beta * e[2] + gamma * f[2]) + q;
    const double error =
        16 * DROP_U * (fabs(z0) + beta * fabs(e[2]) + gamma * fabs(f[2]) + q) + 2 * square_error * inverse;
    /* slopes of the tangent plane along e and f */
    const double a = (x * e[0] + y * e[1]) * inverse + e[2], b = (x * f[0] + y * f[1]) * inverse + f[2];
    const double slope_error_a = (fabs(x * e[0]) + fabs(y * e[1])) * inverse * (8 * DROP_U + 2 * loss) +
                                 2 * offset_error * (fabs(e[0]) + fabs(e[1])) * inverse + 8 * DROP_U * fabs(e[2]);
    const double slope_error_b = (fabs(x * f[0]) + fabs(y * f[1])) * inverse * (8 * DROP_U + 2 * loss) +
                                 2 * offset_error * (fabs(f[0]) + fabs(f[1])) * inverse + 8 * DROP_U * fabs(f[2]);
    t.rise[0] = -(beta * a + gamma * b);
    t.rise[1] = a + t.rise[0];
    t.rise[2] = b + t.rise[0];
    t.rise_error = 3 * (slope_error_a + slope_error_b) + 16 * DROP_U * (fabs(a) + fabs(b));
    double rise = t.rise[0] > t.rise[1] ? t.rise[0] : t.rise[1];
    rise = t.rise[2] > rise ? t.rise[2] : rise;
    t.bound = (drop_bound){height - error, height + error + (rise > 0 ? rise : 0) + t.rise_error};
    t.is_known = 1;
    return t;
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

void caromi_drop_edge_make(drop_edge *edge, const float *a, const float *b)
{
    for (int k = 0; k < 3; k++) {
        edge->a[k] = (double)a[k];
        edge->b[k] = (double)b[k];
        edge->e[k] = edge->b[k] - edge->a[k];
    }
    edge->top = (double)(a[2] > b[2] ? a[2] : b[2]);
    edge->l2 = edge->e[0] * edge->e[0] + edge->e[1] * edge->e[1];
    edge->contact_shift = edge->e[2] / (sqrt(edge->l2) * sqrt(edge->l2 + edge->e[2] * edge->e[2]));
    edge->slope2 = edge->e[2] * edge->e[2] / edge->l2;
}

/* Whether the edge is out of the ball's reach: its closest point, seen from above, is farther than the radius. */
static int is_far(const drop_ball *ball, const drop_edge *g, const double d[2])
{
    const double foot = (g->e[0] * d[0] + g->e[1] * d[1]) / g->l2, at = foot > 0 ? (foot < 1 ? foot : 1) : 0;
    const double x = d[0] - at * g->e[0], y = d[1] - at * g->e[1];
    const double cross_error = 64 * DROP_U * (fabs(d[0]) + fabs(d[1]) + fabs(g->e[0]) + fabs(g->e[1]));
    return x * x + y * y > ball->r2 * (1 + 16 * DROP_U) + 2 * (2 * (fabs(x) + fabs(y)) + cross_error) * cross_error;
}

drop_bound caromi_drop_edge_bound(const drop_ball *ball, const drop_edge *g, double x, double y)
{
    static const double no_edge[3];
    const double d[2] = {x - g->a[0], y - g->a[1]};
    const double left = g->e[0] * d[1], right = g->e[1] * d[0], cross = left - right;
    const double cross_error = 8 * DROP_U * (fabs(left) + fabs(right)), w2 = cross * cross / g->l2;
    const double s = ball->r2 - w2;
    const double error = (2 * fabs(cross) + cross_error) * cross_error / g->l2 + 8 * DROP_U * (w2 + ball->r2);
    if (s < -error)
        return none;
    drop_bound flat;
    if (g->slope2 <= DROP_FLAT && caromi_drop_flat_edge_bound(ball, g, x, y, &flat))
        return flat;
    const double along = (g->e[0] * d[0] + g->e[1] * d[1]) / g->l2 + g->contact_shift * sqrt(s > 0 ? s : 0);
    const double at = along > 0 ? (along < 1 ? along : 1) : 0; /* not a number: 0 */
    touch t = touch_at(ball, g->a[2], g->e, no_edge, at, 0, d);
    if (!t.is_known && is_far(ball, g, d))
        return none;
    if (!t.is_known) /* a bound from the edge's highest z and the distance of its line */
        return (drop_bound){-HUGE_VAL,
                            g->top + sqrt(s > 0 ? s + error : error) + 8 * DROP_U * (fabs(g->top) + ball->r)};
    /* The height falls from an end on: the end, a corner, decides it. */
    if ((at == 0 && t.rise[1] < -t.rise_error) || (at == 1 && t.rise[0] < -t.rise_error))
        t.bound.high = -HUGE_VAL;
    return t.bound;
}

/* ---- faces ------------------------------------------------------------------------------------------------------- */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Whether the triangle has no area when seen along an axis, exactly. */
static int is_line(const float *const corner[3], int axis)
{
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    float p[3][2];
    for (int k = 0; k < 3; k++) {
        p[k][0] = corner[k][u];
        p[k][1] = corner[k][v];
    }
    return caromi_drop_side(p[0], p[1], p[2]) == 0;
}

/* The kind of a face whose normal's z may be zero. */
static int kind_of_steep(const float *const corner[3])
{
    /* From each inner point of a vertical face, the face continues upwards: its edges decide the height. */
    return is_line(corner, 2) ? DROP_FACE_NONE : DROP_FACE_THIN;
}

/* Prepares a nearly level face. `slope_rise` is the radius times the squared slope; half of that bounds the rise, the
 * rest covers rounding. */
static void make_flat(drop_face *face, const drop_ball *ball, const double n[3], const double size[3])
{
    const double x = (fabs(n[0]) + 8 * DROP_U * size[0]) / n[2], y = (fabs(n[1]) + 8 * DROP_U * size[1]) / n[2];
    face->area = n[2];
    face->size = size[2];
    face->slope_rise = ball->r * (x * x + y * y);
    face->level = caromi_drop_sum(face->p[2], ball->r, 0, 0);
}

void caromi_drop_face_make(drop_face *face, const drop_ball *ball, const float *const corner[3])
{
    double n[3], size[3];
    for (int k = 0; k < 3; k++) {
        face->corner[k] = corner[k];
        face->p[k] = (double)corner[0][k];
        face->e[k] = (double)corner[1][k] - (double)corner[0][k];
        face->f[k] = (double)corner[2][k] - (double)corner[0][k];
    }
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        const double plus = face->e[a] * face->f[b], minus = face->e[b] * face->f[a];
        n[k] = plus - minus;
        size[k] = fabs(plus) + fabs(minus);
    }
    face->top = larger((double)corner[0][2], larger((double)corner[1][2], (double)corner[2][2]));
    const double all = size[0] + size[1] + size[2];
    if (fabs(n[2]) <= 16 * DROP_U * size[2]) {
        face->kind = kind_of_steep(corner);
        return;
    }
    const double turn = n[2] < 0 ? -1 : 1, length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    const double normal_error = 16 * DROP_U * all / length;
    face->kind = !(normal_error < 0x1p-12)                              ? DROP_FACE_THIN
                 : n[0] * n[0] + n[1] * n[1] <= DROP_FLAT * n[2] * n[2] ? DROP_FACE_FLAT
                                                                        : DROP_FACE_SLOPE;
    if (face->kind == DROP_FACE_FLAT)
        make_flat(face, ball, n, size);
    face->inverse = 1 / n[2];
    for (int k = 0; k < 2; k++)
        face->shift[k] = ball->r * (turn * n[k] / length);
    face->shift_error = 2 * ball->r * normal_error;
    for (int k = 0; k < 2; k++) {
        face->side[0][k] = turn * face->e[k];
        face->side[1][k] = turn * ((double)corner[2][k] - (double)corner[1][k]);
        face->side[2][k] = turn * -face->f[k];
    }
}

double caromi_drop_face_slack(const drop_face *face, int k, double reach)
{
    return (fabs(face->side[k][0]) + fabs(face->side[k][1])) * (2 * face->shift_error + 32 * DROP_U * reach);
}

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
    const double b = (u * face->f[1] - v * face->f[0]) * face->inverse;
    const double c = (v * face->e[0] - u * face->e[1]) * face->inverse;
    *beta = b > 0 ? (b < 1 ? b : 1) : 0; /* not a number: 0 */
    const double most = (1 - *beta) * (1 - 2 * DROP_U);
    *gamma = c > 0 ? (c < most ? c : most) : 0;
}

drop_bound caromi_drop_face_bound(const drop_ball *ball, const drop_face *face, double x, double y)
{
    if (ball->r == 0)
        return caromi_drop_ray_bound(face->corner, x, y);
    if (face->kind == DROP_FACE_FLAT)
        return caromi_drop_flat_bound(ball, face, x, y);
    const double d[2] = {x - face->p[0], y - face->p[1]};
    double beta, gamma;
    place_on(face, d[0], d[1], &beta, &gamma);
    const touch t = touch_at(ball, face->p[2], face->e, face->f, beta, gamma, d);
    if (!t.is_known)
        return (drop_bound){-HUGE_VAL, caromi_drop_sum(face->top, ball->r, 0, 0).high};
    return t.bound;
}

/* ---- triangles --------------------------------------------------------------------------------------------------- */

double caromi_drop_reach_bound(const drop_ball *ball, double top, double square)
{
    const double s = ball->r2 - square, error = 8 * DROP_U * ball->r2;
    if (square == 0)
        return caromi_drop_sum(top, ball->r, 0, 0).high;
    return s < -error ? -HUGE_VAL : top + sqrt(s > 0 ? s + error : error) + 8 * DROP_U * (fabs(top) + ball->r);
}

double caromi_drop_box_bound(const drop_ball *ball, const float *const corner[3], double x, double y)
{
    const double at[2] = {x, y};
    double square = 0, top = -HUGE_VAL;
    for (int k = 0; k < 2; k++) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int c = 0; c < 3; c++) {
            low = (double)corner[c][k] < low ? (double)corner[c][k] : low;
            high = (double)corner[c][k] > high ? (double)corner[c][k] : high;
        }
        const double gap = low > at[k] ? low - at[k] : at[k] > high ? at[k] - high : 0;
        square += gap * gap;
    }
    for (int c = 0; c < 3; c++)
        top = (double)corner[c][2] > top ? (double)corner[c][2] : top;
    return caromi_drop_reach_bound(ball, top, square);
}

/* The bounds of one triangle over one column, tightened point by point. */
typedef struct whole {
    const drop_ball *ball;
    double corner[3][3], x, y;
    drop_bound bound; /* the tightest so far */
} whole;

static void narrow(whole *w, drop_bound bound)
{
    w->bound.low = larger(w->bound.low, bound.low);
    w->bound.high = bound.high < w->bound.high ? bound.high : w->bound.high;
}

/* Tightens the bounds by the point with barycentric weights beta and gamma of the two corners after corner `first`. */
static void try_point(whole *w, int first, double beta, double gamma)
{
    const double *p = w->corner[first], *next = w->corner[(first + 1) % 3], *last = w->corner[(first + 2) % 3];
    const double e[3] = {next[0] - p[0], next[1] - p[1], next[2] - p[2]};
    const double f[3] = {last[0] - p[0], last[1] - p[1], last[2] - p[2]};
    const double d[2] = {w->x - p[0], w->y - p[1]};
    const touch t = touch_at(w->ball, p[2], e, f, beta, gamma, d);
    if (!t.is_known)
        return;
    narrow(w, t.bound);
}

/* Whether the height falls from the line of a level edge towards the third corner, so that the edge bounds the
 * triangle. cross: cross product of the edge and the column's offset. */
static int falls_inwards(const whole *w, const drop_edge *g, const double third[3], double cross)
{
    const double f[3] = {third[0] - g->a[0], third[1] - g->a[1], third[2] - g->a[2]};
    const double plus = g->e[0] * f[1], minus = g->e[1] * f[0], area = plus - minus, length = sqrt(g->l2);
    const double up = f[2] - (g->e[0] * f[0] + g->e[1] * f[1]) / g->l2 * g->e[2],
                 rest = w->ball->r2 - cross * cross / g->l2;
    if (!(fabs(area) > 0x1p-20 * (fabs(plus) + fabs(minus)) && 2 * rest > w->ball->r2))
        return 0;
    const double slope = up * length / fabs(area), tilt = (area > 0 ? cross : -cross) / (length * sqrt(rest));
    return slope + tilt < -0x1p-20 * (1 + fabs(slope) + fabs(tilt));
}

static void try_edge(whole *w, const float *const corner[3], int k)
{
    drop_edge g;
    drop_bound flat;
    caromi_drop_edge_make(&g, corner[k], corner[(k + 1) % 3]);
    const double d[2] = {w->x - g.a[0], w->y - g.a[1]}, cross = g.e[0] * d[1] - g.e[1] * d[0];
    const double s = w->ball->r2 - cross * cross / g.l2;
    if (g.slope2 <= DROP_FLAT && caromi_drop_flat_edge_bound(w->ball, &g, w->x, w->y, &flat)) {
        const int is_all = falls_inwards(w, &g, w->corner[(k + 2) % 3], cross);
        narrow(w, (drop_bound){flat.low, is_all ? flat.high : HUGE_VAL});
        if (is_all)
            return;
    }
    const double along = (g.e[0] * d[0] + g.e[1] * d[1]) / g.l2 + g.contact_shift * sqrt(s > 0 ? s : 0);
    if (g.l2 > 0)
        try_point(w, k, along > 0 ? (along < 1 ? along : 1) : 0, 0); /* not a number: 0 */
    else
        try_point(w, k, g.e[2] > 0, 0);
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
        if (edge.l2 > 0)
            high = larger(high, caromi_drop_edge_bound(ball, &edge, x, y).high);
    }
    if (face->kind != DROP_FACE_NONE && caromi_drop_face_may_touch(face, x, y))
        high = larger(high, caromi_drop_face_bound(ball, face, x, y).high);
    return high;
}

/* Whether the column is straight over the highest corner: the height is a sum then. */
static int is_over_top(const whole *w, double top)
{
    for (int k = 0; k < 3; k++)
        if (w->corner[k][0] == w->x && w->corner[k][1] == w->y && w->corner[k][2] == top)
            return 1;
    return 0;
}

drop_bound caromi_drop_triangle_bound(const drop_ball *ball, const float *const corner[3], double x, double y,
                                      double bar)
{
    whole w = {.ball = ball, .x = x, .y = y};
    drop_face face;
    int first = 0;
    if (ball->r == 0)
        return caromi_drop_ray_bound(corner, x, y);
    caromi_drop_face_make(&face, ball, corner);
    w.bound = (drop_bound){-HUGE_VAL, caromi_drop_sum(face.top, ball->r, 0, 0).high};
    for (int k = 0; k < 9; k++)
        w.corner[k / 3][k % 3] = (double)corner[k / 3][k % 3];
    if (is_over_top(&w, face.top))
        return caromi_drop_sum(face.top, ball->r, 0, 0);
    if (face.kind == DROP_FACE_FLAT) {
        const drop_bound flat = caromi_drop_flat_bound(ball, &face, x, y);
        if (flat.low > -HUGE_VAL)
            return flat;
        if (flat.high > -HUGE_VAL)
            w.bound.high = flat.high;
    } else if (face.kind == DROP_FACE_SLOPE) {
        double beta, gamma;
        place_on(&face, x - face.p[0], y - face.p[1], &beta, &gamma);
        try_point(&w, 0, beta, gamma);
        first = beta == 0 ? 2 : gamma == 0 ? 0 : 1; /* the edge that is probably closest */
    }
    for (int k = 0; k < 3; k++)
        if (w.bound.high > bar && caromi_drop_round_up(w.bound.high) > caromi_drop_round_up(w.bound.low))
            try_edge(&w, corner, (first + k) % 3);
    if (w.bound.low == -HUGE_VAL && face.kind != DROP_FACE_THIN) {
        const double high = bound_features(ball, &face, x, y);
        w.bound.high = high < w.bound.high ? high : w.bound.high;
    }
    return w.bound;
}
