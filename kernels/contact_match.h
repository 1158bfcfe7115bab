/* SPDX-License-Identifier: MIT */
/* The match of two lists of contacts on a GPU: numbers that kernels and host agree on. */
#ifndef CAROM_CONTACT_MATCH_H
#define CAROM_CONTACT_MATCH_H

/* Faults of a match, after which the host answers the call itself. */
#define MATCH_INVALID 1 /* queries do not ascend, or a point is not finite */
#define MATCH_CROWDED 2 /* a sphere has more than MATCH_MOST pairs of a previous and a new contact */
#define MATCH_MOST 1024 /* bounds the time of a work-item */

#define MATCH_FREE (-1)
#define MATCH_PAIRED (-2)
#endif
