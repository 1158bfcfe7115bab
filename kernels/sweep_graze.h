/* SPDX-License-Identifier: MIT */
/* Grazes in the second filter (sweep_plucker.h): contacts whose distance never falls below the radius. If no feature
 * has a root with Y > 0 in its region, contact begins and ends at the first and the last tangency that is in its own
 * (cpu/exact/motion.h). That Y is 0 is known of small integers, whose polynomials are exact. */
#ifndef CAROM_SWEEP_GRAZE_H
#define CAROM_SWEEP_GRAZE_H
#include "sweep_plucker.h"

/* The earliest of some tangencies, as an interval, and which signs they have. */
typedef struct plucker_earliest {
    wf low, high;
    wm some_negative, some_zero;
} plucker_earliest;

/* The end of a graze is the earliest root of the motion backwards. */
typedef struct plucker_graze {
    plucker_earliest contact[PLUCKER_CONTACTS];
    wm found, clear; /* a root is in its region; of every root it is certain whether it is, and its sign */
} plucker_graze;

/* One more root, in lanes `in`. */
FN void plucker_earliest_add(wm in, bounded b, bounded a, plucker_earliest *earliest)
{
    const bounded quotient = bounded_div(b, a);
    const wf time = -quotient.value, error = quotient.error;
    earliest->low = w_sel(w_and(in, w_lt(time - error, earliest->low)), time - error, earliest->low);
    earliest->high = w_sel(w_and(in, w_lt(time + error, earliest->high)), time + error, earliest->high);
    earliest->some_negative = w_or(earliest->some_negative, w_and(in, w_lt(b.error, b.value)));
    earliest->some_zero = w_or(earliest->some_zero, w_and(in, w_eq(b.value, w_f(W(0.0)))));
}

/* tangencies: [PLUCKER_TANGENCIES] */
FN void plucker_find_graze(const plucker_tangency *tangencies, plucker_graze *graze)
{
    const wf zero = w_f(W(0.0)), one = w_f(W(1.0));
    graze->found = w_lt(one, zero);
    graze->clear = w_lt(zero, one);
    LANG_UNROLL
    for (int i = 0; i < PLUCKER_CONTACTS; i++) {
        graze->contact[i].low = graze->contact[i].high = w_infinity();
        graze->contact[i].some_negative = graze->contact[i].some_zero = graze->found;
    }
    for (int k = 0; k < PLUCKER_TANGENCIES; k++) {
        const plucker_tangency *root = &tangencies[k];
        const wm is_usable = w_and(w_lt(root->a.error * W(8.0), root->a.value),
                                   w_or(w_lt(root->b.error, w_abs(root->b.value)), w_eq(root->b.error, zero)));
        graze->found = w_or(graze->found, root->in);
        graze->clear = w_and(graze->clear, w_or(root->out, w_and(root->in, is_usable)));
        plucker_earliest_add(root->in, root->b, root->a, &graze->contact[PLUCKER_FIRST]);
        plucker_earliest_add(root->in, bounded_of(-root->b.value, root->b.error), root->a,
                             &graze->contact[PLUCKER_LAST]);
    }
}
#endif
