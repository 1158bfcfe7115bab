/* SPDX-License-Identifier: MIT */
#ifndef CAROM_CLI_IMPORT_ASSIMP_FILE_H
#define CAROM_CLI_IMPORT_ASSIMP_FILE_H

#include <assimp/cfileio.h>

/* Regular files alone, to be read. */
struct aiFileIO mesh_assimp_files(void);

#endif
