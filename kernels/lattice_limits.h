/* SPDX-License-Identifier: MIT */
/* Clearance of nodes as a device answers it, with the numbers of enum carom_clearance. */
#ifndef CAROM_LATTICE_LIMITS_H
#define CAROM_LATTICE_LIMITS_H
#define CLEARANCE_FREE 0
#define CLEARANCE_BLOCKED 1
#define CLEARANCE_UNDECIDED 2

/* Words of the list of nodes whose distance is next to a limit: their number, whether loops of the search were
 * truncated, and the nodes' rows. */
#define CLEARANCE_COUNT 0
#define CLEARANCE_TRUNCATED 1
#define CLEARANCE_LIST 2
#endif
