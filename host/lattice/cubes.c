/* SPDX-License-Identifier: MIT */
/* A tile of nodes is a block. A block is answered as a whole if the distance from its centre leaves all its nodes on
 * the same side of a limit; else it is cut into up to eight. What is known of the distance from the centre of a block
 * passes on to its parts: a triangle that is near it, and a distance within which there is none. Only where that does
 * not answer, there is a search, bounded by what it could still find out. Searches of blocks of one size are collected
 * and run together. docs/volumes.md, section 4, has the proof. */
#include <math.h>
#include <string.h>

#include "cubes.h"

enum { SIZES = 6, RUN = 256 }; /* blocks of 1, 2, 4 .. CAROMI_TILE nodes along an axis; searches that run together */
_Static_assert(1 << (SIZES - 1) == CAROMI_TILE, "the largest block is a tile");

/* What is known of the distance of the centre of a block. */
typedef struct known {
    double center[3];
    double least;     /* a lower bound */
    int32_t triangle; /* some triangle that counts, -1: none is known */
} known;

/* Nodes at[k] to at[k] + 2^size - 1 of the tile along axis k, as far as it has them. */
typedef struct block {
    int at[3], size;
} block;

/* Searches of blocks of one size. */
typedef struct searches {
    uint32_t count;
    float in[CAROMI_CLOSEST_IN][RUN];
    int32_t triangle[RUN];
    float distance[RUN], depth[RUN];
    block blocks[RUN];
    known knowns[RUN];
} searches;

struct caromi_tile {
    const caromi_cubes *cubes;
    int size[3];
    float node[3][CAROMI_TILE]; /* coordinates along each axis */
    uint8_t *out;               /* of its first node */
    uint64_t settled;
    searches searches[SIZES];
};

size_t caromi_tile_size(void)
{
    return sizeof(caromi_tile);
}

static void add_block(caromi_tile *tile, block b, const known *parent);

/* ---- one block --------------------------------------------------------------------------------------------------- */

static int end_along(const caromi_tile *tile, block b, int axis)
{
    const int end = b.at[axis] + (1 << b.size);
    return end < tile->size[axis] ? end : tile->size[axis];
}

static void fill(const caromi_tile *tile, block b, carom_clearance answer)
{
    const uint64_t *dims = tile->cubes->lattice.dims;
    const size_t width = (size_t)(end_along(tile, b, 0) - b.at[0]);
    for (int k = b.at[2]; k < end_along(tile, b, 2); k++)
        for (int j = b.at[1]; j < end_along(tile, b, 1); j++)
            memset(tile->out + ((uint64_t)k * dims[1] + (uint64_t)j) * dims[0] + b.at[0], (int)answer, width);
}

/* The centre, a binary32 along each axis, and an upper bound of the distance from there to any node. */
static double center_of(const caromi_tile *tile, block b, double center[3])
{
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        const double first = (double)tile->node[k][b.at[k]], last = (double)tile->node[k][end_along(tile, b, k) - 1];
        center[k] = (double)(float)(0.5 * first + 0.5 * last);
        const double below = center[k] - first, above = last - center[k], more = below > above ? below : above;
        square += more * more;
    }
    return sqrt(square) * (1.0 + 0x1p-50);
}

static double lower_from(const known *parent, const double center[3])
{
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        const double way = center[k] - parent->center[k];
        square += way * way;
    }
    const double least = parent->least * (1.0 - 0x1p-50) - sqrt(square) * (1.0 + 0x1p-50);
    return least > 0.0 ? least : 0.0;
}

/* An upper bound of the distance from the centre to the triangle: that to its witness. */
static double upper_of(const carom_mesh *mesh, int32_t triangle, const double center[3])
{
    float corners[9];
    caromi_witness w;
    double square = 0.0, size = 0.0;
    for (int k = 0; k < 3; k++)
        memcpy(corners + 3 * k, caromi_corner(mesh, (uint32_t)triangle, k), 3 * sizeof *corners);
    caromi_witness_of(corners, center, &w);
    for (int k = 0; k < 3; k++) {
        const double way = w.point[k] - center[k];
        square += way * way;
        size +=
            fabs(center[k]) + fabs((double)corners[k]) + fabs((double)corners[3 + k]) + fabs((double)corners[6 + k]);
    }
    return sqrt(square) + size * 0x1p-46;
}

static void cut(caromi_tile *tile, block b, const known *k)
{
    const int half = 1 << (b.size - 1);
    for (int part = 0; part < 8; part++) {
        const block of = {{b.at[0] + half * (part & 1), b.at[1] + half * (part >> 1 & 1), b.at[2] + half * (part >> 2)},
                          b.size - 1};
        if (of.at[0] < tile->size[0] && of.at[1] < tile->size[1] && of.at[2] < tile->size[2])
            add_block(tile, of, k);
    }
}

/* ---- searches ---------------------------------------------------------------------------------------------------- */

static void run_searches(caromi_tile *tile, int size);

/* What a search has found out about a distance. */
typedef struct found {
    caromi_bounds bounds;
    int is_beyond; /* the distance is > bounds.low: there is no triangle within that */
} found;

/* A distance that the filter has left undecided is NaN. */
static found found_of(const searches *s, uint32_t i)
{
    if (isnan(s->distance[i]))
        return (found){{0.0, HUGE_VAL}, 0};
    if (s->triangle[i] < 0)
        return (found){{(double)s->in[MESH_MAX_DISTANCE][i], HUGE_VAL}, 1};
    return (found){caromi_distance_bounds(s->distance[i]), 0};
}

/* For a triangle within `limit`. */
static void search(caromi_tile *tile, block b, const known *k, double limit)
{
    searches *s = &tile->searches[b.size];
    const uint32_t i = s->count++;
    for (int axis = 0; axis < 3; axis++)
        s->in[MESH_CX + axis][i] = (float)k->center[axis];
    s->in[MESH_RADIUS][i] = 0;
    s->in[MESH_MAX_DISTANCE][i] = caromi_float_above(limit);
    s->blocks[i] = b;
    s->knowns[i] = *k;
    if (s->count == RUN)
        run_searches(tile, b.size);
}

/* ---- blocks of many nodes ---------------------------------------------------------------------------------------- */

/* What the distance of the centre must be for the whole block to be blocked or free. */
typedef struct verdicts {
    double blocked; /* at most; negative: it cannot be */
    double free;    /* more than */
} verdicts;

static verdicts verdicts_of(const caromi_cubes *cubes, double radius)
{
    const double slack = (cubes->free.high + radius) * 0x1p-50;
    return (verdicts){cubes->blocked.low - radius - slack, cubes->free.high + radius + slack};
}

/* Answers the block if bounds of the distance of its centre allow that. */
static int answer_block(const caromi_tile *tile, block b, verdicts v, double least, double most)
{
    if (most <= v.blocked)
        fill(tile, b, CAROM_CLEARANCE_BLOCKED);
    else if (least > v.free)
        fill(tile, b, CAROM_CLEARANCE_FREE);
    else
        return 0;
    return 1;
}

static void add_large(caromi_tile *tile, block b, const known *k, double radius, double most)
{
    const verdicts v = verdicts_of(tile->cubes, radius);
    if (answer_block(tile, b, v, k->least, most))
        return;
    const int may_be_blocked = k->least <= v.blocked, may_be_free = most > v.free;
    if (may_be_blocked || may_be_free || b.size == 1)
        search(tile, b, k, most < v.free ? most : v.free);
    else
        cut(tile, b, k);
}

static void take_large(caromi_tile *tile, block b, const known *k, found f)
{
    double center[3];
    const verdicts v = verdicts_of(tile->cubes, center_of(tile, b, center));
    if (f.is_beyond && f.bounds.low >= v.free)
        fill(tile, b, CAROM_CLEARANCE_FREE);
    else if (!answer_block(tile, b, v, k->least, f.bounds.high))
        cut(tile, b, k);
}

/* ---- single nodes ------------------------------------------------------------------------------------------------ */

static void settle(caromi_tile *tile, block b, const known *k)
{
    const caromi_cubes *c = tile->cubes;
    const float center[3] = {(float)k->center[0], (float)k->center[1], (float)k->center[2]};
    const caromi_mesh_view *mesh = &c->mesh->view;
    const int options = mesh->masks != NULL ? MESH_TRIANGLE_MASKS : 0;
    carom_clearance answer = CAROM_CLEARANCE_UNDECIDED;
    tile->settled++;
    if (!caromi_settle_cube(mesh, center, options, &c->cube, CAROMI_CUBE_FREE))
        answer = CAROM_CLEARANCE_FREE;
    else if (caromi_settle_cube(mesh, center, options, &c->cube, CAROMI_CUBE_BLOCKED))
        answer = CAROM_CLEARANCE_BLOCKED;
    fill(tile, b, answer);
}

/* Answers a node if bounds of its distance allow that. */
static int answer_node(const caromi_tile *tile, block b, double least, double most)
{
    const caromi_cubes *c = tile->cubes;
    if (most <= c->blocked.low)
        fill(tile, b, CAROM_CLEARANCE_BLOCKED);
    else if (least > c->free.high)
        fill(tile, b, CAROM_CLEARANCE_FREE);
    else if (most <= c->free.low && (least > c->blocked.high || c->blocked.high < 0.0))
        fill(tile, b, CAROM_CLEARANCE_UNDECIDED);
    else
        return 0;
    return 1;
}

static void add_node(caromi_tile *tile, block b, const known *k, double most)
{
    const caromi_cubes *c = tile->cubes;
    if (!answer_node(tile, b, k->least, most))
        search(tile, b, k, most <= c->free.low ? c->blocked.high : c->free.high);
}

/* A search within R - h alone means that the node is known to be within R + h. */
static void take_node(caromi_tile *tile, block b, const known *k, found f)
{
    const caromi_cubes *c = tile->cubes;
    if (f.is_beyond && f.bounds.low >= c->free.high)
        fill(tile, b, CAROM_CLEARANCE_FREE);
    else if (f.is_beyond && f.bounds.low >= c->blocked.high)
        fill(tile, b, CAROM_CLEARANCE_UNDECIDED);
    else if (!answer_node(tile, b, k->least, f.bounds.high))
        settle(tile, b, k);
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

static void add_block(caromi_tile *tile, block b, const known *parent)
{
    known k = {.triangle = parent->triangle};
    const double radius = center_of(tile, b, k.center);
    const double most = k.triangle >= 0 ? upper_of(tile->cubes->mesh, k.triangle, k.center) : HUGE_VAL;
    k.least = lower_from(parent, k.center);
    if (b.size == 0)
        add_node(tile, b, &k, most);
    else
        add_large(tile, b, &k, radius, most);
}

static void run_searches(caromi_tile *tile, int size)
{
    searches *s = &tile->searches[size];
    const carom_mesh *mesh = tile->cubes->mesh;
    if (s->count == 0)
        return;
    caromi_mesh_queries q = {.triangle = s->triangle,
                             .t = s->distance,
                             .depth = s->depth,
                             .count = s->count,
                             .options = mesh->masks != NULL ? MESH_TRIANGLE_MASKS : 0};
    for (int c = 0; c < CAROMI_CLOSEST_IN; c++)
        q.in[c] = s->in[c];
    mesh->context->isa->mesh[CAROMI_MESH_CLOSEST][1](&mesh->view, &q);
    for (uint32_t i = 0; i < s->count; i++) {
        known *k = &s->knowns[i];
        const found f = found_of(s, i);
        k->least = f.bounds.low > k->least ? f.bounds.low : k->least;
        k->triangle = s->triangle[i] >= 0 ? s->triangle[i] : k->triangle;
        if (size == 0)
            take_node(tile, s->blocks[i], k, f);
        else
            take_large(tile, s->blocks[i], k, f);
    }
    s->count = 0;
}

void caromi_tile_begin(caromi_tile *threads, uint32_t thread)
{
    threads[thread].settled = 0;
    for (int size = 0; size < SIZES; size++)
        threads[thread].searches[size].count = 0;
}

uint64_t caromi_tile_settled(const caromi_tile *threads, uint32_t thread)
{
    return threads[thread].settled;
}

void caromi_tile_answer(caromi_tile *threads, uint32_t thread, const caromi_cubes *cubes, const uint64_t first[3],
                        const uint64_t end[3])
{
    caromi_tile *tile = &threads[thread];
    const uint64_t *dims = cubes->lattice.dims;
    const known nothing = {.triangle = -1};
    block all = {.size = 0};
    tile->cubes = cubes;
    tile->out = cubes->out + ((first[2] * dims[1] + first[1]) * dims[0] + first[0] - cubes->begin);
    for (int k = 0; k < 3; k++) {
        tile->size[k] = (int)(end[k] - first[k]);
        for (int i = 0; i < tile->size[k]; i++)
            tile->node[k][i] = carom_lattice_coordinate(&cubes->lattice, k, first[k] + (uint64_t)i);
        while (1 << all.size < tile->size[k])
            all.size++;
    }
    add_block(tile, all, &nothing);
    for (int size = SIZES - 1; size >= 0; size--)
        run_searches(tile, size);
}
