/* SPDX-License-Identifier: MIT */
/* The part of an edge that is within a distance of another edge, in any arithmetic. The places within that distance
 * form a capsule: two balls and a cylinder between them. It is convex, so the line of the first edge is inside on one
 * interval, from the lowest to the highest place of the three shapes.
 *
 * The file that includes this defines number, NUM, NUM_HIGH, PARALLEL_SINE2 and the verbs num_*, and the name
 * CAROMI_HAS_PART. No include guard: each file includes it once. */
#include "edge_overlap.h"

typedef struct vector {
    number x[3];
} vector;

/* An interval of the edge's line: 0 is the edge's start, 1 its end. Empty if most < least. */
typedef struct interval {
    number least, most;
} interval;
static const interval whole = {NUM(-1.0), NUM(2.0)}, none = {NUM(2.0), NUM(-1.0)};

static vector difference(const double a[3], const double b[3])
{
    vector d;
    for (int k = 0; k < 3; k++)
        d.x[k] = num_of_sum(a[k], -b[k]);
    return d;
}

static number dot(const vector *a, const vector *b)
{
    const number xy = num_add(num_multiply(a->x[0], b->x[0]), num_multiply(a->x[1], b->x[1]));
    return num_add(xy, num_multiply(a->x[2], b->x[2]));
}

static vector cross(const vector *a, const vector *b)
{
    vector c;
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        c.x[k] = num_subtract(num_multiply(a->x[i], b->x[j]), num_multiply(a->x[j], b->x[i]));
    }
    return c;
}

/* Where square * x^2 + 2 half * x + ... <= 0, with the discriminant half^2 - square * ...; square > 0. */
static interval between_roots(number square, number half, number discriminant)
{
    if (NUM_HIGH(discriminant) < 0.0)
        return none;
    const number root = num_root(discriminant), middle = num_negate(half);
    return (interval){num_divide(num_subtract(middle, root), square), num_divide(num_add(middle, root), square)};
}

static interval intersection(interval a, interval b)
{
    return (interval){num_less(a.least, b.least) ? b.least : a.least, num_less(a.most, b.most) ? a.most : b.most};
}

static int is_empty(interval a)
{
    return num_less(a.most, a.least);
}

static interval hull(interval a, interval b)
{
    if (is_empty(a) || is_empty(b))
        return is_empty(a) ? b : a;
    return (interval){num_less(a.least, b.least) ? a.least : b.least, num_less(a.most, b.most) ? b.most : a.most};
}

/* The line within the distance of a point. offset: from the point to the edge's start. */
static interval in_ball(const vector *offset, const vector *along, number square, number reach2)
{
    const vector moment = cross(offset, along);
    return between_roots(square, dot(offset, along), num_subtract(num_multiply(square, reach2), dot(&moment, &moment)));
}

/* The line within the distance of the other edge's line. With along = u, other = f, offset = w: |w x f + x (u x f)|^2
 * <= reach2 f^2, and (w x f) x (u x f) = f (w.(u x f)). Rounding moves the discriminant by that of w.(u x f) over the
 * sine of the angle, or by that of the square of half the linear term, which is small if the angle is. */
static interval in_cylinder(const vector *offset, const vector *along, const vector *other, number reach2)
{
    const vector moment = cross(offset, other), normal = cross(along, other);
    const number square = dot(&normal, &normal), other2 = dot(other, other), height = dot(offset, &normal),
                 half = dot(&moment, &normal), rest = num_subtract(dot(&moment, &moment), num_multiply(reach2, other2));
    const double sine2 = NUM_HIGH(square) / (NUM_HIGH(dot(along, along)) * NUM_HIGH(other2));
    if (!(sine2 > PARALLEL_SINE2)) /* but for rounding */
        return NUM_HIGH(rest) > 0.0 ? none : whole;
    return between_roots(square, half,
                         sine2 < 0x1p-20 ? num_subtract(num_multiply(half, half), num_multiply(square, rest))
                                         : num_multiply(other2, num_subtract(num_multiply(square, reach2),
                                                                             num_multiply(height, height))));
}

/* The line between the planes through the other edge's ends. */
static interval in_slab(const vector *offset, const vector *along, const vector *other)
{
    const number speed = dot(along, other), start = dot(offset, other), length2 = dot(other, other);
    if (!(NUM_HIGH(speed) > 0.0) && !(NUM_HIGH(speed) < 0.0))
        return NUM_HIGH(start) < 0.0 || num_less(length2, start) ? none : whole;
    const number low = num_divide(num_negate(start), speed), high = num_divide(num_subtract(length2, start), speed);
    return NUM_HIGH(speed) > 0.0 ? (interval){low, high} : (interval){high, low};
}

/* Whether the part of `one` within the distance of `other` is longer than `least`. */
int CAROMI_HAS_PART(const double one[2][3], const double other[2][3], double distance, double least)
{
    static const interval edge = {NUM(0.0), NUM(1.0)};
    const vector along = difference(one[1], one[0]), way = difference(other[1], other[0]),
                 from_start = difference(one[0], other[0]), from_end = difference(one[0], other[1]);
    const number square = dot(&along, &along), reach2 = num_of_product(distance, distance);
    if (!(NUM_HIGH(square) > 0.5 * least * least))
        return 0;
    const interval between =
        intersection(in_cylinder(&from_start, &along, &way, reach2), in_slab(&from_start, &along, &way));
    const interval balls =
        hull(in_ball(&from_start, &along, square, reach2), in_ball(&from_end, &along, square, reach2));
    const interval part = intersection(hull(between, balls), edge);
    const number share = num_subtract(part.most, part.least);
    return NUM_HIGH(share) > 0.0 &&
           num_less(num_of_product(least, least), num_multiply(num_multiply(share, share), square));
}
