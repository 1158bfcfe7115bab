/* SPDX-License-Identifier: MIT */
/* Refuses clouds with too many pairs before they are scanned: the solver computes a sample of the pairs that share a
 * cell, and the share of hits gives a lower bound of all hits. */
#include <math.h>
#include <string.h>

#include "narrow_phase.h"

enum {
    SAMPLE = 1024, /* pairs */
    SIGMAS = 6     /* standard deviations by which the share of hits may be overestimated */
};

/* The scan's callback: counts the hits of the sample. */
static void count_hits(void *user, uint32_t thread, const caromi_cloud_pair *pairs, uint32_t count)
{
    uint32_t *hits = user;
    (void)thread, (void)pairs;
    *hits += count;
}

/* Adds a random pair of a cell's spheres, if their masks and groups allow a pair. */
static void add_pair(const caromi_cloud_cells *cells, uint32_t begin, uint32_t count, uint64_t random,
                     caromi_cloud_pairs *to)
{
    const uint32_t one = (uint32_t)(random >> 32) % count, step = 1 + (uint32_t)random % (count - 1);
    const uint32_t a = begin + one, b = begin + (one + step) % count;
    if (!caromi_cloud_masks_meet(&cells->view, a, b))
        return;
    to->a[to->count] = a;
    to->b[to->count++] = b;
}

/* Draws SAMPLE pairs, evenly spaced among all pairs that share a cell. */
static void sample_pairs(const caromi_cloud_cells *cells, caromi_cloud_pairs *to)
{
    const double pairs_per_sample = (double)cells->doubled / SAMPLE;
    double pairs_before = 0;
    uint64_t samples = 0, random = 1;
    for (uint32_t row = 0; row < cells->view.row_count; row++) {
        const uint32_t *starts = cells->starts + cells->rows[row].cells;
        for (int32_t cell = 0; cell < cells->rows[row].count; cell++) {
            const uint32_t count = starts[cell + 1] - starts[cell];
            pairs_before += 0.5 * count * (count - 1.0);
            for (; samples < SAMPLE && count > 1 && ((double)samples + 0.5) * pairs_per_sample < pairs_before;
                 samples++) {
                random = random * UINT64_C(0x5851f42d4c957f2d) + UINT64_C(0x14057b7ef767814f);
                add_pair(cells, starts[cell], count, random ^ random >> 29, to);
            }
        }
    }
}

/* Solves a sample of the pairs that share a cell; refuses the cloud if even a low estimate of its hits is too large.
 * Pairs of two clouds share no cell: too many are refused when they have been found. */
carom_status caromi_refuse_dense(const caromi_cloud_scan *of, carom_error *err)
{
    caromi_cloud_scan scan = *of;
    caromi_narrow_phase narrow;
    uint32_t hits = 0;
    if (of->cloud->is_split || of->cells->doubled >> CAROMI_PAIRS_BITS == 0)
        return CAROM_OK;
    scan.emit = count_hits;
    scan.user = &hits;
    CHECK(caromi_narrow_phase_begin(&scan, &narrow, err));
    caromi_cloud_found *found = caromi_narrow_phase_found(&narrow, 0 /* thread */);
    sample_pairs(of->cells, &found->undecided);
    caromi_narrow_phase_flush(found);
    caromi_narrow_phase_end(&narrow, NULL);
    const double hit_share = hits / (double)SAMPLE, all_pairs = (double)of->cells->doubled;
    const double least_share = hit_share - SIGMAS * (sqrt(hit_share * (1 - hit_share) / SAMPLE) + 1.0 / SAMPLE);
    return least_share * all_pairs > ldexp(1, CAROMI_PAIRS_BITS) ? caromi_refuse_pairs(hit_share * all_pairs, err)
                                                                 : CAROM_OK;
}
