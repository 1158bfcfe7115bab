/* SPDX-License-Identifier: MIT */
/* The plain loops that a user would write first: a pair at a time, out as early as can be. They stand among the peers,
 * but need no library. */
#include "baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "plain_sweep.h"

static void *open_copy(const peer_task *task)
{
    peer_task *copy = malloc(sizeof *copy);

    if (copy == NULL)
        bench_die("no memory for a baseline");
    *copy = *task;
    return copy;
}

static plain_v3 at(const float *const *in, int column, size_t i)
{
    return (plain_v3){in[column][i], in[column + 1][i], in[column + 2][i]};
}

static void run_sweep(void *state, size_t count)
{
    const peer_task task = *(const peer_task *)state;
    const float *const *in = task.in;

    for (size_t i = 0; i < count; i++) {
        float time = task.window;
        const int hit =
            plain_sweep(at(in, 0, i), in[3][i], at(in, 4, i), at(in, 7, i), at(in, 10, i), at(in, 13, i), &time);
        task.time[i] = hit ? time : HUGE_VALF;
    }
}

/* C. Ericson, Real-Time Collision Detection (2005), section 5.1.5: the closest point by its Voronoi region. */
static plain_v3 closest(plain_v3 p, plain_v3 a, plain_v3 b, plain_v3 c)
{
    const plain_v3 ab = plain_sub(b, a), ac = plain_sub(c, a), ap = plain_sub(p, a);
    const float d1 = plain_dot(ab, ap), d2 = plain_dot(ac, ap);
    if (d1 <= 0.0f && d2 <= 0.0f)
        return a;
    const plain_v3 bp = plain_sub(p, b);
    const float d3 = plain_dot(ab, bp), d4 = plain_dot(ac, bp);
    if (d3 >= 0.0f && d4 <= d3)
        return b;
    const float vc = d1 * d4 - d3 * d2;
    if (vc <= 0.0f && d1 >= 0.0f && d3 <= 0.0f)
        return plain_sub(a, plain_mul(ab, -d1 / (d1 - d3)));
    const plain_v3 cp = plain_sub(p, c);
    const float d5 = plain_dot(ab, cp), d6 = plain_dot(ac, cp);
    if (d6 >= 0.0f && d5 <= d6)
        return c;
    const float vb = d5 * d2 - d1 * d6;
    if (vb <= 0.0f && d2 >= 0.0f && d6 <= 0.0f)
        return plain_sub(a, plain_mul(ac, -d2 / (d2 - d6)));
    const float va = d3 * d6 - d5 * d4;
    if (va <= 0.0f && d4 - d3 >= 0.0f && d5 - d6 >= 0.0f)
        return plain_sub(b, plain_mul(plain_sub(c, b), -(d4 - d3) / ((d4 - d3) + (d5 - d6))));
    const float scale = 1.0f / (va + vb + vc);
    return plain_sub(plain_sub(a, plain_mul(ab, -vb * scale)), plain_mul(ac, -vc * scale));
}

static void run_overlap(void *state, size_t count)
{
    const peer_task task = *(const peer_task *)state;
    const float *const *in = task.in;

    for (size_t i = 0; i < count; i++) {
        const plain_v3 p = at(in, 0, i), away = plain_sub(closest(p, at(in, 4, i), at(in, 7, i), at(in, 10, i)), p);
        task.overlap[i] = plain_dot(away, away) <= in[3][i] * in[3][i];
    }
}

const peer *baseline_peer(size_t index)
{
    static const peer all[] = {
        {NULL, "early-out-c", PEER_SWEEP, open_copy, run_sweep, free},
        {NULL, "closest-point-c", PEER_OVERLAP, open_copy, run_overlap, free},
    };

    return index < sizeof all / sizeof all[0] ? &all[index] : NULL;
}
