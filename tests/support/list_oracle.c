/* SPDX-License-Identifier: MIT */
#include "list_oracle.h"

void list_judge_hits(const scene *s, const swept_spheres *b, size_t i, const hit_list *l, const uint8_t *any,
                     const char *name)
{
    ref_mesh_list truth = oracle_all(s, b, i);
    const size_t from = (size_t)list_offset(l, i), count = (size_t)list_offset(l, i + 1) - from;
    for (size_t k = 0; k < count && k < truth.count; k++) {
        const char *what = oracle_judge_at(s, b, i, &truth.hits[k], &l->hits, from + k);
        if (what == NULL)
            continue;
        hits_print_at(b, i, &l->hits, from + k, "answer");
        print_error("  reference: triangle=%d state=%d feature=%d t=%a\n", truth.hits[k].triangle, truth.hits[k].state,
                    truth.hits[k].feature, (double)truth.hits[k].t);
        fail_msg("%s, sphere %zu, hit %zu of %zu: %s", name, i, k, truth.count, what);
    }
    if (count != truth.count)
        fail_msg("%s, sphere %zu: %zu hits, not %zu", name, i, count, truth.count);
    if (any[i] != (truth.is_valid ? truth.count > 0 : CAROM_OVERLAP_INVALID))
        fail_msg("%s, sphere %zu: any is %d of %zu hits", name, i, any[i], truth.count);
    free(truth.hits);
}

void list_judge_overlaps(const scene *s, const swept_spheres *b, size_t i, const hit_list *l, const uint8_t *any,
                         const char *name)
{
    const ref_mesh mesh = oracle_mesh(s);
    uint8_t *truth = test_alloc(s->triangle_count, 1);
    ref_sweep_case c;
    swept_spheres_case(b, i, s, 0, &c);
    const int64_t count = ref_mesh_overlaps(&mesh, &c, oracle_options(b, i).mask, truth);
    uint64_t found = 0;
    for (size_t k = (size_t)list_offset(l, i); k < list_offset(l, i + 1); k++, found++)
        if (!truth[hit_triangle(&l->hits, k)])
            fail_msg("%s, sphere %zu does not overlap triangle %d", name, i, hit_triangle(&l->hits, k));
    if (found != (uint64_t)(count < 0 ? 0 : count))
        fail_msg("%s, sphere %zu: %llu overlaps, not %lld", name, i, (unsigned long long)found, (long long)count);
    if (any[i] != (count < 0 ? CAROM_OVERLAP_INVALID : count > 0))
        fail_msg("%s, sphere %zu: any is %d of %lld overlaps", name, i, any[i], (long long)count);
    free(truth);
}
