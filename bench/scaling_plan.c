/* SPDX-License-Identifier: MIT */
/* How long a series will take: a guess that is good to a factor of two. */
#include <math.h>

#include "scaling.h"

/* Seconds of the planned rounds of one side, its calibration among them; a batch beyond the limit ends the series. */
static double point_seconds(const scaling *s, double batch)
{
    const double limit = s->settings->quick ? 0.5 : 4.0, sample = s->settings->quick ? 0.002 : 0.01;
    const int rounds = s->settings->quick ? 3 : 5;

    return batch > limit ? 0.0 : (rounds + 2) * fmax(batch, sample);
}

static double batch_seconds(const scaling *s)
{
    enum { SCENE_COST = 10 }; /* nanoseconds: to make the pairs and to fill the memory of the answers */
    const int points = s->settings->quick ? 7 : 9;
    double seconds = 0.0;

    for (int k = 0; k < points; k++)
        seconds += 2.0 * point_seconds(s, pow(10.0, k) * s->sweep) + pow(10.0, k) * SCENE_COST * 1e-9;
    return seconds;
}

/* A build and a first hit, in times of a sweep: see weight_of() in plan.c. */
static double mesh_seconds(const scaling *s, double triangles, double queries, int builds)
{
    return 38.0 * s->sweep * triangles * builds +
           2.0 * point_seconds(s, queries * 0.77 * pow(triangles, 0.25) * s->sweep);
}

static double triangles_seconds(const scaling *s)
{
    const double queries = s->settings->quick ? 4000.0 : 20000.0;
    const int points = s->settings->quick ? 4 : 6;
    double seconds = 0.0;

    for (int k = 0; k < points; k++)
        seconds += mesh_seconds(s, pow(10.0, 2 + k), queries, 2);
    return seconds;
}

double scaling_seconds(const scaling *s, series_kind kind)
{
    const double quick = s->settings->quick;

    switch (kind) {
    case SERIES_BATCH: return batch_seconds(s);
    case SERIES_TRIANGLES: return triangles_seconds(s);
    case SERIES_THREADS:
        return 2.0 * point_seconds(s, (quick > 0.0 ? 0x1p17 : 1e6) * s->sweep) +
               mesh_seconds(s, quick > 0.0 ? 1e4 : 1e5, quick > 0.0 ? 4000.0 : 50000.0, 2);
    default: return 6.0 * point_seconds(s, (quick > 0.0 ? 0x1p18 : 0x1p22) * s->sweep);
    }
}
