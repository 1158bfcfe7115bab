/* SPDX-License-Identifier: MIT */
/* VTK's XML files: a text that describes arrays, and the arrays as raw bytes behind it, each after its length in 8
 * bytes. */
#ifndef CAROM_CLI_TABLE_VTK_H
#define CAROM_CLI_TABLE_VTK_H

#include <stddef.h>
#include <stdint.h>

/* Blanks between a text and the arrays; bytes of both; and in front of each array, its length, little-endian.
 *
 * VTK reads a file in blocks of 4096 bytes and stops once libexpat reports the tag AppendedData. Since libexpat 2.6
 * (Debian 12: 2.5.0-1+deb12u2), a tag that came in pieces may be reported with the next block only. ParaView 5.11 then
 * parses that block, too, and fails unless it is blank. Two blocks of blanks hold a whole one. Debian's VTK 9.1 is
 * mended. */
enum { VTK_BLANKS = 2 * 4096, VTK_TEXT = 16384 + VTK_BLANKS, VTK_LENGTH = 8 };

typedef struct vtk_text {
    char at[VTK_TEXT];
    size_t used;     /* VTK_TEXT if it did not fit */
    uint64_t offset; /* of the next array, from the first one's length */
} vtk_text;

void vtk_add(vtk_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The beginning of a file of one data set, such as ImageData; comment: may be NULL. */
void vtk_begin(vtk_text *t, const char *type, const char *comment);
/* An array of that many bytes, without the newline. type: as VTK names it, such as Float32. Returns the offset of its
 * first number behind the text that vtk_end completes. `components`: their names; NULL: they have none. */
uint64_t vtk_add_array(vtk_text *t, const char *type, const char *name, int count, const char *const *components,
                       uint64_t bytes);
/* The end of the data set, after which the arrays follow. Their first byte is at a multiple of 8 in the file. */
void vtk_end(vtk_text *t, const char *type);
/* Behind the last array. */
extern const char vtk_trailer[];

#endif
