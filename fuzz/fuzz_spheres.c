/* SPDX-License-Identifier: MIT */
#include "pair.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_source s = fuzz_open(data, size);
    ref_spheres_case c;
    float row[QUERY_COLUMNS_MAX] = {0};
    spheres_case(&s, &c);
    memcpy(row, c.a0, sizeof c.a0);
    memcpy(row + 3, c.a1, sizeof c.a1);
    row[6] = c.radius_a;
    memcpy(row + 7, c.b0, sizeof c.b0);
    memcpy(row + 10, c.b1, sizeof c.b1);
    row[13] = c.radius_b;
    fuzz_pair(&query_spheres, row);
    return 0;
}
