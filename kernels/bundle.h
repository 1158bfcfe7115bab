/* SPDX-License-Identifier: MIT */
/* Rounds of bundles on a device: numbers that kernels and host agree on. */
#ifndef CAROM_BUNDLE_H
#define CAROM_BUNDLE_H

/* The rank of an answer: the highest of a bundle's queries has it. Of closest points valid answers rank by their
 * depths, all above these numbers: the bits of a depth in the order of the numbers, and those of +0 for -0. */
#define BUNDLE_NOTHING 0u
#define BUNDLE_INVALID 1u
#define BUNDLE_HIT 2u /* of any hits: nothing can change the bundle's answer */

/* No query of a bundle has its rank yet. */
#define BUNDLE_NO_QUERY 0xffffffffu

/* Work-items of a group. */
#define BUNDLE_GROUP 64
#endif
