/* SPDX-License-Identifier: MIT */
/* Ear clipping (Meisters 1975). An ear is a corner whose triangle lies inside the polygon. Three things make it fast
 * and sure:
 *
 * - A corner is tried again only after a neighbour was cut off, so a simple polygon takes at most 3 n tries.
 * - A triangle that holds a piece of the boundary holds a corner that is not convex (the one nearest to the tip), so
 *   only those are looked for, in a tree of boxes over all corners in Morton order.
 * - The polygon's winding number is 1 inside and 0 outside. It stays so if a triangle is cut off where it is 1 and that
 *   holds nothing of the boundary inside, whatever touches its sides; and if a spike without area is cut off. */
#include "ears.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- exact orientation -------------------------------------------------------------------------------------- */

static double two_sum(double a, double b, double *error)
{
    double sum = a + b, part = sum - a;
    *error = (a - (sum - part)) + (b - part);
    return sum;
}

/* Six products of binary32 numbers, each exact in binary64; their sum as an expansion (Shewchuk 1997, theorem 10),
 * whose last component that is not zero has the sign of the whole. */
static int exact_turn(flat_point a, flat_point b, flat_point c)
{
    const double ax = (double)a.x, ay = (double)a.y, bx = (double)b.x, by = (double)b.y;
    const double cx = (double)c.x, cy = (double)c.y;
    const double terms[6] = {ax * by, -(ay * bx), bx * cy, -(by * cx), cx * ay, -(cy * ax)};
    double parts[6];
    for (int i = 0; i < 6; i++) {
        double sum = terms[i];
        for (int k = 0; k < i; k++)
            sum = two_sum(sum, parts[k], &parts[k]);
        parts[i] = sum;
    }
    for (int i = 5; i >= 0; i--)
        if (parts[i] > 0 || parts[i] < 0)
            return parts[i] > 0 ? 1 : -1;
    return 0;
}

int flat_turn(flat_point a, flat_point b, flat_point c)
{
    const double left = ((double)b.x - (double)a.x) * ((double)c.y - (double)a.y);
    const double right = ((double)b.y - (double)a.y) * ((double)c.x - (double)a.x);
    const double area = left - right, bound = 3.4e-16 * (fabs(left) + fabs(right)); /* (3 + 16 u) u, theorem 13 there */
    return area > bound ? 1 : area < -bound ? -1 : exact_turn(a, b, c);
}

static int same(flat_point a, flat_point b)
{
    return a.x == b.x && a.y == b.y;
}

/* Of three points in a line: is b strictly between a and c? */
static int between(flat_point a, flat_point b, flat_point c)
{
    return !same(a, b) && !same(b, c) && fminf(a.x, c.x) <= b.x && b.x <= fmaxf(a.x, c.x) && fminf(a.y, c.y) <= b.y &&
           b.y <= fmaxf(a.y, c.y);
}

/* ---- the ring of corners, and the tree of those that are not convex ------------------------------------------- */

typedef struct corner {
    flat_point p;
    uint32_t before, after; /* in the ring */
    uint32_t twin;          /* the next corner at the same point, round and round; itself if it is alone */
    uint32_t leaf, ticket;  /* where it stands in the tree; its last place in the queue */
    uint8_t gone, listed;   /* cut off; in the tree */
} corner;

typedef struct box {
    flat_point low, high;
    uint32_t listed; /* how many corners below are */
} box;

typedef struct place {
    uint32_t code, index;
    flat_point p;
} place;

typedef struct cutter {
    corner *corners;
    box *boxes;      /* node i has 2 i and 2 i + 1 below it; the leaves begin at `leaves` */
    place *places;   /* leaves in order */
    uint32_t *queue; /* corners to try, each only from its last place */
    uint32_t *touched;
    uint32_t *triangles;
    uint32_t leaves, left, made, queued;
    uint64_t steps; /* bounds the work on what is no polygon */
} cutter;

static uint32_t spread(uint32_t x) /* bits 0 to 15 to the even places */
{
    x = (x | x << 8) & 0x00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f;
    x = (x | x << 2) & 0x33333333;
    return (x | x << 1) & 0x55555555;
}

static uint32_t grid(float value, float low, float high)
{
    double width = (double)high - (double)low;
    return width > 0 ? (uint32_t)(((double)value - (double)low) / width * 65535.0) : 0;
}

static int compare_places(const void *left, const void *right)
{
    const place *a = left, *b = right;
    if (a->code != b->code)
        return a->code < b->code ? -1 : 1;
    if (a->p.x < b->p.x || a->p.x > b->p.x)
        return a->p.x < b->p.x ? -1 : 1;
    if (a->p.y < b->p.y || a->p.y > b->p.y)
        return a->p.y < b->p.y ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

static void include(box *b, flat_point low, flat_point high)
{
    b->low = (flat_point){fminf(b->low.x, low.x), fminf(b->low.y, low.y)};
    b->high = (flat_point){fmaxf(b->high.x, high.x), fmaxf(b->high.y, high.y)};
}

static void build_tree(cutter *s, const flat_point *points, uint32_t n)
{
    box all = {points[0], points[0], 0};
    for (uint32_t i = 1; i < n; i++)
        include(&all, points[i], points[i]);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = grid(points[i].x, all.low.x, all.high.x), y = grid(points[i].y, all.low.y, all.high.y);
        s->places[i] = (place){spread(x) | spread(y) << 1, i, points[i]};
    }
    qsort(s->places, n, sizeof *s->places, compare_places);
    for (uint32_t i = 0, first = 0; i < n; i++) {
        int last = i + 1 == n || !same(s->places[i].p, s->places[i + 1].p);
        s->corners[s->places[i].index].leaf = s->leaves + i;
        s->corners[s->places[i].index].twin = s->places[last ? first : i + 1].index;
        first = last ? i + 1 : first;
    }
    for (uint32_t i = 0; i < s->leaves; i++) { /* what is beyond the last has nothing listed, so its place is any */
        flat_point p = s->places[i < n ? i : n - 1].p;
        s->boxes[s->leaves + i] = (box){p, p, 0};
    }
    for (uint32_t i = s->leaves - 1; i > 0; i--) {
        s->boxes[i] = s->boxes[2 * i];
        include(&s->boxes[i], s->boxes[2 * i + 1].low, s->boxes[2 * i + 1].high);
    }
}

static void list_corner(cutter *s, uint32_t i, int listed)
{
    corner *c = &s->corners[i];
    if (c->listed == listed)
        return;
    c->listed = (uint8_t)listed;
    for (uint32_t node = c->leaf; node > 0; node /= 2)
        s->boxes[node].listed += listed ? 1u : UINT32_MAX;
}

static flat_point at(const cutter *s, uint32_t i)
{
    return s->corners[i].p;
}

static int turn_at(const cutter *s, uint32_t i)
{
    return flat_turn(at(s, s->corners[i].before), at(s, i), at(s, s->corners[i].after));
}

static void enqueue(cutter *s, uint32_t i)
{
    s->corners[i].ticket = s->queued;
    s->queue[s->queued++] = i;
}

static void unlink_corner(cutter *s, uint32_t i)
{
    corner *c = &s->corners[i];
    s->corners[c->before].after = c->after;
    s->corners[c->after].before = c->before;
    c->gone = 1;
    list_corner(s, i, 0);
    s->left--;
}

/* A corner without area that turns back, or stands on its neighbour. */
static int is_spike(const cutter *s, uint32_t i)
{
    const corner *c = &s->corners[i];
    return turn_at(s, i) == 0 && !between(at(s, c->before), c->p, at(s, c->after));
}

/* After a change beside corners i and k: cut off spikes, list what is not convex, try again. */
static void refresh(cutter *s, uint32_t i, uint32_t k)
{
    uint32_t count = 0;
    s->touched[count++] = k;
    s->touched[count++] = i;
    while (count > 0) {
        uint32_t now = s->touched[--count];
        const corner *c = &s->corners[now];
        if (c->gone)
            continue;
        if (s->left > 2 && is_spike(s, now)) {
            unlink_corner(s, now);
            s->touched[count++] = c->before;
            s->touched[count++] = c->after;
            continue;
        }
        list_corner(s, now, turn_at(s, now) <= 0);
        enqueue(s, now);
    }
}

/* ---- ears --------------------------------------------------------------------------------------------------- */

typedef struct ear {
    uint32_t before, tip, after;
    flat_point a, b, c; /* their places, counter-clockwise */
    int strict;
} ear;

/* Does the boundary at corner i enter the ear? If strict, it must not touch the cut either: what is left would have a
 * corner inside an edge. */
static int blocks(const cutter *s, const ear *e, uint32_t i)
{
    if (i == e->before || i == e->tip || i == e->after)
        return 0;
    const flat_point p = at(s, i);
    const int on_a = same(p, e->a), on_b = same(p, e->b),
              on_c = same(p, e->c); /* often, where a polygon touches itself */
    const int ab = on_a || on_b ? 0 : on_c ? 1 : flat_turn(e->a, e->b, p);
    const int bc = on_b || on_c ? 0 : on_a ? 1 : flat_turn(e->b, e->c, p);
    const int ca = on_c || on_a ? 0 : on_b ? 1 : flat_turn(e->c, e->a, p);
    if (ab < 0 || bc < 0 || ca < 0)
        return 0;
    if (ab > 0 && bc > 0 && (ca > 0 || e->strict))
        return 1;
    const uint32_t next[2] = {s->corners[i].before, s->corners[i].after};
    for (int k = 0; k < 2; k++) { /* from a side or a corner of the ear it enters if it leaves these to the left */
        const flat_point q = at(s, next[k]);
        if ((ab > 0 || flat_turn(e->a, e->b, q) > 0) && (bc > 0 || flat_turn(e->b, e->c, q) > 0) &&
            (ca > 0 || flat_turn(e->c, e->a, q) > 0))
            return 1;
    }
    return 0;
}

/* The box is apart if its corner farthest to the left of a side is to the right of it. */
static int right_of(flat_point a, flat_point b, const box *area)
{
    flat_point p = {b.y > a.y ? area->low.x : area->high.x, b.x > a.x ? area->high.y : area->low.y};
    return flat_turn(a, b, p) < 0;
}

/* Of the corners below this node. */
static int is_blocked_below(cutter *s, const ear *e, const box *around, uint32_t top)
{
    uint32_t stack[64], depth = 0; /* one waits at each level */
    stack[depth++] = top;
    while (depth > 0) {
        const uint32_t node = stack[--depth];
        const box *area = &s->boxes[node];
        s->steps++;
        if (area->listed == 0 || area->low.x > around->high.x || area->high.x < around->low.x ||
            area->low.y > around->high.y || area->high.y < around->low.y)
            continue;
        if (node >= s->leaves) {
            s->steps += 3; /* which cost more */
            if (blocks(s, e, s->places[node - s->leaves].index))
                return 1;
        } else if (!right_of(e->a, e->b, area) && !right_of(e->b, e->c, area) && !right_of(e->c, e->a, area)) {
            stack[depth++] = 2 * node + 1;
            stack[depth++] = 2 * node;
        }
    }
    return 0;
}

/* From the tip's leaf upwards, because what blocks an ear often stands near its tip. */
static int is_blocked(cutter *s, const ear *e)
{
    box around = {e->b, e->b, 0};
    include(&around, e->a, e->a);
    include(&around, e->c, e->c);
    for (uint32_t node = s->corners[e->tip].leaf; node > 1; node /= 2)
        if (is_blocked_below(s, e, &around, node ^ 1))
            return 1;
    return 0;
}

/* Does the ray from `from` through `to` begin along that from `from` to `q`? */
static int along(flat_point from, flat_point to, flat_point q)
{
    return !same(from, q) && flat_turn(from, to, q) == 0 && !between(to, from, q);
}

/* Other corners at the tip, with edges back along both of the ear's? Such an ear is in the bend of a bridge: inside if
 * the bridge leads to a hole, outside if it leads to an island. */
static int is_in_bend(cutter *s, const ear *e)
{
    int back = 0, forth = 0;
    for (uint32_t i = s->corners[e->tip].twin; i != e->tip; i = s->corners[i].twin) {
        const corner *c = &s->corners[i];
        s->steps++;
        if (c->gone)
            continue;
        back |= along(e->b, e->a, at(s, c->after));
        forth |= along(e->b, e->c, at(s, c->before));
    }
    return back && forth;
}

/* The polygon's winding number in the ear: at the point b + h (a - b) + h^2 (c - b) for a positive h near 0. */
static int winding(cutter *s, const ear *e)
{
    const int above = e->a.y > e->b.y || (e->a.y == e->b.y && e->c.y > e->b.y);
    int number = 0;
    uint32_t i = e->tip;
    do {
        const flat_point p = at(s, i), q = at(s, s->corners[i].after);
        const int p_above = p.y > e->b.y || (p.y == e->b.y && !above);
        const int q_above = q.y > e->b.y || (q.y == e->b.y && !above);
        if (p_above != q_above) {
            int side = flat_turn(p, q, e->b);
            side = side ? side : flat_turn(p, q, e->a);
            side = side ? side : flat_turn(p, q, e->c);
            number += q_above && side > 0 ? 1 : !q_above && side < 0 ? -1 : 0;
        }
        s->steps++;
        i = s->corners[i].after;
    } while (i != e->tip);
    return number;
}

/* What is taken for an ear. The later ones are for polygons that touch themselves and are tried when nothing else is
 * left. */
enum { STRICT, TOUCHING, STRAIGHT, PASSES };

static int is_ear(cutter *s, uint32_t i, int pass)
{
    const corner *c = &s->corners[i];
    const ear e = {c->before, i, c->after, at(s, c->before), c->p, at(s, c->after), pass == STRICT};
    const int turn = flat_turn(e.a, e.b, e.c);
    if (turn <= 0)
        return turn == 0 && pass == STRAIGHT;
    return !is_blocked(s, &e) && (!is_in_bend(s, &e) || winding(s, &e) == 1);
}

static void cut_ear(cutter *s, uint32_t i)
{
    const corner *c = &s->corners[i];
    uint32_t *triangle = s->triangles + 3 * s->made++;
    triangle[0] = c->before;
    triangle[1] = i;
    triangle[2] = c->after;
    unlink_corner(s, i);
    refresh(s, c->before, c->after);
}

/* One pass over the corners left. Returns how many ears it cut. */
static uint32_t cut_ears(cutter *s, int pass, uint64_t steps_max)
{
    uint32_t before = s->made, any = 0;
    s->queued = 0;
    while (s->corners[any].gone)
        any++;
    for (uint32_t i = any, k = 0, n = s->left; k < n; k++, i = s->corners[i].after)
        enqueue(s, i);
    for (uint32_t k = 0; k < s->queued && s->left > 2 && s->steps < steps_max; k++) {
        uint32_t i = s->queue[k];
        if (!s->corners[i].gone && s->corners[i].ticket == k && is_ear(s, i, pass))
            cut_ear(s, i);
    }
    return s->made - before;
}

static int cut(cutter *s, const flat_point *points, uint32_t n)
{
    const uint64_t steps_max = 1000 * (uint64_t)n + 10000000;
    for (uint32_t i = 0; i < n; i++)
        s->corners[i] = (corner){.p = points[i], .before = i ? i - 1 : n - 1, .after = i + 1 < n ? i + 1 : 0};
    build_tree(s, points, n);
    s->left = n;
    for (uint32_t i = 0; i < n; i++) {
        s->queued = 0;
        refresh(s, i, i);
    }
    for (int pass = STRICT; pass < PASSES && s->left > 2;) {
        uint32_t made = cut_ears(s, pass, steps_max);
        pass = made > 0 ? STRICT : pass + 1;
        if (s->steps >= steps_max)
            return 0;
    }
    return s->left <= 2 && s->made > 0;
}

int mesh_ears(const flat_point *points, uint32_t n, uint32_t *triangles, uint32_t *made)
{
    cutter s = {.leaves = 1, .triangles = triangles};
    while (s.leaves < n)
        s.leaves *= 2;
    /* A cut queues its two neighbours at most once for itself and once for each spike. */
    s.corners = malloc(n * sizeof *s.corners);
    s.boxes = malloc(2 * (size_t)s.leaves * sizeof *s.boxes);
    s.places = malloc(n * sizeof *s.places);
    s.queue = malloc(4 * (size_t)n * sizeof *s.queue);
    s.touched = malloc(((size_t)n + 4) * sizeof *s.touched);
    int done = -1;
    if (s.corners && s.boxes && s.places && s.queue && s.touched)
        done = cut(&s, points, n);
    *made = s.made;
    free(s.corners);
    free(s.boxes);
    free(s.places);
    free(s.queue);
    free(s.touched);
    return done;
}
