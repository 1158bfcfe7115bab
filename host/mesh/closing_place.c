/* SPDX-License-Identifier: MIT */
/* The share of a closing in the winding number of a place, or of all places in a ball. A part of the closing that is
 * far away counts as if all of its area were at its centre; docs/volumes.md, section 3, derives the error. A part whose
 * error is too large is divided. */
#include <math.h>

#include "closing.h"
#include "cpu/exact/ray.h"

enum {
    STACK = 128,   /* more than the depth of the tree, 40 + 30 */
    INTEGERS = 256 /* parts that take as long as a solid angle by integers */
};

static const double per_sphere = 0.07957747154594767; /* 1 / (4 pi) */
/* A place is judged by bounds if they leave that much. The last sum has a smaller error, so it agrees with them. */
static const double margin = 0x1p-21, last_error = 0x1p-22;

/* Places around a centre, and how exactly their winding number is wanted. */
typedef struct place_query {
    const caromi_closing *closing;
    double center[3], radius;
    const float *place; /* the only one; NULL: all within the radius */
    double limit;       /* error of a part that is not divided: so much, */
    double of_all;      /* or so much for its share of the triangles */
    int exactly;        /* solid angles by integers */
    double far_error;   /* of the last sum: the error of its undivided parts */
} place_query;

static void add(caromi_winding *sum, caromi_winding part)
{
    sum->value += part.value;
    sum->error += part.error + 0x1p-52 * fabs(sum->value);
}

/* ---- a ball beside a triangle ------------------------------------------------------------------------------------ */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* A triangle relative to the centre of a ball. */
typedef struct near_triangle {
    double corner[3][3], edge[3][3]; /* edge k goes from corner k to the next */
    double length[3], distance[3];   /* of each edge: its length, and its distance from the centre */
} near_triangle;

static near_triangle near_triangle_of(const float corners[9], const double center[3])
{
    near_triangle t;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            t.corner[i][k] = (double)corners[3 * i + k] - center[k];
            t.edge[i][k] = (double)corners[(3 * i + 3 + k) % 9] - (double)corners[3 * i + k];
        }
    for (int i = 0; i < 3; i++) {
        const double square = dot(t.edge[i], t.edge[i]), at = -dot(t.corner[i], t.edge[i]) / square,
                     s = at < 0   ? 0
                         : at < 1 ? at
                                  : 1;
        double foot[3];
        for (int k = 0; k < 3; k++)
            foot[k] = t.corner[i][k] + s * t.edge[i][k];
        t.length[i] = sqrt(square);
        t.distance[i] = sqrt(dot(foot, foot)) -
                        0x1p-40 * (fabs(t.corner[i][0]) + fabs(t.corner[i][1]) + fabs(t.corner[i][2]) + t.length[i]);
    }
    return t;
}

/* Whether a ball certainly does not touch the triangle; it touches no edge. */
static int is_beside(const near_triangle *t, double radius)
{
    double normal[3], side[3];
    cross(t->edge[0], t->edge[1], normal);
    const double twice_area = sqrt(dot(normal, normal)),
                 longest = larger(t->length[0], larger(t->length[1], t->length[2])),
                 nearest = -larger(-t->distance[0], larger(-t->distance[1], -t->distance[2])),
                 wide = radius * (1 + 0x1p-20);
    /* Every point of a narrow triangle is near an edge. */
    if (nearest > wide + twice_area / longest * (1 + 0x1p-20) + 0x1p-40 * longest)
        return 1;
    if (!(twice_area > 0x1p-20 * longest * longest))
        return 0;
    const double reach = longest + fabs(t->corner[0][0]) + fabs(t->corner[0][1]) + fabs(t->corner[0][2]);
    if (fabs(dot(normal, t->corner[0])) > (wide + 0x1p-28 * reach) * twice_area)
        return 1;
    for (int i = 0; i < 3; i++) { /* the centre's foot may be outside an edge */
        cross(t->edge[i], t->corner[i], side);
        if (dot(side, normal) > 0x1p-28 * reach * t->length[i] * twice_area)
            return 1;
    }
    return 0;
}

/* The solid angle of a triangle, from all places of a ball: that from its centre, and how much it changes. Its gradient
 * is an integral along the edges. */
static caromi_winding around_triangle(const place_query *query, const float corners[9])
{
    const near_triangle t = near_triangle_of(corners, query->center);
    double gradient = 0;
    for (int i = 0; i < 3; i++) {
        const double left = t.distance[i] - query->radius;
        if (!(left > 0x1p-20 * query->radius))
            return (caromi_winding){0, (double)INFINITY};
        gradient += (t.length[i] < 3.1416 * left ? t.length[i] / left : 3.1416) / left;
    }
    if (!is_beside(&t, query->radius))
        return (caromi_winding){0, (double)INFINITY};
    caromi_winding w = caromi_solid_angle_near(corners, query->center);
    w.error += per_sphere * gradient * query->radius * (1 + 0x1p-20);
    return w;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* A part whose area is taken to be at its centre. */
static caromi_winding far_part(const place_query *query, const caromi_closing_node *node)
{
    double to[3];
    for (int k = 0; k < 3; k++)
        to[k] = node->center[k] - query->center[k];
    const double distance = sqrt(dot(to, to)),
                 least = distance * (1 - 0x1p-40) - (node->radius + query->radius) * (1 + 0x1p-40);
    if (!(least > 0x1p-20 * distance))
        return (caromi_winding){0, (double)INFINITY};
    const double change = node->moment + node->area * (query->radius + 0x1p-40 * distance);
    return (caromi_winding){per_sphere * dot(node->normal, to) / (distance * distance * distance),
                            2 * per_sphere * change / (least * least * least) * (1 + 0x1p-20)};
}

static caromi_winding triangle_part(const place_query *query, const caromi_closing_node *node)
{
    const float *corners = query->closing->corners[node->first];
    return query->place != NULL ? caromi_solid_angle(corners, query->place, query->exactly)
                                : around_triangle(query, corners);
}

/* Ends early if the error is so large that nothing can be decided. */
static caromi_winding sum_of(place_query *query)
{
    const caromi_closing *closing = query->closing;
    caromi_winding sum = {0, 0};
    uint32_t pending[STACK];
    int count = 1;
    query->far_error = 0;
    pending[0] = 0;
    while (count > 0 && sum.error < 0.5) {
        const uint32_t number = pending[--count];
        const caromi_closing_node *node = &closing->nodes[number];
        const caromi_winding part = far_part(query, node);
        const double share = query->of_all * (double)node->count / (double)closing->count;
        if (part.error <= query->limit || part.error <= share) {
            query->far_error += part.error;
            add(&sum, part);
        } else if (node->second != 0) {
            pending[count++] = node->second;
            pending[count++] = number + 1;
        } else {
            const caromi_winding own = triangle_part(query, node);
            add(&sum, own.error < part.error ? own : part);
        }
    }
    if (count > 0) /* the parts that are left may be of any size */
        sum.error = (double)INFINITY;
    return sum;
}

/* First with large parts, then with smaller ones, until the bounds decide; the last sum decides alone. */
static int is_inside(place_query *query, int64_t crossings)
{
    static const double limits[] = {0x1p-5, 0x1p-8, 0x1p-10, 0x1p-12, 0x1p-14, 0x1p-16, 0x1p-18};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        query->limit = limits[i];
        const caromi_winding w = sum_of(query);
        const double beyond = fabs((double)crossings - w.value) - 0.5;
        if (fabs(beyond) > w.error + margin)
            return beyond > 0;
    }
    query->limit = 0;
    query->of_all = last_error / 2;
    caromi_winding w = sum_of(query);
    if (!(w.error <= last_error)) {
        query->exactly = 1;
        w = sum_of(query);
    }
    return fabs((double)crossings - w.value) >= 0.5;
}

int caromi_closing_inside(const caromi_closing *closing, const float place[3], int64_t crossings)
{
    place_query query = {
        .closing = closing, .place = place, .center = {(double)place[0], (double)place[1], (double)place[2]}};
    return closing->count == 0 ? crossings != 0 : is_inside(&query, crossings);
}

caromi_winding caromi_closing_around(const caromi_closing *closing, const double center[3], double radius)
{
    place_query query = {
        .closing = closing, .center = {center[0], center[1], center[2]}, .radius = radius, .limit = 0x1p-7};
    caromi_winding w = sum_of(&query);
    if (query.far_error > 0.0625 && query.far_error > w.error / 2) {
        query.limit = 0x1p-11;
        w = sum_of(&query);
    }
    return w;
}

int caromi_closing_decides(caromi_winding winding, int *offset)
{
    if (!(winding.error < 0.5) || fabs(winding.value) > 1000)
        return 0;
    *offset = (int)floor(winding.value + 0.5);
    return fabs(winding.value - *offset) + winding.error < 0.5 - margin;
}

/* ---- crossings --------------------------------------------------------------------------------------------------- */

void caromi_closing_above(const caromi_closing *closing, const float low[3], const float high[2],
                          void (*visit)(void *user, const float corners[9]), void *user)
{
    uint32_t pending[STACK];
    int count = 1;
    pending[0] = 0;
    while (closing->count > 0 && count > 0) {
        const uint32_t number = pending[--count];
        const caromi_closing_node *node = &closing->nodes[number];
        const double *c = node->center,
                     r = node->radius * (1 + 0x1p-40) + 0x1p-48 * (fabs(c[0]) + fabs(c[1]) + fabs(c[2]));
        if (c[0] + r < (double)low[0] || c[0] - r > (double)high[0] || c[1] + r < (double)low[1] ||
            c[1] - r > (double)high[1] || c[2] + r < (double)low[2])
            continue;
        if (node->second == 0) {
            visit(user, closing->corners[node->first]);
            continue;
        }
        pending[count++] = node->second;
        pending[count++] = number + 1;
    }
}

typedef struct place_ray {
    const float *place;
    int64_t sum;
} place_ray;

/* Adds the sign of a triangle that the ray crosses strictly above the place. */
static void cross_one(void *user, const float corners[9])
{
    place_ray *ray = user;
    const float *p = ray->place, *const corner[] = {corners, corners + 3, corners + 6};
    const int side = caromi_exact_ray_side(corner[0], corner[1], p[0], p[1]);
    if (side == 0 || caromi_exact_ray_side(corner[1], corner[2], p[0], p[1]) != side ||
        caromi_exact_ray_side(corner[2], corner[0], p[0], p[1]) != side)
        return;
    ray->sum += caromi_exact_ray_height(corner, p) == -side ? side : 0;
}

int64_t caromi_closing_crossings(const caromi_closing *closing, const float place[3])
{
    place_ray ray = {place, 0};
    caromi_closing_above(closing, place, place, cross_one, &ray);
    return ray.sum;
}
