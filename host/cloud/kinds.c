/* SPDX-License-Identifier: MIT */
/* Bounds of the spheres of about one size (a kind), from a sample: fine grains may lie in a heap below coarse ones.
 * They guide the choice of levels; answers do not depend on them. */
#include <math.h>
#include <string.h>

#include "cloud.h"

enum {
    SAMPLE = CAROMI_CLOUD_SAMPLE,
    COUNT_LEAST = 512, /* comparing fewer spheres is faster than sampling them */
    TRIMMED_OF = 128   /* one in so many spheres at each end is left out, so that outliers do not widen the bounds;
                          leaving out more would crowd the cells at the ends */
};

typedef struct sample {
    uint32_t count, index[SAMPLE];
    uint8_t kind[SAMPLE];
} sample;

/* The kind of a class of reaches, `likely` tried first; added if it is new. Returns CAROMI_CLOUD_KINDS if there is no
 * room. */
static uint32_t kind_of(caromi_cloud_kinds *kinds, int class, uint32_t likely)
{
    if (likely < kinds->count && kinds->kind[likely].class == class)
        return likely;
    uint32_t k = 0;
    for (; k < kinds->count && kinds->kind[k].class != class; k++)
        ;
    if (k == kinds->count && k < CAROMI_CLOUD_KINDS)
        kinds->kind[kinds->count++] = (caromi_cloud_kind){.class = class};
    return k;
}

/* Draws the sample and counts its kinds. Returns 0 if there are more kinds than room. */
static int draw_sample(const caromi_cloud *cloud, caromi_cloud_kinds *kinds, sample *s)
{
    const uint64_t samples = caromi_cloud_sample(cloud);
    uint32_t k = 0;
    s->count = 0;
    for (uint64_t i = 0; i < samples; i++) {
        const uint64_t index = caromi_cloud_sampled(cloud, samples, i);
        float radius;
        memcpy(&radius, caromi_element(&cloud->in[CLOUD_R], index), sizeof radius);
        if (!(radius >= 0 && radius < INFINITY))
            continue;
        k = kind_of(kinds, (int)caromi_reach_class(fabsf(radius)), k);
        if (k == CAROMI_CLOUD_KINDS)
            return 0;
        kinds->kind[k].count++;
        s->kind[s->count] = (uint8_t)k;
        s->index[s->count++] = (uint32_t)index;
    }
    return 1;
}

/* The bounds of a sample without its outliers, widened by the expected distance of the outermost samples from the ends.
 */
static void bound(float *x, uint32_t count, double *low, double *high)
{
    const uint32_t out = count / TRIMMED_OF;
    float least = x[0], most = x[0];
    for (uint32_t i = 1; out == 0 && i < count; i++) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    if (out > 0) {
        least = caromi_cloud_select(x, count, out);
        most = caromi_cloud_select(x, count, count - 1 - out);
    }
    const double within = count - 1.0 - 2.0 * out, beyond = ((double)most - (double)least) * (1.0 + out) / within;
    *low = (double)least - (count > 1 ? beyond : 0);
    *high = (double)most + (count > 1 ? beyond : 0);
}

/* Computes the bounds of all kinds along an axis. */
static void bound_kinds(const caromi_cloud *cloud, const sample *s, int axis, caromi_cloud_kinds *kinds)
{
    float x[SAMPLE];
    uint32_t begin[CAROMI_CLOUD_KINDS], end[CAROMI_CLOUD_KINDS], sum = 0;
    for (uint32_t k = 0; k < kinds->count; sum += kinds->kind[k++].count)
        begin[k] = end[k] = sum;
    for (uint32_t i = 0; i < s->count; i++) {
        float at;
        memcpy(&at, caromi_element(&cloud->in[CLOUD_X + axis], s->index[i]), sizeof at);
        if (isfinite(at))
            x[end[s->kind[i]]++] = at;
    }
    for (uint32_t k = 0; k < kinds->count; k++) {
        caromi_cloud_kind *kind = &kinds->kind[k];
        kind->low[axis] = HUGE_VAL;
        kind->high[axis] = -(double)INFINITY;
        if (end[k] > begin[k])
            bound(x + begin[k], end[k] - begin[k], &kind->low[axis], &kind->high[axis]);
    }
}

/* Whether a kind occupies a small part of the cloud's box. */
static int is_apart(const caromi_cloud_kind *kind, const double all[3])
{
    const uint32_t bits = ((uint32_t)kind->class + 1) << 21;
    double side[3];
    float reach;
    memcpy(&reach, &bits, sizeof reach);
    for (int k = 0; k < 3; k++)
        side[k] = kind->high[k] - kind->low[k];
    return kind->count >= CAROMI_CLOUD_KIND_LEAST &&
           CAROMI_CLOUD_APART * caromi_cloud_volume(side, 2 * (double)reach) <=
               caromi_cloud_volume(all, 2 * (double)reach);
}

void caromi_cloud_find_kinds(const caromi_cloud *cloud, const double side[3], caromi_cloud_kinds *kinds)
{
    sample s;
    uint32_t apart = 0;
    kinds->count = 0;
    if (cloud->count >= COUNT_LEAST && draw_sample(cloud, kinds, &s) && kinds->count > 1) {
        for (int k = 0; k < 3; k++)
            bound_kinds(cloud, &s, k, kinds);
        for (uint32_t k = 0; k < kinds->count; k++)
            apart += is_apart(&kinds->kind[k], side);
    }
    kinds->count = apart > 0 ? kinds->count : 0;
}
