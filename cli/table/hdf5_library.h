/* SPDX-License-Identifier: MIT */
/* Functions that hdf5.c and hdf5_child.c share, in a build that has the library. */
#ifndef CAROM_CLI_TABLE_HDF5_LIBRARY_H
#define CAROM_CLI_TABLE_HDF5_LIBRARY_H

#include "hdf5.h"

/* Before anything else is asked of the library: errors are noted, not printed, and those so far are forgotten. */
void hdf5_prepare(void);
/* The library's id of a type. */
hdf5_id hdf5_type_of(const char *numpy);

#endif
