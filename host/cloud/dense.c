/* SPDX-License-Identifier: MIT */
/* Refuses clouds with too many pairs before they are scanned: the solver computes a sample of the pairs that share a
 * cell, and the share of hits gives a lower bound of all hits. */
#include <math.h>
#include <string.h>

#include "narrow_phase.h"

enum { SAMPLE = 1024, SIGMAS = 6 };

/* The scan's callback: counts the hits of the sample. */
static void count_hits(void *user, uint32_t thread, const caromi_cloud_pair *pairs, uint32_t count)
{
    uint32_t *hits = user;
    (void)thread, (void)pairs;
    *hits += count;
}

/* Adds a random pair of a cell's spheres, if their masks allow a pair. */
static void add_pair(const caromi_cloud_cells *cells, uint32_t begin, uint32_t count, uint64_t random,
                     caromi_cloud_pairs *to)
{
    const uint32_t one = (uint32_t)(random >> 32) % count, step = 1 + (uint32_t)random % (count - 1);
    const uint32_t a = begin + one, b = begin + (one + step) % count;
    if (cells->mask != NULL && !(cells->mask[a] & cells->mask[b]))
        return;
    to->a[to->count] = a;
    to->b[to->count++] = b;
}

/* Draws SAMPLE pairs, evenly spaced among all pairs that share a cell. */
static void sample_pairs(const caromi_cloud_cells *cells, caromi_cloud_pairs *to)
{
    const double apart = (double)cells->doubled / SAMPLE;
    double before = 0;
    uint64_t k = 0, random = 1;
    for (uint32_t r = 0; r < cells->view.row_count; r++) {
        const uint32_t *starts = cells->starts + cells->rows[r].cells;
        for (int32_t i = 0; i < cells->rows[r].count; i++) {
            const uint32_t count = starts[i + 1] - starts[i];
            before += 0.5 * count * (count - 1.0);
            for (; k < SAMPLE && count > 1 && ((double)k + 0.5) * apart < before; k++) {
                random = random * UINT64_C(0x5851f42d4c957f2d) + UINT64_C(0x14057b7ef767814f);
                add_pair(cells, starts[i], count, random ^ random >> 29, to);
            }
        }
    }
}

carom_status caromi_refuse_dense(const caromi_cloud_scan *of, carom_error *err)
{
    caromi_cloud_scan scan = *of;
    caromi_narrow_phase narrow;
    uint32_t hits = 0;
    if (of->cells->doubled >> CAROMI_PAIRS_BITS == 0)
        return CAROM_OK;
    scan.emit = count_hits;
    scan.user = &hits;
    CHECK(caromi_narrow_phase_begin(&scan, &narrow, err));
    caromi_cloud_found *found = caromi_narrow_phase_found(&narrow, 0);
    sample_pairs(of->cells, &found->undecided);
    caromi_narrow_phase_flush(found);
    caromi_narrow_phase_end(&narrow, NULL);
    const double share = hits / (double)SAMPLE, all = (double)of->cells->doubled;
    const double least = share - SIGMAS * (sqrt(share * (1 - share) / SAMPLE) + 1.0 / SAMPLE);
    return least * all > ldexp(1, CAROMI_PAIRS_BITS) ? caromi_refuse_pairs(share * all, err) : CAROM_OK;
}
