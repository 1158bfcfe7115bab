/* SPDX-License-Identifier: MIT */
/* What those who find pairs of a cloud share, so that they differ in how they find them alone: how far a sphere
 * reaches, whether two touch, and where a pair is put. In C and C++. */
#ifndef CAROM_BENCH_PLAIN_PAIRS_H
#define CAROM_BENCH_PLAIN_PAIRS_H

#include <math.h>
#include <string.h>

#include "peers.h"

/* Along axis k: half the way through the window; and of the cube around that place which holds the sphere all the time
 * half the edge, a ten-thousandth larger, because the places are rounded. */
static inline float pairs_middle(const peer_task *t, int k, size_t i)
{
    return t->pairs->is_moving ? t->in[k][i] + 0.5f * t->window * t->in[3 + k][i] : t->in[k][i];
}

static inline float pairs_reach(const peer_task *t, size_t i)
{
    float way = 0.0f;

    for (int k = 3; t->pairs->is_moving && k < 6; k++)
        way = fmaxf(way, fabsf(t->in[k][i]));
    return (t->in[6][i] + 0.5f * t->window * way) * 1.0001f;
}

/* The same of a ball around it. */
static inline float pairs_reach_of_ball(const peer_task *t, size_t i)
{
    const float *const *in = t->in;
    float way = 0.0f;

    if (t->pairs->is_moving)
        way = sqrtf(in[3][i] * in[3][i] + in[4][i] * in[4][i] + in[5][i] * in[5][i]);
    return (in[6][i] + 0.5f * t->window * way) * 1.0001f;
}

/* At rest in binary32, rounded as carom's fast mode does. */
static inline int pairs_overlap(const float *const *in, size_t a, size_t b)
{
    const float x = in[0][b] - in[0][a], y = in[1][b] - in[1][a], z = in[2][b] - in[2][a], r = in[6][a] + in[6][b];

    return x * x + y * y + z * z <= r * r;
}

/* Whether binary32 is sure, 10^-5 being room for many of its roundings, that they never touch: moving apart, or past
 * each other. Most pairs are left out so, at the price that a user would pay. */
static inline int pairs_are_sure_to_miss(const float *const *in, size_t a, size_t b)
{
    const float room = 1e-5f, r = in[6][a] + in[6][b];
    float dd = 0.0f, dv = 0.0f, vv = 0.0f, sum = 0.0f;

    for (int k = 0; k < 3; k++) {
        const float d = in[k][b] - in[k][a], v = in[3 + k][b] - in[3 + k][a];
        dd += d * d;
        vv += v * v;
        dv += d * v;
        sum += fabsf(d * v);
    }
    const float apart = dd - r * r, scale = room * (dd + r * r);
    return apart > scale && (dv > room * sum || dv * dv - vv * apart < -vv * scale);
}

/* In binary64, so that pairs are those of exact mode but for one in 10^9 that graze. */
static inline int pairs_meet(const peer_task *task, size_t a, size_t b, float *t)
{
    const float *const *in = task->in;
    const double r = (double)in[6][a] + (double)in[6][b];
    double dd = 0.0, dv = 0.0, vv = 0.0;

    if (pairs_are_sure_to_miss(in, a, b))
        return 0;
    for (int k = 0; k < 3; k++) {
        const double d = (double)in[k][b] - (double)in[k][a], v = (double)in[3 + k][b] - (double)in[3 + k][a];
        dd += d * d;
        dv += d * v;
        vv += v * v;
    }
    *t = 0.0f;
    if (dd <= r * r)
        return 1;
    const double left = dv * dv - vv * (dd - r * r);
    if (dv >= 0.0 || left < 0.0)
        return 0;
    const double first = (dd - r * r) / (sqrt(left) - dv);
    *t = (float)first;
    return first <= (double)task->window;
}

static inline void pairs_offer(peer_pairs *out, size_t i, size_t other, float t)
{
    if (t < out->t[i] || (!(t > out->t[i]) && (out->other[i] < 0 || (int32_t)other < out->other[i]))) {
        out->t[i] = t;
        out->other[i] = (int32_t)other;
    }
}

static inline void pairs_keep(peer_pairs *out, size_t a, size_t b, float t)
{
    if (out->keep == KEEP_COUNTS) {
        out->partners[a]++;
        out->partners[b]++;
    } else if (out->keep == KEEP_FIRST) {
        pairs_offer(out, a, b, t);
        pairs_offer(out, b, a, t);
    } else if (out->found < out->capacity) {
        out->a[out->found] = (uint32_t)a;
        out->b[out->found] = (uint32_t)b;
        if (out->is_moving)
            out->t[out->found] = t;
    }
    out->found++;
}

/* Spheres i and j are near each other: do they touch? Ask once for each pair. */
static inline void pairs_ask(const peer_task *task, size_t i, size_t j)
{
    const size_t a = i < j ? i : j, b = i < j ? j : i;
    float t = 0.0f;

    if (task->pairs->is_moving ? pairs_meet(task, a, b, &t) : pairs_overlap(task->in, a, b))
        pairs_keep(task->pairs, a, b, t);
}

static inline void pairs_begin(const peer_task *task)
{
    peer_pairs *out = task->pairs;

    out->found = 0;
    if (out->keep == KEEP_COUNTS)
        memset(out->partners, 0, task->count * sizeof *out->partners);
    for (size_t i = 0; out->keep == KEEP_FIRST && i < task->count; i++) {
        out->other[i] = -1;
        out->t[i] = HUGE_VALF;
    }
}

#endif
