/* SPDX-License-Identifier: MIT */
/* Two spheres on a decision, or next to it by a chosen power of two. As in families_edge.c, all numbers are exact. */
#include "generate.h"

#include <string.h>

/* Directions of whole length, and one at right angles to each. */
static const struct whole {
    double n[3], length, across[3];
} wholes[] = {
    {{0, 1, 0}, 1, {1, 0, 1}},
    {{0, 3, 4}, 5, {2, 4, -3}},
    {{1, 2, 2}, 3, {2, 1, -2}},
    {{2, 3, 6}, 7, {6, 2, -3}},
};

struct pair {
    double a[3], b[3], move_a[3], move_b[3], radius_a, radius_b;
};

static void finish(const struct pair *pair, double scale, ref_spheres_case *out)
{
    for (int i = 0; i < 3; i++) {
        out->a0[i] = ref_round(pair->a[i] * scale);
        out->a1[i] = ref_round((pair->a[i] + pair->move_a[i]) * scale);
        out->b0[i] = ref_round(pair->b[i] * scale);
        out->b1[i] = ref_round((pair->b[i] + pair->move_b[i]) * scale);
    }
    out->radius_a = ref_round(pair->radius_a * scale);
    out->radius_b = ref_round(pair->radius_b * scale);
    out->margin = 0.0;
}

/* A at n, B at the origin less a slip so small that it keeps its digits: |a - b| = (ra + rb) (1 + slip). B rests unless
 * its end is as small; A is the one that moves. */
static const struct whole *stand_off(ref_gen *g, struct pair *pair)
{
    const struct whole *at = &wholes[ref_gen_int(g, 0, 3)];
    double slip = ref_slip(g), s = ref_gen_int(g, 1, 16) / 8.0, share = ref_gen_int(g, 0, 8) / 8.0;

    memset(pair, 0, sizeof *pair);
    pair->radius_a = at->length * s * share;
    pair->radius_b = at->length * s * (1.0 - share);
    for (int i = 0; i < 3; i++) {
        pair->a[i] = at->n[i] * s;
        pair->b[i] = -(slip * s) * at->n[i];
    }
    return at;
}

static double scale_of(ref_gen *g)
{
    return ref_gen_chance(g, 2) ? 1.0 : ref_power_of_two(ref_gen_int(g, -30, 30));
}

static void swap_spheres(ref_gen *g, ref_spheres_case *c)
{
    ref_spheres_case old = *c;

    if (ref_gen_chance(g, 2))
        return;
    memcpy(c->a0, old.b0, sizeof old.a0);
    memcpy(c->a1, old.b1, sizeof old.a0);
    memcpy(c->b0, old.a0, sizeof old.a0);
    memcpy(c->b1, old.a1, sizeof old.a0);
    c->radius_a = old.radius_b;
    c->radius_b = old.radius_a;
}

void ref_spheres_graze(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;
    const struct whole *at = stand_off(g, &pair);
    double speed = ref_gen_int(g, -8, 8) / 8.0, when = ref_gen_int(g, -4, 8) / 4.0;

    ref_move(pair.move_a, pair.move_a, at->across, speed);
    ref_move(pair.a, pair.a, pair.move_a, -when);
    finish(&pair, scale_of(g), out);
    swap_spheres(g, out);
}

void ref_spheres_instant(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;
    const struct whole *at = stand_off(g, &pair);
    double speed = ref_gen_int(g, -8, 8) / 8.0, depth = ref_gen_int(g, 1, 8) / 8.0;

    ref_move(pair.move_a, pair.move_a, at->across, speed);
    ref_move(pair.move_a, pair.move_a, at->n, ref_gen_chance(g, 2) ? depth : -depth);
    finish(&pair, scale_of(g), out);
    swap_spheres(g, out);
}

/* At rest, or moved together: then B is no longer tiny, and only a slip of 2^-20 or none survives. */
void ref_spheres_still(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;

    (void)stand_off(g, &pair);
    if (ref_gen_chance(g, 3)) {
        for (int i = 0; i < 3; i++)
            pair.b[i] = (pair.b[i] + 0x1.8p32) - 0x1.8p32; /* to multiples of 2^-20 */
        ref_gen_lattice(g, pair.move_a, 8);
        memcpy(pair.move_b, pair.move_a, sizeof pair.move_b);
    }
    finish(&pair, scale_of(g), out);
    swap_spheres(g, out);
}

/* A crosses up to 1e7 and comes by where B is. */
void ref_spheres_far_1e7(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;
    const struct whole *at = stand_off(g, &pair);
    double far = ref_power_of_two(ref_gen_int(g, 8, 19)), share = ref_gen_int(g, 1, 8) / 4.0;

    for (int i = 0; i < 3; i++) { /* to whole numbers, which have room for the way */
        pair.a[i] *= 8.0;
        pair.b[i] *= 8.0;
    }
    pair.radius_a *= 8.0;
    pair.radius_b *= 8.0;
    ref_move(pair.a, pair.a, at->across, -far * share);
    ref_move(pair.move_a, pair.move_a, at->across, far * 2.0);
    if (ref_gen_chance(g, 2))
        ref_move(pair.b, pair.b, at->n, ref_gen_int(g, -8, 8));
    finish(&pair, 1.0, out);
    swap_spheres(g, out);
}

/* Both move far, and all but alike. */
void ref_spheres_drift(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;
    double far = ref_power_of_two(ref_gen_int(g, 0, 20)), step = far * 0x1p-22;

    (void)stand_off(g, &pair);
    ref_gen_direction(g, pair.move_b);
    for (int i = 0; i < 3; i++) {
        pair.move_b[i] = (double)ref_round(pair.move_b[i] * far);
        pair.move_a[i] = pair.move_b[i] + step * ref_gen_int(g, -4, 4);
    }
    finish(&pair, 1.0, out);
}

void ref_spheres_denormal(ref_gen *g, ref_spheres_case *out)
{
    static const double scales[4] = {0x1p-146, 0x1p-130, 0x1p-128, 0x1p-120};

    ref_spheres_lattice(g, out);
    for (int i = 0; i < 3; i++) {
        double scale = scales[ref_gen_int(g, 0, 3)];
        out->a0[i] = ref_round((double)out->a0[i] * 0x1p-146);
        out->a1[i] = ref_round((double)out->a1[i] * scale);
        out->b0[i] = ref_round((double)out->b0[i] * 0x1p-146);
        out->b1[i] = ref_round((double)out->b1[i] * scale);
    }
    out->radius_a = ref_round((double)out->radius_a * 0x1p-146);
    out->radius_b = ref_round((double)out->radius_b * (ref_gen_chance(g, 4) ? 1.0 : 0x1p-146));
}

/* First contact at (2^24 + odd) / 2^k of the way, exactly half-way between two binary32 numbers; or next to there. */
void ref_spheres_midpoint(ref_gen *g, ref_spheres_case *out)
{
    struct pair pair;
    double half = (double)(0x1000000 + 2 * ref_gen_int(g, 0, 0x7fffe0) + 1), drop = ref_gen_int(g, 0, 7) * 2 + 1.0;
    int kind = ref_gen_int(g, 0, 1), axis = ref_gen_int(g, 0, 2), aside = (axis + 1) % 3;

    memset(&pair, 0, sizeof pair);
    pair.radius_a = (kind ? 5.0 / 4.0 : 1.0) * drop - 0.25;
    pair.radius_b = 0.25;
    pair.a[axis] = -half - drop; /* even, below 2^25: 24 bits */
    pair.a[aside] = kind ? 0.75 * drop : 0.0;
    pair.move_a[axis] = ref_power_of_two(ref_gen_int(g, 24, 25));
    pair.b[aside] = ref_gen_chance(g, 2) ? 0.0 : ref_power_of_two(-ref_gen_int(g, 1, 60));
    finish(&pair, scale_of(g), out);
    swap_spheres(g, out);
}

/* As ref_make_doubt: the place of A is tiny and turned until binary64 contradicts itself. */
void ref_spheres_doubt(ref_gen *g, ref_spheres_case *out)
{
    double n[3], to[3], slip, size;

    ref_gen_direction(g, n);
    ref_gen_across(g, to, n);
    if (ref_gen_chance(g, 2))
        ref_move(to, to, n, ref_gen_range(g, -1.0, 1.0));
    out->radius_a = ref_round(ref_gen_range(g, 0.0, 0.5));
    for (int i = 0; i < 3; i++) {
        out->b0[i] = out->b1[i] = ref_round(n[i]);
        out->a1[i] = ref_round(to[i]);
        n[i] = (double)out->b0[i];
        to[i] = (double)out->a1[i];
    }
    if (ref_gen_chance(g, 2)) { /* the nearest approach: at right angles to the rounded motion */
        size = to[0] * to[0] + to[1] * to[1] + to[2] * to[2];
        ref_move(n, n, to, -(n[0] * to[0] + n[1] * to[1] + n[2] * to[2]) / size);
    }
    size = ref_length(n);
    out->radius_b = ref_round(size - (double)out->radius_a);
    slip = size - ((double)out->radius_a + (double)out->radius_b);
    for (int tries = 0; tries < 64; tries++) {
        ref_spheres_case turned = *out;
        for (int i = 0; i < 3; i++)
            out->a0[i] = ref_round(n[i] / size * slip * (1.0 + ref_gen_range(g, -0x1p-21, 0x1p-21)));
        for (int i = 0; i < 3; i++) {
            int at = (i + 1) % 3;
            turned.a0[at] = out->a0[i];
            turned.a1[at] = out->a1[i];
            turned.b0[at] = out->b0[i];
            turned.b1[at] = out->b1[i];
        }
        if (ref_textbook_spheres(out) != ref_textbook_spheres(&turned))
            return;
    }
}
