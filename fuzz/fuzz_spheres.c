/* SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "reference/judge.h"

#include <string.h>

enum { A_STILL = 1, B_STILL = 2, ALIKE = 4, A_POINT = 8, B_POINT = 16, RESTING = 32, AIMED = 64, MEETING = 128 };

/* What makes ties: no motion, equal motions, radius 0, an aim at the other's centre, a start or an end in contact. */
static void spheres_case(fuzz_source *s, ref_spheres_case *c)
{
    unsigned flags = fuzz_byte(s), axis = fuzz_byte(s) % 3;
    memset(c, 0, sizeof *c);
    fuzz_vector(s, c->a0);
    fuzz_vector(s, c->b0);
    fuzz_vector(s, c->a1);
    fuzz_vector(s, c->b1);
    c->radius_a = flags & A_POINT ? 0.0f : fuzz_radius(s);
    c->radius_b = flags & B_POINT ? 0.0f : fuzz_radius(s);
    if (flags & B_STILL)
        memcpy(c->b1, c->b0, sizeof c->b1);
    if (flags & RESTING) {
        memcpy(c->a0, c->b0, sizeof c->a0);
        c->a0[axis] += c->radius_a + c->radius_b;
    }
    if (flags & AIMED)
        memcpy(c->a1, c->b1, sizeof c->a1);
    if (flags & MEETING) {
        memcpy(c->a1, c->b1, sizeof c->a1);
        c->a1[(axis + 1) % 3] += c->radius_a + c->radius_b;
    }
    if (flags & A_STILL)
        memcpy(c->a1, c->a0, sizeof c->a1);
    for (int k = 0; k < 3 && flags & ALIKE; k++)
        c->a1[k] = c->a0[k] + (c->b1[k] - c->b0[k]);
}

static _Noreturn void fail_spheres(const char *what, const char *who, const ref_spheres_case *c)
{
    float n[14];
    memcpy(n, c->a0, sizeof c->a0);
    memcpy(n + 3, c->a1, sizeof c->a1);
    n[6] = c->radius_a;
    memcpy(n + 7, c->b0, sizeof c->b0);
    memcpy(n + 10, c->b1, sizeof c->b1);
    n[13] = c->radius_b;
    fuzz_fail(what, who, n, 14); /* the columns of `carom spheres --pairs` */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_source s = fuzz_open(data, size);
    ref_spheres_case c;
    ref_spheres_answer truth;
    spheres_case(&s, &c);
    ref_spheres(&c, &truth);
    const carom_sphere_pairs_desc desc = {.size = sizeof desc,
                                          .count = 1,
                                          .accuracy = CAROM_ACCURACY_EXACT,
                                          .a0 = {c.a0, c.a0 + 1, c.a0 + 2, 12},
                                          .a1 = {c.a1, c.a1 + 1, c.a1 + 2, 12},
                                          .radius_a = {&c.radius_a, 4},
                                          .b0 = {c.b0, c.b0 + 1, c.b0 + 2, 12},
                                          .b1 = {c.b1, c.b1 + 1, c.b1 + 2, 12},
                                          .radius_b = {&c.radius_b, 4}};
    for (int b = 0; b < FUZZ_BACKENDS; b++) {
        uint8_t state;
        float u_first, u_last;
        const carom_sphere_result out = {&state, &u_first, &u_last};
        carom_error err = {0};
        carom_stats stats = {.size = sizeof stats};
        fuzz_check_call(carom_sphere_pairs(fuzz_context(b), &desc, &out, &stats, &err), &err, &stats);
        const char *what = ref_judge_spheres(&truth, state, u_first, u_last);
        if (what) /* equal to the reference bit by bit is equal to each other */
            fail_spheres(what, fuzz_backend_name(b), &c);
    }
    return 0;
}
