/* SPDX-License-Identifier: MIT */
/* Columns of a list of pairs with numbers of the two spheres. The type of the call has them as members of
 * carom_cloud_pair_list, in this order; the command has an option of that name for each, with the words as its help. */
#ifndef CAROM_CALLS_CLOUD_COLUMNS_H
#define CAROM_CALLS_CLOUD_COLUMNS_H

/* NUMBER(X, member, words), or POINTS(X, member, names of x, y and z in a file, words); X is the user's. */
#define CAROMI_PAIR_NUMBERS(X, NUMBER, POINTS)                            \
    NUMBER(X, depth, "the sum of the radii less the distance at the hit") \
    POINTS(X, normal, "nx", "ny", "nz", "the unit vector from a to b at the hit")

#endif
