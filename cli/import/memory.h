/* SPDX-License-Identifier: MIT */
/* How much memory an import may take. A file of a few kilobytes can ask for terabytes (nodes that repeat a mesh, zipped
 * repetitions), and a system that hands out more than it has ends other processes for it. */
#ifndef CAROM_CLI_IMPORT_MEMORY_H
#define CAROM_CLI_IMPORT_MEMORY_H

#include "import.h"

/* Bytes that are free to this process: the least of what the machine, its control group and its limit of address space
 * leave, and which of them that is. UINT64_MAX and NULL if none is known. */
uint64_t mesh_memory_left(const char **limit);
/* Half of them, for an import. */
uint64_t mesh_memory_limit(void);
/* Bytes of address space that this process has in use; 0 if that is not known. */
uint64_t mesh_memory_mapped(void);
/* Room for that much of a mesh at once, for arrays that double as they grow take three times theirs. Returns 0 if there
 * is not enough memory. */
int mesh_memory_reserve(mesh_data *mesh, uint64_t vertices, uint64_t triangles, uint64_t parts);
/* "1.5 GiB" and the like, in text[size]. Returns text. */
const char *mesh_memory_text(char *text, size_t size, uint64_t bytes);

#endif
