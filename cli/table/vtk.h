/* SPDX-License-Identifier: MIT */
/* VTK's XML files: a text that describes arrays, and the arrays as raw bytes behind it, each after its length in 8
 * bytes. */
#ifndef CAROM_CLI_TABLE_VTK_H
#define CAROM_CLI_TABLE_VTK_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a text; and in front of each array, its length, little-endian. */
enum { VTK_TEXT = 16384, VTK_LENGTH = 8 };

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
