/* SPDX-License-Identifier: MIT */
/* What complete files know about the bake that made them. */
#ifndef CAROM_CLI_BAKE_PART_H
#define CAROM_CLI_BAKE_PART_H

#include "bake.h"

/* The fingerprint of a part, and its plan. Returns 0 if the file is no part. */
int bake_part_read(int fd, char text[BAKE_TEXT], bake_plan *plan);
/* The same of any output. All but .npy files begin with it; those may have it as an attribute. */
int bake_file_plan(int fd, char text[BAKE_TEXT], bake_plan *plan);
/* Nodes along x, y and z of a .npy file, and what kind of volume it may be; NULL: none. */
const bake_kind *bake_npy_read(int fd, uint64_t dims[3]);

#endif
