/* SPDX-License-Identifier: MIT */
/* How much memory there is, and how much of it a reader may take. A file of a few kilobytes can ask for terabytes
 * (nodes that repeat a mesh, zipped repetitions), and a system that hands out more than it has ends other processes for
 * it. */
#ifndef CAROM_CLI_BASE_MEMORY_H
#define CAROM_CLI_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that are free to this process: the least of what the machine, its control group and its limit of address space
 * leave, and which of them that is. UINT64_MAX and NULL if none is known. */
uint64_t memory_left(const char **limit);
/* Half of them, for a file. */
uint64_t memory_limit(void);
/* Bytes of address space that this process has in use; 0 if that is not known. */
uint64_t memory_mapped(void);
/* "1.5 GiB" and the like, in text[size]. Returns text. */
const char *memory_text(char *text, size_t size, uint64_t bytes);

#endif
