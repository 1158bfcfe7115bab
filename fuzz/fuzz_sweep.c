/* SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "reference/judge.h"

#include <string.h>

/* Everything in one call, then the first time alone, which has a kernel of its own. */
static ref_given_sweep ask(int backend, const ref_sweep_case *c, int moving)
{
    const float *p[5] = {c->center, c->velocity, c->p[0], c->p[1], c->p[2]}, radius = (float)c->radius;
    uint8_t state, features[2];
    float alone;
    ref_given_sweep a;
    carom_error err = {0};
    carom_stats stats = {.size = sizeof stats};
    carom_points points[5];
    for (int i = 0; i < 5; i++)
        points[i] = (carom_points){p[i], p[i] + 1, p[i] + 2, 12};
    carom_sweep_pairs_desc desc = {.size = sizeof desc,
                                   .count = 1,
                                   .accuracy = CAROM_ACCURACY_EXACT,
                                   .center = points[0],
                                   .velocity = points[1],
                                   .radius = {&radius, 4},
                                   .p0 = points[2],
                                   .p1 = points[3],
                                   .p2 = points[4]};
    if (moving)
        desc.triangle_velocity = (carom_points){c->w, c->w + 1, c->w + 2, 12};
    const carom_sweep_result out = {&state,
                                    &a.t_first,
                                    &a.t_last,
                                    {a.point_first, a.point_first + 1, a.point_first + 2, 12},
                                    {a.point_last, a.point_last + 1, a.point_last + 2, 12},
                                    &features[0],
                                    &features[1]};
    const carom_sweep_result first = {.t_first = &alone};
    fuzz_check_call(carom_sweep_pairs(fuzz_context(backend), &desc, &out, &stats, &err), &err, &stats);
    fuzz_check_call(carom_sweep_pairs(fuzz_context(backend), &desc, &first, &stats, &err), &err, &stats);
    if (memcmp(&alone, &a.t_first, sizeof alone))
        fuzz_fail_sweep("the first time alone is another", fuzz_backend_name(backend), c);
    a.state = state;
    a.feature_first = features[0];
    a.feature_last = features[1];
    return a;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_source s = fuzz_open(data, size);
    ref_sweep_case c;
    ref_sweep_answer truth;
    fuzz_sweep_case(&s, &c);
    ref_sweep(&c, &truth);
    /* A triangle at rest has kernels of its own. */
    for (int moving = c.w[0] != 0.0f || c.w[1] != 0.0f || c.w[2] != 0.0f; moving < 2; moving++) {
        ref_given_sweep a[FUZZ_BACKENDS];
        for (int b = 0; b < FUZZ_BACKENDS; b++) {
            a[b] = ask(b, &c, moving);
            const char *what = ref_judge_sweep(&c, &truth, &a[b]);
            if (what)
                fuzz_fail_sweep(what, fuzz_backend_name(b), &c);
        }
        if (memcmp(&a[0], &a[1], sizeof a[0]))
            fuzz_fail_sweep("two backends differ in a bit", fuzz_backend_name(1), &c);
    }
    return 0;
}
