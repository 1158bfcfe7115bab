/* SPDX-License-Identifier: MIT */
/* Overlap of pairs whose numbers are of similar size, by a fifth of the instructions that integers of any length take.
 * Coordinates on a lattice, where ties are, are of this kind. */
#ifndef CAROM_CPU_EXACT_NARROW_H
#define CAROM_CPU_EXACT_NARROW_H

/* in: IN_OVERLAP numbers, all finite, the radius >= 0. The mask of separating axes; returns 0 if differences or the
 * radius have more than 30 bits in units of the lowest bit of all numbers. */
int caromi_narrow_axes_of(const float *in, int *axes);

#endif
