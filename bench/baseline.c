/* SPDX-License-Identifier: MIT */
/* The plain loops that a user would write first: a pair at a time, out as early as can be. They stand among the peers,
 * but need no library. */
#include "common.h"
#include "baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "plain_closest.h"
#include "plain_grid.h"
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

static void run_overlap(void *state, size_t count)
{
    const peer_task task = *(const peer_task *)state;
    const float *const *in = task.in;

    for (size_t i = 0; i < count; i++) {
        const plain_v3 p = at(in, 0, i),
                       away = plain_sub(plain_closest(p, at(in, 4, i), at(in, 7, i), at(in, 10, i)), p);
        task.overlap[i] = plain_dot(away, away) <= in[3][i] * in[3][i];
    }
}

const peer *baseline_peer(size_t index)
{
    static const peer all[] = {
        {NULL, "early-out-c", PEER_SWEEP, open_copy, run_sweep, free},
        {NULL, "closest-point-c", PEER_OVERLAP, open_copy, run_overlap, free},
        {NULL, "grid-c", PEER_CLOUD, open_copy, plain_grid_run, free},
    };

    return index < sizeof all / sizeof all[0] ? &all[index] : NULL;
}
