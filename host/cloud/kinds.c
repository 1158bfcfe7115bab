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

/* The valid spheres of a sample, by their numbers there, and the kind of each. */
typedef struct sorted_sample {
    const caromi_cloud_sample *sample;
    uint32_t count, number[SAMPLE];
    uint8_t kind[SAMPLE];
} sorted_sample;

/* The kind of a class of reaches, `likely` tried first; added if it is new. Returns CAROMI_CLOUD_KINDS if there is no
 * room. */
static uint32_t kind_of(caromi_cloud_kinds *kinds, int class, uint32_t likely)
{
    if (likely < kinds->count && kinds->kind[likely].class == class)
        return likely;
    uint32_t number = 0;
    for (; number < kinds->count && kinds->kind[number].class != class; number++)
        ;
    if (number == kinds->count && number < CAROMI_CLOUD_KINDS)
        kinds->kind[kinds->count++] = (caromi_cloud_kind){.class = class};
    return number;
}

/* Counts the kinds of a sample. Returns 0 if there are more kinds than room. */
static int sort_sample(sorted_sample *sorted, caromi_cloud_kinds *kinds)
{
    uint32_t kind = 0;
    sorted->count = 0;
    for (uint32_t number = 0; number < sorted->sample->count; number++) {
        const float radius = sorted->sample->row[number][CLOUD_R];
        if (radius < 0)
            continue;
        kind = kind_of(kinds, (int)caromi_reach_class(radius), kind);
        if (kind == CAROMI_CLOUD_KINDS)
            return 0;
        kinds->kind[kind].count++;
        sorted->kind[sorted->count] = (uint8_t)kind;
        sorted->number[sorted->count++] = number;
    }
    return 1;
}

/* The bounds of a sample without its outliers, widened by the expected distance of the outermost samples from the ends.
 */
static void bound(float *coordinates, uint32_t count, double *low, double *high)
{
    const uint32_t trimmed = count / TRIMMED_OF;
    float lowest = coordinates[0], highest = coordinates[0];
    for (uint32_t i = 1; trimmed == 0 && i < count; i++) {
        lowest = coordinates[i] < lowest ? coordinates[i] : lowest;
        highest = coordinates[i] > highest ? coordinates[i] : highest;
    }
    if (trimmed > 0) {
        lowest = caromi_cloud_select(coordinates, count, trimmed);
        highest = caromi_cloud_select(coordinates, count, count - 1 - trimmed);
    }
    const double within = count - 1.0 - 2.0 * trimmed,
                 beyond = ((double)highest - (double)lowest) * (1.0 + trimmed) / within;
    *low = (double)lowest - (count > 1 ? beyond : 0);
    *high = (double)highest + (count > 1 ? beyond : 0);
}

/* Computes the bounds of all kinds along an axis. */
static void bound_kinds(const sorted_sample *sorted, int axis, caromi_cloud_kinds *kinds)
{
    float coordinates[SAMPLE];
    uint32_t begin[CAROMI_CLOUD_KINDS], end[CAROMI_CLOUD_KINDS], sum = 0;
    for (uint32_t number = 0; number < kinds->count; sum += kinds->kind[number++].count)
        begin[number] = end[number] = sum;
    for (uint32_t i = 0; i < sorted->count; i++)
        coordinates[end[sorted->kind[i]]++] = sorted->sample->row[sorted->number[i]][CLOUD_X + axis];
    for (uint32_t number = 0; number < kinds->count; number++) {
        caromi_cloud_kind *kind = &kinds->kind[number];
        kind->low[axis] = HUGE_VAL;
        kind->high[axis] = -(double)INFINITY;
        if (end[number] > begin[number])
            bound(coordinates + begin[number], end[number] - begin[number], &kind->low[axis], &kind->high[axis]);
    }
}

/* Whether a kind occupies a small part of the cloud's box. */
static int is_apart(const caromi_cloud_kind *kind, const double cloud_side[3])
{
    /* The upper end of the class of reaches. */
    const uint32_t reach_bits = ((uint32_t)kind->class + 1) << 21;
    double side[3];
    float largest_reach;
    memcpy(&largest_reach, &reach_bits, sizeof largest_reach);
    for (int axis = 0; axis < 3; axis++)
        side[axis] = kind->high[axis] - kind->low[axis];
    return kind->count >= CAROMI_CLOUD_KIND_LEAST &&
           CAROMI_CLOUD_APART * caromi_cloud_volume(side, 2 * (double)largest_reach) <=
               caromi_cloud_volume(cloud_side, 2 * (double)largest_reach);
}

/* Finds the kinds of spheres in a sample, and their bounds. */
void caromi_cloud_find_kinds(const caromi_cloud_sample *sample, const double side[3], caromi_cloud_kinds *kinds)
{
    sorted_sample sorted = {.sample = sample};
    uint32_t apart = 0;
    kinds->count = 0;
    if (sample->spheres >= COUNT_LEAST && sort_sample(&sorted, kinds) && kinds->count > 1) {
        for (int k = 0; k < 3; k++)
            bound_kinds(&sorted, k, kinds);
        for (uint32_t k = 0; k < kinds->count; k++)
            apart += is_apart(&kinds->kind[k], side);
    }
    kinds->count = apart > 0 ? kinds->count : 0;
}
