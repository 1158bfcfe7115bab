/* SPDX-License-Identifier: MIT */
/* Bits that the second filter (sweep_second.h) adds to the state of a pair with contact. Neither is set if it does not
 * know. */
#ifndef CAROM_SECOND_STATE_H
#define CAROM_SECOND_STATE_H

#define SECOND_STATE 0x0f     /* the state, of layout.h */
#define SECOND_AFTER 0x10     /* the true first time is greater than the rounded one */
#define SECOND_NOT_AFTER 0x20 /* it is equal or less */

#endif
