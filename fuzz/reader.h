/* SPDX-License-Identifier: MIT */
/* What the fuzz targets of the mesh readers share: bytes into files, and what must hold of every mesh that is read. */
#ifndef CAROM_FUZZ_READER_H
#define CAROM_FUZZ_READER_H

#include "cli/import/reader.h"

#include <stdint.h>

typedef int (*fuzz_reader)(const mesh_file *file, mesh_data *out);

/* The bytes as they are. */
void fuzz_read_bytes(fuzz_reader read, const uint8_t *data, size_t size);
/* The bytes as words of the format, numbers, line ends and letters. The first four words begin a file. The text must be
 * read alike with each kind of line end and with a byte order mark. Behind a beginning that holds "binary" all bytes
 * stand as they are. */
void fuzz_read_words(fuzz_reader read, const char *const *words, size_t count, const uint8_t *data, size_t size);
/* Ends the process if an index, a part or a count is wrong. */
void fuzz_check_mesh(const mesh_data *mesh);

#endif
