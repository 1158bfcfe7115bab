/* SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "reference/judge.h"

static carom_points points_of(const float p[3])
{
    return (carom_points){p, p + 1, p + 2, 12};
}

static int or_invalid(uint8_t value)
{
    return value == CAROM_OVERLAP_INVALID ? -1 : value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_source s = fuzz_open(data, size);
    ref_sweep_case c;
    ref_overlap_answer truth;
    fuzz_sweep_case(&s, &c);
    ref_overlap(&c, &truth);
    const float radius = (float)c.radius;
    const carom_overlap_pairs_desc desc = {.size = sizeof desc,
                                           .count = 1,
                                           .accuracy = CAROM_ACCURACY_EXACT,
                                           .center = points_of(c.center),
                                           .radius = {&radius, 4},
                                           .p0 = points_of(c.p[0]),
                                           .p1 = points_of(c.p[1]),
                                           .p2 = points_of(c.p[2])};
    for (int b = 0; b < FUZZ_BACKENDS; b++) {
        uint8_t overlap, axes;
        const carom_overlap_result out = {&overlap, &axes};
        carom_error err = {0};
        carom_stats stats = {.size = sizeof stats};
        fuzz_check_call(carom_overlap_pairs(fuzz_context(b), &desc, &out, &stats, &err), &err, &stats);
        const char *what = ref_judge_overlap(&truth, or_invalid(overlap), or_invalid(axes));
        if (what) /* the answer is all decisions: equal to the reference is equal to each other */
            fuzz_fail_sweep(what, fuzz_backend_name(b), &c);
    }
    return 0;
}
