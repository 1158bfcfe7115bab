/* SPDX-License-Identifier: MIT */
/* Pairs of a column and a triangle that may decide it, in two queues: pairs that wait for tight bounds in binary32;
 * then pairs that these leave undecided, which wait for bounds in binary64. */
#ifndef CAROM_CPU_LATTICE_DROP_PAIRS_H
#define CAROM_CPU_LATTICE_DROP_PAIRS_H
#include "drop_wide.h"

/* Rows of a queue: nine coordinates of corners; the triangle's number, bits of an int; the column's x and y; the owner,
 * bits of an int. In the binary32 queue
 * the owner is the traversal's number * CAROMI_DROP_BLOCK + the column's number in its block. In the binary64 queue it
 * is the column's slot, and two rows hold the weights of a drop_touch_point. */
enum {
    DROP_CORNERS, /* x y z of P0, P1 and P2 */
    DROP_TRIANGLE = DROP_CORNERS + 9,
    DROP_X,
    DROP_Y,
    DROP_OWNER,
    DROP_B,
    DROP_C,
    DROP_ROWS
};
/* Fewer than LANES pairs stay in a queue, a leaf may be added, and lattice_append() may store LANES further. */
enum { DROP_CAPACITY = 2 * LANES + MESH_WIDTH };

/* Pairs [first, end). */
typedef struct drop_queue {
    LANG_ALIGNED real row[DROP_ROWS][DROP_CAPACITY];
    int first, end;
} drop_queue;

/* The two queues, named by the precision of the bounds that their pairs wait for. */
typedef struct drop_pairs {
    drop_queue binary32, binary64;
    const caromi_drop_search *search;
} drop_pairs;

/* Empties both queues. */
FN void drop_pairs_begin(drop_pairs *pairs, const caromi_drop_search *search)
{
    memset(pairs, 0, sizeof *pairs); /* padding lanes are computed, too */
    pairs->search = search;
}

/* Appends the triangles in the bitmask, as pairs with one column. */
FN void drop_queue_add(drop_queue *queue, const mesh_corners *corners, vi triangle, real x, real y, int owner,
                       u32 lanes)
{
    const vf rows[] = {corners->p0.x, corners->p0.y, corners->p0.z, corners->p1.x, corners->p1.y,
                       corners->p1.z, corners->p2.x, corners->p2.y, corners->p2.z, v_from_bits(triangle)};
    if (lanes == 0)
        return;
    lattice_append(&queue->row[0][queue->end], DROP_CAPACITY, rows, DROP_X, lanes);
    v_store(&queue->row[DROP_X][queue->end], v_f(x));
    v_store(&queue->row[DROP_Y][queue->end], v_f(y));
    v_store(&queue->row[DROP_OWNER][queue->end], v_from_bits(v_i(owner)));
    queue->end += bitmask_count(lanes);
}

/* Number of waiting pairs. */
FN int drop_queue_count(const drop_queue *queue)
{
    return queue->end - queue->first;
}

/* Number of pairs in a packet: the oldest LANES, or all. */
FN int drop_packet_count(const drop_queue *queue)
{
    return drop_queue_count(queue) < LANES ? drop_queue_count(queue) : LANES;
}

/* Removes the oldest packet. If fewer than LANES pairs remain, they move to the front. */
FN void drop_queue_pop(drop_queue *queue)
{
    queue->first += drop_packet_count(queue);
    if (drop_queue_count(queue) >= LANES)
        return;
    LANG_UNROLL
    for (int row = 0; row < DROP_ROWS; row++)
        v_store(queue->row[row], v_load(queue->row[row] + queue->first));
    queue->end -= queue->first;
    queue->first = 0;
}

/* A row of the oldest packet. */
FN vf drop_queue_row(const drop_queue *queue, int row)
{
    return v_load(queue->row[row] + queue->first);
}

/* Corner 0, 1 or 2 of the oldest packet's triangles. */
FN v3 drop_queue_corner(const drop_queue *queue, int corner)
{
    const int row = DROP_CORNERS + 3 * corner;
    return v3_of(drop_queue_row(queue, row), drop_queue_row(queue, row + 1), drop_queue_row(queue, row + 2));
}

/* ---- binary64 ---------------------------------------------------------------------------------------------------- */

FN wf drop_wide_row(const drop_queue *queue, int k, int first_lane)
{
    return w_load(queue->row[k] + queue->first + first_lane);
}

/* Corner 0, 1 or 2 of WIDE pairs. */
FN w3 drop_wide_corner(const drop_queue *queue, int k, int first_lane)
{
    return w3_of(drop_wide_row(queue, 3 * k, first_lane), drop_wide_row(queue, 3 * k + 1, first_lane),
                 drop_wide_row(queue, 3 * k + 2, first_lane));
}

/* Bounds the pair in position `at` by the caller's function. */
FN void drop_bound_one(const drop_pairs *pairs, u32 slot, int at)
{
    real corner[DROP_TRIANGLE];
    int triangle;
    for (int k = 0; k < DROP_TRIANGLE; k++)
        corner[k] = pairs->binary64.row[k][at];
    memcpy(&triangle, &pairs->binary64.row[DROP_TRIANGLE][at], sizeof triangle);
    pairs->search->bound(pairs->search->user, slot, triangle, corner);
}

/* Bounds WIDE pairs of the binary64 queue; pairs that stay uncertain are bounded one by one. */
FN void drop_bound_wide(const drop_pairs *pairs, int first_lane)
{
    const drop_queue *queue = &pairs->binary64;
    const caromi_drop_search *search = pairs->search;
    double low[WIDE], high[WIDE];
    real certain[WIDE];
    int owner[LANES], triangle[LANES];
    drop_wide_point pair;
    pair.p0 = drop_wide_corner(queue, 0, first_lane);
    pair.p1 = drop_wide_corner(queue, 1, first_lane);
    pair.p2 = drop_wide_corner(queue, 2, first_lane);
    pair.x = drop_wide_row(queue, DROP_X, first_lane);
    pair.y = drop_wide_row(queue, DROP_Y, first_lane);
    pair.b = drop_wide_row(queue, DROP_B, first_lane);
    pair.c = drop_wide_row(queue, DROP_C, first_lane);
    pair.r = w_real(search->radius);
    pair.r2 = pair.r * pair.r;
    const drop_wide_bounds bounds = drop_wide_bounds_of(&pair);
    /* Raises the columns' bounds. */
    memcpy(low, &bounds.low, sizeof low);
    memcpy(high, &bounds.high, sizeof high);
    w_store(certain, w_sel(bounds.certain, w_f(W(1.0)), w_f(W(0.0))));
    vi_store(owner, v_bits(drop_queue_row(queue, DROP_OWNER)));
    vi_store(triangle, v_bits(drop_queue_row(queue, DROP_TRIANGLE)));
    for (int lane = 0; lane < WIDE && first_lane + lane < drop_queue_count(queue); lane++) {
        const u32 slot = (u32)owner[first_lane + lane];
        if (certain[lane] != 0) {
            search->low[slot] = low[lane] > search->low[slot] ? low[lane] : search->low[slot];
            search->high[slot] = high[lane] > search->high[slot] ? high[lane] : search->high[slot];
            if (search->found != NULL)
                caromi_drop_find(&search->found[slot], triangle[first_lane + lane], low[lane], high[lane]);
        } else {
            drop_bound_one(pairs, slot, queue->first + first_lane + lane);
        }
    }
}

/* Bounds a packet of the binary64 queue. */
FN_RARE void drop_bound_binary64(drop_pairs *pairs)
{
    for (int first_lane = 0; first_lane < drop_packet_count(&pairs->binary64); first_lane += WIDE)
        drop_bound_wide(pairs, first_lane);
    drop_queue_pop(&pairs->binary64);
}

/* Calls `bound` for the triangles of the lanes, one by one. */
FN_RARE void drop_bound_lanes(const caromi_drop_search *search, const mesh_corners *corners, vi triangles, u32 slot,
                              u32 lanes)
{
    LANG_ALIGNED real row[DROP_TRIANGLE][LANES];
    int triangle[LANES];
    const vf rows[] = {corners->p0.x, corners->p0.y, corners->p0.z, corners->p1.x, corners->p1.y,
                       corners->p1.z, corners->p2.x, corners->p2.y, corners->p2.z};
    for (int k = 0; k < DROP_TRIANGLE; k++)
        v_store(row[k], rows[k]);
    vi_store(triangle, triangles);
    for (; lanes != 0; lanes &= lanes - 1) {
        real corner[DROP_TRIANGLE];
        for (int k = 0; k < DROP_TRIANGLE; k++)
            corner[k] = row[k][bitmask_first(lanes)];
        search->bound(search->user, slot, triangle[bitmask_first(lanes)], corner);
    }
}

/* ---- tight bounds ------------------------------------------------------------------------------------------------ */

/* A packet of the binary32 queue, padded with stale pairs. */
typedef struct drop_packet {
    drop_touch_point touch;
    drop_bounds bounds;
    vf triangle, x, y; /* triangle: bits of an int */
} drop_packet;

/* Tight bounds of the oldest packet. */
FN drop_packet drop_bound_binary32(const drop_pairs *pairs)
{
    const drop_queue *queue = &pairs->binary32;
    drop_packet packet;
    drop_frame frame = drop_frame_of(R(0.0), R(0.0), R(0.0), R(0.0), pairs->search->radius);
    mesh_corners corners;
    corners.p0 = drop_queue_corner(queue, 0);
    corners.p1 = drop_queue_corner(queue, 1);
    corners.p2 = drop_queue_corner(queue, 2);
    packet.triangle = drop_queue_row(queue, DROP_TRIANGLE);
    frame.x0 = frame.x1 = packet.x = drop_queue_row(queue, DROP_X);
    frame.y0 = frame.y1 = packet.y = drop_queue_row(queue, DROP_Y);
    packet.touch = drop_find_touch_point(frame, corners);
    packet.bounds = drop_touch_bounds(frame, &packet.touch);
    return packet;
}

/* Moves pairs of a packet to the binary64 queue. slot: the slots of their columns. */
FN void drop_queue_binary64(drop_pairs *pairs, const drop_packet *packet, const int slot[LANES], u32 lanes)
{
    drop_queue *queue = &pairs->binary64;
    const mesh_corners *corners = &packet->touch.p;
    real owner[LANES];
    memcpy(owner, slot, sizeof owner);
    const vf rows[] = {corners->p0.x, corners->p0.y, corners->p0.z, corners->p1.x,   corners->p1.y,
                       corners->p1.z, corners->p2.x, corners->p2.y, corners->p2.z,   packet->triangle,
                       packet->x,     packet->y,     v_load(owner), packet->touch.b, packet->touch.c};
    lattice_append(&queue->row[0][queue->end], DROP_CAPACITY, rows, DROP_ROWS, lanes);
    queue->end += bitmask_count(lanes);
    if (drop_queue_count(queue) >= LANES)
        drop_bound_binary64(pairs);
}
#endif
