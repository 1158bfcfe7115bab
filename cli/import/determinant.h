/* SPDX-License-Identifier: MIT */
/* Whether an affine map mirrors, which no rounding may decide. */
#ifndef CAROM_CLI_IMPORT_DETERMINANT_H
#define CAROM_CLI_IMPORT_DETERMINANT_H

/* -1, 0 or 1: the sign of the exact determinant of the first three columns, whatever their magnitudes. 0 if one of
 * their numbers is not finite. */
int mesh_determinant_sign(const double m[3][4]);

#endif
